/** Plans the objects that must exist before a table, and the sequences that its columns own. */
import { extrasOf, type CollectionNode } from '../../schema/model/state.js';
import { type Need, isIdentity } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needsOfNode, ownerOf } from '../../schema/model/needs.js';
import type { DatabaseObject } from './statement.js';
import type { Change } from './change.js';
import { type Costs, type Step, step } from './step.js';
import { addsLabels, changesWhatIsThere, createNeed } from './create-need.js';
import { type Sql, ident, qualified, sql } from './sql.js';

/** Plans each need once per batch. */
export function createNeeds(change: Change, needs: readonly Need[]): Step[] {
  const { collection } = change.event;
  return needs.flatMap((need) => {
    const { old, isUnchanged } = change.needs.record(need, collection);
    if (isUnchanged) return [];
    const { isCompared } = change.needs;
    const text = createNeed({ need, schema: change.schema, collection, old, isCompared });
    const costs: Costs = {
      object: needObject(need),
      ...(changesWhatIsThere({ need, schema: change.schema, old }) ? { drops: droppedChecks(need, old) } : ENSURES),
      ...costsOf(need, old),
      ...(addsLabels({ need, old }) && { commit: 'before it is used' }),
    };
    return [step(text, `make sure of ${need.kind} ${need.name}`, costs)];
  });
}

const ENSURES = { ensures: 'object' } as const;

const needObject = ({ kind, name }: Pick<Need, 'kind' | 'name'>): DatabaseObject => ({ kind, name, table: null });

/** Domain checks that were removed or changed. */
function droppedChecks(now: Need, old: Need | undefined): DatabaseObject[] {
  if (old?.kind !== 'domain' || now.kind !== 'domain') return [];
  const gone = (old.checks ?? []).filter((check) => !now.checks?.some((each) => jsonEqual(check, each)));
  return gone.map(({ name }) => ({ kind: 'constraint', name, table: null }));
}

/** PostgreSQL scans the rows of all tables that use the domain. */
function costsOf(need: Need, old: Need | undefined): Costs {
  const isChanged = old?.kind === 'domain' && !jsonEqual(old, need);
  return isChanged ? { lock: 'SHARE', may_fail: true, lock_entries: 20 } : { lock: 'none', lock_entries: 5 };
}

/** Sequences owned by a column. */
export function ownSequences(change: Change, needs: readonly Need[]): Step[] {
  const { collection } = change.event;
  return needs.flatMap((need) => {
    if (need.kind !== 'sequence' || need.owned_by === undefined) return [];
    const text = ownSequence({ name: need.name, owned_by: need.owned_by }, change.schema, collection);
    const summary = `give sequence ${need.name} to ${collection}.${need.owned_by}`;
    return [step(text, summary, { object: needObject(need), ensures: 'owner', lock: 'none' })];
  });
}

/** Sequences that a column owned and that no column owns any more. */
export function freedSequences(change: Change, old: readonly Need[], now: readonly Need[]): Step[] {
  const names = new Set(now.flatMap((need) => (ownerOf(need) === undefined ? need.name : [])));
  const freed = old.filter((need) => ownerOf(need) !== undefined && names.has(need.name));
  if (freed.length === 0) return [];
  const all = [...change.after.collections.values()].flatMap(needsOfNode);
  const owned = new Set(all.flatMap((need) => (ownerOf(need) === undefined ? [] : need.name)));
  return freed.flatMap(({ name }) => {
    if (owned.has(name)) return [];
    const text = sql`ALTER SEQUENCE ${qualified(change.schema, name)} OWNED BY NONE`;
    const object = needObject({ kind: 'sequence', name });
    return [step(text, `take sequence ${name} from its column`, { object, lock: 'none' })];
  });
}

/** A sequence cannot be assigned to its column before the column exists, or while the column is being recreated. */
export function isReady(need: Need, node: CollectionNode | undefined): boolean {
  return need.kind !== 'sequence' || need.owned_by === undefined || mayOwn(node, need.owned_by);
}

function mayOwn(node: CollectionNode | undefined, column: string): boolean {
  const schema = node?.fields.get(column)?.schema ?? null;
  return schema !== null && schema.generation_expression === null && !isIdentity(schema);
}

/**
 * The needs that waited for the column: see isReady. They may have been created and dropped with the previous column.
 */
export function needsOfColumn({ event, before, after }: Change, field: string): Need[] {
  const [old, node] = [before, after].map(({ collections }) => collections.get(event.collection));
  if (mayOwn(old, field) || !mayOwn(node, field)) return [];
  const needs = extrasOf(node).needs ?? [];
  return needs.filter((need) => need.kind === 'sequence' && need.owned_by === field);
}

function ownSequence(need: { name: string; owned_by: string }, schema: string, collection: string): Sql {
  const column = sql`${qualified(schema, collection)}.${ident(need.owned_by)}`;
  return sql`ALTER SEQUENCE ${qualified(schema, need.name)} OWNED BY ${column}`;
}
