import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import type { CollectionNode, State } from '../../../src/schema/model/state.js';
import { type TrashNode, restoringTransition } from '../../../src/schema/transition/restoring-transition.js';
import { followStrictly } from '../../support/given.js';
import { LIBRARY, wholeSnapshot, without } from './trashed.js';

/** The library without some of its collections. */
const libraryWithout = (...gone: string[]): State => gone.reduce((state, name) => without(state, name), LIBRARY);

const trashEntry = (name: string): TrashNode => {
  const node = LIBRARY.collections.get(name) as CollectionNode;
  return { kind: 'collection', identity: node.identities.collection, node, position: 9, name };
};

const restoreEvents = (from: State, ...names: string[]): SchemaEvent[] =>
  runToEnd(restoringTransition({ from, to: LIBRARY, touched: [...LIBRARY.collections.keys()] }, names.map(trashEntry)));

const messagesOf = (events: readonly SchemaEvent[], type: string): string[] =>
  events.filter((event) => event.type === type).map(({ collection }) => String(collection));

describe('tables restored together', () => {
  it("become each other's groups again", () => {
    const from = libraryWithout('articles', 'notes');
    const events = restoreEvents(from, 'articles', 'notes');
    expect(messagesOf(events, 'collection.created')).to.deep.equal(['articles', 'notes']);
    expect(messagesOf(events, 'collection.updated')).to.not.contain('notes');
    expect(wholeSnapshot(followStrictly(from, events))).to.deep.equal(wholeSnapshot(LIBRARY));
  });

  it('are restored before their folder, and join it once it exists', () => {
    const from = libraryWithout('articles', 'blog');
    const events = restoreEvents(from, 'articles');
    expect(messagesOf(events, 'collection.created')).to.deep.equal(['articles', 'blog']);
    expect(messagesOf(events, 'collection.updated')).to.contain('articles');
    expect(wholeSnapshot(followStrictly(from, events))).to.deep.equal(wholeSnapshot(LIBRARY));
  });
});
