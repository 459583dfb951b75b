export interface CatalogTable {
  /** The name of its collection. Outside the default schema, an unmanaged table is named `schema.table`. */
  name: string;
  /** The schema in PostgreSQL. Undefined for the default schema. */
  schema: string | undefined;
  /** The name in PostgreSQL. */
  table: string;
  comment: string | null;
  /** The parent table and the partition bounds. For a table of a managed schema, see `references`. */
  partitionOf: { schema: string; table: string; bound: string } | null;
  /** For a partitioned table: `RANGE (payment_date)`. */
  partitionKey: string | null;
  /** The extension that owns the table. */
  extension: string | null;
  /** Ordered by position. */
  columns: CatalogColumn[];
  /** Ordered by name. */
  constraints: CatalogConstraint[];
  indexes: CatalogIndex[];
  /**
   * Objects that online changes created for change requests (src/projector/online). They are in none of the other
   * lists.
   */
  prepared: CatalogPrepared[];
}

export interface CatalogPrepared {
  kind: 'constraint' | 'index';
  name: string;
  /** The UUID of the change request. */
  request: string;
}

export interface CatalogColumn {
  name: string;
  /** From format_type: `character varying(255)`, `integer[]`. */
  type: string;
  /** True if the type is built into PostgreSQL. */
  builtIn: boolean;
  nullable: boolean;
  /** The DEFAULT expression; null for generated columns and columns without a default. */
  default: string | null;
  identity: 'always' | 'by default' | null;
  /** The generation expression. */
  generated: { expression: string; kind: 'stored' | 'virtual' } | null;
  /** Set if the collation differs from that of the type: `"de-x-icu"`, qualified unless it is in pg_catalog. */
  collation: string | null;
  comment: string | null;
  /**
   * The sequence that the column owns through identity or OWNED BY. `key` is its `locationKey`, if that is not its
   * name.
   */
  sequence: { schema: string; name: string; key?: string } | null;
  /**
   * The NOT NULL constraint. `parentName` is the name of the parent's constraint from which it is inherited; with several
   * parents, the equal one if there is one. `more` is `NO INHERIT` or `NOT VALID`. Null if there is none, and before
   * PostgreSQL 18.
   */
  notNull: { name: string; parentName: string | null; more: string | null } | null;
}

export type ForeignKeyAction = 'NO ACTION' | 'RESTRICT' | 'CASCADE' | 'SET NULL' | 'SET DEFAULT';

export interface CatalogConstraint {
  name: string;
  kind: 'primary key' | 'unique' | 'foreign key' | 'check' | 'exclusion';
  /** Listed in constraint order. Empty for a check that uses no column. */
  columns: string[];
  /** From pg_get_constraintdef: `FOREIGN KEY (a) REFERENCES b(id) ON DELETE CASCADE`. */
  definition: string;
  validated: boolean;
  deferrable: boolean;
  initiallyDeferred: boolean;
  references: {
    /**
     * Null for the service's own schema. The default schema for all managed schemas, in which `table` is the name of the
     * collection.
     */
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
  /** Key columns in order. Null for an expression. */
  columns: (string | null)[];
  method: string;
  unique: boolean;
  /** False after a failed build and during a build. */
  valid: boolean;
  constraint: string | null;
  /** The definition of pg_get_indexdef from USING on. It leaves out names, which differ between databases. */
  tail: string;
  /** True for a btree index on one column without further options. */
  plain: boolean;
}
