import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { type JWTPayload, SignJWT, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { TOKEN_ACTIONS } from '../../../src/schema/model/token-scope.js';
import { type Client, type Reply, clientOf, json } from '../../support/client.js';
import { expectConsistent } from '../../support/consistent.js';
import { allRoutes } from '../../support/openapi.js';
import { type OpenIdProvider, startOpenIdProvider, unsecured } from '../../support/openid-provider.js';
import { query } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { newPerson } from '../change-requests/people.js';

const AUDIENCE = 'https://dps.example.com';
const SUBJECT = 'repo:shop/schema:ref:refs/heads/main';

interface Rule {
  name: string;
  issuer: string;
  audience: string;
  claims: Record<string, string>;
  scope: object;
  user?: string;
  minutes?: number;
}

interface Exchanged {
  id: string;
  name: string;
  token: string;
  rule: string;
  scope: object;
  expires_at: string;
}

const dataOf = <T>({ status, text, json: body }: Reply): T => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return (body as { data: T }).data;
};

const messageOf = ({ json: body }: Reply): string =>
  (body as { errors: { message: string }[] }).errors[0]?.message ?? '';

const now = (): number => Math.floor(Date.now() / 1000);

describe('the exchange of ID tokens', () => {
  let provider: OpenIdProvider;
  let service: TestService;
  let send: Client;
  let admin: string;

  beforeEach(async () => {
    provider = await startOpenIdProvider();
    service = await startService();
    send = clientOf(service);
    await provider.register(service.url);
    admin = dataOf<{ id: string }>(await send('/users/me')).id;
  });
  afterEach(async () => {
    await expectConsistent(service.databaseUrl);
    await service.stop();
    await provider.stop();
  });

  const ruleWith = (more: Partial<Rule> = {}): Rule => ({
    name: 'deploy',
    issuer: provider.issuer,
    audience: AUDIENCE,
    claims: { sub: 'repo:shop/schema:ref:refs/heads/*' },
    scope: { role: 'admin', actions: ['read', 'apply'] },
    ...more,
  });
  const put = (rules: Rule[], headers: Record<string, string> = {}): Promise<Reply> => {
    const sent = json({ rules }, 'PUT');
    return send('/auth/trust', { ...sent, headers: { ...sent.headers, ...headers } });
  };
  const trust = async (...rules: Rule[]): Promise<void> => void dataOf(await put(rules));
  let tokens = 0;
  const claimsWith = (more: JWTPayload = {}): JWTPayload => ({
    iss: provider.issuer,
    aud: AUDIENCE,
    sub: SUBJECT,
    iat: now(),
    exp: now() + 300,
    jti: String((tokens += 1)),
    ...more,
  });
  const signed = (more: JWTPayload = {}, header = {}): Promise<string> => provider.signed(claimsWith(more), header);
  const exchange = (token: string, client = send): Promise<Reply> =>
    client('/auth/exchange', { ...json({ token }), token: null });
  const exchanged = async (more: JWTPayload = {}): Promise<Exchanged> => dataOf(await exchange(await signed(more)));
  const statusOf = async (token: string): Promise<number> => (await send('/users/me', { token })).status;
  const rejected = async (token: string, message: RegExp): Promise<void> => {
    const reply = await exchange(token);
    expect([reply.status, reply.codes]).deep.equal([401, ['UNAUTHENTICATED']]);
    expect(messageOf(reply)).to.match(message);
    expect(reply.headers.get('www-authenticate')).to.contain('error="invalid_token"');
    expect(reply.text).not.to.contain('shop/schema').and.not.to.contain(AUDIENCE).and.not.to.contain('deploy');
  };
  const eventsOf = async (
    query: string,
  ): Promise<{ type: string; data: object; actor: { id: string; name: string | null } }[]> =>
    dataOf(await send(`/history/events?order=asc&${query}`));

  it('accepts a subject of more than 255 characters, and the log contains all of it', async () => {
    const sub = `repo:shop/schema:ref:refs/heads/${'b'.repeat(250)}:environment:${'e'.repeat(255)}`;
    await trust(ruleWith());
    const { token } = await exchanged({ sub });
    await send('/collections', { ...json({ collection: 'books', schema: {} }), token });
    const [event] = await eventsOf('type=collection.created');
    expect(event?.actor.name).to.equal(`ci:deploy ${sub} (${provider.issuer})`);
  });

  it('returns a token with the scope of the rule, and the log names the pipeline', async () => {
    await trust(ruleWith({ minutes: 5 }));
    const before = Date.now();
    const made = await exchanged();
    expect(made).to.deep.include({ rule: 'deploy', scope: { role: 'admin', actions: ['read', 'apply'] } });
    expect(Date.parse(made.expires_at)).to.be.within(before + 299_000, Date.now() + 300_000);
    const { token } = made;
    const me = dataOf<{ id: string; access: object }>(await send('/users/me', { token }));
    expect(me).to.deep.include({ id: admin });
    expect(me.access).to.deep.include({ credential: 'token', rule: 'deploy', actions: ['read', 'apply'] });
    const shop = { collection: 'shop', schema: {} };
    expect((await send('/collections', { ...json(shop), token })).status).to.equal(200);
    expect((await send('/history/events', { token })).codes).deep.equal(['FORBIDDEN']);
    const name = `ci:deploy ${SUBJECT} (${provider.issuer})`;
    const [event] = await eventsOf('type=collection.created');
    expect(event?.actor).to.deep.equal({ id: admin, name });
    const issued = (await eventsOf('type=token.created')).at(-1);
    expect(issued?.actor).to.deep.equal({ id: admin, name });
    expect(issued?.data).to.deep.include({ token: made.id, rule: 'deploy', issued_by: admin });
    expect(JSON.stringify(issued?.data)).not.to.contain(SUBJECT);
    const listed = dataOf<Exchanged[]>(await send(`/users/${admin}/tokens`));
    expect(listed.map(({ rule }) => rule)).deep.equal([null, 'deploy']);
    await send(`/users/${admin}/tokens/${made.id}`, { method: 'DELETE' });
    expect(await statusOf(token)).to.equal(401);
    expect((await exchange(await signed())).status).to.equal(200);
  });

  it('applies the first rule whose audience and claims match', async () => {
    await trust(
      ruleWith({ claims: { sub: SUBJECT, environment: 'production' }, audience: 'https://other.example.com' }),
      ruleWith({ name: 'protected', claims: { sub: SUBJECT, protected: 'true', run: '7' } }),
      ruleWith({ name: 'plan', claims: { sub: 'repo:shop/schema:*' }, scope: { role: 'author', actions: ['read'] } }),
    );
    expect((await exchanged({ protected: true, run: 7 })).rule).to.equal('protected');
    expect((await exchanged({ protected: true, run: [7] })).rule).to.equal('plan');
    expect((await exchanged({ aud: ['https://other.example.com', 'x'], environment: 'production' })).rule).to.equal(
      'deploy',
    );
    const { token, scope } = await exchanged();
    expect(scope).deep.equal({ role: 'author', actions: ['read'] });
    expect((await send('/schema/snapshot', { token })).status).to.equal(200);
    expect((await send('/users', { token })).codes).deep.equal(['FORBIDDEN']);
  });

  it('limits the token to the collections of the rule', async () => {
    for (const collection of ['shop_orders', 'hr_people']) await send('/collections', json({ collection, schema: {} }));
    await trust(ruleWith({ scope: { role: 'admin', actions: ['read', 'apply'], collections: ['shop_*'] } }));
    const { token } = await exchanged();
    const { json: listed } = await send('/collections', { token });
    const names = (listed as { data: { collection: string }[] }).data.map(({ collection }) => collection);
    expect(names).deep.equal(['shop_orders']);
    expect((await send('/collections/hr_people', { method: 'DELETE', token })).status).to.equal(403);
    expect((await send('/collections/shop_orders', { method: 'DELETE', token })).status).to.equal(204);
  });

  it('exchanges each ID token once, even if its signature is encoded differently', async () => {
    await trust(ruleWith());
    const token = await signed();
    const [one, other] = await Promise.all([exchange(token), exchange(token)]);
    expect([one.status, other.status]).to.have.members([200, 401]);
    await rejected(token, /already exchanged/);
    await rejected(`${token}=`, /already exchanged|not an ID token|signature/);
    const created = (await eventsOf('type=token.created')).filter(({ data }) => 'rule' in data);
    expect(created).to.have.length(1);
  });

  it('names the check that an ID token fails', async () => {
    await rejected(await signed(), /issuer .* is not trusted/);
    await trust(ruleWith());
    await rejected('no token', /not an ID token/);
    await rejected(await signed({ iss: `${provider.issuer}/` }), /issuer .* is not trusted/);
    await rejected(await signed({ aud: 'https://other.example.com' }), /audience/);
    await rejected(await signed({ sub: 'repo:shop/other:ref:refs/heads/main' }), /claims/);
    await rejected(await signed({ exp: now() - 60 }), /has expired/);
    await rejected(await signed({ nbf: now() + 600 }), /not valid yet/);
    await rejected(await signed({ iat: now() - 7_200, exp: now() + 300 }), /too old/);
    await rejected(await signed({ iat: now() + 600, exp: now() + 900 }), /issued in the future/);
    await rejected(await signed({}, { typ: 'at+jwt' }), /not an ID token/);
    await rejected(await signed({}, { typ: 7 }), /not an ID token/);
    for (const aud of [null, 7, {}, [7]]) await rejected(await signed({ aud } as never), /not an ID token/);
    await rejected(await signed({}, { kid: 'unknown' }), /no key/);
    await rejected(unsecured(claimsWith()), /not an ID token|algorithm/);
    const { privateKey } = await generateKeyPair('RS256');
    const kid = await keyIdOf(provider.issuer);
    const forged = await new SignJWT(claimsWith()).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
    await rejected(forged, /signature/);
    expect((await exchange(await signed())).status).to.equal(200);
    const { text } = await send('/metrics');
    for (const outcome of ['done', 'signature', 'audience'])
      expect(text).to.contain(`dps_sign_ins_total{kind="pipeline",outcome="${outcome}"} 1\n`);
    expect(service.log()).to.contain('do not accept the claims of repo:shop/other:ref:refs/heads/main');
  });

  it('rejects a symmetric signature with the public key of the issuer', async () => {
    await trust(ruleWith());
    const { keys } = (await (await fetch(`${provider.issuer}/jwks`)).json()) as { keys: { kid: string }[] };
    const { publicKey } = await generateKeyPair('RS256', { extractable: true });
    for (const secret of [JSON.stringify(keys[0]), await exportSPKI(publicKey)]) {
      const token = await new SignJWT(claimsWith())
        .setProtectedHeader({ alg: 'HS256', kid: keys[0]?.kid ?? '' })
        .sign(Buffer.from(secret));
      await rejected(token, /algorithm/);
    }
  });

  it('accepts a new key of the issuer, and rejects the former one', async () => {
    await trust(ruleWith());
    await exchanged();
    const former = await signed();
    await provider.rotateKey();
    // The keys are fetched again after a pause, so that unknown keys cannot cause many requests.
    let reply = await exchange(await signed());
    while (reply.status === 401 && /no key/.test(messageOf(reply))) {
      await setTimeout(1_000);
      reply = await exchange(await signed());
    }
    expect(reply.status, reply.text).to.equal(200);
    await rejected(former, /no key/);
  });

  it('ends the tokens of rules that are removed or changed, and keeps the others', async () => {
    const [first, second, third] = ['one', 'two', 'three'].map((name) =>
      ruleWith({ name, claims: { sub: SUBJECT, job: name } }),
    ) as [Rule, Rule, Rule];
    await trust(first, second, third);
    const made = [await exchanged({ job: 'one' }), await exchanged({ job: 'two' }), await exchanged({ job: 'three' })];
    const statuses = (): Promise<number[]> => Promise.all(made.map(({ token }) => statusOf(token)));
    expect(await statuses()).deep.equal([200, 200, 200]);
    await trust(first, { ...second, scope: { role: 'admin', actions: ['read'] } });
    expect(await statuses()).deep.equal([200, 401, 401]);
    const revoked = await eventsOf('type=token.revoked');
    expect(revoked.map(({ data }) => data)).to.have.deep.members([{ token: made[1]?.id }, { token: made[2]?.id }]);
    await rejected(await signed({ job: 'three' }), /claims/);
    await trust();
    expect(await statuses()).deep.equal([401, 401, 401]);
    await rejected(await signed({ job: 'one' }), /not trusted/);
  });

  it('records the rules as events that can be read at any point in time', async () => {
    const empty = await send('/auth/trust');
    expect(empty.json).to.deep.include({ data: { rules: [] }, meta: { position: 0, updated_at: null } });
    const set = await put([ruleWith()]);
    const etag = set.headers.get('etag') ?? '';
    const { position } = ((await send('/auth/trust')).json as { meta: { position: number } }).meta;
    expect((await put([ruleWith({ name: 'renamed' })], { 'if-match': '"0000"' })).status).to.equal(412);
    expect((await put([ruleWith({ name: 'renamed' })], { 'if-match': etag })).status).to.equal(200);
    const read = await send('/auth/trust');
    expect((read.json as { data: { rules: Rule[] } }).data.rules).to.have.length(1);
    expect(
      (await send('/auth/trust', { headers: { 'if-none-match': read.headers.get('etag') ?? '' } })).status,
    ).to.equal(304);
    const former = dataOf<{ rules: Rule[] }>(await send(`/auth/trust?at=${position}`));
    expect(former.rules.map(({ name }) => name)).deep.equal(['deploy']);
    expect(dataOf<{ rules: Rule[] }>(await send(`/auth/trust?at=${position - 1}`)).rules).to.be.empty;
    // The rules that were read can be sent again, and change nothing.
    const { rules } = (read.json as { data: { rules: Rule[] } }).data;
    expect(rules[0]).to.deep.include({ user: admin, set_by: admin, minutes: 15 });
    await trust(...rules);
    expect(await eventsOf('type=trust.updated')).to.have.length(2);
  });

  it('rejects rules that accept every subject, exceed their user, or have no https issuer', async () => {
    const reader = dataOf<{ id: string }>(await send('/users', json({ email: 'r@example.com', role: 'reader' }))).id;
    const faults: [Partial<Rule>, RegExp][] = [
      [{ claims: { repository: 'shop/schema' } }, /sub/],
      [{ claims: { sub: '**' } }, /every subject/],
      [{ issuer: 'http://id.example.com' }, /https/],
      [{ issuer: 'https://user:secret@id.example.com' }, /https/],
      [{ scope: { role: 'admin' } }, /required/],
      [{ audience: 'https://dps\u200B.example.com' }, /control, format or invisible/],
      [{ claims: { sub: `${SUBJECT}\u202E` } }, /control, format or invisible/],
      [{ claims: { 'sub\u200B': SUBJECT, sub: SUBJECT } }, /.+/],
      [{ minutes: 61 }, /60/],
      [{ user: reader }, /exceeds the role reader/],
      [{ user: '00000000-0000-4000-8000-000000000000' }, /does not exist/],
    ];
    for (const [more, message] of faults) {
      const reply = await put([ruleWith(more)]);
      expect([reply.status, reply.codes], reply.text).deep.equal([400, ['INVALID_PAYLOAD']]);
      expect(messageOf(reply)).to.match(message);
    }
    const hidden = JSON.parse('{"sub":"repo:shop/schema:*","constructor":"x","__proto__":"prod"}') as Rule['claims'];
    const { status, json: body } = await put([ruleWith(), ruleWith({ name: 'hidden', claims: hidden })]);
    expect(status).equal(400);
    const extensions = { code: 'INVALID_PAYLOAD', path: 'rules[1].claims.__proto__' };
    expect(body).deep.equal({ errors: [{ message: 'a member cannot be named "__proto__"', extensions }] });
    expect((await put([ruleWith(), ruleWith()])).codes).deep.equal(['INVALID_PAYLOAD']);
    const scoped = { scope: { actions: ['read', 'apply', 'operate'] } };
    const { token } = dataOf<{ token: string }>(await send(`/users/${admin}/tokens`, json(scoped)));
    const refused = await send('/auth/trust', { ...json({ rules: [ruleWith()] }, 'PUT'), token });
    expect(refused.json).to.have.nested.property('errors[0].extensions.missing_scope', 'unscoped');
    expect(await eventsOf('type=trust.updated')).to.be.empty;
  });

  it('cannot change users, credentials or the policy, regardless of its actions', async () => {
    await trust(ruleWith({ scope: { role: 'admin', actions: [...TOKEN_ACTIONS] } }));
    const { token } = await exchanged();
    const personal = allRoutes().filter(({ action }) => action === 'personal');
    expect(personal.map(({ method, path }) => `${method} ${path}`)).to.have.members([
      'delete /environments/:id',
      'delete /sessions/:id',
      'delete /users/:id',
      'delete /users/:id/identities/:identity',
      'delete /users/:id/sessions',
      'delete /users/:id/tokens/:token',
      'delete /webhooks/:id',
      'post /history/acknowledge',
      'post /history/checkpoint/keys',
      'post /webhooks/:id/replay',
      'post /webhooks/:id/test',
      'put /policy',
    ]);
    const denied = (reply: Reply, name: string): void => {
      expect([reply.status, reply.codes], name).deep.equal([403, ['FORBIDDEN']]);
      expect(messageOf(reply), name).to.match(/^A pipeline cannot change users, credentials, .* sign in /);
      expect(reply.json).to.have.nested.property('errors[0].extensions.missing_scope', 'unscoped');
    };
    for (const { method, path } of personal) {
      const target = path.replaceAll(/:(\w+)/g, admin);
      denied(await send(target, { method: method.toUpperCase(), token }), path);
    }
    // It may propose a policy, and an admin decides.
    const policy = { findings: { LOSES_DATA: 'refuse' } };
    const opened = await send('/changes', { ...json({ title: 'Stricter', policy }), token });
    const { id } = (opened.json as { data: { id: string } }).data;
    const path = `/changes/${id}/apply`;
    denied(await send(path, { method: 'POST', token }), path);
    denied(await send(path, { ...json({ at: new Date().toISOString() }), token }), 'a schedule');
    expect((await send('/changes', { token })).status).equal(200);
    expect((await send('/users', { token })).status).equal(200);
    dataOf(await send(path, { method: 'POST' }));
  });

  it('makes the admin who set its rule an author of what it proposes', async () => {
    const robot = await newPerson(send, 'robot', 'admin');
    await trust(ruleWith({ user: robot.id, scope: { role: 'admin', actions: ['read', 'propose'] } }));
    const { id: used, token } = await exchanged();
    dataOf(await send('/policy', json({ author_may_approve: false }, 'PUT')));
    const policy = { author_may_approve: true };
    const opened = await send('/changes', { ...json({ title: 'Weaker', policy }), token });
    const { id, plan } = (opened.json as { data: { id: string; plan: string } }).data;
    const { proposal } = dataOf<{ proposal: { authors: { id: string; name: string }[] } }>(
      await send(`/changes/${id}`),
    );
    expect(proposal.authors.map((each) => each.id)).deep.equal([robot.id, admin]);
    expect(proposal.authors[0]?.name).to.match(/^ci:deploy /);
    expect(proposal.authors[1]?.name).to.be.a('string');
    const [event] = await eventsOf(`subject=change:${id}`);
    expect(event?.data).deep.include({ proposed_with: { credential: 'token', token: used, issued_by: admin } });
    const refused = await send(`/changes/${id}/approve`, json({ plan }));
    expect([refused.status, refused.codes], refused.text).deep.equal([403, ['FORBIDDEN']]);
    expect((await robot.send(`/changes/${id}/approve`, json({ plan }))).status).equal(403);
    const other = await newPerson(send, 'other', 'admin');
    expect((await other.send(`/changes/${id}/approve`, json({ plan }))).status).equal(200);
  });

  it('never exceeds the current role of the user, and ends with the user', async () => {
    const robot = dataOf<{ id: string }>(await send('/users', json({ email: 'ci@example.com', role: 'admin' }))).id;
    await trust(ruleWith({ user: robot }));
    const { token } = await exchanged();
    const role = (status: object): Promise<Reply> => send(`/users/${robot}`, json(status, 'PATCH'));
    await role({ role: 'author' });
    expect((await send('/collections', { ...json({ collection: 'x', schema: {} }), token })).status).to.equal(403);
    expect((await exchanged()).scope).to.deep.include({ role: 'author' });
    await role({ status: 'suspended' });
    expect(await statusOf(token)).to.equal(401);
    const suspended = await exchange(await signed());
    expect([suspended.status, suspended.codes]).deep.equal([403, ['FORBIDDEN']]);
    await send(`/users/${robot}?erase=true`, { method: 'DELETE' });
    const named = (await eventsOf('type=token.created')).filter(({ actor }) => actor.name?.includes(SUBJECT));
    expect(named).to.be.empty;
    // The rule of a deleted user does not block other rules.
    const { rules } = dataOf<{ rules: Rule[] }>(await send('/auth/trust'));
    await trust(...rules, ruleWith({ name: 'another' }));
  });

  it('works only while the admin who set the rule is an active admin', async () => {
    const setter = await newPerson(send, 'setter', 'admin');
    dataOf(await setter.send('/auth/trust', json({ rules: [ruleWith({ user: admin })] }, 'PUT')));
    await exchanged();
    dataOf(await send(`/users/${setter.id}`, json({ role: 'author' }, 'PATCH')));
    const idToken = await signed();
    const reply = await exchange(idToken);
    expect([reply.status, reply.codes]).deep.equal([403, ['FORBIDDEN']]);
    expect(messageOf(reply)).to.match(/no longer an active admin/);
    const setters = async (): Promise<(string | undefined)[]> =>
      dataOf<{ rules: (Rule & { set_by?: string })[] }>(await send('/auth/trust')).rules.map(({ set_by }) => set_by);
    expect(await setters()).deep.equal([setter.id]);
    // Another admin takes over the rules by sending them again.
    await trust(...dataOf<{ rules: Rule[] }>(await send('/auth/trust')).rules);
    expect(await setters()).deep.equal([admin]);
    expect((await exchange(idToken)).status).to.equal(200);
  });

  it('rejects tokens beyond the maximum of a rule, and the ID token can be sent again', async () => {
    await trust(ruleWith());
    const { id } = await exchanged();
    const database = (text: string) => query(service.databaseUrl, text);
    await database(`INSERT INTO service.service_tokens (id, user_id, name, token_hash, expires_at, issued_by, scope, rule)
      SELECT gen_random_uuid(), user_id, 'filler', n::text::bytea, expires_at, issued_by, scope, rule
        FROM service.service_tokens, generate_series(1, 99) n WHERE id = '${id}'`);
    const idToken = await signed();
    const reply = await exchange(idToken);
    expect([reply.status, reply.codes]).deep.equal([429, ['TOO_MANY_REQUESTS']]);
    await database(`DELETE FROM service.service_tokens WHERE name = 'filler'`);
    expect((await exchange(idToken)).status).to.equal(200);
  });

  it('does not accept a token of a rule without scope or expiry, and verification names it', async () => {
    await trust(ruleWith());
    const { id, token } = await exchanged();
    const database = (text: string) => query(service.databaseUrl, text);
    const [stored] = await database(
      `SELECT expires_at::text, scope::text FROM service.service_tokens WHERE id = '${id}'`,
    );
    const { expires_at, scope } = stored as { expires_at: string; scope: string };
    for (const limit of ['expires_at', 'scope']) {
      await database(`UPDATE service.service_tokens SET ${limit} = NULL WHERE id = '${id}'`);
      expect(await statusOf(token)).to.equal(401);
      const { differences } = dataOf<{ differences: { member: string }[] }>(await send('/projections/verify'));
      expect(differences.map(({ member }) => member)).deep.equal([`API token ${id} of user ${admin}`]);
      await database(
        `UPDATE service.service_tokens SET expires_at = '${expires_at}', scope = '${scope}' WHERE id = '${id}'`,
      );
    }
    expect(await statusOf(token)).to.equal(200);
  });

  it('remembers an exchanged ID token for a day, regardless of the clocks of processes', async () => {
    await trust(ruleWith());
    const issued = now() - 60;
    await exchanged({ iat: issued });
    const [row] = await query(
      service.databaseUrl,
      'SELECT extract(epoch FROM expires_at)::float8 AS until FROM service.service_exchanged_id_tokens',
    );
    expect(row?.['until']).to.equal(issued + 86_400);
  });

  it('does not let a pipeline approve a change request', async () => {
    await trust(ruleWith({ scope: { role: 'admin', actions: ['read', 'propose', 'apply'] } }));
    const { token } = await exchanged();
    const snapshot = (await send('/schema/snapshot')).json as { collections: object[]; fields: object[] };
    const collection = { collection: 'shop', meta: {}, schema: { name: 'shop' } };
    const wanted = { ...snapshot, collections: [...snapshot.collections, collection] };
    const diff = (await send('/schema/diff', json(wanted))).json;
    const proposed = await send('/changes', { ...json({ title: 'Shop', diff }), token });
    expect(proposed.status).to.equal(201);
    const opened = (proposed.json as { data: { id: string; plan: string } }).data;
    const approval = await send(`/changes/${opened.id}/approve`, { ...json({ plan: opened.plan }), token });
    expect(approval.codes).deep.equal(['FORBIDDEN']);
    expect(messageOf(approval)).to.match(/pipeline cannot approve/);
  });

  it('does not count towards the limit of a user, and removes expired tokens', async () => {
    await trust(ruleWith());
    const { id } = await exchanged();
    const database = (text: string) => query(service.databaseUrl, text);
    await database(`INSERT INTO service.service_tokens (id, user_id, name, token_hash)
      SELECT gen_random_uuid(), '${admin}', 'filler', n::text::bytea FROM generate_series(1, 98) n`);
    const last = dataOf<Exchanged>(await send(`/users/${admin}/tokens`, json({})));
    expect((await send(`/users/${admin}/tokens`, json({}))).codes).deep.equal(['INVALID_STATE']);
    await send(`/users/${admin}/tokens/${last.id}`, { method: 'DELETE' });
    await database(`DELETE FROM service.service_tokens WHERE name = 'filler'`);
    const [stored] = await database(`SELECT expires_at::text FROM service.service_tokens WHERE id = '${id}'`);
    await database(`UPDATE service.service_exchanged_id_tokens SET expires_at = now() - interval '1 second'`);
    await database(`UPDATE service.service_tokens SET expires_at = now() - interval '1 second' WHERE id = '${id}'`);
    const other = await exchanged();
    const left = await database('SELECT id FROM service.service_tokens WHERE rule IS NOT NULL');
    expect(left).deep.equal([{ id: other.id }]);
    expect(await database('SELECT FROM service.service_exchanged_id_tokens')).to.have.length(1);
    // According to the log, the removed token has not expired.
    const { differences } = dataOf<{ differences: { member: string }[] }>(await send('/projections/verify'));
    expect(differences.map(({ member }) => member)).deep.equal([`API token ${id} of user ${admin}`]);
    await database(`INSERT INTO service.service_tokens
      (id, user_id, name, token_hash, expires_at, issued_by, scope, rule, created_at)
      SELECT '${id}', user_id, name, 'x', '${String(stored?.['expires_at'])}', issued_by, scope, rule, created_at
        FROM service.service_tokens WHERE id = '${other.id}'`);
  });

  describe('with an issuer that does not work', () => {
    let server: Server;
    let issuer: string;
    let respond: (path: string, res: ServerResponse) => void;
    let requests: string[];

    beforeEach(async () => {
      requests = [];
      server = createServer((req, res) => {
        requests.push(req.url ?? '');
        respond(req.url ?? '', res);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await trust(ruleWith({ issuer }), ruleWith({ name: 'working' }));
    });
    afterEach(async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    });

    const unavailable = async (): Promise<void> => {
      const reply = await exchange(await signed({ iss: issuer }));
      expect([reply.status, reply.codes], reply.text).deep.equal([503, ['UNAVAILABLE']]);
      expect(messageOf(reply)).to.match(/issuer .* does not respond, or publishes no usable keys/);
    };
    const answerJson = (res: ServerResponse, body: unknown): void => void res.end(JSON.stringify(body));
    const metadata = (more: object = {}): object => ({ issuer, jwks_uri: `${issuer}/jwks`, ...more });

    it('responds with 503 if the issuer never answers, and serves others meanwhile', async () => {
      respond = () => undefined;
      const waiting = unavailable();
      expect((await exchange(await signed())).status).to.equal(200);
      await waiting;
      expect(requests).deep.equal(['/.well-known/openid-configuration']);
    });

    it('responds with 503 to errors, redirects, and documents that are too large or wrong', async () => {
      const { publicKey } = await generateKeyPair('RS256', { extractable: true });
      const jwk = { ...(await exportJWK(publicKey)), kid: 'a' };
      const many = { keys: Array.from({ length: 2_000 }, (_, index) => ({ ...jwk, kid: `key-${index}` })) };
      const answers: ((path: string, res: ServerResponse) => void)[] = [
        (_path, res) => res.writeHead(500).end(),
        (_path, res) => res.writeHead(302, { location: `${provider.issuer}/.well-known/openid-configuration` }).end(),
        (_path, res) => res.end('no JSON'),
        (_path, res) => answerJson(res, metadata({ issuer: provider.issuer })),
        (_path, res) => answerJson(res, metadata({ jwks_uri: 'http://id.example.com/jwks' })),
        (path, res) => answerJson(res, path === '/jwks' ? many : metadata()),
        (path, res) => (path === '/jwks' ? void res.writeHead(404).end() : answerJson(res, metadata())),
        (path, res) => answerJson(res, path === '/jwks' ? { keys: 'none' } : metadata()),
      ];
      for (const answer of answers) {
        respond = answer;
        await unavailable();
      }
      expect(service.log()).to.contain('sent more than 262144 bytes');
      // Failures of the issuer do not count as failures of the client.
      expect((await exchange(await signed())).status).to.equal(200);
    });

    it('recovers as soon as the issuer responds', async () => {
      respond = (_path, res) => res.writeHead(503).end();
      await unavailable();
      const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
      const keys = [{ ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256' }];
      respond = (path, res) => answerJson(res, path === '/jwks' ? { keys } : metadata());
      const token = await new SignJWT(claimsWith({ iss: issuer }))
        .setProtectedHeader({ alg: 'ES256', kid: 'a', typ: 'JWT' })
        .sign(privateKey);
      expect(dataOf<Exchanged>(await exchange(token)).rule).to.equal('deploy');
    });

    it('contacts only issuers that a rule names', async () => {
      respond = (_path, res) => res.writeHead(503).end();
      await trust(ruleWith());
      requests = [];
      await rejected(await signed({ iss: issuer }), /not trusted/);
      await rejected(await signed({ iss: `${issuer}/../x` }), /not trusted/);
      expect(requests).to.be.empty;
    });
  });

  it('limits failed exchanges of one address', async () => {
    const statuses: number[] = [];
    while (statuses.length < 30 && statuses.at(-1) !== 429) {
      const { status, headers } = await exchange('no token');
      statuses.push(status);
      if (status === 429) expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
    }
    expect(statuses.filter((status) => status === 401)).to.have.length(20);
    expect(statuses.at(-1)).to.equal(429);
  });
});

async function keyIdOf(issuer: string): Promise<string> {
  const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as { keys: { kid: string }[] };
  return keys[0]?.kid ?? '';
}
