/**
 * If one diff removes and adds a field, the result is a new field with that name, even if an update would be possible.
 */
import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { snapshotHash } from '../../../src/schema/snapshot/snapshot.js';
import { accept, attempt, given } from '../../support/given.js';

const RELEASE = '0.1.0';
const meta = { interface: 'input' };

const column = (field: string, type: string, data_type: string) => ({ field, type, meta, schema: { data_type } });

const withTook = (type: string, data_type: string): State =>
  accept(initialState(), 'create-collection', {
    body: { collection: 'trips', schema: {}, fields: [column('took', type, data_type)] },
    concurrentIndexes: false,
  });

const tookOf = (state: State): Field => state.collections.get('trips')?.fields.get('took') as Field;

/** From an interval, which the service cannot change, to a text. */
describe('a field removed and created by a diff', () => {
  const before = withTook('unknown', 'interval');
  const [old, now] = [tookOf(before), tookOf(withTook('string', 'character varying'))];
  const hash = runToEnd(snapshotHash(before, RELEASE));
  const item = { collection: 'trips', field: 'took' };
  const replaced = [
    { ...item, diff: [{ kind: 'D', lhs: old }] },
    { ...item, diff: [{ kind: 'N', rhs: now }] },
  ];
  const apply = (diff: object) =>
    attempt(before, 'apply-diff', {
      release: RELEASE,
      body: { hash, diff: { collections: [], relations: [], ...diff } },
    });

  it('may change in ways that ALTER COLUMN does not support', () => {
    const result = apply({ fields: replaced });
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    expect(result.value.map(({ type, field }) => `${type} ${field}`)).to.deep.equal([
      'field.deleted took',
      'field.created took',
    ]);
  });

  it('may change in such ways together with a rename', () => {
    const renamed = [
      { collection: 'journeys', diff: [{ kind: 'E', path: ['collection'], lhs: 'trips', rhs: 'journeys' }] },
    ];
    const there = { ...item, collection: 'journeys' };
    const named = (field: Field) => ({ ...field, collection: 'journeys' });
    const result = apply({
      collections: renamed,
      fields: [
        { ...there, diff: [{ kind: 'D', lhs: named(old) }] },
        { ...there, diff: [{ kind: 'N', rhs: named(now) }] },
      ],
    });
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    expect(result.value.map(({ type, field }) => `${type} ${field}`)).to.deep.equal([
      'collection.renamed null',
      'field.deleted took',
      'field.created took',
    ]);
  });

  it('differs from an update, which is rejected', () => {
    const [problem] = given(before)
      .when('update-fields', {
        collection: 'trips',
        field: 'took',
        body: { type: 'string', schema: {} },
        concurrentIndexes: false,
      })
      .thenRefused('INVALID_PAYLOAD');
    expect(problem?.message).to.include('interval');
  });
});
