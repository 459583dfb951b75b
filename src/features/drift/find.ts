/** Finds drift and plans its repair. */
import type { ManagedSchemas } from '../../projector/catalog/managed-objects.js';
import type pg from 'pg';
import {
  isFolder,
  type CollectionNode,
  type State,
  byName,
  extrasOf,
  extrasOfTable,
  memberKey,
  locateTable,
  locationKey,
  schemasOf,
  tablesBySchema,
} from '../../schema/model/state.js';
import { createTimeSlice, mapYielding, runYielding } from '../../kernel/event-loop.js';
import type { Resumable } from '../../kernel/resumable.js';
import { sortInSteps } from '../../kernel/lists-and-maps.js';
import { nameSentSchema, objectsOwnerOf } from '../../postgres/client.js';
import type { EqualityCheck, Note } from '../../projector/inspect/needs.js';
import { type ConvertedTable, convertTable } from '../../projector/inspect/convert.js';
import type { Result } from '../../kernel/problem.js';
import type { Need } from '../../schema/model/extras.js';
import { needKey, needLabel } from '../../schema/model/order.js';
import { withExtras } from '../../schema/transition/cascade.js';
import type { CatalogColumn, CatalogTable } from '../../projector/catalog/model.js';
import { type CatalogObjects, readObjects } from '../../projector/catalog/objects.js';
import { readCatalog } from '../../projector/catalog/read.js';
import { ident, join, qualified, sql, tableIn } from '../../projector/ddl/sql.js';
import { type Difference, verifyCatalog } from '../../projector/verify/index.js';
import { OWNER, findOtherOwners } from '../../projector/verify/properties.js';
import { isObject } from '../../kernel/json.js';
import { isConsequence, renamedColumns, renamedTables, withNames } from './renames.js';
import { listTableParts, conflictingObjects, partOf, findObjectDrift } from './objects.js';
import type {
  Drift,
  DriftDifference,
  PlannedRepair,
  RepairPlan,
  RepairStatement,
  TableDrift,
  UnmanagedTable,
} from './model.js';
import { readTableFacts } from '../../projector/online/steps.js';
import { repairOf, repairOfAll, planForDifferent, planForMissing } from './repair-plan.js';
import type { DatabaseObject } from '../../projector/ddl/step.js';
import { readDescendants } from '../../projector/catalog/deletion-facts.js';

/* Removes statements that would change nothing because the object already exists. */

/** Returns the plan without statements for objects that exist according to `beside`. The given plan is not modified. */
export function withoutNoOps<S extends Pick<RepairPlan, 'statements'>>(
  plan: S,
  { collection }: CollectionNode,
  { beside }: { beside: CatalogObjects },
): S {
  const isNoOp = ({ object, ensures }: PlannedRepair): boolean => {
    if (ensures === 'object') return isThere(object, beside) && !isDropped(object, { plan, collection, beside });
    return ensures === 'owner' && isOwned(object, collection, beside);
  };
  return { ...plan, statements: plan.statements.filter((each) => !isNoOp(each)) };
}

const keyOf = ({ schema, name }: DatabaseObject): string => locationKey(schema, name);

/** True if the object exists, even if other tables need it. */
function isThere(object: DatabaseObject, { extensions, sequences, collations, typeNames }: CatalogObjects) {
  const { kind, name } = object;
  if (kind === 'extension') return extensions.has(name);
  if (kind === 'collation') return collations.has(keyOf(object));
  return kind === 'sequence' ? sequences.has(keyOf(object)) : typeNames.has(keyOf(object));
}

/**
 * True if a statement drops the sequence. Dropping an identity drops its sequence, and another sequence of the column
 * may then get that name.
 */
function isDropped(
  object: DatabaseObject,
  {
    plan,
    collection,
    beside,
  }: {
    plan: Pick<RepairPlan, 'statements'>;
    collection: CollectionNode['collection'];
    beside: CatalogObjects;
  },
): boolean {
  const owner = object.kind === 'sequence' ? beside.sequences.get(keyOf(object))?.owner : undefined;
  if (owner?.table !== collection.collection) return false;
  return plan.statements.some(({ sql, field }) => field === owner.column && sql.includes(' DROP IDENTITY'));
}

function isOwned(
  object: DatabaseObject,
  { collection, schema }: CollectionNode['collection'],
  { sequences }: CatalogObjects,
): boolean {
  const need = extrasOfTable(schema).needs?.find((each) => each.kind === 'sequence' && needKey(each) === keyOf(object));
  const owner = sequences.get(keyOf(object))?.owner;
  return need?.kind === 'sequence' && owner?.table === collection && owner.column === need.owned_by;
}

/** The managed schemas. */
export interface SearchedSchemas extends ManagedSchemas {
  /** True if the instance manages objects other than tables. */
  objects?: boolean | undefined;
}

export interface Finding {
  state: State;
  schema: string;
  /** The role of OBJECTS_OWNER. */
  owner: string | undefined;
  tables: ReadonlyMap<string, CatalogTable>;
  /** The tables that have the name of a collection. */
  managed: ReadonlyMap<string, CatalogTable>;
  /** The objects that managed and renamed tables use. */
  beside: CatalogObjects;
  /** The tables that appear to be missing tables under another name, by previous name. */
  renamed: ReadonlyMap<string, CatalogTable>;
  /** The differences by table, in order. */
  drifted: ReadonlyMap<string, Difference[]>;
  unmanaged: readonly CatalogTable[];
}

/**
 * `state` must match the position of the database. It must therefore be called in a transaction that holds the log's
 * lock.
 */
export async function findDrift(client: pg.ClientBase, state: State, managed: SearchedSchemas): Promise<Drift> {
  const { schema, objects = false } = managed;
  const owners = await findOtherOwners(client, state, { schema, objects });
  const finding = withOwners(await inspectDrift(client, state, managed), owners);
  const inheritors = await readInheritors(client, finding);
  const drifted = await mapYielding(
    finding.drifted,
    ([name, each]) => toShownDrift(client, tableDrift({ ...finding, inheritors }, name, each)),
    createTimeSlice(),
  );
  const names = [
    ...finding.unmanaged.map(({ name }) => name),
    ...(await readUnmanagedChildren(client, state, managed)),
  ];
  const beside = objects ? await findObjectDrift(client, { ...managed, state, owners }) : undefined;
  const ok = drifted.length === 0 && (beside === undefined || beside.objects.length === 0);
  const unmanaged_tables = await readUnmanagedTables(client, finding);
  return { ok, tables: drifted, unmanaged: names.sort(byName), unmanaged_tables, ...beside };
}

/** Adds the owners of tables. An acceptance does not read them, because the log contains no owners. */
function withOwners(finding: Finding, owners: readonly Difference[]): Finding {
  const drifted = new Map(finding.drifted);
  for (const owner of owners) {
    const { collection, object } = owner;
    if (object === undefined) drifted.set(collection, [...(drifted.get(collection) ?? []), owner]);
  }
  const ordered = owners.length === 0 ? drifted : new Map([...drifted].sort(([a], [b]) => byName(a, b)));
  return { ...finding, drifted: ordered };
}

async function readUnmanagedTables(client: pg.ClientBase, { schema, unmanaged }: Finding): Promise<UnmanagedTable[]> {
  const tables = unmanaged.map(({ name, table, schema: elsewhere }) => ({
    table: name,
    at: { schema: elsewhere ?? schema, name: table },
  }));
  const facts = await readTableFacts(client, { schema, tables, exact: false });
  return unmanaged
    .map(({ name, partitionOf }) => ({
      table: name,
      rows: facts.get(name)?.rows ?? null,
      ...(partitionOf?.schema === schema && { partition_of: partitionOf.table }),
    }))
    .sort((a, b) => byName(a.table, b.table));
}

/** Finds partitions and children of managed tables in unmanaged schemas, which the catalog reader does not read. */
const CHILDREN_ELSEWHERE = sql`
SELECT DISTINCT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name
  FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
  JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace AND pn.nspname = $1
  JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid AND c.relkind IN ('r', 'p', 'f')
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname <> ALL ($3::text[])
 WHERE p.relname = ANY ($2::text[])`;

async function readUnmanagedChildren(client: pg.ClientBase, state: State, managed: SearchedSchemas): Promise<string[]> {
  const { schema, schemas = [schema] } = managed;
  const children: string[] = [];
  for (const [place, names] of tablesBySchema(state, state.collections.keys(), schema)) {
    const values = [place, [...names.keys()], schemas];
    const { rows } = await client.query<{ name: string }>(CHILDREN_ELSEWHERE, values);
    children.push(...rows.map(({ name }) => name));
  }
  return children;
}

/** The tables that inherit a column with a difference, by the key of the column. */
type Inheritors = ReadonlyMap<string, string[]>;

async function readInheritors(client: pg.ClientBase, { schema, state, drifted, tables }: Finding): Promise<Inheritors> {
  const columns = [...drifted].flatMap(([table, differences]) =>
    tables.has(table)
      ? [...new Set(differences.flatMap(({ field }) => field ?? []))].map((column) => ({ table, column }))
      : [],
  );
  const inheritors = new Map<string, string[]>();
  for (const { place, name, parents } of await readDescendants(client, { schema, state }, columns)) {
    const of = columns[place];
    if (of === undefined || parents === null) continue;
    const key = memberKey(of.table, of.column);
    inheritors.set(key, [...new Set([...(inheritors.get(key) ?? []), name])].sort(byName));
  }
  return inheritors;
}

/** A finding, and the tables that a repair would also change because they inherit. */
interface Repairable extends Finding {
  inheritors: Inheritors;
}

function withInheritors(each: PlannedRepair, { inheritors }: Repairable): PlannedRepair {
  const { table, name } = each.object;
  const inherited_by = each.losesColumn === true ? inheritors.get(memberKey(table ?? '', name)) : undefined;
  return inherited_by === undefined ? each : { ...each, inherited_by };
}

/** Replaces the placeholder for the schema by its name. */
function toShownDrift(client: pg.ClientBase, table: TableDrift): TableDrift {
  const differences = table.differences.map((each) => {
    const database = each.repair.database.map((statement) => ({
      ...statement,
      sql: nameSentSchema(client, statement.sql),
    }));
    return { ...each, repair: { ...each.repair, database } };
  });
  return { ...table, differences };
}

/** Returns the same drift as `findDrift`, in the form before it is prepared for display. */
export async function inspectDrift(client: pg.ClientBase, state: State, managed: SearchedSchemas): Promise<Finding> {
  const { schema, schemas = [schema] } = managed;
  const place = { state, schema, schemas: [...new Set([...schemas, ...schemasOf(state, schema)])] };
  const catalog = await readCatalog(client, place, undefined, [...state.collections.keys()]);
  const { tables } = catalog;
  const differences = await verifyCatalog(client, state, schema, catalog);
  const isUnmanaged = ({ name, extension }: CatalogTable) => extension === null && !state.collections.has(name);
  const unmanaged = [...tables.values()].filter(isUnmanaged);
  const { renamed, drifted } = await runYielding(driftedTables({ state, tables, unmanaged }, differences));
  const others = [...renamed.values()].map(({ name }) => name);
  const beside =
    others.length === 0 ? catalog.objects : await readObjects(client, place, [...state.collections.keys(), ...others]);
  const managedTables = new Map([...tables].filter(([name]) => state.collections.has(name)));
  const owner = objectsOwnerOf(client);
  return { state, schema, owner, tables, managed: managedTables, renamed, drifted, unmanaged, beside };
}

function* driftedTables(
  { state, tables, unmanaged }: Pick<Finding, 'state' | 'tables' | 'unmanaged'>,
  differences: readonly Difference[],
): Resumable<Pick<Finding, 'renamed' | 'drifted'>> {
  const missing: CollectionNode[] = [];
  for (const { collection } of differences) {
    missing.push(...missingNode(state, tables, collection));
    yield;
  }
  const renamed = yield* renamedTables(missing, unmanaged);
  const drifted = new Map<string, Difference[]>();
  for (const each of yield* sortInSteps(differences, (a, b) => byName(a.collection, b.collection))) {
    yield;
    if (isConsequence(each, { state, renamed })) continue;
    const group = drifted.get(each.collection);
    if (group === undefined) drifted.set(each.collection, [each]);
    else group.push(each);
  }
  return { renamed, drifted };
}

function missingNode({ collections }: State, tables: ReadonlyMap<string, CatalogTable>, name: string) {
  const node = collections.get(name);
  return node?.collection.schema && !tables.has(name) ? [node] : [];
}

function tableDrift(finding: Repairable, table: string, differences: readonly Difference[]): TableDrift {
  const node = finding.state.collections.get(table) as CollectionNode;
  const there = finding.tables.get(table);
  if (isFolder(node)) return undesiredTable(table, differences);
  if (there === undefined) return missingTable(finding, node, differences);
  return differentTable(finding, node, { there, differences });
}

/** Reports a table with the name of a folder. A folder has no table, so the service does not change such a table. */
function undesiredTable(table: string, differences: readonly Difference[]): TableDrift {
  return { table, kind: 'not wanted', differences: differences.map((each) => driftDifference(each, undefined)) };
}

function missingTable(finding: Finding, node: CollectionNode, differences: readonly Difference[]): TableDrift {
  const { state, schema, owner, renamed } = finding;
  const table = node.collection.collection;
  const other = renamed.get(table);
  const repair = repairOfAll(withoutNoOps(planForMissing(state, node, { schema, owner }), node, finding));
  if (other === undefined) {
    return {
      table,
      kind: 'missing',
      differences: differences.map((each) => ({ ...driftDifference(each, undefined), repair })),
    };
  }
  const at = locateTable(state, table, schema);
  const from = { schema: other.schema ?? schema, name: other.table };
  const moves = from.schema === at.schema ? [] : [sql`SET SCHEMA ${ident(at.schema)}`];
  const names = from.name === at.name ? [] : [sql`RENAME TO ${ident(at.name)}`];
  const back = [...moves, ...names].map((action, index) => {
    const place = index === 0 ? qualified(from.schema, from.name) : qualified(at.schema, from.name);
    return sql`ALTER TABLE ${place} ${action}`;
  });
  const rename = { sql: join(back, sql`; `), summary: `rename table ${other.name} to ${table}`, drops: false };
  const adopted = convertDriftedTable(finding, { table: other, like: node });
  const event = { type: 'collection.adopted' as const, collection: other.name, field: null };
  const adoption = adopted.ok ? [{ ...event, data: { ...adopted.value, relations: [] } }] : [];
  const log = [...repair.log, ...adoption];
  return {
    table,
    kind: 'missing',
    renamed_to: other.name,
    differences: differences.map((each) => ({
      ...driftDifference(each, undefined),
      repair: { database: [rename], log },
    })),
  };
}

interface ExistingTable {
  there: CatalogTable;
  differences: readonly Difference[];
}

function differentTable(finding: Repairable, node: CollectionNode, { there, differences }: ExistingTable): TableDrift {
  const table = node.collection.collection;
  const renamed = renamedColumns(node, there);
  const plan = repairPlanOf(finding, node, { there, differences, renamed });
  const again = new Map([...renamed].map(([field, column]) => [column.name, field]));
  return {
    table,
    kind: 'different',
    differences: differences
      .filter(({ field, member }) => !(member === 'column' && again.has(field ?? '')))
      .map((each) => {
        if (each.member === OWNER && finding.owner !== undefined) return ownerDifference(finding, finding.owner, each);
        const column = each.member === 'column' ? renamed.get(each.field ?? '') : undefined;
        return column === undefined ? driftDifference(each, plan, node) : renamedColumn(finding, each, column);
      }),
  };
}

/** The log contains no owner, so only the database can change. */
function ownerDifference(
  { state, schema }: Finding,
  owner: string,
  { collection, expected, found }: Difference,
): DriftDifference {
  const text = sql`ALTER TABLE ${tableIn(state, collection, schema)} OWNER TO ${ident(owner)}`;
  const statement = { sql: text, summary: `set the owner of table ${collection} to ${owner}`, drops: false };
  return { member: OWNER, expected, found, repair: { database: [statement], log: [] } };
}

interface RenamedTable extends ExistingTable {
  renamed: ReadonlyMap<string, CatalogColumn>;
}

interface TablePlan extends RepairPlan {
  /** Members that belong to the table as a whole, in the log or in the catalog. */
  loose: ReadonlySet<string>;
}

function repairPlanOf(finding: Repairable, node: CollectionNode, there: RenamedTable): TablePlan | undefined {
  const { differences, renamed } = there;
  const { state, schema } = finding;
  const table = withNames(there.there, renamed);
  const all = convertDriftedTable(finding, { table, like: node, differences });
  if (!all.ok) return undefined;
  const loose = new Set(listTableParts(all.value.collection.schema));
  const { statements, rest } = conflictingObjects(differences, { schema, table, renamed, loose });
  const kept = convertDriftedTable(finding, { table: rest, like: node, differences });
  const withNamedNeeds = ({ value }: typeof all): ConvertedTable => withNeeds(value, node, { added: false });
  const entries = { all: withNamedNeeds(all), rest: withNamedNeeds(kept.ok ? kept : all), statements };
  const plan = planForDifferent(state, node, entries, finding);
  for (const part of listTableParts(node.collection.schema)) loose.add(part);
  const needed = withoutNoOps(plan, node, finding);
  return { ...needed, statements: needed.statements.map((each) => withInheritors(each, finding)), loose };
}

function renamedColumn({ schema, state }: Finding, difference: Difference, { name }: CatalogColumn): DriftDifference {
  const { collection, field = '' } = difference;
  const text = sql`ALTER TABLE ${tableIn(state, collection, schema)} RENAME COLUMN ${ident(name)} TO ${ident(field)}`;
  const rename: RepairStatement = {
    sql: text,
    summary: `rename column ${collection}.${name} to ${field}`,
    drops: false,
  };
  return { ...driftDifference(difference, undefined), renamed_to: name, repair: { database: [rename], log: [] } };
}

function driftDifference(difference: Difference, plan: TablePlan | undefined, node?: CollectionNode): DriftDifference {
  const { field, member, expected, found } = difference;
  const relatedOf = (within: TablePlan) => ({
    others: otherLocations(difference, within),
    sequences: sequencesOf(node, field),
  });
  const repair = plan === undefined ? { database: [], log: [] } : repairOf(plan, field, relatedOf(plan));
  return { ...(field === undefined ? {} : { field }), member, expected, found, repair };
}

/** Sequences that the field owns. */
const sequencesOf = (node: CollectionNode | undefined, field: string | undefined): string[] =>
  (extrasOf(node).needs ?? []).flatMap((need) =>
    need.kind === 'sequence' && field !== undefined && need.owned_by === field ? [need.name] : [],
  );

/**
 * Returns further owners of a constraint or index with a difference: fields, or null for the table as a whole. The log
 * records such an object with its owner, so the events for these owners record its current state.
 */
function otherLocations(difference: Difference, { loose }: TablePlan): (string | null)[] {
  const { member, found } = difference;
  if (partOf(difference) === null) return [];
  const columns = isObject(found) && Array.isArray(found['columns']) ? found['columns'] : [];
  return [...columns.filter((each) => typeof each === 'string'), ...(loose.has(member) ? [null] : [])];
}

/**
 * Returns the documents that the log would contain for the existing table. Parts without a difference have the spelling
 * of the collection.
 * @param differences absent if the table has another name, so that nothing was compared
 */
export function convertDriftedTable(
  { state, schema, managed, beside: objects }: Finding,
  { table, like, differences, notes = [] }: TableToConvert,
): Result<ConvertedTable> {
  const differing = new Set(differences?.map(({ field, member }) => `${field ?? ''}\0${member}`));
  const isEqual: EqualityCheck = (member, field = '') => !differing.has(`${field}\0${member}`);
  const options = { like, ...(differences !== undefined && { isEqual }) };
  return convertTable({ schema, table, objects, state, together: managed, notes, ...options });
}

interface TableToConvert {
  table: CatalogTable;
  like: CollectionNode;
  differences?: readonly Difference[];
  notes?: Note[];
}

/** Excludes the needs that the collection does not name, or moves them to the end of the list. */
export function withNeeds(
  converted: ConvertedTable,
  node: CollectionNode,
  { added }: { added: boolean },
): ConvertedTable {
  const { schema } = converted.collection;
  const { needs = [] } = extrasOf(converted);
  const labels = new Set((extrasOf(node).needs ?? []).map(needLabel));
  const isNamed = (need: Need): boolean => labels.has(needLabel(need));
  if (schema === null || needs.every(isNamed)) return converted;
  const listed = [...needs.filter(isNamed), ...(added ? needs.filter((need) => !isNamed(need)) : [])];
  const extras = { ...schema.extras, needs: listed };
  return { ...converted, collection: { ...converted.collection, schema: withExtras(schema, extras) } };
}
