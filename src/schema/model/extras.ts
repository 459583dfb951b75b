/**
 * What adopted tables have beyond fields and relations, kept so that a snapshot makes the same table elsewhere. SQL in
 * here is PostgreSQL's own (pg_get_*def), parsed again whenever it arrives; names are relative to the managed schema.
 */

export interface ColumnExtras {
  /** Digits of the seconds' fraction, of time and timestamp types. */
  precision?: number;
  /** Name of a collation, as SQL: `"C"`, `public."de-x"`. */
  collation?: string;
  /**
   * SQL of a default that default_value can't say (it is null then), `nextval(…)` of a serial column among them; or how
   * it is spelled, where PostgreSQL would spell the same value otherwise.
   */
  default?: string;
  /** An identity column that takes no values of the caller's. */
  identity?: 'always';
  /** A generated column that isn't stored. */
  virtual?: true;
  /** The sequence of an identity column, where it isn't the one PostgreSQL makes unasked. */
  sequence?: SequenceOptions & { name?: string };
  /** Names of constraints and indexes that the service would have named otherwise. */
  primary_key_name?: string;
  unique_name?: string;
  index_name?: string;
  not_null_name?: string;
}

/** As CREATE SEQUENCE takes them, each absent where it is the default. Numbers as text: they have 64 bits. */
export interface SequenceOptions {
  /** `smallint`, `integer`; absent: bigint (of an identity: the column's type). */
  type?: 'smallint' | 'integer' | 'bigint';
  start?: string;
  increment?: string;
  min?: string;
  max?: string;
  cache?: string;
  cycle?: true;
}

export interface TableExtras {
  /** A primary key of several columns, or one that says more than its column. `definition`: where it says more. */
  primary_key?: { name: string; columns: string[]; definition?: string };
  /** By name. `definition` by pg_get_constraintdef; `references`: the table a foreign key points at. */
  constraints?: { name: string; definition: string; references?: string }[];
  /** By name. `definition`: from USING on, by pg_get_indexdef. */
  indexes?: { name: string; unique?: true; definition: string }[];
  /** `RANGE (payment_date)` */
  partition_by?: string;
  /** `bound`: `FOR VALUES FROM (1) TO (2)`, `DEFAULT`. */
  partition_of?: { table: string; bound: string };
  /** What must be there before the table, in this order. */
  needs?: Need[];
  /** Unmanaged objects that depend on the table: they stay as they are, and in no snapshot. */
  unmanaged?: { kind: 'constraint' | 'index' | 'default' | 'generated'; name: string }[];
}

/** Something beside the table that its columns use. Made where it is missing, never dropped. */
export type Need =
  | { kind: 'extension'; name: string }
  | ({ kind: 'collation'; name: string } & Collation)
  | { kind: 'enum'; name: string; labels: string[] }
  | ({ kind: 'domain'; name: string } & Domain)
  | ({ kind: 'sequence'; name: string; /** The column whose end is its end. */ owned_by?: string } & SequenceOptions);

/** As CREATE COLLATION takes it. */
export interface Collation {
  provider: 'libc' | 'icu' | 'builtin';
  /** As the provider names it; of libc absent where the two below differ. */
  locale?: string;
  lc_collate?: string;
  lc_ctype?: string;
  /** ICU's alone: texts that are spelled otherwise may be equal. */
  deterministic?: false;
  /** ICU's alone: `&a < g`. */
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
 * The extensions of PostgreSQL's own distribution that are marked trusted: a role that may create tables may install them.
 * Others, which may reach the server's files or run programs, are an administrator's to install.
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

/** A default that is a sequence's next value. */
export const NEXTVAL = /^\s*nextval\s*\(/i;

/** A default that takes a sequence's next value somewhere in it. */
export const MENTIONS_NEXTVAL = /nextval\s*\(/i;

/** Whether a column counts by the default of an older way, `nextval(…)`, and not as identity. */
export function isSerial({ extras }: { extras?: ColumnExtras | undefined }): boolean {
  return extras?.default !== undefined && NEXTVAL.test(extras.default);
}

/** Whether a column counts as identity. */
export function isIdentity(column: { has_auto_increment: boolean; extras?: ColumnExtras | undefined }): boolean {
  return column.has_auto_increment && !isSerial(column);
}
