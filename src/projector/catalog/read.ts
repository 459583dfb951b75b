/** Reads what PostgreSQL says is there: four queries, whatever the number of tables. */
import type pg from 'pg';
import { toColumn, toConstraint, toIndex, toTable } from './rows.js';
import type { CatalogTable } from './model.js';
import { COLUMNS_QUERY, CONSTRAINTS_QUERY, INDEXES_QUERY, TABLES_QUERY } from './queries.js';
import type { ColumnRow, ConstraintRow, IndexRow, TableRow } from './rows.js';
import type { Sql } from '../ddl/sql.js';

/** A table under construction: its column names by attnum. */
interface Building {
  table: CatalogTable;
  names: Map<number, string>;
}

/**
 * The tables of a schema, ordered by name (code units).
 * Inside a REPEATABLE READ transaction the four queries see one moment; elsewhere a change may fall between them.
 * @param tables only these; all when absent
 */
export async function readCatalog(
  client: pg.ClientBase,
  schema: string,
  tables?: readonly string[],
): Promise<CatalogTable[]> {
  const read = reader(client, [schema, tables ?? null]);
  const built = new Map<number, Building>();
  for (const row of await read<TableRow>(TABLES_QUERY)) built.set(row[0], { table: toTable(row), names: new Map() });
  addColumns(built, await read<ColumnRow>(COLUMNS_QUERY));
  const constraints = await read<ConstraintRow>(CONSTRAINTS_QUERY);
  addConstraints(built, constraints);
  addIndexes(built, await read<IndexRow>(INDEXES_QUERY), constraints);
  return [...built.values()].map(({ table }) => table);
}

function reader(client: pg.ClientBase, values: unknown[]) {
  return async <Row extends unknown[]>(text: Sql): Promise<Row[]> =>
    (await client.query<Row>({ text, values, rowMode: 'array' })).rows;
}

function addColumns(built: ReadonlyMap<number, Building>, rows: readonly ColumnRow[]): void {
  for (const row of rows) {
    const building = built.get(row[0]);
    building?.table.columns.push(toColumn(row));
    building?.names.set(row[1], row[2]);
  }
}

function addConstraints(built: ReadonlyMap<number, Building>, rows: readonly ConstraintRow[]): void {
  for (const row of rows) {
    const building = built.get(row[0]);
    building?.table.constraints.push(toConstraint(row, building.names));
  }
}

function addIndexes(
  built: ReadonlyMap<number, Building>,
  rows: readonly IndexRow[],
  constraints: readonly ConstraintRow[],
): void {
  // A foreign key names the index of the other table; it isn't served by one of its own.
  const serving = new Map(constraints.filter(([, , kind]) => kind !== 'f').map((row) => [row[9], row[1]]));
  for (const row of rows) {
    const building = built.get(row[0]);
    building?.table.indexes.push(toIndex(row, building.names, serving.get(row[1]) ?? null));
  }
}
