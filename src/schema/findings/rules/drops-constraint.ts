import { primaryKeyNameOf, uniqueNameOf } from '../../model/constraint-names.js';
import { hasColumn, hasTable, type CollectionNode, primaryKeyOf } from '../../model/state.js';
import type { PlannedEvent, Rule } from '../model.js';
import { isDeletion } from '../../model/events.js';
import { extraConstraint, fieldAfter } from './common.js';

export const dropsConstraint: Rule = {
  code: 'DROPS_CONSTRAINT',
  level: 'note',
  title: 'Constraint is dropped',
  what: 'A key, foreign key or check is dropped from an existing table and not replaced under the same name.',
  why: 'Applications can now write rows that violate it. Such rows must be corrected before the constraint can be added again.',
  safer: 'Make sure that nothing relies on it: code that expects one row, ON DELETE or ON CONFLICT.',
  aliases: { squawk: ['ban-drop-constraint'], atlas: ['CD101', 'CD102', 'CD103'] },
  statement(statement, planned) {
    const dropped = statement.drops.find(({ kind }) => kind === 'constraint');
    const { source } = statement;
    if (dropped === undefined || isDeletion(source)) return undefined;
    if (planned.after === undefined || isThere(planned.after, dropped.name) || goesWithItsTarget(planned))
      return undefined;
    const object = { kind: dropped.kind, name: dropped.name };
    return { message: `${statement.summary}: rows that violate it can be written`, field: source.field, object };
  },
};

/** True if a constraint of the name exists afterwards, because it was recreated. */
function isThere(node: CollectionNode, name: string): boolean {
  if (extraConstraint(node, name) !== undefined) return true;
  if (primaryKeyOf(node).length > 0 && primaryKeyNameOf(node) === name) return true;
  const { fields, relations } = node;
  if ([...relations.values()].some(({ schema }) => schema?.constraint_name === name)) return true;
  return [...fields.values()].some(
    (field) => hasColumn(field) && field.schema.is_unique && uniqueNameOf(field) === name,
  );
}

/** A foreign key is dropped with either of its sides. */
function goesWithItsTarget(planned: PlannedEvent): boolean {
  const { event, before, formerField, batch } = planned;
  if (event.type !== 'relation.deleted' && event.type !== 'relation.updated') return false;
  const old = before?.relations.get(formerField);
  return (
    fieldAfter(planned, event) === undefined ||
    (old?.one_collection != null && !hasTable(batch.after, old.one_collection))
  );
}
