/** The options of a sequence, as CREATE SEQUENCE and identity columns take them. */
import type { SequenceOptions } from '../../schema/extras.js';
import { type Sql, ident, integer, join, sql } from './sql.js';

const TYPES: Record<NonNullable<SequenceOptions['type']>, Sql> = {
  smallint: sql`AS smallint`,
  integer: sql`AS integer`,
  bigint: sql`AS bigint`,
};

export function sequenceOptions(options: SequenceOptions & { name?: string }): Sql {
  const { name, type, start, increment, min, max, cache, cycle } = options;
  const parts = [
    name === undefined ? null : sql`SEQUENCE NAME ${ident(name)}`,
    type === undefined ? null : TYPES[type],
    numbered(sql`START WITH`, start),
    numbered(sql`INCREMENT BY`, increment),
    numbered(sql`MINVALUE`, min),
    numbered(sql`MAXVALUE`, max),
    numbered(sql`CACHE`, cache),
    cycle === true ? sql`CYCLE` : null,
  ];
  return join(
    parts.filter((part) => part !== null),
    sql` `,
  );
}

const numbered = (words: Sql, value: string | undefined): Sql | null =>
  value === undefined ? null : sql`${words} ${integer(value)}`;
