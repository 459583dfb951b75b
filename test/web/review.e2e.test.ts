import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, expectTitle, expectValue, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

const field = (name: string, type = 'string', schema: object = {}) => ({
  field: name,
  type,
  interface: 'input',
  schema,
});
const HOSTILE = '<img src=x onerror=alert(1)>';

describe('the review page of the admin app: reverting', () => {
  const app = withApp();
  let then = 0;

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };
  const position = async () =>
    ((await app.client('/server/info')).json as { data: { position: number } }).data.position;
  const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true });
  const meta = async (collection: string) =>
    ((await app.client(`/collections/${encodeURIComponent(collection)}`)).json as { data: { meta: { note: unknown } } })
      .data.meta;

  before(async () => {
    await send('/collections', [
      { collection: 'authors', schema: {}, fields: [field('name')] },
      {
        collection: 'articles',
        schema: {},
        meta: { note: 'as it was' },
        fields: [field('title'), field('author', 'integer')],
      },
      { collection: HOSTILE, schema: {}, meta: { note: 'x' } },
      { collection: 'اختبار', schema: {} },
    ]);
    then = await position();
    await send('/collections/articles', { meta: { note: 'n'.repeat(900_000) } }, 'PATCH');
    await send('/fields/articles/title', { schema: { is_nullable: false } }, 'PATCH');
    await send('/collections', { collection: 'tags', schema: {}, fields: [field('label')] });
    await app.api.sql('insert into tags default values');
    await send(`/collections/${encodeURIComponent(HOSTILE)}`, { meta: { note: HOSTILE } }, 'PATCH');
    await send(`/collections/${encodeURIComponent('اختبار')}`, { meta: { note: 'مرحبا' } }, 'PATCH');
  });

  it('describes each change in a sentence, with values before and after, SQL, locks and losses', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    const title = card(page, 'field articles.title');
    await title.getByText('Make title nullable').waitFor();
    await title.getByText('before', { exact: true }).waitFor();
    await title.getByRole('button', { name: /^SQL/ }).click();
    await title.getByText(/ALTER TABLE .*articles/i).waitFor();
    await title.getByText(/Locks articles: ACCESS EXCLUSIVE/).waitFor();
    const known = page.getByRole('complementary', { name: 'Risks' });
    await known.getByRole('heading', { name: 'Data loss' }).waitFor();
    await known.getByText('tags', { exact: true }).first().waitFor();
    await expectTitle(page, `Go back to event ${then} · Review · Data Platform`);
    await expectValue(page.getByRole('textbox', { name: 'Reason' }), '');
    await page.getByRole('button', { name: 'Propose' }).click();
    const proposed = page.getByLabel('Title', { exact: true });
    await until('a title is suggested', async () =>
      (await proposed.inputValue()).includes('Delete tags with its fields and rows'),
    );
  });

  it('shows hostile notes and names as text', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    const articles = card(page, 'collection articles');
    await articles.getByRole('button', { name: 'Show all 900,000 characters of meta.note before' }).click();
    await articles.getByText('850,000 more').waitFor();
    await page.getByRole('navigation', { name: 'Changed collections' }).getByText('اختبار').click();
    await card(page, 'collection اختبار').getByText('مرحبا').first().waitFor();
    await page.getByRole('navigation', { name: 'Changed collections' }).getByText(HOSTILE).click();
    await card(page, `collection ${HOSTILE}`).getByText(HOSTILE).first().waitFor();
    expect(await page.locator('img').count()).to.equal(0);
  });

  it('runs a dry run and states when the trash purges deleted data', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await card(page, 'field articles.title').waitFor();
    const before = await position();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('The dry run succeeded. Nothing was changed.').waitFor();
    await page.getByText(/It is purged in 7 days/).waitFor();
    expect(await position()).to.equal(before);
  });

  it('applies only the selected changes as one batch with the reason, and offers to revert it', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await page.getByRole('navigation', { name: 'Changed collections' }).getByText('tags').click();
    await page.getByRole('checkbox', { name: 'Include: collection tags' }).uncheck();
    await page.getByRole('navigation', { name: 'Changed collections' }).getByText('articles').click();
    await page.getByRole('checkbox', { name: 'Include: field articles.title' }).uncheck();
    await page.getByRole('textbox', { name: 'Reason' }).fill('Zurück — zum Anfang');
    await page.reload();
    await expectValue(page.getByRole('textbox', { name: 'Reason' }), 'Zurück — zum Anfang');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await meta('articles')).to.include({ note: 'as it was' });
    expect((await app.client('/collections/tags')).status).to.equal(200);
    const { data } = (await app.client('/history/batches?limit=1')).json as {
      data: { reason: string; command: string }[];
    };
    expect(data[0]).to.include({ reason: 'Zurück — zum Anfang', command: 'apply-diff' });
    await page.getByRole('link', { name: 'Open the schema' }).click();
    await page.getByRole('tree').waitFor();
    await expectAccessible(page);
    const notice = page.getByRole('status', { name: 'Last change' });
    await notice.getByRole('link', { name: 'Undo …' }).click();
    await card(page, 'collection articles').waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect((await meta('articles')).note).to.have.length(900_000);
    await page.getByRole('link', { name: 'Open the schema' }).click();
    await notice.waitFor();
    // An undo would also revert this later change.
    await send('/collections/tags', { meta: { note: 'later' } }, 'PATCH');
    await notice.waitFor({ state: 'detached' });
  });

  it('asks for confirmation before data is lost', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await page.getByRole('heading', { name: 'Data loss' }).waitFor();
    await page.getByRole('button', { name: 'Apply: delete 1 collection' }).click();
    await page.getByRole('button', { name: 'Delete data: tags' }).waitFor();
    expect((await app.client('/collections/tags')).status).to.equal(200);
  });

  it('undoes the creation of an empty table without a confirmation, and rejects it if a row arrives', async () => {
    app.mayComplain(/status of 409/);
    const before = await position();
    await send('/collections', { collection: 'empty', schema: {}, fields: [field('label')] });
    const page = await app.visit({ path: `/review?to=${before}` });
    const apply = page.getByRole('button', { name: 'Apply: delete 1 collection' });
    const risks = page.getByRole('complementary', { name: 'Risks' });
    await risks.getByText('no rows').waitFor();
    expect(await page.getByRole('heading', { name: 'Data loss', exact: true }).count()).to.equal(0);
    await app.api.sql('insert into empty default values');
    await apply.click();
    await page.getByText('Table "empty" is not empty').first().waitFor();
    await page.getByRole('heading', { name: 'Data loss', exact: true }).waitFor();
    expect((await app.client('/collections/empty')).status).to.equal(200);
    await apply.click();
    await page.getByText('Click again to confirm').waitFor();
    await page.getByRole('button', { name: 'Delete data: empty' }).waitFor();
    await expectAccessible(page);
    await app.api.sql('truncate empty');
    await page.reload();
    await risks.getByText('no rows').waitFor();
    await apply.click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect((await app.client('/collections/empty')).status).to.equal(404);
  });

  it('groups similar findings with their number, and counts the changes in the heading', async () => {
    const before = await position();
    const names = ['one', 'two', 'three', 'four'].map((name) => `alike_${name}`);
    await send(
      '/collections',
      names.map((collection) => ({ collection, schema: {}, fields: [field('title')] })),
    );
    for (const name of names) await app.api.sql(`insert into ${name} default values`);
    const page = await app.visit({ path: `/review?to=${before}` });
    const risks = page.getByRole('complementary', { name: 'Risks' });
    const lost = risks.getByText('4 × data that the trash may keep');
    await lost.waitFor();
    await page.getByTitle('4 removed').first().waitFor();
    await page.getByText('4 changes in 4 collections').waitFor();
    await lost.click();
    for (const name of names) await risks.getByText(name, { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Apply: delete 4 collections' }).waitFor();
    await expectAccessible(page);
    for (const name of names)
      expect((await app.client(`/collections/${name}`, { method: 'DELETE' })).status).to.equal(204);
  });

  it('copies itself as a shell command without a token', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await card(page, 'field articles.title').waitFor();
    await page.getByRole('button', { name: 'Copy title as …' }).click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    let command = '';
    await until('the command is copied', async () => {
      command = await page.evaluate<string>('navigator.clipboard.readText()');
      return command !== '';
    });
    expect(command).to.include('/schema/apply').and.include('$TOKEN').and.include('"field":"title"');
    expect(command)
      .not.to.match(/ey[A-Za-z0-9_-]{10}/)
      .and.not.to.include('tags');
  });

  it('is visible to auditors, who cannot apply, and hidden from readers', async () => {
    const page = await app.visit({ path: `/review?to=${then}`, as: await app.user('auditor') });
    await card(page, 'field articles.title').waitFor();
    await page.getByText('Only an admin can apply it').waitFor();
    expect(await page.getByRole('button', { name: 'Apply' }).count()).to.equal(0);
    const reader = await app.visit({ path: '', as: await app.user('reader') });
    await reader.getByRole('tree').waitFor();
    expect(await reader.getByRole('link', { name: 'Review' }).count()).to.equal(0);
  });

  for (const look of [{ dark: true }, { narrow: true }]) {
    it(`is accessible and fits the window: ${JSON.stringify(look)}`, async () => {
      const page = await app.visit({ ...look, path: `/review?to=${then}` });
      await card(page, 'collection articles').waitFor();
      await page.getByRole('button', { name: /^SQL/ }).first().click();
      await expectAccessible(page);
      await expectFits(page);
      await page.getByRole('button', { name: 'Options' }).click();
      await page.getByRole('switch', { name: 'Delete permanently (skip the trash)' }).waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      if (look.narrow !== true) return;
      await page.getByText('Risks', { exact: true }).click();
      await page.getByRole('heading', { name: 'Data loss' }).waitFor();
      await expectAccessible(page);
      await expectFits(page);
    });
  }
});
