/** The service's own tables as collections: listed for whoever wonders what they are, never changed through the API. */
import type { Pool } from 'pg';
import { withClient } from '../postgres/pool.js';
import type { CatalogColumn, CatalogTable } from '../projector/catalog/model.js';
import { readCatalog } from '../projector/catalog/read.js';
import { ident, qualified } from '../projector/ddl/sql.js';
import { COLLECTION_META_DEFAULTS } from '../schema/normal-form/collection.js';
import { SYSTEM_PREFIX } from '../schema/system-collections.js';
import type { CollectionDocument } from './deps.js';

/** What the catalog says about our tables in `schema`. They change with a release only: read once, at the start. */
export function readSystemCollections(pool: Pool, schema: string): Promise<CollectionDocument[]> {
  return withClient(pool, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select tablename as name from pg_catalog.pg_tables where schemaname = $1 and starts_with(tablename, $2)`,
      [schema, SYSTEM_PREFIX],
    );
    const tables = await readCatalog(
      client,
      schema,
      rows.map(({ name }) => name),
    );
    return tables.map((table) => toDocument(table, schema));
  });
}

function toDocument(table: CatalogTable, schema: string): CollectionDocument {
  const { name, comment } = table;
  const meta = { ...COLLECTION_META_DEFAULTS, hidden: true, accountability: null, note: comment };
  return {
    collection: name,
    meta: { collection: name, ...meta, system: true },
    schema: { name, sql: tableSql(table, schema), comment },
  };
}

/** For people to read; it is never run. Definitions are in PostgreSQL's own words. */
function tableSql({ name, columns, constraints }: CatalogTable, schema: string): string {
  const lines = [
    ...columns.map(columnLine),
    ...constraints.map(({ name: constraint, definition }) => `CONSTRAINT ${ident(constraint)} ${definition}`),
  ];
  return `CREATE TABLE ${qualified(schema, name)} (\n  ${lines.join(',\n  ')}\n)`;
}

function columnLine({ name, type, default: value, nullable }: CatalogColumn): string {
  return `${ident(name)} ${type}${value === null ? '' : ` DEFAULT ${value}`}${nullable ? '' : ' NOT NULL'}`;
}
