/*
 * Locates the rows of a plan's tables before the plan runs. They are in tables under their former names, or in the
 * trash.
 */
import { COPY } from '../../projector/ddl/trash.js';
import {
  type Sql,
  ident,
  join,
  qualified,
  sql,
  targetTable,
  trash,
  trashOf,
  integer,
  tableOfNode,
} from '../../projector/ddl/sql.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { type LogEvent, type RestoredCollection, readRestored } from '../../schema/model/events.js';
import type { Backfill } from '../../schema/model/backfill.js';
import type { Field, ColumnSchema } from '../../schema/model/model.js';
import {
  type CollectionNode,
  type Identity,
  type State,
  primaryKeyOf,
  getField,
  getRelation,
  memberKey,
} from '../../schema/model/state.js';
import { isSystemCollection } from '../../schema/model/system-collections.js';
import { createTimeSlice } from '../../kernel/event-loop.js';
import type { Warning } from '../../kernel/problem.js';
import type { Queryable } from '../../postgres/pool.js';
import { hasForeignKey, referencedColumns } from '../../projector/ddl/create-table.js';
import { TIME_TO_COUNT, queryWithin } from '../../projector/catalog/table-facts.js';

export interface PlannedEvents {
  before: State;
  after: State;
  events: readonly LogEvent[];
}

interface Rows {
  table: Sql;
  /**
   * Returns the FROM clause of a query with the rows as `m`. It joins the trash if the values of `column` are there.
   */
  from(field: string): Sql;
  /** Finds a column by its name after the plan. Undefined if the column has no values yet. */
  column(field: string): Column | undefined;
}

interface Column {
  /** The name of the column, if the table contains the value. */
  name: string;
  /** Expression for the value. */
  sql: Sql;
  isNullable: boolean;
}

interface Table {
  table: Sql;
  fields: ReadonlyMap<Identity, Field>;
}

/**
 * Finds the rows of a table by its name after the plan. Undefined for tables that the plan creates empty. The result is
 * cached, because a plan asks for each field of the table.
 */
export function rowsBefore(plan: PlannedEvents, schema: string): (collection: string) => Rows | undefined {
  const { restored, copies } = findTaken(plan);
  const former = formerNames();
  for (const event of plan.events) former.add(event);
  const tableOf = (collection: string, { identities }: CollectionNode): Table | undefined => {
    const name = former.collection(collection);
    const node = plan.before.collections.get(name);
    return node?.identities.collection === identities.collection
      ? { table: tableOfNode(node, schema), fields: indexByIdentity(node) }
      : restored.get(identities.collection);
  };
  const rowsIn = (collection: string): Rows | undefined => {
    if (isSystemCollection(collection)) return systemRows(targetTable(plan.before, collection, schema));
    const node = plan.after.collections.get(collection);
    const table = node && tableOf(collection, node);
    return table && rowsOf(node, table, copies);
  };
  const rowsByTable = new Map<string, Rows | undefined>();
  return (collection) => {
    if (!rowsByTable.has(collection)) rowsByTable.set(collection, rowsIn(collection));
    return rowsByTable.get(collection);
  };
}

function rowsOf(node: CollectionNode, { table, fields }: Table, copies: ReadonlyMap<Identity, number>): Rows {
  const identityOf = (field: string): Identity => node.identities.fields.get(field) ?? '';
  const copyOf = (field: string): Sql | undefined => {
    const position = fields.has(identityOf(field)) ? undefined : copies.get(identityOf(field));
    return position === undefined ? undefined : qualified(trash(position), COPY);
  };
  let key: Identity[] | undefined;
  return {
    table,
    from(field) {
      const copy = copyOf(field);
      if (copy === undefined) return sql`${table} m`;
      key ??= primaryKeyOf(node).map((each) => identityOf(each.field));
      const matches = key.map((each) => sql`m.${ident(fields.get(each)?.field ?? '')} = k.${ident(each)}`);
      return sql`${table} m LEFT JOIN ${copy} k ON ${join(matches, sql` AND `)}`;
    },
    column(field) {
      const there = fields.get(identityOf(field));
      if (there?.schema) {
        const { field: name, schema } = there;
        return { name, sql: sql`m.${ident(name)}`, isNullable: schema.is_nullable };
      }
      if (copyOf(field) === undefined) return undefined;
      return { name: '', sql: sql`k.${ident(identityOf(field))}`, isNullable: true };
    },
  };
}

const systemRows = (table: Sql): Rows => ({
  table,
  from: () => sql`${table} m`,
  column: (name) => ({ name, sql: sql`m.${ident(name)}`, isNullable: false }),
});

/** Returns the restored tables, and the positions under which the trash stores the values of restored columns. */
function findTaken({ events }: PlannedEvents): { restored: Map<Identity, Table>; copies: Map<Identity, number> } {
  const restored = new Map<Identity, Table>();
  const copies = new Map<Identity, number>();
  for (const event of events) {
    if (event.type === 'collection.created') {
      const taken = readRestored(event.data);
      if (taken !== undefined) restored.set(taken.identity, tableIn(taken, event.data.fields));
    } else if (event.type === 'field.created') {
      const taken = readRestored(event.data);
      if (taken !== undefined) copies.set(taken.identity, taken.position);
    }
  }
  return { restored, copies };
}

const tableIn = (taken: RestoredCollection, fields: readonly Field[]): Table => ({
  table: qualified(trashOf(taken), taken.name),
  fields: new Map(fields.map((field, index) => [taken.fields[index] ?? '', field])),
});

const indexByIdentity = ({ identities, fields }: CollectionNode): ReadonlyMap<Identity, Field> =>
  new Map([...fields].map(([name, field]) => [identities.fields.get(name) ?? '', field]));

/*
 * Counts rows that would make a plan fail: NULLs in a column that becomes NOT NULL, and rows that violate a new foreign
 * key. It counts them before the plan runs, in tables or in the trash.
 */

interface RowQuery {
  collection: string;
  field: string;
  rows: Sql;
  /** The message for one row and the message for several. */
  reasons: readonly [one: string, several: string];
}

/** Maximum number of rows to count. */
const ENOUGH = 1_000;

/** @param schema of the tables */
export async function findBlockingRows(db: Queryable, schema: string, plan: PlannedEvents): Promise<Warning[]> {
  const until = performance.now() + TIME_TO_COUNT;
  const warnings: Warning[] = [];
  const slice = createTimeSlice();
  for (const check of questionsOf(plan, rowsBefore(plan, schema))) {
    if (performance.now() > until) break;
    if (slice.isOver()) await slice.yield();
    if (check === undefined) continue;
    const { collection, field, rows, reasons } = check;
    const question = sql`SELECT count(*)::int AS count FROM (${rows} LIMIT ${integer(String(ENOUGH + 1))}) AS t`;
    const { count } = (await queryWithin<{ count: number }>(db, question, until - performance.now())) ?? { count: 0 };
    if (count === 0) continue;
    const number = count > ENOUGH ? `more than ${ENOUGH.toLocaleString('en')}` : count.toLocaleString('en');
    const message = `${collection}.${field}: ${number} ${reasons[count === 1 ? 0 : 1]}`;
    warnings.push({ code: 'ROWS_IN_THE_WAY', collection, field, message });
  }
  return warnings;
}

/** Takes one step per event. Yields undefined if the event needs no new query. */
function* questionsOf(plan: PlannedEvents, rows: RowCheck['rows']): Generator<RowQuery | undefined, void, void> {
  const checked = new Set<string>();
  for (const event of plan.events) {
    yield;
    const { collection, field } = event;
    const ask = QUESTIONS[event.type];
    if (ask === undefined || collection === null || field === null) continue;
    if (event.type === 'relation.updated' && !event.data.patch.some(({ path }) => KEY.test(path))) continue;
    const key = `${event.type.split('.')[0]} ${memberKey(collection, field)}`;
    if (checked.has(key)) continue;
    checked.add(key);
    yield ask({ plan, rows, collection, field, backfill: backfillOf(event) });
  }
}

const backfillOf = (event: LogEvent): Backfill | undefined =>
  event.type === 'field.created' || event.type === 'field.updated' ? event.data.backfill : undefined;

/** Matches the changed members that redefine a foreign key. */
const KEY = /^\/(schema|one_collection)/;

interface RowCheck {
  plan: PlannedEvents;
  rows: (collection: string) => Rows | undefined;
  collection: string;
  field: string;
  /** How the event fills rows without a value. */
  backfill: Backfill | undefined;
}

type CreateRowQuery = (check: RowCheck) => RowQuery | undefined;

const QUESTIONS: Readonly<Partial<Record<string, CreateRowQuery>>> = {
  'field.created': checkMissingValues,
  'field.updated': checkMissingValues,
  'relation.created': checkOrphans,
  'relation.updated': checkOrphans,
};

function checkMissingValues({ plan, rows, collection, field, backfill }: RowCheck): RowQuery | undefined {
  const schema = getField(plan.after, collection, field)?.schema;
  if (!schema || schema.is_nullable || schema.generation_expression !== null) return undefined;
  const there = rows(collection);
  if (there === undefined || fillsAll(backfill)) return undefined;
  const value = there.column(field);
  if (value === undefined ? fillsItself(schema) : !value.isNullable) return undefined;
  const condition = areNull([value, sourceOf(backfill, there)]);
  const reasons = [
    'row has no value for it, so it cannot be NOT NULL',
    'rows have no value for it, so it cannot be NOT NULL',
  ] as const;
  return { collection, field, rows: sql`SELECT FROM ${there.from(field)} WHERE ${condition}`, reasons };
}

/** True if the backfill gives every row a value. */
const fillsAll = (backfill: Backfill | undefined): boolean => backfill !== undefined && !('field' in backfill);

/** Returns the column from which a backfill takes values. Rows in which it is null too remain without a value. */
const sourceOf = (backfill: Backfill | undefined, rows: Rows): Column | undefined =>
  backfill !== undefined && 'field' in backfill ? rows.column(backfill.field) : undefined;

/** Columns that do not exist yet are null in all rows. */
function areNull(columns: readonly (Column | undefined)[]): Sql {
  const conditions = columns.flatMap((column) => (column ? [sql`${column.sql} IS NOT DISTINCT FROM NULL`] : []));
  return conditions.length === 0 ? sql`true` : join(conditions, sql` AND `);
}

/** True if PostgreSQL fills the column of new rows itself. */
const fillsItself = ({ default_value, has_auto_increment, extras }: ColumnSchema): boolean =>
  default_value !== null || has_auto_increment || extras?.default !== undefined;

function checkOrphans({ plan, rows, collection, field }: RowCheck): RowQuery | undefined {
  const relation = getRelation(plan.after, collection, field);
  const value = rows(collection)?.column(field);
  if (!hasForeignKey(relation) || value === undefined) return undefined;
  const [key = ''] = referencedColumns(relation, plan.after);
  const { one_collection: one } = relation;
  const target = rows(one);
  const targetKey = target?.column(key);
  // A table without rows cannot contain referenced rows.
  const orphans =
    target === undefined || targetKey === undefined
      ? sql`false`
      : sql`EXISTS (SELECT FROM ${target.table} o WHERE o.${ident(targetKey.name)} = ${value.sql})`;
  const from = (rows(collection) as Rows).from(field);
  const reasons = [`row has no referenced row in ${one}`, `rows have no referenced row in ${one}`] as const;
  return {
    collection,
    field,
    rows: join([sql`SELECT FROM ${from} WHERE ${value.sql} IS NOT NULL`, sql`NOT ${orphans}`], sql` AND `),
    reasons,
  };
}
