/** The statements of a run in which generated columns step aside (generated.ts says why). */
import { type CollectionNode, getRelation, relationsTo } from '../../schema/state.js';
import type { Statement } from '../statement.js';
import { addColumn, dropColumn } from './add-column.js';
import { alterColumn } from './alter-column.js';
import { type Change, statement } from './change.js';
import { type ColumnField, hasColumn } from './column.js';
import { hasForeignKey } from './create-table.js';
import { type FieldRun, fieldRuns, isGenerated } from './generated.js';
import { dropPrimaryKey, label, tableOf } from './parts.js';
import { addForeignKey, dropForeignKey } from './relation.js';
import { ident, sql } from './sql.js';

/** A run with its progress: which of the moved fields have a column at the moment. */
export interface MovingRun extends Pick<FieldRun, 'first' | 'last' | 'moved'> {
  /** Before the first event. */
  depart(): Statement[];
  /** For an event on a moved field. */
  step(change: Change): Statement[];
  /** After the last event. */
  arrive(): Statement[];
}

/** By the index of each of their events. */
export function movingRuns(changes: readonly Change[]): ReadonlyMap<number, MovingRun> {
  const runs = new Map<number, MovingRun>();
  for (const run of fieldRuns(changes)) {
    const present = new Set<string>();
    const moving = {
      ...run,
      depart: () => planDepartures(run, present),
      step: (change: Change) => planMoved(change, present),
      arrive: () => planArrivals(run),
    };
    for (const { index } of run.changes) runs.set(index, moving);
  }
  return runs;
}

/** One event of a run. `present`: the moved fields that have a column now; it is kept up. */
function planMoved(change: Change, present: Set<string>): Statement[] {
  const name = change.event.field ?? '';
  const old = fieldOf(change.before, change, name);
  const now = fieldOf(change.after, change, name);
  const had = present.has(name);
  if (!hasColumn(now) || isGenerated(now)) {
    present.delete(name);
    return had && hasColumn(old) ? [dropColumn(change, old)] : [];
  }
  present.add(name);
  return had && hasColumn(old)
    ? alterColumn(change as Change<'field.updated'>, withoutExpression(old), now)
    : addColumn(change, now);
}

const fieldOf = (state: Change['before'], { event }: Change, name: string) =>
  state.collections.get(event.collection)?.fields.get(name);

const withoutExpression = (field: ColumnField): ColumnField => ({
  ...field,
  schema: { ...field.schema, generation_expression: null },
});

/** Before the first event: the generated columns go, or keep their values where the next thing they are is plain. */
function planDepartures(run: FieldRun, present: Set<string>): Statement[] {
  const statements: Statement[] = [];
  for (const field of run.from.fields.values()) {
    if (!run.moved.has(field.field) || !hasColumn(field)) continue;
    if (field.schema.generation_expression === null) {
      present.add(field.field);
      continue;
    }
    const own = run.changes.find(({ event }) => event.field === field.field);
    const change = about(own ?? run.first, field.field);
    const next = own === undefined ? undefined : fieldOf(own.after, own, field.field);
    if (hasColumn(next) && !isGenerated(next)) {
      present.add(field.field);
      statements.push(dropExpression(change, field));
    } else statements.push(...depart({ ...change, before: run.first.before }, run.from, field));
  }
  return statements;
}

/** After the last event: what is generated then is added, in the order of the fields. */
function planArrivals(run: FieldRun): Statement[] {
  const statements: Statement[] = [];
  for (const field of run.to.fields.values()) {
    if (!run.moved.has(field.field) || !isGenerated(field)) continue;
    const own = run.changes.findLast(({ event }) => event.field === field.field);
    const change = { ...about(own ?? run.last, field.field), after: run.last.after };
    statements.push(
      ...addColumn(change, field),
      ...keysOn(run, field).map((relation) => addForeignKey(change, relation)),
    );
  }
  return statements;
}

const about = (change: Change, field: string): Change => ({ ...change, about: field });

function dropExpression(change: Change, field: ColumnField): Statement {
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(field.field)} DROP EXPRESSION IF EXISTS`;
  return statement(change, text, `let ${label(field)} keep its values`, { lock: 'ACCESS EXCLUSIVE' });
}

/** Foreign keys of others rest on the primary key; dropping its column must not meet them. */
function depart(change: Change, node: CollectionNode, field: ColumnField): Statement[] {
  const key = field.schema.is_primary_key;
  const inward = key ? relationsTo(change.before, field.collection).filter(hasForeignKey) : [];
  return [
    ...inward.map((relation) => dropForeignKey(change, relation)),
    ...(key ? dropPrimaryKey(change, node) : []),
    dropColumn(change, field),
  ];
}

/** The foreign keys that went with the column and are still wanted: its own, and those that point at it. */
function keysOn({ first, last, from }: FieldRun, field: ColumnField) {
  if (!isGenerated(from.fields.get(field.field))) return [];
  const own = [getRelation(last.after, field.collection, field.field)].filter(hasForeignKey);
  const others = field.schema.is_primary_key ? relationsTo(last.after, field.collection).filter(hasForeignKey) : [];
  const stood = (relation: { many_collection: string; many_field: string }): boolean =>
    hasForeignKey(getRelation(first.before, relation.many_collection, relation.many_field));
  return [...new Map([...own, ...others].map((relation) => [relation.id, relation])).values()].filter(stood);
}
