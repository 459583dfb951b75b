/** The documents of the interface, as JSON Schema. */
import { FIELD_WIDTHS, REFERENTIAL_ACTIONS } from '../../schema/model.js';
import { STATUS } from '../errors.js';
import { ROLES, USER_STATUSES } from '../../auth/caller.js';

export type JsonSchema = Record<string, unknown>;

const text: JsonSchema = { type: 'string' };
const textOrNull: JsonSchema = { type: ['string', 'null'] };
const flag: JsonSchema = { type: 'boolean' };
const integer: JsonSchema = { type: 'integer' };
const integerOrNull: JsonSchema = { type: ['integer', 'null'] };
const anything: JsonSchema = {};
const time: JsonSchema = { type: 'string', format: 'date-time' };
const uuid: JsonSchema = { type: 'string', format: 'uuid' };

const choice = (...values: readonly (string | null)[]): JsonSchema => ({ enum: values });
const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const orNull = (schema: JsonSchema): JsonSchema => ({ oneOf: [schema, { type: 'null' }] });

export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
export const ref = (name: keyof typeof COMPONENTS): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const CollectionMeta = object({
  collection: text,
  icon: textOrNull,
  note: textOrNull,
  display_template: textOrNull,
  hidden: flag,
  singleton: flag,
  translations: anything,
  archive_field: textOrNull,
  archive_app_filter: flag,
  archive_value: textOrNull,
  unarchive_value: textOrNull,
  sort_field: textOrNull,
  accountability: choice('all', 'activity', null),
  color: textOrNull,
  item_duplication_fields: anything,
  sort: integerOrNull,
  group: textOrNull,
  collapse: choice('open', 'closed', 'locked'),
  preview_url: textOrNull,
  versioning: flag,
  system: { type: 'boolean', description: 'Present and true for the tables of the service itself.' },
});

const Collection = object(
  {
    collection: text,
    meta: { $ref: '#/components/schemas/CollectionMeta' },
    schema: orNull(object({ name: text, sql: text, comment: textOrNull })),
  },
  ['collection', 'meta', 'schema'],
);

const FieldMeta = object({
  collection: text,
  field: text,
  special: { type: ['array', 'null'], items: text },
  interface: textOrNull,
  options: anything,
  display: textOrNull,
  display_options: anything,
  readonly: flag,
  hidden: flag,
  sort: integerOrNull,
  width: choice(...FIELD_WIDTHS),
  translations: anything,
  note: textOrNull,
  conditions: anything,
  group: textOrNull,
  required: flag,
  validation: anything,
  validation_message: textOrNull,
});

const FieldSchema = object({
  name: text,
  table: text,
  data_type: text,
  default_value: anything,
  max_length: integerOrNull,
  numeric_precision: integerOrNull,
  numeric_scale: integerOrNull,
  is_nullable: flag,
  is_unique: flag,
  is_indexed: flag,
  is_primary_key: flag,
  is_generated: flag,
  generation_expression: textOrNull,
  has_auto_increment: flag,
  comment: textOrNull,
  foreign_key_table: textOrNull,
  foreign_key_column: textOrNull,
});

const Field = object(
  {
    collection: text,
    field: text,
    type: text,
    meta: { $ref: '#/components/schemas/FieldMeta' },
    schema: orNull({ $ref: '#/components/schemas/FieldSchema' }),
  },
  ['field', 'type'],
);

const Relation = object(
  {
    id: integer,
    many_collection: text,
    many_field: text,
    one_collection: textOrNull,
    one_field: textOrNull,
    one_collection_field: textOrNull,
    one_allowed_collections: { type: ['array', 'null'], items: text },
    junction_field: textOrNull,
    sort_field: textOrNull,
    one_deselect_action: choice('nullify', 'delete'),
    schema: orNull(
      object({
        constraint_name: text,
        on_update: choice(...REFERENTIAL_ACTIONS),
        on_delete: choice(...REFERENTIAL_ACTIONS),
      }),
    ),
  },
  ['many_collection', 'many_field'],
);

const NewCollection = object(
  {
    collection: text,
    schema: orNull(object({ name: text, comment: textOrNull })),
    meta: { $ref: '#/components/schemas/CollectionMeta' },
    fields: list({ $ref: '#/components/schemas/Field' }),
    translation: anything,
    ...Object.fromEntries(
      ['icon', 'note', 'display_template', 'archive_field', 'archive_value', 'unarchive_value', 'sort_field'].map(
        (member) => [member, textOrNull],
      ),
    ),
    hidden: flag,
    singleton: flag,
    versioning: flag,
    archive_app_filter: { enum: [true, false, 'true', 'false'] },
  },
  ['collection', 'schema'],
);

const Snapshot = object(
  {
    version: { const: 1 },
    service: text,
    vendor: text,
    collections: list({ $ref: '#/components/schemas/Collection' }),
    fields: list({ $ref: '#/components/schemas/Field' }),
    relations: list({ $ref: '#/components/schemas/Relation' }),
  },
  ['version'],
);

const Change = object(
  { kind: choice('N', 'D', 'E', 'A'), path: list({}), index: integer, lhs: anything, rhs: anything, item: anything },
  ['kind'],
);
const changed = (...members: string[]) =>
  list(
    object(
      {
        ...Object.fromEntries(members.map((member) => [member, textOrNull])),
        diff: list({ $ref: '#/components/schemas/Change' }),
      },
      ['collection', 'diff'],
    ),
  );

const Warning = object({ code: text, collection: text, field: text, message: text }, ['code', 'message']);
const warnings = list({ $ref: '#/components/schemas/Warning' });

const Diff = object(
  {
    hash: text,
    diff: object({
      collections: changed('collection'),
      fields: changed('collection', 'field'),
      relations: changed('collection', 'field', 'related_collection'),
    }),
    warnings,
  },
  ['hash', 'diff'],
);

const Plan = object(
  { accepted: flag, events: list(object({})), statements: list(object({ sql: text, summary: text })), warnings },
  ['accepted', 'events', 'statements', 'warnings'],
);

const User = object({
  id: uuid,
  email: text,
  name: text,
  role: choice(...ROLES),
  status: choice(...USER_STATUSES),
  created_at: time,
});
const Token = object({ id: uuid, name: text, created_at: time, expires_at: orNull(time) });
const Grant = object({ access_token: text, expires: integer, refresh_token: text });

const Info = object({ release: text, vendor: text, database_version: text, position: integer, hash: text });
const Check = object({ ok: flag, message: text }, ['ok']);
const Health = object({
  status: choice('ok', 'error'),
  checks: object({ database: Check, log: Check, projections: Check }),
});

const Errors = object({
  errors: list(
    object({
      message: text,
      extensions: object({ code: choice(...Object.keys(STATUS)), path: text, subject: anything }, ['code']),
    }),
  ),
});

export const COMPONENTS = {
  CollectionMeta,
  Collection,
  NewCollection,
  FieldMeta,
  FieldSchema,
  Field,
  Relation,
  Snapshot,
  Change,
  Warning,
  Diff,
  Plan,
  User,
  Token,
  Grant,
  Info,
  Health,
  Errors,
} satisfies Record<string, JsonSchema>;
