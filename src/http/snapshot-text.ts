/** The snapshot as JSON text, put together from texts that are kept as long as what they show is the same. */
import { collectionsInOrder } from '../schema/model/order.js';
import { shownCollection, shownFields, shownRelations, SNAPSHOT_VERSION, VENDOR } from '../schema/snapshot/snapshot.js';
import type { State } from '../schema/model/state.js';

export type SnapshotText = (state: State, include: (collection: string) => boolean) => string;

/** Writes what `JSON.stringify(snapshotOf(…))` would write. */
export function createSnapshotText(release: string): SnapshotText {
  const fieldTexts = new WeakMap<object, string>();
  const collectionTexts = new WeakMap<object, string>();
  const relationTexts = new WeakMap<object, string>();
  const head = `{"version":${SNAPSHOT_VERSION},"service":${JSON.stringify(release)},"vendor":"${VENDOR}"`;

  return (state, include) => {
    const nodes = collectionsInOrder(state).filter((node) => include(node.collection.collection));
    const collections = nodes.map((node) => kept(collectionTexts, shownCollection(state, node), JSON.stringify));
    const fields = nodes.map((node) => kept(fieldTexts, shownFields(state, node), elements));
    const relations = nodes.map((node) => kept(relationTexts, shownRelations(state, node), elements));
    return `${head},"collections":[${list(collections)}],"fields":[${list(fields)}],"relations":[${list(relations)}]}`;
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

const list = (texts: readonly string[]): string => texts.filter((text) => text !== '').join(',');
