/** Messages for values that do not match a schema, where the schema has no message of its own. */
import type { z } from 'zod';
import { formatCount } from './text.js';

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** Use as `safeParse(value, { error: shapeMessage })`. @returns undefined for the message of zod */
export function shapeMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const isMissing = (issue.code === 'invalid_type' || issue.code === 'invalid_value') && issue.input === undefined;
  if (isMissing) return 'is required.';
  if (issue.code === 'invalid_type') return EXPECTED[issue.expected] && `must be ${EXPECTED[issue.expected]}.`;
  if (issue.code === 'invalid_value') return oneOf(issue.values);
  if (issue.code === 'unrecognized_keys') return listKnownMembers(issue.inst);
  if (issue.code === 'invalid_union') return Array.isArray(issue.options) ? oneOf(issue.options) : undefined;
  return limitMessage(issue);
}

/**
 * Lists the members that an object schema knows. The cast is safe, because only object schemas report unrecognized
 * keys.
 */
function listKnownMembers(schema: z.core.$ZodRawIssue['inst']): string {
  const members = Object.keys((schema as z.core.$ZodObject)._zod.def.shape);
  return members.length === 0 ? 'no member is expected.' : `known members: ${members.join(', ')}.`;
}

function limitMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'too_small') return limitText('at least', issue.minimum, issue.origin);
  if (issue.code === 'too_big') return limitText('at most', issue.maximum, issue.origin);
  return issue.code === 'invalid_format' ? FORMATS[issue.format] : undefined;
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${String(values[0])}.` : `must be one of ${values.map(String).join(', ')}.`;

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address.',
  uuid: 'must be a UUID.',
  url: 'must be a URL.',
};

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

function limitText(comparison: string, limit: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  return unit === undefined
    ? `must be ${comparison} ${limit}.`
    : `must have ${comparison} ${formatCount(limit, unit)}.`;
}
