import { expect } from 'chai';
import { initialState } from '../../../src/schema/model/state.js';
import { accepted } from '../../support/given.js';
import { ROWS, findingsFor } from './plan.js';

describe('the level of a finding', () => {
  const state = accepted(initialState(), 'create-collection', {
    body: { collection: 'articles', schema: {}, fields: [{ field: 'title', type: 'string', interface: 'input' }] },
    concurrentIndexes: false,
  });
  const body = { schema: { is_nullable: false } };
  const input = { collection: 'articles', field: 'title', body, concurrentIndexes: false };
  const lock = (statistics: object) =>
    findingsFor(state, 'update-fields', input, statistics).find(({ code }) => code === 'LONG_LOCK');

  it('goes by the size of the table, and how much it is used', () => {
    const of = (rows: number, more = {}) => lock({ statistics: { articles: ROWS(rows, more) } })?.level;
    expect([of(500), of(500_000), of(50_000_000)]).to.deep.equal(['note', 'warn', 'danger']);
    expect(of(50_000_000, { uses: 0 })).to.equal('warn');
    expect(of(10, { bytes: 2 ** 40 })).to.equal('danger');
  });

  it('is the usual one, and says so, where there are no statistics', () => {
    expect(lock({})).to.include({ level: 'warn', statistics: null });
    expect(lock({ statistics: { articles: ROWS(0, { rows: null, bytes: null }) } })?.level).to.equal('warn');
  });

  it('comes with what it is by, and with the request that avoids it', () => {
    const found = lock({ statistics: { articles: ROWS(50_000_000, { age: 7_200 }) } });
    expect(found?.statistics).to.deep.equal({ rows: 50_000_000, bytes: 5_000_000_000, age: 7_200, uses: 1_000 });
    expect(found?.message).to.contain('about 50,000,000 rows').and.contain('by statistics 2 h old');
    expect(found?.safer?.request).to.deep.equal({ method: 'PATCH', path: '/fields/articles/title?online', body });
  });
});
