/** Statements that make sure of what is there already: they would change nothing. */
import type { Need } from '../../schema/extras.js';
import type { CollectionNode } from '../../schema/state.js';
import type { CatalogObjects } from '../catalog/objects.js';
import { createNeed } from '../ddl/create-need.js';
import { ownSequence } from '../ddl/needs.js';
import type { Sides } from './model.js';

export function withoutIdle<S extends Pick<Sides, 'statements'>>(
  sides: S,
  { collection }: CollectionNode,
  { beside, schema }: { beside: CatalogObjects; schema: string },
): S {
  const needs = collection.schema?.extras?.needs ?? [];
  const idle = new Set<string>();
  for (const need of needs) {
    if (isThere(need, beside)) for (const each of makings(need, schema, collection.collection)) idle.add(each);
    if (isOwned(need, collection.collection, beside)) idle.add(ownSequence(need, schema, collection.collection));
  }
  return { ...sides, statements: sides.statements.filter(({ sql }) => !idle.has(sql)) };
}

/** Whether other tables need it too or not. */
const makings = (need: Need, schema: string, collection: string) =>
  [need, undefined].map((old) => createNeed({ need, schema, collection, old, isCompared: true }));

function isThere({ kind, name }: Need, { extensions, sequences, collations, typeNames }: CatalogObjects): boolean {
  if (kind === 'extension') return extensions.has(name);
  if (kind === 'collation') return collations.has(name);
  return kind === 'sequence' ? sequences.has(name) : typeNames.has(name);
}

type Owned = Extract<Need, { kind: 'sequence' }> & { owned_by: string };

function isOwned(need: Need, table: string, { sequences }: CatalogObjects): need is Owned {
  if (need.kind !== 'sequence' || need.owned_by === undefined) return false;
  const owner = sequences.get(need.name)?.owner;
  return owner?.table === table && owner.column === need.owned_by;
}
