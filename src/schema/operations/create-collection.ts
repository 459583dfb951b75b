/** create-collection: creates a table with its columns, or a folder. */
import { Draft } from '../transition/draft.js';
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import type { Collection, Field } from '../model/model.js';
import { defaultPrimaryKey, readNewCollection, readNewField } from '../normal-form/index.js';
import { checkJson } from '../normal-form/json.js';
import { TOP_LEVEL_META } from '../normal-form/collection.js';
import { withComposedNames } from '../normal-form/names.js';
import { locate } from '../../kernel/locate.js';
import { collectionPlaces, requestPlace } from './places.js';
import {
  type Path,
  type Problem,
  type Result,
  about,
  allOf,
  invalid,
  ok,
  problemsOfEach,
  refuse,
  unknownMembers,
} from '../../kernel/problem.js';
import { type Resumable, runToEnd, stepsTo } from '../../kernel/resumable.js';
import { isPrimary } from '../model/state.js';
import { type Operation, decideDraft } from './operation.js';

export interface CreateCollection {
  collection: Collection;
  fields: Field[];
  /** The body and its location in the request, for problems. */
  sent: { at: Path; body: unknown };
  concurrentIndexes: boolean;
}

export interface CreateCollectionInput {
  body: unknown;
  concurrentIndexes: boolean;
  /** Location of the body in the request: empty, or an index of a batch. */
  at?: Path;
}

const MEMBERS = new Set<string>(['collection', 'meta', 'schema', 'fields', 'translation', ...TOP_LEVEL_META]);

export const createCollection: Operation<'create-collection', CreateCollectionInput, CreateCollection> = {
  name: 'create-collection',

  *parse({ body, concurrentIndexes, at = [] }) {
    if (!isObject(body)) return refuse(invalid(at, 'a collection is a JSON object'));
    const problems = unknownMembers(body, MEMBERS, at);
    const meta = mergedMeta(body, at);
    if (!meta.ok) return refuse(...problems, ...meta.problems);
    const document: Record<string, Json> = { meta: meta.value };
    if (body['collection'] !== undefined) document['collection'] = body['collection'];
    if (body['schema'] !== undefined) document['schema'] = body['schema'];
    const place = requestPlace(at, body);
    const collection = readNewCollection(document, at, { imported: false, stepsTo: place.stepsTo });
    if (!collection.ok) return refuse(...problems, ...collection.problems);
    const fields = yield* readFields(body['fields'], collection.value, at);
    if (!fields.ok) return refuse(...problems, ...fields.problems);
    if (problems.length > 0) return refuse(...problems);
    const read = { collection: collection.value, fields: fields.value };
    const composed = withComposedNames(body, newNames(read));
    // Normalization may have made two names equal.
    if (composed !== body) return yield* stepsTo(createCollection.parse({ body: composed, concurrentIndexes, at }));
    return ok({ ...read, sent: { at, body }, concurrentIndexes });
  },

  *decide(state, command) {
    const { collection, fields, concurrentIndexes } = command;
    const places = collectionPlaces([{ collection: collection.collection, ...command.sent }]);
    if (state.collections.has(collection.collection)) return refuse(locate(takenName(collection), places));
    const draft = new Draft(state);
    draft.putCollection(collection);
    for (const field of fields) {
      draft.putField(field);
      yield;
    }
    return yield* decideDraft(state, draft, { concurrentIndexes }, places);
  },
};

function* newNames({ collection, fields }: Pick<CreateCollection, 'collection' | 'fields'>): Generator<string> {
  yield collection.collection;
  for (const { field } of fields) yield field;
}

/** ALREADY_EXISTS, also for a folder of the name. */
export function takenName({ collection }: Collection): Problem {
  const message = `collection ${JSON.stringify(collection)} exists already`;
  return about({ kind: 'collection', collection, member: ['collection'] }, message, { code: 'ALREADY_EXISTS' });
}

type Body = { [member: string]: Json };

/** Merges members at the top level into `meta`. */
function mergedMeta(body: Body, at: Path): Result<Body> {
  const given = body['meta'] ?? {};
  if (!isObject(given)) return refuse(invalid([...at, 'meta'], 'meta is an object'));
  const meta: Body = { ...given };
  const problems: Problem[] = [];
  const put = (member: string, target: string, value: Json) => {
    if (Object.hasOwn(meta, target) && !jsonEqual(meta[target], value)) {
      problems.push(invalid([...at, member], `${member} and meta.${target} are both given and differ; give one`));
    } else meta[target] = value;
  };
  for (const member of TOP_LEVEL_META) {
    if (body[member] !== undefined) put(member, member, body[member]);
  }
  if (body['translation'] !== undefined) {
    const translations = readTranslation(body['translation'], [...at, 'translation']);
    if (!translations.ok) problems.push(...translations.problems);
    else put('translation', 'translations', translations.value);
  }
  return problems.length > 0 ? refuse(...problems) : ok(meta);
}

/** `translation` is JSON, or a string that contains JSON. */
function readTranslation(value: Json, at: Path): Result<Json> {
  if (typeof value !== 'string') return ok(value);
  try {
    const translations = JSON.parse(value) as Json;
    // The body was checked, but not the JSON within its strings.
    const problems = runToEnd(checkJson(translations)).problems;
    return problems.length > 0 ? refuse(...problems.map((each) => invalid(at, each.message))) : ok(translations);
  } catch {
    return refuse(invalid(at, 'translation is an object of names per language, or a string with that as JSON'));
  }
}

function* readFields(input: Json | undefined, collection: Collection, at: Path): Resumable<Result<Field[]>> {
  const path = [...at, 'fields'];
  if (input !== undefined && !Array.isArray(input)) return refuse(invalid(path, 'fields is an array of field objects'));
  const given = input ?? [];
  if (collection.schema === null) {
    return given.length === 0 ? ok([]) : refuse(invalid(path, 'a folder (schema null) has no table and so no fields'));
  }
  const fields = yield* allOf(given, (each, index) => readOne(each, [...path, index], collection.collection));
  if (!fields.ok) return fields;
  const twice = yield* duplicates(fields.value, path);
  const complete = withPrimaryKey(fields.value, collection.collection, path);
  if (!complete.ok) return refuse(...twice, ...complete.problems);
  return twice.length > 0 ? refuse(...twice) : ok(yield* numbered(complete.value));
}

function readOne(input: Json, at: Path, collection: string): Result<Field> {
  const problems: Problem[] = [];
  if (isObject(input)) {
    for (const member of ['field', 'type'] as const) {
      if (input[member] === undefined) problems.push(invalid([...at, member], `${member} is required`));
    }
    const meta = isObject(input['meta']) ? input['meta'] : {};
    if (input['interface'] === undefined && meta['interface'] === undefined) {
      problems.push(invalid([...at, 'interface'], 'interface is required, here or in meta'));
    }
  }
  const field = readNewField(input, at, { imported: false, topLevelMeta: true, collection });
  if (problems.length === 0) return field;
  const known = new Set(problems.map((problem) => problem.path));
  return refuse(...problems, ...(field.ok ? [] : field.problems.filter((problem) => !known.has(problem.path))));
}

function duplicates(fields: Field[], path: Path): Resumable<Problem[]> {
  const seen = new Map<string, number>();
  return problemsOfEach(fields, ({ field }, index) => {
    const first = seen.get(field);
    if (first === undefined) seen.set(field, index);
    return first === undefined
      ? []
      : [invalid([...path, index, 'field'], `${JSON.stringify(field)} is the name of fields[${first}] already`)];
  });
}

/** Adds the default `id` as first field if there is no primary key. */
function withPrimaryKey(fields: Field[], collection: string, path: Path): Result<Field[]> {
  const keys = fields.flatMap((field, index) => (isPrimary(field) ? [index] : []));
  if (keys.length > 1) {
    const message = `fields[${keys[0]}] is the primary key already; a collection has one`;
    return refuse(...keys.slice(1).map((key) => invalid([...path, key, 'schema', 'is_primary_key'], message)));
  }
  if (keys.length === 1) return ok(fields);
  const id = defaultPrimaryKey(collection);
  const taken = fields.findIndex((field) => field.field === id.field);
  if (taken < 0) return ok([id, ...fields]);
  const message = `no field is the primary key, and the name of the one that would be added, "${id.field}", is taken: mark a field with is_primary_key`;
  return refuse(invalid([...path, taken, 'schema', 'is_primary_key'], message));
}

/** Keeps the submitted order: a missing sort becomes the index within the field's group. */
function* numbered(fields: Field[]): Resumable<Field[]> {
  const count = new Map<string | null, number>();
  const all: Field[] = [];
  for (const field of fields) {
    const position = (count.get(field.meta.group) ?? 0) + 1;
    count.set(field.meta.group, position);
    all.push(field.meta.sort === null ? { ...field, meta: { ...field.meta, sort: position } } : field);
    yield;
  }
  return all;
}
