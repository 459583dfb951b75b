import type { Difference } from '../projector/verify.js';

/** `1 difference`, `3 differences` */
export function countDifferences({ length }: readonly Difference[]): string {
  return length === 1 ? '1 difference' : `${length} differences`;
}

/** One line: `catalog articles.title type: expected "text", found "integer"`. */
export function describeDifference({ where, collection, field, member, expected, found }: Difference): string {
  const place = field === undefined ? collection : `${collection}.${field}`;
  return `  ${where} ${place} ${member}: expected ${show(expected)}, found ${show(found)}`;
}

const show = (value: unknown): string => (value === null ? 'nothing' : JSON.stringify(value));
