/** CREATE COLLATION. PostgreSQL cannot alter the definition of a collation. */
import type { Collation } from '../../schema/model/extras.js';
import { type Sql, join, literal, sql } from './sql.js';

const PROVIDERS: Record<Collation['provider'], Sql> = {
  libc: sql`PROVIDER = libc`,
  icu: sql`PROVIDER = icu`,
  builtin: sql`PROVIDER = builtin`,
};

/**
 * Fails if the name exists.
 * @param name qualified
 */
export function createCollation(name: Sql, collation: Collation): Sql {
  const { provider, locale, lc_collate, lc_ctype, deterministic, rules } = collation;
  const parts = [
    PROVIDERS[provider],
    said(sql`LOCALE`, locale),
    said(sql`LC_COLLATE`, lc_collate),
    said(sql`LC_CTYPE`, lc_ctype),
    deterministic === false ? sql`DETERMINISTIC = false` : null,
    said(sql`RULES`, rules),
  ];
  return sql`CREATE COLLATION ${name} (${join(
    parts.filter((part) => part !== null),
    sql`, `,
  )})`;
}

const said = (words: Sql, text: string | undefined): Sql | null =>
  text === undefined ? null : sql`${words} = ${literal(text)}`;

/**
 * A row `c` of pg_collation as a JSON document with the members of Collation. It uses only columns that the release
 * has: the ICU locale column moved twice, and rules were added in PostgreSQL 16.
 */
export const collationDocument: Sql = sql`pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'provider', CASE c.collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END,
    'locale', CASE WHEN c.collprovider <> 'c'
      THEN coalesce(pg_catalog.to_jsonb(c) ->> 'colllocale'::text, pg_catalog.to_jsonb(c) ->> 'colliculocale'::text, c.collcollate::text)
      WHEN c.collcollate = c.collctype THEN c.collcollate::text END,
    'lc_collate', CASE WHEN c.collprovider = 'c' AND c.collcollate <> c.collctype THEN c.collcollate::text END,
    'lc_ctype', CASE WHEN c.collprovider = 'c' AND c.collcollate <> c.collctype THEN c.collctype::text END,
    'deterministic', nullif(c.collisdeterministic, true), 'rules', pg_catalog.to_jsonb(c) ->> 'collicurules'::text))`;

/** The same by name; null if the collation does not exist. */
export const describedCollation = (name: Sql): Sql =>
  sql`(SELECT ${collationDocument} FROM pg_catalog.pg_collation c WHERE c.oid = pg_catalog.to_regcollation(${literal(name)})::oid)`;
