/** update-collection: changes only members of `meta`. */
import { Draft } from '../transition/draft.js';
import { isObject, type Json } from '../../kernel/json.js';
import type { Collection } from '../model/model.js';
import { mergeCollection } from '../normal-form/index.js';
import type { Places } from '../../kernel/locate.js';
import { collectionPlaces } from './places.js';
import { type Path, type Problem, invalid, ok, refuse, renderPath, unknownMembers } from '../../kernel/problem.js';
import type { State } from '../model/state.js';
import { type Operation, decideDraft } from './operation.js';
import { missingCollection, systemCollection } from './refusals.js';

export interface UpdateCollection {
  collection: string;
  /** The members to change. Empty changes nothing. */
  meta: { [member: string]: Json };
  /** As read by the client. Accepted if unchanged. */
  schema?: Json;
  /** Location in the request. */
  at: Path;
}

export interface UpdateCollectionInput {
  collection: string;
  body: unknown;
  at?: Path;
}

const MEMBERS = new Set(['collection', 'meta', 'schema']);
const SCHEMA_MEMBERS = new Set(['name', 'schema', 'sql', 'comment']);

export const updateCollection: Operation<'update-collection', UpdateCollectionInput, UpdateCollection> = {
  name: 'update-collection',

  parse({ collection, body, at = [] }) {
    if (!isObject(body)) return refuse(invalid(at, 'the body is an object with the member meta'));
    const { meta = {}, schema } = body;
    const problems = unknownMembers(body, MEMBERS, at);
    if (body['collection'] !== undefined && body['collection'] !== collection) {
      const message = `an update changes no names, and this collection is ${JSON.stringify(collection)}; to rename it: POST /collections/${encodeURIComponent(collection)}/rename`;
      problems.push(invalid([...at, 'collection'], message));
    }
    if (!isObject(meta)) return refuse(...problems, invalid([...at, 'meta'], 'meta is an object'));
    return problems.length > 0
      ? refuse(...problems)
      : ok({ collection, meta, at, ...(schema === undefined ? {} : { schema }) });
  },

  *decide(state, command) {
    const draft = new Draft(state);
    const problems = applyUpdate(state, draft, command);
    return problems.length > 0 ? refuse(...problems) : yield* decideDraft(state, draft, {}, updatePlaces([command]));
  },
};

/** Bodies in which only `meta` can cause problems. */
export const updatePlaces = (updates: readonly UpdateCollection[]): Places =>
  collectionPlaces(updates.map(({ collection, meta, at }) => ({ collection, at, body: { collection, meta } })));

/** Applies the update to the draft, or returns its problems. */
export function applyUpdate(state: State, draft: Draft, { collection, meta, schema, at }: UpdateCollection): Problem[] {
  const node = state.collections.get(collection);
  if (node === undefined) {
    const problem = systemCollection(collection) ?? missingCollection(state, collection);
    return [at.length === 0 ? problem : { ...problem, path: renderPath([...at, 'collection']) }];
  }
  const problems = schema === undefined ? [] : schemaProblems(schema, node.collection, [...at, 'schema']);
  const merged = mergeCollection(node.collection, { collection, meta }, at, { imported: false });
  if (!merged.ok) return [...problems, ...merged.problems];
  if (problems.length === 0) draft.putCollection(merged.value);
  return problems;
}

/** `schema` is only accepted unchanged. */
function schemaProblems(given: Json, { collection, schema: now }: Collection, path: Path): Problem[] {
  if (given === null || now === null) {
    return given === now
      ? []
      : [invalid(path, 'a table stays a table and a folder a folder; leave schema as it was read')];
  }
  if (!isObject(given)) return [invalid(path, 'schema is an object or null')];
  const wrong = Object.keys(given).filter((member) => !SCHEMA_MEMBERS.has(member));
  if (given['name'] !== undefined && given['name'] !== collection) wrong.push('name');
  if (given['comment'] !== undefined && given['comment'] !== now.comment) wrong.push('comment');
  return wrong.map((member) => invalid([...path, member], 'an update changes meta only; leave schema as it was read'));
}
