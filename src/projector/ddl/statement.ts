import type { EventType } from '../../schema/model/events.js';
import type { Need } from '../../schema/model/extras.js';
import type { Sql } from './sql.js';

/** The strongest lock that the statement takes on a table that may hold rows, named as in PostgreSQL. */
type TableLock = 'none' | 'SHARE UPDATE EXCLUSIVE' | 'SHARE' | 'SHARE ROW EXCLUSIVE' | 'ACCESS EXCLUSIVE';

/** A table that existed before, and the strongest lock on it. */
export interface LockedTable {
  table: string;
  lock: Exclude<TableLock, 'none'>;
}

/** A named object in the database. */
export interface DatabaseObject {
  kind: 'table' | 'column' | 'constraint' | 'index' | Need['kind'];
  name: string;
  /** The table that the object belongs to; null for a table and for standalone objects. */
  table: string | null;
}

/**
 * The part of a statement that can be prepared outside its transaction, so that it needs no long lock
 * (src/projector/online). `name`: its final name.
 */
export type Preparable =
  | { kind: 'not null'; column: string }
  /** `definition`: the text after the table name. */
  | { kind: 'index'; name: string; unique: boolean; definition: Sql }
  /** A primary key or unique constraint that uses a prepared index; `after`: the text after the index name. */
  | { kind: 'key'; name: string; type: 'PRIMARY KEY' | 'UNIQUE'; definition: Sql; after: Sql }
  /** `definition`: the text after the constraint name. `references`: the table that a foreign key references. */
  | { kind: 'constraint'; name: string; references: string | null; definition: Sql }
  /** The values of a dropped column, with the primary key of their rows. `position`: their position in the trash. */
  | { kind: 'copy'; column: CopiedColumn; key: readonly CopiedColumn[]; position: number };

/** A column of a table, and its name in the copy. */
export interface CopiedColumn {
  name: string;
  identity: string;
}

export interface Statement {
  sql: Sql;
  /** The object that the statement creates, changes or drops. */
  object: DatabaseObject;
  /** Objects that no longer exist afterwards: its object or parts of it. */
  drops: readonly DatabaseObject[];
  /**
   * Set if the statement does nothing when the object already matches. It then ensures a sequence, or the column that
   * owns it.
   */
  ensures?: 'object' | 'owner';
  /** A phrase for display: `create table articles`. */
  summary: string;
  lock: TableLock;
  /** The tables that the statement locks and that other sessions may use. */
  locks: readonly LockedTable[];
  /** The statement loses rows, columns or values. */
  loses_data: boolean;
  kept_until?: string;
  /** PostgreSQL rewrites the whole table under the lock. */
  rewrites_table: boolean;
  /** Existing rows can make the statement fail. */
  may_fail: boolean;
  /** Entries in PostgreSQL's shared lock table until the commit: an upper estimate. */
  lock_entries: number;
  /** How the statement can be prepared; undefined if that is not possible or not needed. */
  preparable?: Preparable;
  /** Its objects can be used only in a later transaction. */
  commit?: 'before it is used';
  /** The event that it comes from: its index in the batch, and its subject. */
  source: { event: number; type: EventType; collection: string; field: string | null };
}
