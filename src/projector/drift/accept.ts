/** What is in the database and not in the log, as the log is to say it. */
import type pg from 'pg';
import {
  type AcceptRequest,
  type FoundDrift,
  type FoundTable,
  acceptedState,
} from '../../schema/operations/accepted-state.js';
import type { Field } from '../../schema/model.js';
import { needLabel } from '../../schema/needs.js';
import { type CollectionNode, type State, byName } from '../../schema/state.js';
import { withExtras } from '../../schema/table-extras.js';
import { type Converted, convertTable, refusalOf } from '../adopt/convert.js';
import type { Note } from '../adopt/note.js';
import type { CatalogTable } from '../catalog/model.js';
import { join, qualified, sql } from '../ddl/sql.js';
import type { Difference } from '../verify.js';
import { verifyCatalog } from '../verify.js';
import { asKnown } from './as-known.js';
import { type Finding, lookForDrift } from './find.js';
import { renamedColumns } from './renames.js';

export interface Acceptance extends FoundDrift {
  /** What stays a difference, and why. */
  left: Left[];
  /** What stays in the database and is part of no snapshot. */
  notRepresented: Note[];
}

export interface Left {
  collection: string;
  field?: string;
  code: 'FOLDER' | 'PARTITIONED' | 'NOT_REPRESENTABLE' | 'STILL_DIFFERENT';
  message: string;
}

interface Place {
  client: pg.ClientBase;
  /** PostgreSQL's schema that is managed. */
  schema: string;
  state: State;
}

/** In a transaction that holds the log's lock. The tables it tells of can't be changed until that ends. */
export async function readAcceptance({ client, schema, state }: Place, request: AcceptRequest): Promise<Acceptance> {
  const isMeant = (name: string) => request.only === undefined || request.only.has(name);
  const first = await lookForDrift(client, state, schema);
  const names = [...first.drifted.keys()].filter(isMeant);
  const there = [...names, ...[...first.renamed.values()].map(({ name }) => name)];
  await lockTables(
    client,
    there.filter((name) => first.tables.has(name)),
    schema,
  );
  const finding = await lookForDrift(client, state, schema);
  const found: Acceptance = { tables: [], gone: [], renamed: [], left: [], notRepresented: [] };
  for (const [name, differences] of finding.drifted) if (isMeant(name)) take(finding, { name, differences }, found);
  await tellLeft({ client, schema, state }, request, found);
  return found;
}

/** Whoever reads and writes items goes on; DDL by hand waits. */
async function lockTables(client: pg.ClientBase, names: readonly string[], schema: string): Promise<void> {
  if (names.length === 0) return;
  const tables = join(
    [...names].sort(byName).map((name) => qualified(schema, name)),
    sql`, `,
  );
  await client.query(sql`LOCK TABLE ${tables} IN SHARE UPDATE EXCLUSIVE MODE`);
}

interface Drifted {
  name: string;
  differences: readonly Difference[];
}

function take(finding: Finding, { name, differences }: Drifted, found: Acceptance): void {
  const node = finding.state.collections.get(name) as CollectionNode;
  const table = finding.tables.get(name);
  const other = finding.renamed.get(name);
  const leave = (code: Left['code'], message: string) => found.left.push({ collection: name, code, message });
  if (node.collection.schema === null) leave('FOLDER', 'it is a folder; a table that has its name is not its table');
  else if (table === undefined && other === undefined) found.gone.push(name);
  else {
    const there = (table ?? other) as CatalogTable;
    const refusal = refusalOf({ table: there });
    const renamed = oldNames(node, there);
    const like = withNewNames(node, renamed);
    const converted = refusal === null ? convert(finding, there, like, found.notRepresented) : refusal.message;
    if (typeof converted === 'string') leave('NOT_REPRESENTABLE', converted);
    else if (table === undefined) found.renamed.push({ from: name, table: converted });
    else if (isPartitioned(node) || isPartitioned(converted)) leave('PARTITIONED', PARTITIONED);
    else found.tables.push({ ...said(converted, node, differences), renamed });
  }
}

/** By its name now, the field that a column seems to be. */
const oldNames = (node: CollectionNode, table: CatalogTable): ReadonlyMap<string, string> =>
  new Map([...renamedColumns(node, table)].map(([field, { name }]) => [name, field]));

function withNewNames(node: CollectionNode, renamed: ReadonlyMap<string, string>): CollectionNode {
  if (renamed.size === 0) return node;
  const moved = [...renamed].map(([to, from]) => [to, node.fields.get(from) as Field] as const);
  return { ...node, fields: new Map([...node.fields, ...moved]) };
}

const PARTITIONED =
  'the columns and keys of a partitioned table and its partitions are one: delete them here (they stay in the database with a rename), and adopt them anew';

const isPartitioned = ({ collection: { schema } }: Pick<FoundTable, 'collection'>): boolean =>
  schema?.extras?.partition_by !== undefined || schema?.extras?.partition_of !== undefined;

function convert(
  { state, schema, tables, beside, renamed }: Finding,
  table: CatalogTable,
  like: CollectionNode,
  notes: Note[],
) {
  const managed = new Set([...renamed.values()].map(({ name }) => name));
  const together = new Map([...tables].filter(([name]) => state.collections.has(name) || managed.has(name)));
  const converted = convertTable({ schema, table, objects: beside, state, together, like, notes });
  return converted.ok ? converted.value : converted.problems.map(({ message }) => message).join('; ');
}

/** As the collection says it where that is no difference; what new or changed columns use comes along with them. */
function said(converted: Converted, node: CollectionNode, differences: readonly Difference[]): FoundTable {
  const known = asKnown(converted, node, differences);
  const { schema } = known.collection;
  const before = schema?.extras?.needs ?? [];
  const labels = new Set(before.map(needLabel));
  const added = (converted.collection.schema?.extras?.needs ?? []).filter((need) => !labels.has(needLabel(need)));
  const changed = differences.some(({ field }) => field !== undefined);
  if (schema === null || !changed || added.length === 0) return known;
  const needs = [...before, ...added];
  return { ...known, collection: { ...known.collection, schema: withExtras(schema, { ...schema.extras, needs }) } };
}

/** Whatever would still differ is told, as the comparison after the commit would tell it. */
async function tellLeft({ client, schema, state }: Place, request: AcceptRequest, found: Acceptance): Promise<void> {
  const after = acceptedState(state, found, request);
  const told = new Set(found.left.map(({ collection }) => collection));
  const taken = new Set([...found.tables.map(({ collection }) => collection.collection), ...found.gone]);
  for (const { table } of found.renamed) taken.add(table.collection.collection);
  for (const { collection, field, member } of await verifyCatalog(client, after.toState(), schema)) {
    if (told.has(collection) || !taken.has(collection) || !request.takes(collection, field)) continue;
    const message = `${member} can't be said by the log as it is there`;
    found.left.push({ collection, ...(field !== undefined && { field }), code: 'STILL_DIFFERENT', message });
  }
}
