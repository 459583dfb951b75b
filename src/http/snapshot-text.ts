/** The snapshot as JSON text, put together from texts that are kept as long as what they show is the same. */
import type { Texts } from '../kernel/bytes.js';
import { collectionsInOrder } from '../schema/model/order.js';
import {
  collectionDocumentOf,
  fieldDocumentsOf,
  relationDocumentsOf,
  SNAPSHOT_VERSION,
  VENDOR,
} from '../schema/snapshot/snapshot.js';
import type { CollectionNode, State } from '../schema/model/state.js';

export type SnapshotTexts = (state: State, include: (collection: string) => boolean) => Texts;

/** Writes what `JSON.stringify(snapshotOf(…))` would write. */
export function createSnapshotTexts(release: string): SnapshotTexts {
  const fieldTexts = new WeakMap<object, string>();
  const collectionTexts = new WeakMap<object, string>();
  const relationTexts = new WeakMap<object, string>();
  const head = `{"version":${SNAPSHOT_VERSION},"service":${JSON.stringify(release)},"vendor":"${VENDOR}"`;

  return function* (state, include) {
    const nodes = collectionsInOrder(state).filter((node) => include(node.collection.collection));
    const list = (textOf: (node: CollectionNode) => string) => listOf(nodes, textOf);
    yield `${head},"collections":[`;
    yield* list((node) => kept(collectionTexts, collectionDocumentOf(state, node), JSON.stringify));
    yield '],"fields":[';
    yield* list((node) => kept(fieldTexts, fieldDocumentsOf(state, node), elements));
    yield '],"relations":[';
    yield* list((node) => kept(relationTexts, relationDocumentsOf(state, node), elements));
    yield ']}';
  };
}

function kept<K extends object>(texts: WeakMap<K, string>, key: K, write: (key: K) => string): string {
  const found = texts.get(key);
  if (found !== undefined) return found;
  const text = write(key);
  texts.set(key, text);
  return text;
}

const elements = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(',');

function* listOf(nodes: readonly CollectionNode[], textOf: (node: CollectionNode) => string): Generator<string> {
  let separator = '';
  for (const node of nodes) {
    const text = textOf(node);
    yield text === '' ? '' : separator + text;
    if (text !== '') separator = ',';
  }
}
