import { expect } from 'chai';
import pg from 'pg';
import { dps } from '../../support/dps.js';
import { withService } from '../../support/with-service.js';

interface Report {
  changed: string[];
  deleted: string[];
  renamed: { from: string; to: string }[];
  not_accepted: { collection: string; field?: string; code: string }[];
  events: { type: string }[];
}

interface FieldAnswer {
  data: { type: string; meta: { note: string | null }; schema: Record<string, unknown> };
}

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const key = plain('id', 'integer', { is_primary_key: true, has_auto_increment: true });

describe('accepting drift', () => {
  const { service, api } = withService({ settings: { LOCK_TIMEOUT: '5s' }, each: true });
  beforeEach(async () => {
    const fields = [key, plain('title', 'string', { is_unique: true }), plain('n', 'integer')];
    await api.ok('POST', '/collections', {
      collection: 'a',
      schema: {},
      fields,
      meta: { note: 'kept', sort_field: 'n' },
    });
    await api.ok('POST', '/collections', { collection: 'b', schema: {}, fields: [key, plain('a', 'integer')] });
    const relation = { many_collection: 'b', many_field: 'a', one_collection: 'a' };
    await api.ok('POST', '/relations', relation);
  });

  const accept = (body: object = {}, query = '') => api.ok<Report>('POST', `/schema/drift/accept${query}`, body);
  const field = async (name: string) => (await api.ok<FieldAnswer>('GET', `/fields/${name}`)).data;
  async function expectNoDrift(): Promise<void> {
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true });
    const { data } = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(data, JSON.stringify(data)).to.include({ ok: true });
  }

  it('accepts added, dropped and changed columns without running a statement', async () => {
    await api.ok('PATCH', '/fields/a/title', { meta: { note: 'kept' } });
    await api.sql(`ALTER TABLE a ADD COLUMN hand numeric(7,2) NOT NULL DEFAULT 1.5; CREATE INDEX ON a (hand);
      ALTER TABLE a DROP COLUMN n; ALTER TABLE a ALTER COLUMN title TYPE text, ALTER COLUMN title SET NOT NULL;
      ALTER TABLE a DROP CONSTRAINT a_title_unique; COMMENT ON COLUMN a.title IS 'said by hand'; COMMENT ON TABLE a IS 'it';
      ALTER TABLE b DROP CONSTRAINT b_a_foreign`);
    const [before] = await api.sql<{ oids: string }>(
      `SELECT string_agg(oid::text, ',' ORDER BY oid) AS oids FROM pg_class`,
    );
    const planned = await accept({}, '?dry_run');
    expect(planned.changed).to.deep.equal(['a', 'b']);
    expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(false);
    const report = await accept();
    expect([report.changed, report.deleted, report.not_accepted]).to.deep.equal([['a', 'b'], [], []]);
    const [after] = await api.sql<{ oids: string }>(
      `SELECT string_agg(oid::text, ',' ORDER BY oid) AS oids FROM pg_class`,
    );
    expect(after).to.deep.equal(before);
    const hand = await field('a/hand');
    expect([hand.type, hand.schema['numeric_precision'], hand.schema['is_indexed']]).to.deep.equal([
      'decimal',
      7,
      true,
    ]);
    const title = await field('a/title');
    expect(title).to.deep.include({ type: 'text' }).and.have.nested.property('meta.note', 'kept');
    expect(title.schema).to.include({ is_nullable: false, is_unique: false, comment: 'said by hand' });
    const { data } = await api.ok<{ data: { meta: object } }>('GET', '/collections/a');
    expect(data.meta).to.include({ note: 'kept', sort_field: null });
    await expectNoDrift();
    await api.appends([], 'POST', '/schema/drift/accept', {});
  });

  it('accepts only the named objects', async () => {
    await api.sql('ALTER TABLE a ADD COLUMN x int, ADD COLUMN y int; ALTER TABLE b ADD COLUMN z int');
    const one = { fields: [{ collection: 'a', field: 'x' }] };
    await api.appends(['field.created a.x'], 'POST', '/schema/drift/accept', one);
    await api.appends(['field.created b.z'], 'POST', '/schema/drift/accept', { collections: ['b'] });
    const NOT_THERE = { status: 404, code: 'NOT_FOUND' };
    await api.refused(NOT_THERE, 'POST', '/schema/drift/accept', { collections: ['nope'] });
    const mistyped = {
      fields: [
        { collection: 'a', field: 'y' },
        { collection: 'a', field: 'nope' },
      ],
    };
    const { message } = await api.refused(NOT_THERE, 'POST', '/schema/drift/accept', mistyped);
    expect(message).to.equal('field "nope" of collection "a" does not exist');
    for (const [body, at] of [
      [{ collections: 'a' }, 'collections'],
      [{ collections: [1] }, 'collections[0]'],
      [{ fields: [{ collection: 'a' }] }, 'fields[0].field'],
      [{ tables: ['a'] }, 'tables'],
    ] as const) {
      await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at }, 'POST', '/schema/drift/accept', body);
    }
    const result = await dps(['drift', '--accept', 'a.y'], { DATABASE_URL: service.databaseUrl });
    expect(result.code, result.err).to.equal(0);
    expect((await field('a/y')).type).to.equal('integer');
    await expectNoDrift();
  });

  it('accepts dropped and renamed tables with their metadata', async () => {
    await api.sql('ALTER TABLE a RENAME TO renamed');
    const moved = await accept();
    expect([moved.renamed, moved.not_accepted]).to.deep.equal([[{ from: 'a', to: 'renamed' }], []]);
    const { data } = await api.ok<{ data: { meta: object } }>('GET', '/collections/renamed');
    expect(data.meta).to.include({ note: 'kept', sort_field: 'n' });
    const relation = await api.ok<{ data: { one_collection: string } }>('GET', '/relations/b/a');
    expect(relation.data.one_collection).to.equal('renamed');
    await expectNoDrift();
    await api.sql('DROP TABLE renamed CASCADE');
    expect((await accept()).deleted).to.deep.equal(['renamed']);
    expect((await api.client('/relations/b/a')).status).to.equal(404);
    await expectNoDrift();
  });

  it('accepts renamed columns with their metadata', async () => {
    await api.ok('POST', '/fields/a', { field: 'bs', type: 'alias', interface: 'list-o2m' });
    await api.ok('PATCH', '/relations/b/a', { one_field: 'bs' });
    await api.ok('PATCH', '/fields/a/title', { meta: { note: 'the headline' } });
    await api.ok('POST', '/fields/a', plain('tags', 'csv', { default_value: 'x,y' }));
    await api.sql(`ALTER TABLE a RENAME n TO position; ALTER TABLE a RENAME tags TO labels; ALTER TABLE a RENAME title TO headline;
      ALTER TABLE b RENAME a TO a_id; INSERT INTO a (headline) VALUES ('kept')`);
    // Either of its names works.
    const fields = [
      { collection: 'a', field: 'position' },
      { collection: 'a', field: 'title' },
    ];
    await accept({ fields });
    expect((await field('a/headline')).meta.note).to.equal('the headline');
    await accept();
    expect((await field('a/labels')).type).to.equal('csv');
    const { data } = await api.ok<{ data: { meta: object } }>('GET', '/collections/a');
    expect(data.meta).to.include({ note: 'kept', sort_field: 'position' });
    const relation = await api.ok<{ data: object }>('GET', '/relations/b/a_id');
    expect(relation.data).to.include({ one_collection: 'a', one_field: 'bs' });
    expect((await api.client('/fields/a/bs')).status).to.equal(200);
    expect((await api.client('/fields/a/title')).status).to.equal(404);
    expect(await api.sql('SELECT headline FROM a')).to.deep.equal([{ headline: 'kept' }]);
    await expectNoDrift();
  });

  it('lists what it cannot accept, and leaves that unchanged', async () => {
    await api.sql(`CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)`);
    await api.ok('POST', '/schema/adopt', { tables: ['p', 'p1'] });
    await api.sql('ALTER TABLE p ADD COLUMN c int; ALTER TABLE a ADD COLUMN c int');
    const { changed, not_accepted } = await accept();
    expect(changed).to.deep.equal(['a']);
    const left = not_accepted.map(({ collection, code }) => [collection, code]);
    expect(left).to.deep.equal([
      ['p', 'PARTITIONED'],
      ['p1', 'PARTITIONED'],
    ]);
  });

  it('locks the tables while it reads, so concurrent changes wait', async () => {
    await api.sql('ALTER TABLE a ADD COLUMN x int');
    const other = new pg.Client(service.databaseUrl);
    await other.connect();
    try {
      await other.query('BEGIN; INSERT INTO a (title, n) VALUES (1, 1)');
      expect((await accept()).changed).to.deep.equal(['a']);
      await other.query('COMMIT; BEGIN; ALTER TABLE a ADD COLUMN y int');
      expect(
        (
          await api.client('/schema/drift/accept', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{}',
          })
        ).status,
      ).to.be.oneOf([200, 503]);
      await other.query('COMMIT');
    } finally {
      await other.end();
    }
    await accept();
    await expectNoDrift();
  });
});
