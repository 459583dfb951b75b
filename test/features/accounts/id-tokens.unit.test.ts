import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import { IdTokenError, createIdTokens } from '../../../src/features/accounts/id-tokens.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/openid-provider.js';

describe('the verification of ID tokens', () => {
  let provider: OpenIdProvider;

  before(async () => {
    provider = await startOpenIdProvider();
    await provider.register('http://127.0.0.1:8080');
  });
  after(() => provider.stop());

  const idTokens = createIdTokens({ clock: Date.now });
  const verify = (token: string) => idTokens.verify(token, new Set([provider.issuer]));
  const claimsWith = (more: object): JWTPayload => {
    const iat = Math.floor(Date.now() / 1000);
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

  it('describes at most 200 visible characters of an issuer that is not trusted', async () => {
    const iss = `https://\u202Eid.example.com/${'x'.repeat(5_000)}`;
    const { check, detail } = await faultOf(await signed({ iss }));
    expect(check).equal('issuer');
    expect(detail).include('https://\\u{202e}id.example.com/xxx');
    expect(detail).length.below(300);
  });

  it('lets the service remember an ID token for a day after it was issued', async () => {
    const claims = claimsWith({});
    const { recordedUntil } = await verify(await provider.signed(claims));
    expect(recordedUntil.getTime() / 1000).equal((claims.iat ?? 0) + 86_400);
  });
});
