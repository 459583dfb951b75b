/** The shape of every event payload, per type and version. Once released, a version's schema never changes. */
import { z } from 'zod';
import { columnExtrasV1, tableExtrasV1 } from './extras-schemas.js';
import { DEFERRABLES, FIELD_WIDTHS, REFERENTIAL_ACTIONS } from './model.js';
import type { EventType } from './events.js';

const text = z.string();
const textOrNull = z.string().nullable();
const json = z.json();

const collectionV1 = z.strictObject({
  collection: text,
  meta: z.strictObject({
    icon: textOrNull,
    note: textOrNull,
    display_template: textOrNull,
    hidden: z.boolean(),
    singleton: z.boolean(),
    translations: json,
    archive_field: textOrNull,
    archive_app_filter: z.boolean(),
    archive_value: textOrNull,
    unarchive_value: textOrNull,
    sort_field: textOrNull,
    accountability: z.enum(['all', 'activity']).nullable(),
    color: textOrNull,
    item_duplication_fields: json,
    sort: z.number().nullable(),
    group: textOrNull,
    collapse: z.enum(['open', 'closed', 'locked']),
    preview_url: textOrNull,
    versioning: z.boolean(),
  }),
  schema: z.strictObject({ comment: textOrNull, extras: tableExtrasV1.optional() }).nullable(),
});

const fieldV1 = z.strictObject({
  collection: text,
  field: text,
  type: text,
  meta: z.strictObject({
    special: z.array(text).nullable(),
    interface: textOrNull,
    options: json,
    display: textOrNull,
    display_options: json,
    readonly: z.boolean(),
    hidden: z.boolean(),
    sort: z.number().nullable(),
    width: z.enum(FIELD_WIDTHS),
    translations: json,
    note: textOrNull,
    conditions: json,
    group: textOrNull,
    required: z.boolean(),
    validation: json,
    validation_message: textOrNull,
  }),
  schema: z
    .strictObject({
      data_type: text,
      default_value: json,
      max_length: z.number().nullable(),
      numeric_precision: z.number().nullable(),
      numeric_scale: z.number().nullable(),
      is_nullable: z.boolean(),
      is_unique: z.boolean(),
      is_indexed: z.boolean(),
      is_primary_key: z.boolean(),
      generation_expression: textOrNull,
      has_auto_increment: z.boolean(),
      comment: textOrNull,
      extras: columnExtrasV1.optional(),
    })
    .nullable(),
});

const relationV1 = z.strictObject({
  many_collection: text,
  many_field: text,
  one_collection: textOrNull,
  one_field: textOrNull,
  one_collection_field: textOrNull,
  one_allowed_collections: z.array(text).nullable(),
  junction_field: textOrNull,
  sort_field: textOrNull,
  one_deselect_action: z.enum(['nullify', 'delete']),
  schema: z
    .strictObject({
      constraint_name: text,
      on_update: z.enum(REFERENTIAL_ACTIONS),
      on_delete: z.enum(REFERENTIAL_ACTIONS),
      deferrable: z.enum(DEFERRABLES).optional(),
    })
    .nullable(),
});

const patch = z.array(
  z.discriminatedUnion('op', [
    z.strictObject({ op: z.literal('add'), path: text, value: json }),
    z.strictObject({ op: z.literal('replace'), path: text, value: json }),
    z.strictObject({ op: z.literal('remove'), path: text }),
  ]),
);

const nothing = z.strictObject({});
const concurrent_indexes = z.boolean().optional();

/** Index 0 is version 1. */
export const EVENT_SCHEMAS: Record<EventType, readonly z.ZodType[]> = {
  'collection.created': [z.strictObject({ collection: collectionV1, fields: z.array(fieldV1), concurrent_indexes })],
  'collection.adopted': [z.strictObject({ collection: collectionV1, fields: z.array(fieldV1) })],
  'collection.updated': [z.strictObject({ patch, adopted: z.boolean().optional() })],
  'collection.deleted': [nothing],
  'field.created': [z.strictObject({ field: fieldV1, concurrent_indexes })],
  'field.updated': [z.strictObject({ patch, concurrent_indexes })],
  'field.deleted': [nothing],
  'relation.created': [z.strictObject({ relation: relationV1, adopted: z.boolean().optional() })],
  'relation.updated': [z.strictObject({ patch })],
  'relation.deleted': [nothing],
};
