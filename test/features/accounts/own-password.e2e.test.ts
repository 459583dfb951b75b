import { expect } from 'chai';
import { json, type Reply } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

const FIRST = 'correct horse battery';
const SECOND = 'seven purple lanterns';

const errorOf = ({ status, json: body }: Reply): [number, string, string | undefined] => {
  const { message, extensions } = (body as { errors: { message: string; extensions: { path?: string } }[] }).errors[0]!;
  return [status, message, extensions.path];
};

describe('the password of the current user', () => {
  const { client: send } = withService();
  let user: string;

  before(async () => {
    const created = await send('/users', json({ email: 'ada@example.com', role: 'reader', password: FIRST }));
    user = (created.json as { data: { id: string } }).data.id;
  });

  const login = (password: string): Promise<Reply> => send('/auth/login', json({ email: 'ada@example.com', password }));
  const tokenOf = ({ json: body }: Reply): string => (body as { data: { access_token: string } }).data.access_token;
  const change = (token: string, body: object): Promise<Reply> => send('/users/me', { ...json(body, 'PATCH'), token });

  it('can be changed by a user of any role who sends the current one, which ends the sessions', async () => {
    const token = tokenOf(await login(FIRST));
    const { status, json: body } = await change(token, { password: SECOND, current_password: FIRST });
    expect(status).to.equal(200);
    expect((body as { data: object }).data).to.include({ id: user, role: 'reader' });
    expect((await send('/users/me', { token })).status).to.equal(401);
    expect((await login(FIRST)).status).to.equal(401);
    expect((await login(SECOND)).status).to.equal(200);
    const { json: events } = await send(`/history/events?subject=user:${user}&order=desc&limit=1`);
    expect((events as { data: object[] }).data[0]).to.deep.include({
      type: 'account.updated',
      actor: { ...(events as { data: { actor: { id: string } }[] }).data[0]!.actor, id: user },
      data: { password: 'set', password_set_by: null },
    });
  });

  it('stays the same if the current one is wrong, the new one is easy to guess, or both are equal', async () => {
    const token = tokenOf(await login(SECOND));
    expect(errorOf(await change(token, { password: FIRST, current_password: FIRST }))).to.deep.equal([
      400,
      'The current password is wrong.',
      'current_password',
    ]);
    expect(errorOf(await change(token, { password: SECOND, current_password: SECOND }))).to.deep.equal([
      400,
      'The new password must differ from the current one.',
      'password',
    ]);
    const guessed = await change(token, { password: 'ada@example.com1', current_password: SECOND });
    expect(errorOf(guessed).at(2)).to.equal('password');
    expect(errorOf(await change(token, { password: FIRST })).at(2)).to.equal('current_password');
    expect((await login(SECOND)).status).to.equal(200);
  });

  it('cannot be guessed with a stolen session: attempts are limited like logins', async () => {
    const token = tokenOf(await login(SECOND));
    const replies: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1)
      replies.push((await change(token, { password: FIRST, current_password: `wrong password ${attempt}` })).status);
    expect([replies[0], replies.at(-1)]).to.deep.equal([400, 429]);
  });

  it('cannot be changed with a token that has a scope', async () => {
    const made = await send(`/users/${user}/tokens`, json({ name: 'ci', scope: { actions: ['read'] } }));
    const { token } = (made.json as { data: { token: string } }).data;
    expect((await change(token, { password: FIRST, current_password: SECOND })).status).to.equal(403);
  });
});
