import { z } from 'zod';
import { EVENT_KINDS } from '../../../schema/fold/event-schemas.js';
import type { EventType } from '../../../schema/model/events.js';
import { relation, snapshot } from './schema.js';
import { schemaChanges } from '../../../schema/normal-form/shapes.js';

const text = z.string();
const textOrNull = z.string().nullable();
const time = z.iso.datetime();
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const position = z.int().min(0);
const json = z.unknown();

/** The actor of an event. */
export const actor = z
  .strictObject({
    id: text.describe(
      'The id of the account, even after its deletion. `dps` for the command, `service` for the service',
    ),
    name: textOrNull.describe('The name at that time. Null if it was erased'),
  })
  .meta({ id: 'Actor' });

const cause = {
  actor,
  command: text,
  reason: textOrNull,
  request_id: textOrNull,
  ip: textOrNull,
  user_agent: textOrNull,
};

const TYPES = Object.keys(EVENT_KINDS) as EventType[];

/** Returns the schema for the data of every version of an event type. */
function dataOf(type: EventType): z.ZodType {
  const [first, ...others] = EVENT_KINDS[type].versions;
  if (first === undefined) throw new Error(`${type} has no version`);
  return others.length === 0 ? first : z.union([first, ...others]);
}

const anyEvent = z.strictObject({
  position: z.int().min(1),
  id: z.uuid(),
  batch: z.uuid(),
  type: text,
  version: z.int().min(1),
  collection: textOrNull,
  field: textOrNull,
  data: json,
  ...cause,
  salt: textOrNull.describe('128 random bits, hex. Null if the personal data was erased'),
  commitment: hash.describe(
    'SHA-256 of the salt and the personal data. The hash of the event covers this value instead of the data itself',
  ),
  context: z.record(text, json).optional(),
  subject: z.strictObject({ kind: text, id: text }).optional(),
  occurred_at: time,
  hash,
  previous_hash: hash,
});

const eventOf = (type: EventType) => anyEvent.extend({ type: z.literal(type), data: dataOf(type) });

/** An event of a newer release, shown as it is stored. */
const laterEvent = anyEvent
  .extend({ type: text.regex(new RegExp(`^(?!(?:${TYPES.map((type) => type.replace('.', '\\.')).join('|')})$)`)) })
  .meta({ id: 'LaterEvent', description: 'An event of a type that this release does not know' });

/** Returns the name of a component: `collection.created` becomes `CollectionCreated`. */
const nameOf = (type: EventType): string =>
  type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

const shaped = TYPES.map((type) => ({ type, shape: eventOf(type) }));
/** Returns a union of one or more schemas. */
const oneOfTypes = <S extends z.core.$ZodTypeDiscriminable>(shapes: S[]) =>
  z.discriminatedUnion('type', shapes as [S, ...S[]]);

const knownEvent = oneOfTypes(shaped.map(({ type, shape }) => shape.meta({ id: `${nameOf(type)}Event` })));

export const event = z.union([...knownEvent.options, laterEvent]).meta({ id: 'Event' });

/** An event with the changes it made. */
export const lifeEvent = oneOfTypes(shaped.map(({ shape }) => shape.extend({ diff: schemaChanges }))).meta({
  id: 'CollectionEvent',
});

/** A decided event without a position. */
export const plannedEvent = z
  .strictObject({
    type: z.enum(TYPES),
    version: z.int().min(1),
    collection: textOrNull,
    field: textOrNull,
    data: z.record(text, json),
    subject: z.strictObject({ kind: text, id: text }).optional(),
  })
  .meta({ id: 'PlannedEvent' });

export const batch = z
  .strictObject({
    batch: z.uuid(),
    ...cause,
    context: z.record(text, json).optional(),
    occurred_at: time,
    first_position: z.int().min(1),
    last_position: z.int().min(1),
    events: z.int().min(1),
    summary: text,
    types: z.record(text, z.int().min(1)).describe('Number of events by type'),
  })
  .meta({ id: 'Batch' });

const changed = <S extends z.ZodType>(shape: S) =>
  z.strictObject({
    before: shape.nullable().describe('Null if it is created'),
    after: shape.nullable().describe('Null if it is deleted'),
  });

/** The changes between two points in time, for one or several steps. */
const documentChanges = z
  .strictObject({
    collections: z.array(changed(snapshot.shape.collections.element)),
    fields: z.array(changed(snapshot.shape.fields.element)),
    relations: z.array(changed(relation)),
  })
  .meta({ id: 'DocumentChanges' });

export const changedBatch = batch
  .extend({ changes: documentChanges.nullable().describe('Null if there are too many to list') })
  .meta({ id: 'ChangedBatch' });

/** The schema at a point in time, as lists show it. */
export const pastDocuments = z.strictObject({
  data: z
    .strictObject({
      collections: snapshot.shape.collections.optional(),
      fields: snapshot.shape.fields.optional(),
      relations: z.array(relation).optional(),
    })
    .meta({ id: 'PastDocuments' }),
  meta: z.strictObject({ position, occurred_at: time.nullable() }),
});

const location = z.strictObject({ position, hash: hash.nullable() });
const divergence = z.strictObject({
  seen: location,
  found: location,
  fork: z.int().nullable().optional(),
  noticed_at: text,
});

/** The acknowledgement of a diverged log. */
export const acknowledged = z
  .strictObject({ position, divergences: z.array(divergence) })
  .meta({ id: 'LogAcknowledgement' });

export const verification = z
  .strictObject({
    ok: z.boolean(),
    checked: position.describe('Number of events'),
    erased: position.describe('Number of events whose personal data was erased'),
    head: z.strictObject({ position, hash, occurred_at: time.nullable() }).describe('The last valid event'),
    broken: z
      .strictObject({ position, reason: text })
      .nullable()
      .describe(
        'The first position where the chain is broken, or where personal data is missing and no event records its erasure',
      ),
    disallowed: z
      .array(z.strictObject({ position, reason: text }))
      .describe(
        'Changes that the policy, the approvals or the trust rules at their position did not allow, or that differ from the plan of their change request, at most 100',
      ),
    unprotected: z.array(text).describe('Ways in which PostgreSQL would allow changes to accepted events'),
    divergences: z
      .array(divergence.extend({ acknowledged: position.nullable() }))
      .describe('Each time that the log differed from an earlier read'),
  })
  .meta({ id: 'LogVerification' });

/** A current or former signing key of checkpoints. */
export const checkpointKey = z
  .strictObject({
    key: text.describe('The public key in the format of signed notes: name+id+key'),
    from_position: z.int().min(1).describe('The end of the log when the key was created'),
    created_at: time,
    kept: z.enum(['file', 'database', 'replaced']).describe('Where the private key is stored'),
  })
  .meta({ id: 'CheckpointKey' });

/** The value of `after` for the next page of the log. Null at the end. */
const next = z.strictObject({ next: position.nullable() });

export const logPage = <S extends z.ZodType>(shape: S) => z.strictObject({ data: z.array(shape), meta: next });

export const batchPage = logPage(batch);

/** The life of a collection from creation to deletion, under all its names. */
const life = z
  .strictObject({
    identity: text.describe('Identity of the collection, which stays the same when it is renamed'),
    names: z.array(
      z.strictObject({
        name: text,
        from: position.describe('Position of the event that set the name'),
        since: time,
        to: position.nullable().describe('Position of the event that ended it'),
        until: time.nullable(),
      }),
    ),
  })
  .meta({ id: 'CollectionLife' });

export const collectionHistory = z.strictObject({
  data: z.array(lifeEvent),
  meta: next.extend({ lives: z.array(life).describe('All collections or objects that ever had the name') }),
});
