import { expect } from 'chai';
import fc from 'fast-check';
import { snapshotBytes } from '../../../src/http/documents/snapshot-pieces.js';
import { createCollectionTexts, documentOf } from '../../../src/http/documents/texts.js';
import type { CollectionDocument } from '../../../src/http/deps.js';
import { COLLECTION_META_DEFAULTS } from '../../../src/schema/model/model.js';
import { collectionsInOrder } from '../../../src/schema/model/order.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { collectionDocumentOf, fieldDocumentsOf } from '../../../src/schema/snapshot/documents.js';
import { createRenderings } from '../../../src/schema/snapshot/collection-cache.js';
import type { State } from '../../../src/schema/model/state.js';
import { schemaState } from '../../support/arbitraries.js';
import { accept } from '../../support/given.js';
import { withRelations } from '../../support/library.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const includeAll = () => true;

const textOf = (state: State, include: (name: string) => boolean): string =>
  String(runToEnd(snapshotBytes(state, '1.0.0', { include })).body);

const system: CollectionDocument = {
  collection: 'service_users',
  meta: { collection: 'service_users', system: true, ...COLLECTION_META_DEFAULTS },
  schema: null,
};

/** Applies one change after another. Each must be visible. */
function* history(): Generator<State> {
  let state = withRelations();
  yield state;
  const steps = [
    () => accept(state, 'update-collection', { collection: 'authors', body: { meta: { note: 'who' } } }),
    () => accept(state, 'create-collection', { body: { collection: 'Z', schema: null }, concurrentIndexes: false }),
    () => accept(state, 'create-collection', { body: { collection: 'a', schema: {} }, concurrentIndexes: false }),
    () => accept(state, 'rename-field', { collection: 'authors', field: 'id', body: { to: 'key' } }),
    () => accept(state, 'delete-collection', { collection: 'tags' }),
    () => accept(state, 'delete-collection', { collection: 'authors' }),
    () => accept(state, 'update-collection', { collection: 'Z', body: { meta: { hidden: true } } }),
  ];
  for (const step of steps) yield (state = step());
}

describe('cached texts', () => {
  it('the text of the snapshot equals the output of JSON.stringify after every change', () => {
    for (const state of history()) {
      expect(textOf(state, includeAll)).equal(JSON.stringify(runToEnd(snapshotOf(state, '1.0.0'))));
      const only = (name: string) => name.startsWith('a');
      expect(textOf(state, only)).equal(JSON.stringify(runToEnd(snapshotOf(state, '1.0.0', only))));
    }
  });

  it('are rendered again for exactly the collections that a change concerns', () => {
    const rendered: string[] = [];
    const follow = createRenderings(function* (state, node) {
      const { collection } = node.collection;
      rendered.push(collection);
      return JSON.stringify([collectionDocumentOf(state, node), yield* fieldDocumentsOf(state, node)]);
    });
    const before = withRelations();
    const concerned = (state: State) => {
      rendered.length = 0;
      runToEnd(follow(state));
      return rendered.toSorted();
    };
    expect(concerned(before)).deep.equal([...before.collections.keys()].toSorted());
    const note = accept(before, 'update-collection', { collection: 'authors', body: { meta: { note: 'who' } } });
    expect(concerned(note)).deep.equal(['authors']);
    const key = accept(note, 'rename-field', { collection: 'authors', field: 'id', body: { to: 'key' } });
    expect(concerned(key)).include.members(['articles', 'authors']).not.include('tags');
    expect(concerned(key)).deep.equal([]);
  });

  it('are the same for any state, regardless of what was rendered before', () => {
    const renderings = () =>
      createRenderings(function* (state, node) {
        return JSON.stringify([collectionDocumentOf(state, node), yield* fieldDocumentsOf(state, node)]);
      });
    fc.assert(
      fc.property(fc.array(schemaState, { minLength: 2, maxLength: 5 }), (states) => {
        const follow = renderings();
        for (const state of states) expect(runToEnd(follow(state))).deep.equal(runToEnd(renderings()(state)));
      }),
      { numRuns: 50 },
    );
  });

  it('the text of any snapshot equals the output of JSON.stringify', () => {
    fc.assert(
      fc.property(schemaState, (state) => {
        expect(textOf(state, includeAll)).equal(JSON.stringify(runToEnd(snapshotOf(state, '1.0.0'))));
      }),
      { numRuns: 50 },
    );
  });

  it('the texts of collections equal the output of JSON.stringify after every change, by name', () => {
    const texts = createCollectionTexts({ schema: 'public', serviceSchema: 'service' }, [system]);
    for (const state of history()) {
      const documents = collectionsInOrder(state).map((node) =>
        documentOf(state, node, { schema: 'public', serviceSchema: 'service' }),
      );
      const expected = [...documents, system]
        .sort((a, b) => (a.collection < b.collection ? -1 : 1))
        .map((document) => JSON.stringify(document));
      expect([...texts.all(state)].filter((text) => text !== '')).deep.equal(expected);
      expect(runToEnd(texts.pieces(state)).map(String)).deep.equal(expected);
      for (const { collection } of documents) {
        expect(expected).include(texts.findText(state, collection));
      }
      expect(texts.findText(state, 'service_users')).equal(JSON.stringify(system));
      expect(texts.findText(state, 'constructor')).equal(undefined);
    }
  });

  it('show the new primary key of a referenced table', () => {
    const texts = createCollectionTexts({ schema: 'public', serviceSchema: 'service' }, []);
    const before = withRelations();
    expect(texts.findText(before, 'articles')).include('REFERENCES \\"public\\".\\"authors\\" (\\"id\\")');
    const authors = before.collections.get('authors');
    const id = authors?.fields.get('id');
    if (authors === undefined || id === undefined) throw new Error('the fixture has changed');
    const fields = new Map([['key', { ...id, field: 'key' }]]);
    const after = { ...before, collections: before.collections.set('authors', { ...authors, fields }) };
    expect(texts.findText(after, 'articles')).include('REFERENCES \\"public\\".\\"authors\\" (\\"key\\")');
    expect(texts.findText(before, 'articles')).include('(\\"id\\")');
  });
});
