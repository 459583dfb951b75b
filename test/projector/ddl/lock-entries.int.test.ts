import { expect } from 'chai';
import pg from 'pg';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { initialState } from '../../../src/schema/model/state.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { added, changed, column, created, deleted, dropped, relationCreated, tableOf, unrelated } from '../columns.js';

const n = column('n', 'integer');
const unique = column('n', 'integer', { is_unique: true });
const indexed = column('n', 'integer', { is_indexed: true });
const numerous = Array.from({ length: 20 }, (_, index) => column(`i${index}`, 'integer', { is_indexed: true }));
const many = Array.from({ length: 4 }, (_, index) => column(`u${index}`, 'integer', { is_unique: true }));

/** collection.updated of the table `t`: adds or removes its extras. */
function extras(value: object | null): NewEvent {
  const patch =
    value === null
      ? [{ op: 'remove', path: '/schema/extras' } as const]
      : [
          {
            op: 'add',
            path: '/schema/extras',
            value: tableOf('t', { extras: value }).schema?.extras as never,
          } as const,
        ];
  return { type: 'collection.updated', version: 1, collection: 't', field: null, data: { patch } };
}

const constraint = { constraints: [{ name: 'positive', definition: 'CHECK ((n > 0))' }] };
const index = { indexes: [{ name: 't_two', definition: 'USING btree (id, n)' }] };

/** Includes the announced number per statement. A table has a TOAST table with an index, which few tables use. */
const CASES: [string, NewEvent[], number[]][] = [
  ['a table of a key alone', [created('t')], [11]],
  ['a table of many uniques', [created('t', many)], [19]],
  ['a table of many indexes that goes', [created('t', numerous), deleted('t')], [11, ...numerous.map(() => 2), 31]],
  ['a table without a sequence', [created('t', [column('k', 'uuid', { is_primary_key: true })])], [8]],
  ['a table that goes', [created('t', many), deleted('t')], [19, 19]],
  ['a column', [created('t'), added(n), dropped(n)], [11, 5, 5]],
  ['a unique column', [created('t', [n]), changed(n, unique), changed(unique, n)], [11, 3, 3]],
  ['an indexed column', [created('t', [n]), changed(n, indexed), changed(indexed, n)], [11, 2, 2]],
  ['another type', [created('t', [n]), changed(n, column('n', 'bigInteger'))], [11, 8]],
  ['a default', [created('t', [n]), changed(n, column('n', 'integer', { default_value: 1 }))], [11, 8]],
  ['a foreign key', [created('o'), created('t', [n]), relationCreated('t.n', 'o'), unrelated('t.n')], [11, 11, 4, 7]],
  ['a constraint of its extras', [created('t', [n]), extras(constraint), extras(null)], [11, 4, 4]],
  ['an index of its extras', [created('t', [n]), extras(index), extras(null)], [11, 2, 2]],
];

describe('the estimated lock table entries of a statement', () => {
  let database: TestDatabase;
  let client: pg.Client;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());
  beforeEach(async () => {
    client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
  });
  afterEach(async () => {
    await client.query('DROP TABLE IF EXISTS t, o');
    await client.end();
  });

  /** Locks of one statement's transaction on our tables, indexes, sequences, types and constraints. */
  async function countLocks(text: string): Promise<number> {
    await client.query('BEGIN');
    await client.query(text);
    const { rows } = await client.query<{ count: number }>(
      `select count(distinct (locktype, relation, classid, objid))::int as count from pg_locks
       where pid = pg_backend_pid() and locktype in ('relation', 'object')
         and coalesce(relation, objid) >= 16384`, // where the catalogs end
    );
    await client.query('COMMIT');
    return rows[0]?.count ?? 0;
  }

  for (const [what, events, expected] of CASES) {
    it(`the entries for ${what} match the estimate and cover the actual ones`, async () => {
      const { statements } = runToEnd(planBatch(initialState(), events, 'public'));
      for (const { sql, summary, lock_entries } of statements) {
        expect(await countLocks(sql), summary).to.be.within(1, lock_entries);
      }
      expect(statements.map(({ lock_entries }) => lock_entries)).to.deep.equal(expected);
    });
  }
});
