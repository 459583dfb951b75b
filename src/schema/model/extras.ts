/**
 * Properties of adopted tables beyond fields and relations. They are stored so that a snapshot creates the same table
 * elsewhere. SQL is as PostgreSQL writes it (pg_get_*def) and is parsed again on input. Names are relative to the
 * managed schema.
 */

export interface ColumnExtras {
  /** Digits of fractional seconds, for time and timestamp types. */
  precision?: number;
  /** Name of a collation as SQL: `"C"`, `public."de-x"`. */
  collation?: string;
  /**
   * SQL of a default that default_value cannot express (then null), such as `nextval(…)` of a serial column. Also the
   * spelling of a value that PostgreSQL would write differently.
   */
  default?: string;
  /** An identity column that accepts no explicit values. */
  identity?: 'always';
  /** A generated column that is not stored. */
  virtual?: true;
  /** The sequence of an identity column, if its options differ from the defaults. */
  sequence?: SequenceOptions & { name?: string };
  /** Names of constraints and indexes that differ from the service's names. */
  primary_key_name?: string;
  unique_name?: string;
  index_name?: string;
  not_null_name?: string;
}

/** Options of CREATE SEQUENCE, absent where they are the default. Numbers are text because they have 64 bits. */
export interface SequenceOptions {
  /** Absent means bigint, or the column's type for an identity. */
  type?: 'smallint' | 'integer' | 'bigint';
  start?: string;
  increment?: string;
  min?: string;
  max?: string;
  cache?: string;
  cycle?: true;
}

export interface TableExtras {
  /** A primary key of several columns, or with more options than its column. `definition` contains such options. */
  primary_key?: { name: string; columns: string[]; definition?: string };
  /** By name. `definition` is from pg_get_constraintdef. `references` is the table that a foreign key references. */
  constraints?: { name: string; definition: string; references?: string }[];
  /** By name. `definition` is the part of pg_get_indexdef from USING on. */
  indexes?: { name: string; unique?: true; definition: string }[];
  /** `RANGE (payment_date)` */
  partition_by?: string;
  /** `bound`: `FOR VALUES FROM (1) TO (2)`, `DEFAULT`. */
  partition_of?: { table: string; bound: string };
  /** Objects that must exist before the table, in this order. */
  needs?: Need[];
  /** Unmanaged objects that depend on the table. They stay unchanged and appear in no snapshot. */
  unmanaged?: { kind: 'constraint' | 'index' | 'default' | 'generated'; name: string }[];
}

/** An object outside the table that its columns use. The service creates it if missing, and never drops it. */
export type Need =
  | { kind: 'extension'; name: string }
  | ({ kind: 'collation'; name: string } & Collation)
  | { kind: 'enum'; name: string; labels: string[] }
  | ({ kind: 'domain'; name: string } & Domain)
  | ({ kind: 'sequence'; name: string; /** The column that owns the sequence. */ owned_by?: string } & SequenceOptions);

/** Options of CREATE COLLATION. */
export interface Collation {
  provider: 'libc' | 'icu' | 'builtin';
  /** In the provider's spelling. Absent for libc if the two members below differ. */
  locale?: string;
  lc_collate?: string;
  lc_ctype?: string;
  /** Only ICU: differently spelled texts may be equal. */
  deterministic?: false;
  /** Only ICU: `&a < g`. */
  rules?: string;
}

export interface Domain {
  type: string;
  collation?: string;
  not_null?: true;
  default?: string;
  checks?: { name: string; definition: string }[];
}

/**
 * Extensions of PostgreSQL's distribution that are marked trusted: a role that may create tables may install them.
 * Others can access the server's files or run programs, so an administrator must install them.
 */
export const TRUSTED_EXTENSIONS: ReadonlySet<string> = new Set([
  'btree_gin',
  'btree_gist',
  'citext',
  'cube',
  'dict_int',
  'fuzzystrmatch',
  'hstore',
  'intarray',
  'isn',
  'lo',
  'ltree',
  'pg_trgm',
  'pgcrypto',
  'seg',
  'tablefunc',
  'tcn',
  'tsm_system_rows',
  'tsm_system_time',
  'unaccent',
  'uuid-ossp',
]);

/** A default that consists of a nextval call. */
export const NEXTVAL = /^\s*nextval\s*\(/i;

/** A default that contains a nextval call. */
export const MENTIONS_NEXTVAL = /nextval\s*\(/i;

/** True if a column is auto-increment by the older `nextval(…)` default instead of an identity. */
export function isSerial({ extras }: { extras?: ColumnExtras | undefined }): boolean {
  return extras?.default !== undefined && NEXTVAL.test(extras.default);
}

/** True if a column is an identity. */
export function isIdentity(column: { has_auto_increment: boolean; extras?: ColumnExtras | undefined }): boolean {
  return column.has_auto_increment && !isSerial(column);
}
