import { expect } from 'chai';
import pg from 'pg';
import type { Page, Route } from 'playwright-core';
import type { CollectionDocument } from '../../src/http/deps.js';
import type { FieldDocument } from '../../src/schema/snapshot/documents.js';
import { collectionOf, fieldOf, draftText, EMPTY } from '../../src/web/draft/model.js';
import { put } from '../../src/web/draft/edits.js';
import { expectAccessible, expectCount, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string, type = 'string', schema: object = {}) => ({
  field: name,
  type,
  interface: 'input',
  schema,
});

describe('the review page of the admin app: concurrent changes', () => {
  const app = withApp();
  let then = 0;

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };
  const get = async <T>(path: string): Promise<T> => ((await app.client(path)).json as { data: T }).data;
  const position = async () => (await get<{ position: number }>('/server/info')).position;
  const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true });
  const why = (page: Page) => page.getByRole('textbox', { name: 'Reason' });
  const apply = (page: Page) => page.getByRole('button', { name: 'Apply', exact: true });
  /** Until then, requests may be rejected because of the work of others. */
  const planned = (page: Page) => page.locator('button:not([aria-disabled])', { hasText: /^Apply$/ }).waitFor();
  const patch = (body: unknown) => send('/collections/articles', { meta: body }, 'PATCH');
  const note = async () => (await get<CollectionDocument>('/collections/articles')).meta.note;
  const changed = async () => (await get<object[]>('/history/batches?limit=1000')).length;

  before(async () => {
    await send('/collections', { collection: 'articles', schema: {}, fields: [field('title'), field('body')] });
    await patch({ note: 'first', icon: 'star' });
    then = await position();
    const database = new pg.Client({ connectionString: app.service.databaseUrl });
    await database.connect();
    await database.query('INSERT INTO articles (title) VALUES (NULL), (NULL), (NULL)');
    await database.end();
  });

  beforeEach(() => patch({ note: 'second', icon: 'star', color: null }));

  /** A draft of the admin: a note, and a required title. */
  async function drafted(page: Page, what: { note?: string; required?: boolean }) {
    const { id } = await get<{ id: string }>('/users/me');
    const articles = collectionOf(await get<CollectionDocument>('/collections/articles'));
    const title = fieldOf(await get<FieldDocument>('/fields/articles/title'));
    let draft = { ...EMPTY, position: await position() };
    if (what.note !== undefined) {
      const after = { ...articles, meta: { ...articles.meta, note: what.note } };
      draft = put(draft, 'collections', { before: articles, after });
    }
    if (what.required === true && title.schema !== null) {
      const after = { ...title, schema: { ...title.schema, is_nullable: false } };
      draft = put(draft, 'fields', { before: title, after });
    }
    await page.evaluate(
      `localStorage.setItem(${JSON.stringify(`dps.draft.${id}`)}, ${JSON.stringify(draftText(draft))})`,
    );
    await page.goto('/app/review?draft=true');
  }

  it('reports that another user changed the schema, shows three values, and keeps the input', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await card(page, 'collection articles').getByText('Change the note of articles from “second” to “first”').waitFor();
    await why(page).fill('typed by me');
    await planned(page);
    await patch({ note: 'third', color: '#ff0000' });
    const alert = page.getByRole('alert').filter({ hasText: 'The schema has changed since you opened this review' });
    await alert.waitFor();
    expect(await apply(page).isDisabled()).to.equal(true);
    await alert.getByRole('radio', { name: 'Theirs: third' }).waitFor();
    await alert.getByText('second', { exact: true }).waitFor();
    await alert.getByRole('button', { name: 'Show their changes' }).click();
    await alert.getByText('meta.color').waitFor();
    await expectAccessible(page);
    await alert.getByRole('radio', { name: 'Mine: first' }).check();
    await alert.getByRole('button', { name: /^Continue/ }).click();
    await alert.waitFor({ state: 'hidden' });
    await page.getByText(/1 new change by another user is kept/).waitFor();
    expect(await why(page).inputValue()).to.equal('typed by me');
    await apply(page).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const { meta } = await get<CollectionDocument>('/collections/articles');
    expect([meta.note, meta.color]).to.deep.equal(['first', '#ff0000']);
  });

  it('keeps the other value if that is chosen', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await planned(page);
    await patch({ note: 'third', icon: 'home' });
    const alert = page.getByRole('alert').filter({ hasText: 'The schema has changed since you opened this review' });
    await alert.getByRole('radio', { name: 'Theirs: third' }).check();
    await alert.getByRole('button', { name: /^Continue/ }).click();
    await page.getByText('No change is selected.').waitFor();
    await page.getByRole('button', { name: 'Revert these too' }).click();
    await apply(page).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const { meta } = await get<CollectionDocument>('/collections/articles');
    expect([meta.note, meta.icon]).to.deep.equal(['third', 'star']);
  });

  it('reviews a draft, with three values per conflict and PostgreSQL’s errors at their change', async () => {
    const page = await app.visit();
    await drafted(page, { note: 'drafted', required: true });
    await card(page, 'field articles.title').getByText('not null').waitFor();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await card(page, 'field articles.title')
      .getByRole('alert')
      .getByText(/3 rows?/)
      .waitFor();
    await page.getByText('1 change was rejected').waitFor();
    await page.getByRole('checkbox', { name: 'Include: field articles.title' }).uncheck();
    await planned(page);
    await patch({ note: 'theirs' });
    const alert = page.getByRole('alert').filter({ hasText: 'The schema has changed since you opened this review' });
    await alert.getByRole('button', { name: /^Continue/ }).click();
    const both = page.getByRole('alert').filter({ hasText: '1 conflicting change' });
    await both.getByText('second', { exact: true }).waitFor();
    await both.getByRole('radio', { name: 'Theirs: theirs' }).waitFor();
    await both.getByRole('radio', { name: 'Mine: drafted' }).click();
    await both.waitFor({ state: 'hidden' });
    await apply(page).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await note()).to.equal('drafted');
    await page.goto('/app/review?draft=true');
    await card(page, 'field articles.title').getByText('not null').waitFor();
    await expectCount(page.getByRole('article'), 1);
  });

  it('applies once if the response is lost', async () => {
    app.mayComplain(/ERR_FAILED/);
    const page = await app.visit({ path: `/review?to=${then}` });
    await card(page, 'collection articles').waitFor();
    // The browser's driver cannot send the quotes of the suggested reason again.
    await why(page).fill('once');
    const lose = async (route: Route) => {
      await route.fetch();
      await route.abort();
    };
    const before = await changed();
    await page.route('**/schema/apply', lose);
    await apply(page).click();
    await page.getByText('applies the change only once').waitFor();
    await page.unroute('**/schema/apply', lose);
    await apply(page).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await changed()).to.equal(before + 1);
    expect(await note()).to.equal('first');
  });

  it('loses nothing if the service is overloaded or the session ends', async () => {
    app.mayComplain(/status of (?:401|503)/);
    const page = await app.visit({ path: `/review?to=${then}` });
    await card(page, 'collection articles').waitFor();
    await why(page).fill('worth keeping');
    const error = { message: 'Somebody holds the table articles.', extensions: { code: 'LOCK_TIMEOUT' } };
    const busy = (route: Route) => route.fulfill({ status: 503, json: { errors: [error] } });
    await page.route('**/schema/apply', busy);
    await apply(page).click();
    await page.getByText('Somebody holds the table articles.').waitFor();
    await page.unroute('**/schema/apply', busy);
    const database = new pg.Client({ connectionString: app.service.databaseUrl });
    await database.connect();
    await database.query('delete from service.service_sessions');
    await database.end();
    // A request of the page itself may be rejected first. Its dialog then covers the button.
    const clicked = apply(page)
      .click({ timeout: 5_000 })
      .then(
        () => true,
        () => false,
      );
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByRole('textbox', { name: 'Password' }).fill(app.service.adminPassword);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    if (!(await clicked)) {
      expect(await why(page).inputValue()).to.equal('worth keeping');
      await apply(page).click();
    }
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    await page
      .getByText(/worth keeping/)
      .first()
      .waitFor();
  });

  it('works with the keyboard alone', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await card(page, 'collection articles').waitFor();
    const reach = async (name: string | RegExp) => {
      for (let tab = 0; tab < 60; tab++) {
        await page.keyboard.press('Tab');
        const label = await page.evaluate<string>(
          '(document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? "").trim()',
        );
        if (typeof name === 'string' ? label === name : name.test(label)) return;
      }
      throw new Error(`the keyboard doesn't come to ${String(name)}`);
    };
    await reach('Include: collection articles');
    await page.keyboard.press('Space');
    await page.getByText('No change is selected.').waitFor();
    await page.keyboard.press('Space');
    await reach('Reason');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('by hand');
    await reach('Dry run');
    await planned(page);
    await page.keyboard.press('Enter');
    await page.getByText('The dry run succeeded. Nothing was changed.').waitFor();
    await reach('Apply');
    await apply(page).and(page.locator(':not([aria-disabled])')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await note()).to.equal('first');
  });
});
