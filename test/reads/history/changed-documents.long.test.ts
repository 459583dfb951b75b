import { expect } from 'chai';
import { runToEnd, stepsTo } from '../../../src/kernel/resumable.js';
import { type DocumentChanges, changedDocuments } from '../../../src/reads/history/changes.js';
import {
  keyTarget,
  relationDocument,
  collectionDocumentOf,
  fieldDocumentOf,
} from '../../../src/schema/snapshot/documents.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { collectionsChanged } from '../../../src/schema/fold/event-schemas.js';
import { operations } from '../../../src/schema/operations/index.js';
import type { Operation } from '../../../src/schema/operations/operation.js';
import { follow } from '../../support/given.js';
import { createRandomCommands } from '../../support/random-commands.js';

type Held = Map<string, object>;

/** Every document of a state by kind and name. */
function documentsOf(state: State): Held {
  const held: Held = new Map();
  for (const [name, node] of state.collections) {
    held.set(name, collectionDocumentOf(state, node));
    for (const [field, value] of node.fields) held.set(`${name} ${field}`, fieldDocumentOf(state, node, value));
    for (const [field, value] of node.relations) {
      held.set(`${name} ${field} relation`, relationDocument(value, keyTarget(state, node, field)));
    }
  }
  return held;
}

function applyChanges(held: Held, changes: DocumentChanges, to: 'before' | 'after'): Held {
  const from = to === 'after' ? 'before' : 'after';
  const next = new Map(held);
  const parts = [
    ...changes.collections.map((each) => ({ each, key: (it: { collection: string }) => it.collection })),
    ...changes.fields.map((each) => ({
      each,
      key: (it: { collection: string; field?: string }) => `${it.collection} ${it.field}`,
    })),
    ...changes.relations.map((each) => ({
      each,
      key: (it: { collection: string; field?: string }) => `${it.collection} ${it.field} relation`,
    })),
  ];
  for (const { each, key } of parts) if (each[from] !== null) next.delete(key(each[from]));
  for (const { each, key } of parts) if (each[to] !== null) next.set(key(each[to]), each[to]);
  return next;
}

const toSortedText = (held: Held): string => JSON.stringify([...held].sort(([a], [b]) => (a < b ? -1 : 1)));

describe('the documents that differ between two states', () => {
  for (const seed of [1, 2]) {
    it(`transform each into the other, without equal ones: seed ${seed}`, () => {
      const draw = createRandomCommands(seed);
      let state = initialState();
      let moved = 0;
      for (let number = 0; number < 150; number++) {
        const { name, command } = draw(state);
        const { decide } = operations[name] as unknown as Operation<string, unknown, unknown>;
        const result = runToEnd(stepsTo(decide(state, command)));
        if (!result.ok || result.value.length === 0) continue;
        const next = follow(state, result.value);
        const placed = result.value.map((event, index) => ({ ...event, position: state.position + index + 1 }));
        const changes = runToEnd(changedDocuments(state, next, collectionsChanged(placed)));
        const [before, after] = [documentsOf(state), documentsOf(next)];
        expect(toSortedText(applyChanges(before, changes, 'after')), `${number} ${name}`).to.equal(toSortedText(after));
        expect(toSortedText(applyChanges(after, changes, 'before')), `${number} ${name}`).to.equal(
          toSortedText(before),
        );
        for (const part of ['collections', 'fields', 'relations'] as const) {
          for (const { before: was, after: is } of changes[part]) expect(was).to.not.deep.equal(is);
        }
        state = next;
        moved += 1;
      }
      expect(moved).to.be.greaterThan(60);
    });
  }
});
