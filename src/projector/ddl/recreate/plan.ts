/** Plans a run in which generated columns are recreated (runs.ts explains why). */
import type { Resumable } from '../../../kernel/resumable.js';
import { type ColumnField, hasColumn, getRelation } from '../../../schema/model/state.js';
import type { Statement } from '../statement.js';
import { addColumn, dropColumn } from '../add-column.js';
import { alterColumn } from '../alter-column.js';
import { type Change, fieldNameOf } from '../change.js';
import { type Step, statementsOf, step } from '../step.js';
import { hasForeignKey } from '../create-table.js';
import { type FieldRun, fieldRuns, isGenerated } from './runs.js';
import type { DeferredForeignKey } from '../deferred-foreign-keys.js';
import { label, tableOf } from '../parts.js';
import { addForeignKey } from '../relation.js';
import { ident, sql } from '../sql.js';
import { type Recreation, recreation } from './dependents.js';

/** A run with its progress: which recreated fields currently have a column. */
export interface RecreatedRun extends Pick<FieldRun, 'first' | 'last' | 'recreated'>, Pick<Recreation, 'recreatesKey'> {
  /** Statements before the first event. */
  drop(): Statement[];
  /** Statements for an event on a recreated field. */
  step(change: Change): Statement[];
  /** Statements after the last event. */
  recreate(): Statement[];
  /** Dropped foreign keys, which are recreated last. */
  references: readonly DeferredForeignKey[];
}

/** Keyed by the index of each of their events. */
export function* recreatedRuns(changes: readonly Change[]): Resumable<ReadonlyMap<number, RecreatedRun>> {
  const runs = new Map<number, RecreatedRun>();
  for (const run of yield* fieldRuns(changes)) {
    yield;
    const existing = new Set<string>();
    const parts = recreation(run, dropped(run), added(run));
    const recreated = {
      ...run,
      recreatesKey: parts.recreatesKey,
      references: parts.references,
      drop: () => [...parts.drop(), ...planDrops(run, existing)],
      step: (change: Change) => statementsOf(change, planRecreated(change, existing)),
      recreate: () => [...planAdditions(run, parts), ...parts.recreate()],
    };
    for (const { index } of run.changes) runs.set(index, recreated);
  }
  return runs;
}

/** Recreated columns: they existed before and still exist at the end. */
function dropped({ changes, recreated, from, to }: FieldRun): Set<string> {
  const isDropped = (field: ColumnField): boolean => {
    const steps = changes.filter(({ event }) => event.field === field.field);
    const [next, ...later] = steps.map((change) => fieldOf(change.after, change, field.field));
    const keeps = isGenerated(field) ? hasColumn(next) && !isGenerated(next) : true;
    return !keeps || [next, ...later].some((each) => isGenerated(each));
  };
  const fields = [...from.fields.values()].filter(hasColumn);
  return new Set(
    fields
      .filter((field) => recreated.has(field.field) && hasColumn(to.fields.get(field.field)) && isDropped(field))
      .map(({ field }) => field),
  );
}

const added = ({ recreated, to }: FieldRun): Set<string> =>
  new Set([...recreated].filter((name) => isGenerated(to.fields.get(name))));

function planRecreated(change: Change, existing: Set<string>): Step[] {
  const name = fieldNameOf(change.event);
  const old = fieldOf(change.before, change, name);
  const now = fieldOf(change.after, change, name);
  const had = existing.has(name);
  if (!hasColumn(now) || isGenerated(now)) {
    existing.delete(name);
    return had && hasColumn(old) ? [dropColumn(change, old)] : [];
  }
  existing.add(name);
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

/** Before the first event: drops generated columns. A column that becomes plain keeps its values. */
function planDrops(run: FieldRun, existing: Set<string>): Statement[] {
  const statements: Statement[] = [];
  for (const field of run.from.fields.values()) {
    if (!run.recreated.has(field.field) || !hasColumn(field)) continue;
    if (field.schema.generation_expression === null) {
      existing.add(field.field);
      continue;
    }
    const own = run.changes.find(({ event }) => event.field === field.field);
    const change = about(own ?? run.first, field.field);
    const next = own === undefined ? undefined : fieldOf(own.after, own, field.field);
    if (hasColumn(next) && !isGenerated(next)) {
      existing.add(field.field);
      statements.push(...statementsOf(change, [dropExpression(change, field)]));
    } else statements.push(...statementsOf(change, [dropColumn({ ...change, before: run.first.before }, field)]));
  }
  return statements;
}

/** After the last event: adds the columns that are generated then, in field order. */
function planAdditions(run: FieldRun, { recreatesKey }: Recreation): Statement[] {
  const statements: Statement[] = [];
  for (const field of run.to.fields.values()) {
    if (!run.recreated.has(field.field) || !isGenerated(field)) continue;
    const own = run.changes.findLast(({ event }) => event.field === field.field);
    const change = { ...about(own ?? run.last, field.field), after: run.last.after, recreatesKey };
    const keys = keyOf(run, field).map((relation) => addForeignKey(change, relation));
    statements.push(...statementsOf(change, [...addColumn(change, field), ...keys]));
  }
  return statements;
}

const about = (change: Change, field: string): Change => ({ ...change, about: field });

function dropExpression(change: Change, field: ColumnField): Step {
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(field.field)} DROP EXPRESSION IF EXISTS`;
  return step(text, `let ${label(field)} keep its values`, { lock: 'ACCESS EXCLUSIVE' });
}

/** The foreign key that was dropped with the column and is still wanted. */
function keyOf({ first, last, from }: FieldRun, { collection, field }: ColumnField) {
  if (!isGenerated(from.fields.get(field))) return [];
  const stood = hasForeignKey(getRelation(first.before, collection, field));
  return [getRelation(last.after, collection, field)].filter(hasForeignKey).filter(() => stood);
}
