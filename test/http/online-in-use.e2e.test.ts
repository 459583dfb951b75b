import { expect } from 'chai';
import { type Gates, makeGates } from '../support/gates.js';
import { type Change, type Online, column, onlineOf } from '../support/online.js';
import { withService } from '../support/with-service.js';

const FIELDS = [column('code', 'integer'), column('owner', 'integer'), column('note'), column('gone')];

describe('a table with a pending online change', () => {
  const { api, service, client } = withService({ consistent: true, atEnd: () => gates.end() });
  let online: Online;
  let gates: Gates;
  let request: Change;
  let trashed: number;
  let deletion: number;

  before(async () => {
    online = onlineOf(api);
    gates = await makeGates(service.databaseUrl);
    await api.ok('POST', '/collections', { collection: 'owners', schema: {}, fields: [column('name')] });
    await api.ok('POST', '/collections', { collection: 'others', schema: {}, fields: [column('item', 'integer')] });
    await online.large('items', FIELDS, `code = i; note = 'n'; gone = 'kept ' || i`);
    await api.ok('PATCH', '/fields/items/note', { schema: { default_value: 'none' } });
    await api.ok('DELETE', '/fields/items/gone');
    deletion = await api.head();
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    trashed = data[0]?.position ?? 0;
    await gates.close('end 1');
    request = await online.open('PATCH', '/fields/items/code', { schema: { is_unique: true } });
    await gates.reached('end 1');
  });

  const refused = async (method: string, path: string, body?: unknown): Promise<void> => {
    const error = await api.refused({ status: 409, code: 'IN_USE' }, method, path, body);
    expect(error.extensions['change'], `${method} ${path}`).to.equal(request.id);
    expect(error.message).to.include(`POST /changes/${request.id}/withdraw`);
  };

  const WAYS: readonly [what: string, method: string, path: string, body?: object][] = [
    ['an update of a field', 'PATCH', '/fields/items/note', { schema: { is_nullable: false } }],
    ['an update of the same field', 'PATCH', '/fields/items/code', { schema: { is_unique: true } }],
    ['another type', 'PATCH', '/fields/items/code', { type: 'bigInteger' }],
    ['an update of several fields', 'PATCH', '/fields/items', [{ field: 'note', schema: { default_value: 'x' } }]],
    ['a new field', 'POST', '/fields/items', column('more')],
    ['a deleted field', 'DELETE', '/fields/items/note'],
    ['a purged field', 'DELETE', '/fields/items/note?purge'],
    ['a renamed field', 'POST', '/fields/items/note/rename', { to: 'remark' }],
    ['a new name of the collection', 'POST', '/collections/items/rename', { to: 'things' }],
    ['the deletion of the collection', 'DELETE', '/collections/items'],
    [
      'a new relation',
      'POST',
      '/relations',
      { collection: 'items', field: 'owner', related_collection: 'owners', schema: {} },
    ],
    [
      'an index that is built concurrently',
      'PATCH',
      '/fields/items/note?concurrentIndexCreation',
      { schema: { is_indexed: true } },
    ],
  ];

  for (const [what, method, path, body] of WAYS)
    it(`rejects other changes with 409 and the id of the request: ${what}`, () => refused(method, path, body));

  it('cannot be changed by an apply', async () => {
    const diff = await online.diff(({ fields }) => {
      for (const { collection, field, schema } of fields)
        if (collection === 'items' && field === 'note') schema.is_nullable = false;
    });
    await refused('POST', '/schema/apply', diff);
  });

  it('cannot be changed by a revert', async () => {
    const back = await api.ok<object>('GET', `/history/diff?from=now&to=${deletion - 1}`);
    await refused('POST', '/schema/apply', back);
  });

  it('cannot receive objects from the trash', () => refused('POST', `/trash/${trashed}/restore`, {}));

  it('rejects accepting drift of the table', async () => {
    await api.sql('ALTER TABLE items ADD COLUMN by_hand integer');
    await refused('POST', '/schema/drift/accept', { collections: ['items'] });
    await api.sql('ALTER TABLE items DROP COLUMN by_hand');
  });

  it('rejects the dry run of an online change that needs no preparation, as the change itself', async () => {
    const path = '/fields/items/note?online';
    const body = { schema: { default_value: 'other' } };
    await refused('PATCH', path, body);
    await refused('PATCH', `${path}&dry_run`, body);
  });

  it('queues further online changes', async () => {
    const queued = await online.open('PATCH', '/fields/items/note', { schema: { is_nullable: false } });
    expect(queued.state).to.equal('queued');
    expect((await online.retrieve(queued.id)).queued_behind).to.deep.equal([request.id]);
    await api.ok('POST', `/changes/${queued.id}/withdraw`);
  });

  it('allows changes to metadata and to other tables', async () => {
    await api.ok('PATCH', '/fields/items/note', { meta: { note: 'for people' } });
    await api.ok('PATCH', '/collections/items', { meta: { icon: 'box' } });
    await api.ok('PATCH', '/fields/others/item', { schema: { default_value: 3 } });
    await api.sql('CREATE TABLE elsewhere (id integer PRIMARY KEY)');
    await api.ok('POST', '/schema/adopt', { tables: ['elsewhere'] });
    expect((await client('/schema/drift')).status).to.equal(200);
  });

  it('gets the requested change in the end, and then accepts others', async () => {
    await gates.open('end 1');
    await online.ended(request.id, 'applied');
    await api.ok('POST', `/trash/${trashed}/restore`, {});
    expect(await api.sql(`SELECT gone FROM items WHERE id = 7`)).to.deep.equal([{ gone: 'kept 7' }]);
    expect(await online.leftBehind()).to.deep.equal([]);
  });
});
