/** Compares the fold, the metadata rows and PostgreSQL's catalog. */
import type pg from 'pg';
import { createTimeSlice, runYielding } from '../../kernel/event-loop.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import {
  type ColumnField,
  hasColumn,
  type CollectionNode,
  type State,
  byName,
  schemasOf,
} from '../../schema/model/state.js';
import type { CatalogTable } from '../catalog/model.js';
import { type Catalog, readCatalog } from '../catalog/read.js';
import { mayBeSpelled, compareTable } from './compare-table.js';
import { verifyAccounts, verifyChanges, verifyMetadata, verifyTrash } from './rows.js';
import type { Difference } from './difference.js';
import { spelledColumns, withoutEquivalent } from './equivalent-definitions.js';
import { requestsInPreparation } from '../online/copy.js';
import { verifyObjects } from './objects.js';
import { pendingIndexes } from './pending-indexes.js';

export type { Difference } from './difference.js';

interface VerifyOptions {
  /** False on an instance that does not manage views and materialized views. It then ignores those in the catalog. */
  objects?: boolean | undefined;
}

export interface Verification {
  ok: boolean;
  /** Ordered by collection. Excludes system tables, unmanaged tables and indexes still to be built. */
  differences: Difference[];
}

/**
 * Compares the fold with the metadata rows and the catalog. `state` must match the position of the database, so call
 * it under the log's lock. In a transaction it leaves nothing behind, but the transaction must be writable:
 * PostgreSQL spells an expression only for a table that has it. Outside one, it opens its own and rolls it back.
 */
export async function verify(
  client: pg.ClientBase,
  state: State,
  schema: string,
  { objects = true }: VerifyOptions = {},
): Promise<Verification> {
  const own = client.getTransactionStatus() === 'I';
  if (own) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  try {
    const results = [
      ...(await verifyMetadata(client, state)),
      ...(await verifyCatalog(client, state, schema)),
      ...(await verifyObjects(client, state, { schema, inCatalog: objects })),
      ...(await verifyTrash(client)),
      ...(await verifyChanges(client, state.position)),
      ...(await verifyAccounts(client)),
    ];
    const differences = await runYielding(sortedInSteps(results, (a, b) => byName(a.collection, b.collection)));
    return { ok: differences.length === 0, differences };
  } finally {
    if (own) await client.query('ROLLBACK');
  }
}

/**
 * Compares only the fold with the catalog. Call it inside a transaction.
 * @param catalog if it was already read: the tables of the state and their objects
 */
export async function verifyCatalog(
  client: pg.ClientBase,
  state: State,
  schema: string,
  catalog?: Catalog,
): Promise<Difference[]> {
  const { tables, objects } =
    catalog ??
    (await readCatalog(client, { state, schema, schemas: schemasOf(state, schema) }, [...state.collections.keys()]));
  const isPending = await pendingIndexes(client);
  const spelled = await spelledColumns(client, { state, schema }, await otherwiseSpelled(state, tables));
  const living = await requestsInPreparation(client);
  const differences: Difference[] = [];
  const slice = createTimeSlice();
  for (const [name, node] of state.collections) {
    if (slice.isOver()) await slice.yield();
    const table = tables.get(name);
    const presence = comparePresence(node, table);
    if (presence !== null) differences.push(presence);
    else if (table !== undefined)
      differences.push(
        ...compareTable(node, table, { state, schema, isPending, spelled, objects }),
        ...orphans(table, living),
      );
  }
  return withoutEquivalent(client, { state, schema }, differences);
}

/** Finds objects that were created for an ended change request and that no cleanup will remove. */
const orphans = ({ name: collection, prepared }: CatalogTable, living: ReadonlySet<string>): Difference[] =>
  prepared
    .filter(({ request }) => !living.has(request))
    .map(({ kind, name, request }) => ({
      where: 'catalog',
      collection,
      member: `${kind} ${name}`,
      expected: null,
      found: { prepared_for: request },
    }));

/** Every collection except a folder has a table. */
function comparePresence({ collection }: CollectionNode, table: CatalogTable | undefined): Difference | null {
  const [expected, there] = [collection.schema !== null, table !== undefined];
  if (expected === there) return null;
  return {
    where: 'catalog',
    collection: collection.collection,
    member: 'table',
    expected: expected ? 'a table' : null,
    found: there ? 'a table' : null,
  };
}

/** Existing columns that may differ only in spelling. */
async function otherwiseSpelled(state: State, tables: ReadonlyMap<string, CatalogTable>): Promise<ColumnField[]> {
  const columns: ColumnField[] = [];
  const slice = createTimeSlice();
  for (const [collection, { fields }] of state.collections) {
    if (slice.isOver()) await slice.yield();
    for (const column of tables.get(collection)?.columns ?? []) {
      const field = fields.get(column.name);
      if (hasColumn(field) && mayBeSpelled(field, column)) columns.push(field);
    }
  }
  return columns;
}
