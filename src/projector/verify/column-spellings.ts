/**
 * Finds out how PostgreSQL spells a column definition. It rewrites expressions (`a+1` → `(a + 1)`, added casts,
 * `pg_catalog."C"` → `"C"`), so the stored text cannot be compared with the catalog. PostgreSQL spells the stored
 * text in a copy of the table that is rolled back.
 */
import { type ColumnField, memberKey } from '../../schema/model/state.js';
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { columnTypeSql } from '../ddl/column.js';
import { defaultExpression } from '../ddl/default-clause.js';
import { type Sql, expression, ident, join, qualified, scratch, sql } from '../ddl/sql.js';

export interface SpelledColumn {
  type: string;
  collation: string | null;
  default: string | null;
  generated: string | null;
}

/** Each copy takes a few locks until it is rolled back. */
const COPIES_AT_ONCE = 100;

/**
 * Keyed by memberKey. A column that PostgreSQL rejects is missing. Call it inside a transaction, which it leaves
 * unchanged.
 * @param fields of existing columns
 */
export async function spelledColumns(
  client: pg.ClientBase,
  schema: string,
  fields: readonly ColumnField[],
): Promise<ReadonlyMap<string, SpelledColumn>> {
  const found = new Map<string, SpelledColumn>();
  for (let start = 0; start < fields.length; start += COPIES_AT_ONCE) {
    await readSpellings(client, schema, fields.slice(start, start + COPIES_AT_ONCE), found);
  }
  return found;
}

async function readSpellings(
  client: pg.ClientBase,
  schema: string,
  fields: readonly ColumnField[],
  found: Map<string, SpelledColumn>,
): Promise<void> {
  await client.query('SAVEPOINT dps_column');
  try {
    await client.query(
      join(
        fields.map((field, index) => copyOf(field, index, schema)),
        sql`;`,
      ),
    );
    const { rows } = await client.query<SpelledColumn & { name: string }>(SPELLINGS);
    for (const { name, ...spelled } of rows) {
      const field = fields[Number(name.slice(PREFIX.length))];
      if (field !== undefined) found.set(memberKey(field.collection, field.field), spelled);
    }
    await client.query('ROLLBACK TO SAVEPOINT dps_column; RELEASE SAVEPOINT dps_column');
  } catch (error) {
    // A busy lock says nothing about the spelling.
    if (isLocked(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT dps_column; RELEASE SAVEPOINT dps_column');
    if (fields.length === 1) return;
    // One failing column hides the others, so each half is tried separately.
    const middle = Math.ceil(fields.length / 2);
    await readSpellings(client, schema, fields.slice(0, middle), found);
    await readSpellings(client, schema, fields.slice(middle), found);
  }
}

const PREFIX = 'column_';

/**
 * Copies the columns without their generation and adds one with a unique name. Its default is set afterwards, because
 * ADD COLUMN would evaluate it.
 */
function copyOf(field: ColumnField, index: number, schema: string): Sql {
  const name = `${PREFIX}${index}`;
  const copy = scratch(name);
  const probe = ident(field.field);
  const { generation_expression: text } = field.schema;
  const value = defaultExpression(field, field.schema);
  return sql`CREATE TABLE ${copy} (LIKE ${qualified(schema, field.collection)});
    ALTER TABLE ${copy} DROP COLUMN ${probe};
    ${text === null ? addColumn(copy, field) : addGenerated(name, field, expression(text))}${
      value === null ? sql`` : sql`; ALTER TABLE ${copy} ALTER COLUMN ${probe} SET DEFAULT ${value}`
    }`;
}

const addColumn = (table: Sql, field: ColumnField): Sql =>
  sql`ALTER TABLE ${table} ADD COLUMN ${ident(field.field)} ${columnTypeSql(field)}`;

/** The copy temporarily has the table's name, because an expression may contain it (`articles.title`). */
function addGenerated(name: string, field: ColumnField, generation: Sql): Sql {
  const { collection } = field;
  const added = sql`${addColumn(scratch(collection), field)} GENERATED ALWAYS AS ${generation} STORED`;
  if (collection === name) return added;
  return sql`ALTER TABLE ${scratch(name)} RENAME TO ${ident(collection)}; ${added};
    ALTER TABLE ${scratch(collection)} RENAME TO ${ident(name)}`;
}

const SPELLINGS = sql`
SELECT c.relname::text AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,
  CASE WHEN a.attcollation <> t.typcollation THEN a.attcollation::regcollation::text END AS collation,
  CASE WHEN a.attgenerated = '' THEN x.text END AS "default", CASE WHEN a.attgenerated <> '' THEN x.text END AS generated
FROM pg_catalog.pg_class c
JOIN LATERAL (SELECT * FROM pg_catalog.pg_attribute l WHERE l.attrelid = c.oid ORDER BY l.attnum DESC LIMIT 1) a ON true
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN LATERAL (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS text FROM pg_catalog.pg_attrdef d
  WHERE d.adrelid = c.oid AND d.adnum = a.attnum) x ON true
WHERE c.relnamespace = pg_catalog.pg_my_temp_schema() AND pg_catalog.starts_with(c.relname, 'column_')`;
