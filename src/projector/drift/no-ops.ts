/** Removes statements that would change nothing because the object already exists. */
import type { DatabaseObject } from '../ddl/statement.js';
import type { CatalogObjects } from '../catalog/objects.js';
import { type CollectionNode, extrasOfTable } from '../../schema/model/state.js';
import type { PlannedRepair, RepairPlan } from './model.js';

/** The plan without statements whose objects exist according to `beside`. Does not modify the given plan. */
export function withoutNoOps<S extends Pick<RepairPlan, 'statements'>>(
  plan: S,
  { collection }: CollectionNode,
  { beside }: { beside: CatalogObjects },
): S {
  const isNoOp = ({ object, ensures }: PlannedRepair): boolean => {
    if (ensures === 'object') return isThere(object, beside) && !isDropped(object, { plan, collection, beside });
    return ensures === 'owner' && isOwned(object, collection, beside);
  };
  return { ...plan, statements: plan.statements.filter((each) => !isNoOp(each)) };
}

/** Ignores whether other tables need it. */
function isThere({ kind, name }: DatabaseObject, { extensions, sequences, collations, typeNames }: CatalogObjects) {
  if (kind === 'extension') return extensions.has(name);
  if (kind === 'collation') return collations.has(name);
  return kind === 'sequence' ? sequences.has(name) : typeNames.has(name);
}

/** Dropping an identity drops its sequence. Another sequence of the column may be about to get that name. */
function isDropped(
  { kind, name }: DatabaseObject,
  {
    plan,
    collection,
    beside,
  }: {
    plan: Pick<RepairPlan, 'statements'>;
    collection: CollectionNode['collection'];
    beside: CatalogObjects;
  },
): boolean {
  const owner = kind === 'sequence' ? beside.sequences.get(name)?.owner : undefined;
  if (owner?.table !== collection.collection) return false;
  return plan.statements.some(({ sql, field }) => field === owner.column && sql.includes(' DROP IDENTITY'));
}

function isOwned(
  { name }: DatabaseObject,
  { collection, schema }: CollectionNode['collection'],
  { sequences }: CatalogObjects,
): boolean {
  const need = extrasOfTable(schema).needs?.find((each) => each.kind === 'sequence' && each.name === name);
  const owner = sequences.get(name)?.owner;
  return need?.kind === 'sequence' && owner?.table === collection && owner.column === need.owned_by;
}
