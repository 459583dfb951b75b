import { expect } from 'chai';
import { INVITATION_LIFETIME } from '../../../src/features/accounts/users.js';
import { type Reply, json } from '../../support/client.js';
import { sql } from '../../support/postgres.js';
import { withService } from '../../support/with-service.js';

const SENT = 'generated for the link';
const CHOSEN = 'seven purple lanterns';

interface User {
  id: string;
  invitation_expires_at: string | null;
}

const userOf = ({ status, text, json: body }: Reply): User => {
  expect(status, text).to.equal(200);
  return (body as { data: User }).data;
};

const errorOf = ({ status, json: body }: Reply): [number, string, string, string | undefined] => {
  const { message, extensions } = (
    body as { errors: { message: string; extensions: { code: string; path?: string } }[] }
  ).errors[0]!;
  return [status, extensions.code, message, extensions.path];
};

const EXPIRED = [409, 'INVALID_STATE', 'Your invitation has expired. Ask an admin for a new link.', undefined];

describe('invitations', () => {
  const { service, client: send } = withService();

  const invite = async (email: string): Promise<User> =>
    userOf(await send('/users', json({ email, role: 'reader', password: SENT, invitation: true })));
  const readUser = async (id: string): Promise<User> => userOf(await send(`/users/${id}`));
  const login = (email: string, password: string): Promise<Reply> => send('/auth/login', json({ email, password }));
  const tokenOf = ({ json: body }: Reply): string => (body as { data: { access_token: string } }).data.access_token;
  const choose = (token: string): Promise<Reply> =>
    send('/users/me', { ...json({ password: CHOSEN, current_password: SENT }, 'PATCH'), token });
  const expire = (id: string): Promise<void> =>
    sql(
      service.databaseUrl,
      `update service.service_users set invitation_expires_at = now() - interval '1 second' where id = '${id}'`,
    );

  it('expire after 7 days, and end when the user chooses a password', async () => {
    const earliest = Date.now() + INVITATION_LIFETIME;
    const { id, invitation_expires_at: until } = await invite('ada@example.com');
    expect(Date.parse(until ?? '')).to.be.within(earliest, Date.now() + INVITATION_LIFETIME);
    const { json: listed } = await send('/users?fields=id,invitation_expires_at');
    expect((listed as { data: User[] }).data).to.deep.include({ id, invitation_expires_at: until });
    const chosen = userOf(await choose(tokenOf(await login('ada@example.com', SENT))));
    expect(chosen.invitation_expires_at).to.equal(null);
    expect((await readUser(id)).invitation_expires_at).to.equal(null);
    expect((await login('ada@example.com', CHOSEN)).status).to.equal(200);
  });

  it('cannot be accepted after they have expired, until an admin invites the user again', async () => {
    const { id } = await invite('eve@example.com');
    const token = tokenOf(await login('eve@example.com', SENT));
    await expire(id);
    expect(errorOf(await login('eve@example.com', SENT))).to.deep.equal(EXPIRED);
    expect(errorOf(await choose(token))).to.deep.equal(EXPIRED);
    expect(errorOf(await login('eve@example.com', CHOSEN))[0]).to.equal(401);
    const again = { password: 'generated once more', invitation: true };
    const { invitation_expires_at: until } = userOf(await send(`/users/${id}`, json(again, 'PATCH')));
    expect(Date.parse(until ?? '')).to.be.greaterThan(Date.now());
    expect((await login('eve@example.com', SENT)).status).to.equal(401);
    expect((await login('eve@example.com', again.password)).status).to.equal(200);
  });

  it('end when an admin sets a password or removes it, and not with other changes', async () => {
    const { id, invitation_expires_at: until } = await invite('bob@example.com');
    const change = async (body: object): Promise<string | null> =>
      userOf(await send(`/users/${id}`, json(body, 'PATCH'))).invitation_expires_at;
    expect(await change({ name: 'Bob', role: 'author' })).to.equal(until);
    expect(await change({ password: CHOSEN })).to.equal(null);
    expect(await change({ password: SENT, invitation: true })).not.to.equal(null);
    expect(await change({ password: null })).to.equal(null);
    expect((await readUser(id)).invitation_expires_at).to.equal(null);
  });

  it('require a new password', async () => {
    const needsPassword = [400, 'INVALID_PAYLOAD', 'An invitation requires a new password.', 'invitation'];
    const created = await send('/users', json({ email: 'no@example.com', role: 'reader', invitation: true }));
    expect(errorOf(created)).to.deep.equal(needsPassword);
    const { id } = await invite('yes@example.com');
    for (const password of [undefined, null]) {
      const changed = await send(`/users/${id}`, json({ password, invitation: true }, 'PATCH'));
      expect(errorOf(changed)).to.deep.equal(needsPassword);
    }
  });

  it('are recorded as a password that another user has set', async () => {
    const { id } = await invite('log@example.com');
    await send(`/users/${id}`, json({ password: 'generated once more', invitation: true }, 'PATCH'));
    const { json: events } = await send(`/history/events?subject=user:${id}&order=desc&limit=1`);
    const [event] = (events as { data: { actor: { id: string }; data: object }[] }).data;
    expect(event?.data).to.deep.equal({ password: 'set', password_set_by: event?.actor.id });
  });
});
