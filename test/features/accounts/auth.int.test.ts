import { expect } from 'chai';
import {
  ACCESS_TOKEN_LIFETIME,
  REUSE_LIFETIME,
  SESSIONS_PER_USER,
  SESSION_LIFETIME,
} from '../../../src/features/accounts/sessions.js';
import { createAuth } from '../../../src/features/accounts/index.js';
import type { Profile } from '../../../src/features/accounts/oidc.js';
import { TOKENS_PER_USER } from '../../../src/features/accounts/tokens.js';
import { INVITATION_LIFETIME, type User } from '../../../src/features/accounts/users.js';
import type { Result } from '../../../src/kernel/problem.js';
import { type AuthDatabase, openAuthDatabase } from './auth-database.js';

function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new Error(result.problems.map(({ message }) => message).join());
}

const codesOf = (result: Result<unknown>) => (result.ok ? [] : result.problems.map(({ code }) => code));

/** A login from the network of the tests. */
const from = (email: string, password: string) => ({ email, password, network: '192.0.2.1' });

describe('authentication', () => {
  let database: AuthDatabase;
  let admin: User;

  before(async () => {
    database = await openAuthDatabase();
    await database.auth.ensureAdmin({ email: 'Boss@example.com', password: 'correct horse', token: 'the-admin-token' });
    const [first] = await database.auth.users.list({ offset: 0, limit: 10 });
    admin = first as User;
  });
  after(() => database.close());

  const who = async (token: string) => database.auth.identify(token, await database.epoch());
  const newUser = async (email: string) =>
    valueOf(
      await database.change(
        database.auth.users.create({ email, name: 'Somebody', password: 'battery staple', role: 'reader' }),
      ),
    );

  describe('the first admin', () => {
    it('is created once, with the given settings', async () => {
      expect(admin).include({ email: 'Boss@example.com', role: 'admin', status: 'active' });
      expect(await database.auth.ensureAdmin({ email: 'other@example.com' })).deep.equal({
        email: 'Boss@example.com',
        created: false,
        ignored: [],
      });
      expect(await who('the-admin-token')).deep.equal({
        id: admin.id,
        name: 'Admin',
        role: 'admin',
        credential: { kind: 'token', issuedBy: null, token: valueOf(await database.auth.tokens.list(admin.id))[0]?.id },
      });
    });

    it('stays unchanged under other settings, and the log reports that they have no effect', async () => {
      const { auth } = database;
      const ignored = async (settings: object) => (await auth.ensureAdmin(settings)).ignored;
      expect(await ignored({ password: 'correct horse', token: 'the-admin-token' })).deep.equal([]);
      expect(await ignored({ password: 'another horse' })).deep.equal(['ADMIN_PASSWORD']);
      expect(await ignored({ token: 'another-token' })).deep.equal(['ADMIN_TOKEN']);
      expect(await ignored({ email: 'new@example.com', password: 'correct horse' })).deep.equal(['ADMIN_PASSWORD']);
      expect(await who('another-token')).equal(null);
    });

    it('is created by one of many processes that start at once, and only that one prints the generated values', async () => {
      const fresh = await openAuthDatabase();
      try {
        const processes = await Promise.all(Array.from({ length: 8 }, () => fresh.another()));
        const created = await Promise.all(processes.map((auth) => auth.ensureAdmin({})));
        const [first, ...others] = created.filter((each) => each.created);
        expect(others).deep.equal([]);
        expect(created.every(({ email }) => email === 'admin@example.com')).equal(true);
        const { passwordGenerated = '', tokenGenerated = '' } = first ?? {};
        const epoch = await fresh.epoch();
        for (const auth of processes) {
          expect((await auth.identify(tokenGenerated, epoch))?.role).equal('admin');
        }
        expect(await fresh.auth.sessions.login(from('admin@example.com', passwordGenerated))).not.equal(null);
      } finally {
        await fresh.close();
      }
    });
  });

  describe('users', () => {
    it('are found by e-mail address in any case', async () => {
      await newUser('Ann@example.com');
      const again = await database.change(database.auth.users.create({ email: 'ann@EXAMPLE.com', role: 'reader' }));
      expect(codesOf(again)).deep.equal(['ALREADY_EXISTS']);
      expect(await database.auth.sessions.login(from('ANN@example.com', 'battery staple'))).not.equal(null);
    });

    it('are updated member by member', async () => {
      const user = await newUser('change@example.com');
      const changed = valueOf(await database.change(database.auth.users.update(user.id, { role: 'auditor' })));
      expect(changed).deep.equal({ ...user, role: 'auditor' });
      expect(valueOf(await database.change(database.auth.users.update(user.id, {})))).deep.equal(changed);
      expect(
        codesOf(await database.change(database.auth.users.update(user.id, { email: 'boss@example.com' }))),
      ).deep.equal(['ALREADY_EXISTS']);
    });

    it('return NOT_FOUND for unknown ids and for texts that are not UUIDs', async () => {
      for (const id of ['nobody', '00000000-0000-4000-8000-000000000000', "' or true --"]) {
        expect(codesOf(await database.auth.users.get(id))).deep.equal(['NOT_FOUND']);
        expect(codesOf(await database.change(database.auth.users.update(id, { name: 'x' })))).deep.equal(['NOT_FOUND']);
        expect(codesOf(await database.change(database.auth.users.remove(id)))).deep.equal(['NOT_FOUND']);
        expect(codesOf(await database.auth.tokens.list(id))).deep.equal(['NOT_FOUND']);
        expect(codesOf(await database.change(database.auth.tokens.create(id, {})))).deep.equal(['NOT_FOUND']);
        expect(codesOf(await database.change(database.auth.tokens.revoke(admin.id, id)))).deep.equal(['NOT_FOUND']);
      }
    });

    it('always include an active admin, even when two are demoted at the same time', async () => {
      const { users } = database.auth;
      expect(codesOf(await database.change(users.remove(admin.id)))).deep.equal(['IN_USE']);
      expect(codesOf(await database.change(users.update(admin.id, { role: 'auditor' })))).deep.equal(['IN_USE']);
      expect(codesOf(await database.change(users.update(admin.id, { status: 'suspended' })))).deep.equal(['IN_USE']);
      const second = await newUser('second@example.com');
      valueOf(await database.change(users.update(second.id, { role: 'admin' })));
      const both = await Promise.all(
        [admin, second].map(({ id }) => database.change(users.update(id, { role: 'auditor' }))),
      );
      expect(both.flatMap(codesOf)).deep.equal(['IN_USE']);
      for (const { id } of [admin, second]) valueOf(await database.change(users.update(id, { role: 'admin' })));
      valueOf(await database.change(users.remove(second.id)));
    });
  });

  it('accepts the password of an invitation for 7 days', async () => {
    const fresh = await openAuthDatabase();
    try {
      const login = from('guest@example.com', 'battery staple');
      const invited = { email: login.email, role: 'reader', password: login.password, invitation: true } as const;
      const { id } = valueOf(await fresh.change(fresh.auth.users.create(invited)));
      fresh.pass(INVITATION_LIFETIME - 1);
      expect(await fresh.auth.sessions.passwordOwner(login)).include({ id, isExpired: false });
      expect(await fresh.auth.sessions.login(login)).not.equal(null);
      fresh.pass(1);
      expect(await fresh.auth.sessions.passwordOwner(login)).include({ id, isExpired: true });
      expect(await fresh.auth.sessions.login(login)).equal(null);
      valueOf(await fresh.change(fresh.auth.users.update(id, { password: login.password })));
      expect(await fresh.auth.sessions.login(login)).not.equal(null);
    } finally {
      await fresh.close();
    }
  });

  it('accepts no password if someone changed the hash in the database', async () => {
    const { id, email } = await newUser('hash@example.com');
    await database.pool.query(`update service.service_users set password_hash = 'none' where id = $1`, [id]);
    expect(await database.auth.sessions.login(from(email, 'battery staple'))).equal(null);
  });

  it('replaces a secret of access tokens that is not a text', async () => {
    const { pool } = database;
    const { rows } = await pool.query<{ value: unknown }>(`select value from service.service_settings`);
    await pool.query(`update service.service_settings set value = 'null'`);
    try {
      const other = await database.another();
      const { email } = await newUser('secret@example.com');
      expect(await other.sessions.login(from(email, 'battery staple'))).not.equal(null);
    } finally {
      await pool.query(`update service.service_settings set value = $1`, [JSON.stringify(rows[0]?.value)]);
    }

    it('keep a password that an admin sets while they change it, and remain suspended', async () => {
      const { users } = database.auth;
      const { id } = await newUser('late@example.com');
      const own = async () => {
        const formerHash = await users.readPasswordHash(id);
        return users.update(id, { password: 'seven purple lanterns', passwordSetBy: null, formerHash });
      };
      const late = await own();
      valueOf(await database.change(users.update(id, { password: 'reset by an admin', passwordSetBy: admin.id })));
      const reset = await users.readPasswordHash(id);
      expect(codesOf(await database.change(late))).deep.equal(['INVALID_STATE']);
      const suspended = await own();
      valueOf(await database.change(users.update(id, { status: 'suspended' })));
      expect(codesOf(await database.change(suspended))).deep.equal(['INVALID_STATE']);
      expect(await users.readPasswordHash(id)).equal(reset);
      valueOf(await database.change(users.update(id, { status: 'active' })));
      valueOf(await database.change(await own()));
      expect(await users.readPasswordHash(id)).not.equal(reset);
    });
  });

  describe('static tokens', () => {
    it('are rejected if someone changed their scope to something else', async () => {
      const { tokens } = database.auth;
      const user = await newUser('scope@example.com');
      const { token, id } = valueOf(await database.change(tokens.create(user.id, { scope: { actions: ['read'] } })));
      for (const scope of [{ role: 'reader', networks: ['none'] }, { role: 'root' }, 'read', 5]) {
        expect(await who(token)).to.have.property('id', user.id);
        const change = 'update service.service_tokens set scope = $2 where id = $1';
        await database.pool.query(change, [id, JSON.stringify(scope)]);
        expect(await who(token), JSON.stringify(scope)).equal(null);
        await database.pool.query(change, [id, JSON.stringify({ role: 'reader', actions: ['read'] })]);
      }
    });

    it('are shown once, work until revoked, and are revoked immediately on every process', async () => {
      const { tokens } = database.auth;
      const other = await database.another();
      const user = await newUser('token@example.com');
      const { token, ...shown } = valueOf(await database.change(tokens.create(user.id, { name: 'deploy' })));
      expect(shown).to.have.property('expires_at', null);
      expect(token).match(/^dps_[\w-]{43}$/);
      expect(valueOf(await tokens.list(user.id))).deep.equal([shown]);
      const credential = { kind: 'token', issuedBy: null, token: shown.id };
      const caller = { id: user.id, name: 'Somebody', role: 'reader', credential };
      expect(await who(token)).deep.equal(caller);
      expect(await other.identify(token, await database.epoch())).deep.equal(caller);
      valueOf(await database.change(tokens.revoke(user.id, shown.id)));
      expect(await who(token)).equal(null);
      expect(await other.identify(token, await database.epoch())).equal(null);
    });

    it('are rejected beyond 100 per user, until one is revoked', async () => {
      const { tokens } = database.auth;
      const [user, other] = [await newUser('many@example.com'), await newUser('few@example.com')];
      const create = async ({ id }: { id: string }) => database.change(tokens.create(id, {}));
      const [first] = [valueOf(await create(user))];
      for (let count = 1; count < TOKENS_PER_USER; count += 1) valueOf(await create(user));
      expect(codesOf(await create(user))).deep.equal(['INVALID_STATE']);
      valueOf(await create(other));
      valueOf(await database.change(tokens.revoke(user.id, first.id)));
      valueOf(await create(user));
      expect(valueOf(await tokens.list(user.id))).to.have.length(TOKENS_PER_USER);
    });

    it('are stored as hashes', async () => {
      const { token } = valueOf(await database.change(database.auth.tokens.create(admin.id, {})));
      const { rows } = await database.pool.query<{ row: string }>(
        'select t::text as row from service.service_tokens t',
      );
      expect(rows.map(({ row }) => row).join()).not.include(token);
      expect(rows.map(({ row }) => row).join()).not.include(Buffer.from(token).toString('hex'));
    });

    it('expire at their expiry time', async () => {
      const expires_at = new Date(Date.now() + 60_000).toISOString();
      const user = await newUser('expiry@example.com');
      const created = valueOf(await database.change(database.auth.tokens.create(user.id, { expires_at })));
      expect(created.expires_at).equal(expires_at);
      expect(await who(created.token)).not.equal(null);
      // The test's clock does not move between calls, and lags by the duration of the earlier tests.
      database.pass(600_000);
      expect(await who(created.token)).equal(null);
    });

    it('stop working when their user is suspended or removed, and follow role changes immediately', async () => {
      const { users, tokens } = database.auth;
      const user = await newUser('gone@example.com');
      const { token } = valueOf(await database.change(tokens.create(user.id, {})));
      valueOf(await database.change(users.update(user.id, { role: 'auditor' })));
      expect((await who(token))?.role).equal('auditor');
      valueOf(await database.change(users.update(user.id, { status: 'suspended' })));
      expect(await who(token)).equal(null);
      valueOf(await database.change(users.update(user.id, { status: 'active' })));
      expect(await who(token)).not.equal(null);
      valueOf(await database.change(users.remove(user.id)));
      expect(await who(token)).equal(null);
    });
  });

  describe('sessions', () => {
    const login = async () => {
      const grant = await database.auth.sessions.login(from('boss@example.com', 'correct horse'));
      if (grant === null) throw new Error('refused');
      return grant;
    };

    it('begin only with the correct password of an active user', async () => {
      const { users, sessions } = database.auth;
      const grant = await login();
      expect(grant.expires).equal(ACCESS_TOKEN_LIFETIME);
      expect((await who(grant.access_token))?.id).equal(admin.id);
      expect(await sessions.login(from('boss@example.com', 'wrong horse'))).equal(null);
      expect(await sessions.login(from('nobody@example.com', 'correct horse'))).equal(null);
      const user = await newUser('suspended@example.com');
      valueOf(await database.change(users.update(user.id, { status: 'suspended' })));
      expect(await sessions.login(from('suspended@example.com', 'battery staple'))).equal(null);
      const { id } = valueOf(
        await database.change(users.create({ email: 'passwordless@example.com', role: 'reader' })),
      );
      expect(await sessions.login(from('passwordless@example.com', ''))).equal(null);
      valueOf(await database.change(users.remove(id)));
    });

    it('do not begin if the password or the status changes after the password was checked', async () => {
      const { users, sessions, identities } = database.auth;
      const profile = { issuer: 'https://id.example.com', subject: 'race', session: null } as Profile;
      const { id } = await newUser('race@example.com');
      for (const changes of [{ password: 'seven purple lanterns' }, { status: 'suspended' }] as const) {
        const login = { email: 'race@example.com', password: 'battery staple' };
        const proof = await sessions.passwordOwner(login);
        if (proof === null) throw new Error('the password is wrong');
        valueOf(await database.change(await users.update(id, changes)));
        expect(await sessions.begin(id, { network: '127.0.0.1', proof })).equal(null);
        expect(codesOf(await database.change(identities.link(proof, profile)))).deep.equal(['INVALID_STATE']);
        valueOf(await database.change(await users.update(id, { password: login.password })));
      }
    });

    it('end beyond 100 per user, the least recently used one first', async () => {
      const { sessions } = database.auth;
      const tokens: string[] = [];
      while (tokens.length < SESSIONS_PER_USER) tokens.push((await login()).refresh_token);
      const [first = '', second = '', third = ''] = tokens;
      expect(await sessions.refresh(first)).not.equal(null);
      await login();
      expect(await sessions.refresh(second)).equal(null);
      expect(await sessions.refresh(third)).not.equal(null);
    });

    it('accept a password in any Unicode composition', async () => {
      const { users, sessions } = database.auth;
      valueOf(
        await database.change(users.create({ email: 'ü@example.com', password: 'pässwörter 1', role: 'reader' })),
      );
      expect(await sessions.login(from('ü@example.com', 'pa\u0308sswo\u0308rter 1'))).not.equal(null);
    });

    it('give access for fifteen minutes and again after a refresh', async () => {
      const grant = await login();
      database.pass(ACCESS_TOKEN_LIFETIME + 1000);
      expect(await who(grant.access_token)).equal(null);
      const next = await database.auth.sessions.refresh(grant.refresh_token);
      expect((await who(next?.access_token ?? ''))?.id).equal(admin.id);
    });

    it('end when a refresh token is used twice', async () => {
      const { sessions } = database.auth;
      const grant = await login();
      const next = await sessions.refresh(grant.refresh_token);
      expect(next?.refresh_token).not.equal(grant.refresh_token);
      expect(await sessions.refresh(grant.refresh_token)).equal(null);
      expect(await sessions.refresh(next?.refresh_token ?? '')).equal(null);
      expect(await who(next?.access_token ?? '')).equal(null);
    });

    it('return the same successor of the previous token to several tabs for half a minute', async () => {
      const { sessions } = database.auth;
      const another = await database.another();
      const tokenAfter = async (token: string, from = sessions) =>
        (await from.refresh(token, { shared: true }))?.refresh_token ?? null;
      const first = (await login()).refresh_token;
      const [second, again] = await Promise.all([tokenAfter(first), tokenAfter(first)]);
      expect(second).to.be.a('string').and.equal(again);
      expect(await tokenAfter(first, another.sessions)).equal(second);
      const third = await tokenAfter(String(second));
      expect(third).to.be.a('string').and.not.equal(second);
      database.pass(REUSE_LIFETIME + 1000);
      expect(await tokenAfter(String(second))).equal(null);
      expect(await tokenAfter(String(third))).equal(null);
    });

    it('end when the token before the previous one is used, or the previous one from another address', async () => {
      const { sessions } = database.auth;
      const first = (await login()).refresh_token;
      const second = (await sessions.refresh(first, { shared: true }))?.refresh_token ?? '';
      expect(await sessions.refresh(second, { shared: true })).not.equal(null);
      expect(await sessions.refresh(first, { shared: true })).equal(null);
      const begun = (await login()).refresh_token;
      expect(await sessions.refresh(begun, { shared: true })).not.equal(null);
      expect(await sessions.refresh(begun)).equal(null);
    });

    it('end with a logout, including their access tokens', async () => {
      const { sessions } = database.auth;
      const grant = await login();
      expect(await who(grant.access_token)).not.equal(null);
      await sessions.logout(grant.refresh_token);
      expect(await who(grant.access_token)).equal(null);
      expect(await sessions.refresh(grant.refresh_token)).equal(null);
      await sessions.logout(grant.refresh_token);
      await sessions.logout('nonsense');
    });

    it('end without a refresh and after a password change', async () => {
      const { sessions, users } = database.auth;
      const idle = await login();
      database.pass(SESSION_LIFETIME + 1000);
      expect(await sessions.refresh(idle.refresh_token)).equal(null);
      const grant = await login();
      valueOf(await database.change(users.update(admin.id, { password: 'correct horse' })));
      expect(await who(grant.access_token)).equal(null);
    });

    it('reject tokens signed with another secret or not signed', async () => {
      const { access_token } = await login();
      const [header = '', payload = '', signature = ''] = access_token.split('.');
      const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
      for (const forged of [`${none}.${payload}.`, `${none}.${payload}.${signature}`, `${header}.${payload}.AAAA`]) {
        expect(await who(forged), forged).equal(null);
      }
      expect(await sessionsOfStranger(access_token)).equal(null);
    });

    const sessionsOfStranger = async (token: string) => {
      const stranger = await createAuth({ pool: database.pool, secret: 'another secret' });
      try {
        return await stranger.identify(token, await database.epoch());
      } finally {
        stranger.stop();
      }
    };
  });
});
