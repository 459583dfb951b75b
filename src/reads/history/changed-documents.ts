/** Pairs the documents of two states by identity, so that a rename appears as a change. */
import type { Resumable } from '../../kernel/resumable.js';
import type { Relation } from '../../schema/model/model.js';
import { type CollectionNode, type Identity, type State, memberKey, relationsTo } from '../../schema/model/state.js';
import {
  type CollectionDocument,
  type FieldDocument,
  type RelationDocument,
  keyTarget,
  relationDocument,
  collectionDocumentOf,
  fieldDocumentOf,
} from '../../schema/snapshot/documents.js';

export interface DocumentChange<T> {
  /** Null if the document is created. */
  before: T | null;
  /** Null if the document is deleted. */
  after: T | null;
}

export interface DocumentChanges {
  collections: DocumentChange<CollectionDocument>[];
  fields: DocumentChange<FieldDocument>[];
  relations: DocumentChange<RelationDocument>[];
}

export const countOf = ({ collections, fields, relations }: DocumentChanges): number =>
  collections.length + fields.length + relations.length;

/** A node with its state. */
interface Side {
  state: State;
  node: CollectionNode;
}

/** @param touched collections that events name. Relations that reference them are compared as well. */
export function* changedDocuments(from: State, to: State, touched: ReadonlySet<string>): Resumable<DocumentChanges> {
  const names = new Set(touched);
  for (const name of touched) {
    for (const state of [from, to]) for (const { many_collection: many } of relationsTo(state, name)) names.add(many);
    yield;
  }
  const sides = new Map<Identity, { before?: Side; after?: Side }>();
  const add = (name: string, state: State, which: 'before' | 'after'): void => {
    const node = state.collections.get(name);
    if (node === undefined) return;
    const { collection } = node.identities;
    sides.set(collection, { ...sides.get(collection), [which]: { state, node } });
  };
  for (const name of names) {
    add(name, from, 'before');
    add(name, to, 'after');
    yield;
  }
  const changes: DocumentChanges = { collections: [], fields: [], relations: [] };
  for (const { before, after } of sides.values()) yield* compare(before, after, changes);
  return changes;
}

function* compare(before: Side | undefined, after: Side | undefined, into: DocumentChanges): Resumable<void> {
  if (before?.node.collection !== after?.node.collection) {
    into.collections.push({ before: collectionOf(before), after: collectionOf(after) });
  }
  yield;
  for (const pair of pairs(fieldsOf(before), fieldsOf(after))) {
    yield;
    if (isSame(pair, before, after)) continue;
    into.fields.push({ before: fieldIn(before, pair.old), after: fieldIn(after, pair.now) });
  }
  for (const pair of pairs(relationsOf(before), relationsOf(after))) {
    yield;
    if (isSame(pair, before, after)) continue;
    into.relations.push({ before: relationIn(before, pair.old), after: relationIn(after, pair.now) });
  }
}

/** Something that its node finds by name. */
interface Named<T> {
  name: string;
  value: T;
}

interface Pair<T> {
  old: Named<T> | undefined;
  now: Named<T> | undefined;
}

function pairs<T>(before: ReadonlyMap<Identity, Named<T>>, after: ReadonlyMap<Identity, Named<T>>): Pair<T>[] {
  const gone = [...before].filter(([identity]) => !after.has(identity));
  return [
    ...gone.map(([, old]) => ({ old, now: undefined })),
    ...[...after].map(([identity, now]) => ({ old: before.get(identity), now })),
  ];
}

/** The documents of both ends show the target of a foreign key, so they may change while the field itself does not. */
const isSame = <T>({ old, now }: Pair<T>, before: Side | undefined, after: Side | undefined): boolean =>
  old?.value === now?.value && targetOf(before, old) === targetOf(after, now);

function targetOf(side: Side | undefined, found: Named<unknown> | undefined): string {
  if (side === undefined || found === undefined) return '';
  const target = keyTarget(side.state, side.node, found.name);
  return target === null ? '' : memberKey(target.table, target.column ?? '');
}

const fieldsOf = (side: Side | undefined) =>
  new Map(
    [...(side?.node.fields ?? [])].map(([name, value]) => [
      side?.node.identities.fields.get(name) ?? name,
      { name, value },
    ]),
  );

/** A relation's identity is the event that created it. */
const relationsOf = (side: Side | undefined): Map<Identity, Named<Relation>> =>
  new Map([...(side?.node.relations ?? [])].map(([name, value]) => [String(value.id), { name, value }]));

const collectionOf = (side: Side | undefined): CollectionDocument | null =>
  side === undefined ? null : collectionDocumentOf(side.state, side.node);

function fieldIn(side: Side | undefined, found: Named<unknown> | undefined): FieldDocument | null {
  const field = found && side?.node.fields.get(found.name);
  return side === undefined || field === undefined ? null : fieldDocumentOf(side.state, side.node, field);
}

function relationIn(side: Side | undefined, found: Named<Relation> | undefined): RelationDocument | null {
  if (side === undefined || found === undefined) return null;
  return relationDocument(found.value, keyTarget(side.state, side.node, found.name));
}
