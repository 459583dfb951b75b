/** Objects with an index need unique names, both in their table and among the tables and indexes of the schema. */
import { quoted } from '../../kernel/quoted.js';
import { isFolder, extrasOf, type CollectionNode, type State, primaryKeyOf, hasTable } from '../model/state.js';
import { indexNameOf, primaryKeyNameOf, uniqueNameOf } from '../model/constraint-names.js';
import type { Field } from '../model/model.js';
import { type Problem, type Subject, about } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';

type Kind = 'index' | 'constraint';

interface Part {
  field: string;
  member: 'is_unique' | 'is_indexed';
  name: string;
  kind: Kind;
}

/**
 * ALREADY_EXISTS, with the conflicting object in `details.taken`: within the table, and among tables and indexes,
 * including indexes that are not built yet.
 */
export function* indexNameProblems(state: State, node: CollectionNode): Resumable<Problem[]> {
  const parts: Part[] = [];
  for (const field of node.fields.values()) {
    parts.push(...partsOf(field));
    yield;
  }
  const problems = parts.length === 0 ? [] : problemsWithin(node, parts);
  // Without field indexes PostgreSQL detects all conflicts itself.
  return state.indexNames.size === 0 ? problems : [...problems, ...problemsBeyond(state, node, parts)];
}

function problemsWithin(node: CollectionNode, parts: readonly Part[]): Problem[] {
  const { collection } = node.collection;
  const taken = otherNames(node);
  return parts.flatMap(({ field, member, name, kind }) => {
    const other = taken.get(name);
    if (other === undefined) {
      taken.set(name, kind);
      return [];
    }
    const message = `${quoted(name)} is the name of another ${other} of ${quoted(collection)}; give one of them another name, in extras`;
    const details = { taken: [{ name, kind: `${other} of the table` }] };
    const subject = { kind: 'field', collection, field, member: ['schema', member] } as const;
    return [about(subject, message, { code: 'ALREADY_EXISTS', details })];
  });
}

interface Claim {
  name: string;
  subject: Subject;
  /** The collection that may own an index of that name. */
  own: string | null;
}

/** PostgreSQL would not detect conflicts with an index that is not built yet. */
function problemsBeyond(state: State, node: CollectionNode, parts: readonly Part[]): Problem[] {
  if (isFolder(node)) return [];
  return claimsOf(node, parts).flatMap(({ name, own, subject }) => {
    const other = otherThan(state, name, own);
    if (other === null) return [];
    const { kind, said } = other;
    const message = `${quoted(name)} is the name of ${said} already: choose another name`;
    return [about(subject, message, { code: 'ALREADY_EXISTS', details: { taken: [{ name, kind }] } })];
  });
}

function claimsOf(node: CollectionNode, parts: readonly Part[]): Claim[] {
  const collection = node.collection.collection;
  const claim = (name: string, subject: Subject): Claim => ({ name, own: collection, subject });
  return [
    { name: collection, own: null, subject: { kind: 'collection', collection, member: ['collection'] } },
    ...parts.map(({ field, member, name }) =>
      claim(name, { kind: 'field', collection, field, member: ['schema', member] }),
    ),
    ...[...otherNames(node)].map(([name, kind]) => claim(name, { kind, collection, name })),
  ];
}

/**
 * Returns the conflicting object: an index of a collection other than `own`, or a table with the name of an index of
 * `own`.
 */
function otherThan(state: State, name: string, own: string | null): { kind: string; said: string } | null {
  const holder = state.indexNames.get(name);
  if (holder !== undefined && holder !== own) return { kind: 'index', said: `an index of ${quoted(holder)}` };
  const hidden = own !== null && holder === own && hasTable(state, name);
  return hidden ? { kind: 'table', said: 'a table' } : null;
}

/** Constraints whose index has the same name. */
const WITH_INDEX = /^(?:UNIQUE|PRIMARY KEY|EXCLUDE)\b/i;

/** Names that do not come from fields. */
function otherNames(node: CollectionNode): Map<string, Kind> {
  const { indexes = [], constraints = [] } = extrasOf(node);
  const indexing = constraints.filter(({ definition }) => WITH_INDEX.test(definition));
  return new Map<string, Kind>([
    ...(primaryKeyOf(node).length === 0 ? [] : [[primaryKeyNameOf(node), 'constraint'] as const]),
    ...indexes.map(({ name }) => [name, 'index'] as const),
    ...indexing.map(({ name }) => [name, 'constraint'] as const),
  ]);
}

function partsOf({ collection, field, schema }: Field): Part[] {
  if (schema === null) return [];
  const column = { collection, field, schema };
  const parts: Part[] = [];
  if (schema.is_unique && !schema.is_primary_key)
    parts.push({ field, member: 'is_unique', name: uniqueNameOf(column), kind: 'constraint' });
  if (schema.is_indexed) parts.push({ field, member: 'is_indexed', name: indexNameOf(column), kind: 'index' });
  return parts;
}
