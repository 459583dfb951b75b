/** snapshot: the fold as a document, the same bytes for the same schema, and its hash. */
import { createHash } from 'node:crypto';
import { createCanonicalWriter } from '../../kernel/canonical-writer.js';
import { relationBody } from '../transition/context.js';
import type { Relation } from '../model/model.js';
import { collectionsInOrder } from '../model/order.js';
import {
  type CollectionDocument,
  type FieldDocument,
  collectionDocumentOf,
  fieldDocumentsOf,
  relationDocumentsOf,
} from './documents.js';
import type { CollectionNode, State } from '../model/state.js';
import { createAttachment } from '../../kernel/attachment.js';
import type { Resumable } from '../../kernel/resumable.js';

export const SNAPSHOT_VERSION = 1;
export const VENDOR = 'postgres';

export interface Snapshot {
  version: number;
  /** The release of the service that made it. */
  service: string;
  vendor: string;
  collections: CollectionDocument[];
  fields: FieldDocument[];
  relations: Relation[];
}

/** Documents in canonical form, joined by commas where they are one text. */
interface CanonicalTexts {
  collection: string;
  fields: readonly string[];
  relations: string;
}

/** By the fields' documents, which are others where the node is, or where its foreign keys point elsewhere. */
const canonicalOfFields = createAttachment<readonly FieldDocument[], CanonicalTexts>();
/** The collections are all that a snapshot shows: an event that changes none of them changes no hash. */
const hashOf = new WeakMap<State['collections'], { release: string; hash: string }>();

/** The schema as a document. `include`: only these collections, with their fields and the relations they hold. */
export function* snapshotOf(
  state: State,
  release: string,
  include: (collection: string) => boolean = () => true,
): Resumable<Snapshot> {
  const head = { version: SNAPSHOT_VERSION, service: release, vendor: VENDOR };
  const snapshot: Snapshot = { ...head, collections: [], fields: [], relations: [] };
  for (const node of yield* collectionsInOrder(state)) {
    if (!include(node.collection.collection)) continue;
    snapshot.collections.push(collectionDocumentOf(state, node));
    for (const field of yield* fieldDocumentsOf(state, node)) snapshot.fields.push(field);
    for (const relation of relationDocumentsOf(state, node)) snapshot.relations.push(relation);
    yield;
  }
  return snapshot;
}

/**
 * sha256, hex, of the whole snapshot in canonical form, relation ids left out: they are the log's, and two instances
 * with the same schema have the same hash. A known one is answered at once.
 */
export function* snapshotHash(state: State, release: string): Resumable<string> {
  const known = hashOf.get(state.collections);
  if (known?.release === release) return known.hash;
  const write = createCanonicalWriter();
  const texts: CanonicalTexts[] = [];
  for (const node of yield* collectionsInOrder(state)) {
    texts.push(yield* canonicalOf(state, node, write));
    yield;
  }
  const hash = createHash('sha256');
  // A whole part as one string would be megabytes of garbage; in chunks the hash is the same.
  const part = function* (name: string, chunksOf: (text: CanonicalTexts) => Iterable<string>): Resumable<void> {
    hash.update(`"${name}":[`);
    let separator = '';
    for (const text of texts) {
      for (const chunk of chunksOf(text)) {
        if (chunk === '') continue;
        hash.update(separator + chunk);
        separator = ',';
        yield;
      }
    }
    hash.update('],');
  };
  hash.update('{');
  yield* part('collections', (text) => [text.collection]);
  yield* part('fields', (text) => text.fields);
  yield* part('relations', (text) => [text.relations]);
  hash.update(`"service":${JSON.stringify(release)},"vendor":"${VENDOR}","version":${SNAPSHOT_VERSION}}`);
  const digest = hash.digest('hex');
  hashOf.set(state.collections, { release, hash: digest });
  return digest;
}

/** Fields that are written as one text: few calls for many small collections, and short stops for a wide one. */
const FIELDS_TOGETHER = 50;

function* canonicalOf(
  state: State,
  node: CollectionNode,
  write: (value: unknown) => string,
): Resumable<CanonicalTexts> {
  const documents = yield* fieldDocumentsOf(state, node);
  const known = canonicalOfFields.get(documents);
  if (known !== undefined) return known;
  const fields: string[] = [];
  for (let start = 0; start < documents.length; start += FIELDS_TOGETHER) {
    fields.push(
      documents
        .slice(start, start + FIELDS_TOGETHER)
        .map(write)
        .join(','),
    );
    yield;
  }
  const texts: CanonicalTexts = {
    collection: write(collectionDocumentOf(state, node)),
    fields,
    relations: relationDocumentsOf(state, node)
      .map((relation) => write(relationBody(relation)))
      .join(','),
  };
  canonicalOfFields.set(documents, texts);
  return texts;
}
