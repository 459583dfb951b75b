/** Plans the repair of one table: statements for the database, events for the log. */
import { Draft } from '../../schema/transition/draft.js';
import { dropCollection } from '../../schema/transition/cascade.js';
import type { Relation } from '../../schema/model/model.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { transition } from '../../schema/transition/transition.js';
import type { Converted } from '../adopt/convert.js';
import { planBatch } from '../ddl/plan.js';
import type { Statement } from '../ddl/statement.js';
import { repairKey } from './composite-key.js';
import type { PlannedRepair, Repair, RepairPlan } from './model.js';
import { runToEnd } from '../../kernel/resumable.js';

export interface TableToRepair {
  /** The actual table, in normal form. */
  all: Converted;
  /** Without the objects that are dropped first. */
  rest: Converted;
  statements: RepairPlan['statements'];
}

/** Plans the repair of a table that exists and differs. */
export function planForDifferent(state: State, node: CollectionNode, found: TableToRepair, schema: string): RepairPlan {
  const { collection } = node.collection;
  const there = nodeOf(node, found.rest);
  const key = repairKey(node, there, schema);
  const from = withNode(state, key?.there ?? there);
  const { statements } = runToEnd(planBatch(from, runToEnd(transition(from, state, [collection])), schema));
  return {
    statements: [
      ...found.statements,
      ...(key?.before ?? []),
      ...statements.map((each) => toRepair(each, each.source.field)),
      ...(key?.after ?? []),
    ],
    events: runToEnd(transition(state, withNode(state, nodeOf(node, found.all)), [collection])),
  };
}

/** Plans the repair of a missing table. */
export function planForMissing(state: State, node: CollectionNode, schema: string): RepairPlan {
  const { collection } = node.collection;
  const draft = new Draft(state);
  dropCollection(draft, state, collection);
  const without = { ...state, collections: state.collections.delete(collection) };
  const back = runToEnd(transition(without, state, [collection]));
  return {
    statements: runToEnd(planBatch(without, back, schema)).statements.map((each) => toRepair(each, null)),
    events: runToEnd(transition(state, runToEnd(draft.toState()), draft.touched)),
  };
}

const withNode = (state: State, node: CollectionNode): State => ({
  ...state,
  collections: state.collections.set(node.collection.collection, node),
});

/** Keeps what the catalog does not store: aliases, and relations without a foreign key. */
function nodeOf(known: CollectionNode, found: Converted): CollectionNode {
  const fields = new Map(found.fields.map((field) => [field.field, field]));
  for (const field of known.fields.values()) if (field.schema === null) fields.set(field.field, field);
  const relations = new Map<string, Relation>();
  for (const relation of known.relations.values()) {
    if (fields.has(relation.many_field)) relations.set(relation.many_field, { ...relation, schema: null });
  }
  for (const relation of found.relations) {
    const id = relations.get(relation.many_field)?.id ?? 0;
    relations.set(relation.many_field, { id, ...relation });
  }
  return { identities: known.identities, collection: found.collection, fields, relations };
}

/**
 * Statements for one field or for the table as a whole, and events for those and `others`.
 * @param sequences that the field needs; they precede its own statements
 */
export function repairOf(
  plan: RepairPlan,
  field: string | undefined,
  { others = [], sequences = [] }: { others?: readonly (string | null)[]; sequences?: readonly string[] } = {},
): Repair {
  const place = field ?? null;
  const isNeeded = ({ object }: PlannedRepair) => object.kind === 'sequence' && sequences.includes(object.name);
  return repairOfAll({
    statements: plan.statements.filter((each) => each.field === place || (each.field === null && isNeeded(each))),
    events: plan.events.filter((each) => each.field === place || others.includes(each.field)),
  });
}

export function repairOfAll({ statements, events }: RepairPlan): Repair {
  return {
    database: statements.map(({ sql, summary, drops }) => ({ sql, summary, drops })),
    log: events.map(({ type, collection, field, data }) => ({ type, collection, field, data })),
  };
}

function toRepair({ sql, summary, object, ensures, ...each }: Statement, field: string | null): PlannedRepair {
  const drops = each.loses_data || each.drops.length > 0;
  return { sql, summary, drops, field, object, ...(ensures !== undefined && { ensures }) };
}
