/** The schema of every event payload per type and version. A released schema never changes. */
import { z } from 'zod';
import {
  changeApprovedV1,
  changeOpenedV1,
  changePreparedV1,
  changePreparingV1,
  changeUpdatedV1,
} from './change-event-schemas.js';
import { columnExtrasV1, tableExtrasV1 } from './extras-schemas.js';
import { DEFERRABLES, FIELD_WIDTHS, REFERENTIAL_ACTIONS } from '../model/model.js';
import { ACTIONS, POLICY_CHANGES } from '../model/policy.js';
import type { EventType, LogEvent, NewEvent, SchemaEventType } from '../model/events.js';

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

const concurrent_indexes = z.boolean().optional();
const adopted = z.boolean().optional();

const kept_until = text.optional();
const restoredField = { position: z.int().positive(), identity: text, empty: z.boolean().optional() };

const divergence = z.strictObject({
  seen: logPlace(),
  found: logPlace(),
  fork: z.int().nonnegative().nullable().optional(),
  noticed_at: text,
});
const renamedV1 = z.strictObject({
  to: text,
  touches: z.array(text).optional(),
  patches: z
    .array(z.strictObject({ collection: text, field: text.optional(), relation: text.optional(), patch }))
    .optional(),
  adopted,
});

const noData = z.strictObject({});
const actionsV1 = z.record(text, z.enum(ACTIONS));
const policyV1 = z.strictObject({
  findings: actionsV1,
  collections: z.array(z.strictObject({ pattern: text, findings: actionsV1 })),
  online_above_rows: z.int().nonnegative().nullable(),
  approvals: z.int().positive(),
  author_may_approve: z.boolean(),
  policy_changes: z.enum(POLICY_CHANGES),
});

const accountAccess = { role: text, status: text, password_set_by: textOrNull };
const accountUpdatedV1 = z
  .strictObject({
    ...accountAccess,
    email: z.literal('changed'),
    name: z.literal('changed'),
    password: z.enum(['set', 'removed']),
  })
  .partial();

function logPlace() {
  return z.strictObject({ position: z.int().nonnegative(), hash: textOrNull });
}

export interface EventKind<T extends EventType = EventType> {
  /** False if the schema's fold ignores the event, so that nothing that shows the schema changes. */
  changesSchema: T extends SchemaEventType ? true : false;
  /** Schemas of the payload. Index 0 is version 1. */
  versions: readonly z.ZodType[];
}

const schemaEvent = (...versions: z.ZodType[]) => ({ changesSchema: true, versions }) as const;
const otherEvent = (...versions: z.ZodType[]) => ({ changesSchema: false, versions }) as const;

export const EVENT_KINDS: { readonly [T in EventType]: EventKind<T> } = {
  'collection.created': schemaEvent(
    z.strictObject({
      collection: collectionV1,
      fields: z.array(fieldV1),
      concurrent_indexes,
      restored: z.strictObject({ ...restoredField, name: text, fields: z.array(text) }).optional(),
    }),
  ),
  'collection.adopted': schemaEvent(z.strictObject({ collection: collectionV1, fields: z.array(fieldV1) })),
  'collection.updated': schemaEvent(z.strictObject({ patch, adopted })),
  'collection.deleted': schemaEvent(
    z.strictObject({
      adopted,
      kept_until,
      publications: z.array(text).optional(),
      foreign_keys: z.array(z.strictObject({ name: text, definition: text })).optional(),
    }),
  ),
  'collection.renamed': schemaEvent(renamedV1),
  'field.created': schemaEvent(
    z.strictObject({
      field: fieldV1,
      concurrent_indexes,
      adopted,
      restored: z.strictObject(restoredField).optional(),
    }),
  ),
  'field.updated': schemaEvent(z.strictObject({ patch, concurrent_indexes, adopted })),
  'field.deleted': schemaEvent(z.strictObject({ adopted, kept_until })),
  'field.renamed': schemaEvent(renamedV1),
  'relation.created': schemaEvent(z.strictObject({ relation: relationV1, adopted })),
  'relation.updated': schemaEvent(z.strictObject({ patch, adopted })),
  'relation.deleted': schemaEvent(z.strictObject({ adopted })),
  'log.acknowledged': otherEvent(
    z.strictObject({ divergences: z.array(divergence), previous_origin: text.optional() }),
  ),
  'trash.purged': otherEvent(z.strictObject({ position: z.int().positive(), expired: z.boolean().optional() })),
  'change.opened': otherEvent(changeOpenedV1),
  'change.updated': otherEvent(changeUpdatedV1),
  'change.commented': otherEvent(z.strictObject({ comment: text })),
  'change.approved': otherEvent(changeApprovedV1),
  'change.rejected': otherEvent(z.strictObject({ comment: text.optional() })),
  'change.scheduled': otherEvent(z.strictObject({ at: text })),
  'change.preparing': otherEvent(changePreparingV1),
  'change.prepared': otherEvent(changePreparedV1),
  'change.applied': otherEvent(noData),
  'change.failed': otherEvent(z.strictObject({ code: text, document: text })),
  'change.withdrawn': otherEvent(noData),
  'policy.updated': otherEvent(z.strictObject({ policy: policyV1 })),
  'account.created': otherEvent(z.strictObject(accountAccess)),
  'account.updated': otherEvent(accountUpdatedV1),
  'account.deleted': otherEvent(noData),
  'token.created': otherEvent(z.strictObject({ token: text, issued_by: textOrNull, expires_at: textOrNull })),
  'token.revoked': otherEvent(z.strictObject({ token: text })),
};

/** True if an event affects the schema's fold. */
export function changesSchema<E extends { type: EventType }>(event: E): event is Extract<E, { type: SchemaEventType }> {
  return EVENT_KINDS[event.type].changesSchema;
}

/** Returns the collections whose schema the events change, by all names that they have meanwhile. */
export function collectionsChanged(events: Iterable<LogEvent>): Set<string> {
  const names = new Set<string>();
  for (const event of events) if (changesSchema(event)) for (const name of touchedBy(event)) names.add(name);
  return names;
}

/** Returns the collections that an event changes. Its own comes first. */
export function touchedBy(event: NewEvent): string[] {
  if (event.type === 'collection.renamed') return [event.collection, event.data.to, ...(event.data.touches ?? [])];
  return event.type === 'field.renamed' ? [event.collection, ...(event.data.touches ?? [])] : [event.collection];
}
