/** Reads the catalog with four queries in one round trip, whatever the number of tables. */
import type pg from 'pg';
import {
  toColumn,
  toConstraint,
  toIndex,
  toTable,
  type ColumnRow,
  type ConstraintRow,
  type IndexRow,
  type TableRow,
} from './rows.js';
import { createTimeSlice, mapYielding } from '../../kernel/event-loop.js';
import { requestOf } from '../online/names.js';
import type { CatalogPrepared, CatalogTable } from './model.js';
import { COLUMNS_QUERY, CONSTRAINTS_QUERY, INDEXES_QUERY, TABLES_QUERY } from './queries.js';
import { type Reading, readTogether } from './reading.js';

interface Building {
  table: CatalogTable;
  names: Map<number, string>;
}

/**
 * The tables of a schema, ordered by name (code units). In a REPEATABLE READ transaction the four queries see one
 * snapshot; otherwise a change may fall between them.
 * @param tables limits the result; all tables if absent
 */
export function readCatalog(
  client: pg.ClientBase,
  schema: string,
  tables?: readonly string[],
): Promise<CatalogTable[]> {
  return readTogether(client, catalogReading(schema, tables))[0];
}

/** The same, combinable with other readings. */
export function catalogReading(schema: string, tables?: readonly string[]): Reading<CatalogTable[]> {
  const values = [schema, tables ?? null];
  const queries = [TABLES_QUERY, COLUMNS_QUERY, CONSTRAINTS_QUERY, INDEXES_QUERY].map((text) => ({ text, values }));
  return {
    queries,
    async make(rows) {
      const built = new Map<number, Building>();
      for (const row of await rows<TableRow>()) built.set(row[0], { table: toTable(row), names: new Map() });
      const slice = createTimeSlice();
      const each = <T>(found: readonly T[], add: (row: T) => void) => mapYielding(found, add, slice);
      await each(await rows<ColumnRow>(), columnAdder(built));
      const constraints = await rows<ConstraintRow>();
      await each(constraints, constraintAdder(built));
      await each(await rows<IndexRow>(), indexAdder(built, constraints));
      return [...built.values()].map(({ table }) => table);
    },
  };
}

type Built = ReadonlyMap<number, Building>;

const columnAdder = (built: Built) => (row: ColumnRow) => {
  const building = built.get(row[0]);
  const notNull = row[16];
  if (notNull !== null) notePrepared(building?.table, 'constraint', notNull);
  building?.table.columns.push(toColumn(row));
  building?.names.set(row[1], row[2]);
};

const constraintAdder = (built: Built) => (row: ConstraintRow) => {
  const building = built.get(row[0]);
  if (notePrepared(building?.table, 'constraint', row[1])) return;
  building?.table.constraints.push(toConstraint(row, building.names));
};

/**
 * Objects prepared for a change request are not part of the table yet.
 * @returns whether it is such an object
 */
function notePrepared(table: CatalogTable | undefined, kind: CatalogPrepared['kind'], name: string): boolean {
  const request = requestOf(name);
  if (request !== null) table?.prepared.push({ kind, name, request });
  return request !== null;
}

function indexAdder(built: Built, constraints: readonly ConstraintRow[]): (row: IndexRow) => void {
  // A foreign key names the index of the referenced table; it has no index of its own.
  const serving = new Map(constraints.filter(([, , kind]) => kind !== 'f').map((row) => [row[9], row[1]]));
  return (row) => {
    const building = built.get(row[0]);
    if (notePrepared(building?.table, 'index', row[2])) return;
    building?.table.indexes.push(toIndex(row, building.names, serving.get(row[1]) ?? null));
  };
}
