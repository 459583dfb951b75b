import { expect } from 'chai';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { type OpenIdProvider, settingsOf, startOpenIdProvider } from '../support/openid-provider.js';

const ADA = { sub: 'ada', email: 'ada@example.com', name: 'Ada', groups: ['admins'] };

describe('signing in to the admin app with an OpenID provider', () => {
  let provider: OpenIdProvider;
  const app = withApp({
    settings: async () => {
      provider = await startOpenIdProvider();
      return { ...settingsOf(provider), OIDC_ROLES: '{"groups":{"admins":"admin"}}', OIDC_LABEL: 'Example ID' };
    },
    atEnd: () => provider.stop(),
  });

  before(() => provider.register(app.service.url));
  beforeEach(() => app.mayComplain(new RegExp(`^asked ${provider.issuer}/`)));

  it('returns to the requested page, and shows the identity of the user', async () => {
    provider.person = ADA;
    const page = await app.visit({ path: '/timeline?x=1', as: null });
    await page.getByRole('link', { name: 'Sign in with Example ID' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/timeline');
    expect(new URL(page.url()).searchParams.has('sign_in')).to.equal(false);
    await page.reload();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.goto(`${app.service.url}/app/accounts`);
    await page.getByRole('button', { name: 'Edit' }).first().click();
    await page.getByRole('dialog').getByText(`Signs in as ada at ${provider.issuer}`).waitFor();
  });

  it('explains why a sign-in did not succeed, once', async () => {
    provider.person = { ...ADA, sub: 'stranger', groups: [] };
    const page = await app.visit({ path: '/timeline', as: null, narrow: true });
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await page.getByText('Your account at the provider has no role in this service.').waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Sign in with Example ID' }).waitFor();
    expect(await page.getByText('Your account at the provider has no role').count()).to.equal(0);
  });

  it('links an existing account after its password was entered', async () => {
    app.mayComplain(/status of 401/);
    const password = 'correct horse battery';
    await app.client('/users', json({ email: 'grace@example.com', name: 'Grace', role: 'admin', password }));
    provider.person = { sub: 'grace', email: 'grace@example.com', groups: ['admins'] };
    const page = await app.visit({ path: '/timeline', as: null });
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await page.getByText('An account with the e-mail address grace@example.com already exists.').waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill('not the password');
    await page.getByRole('button', { name: 'Link and sign in' }).click();
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Link and sign in' }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  });
});
