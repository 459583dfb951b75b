import type { z } from 'zod';
import type { diff, finding } from '../http/openapi/answers/schema.js';
import { oneLine } from './output.js';
import { policyText } from './policy.js';
import { placeText } from '../schema/model/place.js';

export type DiffDocument = z.output<typeof diff>;
export type Entry = DiffDocument['diff']['collections'][number];
/** The members of a finding that one line shows. */
export type JudgedWarning = Pick<z.output<typeof finding>, 'code' | 'message' | 'collection' | 'field' | 'action'>;

/** True without entries, even if there are warnings. */
export function isEmpty({ diff }: DiffDocument): boolean {
  return diff.collections.length + diff.fields.length + diff.relations.length === 0;
}

/** One line per entry, such as `+ field articles.title`, then the warnings. */
export function describeDiff(document: DiffDocument): string {
  const { collections, fields, relations } = document.diff;
  const lines = [
    ...collections.map((entry) => describeEntry('collection', entry)),
    ...fields.map((entry) => describeEntry('field', entry)),
    ...relations.map((entry) => describeEntry('relation', entry)),
  ];
  if (lines.length === 0) lines.push('No differences.');
  lines.push(...describeWarnings(document.warnings));
  return lines.join('\n');
}

/** One line each. */
export const describeWarnings = (warnings: readonly JudgedWarning[] = []): string[] =>
  warnings.map((warning) => `! ${describeWarning(warning)}`);

/** One line: code, location, and the policy's action if any. */
export function describeWarning(warning: JudgedWarning): string {
  const { code, message } = warning;
  const place = placeText(warning);
  const policy = policyText(warning);
  const said = policy === undefined ? message : `${message}; ${policy}`;
  return oneLine(place === '' ? `${code}: ${said}` : `${code} ${place}: ${said}`);
}

function describeEntry(kind: string, { diff, ...changed }: Entry): string {
  const name = oneLine(placeText(changed));
  const whole = diff.find((change) => change.path === undefined || change.path.length === 0);
  if (whole?.kind === 'N') return `+ ${kind} ${name}`;
  if (whole?.kind === 'D') return `- ${kind} ${name}`;
  const members = new Set(diff.map(({ path }) => (path ?? []).join('.')));
  return `~ ${kind} ${name}: ${[...members].join(', ')}`;
}
