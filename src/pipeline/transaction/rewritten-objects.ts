/*
 * Records what PostgreSQL changes in objects while it carries out other changes. Renaming a column rewrites the views
 * that use it, and a view that is created again may be printed differently. The definitions are read before and after
 * the statements. Each definition that changed becomes an event of the same batch.
 */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { readObjects } from '../../projector/catalog/managed-objects.js';
import type { ObjectFacts } from '../../projector/ddl/catalog-object.js';
import { findPrintLocks } from '../../projector/ddl/object-statements.js';
import { LockedError } from '../../projector/ddl/table-locks.js';
import { changesObjects, changesSchema } from '../../schema/fold/event-schemas.js';
import { fold } from '../../schema/fold/evolve.js';
import { type LogEvent, isAdopted, isMetaOnly, newObjectEvent } from '../../schema/model/events.js';
import { objectKey } from '../../schema/model/objects.js';
import { objectsInOrder } from '../../schema/model/order.js';
import type { State } from '../../schema/model/state.js';
import { findFormerObjects } from '../../schema/transition/objects.js';

interface AffectedObjectsRequest {
  state: State;
  events: readonly LogEvent[];
  /** The managed schema. */
  schema: string;
}

/** Returns the managed objects before the batch. Undefined if the batch cannot affect any of them. */
export async function readObjectFacts(
  client: pg.ClientBase,
  { state, events, schema }: AffectedObjectsRequest,
): Promise<ObjectFacts | undefined> {
  if (state.objects.isEmpty() || !events.some(canAffectObjects)) return undefined;
  return readObjectsOf(client, state, schema);
}

/** @throws LockedError if another session has locked one of the objects or a table that it reads */
async function readObjectsOf(client: pg.ClientBase, state: State, schema: string): Promise<ObjectFacts> {
  try {
    return await readObjects(client, { schema }, objectsInOrder(state));
  } catch (error) {
    throw isLocked(error) ? new LockedError(error, findPrintLocks(state, schema)) : error;
  }
}

/** True if an event may affect existing objects. New tables and columns, relations and metadata affect none. */
function canAffectObjects(event: LogEvent): boolean {
  if (isAdopted(event)) return false;
  if (changesObjects(event)) return event.type !== 'object.created';
  if (!changesSchema(event)) return false;
  if (event.type === 'collection.updated' || event.type === 'field.updated') return !isMetaOnly(event.data.patch);
  return /^(?:collection|field)\.(?:deleted|renamed)$/.test(event.type);
}

export interface RewriteInput {
  before: State;
  after: State;
  events: readonly LogEvent[];
  facts: ObjectFacts;
  schema: string;
}

/**
 * Returns the events of the batch with those about rewritten definitions, which follow the last event that changes the
 * schema, and the state after them. Call it after the statements have run.
 */
export async function withRewrittenObjects(
  client: pg.ClientBase,
  { before, after, events, facts, schema }: RewriteInput,
): Promise<{ events: LogEvent[]; after: State }> {
  const objects = objectsInOrder(after);
  const now = await readObjectsOf(client, after, schema);
  const former = findFormerObjects(before, after);
  const changed = new Set(
    events.filter(changesObjects).flatMap((event) => {
      const redefines = event.type === 'object.updated' && event.data.patch.some(({ path }) => path === '/definition');
      return event.type === 'object.created' || redefines ? [objectKey(event.subject)] : [];
    }),
  );
  const cause = before.position + 1 + findCause(events);
  const more = objects.flatMap((object) => {
    const key = objectKey(object);
    const [old, view] = [facts.get(former.get(key) ?? ''), now.get(key)];
    if (old === undefined || view === undefined || changed.has(key) || old.query === view.query) return [];
    const patch = [{ op: 'replace' as const, path: '/definition', value: view.definition }];
    return [newObjectEvent('object.updated', object, { patch, caused_by: cause })];
  });
  if (more.length === 0) return { events: [...events], after };
  const last = events.findLastIndex((event) => changesSchema(event) || changesObjects(event)) + 1;
  const placed = more.map((event, index) => ({ ...event, position: before.position + last + index + 1 }));
  return { events: [...events.slice(0, last), ...more, ...events.slice(last)], after: fold(placed, after) };
}

/** Returns the index of the first rename, or else of the first event that changes the schema. */
function findCause(events: readonly LogEvent[]): number {
  const rename = events.findIndex(({ type }) => type.endsWith('.renamed'));
  return rename >= 0 ? rename : Math.max(0, events.findIndex(changesSchema));
}
