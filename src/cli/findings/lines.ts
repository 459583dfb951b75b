/** On which line of a snapshot or a diff, JSON or YAML, something stands: annotations need one. */
import type { Locate, Source } from './model.js';

const MEMBER = /^[\s-]*(?:\{\s*)?"?(collection|field)"?\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s,}#]+))/;

export type LineOf = (collection: string | undefined, field?: string) => number;

/** From 1; the first one where the place isn't found. Members are looked for line by line: one-line JSON has one line. */
export function linesOf({ text }: Source): LineOf {
  const found = new Map<string, number>();
  let collection = '';
  for (const [index, line] of text.split('\n').entries()) {
    const [, member, double, single, plain] = MEMBER.exec(line) ?? [];
    if (member === undefined) continue;
    const name = double ?? single ?? plain ?? '';
    if (member === 'collection') collection = name;
    const key = member === 'collection' ? name : `${collection}\0${name}`;
    if (!found.has(key)) found.set(key, index + 1);
  }
  return (of = '', field) => found.get(field === undefined ? of : `${of}\0${field}`) ?? found.get(of) ?? 1;
}

/** In which file something stands, and on which line. */
export function locatorOf(source: Source): Locate {
  const { file, locate } = source;
  if (locate !== undefined) return locate;
  if (file === null) return () => null;
  const lineOf = linesOf(source);
  return (collection, field) => ({ file, line: lineOf(collection, field) });
}
