/** What the trash has to know of tables that are about to be deleted: nothing of it is part of the schema. */
import type pg from 'pg';

export interface TrashFacts {
  /** By the database's clock. */
  now: Date;
  /** Each deletion has a schema of its own in the trash. */
  mayCreateSchemas: boolean;
  /** Those that are there, by name. */
  tables: ReadonlyMap<string, TableFacts>;
}

export interface TableFacts {
  /** By the account, or a role that it is a member of. */
  owned: boolean;
  /** Publications that name it. */
  publications: { name: string; owned: boolean }[];
  /** Those to other tables. `definition`: by pg_get_constraintdef. */
  foreignKeys: { name: string; definition: string }[];
  /** A table that it inherits from, and is no partition of. */
  inherits: string | null;
}

/** Each deletion needs a schema of its own. */
export const MAY_CREATE_SCHEMAS = "pg_catalog.has_database_privilege(current_database(), 'CREATE')";

const QUESTION = `
SELECT clock_timestamp() AS now, ${MAY_CREATE_SCHEMAS} AS creates,
  (SELECT coalesce(json_agg(json_build_object(
     'name', c.relname, 'owned', pg_catalog.pg_has_role(c.relowner, 'USAGE'),
     'publications', (SELECT coalesce(json_agg(json_build_object('name', p.pubname, 'owned', pg_catalog.pg_has_role(p.pubowner, 'USAGE')) ORDER BY p.pubname), '[]')
                        FROM pg_catalog.pg_publication_rel r JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid WHERE r.prrelid = c.oid),
     'foreignKeys', (SELECT coalesce(json_agg(json_build_object('name', k.conname, 'definition', pg_catalog.pg_get_constraintdef(k.oid)) ORDER BY k.conname), '[]')
                       FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> k.conrelid AND k.conparentid = 0),
     'inherits', (SELECT min(i.inhparent::regclass::text) FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid AND NOT c.relispartition))), '[]')
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = ANY ($2) AND c.relkind IN ('r', 'p')) AS tables`;

type Row = { now: Date; creates: boolean; tables: (TableFacts & { name: string })[] };

export async function readTrashFacts(
  client: pg.ClientBase,
  { schema, tables }: { schema: string; tables: readonly string[] },
): Promise<TrashFacts> {
  const { rows } = await client.query<Row>(QUESTION, [schema, tables]);
  const { now, creates, tables: found } = rows[0] as Row;
  return { now, mayCreateSchemas: creates, tables: new Map(found.map((each) => [each.name, each])) };
}
