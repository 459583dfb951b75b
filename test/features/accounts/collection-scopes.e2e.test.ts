import { expect } from 'chai';
import { connectAgent } from '../../support/agent.js';
import { json, type Reply, type Send } from '../../support/client.js';
import { allRoutes } from '../../support/openapi.js';
import { withService } from '../../support/with-service.js';

const field = (name: string, schema: object = {}, type = 'string'): object => ({
  field: name,
  type,
  meta: { interface: 'input' },
  schema,
});
const KEY = field('id', { is_primary_key: true, has_auto_increment: true }, 'integer');
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

interface Snapshot {
  collections: { collection: string }[];
  fields: { collection: string; field: string }[];
  relations: { many_collection: string; many_field: string }[];
}

interface ErrorBody {
  errors?: { message: string; extensions: { code: string; missing_scope?: string } }[];
}

const missingOf = ({ status, json: body }: Reply): unknown[] => [
  status,
  (body as ErrorBody | null)?.errors?.[0]?.extensions.missing_scope,
];
const REJECTED = [403, 'collections'];

/** The name of the hidden collection must not occur in anything that a token with a scope receives. */
const HIDDEN = 'payroll';

describe('scopes over collections', () => {
  const { api, client, service } = withService({ settings: { OBJECTS: 'on' }, consistent: true });
  let admin: string;
  let token: string;

  const build = async (scope: object, user = admin): Promise<string> =>
    (await api.ok<{ data: { token: string } }>('POST', `/users/${user}/tokens`, { scope })).data.token;

  /** With the token of the shop. */
  const send = async (path: string, request: Send = {}): Promise<Reply> => client(path, { token, ...request });
  const change = async (path: string, body: unknown, method = 'POST'): Promise<Reply> => send(path, json(body, method));
  const read = async <T>(path: string): Promise<T> => {
    const { status, json: body, text } = await send(path);
    expect(status, text).equal(200);
    return body as T;
  };

  before(async () => {
    admin = (await api.ok<{ data: { id: string } }>('GET', '/users/me')).data.id;
    await api.ok('POST', '/collections', { collection: HIDDEN, schema: {}, fields: [KEY, field('salary')] });
    await api.ok('POST', '/collections', { collection: 'shop_orders', schema: {}, fields: [KEY, field('title')] });
    await api.ok('POST', '/collections', { collection: 'shop_items', schema: {}, fields: [KEY, field('label')] });
    await api.ok('POST', '/fields/shop_items', field('order', {}, 'integer'));
    await api.ok('POST', '/fields/shop_items', field('paid_by', {}, 'integer'));
    await api.ok('POST', '/relations', { collection: 'shop_items', field: 'order', related_collection: 'shop_orders' });
    await api.ok('POST', '/relations', { collection: 'shop_items', field: 'paid_by', related_collection: HIDDEN });
    token = await build({ collections: ['shop_*'] });
  });

  it('are rejected by each route that does not limit its work to collections', async () => {
    const supported: string[] = [];
    for (const { method, path, access, action, collections } of allRoutes()) {
      const name = `${method.toUpperCase()} ${path}`;
      if (access === 'anyone' || action === 'unscoped') continue;
      if (collections !== null) {
        supported.push(name);
        continue;
      }
      const target = path.replaceAll(/:(\w+)/g, UNKNOWN);
      expect(missingOf(await send(target, { method: method.toUpperCase() })), name).deep.equal(REJECTED);
    }
    expect(supported.toSorted()).deep.equal([
      'DELETE /collections/:id',
      'DELETE /fields/:collection/:field',
      'DELETE /relations/:collection/:field',
      'GET /changes',
      'GET /changes/:id',
      'GET /collections',
      'GET /collections/:id',
      'GET /collections/:id/sample',
      'GET /fields',
      'GET /fields/:collection',
      'GET /fields/:collection/:field',
      'GET /relations',
      'GET /relations/:collection',
      'GET /relations/:collection/:field',
      'GET /schema/snapshot',
      'GET /schema/types',
      'GET /users/me',
      'PATCH /changes/:id',
      'PATCH /collections',
      'PATCH /collections/:id',
      'PATCH /fields/:collection',
      'PATCH /fields/:collection/:field',
      'PATCH /relations/:collection/:field',
      'POST /changes',
      'POST /changes/:id/apply',
      'POST /changes/:id/approve',
      'POST /changes/:id/comment',
      'POST /changes/:id/reject',
      'POST /changes/:id/withdraw',
      'POST /collections',
      'POST /collections/:id/rename',
      'POST /fields/:collection',
      'POST /fields/:collection/:field/rename',
      'POST /mcp',
      'POST /relations',
      'POST /schema/apply',
      'POST /schema/diff',
      'POST /schema/merge',
    ]);
  });

  it('leave out other collections, and relations with an end outside the scope, from every response', async () => {
    const paths = [
      '/collections',
      '/collections?limit=100',
      '/collections/shop_items',
      '/fields',
      '/fields?offset=0&limit=100',
      '/fields/shop_items',
      '/fields/shop_items/paid_by',
      '/relations',
      '/relations?limit=100',
      '/relations/shop_items',
      '/schema/snapshot',
      '/schema/snapshot?export=yaml',
      '/schema/types?lang=ts',
      '/schema/types?lang=json-schema',
      '/changes',
    ];
    for (const path of paths) {
      const { status, text } = await send(path);
      expect([path, status]).deep.equal([path, 200]);
      expect(text, path).not.include(HIDDEN);
      expect(text, path).not.include('service_events');
    }
    const { collections, relations } = await read<Snapshot>('/schema/snapshot');
    expect(collections.map(({ collection }) => collection)).deep.equal(['shop_items', 'shop_orders']);
    expect(relations.map((each) => each.many_field)).deep.equal(['order']);
    expect(await read('/collections?meta=total_count&limit=0')).deep.include({ meta: { total_count: 2 } });
  });

  it('share no cached response and no validator with other tokens', async () => {
    const own = await send('/collections');
    const all = await client('/collections');
    const again = await send('/collections');
    expect(again.text).equal(own.text);
    expect(all.text).include(HIDDEN);
    expect(own.headers.get('etag')).not.equal(all.headers.get('etag'));
    const validated = await send('/collections', { headers: { 'if-none-match': all.headers.get('etag') ?? '' } });
    expect(validated.status).equal(200);
    const other = await build({ collections: ['shop_orders'] });
    expect((await client('/collections', { token: other })).text).not.include('shop_items');
    expect((await send('/collections')).text).equal(own.text);
  });

  it('give the same error for names outside the scope, whether or not a collection has the name', async () => {
    for (const name of [HIDDEN, 'nothing']) {
      const attempts: [string, Send][] = [
        [`/collections/${name}`, {}],
        [`/collections/${name}/sample`, {}],
        [`/fields/${name}`, {}],
        [`/fields/${name}/id`, {}],
        [`/relations/${name}`, {}],
        [`/collections/${name}`, json({ meta: { note: 'x' } }, 'PATCH')],
        [`/collections/${name}`, { method: 'DELETE' }],
        [`/collections/${name}/rename`, json({ to: 'shop_new' })],
        [`/fields/${name}`, json(field('more'))],
        ['/collections', json({ collection: name, schema: {}, fields: [KEY] })],
        [
          '/collections',
          json([
            { collection: 'shop_more', schema: {}, fields: [KEY] },
            { collection: name, schema: null },
          ]),
        ],
        ['/collections', json([{ collection: name, meta: { note: 'x' } }], 'PATCH')],
        ['/relations', json({ collection: 'shop_items', field: 'label', related_collection: name })],
        ['/relations', json({ collection: name, field: 'id', related_collection: 'shop_items' })],
        ['/relations/shop_items/order', json({ meta: { one_allowed_collections: [name] } }, 'PATCH')],
        [
          '/schema/diff',
          json({ version: 1, collections: [{ collection: name, schema: null }], fields: [], relations: [] }),
        ],
      ];
      for (const [path, request] of attempts)
        expect(missingOf(await send(path, request)), `${name}: ${request.method ?? 'GET'} ${path}`).deep.equal(
          REJECTED,
        );
    }
    expect((await client(`/collections/shop_more`)).status).equal(404);
  });

  it('allow changes within the scope', async () => {
    const made = await change('/collections', { collection: 'shop_carts', schema: {}, fields: [KEY] });
    expect(made.status, made.text).equal(200);
    expect((await change('/fields/shop_carts', field('order', {}, 'integer'))).status).equal(200);
    const relation = { collection: 'shop_carts', field: 'order', related_collection: 'shop_orders' };
    expect((await change('/relations', relation)).status).equal(200);
    expect((await change('/collections/shop_carts/rename', { to: 'shop_baskets' })).status).equal(200);
    expect((await send('/collections/shop_baskets?purge', { method: 'DELETE' })).status).equal(204);
  });

  it('reject a rename out of the pattern, even to the name of another collection', async () => {
    for (const to of ['archive_orders', HIDDEN, 'shopping']) {
      const reply = await change('/collections/shop_orders/rename', { to });
      expect(missingOf(reply), to).deep.equal(REJECTED);
    }
    expect((await client('/collections/shop_orders')).status).equal(200);
  });

  it('reject a change whose cascade reaches a collection outside the scope', async () => {
    await api.ok('POST', '/fields/' + HIDDEN, field('order', {}, 'integer'));
    await api.ok('POST', '/relations', { collection: HIDDEN, field: 'order', related_collection: 'shop_orders' });
    for (const request of [{ method: 'DELETE' }, json({ to: 'shop_purchases' })]) {
      const path = request.method === 'DELETE' ? '/collections/shop_orders' : '/collections/shop_orders/rename';
      for (const query of ['', '?dry_run', '?explain']) {
        const reply = await send(path + query, request);
        expect(missingOf(reply), path + query).deep.equal(REJECTED);
        expect(reply.text).not.include(HIDDEN);
      }
    }
    // The relation that the token cannot see is removed with its field.
    expect(missingOf(await send('/fields/shop_items/paid_by', { method: 'DELETE' }))).deep.equal(REJECTED);
    expect(missingOf(await send('/relations/shop_items/paid_by', { method: 'DELETE' }))).deep.equal(REJECTED);
    await api.ok('DELETE', `/relations/${HIDDEN}/order`);
  });

  it('reject a foreign key to a table outside the scope, and a partition of one', async () => {
    const key = { name: 'to_hidden', definition: `FOREIGN KEY (id) REFERENCES ${HIDDEN}(id)`, references: HIDDEN };
    for (const extras of [{ constraints: [key] }, { partition_of: { table: HIDDEN, bound: 'DEFAULT' } }]) {
      const created = { collection: 'shop_spies', schema: { extras }, fields: [KEY] };
      expect(missingOf(await change('/collections', created))).deep.equal(REJECTED);
      const changed = await change('/collections/shop_orders', { schema: { extras } }, 'PATCH');
      expect(missingOf(changed)).deep.equal(REJECTED);
    }
  });

  it('reject a group outside the scope, and a change to a view', async () => {
    await api.ok('POST', '/collections', { collection: 'folder', schema: null });
    const grouped = await change('/collections/shop_items', { meta: { group: 'folder' } }, 'PATCH');
    expect(missingOf(grouped)).deep.equal(REJECTED);
    await api.ok('PATCH', '/collections/shop_items', { meta: { group: 'folder' } });
    expect((await send('/collections/shop_items')).text).not.include('folder');
    const definition = 'CREATE VIEW hidden_view AS SELECT label FROM shop_items';
    await api.ok('POST', '/objects', { kind: 'view', id: 'hidden_view', definition });
    const renamed = await change('/fields/shop_items/label/rename', { to: 'caption' });
    expect(renamed.status, renamed.text).equal(403);
    expect(renamed.text).not.include('hidden_view');
    await api.ok('DELETE', '/objects/view/hidden_view');
    await api.ok('PATCH', '/collections/shop_items', { meta: { group: null } });
  });

  it('do not show the definition of a view that a change recreates', async () => {
    const definition = `CREATE VIEW shop_view AS SELECT i.label FROM shop_items i CROSS JOIN ${HIDDEN} h`;
    await api.ok('POST', '/objects', { kind: 'view', definition });
    for (const mode of ['dry_run', 'explain']) {
      const planned = await change(`/fields/shop_items/label?${mode}`, { type: 'text' }, 'PATCH');
      expect(planned.status, planned.text).equal(200);
      expect(planned.text).not.include(HIDDEN);
      expect(planned.text).not.include('shop_view');
      const { statements, warnings } = planned.json as { statements: { collection: string }[]; warnings: object[] };
      expect(statements.map(({ collection }) => collection)).deep.equal(['shop_items', 'shop_items', 'shop_items']);
      expect(warnings).deep.equal([]);
    }
    await api.ok('DELETE', '/objects/view/shop_view');
  });

  it('allow changes to a table with a trigger, but not to the trigger itself', async () => {
    await api.ok('POST', '/collections', { collection: 'shop_notes', schema: {}, fields: [KEY, field('text')] });
    await api.ok('POST', '/objects', {
      kind: 'function',
      definition: 'CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    });
    const definition = 'CREATE TRIGGER mark BEFORE UPDATE OF text ON shop_notes FOR EACH ROW EXECUTE FUNCTION mark()';
    await api.ok('POST', '/objects', { kind: 'trigger', definition });
    const column = await change('/fields/shop_notes/text/rename', { to: 'body' });
    expect(column.status, column.text).equal(200);
    const table = await change('/collections/shop_notes/rename', { to: 'shop_remarks' });
    expect(table.status, table.text).equal(200);
    const { hash } = await read<{ hash: string }>('/schema/snapshot').then(async (snapshot) => {
      const compared = await change('/schema/diff', snapshot);
      return compared.json as { hash: string };
    });
    const id = 'mark on shop_remarks';
    const { data: lhs } = await api.ok<{ data: object }>('GET', `/objects/trigger/${id}`);
    const removal = { hash, diff: { objects: [{ kind: 'trigger', id, diff: [{ kind: 'D', lhs }] }] } };
    expect(missingOf(await change('/schema/apply', removal))).deep.equal(REJECTED);
    expect((await api.ok<{ data: object[] }>('GET', '/objects?kind=trigger&fields=id')).data).deep.equal([{ id }]);
    const deleted = await send('/collections/shop_remarks', { method: 'DELETE' });
    expect(deleted.status, deleted.text).to.be.within(200, 204);
    await api.ok('DELETE', '/objects/function/mark()');
  });

  it('reject changes to a rule, and to a table whose rule uses other collections', async () => {
    for (const collection of ['shop_notes', 'shop_log'])
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [KEY, field('text')] });
    const within = 'CREATE RULE log AS ON UPDATE TO shop_notes DO ALSO INSERT INTO shop_log (text) VALUES (old.text)';
    await api.ok('POST', '/objects', { kind: 'rule', definition: within });
    const type = await change('/fields/shop_notes/text', { type: 'text' }, 'PATCH');
    expect(type.status, type.text).equal(200);
    const renamed = await change('/collections/shop_log/rename', { to: 'shop_changes' });
    expect(renamed.status, renamed.text).equal(200);
    const created = { kind: 'rule', definition: 'CREATE RULE keep AS ON DELETE TO shop_notes DO INSTEAD NOTHING' };
    expect((await change('/objects', created)).status).equal(403);
    const definition = `CREATE RULE other AS ON UPDATE TO shop_notes DO ALSO DELETE FROM ${HIDDEN} WHERE ${HIDDEN}.id = old.id`;
    await api.ok('POST', '/objects', { kind: 'rule', definition });
    for (const mode of ['?dry_run', '?explain', '']) {
      const reply = await change(`/fields/shop_notes/id${mode}`, { type: 'bigInteger' }, 'PATCH');
      expect(missingOf(reply), reply.text).deep.equal(REJECTED);
      expect(reply.text).not.include(HIDDEN);
    }
    await api.ok('DELETE', '/objects/rule/other on shop_notes');
    const deleted = await send('/collections/shop_notes', { method: 'DELETE' });
    expect(deleted.status, deleted.text).to.be.within(200, 204);
    await api.ok('DELETE', '/collections/shop_changes');
  });

  it('reject changes to privileges, but not to a table and columns with privileges', async () => {
    const fields = [KEY, field('text'), field('note')];
    await api.ok('POST', '/collections', { collection: 'shop_notes', schema: {}, fields });
    const id = (role: string): string => `${role} on shop_notes`;
    const privileges = (role: string, definition: unknown) => ({ kind: 'privileges', id: id(role), definition });
    await api.ok('POST', '/objects', privileges('pg_monitor', [{ name: 'SELECT', columns: ['note', 'text'] }]));
    await api.ok('POST', '/objects', privileges('public', [{ name: 'SELECT', columns: ['note'] }]));
    expect((await change('/objects', privileges('pg_read_all_stats', [{ name: 'SELECT' }]))).status).equal(403);
    const secret = `CREATE FUNCTION secret() RETURNS integer LANGUAGE sql AS 'SELECT 1'`;
    await api.ok('POST', '/objects', { kind: 'function', definition: secret });
    const revoked = { kind: 'privileges', definition: 'REVOKE EXECUTE ON FUNCTION secret() FROM PUBLIC' };
    expect((await change('/objects', revoked)).status).equal(403);
    await api.ok('DELETE', '/objects/function/secret()');
    const { hash } = (await change('/schema/diff', await read('/schema/snapshot'))).json as { hash: string };
    const { data: lhs } = await api.ok<{ data: object }>('GET', '/objects/privileges/public on shop_notes');
    const diff = {
      fields: [
        { collection: 'shop_notes', field: 'note', diff: [{ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'x' }] },
      ],
      objects: [{ kind: 'privileges', id: 'public on shop_notes', diff: [{ kind: 'D', lhs }] }],
    };
    expect(missingOf(await change('/schema/apply', { hash, diff }))).deep.equal(REJECTED);
    const before = await api.head();
    const deleted = await send('/fields/shop_notes/note', { method: 'DELETE' });
    expect(deleted.status, deleted.text).to.be.within(200, 204);
    const back = await change('/schema/apply', await api.ok('GET', `/history/diff?to=${before}`));
    expect(missingOf(back), back.text).deep.equal(REJECTED);
    const { data: trash } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${trash[0]?.position}/restore`, {});
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects?kind=privileges&fields=id,definition');
    expect(data).deep.equal([
      { id: 'pg_monitor on shop_notes', definition: [{ name: 'SELECT', columns: ['note', 'text'] }] },
      { id: 'public on shop_notes', definition: [{ name: 'SELECT', columns: ['note'] }] },
    ]);
    const renamed = await change('/fields/shop_notes/text/rename', { to: 'body' });
    expect(renamed.status, renamed.text).equal(200);
    const gone = await send('/collections/shop_notes', { method: 'DELETE' });
    expect(gone.status, gone.text).to.be.within(200, 204);
  });

  it('reject a trigger in a diff that deletes a namesake of its view, or restores its table', async () => {
    const call = 'FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()';
    const view = 'CREATE VIEW shop_view AS SELECT label FROM shop_items';
    await api.ok('POST', '/objects', { kind: 'view', definition: view });
    const guard = `CREATE TRIGGER guard INSTEAD OF UPDATE ON shop_view ${call}`;
    await api.ok('POST', '/objects', { kind: 'trigger', definition: guard });
    await api.ok('POST', '/collections', { collection: 'shop_view', schema: null });
    const hashNow = async (): Promise<string> =>
      ((await change('/schema/diff', await read('/schema/snapshot'))).json as { hash: string }).hash;
    const objectEntry = (id: string, entry: object) => ({ kind: 'trigger', id, diff: [entry] });
    const { data: folder } = await api.ok<{ data: object }>('GET', '/collections/shop_view');
    const { data: trigger } = await api.ok<{ data: object }>('GET', '/objects/trigger/guard on shop_view');
    const namesake = {
      collections: [{ collection: 'shop_view', diff: [{ kind: 'D', lhs: folder }] }],
      objects: [objectEntry('guard on shop_view', { kind: 'D', lhs: trigger })],
    };
    const deletion = await change('/schema/apply', { hash: await hashNow(), diff: namesake });
    expect(missingOf(deletion), deletion.text).deep.equal(REJECTED);

    await api.ok('POST', '/collections', { collection: 'shop_old', schema: {}, fields: [KEY] });
    const position = await api.head();
    await api.ok('DELETE', '/collections/shop_old');
    const rhs = {
      kind: 'trigger',
      id: 'mark on shop_old',
      definition: `CREATE TRIGGER mark BEFORE UPDATE ON shop_old ${call}`,
    };
    const { diff: whole } = await api.ok<{ diff: object }>('GET', `/history/diff?to=${position}`);
    const restoring = { ...whole, objects: [objectEntry(rhs.id, { kind: 'N', rhs })] };
    const restoration = await change('/schema/apply', { hash: await hashNow(), diff: restoring });
    expect(missingOf(restoration), restoration.text).deep.equal(REJECTED);
    for (const path of ['/collections/shop_view', '/objects/trigger/guard on shop_view', '/objects/view/shop_view'])
      await api.ok('DELETE', path);
  });

  it('apply a diff that a snapshot within the scope produces', async () => {
    const snapshot = await read<Snapshot>('/schema/snapshot');
    const target = { ...snapshot, fields: [...snapshot.fields, { collection: 'shop_orders', ...field('vat') }] };
    const compared = await change('/schema/diff', target);
    expect(compared.status, compared.text).equal(200);
    expect(compared.text).not.include(HIDDEN);
    expect((await change('/schema/apply?explain', compared.json)).status).equal(200);
    expect((await change('/schema/apply', compared.json)).status).equal(204);
    const { hash } = (await client('/schema/diff', json(await api.ok('GET', '/schema/snapshot')))).json as {
      hash: string;
    };
    const stolen = { hash, diff: { fields: [{ collection: HIDDEN, field: 'salary', diff: [{ kind: 'D' }] }] } };
    expect(missingOf(await change('/schema/apply', stolen))).deep.equal(REJECTED);
    const retargeted = {
      hash,
      diff: {
        relations: [
          {
            collection: 'shop_items',
            field: 'order',
            related_collection: 'shop_orders',
            diff: [{ kind: 'E', path: ['related_collection'], lhs: 'shop_orders', rhs: HIDDEN }],
          },
        ],
      },
    };
    expect(missingOf(await change('/schema/apply', retargeted))).deep.equal(REJECTED);
  });

  it('compare If-Match with the snapshot of the scope', async () => {
    const etag = (await send('/schema/snapshot')).headers.get('etag') ?? '';
    const headers = { 'content-type': 'application/json', 'if-match': etag };
    const request = { method: 'PATCH', body: JSON.stringify({ meta: { note: 'matched' } }), headers };
    expect((await send('/collections/shop_orders', request)).status).equal(200);
    expect((await send('/collections/shop_orders', request)).status).equal(412);
  });

  it('do not restore a deleted collection outside the scope under a name within it', async () => {
    await api.ok('POST', '/collections', { collection: 'secrets', schema: {}, fields: [KEY, field('value')] });
    const before = await api.head();
    await api.ok('DELETE', '/collections/secrets');
    const undo = await api.ok<object>('GET', `/history/diff?to=${before}`);
    expect(missingOf(await change('/schema/apply', undo))).deep.equal(REJECTED);
    const renamed: unknown = JSON.parse(JSON.stringify(undo).replaceAll('secrets', 'shop_secrets'));
    expect(missingOf(await change('/schema/apply', renamed))).deep.equal(REJECTED);
  });

  it('hide in a merge what a collection outside the scope contained under a name within it', async () => {
    const { data } = await api.ok<{ data: { position: number } }>('GET', '/server/info');
    await api.ok('POST', '/collections', { collection: 'shop_wages', schema: {}, fields: [KEY, field('bonus')] });
    await api.ok('POST', '/collections/shop_wages/rename', { to: 'wages' });
    const theirs = await read<Snapshot>('/schema/snapshot');
    const past = data.position + 1;
    // Deletes everything that the snapshot lacks, so the diff contains it.
    const { status, text } = await change('/schema/merge?mode=mirror', { base: past, ours: past, theirs });
    expect(status, text).equal(200);
    for (const hidden of ['bonus', 'wages']) expect(text).not.include(hidden);
  });

  it('do not name other collections in an error of the policy', async () => {
    const meta = { interface: 'input', options: { from: 'shop_bills' } };
    await api.ok('POST', '/collections', { collection: 'shop_bills', schema: {}, fields: [KEY] });
    await api.ok('POST', `/fields/${HIDDEN}`, { field: 'bills', type: 'string', meta, schema: {} });
    const rename = json({ to: 'shop_invoices' });
    const path = '/collections/shop_bills/rename';
    const all = await client(`${path}?explain`, rename);
    expect(all.text).include('NAME_STILL_USED').and.include(HIDDEN);
    const own = await send(`${path}?explain`, rename);
    expect([own.status, own.text.includes(HIDDEN)]).deep.equal([200, false]);
    await api.ok('PUT', '/policy', { findings: { NAME_STILL_USED: 'refuse' } });
    const blocked = await send(path, rename);
    expect(missingOf(blocked)).deep.equal(REJECTED);
    expect(blocked.text).not.include(HIDDEN);
    await api.ok('PUT', '/policy', {});
  });

  it('reject a diff that creates a view', async () => {
    const { hash } = (await change('/schema/diff', await read('/schema/snapshot'))).json as { hash: string };
    const object = {
      kind: 'view',
      id: 'shop_view',
      definition: `CREATE VIEW shop_view AS SELECT salary FROM ${HIDDEN}`,
    };
    const diff = { objects: [{ kind: 'view', id: 'shop_view', diff: [{ kind: 'N', rhs: object }] }] };
    const reply = await change('/schema/apply', { hash, diff });
    expect(missingOf(reply), reply.text).deep.equal(REJECTED);
  });

  it('do not replay the response of a token with a different scope', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'same' };
    const request = { method: 'PATCH', headers, body: JSON.stringify({ meta: { note: 'once' } }) };
    const first = await client('/collections/shop_items', request);
    expect(first.status).equal(200);
    const { status, codes, text } = await send('/collections/shop_items', request);
    expect([status, codes]).deep.equal([409, ['IDEMPOTENCY_MISMATCH']]);
    expect(text).not.include(HIDDEN);
  });

  it('reject online changes, which the service carries out later', async () => {
    const reply = await change('/fields/shop_items?online', field('later'));
    expect(missingOf(reply)).deep.equal(REJECTED);
  });

  it('show, propose and apply only change requests within the scope', async () => {
    const hash = (
      (await client('/schema/diff', json(await api.ok('GET', '/schema/snapshot')))).json as { hash: string }
    ).hash;
    const creation = (collection: string) => ({
      hash,
      diff: { collections: [{ collection, diff: [{ kind: 'N', rhs: { collection, schema: null } }] }] },
    });
    const propose = async (by: typeof send, title: string, diff: object): Promise<string> => {
      const { status, json: body, text } = await by('/changes', json({ title, reason: 'test', diff }));
      expect(status, text).equal(201);
      return (body as { data: { id: string } }).data.id;
    };
    const theirs = await propose(client, 'hidden title', creation('payroll_folder'));
    const own = await propose(send, 'own title', creation('shop_folder'));
    expect(missingOf(await change('/changes', { title: 't', diff: creation('other') }))).deep.equal(REJECTED);
    const policy = { approvals: 2 };
    expect(missingOf(await change('/changes', { title: 't', reason: 'test', policy }))).deep.equal(REJECTED);
    const list = await read<{ data: { id: string }[]; meta: object }>('/changes?meta=total_count,filter_count');
    expect(list.data.map(({ id }) => id)).deep.equal([own]);
    expect(list.meta).deep.equal({ total_count: 1, filter_count: 1 });
    const actions = ['', '/comment', '/approve', '/reject', '/withdraw', '/apply'];
    for (const action of actions) {
      const body =
        action === '/comment'
          ? json({ comment: 'x' })
          : action === '/approve'
            ? json({ plan: '0'.repeat(64) })
            : json({});
      const reply = await send(`/changes/${theirs}${action}`, action === '' ? {} : body);
      expect(missingOf(reply), action).deep.equal(REJECTED);
    }
    expect((await send(`/changes/${own}`)).status).equal(200);
    const later = json({ at: '2099-01-01T00:00:00Z' });
    expect(missingOf(await send(`/changes/${own}/apply`, later))).deep.equal(REJECTED);
    const applied = await change(`/changes/${own}/apply`, {});
    expect(applied.status, applied.text).equal(200);
    await api.ok('POST', `/changes/${theirs}/withdraw`);
  });

  it('are shown by GET /users/me, and do not grow with the role of the user', async () => {
    const user = await api.ok<{ data: { id: string } }>('POST', '/users', {
      email: 'grows@example.com',
      role: 'reader',
    });
    const narrow = await build({ collections: ['shop_*', 'news'] }, user.data.id);
    const scope = { role: 'reader', collections: ['shop_*', 'news'] };
    const access = async (): Promise<object> =>
      ((await client('/users/me?fields=access', { token: narrow })).json as { data: { access: object } }).data.access;
    expect(await access()).deep.include({ role: 'reader', scope });
    await api.ok('PATCH', `/users/${user.data.id}`, { role: 'admin' });
    expect(await access()).deep.include({ role: 'reader', scope });
    expect((await client(`/collections/${HIDDEN}`, { token: narrow })).status).equal(403);
    const created = await client('/collections', { ...json({ collection: 'shop_wide', schema: null }), token: narrow });
    expect(created.status).equal(403);
  });

  it('limit the tools of an agent, and offer the apply tool only with the action apply', async () => {
    const limited = await connectAgent(service, token);
    const applying = await connectAgent(
      service,
      await build({ collections: ['shop_*'], actions: ['read', 'propose', 'apply'] }),
    );
    const reading = await connectAgent(service, await build({ actions: ['read'] }));
    const whole = await connectAgent(service, service.adminToken);
    try {
      const tools = await limited.tools();
      expect(tools).includes('propose_change').and.not.includes('history').and.not.includes('verify');
      for (const agent of [limited, reading, whole]) expect(await agent.tools()).not.includes('apply_change_request');
      expect(await reading.tools()).not.includes('propose_change');
      expect(await applying.tools()).includes('apply_change_request');
      for (const [name, input] of [
        ['list_collections', {}],
        ['search', { text: 'a' }],
        ['list_change_requests', {}],
        ['describe_collection', { collection: 'shop_items' }],
      ] as const) {
        const { content } = await limited.call(name, input);
        expect(content.join(''), name).not.include('salary').and.not.include('hidden title');
      }
      const { isError } = await limited.call('describe_collection', { collection: HIDDEN });
      expect(isError).equal(true);
      const proposal = {
        title: 'A folder',
        reason: 'test',
        change: { collections: [{ collection: 'shop_box', schema: null }] },
      };
      const { data } = await applying.answer<{ data: { id: string } }>('propose_change', proposal);
      expect((await limited.call('apply_change_request', { id: data.id })).isError).equal(true);
      await applying.answer('apply_change_request', { id: data.id });
      expect((await client('/collections/shop_box')).status).equal(200);
      const outside = { ...proposal, change: { collections: [{ collection: 'elsewhere', schema: null }] } };
      expect((await applying.call('propose_change', outside)).isError).equal(true);
    } finally {
      for (const agent of [limited, applying, reading, whole]) await agent.close();
    }
  });
});
