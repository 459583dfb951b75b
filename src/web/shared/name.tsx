import { visibleText } from '../../kernel/text.js';

/** Escapes hidden characters of a name. Adopted names may contain them, and then look like another name. */
export const visibleName = (name: string): string => visibleText(name).replaceAll('\n', '\\n');

/** Tags the template of a label or a title, and escapes hidden characters of the names in it. */
export const named = (texts: TemplateStringsArray, ...names: readonly unknown[]): string =>
  texts.map((text, index) => text + (index < names.length ? visibleName(String(names[index])) : '')).join('');

/** Shows a name. It is isolated, because it may be written from right to left. */
export const Name = ({ of, className }: { of: string; className?: string | undefined }) => (
  <bdi className={className}>{visibleName(of)}</bdi>
);
