import type { Api } from '../../support/api.js';

export interface CatalogColumn {
  type: string;
  not_null: boolean;
  default: string | null;
  /** `d`: by default; empty: none. */
  identity: string;
  /** `s`: stored; empty: none. */
  generated: string;
  unique: boolean;
  /** Valid indexes that serve no constraint. */
  indexes: number;
  comment: string | null;
}

const COLUMN = `
  SELECT format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull AS not_null,
         pg_get_expr(d.adbin, d.adrelid) AS default, a.attidentity AS identity, a.attgenerated AS generated,
         EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = a.attrelid AND c.contype = 'u'
                    AND c.conkey = ARRAY[a.attnum]) AS unique,
         (SELECT count(*)::int FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisvalid
             AND i.indkey::text = a.attnum::text
             AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)) AS indexes,
         col_description(a.attrelid, a.attnum) AS comment
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
   WHERE a.attrelid = $1::regclass AND a.attname = $2 AND NOT a.attisdropped`;

/** Undefined if it does not exist. The name of `table` must not need quotes. */
export async function catalogColumn(api: Api, table: string, field: string): Promise<CatalogColumn | undefined> {
  const [row] = await api.sql<{ [M in keyof CatalogColumn]: CatalogColumn[M] }>(COLUMN, [table, field]);
  return row;
}

/** A field in a create request. */
export const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'x', schema });

/** A primary key with values from the test. */
export const key = (field: string, type = 'integer', schema: object = {}) =>
  plain(field, type, { is_primary_key: true, ...schema });

export const alias = (field: string, meta: object = {}) => ({
  field,
  type: 'alias',
  schema: null,
  meta: { interface: 'x', ...meta },
});
