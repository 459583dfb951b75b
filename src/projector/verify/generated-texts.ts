/**
 * How PostgreSQL spells an expression of ours. It rewrites what it is given (`a+1` → `(a + 1)`, casts added), so our
 * text can't be compared with the catalog's: PostgreSQL is asked to spell ours in a copy of the table that is taken back.
 */
import type pg from 'pg';
import { isLocked } from '../../postgres/errors.js';
import { columnType } from '../../schema/normal-form/index.js';
import type { ColumnField } from '../ddl/column.js';
import { type Sql, expression, ident, join, qualified, sql, typeName } from '../ddl/sql.js';

export interface GeneratedColumn {
  key: string;
  field: ColumnField;
}

export const generatedKey = (collection: string, field: string): string => `${collection}\0${field}`;

/** Each copy takes a few locks until it is rolled back. */
const COPIES_AT_ONCE = 100;

/**
 * By key, PostgreSQL's text of each expression; a column whose expression it doesn't take (any longer) is missing.
 * Inside a transaction; it is left as it was.
 */
export async function catalogTexts(
  client: pg.ClientBase,
  schema: string,
  columns: readonly GeneratedColumn[],
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (let start = 0; start < columns.length; start += COPIES_AT_ONCE) {
    await readTexts(client, schema, columns.slice(start, start + COPIES_AT_ONCE), texts);
  }
  return texts;
}

async function readTexts(
  client: pg.ClientBase,
  schema: string,
  columns: readonly GeneratedColumn[],
  texts: Map<string, string>,
): Promise<void> {
  await client.query('SAVEPOINT dps_generated');
  try {
    await client.query(
      join(
        columns.map((column, index) => copyOf(column, index, schema)),
        sql`;`,
      ),
    );
    const { rows } = await client.query<{ name: string; text: string }>(SPELLINGS);
    for (const { name, text } of rows) texts.set(columns[indexOf(name)]?.key ?? '', text);
    await client.query('ROLLBACK TO SAVEPOINT dps_generated; RELEASE SAVEPOINT dps_generated');
  } catch (error) {
    if (isLocked(error)) throw error;
    await client.query('ROLLBACK TO SAVEPOINT dps_generated; RELEASE SAVEPOINT dps_generated');
    if (columns.length === 1) return;
    // One that fails hides the others: look at the halves.
    const middle = Math.ceil(columns.length / 2);
    await readTexts(client, schema, columns.slice(0, middle), texts);
    await readTexts(client, schema, columns.slice(middle), texts);
  }
}

const nameOf = (index: number): string => `dps_generated_${index}`;
const indexOf = (name: string): number => Number(name.slice('dps_generated_'.length));

/** The same columns without their generation, and one more: it may be named like none of them. */
function copyOf({ field }: GeneratedColumn, index: number, schema: string): Sql {
  const copy = qualified('pg_temp', nameOf(index));
  const probe = ident(field.field);
  const type = typeName(columnType(field.schema));
  const text = expression(field.schema.generation_expression ?? '');
  return sql`CREATE TABLE ${copy} (LIKE ${qualified(schema, field.collection)});
    ALTER TABLE ${copy} DROP COLUMN ${probe};
    ALTER TABLE ${copy} ADD COLUMN ${probe} ${type} GENERATED ALWAYS AS ${text} STORED`;
}

const SPELLINGS = sql`
SELECT c.relname::text AS name, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS text
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid
WHERE c.relnamespace = pg_catalog.pg_my_temp_schema() AND c.relname LIKE 'dps\\_generated\\_%'`;
