/** Builds the events that record in the log what the database contains. */
import type pg from 'pg';
import {
  isFolder,
  extrasOf,
  type CollectionNode,
  byName,
  partitionsOf,
  type State,
  type StoredLocation,
  storedLocation,
} from '../../schema/model/state.js';
import { jsonEqual } from '../../kernel/json.js';
import { runYielding } from '../../kernel/event-loop.js';
import { runToEnd } from '../../kernel/resumable.js';
import {
  type AcceptDrift,
  type AcceptRequest,
  requestAfter,
  type DetectedDrift,
  type DriftedTable,
  applyAcceptance,
} from '../../schema/operations/accept-drift.js';
import { needLabel } from '../../schema/model/order.js';
import { withExtras } from '../../schema/transition/cascade.js';
import { refusalOf } from '../../projector/inspect/convert.js';
import type { Note } from '../../projector/inspect/needs.js';
import type { ObjectName } from '../../schema/model/objects.js';
import { readAcceptedObjects } from './objects.js';
import type { CatalogTable } from '../../projector/catalog/model.js';
import { type Difference, verifyCatalog } from '../../projector/verify/index.js';
import { renamedTables, renamedColumns } from './renames.js';
import { convertDriftedTable, type Finding, inspectDrift, withNeeds } from './find.js';
import { SQLSTATE, isLocked, sqlState } from '../../postgres/errors.js';
import { type Renames, isNone, withRenames } from '../../schema/transition/renames.js';
import type { LockedTable } from '../../projector/ddl/step.js';
import { LockedError, lockTables } from '../../projector/ddl/table-locks.js';

/* Lock the tables of an acceptance. They cannot change until its transaction ends. All names are current names. */

interface DriftTarget {
  client: pg.ClientBase;
  /** The default schema in PostgreSQL. */
  schema: string;
  /** All managed schemas. */
  schemas?: readonly string[] | undefined;
  state: State;
  /** True if the instance manages objects other than tables. */
  objects?: boolean | undefined;
}

interface LockedDrift {
  renames: Renames;
  /** All differences that remain, with the current names. */
  finding: Finding;
  /** The request with the current names. */
  request: AcceptRequest;
}

/**
 * Reads drift again until all tables that the request covers are locked.
 * @throws LockedError
 */
async function readLockedDrift(location: DriftTarget, request: AcceptRequest): Promise<LockedDrift> {
  const held = new Set<string>();
  for (;;) {
    const sight = await inspectRenamed(location, request).catch((error: unknown) => {
      throw isLocked(error) ? new LockedError(error, locksOn(location.state.collections.keys())) : error;
    });
    const open = tablesOf(sight).filter((name) => !held.has(name));
    if (open.length === 0) return sight;
    await lockTablesOrFail(location, open);
    for (const name of open) held.add(name);
  }
}

async function inspectRenamed(
  { client, state, ...managed }: DriftTarget,
  request: AcceptRequest,
): Promise<LockedDrift> {
  const finding = await inspectDrift(client, state, managed);
  const renames = renamesOf(finding, request);
  if (isNone(renames)) return { renames, finding, request };
  const { state: base } = await runYielding(withRenames(state, renames));
  return { renames, finding: await inspectDrift(client, base, managed), request: requestAfter(request, renames) };
}

/** Returns the renames that the request covers completely and that the log can record. */
function renamesOf(finding: Finding, request: AcceptRequest): Renames {
  const { state, tables, drifted } = finding;
  const fields = new Map<string, ReadonlyMap<string, string>>();
  for (const name of drifted.keys()) {
    const node = state.collections.get(name) as CollectionNode;
    const table = tables.get(name);
    if (table === undefined || isPartitioned(node, table) || refusalOf({ table }) !== null) continue;
    const names = fieldNames(node, table, (field) => request.takes(name, field));
    if (names.size > 0) fields.set(name, names);
  }
  return { ...tableRenames(finding, request), fields };
}

function tableRenames({ state, renamed }: Finding, request: AcceptRequest): Omit<Renames, 'fields'> {
  const collections = new Map<string, string>();
  const locations = new Map<string, StoredLocation>();
  for (const [from, table] of renamed) {
    if (!request.takes(from, undefined) || refusalOf({ table }) !== null) continue;
    // The log cannot remove a table while the table has partitions.
    if (partitionsOf(state, from).size > 0) continue;
    collections.set(from, table.name);
    const { collection } = state.collections.get(from) as CollectionNode;
    const location = locationOf(table);
    if (!jsonEqual(location, storedLocation(collection))) locations.set(table.name, location);
  }
  return { collections, locations };
}

const locationOf = ({ schema, table }: CatalogTable): StoredLocation =>
  schema === undefined ? {} : { schema, name: table };

function fieldNames(node: CollectionNode, table: CatalogTable, takes: (field: string) => boolean) {
  const names = new Map<string, string>();
  for (const [from, { name: to }] of renamedColumns(node, table)) {
    if (!node.fields.has(to) && (takes(from) || takes(to))) names.set(from, to);
  }
  return names;
}

/** True if the table is partitioned or a partition, in the log or in the catalog. */
const isPartitioned = (node: CollectionNode, table: CatalogTable | undefined): boolean =>
  extrasOf(node).partition_by !== undefined ||
  extrasOf(node).partition_of !== undefined ||
  (table !== undefined && (table.partitionKey !== null || table.partitionOf !== null));

/** Returns the tables that the request covers, by their current names. */
function tablesOf({ finding, renames, request: { only } }: LockedDrift): string[] {
  const meant = [...finding.drifted.keys()].filter((name) => only === undefined || only.has(name));
  const names = new Set([...meant, ...renames.collections.values()]);
  return [...names].filter((name) => finding.tables.has(name));
}

const locksOn = (names: Iterable<string>): LockedTable[] =>
  [...names].map((table) => ({ table, lock: 'SHARE UPDATE EXCLUSIVE' }));

/** Locks the tables. Reads and writes of rows continue, but manual DDL waits. */
async function lockTablesOrFail({ client, schema }: DriftTarget, names: readonly string[]): Promise<void> {
  const locks = locksOn(names);
  try {
    await client.query(lockTables(schema, locks));
  } catch (error) {
    // Another session dropped or renamed the table before releasing its lock, so drift must be read again.
    if (isLocked(error) || sqlState(error) === SQLSTATE.undefined_table) throw new LockedError(error, locks);
    throw error;
  }
}

export interface Acceptance extends DetectedDrift {
  /** The differences that remain, with reasons. */
  notAccepted: NotAccepted[];
  /** Objects of the accepted tables that stay in the database although no snapshot contains them. */
  notRepresented: Note[];
}

interface NotAccepted {
  collection: string;
  field?: string;
  /** Present for an object other than a table. `collection` is then the id of the object. */
  object?: ObjectName;
  code: 'FOLDER' | 'PARTITIONED' | 'NOT_REPRESENTABLE' | 'NAME_TAKEN' | 'POINTS_AT_RENAMED' | 'STILL_DIFFERENT';
  message: string;
}

/**
 * Must be called in a transaction that holds the log's lock. The covered tables cannot change until that transaction
 * ends.
 */
export async function readAcceptance(location: DriftTarget, request: AcceptRequest): Promise<Acceptance> {
  const sight = await readLockedDrift(location, request);
  const { renames, finding } = sight;
  const { only } = sight.request;
  const missing = missingFields(sight);
  const acceptance: Acceptance = { renames, tables: [], deleted: [], missing, notAccepted: [], notRepresented: [] };
  for (const [name, differences] of finding.drifted) {
    if (only === undefined || only.has(name)) acceptTable(sight, { name, differences }, acceptance);
  }
  await addStillDifferent(location, { sight, request }, acceptance);
  return location.objects === true ? addObjects(location, request, acceptance) : acceptance;
}

/** Adds objects other than tables. A request that names collections or fields, but no objects, accepts none. */
async function addObjects(location: DriftTarget, { objects, only }: AcceptRequest, found: Acceptance) {
  const requested = objects ?? (only === undefined ? undefined : []);
  const { changed, deleted, notAccepted } = await readAcceptedObjects(location.client, location, requested);
  const left = notAccepted.map(({ kind, id, message }): NotAccepted => ({
    collection: id,
    object: { kind, id },
    code: 'NOT_REPRESENTABLE',
    message,
  }));
  return { ...found, objects: { changed, deleted }, notAccepted: [...found.notAccepted, ...left] };
}

/** Returns names of fields that do not exist, because the service must not silently ignore a misspelled name. */
function missingFields({ finding, renames, request: { only = new Map() } }: LockedDrift): DetectedDrift['missing'] {
  return [...only].flatMap(([collection, fields]) => {
    const columns = new Set(finding.tables.get(collection)?.columns.map(({ name }) => name));
    const former = renames.fields.get(collection);
    const currentFields = finding.state.collections.get(collection)?.fields;
    return [...(fields ?? [])]
      .filter((field) => currentFields?.has(field) !== true && !columns.has(field) && former?.has(field) !== true)
      .map((field) => ({ collection, field }));
  });
}

interface DriftedObject {
  name: string;
  differences: readonly Difference[];
}

function acceptTable(sight: LockedDrift, { name, differences }: DriftedObject, acceptance: Acceptance): void {
  const { finding, request } = sight;
  const node = finding.state.collections.get(name) as CollectionNode;
  const table = finding.tables.get(name);
  const reason = isFolder(node) ? FOLDER : findRefusalReason(sight, { node, table, differences });
  if (reason !== null) {
    const needs = table === undefined ? null : withCurrentNeeds(sight, { node, table, differences });
    if (needs !== null) acceptance.tables.push(needs.known);
    if (needs?.isAll !== true) acceptance.notAccepted.push({ collection: name, ...reason });
    return;
  }
  if (table === undefined) {
    if (request.takes(name, undefined)) acceptance.deleted.push(name);
    return;
  }
  const notes: Note[] = [];
  const converted = convertDriftedTable(finding, { table, like: node, differences, notes });
  if (!converted.ok) {
    const message = converted.problems.map((problem) => problem.message).join('; ');
    acceptance.notAccepted.push({ collection: name, code: 'NOT_REPRESENTABLE', message });
    return;
  }
  // New and changed columns may need further objects.
  const added = differences.some(({ field }) => field !== undefined);
  acceptance.tables.push(withNeeds(converted.value, node, { added }));
  const columns = new Set(table.columns.map((column) => column.name));
  const isTaken = (each: Note) => request.takes(name, columns.has(each.name) ? each.name : undefined);
  acceptance.notRepresented.push(...notes.filter(isTaken));
}

interface ComparedTable {
  node: CollectionNode;
  /** Undefined if the table does not exist. */
  table: CatalogTable | undefined;
  differences: readonly Difference[];
}

type RejectedTable = ComparedTable & { table: CatalogTable };

/**
 * Returns the recorded definition of a table with the current types and sequences that it uses. All tables share these,
 * so accepted tables need them. Null if they did not change.
 * @returns `isAll` is true if nothing else of the table differs
 */
function withCurrentNeeds(sight: LockedDrift, { node, table, differences }: RejectedTable) {
  const { schema } = node.collection;
  const { needs = [] } = extrasOf(node);
  const changed = new Set(needs.map(needLabel).filter((label) => differences.some(({ member }) => member === label)));
  if (schema === null || changed.size === 0 || !sight.request.takes(node.collection.collection, undefined)) return null;
  const converted = convertDriftedTable(sight.finding, { table, like: node });
  if (!converted.ok) return null;
  const now = new Map((extrasOf(converted.value).needs ?? []).map((need) => [needLabel(need), need]));
  const asFound = needs.map((need) => (changed.has(needLabel(need)) ? (now.get(needLabel(need)) ?? need) : need));
  const stateOnly: DriftedTable = {
    collection: { ...node.collection, schema: withExtras(schema, { ...schema.extras, needs: asFound }) },
    fields: [...node.fields.values()],
    relations: [...node.relations.values()],
  };
  return { known: stateOnly, isAll: differences.every(({ member }) => changed.has(member)) };
}

type Reason = Omit<NotAccepted, 'collection'>;

const FOLDER: Reason = { code: 'FOLDER', message: 'it is a folder; a table with its name does not belong to it' };

/** Explains why the log cannot record the table. Null if it can. */
function findRefusalReason(sight: LockedDrift, { node, table, differences }: ComparedTable): Reason | null {
  const { finding } = sight;
  const name = node.collection.collection;
  const other = finding.renamed.get(name);
  const there = table ?? other;
  if (there === undefined) return findRemainingPartitions(sight, name) ?? findTableOfFolder(finding, node);
  const refusal = refusalOf({ table: there });
  if (refusal !== null) return { code: 'NOT_REPRESENTABLE', message: refusal.message };
  // A renamed table is adopted as a whole under its new name.
  const isAdopted = [...sight.renames.collections.values()].includes(name);
  if (!isAdopted && isPartitioned(node, there) && !differences.every(isAboutIndex))
    return { code: 'PARTITIONED', message: partitioningMessage(node, there) };
  return nameTakenByAlias(node, there) ?? findRenamedTarget(finding, there);
}

/** The log can record indexes of partitions, because each table has its own. */
const isAboutIndex = ({ member }: Difference): boolean => member.startsWith('index ');

/** Reports partitions that remain. A table can only be removed together with its partitions. */
function findRemainingPartitions({ finding: { state, tables }, request }: LockedDrift, name: string): Reason | null {
  const all = [...partitionsOf(state, name)].sort(byName);
  if (all.some((each) => tables.has(each))) return { code: 'PARTITIONED', message: partitionedMessage(name) };
  const left = all.find((each) => !request.takes(each, undefined));
  if (left === undefined) return null;
  return { code: 'PARTITIONED', message: `its partition ${JSON.stringify(left)} is still a collection: accept both` };
}

/**
 * Returns the table of a missing collection if a folder now has the name of the table. Only an unused name can be
 * accepted as the new name.
 */
function findTableOfFolder({ state, tables }: Finding, node: CollectionNode): Reason | null {
  const folders = [...tables.values()].filter(({ name }) => state.collections.get(name)?.collection.schema === null);
  const [table] = runToEnd(renamedTables([node], folders)).values();
  if (table === undefined) return null;
  const message = `its table seems to be ${JSON.stringify(table.name)} now, and a folder has that name: rename the table, and accept again`;
  return { code: 'NAME_TAKEN', message };
}

function partitioningMessage(node: CollectionNode, { name, partitionOf }: CatalogTable): string {
  const parent = extrasOf(node).partition_of?.table;
  return parent !== undefined && partitionOf === null ? detachedMessage(name, parent) : partitionedMessage(name);
}

const detachedMessage = (name: string, parent: string): string =>
  `it is no longer attached to ${JSON.stringify(parent)}, and the log has no event for that. Either attach it again ` +
  `(dps drift --repair), or delete the collection ${JSON.stringify(name)}: its table moves to ` +
  'the trash with its rows, and restoring it attaches it again.';

const partitionedMessage = (name: string): string =>
  'PostgreSQL changes the names, columns and keys of a partitioned table together with those of its partitions, and ' +
  'the log has no event for that, so these changes cannot be accepted. Either undo the change in the database (dps drift --repair), ' +
  `or adopt the tables again with their rows: rename ${JSON.stringify(name)} and its related tables ` +
  'in the database (ALTER TABLE … RENAME TO), delete the collections here, partitions first ' +
  '(DELETE /collections/…), rename the tables back, and adopt them together (POST /schema/adopt).';

function nameTakenByAlias({ fields }: CollectionNode, { columns }: CatalogTable): Reason | null {
  const alias = columns.find(({ name }) => fields.get(name)?.schema === null)?.name;
  if (alias === undefined) return null;
  const message = `a field without a column is already named ${JSON.stringify(alias)}: rename the column, or delete the field here, and accept again`;
  return { field: alias, code: 'NAME_TAKEN', message };
}

function findRenamedTarget({ state, renamed }: Finding, { constraints }: CatalogTable): Reason | null {
  const targets = new Set(constraints.map(({ references }) => references?.table));
  for (const [was, { name }] of renamed) {
    if (!targets.has(name)) continue;
    const message = `it references ${JSON.stringify(name)}, which seems to be the renamed ${JSON.stringify(was)}: accept both`;
    return { code: 'POINTS_AT_RENAMED', message };
  }
  const folder = [...targets].find((name) => state.collections.get(name ?? '')?.collection.schema === null);
  if (folder === undefined) return null;
  const message = `it references the table ${JSON.stringify(folder)}, and a folder has that name: rename the table`;
  return { code: 'POINTS_AT_RENAMED', message };
}

interface LockedRequest {
  sight: LockedDrift;
  request: AcceptRequest;
}

/** Adds the differences that would remain, as the comparison after the commit would find them. */
async function addStillDifferent(
  { client, schema, state }: DriftTarget,
  request: LockedRequest,
  acceptance: Acceptance,
): Promise<void> {
  const { sight } = request;
  const { desired } = await runYielding(applyAcceptance(state, acceptance, request.request));
  const explained = new Set(acceptance.notAccepted.map(({ collection }) => collection));
  const taken = new Set([...acceptance.tables.map(({ collection }) => collection.collection), ...acceptance.deleted]);
  for (const name of sight.renames.collections.values()) taken.add(name);
  // The tables are locked, so they have not changed since they were read.
  const catalog = { tables: sight.finding.tables, objects: sight.finding.beside };
  for (const { collection, field, member } of await verifyCatalog(client, desired, schema, catalog)) {
    if (explained.has(collection) || !taken.has(collection) || !sight.request.takes(collection, field)) continue;
    const message = `the log cannot represent the current value of ${member}`;
    acceptance.notAccepted.push({
      collection,
      ...(field !== undefined && { field }),
      code: 'STILL_DIFFERENT',
      message,
    });
  }
}

/* Accepts drift. The catalog is read in the command's transaction. */

/** The effects of accepting drift, or of a dry run. */
export interface AcceptanceReport {
  /** Collections whose table has changed, by name. */
  changed: string[];
  /** Collections whose table was dropped by hand. */
  deleted: string[];
  renamed: { from: string; to: string }[];
  /** Fields whose column was renamed. Their metadata follows. */
  renamed_fields: { collection: string; from: string; to: string }[];
  /** Differences that remain, with reasons. */
  not_accepted: NotAccepted[];
  /** Unsupported objects of the changed tables. They stay in the database, and no snapshot contains them. */
  not_represented: Note[];
  /** The accepted objects other than tables. Absent if the instance does not manage them. */
  objects?: { changed: ObjectName[]; deleted: ObjectName[] };
}

/** @param command the command after `readAcceptance` */
export function acceptanceReport(command: AcceptDrift): AcceptanceReport {
  const acceptance = command.found as Acceptance;
  const { collections, fields } = acceptance.renames;
  const renamed = new Set(collections.values());
  const changed = new Set([...fields.keys(), ...acceptance.tables.map(({ collection }) => collection.collection)]);
  return {
    changed: [...changed].filter((name) => !renamed.has(name)).sort(byName),
    deleted: acceptance.deleted,
    renamed: [...collections].map(([from, to]) => ({ from, to })),
    renamed_fields: [...fields].flatMap(([collection, names]) =>
      [...names].map(([from, to]) => ({ collection, from, to })),
    ),
    not_accepted: acceptance.notAccepted,
    not_represented: acceptance.notRepresented,
    ...(acceptance.objects !== undefined && {
      objects: {
        changed: acceptance.objects.changed.map(({ kind, id }) => ({ kind, id })),
        deleted: acceptance.objects.deleted,
      },
    }),
  };
}
