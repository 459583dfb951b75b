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

describe('scopes over collections with policies', () => {
  const { api, client } = withService({ settings: { OBJECTS: 'on' }, consistent: true });
  let token: string;

  /** With a token of the shop. */
  const send = async (path: string, request: Send = {}): Promise<Reply> => client(path, { token, ...request });
  const change = async (path: string, body: unknown, method = 'POST'): Promise<Reply> => send(path, json(body, method));

  before(async () => {
    const { data } = await api.ok<{ data: { id: string } }>('GET', '/users/me');
    await api.ok('POST', '/collections', { collection: HIDDEN, schema: {}, fields: [KEY, field('salary')] });
    const scope = { collections: ['shop_*'] };
    token = (await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, { scope })).data.token;
  });

  it('allow changes to a table with policies, but not to the policies, and no restore without them', async () => {
    await api.ok('POST', '/collections', { collection: 'shop_letters', schema: {}, fields: [KEY, field('text')] });
    const definition = `CREATE POLICY own ON shop_letters USING (text = 'open')`;
    await api.ok('POST', '/objects', { kind: 'policy', definition });
    const enabled = 'ALTER TABLE shop_letters ENABLE ROW LEVEL SECURITY';
    await api.ok('POST', '/objects', { kind: 'row_security', definition: enabled });
    const column = await change('/fields/shop_letters/text/rename', { to: 'body' });
    expect(column.status, column.text).equal(200);
    const table = await change('/collections/shop_letters/rename', { to: 'shop_mail' });
    expect(table.status, table.text).equal(200);

    const snapshot = await send('/schema/snapshot');
    const { hash } = (await change('/schema/diff', snapshot.json)).json as { hash: string };
    const { data } = await api.ok<{ data: { kind: string; id: string }[] }>('GET', '/objects?collection=shop_mail');
    expect(data.map(({ kind, id }) => [kind, id])).deep.equal([
      ['policy', 'own on shop_mail'],
      ['row_security', 'shop_mail'],
    ]);
    for (const lhs of data) {
      const diff = { objects: [{ kind: lhs.kind, id: lhs.id, diff: [{ kind: 'D', lhs }] }] };
      expect(missingOf(await change('/schema/apply', { hash, diff })), lhs.id).deep.equal(REJECTED);
      expect(missingOf(await change('/changes', { title: 'Open', diff: { hash, diff } })), lhs.id).deep.equal(REJECTED);
    }

    const position = await api.head();
    const deleted = await send('/collections/shop_mail', { method: 'DELETE' });
    expect(deleted.status, deleted.text).to.be.within(200, 204);
    const back = await api.ok<{ hash: string; diff: object }>('GET', `/history/diff?to=${position}`);
    const restored = await change('/schema/apply', { ...back, diff: { ...back.diff, objects: [] } });
    expect(missingOf(restored), restored.text).deep.equal(REJECTED);
    await api.ok('POST', '/schema/apply', back);
    expect(await api.ok('GET', '/objects?collection=shop_mail')).deep.equal({ data });
    await api.ok('DELETE', '/collections/shop_mail');
  });

  it('do not name the policy of another table that uses a table within the scope', async () => {
    const fields = [KEY, field('person'), field('level', 'integer')];
    await api.ok('POST', '/collections', { collection: 'shop_rights', schema: {}, fields });
    const condition = 'EXISTS (SELECT 1 FROM shop_rights WHERE person = salary AND level > 1)';
    const definition = `CREATE POLICY own ON ${HIDDEN} USING (${condition})`;
    await api.ok('POST', '/objects', { kind: 'policy', definition });
    for (const query of ['', '?dry_run', '?explain']) {
      for (const reply of [
        await send(`/fields/shop_rights/level${query}`, { method: 'DELETE' }),
        await send(`/collections/shop_rights${query}`, { method: 'DELETE' }),
        await change(`/fields/shop_rights/level${query}`, { type: 'bigInteger' }, 'PATCH'),
      ]) {
        expect(missingOf(reply), reply.text).deep.equal(REJECTED);
        expect(reply.text).not.include(HIDDEN);
      }
    }
    const renamed = await change('/fields/shop_rights/level/rename', { to: 'rank' });
    expect(missingOf(renamed), renamed.text).deep.equal(REJECTED);
    await api.ok('DELETE', `/objects/policy/own on ${HIDDEN}`);
    await api.ok('DELETE', '/collections/shop_rights');
  });
});
