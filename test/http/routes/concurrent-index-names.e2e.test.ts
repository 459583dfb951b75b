import { expect } from 'chai';
import { dps } from '../../support/dps.js';
import { asSuperuser, createDatabase } from '../../support/postgres.js';
import { indexesBuilt } from '../../support/api.js';
import { withService } from '../../support/with-service.js';
import { key, plain } from './columns.js';

const TAKEN = { status: 409, code: 'ALREADY_EXISTS' };
const LATER = '?concurrentIndexCreation';

describe('the name of a deferred index', () => {
  const { service, api } = withService({
    each: true,
    consistent: true,
    atEnd: async () => {
      await indexesBuilt(api);
      await expectReplayed();
    },
  });

  /** A replay builds every index immediately. */
  const expectReplayed = async (): Promise<void> => {
    const { connectionString, drop } = await createDatabase();
    const settings = { DATABASE_URL: service.databaseUrl };
    const { code, out, err } = await dps(['rebuild', 'tables', '--into', connectionString], settings);
    expect(code, out + err).to.equal(0);
    await drop();
  };
  const create = (collection: string, ...fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields: [key('id'), ...fields] });
  const indexed = (is_indexed: boolean, extras?: object | null) => ({
    schema: { is_indexed, ...(extras !== undefined && { extras }) },
  });
  /** `name on table`, without primary keys and the service's own. */
  const indexes = async (): Promise<string[]> => {
    await indexesBuilt(api);
    const rows = await api.sql<{ index: string }>(
      `SELECT indexname || ' on ' || tablename AS index FROM pg_indexes
        WHERE schemaname = 'public' AND tablename NOT LIKE 'service\\_%' AND indexname NOT LIKE '%\\_pkey' ORDER BY 1`,
    );
    return rows.map(({ index }) => index);
  };

  it('avoids the name of an adopted index, which is kept', async () => {
    await api.sql(
      'CREATE TABLE adop (id int PRIMARY KEY, z int, w int); CREATE UNIQUE INDEX eg_x_index ON adop (z, w)',
    );
    await api.ok('POST', '/schema/adopt', { tables: ['adop'] });
    await create('eg', plain('x', 'integer'));
    const { message, extensions } = await api.refused(TAKEN, 'PATCH', `/fields/eg/x${LATER}`, indexed(true));
    expect(message).to.match(/"eg_x_index" already exists \("eg_x_index" is already the name of an index\)$/);
    expect(extensions).to.deep.include({
      collection: 'eg',
      field: 'x',
      taken: [{ name: 'eg_x_index', kind: 'index' }],
    });
    await api.refused(TAKEN, 'POST', `/fields/eg${LATER}`, {
      ...plain('y', 'integer'),
      schema: { is_indexed: true, extras: { index_name: 'eg_x_index' } },
    });
    await api.ok('PATCH', '/fields/eg/x', indexed(false));
    expect(await indexes()).to.deep.equal(['eg_x_index on adop']);
  });

  it('cannot be that of another collection', async () => {
    await create('ey', plain('x', 'integer', { is_indexed: true }));
    await create('ex', plain('x', 'integer'));
    for (const query of ['', LATER]) {
      const body = indexed(true, { index_name: 'ey_x_index' });
      const { extensions } = await api.refused(TAKEN, 'PATCH', `/fields/ex/x${query}`, body);
      expect(extensions['taken']).to.deep.equal([{ name: 'ey_x_index', kind: 'index' }]);
    }
    await api.ok('PATCH', `/fields/ex/x${LATER}`, indexed(true, { index_name: 'ex_first' }));
    expect(await indexes()).to.deep.equal(['ex_first on ex', 'ey_x_index on ey']);
    await api.ok('PATCH', '/fields/ex/x', { schema: { extras: { index_name: 'ex_renamed' } } });
    await api.refused(TAKEN, 'PATCH', '/fields/ex/x', { schema: { extras: { index_name: 'ey_x_index' } } });
    expect(await indexes()).to.deep.equal(['ex_renamed on ex', 'ey_x_index on ey']);
  });

  it('is reserved from acceptance on', async () => {
    const fields = [key('id'), plain('x', 'integer', { is_indexed: true })];
    const both = await api.refused({ ...TAKEN, also: ['[1].collection'] }, 'POST', `/collections${LATER}`, [
      { collection: 'ts', schema: {}, fields },
      { collection: 'ts_x_index', schema: {}, fields: [key('id')] },
    ]);
    expect(both.extensions['taken']).to.deep.equal([{ name: 'ts_x_index', kind: 'table' }]);
    await api.ok('POST', `/collections${LATER}`, { collection: 'ts', schema: {}, fields });
    const table = await api.refused(TAKEN, 'POST', '/collections', { collection: 'ts_x_index', schema: {} });
    expect(table.message).to.equal('"ts_x_index" is already the name of an index of "ts": choose another name');
    const named = { is_unique: true, extras: { unique_name: 'ts_x_index' } };
    await create('other', plain('y', 'integer'));
    await api.refused({ ...TAKEN, at: 'schema.is_unique' }, 'PATCH', '/fields/other/y', { schema: named });
    await api.ok('POST', '/collections', { collection: 'ts_x_index', schema: null });
    await api.refused(TAKEN, 'PATCH', '/fields/other/y', indexed(true, { index_name: 'ts_x_index' }));
    await api.ok('DELETE', '/collections/ts');
    await api.ok('PATCH', `/fields/other/y${LATER}`, indexed(true, { index_name: 'ts_x_index' }));
    expect(await indexes()).to.deep.equal(['ts_x_index on other']);
  });

  it('cannot be that of the primary key', async () => {
    await create('pk1', plain('x', 'integer'));
    const { message } = await api.refused(
      { ...TAKEN, at: 'schema.is_indexed' },
      'PATCH',
      `/fields/pk1/x${LATER}`,
      indexed(true, { index_name: 'pk1_pkey' }),
    );
    expect(message).to.include('"pk1_pkey" is already the name of another constraint of "pk1"');
  });

  it('cannot be that of a table, a view or a sequence', async () => {
    await create('tq', plain('x', 'integer'));
    for (const [text, drop, kind] of [
      ['CREATE TABLE tq_x_index (a int)', 'DROP TABLE tq_x_index', 'table'],
      ['CREATE VIEW tq_x_index AS SELECT 1 AS a', 'DROP VIEW tq_x_index', 'view'],
      ['CREATE SEQUENCE tq_x_index', 'DROP SEQUENCE tq_x_index', 'sequence'],
    ] as const) {
      await api.sql(text);
      const { extensions } = await api.refused(TAKEN, 'PATCH', `/fields/tq/x${LATER}`, indexed(true));
      expect(extensions['taken']).to.deep.equal([{ name: 'tq_x_index', kind }]);
      await api.sql(drop);
    }
    await create('tq_x_index');
    await api.refused(TAKEN, 'PATCH', `/fields/tq/x${LATER}`, indexed(true));
    await api.ok('DELETE', '/collections/tq_x_index');
    await api.ok('PATCH', `/fields/tq/x${LATER}`, indexed(true));
    expect(await indexes()).to.deep.equal(['tq_x_index on tq']);
  });

  it('can be reused by the same field repeatedly', async () => {
    await create('t', plain('x', 'integer'));
    for (let round = 0; round < 5; round += 1) {
      await api.ok('PATCH', `/fields/t/x${LATER}`, indexed(true));
      if (round % 2 === 0) await indexesBuilt(api);
      await api.ok('PATCH', `/fields/t/x${LATER}`, indexed(false));
    }
    await api.ok('PATCH', `/fields/t/x${LATER}`, indexed(true));
    expect(await indexes()).to.deep.equal(['t_x_index on t']);
  });

  it('may be that of an invalid index of a failed build', async () => {
    await create('t', plain('x', 'integer'));
    await api.sql('CREATE INDEX t_x_index ON t (x)');
    await api.refused(TAKEN, 'PATCH', `/fields/t/x${LATER}`, indexed(true));
    await asSuperuser(
      service.databaseUrl,
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't_x_index'::regclass`,
    );
    await api.ok('PATCH', `/fields/t/x${LATER}`, indexed(true));
    expect(await indexes()).to.deep.equal(['t_x_index on t']);
    const [row] = await api.sql<{ valid: boolean }>(
      `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 't_x_index'::regclass`,
    );
    expect(row?.valid).to.equal(true);
  });

  it('no longer identifies an index that was replaced by hand', async () => {
    await api.sql('CREATE TABLE hand (z int)');
    await create('dx', plain('x', 'integer', { is_indexed: true }), plain('y', 'integer', { is_indexed: true }));
    await api.sql(`DROP INDEX dx_x_index, dx_y_index;
      CREATE INDEX dx_x_index ON hand (z); ALTER TABLE hand ADD CONSTRAINT dx_y_index UNIQUE (z)`);
    await api.ok('PATCH', '/fields/dx/x', { schema: { extras: { index_name: 'dx_mine' } } });
    expect(await indexes()).to.deep.equal(['dx_x_index on hand', 'dx_y_index on hand']);
    await api.ok('PATCH', '/fields/dx/x', indexed(false, null));
    await api.ok('PATCH', '/fields/dx/y', indexed(false));
    expect(await indexes()).to.deep.equal(['dx_x_index on hand', 'dx_y_index on hand']);
  });

  it('follows a manual rename', async () => {
    await create('t', plain('x', 'integer', { is_indexed: true }));
    await api.sql('ALTER INDEX t_x_index RENAME TO other');
    await api.ok('PATCH', '/fields/t/x', { schema: { extras: { index_name: 'other' } } });
    expect(await indexes()).to.deep.equal(['other on t']);
  });

  it('is checked before a drop for adopted indexes too', async () => {
    await api.sql(
      'CREATE TABLE a (id int PRIMARY KEY, x int, y int); CREATE INDEX a_xy ON a (x, y); CREATE TABLE b (z int)',
    );
    await api.ok('POST', '/schema/adopt', { tables: ['a'] });
    await api.sql('DROP INDEX a_xy; CREATE INDEX a_xy ON b (z)');
    await api.ok('DELETE', '/fields/a/y');
    expect(await indexes()).to.deep.equal(['a_xy on b']);
  });
});
