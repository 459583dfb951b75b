import { type ColumnField, initialState } from '../../../src/schema/model/state.js';
import { expect } from 'chai';
import { readColumnSpellings } from '../../../src/projector/verify/equivalent-definitions.js';
import { type Projected, startProjected } from '../../support/projected.js';
import { column } from '../columns.js';

const computed = (name: string, expression: string): ColumnField =>
  column(`t.${name}`, 'integer', { generation_expression: expression }) as ColumnField;
const BAD = computed('bad', 'gone + 1');

describe("PostgreSQL's spelling of columns", () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
    await projected.client.query(
      'CREATE TABLE t (id integer PRIMARY KEY, a integer, b integer, c integer, bad integer)',
    );
  });
  after(() => projected.stop());

  async function readSpellings(...fields: ColumnField[]): Promise<Record<string, string | null>> {
    const { client, schema } = projected;
    await client.query('BEGIN');
    const columns = await readColumnSpellings(client, { state: initialState(), schema }, fields);
    const { rows } = await client.query('SELECT FROM pg_class WHERE relnamespace = pg_my_temp_schema()');
    await client.query('ROLLBACK');
    expect(rows, 'what was made to ask').to.have.length(0);
    return Object.fromEntries([...columns].map(([key, { generated }]) => [key.replace('\0', '.'), generated]));
  }

  it('includes casts and parentheses', async () => {
    const { client, schema } = projected;
    const text = { ...column('t.a', 'text', { default_value: 'x' }) } as ColumnField;
    await client.query('BEGIN');
    const spelledList = await readColumnSpellings(client, { state: initialState(), schema }, [
      text,
      computed('b', 'a+1'),
    ]);
    await client.query('ROLLBACK');
    expect([...spelledList]).to.deep.equal([
      ['t\0a', { type: 'text', collation: null, default: "'x'::text", generated: null }],
      ['t\0b', { type: 'integer', collation: null, default: null, generated: '(a + 1)' }],
    ]);
  });

  it('is found together with columns that PostgreSQL rejects', async () => {
    const fields = [computed('a', 'id+1'), computed('b', 'id+2'), computed('c', 'id+3')];
    const all = { 't.a': '(id + 1)', 't.b': '(id + 2)', 't.c': '(id + 3)' };
    for (let place = 0; place <= fields.length; place++) {
      expect(await readSpellings(...fields.toSpliced(place, 0, BAD)), `bad at ${place}`).to.deep.equal(all);
    }
    expect(await readSpellings(BAD)).to.deep.equal({});
    expect(await readSpellings()).to.deep.equal({});
  });

  it('is found if an expression names its table, regardless of its name', async () => {
    expect(await readSpellings(computed('a', 't.id + 1'), computed('b', 'id + t.c'))).to.deep.equal({
      't.a': '(id + 1)',
      't.b': '(id + c)',
    });
    await projected.client.query('CREATE TABLE column_0 (id integer, a integer, b integer)');
    const ofCopy = (name: string) =>
      column(`column_0.${name}`, 'integer', { generation_expression: 'column_0.id + 1' }) as ColumnField;
    expect(await readSpellings(ofCopy('a'), ofCopy('b'), computed('c', 't.id'))).to.deep.equal({
      'column_0.a': '(id + 1)',
      'column_0.b': '(id + 1)',
      't.c': 'id',
    });
  });

  it('is not determined while a lock is busy', async () => {
    const { client, schema, pool } = projected;
    const other = await pool.connect();
    try {
      await other.query('BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE');
      await client.query(`BEGIN; SET LOCAL lock_timeout = '100ms'`);
      const error: unknown = await readColumnSpellings(client, { state: initialState(), schema }, [BAD]).catch(
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
