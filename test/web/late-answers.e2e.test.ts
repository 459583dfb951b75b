/** A late response or timer does not affect a page that has changed in the meantime. */
import { expect } from 'chai';
import type { Page, Request } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input', schema: {} });

describe('late answers in the admin app', () => {
  const app = withApp();

  before(async () => {
    const created = ['articles', 'people', 'tags'].map((collection) => ({
      collection,
      schema: {},
      fields: [field('title')],
    }));
    const { status, text } = await app.client('/collections', json(created));
    expect(status, text).to.equal(200);
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const goTo = async (page: Page, name: string) => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  };
  const bar = (page: Page, says: string) => page.getByRole('region', { name: 'Draft' }).getByText(says).waitFor();

  /**
   * Holds requests to the service. `asked` waits for one, `release` lets all of them continue and waits for the
   * responses.
   */
  const hold = async (page: Page, address: RegExp, method = 'GET') => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const isHeld = (request: Request) => address.test(request.url()) && request.method() === method;
    const pending = page.waitForRequest(isHeld);
    const answered = page.waitForResponse((response) => isHeld(response.request()));
    await page.route(address, async (route) => {
      if (isHeld(route.request())) await released;
      await route.fallback();
    });
    return {
      asked: pending,
      release: async () => {
        release();
        await (await answered).finished();
        await page.waitForLoadState('networkidle');
      },
    };
  };

  const draftNote = async (page: Page, collection: string, note: string) => {
    await page.goto(`/app/collections/${collection}?edit=collection`);
    await page.getByRole('dialog', { name: collection }).getByLabel('Note', { exact: true }).fill(note);
    await button(page, 'Save to draft').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  it('keep no edit that was canceled during its check, keep one that was left, and do not navigate back', async () => {
    const page = await app.visit({ path: '/new' });
    const checked = await hold(page, /\/schema\/diff/, 'POST');
    await page.getByLabel('Name', { exact: true }).fill('given_up');
    await button(page, 'Save to draft').click();
    await checked.asked;
    await button(page, 'Cancel').click();
    await page.getByRole('tree').waitFor();
    await checked.release();
    expect(new URL(page.url()).pathname).to.match(/^\/app\/?$/);
    expect(await page.getByRole('region', { name: 'Draft' }).count()).to.equal(0);

    await page.goto('/app/new');
    await page.getByLabel('Name', { exact: true }).fill('left_alone');
    const again = await hold(page, /\/schema\/diff/, 'POST');
    await button(page, 'Save to draft').click();
    await again.asked;
    await goTo(page, 'Timeline');
    await again.release();
    await bar(page, '1 change in 1 collection');
    expect(new URL(page.url()).pathname).to.equal('/app/timeline');
  });

  it('stay on the page and keep an edit that was made during the apply', async () => {
    const page = await app.visit();
    await draftNote(page, 'articles', 'applied');
    await page.goto('/app/review?draft=true');
    await page.getByRole('article', { name: 'collection articles' }).waitFor();
    const applied = await hold(page, /\/schema\/apply/, 'POST');
    await button(page, 'Apply').click();
    await applied.asked;
    await goTo(page, 'Timeline');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('edit people');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'people' }).getByLabel('Note', { exact: true }).fill('meanwhile');
    await button(page, 'Save to draft').click();
    await bar(page, '2 changes in 2 collections');
    await applied.release();
    await page.getByRole('status', { name: 'Last change' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/collections/people');
    await bar(page, '1 change in 1 collection');
  });

  it('allow saving a relation before the referenced key is loaded', async () => {
    const page = await app.visit({ path: '/collections/articles?edit=new-relation' });
    await page.getByRole('radio', { name: 'Many to many' }).click();
    const read = await hold(page, /\/fields\/tags/);
    await page.getByLabel('Related collection', { exact: true }).selectOption('tags');
    await read.asked;
    const keeping = button(page, 'Save to draft').click();
    await read.release();
    await keeping;
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Draft' }).waitFor();
  });

  it('apply the input of two timeline filters typed one after the other', async () => {
    const page = await app.visit({ path: '/timeline' });
    await page.getByRole('searchbox', { name: 'Reason or name' }).fill('articles');
    await page.getByRole('textbox', { name: 'Field' }).fill('title');
    await page.waitForURL((url) => url.search === '?q=articles&field=title');
  });

  it('navigate nowhere after the search was closed', async () => {
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('heading', { name: 'Accounts', level: 1 }).waitFor();
    const read = await hold(page, /\/collections\?/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('articles');
    await page.keyboard.press('Enter');
    await read.asked;
    const search = page.getByRole('dialog', { name: 'Search' });
    await search.waitFor();
    await page.getByRole('textbox', { name: 'Search' }).press('Escape');
    await search.waitFor({ state: 'detached' });
    await read.release();
    expect(new URL(page.url()).pathname).to.equal('/app/accounts');
  });

  it('are missing while the browser is offline, which the page shows until they return', async () => {
    app.mayComplain(/ERR_INTERNET_DISCONNECTED/);
    const page = await app.visit();
    const status = page.getByRole('region', { name: 'Search and account' }).getByRole('status');
    await status.getByText(/^event \d+$/).waitFor();
    await page.context().setOffline(true);
    await status.getByText('offline').waitFor();
    await page.context().setOffline(false);
    await status.getByText(/^event \d+$/).waitFor();
  });
});
