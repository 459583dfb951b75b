/* create-field, update-fields, delete-field. */
import { isFolder, type CollectionNode, type State, primaryKeyOf, extrasOf, relationsTo } from '../model/state.js';
import { Draft } from '../transition/draft.js';
import { dropField } from '../transition/cascade.js';
import { isObject, type Json } from '../../kernel/json.js';
import type { Backfill } from '../model/backfill.js';
import type { Field, ColumnSchema } from '../model/model.js';
import { MAX_SORT, mergeField, readNewField } from '../normal-form/index.js';
import { readBackfill } from '../normal-form/field.js';
import {
  type Path,
  type Problem,
  type Result,
  problemAbout,
  allOf,
  invalidProblem,
  ok,
  refuse,
  renderPath,
  findRepeated,
} from '../../kernel/problem.js';
import { withComposedNames } from '../normal-form/names.js';
import {
  type Operation,
  decideDraft,
  fieldLocations,
  missingCollection,
  missingField,
  systemCollection,
} from './operation.js';
import { keyTarget, type KeyTarget } from '../snapshot/documents.js';
import { locate } from '../../kernel/locate.js';
import { secondKey } from '../invariants/columns.js';
import { collectionName } from '../model/system-collections.js';
import { keyDefinition, expressionColumns } from '../sql-text/definitions.js';
import { quoteName } from '../../kernel/text.js';

/* Finds changes to a field that are never possible. */

/** Returns a change for which PostgreSQL would have to drop the column with its data. An update must not do that. */
function findImpossibleUpdate(existing: Field, now: Field): [member: string, becomes: string] | null {
  if (existing.schema === null)
    return now.schema === null ? null : ['data_type', 'is an alias field and cannot become a column'];
  if (now.schema === null) return ['data_type', 'is a column and cannot become an alias field'];
  if (existing.schema.generation_expression !== null || now.schema.generation_expression === null) return null;
  return ['generation_expression', 'stores its own values and cannot become a generated column'];
}

/**
 * Reports changes to `foreign_key_table` and `foreign_key_column`. They show the relation, so only a change to the
 * relation changes them.
 */
function referenceProblems(target: KeyTarget | null, schema: Json | undefined, at: Path): Problem[] {
  if (!isObject(schema)) return [];
  const derived = { foreign_key_table: target?.table ?? null, foreign_key_column: target?.column ?? null };
  return Object.entries(derived).flatMap(([member, now]) => {
    if (schema[member] === undefined || collectionName(schema[member], (name) => name === now) === now) return [];
    const message = `${member} must be ${JSON.stringify(now)} or omitted: the relation of the field determines it`;
    return [invalidProblem([...at, 'schema', member], message)];
  });
}

type Change = { field: string; at: Path };

/**
 * Reports changes to the primary key. The key can move to another column in the same batch, but it cannot be removed or
 * duplicated.
 */
function keyProblems(node: CollectionNode, draft: Draft, changes: readonly Change[]): Problem[] {
  const { collection } = node.collection;
  const [had] = primaryKeyOf(node);
  const keys = primaryKeyOf(draft.get(collection) ?? node);
  const path = (field: string): { path?: string } => {
    const change = changes.find((each) => each.field === field);
    return change === undefined ? {} : { path: renderPath([...change.at, 'schema', 'is_primary_key']) };
  };
  if (had !== undefined && keys.length === 0) {
    const message = `${JSON.stringify(had.field)} is the primary key of ${JSON.stringify(collection)}; make another field the primary key in the same request`;
    return [{ code: 'IN_USE', message, ...path(had.field), collection, field: had.field }];
  }
  if (keys.length < 2 || extrasOf(node).primary_key !== undefined) return [];
  const [first] = had !== undefined && keys.some(({ field }) => field === had.field) ? [had] : keys;
  const others = keys.filter(({ field }) => field !== first?.field);
  return others.map(({ field }) => ({ ...secondKey(collection, first?.field ?? '', field), ...path(field) }));
}

/* Find objects that depend on a field and are not deleted implicitly. The client must delete them first. */

/** The reason why the field is needed, and the fields that need it. */
type Need = [message: string, by: string[]];

/** Reports IN_USE, with the dependent fields in `details.needed_by`. Empty if the field can be deleted. */
function findUses(state: State, node: CollectionNode, { collection, field, schema }: Field): Problem[] {
  const needs = [
    ...(schema?.is_primary_key === true ? [findKeyUses(state, collection, field)] : []),
    ...findIncludedUses(node, field),
    ...findExpressionUses(node, collection, field),
    ...findPointerUses(node, collection, field),
  ];
  return needs.map(([message, by]) => ({ code: 'IN_USE', message, collection, field, details: { needed_by: by } }));
}

function findKeyUses(state: State, collection: string, field: string): Need {
  const users = relationsTo(state, collection).map((each) => `${each.many_collection}.${each.many_field}`);
  const also = users.length > 0 ? `, and relations reference it (${users.join(', ')})` : '';
  const message = `${quoteName(field)} is the primary key of ${quoteName(collection)}${also}; delete the collection, or make another field the key first`;
  return [message, users];
}

/** Finds keys whose index includes the column. PostgreSQL would drop such a key together with the column. */
function findIncludedUses(node: CollectionNode, field: string): Need[] {
  const key = extrasOf(node).primary_key;
  const carried = key?.definition === undefined ? [] : keyDefinition(key.definition).including;
  if (key === undefined || !carried.includes(field)) return [];
  return [
    [`the primary key ${quoteName(key.name)} contains ${quoteName(field)}, so it cannot be changed here`, key.columns],
  ];
}

/** Finds fields of the collection whose expression uses the field. */
function findExpressionUses(node: CollectionNode, collection: string, field: string): Need[] {
  const readers = [...node.fields.values()]
    .filter((other) => other.field !== field && other.schema !== null && readsFrom(other.schema, field))
    .map((other) => other.field);
  if (readers.length === 0) return [];
  const [are, them] = readers.length === 1 ? ['is', 'that'] : ['are', 'them'];
  const message = `${readers.map(quoteName).join(', ')} ${are} computed from ${quoteName(field)}; delete or change ${them} first`;
  return [[message, readers.map((reader) => `${collection}.${reader}`)]];
}

const readsFrom = ({ generation_expression: text }: ColumnSchema, field: string): boolean =>
  text !== null && expressionColumns(text).has(field);

/** Finds many-to-any relations that store the name of the related collection in the field. */
function findPointerUses({ relations }: CollectionNode, collection: string, field: string): Need[] {
  return [...relations.values()]
    .filter((relation) => relation.one_collection_field === field)
    .map(({ many_field }) => {
      const user = `${collection}.${many_field}`;
      const message = `the many-to-any relation ${user} stores the name of its collection in ${quoteName(field)}; delete ${user} first`;
      return [message, [user]];
    });
}

interface CreateField {
  field: Field;
  backfill?: Backfill;
  /** The submitted body, from which problems get their locations. */
  body: unknown;
  concurrentIndexes: boolean;
}

interface CreateFieldInput {
  collection: string;
  body: unknown;
  concurrentIndexes: boolean;
}

export const createField: Operation<'create-field', CreateFieldInput, CreateField> = {
  name: 'create-field',
  alters: ({ field }) => [field.collection],

  parse({ collection, body: sent, concurrentIndexes }) {
    if (!isObject(sent)) return refuse(invalidProblem([], 'a field must be a JSON object'));
    const body = withComposedNames(sent, [sent['field']]);
    const problems: Problem[] = [];
    for (const member of ['field', 'type']) {
      if (body[member] === undefined) problems.push(invalidProblem([member], `${member} is required`));
    }
    if (problems.length > 0) return refuse(...problems);
    const { backfill: submitted, ...document } = body;
    const field = readNewField(document, [], { imported: false, topLevelMeta: true, collection });
    const backfill = readOptionalBackfill(submitted, []);
    if (!field.ok) return refuse(...field.problems, ...(backfill.ok ? [] : backfill.problems));
    return backfill.ok ? ok({ field: field.value, ...backfill.value, body, concurrentIndexes }) : backfill;
  },

  locations: ({ field, body }) => fieldLocations(field.collection, [{ field: field.field, body, at: [] }]),

  decide(state, { field, backfill, body, concurrentIndexes }) {
    const locations = fieldLocations(field.collection, [{ field: field.field, body, at: [] }]);
    const node = state.collections.get(field.collection);
    if (node === undefined)
      return refuse(systemCollection(field.collection) ?? missingCollection(state, field.collection));
    if (isFolder(node)) {
      const message = `${JSON.stringify(field.collection)} is a folder (schema null) and cannot have fields`;
      return refuse({ code: 'INVALID_PAYLOAD', message, collection: field.collection, field: field.field });
    }
    if (node.fields.has(field.field)) {
      const message = `field ${JSON.stringify(field.field)} of collection ${JSON.stringify(field.collection)} already exists`;
      const subject = { kind: 'field', collection: field.collection, field: field.field, member: ['field'] } as const;
      return refuse(locate(problemAbout(subject, message, { code: 'ALREADY_EXISTS' }), locations));
    }
    const draft = new Draft(state);
    draft.putField(field.meta.sort === null ? placeLast(node, field) : field);
    const { collection } = field;
    const backfills = backfill === undefined ? [] : [{ collection, field: field.field, backfill }];
    return decideDraft(state, draft, { concurrentIndexes, backfills }, locations);
  },
};

/** Returns the member of a command. Empty if the body has none. */
function readOptionalBackfill(submitted: unknown, at: Path): Result<{ backfill?: Backfill }> {
  if (submitted === undefined) return ok({});
  const read = readBackfill(submitted, [...at, 'backfill']);
  return read.ok ? ok({ backfill: read.value }) : read;
}

/**
 * Sets the sort value of a new field without one, so that it is the last in its group. The value stays in the range of
 * integers.
 */
function placeLast(node: CollectionNode, field: Field): Field {
  let highest = 0;
  for (const { meta } of node.fields.values()) {
    if (meta.group === field.meta.group) highest = Math.max(highest, meta.sort ?? 0);
  }
  return { ...field, meta: { ...field.meta, sort: Math.min(highest + 1, MAX_SORT) } };
}

interface FieldChange {
  field: string;
  body: { [member: string]: Json };
  backfill?: Backfill;
  at: Path;
}

/** Updates one or several fields, all or nothing. */
interface UpdateFields {
  collection: string;
  changes: FieldChange[];
  concurrentIndexes: boolean;
}

interface UpdateFieldsInput {
  collection: string;
  /** The field of a single update. If absent, the body is an array whose elements contain the names of the fields. */
  field?: string;
  body: unknown;
  concurrentIndexes: boolean;
}

export const updateFields: Operation<'update-fields', UpdateFieldsInput, UpdateFields> = {
  name: 'update-fields',
  alters: ({ collection }) => [collection],
  isLight: ({ changes }) =>
    changes.every(({ body }) => ['schema', 'type', 'backfill'].every((member) => body[member] === undefined)),

  *parse({ collection, field, body, concurrentIndexes }) {
    if (field !== undefined) {
      if (!isObject(body)) return refuse(invalidProblem([], 'the body must be an object with the members to change'));
      const change = readFieldChange(body, { collection, field, at: [] });
      return change.ok ? ok({ collection, changes: [change.value], concurrentIndexes }) : change;
    }
    if (!Array.isArray(body)) {
      return refuse(
        invalidProblem([], 'the body must be an array of fields, each with its name and the members to change'),
      );
    }
    const changes = yield* allOf(body, (element: unknown, index) => readChange(element, collection, index));
    if (!changes.ok) return changes;
    const twice = rejectRepeatedNames(changes.value.map((change) => change.field));
    return twice.length > 0 ? refuse(...twice) : ok({ collection, changes: changes.value, concurrentIndexes });
  },

  locations: ({ collection, changes }) => fieldLocations(collection, changes),

  *decide(state, { collection, changes, concurrentIndexes }) {
    const node = state.collections.get(collection);
    if (node === undefined) return refuse(systemCollection(collection) ?? missingCollection(state, collection));
    const draft = new Draft(state);
    const problems: Problem[] = [];
    for (const change of changes) {
      const merged = merge(state, node, change);
      if (merged.ok) draft.putField(merged.value);
      else problems.push(...merged.problems);
      yield;
    }
    problems.push(...keyProblems(node, draft, changes));
    if (problems.length > 0) return refuse(...problems);
    const backfills = changes.flatMap(({ field, backfill }) =>
      backfill === undefined ? [] : [{ collection, field, backfill }],
    );
    return yield* decideDraft(state, draft, { concurrentIndexes, backfills }, fieldLocations(collection, changes));
  },
};

function readChange(element: unknown, collection: string, index: number): Result<FieldChange> {
  if (!isObject(element))
    return refuse(invalidProblem([index], 'a field must be an object with its name and the members to change'));
  const { field } = element;
  if (typeof field !== 'string')
    return refuse(invalidProblem([index, 'field'], 'field is required and must be a string'));
  return readFieldChange(element, { collection, field, at: [index] });
}

interface ChangedField {
  collection: string;
  field: string;
  at: Path;
}

function readFieldChange(body: FieldChange['body'], { collection, field, at }: ChangedField): Result<FieldChange> {
  const problems = rejectOtherNames(body, collection, field, at);
  const backfill = readOptionalBackfill(body['backfill'], at);
  if (!backfill.ok) return refuse(...problems, ...backfill.problems);
  return problems.length > 0 ? refuse(...problems) : ok({ field, body, ...backfill.value, at });
}

function rejectRepeatedNames(names: string[]): Problem[] {
  return findRepeated(names).map((index) =>
    invalidProblem([index, 'field'], `${JSON.stringify(names[index])} occurs more than once in the array`),
  );
}

function rejectOtherNames(body: { [member: string]: Json }, collection: string, field: string, at: Path): Problem[] {
  const problems: Problem[] = [];
  if (body['field'] !== undefined && body['field'] !== field) {
    const way = `POST /fields/${encodeURIComponent(collection)}/${encodeURIComponent(field)}/rename`;
    const message = `an update cannot rename the field, which is ${JSON.stringify(field)}. To rename it: ${way}`;
    problems.push(invalidProblem([...at, 'field'], message));
  }
  if (body['collection'] !== undefined && body['collection'] !== collection) {
    problems.push(
      invalidProblem(
        [...at, 'collection'],
        `a field cannot move to another collection. Its collection is ${JSON.stringify(collection)}`,
      ),
    );
  }
  return problems;
}

function merge(state: State, node: CollectionNode, { field, body, at }: FieldChange): Result<Field> {
  const existing = node.fields.get(field);
  if (existing === undefined) {
    const missing = missingField(state, node.collection.collection, field);
    return refuse(at.length === 0 ? missing : { ...missing, path: renderPath([...at, 'field']) });
  }
  const { backfill: _, ...document } = body;
  const merged = mergeField(existing, document, at, { imported: false });
  const derived = referenceProblems(keyTarget(state, node, field), body['schema'], at);
  if (!merged.ok) return refuse(...merged.problems, ...derived);
  if (derived.length > 0) return refuse(...derived);
  const fault = findImpossibleUpdate(existing, merged.value);
  if (fault === null) return merged;
  const [member, becomes] = fault;
  const message = `field ${JSON.stringify(field)} ${becomes}; delete it and create it again`;
  return refuse(invalidProblem([...at, ...(isObject(body['schema']) ? ['schema', member] : ['type'])], message));
}

interface DeleteField {
  collection: string;
  field: string;
}

export const deleteField: Operation<'delete-field', DeleteField, DeleteField> = {
  name: 'delete-field',
  alters: ({ collection }) => [collection],

  parse: (input) => ok(input),

  decide(state, { collection, field }) {
    const node = state.collections.get(collection);
    if (node === undefined) return refuse(systemCollection(collection) ?? missingCollection(state, collection));
    const existing = node.fields.get(field);
    if (existing === undefined) return refuse(missingField(state, collection, field));
    const needed = findUses(state, node, existing);
    if (needed.length > 0) return refuse(...needed);
    const draft = new Draft(state);
    dropField(draft, state, collection, field);
    return decideDraft(state, draft);
  },
};
