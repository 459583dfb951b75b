import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

interface Report {
  changed: string[];
  deleted: string[];
  renamed: { from: string; to: string }[];
  not_accepted: { collection: string; field?: string; code: string; message: string }[];
  not_represented: { table: string; code: string }[];
}

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const key = plain('id', 'integer', { is_primary_key: true, has_auto_increment: true });

describe('accepting drift concurrently', () => {
  let other: pg.Client;

  const { service, api } = withService({
    settings: { LOCK_TIMEOUT: '5s', LOCK_WAIT: '100ms' },
    each: true,
    atEnd: () => other.end(),
  });
  beforeEach(async () => {
    other = new pg.Client({ connectionString: service.databaseUrl, application_name: 'by hand' });
    await other.connect();
    await api.ok('POST', '/collections', {
      collection: 'a',
      schema: {},
      meta: { note: 'kept' },
      fields: [key, plain('n', 'integer'), { field: 'bs', type: 'alias', interface: 'list', schema: null }],
    });
    await api.ok('POST', '/collections', { collection: 'b', schema: {}, fields: [key, plain('a', 'integer')] });
    await api.ok('POST', '/relations', { many_collection: 'b', many_field: 'a', one_collection: 'a', one_field: 'bs' });
  });

  const accept = (body: object = {}) => api.ok<Report>('POST', '/schema/drift/accept', body);
  const send = () => api.client('/schema/drift/accept', json({}));
  const codes = ({ not_accepted: left }: Report) => left.map(({ collection, code }) => `${collection} ${code}`);
  async function expectNoDrift(): Promise<void> {
    const drift = await api.ok('GET', '/schema/drift');
    expect(drift, JSON.stringify(drift)).to.deep.include({ ok: true });
    const { data } = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(data, JSON.stringify(data)).to.include({ ok: true });
  }

  it('succeeds once, however many requests accept it at the same time', async () => {
    await api.sql('ALTER TABLE a ADD COLUMN x int');
    const before = await api.head();
    const replies = await Promise.all([send(), send(), send()]);
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(await api.events(before)).to.deep.equal(['field.created a.x']);
    await expectNoDrift();
  });

  it('records the tables as of its commit despite concurrent manual changes', async () => {
    let busy = true;
    const byHand = (async () => {
      for (let i = 0; i < 25; i += 1) {
        await other.query(`ALTER TABLE a ADD COLUMN c${i} int; ALTER TABLE a RENAME COLUMN c${i} TO d${i}`);
        if (i % 3 === 0) await other.query(`ALTER TABLE a DROP COLUMN d${i}`);
        if (i % 5 === 0) await other.query(`ALTER TABLE b ALTER COLUMN a SET DEFAULT ${i}`);
      }
      busy = false;
    })();
    while (busy) expect((await send()).status).to.be.oneOf([200, 503]);
    await byHand;
    expect(codes(await accept())).to.deep.equal([]);
    await expectNoDrift();
    await api.appends([], 'POST', '/schema/drift/accept', {});
  });

  it('waits for a lock like other changes, names its holder, and reads again afterwards', async () => {
    await api.sql('ALTER TABLE a ADD COLUMN x int');
    await other.query('BEGIN; ALTER TABLE a ADD COLUMN y int');
    const refused = await api.refused({ status: 503, code: 'LOCK_TIMEOUT' }, 'POST', '/schema/drift/accept', {});
    expect(JSON.stringify(refused.extensions['blocked_by'])).to.contain('by hand');
    const waiting = send();
    await sleep(300);
    await other.query('COMMIT');
    expect((await waiting).status).to.equal(200);
    await expectNoDrift();
    await api.sql('ALTER TABLE a ADD COLUMN z int');
    await other.query('BEGIN; ALTER TABLE a RENAME COLUMN y TO yy; ALTER TABLE b RENAME TO bb');
    const renaming = send();
    await sleep(300);
    await other.query('COMMIT');
    const { status, json: report } = await renaming;
    expect(status, JSON.stringify(report)).to.equal(200);
    await accept();
    await expectNoDrift();
    const bb = await api.ok<{ data: { one_field: string } }>('GET', '/relations/bb/a');
    expect(bb.data.one_field).to.equal('bs');
  });

  it('reports names that the log cannot store, and leaves them unchanged', async () => {
    await api.ok('POST', '/collections', { collection: 'folder', schema: null });
    await api.sql('ALTER TABLE a RENAME TO folder');
    expect(codes(await accept())).to.deep.equal(['a NAME_TAKEN', 'b POINTS_AT_RENAMED', 'folder FOLDER']);
    await api.sql('ALTER TABLE folder RENAME TO service_flows');
    const reserved = await accept();
    expect(reserved.deleted).to.deep.equal([]);
    expect(codes(reserved)).to.deep.equal(['a NOT_REPRESENTABLE']);
    await api.sql(`ALTER TABLE service_flows RENAME TO a; ALTER TABLE a RENAME COLUMN n TO ".."`);
    expect(codes(await accept())).to.deep.equal(['a NOT_REPRESENTABLE']);
    await api.sql('ALTER TABLE a RENAME COLUMN ".." TO bs');
    const taken = await accept();
    expect(taken.not_accepted.map(({ field, code }) => [field, code])).to.deep.equal([['bs', 'NAME_TAKEN']]);
    const long = 'n'.repeat(63);
    await api.sql(`ALTER TABLE a RENAME COLUMN bs TO ${long}; ALTER TABLE b RENAME TO ${'b'.repeat(63)}`);
    expect(codes(await accept())).to.deep.equal([]);
    await expectNoDrift();
  });

  it('accepts a table that references a renamed one together with it, or not at all', async () => {
    await api.sql('ALTER TABLE a RENAME TO z; ALTER TABLE b ADD COLUMN c int');
    expect(codes(await accept({ collections: ['b'] }))).to.deep.equal(['b POINTS_AT_RENAMED']);
    expect(codes(await accept())).to.deep.equal([]);
    const { data } = await api.ok<{ data: { one_field: string } }>('GET', '/relations/b/a');
    expect(data).to.deep.include({ one_collection: 'z', one_field: 'bs' });
    await expectNoDrift();
  });

  it('removes the relations to a collection whose table was dropped', async () => {
    await api.sql('DROP TABLE a CASCADE; ALTER TABLE b ADD COLUMN c int');
    expect((await accept({ collections: ['b'] })).changed).to.deep.equal(['b']);
    const kept = await api.ok<{ data: { schema: unknown } }>('GET', '/relations/b/a');
    expect(kept.data.schema).to.equal(null);
    const { deleted, not_accepted: left } = await accept({ collections: ['a'] });
    expect([deleted, left]).to.deep.equal([['a'], []]);
    expect((await api.client('/relations/b/a')).status).to.equal(404);
    await expectNoDrift();
  });

  it('lists unsupported objects of accepted tables only', async () => {
    await api.sql(`CREATE FUNCTION own() RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
      ALTER TABLE a ADD COLUMN x int, ADD COLUMN d int DEFAULT own(); ALTER TABLE b ADD COLUMN e int DEFAULT own()`);
    const messagesOf = ({ not_represented: notes }: Report) => notes.map(({ table }) => table);
    expect(messagesOf(await accept({ fields: [{ collection: 'a', field: 'x' }] }))).to.deep.equal([]);
    expect(messagesOf(await accept({ collections: ['b'] }))).to.deep.equal(['b']);
    expect(messagesOf(await accept())).to.deep.equal(['a']);
    await expectNoDrift();
  });

  it('explains how to accept partitioned tables, and that works', async () => {
    await api.sql(`CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
      INSERT INTO p VALUES (1)`);
    await api.ok('POST', '/schema/adopt', { tables: ['p', 'p1'] });
    await api.sql('ALTER TABLE p RENAME TO q');
    expect(codes(await accept())).to.deep.equal(['p PARTITIONED', 'p1 PARTITIONED']);
    await api.sql('ALTER TABLE q RENAME TO p; ALTER TABLE p ADD COLUMN c int');
    const { not_accepted: left } = await accept();
    expect(left.map(({ code }) => code)).to.deep.equal(['PARTITIONED', 'PARTITIONED']);
    expect(left[0]?.message).to.contain('together with those of its partitions').and.contain('ALTER TABLE');
    await api.sql('ALTER TABLE p RENAME TO p_aside; ALTER TABLE p1 RENAME TO p1_aside');
    await api.ok('DELETE', '/collections/p1');
    await api.ok('DELETE', '/collections/p');
    await api.sql('ALTER TABLE p_aside RENAME TO p; ALTER TABLE p1_aside RENAME TO p1');
    await api.ok('POST', '/schema/adopt', { tables: ['p', 'p1'] });
    expect(await api.sql('SELECT a FROM p')).to.deep.equal([{ a: 1 }]);
    await expectNoDrift();
  });

  it('accepts indexes of partitioned tables and of partitions, including an invalid one', async () => {
    await api.sql(`CREATE TABLE p (a int, b int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
      CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2)`);
    await api.ok('POST', '/schema/adopt', { tables: ['p', 'p1', 'p2'] });
    for (const [statement, changed] of [
      ['CREATE INDEX one ON p1 (b)', ['p1']],
      ['CREATE INDEX two ON p1 (b, a)', ['p1']],
      ['CREATE INDEX of_all ON p (b)', ['p', 'p2']],
      ['CREATE INDEX of_all_two ON p (a, b)', ['p', 'p1', 'p2']],
      ['CREATE INDEX only_here ON ONLY p (lower(b::text))', ['p']],
      ['DROP INDEX of_all, of_all_two, only_here, two', ['p', 'p1', 'p2']],
    ] as const) {
      await api.sql(statement);
      expect(await accept(), statement).to.deep.include({ changed, not_accepted: [] });
      await expectNoDrift();
    }
  });

  it('accepts the current definition of a type that partitioned tables use, even if it cannot accept other differences', async () => {
    await api.sql(`CREATE TYPE mood AS ENUM ('a', 'b');
      CREATE TABLE plain (id int PRIMARY KEY, m mood);
      CREATE TABLE p (m mood, n int) PARTITION BY LIST (m); CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('a');
      CREATE TABLE q (m mood) PARTITION BY LIST (m)`);
    await api.ok('POST', '/schema/adopt', { tables: ['plain', 'p', 'p1', 'q'] });
    await api.sql(`ALTER TYPE mood ADD VALUE 'c'`);
    expect(await accept()).to.deep.include({ changed: ['p', 'p1', 'plain', 'q'], not_accepted: [] });
    await expectNoDrift();
    await api.sql(`ALTER TYPE mood ADD VALUE 'd'; ALTER TABLE p ADD COLUMN more int`);
    const report = await accept();
    expect([report.changed, codes(report)]).to.deep.equal([
      ['p', 'p1', 'plain', 'q'],
      ['p PARTITIONED', 'p1 PARTITIONED'],
    ]);
    await api.sql('ALTER TABLE p DROP COLUMN more');
    await expectNoDrift();
  });
});
