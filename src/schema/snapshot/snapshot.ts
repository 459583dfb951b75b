/** A snapshot is the state as a document. Equal schemas have equal bytes and hashes. */
import { createHash } from 'node:crypto';
import { createCanonicalWriter } from '../../kernel/canonical.js';
import { relationBody } from '../transition/context.js';
import type { Relation } from '../model/model.js';
import type { SchemaObject } from '../model/object-document.js';
import { collectionsInOrder, objectsInOrder } from '../model/order.js';
import {
  type CollectionDocument,
  type FieldDocument,
  collectionDocumentOf,
  fieldDocumentsOf,
  relationDocumentsOf,
  orderObjectMembers,
} from './documents.js';
import { createRenderings } from './collection-cache.js';
import { type State, contentOf } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';

export const SNAPSHOT_VERSION = 1;
export const VENDOR = 'postgres';

export interface Snapshot {
  version: number;
  /** The release of the service that created the snapshot. */
  service: string;
  vendor: string;
  collections: CollectionDocument[];
  fields: FieldDocument[];
  relations: Relation[];
  /** Present on instances that manage objects other than tables. */
  objects?: SchemaObject[];
}

/** Cached hashes by content, so that an event that changes no collection and no object needs no new hash. */
const hashOf = new WeakMap<object, { release: string; hash: string }>();

const whole = new WeakMap<object, object>();

/** Records that a submitted snapshot is the one of this state, so that comparing the two costs nothing. */
export const noteSnapshot = (snapshot: object, state: State): void => void whole.set(snapshot, contentOf(state));

/** True only for snapshots that were recorded with `noteSnapshot`. */
export const isSnapshotOf = (snapshot: object, state: State): boolean => whole.get(snapshot) === contentOf(state);

/**
 * Returns the schema as a document.
 * @param include the collections to include, with their fields and relations
 * @param objects true on an instance that manages objects other than tables
 */
export function* snapshotOf(
  state: State,
  release: string,
  include: (collection: string) => boolean = () => true,
  objects = false,
): Resumable<Snapshot> {
  const head = { version: SNAPSHOT_VERSION, service: release, vendor: VENDOR };
  const snapshot: Snapshot = { ...head, collections: [], fields: [], relations: [] };
  for (const node of collectionsInOrder(state)) {
    if (!include(node.collection.collection)) continue;
    snapshot.collections.push(collectionDocumentOf(state, node));
    for (const field of yield* fieldDocumentsOf(state, node)) snapshot.fields.push(field);
    for (const relation of relationDocumentsOf(state, node)) snapshot.relations.push(relation);
    yield;
  }
  if (objects) snapshot.objects = objectsInOrder(state).map(orderObjectMembers);
  return snapshot;
}

/**
 * Returns a hex sha256 over the hashes of the collections. Each of these covers the canonical documents of a
 * collection. Relation ids are excluded, because they depend on the log and two instances with the same schema must
 * have the same hash.
 */
export function* snapshotHash(state: State, release: string): Resumable<string> {
  const cached = hashOf.get(contentOf(state));
  if (cached?.release === release) return cached.hash;
  const hash = createHash('sha256');
  hash.update(`{"service":${JSON.stringify(release)},"vendor":"${VENDOR}","version":${SNAPSHOT_VERSION}}`);
  hash.update((yield* collectionHashes(state)).rendered.join(''));
  // Without objects, the hash equals that of an instance that manages only tables.
  if (!state.objects.isEmpty()) hash.update(createCanonicalWriter()(objectsInOrder(state)));
  const digest = hash.digest('hex');
  hashOf.set(contentOf(state), { release, hash: digest });
  return digest;
}

/**
 * Number of fields that are written as one text. Small collections then need few calls, and large ones pause often
 * enough.
 */
const FIELDS_TOGETHER = 50;

const collectionHashes = createRenderings(function* (state, node): Resumable<string> {
  const write = createCanonicalWriter();
  const documents = yield* fieldDocumentsOf(state, node);
  const hash = createHash('sha256');
  hash.update(write(collectionDocumentOf(state, node)));
  for (let start = 0; start < documents.length; start += FIELDS_TOGETHER) {
    for (const field of documents.slice(start, start + FIELDS_TOGETHER)) hash.update(write(field));
    yield;
  }
  for (const relation of relationDocumentsOf(state, node)) hash.update(write(relationBody(relation)));
  return hash.digest('hex');
});
