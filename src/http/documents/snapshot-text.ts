import { emptyTexts, type Texts, withCommas } from '../../kernel/bytes.js';
import { createAttachment } from '../../kernel/attachment.js';
import { collectionsInOrder } from '../../schema/model/order.js';
import { collectionDocumentOf, fieldDocumentsOf, relationDocumentsOf } from '../../schema/snapshot/documents.js';
import { SNAPSHOT_VERSION, VENDOR } from '../../schema/snapshot/snapshot.js';
import type { CollectionNode, State } from '../../schema/model/state.js';

/** Documents per text: few texts for many small collections, short texts for a wide one. */
const TOGETHER = 50;

export type SnapshotTexts = (state: State, include: (collection: string) => boolean) => Texts;

/** Produces the output of `JSON.stringify(snapshotOf(…))`. */
export function createSnapshotTexts(release: string): SnapshotTexts {
  const known = createAttachment<object, readonly string[]>();
  const head = `{"version":${SNAPSHOT_VERSION},"service":${JSON.stringify(release)},"vendor":"${VENDOR}"`;

  /** Texts are cached by `key`, the object that they represent. */
  function* kept(key: object, documents: readonly object[]): Generator<string> {
    const found = known.get(key);
    if (found !== undefined) return yield* found;
    const texts: string[] = [];
    for (let start = 0; start < documents.length; start += TOGETHER) {
      const text = documents
        .slice(start, start + TOGETHER)
        .map((each) => JSON.stringify(each))
        .join(',');
      texts.push(text);
      yield text;
    }
    known.set(key, texts);
  }

  return function* (state, include) {
    const all = yield* emptyTexts(collectionsInOrder(state));
    const nodes = all.filter((node) => include(node.collection.collection));
    const list = (textsOf: (node: CollectionNode) => Texts) => withCommas(inTurn(nodes, textsOf));
    yield `${head},"collections":[`;
    yield* list((node) => {
      const document = collectionDocumentOf(state, node);
      return kept(document, [document]);
    });
    yield '],"fields":[';
    yield* list(function* (node) {
      const documents = yield* emptyTexts(fieldDocumentsOf(state, node));
      yield* kept(documents, documents);
    });
    yield '],"relations":[';
    yield* list((node) => {
      const documents = relationDocumentsOf(state, node);
      return kept(documents, documents);
    });
    yield ']}';
  };
}

function* inTurn<T>(items: readonly T[], textsOf: (item: T) => Texts): Generator<string> {
  for (const item of items) {
    yield '';
    yield* textsOf(item);
  }
}
