/** What tables use beside themselves, as PostgreSQL's catalog has it. */
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

/** Something that depends on a table, and something it uses. */
export interface Use {
  kind: 'index' | 'constraint' | 'default' | 'generated' | 'column' | 'partition key';
  name: string;
  uses: 'sequence' | 'collation' | 'function';
  extension: string | null;
  /** Of a sequence or a collation. */
  schema: string | null;
  /** Of a sequence or a collation its name; else a description: `function lower(text[])`. */
  what: string;
}

export interface UsedType {
  name: string;
  schema: string;
  kind: 'b' | 'c' | 'd' | 'e' | 'm' | 'p' | 'r';
  extension: string | null;
  /** How many types it stands under: a domain's base comes before the domain. */
  depth: number;
  base: string | null;
  notNull: boolean;
  default: string | null;
  collation: string | null;
  labels: string[];
  checks: { name: string; definition: string }[];
  /** Beside those that come with PostgreSQL. */
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
  /** Whether its owner counts by it as identity. */
  isIdentity: boolean;
}

export interface CatalogObjects {
  /** By table. */
  uses: ReadonlyMap<string, readonly Use[]>;
  /** By table. */
  types: ReadonlyMap<string, readonly UsedType[]>;
  /** All of the schema, by name. */
  sequences: ReadonlyMap<string, CatalogSequence>;
  /** By the table whose columns own them, by name. */
  owned: ReadonlyMap<string, readonly CatalogSequence[]>;
  /** All of the schema, by name. */
  collations: ReadonlyMap<string, Collation>;
  /** Of all enums and domains of the schema. */
  typeNames: ReadonlySet<string>;
  /** All of the database. */
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

/** Six queries in one flight, whatever the number of tables. @param tables only what these use; all when absent */
export function readObjects(
  client: pg.ClientBase,
  schema: string,
  tables?: readonly string[],
): Promise<CatalogObjects> {
  return readTogether(client, objectsReading(schema, tables))[0];
}

/** The same, to be read together with others. */
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
