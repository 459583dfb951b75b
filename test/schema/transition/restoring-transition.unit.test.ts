import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import type { CollectionNode, State } from '../../../src/schema/model/state.js';
import { type InTrash, restoringTransition } from '../../../src/schema/transition/restoring-transition.js';
import { followStrictly } from '../../support/given.js';
import { LIBRARY, whole, without } from './trashed.js';

/** The library without some of its collections. */
const lacking = (...gone: string[]): State => gone.reduce((state, name) => without(state, name), LIBRARY);

const inTrash = (name: string): InTrash => {
  const node = LIBRARY.collections.get(name) as CollectionNode;
  return { kind: 'collection', identity: node.identities.collection, node, position: 9, name };
};

const back = (from: State, ...names: string[]): SchemaEvent[] =>
  runToEnd(restoringTransition({ from, to: LIBRARY, touched: [...LIBRARY.collections.keys()] }, names.map(inTrash)));

const messagesOf = (events: readonly SchemaEvent[], type: string): string[] =>
  events.filter((event) => event.type === type).map(({ collection }) => String(collection));

describe('tables restored together', () => {
  it("become each other's groups again", () => {
    const from = lacking('articles', 'notes');
    const events = back(from, 'articles', 'notes');
    expect(messagesOf(events, 'collection.created')).to.deep.equal(['articles', 'notes']);
    expect(messagesOf(events, 'collection.updated')).to.not.contain('notes');
    expect(whole(followStrictly(from, events))).to.deep.equal(whole(LIBRARY));
  });

  it('are restored before their folder, and join it once it exists', () => {
    const from = lacking('articles', 'blog');
    const events = back(from, 'articles');
    expect(messagesOf(events, 'collection.created')).to.deep.equal(['articles', 'blog']);
    expect(messagesOf(events, 'collection.updated')).to.contain('articles');
    expect(whole(followStrictly(from, events))).to.deep.equal(whole(LIBRARY));
  });
});
