/** The row types of the catalog queries and their conversion. */
import { requestOf } from '../online/names.js';
import type { CatalogColumn, CatalogConstraint, CatalogIndex, CatalogTable, ForeignKeyAction } from './model.js';

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
