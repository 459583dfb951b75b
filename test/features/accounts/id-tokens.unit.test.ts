import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import { IdTokenError, createIdTokens } from '../../../src/features/accounts/id-tokens.js';
import { ProblemError } from '../../../src/kernel/problem.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/openid-provider.js';
import { until } from '../../support/until.js';

describe('the verification of ID tokens', () => {
  let provider: OpenIdProvider;

  before(async () => {
    provider = await startOpenIdProvider();
    await provider.register('http://127.0.0.1:8080');
  });
  after(() => provider.stop());

  let now = Date.now;
  const idTokens = createIdTokens({ clock: () => now() });
  const verify = (token: string) => idTokens.verify(token, new Set([provider.issuer]));
  const claimsWith = (more: object): JWTPayload => {
    const iat = Math.floor(now() / 1000);
    return { iss: provider.issuer, aud: 'https://dps.example.com', sub: 'ada', iat, exp: iat + 300, ...more };
  };
  const signed = (more: object, header = {}) => provider.signed(claimsWith(more), header);
  const faultOf = async (token: string): Promise<IdTokenError> => {
    const error: unknown = await verify(token).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(IdTokenError);
    return error as IdTokenError;
  };

  it('rejects an audience that is not a text or a list of texts', async () => {
    for (const aud of [null, 7, {}, [7]])
      expect((await faultOf(await signed({ aud }))).check, JSON.stringify(aud)).equal('format');
    expect((await verify(await signed({ aud: ['a', 'b'] }))).audiences).deep.equal(['a', 'b']);
  });

  it('rejects a type that is not a text', async () => {
    for (const typ of [7, {}, 'at+jwt'])
      expect((await faultOf(await signed({}, { typ }))).check, JSON.stringify(typ)).equal('format');
  });

  it('accepts subjects of up to 1,000 characters', async () => {
    const sub = `repo:${'o'.repeat(39)}/${'r'.repeat(100)}:environment:${'e'.repeat(255)}`;
    expect((await verify(await signed({ sub }))).subject).equal(sub);
    expect((await faultOf(await signed({ sub: 'x'.repeat(1_001) }))).check).equal('format');
  });

  it('describes at most 200 visible characters of an issuer that is not trusted', async () => {
    const iss = `https://\u202Eid.example.com/${'x'.repeat(5_000)}`;
    const { check, detail } = await faultOf(await signed({ iss }));
    expect(check).equal('issuer');
    expect(detail).include('https://\\u{202e}id.example.com/xxx');
    expect(detail).length.below(300);
  });

  it('keeps the keys of an issuer that does not respond', async () => {
    await verify(await signed({}));
    const [token, unknown] = [await signed({}), await signed({}, { kid: 'unknown' })];
    provider.isDown = true;
    try {
      await until('unknown keys are fetched again', async () => {
        const error: unknown = await verify(unknown).catch((caught: unknown) => caught);
        return error instanceof ProblemError && error.problem.code === 'UNAVAILABLE';
      });
      expect((await verify(token)).subject).equal('ada');
      now = () => Date.now() + 2 * 3_600_000;
      expect((await verify(await signed({ sub: 'ben' }))).subject).equal('ben');
    } finally {
      now = Date.now;
      provider.isDown = false;
    }
  });

  it('lets the service remember an ID token for a day after it was issued', async () => {
    const claims = claimsWith({});
    const { recordedUntil } = await verify(await provider.signed(claims));
    expect(recordedUntil.getTime() / 1000).equal((claims.iat ?? 0) + 86_400);
  });
});
