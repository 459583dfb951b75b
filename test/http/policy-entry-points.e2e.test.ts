import { expect } from 'chai';
import { RULES } from '../../src/schema/findings/rules/index.js';
import { isOfPolicy } from '../../src/schema/policy.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';
import { type Request, column, entriesOf } from './policy-entries.js';

const ROLES = ['auditor', 'author', 'reader'] as const;

describe('the policy at every entry point', () => {
  const { api, client, service } = withService({ consistent: true });
  const tokens: Record<string, string> = {};

  before(async () => {
    for (const role of ROLES) {
      const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', { email: `${role}@example.com`, role });
      const created = await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, {});
      tokens[role] = created.data.token;
    }
  });

  const { changes: CHANGES, metadata: METADATA, proposals: PROPOSALS, others: OTHERS, make } = entriesOf(api);

  it('has an entry in this test for every write route', async () => {
    const { paths } = await api.ok<{ paths: Record<string, Record<string, unknown>> }>('GET', '/server/openapi.json');
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const known = new Set([...CHANGES, ...METADATA, ...PROPOSALS].map(({ route }) => route).concat(OTHERS));
    expect(routes.filter((route) => !known.has(route))).to.deep.equal([]);
    expect([...known].filter((route) => !routes.includes(route))).to.deep.equal([]);
  });

  const send = (
    { route }: { route: string },
    { path, body }: Request,
    { token, reason }: { token?: string | null; reason?: string } = {},
  ) => {
    const method = route.split(' ')[0] ?? '';
    const sent: { method?: string; headers?: object } = body === undefined ? { method } : json(body, method);
    return client(path, {
      ...sent,
      headers: { ...sent.headers, ...(reason !== undefined && { 'x-reason': reason }) },
      ...(token !== undefined && { token }),
    });
  };
  /** Sends a reason, because the policy in force may require one. */
  const setPolicy = async (body: object): Promise<void> => {
    const set = await send({ route: 'PUT /policy' }, { path: '/policy', body }, { reason: 'agreed on' });
    expect(set.status, set.text).to.equal(200);
  };
  /** The service rejects the request, and changes nothing. */
  const expectReasonRequired = async (route: { route: string }, request: Request): Promise<void> => {
    const head = await api.head();
    for (const reason of [undefined, '   ']) {
      const refused = await send(route, request, reason === undefined ? {} : { reason });
      expect([refused.status, ...refused.codes], refused.text).to.deep.equal([422, 'POLICY_REFUSED']);
      const { errors } = refused.json as { errors: { message: string; extensions: object }[] };
      expect(errors[0]?.extensions).to.include({ rule: 'requires_reason' });
      expect(errors[0]?.message).to.contain('X-Reason');
    }
    expect(await api.head()).to.equal(head);
  };
  const everything = Object.fromEntries(
    RULES.filter(({ code, shownOnly }) => shownOnly !== true && !isOfPolicy(code)).map(({ code }) => [code, 'refuse']),
  );

  for (const entry of CHANGES) {
    it(`${entry.route}${entry.what === undefined ? '' : `, ${entry.what}`}: ${entry.code} is rejected`, async () => {
      const { route, code, given: input } = entry;
      await api.ok('PUT', '/policy', {});
      const request = await input();
      await api.ok('PUT', '/policy', { findings: { [code]: 'refuse' } });
      const head = await api.head();
      for (const role of ROLES) {
        const answer = await send({ route }, request, { token: tokens[role] ?? null });
        expect(answer.status, role).to.equal(403);
      }
      expect((await send({ route }, request, { token: null })).status).to.equal(401);
      const refused = await send({ route }, request);
      expect([refused.status, ...new Set(refused.codes)], refused.text).to.deep.equal([422, 'POLICY_REFUSED']);
      const { errors } = refused.json as { errors: { extensions: { finding: string; action: string } }[] };
      for (const { extensions } of errors) expect(extensions).to.include({ finding: code, action: 'refuse' });
      expect(await api.head()).to.equal(head);
      await api.ok('PUT', '/policy', { findings: { [code]: 'approve' }, approvals: 2 });
      expect((await send({ route }, request)).codes).to.include('POLICY_REFUSED');
      await setPolicy({ findings: { [code]: 'warn' }, requires_reason: true });
      await expectReasonRequired({ route }, request);
      const done = await send({ route }, request, { reason: 'a good reason' });
      expect(done.status, done.text).to.be.within(200, 204);
      await setPolicy({});
      await entry.over?.(request);
    });
  }

  for (const entry of METADATA) {
    it(`${entry.route}: no finding can reject it, but a missing reason can`, async () => {
      await api.ok('PUT', '/policy', {});
      const request = await entry.given();
      await api.ok('PUT', '/policy', { findings: everything, requires_reason: true });
      await expectReasonRequired(entry, request);
      const head = await api.head();
      expect((await send(entry, request, { reason: 'a good reason' })).status).to.equal(200);
      expect((await api.events(head)).map((event) => event.split(' ')[0])).to.deep.equal(['collection.updated']);
      await setPolicy({});
    });
  }

  it('PUT /policy: is rejected without a reason if the policy in force requires one', async () => {
    await setPolicy({ requires_reason: true });
    await expectReasonRequired({ route: 'PUT /policy' }, { path: '/policy', body: {} });
    await setPolicy({});
  });

  it('accepts an Idempotency-Key again if the first request had no reason and the second has one', async () => {
    await setPolicy({ requires_reason: true });
    const create = (headers: Record<string, string>) => {
      const request = json({ collection: 'reasoned', schema: {} });
      return client('/collections', { ...request, headers: { ...request.headers, ...headers } });
    };
    const key = { 'idempotency-key': 'one-key' };
    expect((await create(key)).status).to.equal(422);
    const accepted = await create({ ...key, 'x-reason': 'needed' });
    expect(accepted.status, accepted.text).to.equal(200);
    await setPolicy({});
  });

  for (const entry of PROPOSALS) {
    it(`${entry.route}: leaves the schema unchanged after any rejection`, async () => {
      await api.ok('PUT', '/policy', {});
      const request = await entry.given();
      await api.ok('PUT', '/policy', { findings: everything });
      const [head, before] = [await api.head(), await api.ok('GET', '/schema/snapshot')];
      const done = await send(entry, request);
      expect(done.status, done.text).to.be.within(200, 201);
      const { data } = done.json as { data: { id: string; state: string } };
      expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(before);
      for (const event of await api.events(head)) expect(event).to.match(/^change\./);
      // The change is not applied, regardless of the response.
      if (data.state === 'open' || data.state === 'approved') {
        const refused = await client(`/changes/${data.id}/apply`, { method: 'POST' });
        expect([refused.status, ...new Set(refused.codes)], refused.text).to.deep.equal([422, 'POLICY_REFUSED']);
        await api.ok('POST', `/changes/${data.id}/withdraw`);
      }
      await api.ok('PUT', '/policy', {});
    });
  }

  it('rejects a change with several codes with all of them, strictest first', async () => {
    await api.ok('PUT', '/policy', {});
    await make('h1', column('x'));
    await api.ok('PUT', '/policy', {
      findings: { MAY_FAIL: 'acknowledge', NOT_NULL_OVER_ROWS: 'refuse', LONG_LOCK: 'approve' },
    });
    const refused = await send({ route: 'PATCH' }, { path: '/fields/h1/x', body: { schema: { is_nullable: false } } });
    const { errors } = refused.json as { errors: { extensions: { finding: string; action: string } }[] };
    expect(errors.map(({ extensions }) => extensions.action)).to.deep.equal(['refuse', 'approve', 'acknowledge']);
    await api.ok('PUT', '/policy', {});
  });

  it("applies to an admin's session and token alike", async () => {
    await make('h2', column('x'));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse' } });
    const login = await client('/auth/login', {
      ...json({ email: service.adminEmail, password: service.adminPassword }),
      token: null,
    });
    const { data } = login.json as { data: { access_token: string } };
    const refused = await client('/fields/h2/x', { method: 'DELETE', token: data.access_token });
    expect([refused.status, ...refused.codes]).to.deep.equal([422, 'POLICY_REFUSED']);
    await api.ok('PUT', '/policy', {});
  });
});
