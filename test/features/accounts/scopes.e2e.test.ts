import { expect } from 'chai';
import { ROLES, allows } from '../../../src/features/accounts/caller.js';
import { TOKEN_ACTIONS } from '../../../src/schema/model/token-scope.js';
import { actionsOf } from '../../../src/features/accounts/scope.js';
import { allRoutes } from '../../support/openapi.js';
import { json, type Reply } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

interface Made {
  id: string;
  token: string;
  scope: object | null;
}

const dataOf = <T>({ status, text, json: body }: Reply): T => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return (body as { data: T }).data;
};

const missingOf = ({ json: body }: Reply): unknown =>
  (body as { errors?: { extensions: { missing_scope?: string } }[] } | null)?.errors?.[0]?.extensions.missing_scope;

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('scopes of API tokens', () => {
  const { client: send } = withService({ settings: { OBJECTS: 'on' } });
  let admin: string;

  before(async () => {
    admin = dataOf<{ id: string }>(await send('/users/me')).id;
  });

  const build = async (scope: object | null, user = admin): Promise<Made> =>
    dataOf(await send(`/users/${user}/tokens`, json({ scope })));
  const userWith = async (role: string): Promise<string> =>
    dataOf<{ id: string }>(await send('/users', json({ email: `${role}-${Date.now()}@example.com`, role }))).id;
  const accessOf = async (token: string): Promise<Record<string, unknown>> =>
    dataOf<{ access: Record<string, unknown> }>(await send('/users/me', { token })).access;

  it('reject a token without the action on every route of the table', async () => {
    const tokens = new Map<string, string>();
    for (const action of TOKEN_ACTIONS) {
      const others = TOKEN_ACTIONS.filter((each) => each !== action);
      tokens.set(action, (await build({ actions: others })).token);
    }
    tokens.set('unscoped', (await build({ actions: [...TOKEN_ACTIONS] })).token);
    const open: string[] = [];
    for (const { method, path, access, action } of allRoutes()) {
      const name = `${method.toUpperCase()} ${path}`;
      if (action === null) {
        if (access !== 'anyone') open.push(name);
        continue;
      }
      const target = path.replaceAll(/:(\w+)/g, UNKNOWN);
      const needed = action === 'personal' ? 'operate' : action;
      const reply = await send(target, { method: method.toUpperCase(), token: tokens.get(needed) ?? '' });
      expect([reply.status, missingOf(reply)], name).deep.equal([403, needed]);
    }
    expect(open).deep.equal(['GET /users/me']);
  });

  it('are checked again for the part of a route that needs a higher role', async () => {
    const { token } = await build({ actions: ['read', 'propose'] });
    const apply = await send('/schema/apply', { ...json({}), token });
    expect([apply.status, missingOf(apply)]).deep.equal([403, 'apply']);
    expect((await send('/schema/apply?explain', { ...json({}), token })).status).equal(400);
    const stream = await send('/history/stream', { token });
    expect([stream.status, missingOf(stream)]).deep.equal([403, 'history']);
  });

  it('name every action that a role can use', () => {
    for (const role of ROLES) {
      const usable = allRoutes().flatMap(({ access, action, stricter }) => [
        ...(allows(role, access) ? [action] : []),
        ...(stricter !== undefined && allows(role, stricter.access) ? [stricter.action] : []),
      ]);
      const granted = TOKEN_ACTIONS.filter((action) => usable.includes(action));
      const access = { id: '', name: '', role, credential: { kind: 'token', issuedBy: null } } as const;
      expect(actionsOf(access), role).deep.equal(granted);
    }
  });

  it('are shown by the list of tokens and by GET /users/me', async () => {
    const limits = { actions: ['read', 'propose'], networks: ['127.0.0.0/8', '::1'] };
    const { token, ...shown } = await build(limits);
    expect(shown.scope).deep.equal({ role: 'admin', ...limits });
    const list = dataOf<Made[]>(await send(`/users/${admin}/tokens`));
    expect(list.find(({ id }) => id === shown.id)).deep.equal(shown);
    const access = {
      credential: 'token',
      role: 'admin',
      expires_at: null,
      actions: limits.actions,
      scope: shown.scope,
      rule: null,
    };
    expect(await accessOf(token)).deep.equal(access);
    expect(dataOf(await send('/users/me?fields=access', { token }))).deep.equal({ access });
    const { token: full } = await build(null);
    expect(await accessOf(full))
      .include({ scope: null })
      .deep.include({ actions: TOKEN_ACTIONS });
  });

  it('never exceed the role of the user, and do not grow with it', async () => {
    const user = await userWith('author');
    const { token } = await build({ actions: ['read', 'history', 'operate', 'apply'] }, user);
    expect((await send('/projections', { token })).status).equal(403);
    expect(await accessOf(token)).deep.include({ role: 'author', actions: ['read', 'history'] });
    dataOf(await send(`/users/${user}`, json({ role: 'admin' }, 'PATCH')));
    expect(await accessOf(token)).deep.include({ role: 'author', actions: ['read', 'history'] });
    expect((await send('/projections', { token })).status).equal(403);
    dataOf(await send(`/users/${user}`, json({ role: 'auditor' }, 'PATCH')));
    expect(await accessOf(token)).deep.include({ role: 'reader', actions: ['read'] });
  });

  it('keep a token from creating a token, a user or a webhook', async () => {
    const { token } = await build({ actions: [...TOKEN_ACTIONS] });
    const user = await userWith('reader');
    for (const [path, body] of [
      [`/users/${user}/tokens`, {}],
      ['/users', { email: 'wide@example.com', role: 'admin', password: 'correct horse battery' }],
      ['/webhooks', { name: 'x', url: 'https://example.com/' }],
    ] as const) {
      const reply = await send(path, { ...json(body), token });
      expect([reply.status, missingOf(reply)], path).deep.equal([403, 'unscoped']);
    }
    const password = await send(`/users/${user}`, { ...json({ role: 'admin' }, 'PATCH'), token });
    expect(missingOf(password)).equal('unscoped');
  });

  it('limit the networks of a token', async () => {
    const { token } = await build({ networks: ['203.0.113.0/24'] });
    const reply = await send('/users/me', { token });
    expect([reply.status, missingOf(reply)]).deep.equal([403, 'networks']);
  });

  it('are rejected with the location if they limit nothing or are invalid', async () => {
    const pathsOf = async (scope: unknown): Promise<unknown[]> => {
      const { status, json: body } = await send(`/users/${admin}/tokens`, json({ scope }));
      const { errors } = body as { errors: { extensions: { path: string } }[] };
      return [status, ...errors.map(({ extensions }) => extensions.path)];
    };
    expect(await pathsOf({})).deep.equal([400, 'scope']);
    expect(await pathsOf({ actions: [] })).deep.equal([400, 'scope.actions']);
    expect(await pathsOf({ actions: ['write'] })).deep.equal([400, 'scope.actions[0]']);
    expect(await pathsOf({ actions: ['read', 'read'] })).deep.equal([400, 'scope.actions']);
    expect(await pathsOf({ networks: ['10.0.0.0/33'] })).deep.equal([400, 'scope.networks[0]']);
    expect(await pathsOf({ role: 'admin', actions: ['read'] })).deep.equal([400, 'scope.role']);
  });

  it('are recorded in the log', async () => {
    const { id, scope } = await build({ actions: ['history'] });
    const events = dataOf<{ type: string; data: object }[]>(await send(`/history/events?subject=user:${admin}`));
    expect(events.map(({ data }) => data)).deep.include({ token: id, issued_by: null, expires_at: null, scope });
  });
});
