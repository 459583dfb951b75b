/**
 * Checks that a shared object is defined equally in all tables that use it, and that a sequence has only one owner
 * column.
 */
import { quoted } from '../../kernel/text.js';
import { type Need, isIdentity } from '../model/extras.js';
import { isSameNeed, needLabel, needsOfNode, ownerOf } from '../model/order.js';
import { type Problem, about } from '../../kernel/problem.js';
import type { CollectionNode, State } from '../model/state.js';

interface OwnedNeed {
  need: Need;
  collection: string;
  /** The collection that contains its owner column. */
  owner?: string;
}

/**
 * Checks touched collections. Others are only read if a touched one has needs.
 * @param from the state before the change
 */
export function needProblems(state: State, touched: ReadonlySet<string>, from: State): Problem[] {
  const holders = [...touched].flatMap((name) => {
    const node = state.collections.get(name);
    return node !== undefined && needsOfNode(node).length > 0 ? [node] : [];
  });
  if (holders.length === 0) return [];
  const known = new Map<string, OwnedNeed>();
  for (const [name, node] of state.collections) if (!touched.has(name)) note(known, node);
  return holders.flatMap((node) => {
    const before = from.collections.get(node.collection.collection);
    const problems = [...problemsOf(node, known), ...ownerProblems(node, before)];
    note(known, node);
    return problems;
  });
}

function note(known: Map<string, OwnedNeed>, node: CollectionNode): void {
  const { collection } = node.collection;
  for (const need of needsOfNode(node)) {
    const label = needLabel(need);
    const found = known.get(label) ?? { need, collection };
    known.set(label, found);
    if (ownerOf(need) !== undefined) found.owner ??= collection;
  }
}

function problemsOf(node: CollectionNode, known: ReadonlyMap<string, OwnedNeed>): Problem[] {
  const { collection } = node.collection;
  const seen = new Set<string>();
  return needsOfNode(node).flatMap((need, index) => {
    const label = needLabel(need);
    const fault = seen.has(label) ? 'is listed twice' : faultOf(need, known.get(label));
    seen.add(label);
    if (fault === null) return [];
    const member = ['schema', 'extras', 'needs', index];
    const subject = { kind: 'need', collection, name: need.name, member } as const;
    return [about(subject, `${need.kind} ${quoted(need.name)} ${fault}`)];
  });
}

function ownerProblems(node: CollectionNode, before: CollectionNode | undefined): Problem[] {
  const { collection } = node.collection;
  return needsOfNode(node).flatMap((need, index) => {
    const fault = ownerFault(need, node, before);
    if (fault === null) return [];
    const member = ['schema', 'extras', 'needs', index, 'owned_by'];
    const subject = { kind: 'need', collection, name: need.name, member } as const;
    return [about(subject, `${need.kind} ${quoted(need.name)} ${fault}`)];
  });
}

/** A column with other generated values may own an existing sequence, but cannot get a new one. */
function ownerFault(need: Need, node: CollectionNode, before: CollectionNode | undefined): string | null {
  const owner = ownerOf(need);
  if (owner === undefined) return null;
  const schema = node.fields.get(owner)?.schema ?? null;
  if (schema === null) return `must be owned by column ${quoted(owner)}, which does not exist`;
  if (before === undefined || (schema.generation_expression === null && !isIdentity(schema))) return null;
  const had = needsOfNode(before).some((each) => needLabel(each) === needLabel(need) && ownerOf(each) === owner);
  return had ? null : `must be owned by column ${quoted(owner)}, which generates its values without it`;
}

function faultOf(need: Need, known: OwnedNeed | undefined): string | null {
  if (known === undefined) return null;
  if (!isSameNeed(need, known.need))
    return `differs from the definition in ${quoted(known.collection)}. Every table must define it in the same way`;
  if (ownerOf(need) === undefined || known.owner === undefined) return null;
  return `is already owned by a column of ${quoted(known.owner)}`;
}
