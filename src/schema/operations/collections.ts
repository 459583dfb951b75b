/* create-collection, update-collection, delete-collection, create-collections, update-collections. */
import { Draft } from '../transition/draft.js';
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import { locate, type Locations } from '../../kernel/locate.js';
import {
  collectionLocations,
  type Operation,
  decideDraft,
  requestLocation,
  missingCollection,
  systemCollection,
} from './operation.js';
import {
  type Problem,
  allOf,
  invalidProblem,
  ok,
  problemsOfEach,
  refuse,
  findRepeated,
  type Path,
  type Result,
  problemAbout,
  unknownMembers,
  renderPath,
} from '../../kernel/problem.js';
import { runToEnd, type Resumable, stepsTo } from '../../kernel/resumable.js';
import type { Collection, Field } from '../model/model.js';
import { defaultPrimaryKey, readNewCollection, readNewField, mergeCollection } from '../normal-form/index.js';
import { checkJson } from '../normal-form/json.js';
import { TOP_LEVEL_META } from '../normal-form/collection.js';
import { withComposedNames } from '../normal-form/names.js';
import { isPrimary, type State, tableIdOf } from '../model/state.js';
import { defaultPrivilegesOn } from '../sql-text/object-table.js';
import { dropCollection } from '../transition/cascade.js';

/* create-collection: creates a table with its columns, or a folder. */

interface CreateCollection {
  collection: Collection;
  fields: Field[];
  /** The submitted body and its location in the request, for problems. */
  sent: { at: Path; body: unknown };
  concurrentIndexes: boolean;
  defaultSchema: string | undefined;
}

interface CreateCollectionInput {
  body: unknown;
  concurrentIndexes: boolean;
  /** The name of the default schema. If absent, no default privileges apply. */
  defaultSchema?: string | undefined;
  /** Location of the body in the request: empty, or an index in a batch. */
  at?: Path;
}

const MEMBERS = new Set<string>(['collection', 'meta', 'schema', 'fields', 'translation', ...TOP_LEVEL_META]);

export const createCollection: Operation<'create-collection', CreateCollectionInput, CreateCollection> = {
  name: 'create-collection',
  isLight: ({ collection: { schema } }) => schema !== null,

  *parse({ body, concurrentIndexes, defaultSchema, at = [] }) {
    if (!isObject(body)) return refuse(invalidProblem(at, 'a collection must be a JSON object'));
    const problems = unknownMembers(body, MEMBERS, at);
    const meta = mergeMeta(body, at);
    if (!meta.ok) return refuse(...problems, ...meta.problems);
    const document: Record<string, Json> = { meta: meta.value };
    Object.assign(document, namedTable(body));
    const place = requestLocation(at, body);
    const collection = readNewCollection(document, at, { imported: false, stepsTo: place.stepsTo });
    if (!collection.ok) return refuse(...problems, ...collection.problems);
    const fields = yield* readFields(body['fields'], collection.value, at);
    if (!fields.ok) return refuse(...problems, ...fields.problems);
    if (problems.length > 0) return refuse(...problems);
    const read = { collection: collection.value, fields: fields.value };
    const composed = withComposedNames(body, newNames(read));
    // Normalization may have made two names equal, so the body is parsed again.
    if (composed !== body)
      return yield* stepsTo(createCollection.parse({ body: composed, concurrentIndexes, defaultSchema, at }));
    return ok({ ...read, sent: { at, body }, concurrentIndexes, defaultSchema });
  },

  decide(state, command) {
    const { collection, fields, concurrentIndexes } = command;
    const locations = collectionLocations([{ collection: collection.collection, ...command.sent }]);
    if (state.collections.has(collection.collection)) return refuse(locate(takenName(collection), locations));
    const draft = new Draft(state);
    draft.putCollection(collection);
    for (const field of fields) draft.putField(field);
    grantDefaults(draft, state, command);
    return decideDraft(state, draft, { concurrentIndexes }, locations);
  },
};

/** Adds the privileges that PostgreSQL grants on the new table. */
function grantDefaults(draft: Draft, { objects }: State, { collection, defaultSchema }: CreateCollection): void {
  if (collection.schema === null || defaultSchema === undefined) return;
  const table = { kind: 'table', id: tableIdOf(collection) } as const;
  for (const privileges of defaultPrivilegesOn(objects, table, defaultSchema)) draft.putObject(privileges);
}

/** Returns the members `collection` and `schema` of a request, as far as it contains them. */
function namedTable({ collection, schema }: Partial<Body>): Partial<Body> {
  const named = collection === undefined ? qualifiedName(schema) : collection;
  return { ...(named !== undefined && { collection: named }), ...(schema !== undefined && { schema }) };
}

/**
 * Returns the usual name of a collection outside the default schema, if the request contains the location of its table.
 */
function qualifiedName(table: Json | undefined): string | undefined {
  if (!isObject(table)) return undefined;
  const { schema, name } = table;
  return typeof schema === 'string' && typeof name === 'string' ? `${schema}.${name}` : undefined;
}

function* newNames({ collection, fields }: Pick<CreateCollection, 'collection' | 'fields'>): Generator<string> {
  yield collection.collection;
  for (const { field } of fields) yield field;
}

/** Creates the problem ALREADY_EXISTS. It also occurs if a folder has the name. */
function takenName({ collection }: Collection): Problem {
  const message = `collection ${JSON.stringify(collection)} already exists`;
  return problemAbout({ kind: 'collection', collection, member: ['collection'] }, message, { code: 'ALREADY_EXISTS' });
}

type Body = { [member: string]: Json };

/** Moves members at the top level into `meta`. */
function mergeMeta(body: Body, at: Path): Result<Body> {
  const submittedMeta = body['meta'] ?? {};
  if (!isObject(submittedMeta)) return refuse(invalidProblem([...at, 'meta'], 'meta must be an object'));
  const meta: Body = { ...submittedMeta };
  const problems: Problem[] = [];
  const put = (member: string, target: string, value: Json) => {
    if (Object.hasOwn(meta, target) && !jsonEqual(meta[target], value)) {
      problems.push(
        invalidProblem([...at, member], `${member} and meta.${target} are both given and differ; send one of them`),
      );
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
    // The body itself was checked before, but not the JSON within its strings.
    const problems = runToEnd(checkJson(translations)).problems;
    return problems.length > 0 ? refuse(...problems.map((each) => invalidProblem(at, each.message))) : ok(translations);
  } catch {
    return refuse(
      invalidProblem(
        at,
        'translation must be an object with one name per language, or a string with that object as JSON',
      ),
    );
  }
}

function* readFields(input: Json | undefined, collection: Collection, at: Path): Resumable<Result<Field[]>> {
  const path = [...at, 'fields'];
  if (input !== undefined && !Array.isArray(input))
    return refuse(invalidProblem(path, 'fields must be an array of field objects'));
  const items = input ?? [];
  if (collection.schema === null) {
    return items.length === 0
      ? ok([])
      : refuse(invalidProblem(path, 'a folder (schema null) has no table, so it cannot have fields'));
  }
  const fields = yield* allOf(items, (each, index) => readOne(each, [...path, index], collection.collection));
  if (!fields.ok) return fields;
  const twice = duplicates(fields.value, path);
  const complete = withPrimaryKey(fields.value, collection.collection, path);
  if (!complete.ok) return refuse(...twice, ...complete.problems);
  return twice.length > 0 ? refuse(...twice) : ok(numberFields(complete.value));
}

function readOne(input: Json, at: Path, collection: string): Result<Field> {
  const problems: Problem[] = [];
  if (isObject(input)) {
    for (const member of ['field', 'type'] as const) {
      if (input[member] === undefined) problems.push(invalidProblem([...at, member], `${member} is required`));
    }
    const meta = isObject(input['meta']) ? input['meta'] : {};
    if (input['interface'] === undefined && meta['interface'] === undefined) {
      problems.push(invalidProblem([...at, 'interface'], 'interface is required, either here or in meta'));
    }
  }
  const field = readNewField(input, at, { imported: false, topLevelMeta: true, collection });
  if (problems.length === 0) return field;
  const paths = new Set(problems.map((problem) => problem.path));
  return refuse(...problems, ...(field.ok ? [] : field.problems.filter((problem) => !paths.has(problem.path))));
}

function duplicates(fields: Field[], path: Path): Problem[] {
  const seen = new Map<string, number>();
  return problemsOfEach(fields, ({ field }, index) => {
    const first = seen.get(field);
    if (first === undefined) seen.set(field, index);
    return first === undefined
      ? []
      : [invalidProblem([...path, index, 'field'], `${JSON.stringify(field)} is already the name of fields[${first}]`)];
  });
}

/** Adds the default `id` as first field if there is no primary key. */
function withPrimaryKey(fields: Field[], collection: string, path: Path): Result<Field[]> {
  const keys = fields.flatMap((field, index) => (isPrimary(field) ? [index] : []));
  if (keys.length > 1) {
    const message = `fields[${keys[0]}] is already the primary key, and a collection has one`;
    return refuse(...keys.slice(1).map((key) => invalidProblem([...path, key, 'schema', 'is_primary_key'], message)));
  }
  if (keys.length === 1) return ok(fields);
  const id = defaultPrimaryKey(collection);
  const taken = fields.findIndex((field) => field.field === id.field);
  if (taken < 0) return ok([id, ...fields]);
  const message = `no field is the primary key, and the default name "${id.field}" is in use: set is_primary_key on a field`;
  return refuse(invalidProblem([...path, taken, 'schema', 'is_primary_key'], message));
}

/** Keeps the submitted order. A field without `sort` gets its index within its group. */
function numberFields(fields: Field[]): Field[] {
  const count = new Map<string | null, number>();
  const all: Field[] = [];
  for (const field of fields) {
    const position = (count.get(field.meta.group) ?? 0) + 1;
    count.set(field.meta.group, position);
    all.push(field.meta.sort === null ? { ...field, meta: { ...field.meta, sort: position } } : field);
  }
  return all;
}

/* update-collection: changes only members of `meta`. */

interface UpdateCollection {
  collection: string;
  /** The members to change. An empty object changes nothing. */
  meta: { [member: string]: Json };
  /** The value that the client read. The update accepts it only if it equals the current value. */
  schema?: Json;
  /** Location of the update in the request. */
  at: Path;
}

interface UpdateCollectionInput {
  collection: string;
  body: unknown;
  at?: Path;
}

const UPDATED_MEMBERS = new Set(['collection', 'meta', 'schema']);
const SCHEMA_MEMBERS = new Set(['name', 'schema', 'sql', 'comment']);

export const updateCollection: Operation<'update-collection', UpdateCollectionInput, UpdateCollection> = {
  name: 'update-collection',
  isLight: () => true,

  parse({ collection, body, at = [] }) {
    if (!isObject(body)) return refuse(invalidProblem(at, 'the body must be an object with the member meta'));
    const { meta = {}, schema } = body;
    const problems = unknownMembers(body, UPDATED_MEMBERS, at);
    if (body['collection'] !== undefined && body['collection'] !== collection) {
      const message = `an update cannot rename the collection, which is ${JSON.stringify(collection)}. To rename it: POST /collections/${encodeURIComponent(collection)}/rename`;
      problems.push(invalidProblem([...at, 'collection'], message));
    }
    if (!isObject(meta)) return refuse(...problems, invalidProblem([...at, 'meta'], 'meta must be an object'));
    return problems.length > 0
      ? refuse(...problems)
      : ok({ collection, meta, at, ...(schema === undefined ? {} : { schema }) });
  },

  decide(state, command) {
    const draft = new Draft(state);
    const problems = applyUpdate(state, draft, command);
    return problems.length > 0 ? refuse(...problems) : decideDraft(state, draft, {}, updatePlaces([command]));
  },
};

/** Returns the locations of updates. Only `meta` can cause problems there. */
const updatePlaces = (updates: readonly UpdateCollection[]): Locations =>
  collectionLocations(updates.map(({ collection, meta, at }) => ({ collection, at, body: { collection, meta } })));

/** Applies the update to the draft, or returns its problems. */
function applyUpdate(state: State, draft: Draft, { collection, meta, schema, at }: UpdateCollection): Problem[] {
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

/** Returns problems if `schema` differs from the current value. */
function schemaProblems(submitted: Json, { collection, schema: now }: Collection, path: Path): Problem[] {
  if (submitted === null || now === null) {
    return submitted === now
      ? []
      : [invalidProblem(path, 'a table cannot become a folder or a folder a table; send schema as you read it')];
  }
  if (!isObject(submitted)) return [invalidProblem(path, 'schema must be an object or null')];
  const wrong = Object.keys(submitted).filter((member) => !SCHEMA_MEMBERS.has(member));
  const current = { name: now.name ?? collection, schema: now.schema, comment: now.comment };
  for (const [member, value] of Object.entries(current))
    if (submitted[member] !== undefined && submitted[member] !== value) wrong.push(member);
  return wrong.map((member) =>
    invalidProblem([...path, member], 'an update can change meta only; send schema as you read it'),
  );
}

/* delete-collection: deletes the table with its rows, fields and relations, and alias fields that only showed them. */

interface DeleteCollection {
  collection: string;
}

export const deleteCollection: Operation<'delete-collection', DeleteCollection, DeleteCollection> = {
  name: 'delete-collection',

  parse: (input) => ok(input),

  deletes: ({ collection }) => [collection],

  decide(state, { collection }) {
    if (!state.collections.has(collection)) {
      return refuse(systemCollection(collection) ?? missingCollection(state, collection));
    }
    const draft = new Draft(state);
    dropCollection(draft, state, collection);
    return decideDraft(state, draft);
  },
};

/* create-collections and update-collections: several at once, all or nothing. */

interface CreateCollections {
  creates: CreateCollection[];
  concurrentIndexes: boolean;
}

interface CreateCollectionsInput {
  body: unknown[];
  concurrentIndexes: boolean;
  defaultSchema?: string | undefined;
}

export const createCollections: Operation<'create-collections', CreateCollectionsInput, CreateCollections> = {
  name: 'create-collections',

  *parse({ body, concurrentIndexes, defaultSchema }) {
    const creates = yield* allOf(body, (element, index) =>
      createCollection.parse({ body: element, concurrentIndexes, defaultSchema, at: [index] }),
    );
    if (!creates.ok) return creates;
    const twice = rejectRepeatedNames(creates.value.map((create) => create.collection.collection));
    return twice.length > 0 ? refuse(...twice) : ok({ creates: creates.value, concurrentIndexes });
  },

  decide(state, { creates, concurrentIndexes }) {
    const draft = new Draft(state);
    const taken: Problem[] = [];
    const locations = collectionLocations(
      creates.map(({ collection: { collection }, sent }) => ({ collection, ...sent })),
    );
    for (const create of creates) {
      const { collection, fields } = create;
      if (state.collections.has(collection.collection)) {
        taken.push(locate(takenName(collection), locations));
        continue;
      }
      draft.putCollection(collection);
      for (const field of fields) draft.putField(field);
      grantDefaults(draft, state, create);
    }
    if (taken.length > 0) return refuse(...taken);
    return decideDraft(state, draft, { concurrentIndexes }, locations);
  },
};

interface UpdateCollections {
  updates: UpdateCollection[];
}

interface UpdateCollectionsInput {
  body: unknown;
}

export const updateCollections: Operation<'update-collections', UpdateCollectionsInput, UpdateCollections> = {
  name: 'update-collections',

  *parse({ body }) {
    if (!Array.isArray(body))
      return refuse(invalidProblem([], 'the body must be an array of collections, each with its name and meta'));
    const updates = yield* allOf(body, (element: unknown, index) => {
      if (!isObject(element))
        return refuse(invalidProblem([index], 'a collection must be an object with its name and meta'));
      const name = element['collection'];
      if (typeof name !== 'string')
        return refuse(invalidProblem([index, 'collection'], 'collection is required and must be a string'));
      return updateCollection.parse({ collection: name, body: element, at: [index] });
    });
    if (!updates.ok) return updates;
    const twice = rejectRepeatedNames(updates.value.map((update) => update.collection));
    return twice.length > 0 ? refuse(...twice) : ok({ updates: updates.value });
  },

  *decide(state, { updates }) {
    const draft = new Draft(state);
    const problems: Problem[] = [];
    for (const update of updates) {
      problems.push(...applyUpdate(state, draft, update));
      yield;
    }
    if (problems.length > 0) return refuse(...problems);
    return yield* decideDraft(state, draft, {}, updatePlaces(updates));
  },
};

function rejectRepeatedNames(names: string[]): Problem[] {
  return problemsOfEach(findRepeated(names), (index) => [
    invalidProblem([index, 'collection'], `${JSON.stringify(names[index])} occurs more than once in the array`),
  ]);
}
