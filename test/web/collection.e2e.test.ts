import { expect } from 'chai';
import { expectCount, expectFits, withApp, expectAccessibleInEachLook } from '../support/app.js';
import { json } from '../support/client.js';

const HOSTILE = '<script>alert(1)</script>';

describe('the page of a collection in the admin app', () => {
  const app = withApp();

  const change = async (path: string, body: unknown, method: string, reason: string) => {
    const sent = json(body, method);
    const { status, text } = await app.client(path, { ...sent, headers: { ...sent.headers, 'x-reason': reason } });
    expect(status, text).to.equal(200);
  };

  before(async () => {
    const field = (name: string, type: string, more: object = {}) => ({
      field: name,
      type,
      interface: 'input',
      ...more,
    });
    const people = {
      collection: 'people',
      schema: {},
      fields: [field('name', 'string', { schema: { max_length: 80 } })],
    };
    const price = field('price', 'decimal', {
      schema: { numeric_precision: 10, numeric_scale: 2, default_value: 0, is_nullable: false },
      meta: { interface: 'input', note: HOSTILE },
    });
    const articles = {
      collection: 'articles',
      schema: {},
      note: `What is written.\n${HOSTILE}`,
      fields: [field('title', 'string'), price, field('author', 'integer')],
    };
    await change('/collections', [people, articles], 'POST', 'The beginning');
    await change(
      '/relations',
      { collection: 'articles', field: 'author', related_collection: 'people' },
      'POST',
      'Who wrote it',
    );
    const required = { schema: { is_nullable: false }, meta: { required: true } };
    await change('/fields/articles/title', required, 'PATCH', 'No article without a title');
  });

  it('shows each field with its column, who changed it last, and why', async () => {
    const page = await app.visit({ path: '/collections/articles' });
    const title = page.getByRole('row', { name: /^title/ });
    await title.getByText('not null').waitFor();
    await title.getByText('No article without a title').waitFor();
    await page
      .getByRole('row', { name: /^price/ })
      .getByText('numeric(10, 2)')
      .waitFor();
    await page.getByRole('cell', { name: 'The beginning' }).first().waitFor();
    await expectCount(page.getByText(HOSTILE), 2);
    await title.getByRole('button', { name: 'title', exact: true }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('button', { name: 'Cancel' }).click();
    await form.waitFor({ state: 'detached' });
    await title.getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.getByText('schema.is_nullable').waitFor();
  });

  it('shows the values of an enum and the definition of a domain instead of an unknown type', async () => {
    await app.api.sql(`CREATE TYPE mood AS ENUM ('calm', 'very busy')`);
    await app.api.sql('CREATE DOMAIN percentage AS integer NOT NULL CHECK (VALUE BETWEEN 0 AND 100)');
    await app.api.sql('CREATE TABLE days (id integer PRIMARY KEY, mood mood, done percentage)');
    await change('/schema/adopt', { tables: ['days'] }, 'POST', 'It has rows');
    const page = await app.visit({ path: '/collections/days', narrow: true });
    const mood = page.getByRole('row', { name: /^mood/ });
    await mood.getByText('calm, very busy').waitFor();
    await mood.getByText('enum', { exact: true }).waitFor();
    const done = page.getByRole('row', { name: /^done/ });
    await done.getByText('domain', { exact: true }).waitFor();
    await done.getByText(/^integer NOT NULL CHECK/).waitFor();
    await expectFits(page);
    const reader = await app.visit({ path: '/collections/days', as: await app.user('reader') });
    await reader.getByRole('row', { name: /^mood/ }).getByText('unknown').waitFor();
  });

  it('shows hidden characters of adopted names in texts, labels and titles of dialogs', async () => {
    const [name, shown] = ['peo\u200bple', String.raw`peo\u{200b}ple`];
    await app.api.sql(`CREATE TABLE "${name}" (id int PRIMARY KEY, "na\u202eem" text)`);
    await change('/schema/adopt', { tables: [name] }, 'POST', 'It has rows');
    const page = await app.visit();
    await page.getByRole('tree').getByText(shown).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').fill('peo');
    await page.getByRole('dialog', { name: 'Search' }).getByText(shown, { exact: true }).click();
    await page.getByRole('heading', { name: shown, level: 1 }).waitFor();
    await page.getByRole('row', { name: String.raw`na\u{202e}em` }).waitFor();
    await page.getByRole('button', { name: String.raw`Actions for na\u{202e}em` }).waitFor();
    await page.getByRole('button', { name: `More actions for ${shown}` }).click();
    await page.getByRole('menuitem', { name: 'Rename …' }).click();
    await page.getByRole('dialog', { name: `Rename ${shown}` }).waitFor();
    const { headers } = await app.client(`/collections/${encodeURIComponent(name)}`, { method: 'DELETE' });
    await page.goto('/app/operations/trash');
    await page.getByRole('listitem').getByText(shown, { exact: true }).waitFor();
    await page.getByRole('button', { name: `Purge ${shown}` }).click();
    await page.getByRole('dialog', { name: `Purge ${shown}` }).waitFor();
    await page.goto(`/app/review?to=${Number(headers.get('x-log-position')) - 1}`);
    await page.getByRole('article').first().getByText(shown, { exact: true }).first().waitFor();
  });

  it('shows relations from both sides, with links to the other side', async () => {
    const page = await app.visit({ path: '/collections/people?tab=relations' });
    await page.getByText('No field references another collection.').waitFor();
    await page.getByRole('link', { name: 'articles.author' }).click();
    await page.getByRole('heading', { name: 'articles' }).waitFor();
    expect(new URL(page.url()).search).to.equal('?field=author');
    expect(await page.locator('tr[data-chosen]').innerText()).to.contain('author');
  });

  it('shows the SQL statement, and the whole history by change', async () => {
    const page = await app.visit({ path: '/collections/articles' });
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByText('CREATE TABLE "public"."articles"').waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('meta.required').waitFor();
    await expectCount(page.getByRole('listitem').filter({ hasText: 'Admin' }), 3);
    expect(new URL(page.url()).search).to.equal('?tab=history');
  });

  it('shows the service’s message for a missing collection', async () => {
    app.mayComplain(/status of 404/);
    const page = await app.visit({ path: `/collections/${encodeURIComponent('no such')}` });
    await page.getByRole('alert').getByText('no such').waitFor();
    await page.goto('/app/nowhere');
    await page.getByText('Page not found').waitFor();
  });

  it('keeps history from readers', async () => {
    const page = await app.visit({ path: '/collections/articles?tab=history', as: await app.user('reader') });
    await page.getByRole('tab', { name: 'SQL' }).waitFor();
    expect(await page.getByRole('tab', { name: 'History' }).count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Timeline' }).count()).to.equal(0);
    await page.getByRole('tab', { name: 'Fields' }).click();
    await page.getByRole('row', { name: /^title/ }).waitFor();
  });

  it('is accessible and fits a wide light and a narrow dark window', async () => {
    const page = await app.visit({ path: '/collections/articles' });
    for (const tab of ['Fields', 'Relations', 'SQL', 'History']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel', { name: tab }).locator('table, pre, ol').first().waitFor();
      await expectAccessibleInEachLook(page);
    }
  });
});
