/**
 * Checks that a shared object is defined equally in all tables that use it, that a sequence has only one owner column,
 * and that a table lists what it uses.
 */
import { quoteName } from '../../kernel/text.js';
import { type Need, isIdentity } from '../model/extras.js';
import { isSameNeed, needLabel, needsOfNode, ownerOf } from '../model/order.js';
import { type Problem, problemAbout } from '../../kernel/problem.js';
import type { Field } from '../model/model.js';
import { type CollectionNode, type State, extrasOf } from '../model/state.js';
import { extensionsWith } from '../sql-text/allowed-names.js';
import { checkSqlText } from '../sql-text/check-sql-text.js';
import { type TextContext, parseTypeText, textContextOf } from '../sql-text/expression.js';
import { type SqlText, textsOfField, textsOfTable } from '../sql-text/texts.js';
import { withExtras } from '../transition/cascade.js';

interface OwnedNeed {
  need: Need;
  collection: string;
  /** The collection whose column owns the sequence. */
  owner?: string;
}

/**
 * Checks touched collections. Others are only read if a touched one has needs.
 * @param from the state before the change
 */
export function needProblems(state: State, touched: ReadonlySet<string>, from: State): Problem[] {
  return [...removedProblems(state, touched, from), ...definitionProblems(state, touched, from)];
}

function definitionProblems(state: State, touched: ReadonlySet<string>, from: State): Problem[] {
  const holders = [...touched].flatMap((name) => {
    const node = state.collections.get(name);
    return node !== undefined && needsOfNode(node).length > 0 ? [node] : [];
  });
  if (holders.length === 0) return [];
  const owners = new Map<string, OwnedNeed>();
  for (const [name, node] of state.collections) if (!touched.has(name)) note(owners, node);
  return holders.flatMap((node) => {
    const before = from.collections.get(node.collection.collection);
    const problems = [...problemsOf(node, owners), ...ownerProblems(node, before)];
    note(owners, node);
    return problems;
  });
}

function note(owners: Map<string, OwnedNeed>, node: CollectionNode): void {
  const { collection } = node.collection;
  for (const need of needsOfNode(node)) {
    const label = needLabel(need);
    const owned = owners.get(label) ?? { need, collection };
    owners.set(label, owned);
    if (ownerOf(need) !== undefined) owned.owner ??= collection;
  }
}

function problemsOf(node: CollectionNode, owners: ReadonlyMap<string, OwnedNeed>): Problem[] {
  const { collection } = node.collection;
  const seen = new Set<string>();
  return needsOfNode(node).flatMap((need, index) => {
    const label = needLabel(need);
    const fault = seen.has(label) ? 'is listed twice' : faultOf(need, owners.get(label));
    seen.add(label);
    if (fault === null) return [];
    const member = ['schema', 'extras', 'needs', index];
    const subject = { kind: 'need', collection, name: need.name, member } as const;
    return [problemAbout(subject, `${need.kind} ${quoteName(need.name)} ${fault}`)];
  });
}

function ownerProblems(node: CollectionNode, before: CollectionNode | undefined): Problem[] {
  const { collection } = node.collection;
  return needsOfNode(node).flatMap((need, index) => {
    const fault = ownerFault(need, node, before);
    if (fault === null) return [];
    const member = ['schema', 'extras', 'needs', index, 'owned_by'];
    const subject = { kind: 'need', collection, name: need.name, member } as const;
    return [problemAbout(subject, `${need.kind} ${quoteName(need.name)} ${fault}`)];
  });
}

/**
 * Returns why a column cannot own a sequence. A generated or identity column may keep a sequence that it already owns,
 * but cannot get a new one.
 */
function ownerFault(need: Need, node: CollectionNode, before: CollectionNode | undefined): string | null {
  const owner = ownerOf(need);
  if (owner === undefined) return null;
  const schema = node.fields.get(owner)?.schema ?? null;
  if (schema === null) return `must be owned by column ${quoteName(owner)}, which does not exist`;
  if (before === undefined || (schema.generation_expression === null && !isIdentity(schema))) return null;
  const had = needsOfNode(before).some((each) => needLabel(each) === needLabel(need) && ownerOf(each) === owner);
  return had ? null : `must be owned by column ${quoteName(owner)}, which generates its values without it`;
}

function faultOf(need: Need, owner: OwnedNeed | undefined): string | null {
  if (owner === undefined) return null;
  if (!isSameNeed(need, owner.need))
    return `differs from the definition in ${quoteName(owner.collection)}. Every table must define it in the same way`;
  if (ownerOf(need) === undefined || owner.owner === undefined) return null;
  return `is already owned by a column of ${quoteName(owner.owner)}`;
}

/* A table must list every need that it uses. Without the need, the table itself would remain, but the SQL export, a
   rebuild and a restore would fail. */

function removedProblems(state: State, touched: ReadonlySet<string>, from: State): Problem[] {
  return [...touched].flatMap((name) => {
    const node = state.collections.get(name);
    const before = needsOfNode(from.collections.get(name));
    if (before.length === 0 || !node?.collection.schema) return [];
    const kept = new Set(needsOfNode(node).map(needLabel));
    return before.filter((need) => !kept.has(needLabel(need))).flatMap((need) => removedProblem(need, node));
  });
}

function removedProblem(need: Need, node: CollectionNode): Problem[] {
  const owner = ownerOf(need);
  // PostgreSQL drops the sequence with the column that owns it. If other objects use the sequence, PostgreSQL rejects
  // this and names them.
  if (owner !== undefined && !node.fields.has(owner)) return [];
  const user = userOf(need, node);
  if (user === null) return [];
  const { collection } = node.collection;
  const member = ['schema', 'extras', 'needs'];
  const subject = { kind: 'need', collection, name: need.name, member } as const;
  return [problemAbout(subject, `must contain ${need.kind} ${quoteName(need.name)}, because ${user} uses it`)];
}

/** Describes a part of the table that is valid only with the need. Null if there is none. */
function userOf(need: Need, node: CollectionNode): string | null {
  const isUsed = usesNeed(need, node);
  const field = [...node.fields.values()].find((each) => isUsedBy(need, each) || textsOfField(each).some(isUsed));
  if (field !== undefined) return `field ${quoteName(field.field)}`;
  const extras = extrasOf(node);
  const domain = extras.needs?.find((each) => each.kind === 'domain' && isTypeOf(need, each.type));
  if (domain !== undefined) return `domain ${quoteName(domain.name)}`;
  return textsOfTable(extras).some(isUsed) ? 'a constraint, an index or a partition of the table' : null;
}

const isUsedBy = (need: Need, { schema }: Field): boolean =>
  schema !== null &&
  (isTypeOf(need, schema.data_type) || (need.kind === 'collation' && schema.extras?.collation === need.name));

function isTypeOf({ kind, name }: Need, type: string): boolean {
  const used = parseTypeText(type)?.name ?? type;
  if (kind === 'extension') return extensionsWith('types', used).includes(name);
  return (kind === 'enum' || kind === 'domain') && used === name;
}

/** @returns a function that tells if PostgreSQL can evaluate a text only with the need */
function usesNeed(need: Need, node: CollectionNode): (text: SqlText) => boolean {
  let contexts: Record<'without' | 'with', TextContext> | undefined;
  return ({ kind, text }) => {
    contexts ??= { without: textContextOf(node), with: textContextOf(withNeed(node, need)) };
    return checkSqlText(kind, text, contexts.without) !== null && checkSqlText(kind, text, contexts.with) === null;
  };
}

function withNeed(node: CollectionNode, need: Need): CollectionNode {
  const { schema } = node.collection;
  if (schema === null) return node;
  const needs = [...needsOfNode(node), need];
  return { ...node, collection: { ...node.collection, schema: withExtras(schema, { ...schema.extras, needs }) } };
}
