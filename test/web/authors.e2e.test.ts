/**
 * Authors edit, review and propose in the app, continue with their proposals, and are informed about decisions. They
 * apply nothing.
 */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input', schema: {} });

describe('the admin app for authors', () => {
  const app = withApp();
  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  const longest = async (page: Page, name: string, value: string) => {
    await button(page, `Actions for ${name}`).click();
    await page.getByRole('menuitem', { name: 'Edit …' }).click();
    await page.getByRole('dialog').getByLabel('Max length').fill(value);
    await button(page, 'Save to draft').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
  };
  const idOf = (page: Page): string => new URL(page.url()).searchParams.get('change')?.replaceAll('"', '') ?? '';
  const proposed = async (page: Page, title: string) => {
    await button(page, 'Propose').click();
    await page.getByLabel('Title', { exact: true }).fill(title);
    await button(page, 'Open a change request').click();
    await page.getByRole('heading', { name: title }).waitFor();
    return idOf(page);
  };

  before(() => send('/collections', { collection: 'articles', schema: {}, fields: [field('title'), field('text')] }));

  it('lets them draft, review with findings and policy, and propose changes, but not apply them', async () => {
    await send('/policy', { findings: { LOSES_DATA: 'approve', NARROWS_TYPE: 'acknowledge' } }, 'PUT');
    const page = await app.visit({ path: '/collections/articles', as: await app.user('author') });
    await row(page, 'title').waitFor();
    const pages = page.getByRole('navigation', { name: 'Pages' });
    expect(await pages.getByRole('link').allInnerTexts()).to.deep.equal(['Schema', 'Review', 'API']);
    expect(await page.getByRole('tab').allInnerTexts()).to.not.include('History');
    await longest(page, 'title', '80');
    await page.getByRole('heading', { name: 'Blocked by the policy' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Apply|Dry run|Prepare and apply)$/ }).count()).to.equal(0);
    expect(await button(page, 'Propose').getAttribute('aria-disabled')).to.equal('true');
    await page.getByLabel(/Acknowledge NARROWS_TYPE/).click();
    await expectAccessible(page);
    const id = await proposed(page, 'Short titles');
    await page.getByText('This request is waiting for review.').waitFor();
    await page.getByRole('region', { name: 'Draft' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: /^(Approve|Reject|Apply|Schedule)/ }).count()).to.equal(0);
    await expectAccessible(page);
    const { json: shown } = await app.client(`/changes/${id}`);
    expect(shown).to.have.nested.property('data.document.content.acknowledged[0].code', 'NARROWS_TYPE');

    // The page shows the actions of other users without a reload.
    const admin = await app.visit({ path: '/' });
    await admin.getByRole('link', { name: /Review.*1 request waits for your approval/ }).waitFor();
    await page.getByLabel('Comment', { exact: true }).fill('For the newsletter');
    await button(page, 'Comment').click();
    await page.getByRole('paragraph').filter({ hasText: 'For the newsletter' }).waitFor();
    await send(`/changes/${id}/comment`, { comment: 'Why not 100?' });
    await page.getByText('Why not 100?').waitFor();
    await button(page, 'Edit title and reason').click();
    await page.getByLabel('Title', { exact: true }).fill('Shorter titles');
    await page.getByLabel('Reason', { exact: true }).fill('they break in the newsletter');
    await button(page, 'Save').click();
    await page.getByRole('heading', { name: 'Shorter titles' }).waitFor();
    await page.getByRole('paragraph').filter({ hasText: 'they break in the newsletter' }).waitFor();
    await admin.getByRole('link', { name: /Review/ }).click();
    await admin.getByRole('link', { name: /Shorter titles/ }).waitFor();
    const { plan } = ((await app.client(`/changes/${id}`)).json as { data: { plan: string } }).data;
    await send(`/changes/${id}/approve`, { plan });
    await page.getByText('This request is approved but not applied.').waitFor();

    await button(page, 'Notifications, 2 unread').click();
    const news = page.getByRole('menuitem');
    await news.filter({ hasText: /approved “Shorter titles”/ }).waitFor();
    await news.filter({ hasText: /commented on “Shorter titles”/ }).waitFor();
    expect(await news.count()).to.equal(2);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await button(page, 'Notifications').waitFor();
    await page.reload();
    await button(page, 'Notifications').click();
    await news.filter({ hasText: /approved/ }).click();
    await page.getByText('This request is approved but not applied.').waitFor();
    await admin.getByRole('link', { name: /Shorter titles.*approved/ }).waitFor();
    await admin.getByRole('link', { name: /waits for your approval/ }).waitFor({ state: 'detached' });
    await send(`/changes/${id}/apply`, {});
    await page.getByText('This request is applied.').waitFor();
    await page.getByText('Propose a revert').waitFor();
    await send('/policy', {}, 'PUT');
  });

  it('lets them replace their request with another review, and withdraw it', async () => {
    const author = await app.user('author');
    const page = await app.visit({ path: '/collections/articles', as: author });
    await longest(page, 'text', '100');
    const id = await proposed(page, 'Short texts');
    await page.getByText('This request is waiting for review.').waitFor();
    await page.goto('/app/collections/articles');
    await longest(page, 'text', '120');
    await button(page, 'Propose').click();
    await page.getByLabel('Propose as', { exact: true }).selectOption({ label: 'Replace: Short texts' });
    await button(page, 'Update the change request').click();
    await page.getByRole('heading', { name: 'Short texts' }).waitFor();
    expect(idOf(page)).to.equal(id);
    await page.getByText('120').first().waitFor();
    await button(page, 'Withdraw: articles').click();
    await button(page, 'Yes, withdraw it: articles').click();
    await page.getByText('This request was withdrawn. Nothing was changed.').waitFor();
  });

  it('lets them resolve conflicts when they rebase a request', async () => {
    app.mayComplain(/status of 409/);
    const author = await app.user('author');
    const page = await app.visit({ path: '/collections/articles', as: author, narrow: true });
    await longest(page, 'text', '90');
    const id = await proposed(page, 'Texts of 90');
    await send('/fields/articles/text', { schema: { max_length: 60 } }, 'PATCH');
    await page.getByText('This request is stale').waitFor();
    await button(page, 'Rebase onto the current schema').click();
    const conflict = page.getByRole('alert').filter({ hasText: '1 conflicting change' });
    const radios = conflict.getByRole('radiogroup', { name: 'articles.text, type' });
    await radios.getByText('max_length 255').waitFor();
    await radios.getByRole('radio', { name: 'Current schema: max_length 60' }).waitFor();
    await radios.getByRole('radio', { name: 'Change request: max_length 90' }).click();
    await expectAccessible(page);
    await expectFits(page);
    await button(page, 'Continue').click();
    await conflict.waitFor({ state: 'detached' });
    await page.getByText('This request is stale').waitFor({ state: 'detached' });
    const { json: shown } = await app.client(`/changes/${id}`);
    expect(shown).to.have.nested.property('data.planned.fresh', true);
    expect(JSON.stringify(shown)).to.include('"lhs":60,"rhs":90');
  });
});
