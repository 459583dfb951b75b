import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import { createAccessTokens, looksLikeAccessToken } from '../../../src/features/accounts/sessions.js';
import { newStaticToken } from '../../../src/features/accounts/secrets.js';

const SECRET = 'a secret of any length';
const NOW = Date.UTC(2026, 0, 1, 0, 0, 0, 900);

describe('access tokens', () => {
  let now = NOW;
  const tokens = createAccessTokens({ secret: SECRET, clock: () => now });
  beforeEach(() => (now = NOW));

  const part = (token: string, index: number): unknown =>
    JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());

  it('name a user and a session and expire after fifteen minutes', async () => {
    const token = await tokens.issue('user', 'session');
    const seconds = Date.UTC(2026, 0, 1) / 1000;
    expect(part(token, 0)).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    expect(part(token, 1)).to.deep.equal({
      sid: 'session',
      iss: 'data-platform-service',
      sub: 'user',
      iat: seconds,
      exp: seconds + 900,
    });
    const claims = { userId: 'user', sessionId: 'session', expiresAt: (seconds + 900) * 1000 };
    expect(await tokens.read(token)).to.deep.equal(claims);
    now = claims.expiresAt - 1;
    expect(await tokens.read(token)).to.deep.equal(claims);
    now = claims.expiresAt;
    expect(await tokens.read(token)).to.equal(null);
  });

  it('reject a foreign signature, missing claims and tokens for another audience', async () => {
    const key = (secret: string) => createHash('sha256').update(secret, 'utf8').digest();
    const signed = (claims: Record<string, unknown>, { secret = SECRET, alg = 'HS256' } = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg }).sign(key(secret));
    const good = { iss: 'data-platform-service', sub: 'user', sid: 'session', exp: Math.floor(NOW / 1000) + 60 };
    expect(await tokens.read(await signed(good))).to.deep.include({ userId: 'user', sessionId: 'session' });
    for (const bad of [
      await signed(good, { secret: 'another' }),
      await signed({ ...good, iss: 'another' }),
      await signed({ ...good, sid: 7 }),
      ...(await Promise.all(
        ['iss', 'sub', 'sid', 'exp'].map((name) =>
          signed(Object.fromEntries(Object.entries(good).filter(([member]) => member !== name))),
        ),
      )),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(good)).toString('base64url')}.`,
      'nothing',
      '',
    ]) {
      expect(await tokens.read(bad), bad).to.equal(null);
    }
  });

  it('differ from static tokens in their shape', async () => {
    expect(looksLikeAccessToken(await tokens.issue('user', 'session'))).to.equal(true);
    for (const other of [newStaticToken(), 'eyJ', 'eyJ.a', 'eyJ.a.', 'xeyJ.a.b', 'eyJ.a.b.c', 'eyJ.a.b ', 'eyK.a.b']) {
      expect(looksLikeAccessToken(other), other).to.equal(false);
    }
    expect(newStaticToken()).to.match(/^dps_[\w-]{43}$/);
  });
});
