import { expect } from 'chai';
import { initialState } from '../../../src/schema/model/state.js';
import { accept, attempt } from '../../support/given.js';

const column = (field: string, type = 'string', schema: object = {}) => ({ field, type, interface: 'input', schema });

const STATE = accept(initialState(), 'create-collection', {
  body: {
    collection: 'a',
    schema: {},
    fields: [
      column('b'),
      column('small', 'integer'),
      column('big', 'bigInteger'),
      column('text', 'text'),
      column('exact', 'decimal', { numeric_precision: 10, numeric_scale: 4 }),
      column('rough', 'decimal', { numeric_precision: 10, numeric_scale: 2 }),
      column('time', 'time'),
      column('moment', 'dateTime'),
      column('day', 'date'),
      column('due', 'timestamp'),
      column('needed', 'string', { is_nullable: false }),
    ],
  },
  concurrentIndexes: false,
});

const update = (body: object) =>
  attempt(STATE, 'update-fields', { collection: 'a', body: [body].flat(), concurrentIndexes: false });
const filled = (field: string, backfill: object, more: object = { schema: { is_nullable: false } }) =>
  update({ field, ...more, backfill });
const isAccepted = (field: string, source: string): boolean => filled(field, { field: source }).ok;

describe('backfills', () => {
  it('are a member of the event of their field, in normal form', () => {
    const result = filled('big', { value: '12' });
    expect(result.ok && result.value.map(({ data }) => data)).to.deep.equal([
      { patch: [{ op: 'replace', path: '/schema/is_nullable', value: false }], backfill: { value: 12 } },
    ]);
  });

  it('of another field need a type that holds each of its values', () => {
    const accepted = [
      ['big', 'small'],
      ['text', 'b'],
      ['b', 'text'],
      ['exact', 'rough'],
      ['exact', 'small'],
      ['moment', 'day'],
      ['due', 'day'],
    ] as const;
    for (const [field, source] of accepted) expect(isAccepted(field, source), `${source} to ${field}`).to.equal(true);
    const rejected = [
      ['small', 'big'],
      ['rough', 'exact'],
      ['moment', 'time'],
      ['day', 'moment'],
      ['small', 'b'],
    ] as const;
    for (const [field, source] of rejected) expect(isAccepted(field, source), `${source} to ${field}`).to.equal(false);
  });

  it('cannot use a field that the same change creates or alters', () => {
    const altered = update([
      { field: 'b', type: 'text', schema: { is_nullable: false }, backfill: { field: 'text' } },
      { field: 'text', schema: { data_type: 'citext' } },
    ]);
    expect(altered.ok ? [] : altered.problems.map(({ path, message }) => `${path}: ${message}`)).to.deep.equal([
      '[0].backfill.field: the same change creates field "text" or changes its type. Change it first',
    ]);
  });

  it('of a field that already was required are left out, because no row is null', () => {
    const again = filled('needed', { value: 'x' });
    expect(again.ok && again.value).to.deep.equal([]);
    const noted = filled('needed', { value: 'x' }, { meta: { note: 'n' } });
    expect(noted.ok && noted.value.map(({ data }) => 'backfill' in data)).to.deep.equal([false]);
  });
});
