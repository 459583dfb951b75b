import { expect } from 'chai';
import { type TestService, startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';
import { clientOf, json, type Reply } from '../../support/client.js';

const dataOf = <T>({ status, text, json: body }: Reply): T => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return (body as { data: T }).data;
};

interface Grant {
  access_token: string;
  refresh_token: string;
  expires: number;
}

describe('accounts over HTTP', () => {
  let second: TestService;

  const { service, client: send } = withService({ atEnd: () => second.stop() });
  before(async () => {
    second = await startService({ DATABASE_URL: service.databaseUrl });
  });

  const login = (password: string, email = service.adminEmail) =>
    send('/auth/login', { ...json({ email, password }), token: null });
  const refresh = (refresh_token: string) => send('/auth/refresh', { ...json({ refresh_token }), token: null });

  it('can log in, refresh and log out on any process', async () => {
    const grant = dataOf<Grant>(await login(service.adminPassword));
    expect(Object.keys(grant).sort()).deep.equal(['access_token', 'expires', 'refresh_token']);
    expect(grant.expires).equal(900_000);
    for (const process of [service, second]) {
      expect((await clientOf(process)('/schema/snapshot', { token: grant.access_token })).status).equal(200);
    }
    const next = dataOf<Grant>(await refresh(grant.refresh_token));
    const out = await send('/auth/logout', {
      ...json({ refresh_token: next.refresh_token, mode: 'json' }),
      token: null,
    });
    expect([out.status, out.text]).deep.equal([204, '']);
    for (const process of [service, second]) {
      expect((await clientOf(process)('/collections', { token: next.access_token })).status).equal(401);
    }
    expect((await refresh(next.refresh_token)).codes).deep.equal(['UNAUTHENTICATED']);
  });

  it('can log in sixty times at once with the right password', async () => {
    const logins = await Promise.all(Array.from({ length: 60 }, () => login(service.adminPassword)));
    expect(logins.filter(({ status }) => status !== 200).map(({ text }) => text)).deep.equal([]);
  });

  it('get the same rejection for every login error, for a limited time', async () => {
    const wrong = await login('wrong');
    const unknown = await login('wrong', 'nobody@example.com');
    expect([wrong.status, ...wrong.codes]).deep.equal([401, 'UNAUTHENTICATED']);
    expect(unknown.text).equal(wrong.text);
    for (const body of [{}, { email: 'a@b.c' }, { email: 1, password: 2 }, { email: 'a', password: 'b', x: 1 }, []]) {
      const { status, codes } = await send('/auth/login', { ...json(body), token: null });
      expect([status, codes[0]], JSON.stringify(body)).deep.equal([400, 'INVALID_PAYLOAD']);
    }
    let last = wrong;
    for (let attempt = 0; attempt < 10; attempt++) last = await login('wrong');
    expect([last.status, ...last.codes]).deep.equal([429, 'TOO_MANY_REQUESTS']);
    expect(Number(last.headers.get('retry-after'))).within(1, 30);
    expect((await login('battery staple', 'else@example.com')).status).equal(401);
  });

  it('are managed by admins', async () => {
    const person = { email: 'Ann@example.com', name: 'Ann', password: 'battery staple', role: 'reader' };
    const user = dataOf<{ id: string }>(await send('/users', json(person)));
    expect(user).include({ email: person.email, name: 'Ann', role: 'reader', status: 'active' });
    expect(Object.keys(user)).not.include('password');
    expect((await send('/users', json({ ...person, email: 'ann@example.com' }))).codes).deep.equal(['ALREADY_EXISTS']);
    expect(dataOf(await send(`/users/${user.id}`))).deep.equal(user);
    const list = await send('/users?offset=1&limit=1&meta=total_count');
    expect(list.json).deep.equal({ data: [user], meta: { total_count: 2 } });

    const grant = dataOf<Grant>(await login(person.password, person.email));
    expect((await send('/collections', { token: grant.access_token })).status).equal(200);
    expect((await send(`/users/${user.id}`, json({ status: 'suspended' }, 'PATCH'))).status).equal(200);
    expect((await clientOf(second)('/collections', { token: grant.access_token })).status).equal(401);
    expect((await login(person.password, person.email)).status).equal(401);
    expect((await send(`/users/${user.id}`, { method: 'DELETE' })).status).equal(204);
    expect((await send(`/users/${user.id}`)).codes).deep.equal(['NOT_FOUND']);
  });

  it('have tokens that are shown once', async () => {
    const user = dataOf<{ id: string }>(await send('/users', json({ email: 'robot@example.com', role: 'auditor' })));
    const path = `/users/${user.id}/tokens`;
    const expires_at = '2100-01-01T00:00:00.000Z';
    const { token, ...shown } = dataOf<{ id: string; token: string }>(
      await send(path, json({ name: 'ci', expires_at })),
    );
    expect(shown).include({ name: 'ci', expires_at });
    expect(dataOf(await send(path))).deep.equal([shown]);
    expect((await send('/collections', { token })).status).equal(200);
    expect((await send(`${path}/${shown.id}`, { method: 'DELETE' })).status).equal(204);
    expect((await clientOf(second)('/collections', { token })).status).equal(401);
    expect((await send(`${path}/${shown.id}`, { method: 'DELETE' })).codes).deep.equal(['NOT_FOUND']);
  });

  it('are rejected for invalid members, each with its path', async () => {
    const { json: body } = await send('/users', json({ email: 'x', role: 'king', password: 'short', admin: true }));
    const { errors } = body as { errors: { extensions: { code: string; path: string } }[] };
    expect(errors.map(({ extensions }) => extensions.path).sort()).deep.equal(['admin', 'email', 'password', 'role']);
    expect((await send('/users?nope', json({}))).codes).deep.equal(['INVALID_QUERY']);
    expect((await send('/users/nope', json({ name: 'x' }, 'PATCH'))).codes).deep.equal(['NOT_FOUND']);
  });

  it('always include an admin', async () => {
    const { data } = (await send('/users')).json as { data: { id: string; role: string }[] };
    const admin = data.find(({ role }) => role === 'admin')?.id ?? '';
    for (const request of [json({ role: 'reader' }, 'PATCH'), { method: 'DELETE' }]) {
      const { status, codes } = await send(`/users/${admin}`, request);
      expect([status, ...codes]).deep.equal([409, 'IN_USE']);
    }
  });
});
