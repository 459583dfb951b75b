import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import { type Client, clientOf, json } from '../../support/client.js';
import {
  Browser,
  CLIENT_ID,
  type OpenIdProvider,
  type Person,
  settingsOf,
  startOpenIdProvider,
  unsecured,
} from '../../support/openid-provider.js';
import { type TestService, startService } from '../../support/service.js';
import { runCli } from '../../../src/cli/command-line.js';
import { dps } from '../../support/dps.js';
import { temporaryDirectory } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { diffOf, newPerson, noted, open, show } from '../change-requests/people.js';
import { expectConsistent } from '../../support/consistent.js';

const ROLES = { groups: { 'schema-admins': 'admin', 'schema-authors': 'author', everyone: 'reader' } };

const ADA: Person = {
  sub: 'ada-1815',
  email: 'ada@example.com',
  email_verified: true,
  name: 'Ada Lovelace',
  groups: ['everyone', 'schema-authors'],
};

interface User {
  id: string;
  email: string;
  name: string;
  role: string;
}

const LOGOUT = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };

describe('sign-in with an OpenID provider', () => {
  let provider: OpenIdProvider;
  let service: TestService;
  let send: Client;

  beforeEach(async () => {
    provider = await startOpenIdProvider();
    service = await startService(settings());
    send = clientOf(service);
    await provider.register(service.url);
  });
  afterEach(async () => {
    await expectConsistent(service.databaseUrl);
    await service.stop();
    await provider.stop();
  });

  const settings = (more: Record<string, string> = {}): Record<string, string> => ({
    ...settingsOf(provider),
    OIDC_ROLES: JSON.stringify(ROLES),
    OIDC_LABEL: 'Example ID',
    ...more,
  });

  const isBack = ({ pathname }: URL): boolean => pathname.startsWith('/app');
  /** Signs a person in, and returns the outcome that the page receives. */
  const signIn = async (person: Person | null, browser = new Browser()): Promise<string | null> => {
    provider.person = person;
    const back = await browser.follow(`${service.url}/auth/oidc/login?to=/app/timeline`, isBack);
    return back.searchParams.get('sign_in');
  };
  const tokenOf = async (browser: Browser): Promise<string | null> => {
    const response = await browser.request(`${service.url}/auth/refresh`, {
      method: 'POST',
      ...json({ mode: 'cookie' }),
    });
    return response.status === 200
      ? ((await response.json()) as { data: { access_token: string } }).data.access_token
      : null;
  };
  const meOf = async (token: string): Promise<User> =>
    ((await send('/users/me', { token })).json as { data: User }).data;
  const statusOf = async (token: string): Promise<number> => (await send('/users/me', { token })).status;
  const signedIn = async (person: Person, browser = new Browser()): Promise<{ token: string; me: User }> => {
    expect(await signIn(person, browser)).to.equal('done');
    const token = (await tokenOf(browser)) as string;
    return { token, me: await meOf(token) };
  };
  const users = async (): Promise<User[]> => ((await send('/users')).json as { data: User[] }).data;
  const events = async () =>
    ((await send('/history/events?subject=user&order=asc')).json as { data: { type: string; data: object }[] }).data;

  it('creates a user with the highest role of the claims, and recognizes the user the next time', async () => {
    const { me } = await signedIn(ADA);
    expect(me).to.include({ email: 'ada@example.com', name: 'Ada Lovelace', role: 'author' });
    expect((await signedIn(ADA)).me.id).to.equal(me.id);
    const types = (await events()).map(({ type }) => type);
    expect(types).to.deep.equal(['account.created', 'token.created', 'account.created', 'identity.linked']);
    expect((await send('/projections/verify')).json).to.have.nested.property('data.differences').that.is.empty;
    const { data } = (await send(`/users/${me.id}/identities`)).json as { data: object[] };
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ issuer: provider.issuer, subject: 'ada-1815' });
  });

  it('treats the subject of another provider as another person, even with the same e-mail address', async () => {
    const ada = await signedIn(ADA);
    const other = await startOpenIdProvider();
    const second = await startService({
      ...settings(settingsOf(other)),
      DATABASE_URL: service.databaseUrl,
    });
    try {
      await other.register(second.url);
      const signInThere = async (person: Person, browser = new Browser()): Promise<string | null> => {
        other.person = person;
        const back = await browser.follow(`${second.url}/auth/oidc/login`, isBack);
        return back.searchParams.get('sign_in');
      };
      const browser = new Browser();
      expect(await signInThere(ADA, browser)).to.equal('link');
      const refreshed = await browser.request(`${second.url}/auth/refresh`, {
        method: 'POST',
        ...json({ mode: 'cookie' }),
      });
      expect(refreshed.status, 'no session').to.equal(400);
      const identities = async (): Promise<object[]> =>
        ((await send(`/users/${ada.me.id}/identities`)).json as { data: object[] }).data;
      expect(await identities()).to.have.length(1);
      expect(await signInThere({ ...ADA, email: 'ada@tenant.example' })).to.equal('done');
      expect((await users()).map(({ email }) => email)).to.include.members(['ada@example.com', 'ada@tenant.example']);
      expect(await identities()).to.have.length(1);
      expect(await statusOf(ada.token)).to.equal(200);
    } finally {
      await second.stop();
      await other.stop();
    }
  });

  it('is counted by outcome', async () => {
    await signedIn(ADA);
    expect(await signIn({ ...ADA, groups: [] })).to.equal('no-access');
    provider.sign = unsecured;
    expect(await signIn(ADA)).to.equal('failed');
    const { text } = await send('/metrics');
    for (const [outcome, count] of [
      ['done', 1],
      ['no-access', 1],
      ['failed', 1],
    ])
      expect(text).to.contain(`dps_sign_ins_total{kind="browser",outcome="${outcome}"} ${count}\n`);
  });

  it('is reported by the doctor while its configuration cannot be read', async () => {
    const codes = async (): Promise<string[]> => {
      const { data } = (await send('/server/doctor')).json as { data: { checks: { findings: { code: string }[] }[] } };
      return data.checks.flatMap(({ findings }) => findings.map(({ code }) => code));
    };
    expect(await codes()).to.deep.equal([]);
    provider.isDown = true;
    expect(await codes()).to.deep.equal(['PROVIDER_UNUSABLE']);
    provider.isDown = false;
    expect(await codes()).to.deep.equal([]);
  });

  it('follows the claims: a different role, then none, which ends the sessions', async () => {
    const { token, me } = await signedIn(ADA);
    const reader = await signedIn({ ...ADA, groups: 'everyone' });
    expect(reader.me).to.include({ id: me.id, role: 'reader' });
    expect(await signIn({ ...ADA, groups: ['guests'] })).to.equal('no-access');
    expect(await statusOf(token)).to.equal(401);
    expect(await statusOf(reader.token)).to.equal(401);
    expect(await signIn({ sub: 'stranger', email: 'stranger@example.com' })).to.equal('no-access');
    expect((await users()).map(({ email }) => email)).not.to.include('stranger@example.com');
  });

  it('never takes over an account by its e-mail address, and links it after its password was checked', async () => {
    const password = 'correct horse battery';
    const created = await send('/users', json({ email: 'ADA@example.com', role: 'admin', password }));
    const { id } = (created.json as { data: User }).data;
    const browser = new Browser();
    expect(await signIn(ADA, browser)).to.equal('link');
    expect(await tokenOf(browser)).to.equal(null);
    const providers = await (await browser.request(`${service.url}/auth/providers`)).json();
    expect(providers).to.deep.equal({
      data: { password: true, oidc: { label: 'Example ID', linking: 'ada@example.com' } },
    });
    const link = (attempt: string, by = browser) =>
      by.request(`${service.url}/auth/oidc/link`, {
        method: 'POST',
        ...json({ email: 'ada@example.com', password: attempt, mode: 'cookie' }),
      });
    expect((await link('wrong horse battery')).status).to.equal(401);
    expect((await link(password, new Browser())).status).to.equal(409);
    expect((await link(password)).status).to.equal(200);
    expect(await meOf((await tokenOf(browser)) as string)).to.include({ id, role: 'admin' });
    // From now on the claims decide.
    expect((await signedIn(ADA)).me).to.include({ id, role: 'author' });
    const linked = (await events()).find(({ type }) => type === 'identity.linked');
    expect(linked?.data, 'the password was set by another user').to.have.property('issued_by').that.is.a('string');
  });

  it('rejects ID tokens that are expired, from elsewhere, for others, replayed or unsigned', async () => {
    const hour = 3_600;
    const now = Math.floor(Date.now() / 1000);
    const wrong: Record<string, (claims: JWTPayload) => JWTPayload> = {
      expired: (claims) => ({ ...claims, iat: now - 2 * hour, exp: now - hour }),
      'not valid yet': (claims) => ({ ...claims, nbf: now + hour }),
      'another issuer': (claims) => ({ ...claims, iss: 'https://id.example.com' }),
      'another audience': (claims) => ({ ...claims, aud: 'another-client' }),
      'another nonce': (claims) => ({ ...claims, nonce: 'another' }),
      'no nonce': ({ nonce: _nonce, ...claims }) => claims,
      'no subject': ({ sub: _sub, ...claims }) => claims,
      // Without these claims, the service reads them from the userinfo endpoint, which names Ada.
      'the subject of another person': ({ email: _email, groups: _groups, ...claims }) => ({ ...claims, sub: 'ben' }),
    };
    for (const [name, change] of Object.entries(wrong)) {
      provider.change = change;
      expect(await signIn(ADA), name).to.equal('failed');
    }
    provider.change = null;
    provider.sign = unsecured;
    expect(await signIn(ADA), 'unsigned').to.equal('failed');
    provider.sign = (claims) => provider.signed(claims, { kid: 'unknown' });
    expect(await signIn(ADA), 'unknown key').to.equal('failed');
    provider.sign = async (claims) => `${(await provider.signed(claims)).slice(0, -6)}AAAAAA`;
    expect(await signIn(ADA), 'altered signature').to.equal('failed');
    provider.sign = null;
    expect((await users()).map(({ email }) => email)).to.deep.equal([service.adminEmail]);
    expect(service.log()).to.include('sign-in with the OpenID provider failed').and.not.include('eyJ');
  });

  it('accepts clocks that differ by a few seconds, and new keys of the provider', async () => {
    provider.change = (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1000) - 5 });
    await signedIn(ADA);
    provider.change = null;
    await provider.rotateKey();
    // The keys that were read before do not fit once. The next attempt reads them again.
    await signIn(ADA);
    await signedIn(ADA);
  });

  it('accepts a callback once, and only in the browser that started it', async () => {
    provider.person = ADA;
    const browser = new Browser();
    const callback = await browser.follow(
      `${service.url}/auth/oidc/login`,
      ({ pathname }) => pathname === '/auth/oidc/callback',
    );
    const outcome = async (by: Browser) =>
      new URL((await by.request(callback.href)).headers.get('location') ?? '', service.url).searchParams.get('sign_in');
    expect(await outcome(new Browser())).to.equal('failed');
    expect(await outcome(browser)).to.equal('done');
    expect(await outcome(browser)).to.equal('failed');
    const other = new Browser();
    await other.request(`${service.url}/auth/oidc/login`);
    expect(await outcome(other), 'another attempt').to.equal('failed');
  });

  it('returns to pages of the app only', async () => {
    for (const to of [
      'https://evil.example.com/app',
      '//evil.example.com/app',
      '/application',
      '/collections',
      '/app/../users',
    ]) {
      const reply = await send(`/auth/oidc/login?to=${encodeURIComponent(to)}`, { token: null });
      expect(reply.codes, to).to.deep.equal(['INVALID_QUERY']);
    }
  });

  it('reports when the provider is down, and works again afterwards', async () => {
    provider.isDown = true;
    const reply = await send('/auth/oidc/login', { token: null });
    expect(reply.codes).to.deep.equal(['UNAVAILABLE']);
    provider.isDown = false;
    provider.person = ADA;
    const browser = new Browser();
    const callback = await browser.follow(
      `${service.url}/auth/oidc/login`,
      ({ pathname }) => pathname === '/auth/oidc/callback',
    );
    provider.isDown = true;
    expect((await browser.follow(callback.href, isBack)).searchParams.get('sign_in')).to.equal('unavailable');
    provider.isDown = false;
    await signedIn(ADA);
    expect(await signIn(null)).to.equal('denied');
  });

  const logout = async (claims: JWTPayload) => {
    const token = await provider.signed({
      iss: provider.issuer,
      aud: CLIENT_ID,
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      ...claims,
    });
    return send('/auth/oidc/logout', {
      method: 'POST',
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });
  };

  it('rejects subjects that cannot be stored or displayed, and ignores names like those of pipelines', async () => {
    const ids = ['a\0b', '\ud800', '\u202eada', 'x'.repeat(256)];
    for (const claims of [...ids.map((sub) => ({ sub })), { sid: '' }, { sid: 7 }]) {
      // The userinfo endpoint has another subject, so the ID token must contain all claims.
      provider.change = (others) => ({ ...ADA, ...others, ...claims });
      expect(await signIn(ADA), JSON.stringify(claims)).to.equal('failed');
      expect((await logout({ ...LOGOUT, ...claims })).codes).to.deep.equal(['INVALID_PAYLOAD']);
    }
    provider.change = null;
    expect(await signIn({ ...ADA, email_verified: 'false' })).to.equal('no-email');
    const { me } = await signedIn({ ...ADA, name: 'ci:deploy' });
    expect(me.name).to.equal('ada@example.com');
  });

  it('accepts every session id of the provider, and ends exactly its session', async () => {
    const sids = ['x'.repeat(5_000), `${'x'.repeat(4_999)}y`, 'a\0b', '\ud800', '\ud801', '\u202eada'];
    const tokens: string[] = [];
    for (const sid of sids) {
      provider.change = (claims) => ({ ...claims, sid });
      tokens.push((await signedIn(ADA)).token);
    }
    provider.change = null;
    for (const [index, sid] of sids.entries()) {
      expect((await logout({ ...LOGOUT, sid })).status, JSON.stringify(sid)).to.equal(204);
      const statuses = await Promise.all(tokens.map(statusOf));
      expect(statuses).to.deep.equal(tokens.map((_, at) => (at <= index ? 401 : 200)));
    }
  });

  it('ends the sessions that end at the provider', async () => {
    const first = await signedIn(ADA);
    const second = await signedIn(ADA);
    const sub = 'ada-1815';
    for (const claims of [
      { sub },
      { ...LOGOUT },
      { ...LOGOUT, sub, nonce: 'x' },
      { ...LOGOUT, sub, aud: 'another' },
      { ...LOGOUT, sub, iat: 1 },
    ]) {
      expect((await logout(claims)).codes, JSON.stringify(claims)).to.deep.equal(['INVALID_PAYLOAD']);
    }
    let sid: unknown;
    provider.change = (claims) => {
      sid = claims['sid'];
      return claims;
    };
    const third = await signedIn(ADA);
    expect((await logout({ ...LOGOUT, sub, sid })).status).to.equal(204);
    expect(await statusOf(third.token), 'the session of the provider').to.equal(401);
    expect((await logout({ ...LOGOUT, sub: 'another' })).status).to.equal(204);
    expect((await logout({ ...LOGOUT, sub, sid: 'another session' })).status).to.equal(204);
    expect([await statusOf(first.token), await statusOf(second.token)]).to.deep.equal([200, 200]);
    expect((await logout({ ...LOGOUT, sub })).status).to.equal(204);
    expect([await statusOf(first.token), await statusOf(second.token)]).to.deep.equal([401, 401]);
  });

  it('ends sessions of an identity that an admin unlinks, and of a suspended user', async () => {
    const { token, me } = await signedIn(ADA);
    const { data } = (await send(`/users/${me.id}/identities`)).json as { data: { id: string }[] };
    const path = `/users/${me.id}/identities/${data[0]?.id}`;
    expect((await send(path, { method: 'DELETE' })).status).to.equal(204);
    expect((await send(path, { method: 'DELETE' })).status).to.equal(404);
    expect(await statusOf(token)).to.equal(401);
    expect(await signIn(ADA)).to.equal('link');
    const ben = await signedIn({ ...ADA, sub: 'ben', email: 'ben@example.com', name: '\u202eneB' });
    expect(ben.me.name, 'an invisible character').to.equal('ben@example.com');
    await send(`/users/${ben.me.id}`, json({ status: 'suspended' }, 'PATCH'));
    expect(await signIn({ ...ADA, sub: 'ben' })).to.equal('suspended');
  });

  it('does not demote the last active admin', async () => {
    const admin = await signedIn({ ...ADA, groups: ['schema-admins'] });
    const [first] = (await users()).filter(({ email }) => email === service.adminEmail);
    await send(`/users/${first?.id}`, { ...json({ role: 'reader' }, 'PATCH'), token: admin.token });
    expect(await signIn(ADA)).to.equal('last-admin');
    expect(await meOf(admin.token)).to.include({ role: 'admin' });
  });

  const signInCommandLine = async () => {
    provider.person = ADA;
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const back = await new Browser().follow(
      `${service.url}/auth/oidc/login?port=8765&challenge=${challenge}`,
      ({ port }) => port === '8765',
    );
    const code = back.searchParams.get('code');
    return (secret = verifier) => send('/auth/oidc/token', { ...json({ code, verifier: secret }), token: null });
  };

  it('gives a command line its own session once, for the secret that only it knows', async () => {
    const exchange = await signInCommandLine();
    expect((await exchange(randomBytes(32).toString('base64url'))).status).to.equal(401);
    const granted = await exchange();
    expect(granted.status, granted.text).to.equal(200);
    const { access_token: token } = (granted.json as { data: { access_token: string } }).data;
    expect(await meOf(token)).to.include({ email: 'ada@example.com' });
    expect((await exchange()).status, 'a second time').to.equal(401);
    expect(await statusOf(token), 'the code was probably copied').to.equal(401);
    expect((await send('/auth/oidc/login?port=8765', { token: null })).codes).to.deep.equal(['INVALID_QUERY']);
  });

  it('gives a command line no session that was ended before it exchanged the code', async () => {
    const { me } = await signedIn(ADA);
    const suspended = await signInCommandLine();
    for (const status of ['suspended', 'active']) await send(`/users/${me.id}`, json({ status }, 'PATCH'));
    expect((await suspended()).status, 'suspended').to.equal(401);
    const loggedOut = await signInCommandLine();
    expect((await logout({ ...LOGOUT, sub: ADA.sub })).status).to.equal(204);
    expect((await loggedOut()).status, 'logged out').to.equal(401);
    const unlinked = await signInCommandLine();
    const { data } = (await send(`/users/${me.id}/identities`)).json as { data: { id: string }[] };
    await send(`/users/${me.id}/identities/${data[0]?.id}`, { method: 'DELETE' });
    expect((await unlinked()).status, 'unlinked').to.equal(401);
  });

  it('logs the command line in with a browser, and refreshes and ends its session', async () => {
    const home = await temporaryDirectory();
    const environment = { HOME: home, DPS_URL: service.url };
    const file = join(home, '.config/dps/sessions.json');
    const readToken = async () => JSON.parse(await readFile(file, 'utf8')) as Record<string, { access_token: string }>;
    try {
      provider.person = ADA;
      const messages: string[] = [];
      const note = (text: string): void => {
        messages.push(text);
        const [address] = /http\S+/.exec(text) ?? [];
        if (!text.startsWith('Open') || address === undefined) return;
        void new Browser()
          .follow(address, ({ port }) => port === new URL(address).searchParams.get('port'))
          .then(fetch);
      };
      const terminal = { print: () => undefined, note, read: () => Promise.resolve('') };
      expect(await runCli(['login', '--no-browser'], { environment, terminal }), messages.join('\n')).to.equal(0);
      expect(messages.at(-1)).to.equal(`Logged in to ${service.url} as ada@example.com (author).`);
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      const status = await dps(['changes', 'list'], environment);
      expect(status.code, status.err).to.equal(0);
      const listed = (await send('/sessions')).json as { data: { user_agent: string | null }[] };
      expect(listed.data[0]?.user_agent, 'not the browser').to.match(/^dps\/\d/);

      // Two concurrent commands refresh an expired token in turn.
      const sessions = await readToken();
      for (const session of Object.values(sessions)) Object.assign(session, { expires_at: 0 });
      await writeFile(file, JSON.stringify(sessions));
      const both = await Promise.all([dps(['changes', 'list'], environment), dps(['changes', 'list'], environment)]);
      expect(
        both.map(({ code }) => code),
        both.map(({ err }) => err).join('\n'),
      ).to.deep.equal([0, 0]);

      const [token] = Object.values(await readToken());
      expect((await dps(['logout'], environment)).err).to.equal(`Logged out of ${service.url}.`);
      expect(await statusOf(token?.access_token ?? '')).to.equal(401);
      expect(await readToken()).to.deep.equal({});
      expect((await dps(['logout'], environment)).err).to.equal('There is no session to end.');
    } finally {
      await rm(home, { recursive: true });
    }
  });

  it('opens the browser of this machine for the command line', async () => {
    const home = await temporaryDirectory();
    const opened = join(home, 'opened');
    const { PATH } = process.env;
    try {
      for (const program of ['xdg-open', 'open'])
        await writeFile(
          join(home, program),
          `#!/bin/sh\nprintf %s "$1" > '${opened}.part'\nmv '${opened}.part' '${opened}'\n`,
          {
            mode: 0o755,
          },
        );
      process.env['PATH'] = `${home}:${PATH}`;
      const login = dps(['login'], { HOME: home, DPS_URL: service.url });
      await until('the browser is opened', () => existsSync(opened));
      provider.person = ADA;
      const address = await readFile(opened, 'utf8');
      const port = new URL(address).searchParams.get('port');
      await fetch(await new Browser().follow(address, (next) => next.port === port));
      const { code, err } = await login;
      expect(code, err).to.equal(0);
      expect(err).to.contain(`Logged in to ${service.url} as ada@example.com (author).`);
    } finally {
      process.env['PATH'] = PATH;
      await rm(home, { recursive: true });
    }
  });

  it('lets an identity approve, unless it was linked with an issued password', async () => {
    const password = 'correct horse battery';
    await send('/users', json({ email: 'grace@example.com', role: 'admin', password }));
    const grace = { sub: 'grace', email: 'grace@example.com', groups: ['schema-admins'] };
    const browser = new Browser();
    expect(await signIn(grace, browser)).to.equal('link');
    const credentials = json({ email: 'grace@example.com', password, mode: 'cookie' });
    await browser.request(`${service.url}/auth/oidc/link`, { method: 'POST', ...credentials });
    const linked = (await tokenOf(browser)) as string;
    const own = await signedIn({ ...ADA, groups: ['schema-admins'] });

    await send('/policy', json({ approvals: 2 }, 'PUT'));
    const author = await newPerson(send, 'author', 'author');
    await send('/collections', json({ collection: 'articles', schema: {}, fields: [] }));
    const { id, plan } = await open(author.send, { title: 'A note', diff: await diffOf(send, noted('articles', 'x')) });
    const approve = (token: string) => send(`/changes/${id}/approve`, { ...json({ plan }), token });
    expect((await approve(linked)).codes).to.deep.equal(['FORBIDDEN']);
    expect((await approve(own.token)).status).to.equal(200);
    const { proposal } = await show(send, id);
    expect(proposal.approvals.map(({ by, counts }) => [by.id, counts])).to.deep.equal([[own.me.id, true]]);
  });
});

describe('the settings of an OpenID provider', () => {
  it('answers 404 without a provider, and rejects password logins if they are off', async () => {
    const plain = await startService();
    try {
      const send = clientOf(plain);
      expect((await send('/auth/providers', { token: null })).json).to.deep.equal({
        data: { password: true, oidc: null },
      });
      expect((await send('/auth/oidc/login', { token: null })).codes).to.deep.equal(['NOT_FOUND']);
    } finally {
      await plain.stop();
    }
    const provider = await startOpenIdProvider();
    const service = await startService({
      ...settingsOf(provider),
      OIDC_ROLES: JSON.stringify(ROLES),
      PASSWORD_LOGIN: 'off',
    });
    try {
      const login = json({ email: service.adminEmail, password: service.adminPassword });
      const send = clientOf(service);
      const reply = await send('/auth/login', { ...login, token: null });
      expect(reply.codes).to.deep.equal(['FORBIDDEN']);
      expect((await send('/users/me')).status, 'API tokens').to.equal(200);
      await provider.register(service.url);
      provider.person = ADA;
      const back = await new Browser().follow(`${service.url}/auth/oidc/login`, ({ pathname }) => pathname === '/app');
      expect(back.searchParams.get('sign_in'), 'the provider').to.equal('done');
    } finally {
      await service.stop();
      await provider.stop();
    }
  });
});
