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

/** All of a sequence's, said aloud: of a NO MAXVALUE PostgreSQL keeps what an earlier type or direction had. */
export function everyOption(options: SequenceOptions): Sql {
  const { type = 'bigint', increment = '1', cache = '1' } = options;
  const usual = usualBounds(type, increment);
  const { min = usual.min, max = usual.max, start = usualStart({ increment, min, max }) } = options;
  const cycle = options.cycle === true ? sql`CYCLE` : sql`NO CYCLE`;
  return sql`${sequenceOptions({ type, start, increment, min, max, cache })} ${cycle}`;
}

interface Bounds {
  min: string;
  max: string;
}

const isUpwards = (increment: string): boolean => !increment.startsWith('-');

/** Of a sequence that says none. */
export function usualBounds(type: string, increment: string): Bounds {
  const { min, max } = RANGES[type] ?? RANGE_OF_BIGINT;
  return isUpwards(increment) ? { min: '1', max } : { min, max: '-1' };
}

export const usualStart = ({ increment, min, max }: Bounds & { increment: string }): string =>
  isUpwards(increment) ? min : max;

const RANGE_OF_BIGINT: Bounds = { min: '-9223372036854775808', max: '9223372036854775807' };

const RANGES: Readonly<Record<string, Bounds>> = {
  smallint: { min: '-32768', max: '32767' },
  integer: { min: '-2147483648', max: '2147483647' },
};
