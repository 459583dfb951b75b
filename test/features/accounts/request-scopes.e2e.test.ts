import { expect } from 'chai';
import { json, type Reply, type Send } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

const field = (name: string, type = 'string'): object => ({
  field: name,
  type,
  meta: { interface: 'input' },
  schema: {},
});
const KEY = { ...field('id', 'integer'), schema: { is_primary_key: true, has_auto_increment: true } };
const REJECTED = [403, 'collections'];

/** The name of the hidden collection must not occur in anything that a token with a scope receives. */
const HIDDEN = 'payroll';

const missingOf = ({ status, json: body }: Reply): unknown[] => [
  status,
  (body as { errors?: { extensions: { missing_scope?: string } }[] } | null)?.errors?.[0]?.extensions.missing_scope,
];

interface Shown {
  planned: { statements: { sql: string; collection: string }[]; findings: object[]; tables: { table: string }[] };
}

describe('scopes over collections with change requests', () => {
  const { api, client } = withService({ settings: { OBJECTS: 'on' }, consistent: true });
  let token: string;

  /** With a token of the shop. */
  const send = async (path: string, request: Send = {}): Promise<Reply> => client(path, { token, ...request });
  const change = async (path: string, body: unknown, method = 'POST'): Promise<Reply> => send(path, json(body, method));
  const listed = async (): Promise<{ ids: string[]; text: string; counts: unknown }> => {
    const { status, text, json: body } = await send('/changes?meta=total_count,filter_count');
    expect(status, text).equal(200);
    const { data, meta } = body as { data: { id: string }[]; meta: object };
    return { ids: data.map(({ id }) => id), text, counts: meta };
  };
  const trigger = (name: string, run: string): object => {
    const id = `${name} on shop_items`;
    const definition = `CREATE TRIGGER ${name} BEFORE UPDATE ON shop_items FOR EACH ROW EXECUTE FUNCTION ${run}()`;
    const rhs = { kind: 'trigger', id, definition, comment: null, enabled: 'origin' };
    return { kind: 'trigger', id, diff: [{ kind: 'N', rhs }] };
  };
  /** Proposes a diff as an admin. */
  const propose = async (title: string, diff: object): Promise<string> => {
    const { hash } = await api.ok<{ hash: string }>('POST', '/schema/diff', await api.ok('GET', '/schema/snapshot'));
    const request = { title, reason: 'test', diff: { hash, diff } };
    const { data } = await api.ok<{ data: { id: string; collections: string[] } }>('POST', '/changes', request);
    expect(data.collections).deep.equal(['shop_items']);
    return data.id;
  };
  const expectHidden = async (id: string, ...words: string[]): Promise<void> => {
    for (const [action, request] of [
      ['', {}],
      ['/comment', json({ comment: 'x' })],
      ['/reject', json({})],
      ['/apply', json({})],
      ['/withdraw', json({})],
    ] as const) {
      const reply = await send(`/changes/${id}${action}`, request);
      expect(missingOf(reply), action + reply.text).deep.equal(REJECTED);
      for (const word of words) expect(reply.text, action).not.include(word);
    }
  };

  before(async () => {
    const { data } = await api.ok<{ data: { id: string } }>('GET', '/users/me');
    await api.ok('POST', '/collections', { collection: HIDDEN, schema: {}, fields: [KEY, field('salary')] });
    const fields = [KEY, field('label'), field('paid_by', 'integer')];
    await api.ok('POST', '/collections', { collection: 'shop_items', schema: {}, fields });
    const scope = { collections: ['shop_*'] };
    token = (await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, { scope })).data.token;
  });

  it('hide requests that also change objects other than triggers of the scope', async () => {
    const mine = await propose('still', { objects: [trigger('still', 'suppress_redundant_updates_trigger')] });
    const definition =
      'CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN /* confidential */ RETURN NEW; END $$';
    const rhs = { kind: 'function', id: 'guard()', definition, comment: null };
    const guard = { kind: 'function', id: 'guard()', diff: [{ kind: 'N', rhs }] };
    const mixed = await propose('confidential guard', { objects: [guard, trigger('guard', 'guard')] });
    expect((await change(`/changes/${mine}/comment`, { comment: 'x' })).status).equal(200);

    const list = await listed();
    expect(list.ids).deep.equal([mine]);
    expect(list.text).not.include('confidential');
    expect(list.counts).deep.equal({ total_count: 1, filter_count: 1 });
    await expectHidden(mixed, 'guard', 'confidential');
    await api.ok('POST', `/changes/${mixed}/apply`, {});
    await expectHidden(mixed, 'guard', 'confidential');
    expect((await listed()).ids).deep.equal([mine]);

    // Nobody can see what a withdrawn request contained, except by its title and its comments.
    await api.ok('POST', `/changes/${mine}/withdraw`);
    await expectHidden(mine, 'still');
    expect((await listed()).ids).deep.equal([]);
    await api.ok('DELETE', '/objects/trigger/guard on shop_items');
    await api.ok('DELETE', '/objects/function/guard()');
  });

  it('hide requests that add a relation to a collection outside the scope', async () => {
    const rhs = { collection: 'shop_items', field: 'paid_by', related_collection: HIDDEN };
    const id = await propose('who pays the salary', { relations: [{ ...rhs, diff: [{ kind: 'N', rhs }] }] });
    const list = await listed();
    expect(list.ids).deep.equal([]);
    expect(list.text).not.include('salary');
    expect(list.counts).deep.equal({ total_count: 0, filter_count: 0 });
    await expectHidden(id, HIDDEN, 'salary');
    await api.ok('POST', `/changes/${id}/withdraw`);
  });

  it('list a page of the requests within the scope, even between hidden ones', async () => {
    const label = (note: string) => ({ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: note });
    const visible = (note: string) => ({ fields: [{ collection: 'shop_items', field: 'label', diff: [label(note)] }] });
    const relation = { collection: 'shop_items', field: 'paid_by', related_collection: HIDDEN };
    const hidden = { relations: [{ ...relation, diff: [{ kind: 'N', rhs: relation }] }] };
    const ids: string[] = [];
    for (const note of ['one', 'two', 'three']) {
      ids.unshift(await propose(note, visible(note)));
      ids.unshift(await propose('hidden', hidden));
    }
    const shown = ids.filter((_, index) => index % 2 === 1);
    expect((await listed()).ids).deep.equal(shown);
    const page = await send('/changes?offset=1&limit=1');
    expect((page.json as { data: { id: string }[] }).data.map(({ id }) => id)).deep.equal([shown[1]]);
    expect((await send('/changes?limit=0')).json).deep.equal({ data: [] });
    for (const id of ids) await api.ok('POST', `/changes/${id}/withdraw`);
  });

  it('show an open request with a trigger of the scope and its plan', async () => {
    const id = await propose('still', { objects: [trigger('still', 'suppress_redundant_updates_trigger')] });
    const { status, text, json: body } = await send(`/changes/${id}`);
    expect(status, text).equal(200);
    const { statements } = (body as { data: Shown }).data.planned;
    expect(statements.map(({ sql }) => sql).join('\n')).include('CREATE TRIGGER "still"');
    await api.ok('POST', `/changes/${id}/withdraw`);
  });

  it('show the plan of a request that recreates a view, but not the view', async () => {
    const call = 'FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()';
    const mark = `CREATE TRIGGER mark BEFORE UPDATE OF label ON shop_items ${call}`;
    await api.ok('POST', '/objects', { kind: 'trigger', definition: mark });
    const view = `CREATE VIEW shop_view AS SELECT i.label FROM shop_items i CROSS JOIN ${HIDDEN} h`;
    await api.ok('POST', '/objects', { kind: 'view', definition: view });
    const direct = await change('/fields/shop_items/label?explain', { type: 'text' }, 'PATCH');
    expect(direct.status, direct.text).equal(200);

    const type = { kind: 'E', path: ['type'], lhs: 'string', rhs: 'text' };
    const length = { kind: 'E', path: ['schema', 'max_length'], lhs: 255, rhs: null };
    const column = { kind: 'E', path: ['schema', 'data_type'], lhs: 'character varying', rhs: 'text' };
    const id = await propose('long labels', {
      fields: [{ collection: 'shop_items', field: 'label', diff: [type, column, length] }],
    });
    const { status, text, json: body } = await send(`/changes/${id}`);
    expect(status, text).equal(200);
    expect(text).not.include(HIDDEN).and.not.include('shop_view');
    const { planned } = (body as { data: Shown }).data;
    expect(planned.tables.map(({ table }) => table)).deep.equal(['shop_items']);
    expect(planned.statements.map(({ collection }) => collection)).include('shop_items');
    await api.ok('POST', `/changes/${id}/withdraw`);
    await api.ok('DELETE', '/objects/view/shop_view');
    await api.ok('DELETE', '/objects/trigger/mark on shop_items');
  });

  it('reject an acknowledgement about another collection, whether or not it has such a finding', async () => {
    await api.ok('POST', '/collections', { collection: 'shop_bills', schema: {}, fields: [KEY] });
    const meta = { interface: 'input', options: { from: 'shop_bills' } };
    await api.ok('POST', `/fields/${HIDDEN}`, { field: 'bills', type: 'string', meta, schema: {} });
    const path = '/collections/shop_bills/rename';
    expect((await client(`${path}?explain`, json({ to: 'shop_invoices' }))).text).include('NAME_STILL_USED');
    const { hash } = (await change('/schema/diff', (await send('/schema/snapshot')).json)).json as { hash: string };
    const note = { kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'new' };
    const diff = { collections: [{ collection: 'shop_bills', diff: [note] }] };
    for (const place of [`${HIDDEN}.bills`, `${HIDDEN}.nothing`, 'nothing']) {
      const acknowledge = [{ code: 'NAME_STILL_USED', place }];
      const rename = json({ to: 'shop_invoices' });
      const headers = { ...rename.headers, 'x-acknowledge': `NAME_STILL_USED:${place}` };
      for (const reply of [
        await send(path, { ...rename, headers }),
        await send(`${path}?dry_run`, { ...rename, headers }),
        await change('/schema/apply', { hash, diff, acknowledge }),
        await change('/changes', { title: 't', diff: { hash, diff }, acknowledge }),
      ])
        expect(missingOf(reply), place + reply.text).deep.equal(REJECTED);
    }
    const acknowledge = [{ code: 'NAME_STILL_USED', place: 'shop_bills' }];
    expect((await change('/schema/apply', { hash, diff, acknowledge })).status).equal(400);
  });
});
