import { expect } from 'chai';
import { startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';
import { type Reply, type Send, clientOf, json } from '../../support/client.js';

interface Grant {
  access_token: string;
  refresh_token: string;
}

const ORIGIN = 'https://admin.example.com';

describe('sessions over HTTP', () => {
  const { service, client: send } = withService({ settings: { TRUST_PROXY: '1', CORS_ORIGINS: ORIGIN }, each: true });

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const input: Send = json(body);
    return send(path, { ...input, headers: { ...input.headers, ...headers }, token: null });
  };
  const login = (password = service.adminPassword, headers = {}, more = {}) =>
    post('/auth/login', { email: service.adminEmail, password, ...more }, headers);
  const grantOf = ({ json: body }: Reply) => (body as { data: Grant }).data;
  const isAlive = async (token: string) => (await send('/collections', { token })).status === 200;
  const setBy = (reply: Reply) => reply.headers.get('set-cookie') ?? '';
  const cookieOf = (reply: Reply) => setBy(reply).split(';')[0]!;

  it('cannot be ended with only their id, which every access token contains', async () => {
    const grant = grantOf(await login());
    const payload = JSON.parse(Buffer.from(grant.access_token.split('.')[1]!, 'base64url').toString()) as {
      sid: string;
    };
    const [id, family] = grant.refresh_token.split('.');
    expect(payload.sid).to.equal(id);
    for (const created of [
      id,
      `${id}.`,
      `${id}.x`,
      `${id}.x.y`,
      `${id}.x.y.z`,
      `${id}.${family}`,
      `${id}..${family}`,
    ]) {
      expect((await post('/auth/refresh', { refresh_token: created })).status, created).to.equal(401);
      expect((await post('/auth/logout', { refresh_token: created })).status, created).to.equal(204);
      expect(await isAlive(grant.access_token), created).to.equal(true);
    }
    expect((await post('/auth/refresh', { refresh_token: grant.refresh_token })).status).to.equal(200);
  });

  it('end when a refresh token is used a second time', async () => {
    const first = grantOf(await login());
    const second = grantOf(await post('/auth/refresh', { refresh_token: first.refresh_token }));
    const third = grantOf(await post('/auth/refresh', { refresh_token: second.refresh_token }));
    expect((await post('/auth/refresh', { refresh_token: first.refresh_token })).status).to.equal(401);
    expect(await isAlive(third.access_token)).to.equal(false);
    expect((await post('/auth/refresh', { refresh_token: third.refresh_token })).status).to.equal(401);
  });

  it('can be stored in a cookie hidden from scripts and other sites', async () => {
    const begun = await login(service.adminPassword, {}, { mode: 'cookie' });
    expect(setBy(begun)).to.match(
      /^dps_refresh_token=[\w.-]+; Max-Age=604800; Path=\/auth; HttpOnly; SameSite=Strict$/,
    );
    expect(grantOf(begun)).not.to.have.property('refresh_token');
    expect(await isAlive(grantOf(begun).access_token)).to.equal(true);
    const next = await post('/auth/refresh', { mode: 'cookie' }, { cookie: cookieOf(begun) });
    expect(next.status, next.text).to.equal(200);
    expect(cookieOf(next)).not.to.equal(cookieOf(begun));
    const out = await post('/auth/logout', {}, { cookie: cookieOf(next) });
    expect(out.status).to.equal(204);
    expect(setBy(out)).to.match(/^dps_refresh_token=; Max-Age=0; Path=\/auth;/);
    expect(await isAlive(grantOf(next).access_token)).to.equal(false);
  });

  it('set a Secure cookie if the client uses https', async () => {
    const secure = await login(service.adminPassword, { 'x-forwarded-proto': 'https' }, { mode: 'cookie' });
    expect(setBy(secure)).to.match(/; Secure/);
  });

  it('accept the token from one source, and the cookie from own pages only', async () => {
    const cookie = cookieOf(await login(service.adminPassword, {}, { mode: 'cookie' }));
    const { refresh_token } = grantOf(await login());
    for (const path of ['/auth/refresh', '/auth/logout']) {
      for (const [body, headers] of [
        [{ refresh_token }, { cookie }],
        [{ refresh_token, mode: 'cookie' }, {}],
        [{ mode: 'json' }, { cookie }],
        [{}, {}],
      ] as const) {
        const { status, codes } = await post(path, body, headers);
        expect([status, ...codes]).to.deep.equal([400, 'INVALID_PAYLOAD']);
      }
      const foreign = await post(path, {}, { cookie, origin: 'https://evil.example.com' });
      expect([foreign.status, ...foreign.codes]).to.deep.equal([403, 'FORBIDDEN']);
    }
    expect((await post('/auth/refresh', {}, { cookie, origin: service.url })).status).to.equal(200);
  });

  it('allow pages of CORS_ORIGINS only', async () => {
    const preflight = (origin: string) =>
      send('/collections', {
        method: 'OPTIONS',
        token: null,
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      });
    const allowed = await preflight(ORIGIN);
    expect(allowed.status).to.equal(204);
    expect(allowed.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
    expect(allowed.headers.get('access-control-allow-headers')).to.equal('authorization');
    expect((await preflight('https://evil.example.com')).headers.get('access-control-allow-origin')).to.equal(null);
    const response = await send('/collections', { headers: { origin: ORIGIN } });
    expect(response.headers.get('access-control-allow-origin')).to.equal(ORIGIN);
    expect(response.headers.get('access-control-expose-headers')).to.contain('X-Log-Position');
    expect(response.headers.get('vary')).to.contain('Origin');
  });

  it('admit the owner while another client tries, and the right password from elsewhere', async () => {
    const at = (address: string) => ({ 'x-forwarded-for': address });
    expect((await login(service.adminPassword, at('198.51.100.1'))).status).to.equal(200);
    for (let count = 0; count < 10; count++) expect((await login('wrong', at('192.0.2.1'))).status).to.equal(401);
    // Sent together, because one attempt is admitted after 30 seconds.
    const tries = await Promise.all(Array.from({ length: 91 }, () => login('wrong', at('192.0.2.1'))));
    for (const { status } of tries) expect(status).to.equal(429);
    // The rejected attempts lock no user out, from a known or a new address.
    expect((await login(service.adminPassword, at('198.51.100.1'))).status).to.equal(200);
    expect((await login(service.adminPassword, at('203.0.113.9'))).status).to.equal(200);
    // Ten addresses with ten attempts each: now only the owner's last address is admitted.
    for (let host = 2; host <= 11; host++) {
      for (let count = 0; count < 10; count++) await login('wrong', at(`192.0.2.${host}`));
    }
    expect((await login(service.adminPassword, at('198.51.100.77'))).status).to.equal(429);
    expect((await login(service.adminPassword, at('203.0.113.9'))).status).to.equal(200);
  });

  it('trust only the configured proxies', async () => {
    const direct = await startService({ DATABASE_URL: service.databaseUrl });
    try {
      const attempt = (count: number) =>
        clientOf(direct)('/auth/login', {
          ...json({ email: service.adminEmail, password: 'wrong' }),
          headers: { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${count}` },
          token: null,
        });
      const statuses: number[] = [];
      for (let count = 0; count < 11; count++) statuses.push((await attempt(count)).status);
      expect(statuses.at(-1)).to.equal(429);
    } finally {
      await direct.stop();
    }
    await send('/collections', {
      ...json({ collection: 'seen', schema: {} }),
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '10.9.9.9, 198.51.100.23' },
    });
    const { json: body } = await send('/history/events?collection=seen');
    expect((body as { data: { ip: string }[] }).data[0]!.ip).to.equal('198.51.100.23');
  });

  it('are listed for admins with user, times and network, and ended one by one or all', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'a browser' };
    const [one, other] = [grantOf(await login(undefined, headers)), grantOf(await login(undefined, headers))];
    interface Listed {
      data: { id: string; user: { id: string; email: string }; network: string; user_agent: string; used_at: string }[];
      meta: unknown;
    }
    const listed = async (query = '') => (await send(`/sessions${query}`)).json as Listed;
    const sessions = await listed('?meta=*');
    expect(sessions.data.map(({ id }) => id)).to.have.members(
      [one, other].map((each) => each.refresh_token.split('.')[0]),
    );
    expect(sessions.data[0]).to.include({ network: '203.0.113.9', user_agent: 'a browser' });
    expect(sessions.data[0]?.user.email).to.equal(service.adminEmail);
    expect(sessions.meta).to.deep.equal({ total_count: 2, filter_count: 2 });
    expect(JSON.stringify(sessions)).not.to.contain(one.refresh_token.split('.')[1]);
    expect((await listed('?user=nobody&meta=*')).meta).to.deep.equal({ total_count: 2, filter_count: 0 });
    expect((await send('/sessions', { token: one.access_token })).status).to.equal(200);

    const ended = await send(`/sessions/${one.refresh_token.split('.')[0]}`, { method: 'DELETE' });
    expect(ended.status).to.equal(204);
    expect([await isAlive(one.access_token), await isAlive(other.access_token)]).to.deep.equal([false, true]);
    expect((await post('/auth/refresh', { refresh_token: one.refresh_token })).status).to.equal(401);
    expect((await send(`/sessions/${one.refresh_token.split('.')[0]}`, { method: 'DELETE' })).status).to.equal(404);
    const user = sessions.data[0]?.user.id;
    expect((await send(`/users/${user}/sessions`, { method: 'DELETE' })).json).to.deep.equal({ data: { ended: 1 } });
    expect(await isAlive(other.access_token)).to.equal(false);
    for (const path of ['/sessions/x', '/users/x/sessions', `/users/${one.refresh_token.split('.')[0]}/sessions`]) {
      expect((await send(path, { method: 'DELETE' })).status, path).to.equal(404);
    }
  });
});
