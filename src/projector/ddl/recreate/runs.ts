/**
 * Generated columns in a batch. PostgreSQL refuses to drop a column that a generated one reads, or to change its type,
 * and a generated column can only be made when all that it reads is there. The events of a batch know no such order. So
 * generated columns that change, or read something that changes, are recreated: they are dropped before the first event on a
 * field of their collection and added again after the last one, with all dependent objects. Their values are computed,
 * so nothing is lost. (SET EXPRESSION would spare this only from PostgreSQL 17 on, and only for the expression.)
 */
import type { Resumable } from '../../../kernel/resumable.js';
import { type ColumnField, hasColumn, extrasOf, type CollectionNode } from '../../../schema/model/state.js';
import { columnType } from '../../../schema/normal-form/index.js';
import type { Field } from '../../../schema/model/model.js';
import { type Change, fieldNameOf } from '../change.js';
import { isRename } from '../../../schema/model/events.js';
import { expressionColumns } from '../../../schema/sql-text/columns.js';

type FieldChange = Change<'field.created' | 'field.updated' | 'field.deleted'>;

/** Successive events on the fields of one collection, and its generated columns that can't stay where they are. */
export interface FieldRun {
  changes: readonly FieldChange[];
  first: FieldChange;
  last: FieldChange;
  /** Before the first and after the last. */
  from: CollectionNode;
  to: CollectionNode;
  /** Names of the fields that are planned as a whole, not event by event. */
  recreated: ReadonlySet<string>;
}

/** Whether there is a field whose column PostgreSQL computes; identity is not that. */
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

/** The tables that foreign keys of the event's table point at: what these rest on must be there when they change. */
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

/** Fields that are a generated column at some moment of the run. */
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

/** Columns that an event makes another column, or none, or of another type, whatever they are at the end. */
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
