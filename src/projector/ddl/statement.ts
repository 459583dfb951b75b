/** A statement as a record: what runs, why, and what it costs. Only `ddl/sql.ts` can make a `Sql`. */
import type { EventType } from '../../schema/model/events.js';
import type { Need } from '../../schema/model/extras.js';
import type { Sql } from './sql.js';

/** The strongest lock the statement takes on a table that may hold rows, as PostgreSQL names it. */
export type TableLock = 'none' | 'SHARE UPDATE EXCLUSIVE' | 'SHARE' | 'SHARE ROW EXCLUSIVE' | 'ACCESS EXCLUSIVE';

/** A table that was there before, and the strongest lock taken on it. */
export interface LockedTable {
  table: string;
  lock: Exclude<TableLock, 'none'>;
}

/** Something in the database that has a name. */
export interface DatabaseObject {
  kind: 'table' | 'column' | 'constraint' | 'index' | Need['kind'];
  name: string;
  /** The table that it is part of; null for a table, and for what is part of none. */
  table: string | null;
}

/**
 * What of a statement can be prepared outside its transaction, on the table of its object, so that it needs no long lock
 * (src/projector/online). `name`: what it is called in the end.
 */
export type Preparable =
  | { kind: 'not null'; column: string }
  /** `definition`: what follows the name of the table. */
  | { kind: 'index'; name: string; unique: boolean; definition: Sql }
  /** A primary key or a unique constraint, by its index; `after`: what follows the name of that. */
  | { kind: 'key'; name: string; type: 'PRIMARY KEY' | 'UNIQUE'; definition: Sql; after: Sql }
  /** `definition`: what follows the name of the constraint. `references`: the table that a foreign key points at. */
  | { kind: 'constraint'; name: string; references: string | null; definition: Sql }
  /** The values of a column that is dropped, with the primary key of their rows. `position`: where in the trash they go. */
  | { kind: 'copy'; column: CopiedColumn; key: readonly CopiedColumn[]; position: number };

/** A column of a table, and what it is called in the copy. */
export interface CopiedColumn {
  name: string;
  identity: string;
}

export interface Statement {
  sql: Sql;
  /** What it is for: the thing that it makes, changes or drops. */
  object: DatabaseObject;
  /** What is gone afterwards: its object, or parts of it. */
  drops: readonly DatabaseObject[];
  /** Where the object is as said already, it does nothing: it makes sure of a sequence, or of the column that has it. */
  ensures?: 'object' | 'owner';
  /** One phrase for people: `create table articles`. */
  summary: string;
  lock: TableLock;
  /** Whom it locks: the tables that others may be using. */
  locks: readonly LockedTable[];
  /** Rows, columns or values are gone afterwards. */
  loses_data: boolean;
  /** Until when what is gone can come back from the trash; absent: never. ISO 8601. */
  kept_until?: string;
  /** PostgreSQL rewrites the whole table while it holds the lock. */
  rewrites_table: boolean;
  /** Existing rows can make it fail. */
  may_fail: boolean;
  /** Entries of PostgreSQL's shared lock table that it holds until the commit: an upper estimate. */
  lock_entries: number;
  /** How it can be prepared; undefined: it can't, or it isn't needed. */
  preparable?: Preparable;
  /** What it makes can be used only in a later transaction. */
  commit?: 'before it is used';
  /** The event it comes from: its index in the batch, and what it is about. */
  source: { event: number; type: EventType; collection: string; field: string | null };
}
