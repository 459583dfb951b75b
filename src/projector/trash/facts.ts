/** Facts about tables that are about to be deleted. None of them is part of the schema. */
import type pg from 'pg';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import type { Queryable } from '../../postgres/pool.js';

export interface TrashFacts {
  /** The database's clock. */
  now: Date;
  /** Each deletion needs its own schema in the trash. */
  mayCreateSchemas: boolean;
  /** The existing tables, by name. */
  tables: ReadonlyMap<string, TrashTable>;
}

export interface TrashTable {
  /** Owned by the account or by a role that it belongs to. */
  owned: boolean;
  /** Publications that list the table. */
  publications: { name: string; owned: boolean }[];
  /** Foreign keys to other tables. `definition`: from pg_get_constraintdef. */
  foreignKeys: { name: string; definition: string }[];
  /** A parent table through inheritance, excluding partitioning. */
  inherits: string | null;
}

/** Each deletion needs its own schema. */
export const MAY_CREATE_SCHEMAS = "pg_catalog.has_database_privilege(current_database(), 'CREATE')";

/** Most tables have none of the properties that `DETAILS` reads, and checking for them takes a third of the time. */
const GLANCE = `
SELECT clock_timestamp() AS now, ${MAY_CREATE_SCHEMAS} AS creates, c.relname AS name, pg_catalog.pg_has_role(c.relowner, 'USAGE') AS owned,
       EXISTS (SELECT FROM pg_catalog.pg_publication_rel r WHERE r.prrelid = c.oid)
         OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f')
         OR EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid) AS "hasMore"
  FROM (SELECT) one LEFT JOIN pg_catalog.pg_class c
    ON c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = $1)
   AND c.relname = ANY ($2) AND c.relkind IN ('r', 'p')`;

const DETAILS = `
SELECT c.relname AS name,
       (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', p.pubname, 'owned', pg_catalog.pg_has_role(p.pubowner, 'USAGE')) ORDER BY p.pubname), '[]')
          FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = c.oid) AS publications,
       (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('name', k.conname, 'definition', pg_catalog.pg_get_constraintdef(k.oid)) ORDER BY k.conname), '[]')
          FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> k.conrelid AND k.conparentid = 0::oid) AS "foreignKeys",
       (SELECT pg_catalog.min(i.inhparent::regclass::text) FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid AND NOT c.relispartition) AS inherits
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = ANY ($2) AND c.relkind IN ('r', 'p')`;

/** One row without a table if there is none. */
interface Row {
  now: Date;
  creates: boolean;
  name: string | null;
  owned: boolean | null;
  hasMore: boolean;
}

interface Details extends Omit<TrashTable, 'owned'> {
  name: string;
}

const NOTHING_MORE: Omit<TrashTable, 'owned'> = { publications: [], foreignKeys: [], inherits: null };

/** The result of the first query. */
export interface TrashGlance {
  tables: readonly string[];
  /** The rows of `glanceAt`. */
  rows: readonly unknown[];
}

/** The first query. It stays prepared as part of a batch, because planning it takes longer than running it. */
export const glanceAt = (schema: string, tables: readonly string[]): Parameterised => ({
  text: GLANCE,
  values: [schema, tables],
});

interface Asked {
  schema: string;
  tables: readonly string[];
  /** Replaces the first query if it covered all tables. */
  glance: TrashGlance;
}

/** Missing tables are left out. `now` is the database's clock at the first query. */
export async function readTrashFacts(client: pg.ClientBase, asked: Asked): Promise<TrashFacts> {
  return factsIn(client, asked, (await glanceRows(client, asked)) as [Row, ...Row[]]);
}

/** The same outside of a batch. */
export async function glanceAtTrashFacts(db: Queryable, asked: Omit<Asked, 'glance'>): Promise<TrashFacts> {
  const { rows } = await db.query<Row>(GLANCE, [asked.schema, asked.tables]);
  return factsIn(db, asked, rows as [Row, ...Row[]]);
}

async function factsIn(db: Queryable, { schema }: Pick<Asked, 'schema'>, rows: [Row, ...Row[]]): Promise<TrashFacts> {
  const details = await readDetails(
    db,
    schema,
    rows.flatMap(({ name, hasMore }) => (hasMore && name !== null ? [name] : [])),
  );
  const [{ now, creates }] = rows;
  const found = rows.flatMap(({ name, owned }): [string, TrashTable][] =>
    name === null ? [] : [[name, { ...NOTHING_MORE, ...details.get(name), owned: owned === true }]],
  );
  return { now, mayCreateSchemas: creates, tables: new Map(found) };
}

async function glanceRows(client: pg.ClientBase, { schema, tables, glance }: Asked): Promise<readonly unknown[]> {
  if (tables.length > 0 && tables.every((name) => glance.tables.includes(name))) return glance.rows;
  const [asked] = await sendBatch(client, [glanceAt(schema, tables)]);
  return asked?.rows ?? [];
}

async function readDetails(
  client: Queryable,
  schema: string,
  tables: readonly string[],
): Promise<ReadonlyMap<string, Omit<TrashTable, 'owned'>>> {
  if (tables.length === 0) return new Map();
  const { rows } = await client.query<Details>(DETAILS, [schema, tables]);
  return new Map(rows.map(({ name, ...details }) => [name, details]));
}
