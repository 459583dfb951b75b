import { expect } from 'chai';
import {
  type LockConflict,
  describeHolder,
  holderDetails,
  lockConflictProblem,
} from '../../src/pipeline/wait-for-locks.js';
import { lockTimeout } from '../../src/postgres/errors.js';
import type { Holder } from '../../src/projector/ddl/table-locks.js';

const HOLDER: Holder = {
  pid: 41,
  transaction: '3/7',
  application: 'shop',
  age: 12.4,
  table: 'orders',
  maintenance: false,
};

describe('the holder of a lock', () => {
  const output: Record<string, [Partial<Holder>, string, object]> = {
    'that is known': [
      {},
      'by "shop" (PostgreSQL process 41, transaction started 12 s ago)',
      { pid: 41, application_name: 'shop', age_seconds: 12, collection: 'orders' },
    ],
    'that has no name': [
      { application: '' },
      'by an unnamed application (PostgreSQL process 41, transaction started 12 s ago)',
      { pid: 41, application_name: '', age_seconds: 12, collection: 'orders' },
    ],
    'whose age nobody may see': [
      { age: null },
      'by "shop" (PostgreSQL process 41)',
      { pid: 41, application_name: 'shop', age_seconds: null, collection: 'orders' },
    ],
    // After the clock was set back.
    'of the future': [
      { age: -3 },
      'by "shop" (PostgreSQL process 41, transaction started 0 s ago)',
      { pid: 41, application_name: 'shop', age_seconds: 0, collection: 'orders' },
    ],
    'that just began': [
      { age: 0.5 },
      'by "shop" (PostgreSQL process 41, transaction started 1 s ago)',
      { pid: 41, application_name: 'shop', age_seconds: 1, collection: 'orders' },
    ],
    'that is a prepared transaction': [
      { pid: null, application: '' },
      'by a prepared transaction',
      { pid: null, application_name: '', age_seconds: 12, collection: 'orders' },
    ],
  };
  for (const [what, [more, words, details]] of Object.entries(output))
    it(`is described in words and in details: ${what}`, () => {
      const holder = { ...HOLDER, ...more };
      expect(describeHolder(holder)).to.equal(words);
      expect(holderDetails(holder)).to.deep.equal(details);
    });

  it("is described without a table for the log's lock", () => {
    expect(holderDetails(HOLDER, true)).to.deep.equal({ pid: 41, application_name: 'shop', age_seconds: 12 });
  });
});

describe('a change that timed out on locks', () => {
  const refused = (conflict: Partial<LockConflict>) =>
    lockConflictProblem({ locks: [], holders: [], log: false, ...conflict });
  const others: Holder[] = [HOLDER, { ...HOLDER, pid: 42, table: 'customers' }, { ...HOLDER, pid: null }];

  it('names the table, its first holder, and the number of others', () => {
    const by = 'by "shop" (PostgreSQL process 41, transaction started 12 s ago)';
    expect(refused({ holders: [HOLDER] })).to.deep.equal({
      ...lockTimeout(`Table "orders" is in use: ${by}`),
      collection: 'orders',
      details: { blocked_by: [holderDetails(HOLDER)] },
    });
    expect(refused({ holders: others })).to.deep.equal({
      ...lockTimeout(`Table "orders" is in use: ${by} and 2 more`),
      collection: 'orders',
      details: { blocked_by: others.map((holder) => holderDetails(holder)) },
    });
  });

  it("names the other change, and no table, if it waited for the log's lock", () => {
    expect(refused({ holders: [{ ...HOLDER, table: '' }], log: true })).to.deep.equal({
      ...lockTimeout('Another change is in progress: by "shop" (PostgreSQL process 41, transaction started 12 s ago)'),
      details: { blocked_by: [{ pid: 41, application_name: 'shop', age_seconds: 12 }] },
    });
  });

  it('reports the known facts if the lock is already free', () => {
    expect(refused({})).to.deep.equal(lockTimeout());
    expect(refused({ log: true })).to.deep.equal(lockTimeout('Another change is in progress'));
  });
});
