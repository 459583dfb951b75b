/** Finds objects that a transition creates and that existed before. */
import type { Resumable } from '../../kernel/resumable.js';
import { type CollectionNode, type Identity, UNMADE, isFolder, memberKey } from '../model/state.js';
import type { Way } from './restoring-transition.js';

/** Identities by name: of collections, and of fields by `memberKey`. */
export type ComingAgain = ReadonlyMap<string, Identity>;

/** Returns tables and columns that only the target state contains, by their names there. */
export function* comingAgain({ from, to, touched }: Omit<Way, 'options'>): Resumable<ComingAgain> {
  const before = new Map<Identity, CollectionNode>();
  const names = [...touched];
  for (const name of names) {
    const node = from.collections.get(name);
    if (node !== undefined) before.set(node.identities.collection, node);
    yield;
  }
  const found = new Map<string, Identity>();
  for (const name of names) {
    yield;
    const node = to.collections.get(name);
    if (node === undefined || isFolder(node)) continue;
    const { collection: identity } = node.identities;
    const old = before.get(identity);
    if (old === undefined && identity !== UNMADE) found.set(name, identity);
    if (old !== node) noteColumns(found, node, old);
  }
  return found;
}

function noteColumns(found: Map<string, Identity>, node: CollectionNode, before: CollectionNode | undefined): void {
  const had = new Set(before?.identities.fields.values());
  for (const { collection, field, schema } of node.fields.values()) {
    const identity = node.identities.fields.get(field) ?? UNMADE;
    if (schema === null || schema.generation_expression !== null || identity === UNMADE || had.has(identity)) continue;
    found.set(memberKey(collection, field), identity);
  }
}
