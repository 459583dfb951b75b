/** Changes of columns that are more than one column: keys and what points at them, counting, locks. */
import { expect } from 'chai';
import { withService } from '../../support/with-service.js';
import { catalogColumn, key, plain } from './columns.js';

describe('a change of a column', function () {
  this.timeout(60_000);

  const { api } = withService({ consistent: true });

  it('counts on from the largest value when auto increment starts', async () => {
    await api.ok('POST', '/collections', {
      collection: 'counted',
      schema: {},
      fields: [key('id'), plain('c', 'integer', { is_nullable: false })],
    });
    await api.sql('INSERT INTO counted VALUES (1, 41)');
    await api.ok('PATCH', '/fields/counted/c', { schema: { has_auto_increment: true } });
    await api.sql('INSERT INTO counted (id) VALUES (2)');
    expect(await api.sql('SELECT c FROM counted WHERE id = 2')).to.deep.equal([{ c: 42 }]);
  });

  it('lets readers in while a unique index is built', async () => {
    await api.ok('POST', '/collections', { collection: 'read', schema: {}, fields: [key('id'), plain('c', 'string')] });
    const document = await api.ok<{ fields: { collection: string; field: string; schema: object }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const field = document.fields.find((each) => each.collection === 'read' && each.field === 'c');
    Object.assign(field?.schema ?? {}, { is_unique: true });
    const diff = await api.ok<object>('POST', '/schema/diff', document);
    const { statements } = await api.ok<{ statements: { sql: string; lock: string }[] }>(
      'POST',
      '/schema/apply?dry_run',
      diff,
    );
    expect(statements.map(({ lock }) => lock)).to.deep.equal(['SHARE', 'ACCESS EXCLUSIVE']);
    expect(statements[1]?.sql).to.match(/USING INDEX/);
  });

  it('to a generated column is made by a diff, which warns that the values are lost', async () => {
    await api.ok('POST', '/collections', {
      collection: 'computed',
      schema: {},
      fields: [key('id'), plain('c', 'integer')],
    });
    await api.sql('INSERT INTO computed VALUES (1, 5)');
    const document = await api.ok<{ fields: { collection: string; field: string; schema: object }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const field = document.fields.find((each) => each.collection === 'computed' && each.field === 'c');
    Object.assign(field?.schema ?? {}, { generation_expression: 'id * 2', is_generated: true });
    const diff = await api.ok<{ warnings: { code: string; field: string }[] }>('POST', '/schema/diff', document);
    const codes = diff.warnings.filter((warning) => warning.field === 'c').map(({ code }) => code);
    expect(codes).to.include('LOSES_DATA');
    await api.ok('POST', '/schema/apply', diff);
    expect(await api.sql('SELECT c FROM computed')).to.deep.equal([{ c: 2 }]);
  });

  it('moves the primary key to another column in one request', async () => {
    await api.ok('POST', '/collections', {
      collection: 'keyed',
      schema: {},
      fields: [key('id'), plain('code', 'string', { is_nullable: false })],
    });
    await api.sql(`INSERT INTO keyed VALUES (1, 'a')`);
    await api.ok('PATCH', '/fields/keyed', [
      { field: 'id', schema: { is_primary_key: false } },
      { field: 'code', schema: { is_primary_key: true } },
    ]);
    const found = await api.sql(
      `SELECT pg_get_constraintdef(oid) AS key FROM pg_constraint WHERE conrelid = 'keyed'::regclass AND contype = 'p'`,
    );
    expect(found).to.deep.equal([{ key: 'PRIMARY KEY (code)' }]);
  });

  it('changes the type of a key together with what points at it, or says what does not fit', async () => {
    await api.ok('POST', '/collections', { collection: 'one', schema: {}, fields: [key('id')] });
    await api.ok('POST', '/collections', {
      collection: 'many',
      schema: {},
      fields: [key('id'), plain('ref', 'integer')],
    });
    await api.ok('POST', '/relations', { collection: 'many', field: 'ref', related_collection: 'one' });
    await api.sql('INSERT INTO one VALUES (1)');
    await api.sql('INSERT INTO many VALUES (1, 1)');
    await api.ok('PATCH', '/fields/one/id', { type: 'bigInteger' });
    await api.ok('PATCH', '/fields/many/ref', { type: 'bigInteger' });
    expect(await catalogColumn(api, 'one', 'id')).to.include({ type: 'bigint' });
    const refused = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'PATCH', '/fields/one/id', {
      type: 'uuid',
      schema: { default_value: null },
    });
    expect(refused.message).to.include('give both the same type');
    const keys = await api.sql(`SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = 'many'::regclass`);
    expect(keys).to.deep.equal([{ conname: 'many_ref_foreign' }]);
  });
});
