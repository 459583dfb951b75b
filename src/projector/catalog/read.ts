/** Reads the catalog with four queries in one round trip, whatever the number of tables. */
import type pg from 'pg';
import { createTimeSlice, mapYielding } from '../../kernel/event-loop.js';
import { requestOf } from '../online/names.js';
import type {
  CatalogPrepared,
  CatalogTable,
  CatalogColumn,
  CatalogConstraint,
  CatalogIndex,
  ForeignKeyAction,
} from './model.js';
import { COLUMNS_QUERY, CONSTRAINTS_QUERY, INDEXES_QUERY, TABLES_QUERY } from './queries.js';
import { type Reading, readTogether } from './reading.js';

/* The row types of the catalog queries and their conversion. */

interface TableName {
  schema: string;
  table: string;
}

export type TableRow = [
  oid: number,
  name: string,
  kind: 'r' | 'p',
  comment: string | null,
  isPartition: boolean,
  partitionKey: string | null,
  bound: string | null,
  parents: TableName[] | null,
  extension: string | null,
];

/** Without columns, constraints and indexes, which are read separately. */
export function toTable([
  ,
  name,
  kind,
  comment,
  isPartition,
  partitionKey,
  bound,
  parents,
  extension,
]: TableRow): CatalogTable {
  const [parent] = parents ?? [];
  return {
    name,
    kind: kind === 'p' ? 'partitioned' : 'table',
    comment,
    partitionOf: isPartition && parent !== undefined ? { ...parent, bound: bound ?? '' } : null,
    partitionKey,
    extension,
    inherits: isPartition ? [] : (parents ?? []),
    columns: [],
    constraints: [],
    indexes: [],
    prepared: [],
  };
}

export type ColumnRow = [
  table: number,
  attnum: number,
  name: string,
  type: string,
  dimensions: number,
  typeKind: CatalogColumn['typeKind'],
  builtIn: boolean,
  notNull: boolean,
  identity: '' | 'a' | 'd',
  generated: '' | 's' | 'v',
  expression: string | null,
  collation: string | null,
  comment: string | null,
  sequenceSchema: string | null,
  sequence: string | null,
  inherited: boolean,
  notNullName: string | null,
  notNullMore: string | null,
];

const IDENTITIES = { '': null, a: 'always', d: 'by default' } as const;

/**
 * From PostgreSQL 18 on, online changes prepare the NOT NULL constraint itself. It does not count until the change is
 * applied.
 */
function notNullOf(
  notNull: boolean,
  name: string | null,
  more: string | null,
): Pick<CatalogColumn, 'nullable' | 'notNull'> {
  if (name === null) return { nullable: !notNull, notNull: null };
  return requestOf(name) === null ? { nullable: !notNull, notNull: { name, more } } : { nullable: true, notNull: null };
}

/** A NOT NULL constraint that is being prepared online does not count yet. */
export function toColumn(row: ColumnRow): CatalogColumn {
  const [, , name, type, dimensions, typeKind, builtIn, notNull, identity, generated, expression] = row;
  const [, , , , , , , , , , , collation, comment, sequenceSchema, sequence, inherited, notNullName, more] = row;
  return {
    name,
    type,
    dimensions,
    typeKind,
    builtIn,
    ...notNullOf(notNull, notNullName, more),
    default: generated === '' ? expression : null,
    identity: IDENTITIES[identity],
    generated:
      generated === '' ? null : { expression: expression ?? '', kind: generated === 's' ? 'stored' : 'virtual' },
    collation,
    comment,
    sequence: sequenceSchema === null || sequence === null ? null : { schema: sequenceSchema, name: sequence },
    inherited,
  };
}

export type ConstraintRow = [
  table: number,
  name: string,
  kind: 'p' | 'u' | 'f' | 'c' | 'x',
  columns: number[] | null,
  definition: string,
  validated: boolean,
  deferrable: boolean,
  deferred: boolean,
  inherited: boolean,
  index: number,
  referencedSchema: string | null,
  referencedTable: string | null,
  referencedColumns: string[] | null,
  onUpdate: ActionCode,
  onDelete: ActionCode,
  match: 's' | 'f' | 'p',
];

const CONSTRAINT_KINDS = { p: 'primary key', u: 'unique', f: 'foreign key', c: 'check', x: 'exclusion' } as const;
const ACTIONS = { a: 'NO ACTION', r: 'RESTRICT', c: 'CASCADE', n: 'SET NULL', d: 'SET DEFAULT' } as const;
type ActionCode = keyof typeof ACTIONS;
const MATCHES = { s: 'simple', f: 'full', p: 'partial' } as const;

/** `names`: the table's columns by attnum. */
export function toConstraint(row: ConstraintRow, names: ReadonlyMap<number, string>): CatalogConstraint {
  const [, name, kind, columns, definition, validated, deferrable, initiallyDeferred, inherited] = row;
  return {
    name,
    kind: CONSTRAINT_KINDS[kind],
    columns: (columns ?? []).flatMap((attnum) => names.get(attnum) ?? []),
    definition,
    validated,
    deferrable,
    initiallyDeferred,
    inherited,
    references: kind === 'f' ? toReferences(row) : null,
  };
}

function toReferences(row: ConstraintRow): CatalogConstraint['references'] {
  const [, , , , , , , , , , schema, table, columns, onUpdate, onDelete, match] = row;
  return {
    schema,
    table: table ?? '',
    columns: columns ?? [],
    onUpdate: ACTIONS[onUpdate] satisfies ForeignKeyAction,
    onDelete: ACTIONS[onDelete] satisfies ForeignKeyAction,
    match: MATCHES[match],
  };
}

export type IndexRow = [
  table: number,
  index: number,
  name: string,
  method: string,
  keys: number[],
  keyCount: number,
  unique: boolean,
  primary: boolean,
  valid: boolean,
  predicate: string | null,
  hasExpressions: boolean,
  definition: string,
  inherited: boolean,
  tail: string,
  plainTail: string | null,
];

/** `constraint`: the name of the constraint that the index serves. */
export function toIndex(row: IndexRow, names: ReadonlyMap<number, string>, constraint: string | null): CatalogIndex {
  const [, , name, method, keys, keyCount, unique, primary, valid, predicate, hasExpressions, definition] = row;
  return {
    name,
    // attnum 0 is an expression.
    columns: keys.slice(0, keyCount).map((attnum) => names.get(attnum) ?? null),
    included: keys.slice(keyCount).flatMap((attnum) => names.get(attnum) ?? []),
    method,
    unique,
    primary,
    valid,
    predicate,
    hasExpressions,
    definition,
    constraint,
    inherited: row[12],
    tail: row[13],
    plain: row[13] === row[14],
  };
}

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
