import type { ColumnSchema } from '../../schema/model/model.js';
import { columnType } from '../../schema/normal-form/index.js';
import { type Sql, sql, typeName } from './sql.js';

/** Kinds of types whose values convert the same way. */
export type Kind = 'text' | 'number' | 'boolean' | 'temporal' | 'json' | 'other';

const KINDS = new Map<string, Kind>([
  ['text', 'text'],
  ['citext', 'text'],
  ['character varying', 'text'],
  ['character', 'text'],
  ['smallint', 'number'],
  ['integer', 'number'],
  ['bigint', 'number'],
  ['real', 'number'],
  ['double precision', 'number'],
  ['numeric', 'number'],
  ['boolean', 'boolean'],
  ['date', 'temporal'],
  ['time without time zone', 'temporal'],
  ['time with time zone', 'temporal'],
  ['timestamp without time zone', 'temporal'],
  ['timestamp with time zone', 'temporal'],
  ['json', 'json'],
  ['jsonb', 'json'],
]);

/** `other`: a type such as an enum, an array or uuid. */
export const kindOf = ({ data_type }: Pick<ColumnSchema, 'data_type'>): Kind => KINDS.get(data_type) ?? 'other';

/** Pairs of temporal types without a cast. */
const NO_CAST = new Set([
  'date>time without time zone',
  'date>time with time zone',
  'time without time zone>date',
  'time without time zone>timestamp without time zone',
  'time without time zone>timestamp with time zone',
  'time with time zone>date',
  'time with time zone>timestamp without time zone',
  'time with time zone>timestamp with time zone',
  'timestamp without time zone>time with time zone',
]);

/**
 * The expression after USING; null if the assignment converts the values. An explicit cast silently truncates text to
 * the new length; an assignment fails. For character types, the last step is therefore always the assignment.
 */
export function conversion(from: ColumnSchema, to: ColumnSchema, column: Sql): Sql | null {
  if (from.data_type === to.data_type) return null;
  const [old, now] = [kindOf(from), kindOf(to)];
  if (now === 'text') return old === 'text' ? null : sql`${column}::text`;
  const type = typeName(columnType(to));
  const special = SPECIAL.get(`${old}>${now}`);
  if (special !== undefined) return special(column, type);
  return old === 'text' || hasCast(from, to) ? sql`${column}::${type}` : sql`${column}::text::${type}`;
}

/** PostgreSQL casts only integer to boolean and back. It converts JSON with a function instead of a cast. */
const SPECIAL = new Map<string, (column: Sql, type: Sql) => Sql>([
  ['number>boolean', (column) => sql`${column} <> 0`],
  ['boolean>number', (column, type) => sql`${column}::integer::${type}`],
  ...(['number', 'boolean', 'temporal', 'other'] as const).map(
    (kind) => [`${kind}>json`, (column: Sql, type: Sql) => sql`pg_catalog.to_jsonb(${column})::${type}`] as const,
  ),
]);

/** Checks whether PostgreSQL has a cast between two types of one kind. */
export function hasCast(from: ColumnSchema, to: ColumnSchema): boolean {
  const kind = kindOf(from);
  return kind === kindOf(to) && kind !== 'other' && !NO_CAST.has(`${from.data_type}>${to.data_type}`);
}
