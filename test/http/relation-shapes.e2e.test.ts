import { expect } from 'chai';
import { withService } from '../support/with-service.js';

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };
const AT = '/relations/many/ref';

const FLAT = [
  'id',
  'many_collection',
  'many_field',
  'one_collection',
  'one_field',
  'one_collection_field',
  'one_allowed_collections',
  'junction_field',
  'sort_field',
  'one_deselect_action',
];
const MEMBERS = [...FLAT, 'schema', 'collection', 'field', 'related_collection', 'meta'];
const KEY = ['constraint_name', 'table', 'column', 'foreign_key_table', 'foreign_key_column', 'on_update', 'on_delete'];

interface Shown {
  id: number;
  one_field: string | null;
  one_collection: string | null;
  related_collection: string | null;
  schema: Record<string, unknown> | null;
  meta: Record<string, unknown>;
}

describe('the formats of a relation', () => {
  const { api } = withService({ each: true });
  beforeEach(async () => {
    for (const collection of ['one', 'other']) await api.ok('POST', '/collections', { collection, schema: {} });
    await api.ok('POST', '/collections', { collection: 'many', schema: {} });
    await api.ok('POST', '/fields/many', { field: 'ref', type: 'integer' });
    await api.ok('POST', '/fields/one', { field: 'list', type: 'alias', meta: { special: ['o2m'] } });
  });

  const create = async (more: object = {}): Promise<Shown> => {
    const body = { collection: 'many', field: 'ref', related_collection: 'one', ...more };
    return (await api.ok<{ data: Shown }>('POST', '/relations', body)).data;
  };

  it('have one member order, whether created, changed or adopted', async () => {
    await create({ schema: { deferrable: 'INITIALLY DEFERRED' } });
    await api.ok('PATCH', AT, { one_field: 'list' });
    await api.sql('CREATE TABLE parent (id integer PRIMARY KEY)');
    await api.sql('CREATE TABLE child (id integer PRIMARY KEY, parent integer REFERENCES parent)');
    await api.ok('POST', '/schema/adopt', { all: true });
    const { data } = await api.ok<{ data: Shown[] }>('GET', '/relations');
    expect(data).length(2);
    for (const relation of data) {
      expect(Object.keys(relation)).deep.equal(MEMBERS);
      expect(Object.keys(relation.meta)).deep.equal(FLAT);
      expect(Object.keys(relation.schema ?? {}).filter((member) => member !== 'deferrable')).deep.equal(KEY);
    }
    expect(data[0]?.schema).include({ table: 'child', column: 'parent', foreign_key_column: 'id' });
    const { data: one } = await api.ok<{ data: Shown }>('GET', AT);
    expect(JSON.stringify(one)).equal(JSON.stringify(data[1]));
    const { data: own } = await api.ok<{ data: Shown[] }>('GET', '/relations/many');
    expect(JSON.stringify(own)).equal(JSON.stringify([one]));
  });

  it('can be sent back as returned without changes', async () => {
    const created = await create({ one_field: 'list', schema: { on_delete: 'CASCADE' } });
    await api.appends([], 'PATCH', AT, created);
    await api.ok('DELETE', AT);
    await api.ok('POST', '/fields/one', { field: 'list', type: 'alias', meta: { special: ['o2m'] } });
    const again = await create(created);
    expect({ ...again, id: 0, meta: 0 }).deep.equal({ ...created, id: 0, meta: 0 });
  });

  it('can be changed in either format of the response', async () => {
    const read = await create();
    const nested = { ...read, meta: { ...read.meta, one_field: 'list' } };
    await api.appends(['relation.updated many.ref'], 'PATCH', AT, nested);
    const { data } = await api.ok<{ data: Shown }>('GET', AT);
    expect([data.one_field, data.meta['one_field']]).deep.equal(['list', 'list']);
    await api.appends(['relation.updated many.ref'], 'PATCH', AT, { ...data, one_field: null });
    const { data: back } = await api.ok<{ data: Shown }>('GET', AT);
    await api.ok('PATCH', AT, { ...back, related_collection: 'other' });
    const { data: moved } = await api.ok<{ data: Shown }>('GET', AT);
    expect([moved.one_collection, moved.schema?.['foreign_key_table']]).deep.equal(['other', 'other']);
  });

  it('are rejected for contradictions and unknown members', async () => {
    const read = await create();
    const both = { ...read, one_field: 'list', meta: { ...read.meta, one_field: 'third' } };
    await api.refused({ ...INVALID, at: 'meta.one_field' }, 'PATCH', AT, both);
    await api.refused({ ...INVALID, at: 'meta.searchable' }, 'PATCH', AT, { meta: { searchable: true } });
    await api.refused({ ...INVALID, at: 'schema.schema' }, 'PATCH', AT, { schema: { schema: 'public' } });
    const other = { schema: { foreign_key_schema: 'elsewhere' } };
    await api.refused({ ...INVALID, at: 'schema.foreign_key_schema' }, 'PATCH', AT, other);
    await api.appends([], 'PATCH', AT, { schema: { foreign_key_schema: 'public', foreign_key_table: 'one' } });
    await api.refused({ ...INVALID, at: 'schema.foreign_key_table' }, 'PATCH', AT, {
      schema: { foreign_key_table: 'other' },
    });
  });

  it('accept directus_users for the users, unless a collection has that name', async () => {
    await api.ok('POST', '/fields/many', { field: 'owner', type: 'uuid' });
    const body = { collection: 'many', field: 'owner', related_collection: 'directus_users' };
    await api.ok('POST', '/collections', {
      collection: 'directus_users',
      schema: {},
      fields: [{ field: 'id', type: 'uuid', interface: 'input', schema: { is_primary_key: true } }],
    });
    const { data: own } = await api.ok<{ data: Shown }>('POST', '/relations', body);
    expect(own.one_collection).equal('directus_users');
    await api.ok('DELETE', '/relations/many/owner');
    await api.ok('DELETE', '/collections/directus_users');
    const { data: users } = await api.ok<{ data: Shown }>('POST', '/relations', body);
    expect(users.one_collection).equal('service_users');
    const field = { schema: { foreign_key_table: 'directus_users', foreign_key_column: 'id' } };
    await api.appends([], 'PATCH', '/fields/many/owner', field);
  });

  it('are flat in snapshots', async () => {
    await create();
    const { relations } = await api.ok<{ relations: object[] }>('GET', '/schema/snapshot');
    expect(relations.map((each) => Object.keys(each))).deep.equal([[...FLAT, 'schema']]);
    expect(Object.keys((relations[0] as Shown).schema ?? {})).deep.equal(['constraint_name', 'on_update', 'on_delete']);
  });
});
