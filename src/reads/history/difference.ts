/** The difference between two points in time as a diff, with the costs of applying it. */
import type pg from 'pg';
import { findRestorable } from '../../features/trash/rows.js';
import { runYielding, createTimeSlice } from '../../kernel/event-loop.js';
import type { Problem, Warning } from '../../kernel/problem.js';
import { type LifetimeEnd, endsOf } from '../../log/lifetimes.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import {
  TIME_TO_COUNT,
  queryWithin,
  functionWarnings,
  findMentioningFunctions,
} from '../../projector/catalog/table-facts.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { type Sql, integer, qualified, sql, trash, trashOf, tableOfNode } from '../../projector/ddl/sql.js';
import { COPY, countValues } from '../../projector/ddl/trash.js';
import type { UnmatchedValues } from '../../projector/ddl/trash.js';
import { judgeFindings } from '../../projector/findings.js';
import { warnAboutDescendants } from '../../projector/inheritance/descendants.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { addOrigins } from '../../schema/diff/origins.js';
import { withoutLocations } from '../../schema/findings/finding.js';
import type { Finding } from '../../schema/findings/model.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { type ProposedChange, changeProblems } from '../../schema/invariants/index.js';
import {
  type LogEvent,
  type RestoredCollection,
  type RestoredField,
  readRestored,
  isAdopted,
} from '../../schema/model/events.js';
import {
  type State,
  type Identity,
  findDifferingNames,
  memberKey,
  primaryKeyOf,
  type CollectionNode,
} from '../../schema/model/state.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';
import { isReplacedField } from '../../schema/transition/context.js';
import { renamesBetween } from '../../schema/transition/renames.js';
import {
  recreatedObjects,
  restorableEntries,
  restoringTransition,
  type TrashNode,
  type RecreatedObjects,
} from '../../schema/transition/restoring-transition.js';
import { warnAboutUses } from '../../schema/transition/former-name-uses.js';
import { findBlockingRows } from './rows-before.js';
import type { TimeTravel } from './time-travel.js';

/* Finds objects by identity in the trash, and returns their state at the time of the deletion. */

/**
 * Returns the objects by the time of deletion. An object is `empty` if the database was restored from its log, without
 * rows.
 */
export async function readTrashEntries(
  db: Queryable,
  travel: TimeTravel,
  identities: readonly Identity[],
): Promise<TrashNode[]> {
  const entries: TrashNode[] = [];
  // The loop is sequential, because each state is folded from the previous one.
  for (const { position, kind, collection: name, identity, kept_in, empty } of await findRestorable(db, identities)) {
    const { state } = await travel.at(position - 1);
    const node = state.collections.get(name);
    if (node === undefined) throw new Error(`trash: position ${position} did not delete ${JSON.stringify(name)}`);
    entries.push({ position, kind, name, identity, kept_in: kept_in ?? undefined, node, empty });
  }
  return entries;
}

export interface Difference {
  /** Hash of the snapshot that the diff starts from. Apply accepts it while that snapshot is current. */
  hash: string;
  diff: SchemaDiff;
  /** Absent if there are no warnings. */
  warnings?: Finding[];
}

interface DifferenceOptions {
  release: string;
  /** The schema of the managed tables. */
  schema: string;
  travel: TimeTravel;
  /** Milliseconds that deleted objects stay in the trash. */
  keepDeleted: number;
}

interface Moments {
  from: State;
  to: State;
  /** True if the diff starts from the current schema. It then restores objects from the trash. */
  isFromNow: boolean;
}

/** Computes the difference with the costs and warnings of applying it. Takes no locks and changes nothing. */
export async function computeDifference(
  db: Queryable,
  { from, to, isFromNow }: Moments,
  { release, schema, travel, keepDeleted }: DifferenceOptions,
): Promise<Difference> {
  const touched = findDifferingNames(from, to);
  const way = { from, to, touched };
  const again = recreatedObjects(way);
  const kept = isFromNow ? await readTrashEntries(db, travel, [...again.values()]) : [];
  const restorable = await runYielding(restorableEntries(way, kept));
  const diff = addOrigins(await runYielding(diffStates(from, to, touched)), again, restorable);
  const events = await runYielding(restoringTransition(way, restorable));
  const { statements } = await runYielding(planBatch(from, events, schema));
  const noticed = [
    ...(await findReturns(db, schema, { before: from, events, again })),
    ...(isFromNow ? await findBlockingRows(db, schema, { before: from, after: to, events }) : []),
    ...(isFromNow ? await warnAboutDescendants(db, { state: from, events, schema }) : []),
    ...(await warnAboutMentions(db, { before: from, after: to, touched })),
  ];
  const plan = { before: from, after: to, events, statements, keep: keepDeleted };
  const warnings = withoutLocations(await judgeFindings(db, schema, { plan, noticed }));
  const hash = await runYielding(snapshotHash(from, release));
  return { hash, diff, ...(warnings.length > 0 && { warnings }) };
}

/** Returns the problems for which apply would reject the difference. */
export async function findObstaclesBetween(from: State, to: State): Promise<Problem[]> {
  const touched = new Set(findDifferingNames(from, to));
  // A diff shows a field that was deleted and created again under the same name as both changes.
  const isRecreated: ProposedChange['isRecreated'] = (_, __, before, after) =>
    before !== undefined && after !== undefined && isReplacedField(before, after, { from, to });
  return runYielding(changeProblems({ from, to, touched, isRecreated }));
}

/** Yields collections that may differ. A collection whose object is identical in both states cannot. */

/*
 * Warns about objects that a plan recreates. They get their rows from the trash (`DATA_RESTORED`) or stay empty
 * (`DATA_NOT_RESTORED`).
 */

/*
 * Finds remaining uses of names that a plan removes. It searches members that the service does not interpret, and
 * database functions.
 */

interface NamesChanged {
  before: State;
  after: State;
  /** Names of collections that may differ, before and after the plan. */
  touched: Iterable<string>;
}

/** Warns about each use of a name that an object loses. Runs no query if no name changes. */
export async function warnAboutMentions(db: Queryable, { before, after, touched }: NamesChanged): Promise<Warning[]> {
  const renames = renamesBetween(before, after, touched);
  const names = [renames.collections, ...renames.fields.values()].flatMap((each) => [...each.keys()]);
  const functions = await findMentioningFunctions(db, [...new Set(names)]);
  return [...(await runYielding(warnAboutUses(after, renames))), ...functionWarnings(functions)];
}

/*
 * Warns about objects that a plan creates under the name of a deleted object. They are new and empty, which may
 * surprise the client.
 */

interface DeletedObject {
  collection: string;
  field: string | null;
  /** Position of the event that deleted it. */
  position: number;
}

type Name = Pick<DeletedObject, 'collection' | 'field'>;

const TABLES = `
  SELECT d.collection, NULL AS field, pg_catalog.max(d.position) AS position
    FROM ${own.events} d
   WHERE d.type = 'collection.deleted' AND d.collection = ANY ($1)
     AND EXISTS (SELECT FROM ${own.events} c
                  WHERE c.collection = d.collection AND c.type IN ('collection.created', 'collection.adopted')
                    AND c.position < d.position AND pg_catalog.jsonb_typeof(c.data #> '{collection,schema}'::text[]) = 'object')
   GROUP BY d.collection`;

const COLUMNS = `
  SELECT d.collection, d.field, pg_catalog.max(d.position) AS position
    FROM pg_catalog.jsonb_to_recordset($2) AS w (collection text, field text)
    JOIN ${own.events} d ON d.collection = w.collection AND d.field = w.field AND d.type = 'field.deleted'
   WHERE EXISTS (SELECT FROM ${own.events} c
                  WHERE c.collection = d.collection AND c.position < d.position
                    AND (c.type = 'field.created' AND c.field = d.field
                           AND pg_catalog.jsonb_typeof(c.data #> '{field,schema}'::text[]) = 'object'
                         OR c.type IN ('collection.created', 'collection.adopted')
                           AND pg_catalog.jsonb_path_exists(c.data, '$.fields[*] ? (@.field == $name && @.schema != null)',
                                                 pg_catalog.jsonb_build_object('name', d.field))))
   GROUP BY d.collection, d.field`;

/** Warns about each name under which an object with data was deleted. */
async function warnNotRestored(db: Queryable, made: readonly Name[]): Promise<ReadonlyMap<string, readonly Warning[]>> {
  const tables = made.flatMap(({ collection, field }) => (field === null ? [collection] : []));
  const columns = made.flatMap(({ collection, field }) => (field === null ? [] : [{ collection, field }]));
  if (made.length === 0) return new Map();
  const { rows } = await db.query<DeletedObject>(`${TABLES} UNION ALL ${COLUMNS}`, [tables, JSON.stringify(columns)]);
  return new Map(
    rows.map((deleted) => [
      deleted.field === null ? deleted.collection : memberKey(deleted.collection, deleted.field),
      [warnCreatedEmpty(deleted, deleted.position)],
    ]),
  );
}

/** Creates the warning about a new object whose name an earlier object had until it was deleted at `position`. */
function warnCreatedEmpty({ collection, field }: Name, position: number): Warning {
  const message =
    field === null
      ? `create table ${collection}: it is created empty, because position ${position} deleted its rows`
      : `add column ${field} to ${collection}: it is created empty, because position ${position} deleted its values`;
  return { code: 'DATA_NOT_RESTORED', collection, ...(field !== null && { field }), message };
}

/** Creates the warning about an object whose data is not in the trash because the database was created from its log. */
function warnRestoredEmpty({ collection, field }: Name, position: number): Warning {
  const what = field === null ? `restore table ${collection}` : `restore column ${field} of ${collection}`;
  const message = `${what}: it is restored empty, because this database was rebuilt from its log and has no trash of position ${position}`;
  return { code: 'DATA_NOT_RESTORED', collection, ...(field !== null && { field }), message };
}

/** Creates the warning about values in the trash whose rows no longer exist. */
export function warnUnmatched({ collection, field, position, count }: UnmatchedValues): Warning {
  const values = count === 1 ? '1 value has' : `${count.toLocaleString('en')} values have`;
  const message = `restore column ${field} of ${collection} from the trash (position ${position}): ${values} no row with that primary key and ${count === 1 ? 'is' : 'are'} permanently deleted`;
  return { code: 'DATA_NOT_RESTORED', collection, field, message };
}

/** Creates the warnings about objects that the events restore without data. */
export function warnAboutEmptied(events: readonly LogEvent[]): Warning[] {
  return events.flatMap((event) => {
    if (event.type !== 'collection.created' && event.type !== 'field.created') return [];
    const { collection, field } = event;
    const { restored } = event.data;
    return restored?.empty === true ? [warnRestoredEmpty({ collection, field }, restored.position)] : [];
  });
}

/** Creates the warning about an object that the same plan deletes before it recreates the name. */
function warnRecreated({ collection, field }: Name): Warning {
  const message = `recreate ${collection}.${field}: its current values are deleted first, and it is created empty`;
  return { code: 'DATA_NOT_RESTORED', collection, ...(field !== null && { field }), message };
}

interface Plan {
  /** The state that the plan starts from. */
  before: State;
  events: readonly LogEvent[];
  /** Known identities of recreated objects. All other objects are matched by name. */
  again?: RecreatedObjects;
}

/** Warns about each created table and column, in the order of the events. @param schema of the tables */
export async function findReturns(db: Queryable, schema: string, plan: Plan): Promise<Warning[]> {
  const slice = createTimeSlice();
  const made = findMade(plan);
  const pending = made.filter(({ restored, identity }) => restored === undefined && identity !== undefined);
  const ends = await endsOf(
    db,
    pending.map(({ identity }) => identity as string),
  );
  const named = await warnNotRestored(
    db,
    made.filter(({ restored, identity }) => restored === undefined && identity === undefined),
  );
  const warnings: Warning[] = [];
  const until = performance.now() + TIME_TO_COUNT;
  const ask: QueryRow = (question) => queryWithin(db, question, until - performance.now());
  for (const each of made) {
    if (slice.isOver()) await slice.yield();
    const { identity, restored, replaced } = each;
    const taken = readRestored(each);
    if (taken !== undefined) warnings.push(await createRestoredWarning(ask, schema, { ...each, restored: taken }));
    else if (restored !== undefined) warnings.push(warnRestoredEmpty(each, restored.position));
    else if (identity === undefined) warnings.push(...(named.get(keyOf(each)) ?? []));
    else if (ends.has(identity)) warnings.push(warnCreatedEmpty(each, (ends.get(identity) as LifetimeEnd).position));
    if (replaced && taken === undefined) warnings.push(warnRecreated(each));
  }
  return warnings;
}

interface CreatedObject {
  collection: string;
  field: string | null;
  identity: string | undefined;
  restored: RestoredField | RestoredCollection | undefined;
  /** True if the plan first deletes an object with the same name. */
  replaced: boolean;
  /** The table before the plan, and the identities and names of the columns of its primary key. */
  table: { node: CollectionNode; key: { name: string; identity: string }[] } | undefined;
}

/** Returns a map key that is equal for equal names. */
const keyOf = ({ collection, field }: Pick<CreatedObject, 'collection' | 'field'>): string =>
  field === null ? collection : memberKey(collection, field);

function findMade({ before, events, again }: Plan): CreatedObject[] {
  const made: CreatedObject[] = [];
  const former = formerNames();
  const deleted = new Set<string>();
  const tables = new Map<string, CreatedObject['table']>();
  const tableBefore = (name: string): CreatedObject['table'] => {
    if (!tables.has(name)) tables.set(name, tableOf(before, name));
    return tables.get(name);
  };
  for (const event of events) {
    const { type, collection, field } = event;
    if (type === 'field.deleted') deleted.add(memberKey(collection, field ?? ''));
    if (hasRows(event)) {
      const name = keyOf(event);
      const identity = again?.get(name);
      const table = tableBefore(former.collection(event.collection));
      const { restored } = event.data;
      made.push({ collection: event.collection, field, identity, restored, replaced: deleted.has(name), table });
    }
    former.add(event);
  }
  return made;
}

type Creation = Extract<LogEvent, { type: 'collection.created' | 'field.created' }>;

/** True if the created object may get rows or values back. PostgreSQL computes generated columns itself. */
function hasRows(event: LogEvent): event is Creation {
  if (event.type === 'collection.created') return event.data.collection.schema !== null;
  if (event.type !== 'field.created' || isAdopted(event)) return false;
  return event.data.field.schema?.generation_expression === null;
}

function tableOf({ collections }: State, name: string): CreatedObject['table'] {
  const node = collections.get(name);
  if (node === undefined) return undefined;
  const key = primaryKeyOf(node).map(({ field }) => ({
    name: field,
    identity: node.identities.fields.get(field) ?? '',
  }));
  return { node, key };
}

/** Maximum number of rows to count, so that a plan never reads a large table completely. */
const ENOUGH = 100_000;

type QueryRow = <Row extends pg.QueryResultRow>(question: Sql) => Promise<Row | null>;

type RestoredObject = CreatedObject & { restored: RestoredField | RestoredCollection };

async function createRestoredWarning(ask: QueryRow, schema: string, made: RestoredObject): Promise<Warning> {
  const { collection, field, restored } = made;
  // The count fails if another process changed the table first. The plan itself reports that.
  const counted = await (field === null ? countRows(ask, restored) : countReturns(ask, schema, made));
  const what = field === null ? `restore table ${collection}` : `restore column ${field} of ${collection}`;
  const message = `${what} from the trash (position ${restored.position})${counted}`;
  return { code: 'DATA_RESTORED', collection, ...(field !== null && { field }), message };
}

const formatMany = (count: number, one: string, several: string): string => {
  const shown = count > ENOUGH ? `more than ${ENOUGH.toLocaleString('en')}` : count.toLocaleString('en');
  return `${shown} ${count === 1 ? one : several}`;
};

async function countRows(ask: QueryRow, restored: RestoredField | RestoredCollection): Promise<string> {
  if (!('name' in restored)) return '';
  const table = qualified(trashOf(restored), restored.name);
  const most = integer(String(ENOUGH + 1));
  const counted = await ask<{ rows: number }>(
    sql`SELECT count(*)::int AS rows FROM (SELECT FROM ${table} LIMIT ${most}) t`,
  );
  return counted === null ? '' : `: ${formatMany(counted.rows, 'row is restored', 'rows are restored')}`;
}

async function countReturns(ask: QueryRow, schema: string, { restored, table }: RestoredObject): Promise<string> {
  if (table === undefined) return '';
  const kept = {
    table: tableOfNode(table.node, schema),
    key: table.key,
    copy: qualified(trash(restored.position), COPY),
  };
  const counted = await ask<{ kept: number; met: number; rows: number }>(
    countValues(kept, integer(String(ENOUGH + 1))),
  );
  if (counted === null) return '';
  const { kept: all, met, rows: now } = counted;
  const parts = [formatMany(met, 'value is restored', 'values are restored')];
  if (now > met)
    parts.push(
      `${formatMany(now > ENOUGH ? now : now - met, 'row', 'rows')} written since ${now - met === 1 ? 'has' : 'have'} null`,
    );
  if (all > met) parts.push(`${formatMany(all - met, 'value no longer has', 'values no longer have')} a row`);
  return `: ${parts.join(', ')}`;
}
