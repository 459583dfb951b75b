/**
 * Groups events that affect generated columns. PostgreSQL rejects dropping or retyping a column that a generated
 * column reads, and needs all inputs to exist when it creates one. The events of a batch do not follow such an order.
 * Generated columns that change, or whose inputs change, are therefore dropped before the first event on a field of
 * their collection. They are added again after the last event, with all dependent objects. Their values are computed,
 * so nothing is lost. (SET EXPRESSION would avoid this only from PostgreSQL 17 on, and only for the expression.)
 */
import type { Resumable } from '../../../kernel/resumable.js';
import { type ColumnField, hasColumn, extrasOf, type CollectionNode } from '../../../schema/model/state.js';
import { columnType } from '../../../schema/normal-form/index.js';
import type { Field } from '../../../schema/model/model.js';
import { type Change, fieldNameOf } from '../change.js';
import { isRename } from '../../../schema/model/events.js';
import { expressionColumns } from '../../../schema/sql-text/columns.js';

type FieldChange = Change<'field.created' | 'field.updated' | 'field.deleted'>;

/** Consecutive events on the fields of one collection, and the generated columns that must be recreated. */
export interface FieldRun {
  changes: readonly FieldChange[];
  first: FieldChange;
  last: FieldChange;
  from: CollectionNode;
  to: CollectionNode;
  /** Names of the fields that are planned as a whole instead of event by event. */
  recreated: ReadonlySet<string>;
}

/** Checks whether PostgreSQL computes the column. Identity columns do not count. */
export function isGenerated(field: Field | undefined): field is ColumnField {
  return hasColumn(field) && field.schema.generation_expression !== null;
}

/** The runs of a batch that recreate generated columns. */
export function* fieldRuns(changes: readonly Change[]): Resumable<FieldRun[]> {
  const runs: FieldRun[] = [];
  const gathered = new Map<string, FieldChange[]>();
  const close = (collection: string): void => {
    const run = toRun(gathered.get(collection) ?? []);
    if (run !== null) runs.push(run);
    gathered.delete(collection);
  };
  for (const change of changes) {
    const { collection } = change.event;
    yield;
    if (isFieldChange(change)) {
      const run = gathered.get(collection) ?? [];
      gathered.set(collection, run);
      run.push(change);
    } else if (isRename(change.event)) [...gathered.keys()].forEach(close);
    else if (gathered.size > 0) [collection, ...pointedAt(change)].forEach(close);
  }
  for (const collection of gathered.keys()) {
    close(collection);
    yield;
  }
  return runs;
}

/**
 * The tables that foreign keys of the event's table reference. Their keys must exist when those foreign keys change.
 */
function pointedAt({ event, before, after }: Change): string[] {
  const nodes = [before, after].flatMap(({ collections }) => collections.get(event.collection) ?? []);
  const relation = (node: CollectionNode) => node.relations.get(fieldNameOf(event))?.one_collection ?? [];
  return nodes
    .flatMap((node) => [
      relation(node),
      (extrasOf(node).constraints ?? []).flatMap(({ references }) => references ?? []),
    ])
    .flat();
}

const isFieldChange = (change: Change): change is FieldChange =>
  change.event.type.startsWith('field.') && !isRename(change.event);

function toRun(changes: readonly FieldChange[]): FieldRun | null {
  const [first, last] = [changes[0], changes.at(-1)];
  const from = first?.before.collections.get(first.event.collection);
  const to = last?.after.collections.get(last.event.collection);
  if (first === undefined || last === undefined || from === undefined || to === undefined) return null;
  const generated = everGenerated(changes, from);
  if (generated.size === 0) return null;
  const disturbed = disturbedColumns(changes, generated);
  const recreated = new Set([...generated].filter((name) => !stays(name, { from, to }, disturbed)));
  return recreated.size === 0 ? null : { changes, first, last, from, to, recreated };
}

/** Fields that are generated columns at any time during the run. */
function everGenerated(changes: readonly FieldChange[], from: CollectionNode): Set<string> {
  const names = new Set([...from.fields.values()].filter(isGenerated).map(({ field }) => field));
  for (const { event, after } of changes) {
    const name = fieldNameOf(event);
    if (isGenerated(after.collections.get(event.collection)?.fields.get(name))) names.add(name);
  }
  return names;
}

interface Span {
  from: CollectionNode;
  to: CollectionNode;
}

/** Columns that an event replaces, removes or retypes, even if the end result is the same. */
function disturbedColumns(changes: readonly FieldChange[], generated: ReadonlySet<string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { event, before, after } of changes) {
    const name = fieldNameOf(event);
    const [old, now] = [before, after].map(({ collections }) => collections.get(event.collection)?.fields.get(name));
    const same = hasColumn(old) && hasColumn(now) && columnType(old.schema) === columnType(now.schema);
    if (!same) names.add(name);
    else if (generated.has(name) && !isComputedAlike(old, now)) names.add(name);
  }
  return names;
}

const isComputedAlike = (old: ColumnField, now: ColumnField): boolean =>
  old.schema.generation_expression === now.schema.generation_expression &&
  old.schema.extras?.virtual === now.schema.extras?.virtual;

function stays(name: string, { from, to }: Span, disturbed: ReadonlySet<string>): boolean {
  const field = to.fields.get(name);
  if (disturbed.has(name) || !isGenerated(field) || !isGenerated(from.fields.get(name))) return false;
  return [...expressionColumns(field.schema.generation_expression ?? '')].every((column) => !disturbed.has(column));
}
