/** Describes the service's own tables for the list of collections. */
import type { Queryable } from '../postgres/pool.js';
import { type CollectionMeta, COLLECTION_META_DEFAULTS } from '../schema/model/model.js';

export interface SystemCollection {
  collection: string;
  meta: { collection: string; system: true } & CollectionMeta;
  /** `sql` is a `CREATE TABLE` statement with keys, checks and defaults. */
  schema: { name: string; sql: string; comment: string | null };
}

/** Sequences, triggers and further indexes are not part of a `CREATE TABLE` statement. */
const QUERY = `
  select c.relname as name, pg_catalog.obj_description(c.oid, 'pg_class') as comment,
         pg_catalog.format(E'CREATE TABLE %I.%I (\\n  %s\\n)', n.nspname, c.relname, pg_catalog.string_agg(part.text, E',\\n  ' order by part.rank, part.number)) as sql
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral (
      select 1 as rank, a.attnum::int as number,
             pg_catalog.quote_ident(a.attname) || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod)
               || case when a.attnotnull then ' NOT NULL' else '' end
               || coalesce(' DEFAULT ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid), '') as text
        from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      union all
      select 2, row_number() over (order by k.contype <> 'p', k.conname)::int,
             'CONSTRAINT ' || pg_catalog.quote_ident(k.conname) || ' ' || pg_catalog.pg_get_constraintdef(k.oid)
        from pg_constraint k
       where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c')
    ) part
   where n.nspname = $1 and c.relkind in ('r', 'p')
   group by c.oid, c.relname, n.nspname
   order by c.relname collate "C"`;

/** Returns the tables sorted by name. They change only with a release, so they are read once, at the start. */
export async function readSystemCollections(db: Queryable, serviceSchema: string): Promise<SystemCollection[]> {
  const { rows } = await db.query<SystemCollection['schema']>(QUERY, [serviceSchema]);
  return rows.map(({ name, sql, comment }) => ({
    collection: name,
    meta: { collection: name, system: true, ...COLLECTION_META_DEFAULTS },
    schema: { name, sql, comment },
  }));
}
