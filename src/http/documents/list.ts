/* Lists: pagination and counts. */
import { z } from 'zod';
import { type Texts, bytes } from '../../kernel/bytes.js';
import { type DigestedBytes, createJoiner } from '../../reads/rendered-cache.js';
import type { Resumable } from '../../kernel/resumable.js';
import { count, type MetaMember, metaMembers, type QueryShape } from '../request/query.js';
import type { User } from '../../features/accounts/users.js';
import * as model from '../../schema/model/model.js';
import { type State, contentOf } from '../../schema/model/state.js';
import type { HttpDeps } from '../deps.js';
import { type Call, type Documentation, type Route, route } from '../route.js';
import { type Answer, JSON_TYPE } from '../answer/answer.js';
import { representationAnswer } from '../answer/representation.js';
import { collectionScopeOf, visibleTo } from '../request/scope.js';

/* The query parameter `fields`: selects top-level members of the returned objects. */

/** Reads comma-separated names or a repeated parameter. `*` selects all members. The order is that of the document. */
export const membersOf = <const M extends string>(members: readonly M[]) =>
  z
    .string()
    .transform((text, context): readonly M[] => {
      const names = text.split(',').map((name) => name.trim());
      if (names.includes('*') && names.every((name) => name === '*' || isOneOf(name, members))) return members;
      if (names.every((name) => isOneOf(name, members))) return members.filter((member) => names.includes(member));
      context.addIssue(`must be a comma-separated list of members, or *: ${members.join(', ')}.`);
      return z.NEVER;
    })
    .pipe(z.array(z.enum(members)).readonly())
    .describe('The top-level members to return. `*`: all');

const isOneOf = (name: string, members: readonly string[]): boolean => members.includes(name);

/** Returns `value` with only the selected members. */
export function pick<T extends object>(value: T, members: readonly string[] | undefined): Partial<T> {
  if (members === undefined) return value;
  const chosen = members.filter((member) => Object.hasOwn(value, member));
  return Object.fromEntries(chosen.map((member) => [member, value[member as keyof T]])) as Partial<T>;
}

/** Returns the JSON of an object with only the selected members. */
export function pickText(text: string, members: readonly string[] | undefined): string {
  return members === undefined ? text : JSON.stringify(pick(JSON.parse(text) as object, members));
}

export const COLLECTION_MEMBERS = model.membersOf(model.collectionDocument);
export const FIELD_MEMBERS = model.membersOf(model.fieldDocument);
export const RELATION_MEMBERS = model.membersOf(model.relationDocument);
export const USER_MEMBERS = [
  'id',
  'email',
  'name',
  'role',
  'status',
  'created_at',
  'invitation_expires_at',
] as const satisfies readonly (keyof User)[];
/** @param members the members of an item that `fields` may select */
export const listQueryOf = <const M extends string>(members: readonly M[]) =>
  z.strictObject({
    offset: count.default(0).describe('Number of items to skip'),
    limit: count.optional().describe('Maximum number of items'),
    meta: metaMembers.optional(),
    fields: membersOf(members).optional(),
  });

interface ListQuery {
  offset: number;
  limit?: number | undefined;
  meta?: readonly MetaMember[] | undefined;
  fields?: readonly string[] | undefined;
}

/** Returns a key that identifies a page among all pages of one list. */
export function pageKey({ offset, limit, meta, fields }: ListQuery): string {
  return JSON.stringify([offset, limit, meta, fields]);
}

/** Yields a JSON array of the results of `textOf`. */
export function* arrayTexts<T>(items: readonly T[], textOf: (item: T) => string): Generator<string, void, void> {
  yield '[';
  for (const [index, item] of items.entries()) yield (index > 0 ? ',' : '') + textOf(item);
  yield ']';
}

/**
 * Yields the JSON of the response.
 * @param texts the JSON of every item, in order. Empty strings are skipped
 */
export function* listTexts(texts: Texts, { offset, limit, meta, fields }: ListQuery): Generator<string, void, void> {
  const end = limit === undefined ? Infinity : offset + limit;
  let total = 0;
  yield '{"data":[';
  for (const text of texts) {
    if (text === '') {
      yield '';
      continue;
    }
    const isShown = total >= offset && total < end;
    if (isShown) yield (total > offset ? ',' : '') + pickText(text, fields);
    else yield '';
    total += 1;
  }
  yield meta === undefined ? ']}' : `],"meta":${JSON.stringify(toCounts(meta, total))}}`;
}

/** Returns the requested counts. Without filters, both counts cover all items, and not only those of the page. */
function toCounts(members: readonly MetaMember[], total: number): Partial<Record<MetaMember, number>> {
  return Object.fromEntries(members.map((member) => [member, total]));
}

/* Routes that read schema documents: paginated lists and single documents. */

/* Read the schema at the head. Responses are rendered once per state. */

/** Returns a response with the JSON that `render` produces. `key` identifies the response among those for one state. */
type Read = (
  call: Call<unknown>,
  key: string,
  render: (state: State) => Resumable<Buffer | DigestedBytes>,
) => Promise<Answer>;

/** Sends an ETag of the content. If the client already has the content, sends 304. */
function createRead({ store, rendered }: Pick<HttpDeps, 'store' | 'rendered'>): Read {
  return async (call, key, render) => {
    const state = visibleTo(call.caller, await store.atHead(call.head));
    const { body, etag, encoded } = await rendered.get(contentOf(state), key, () => render(state));
    return representationAnswer({ body, etag, encoded, type: JSON_TYPE, position: state.position }, call.req);
  };
}

type Deps = Pick<HttpDeps, 'store' | 'rendered'>;

interface Reading<Query> extends Omit<Documentation, 'validated'> {
  path: string;
  /** Null if the documents do not belong to collections. */
  collections?: null;
  query: QueryShape<Query>;
  /** Identifies the content among all responses for a state. */
  key: (call: Call<Query>) => string;
}

interface ListRoute<Query> extends Reading<Query> {
  /**
   * Yields the JSON of every item, in order. Empty strings are skipped.
   * @throws RejectedError
   */
  texts: (state: State, call: Call<Query>) => Texts;
  /**
   * Returns the same JSON as bytes, in pieces of one or more items. Used for requests of the whole list. Pieces are
   * cached until their items change, so a list of thousands of items after one change copies bytes. The cached pieces
   * follow one sequence of states, so a caller who may read only a part of the schema gets `texts`.
   */
  pieces?: (state: State) => Resumable<Buffer[]>;
}

const isWhole = ({ offset, limit, meta, fields }: ListQuery): boolean =>
  offset === 0 && limit === undefined && meta === undefined && fields === undefined;

/** Creates a route for readers. The page is selected from the strings, so `texts` ignores pagination. */
export function listRoute<Query extends ListQuery>(
  deps: Deps,
  { key, texts, pieces, ...spec }: ListRoute<Query>,
): Route {
  const read = createRead(deps);
  const join = createJoiner();
  const whole = function* (rendered: Resumable<Buffer[]>): Resumable<DigestedBytes> {
    return yield* join([{ before: '{"data":[', pieces: yield* rendered }], ']}');
  };
  return route({
    collections: 'filtered',
    ...spec,
    method: 'get',
    access: 'reader',
    validated: true,
    handle: (call) =>
      read(call, `${key(call)} ${pageKey(call.query)}`, (state) =>
        pieces !== undefined && isWhole(call.query) && collectionScopeOf(call.caller) === undefined
          ? whole(pieces(state))
          : bytes(listTexts(texts(state, call), call.query)),
      ),
  });
}

interface DocumentRoute<Query> extends Reading<Query> {
  /**
   * Returns the JSON of the whole document.
   * @throws RejectedError
   */
  text: (state: State, call: Call<Query>) => string;
}

/** Creates a route for readers. `fields` selects members from the output of `text`. */
export function documentRoute<Query extends { fields?: readonly string[] | undefined }>(
  deps: Deps,
  { key, text, ...spec }: DocumentRoute<Query>,
): Route {
  const read = createRead(deps);
  return route({
    collections: 'filtered',
    ...spec,
    method: 'get',
    access: 'reader',
    validated: true,
    handle(call) {
      const { fields } = call.query;
      return read(call, `${key(call)} ${JSON.stringify(fields)}`, (state) =>
        bytes([`{"data":${pickText(text(state, call), fields)}}`]),
      );
    },
  });
}
