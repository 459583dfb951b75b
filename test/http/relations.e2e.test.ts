import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { alias, key, plain } from './routes/columns.js';

interface Shown {
  [member: string]: unknown;
  schema: Record<string, unknown> | null;
}

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };
const AT = '/relations/many/ref';

describe('relations over HTTP', () => {
  const { api } = withService({ each: true, consistent: true });
  beforeEach(async () => {
    await create('one', [key('id'), alias('list'), alias('other_list'), plain('name', 'string')]);
    await create('other', [key('id'), alias('list')]);
    await create('many', [
      key('id'),
      plain('ref', 'integer'),
      plain('sort', 'integer'),
      plain('kind', 'string'),
      alias('x'),
    ]);
  });

  const create = (collection: string, fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields });
  const post = async (body: object) => (await api.ok<{ data: Shown }>('POST', '/relations', body)).data;
  const patch = async (body: object) => (await api.ok<{ data: Shown }>('PATCH', AT, body)).data;
  const foreignKeys = (table = 'many') =>
    api.sql(
      `SELECT conname AS name, pg_get_constraintdef(oid) AS key FROM pg_constraint
        WHERE contype = 'f' AND conrelid = $1::regclass`,
      [table],
    );

  it('an alias shows one relation: another one that names it is rejected', async () => {
    await post({ many_collection: 'many', many_field: 'ref', one_collection: 'one', one_field: 'list' });
    const second = { many_collection: 'many', many_field: 'sort', one_collection: 'one' };
    const at = { ...INVALID, at: 'one_field' };
    const { message } = await api.refused(at, 'POST', '/relations', { ...second, one_field: 'list' });
    expect(message).to.include('alias "list" of "one" already shows the relation "many.ref"');
    // The same alias name in another collection is another alias.
    await post({ ...second, one_collection: 'other', one_field: 'list' });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'PATCH', '/relations/many/sort', {
      one_collection: 'one',
    });
    await api.ok('PATCH', '/relations/many/sort', { one_collection: 'one', one_field: null });
    await api.refused(at, 'PATCH', '/relations/many/sort', { one_field: 'list' });
    await api.ok('PATCH', '/relations/many/sort', { one_field: 'other_list' });
    // Names the change instead of the older, existing relation.
    const { message: older, extensions } = await api.refused(at, 'PATCH', AT, { one_field: 'other_list' });
    expect(older).to.include('alias "other_list" of "one" already shows the relation "many.sort"');
    expect(extensions['field']).to.equal('ref');
    const snapshot = await api.ok<{ relations: Shown[] }>('GET', '/schema/snapshot');
    for (const relation of snapshot.relations) relation['one_field'] = 'list';
    const diff = await api.ok<object>('POST', '/schema/diff', snapshot).catch((error: Error) => error.message);
    expect(diff).to.include('shows the relation');
  });

  it('the flat and the nested format are equivalent and return the same response', async () => {
    const flat = await post({
      many_collection: 'many',
      many_field: 'ref',
      one_collection: 'one',
      one_field: 'list',
      sort_field: 'sort',
      one_deselect_action: 'delete',
      schema: { on_delete: 'CASCADE' },
    });
    expect(flat['id']).to.equal(await api.head());
    await api.ok('DELETE', AT);
    await api.ok('POST', '/fields/one', alias('list'));
    const nested = await post({
      collection: 'many',
      field: 'ref',
      related_collection: 'one',
      meta: { id: 178, many_collection: 'many', one_field: 'list', sort_field: 'sort', one_deselect_action: 'delete' },
      schema: {
        table: 'many',
        column: 'ref',
        foreign_key_table: 'one',
        foreign_key_column: 'id',
        on_delete: 'CASCADE',
      },
    });
    const unnumbered = (relation: object) => ({ ...relation, id: null, meta: null });
    expect(unnumbered(nested)).to.deep.equal(unnumbered(flat));
    await api.appends([], 'PATCH', AT, nested);
    expect(await api.ok('GET', AT)).to.deep.equal({ data: nested });
  });

  it('the two formats must not contradict each other', async () => {
    const body = { collection: 'many', many_collection: 'one', field: 'ref', related_collection: 'one' };
    await api.refused(INVALID, 'POST', '/relations', body);
    await api.refused({ ...INVALID, at: 'meta.one_collection' }, 'POST', '/relations', {
      collection: 'many',
      field: 'ref',
      related_collection: 'one',
      meta: { one_collection: 'other' },
    });
  });

  it('a foreign key is created unless schema is null, and can be added and removed', async () => {
    await post({ collection: 'many', field: 'ref', related_collection: 'one', schema: null });
    expect(await foreignKeys()).to.deep.equal([]);
    await patch({ schema: {} });
    const key = 'FOREIGN KEY (ref) REFERENCES one(id)';
    expect(await foreignKeys()).to.deep.equal([{ name: 'many_ref_foreign', key }]);
    await patch({ schema: null });
    expect(await foreignKeys()).to.deep.equal([]);
  });

  it('on_delete, on_update and the constraint name are changed one by one', async () => {
    await post({ collection: 'many', field: 'ref', related_collection: 'one' });
    await api.sql('INSERT INTO one VALUES (1)');
    await api.sql('INSERT INTO many VALUES (1, 1)');
    await patch({ schema: { on_delete: 'SET NULL' } });
    const { schema } = await patch({ schema: { on_update: 'CASCADE', constraint_name: 'by hand' } });
    expect(schema).to.deep.include({ constraint_name: 'by hand', on_update: 'CASCADE', on_delete: 'SET NULL' });
    const key = 'FOREIGN KEY (ref) REFERENCES one(id) ON UPDATE CASCADE ON DELETE SET NULL';
    expect(await foreignKeys()).to.deep.equal([{ name: 'by hand', key }]);
    await api.sql('DELETE FROM one');
    expect(await api.sql('SELECT ref FROM many')).to.deep.equal([{ ref: null }]);
    for (const on_delete of ['cascade', 'DROP', null, 1]) {
      await api.refused({ ...INVALID, at: 'schema.on_delete' }, 'PATCH', AT, { schema: { on_delete } });
    }
  });

  it('retargeting changes metadata and database, and reports what does not fit', async () => {
    await post({ collection: 'many', field: 'ref', related_collection: 'one', meta: { one_field: 'list' } });
    await api.sql('INSERT INTO one VALUES (1)');
    await api.sql('INSERT INTO many VALUES (1, 1)');
    const { message } = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', AT, {
      one_collection: 'other',
    });
    expect(message).to.match(/\(1 row has no referenced row\)$/);
    await api.sql('INSERT INTO other VALUES (1)');
    const moved = await patch({ related_collection: 'other' });
    expect(moved).to.include({ one_collection: 'other', one_field: 'list' });
    expect(await foreignKeys()).to.deep.equal([
      { name: 'many_ref_foreign', key: 'FOREIGN KEY (ref) REFERENCES other(id)' },
    ]);
    await api.ok('DELETE', '/fields/other/list');
    await api.ok('DELETE', '/collections/one');
    await api.refused({ ...INVALID, at: 'meta.one_field' }, 'PATCH', AT, { meta: { one_field: 'list' } });
  });

  it('retargeting removes the former alias and its references in one batch', async () => {
    await api.ok('POST', '/fields/one', { ...plain('inside', 'string'), meta: { group: 'list' } });
    await post({ collection: 'many', field: 'ref', related_collection: 'one', meta: { one_field: 'list' } });
    // Without an alias there, nothing changes.
    await api.ok('DELETE', '/fields/other/list');
    const { message } = await api.refused({ ...INVALID, at: 'one_field' }, 'PATCH', AT, { one_collection: 'other' });
    expect(message).to.equal('"list" is not an alias field of "other"; name an alias field, or null');
    await api.ok('POST', '/fields/other', alias('manies'));
    await api.appends(
      ['relation.deleted many.ref', 'field.updated one.inside', 'field.deleted one.list', 'relation.created many.ref'],
      'PATCH',
      AT,
      { one_collection: 'other', one_field: 'manies' },
    );
    // A detached alias stays, because another relation can use it.
    await api.appends(['relation.updated many.ref'], 'PATCH', AT, { one_field: null });
    await patch({ one_field: 'manies' });
    const any = {
      one_collection: null,
      one_field: null,
      one_allowed_collections: ['one'],
      one_collection_field: 'kind',
    };
    await api.appends(
      ['relation.deleted many.ref', 'field.deleted other.manies', 'relation.created many.ref'],
      'PATCH',
      AT,
      any,
    );
  });

  it('a relation becomes many-to-any and back', async () => {
    await post({ collection: 'many', field: 'ref', related_collection: 'one' });
    const any = { one_collection: null, one_allowed_collections: ['one', 'other'], one_collection_field: 'kind' };
    const shown = await patch(any);
    expect(shown).to.deep.include({ ...any, schema: null });
    expect(await foreignKeys()).to.deep.equal([]);
    await patch({ one_allowed_collections: ['other'] });
    await patch({ one_collection: 'other', one_allowed_collections: null, one_collection_field: null, schema: {} });
    expect(await foreignKeys()).to.have.length(1);
  });

  it('a relation may reference its own collection', async () => {
    await post({ collection: 'many', field: 'ref', related_collection: 'many', meta: { one_field: 'x' } });
    await api.sql('INSERT INTO many VALUES (1, 1)');
    await api.appends(['relation.deleted many.ref', 'field.deleted many.x'], 'DELETE', AT);
  });

  it("a relation may reference the service's users by their key", async () => {
    await api.ok('POST', '/fields/many', plain('owner', 'uuid'));
    await post({ collection: 'many', field: 'owner', related_collection: 'service_users' });
    expect(await foreignKeys()).to.deep.equal([
      { name: 'many_owner_foreign', key: 'FOREIGN KEY (owner) REFERENCES service.service_users(id)' },
    ]);
    const { data } = await api.ok<{ data: { schema: object } }>('GET', '/fields/many/owner');
    expect(data.schema).to.include({ foreign_key_table: 'service_users', foreign_key_column: 'id' });
  });

  it('relations of system collections cannot be changed', async () => {
    const forbidden = { status: 403, code: 'FORBIDDEN' };
    const body = { collection: 'service_tokens', field: 'user_id', related_collection: 'one' };
    await api.refused(forbidden, 'POST', '/relations', body);
    await api.refused(forbidden, 'PATCH', '/relations/service_tokens/user_id', {});
    await api.refused(forbidden, 'DELETE', '/relations/service_tokens/user_id');
    await api.refused({ ...INVALID, at: 'related_collection' }, 'POST', '/relations', {
      collection: 'many',
      field: 'ref',
      related_collection: 'service_events',
    });
  });

  it('invalid relations are rejected with the location', async () => {
    await create('texts', [key('code', 'string')]);
    await api.ok('POST', '/collections', { collection: 'folder', schema: null });
    const base = { many_collection: 'many', many_field: 'ref', one_collection: 'one' };
    const refusals: [body: object, at: string][] = [
      [{ ...base, many_collection: 'nope' }, 'many_collection'],
      [{ ...base, many_field: 'nope' }, 'many_field'],
      [{ ...base, many_field: 'x' }, 'many_field'],
      [{ ...base, many_collection: 'folder' }, 'many_field'],
      [{ ...base, one_collection: 'nope' }, 'one_collection'],
      [{ ...base, one_collection: 'folder' }, 'one_collection'],
      [{ ...base, one_collection: 'texts' }, 'many_field'],
      [{ ...base, one_field: 'nope' }, 'one_field'],
      [{ ...base, one_field: 'name' }, 'one_field'],
      [{ ...base, sort_field: 'nope' }, 'sort_field'],
      [{ ...base, junction_field: 'nope' }, 'junction_field'],
      [{ ...base, one_deselect_action: 'drop' }, 'one_deselect_action'],
      [{ ...base, one_allowed_collections: ['one'] }, 'one_collection'],
      [{ ...base, extra: 1 }, 'extra'],
      [{ ...base, meta: { extra: 1 } }, 'meta.extra'],
      [{ ...base, schema: { extra: 1 } }, 'schema.extra'],
      [{ ...base, schema: { constraint_name: 'x'.repeat(64) } }, 'schema.constraint_name'],
      [{ many_field: 'ref', one_collection: 'one' }, 'many_collection'],
      [{ many_collection: 'many', one_collection: 'one' }, 'many_field'],
      [{ many_collection: 'many', many_field: 'ref' }, 'one_collection'],
      [{ ...base, one_collection: null }, 'one_collection'],
    ];
    for (const [body, at] of refusals) await api.refused({ ...INVALID, at }, 'POST', '/relations', body);
    for (const body of [null, [], 'x', [base]]) await api.refused(INVALID, 'POST', '/relations', body);
    const any = { ...base, one_collection: null, one_allowed_collections: ['one'], one_collection_field: 'kind' };
    const refusedAny: [body: object, at: string][] = [
      [{ ...any, one_allowed_collections: ['one', 'nope'] }, 'one_allowed_collections[1]'],
      [{ ...any, one_allowed_collections: ['one', 'one'] }, 'one_allowed_collections'],
      [{ ...any, one_collection_field: 'nope' }, 'one_collection_field'],
      [{ ...any, schema: {} }, 'schema'],
    ];
    for (const [body, at] of refusedAny) await api.refused({ ...INVALID, at }, 'POST', '/relations', body);
    await post(base);
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/relations', base);
    for (const body of [{ many_field: 'sort' }, { collection: 'one' }]) await api.refused(INVALID, 'PATCH', AT, body);
    for (const path of ['/relations/many/sort', '/relations/many/nope', '/relations/nope/x', '/relations/one/list']) {
      await api.refused({ status: 404, code: 'NOT_FOUND' }, 'PATCH', path, {});
      await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', path);
    }
  });

  it('each purpose needs its own field', async () => {
    for (const field of [plain('item', 'string'), plain('doc', 'json')]) await api.ok('POST', '/fields/many', field);
    const base = { many_collection: 'many', many_field: 'ref', one_collection: 'one' };
    const any = {
      many_collection: 'many',
      many_field: 'item',
      one_collection: null,
      one_allowed_collections: ['one'],
      one_collection_field: 'kind',
    };
    const refusals: [body: object, at: string, reason: RegExp][] = [
      [
        { ...any, one_collection_field: 'item' },
        'one_collection_field',
        /"item" already stores the key of the related item/,
      ],
      [{ ...base, junction_field: 'ref' }, 'junction_field', /"ref" already stores the key of the related item/],
      [{ ...base, sort_field: 'ref' }, 'sort_field', /"ref" already stores the key of the related item/],
      [{ ...any, sort_field: 'kind' }, 'sort_field', /"kind" already stores the collection/],
      [{ ...any, junction_field: 'kind' }, 'junction_field', /"kind" already stores the collection/],
      [{ ...base, junction_field: 'sort', sort_field: 'sort' }, 'sort_field', /"sort" already stores the other side/],
      [{ ...base, sort_field: 'x' }, 'sort_field', /is an alias/],
      [{ ...base, junction_field: 'x' }, 'junction_field', /is an alias/],
      [{ ...base, sort_field: 'doc' }, 'sort_field', /cannot be the sort field: json/],
      [{ ...any, one_allowed_collections: [] }, 'one_allowed_collections', /at least one/],
      [{ ...any, one_field: 'list' }, 'one_field', /one_field must be null/],
    ];
    for (const [body, at, reason] of refusals) {
      const { message } = await api.refused({ ...INVALID, at }, 'POST', '/relations', body);
      expect(message).to.match(reason);
    }
    await post({ ...base, sort_field: 'sort' });
    await post(any);
    await api.refused({ ...INVALID, at: 'sort_field' }, 'PATCH', AT, { sort_field: 'ref' });
    const anyAt = '/relations/many/item';
    await api.refused({ ...INVALID, at: 'one_collection_field' }, 'PATCH', anyAt, { one_collection_field: 'item' });
    await api.refused({ ...INVALID, at: 'one_allowed_collections' }, 'PATCH', anyAt, { one_allowed_collections: [] });
    // The field changes, so the relation's locations are not in the body.
    const { message, extensions } = await api.refused(INVALID, 'PATCH', '/fields/many/sort', { type: 'json' });
    expect(message).to.include('"sort" cannot be the sort field');
    expect(extensions).to.include({ collection: 'many', field: 'ref' }).and.not.have.property('path');
    // A deletion may leave no target. Existing values can be sent again, in a request and in a snapshot.
    await api.ok('DELETE', '/relations/many/ref');
    await api.ok('DELETE', '/collections/one');
    expect((await api.ok<{ data: Shown }>('GET', anyAt)).data['one_allowed_collections']).to.deep.equal([]);
    await api.appends([], 'PATCH', anyAt, { one_allowed_collections: [] });
    await api.ok('POST', '/schema/diff', await api.ok('GET', '/schema/snapshot'));
  });

  it('errors use locations of the sent body, in either format', async () => {
    const nested = { collection: 'many', field: 'ref', related_collection: 'one' };
    const refusals: [body: object, at: string][] = [
      [{ ...nested, collection: 'nope' }, 'collection'],
      [{ ...nested, field: 'nope' }, 'field'],
      [{ ...nested, related_collection: 'nope' }, 'related_collection'],
      [{ ...nested, meta: { one_field: 'nope' } }, 'meta.one_field'],
      [{ ...nested, one_field: 'nope' }, 'one_field'],
      [{ ...nested, meta: { one_field: 1 } }, 'meta.one_field'],
      [{ ...nested, meta: { sort_field: 'ref' } }, 'meta.sort_field'],
      [{ ...nested, meta: { one_deselect_action: 'drop' } }, 'meta.one_deselect_action'],
      [{ collection: 'many', related_collection: 'one' }, 'field'],
      [{ field: 'ref', related_collection: 'one' }, 'collection'],
      [{ collection: 'many', field: 'ref' }, 'related_collection'],
      [
        {
          ...nested,
          related_collection: null,
          meta: { one_allowed_collections: ['nope'], one_collection_field: 'kind' },
        },
        'meta.one_allowed_collections[0]',
      ],
      [
        {
          ...nested,
          related_collection: null,
          meta: { one_allowed_collections: ['one'], one_collection_field: 'id' },
        },
        'meta.one_collection_field',
      ],
    ];
    for (const [body, at] of refusals) await api.refused({ ...INVALID, at }, 'POST', '/relations', body);
    await post(nested);
    await api.refused({ ...INVALID, at: 'meta.one_field' }, 'PATCH', AT, { meta: { one_field: 'name' } });
    await api.refused({ ...INVALID, at: 'related_collection' }, 'PATCH', AT, { related_collection: 'nope' });
    await api.refused({ ...INVALID, at: 'related_collection' }, 'PATCH', AT, { related_collection: null });
    const snapshot = await api.ok<{ relations: object[] }>('GET', '/schema/snapshot');
    const relations = [{ ...nested, meta: { one_field: 'nope' } }];
    const at = 'relations[0].meta.one_field';
    await api.refused({ ...INVALID, at }, 'POST', '/schema/diff', { ...snapshot, relations });
  });

  it('two types fit if PostgreSQL can compare them', async () => {
    await create('big', [key('id', 'bigInteger')]);
    await create('texts', [key('code', 'string', { max_length: 10 })]);
    await api.ok('POST', '/fields/many', plain('code', 'text'));
    await post({ collection: 'many', field: 'ref', related_collection: 'big' });
    await post({ collection: 'many', field: 'code', related_collection: 'texts' });
    expect(await foreignKeys()).to.have.length(2);
  });

  it('a deleted relation leaves its column, and a type change keeps its foreign key', async () => {
    await post({ collection: 'many', field: 'ref', related_collection: 'one' });
    await api.ok('PATCH', '/fields/many/ref', { type: 'bigInteger', schema: { is_indexed: true } });
    expect(await foreignKeys()).to.have.length(1);
    await api.appends(['relation.deleted many.ref'], 'DELETE', AT);
    expect(await foreignKeys()).to.deep.equal([]);
    await api.ok('GET', '/fields/many/ref');
  });
});
