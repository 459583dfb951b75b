/** Writes a snapshot in the format of Directus 11. Unsupported parts such as checks are omitted. */
import { isObject } from '../../../kernel/json.js';

type Members = Record<string, unknown>;

export interface OwnSnapshot {
  collections: readonly Members[];
  fields: readonly Members[];
  relations: readonly Members[];
}

/** The Directus release that this was tested with. */
const RELEASE = '11.17.4';

/** Fields of system collections. Without them in the file, Directus drops its own indexes on them. */
const SYSTEM_FIELDS = [
  ['directus_activity', 'timestamp'],
  ['directus_revisions', 'activity'],
  ['directus_revisions', 'parent'],
].map(([collection, field]) => ({ collection, field, schema: { is_indexed: true } }));

/** Returns a new document. Foreign keys to `service_users` reference `directus_users` in it. */
export function toDirectusForm({ collections, fields, relations }: OwnSnapshot): Members {
  const keys = new Map(
    fields.filter(({ schema }) => isObject(schema) && schema['is_primary_key'] === true).map(fieldKey),
  );
  return {
    version: 1,
    directus: RELEASE,
    vendor: 'postgres',
    collections: collections.map(directusCollection),
    fields: fields.map(directusField),
    systemFields: SYSTEM_FIELDS,
    relations: relations.map((each) => directusRelation(each, keys)),
  };
}

const fieldKey = ({ collection, field }: Members): [unknown, unknown] => [collection, field];

const directusName = (name: unknown): unknown => (name === 'service_users' ? 'directus_users' : name);

/** Converts a collection. In Directus, a folder has no member `schema`. */
const directusCollection = ({ collection, meta, schema }: Members): Members => ({
  collection,
  meta,
  ...(isObject(schema) && { schema: { name: schema['name'] } }),
});

const COLUMN_MEMBERS = [
  'name',
  'table',
  'data_type',
  'default_value',
  'max_length',
  'numeric_precision',
  'numeric_scale',
  'is_nullable',
  'is_unique',
  'is_indexed',
  'is_primary_key',
  'is_generated',
  'generation_expression',
  'has_auto_increment',
];

function directusField({ collection, field, type, meta, schema }: Members): Members {
  if (!isObject(schema)) return { collection, field, type, meta };
  const column = Object.fromEntries(COLUMN_MEMBERS.map((member) => [member, schema[member]]));
  const target = {
    foreign_key_table: directusName(schema['foreign_key_table']),
    foreign_key_column: schema['foreign_key_column'],
  };
  return { collection, field, type, meta, schema: { ...column, ...target } };
}

function directusRelation({ schema, ...own }: Members, keys: ReadonlyMap<unknown, unknown>): Members {
  const ends: Members = Object.fromEntries(Object.entries(own).filter(([member]) => member !== 'id'));
  const { many_collection: table, many_field: column, one_collection: one, one_allowed_collections: allowed } = ends;
  const related = directusName(one);
  const meta = {
    ...ends,
    one_collection: related,
    one_allowed_collections: Array.isArray(allowed) ? allowed.map(directusName) : allowed,
  };
  const relation = { collection: table, field: column, related_collection: related, meta };
  if (!isObject(schema)) return relation;
  const { constraint_name, on_update, on_delete } = schema;
  const target = { foreign_key_table: related, foreign_key_column: keys.get(one) ?? 'id' };
  return { ...relation, schema: { table, column, ...target, constraint_name, on_update, on_delete } };
}
