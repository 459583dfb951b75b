/** Work on a schema of many collections pauses at least once for each: what it does in one go doesn't grow with them. */
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from '../../src/kernel/resumable.js';
import { foldPage, startPoint } from '../../src/log/fold.js';
import type { CatalogTable } from '../../src/projector/catalog/model.js';
import { warningsOf } from '../../src/projector/ddl/cost-warnings.js';
import { planBatch } from '../../src/projector/ddl/plan.js';
import { renamedTables } from '../../src/projector/drift/renames.js';
import type { StoredEvent } from '../../src/schema/model/events.js';
import { collectionsInOrder, groupsFirst, neededFirst, partitionsFirst } from '../../src/schema/model/order.js';
import { initialState, type State } from '../../src/schema/model/state.js';
import { dropCollection } from '../../src/schema/transition/cascade.js';
import { Draft } from '../../src/schema/transition/draft.js';
import { transition } from '../../src/schema/transition/transition.js';
import { accepted } from '../support/given.js';
import { stepsOf } from '../support/steps.js';

const COUNT = 1_200;

const bodies = Array.from({ length: COUNT }, (_, index) => ({
  collection: `item_${(index * 7_919) % COUNT}`,
  schema: {},
  fields: [{ field: 'name', type: 'string', interface: 'input', schema: { is_indexed: true } }],
}));

const many = (): State => accepted(initialState(), 'create-collections', { body: bodies, concurrentIndexes: false });

describe('a schema of 1,200 collections', () => {
  const state = many();
  const names = [...state.collections.keys()];
  const made = runToEnd(transition(initialState(), state, names));

  it('is compared with another one in steps', () => {
    expect(stepsOf(transition(initialState(), state, names)), 'to all').to.be.at.least(8 * COUNT);
    expect(stepsOf(transition(state, initialState(), names)), 'to none').to.be.at.least(8 * COUNT);
    expect(stepsOf(transition(state, state, names)), 'to the same').to.be.at.least(8 * COUNT);
  });

  it('is put in order in steps', () => {
    expect(stepsOf(collectionsInOrder(state))).to.be.at.least(COUNT / 500);
    expect(stepsOf(groupsFirst(names, () => null))).to.be.at.least(COUNT);
    expect(stepsOf(neededFirst(names, () => []))).to.be.at.least(COUNT);
    expect(stepsOf(partitionsFirst(names, state, (each) => each))).to.be.at.least(COUNT);
    const ordered = runToEnd(collectionsInOrder(state)).map(({ collection }) => collection.collection);
    expect(ordered).to.deep.equal([...names].sort());
  });

  it('is made of a draft, and of the log, in steps', () => {
    const draft = new Draft(state);
    for (const name of names) dropCollection(draft, state, name);
    expect(stepsOf(draft.toStateInSteps())).to.be.at.least(3 * COUNT);
    let previous_hash = startPoint().head.hash;
    const events = made.map((event, index): StoredEvent => {
      const hash = `hash ${index}`;
      const stored = { ...event, position: index + 1, previous_hash, hash } as StoredEvent;
      previous_hash = hash;
      return stored;
    });
    expect(stepsOf(foldPage(startPoint(), events))).to.be.at.least(3 * COUNT);
    expect(runToEnd(foldPage(startPoint(), events)).state.collections.size).to.equal(COUNT);
  });

  it('is the same value after work that changes nothing: what is known of it stays known', () => {
    expect(runToEnd(new Draft(state).toStateInSteps()).collections).to.equal(state.collections);
    expect(runToEnd(new Draft(state).toStateInSteps()).indexNames).to.equal(state.indexNames);
  });

  it('has warnings of its statements in steps', () => {
    const { statements } = runToEnd(planBatch(state, runToEnd(transition(state, initialState(), names)), 'public'));
    expect(stepsOf(warningsOf(statements))).to.be.at.least(COUNT);
    expect(runToEnd(warningsOf(statements)).map(({ code }) => code)).to.contain('LOSES_DATA');
  });

  it('is looked for under other names with one look at each table', () => {
    const tables = names.map((name) => ({ name: `other_${name}`, columns: [] }) as unknown as CatalogTable);
    expect(stepsOf(renamedTables([...state.collections.values()], tables))).to.equal(2 * COUNT);
  });
});

describe('what answers requests', () => {
  it('runs nothing that can pause to its end in one go', () => {
    for (const folder of ['http/routes', 'pipeline', 'reads']) {
      const files = readdirSync(join('src', folder), { recursive: true, encoding: 'utf8' });
      for (const file of files.filter((each) => each.endsWith('.ts'))) {
        expect(readFileSync(join('src', folder, file), 'utf8'), `${folder}/${file}`).not.to.contain('runToEnd');
      }
    }
  });
});
