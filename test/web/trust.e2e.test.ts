import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectAccessibleInEachLook, expectCount, withApp } from '../support/app.js';
import { json, signIn } from '../support/client.js';
import { until } from '../support/until.js';

interface Rule {
  name: string;
  claims: Record<string, string>;
  scope: object;
  user: string;
  minutes: number;
}

describe('the trust rules in the admin app', () => {
  const app = withApp();
  const path = '/operations/trust';

  const rules = async (): Promise<Rule[]> =>
    (await app.api.ok<{ data: { rules: Rule[] } }>('GET', '/auth/trust')).data.rules;
  const names = async (): Promise<string[]> => (await rules()).map(({ name }) => name);
  const set = (...list: object[]): Promise<unknown> => app.api.ok('PUT', '/auth/trust', { rules: list });
  const ruleWith = (more: object = {}): object => ({
    name: 'deploy',
    issuer: 'https://token.actions.githubusercontent.com',
    audience: 'https://dps.example.com',
    claims: { sub: 'repo:example/schema:ref:refs/heads/main' },
    scope: { role: 'admin', actions: ['read', 'apply'], collections: ['with, comma'] },
    ...more,
  });
  const cards = (page: Page) => page.getByRole('list', { name: 'Trust rules' }).getByRole('listitem');

  beforeEach(() => set());

  it('creates a rule, and shows invalid input at its member', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path });
    await page.getByText('No trust rules').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'New rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'New trust rule' });
    await dialog.getByLabel('Name', { exact: true }).fill('plan');
    await dialog.getByLabel('Issuer').fill('http://id.example.com');
    await dialog.getByLabel('Pattern of claim 1').fill('*');
    await dialog.getByRole('button', { name: 'Create rule' }).click();
    await dialog.getByLabel('Issuer').and(page.locator('[aria-invalid=true]')).waitFor();
    await dialog.getByText(/must not accept every subject/).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Issuer').fill('https://gitlab.example.com');
    await dialog.getByLabel('Audience').fill('https://dps.example.com');
    await dialog.getByLabel('Pattern of claim 1').fill('project_path:example/schema:*');
    await dialog.getByRole('button', { name: 'Add claim' }).click();
    await dialog.getByLabel('Name of claim 2').fill('sub');
    await dialog.getByText('The claim "sub" is listed twice.').waitFor();
    await dialog.getByLabel('Name of claim 2').fill('ref_protected');
    await dialog.getByLabel('Pattern of claim 2').fill('true');
    await dialog.getByLabel('propose', { exact: true }).check();
    await dialog.getByLabel('Networks').and(page.locator('input')).fill('10.0.0.0/8');
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Minutes').fill('5');
    await dialog.getByRole('button', { name: 'Create rule' }).click();
    await cards(page)
      .filter({ hasText: 'plan' })
      .getByText('at most author: read, propose; from 10.0.0.0/8; for 5 minutes')
      .waitFor();
    const [rule] = await rules();
    expect(rule).to.deep.include({
      name: 'plan',
      claims: { sub: 'project_path:example/schema:*', ref_protected: 'true' },
      scope: { role: 'author', actions: ['read', 'propose'], networks: ['10.0.0.0/8'] },
      minutes: 5,
    });
    await expectAccessibleInEachLook(page);
  });

  it('changes, reorders and deletes rules, and keeps the members that the user did not change', async () => {
    const user = await app.api.ok<{ data: { id: string } }>('POST', '/users', {
      email: 'ci@example.com',
      role: 'admin',
    });
    await set(ruleWith({ user: user.data.id, minutes: 20 }), ruleWith({ name: 'other' }));
    const [before] = await rules();
    const page = await app.visit({ path });
    await page.getByRole('button', { name: 'Edit deploy' }).click();
    const dialog = page.getByRole('dialog', { name: 'deploy' });
    await dialog.getByLabel('Name', { exact: true }).fill('release');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect((await rules())[0]).to.deep.equal({ ...before, name: 'release' });
    await page.getByRole('button', { name: 'Move up other' }).click();
    await until('the rule is first', async () => (await names())[0] === 'other');
    expect(await names()).to.deep.equal(['other', 'release']);
    await page.getByRole('button', { name: 'Move up release' }).waitFor();
    await page.getByRole('button', { name: 'Delete: release' }).click();
    await page.getByRole('button', { name: 'Yes, delete: release' }).click();
    await expectCount(cards(page), 1);
    expect(await names()).to.deep.equal(['other']);
  });

  it('does not overwrite rules that another admin has set in the meantime', async () => {
    app.mayComplain(/status of 412/);
    await set(ruleWith());
    const page = await app.visit({ path });
    await page.getByRole('button', { name: 'Edit deploy' }).click();
    const dialog = page.getByRole('dialog', { name: 'deploy' });
    await set(ruleWith({ minutes: 3 }), ruleWith({ name: 'other' }));
    await dialog.getByLabel('Minutes').fill('30');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('The trust rules have changed since you read them').waitFor();
    expect((await rules()).map(({ minutes }) => minutes)).to.deep.equal([3, 15]);
  });

  it('shows who set each rule, and when, even after changes to other rules', async () => {
    await set(ruleWith());
    const other = await app.user('admin');
    const token = await signIn(app.api.client, other);
    const both = { rules: [...(await rules()), ruleWith({ name: 'other' })] };
    const sent = await app.api.client('/auth/trust', { ...json(both, 'PUT'), token });
    expect(sent.status, sent.text).to.equal(200);
    const setters = async (page: Page): Promise<string[]> =>
      (
        await cards(page)
          .getByText(/^Set by /)
          .allTextContents()
      ).map((text) => text.replace(/ just now$/, ''));
    const page = await app.visit({ path, as: await app.user('auditor') });
    await expectCount(cards(page), 2);
    expect(await setters(page)).to.deep.equal(['Set by Admin', `Set by ${other.email}`]);
  });

  it('shows auditors the rules without changing them', async () => {
    await set(ruleWith());
    const page = await app.visit({ path, as: await app.user('auditor') });
    await cards(page).getByText('sub=repo:example/schema:ref:refs/heads/main').waitFor();
    await expectCount(page.locator('main').getByRole('button'), 0);
  });
});
