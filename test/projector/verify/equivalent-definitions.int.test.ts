import { initialState } from '../../../src/schema/model/state.js';
import { expect } from 'chai';
import type { Json } from '../../../src/kernel/json.js';
import { removeEquivalent } from '../../../src/projector/verify/equivalent-definitions.js';
import { type Projected, startProjected } from '../../support/projected.js';

type Case = [what: string, member: string, expected: Json, found: Json, collection?: string];

const text = (definition: string, more: { [member: string]: Json } = {}): Json => ({ ...more, definition });
const part = (bound: string, table = 'p'): Json => ({ table, bound });
const check = (definition: string): Json => ({
  kind: 'domain',
  name: 'd',
  type: 'int4',
  checks: [{ name: 'd_check', definition }],
});
const collation = (locale: string): Json => ({ kind: 'collation', name: 'c', provider: 'libc', locale });

const SAME: Case[] = [
  ['a check', 'constraint c', text('CHECK (n>0)'), text('CHECK ((n > 0))')],
  ['a check that says its table', 'constraint c', text('CHECK (t.n > 0)'), text('CHECK ((n > 0))')],
  ['an index that says its table', 'index i', text('USING btree (lower(t.a))'), text('USING btree (lower(a))')],
  [
    'an index',
    'index i',
    text('USING btree (lower( a ))', { unique: true }),
    text('USING btree (lower(a))', { unique: true }),
  ],
  [
    'a foreign key',
    'constraint f',
    text('FOREIGN KEY (n) REFERENCES other (id)'),
    text('FOREIGN KEY (n) REFERENCES other(id)'),
  ],
  [
    'one to the table itself',
    'constraint f',
    text('FOREIGN KEY (n) REFERENCES t (id)'),
    text('FOREIGN KEY (n) REFERENCES t(id)'),
  ],
  ['how a table is divided', 'partition_by', 'list (n)', 'LIST (n)'],
  ['the bounds of a part', 'partition_of', part('FOR VALUES IN (1+1)'), part('FOR VALUES IN (2)'), 'p1'],
  ['a domain', 'domain d', check('CHECK (VALUE>1)'), check('CHECK ((VALUE > 1))')],
  ['a collation', 'collation c', collation('C'), collation('POSIX')],
];

const OTHER: Case[] = [
  ['a check', 'constraint c', text('CHECK (n>1)'), text('CHECK ((n > 0))')],
  [
    'whether an index is unique',
    'index i',
    text('USING btree (n )', { unique: true }),
    text('USING btree (n)', { unique: false }),
  ],
  [
    'what a foreign key points at',
    'constraint f',
    text('FOREIGN KEY (n) REFERENCES t (id)'),
    text('FOREIGN KEY (n) REFERENCES other(id)'),
  ],
  ['a column that is gone', 'constraint c', text('CHECK (gone > 0)'), text('CHECK ((gone > 0))')],
  ['a missing constraint', 'constraint c', text('CHECK (n>0)'), null],
  ['one too many', 'constraint c', null, text('CHECK ((n > 0))')],
  ['a constraint of the usual kind', 'constraint c', { kind: 'unique' }, { kind: 'check' }],
  ['what is not a constraint', 'comment', text('CHECK (n>0)'), text('CHECK ((n > 0))')],
  ['how a table is divided', 'partition_by', 'list (n)', 'LIST (id)'],
  ['that it is divided', 'partition_by', 'list (n)', null],
  ['that it is not', 'partition_by', null, 'LIST (n)'],
  ['another text that is spelled alike', 'schema.comment', 'list (n)', 'LIST (n)'],
  ['the bounds of a part', 'partition_of', part('FOR VALUES IN (1+2)'), part('FOR VALUES IN (2)'), 'p1'],
  ['the table of a part', 'partition_of', part('FOR VALUES IN (1+1)', 'q'), part('FOR VALUES IN (2)'), 'p1'],
  ['that it is a part', 'partition_of', part('FOR VALUES IN (1+1)'), null, 'p1'],
  ['that it is none', 'partition_of', null, part('FOR VALUES IN (2)'), 'p1'],
  ['what is not a part', 'unrelated', part('FOR VALUES IN (1+1)'), part('FOR VALUES IN (2)'), 'p1'],
  ['a domain', 'domain d', check('CHECK (VALUE>2)'), check('CHECK ((VALUE > 1))')],
  ['a missing domain', 'domain d', check('CHECK (VALUE>1)'), null],
  ['a collation', 'collation c', collation('en_US'), collation('C')],
];

describe('differences in spelling', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
    await projected.client.query(`CREATE TABLE other (id integer PRIMARY KEY);
      CREATE TABLE t (id integer PRIMARY KEY, a text, n integer);
      CREATE TABLE p (n integer) PARTITION BY LIST (n); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (2);
      CREATE DOMAIN d AS integer CHECK (VALUE > 1); CREATE COLLATION c (PROVIDER = libc, LOCALE = 'C')`);
  });
  after(() => projected.stop());

  async function countDifferences([, member, expected, actual, collection = 't']: Case): Promise<number> {
    const { client, schema } = projected;
    await client.query('BEGIN');
    const difference = { where: 'catalog', collection, member, expected, found: actual } as const;
    const differences = await removeEquivalent(client, { state: initialState(), schema }, [difference]);
    const { rows } = await client.query<{ path: string; made: number }>(
      `SELECT current_setting('search_path') AS path, (SELECT count(*)::int FROM pg_class
        WHERE relnamespace = pg_my_temp_schema()) AS made`,
    );
    await client.query('ROLLBACK');
    expect(rows[0]?.made, 'what was made to compare').to.equal(0);
    expect(rows[0]?.path).to.equal('public,pg_temp');
    if (differences.length > 0) expect(differences).to.deep.equal([difference]);
    return differences.length;
  }

  for (const each of SAME) {
    it(`${each[0]} is not a difference`, async () => {
      expect(await countDifferences(each)).to.equal(0);
    });
  }
  for (const each of OTHER) {
    it(`${each[0]} is a difference`, async () => {
      expect(await countDifferences(each)).to.equal(1);
    });
  }

  it('are not determined while a lock is busy', async () => {
    const { client, schema } = projected;
    const other = await projected.pool.connect();
    try {
      await other.query('BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE');
      await client.query(`BEGIN; SET LOCAL lock_timeout = '100ms'`);
      const [, member, expected, spelling] = SAME[0] as Case;
      const difference = { where: 'catalog', collection: 't', member, expected, found: spelling } as const;
      const error: unknown = await removeEquivalent(client, { state: initialState(), schema }, [difference]).catch(
        (caught: unknown) => caught,
      );
      expect(error).to.include({ code: '55P03' });
    } finally {
      await client.query('ROLLBACK');
      await other.query('ROLLBACK');
      other.release();
    }
  });
});
