/** Sequence options for CREATE SEQUENCE and identity columns, and statements that change them. */
import { type SequenceOptions, type SequenceType, everyOptionOf } from '../../schema/model/extras.js';
import type { ColumnField } from '../../schema/model/state.js';
import { type Sql, ident, integer, join, literal, sql, asOwner } from './sql.js';

const TYPES: Record<SequenceType, Sql> = {
  smallint: sql`AS smallint`,
  integer: sql`AS integer`,
  bigint: sql`AS bigint`,
};

/** Returns the options that are set, in an order that PostgreSQL accepts. The result is empty if none is set. */
export function sequenceOptions(options: SequenceOptions & { name?: string }): Sql {
  const { name, type, start, increment, min, max, cache, cycle } = options;
  const parts = [
    name === undefined ? null : sql`SEQUENCE NAME ${ident(name)}`,
    type === undefined ? null : TYPES[type],
    numberOption(sql`START WITH`, start),
    numberOption(sql`INCREMENT BY`, increment),
    numberOption(sql`MINVALUE`, min),
    numberOption(sql`MAXVALUE`, max),
    numberOption(sql`CACHE`, cache),
    cycle === true ? sql`CYCLE` : null,
  ];
  return join(
    parts.filter((part) => part !== null),
    sql` `,
  );
}

const numberOption = (words: Sql, value: string | undefined): Sql | null =>
  value === undefined ? null : sql`${words} ${integer(value)}`;

/**
 * Returns all options explicitly. Otherwise PostgreSQL keeps the limit of an earlier type or direction for NO MAXVALUE.
 * @param usualType the type if the options name none
 */
export function renderAllOptions(options: SequenceOptions, usualType: SequenceType = 'bigint'): Sql {
  const { cycle, ...every } = everyOptionOf(options, usualType);
  return sql`${sequenceOptions(every)} ${cycle ? sql`CYCLE` : sql`NO CYCLE`}`;
}

/**
 * Returns PL/pgSQL that changes the options of a sequence. An unused sequence restarts at its new start value, as if it
 * had been created that way. Any other continues from its current value.
 * @param sequence an expression of type regclass
 */
export function alterSequence(sequence: Sql, options: Sql): Sql {
  const unused = literal(
    sql`SELECT CASE WHEN q.is_called OR q.last_value <> s.seqstart THEN '' ELSE ' RESTART' END
      FROM pg_catalog.pg_sequence s, %s q WHERE s.seqrelid = %s`,
  );
  const alter = literal(sql`ALTER SEQUENCE %s ${options}%s`);
  return withSequence(
    sequence,
    sql`DECLARE restart text;
      BEGIN EXECUTE pg_catalog.format(${unused}, altered, altered::oid) INTO restart;
        EXECUTE pg_catalog.format(${alter}, altered, restart); END;`,
  );
}

export const withSequence = (sequence: Sql, statements: Sql): Sql => sql`DECLARE altered regclass := ${sequence};
    BEGIN IF altered IS NULL THEN RAISE EXCEPTION 'the sequence is not there' USING ERRCODE = 'undefined_object'; END IF;
      ${statements} END;`;

/**
 * Advances every sequence that feeds a column past the existing values: the identity sequence and the sequences in
 * its default. Dependencies find them, because an earlier sequence may still belong to the column and
 * pg_get_serial_sequence may return either. A sequence that is already ahead stays. Columns without numbers, such as
 * one with the default `'x' || nextval('…')`, are skipped.
 * @param table has the values, qualified
 * @param counted has the sequences: a table above, if `table` is a partition
 */
export function countPastRows(table: Sql, { field: column, schema }: ColumnField, counted = table): Sql {
  // Types such as money cannot be compared with integers. A cast from real to numeric rounds to six digits.
  const value = schema.data_type === 'real' ? sql`${ident(column)}::float8::numeric` : sql`${ident(column)}::numeric`;
  const next = literal(sql`SELECT last_value + CASE WHEN is_called THEN $1 ELSE 0 END FROM %s`);
  return asOwner(
    table,
    sql`DECLARE feeding record; next bigint; furthest numeric;
    BEGIN
      FOR feeding IN
        SELECT s.seqrelid::regclass AS sequence, s.seqincrement AS step, s.seqmin AS least, s.seqmax AS most
          FROM pg_catalog.pg_attribute a
          LEFT JOIN pg_catalog.pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
          JOIN pg_catalog.pg_depend d
            ON d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
               AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND d.deptype = 'i'
            OR d.classid = 'pg_catalog.pg_attrdef'::regclass::oid AND d.objid = f.oid
               AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
          JOIN pg_catalog.pg_sequence s
            ON s.seqrelid = CASE WHEN d.deptype = 'i' AND d.classid = 'pg_catalog.pg_class'::regclass::oid THEN d.objid ELSE d.refobjid END
          JOIN pg_catalog.pg_type t ON t.oid = a.atttypid AND t.typcategory = 'N'
         WHERE a.attrelid = ${literal(counted)}::regclass::oid AND a.attname = ${literal(column)}
      LOOP
        EXECUTE pg_catalog.format(${next}, feeding.sequence) INTO next USING feeding.step;
        IF feeding.step > 0::bigint THEN
          SELECT pg_catalog.trunc(pg_catalog.max(${value})) INTO furthest FROM ${table} WHERE ${value} <= feeding.most::numeric;
          CONTINUE WHEN furthest IS NULL OR furthest < next::numeric OR furthest < feeding.least::numeric;
        ELSE
          SELECT pg_catalog.trunc(pg_catalog.min(${value})) INTO furthest FROM ${table} WHERE ${value} >= feeding.least::numeric;
          CONTINUE WHEN furthest IS NULL OR furthest > next::numeric OR furthest > feeding.most::numeric;
        END IF;
        PERFORM pg_catalog.setval(feeding.sequence, furthest::bigint);
      END LOOP;
    END;`,
  );
}
