import { expect } from 'chai';
import { alias, key, plain } from '../../http/routes/columns.js';
import { createApi } from '../../support/api.js';
import { startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };

interface Adopted {
  adopted: string[];
  refused: { table: string; code: string }[];
}

describe('unusual keys, groups and names', () => {
  const { api } = withService({ each: true, consistent: true });

  const create = (collection: string, fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields });
  const adopt = (...tables: string[]) => api.ok<Adopted>('POST', '/schema/adopt', { tables });

  it('an INCLUDE column of a primary key cannot be deleted, directly or by diff', async () => {
    await api.sql('CREATE TABLE inc (id int, v text, w text, PRIMARY KEY (id) INCLUDE (v))');
    await adopt('inc');
    const { extensions } = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/fields/inc/v');
    expect(extensions['needed_by']).to.deep.equal(['id']);
    const snapshot = await api.ok<{ fields: { field: string }[] }>('GET', '/schema/snapshot');
    const without = { ...snapshot, fields: snapshot.fields.filter(({ field }) => field !== 'v') };
    const { message } = await api.refused(INVALID, 'POST', '/schema/diff', without);
    expect(message).to.include('"inc_pkey" contains "v"');
    await api.ok('DELETE', '/fields/inc/w');
    expect(
      await api.sql(`SELECT conname FROM pg_constraint WHERE contype = 'p' AND conrelid = 'inc'::regclass`),
    ).length(1);
  });

  it('a primary key WITHOUT OVERLAPS is kept, here and elsewhere', async function () {
    const [{ version } = { version: 0 }] = await api.sql<{ version: number }>(
      `SELECT current_setting('server_version_num')::int AS version`,
    );
    const [gist] = await api.sql(`SELECT FROM pg_available_extensions WHERE name = 'btree_gist'`);
    if (version < 180_000 || gist === undefined) this.skip();
    await api.sql(`CREATE EXTENSION btree_gist;
      CREATE TABLE temporal (id int, v daterange, PRIMARY KEY (id, v WITHOUT OVERLAPS));`);
    await adopt('temporal');
    const other = await startService();
    const target = createApi(other);
    const document = await api.ok<object>('GET', '/schema/snapshot');
    await target.ok('POST', '/schema/apply', await target.ok('POST', '/schema/diff', document));
    const [created] = await target.sql(
      `SELECT pg_get_constraintdef(oid) AS key FROM pg_constraint WHERE conrelid = 'temporal'::regclass AND contype = 'p'`,
    );
    expect(created).to.deep.equal({ key: 'PRIMARY KEY (id, v WITHOUT OVERLAPS)' });
    await target.stop();
    await other.stop();
  });

  it('a key definition must use its columns', async () => {
    const keyOf = (definition: string) => ({ extras: { primary_key: { name: 'p', columns: ['id'], definition } } });
    const body = { collection: 'hx', fields: [key('id'), plain('a', 'integer')] };
    const at = { ...INVALID, at: 'schema.extras.primary_key.definition' };
    for (const definition of ['PRIMARY KEY (a)', 'PRIMARY KEY (id, a)', 'UNIQUE (id)']) {
      await api.refused(at, 'POST', '/collections', { ...body, schema: keyOf(definition) });
    }
    await api.ok('POST', '/collections', { ...body, schema: keyOf('PRIMARY KEY (id) INCLUDE (a)') });
  });

  it('a column cannot be a group, in any order', async () => {
    await create('g', [key('id'), plain('t', 'string'), plain('n', 'string'), alias('box')]);
    const at = { ...INVALID, at: 'meta.group' };
    const { message } = await api.refused(at, 'PATCH', '/fields/g/n', { meta: { group: 't' } });
    expect(message).to.include('"t" is a column');
    await api.refused(at, 'PATCH', '/fields/g/t', { meta: { group: 'n' } });
    await api.ok('PATCH', '/fields/g/n', { meta: { group: 'box' } });
  });

  it('a many-to-any relation has no alias on the one side', async () => {
    await create('target', [key('id'), alias('list')]);
    await create('any', [key('id'), plain('item', 'string'), plain('kind', 'string')]);
    const relation = {
      many_collection: 'any',
      many_field: 'item',
      one_collection: null,
      one_collection_field: 'kind',
      one_allowed_collections: ['target'],
    };
    await api.refused({ ...INVALID, at: 'one_field' }, 'POST', '/relations', { ...relation, one_field: 'list' });
    await api.ok('POST', '/relations', relation);
  });

  it("unnamed types are accepted in the catalog's spelling", async () => {
    await create('u', [key('id')]);
    const add = (data_type: string) => plain('x', 'unknown', { data_type });
    const at = { ...INVALID, at: 'schema.data_type' };
    const misspelt = [
      'serial',
      'BIGSERIAL',
      'timestamptz',
      'int',
      'TEXT',
      'float8',
      'text[3]',
      'integer array',
      ' inet',
    ];
    for (const type of [...misspelt, 'varchar(10)[]', 'int[][]', 'pg_catalog.int4', 'integer', 'numeric(10,2)']) {
      await api.refused(at, 'POST', '/fields/u', add(type));
    }
    const usual = [
      'integer[]',
      'character varying(10)[]',
      'timestamp(3) with time zone[]',
      'inet',
      'int4range',
      'bit(3)',
    ];
    for (const [index, type] of usual.entries()) {
      await api.ok('POST', '/fields/u', { ...add(type), field: `f${index}` });
    }
  });

  it('a table with the name of a service table is rejected, and the error names it', async () => {
    await api.sql('CREATE TABLE service_folders (id int PRIMARY KEY)');
    const { adopted, refused } = await api.ok<Adopted>('POST', '/schema/adopt', { all: true });
    expect(adopted).to.deep.equal([]);
    expect(refused).to.have.length(1);
    expect(refused[0]).to.include({ table: 'service_folders', code: 'NAME_NOT_ALLOWED' });
    await api.sql('DROP TABLE service_folders');
  });
});
