/**
 * Serialises a state: one line with the distinct column definitions, then one line per collection. Members with the
 * most common value are omitted.
 */
import type { Collection, CollectionMeta, ColumnSchema, Field, FieldMeta, Relation } from '../../schema/model/model.js';
import { createTimeSlice, runYielding } from '../../kernel/event-loop.js';
import { renameIndexes, reindex } from '../../schema/fold/secondary-indexes.js';
import { type CollectionNode, type Identity, type State, initialState } from '../../schema/model/state.js';

/**
 * Version of the text and of the states in it. Increase it when the templates below change, or when the same events
 * produce another state. Stored folds of older versions are ignored and replaced.
 */
export const FOLD_FORMAT = 3;

/** Values of omitted members. They are part of the format and independent of the current defaults. */
const COLLECTION_META: CollectionMeta = {
  icon: null,
  note: null,
  display_template: null,
  hidden: false,
  singleton: false,
  translations: null,
  archive_field: null,
  archive_app_filter: true,
  archive_value: null,
  unarchive_value: null,
  sort_field: null,
  accountability: 'all',
  color: null,
  item_duplication_fields: null,
  sort: null,
  group: null,
  collapse: 'open',
  preview_url: null,
  versioning: false,
};

const FIELD_META: FieldMeta = {
  special: null,
  interface: null,
  options: null,
  display: null,
  display_options: null,
  readonly: false,
  hidden: false,
  sort: null,
  width: 'full',
  translations: null,
  note: null,
  conditions: null,
  group: null,
  required: false,
  validation: null,
  validation_message: null,
};

const COLUMN: ColumnSchema = {
  data_type: 'character varying',
  default_value: null,
  max_length: null,
  numeric_precision: null,
  numeric_scale: null,
  is_nullable: true,
  is_unique: false,
  is_indexed: false,
  is_primary_key: false,
  generation_expression: null,
  has_auto_increment: false,
  comment: null,
};

/** `column` is an index into the column definitions, the column itself if there are too many, or null. */
type StoredField = [name: string, identity: Identity, type: string, meta: unknown, column: unknown];
type StoredNode = [
  name: string,
  identity: Identity,
  meta: unknown,
  schema: Collection['schema'],
  fields: StoredField[],
  relations: Relation[],
];

/** Most columns share few definitions, and equal ones become one object in memory. */
const KINDS = 5_000;

/** @returns the lines */
export async function writeState(state: State): Promise<string[]> {
  const kinds = new Map<string, number>();
  const lines: string[] = [''];
  const slice = createTimeSlice();
  for (const node of state.collections.values()) {
    lines.push(JSON.stringify(toStored(node, kinds)));
    if (slice.isOver()) await slice.yield();
  }
  lines[0] = `[${[...kinds.keys()].join(',')}]`;
  return lines;
}

/** @throws if `writeState` did not write the lines */
export async function readState(text: Iterable<string>, position: number): Promise<State> {
  const lines = text[Symbol.iterator]();
  const slice = createTimeSlice();
  let { referencedBy, indexNames } = initialState();
  const collections = initialState().collections.asMutable();
  const kinds = (JSON.parse(String(lines.next().value)) as unknown[]).map((kind) => grow(kind, COLUMN));
  for (let line = lines.next(); line.done !== true; line = lines.next()) {
    const node = fromStored(JSON.parse(line.value) as StoredNode, kinds);
    const name = node.collection.collection;
    collections.set(name, node);
    referencedBy = reindex(referencedBy, name, undefined, node.relations);
    const named = renameIndexes(indexNames, [{ collection: name, before: undefined, after: node.fields }]);
    indexNames = await runYielding(named, slice);
    if (slice.isOver()) await slice.yield();
  }
  return { position, collections: collections.asImmutable(), referencedBy, indexNames };
}

function toStored(
  { identities, collection, fields, relations }: CollectionNode,
  kinds: Map<string, number>,
): StoredNode {
  return [
    collection.collection,
    identities.collection,
    shrink(collection.meta, COLLECTION_META),
    collection.schema,
    [...fields.values()].map(({ field, type, meta, schema }) => [
      field,
      identities.fields.get(field) as Identity,
      type,
      shrink(meta, FIELD_META),
      schema === null ? null : kindOf(shrink(schema, COLUMN), kinds),
    ]),
    [...relations.values()],
  ];
}

function kindOf(column: unknown, kinds: Map<string, number>): unknown {
  const text = JSON.stringify(column);
  const known = kinds.get(text);
  if (known !== undefined) return known;
  if (kinds.size >= KINDS) return column;
  kinds.set(text, kinds.size);
  return kinds.size - 1;
}

function fromStored(stored: StoredNode, kinds: ColumnSchema[]): CollectionNode {
  const [name, identity, meta, schema, fields, relations] = stored;
  const collection: Collection = { collection: name, meta: grow(meta, COLLECTION_META), schema };
  return {
    identities: { collection: identity, fields: new Map(fields.map((field) => [field[0], field[1]])) },
    collection,
    fields: new Map(fields.map((field) => [field[0], fromStoredField(name, field, kinds)])),
    relations: new Map(relations.map((relation) => [relation.many_field, relation])),
  };
}

function fromStoredField(collection: string, stored: StoredField, kinds: readonly ColumnSchema[]): Field {
  const [field, _identity, type, meta, column] = stored;
  return {
    collection,
    field,
    type,
    meta: grow(meta, FIELD_META),
    schema: columnOf(column, kinds),
  };
}

function columnOf(column: unknown, kinds: readonly ColumnSchema[]): ColumnSchema | null {
  if (typeof column !== 'number') return column === null ? null : grow(column, COLUMN);
  const kind = kinds[column];
  if (kind === undefined) throw new Error(`there is no column of kind ${column}`);
  return kind;
}

/** Returns the members that differ, or the whole document in an array if it lacks a member of the template. */
function shrink(document: object, template: object): unknown {
  const usual = template as Record<string, unknown>;
  const rest: Record<string, unknown> = {};
  let found = 0;
  for (const [member, value] of Object.entries(document)) {
    const known = Object.hasOwn(usual, member);
    if (known) found += 1;
    if (!known || usual[member] !== value) rest[member] = value;
  }
  return found === Object.keys(usual).length ? rest : [document];
}

function grow<T extends object>(stored: unknown, template: T): T {
  return Array.isArray(stored) ? (stored[0] as T) : { ...template, ...(stored as Partial<T>) };
}
