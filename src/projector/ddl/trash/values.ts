/**
 * Keeps the values of a dropped column with the primary key of their rows, which restores them. The copy names its
 * columns by identity, because names may change in the meantime.
 */
import { type Sql, block, ident, join, literal, sql } from '../sql.js';
import type { CopiedColumn } from '../statement.js';
import { asOwner } from '../as-owner.js';

export const COPY = 'values';

/** The number of values in a copy, by its oid. */
export const copiedRows = (copy: Sql): Sql => sql`pg_catalog.obj_description(${copy}, 'pg_class')::bigint`;

export type Column = CopiedColumn;

export interface Kept {
  table: Sql;
  key: readonly Column[];
  column: Column;
  copy: Sql;
}

/**
 * Copies the values, and stores their number and the column privileges in comments. The copy has no indexes, because
 * it is read once and as a whole.
 */
export function copyValues({ table, key, column, copy }: Kept): Sql {
  const copied = [...key, column].map(({ name, identity }) => sql`t.${ident(name)} AS ${ident(identity)}`);
  const columns = join(copied, sql`, `);
  return asOwner(
    table,
    sql`CREATE TABLE ${copy} AS SELECT ${columns} FROM ${table} t;
    GET DIAGNOSTICS counted = ROW_COUNT;
    EXECUTE pg_catalog.format('COMMENT ON TABLE ${copy} IS %L', counted);
    ${notePrivileges({ table, column, copy })}`,
  );
}

/** PL/pgSQL that stores the column privileges in a comment. */
export function notePrivileges({ table, column, copy }: Omit<Kept, 'key'>): Sql {
  return sql`EXECUTE pg_catalog.format('COMMENT ON COLUMN ${copy}.${ident(column.identity)} IS %L', (SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
        'to', coalesce(r.rolname, ''), 'privilege', p.privilege_type, 'grantable', p.is_grantable))
      FROM pg_catalog.pg_attribute a CROSS JOIN pg_catalog.aclexplode(a.attacl) p
      LEFT JOIN pg_catalog.pg_roles r ON r.oid = p.grantee
      WHERE a.attrelid = ${literal(table)}::regclass::oid AND a.attname = ${literal(column.name)}
        AND (r.oid IS NOT NULL OR p.grantee = 0::oid))::text);`;
}

const matches = (key: readonly Column[]): Sql =>
  join(
    key.map(({ name, identity }) => sql`t.${ident(name)} = k.${ident(identity)}`),
    sql` AND `,
  );

/**
 * Copies the values back into the column, which exists again and is null. Triggers and rules of the table do not run.
 * Raises an error if a row did not get its value, because the copy is dropped afterwards.
 */
export function returnValues({ table, key, column, copy }: Kept): Sql {
  // IS NOT NULL would be false for a composite value with a null attribute.
  const value = sql`k.${ident(column.identity)}`;
  const kept = sql`${matches(key)} AND ${value} IS DISTINCT FROM NULL`;
  const update = sql`UPDATE ${table} t SET ${ident(column.name)} = ${value} FROM ${copy} k WHERE ${kept};
    GET DIAGNOSTICS counted = ROW_COUNT;
    IF counted <> (SELECT count(*) FROM ${copy} k JOIN ${table} t ON ${kept}) THEN
      RAISE EXCEPTION 'only % of the values in the trash were restored', counted;
    END IF;`;
  return asOwner(table, update, { silently: true });
}

/** Grants the column privileges again, except to roles that no longer exist. */
export function returnPrivileges({ table, column, copy }: Omit<Kept, 'key'>): Sql {
  const place = sql`'${copy}'::regclass`;
  const noted = sql`pg_catalog.col_description(${place}, (SELECT a.attnum FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = ${place}::oid AND a.attname = ${literal(column.identity)}))`;
  return sql`DO ${block(sql`DECLARE p record; BEGIN
    FOR p IN SELECT g.*, r.rolname FROM pg_catalog.json_to_recordset(${noted}::json) AS g ("to" text, privilege text, grantable boolean)
      LEFT JOIN pg_catalog.pg_roles r ON r.rolname = g."to"
      WHERE g.privilege IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') AND (g."to" = '' OR r.oid IS NOT NULL)
    LOOP EXECUTE pg_catalog.format('GRANT %s (%I) ON %s TO %s%s', p.privilege, ${literal(column.name)}, ${literal(table)},
      CASE WHEN p."to" = '' THEN 'PUBLIC' ELSE pg_catalog.quote_ident(p.rolname) END,
      CASE WHEN p.grantable THEN ' WITH GRANT OPTION' ELSE '' END);
    END LOOP; END`)}`;
}

/** Counts the rows of the copy, those whose row still exists, and the rows of the table up to `most`. */
export function countValues({ table, key, copy }: Omit<Kept, 'column'>, most: Sql): Sql {
  return sql`SELECT (SELECT count(*) FROM ${copy})::int AS kept,
    (SELECT count(*) FROM ${copy} k JOIN ${table} t ON ${matches(key)})::int AS met,
    (SELECT count(*) FROM (SELECT FROM ${table} LIMIT ${most}) t)::int AS rows`;
}
