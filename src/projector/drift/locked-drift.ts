/** The basis of an acceptance: tables that cannot change until its transaction ends, by their current names. */
import { type CollectionNode, type State, partitionsOf, extrasOf } from '../../schema/model/state.js';
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { SQLSTATE, isLocked, sqlState } from '../../postgres/errors.js';
import { type AcceptRequest, requestAfter } from '../../schema/operations/accept-request.js';
import { type Renames, withRenames } from '../../schema/transition/renames.js';
import { refusalOf } from '../adopt/convert.js';
import type { CatalogTable } from '../catalog/model.js';
import type { LockedTable } from '../ddl/statement.js';
import { LockedError, lockTables } from '../ddl/table-locks.js';
import { type Finding, lookForDrift } from './find.js';
import { renamedColumns } from './renames.js';

export interface Place {
  client: pg.ClientBase;
  /** PostgreSQL's schema that is managed. */
  schema: string;
  state: State;
}

export interface LockedDrift {
  renames: Renames;
  /** All other differences. Its state uses the current names. */
  finding: Finding;
  /** Uses the current names. */
  request: AcceptRequest;
}

/**
 * Repeats until all tables it covers are locked.
 * @throws LockedError
 */
export async function readLockedDrift(place: Place, request: AcceptRequest): Promise<LockedDrift> {
  const held = new Set<string>();
  for (;;) {
    const sight = await look(place, request).catch((error: unknown) => {
      throw isLocked(error) ? new LockedError(error, locksOn(place.state.collections.keys())) : error;
    });
    const open = tablesOf(sight).filter((name) => !held.has(name));
    if (open.length === 0) return sight;
    await lockHeld(place, open);
    for (const name of open) held.add(name);
  }
}

async function look({ client, schema, state }: Place, request: AcceptRequest): Promise<LockedDrift> {
  const finding = await lookForDrift(client, state, schema);
  const renames = renamesOf(finding, request);
  if (renames.collections.size === 0 && renames.fields.size === 0) return { renames, finding, request };
  const { state: base } = await runYielding(withRenames(state, renames));
  return { renames, finding: await lookForDrift(client, base, schema), request: requestAfter(request, renames) };
}

/** The renames that the request covers completely and that the log can record. */
function renamesOf({ state, tables, drifted, renamed }: Finding, request: AcceptRequest): Renames {
  const collections = new Map<string, string>();
  const fields = new Map<string, ReadonlyMap<string, string>>();
  for (const [from, table] of renamed) {
    if (!request.takes(from, undefined) || refusalOf({ table }) !== null) continue;
    // The log cannot remove a table while it has partitions.
    if (partitionsOf(state, from).size === 0) collections.set(from, table.name);
  }
  for (const name of drifted.keys()) {
    const node = state.collections.get(name) as CollectionNode;
    const table = tables.get(name);
    if (table === undefined || isPartitioned(node, table) || refusalOf({ table }) !== null) continue;
    const names = fieldNames(node, table, (field) => request.takes(name, field));
    if (names.size > 0) fields.set(name, names);
  }
  return { collections, fields };
}

function fieldNames(node: CollectionNode, table: CatalogTable, takes: (field: string) => boolean) {
  const names = new Map<string, string>();
  for (const [from, { name: to }] of renamedColumns(node, table)) {
    if (!node.fields.has(to) && (takes(from) || takes(to))) names.set(from, to);
  }
  return names;
}

/** Checks whether the log or the catalog shows it as partitioned or as a partition. */
export const isPartitioned = (node: CollectionNode, table: CatalogTable | undefined): boolean =>
  extrasOf(node).partition_by !== undefined ||
  extrasOf(node).partition_of !== undefined ||
  (table !== undefined && (table.partitionKey !== null || table.partitionOf !== null));

/** The tables covered by the request, by their current names. */
function tablesOf({ finding, renames, request: { only } }: LockedDrift): string[] {
  const meant = [...finding.drifted.keys()].filter((name) => only === undefined || only.has(name));
  const names = new Set([...meant, ...renames.collections.values()]);
  return [...names].filter((name) => finding.tables.has(name));
}

const locksOn = (names: Iterable<string>): LockedTable[] =>
  [...names].map((table) => ({ table, lock: 'SHARE UPDATE EXCLUSIVE' }));

/** Reads and writes of rows continue, but manual DDL waits. */
async function lockHeld({ client, schema }: Place, names: readonly string[]): Promise<void> {
  const locks = locksOn(names);
  try {
    await client.query(lockTables(schema, locks));
  } catch (error) {
    // The session it waited for dropped or renamed it, so drift must be read again.
    if (isLocked(error) || sqlState(error) === SQLSTATE.undefined_table) throw new LockedError(error, locks);
    throw error;
  }
}
