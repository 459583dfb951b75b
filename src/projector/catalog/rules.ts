/* Reads rules of tables and views, except those that are the queries of views. */
import type pg from 'pg';
import { type Enabled, objectKey } from '../../schema/model/objects.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import { RULE_EVENT, RULE_TAIL } from '../ddl/rule-sql.js';
import { type Sql, sql } from '../ddl/sql.js';
import { commentIn, enabledOf, extensionOfTable, usesOnTable } from './triggers.js';

const { from, where, id } = OBJECT_CATALOGS.pg_rewrite;

/** Selects rules. $1 is the managed schema, $2 the ids or null for all. */
const RULES: Sql = sql`
SELECT f.* FROM (
SELECT ${id} AS id, r.rulename::text AS name, c.relname::text AS "table", ${RULE_EVENT} AS event, ${RULE_TAIL} AS tail,
  ${enabledOf(sql`r.ev_enabled`)} AS enabled, ${commentIn('pg_rewrite', sql`r.oid`)} AS comment,
  ${usesOnTable('pg_rewrite', sql`r.oid`, sql`r.ev_class`)} AS uses, ${extensionOfTable('pg_rewrite', sql`r.oid`)} AS extension
FROM ${from}
WHERE n.nspname = $1 AND ${where} AND ($2::text[] IS NULL OR ${id} = ANY ($2::text[]))) f
ORDER BY f.id COLLATE "C"`;

interface Row extends Pick<CatalogObject, 'id' | 'comment' | 'uses' | 'extension'> {
  name: string;
  table: string;
  event: string;
  tail: string;
  enabled: Enabled;
}

/** Returns the rules, keyed by `objectKey`. @param ids limits the result; all rules of the schema if absent */
export async function readRules(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Row>(RULES, [schema, ids ?? null]);
  return rows.map(({ name, table, event, tail, ...row }) => {
    const kind = 'rule' as const;
    const definition = `CREATE RULE ${quotedName(name)} AS ON ${event} TO ${quotedName(table)}${tail}`;
    const query = `ON ${event}${tail}`;
    return [
      objectKey({ kind, id: row.id }),
      { ...row, kind, query, definition, indexes: null, populated: true, restoring: [] },
    ];
  });
}
