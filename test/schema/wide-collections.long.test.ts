import { expect } from 'chai';
import { planBatch } from '../../src/projector/ddl/plan.js';
import { type SchemaEvent, newEvent } from '../../src/schema/model/events.js';
import type { Field } from '../../src/schema/model/model.js';
import { transition } from '../../src/schema/transition/transition.js';
import { operations } from '../../src/schema/operations/index.js';
import { snapshotBytes } from '../../src/http/documents/snapshot-pieces.js';
import { runToEnd, stepsTo } from '../../src/kernel/resumable.js';
import { type CollectionNode, type State, initialState } from '../../src/schema/model/state.js';
import { collectionDocumentOf, fieldDocumentsOf } from '../../src/schema/snapshot/documents.js';
import { snapshotHash, snapshotOf } from '../../src/schema/snapshot/snapshot.js';
import { diffStates } from '../../src/schema/diff/diff.js';
import { sqlTextProblems } from '../../src/schema/sql-text/texts.js';
import { Draft } from '../../src/schema/transition/draft.js';
import { dropCollection } from '../../src/schema/transition/cascade.js';
import { accept, attempt, folder, follow, parsed } from '../support/given.js';
import { stepsOf } from '../support/steps.js';

const FIELDS = 5_000;

const alias = (index: number) => ({ field: `item_${index}`, type: 'alias', interface: 'x' });
const column = (index: number) => ({ field: `item_${index}`, type: 'integer', interface: 'input' });
const wideCollection = (field: (index: number) => object, count = FIELDS) => ({
  body: { collection: 'wide', schema: {}, fields: Array.from({ length: count }, (_, index) => field(index)) },
  concurrentIndexes: false,
});

/** A state with a collection of 5,000 fields, and the same after each of them changed. */
function changed(): { from: State; to: State } {
  const from = accept(initialState(), 'create-collection', wideCollection(alias));
  const draft = new Draft(from);
  for (const field of from.collections.get('wide')?.fields.values() ?? [])
    draft.putField({ ...field, meta: { ...field.meta, note: 'n' } });
  return { from, to: draft.toState() };
}

describe('a collection of 5,000 fields', () => {
  it('is read and changed with a step for each field', () => {
    const all = wideCollection(alias);
    const fields = Array.from({ length: FIELDS }, (_, index) => ({ field: alias(index).field, meta: { note: 'n' } }));
    expect(stepsOf(stepsTo(operations['create-collection'].parse(all))), 'created').to.be.at.least(FIELDS);
    const command = parsed('update-fields', { collection: 'wide', body: fields, concurrentIndexes: false });
    const from = accept(initialState(), 'create-collection', all);
    if (!command.ok) throw new Error(JSON.stringify(command.problems));
    const update = stepsTo(operations['update-fields'].decide(from, command.value));
    expect(stepsOf(update), 'updated').to.be.at.least(FIELDS);
  });

  it('has its SQL texts parsed with a step for each field', () => {
    const { from, to } = changed();
    expect(stepsOf(sqlTextProblems(from, to, ['wide']))).to.be.at.least(FIELDS);
  });

  it('is compared with a step for each field', () => {
    const { from, to } = changed();
    expect(stepsOf(transition(from, to, ['wide'])), 'as events').to.be.at.least(FIELDS);
    expect(stepsOf(diffStates(from, to, ['wide'])), 'as a diff').to.be.at.least(2 * FIELDS);
  });
});

describe('documents of a collection of 5,000 fields', () => {
  const state = accept(initialState(), 'create-collection', wideCollection(alias));
  const node = state.collections.get('wide') as CollectionNode;

  it('are built with a step for each field', () => {
    expect(stepsOf(fieldDocumentsOf(state, node))).to.be.at.least(FIELDS);
    const another = accept(initialState(), 'create-collection', wideCollection(alias));
    expect(stepsOf(snapshotOf(another, '1.0.0')), 'snapshot').to.be.at.least(FIELDS);
    // The documents are cached, and hashed in pieces of 50.
    expect(stepsOf(snapshotHash(another, '1.0.0')), 'hash').to.be.at.least(FIELDS / 50);
  });

  it('do not need the fields for the collection itself', () => {
    const another = accept(initialState(), 'create-collection', wideCollection(alias));
    const wideNode = another.collections.get('wide') as CollectionNode;
    expect(collectionDocumentOf(another, wideNode).collection).to.equal('wide');
    // None of them is in the cache yet.
    expect(stepsOf(fieldDocumentsOf(another, wideNode))).to.be.at.least(FIELDS);
  });

  it('are equal when built concurrently', () => {
    const another = accept(initialState(), 'create-collection', wideCollection(alias));
    const wideNode = another.collections.get('wide') as CollectionNode;
    const slow = fieldDocumentsOf(another, wideNode);
    slow.next();
    const first = runToEnd(fieldDocumentsOf(another, wideNode));
    expect(runToEnd(slow)).to.equal(first);
  });

  it('are written in pieces that form the snapshot', () => {
    expect(stepsOf(snapshotBytes(state, '1.0.0'))).to.be.at.least(FIELDS / 50);
    const text = String(runToEnd(snapshotBytes(state, '1.0.0')).body);
    expect(text).to.equal(JSON.stringify(runToEnd(snapshotOf(state, '1.0.0'))));
    expect(String(runToEnd(snapshotBytes(state, '1.0.0', { include: () => false })).body)).to.contain('"fields":[]');
  });
});

describe('a table with more columns than PostgreSQL allows', () => {
  it('is rejected at the first extra column, before other checks', () => {
    const result = attempt(initialState(), 'create-collection', wideCollection(column, 2_000));
    const [problem, ...others] = result.ok ? [] : result.problems;
    expect(others).to.deep.equal([]);
    // The implicit primary key is the first of them.
    expect(problem?.path).to.equal('fields[1599].field');
    expect(problem?.message).to.contain('1,600');
  });

  it('is accepted at the limit, without counting aliases', () => {
    const full = accept(initialState(), 'create-collection', wideCollection(column, 1_599));
    expect(full.collections.get('wide')?.fields.size).to.equal(1_600);
    const more = { collection: 'wide', body: { ...column(1_599), field: 'more' }, concurrentIndexes: false };
    const result = attempt(full, 'create-field', more);
    expect(!result.ok && result.problems[0]?.path).to.equal('field');
    accept(full, 'create-field', { ...more, body: { field: 'more', type: 'alias' } });
  });
});

describe('many removed collections', () => {
  it('are scanned a few times in total', () => {
    const events = Array.from({ length: 300 }, (_, index): SchemaEvent[] => {
      const created = attempt(initialState(), 'create-collection', folder(`f_${index}`));
      return created.ok ? created.value : [];
    });
    const state = follow(initialState(), events.flat());
    const { collections } = state;
    let iterations = 0;
    Object.defineProperty(collections, Symbol.iterator, {
      value: () => {
        iterations += 1;
        return collections.entries();
      },
    });
    const draft = new Draft(state);
    for (const name of collections.keys()) dropCollection(draft, state, name);
    expect(draft.toState().collections.size).to.equal(0);
    expect(iterations).to.be.within(1, 5);
  });
});

describe('a batch that changes every field of a collection of 5,000', () => {
  it('is planned with a step for each, without a state for each', () => {
    const { from, to } = changed();
    const events = runToEnd(transition(from, to, ['wide']));
    // The primary key is one more.
    expect(events).to.have.length(FIELDS + 1);
    expect(stepsOf(planBatch(from, events, 'public'))).to.be.at.least(FIELDS);
    const { statements, after } = runToEnd(planBatch(from, events, 'public'));
    expect(statements).to.deep.equal([]);
    expect(after.position).to.equal(from.position + FIELDS + 1);
    expect(after.collections.get('wide')?.fields).to.deep.equal(to.collections.get('wide')?.fields);
  });

  it('is planned between column changes as if each had its own state', () => {
    const start = accept(initialState(), 'create-collection', wideCollection(column, 2));
    const event = (type: string, field: string, data: object) =>
      ({ ...newEvent('field.deleted', 'wide', field, {}), type, data }) as SchemaEvent;
    const shown = start.collections.get('wide')?.fields.get('item_0') as Field;
    const beside = { ...shown, field: 'beside', schema: null, type: 'alias' };
    const type = [{ op: 'replace', path: '/schema/data_type', value: 'bigint' }];
    const note = [{ op: 'replace', path: '/meta/note', value: 'n' }];
    const events = [
      event('field.created', 'beside', { field: beside }),
      event('field.updated', 'item_0', { patch: note }),
      event('field.updated', 'item_0', { patch: type }),
      event('field.deleted', 'beside', {}),
      event('field.created', 'beside', { field: { ...shown, field: 'beside' } }),
      event('field.updated', 'item_1', { patch: note }),
      event('field.deleted', 'beside', {}),
    ];
    const { statements, after } = runToEnd(planBatch(start, events, 'public'));
    expect(after).to.deep.equal(follow(start, events));
    let state = start;
    const each = events.flatMap((one) => {
      const single = runToEnd(planBatch(state, [one], 'public'));
      state = single.after;
      return single.statements.map(({ sql }) => sql);
    });
    expect(statements.map(({ sql }) => sql)).to.deep.equal(each);
    expect(each.join()).to.match(/bigint.*ADD COLUMN "beside".*DROP COLUMN.*"beside"/s);
  });
});
