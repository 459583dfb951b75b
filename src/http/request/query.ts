/* Parses query parameters and checks them with a zod schema. Unknown parameters are rejected, and so are repeated
   ones, except for lists. */
import { z } from 'zod';
import { shapeMessage } from '../../kernel/shape-messages.js';
import { textFault } from '../../kernel/text.js';
import { TIME_RANGE } from '../../kernel/time.js';
import type { History } from '../../reads/history/index.js';
import { readMoment } from '../../reads/history/time-travel.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { createNoFieldsProblem } from '../../schema/operations/operation.js';
import { invalidQuery, RejectedError, type EdgeProblem, refused } from '../errors.js';

/** The query of a route: a strict object of text parameters. */
export type QueryShape<T> = z.ZodType<T>;

/** The query of a route without parameters. It rejects every parameter. */
export const noQuery = z.strictObject({});

/** Parses the query with `shape`. Throws `RejectedError` with INVALID_QUERY. */
export function readQuery<T>(url: string, shape: QueryShape<T>): T {
  const result = shape.safeParse(parameters(url), { error: shapeMessage });
  if (result.success) return result.data;
  throw new RejectedError(result.error.issues.flatMap(toProblems));
}

/**
 * Returns the raw parameters, each of which may occur once. The prototype is null, because a parameter may be named
 * `__proto__`.
 */
function parameters(url: string): Record<string, string> {
  const values = Object.create(null) as Record<string, string>;
  const mark = url.indexOf('?');
  if (mark < 0) return values;
  for (const pair of url.slice(mark + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    checkText(name, value);
    if (!(name in values)) values[name] = value;
    else if (LISTS.has(name)) values[name] += `,${value}`;
    else throw invalidQuery(name, `${JSON.stringify(name)} occurs more than once.`);
  }
  return values;
}

/** Parameters that may be repeated. Their values are joined. */
const LISTS: ReadonlySet<string> = new Set(['fields']);

/** Decodes the path parameters. Throws `RejectedError` with INVALID_QUERY. */
export function readParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const name in params) checkText(name, params[name] as string);
  return params;
}

/** Checks text from paths and queries before it can reach the database. `checkJson` does the same for bodies. */
function checkText(name: string, value: string): void {
  const fault = textFault(value) ?? textFault(name);
  if (fault !== null) throw invalidQuery(name, `${JSON.stringify(name)} ${fault}.`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidQuery(text, 'The query contains an invalid percent-encoding.');
  }
}

function toProblems(issue: z.core.$ZodIssue): EdgeProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => problem(name, `Query parameter ${JSON.stringify(name)} is not supported here.`));
  }
  const name = String(issue.path[0]);
  return [problem(name, `${JSON.stringify(name)} ${issue.message}`)];
}

const problem = (name: string, message: string): EdgeProblem => ({ code: 'INVALID_QUERY', message, path: name });

/** True for an empty value, `true` and `1`. False for an absent value, `false` and `0`. */
export const flag = z
  .enum(['', 'true', '1', 'false', '0'], { error: 'must be true or false (1 or 0; empty means true).' })
  .transform((text) => text === '' || text === 'true' || text === '1')
  .pipe(z.boolean())
  .default(false);

/** Used for routes that delete. */
export const purge = flag.describe('Drops deleted objects immediately instead of moving them to the trash');

/** A non-negative integer. */
export const count = z
  .string()
  .regex(/^\d{1,15}$/, { error: 'must be a non-negative integer.' })
  .transform(Number)
  .pipe(z.int().min(0));

const MAX_PAGE = 1_000;

/** The page size of a list without an upper bound. Such a list is never returned as a whole. */
export const pageLimit = count
  .pipe(
    z
      .int()
      .min(0)
      .max(MAX_PAGE, { error: `must be an integer from 0 to ${MAX_PAGE}.` }),
  )
  .default(100)
  .describe('Maximum number of items');

const META_MEMBERS = ['total_count', 'filter_count'] as const;
export type MetaMember = (typeof META_MEMBERS)[number];

/** Accepts `total_count`, `filter_count`, both separated by a comma, or `*`. */
export const metaMembers = z
  .string()
  .transform((text, context): readonly MetaMember[] => {
    if (text === '*') return META_MEMBERS;
    const names = text.split(',').map((name) => name.trim());
    const members = META_MEMBERS.filter((member) => names.includes(member));
    if (names.every((name) => META_MEMBERS.some((member) => member === name))) return members;
    context.addIssue('must be total_count, filter_count, both separated by a comma, or *.');
    return z.NEVER;
  })
  .pipe(z.array(z.enum(META_MEMBERS)).readonly())
  .describe('Counts in the response: `total_count`, `filter_count`, both, or `*`');

/** Returns the `meta` object of a list. Only requested counts are read, because a count can read a whole table. */
export async function readCounts(
  members: readonly MetaMember[] | undefined,
  counts: Readonly<Record<MetaMember, () => Promise<number>>>,
): Promise<{ meta?: Partial<Record<MetaMember, number>> }> {
  if (members === undefined) return {};
  const counted = await Promise.all(members.map(async (member) => [member, await counts[member]()] as const));
  return { meta: Object.fromEntries(counted) };
}

/** Accepts comma-separated names. As in CSV, a name with a comma or a double quote must be in double quotes. */
export const nameList = z
  .string()
  .transform((text, context) => {
    const names = splitNames(text);
    if (names !== null) return names;
    context.addIssue('must be a comma-separated list of names. Enclose a name that contains a comma in double quotes.');
    return z.NEVER;
  })
  .pipe(z.array(z.string()))
  .describe('A comma-separated list of names. Enclose a name that contains a comma in double quotes, as in CSV');

const NAME = /"((?:[^"]|"")+)"|[^",]+/y;

function splitNames(text: string): string[] | null {
  const names: string[] = [];
  for (let at = 0; ; at++) {
    NAME.lastIndex = at;
    const match = NAME.exec(text);
    if (match === null) return null;
    names.push(match[1]?.replaceAll('""', '"') ?? match[0]);
    at = NAME.lastIndex;
    if (at === text.length) return names;
    if (text[at] !== ',') return null;
  }
}

/** @throws RejectedError NOT_FOUND if the collection does not exist or is a system collection */
export function listedCollection(state: State, collection: string): CollectionNode {
  const node = state.collections.get(collection);
  if (node === undefined) throw new RejectedError([createNoFieldsProblem(state, collection)]);
  return node;
}

/** A position of the log; 0 is before the first event. */
export const position = count.describe('A position of the log');

/** A cursor: a position, optionally with the hash of its event. */
export interface Cursor {
  position: number;
  /** The hash of the event, or a prefix of the hash. */
  hash?: string;
}

const CURSOR = /^(\d{1,15})(?:-([0-9a-f]{8,64}))?$/;

/** Parses `42` or `42-3f9a…`. With the hash, the service can detect that the client has read another log. */
export const cursor = z.string().transform((text, context): Cursor => {
  const [, position, hash] = CURSOR.exec(text) ?? [];
  if (position !== undefined) return { position: Number(position), ...(hash !== undefined && { hash }) };
  context.addIssue('must be a position of the log (42), optionally with the hash of its event (42-3f9a…).');
  return z.NEVER;
});

/** @throws RejectedError 409 DIVERGED if the log has no event at the position, or a different one */
export async function requireInLog({ position, hash }: Cursor, history: Pick<History, 'holds'>): Promise<void> {
  if (hash === undefined || (await history.holds({ position, hash }))) return;
  throw refused(
    'DIVERGED',
    `Event ${position} with this hash does not exist: the log is not the one that you read before. Read it again.`,
    { details: { position, hash } },
  );
}

/** A position, a time, or now. */
export const moment = z
  .string()
  .transform((text, context) => {
    const read = readMoment(text);
    if (read !== null) return read;
    context.addIssue(
      'must be a position, an ISO 8601 time with its time zone (2026-11-21T08:05:03Z), a day, or now; a time ' +
        `${TIME_RANGE}.`,
    );
    return z.NEVER;
  })
  .describe('A position of the log, an ISO 8601 time with its time zone, a day, or `now`');

const PAGE_SIZE = { error: `must be an integer from 1 to ${MAX_PAGE}.` };

export const pageSize = z
  .string()
  .regex(/^\d{1,4}$/, PAGE_SIZE)
  .transform(Number)
  .pipe(z.int().min(1, PAGE_SIZE).max(MAX_PAGE, PAGE_SIZE))
  .default(100)
  .describe('Maximum number of items');
