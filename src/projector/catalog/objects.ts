import type pg from 'pg';
import type { Collation } from '../../schema/model/extras.js';
import { type Reading, readTogether } from './reading.js';
import {
  COLLATIONS_QUERY,
  EXTENSIONS_QUERY,
  SEQUENCES_QUERY,
  TYPE_NAMES_QUERY,
  TYPES_QUERY,
  USES_QUERY,
} from './object-queries.js';

/** A dependency of a table: the dependent object and the object it uses. */
export interface Use {
  kind: 'index' | 'constraint' | 'default' | 'generated' | 'column' | 'partition key';
  name: string;
  uses: 'sequence' | 'collation' | 'function';
  extension: string | null;
  schema: string | null;
  /** The name of a sequence or a collation; otherwise a description: `function lower(text[])`. */
  what: string;
}

export interface UsedType {
  name: string;
  schema: string;
  kind: 'b' | 'c' | 'd' | 'e' | 'm' | 'p' | 'r';
  extension: string | null;
  /** The nesting depth: the base type of a domain comes before the domain. */
  depth: number;
  base: string | null;
  notNull: boolean;
  default: string | null;
  collation: string | null;
  labels: string[];
  checks: { name: string; definition: string }[];
  /** Excludes the collations that are built into PostgreSQL. */
  collations: { schema: string; name: string }[];
}

export interface CatalogSequence {
  name: string;
  type: string;
  start: string;
  increment: string;
  min: string;
  max: string;
  cache: string;
  cycle: boolean;
  owner: { table: string; column: string } | null;
  /** True if it belongs to an identity column. */
  isIdentity: boolean;
}

export interface CatalogObjects {
  uses: ReadonlyMap<string, readonly Use[]>;
  types: ReadonlyMap<string, readonly UsedType[]>;
  /** All sequences of the schema, by name. */
  sequences: ReadonlyMap<string, CatalogSequence>;
  /** By the owning table, ordered by name. */
  owned: ReadonlyMap<string, readonly CatalogSequence[]>;
  /** All collations of the schema, by name. */
  collations: ReadonlyMap<string, Collation>;
  typeNames: ReadonlySet<string>;
  extensions: ReadonlySet<string>;
}

type UseRow = [string, Use['kind'], string, Use['uses'], string | null, string | null, string];
type TypeRow = [
  table: string,
  depth: number,
  name: string,
  schema: string,
  kind: UsedType['kind'],
  extension: string | null,
  base: string | null,
  notNull: boolean,
  value: string | null,
  collation: string | null,
  labels: string[] | null,
  checks: UsedType['checks'] | null,
  collations: UsedType['collations'] | null,
];
type SequenceRow = [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  boolean,
  string | null,
  string | null,
  boolean | null,
];

/**
 * Sends six queries in one round trip, whatever the number of tables.
 * @param tables limits the result; all tables if absent
 */
export function readObjects(
  client: pg.ClientBase,
  schema: string,
  tables?: readonly string[],
): Promise<CatalogObjects> {
  return readTogether(client, objectsReading(schema, tables))[0];
}

/** The same, combinable with other readings. */
export function objectsReading(schema: string, tables?: readonly string[]): Reading<CatalogObjects> {
  const values = [schema, tables ?? null];
  return {
    queries: [
      { text: USES_QUERY, values },
      { text: TYPES_QUERY, values },
      { text: SEQUENCES_QUERY, values: [schema] },
      { text: COLLATIONS_QUERY, values: [schema] },
      { text: TYPE_NAMES_QUERY, values: [schema] },
      { text: EXTENSIONS_QUERY },
    ],
    async make(rows) {
      const uses = grouped(await rows<UseRow>(), toUse);
      const types = grouped(await rows<TypeRow>(), toType);
      const sequences = (await rows<SequenceRow>()).map(toSequence);
      const collations = new Map(await rows<[string, Collation]>());
      const typeNames = new Set((await rows<[string]>()).map(([name]) => name));
      const extensions = new Set((await rows<[string]>()).map(([name]) => name));
      const byName = new Map(sequences.map((each) => [each.name, each]));
      return { uses, types, sequences: byName, owned: byOwner(sequences), collations, typeNames, extensions };
    },
  };
}

function byOwner(sequences: readonly CatalogSequence[]) {
  const owned = new Map<string, CatalogSequence[]>();
  for (const sequence of sequences) {
    if (sequence.owner === null) continue;
    const { table } = sequence.owner;
    owned.set(table, [...(owned.get(table) ?? []), sequence]);
  }
  return owned;
}

function grouped<Row extends [string, ...unknown[]], T>(rows: readonly Row[], toValue: (row: Row) => T) {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(row[0]);
    if (group === undefined) groups.set(row[0], [toValue(row)]);
    else group.push(toValue(row));
  }
  return groups;
}

function toUse([, kind, name, uses, extension, schema, what]: UseRow): Use {
  return { kind, name, uses, extension, schema, what };
}

function toType(row: TypeRow): UsedType {
  const [, depth, name, schema, kind, extension, base, notNull, value, collation, labels, checks, used] = row;
  const parts = { labels: labels ?? [], checks: checks ?? [], collations: used ?? [] };
  return { name, schema, kind, extension, depth, base, notNull, default: value, collation, ...parts };
}

function toSequence([
  name,
  type,
  start,
  increment,
  min,
  max,
  cache,
  cycle,
  table,
  column,
  isIdentity,
]: SequenceRow): CatalogSequence {
  const owner = table === null || column === null ? null : { table, column };
  return { name, type, start, increment, min, max, cache, cycle, owner, isIdentity: isIdentity === true };
}
