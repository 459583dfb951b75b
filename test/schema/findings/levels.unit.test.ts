import { expect } from 'chai';
import { durationText, levelBySize, levelByUse, sizeText } from '../../../src/schema/findings/levels.js';
import { initialState } from '../../../src/schema/model/state.js';
import { accept } from '../../support/given.js';
import { ROWS, findingsFor } from './plan.js';

describe('the level of a finding', () => {
  const state = accept(initialState(), 'create-collection', {
    body: { collection: 'articles', schema: {}, fields: [{ field: 'title', type: 'string', interface: 'input' }] },
    concurrentIndexes: false,
  });
  const body = { schema: { is_nullable: false } };
  const input = { collection: 'articles', field: 'title', body, concurrentIndexes: false };
  const lock = (statistics: object) =>
    findingsFor(state, 'update-fields', input, statistics).find(({ code }) => code === 'LONG_LOCK');

  it('depends on the size and use of the table', () => {
    const of = (rows: number, more = {}) => lock({ statistics: { articles: ROWS(rows, more) } })?.level;
    expect([of(500), of(500_000), of(50_000_000)]).to.deep.equal(['note', 'warn', 'danger']);
    expect(of(50_000_000, { uses: 0 })).to.equal('warn');
    expect(of(10, { bytes: 2 ** 40 })).to.equal('danger');
  });

  it('is the default without statistics, and the finding states this', () => {
    expect(lock({})).to.include({ level: 'warn', statistics: null });
    expect(lock({ statistics: { articles: ROWS(0, { rows: null, bytes: null }) } })?.level).to.equal('warn');
  });

  it('shows its basis and the request that avoids it', () => {
    const lockFinding = lock({ statistics: { articles: ROWS(50_000_000, { age: 7_200 }) } });
    expect(lockFinding?.statistics).to.deep.equal({ rows: 50_000_000, bytes: 5_000_000_000, age: 7_200, uses: 1_000 });
    expect(lockFinding?.message).to.contain('about 50,000,000 rows').and.contain('the statistics are 2 h old');
    expect(lockFinding?.safer?.request).to.deep.equal({ method: 'PATCH', path: '/fields/articles/title?online', body });
  });
});

describe('size limits of levels', () => {
  const MIB = 1_024 ** 2;
  const of = (rows: number | null, bytes: number | null, uses: number | null = 1): string =>
    levelBySize({ rows, bytes, age: null, uses });

  it('match fast and slow table reads', () => {
    expect([of(10_000, 8 * MIB), of(10_001, 8 * MIB), of(10_000, 8 * MIB + 1)]).to.deep.equal(['note', 'warn', 'warn']);
    const large = [of(1_000_000, 1_024 * MIB), of(1_000_001, 1_024 * MIB), of(1_000_000, 1_024 * MIB + 1)];
    expect(large).to.deep.equal(['warn', 'danger', 'danger']);
    expect([of(0, 0), of(null, 0), of(0, null), of(null, 2 ** 40), of(10 ** 9, null)]).to.deep.equal([
      'note',
      'note',
      'note',
      'danger',
      'danger',
    ]);
    expect([of(10 ** 9, 0, 0), of(10 ** 9, 0, null)]).to.deep.equal(['warn', 'danger']);
  });

  it('are unknown without statistics', () => {
    expect([of(null, null), levelBySize(undefined), levelBySize(undefined, 'note')]).to.deep.equal([
      'warn',
      'warn',
      'note',
    ]);
    const used = (uses: number | null) => levelByUse({ rows: 1, bytes: 1, age: 1, uses });
    expect([used(0), used(1), used(null), levelByUse(undefined)]).to.deep.equal(['note', 'warn', 'warn', 'warn']);
  });

  it('are described in words', () => {
    const text = (rows: number | null, bytes: number | null, age: number | null) => sizeText({ rows, bytes, age });
    expect(text(null, null, 5)).to.equal('the number of rows is not known');
    expect(text(1_000, null, null)).to.equal('about 1,000 rows; counted since its statistics began');
    expect(text(null, 1, 0)).to.equal('the number of rows is not known, 1 kB; the statistics are 0 s old');
    const sizes = [0, 1_024, 1_025, MIB - 1, MIB, 1.4 * MIB, 5_000 * MIB].map((bytes) => text(1, bytes, null));
    expect(sizes.map((each) => /rows, (.*);/.exec(each)?.[1])).to.deep.equal([
      '0 kB',
      '1 kB',
      '2 kB',
      '1024 kB',
      '1 MB',
      '1 MB',
      '5,000 MB',
    ]);
    const ages = [119, 120, 7_199, 7_200, 172_799, 172_800].map((age) => text(1, null, age));
    expect(ages.map((each) => /statistics are (.*) old/.exec(each)?.[1])).to.deep.equal([
      '119 s',
      '2 min',
      '120 min',
      '2 h',
      '48 h',
      '2 d',
    ]);
  });

  it('show a retention in its largest unit', () => {
    const spans = [7 * 86_400_000, 36 * 3_600_000, 90 * 60_000, 90_000, 1_500].map(durationText);
    expect(spans).to.deep.equal(['7d', '36h', '90min', '90s', '1.5s']);
  });
});
