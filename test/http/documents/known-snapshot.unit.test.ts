import { expect } from 'chai';
import fc from 'fast-check';
import { readKnownSnapshot } from '../../../src/http/documents/snapshot-pieces.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { collectionDocumentOf, fieldDocumentsOf } from '../../../src/schema/snapshot/documents.js';
import { type Snapshot, isSnapshotOf, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import type { CollectionNode, State } from '../../../src/schema/model/state.js';
import { schemaState } from '../../support/arbitraries.js';
import { withRelations } from '../../support/library.js';

const RELEASE = '1.0.0';

const snapshot = (state: State): Snapshot => structuredClone(runToEnd(snapshotOf(state, RELEASE)));
const read = (state: State, text: string) => runToEnd(readKnownSnapshot(Buffer.from(text), state, RELEASE));

/** Edits of the documents of one part, as a client makes them. */
const edit = fc.record({
  part: fc.constantFrom('collections' as const, 'fields' as const, 'relations' as const),
  at: fc.nat(),
  kind: fc.constantFrom('remove', 'change', 'repeat', 'move', 'rename'),
});

function edited(full: Snapshot, { part, at, kind }: { part: keyof Snapshot; at: number; kind: string }): void {
  const documents = full[part] as object[];
  if (documents.length === 0) return;
  const index = at % documents.length;
  const document = documents[index] as Record<string, unknown>;
  if (kind === 'remove') documents.splice(index, 1);
  if (kind === 'change') document['meta'] = { note: 'ü "quoted", ] and }' };
  if (kind === 'repeat') documents.push(document);
  if (kind === 'move') documents.unshift(...documents.splice(index, 1));
  if (kind === 'rename') document['collection'] = `${String(document['collection'])}_new`;
}

describe('a submitted snapshot that mostly equals the current one', () => {
  it('uses the documents of the state that it equals', () => {
    const state = withRelations();
    const authors = state.collections.get('authors') as CollectionNode;
    const submitted = snapshot(state);
    const title = submitted.fields.find(({ collection }) => collection !== 'authors');
    Object.assign(title?.meta ?? {}, { note: 'another' });
    const recognized = read(state, JSON.stringify(submitted)) as Snapshot;
    expect(recognized).to.deep.equal(submitted);
    expect(recognized.collections).to.include(collectionDocumentOf(state, authors));
    for (const field of runToEnd(fieldDocumentsOf(state, authors))) expect(recognized.fields).to.include(field);
  });

  it('is read like any JSON, with or without a wrapper, after any edit', () => {
    fc.assert(
      fc.property(schemaState, fc.array(edit, { maxLength: 4 }), fc.boolean(), (state, edits, wrapped) => {
        const submitted = snapshot(state);
        for (const each of edits) edited(submitted, each);
        const text = JSON.stringify(wrapped ? { data: submitted } : submitted);
        const recognized = read(state, text) as Snapshot;
        expect(recognized).to.deep.equal(JSON.parse(JSON.stringify(submitted)));
        expect(isSnapshotOf(recognized, state)).to.equal(JSON.stringify(submitted) === JSON.stringify(snapshot(state)));
      }),
      { numRuns: 100 },
    );
  });

  it('is not recognized once its text is damaged', () => {
    const state = withRelations();
    const text = JSON.stringify(snapshot(state));
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('', '"', ',', ']', '}', '\\', '\u0001', '\udc00'),
        (at, by) => {
          const damaged = text.slice(0, at) + by + text.slice(at + 1);
          const recognized = read(state, damaged);
          if (recognized === undefined) return;
          // The damage is inside a string, or replaces a character with itself.
          expect(recognized).to.deep.equal(JSON.parse(Buffer.from(damaged).toString()));
        },
      ),
      { numRuns: 300 },
    );
  });

  for (const [what, text] of [
    ['a snapshot with other white space', (full: Snapshot) => JSON.stringify(full, null, 2)],
    ['a snapshot from another release', (full: Snapshot) => JSON.stringify({ ...full, service: '0.9.0' })],
    ['a snapshot with another member', (full: Snapshot) => JSON.stringify({ ...full, more: 1 })],
    ['a snapshot without relations', (full: Snapshot) => JSON.stringify({ ...full, relations: undefined })],
    ['text behind it', (full: Snapshot) => `${JSON.stringify(full)} 1`],
    ['a trailing comma', (full: Snapshot) => JSON.stringify(full).replace('],"fields"', ',],"fields"')],
    [
      'a member twice',
      (full: Snapshot) => JSON.stringify(full).replace('{"collection":', '{"a":1,"a":2,"collection":'),
    ],
    ['nothing', () => ''],
  ] as const) {
    it(`is not recognized in ${what}`, () => {
      const state = withRelations();
      expect(read(state, text(snapshot(state)))).to.equal(undefined);
    });
  }

  it('is left to the parser if it differs too much', () => {
    const state = withRelations();
    const submitted = snapshot(state);
    Object.assign(submitted.collections[0]?.meta ?? {}, { note: 'x'.repeat(2_000_000) });
    expect(read(state, JSON.stringify(submitted))).to.equal(undefined);
  });

  it('has an empty diff when it is the current one, and leaves its documents as they are', () => {
    const state = withRelations();
    const text = JSON.stringify(snapshot(state));
    const options = { force: false, mode: 'mirror', release: RELEASE } as const;
    const compared = runToEnd(compareSnapshot(state, read(state, text), options));
    expect(compared.ok && compared.value.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    expect(JSON.stringify(snapshot(state))).to.equal(text);
  });
});
