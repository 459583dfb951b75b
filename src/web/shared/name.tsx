import { createElement, Fragment, type ReactNode } from 'react';
import { visibleText } from '../../kernel/text.js';

/** Escapes hidden characters of a name. Adopted names may contain them, and then look like another name. */
export const visibleName = (name: string): string => visibleText(name).replaceAll('\n', '\\n');

/** Tags the template of a label or a title, and escapes hidden characters of the names in it. */
export const named = (texts: TemplateStringsArray, ...names: readonly unknown[]): string =>
  texts.map((text, index) => text + (index < names.length ? visibleName(String(names[index])) : '')).join('');

/** Tags the template of a message that contains elements, such as a link or a time. */
export const sentence = (texts: TemplateStringsArray, ...nodes: readonly ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...texts.flatMap((text, index) => [text, nodes[index]]));

/** Shows a message of the service. Text between backticks is code. */
export const Message = ({ of }: { of: string }): ReactNode =>
  of.split('`').map((part, index, { length }) =>
    // A backtick without a partner stays.
    index % 2 === 0 ? part : index === length - 1 ? `\`${part}` : <code key={`${index} ${part}`}>{part}</code>,
  );

/** Shows a name. It is isolated, because it may be written from right to left. */
export const Name = ({ of, className }: { of: string; className?: string | undefined }) => (
  <bdi className={className}>{visibleName(of)}</bdi>
);
