/**
 * Properties of adopted tables beyond fields and relations. They are stored so that a snapshot creates the same table
 * elsewhere. All SQL has the form that PostgreSQL writes (pg_get_*def) and is parsed again on input. Names without a
 * schema are those of the default schema, and names of tables are those of their collections.
 */
import { z } from 'zod';

const text = z.string();
const yes = z.literal(true);

/**
 * Options of CREATE SEQUENCE. Options with the default value are absent. Numbers are strings, because they have 64
 * bits.
 */
const sequenceOptions = z.strictObject({
  /** The type of the sequence. Absent means bigint or, for an identity, the type of the column. */
  type: z.enum(['smallint', 'integer', 'bigint']).optional(),
  start: text.optional(),
  increment: text.optional(),
  min: text.optional(),
  max: text.optional(),
  cache: text.optional(),
  cycle: yes.optional(),
});
export type SequenceOptions = z.infer<typeof sequenceOptions>;

export const columnExtras = z.strictObject({
  /** Digits of fractional seconds, for time and timestamp types. */
  precision: z.int().min(0).max(6).optional(),
  /** Name of a collation, written as in SQL: `"C"`, `public."de-x"`. */
  collation: text.optional(),
  /**
   * SQL of a default that `default_value` cannot express, such as `nextval(…)` of a serial column. `default_value` is
   * then null. Also used for the spelling of a value that PostgreSQL would write differently.
   */
  default: text.optional(),
  /** Marks an identity column that accepts no explicit values. */
  identity: z.literal('always').optional(),
  /** Marks a generated column that is not stored. */
  virtual: yes.optional(),
  /** The sequence of an identity column, if its options differ from the defaults. */
  sequence: z.strictObject({ name: text.optional(), ...sequenceOptions.shape }).optional(),
  /** Names of constraints and indexes that differ from the service's names. */
  primary_key_name: text.optional(),
  unique_name: text.optional(),
  index_name: text.optional(),
  not_null_name: text.optional(),
});
export type ColumnExtras = z.infer<typeof columnExtras>;

const named = z.strictObject({ name: text, definition: text });

/** Options of CREATE COLLATION. */
const collation = z.strictObject({
  provider: z.enum(['libc', 'icu', 'builtin']),
  /** The locale in the spelling of the provider. Absent for libc if the two members below differ. */
  locale: text.optional(),
  lc_collate: text.optional(),
  lc_ctype: text.optional(),
  /** Only for ICU. False means that strings with different spellings may be equal. */
  deterministic: z.literal(false).optional(),
  /** Tailoring rules, only for ICU: `&a < g`. */
  rules: text.optional(),
});
export type Collation = z.infer<typeof collation>;

const domain = z.strictObject({
  type: text,
  collation: text.optional(),
  not_null: yes.optional(),
  default: text.optional(),
  checks: z.array(named).optional(),
});
export type Domain = z.infer<typeof domain>;

/** The schema in PostgreSQL. Absent for the default schema. */
const needSchema = text.optional();

/**
 * An object outside the table that its columns use. The service creates the object if it is missing, and never drops
 * it.
 */
const need = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('extension'), name: text }),
  z.strictObject({ kind: z.literal('collation'), schema: needSchema, name: text, ...collation.shape }),
  z.strictObject({ kind: z.literal('enum'), schema: needSchema, name: text, labels: z.array(text) }),
  z.strictObject({ kind: z.literal('domain'), schema: needSchema, name: text, ...domain.shape }),
  z.strictObject({
    kind: z.literal('sequence'),
    schema: needSchema,
    name: text,
    /** The column that owns the sequence. */
    owned_by: text.optional(),
    ...sequenceOptions.shape,
  }),
]);
export type Need = z.infer<typeof need>;

export const tableExtras = z.strictObject({
  /**
   * A primary key that has several columns, or options that its column cannot express. `definition` contains such
   * options.
   */
  primary_key: z.strictObject({ name: text, columns: z.array(text), definition: text.optional() }).optional(),
  /**
   * Constraints, sorted by name. `definition` is from pg_get_constraintdef. `references` is the table that a foreign
   * key references.
   */
  constraints: z.array(named.extend({ references: text.optional() })).optional(),
  /** Indexes, sorted by name. `definition` is the part of pg_get_indexdef from USING on. */
  indexes: z.array(named.extend({ unique: yes.optional() })).optional(),
  /** The text after PARTITION BY: `RANGE (payment_date)`. */
  partition_by: text.optional(),
  /** The parent table and the bound: `FOR VALUES FROM (1) TO (2)`, `DEFAULT`. */
  partition_of: z.strictObject({ table: text, bound: text }).optional(),
  /** Objects that must exist before the table, in this order. */
  needs: z.array(need).optional(),
  /** Unmanaged objects that depend on the table. They stay unchanged and appear in no snapshot. */
  unmanaged: z
    .array(z.strictObject({ kind: z.enum(['constraint', 'index', 'default', 'generated']), name: text }))
    .optional(),
});
export type TableExtras = z.infer<typeof tableExtras>;

/**
 * Extensions of PostgreSQL's distribution that are marked trusted. A role that may create tables may install them. All
 * other extensions can access the server's files or run programs, so an administrator must install them.
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

/** Matches a default that consists of a nextval call. */
export const NEXTVAL = /^\s*nextval\s*\(/i;

/** Matches a default that contains a nextval call. */
export const MENTIONS_NEXTVAL = /nextval\s*\(/i;

/** True if a column is auto-increment because of a `nextval(…)` default, the older alternative to an identity. */
export function isSerial({ extras }: { extras?: ColumnExtras | undefined }): boolean {
  return extras?.default !== undefined && NEXTVAL.test(extras.default);
}

/** True if a column is an identity. */
export function isIdentity(column: { has_auto_increment: boolean; extras?: ColumnExtras | undefined }): boolean {
  return column.has_auto_increment && !isSerial(column);
}
