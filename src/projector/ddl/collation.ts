/** CREATE COLLATION. PostgreSQL alters none: one that is there is as it is. */
import type { Collation } from '../../schema/model/extras.js';
import { type Sql, join, literal, sql } from './sql.js';

const PROVIDERS: Record<Collation['provider'], Sql> = {
  libc: sql`PROVIDER = libc`,
  icu: sql`PROVIDER = icu`,
  builtin: sql`PROVIDER = builtin`,
};

/** Fails where there is one of the name. @param name qualified */
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
 * A row `c` of pg_collation as one JSON document, with the members of Collation. Of a release's columns only those that
 * it has are looked at: ICU's locale moved twice, rules came with PostgreSQL 16.
 */
export const collationDocument: Sql = sql`pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'provider', CASE c.collprovider WHEN 'i' THEN 'icu' WHEN 'b' THEN 'builtin' ELSE 'libc' END,
    'locale', CASE WHEN c.collprovider <> 'c'
      THEN coalesce(pg_catalog.to_jsonb(c) ->> 'colllocale'::text, pg_catalog.to_jsonb(c) ->> 'colliculocale'::text, c.collcollate::text)
      WHEN c.collcollate = c.collctype THEN c.collcollate::text END,
    'lc_collate', CASE WHEN c.collprovider = 'c' AND c.collcollate <> c.collctype THEN c.collcollate::text END,
    'lc_ctype', CASE WHEN c.collprovider = 'c' AND c.collcollate <> c.collctype THEN c.collctype::text END,
    'deterministic', nullif(c.collisdeterministic, true), 'rules', pg_catalog.to_jsonb(c) ->> 'collicurules'::text))`;

/** The same by its name; null where there is none. */
export const describedCollation = (name: Sql): Sql =>
  sql`(SELECT ${collationDocument} FROM pg_catalog.pg_collation c WHERE c.oid = pg_catalog.to_regcollation(${literal(name)})::oid)`;
