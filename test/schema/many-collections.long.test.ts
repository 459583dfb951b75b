/** Work on a schema with many collections pauses at least once per collection. */
import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from '../../src/kernel/resumable.js';
import { foldPage, createStartPoint } from '../../src/log/fold.js';
import type { CatalogTable } from '../../src/projector/catalog/model.js';
import { findingsOf } from '../../src/schema/findings/planned-batch.js';
import { planBatch } from '../../src/projector/ddl/plan.js';
import { renamedTables } from '../../src/features/drift/renames.js';
import { warnAboutLikelyRenames } from '../../src/schema/compare/looks-renamed.js';
import type { StoredEvent } from '../../src/schema/model/events.js';
import { collectionsInOrder } from '../../src/schema/model/order.js';
import { initialState, type State } from '../../src/schema/model/state.js';
import { diffStates } from '../../src/schema/diff/diff.js';
import { changeProblems } from '../../src/schema/invariants/index.js';
import { Draft } from '../../src/schema/transition/draft.js';
import {
  NO_RENAMES,
  type Renames,
  renameEvents,
  renamesBetween,
  withRenames,
} from '../../src/schema/transition/renames.js';
import { transition } from '../../src/schema/transition/transition.js';
import { accept } from '../support/given.js';
import { stepsOf } from '../support/steps.js';

const COUNT = 1_200;

const bodies = Array.from({ length: COUNT }, (_, index) => ({
  collection: `item_${(index * 7_919) % COUNT}`,
  schema: {},
  fields: [{ field: 'name', type: 'string', interface: 'input', schema: { is_indexed: true } }],
}));

const manyTables = (): State =>
  accept(initialState(), 'create-collections', { body: bodies, concurrentIndexes: false });

describe('a schema of 1,200 collections', () => {
  const state = manyTables();
  const names = [...state.collections.keys()];
  const created = runToEnd(transition(initialState(), state, names));

  it('is compared with another in steps', () => {
    expect(stepsOf(transition(initialState(), state, names)), 'to all').to.be.at.least(COUNT);
    expect(stepsOf(transition(state, initialState(), names)), 'to none').to.be.at.least(COUNT);
    expect(stepsOf(transition(state, state, names)), 'to the same').to.be.at.least(COUNT);
    expect(stepsOf(diffStates(initialState(), state, names)), 'as a diff').to.be.at.least(COUNT);
    expect(
      stepsOf(changeProblems({ from: initialState(), to: state, touched: new Set(names) })),
      'its problems',
    ).to.be.at.least(COUNT);
  });

  it('is sorted by name', () => {
    const ordered = collectionsInOrder(state).map(({ collection }) => collection.collection);
    expect(ordered).to.deep.equal([...names].sort());
  });

  it('is folded from the log in steps', () => {
    let previous_hash = createStartPoint().head.hash;
    const events = created.map((event, index): StoredEvent => {
      const hash = `hash ${index}`;
      const stored = { ...event, position: index + 1, previous_hash, hash } as StoredEvent;
      previous_hash = hash;
      return stored;
    });
    expect(stepsOf(foldPage(createStartPoint(), events))).to.be.at.least(COUNT);
    expect(runToEnd(foldPage(createStartPoint(), events)).state.collections.size).to.equal(COUNT);
  });

  it('is renamed in steps', () => {
    const collections = new Map(names.map((name) => [name, `other_${name}`]));
    const renames: Renames = { ...NO_RENAMES, collections };
    runToEnd(withRenames(state, NO_RENAMES));
    expect(stepsOf(withRenames(state, renames)), 'the state by them').to.be.at.least(COUNT / 20);
    expect(stepsOf(renameEvents(state, renames)), 'the events').to.be.at.least(COUNT);
    const { state: renamed } = runToEnd(withRenames(state, renames));
    const detected = renamesBetween(state, renamed, [...names, ...collections.values()]);
    expect(detected.collections).to.deep.equal(collections);
    const fields = new Map(names.map((name) => [name, new Map([['name', 'other']])]));
    const ofFields: Renames = { ...NO_RENAMES, fields };
    expect(stepsOf(withRenames(state, ofFields)), 'of fields').to.be.at.least(COUNT);
    expect(stepsOf(renameEvents(state, ofFields)), 'the events of fields').to.be.at.least(COUNT);
  });

  it('is matched with one check per collection', () => {
    const other = accept(initialState(), 'create-collections', {
      body: bodies.map((each) => ({ ...each, collection: `other_${each.collection}` })),
      concurrentIndexes: false,
    });
    const all = [...names, ...other.collections.keys()];
    expect(stepsOf(warnAboutLikelyRenames(state, other, all))).to.be.within(2 * COUNT, 4 * COUNT);
  });

  it('stays the same object after work without changes', () => {
    expect(new Draft(state).toState().collections).to.equal(state.collections);
    expect(new Draft(state).toState().indexNames).to.equal(state.indexNames);
  });

  it('has findings of its statements in steps', () => {
    const events = runToEnd(transition(state, initialState(), names));
    const plan = { before: state, events, ...runToEnd(planBatch(state, events, 'public')) };
    expect(stepsOf(findingsOf(plan))).to.be.at.least(COUNT);
    expect(runToEnd(findingsOf(plan)).map(({ code }) => code)).to.contain('LOSES_DATA');
  });

  it('is checked for renames with one check per table', () => {
    const tables = names.map((name) => ({ name: `other_${name}`, columns: [] }) as unknown as CatalogTable);
    expect(stepsOf(renamedTables([...state.collections.values()], tables))).to.equal(2 * COUNT);
  });
});

describe('request handling', () => {
  it('never runs pausable work to its end in one go', () => {
    for (const folder of ['http/routes', 'pipeline', 'reads']) {
      const files = readdirSync(join('src', folder), { recursive: true, encoding: 'utf8' });
      for (const file of files.filter((each) => each.endsWith('.ts'))) {
        expect(readFileSync(join('src', folder, file), 'utf8'), `${folder}/${file}`).not.to.contain('runToEnd');
      }
    }
  });
});
