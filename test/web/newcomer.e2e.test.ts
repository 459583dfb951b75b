import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input', schema: {} });

/** `SHOTS=FOLDER`: saves a screenshot of each step. */
const SHOTS = process.env['SHOTS'];

/** Acts like a first-time user: by the text on the page, without typing an address. */
describe('a newcomer’s tasks', () => {
  const app = withApp();

  const send = async (path: string, body: unknown, { method = 'POST', reason = '' } = {}) => {
    const sent = json(body, method);
    const headers = { ...sent.headers, ...(reason !== '' && { 'X-Reason': reason }) };
    const { status, text } = await app.client(path, { ...sent, headers });
    expect(status, text).to.be.below(300);
  };
  const seen = async (page: Page, step: string) => {
    if (SHOTS === undefined) return;
    mkdirSync(SHOTS, { recursive: true });
    await page.screenshot({ path: `${SHOTS}/${step}.png` });
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });
  const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
  const openArticles = async (page: Page) => {
    await page.getByRole('treeitem', { name: 'articles' }).click();
    await page.getByRole('complementary', { name: 'About articles' }).getByRole('link', { name: 'Open' }).click();
    await heading(page, 'articles');
  };
  const applied = async (page: Page) => {
    await button(page, 'Apply').click();
    await heading(page, 'Applied');
  };

  before(async () => {
    await send('/collections', [
      { collection: 'articles', schema: {}, fields: [field('title'), field('body')] },
      { collection: 'tags', schema: {}, fields: [field('word')] },
    ]);
    // The entry has another date than the following ones.
    await app.api.sql('alter table service.service_events disable trigger user');
    await app.api.sql(`update service.service_events set occurred_at = occurred_at - interval '6 days'`);
    await app.api.sql('alter table service.service_events enable trigger user');
    const reason = 'No article without a title';
    await send('/fields/articles/title', { schema: { is_nullable: false } }, { method: 'PATCH', reason });
    await send(
      '/fields/articles/title',
      { meta: { note: 'Short, please' } },
      { method: 'PATCH', reason: 'They asked' },
    );
  });

  it('finds who made title required, and why', async () => {
    const page = await app.visit();
    await openArticles(page);
    await page
      .getByRole('row', { name: /^title/ })
      .getByText('They asked')
      .waitFor();
    await seen(page, '1-1-fields');
    await link(page, 'All changes to title').click();
    await heading(page, 'Timeline');
    const change = page.getByRole('listitem').filter({ hasText: 'No article without a title' });
    await change.getByText('Admin').waitFor();
    await seen(page, '1-2-timeline');
    await change.getByRole('button').first().click();
    await change.getByText('schema.is_nullable').waitFor();
    await seen(page, '1-3-change');
  });

  it('shows the schema of some days ago, and how to go back', async () => {
    const page = await app.visit();
    await button(page, 'Replay history').click();
    await page.getByLabel('Go to date and time').waitFor();
    await seen(page, '2-1-replay');
    const day = new Date(Date.now() - 3 * 86_400_000).toISOString().slice(0, 16);
    await page.getByLabel('Go to date and time').fill(day);
    await page.getByLabel('Go to date and time').press('Enter');
    await page.getByText('created 2 collections').waitFor();
    await seen(page, '2-2-then');
    await link(page, 'Go back to this point').click();
    await page.getByRole('region', { name: 'Apply changes' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/review');
    await seen(page, '2-3-review');
  });

  it('adds a many-to-many relation', async () => {
    const page = await app.visit();
    await openArticles(page);
    await button(page, 'New relation').click();
    await page.getByRole('radio', { name: 'Many to many' }).click();
    await page.getByLabel('Related collection', { exact: true }).selectOption('tags');
    await seen(page, '3-1-form');
    await button(page, 'Save to draft').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await seen(page, '3-2-draft');
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('article', { name: 'collection articles_tags' }).waitFor();
    await seen(page, '3-3-review');
    await applied(page);
    await link(page, 'Open the schema').click();
    await page
      .getByLabel('Table articles_tags')
      .or(page.getByLabel('Table articles', { exact: true }))
      .first()
      .waitFor();
    // The junction is hidden, and its relation is not.
    await page.getByLabel('articles.tags is many to many with tags').waitFor({ state: 'attached' });
    await openArticles(page);
    await page.getByRole('tab', { name: 'Relations' }).click();
    await page.getByRole('tabpanel', { name: 'Relations' }).getByText('articles_tags').first().waitFor();
    await seen(page, '3-4-relations');
  });

  it('imports a snapshot', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    const { text } = await app.client('/schema/snapshot');
    const snapshot = JSON.parse(text) as { collections: { collection: string; meta: object }[] };
    const changed = snapshot.collections.map((each) =>
      each.collection === 'tags' ? { ...each, meta: { ...each.meta, note: 'Words for articles' } } : each,
    );
    const buffer = Buffer.from(JSON.stringify({ ...snapshot, collections: changed }));
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Review' }).click();
    await heading(page, 'Import a snapshot');
    await seen(page, '4-1-bring');
    const file = { name: 'staging.json', mimeType: 'application/json', buffer };
    await page.getByLabel('Snapshot file').setInputFiles(file);
    await page.getByRole('article', { name: 'collection tags' }).getByText('Words for articles').first().waitFor();
    await seen(page, '4-2-review');
    await applied(page);
    expect((await app.client('/collections/tags')).text).to.include('Words for articles');
  });
});
