/**
 * Counts rows that would make a plan fail: NULLs in a column that becomes NOT NULL, and rows that violate a new foreign
 * key. They are counted where they are before the plan, in tables or in the trash.
 */
import { createTimeSlice, runYielding } from '../../kernel/event-loop.js';
import type { Warning } from '../../kernel/warning.js';
import type { Queryable } from '../../postgres/pool.js';
import { hasForeignKey, referencedColumns } from '../../projector/ddl/create-table.js';
import { type Sql, ident, integer, join, sql } from '../../projector/ddl/sql.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import { getField, getRelation, memberKey } from '../../schema/model/state.js';
import { TIME_TO_COUNT, askedWithin } from '../../projector/catalog/asked-within.js';
import { type Planned, type Rows, rowsBefore } from './rows-before.js';

interface Question {
  collection: string;
  field: string;
  rows: Sql;
  /** Wordings for one row and for several. */
  told: readonly [one: string, several: string];
}

/** Counting ends here. */
const ENOUGH = 1_000;

/** @param schema of the tables */
export async function rowsInTheWay(db: Queryable, schema: string, plan: Planned): Promise<Warning[]> {
  const until = performance.now() + TIME_TO_COUNT;
  const warnings: Warning[] = [];
  const slice = createTimeSlice();
  for (const asked of questionsOf(plan, await runYielding(rowsBefore(plan, schema), slice))) {
    if (performance.now() > until) break;
    if (slice.isOver()) await slice.yield();
    if (asked === undefined) continue;
    const { collection, field, rows, told } = asked;
    const question = sql`SELECT count(*)::int AS count FROM (${rows} LIMIT ${integer(String(ENOUGH + 1))}) AS t`;
    const { count } = (await askedWithin<{ count: number }>(db, question, until - performance.now())) ?? { count: 0 };
    if (count === 0) continue;
    const number = count > ENOUGH ? `more than ${ENOUGH.toLocaleString('en')}` : count.toLocaleString('en');
    const message = `${collection}.${field}: ${number} ${told[count === 1 ? 0 : 1]}`;
    warnings.push({ code: 'ROWS_IN_THE_WAY', collection, field, message });
  }
  return warnings;
}

/** One step per event. Undefined if it needs no new query. */
function* questionsOf(plan: Planned, rows: Asked['rows']): Generator<Question | undefined, void, void> {
  const asked = new Set<string>();
  for (const event of plan.events) {
    yield;
    const { collection, field } = event;
    const ask = QUESTIONS[event.type];
    if (ask === undefined || collection === null || field === null) continue;
    if (event.type === 'relation.updated' && !event.data.patch.some(({ path }) => KEY.test(path))) continue;
    const key = `${event.type.split('.')[0]} ${memberKey(collection, field)}`;
    if (asked.has(key)) continue;
    asked.add(key);
    yield ask({ plan, rows, collection, field });
  }
}

/** Changed members that redefine a foreign key. */
const KEY = /^\/(schema|one_collection)/;

interface Asked {
  plan: Planned;
  rows: (collection: string) => Rows | undefined;
  collection: string;
  field: string;
}

type Ask = (asked: Asked) => Question | undefined;

const QUESTIONS: Readonly<Partial<Record<string, Ask>>> = {
  'field.created': withoutValue,
  'field.updated': withoutValue,
  'relation.created': pointingAtNothing,
  'relation.updated': pointingAtNothing,
};

function withoutValue({ plan, rows, collection, field }: Asked): Question | undefined {
  const schema = getField(plan.after, collection, field)?.schema;
  if (!schema || schema.is_nullable || schema.generation_expression !== null) return undefined;
  const there = rows(collection);
  if (there === undefined) return undefined;
  const value = there.column(field);
  if (value === undefined ? fillsItself(schema) : !value.isNullable) return undefined;
  const condition = value === undefined ? sql`true` : sql`${value.sql} IS NOT DISTINCT FROM NULL`;
  const told = [
    "row has no value for it, and it can't be NOT NULL",
    "rows have no value for it, and it can't be NOT NULL",
  ] as const;
  return { collection, field, rows: sql`SELECT FROM ${there.from(field)} WHERE ${condition}`, told };
}

/** PostgreSQL assigns a value to new rows. */
const fillsItself = ({ default_value, has_auto_increment, extras }: ColumnSchema): boolean =>
  default_value !== null || has_auto_increment || extras?.default !== undefined;

function pointingAtNothing({ plan, rows, collection, field }: Asked): Question | undefined {
  const relation = getRelation(plan.after, collection, field);
  const value = rows(collection)?.column(field);
  if (!hasForeignKey(relation) || value === undefined) return undefined;
  const [key = ''] = referencedColumns(relation, plan.after);
  const { one_collection: one } = relation;
  const target = rows(one);
  const targetKey = target?.column(key);
  // A table without rows cannot contain referenced rows.
  const found =
    target === undefined || targetKey === undefined
      ? sql`false`
      : sql`EXISTS (SELECT FROM ${target.table} o WHERE o.${ident(targetKey.name)} = ${value.sql})`;
  const from = (rows(collection) as Rows).from(field);
  const told = [`row points at nothing in ${one}`, `rows point at nothing in ${one}`] as const;
  return {
    collection,
    field,
    rows: join([sql`SELECT FROM ${from} WHERE ${value.sql} IS NOT NULL`, sql`NOT ${found}`], sql` AND `),
    told,
  };
}
