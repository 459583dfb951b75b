import { expect } from 'chai';
import { json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { withService } from '../../support/with-service.js';

interface Event {
  type: string;
  batch: string;
  command: string;
  reason: string | null;
  actor: { id: string };
  subject: { kind: string; id: string };
  data: Record<string, unknown>;
}

interface Difference {
  where: string;
  member: string;
  expected: unknown;
  found: unknown;
}

const ADA = { email: 'ada@example.com', name: 'Ada Lovelace', role: 'author', password: 'correct horse battery' };

describe('account events', () => {
  const { service, api, client: send } = withService();
  let admin: string;

  before(async () => {
    admin = ((await send('/users/me')).json as { data: { id: string } }).data.id;
  });

  const events = async (query = ''): Promise<Event[]> =>
    ((await send(`/history/events?subject=user&order=asc&limit=1000${query}`)).json as { data: Event[] }).data;
  const newest = async (): Promise<Event> => (await events()).at(-1)!;
  const differences = async (): Promise<Difference[]> =>
    ((await send('/projections/verify')).json as { data: { differences: Difference[] } }).data.differences;
  const create = async (body: object): Promise<string> => {
    const reply = await send('/users', json(body));
    expect(reply.status, reply.text).to.equal(200);
    return (reply.json as { data: { id: string } }).data.id;
  };

  it('leave a new log empty, and record the first admin with the first account change', async () => {
    expect(await events()).to.deep.equal([]);
    expect(await differences()).to.deep.equal([]);
    const ada = await create(ADA);
    const [first, token, created] = await events();
    expect(first).to.deep.include({ type: 'account.created', subject: { kind: 'user', id: admin } });
    expect(token).to.deep.include({ type: 'token.created', subject: { kind: 'user', id: admin } });
    expect(created).to.deep.include({
      type: 'account.created',
      command: 'create-user',
      subject: { kind: 'user', id: ada },
      data: { role: 'author', status: 'active', password_set_by: admin },
    });
    expect(new Set([first?.batch, token?.batch, created?.batch]).size).to.equal(1);
    expect(await differences()).to.deep.equal([]);
  });

  it('record each change with actor and reason, without addresses, names or secrets', async () => {
    const grace = await create({ ...ADA, email: 'grace@example.com' });
    const path = `/users/${grace}`;
    const body = json({ role: 'auditor', name: 'Grace', email: 'hopper@example.com' }, 'PATCH');
    await send(path, { ...body, headers: { ...body.headers, 'x-reason': 'moved' } });
    expect(await newest()).to.deep.include({
      type: 'account.updated',
      reason: 'moved',
      data: { role: 'auditor', name: 'changed', email: 'changed' },
    });
    expect((await newest()).actor.id).to.equal(admin);
    await send(path, json({ status: 'suspended' }, 'PATCH'));
    expect((await newest()).data).to.deep.equal({ status: 'suspended' });
    await send(path, json({ password: 'another horse battery' }, 'PATCH'));
    expect((await newest()).data).to.deep.equal({ password: 'set', password_set_by: admin });
    const reply = await send(`${path}/tokens`, json({ name: 'deploy', expires_at: '2030-01-01T00:00:00Z' }));
    const { id: token, token: secret } = (reply.json as { data: { id: string; token: string } }).data;
    expect(await newest()).to.deep.include({
      type: 'token.created',
      data: { token, issued_by: admin, expires_at: '2030-01-01T00:00:00.000Z' },
    });
    await send(`${path}/tokens/${token}`, { method: 'DELETE' });
    expect(await newest()).to.deep.include({ type: 'token.revoked', data: { token } });
    await send(path, { method: 'DELETE' });
    expect(await newest()).to.deep.include({ type: 'account.deleted', data: {} });
    const log = (await send('/history/export')).text;
    for (const hidden of ['grace@', 'hopper@', 'Grace', 'deploy', 'horse', secret])
      expect(log, hidden).not.to.include(hidden);
    expect(await differences()).to.deep.equal([]);
  });

  it('are not appended for unchanged or rejected requests', async () => {
    const { position } = ((await send('/server/info')).json as { data: { position: number } }).data;
    expect((await send(`/users/${admin}`, json({ role: 'admin' }, 'PATCH'))).status).to.equal(200);
    expect((await send('/users', json(ADA))).json).to.have.nested.property(
      'errors[0].extensions.code',
      'ALREADY_EXISTS',
    );
    expect((await send(`/users/${admin}`, json({ status: 'suspended' }, 'PATCH'))).status).to.equal(409);
    expect((await send(`/users/${admin}`, { method: 'DELETE' })).status).to.equal(409);
    expect(((await send('/server/info')).json as { data: { position: number } }).data.position).to.equal(position);
  });

  it('commit together with the account', async () => {
    const before = (await events()).length;
    await api.sql(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
      CREATE TRIGGER fail BEFORE INSERT ON service.service_events EXECUTE FUNCTION fail()`);
    try {
      expect((await send('/users', json({ ...ADA, email: 'never@example.com' }))).status).to.be.at.least(500);
    } finally {
      await api.sql('DROP FUNCTION fail CASCADE');
    }
    expect(await events()).to.have.length(before);
    expect(await api.sql(`SELECT FROM service.service_users WHERE email = 'never@example.com'`)).to.deep.equal([]);
  });

  it('change no hash, tag or rendered response of the schema', async () => {
    const { headers } = await send('/collections');
    const etag = headers.get('etag') ?? '';
    await create({ ...ADA, email: 'other@example.com' });
    expect((await send('/collections', { headers: { 'if-none-match': etag } })).status).to.equal(304);
  });

  it('are readable in batches, the command line, the stream and verification', async () => {
    await create({ ...ADA, email: 'words@example.com' });
    const [batch] = ((await send('/history/batches?subject=user')).json as { data: { summary: string }[] }).data;
    expect(batch?.summary).to.equal('created user “Ada Lovelace”');
    const shown = await dps(['history'], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
    expect(shown.out).to.include('created user');
    expect((await send('/history/verify')).json).to.have.nested.property('data.ok', true);
  });

  describe('of the command line', () => {
    const run = (...args: string[]) => dps(args, { DATABASE_URL: service.databaseUrl });

    it('are appended like those of the API', async () => {
      expect((await run('users', 'add', 'cli@example.com', '--role', 'reader', '--reason', 'asked')).code).to.equal(0);
      expect(await newest()).to.deep.include({ type: 'account.created', command: 'create-user', reason: 'asked' });
      expect((await newest()).actor.id).to.equal('dps');
      await run('users', 'set', 'cli@example.com', '--role', 'author');
      expect((await newest()).data).to.deep.equal({ role: 'author' });
      await run('tokens', 'add', 'cli@example.com', '--name', 'x');
      expect(await newest()).to.include({ type: 'token.created' });
      await run('tokens', 'revoke', 'cli@example.com', 'x');
      expect(await newest()).to.include({ type: 'token.revoked' });
      await run('users', 'remove', 'cli@example.com');
      expect(await newest()).to.include({ type: 'account.deleted' });
      expect(await differences()).to.deep.equal([]);
    });
  });

  describe('about accounts changed in the database', () => {
    afterEach(async () => expect(await differences()).to.deep.equal([]));

    const differencesAfter = async (change: string, back: string): Promise<Difference[]> => {
      await api.sql(change);
      try {
        const doctor = await dps(['doctor'], { DATABASE_URL: service.databaseUrl });
        expect(doctor.out).to.include('ACCOUNTS_DIFFER');
        expect(doctor.code).to.equal(1);
        return await differences();
      } finally {
        await api.sql(back);
      }
    };

    it('report an inserted user and an inserted token', async () => {
      const id = '00000000-0000-4000-8000-00000000000a';
      const [user, token] = await differencesAfter(
        `INSERT INTO service.service_users (id, email, name, role) VALUES ('${id}', 'x@example.com', 'x', 'admin');
         INSERT INTO service.service_tokens (id, user_id, name, token_hash) VALUES ('${id}', '${id}', 'x', 'x')`,
        `DELETE FROM service.service_users WHERE id = '${id}'`,
      );
      expect(user).to.deep.include({ where: 'accounts', member: `user ${id}`, expected: null });
      expect(token).to.deep.include({ where: 'accounts', member: `API token ${id} of user ${id}`, expected: null });
    });

    it('report a changed role, a reactivated user, and a removed issuer', async () => {
      const ada = await create({ ...ADA, email: 'changed@example.com', status: 'suspended' });
      const row = `service.service_users SET role = 'admin', status = 'active', password_set_by = NULL WHERE id = '${ada}'`;
      const [difference] = await differencesAfter(
        `UPDATE ${row}`,
        `UPDATE service.service_users SET role = 'author', status = 'suspended', password_set_by = '${admin}' WHERE id = '${ada}'`,
      );
      expect(difference).to.deep.include({
        expected: { role: 'author', status: 'suspended', password_set_by: admin },
        found: { role: 'admin', status: 'active', password_set_by: null },
      });
    });

    it('report an extended token', async () => {
      const reply = await send(`/users/${admin}/tokens`, json({ expires_at: '2030-01-01T00:00:00Z' }));
      const { id } = (reply.json as { data: { id: string } }).data;
      const [difference] = await differencesAfter(
        `UPDATE service.service_tokens SET expires_at = NULL WHERE id = '${id}'`,
        `UPDATE service.service_tokens SET expires_at = '2030-01-01T00:00:00Z' WHERE id = '${id}'`,
      );
      expect(difference).to.have.property('member', `API token ${id} of user ${admin}`);
    });

    it('report a widened scope', async () => {
      const reply = await send(`/users/${admin}/tokens`, json({ scope: { actions: ['read'] } }));
      const { id } = (reply.json as { data: { id: string } }).data;
      const scopeIs = (scope: object | null): string =>
        `UPDATE service.service_tokens SET scope = ${scope === null ? 'NULL' : `'${JSON.stringify(scope)}'`} WHERE id = '${id}'`;
      const [difference] = await differencesAfter(scopeIs(null), scopeIs({ role: 'admin', actions: ['read'] }));
      expect(difference).to.have.property('member', `API token ${id} of user ${admin}`);
    });
  });

  it('appear in the stream', async () => {
    const after = ((await send('/server/info')).json as { data: { position: number } }).data.position;
    await create({ ...ADA, email: 'stream@example.com' });
    const response = await fetch(`${service.url}/history/stream?after=${after}`, {
      headers: { authorization: `Bearer ${service.adminToken}` },
    });
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes('account.created')) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
  });
});
