/* The schema of every event payload per type and version. A released schema never changes. */
import { z } from 'zod';
import { DEFERRABLES, FIELD_WIDTHS, REFERENTIAL_ACTIONS } from '../model/model.js';
import { ACTIONS, POLICY_CHANGES } from '../model/policy.js';
import {
  MOST_SHARED,
  type EventType,
  type LogEvent,
  type NewEvent,
  type ObjectEventType,
  type SchemaEventType,
} from '../model/events.js';

/* Schemas of the payloads of change request events. A released schema never changes. */

const text = z.string();
const textOrNull = text.nullable();

const proposal = { title: text, plan: text, base: z.int().nonnegative() };
const usedCredential = { credential: z.enum(['password', 'token', 'identity']), token: text.optional() };
const proposed_with = z.strictObject({ ...usedCredential, issued_by: text.optional() }).optional();
const changeOpenedV1 = z.strictObject({
  operation: text,
  document: text,
  online: z.boolean(),
  collections: z.array(text),
  proposal: z.strictObject(proposal).optional(),
  reverts: text.optional(),
  proposed_with,
});
const changeUpdatedV1 = z
  .strictObject({
    ...proposal,
    reason: textOrNull,
    document: text,
    online: z.boolean(),
    collections: z.array(text),
    proposed_with,
  })
  .partial();
const changeApprovedV1 = z.strictObject({
  plan: text,
  complete: z.boolean(),
  comment: text.optional(),
  online: z.boolean(),
  ...usedCredential,
  findings: z.record(text, z.array(text)),
  kept: z.array(text),
});
const changeAppliedV1 = z.strictObject({
  findings: z.record(text, z.array(text)).optional(),
  purge: z.boolean().optional(),
  acknowledge: z.array(z.strictObject({ code: text, place: text })).optional(),
});
const changePreparingV1 = z.strictObject({
  collections: z.array(text),
  steps: z.array(z.strictObject({ key: text, kind: text, collection: text, field: textOrNull, summary: text })),
  warnings: z
    .array(z.strictObject({ code: text, collection: text.optional(), field: text.optional(), message: text }))
    .optional(),
  apply: z.boolean().optional(),
});
const changePreparedV1 = z.strictObject({
  steps: z.array(z.strictObject({ key: text, milliseconds: z.number().nonnegative() })),
});

/* Schema of extras in event payloads, version 1. */

const extrasText = z.string();
const yes = z.literal(true);

const sequenceOptions = {
  type: z.enum(['smallint', 'integer', 'bigint']).optional(),
  start: extrasText.optional(),
  increment: extrasText.optional(),
  min: extrasText.optional(),
  max: extrasText.optional(),
  cache: extrasText.optional(),
  cycle: yes.optional(),
};

const columnExtrasV1 = z.strictObject({
  precision: z.int().min(0).max(6).optional(),
  collation: extrasText.optional(),
  default: extrasText.optional(),
  identity: z.literal('always').optional(),
  virtual: yes.optional(),
  sequence: z.strictObject({ name: extrasText.optional(), ...sequenceOptions }).optional(),
  primary_key_name: extrasText.optional(),
  unique_name: extrasText.optional(),
  index_name: extrasText.optional(),
  not_null_name: extrasText.optional(),
});

const named = z.strictObject({ name: extrasText, definition: extrasText });

const needSchema = extrasText.optional();

const need = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('extension'), name: extrasText }),
  z.strictObject({
    kind: z.literal('collation'),
    schema: needSchema,
    name: extrasText,
    provider: z.enum(['libc', 'icu', 'builtin']),
    locale: extrasText.optional(),
    lc_collate: extrasText.optional(),
    lc_ctype: extrasText.optional(),
    deterministic: z.literal(false).optional(),
    rules: extrasText.optional(),
  }),
  z.strictObject({ kind: z.literal('enum'), schema: needSchema, name: extrasText, labels: z.array(extrasText) }),
  z.strictObject({
    kind: z.literal('domain'),
    schema: needSchema,
    name: extrasText,
    type: extrasText,
    collation: extrasText.optional(),
    not_null: yes.optional(),
    default: extrasText.optional(),
    checks: z.array(named).optional(),
  }),
  z.strictObject({
    kind: z.literal('sequence'),
    schema: needSchema,
    name: extrasText,
    owned_by: extrasText.optional(),
    ...sequenceOptions,
  }),
]);

const tableExtrasV1 = z.strictObject({
  primary_key: z
    .strictObject({ name: extrasText, columns: z.array(extrasText), definition: extrasText.optional() })
    .optional(),
  constraints: z.array(named.extend({ references: extrasText.optional() })).optional(),
  indexes: z.array(named.extend({ unique: yes.optional() })).optional(),
  partition_by: extrasText.optional(),
  partition_of: z.strictObject({ table: extrasText, bound: extrasText }).optional(),
  needs: z.array(need).optional(),
  unmanaged: z
    .array(z.strictObject({ kind: z.enum(['constraint', 'index', 'default', 'generated']), name: extrasText }))
    .optional(),
});

const eventText = z.string();
const eventTextOrNull = z.string().nullable();
const json = z.json();

const collectionV1 = z.strictObject({
  collection: eventText,
  meta: z.strictObject({
    icon: eventTextOrNull,
    note: eventTextOrNull,
    display_template: eventTextOrNull,
    hidden: z.boolean(),
    singleton: z.boolean(),
    translations: json,
    archive_field: eventTextOrNull,
    archive_app_filter: z.boolean(),
    archive_value: eventTextOrNull,
    unarchive_value: eventTextOrNull,
    sort_field: eventTextOrNull,
    accountability: z.enum(['all', 'activity']).nullable(),
    color: eventTextOrNull,
    item_duplication_fields: json,
    sort: z.number().nullable(),
    group: eventTextOrNull,
    collapse: z.enum(['open', 'closed', 'locked']),
    preview_url: eventTextOrNull,
    versioning: z.boolean(),
  }),
  schema: z
    .strictObject({
      schema: eventText.optional(),
      name: eventText.optional(),
      comment: eventTextOrNull,
      extras: tableExtrasV1.optional(),
    })
    .nullable(),
});

const fieldV1 = z.strictObject({
  collection: eventText,
  field: eventText,
  type: eventText,
  meta: z.strictObject({
    special: z.array(eventText).nullable(),
    interface: eventTextOrNull,
    options: json,
    display: eventTextOrNull,
    display_options: json,
    readonly: z.boolean(),
    hidden: z.boolean(),
    sort: z.number().nullable(),
    width: z.enum(FIELD_WIDTHS),
    translations: json,
    note: eventTextOrNull,
    conditions: json,
    group: eventTextOrNull,
    required: z.boolean(),
    validation: json,
    validation_message: eventTextOrNull,
  }),
  schema: z
    .strictObject({
      data_type: eventText,
      default_value: json,
      max_length: z.number().nullable(),
      numeric_precision: z.number().nullable(),
      numeric_scale: z.number().nullable(),
      is_nullable: z.boolean(),
      is_unique: z.boolean(),
      is_indexed: z.boolean(),
      is_primary_key: z.boolean(),
      generation_expression: eventTextOrNull,
      has_auto_increment: z.boolean(),
      comment: eventTextOrNull,
      extras: columnExtrasV1.optional(),
    })
    .nullable(),
});

const relationV1 = z.strictObject({
  many_collection: eventText,
  many_field: eventText,
  one_collection: eventTextOrNull,
  one_field: eventTextOrNull,
  one_collection_field: eventTextOrNull,
  one_allowed_collections: z.array(eventText).nullable(),
  junction_field: eventTextOrNull,
  sort_field: eventTextOrNull,
  one_deselect_action: z.enum(['nullify', 'delete']),
  schema: z
    .strictObject({
      constraint_name: eventText,
      on_update: z.enum(REFERENTIAL_ACTIONS),
      on_delete: z.enum(REFERENTIAL_ACTIONS),
      deferrable: z.enum(DEFERRABLES).optional(),
    })
    .nullable(),
});

const patch = z.array(
  z.discriminatedUnion('op', [
    z.strictObject({ op: z.literal('add'), path: eventText, value: json }),
    z.strictObject({ op: z.literal('replace'), path: eventText, value: json }),
    z.strictObject({ op: z.literal('remove'), path: eventText }),
  ]),
);

const objectV1 = z.strictObject({
  kind: z.enum([
    'view',
    'materialized_view',
    'function',
    'procedure',
    'aggregate',
    'trigger',
    'policy',
    'row_security',
    'statistics',
    'rule',
    'privileges',
    'table_options',
    'sequence',
    'type',
  ]),
  id: eventText,
  definition: z.union([
    eventText,
    z.array(z.strictObject({ name: eventText, columns: z.array(eventText).optional(), grantable: yes.optional() })),
  ]),
  comment: eventTextOrNull,
  indexes: z.array(z.strictObject({ name: eventText, unique: yes.optional(), definition: eventText })).optional(),
  enabled: z.enum(['origin', 'disabled', 'replica', 'always']).optional(),
});

const concurrent_indexes = z.boolean().optional();
const adopted = z.boolean().optional();

const backfill = z
  .union([
    z.strictObject({ value: json }),
    z.strictObject({ field: eventText }),
    z.strictObject({ expression: z.enum(['now', 'gen_random_uuid']) }),
    z.strictObject({ expression: z.enum(['lower', 'upper', 'trim']), field: eventText }),
  ])
  .optional();

const kept_until = eventText.optional();
const kept_in = z.int().positive().max(MOST_SHARED).optional();
const restoredField = { position: z.int().positive(), identity: eventText, empty: z.boolean().optional() };

const divergence = z.strictObject({
  seen: logPlace(),
  found: logPlace(),
  fork: z.int().nonnegative().nullable().optional(),
  noticed_at: eventText,
});
const renamedV1 = z.strictObject({
  to: eventText,
  touches: z.array(eventText).optional(),
  patches: z
    .array(
      z.strictObject({ collection: eventText, field: eventText.optional(), relation: eventText.optional(), patch }),
    )
    .optional(),
  adopted,
});

const noData = z.strictObject({});
const foundDriftV1 = z.strictObject({
  differences: z.int().positive(),
  tables: z.array(eventText),
  objects: z.array(z.strictObject({ kind: eventText, id: eventText })).optional(),
});
const actionsV1 = z.record(eventText, z.enum(ACTIONS));
const policyV1 = z.strictObject({
  findings: actionsV1,
  collections: z.array(z.strictObject({ pattern: eventText, findings: actionsV1 })),
  online_above_rows: z.int().nonnegative().nullable(),
  approvals: z.int().positive(),
  author_may_approve: z.boolean(),
  requires_reason: z.boolean().optional(),
  policy_changes: z.enum(POLICY_CHANGES),
});

const accountAccess = { role: eventText, status: eventText, password_set_by: eventTextOrNull };
const tokenScopeV1 = z.strictObject({
  role: eventText,
  actions: z.array(eventText).optional(),
  collections: z.array(eventText).optional(),
  networks: z.array(eventText).optional(),
});
const trustRuleV1 = z.strictObject({
  name: eventText,
  user: eventText,
  set_by: eventText,
  issuer: eventText,
  audience: eventText,
  claims: z.record(eventText, eventText),
  scope: tokenScopeV1,
  minutes: z.int().positive(),
});
const accountUpdatedV1 = z
  .strictObject({
    ...accountAccess,
    email: z.literal('changed'),
    name: z.literal('changed'),
    password: z.enum(['set', 'removed']),
  })
  .partial();

const webhookV1 = z.strictObject({
  name: eventText,
  origin: eventText,
  format: eventText,
  types: z.array(eventText),
  collections: z.array(eventText).nullable(),
});
const webhookUpdatedV1 = webhookV1
  .extend({ secret: z.literal('rotated'), replayed_from: z.int().positive() })
  .partial();

const environmentV1 = z.strictObject({ name: eventText, origin: eventText });
const environmentUpdatedV1 = environmentV1
  .extend({ token: z.literal('replaced'), base: z.int().positive().nullable() })
  .partial();

function logPlace() {
  return z.strictObject({ position: z.int().nonnegative(), hash: eventTextOrNull });
}

interface EventKind<T extends EventType = EventType> {
  /** True if the event changes collections. */
  changesSchema: T extends SchemaEventType ? true : false;
  /** True if the event changes an object other than a table. */
  changesObjects: T extends ObjectEventType ? true : false;
  /** Schemas of the payload. Index 0 is version 1. */
  versions: readonly z.ZodType[];
}

const schemaEvent = (...versions: z.ZodType[]) => ({ changesSchema: true, changesObjects: false, versions }) as const;
const objectEvent = (...versions: z.ZodType[]) => ({ changesSchema: false, changesObjects: true, versions }) as const;
const otherEvent = (...versions: z.ZodType[]) => ({ changesSchema: false, changesObjects: false, versions }) as const;

export const EVENT_KINDS: { readonly [T in EventType]: EventKind<T> } = {
  'collection.created': schemaEvent(
    z.strictObject({
      collection: collectionV1,
      fields: z.array(fieldV1),
      concurrent_indexes,
      restored: z.strictObject({ ...restoredField, name: eventText, fields: z.array(eventText), kept_in }).optional(),
    }),
  ),
  'collection.adopted': schemaEvent(z.strictObject({ collection: collectionV1, fields: z.array(fieldV1) })),
  'collection.updated': schemaEvent(z.strictObject({ patch, adopted })),
  'collection.deleted': schemaEvent(
    z.strictObject({
      adopted,
      kept_until,
      kept_in,
      publications: z.array(eventText).optional(),
      foreign_keys: z.array(z.strictObject({ name: eventText, definition: eventText })).optional(),
    }),
  ),
  'collection.renamed': schemaEvent(renamedV1),
  'field.created': schemaEvent(
    z.strictObject({
      field: fieldV1,
      concurrent_indexes,
      adopted,
      restored: z.strictObject(restoredField).optional(),
      backfill,
    }),
  ),
  'field.updated': schemaEvent(z.strictObject({ patch, concurrent_indexes, adopted, backfill })),
  'field.deleted': schemaEvent(z.strictObject({ adopted, kept_until })),
  'field.renamed': schemaEvent(renamedV1.extend({ inherited: z.boolean().optional() })),
  'relation.created': schemaEvent(z.strictObject({ relation: relationV1, adopted })),
  'relation.updated': schemaEvent(z.strictObject({ patch, adopted })),
  'relation.deleted': schemaEvent(z.strictObject({ adopted })),
  'object.created': objectEvent(z.strictObject({ object: objectV1, adopted })),
  'object.updated': objectEvent(z.strictObject({ patch, caused_by: z.int().positive().optional(), adopted })),
  'object.renamed': objectEvent(z.strictObject({ to: eventText, patch })),
  'object.deleted': objectEvent(z.strictObject({ adopted })),
  'log.acknowledged': otherEvent(
    z.strictObject({ divergences: z.array(divergence), previous_origin: eventText.optional() }),
  ),
  'log.erased': otherEvent(z.strictObject({ positions: z.array(z.tuple([z.int().positive(), z.int().positive()])) })),
  'trash.purged': otherEvent(
    z.strictObject({ position: z.int().positive(), expired: z.boolean().optional(), kept_in }),
  ),
  'change.opened': otherEvent(changeOpenedV1),
  'change.updated': otherEvent(changeUpdatedV1),
  'change.commented': otherEvent(z.strictObject({ comment: eventText })),
  'change.approved': otherEvent(changeApprovedV1),
  'change.rejected': otherEvent(z.strictObject({ comment: eventText.optional() })),
  'change.scheduled': otherEvent(z.strictObject({ at: eventText })),
  'change.preparing': otherEvent(changePreparingV1),
  'change.prepared': otherEvent(changePreparedV1),
  'change.applied': otherEvent(changeAppliedV1),
  'change.failed': otherEvent(z.strictObject({ code: eventText, document: eventText })),
  'change.withdrawn': otherEvent(noData),
  'policy.updated': otherEvent(z.strictObject({ policy: policyV1 })),
  'trust.updated': otherEvent(z.strictObject({ rules: z.array(trustRuleV1) })),
  'account.created': otherEvent(z.strictObject(accountAccess)),
  'account.updated': otherEvent(accountUpdatedV1),
  'account.deleted': otherEvent(noData),
  'token.created': otherEvent(
    z.strictObject({
      token: eventText,
      issued_by: eventTextOrNull,
      expires_at: eventTextOrNull,
      scope: tokenScopeV1.optional(),
      rule: eventText.optional(),
    }),
  ),
  'token.revoked': otherEvent(z.strictObject({ token: eventText })),
  'identity.linked': otherEvent(z.strictObject({ identity: eventText, issuer: eventText, issued_by: eventTextOrNull })),
  'identity.unlinked': otherEvent(z.strictObject({ identity: eventText })),
  'webhook.created': otherEvent(webhookV1),
  'webhook.updated': otherEvent(webhookUpdatedV1),
  'webhook.enabled': otherEvent(noData),
  'webhook.disabled': otherEvent(z.strictObject({ because: eventText })),
  'webhook.deleted': otherEvent(noData),
  'environment.created': otherEvent(environmentV1),
  'environment.updated': otherEvent(environmentUpdatedV1),
  'environment.deleted': otherEvent(noData),
  'drift.found': otherEvent(foundDriftV1),
  'drift.resolved': otherEvent(noData),
  'verification.failed': otherEvent(z.strictObject({ faults: z.record(eventText, z.int().positive()) })),
  'verification.passed': otherEvent(noData),
};

/** True if the event changes an object other than a table. */
export function changesObjects<E extends { type: EventType }>(
  event: E,
): event is Extract<E, { type: ObjectEventType }> {
  return EVENT_KINDS[event.type].changesObjects;
}

/** True if the event changes collections. */
export function changesSchema<E extends { type: EventType }>(event: E): event is Extract<E, { type: SchemaEventType }> {
  return EVENT_KINDS[event.type].changesSchema;
}

/** Returns the collections whose schema the events change, under all of their names. */
export function collectionsChanged(events: Iterable<LogEvent>): Set<string> {
  const names = new Set<string>();
  for (const event of events) if (changesSchema(event)) for (const name of collectionsTouchedBy(event)) names.add(name);
  return names;
}

/** Returns the collections that an event changes. Its own comes first. */
export function collectionsTouchedBy(event: NewEvent): string[] {
  if (event.type === 'collection.renamed') return [event.collection, event.data.to, ...(event.data.touches ?? [])];
  return event.type === 'field.renamed' ? [event.collection, ...(event.data.touches ?? [])] : [event.collection];
}
