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
import { compareWithLog, findEquivalent } from '../../projector/verify/objects.js';
import { changesObjects, changesSchema } from '../../schema/fold/event-schemas.js';
import { fold } from '../../schema/fold/evolve.js';
import { type LogEvent, type ObjectEvent, isAdopted, isMetaOnly, newObjectEvent } from '../../schema/model/events.js';
import { objectKey } from '../../schema/model/objects.js';
import type { Definition, SchemaObject } from '../../schema/model/object-document.js';
import { splitQualifiedId, toLocalObject } from '../../schema/model/object-ids.js';
import { objectsInOrder, withPartitions } from '../../schema/model/order.js';
import { type State, tableName } from '../../schema/model/state.js';
import { tableOf } from '../../schema/sql-text/object-table.js';
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
  return whileUnlocked({ state, schema }, async () => {
    const facts = await readObjects(client, { schema }, objectsInOrder(state));
    // A batch with a rename creates no unchanged object again.
    return events.some(renames) ? facts : compareWithLog(client, findUsers(state, events, facts), facts);
  });
}

/** Returns the objects that use something that the batch changes, directly or indirectly. The batch may create them again. */
function findUsers(state: State, events: readonly LogEvent[], facts: ObjectFacts): SchemaObject[] {
  const changed = new Set(
    events.flatMap((event) => {
      if (changesObjects(event)) return toLocalObject(event.subject).id;
      const { collection } = event;
      return collection === null ? [] : withPartitions(state, collection).map((each) => tableName(state, each));
    }),
  );
  const usersByName = new Map<string, Set<string>>();
  for (const [key, { uses }] of facts)
    for (const { name } of uses) usersByName.set(name, (usersByName.get(name) ?? new Set()).add(key));
  const users = new Set<string>();
  // A set also visits names that are added during the iteration.
  for (const name of changed)
    for (const key of usersByName.get(name) ?? []) {
      const user = facts.get(key);
      users.add(key);
      if (user !== undefined) changed.add(toLocalObject(user).id);
    }
  return objectsInOrder(state).filter(
    (object) => typeof object.definition === 'string' && users.has(objectKey(object)),
  );
}

const renames = ({ type }: LogEvent): boolean => type.endsWith('.renamed');

/** @throws LockedError if another session has locked one of the objects or a table that it reads */
async function whileUnlocked<T>(
  { state, schema }: Pick<AffectedObjectsRequest, 'state' | 'schema'>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
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

export interface RewrittenBatch {
  events: LogEvent[];
  after: State;
  /** The keys of objects whose definition in the log stays, but which the server prints differently. */
  reprinted?: ReadonlySet<string>;
}

/**
 * Returns the events of the batch with those about rewritten definitions, which follow the last event that changes the
 * schema, and the state after them. Call it after the statements have run.
 */
export async function withRewrittenObjects(
  client: pg.ClientBase,
  { before, after, events, facts, schema }: RewriteInput,
): Promise<RewrittenBatch> {
  const objects = objectsInOrder(after);
  const now = await whileUnlocked({ state: after, schema }, () => readObjects(client, { schema }, objects));
  const former = findFormerObjects(before, after);
  const changed = new Set(
    events.filter(changesObjects).flatMap((event) => {
      const redefines = event.type === 'object.updated' && event.data.patch.some(({ path }) => path === '/definition');
      return event.type === 'object.created' || redefines ? [objectKey(event.subject)] : [];
    }),
  );
  const cause = before.position + 1 + findCause(events);
  const rewritten = objects.flatMap((object): RewrittenObject[] => {
    const key = objectKey(object);
    const [old, view] = [facts.get(former.get(key) ?? ''), now.get(key)];
    if (old === undefined || view === undefined || changed.has(key)) return [];
    const hasFormerName = namesFormerTable(before.objects.get(former.get(key) ?? '')?.object, object, schema);
    return old.query === view.query && !hasFormerName ? [] : [{ object, definition: view.definition }];
  });
  // An object that was created again from the log has casts to new types of columns only in what the server prints.
  const reprinted = await findReprinted(client, events.some(renames) ? [] : rewritten);
  const more = rewritten.flatMap(({ object, definition }): ObjectEvent[] => {
    if (reprinted.has(objectKey(object))) return [];
    const patch = [{ op: 'replace' as const, path: '/definition', value: definition }];
    return [newObjectEvent('object.updated', object, { patch, caused_by: cause })];
  });
  if (more.length === 0) return { events: [...events], after, reprinted };
  const last = events.findLastIndex((event) => changesSchema(event) || changesObjects(event)) + 1;
  const placed = more.map((event, index) => ({ ...event, position: before.position + last + index + 1 }));
  return { events: [...events.slice(0, last), ...more, ...events.slice(last)], after: fold(placed, after), reprinted };
}

interface RewrittenObject {
  object: SchemaObject;
  /** The definition that the server prints. */
  definition: Definition;
}

/**
 * True if the text of an object may qualify columns with the former name of its table, as in `USING (posts.id > 0)`. The
 * server prints such columns without the table.
 * @param usual the default schema
 */
function namesFormerTable(before: SchemaObject | undefined, { definition, ...object }: SchemaObject, usual: string) {
  const [old, now] = [before && tableOf(before), tableOf({ ...object, definition })];
  if (old == null || now === null || old === now || typeof definition !== 'string') return false;
  const { schema = usual, name } = splitQualifiedId(old);
  const qualifier = name === splitQualifiedId(now).name ? `${schema}.${name}.` : `${name}.`;
  const unquoted = (text: string): string => text.replaceAll(/["\s]/g, '').toLowerCase();
  return unquoted(definition).includes(unquoted(qualifier));
}

/** Returns the keys of the objects whose definition in the log still has the same meaning. */
async function findReprinted(client: pg.ClientBase, rewritten: readonly RewrittenObject[]): Promise<Set<string>> {
  const pairs = rewritten.map(
    ({ object, definition }) => [object.definition, definition, objectKey(object)] as [Definition, Definition, string],
  );
  return new Set((await findEquivalent(client, pairs)).map(([, , key]) => key));
}

/** Returns the index of the first rename, or else of the first event that changes the schema. */
function findCause(events: readonly LogEvent[]): number {
  const rename = events.findIndex(renames);
  return rename >= 0 ? rename : Math.max(0, events.findIndex(changesSchema));
}
