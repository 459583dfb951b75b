/** Finds the line of a location in a JSON or YAML snapshot or diff, for annotations. */
import type { Locate, Source } from './model.js';

const MEMBER = /^[\s-]*(?:\{\s*)?"?(collection|field)"?\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s,}#]+))/;

type LineOf = (collection: string | undefined, field?: string) => number;

/**
 * Starts at 1; the first line if the location is not found. Members are searched line by line, so one-line JSON has
 * one line.
 */
function linesOf({ text }: Source): LineOf {
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

/** The file and line of a location. */
export function locatorOf(source: Source): Locate {
  const { file, locate } = source;
  if (locate !== undefined) return locate;
  if (file === null) return () => null;
  const lineOf = linesOf(source);
  return (collection, field) => ({ file, line: lineOf(collection, field) });
}
