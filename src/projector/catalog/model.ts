/** What PostgreSQL's catalog says about tables, as plain data. Definitions are PostgreSQL's own words (pg_get_*). */

export interface CatalogTable {
  name: string;
  kind: 'table' | 'partitioned';
  comment: string | null;
  /** The table this one is a partition of, and its bounds. */
  partitionOf: { schema: string; table: string; bound: string } | null;
  /** `RANGE (payment_date)`, for a partitioned table. */
  partitionKey: string | null;
  /** The extension that it belongs to. */
  extension: string | null;
  /** Tables it inherits from without being a partition. */
  inherits: { schema: string; table: string }[];
  /** By position. */
  columns: CatalogColumn[];
  /** By name. */
  constraints: CatalogConstraint[];
  /** By name; those that serve a constraint included. */
  indexes: CatalogIndex[];
  /** What was made for change requests (src/projector/online), which is in none of the others. */
  prepared: CatalogPrepared[];
}

export interface CatalogPrepared {
  kind: 'constraint' | 'index';
  name: string;
  /** The uuid of the change request. */
  request: string;
}

export interface CatalogColumn {
  name: string;
  /** By format_type: `character varying(255)`, `integer[]`. */
  type: string;
  /** Declared dimensions of an array; 0 for anything else. */
  dimensions: number;
  /** The type's kind: base, composite, domain, enum, multirange, pseudo, range. */
  typeKind: 'b' | 'c' | 'd' | 'e' | 'm' | 'p' | 'r';
  /** Whether the type comes with PostgreSQL itself. */
  builtIn: boolean;
  nullable: boolean;
  /** The expression of DEFAULT; null where there is none, and for generated columns. */
  default: string | null;
  identity: 'always' | 'by default' | null;
  /** The expression of a generated column. */
  generated: { expression: string; kind: 'stored' | 'virtual' } | null;
  /** Where it isn't the type's own: `"de-x-icu"`, with its schema unless that is pg_catalog. */
  collation: string | null;
  comment: string | null;
  /** The sequence it owns, by identity or OWNED BY: schema and name. */
  sequence: { schema: string; name: string } | null;
  /** Whether the column comes from the table that this one is a partition of or inherits from. */
  inherited: boolean;
  /** Its NOT NULL as a constraint, `more`: `NO INHERIT`, `NOT VALID`; null where it has none, and before PostgreSQL 18. */
  notNull: { name: string; more: string | null } | null;
}

export type ForeignKeyAction = 'NO ACTION' | 'RESTRICT' | 'CASCADE' | 'SET NULL' | 'SET DEFAULT';

export interface CatalogConstraint {
  name: string;
  kind: 'primary key' | 'unique' | 'foreign key' | 'check' | 'exclusion';
  /** In the constraint's order. Empty for a check on no column. */
  columns: string[];
  /** By pg_get_constraintdef: `FOREIGN KEY (a) REFERENCES b(id) ON DELETE CASCADE`. */
  definition: string;
  validated: boolean;
  deferrable: boolean;
  initiallyDeferred: boolean;
  /** Whether it came from the table that this one is a partition of or inherits from. */
  inherited: boolean;
  /** For foreign keys. */
  references: {
    /** null: the service's own. */
    schema: string | null;
    table: string;
    columns: string[];
    onUpdate: ForeignKeyAction;
    onDelete: ForeignKeyAction;
    match: 'simple' | 'full' | 'partial';
  } | null;
}

export interface CatalogIndex {
  name: string;
  /** Key columns in order; null where the key is an expression. */
  columns: (string | null)[];
  /** Columns of INCLUDE. */
  included: string[];
  method: string;
  unique: boolean;
  primary: boolean;
  /** false: left behind by a build that failed, or being built. */
  valid: boolean;
  predicate: string | null;
  hasExpressions: boolean;
  /** By pg_get_indexdef. */
  definition: string;
  /** The constraint that it serves. */
  constraint: string | null;
  /** Whether it belongs to an index of the partitioned table. */
  inherited: boolean;
  /** The definition from USING on: all but names, which other databases choose. */
  tail: string;
  /** One column with btree and nothing else. */
  plain: boolean;
}
