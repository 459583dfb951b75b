/** The parts of a batch that can be prepared, and how they are stored in a step. */
import { hash } from 'node:crypto';
import type { Json } from '../../kernel/json.js';
import { fromStoredSql, storedSql } from '../ddl/sql.js';
import { placeText } from '../../schema/model/place.js';
import type { Preparable, Statement } from '../ddl/statement.js';

export interface Prepared {
  table: string;
  what: Preparable;
  /** Stable: planning the same change again yields the same key. */
  key: string;
}

/** Undefined if nothing of the statement can be prepared. */
export function preparedOf({ preparable: what, object }: Statement): Prepared | undefined {
  return what === undefined || object.table === null
    ? undefined
    : { table: object.table, what, key: keyOf(object.table, what) };
}

function keyOf(table: string, what: Preparable): string {
  if (what.kind === 'not null') return `not null ${placeText({ collection: table, field: what.column })}`;
  if (what.kind === 'copy')
    return `copy ${placeText({ collection: table, field: what.column.name })} ${hashOf([what.column, what.key])}`;
  return `${wordOf(what)} ${placeText({ collection: table, field: what.name })} ${hashOf(what)}`;
}

const hashOf = (what: unknown): string => hash('sha256', JSON.stringify(what)).slice(0, 8);

/** For display: `check`, `foreign key`, `index` … */
export function wordOf(what: Preparable): string {
  switch (what.kind) {
    case 'constraint':
      return what.references === null ? 'check' : 'foreign key';
    case 'key':
      return what.type === 'UNIQUE' ? 'unique' : 'primary key';
    case 'index':
      return what.unique ? 'unique index' : 'index';
    default:
      return what.kind;
  }
}

export function toStored(what: Preparable): Json {
  const { definition, after } = what as Partial<Extract<Preparable, { kind: 'key' }>>;
  return {
    ...what,
    ...(definition !== undefined && { definition: storedSql(definition) }),
    ...(after !== undefined && { after: storedSql(after) }),
  } as unknown as Json;
}

/** Accepts the output of `toStored`. */
export function fromStored(stored: Json): Preparable {
  const { definition, after, ...rest } = stored as Record<string, string[]>;
  return {
    ...rest,
    ...(definition !== undefined && { definition: fromStoredSql(definition) }),
    ...(after !== undefined && { after: fromStoredSql(after) }),
  } as unknown as Preparable;
}
