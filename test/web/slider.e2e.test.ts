import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string, type = 'string') => ({ field: name, type, interface: 'input' });
const HOSTILE = '<img src=x onerror=alert(1)>';

describe('the replay of the log', () => {
  const app = withApp();
  /** The last position of each step. */
  const ends: number[] = [];

  const step = async (path: string, method: string, body?: unknown, reason = ''): Promise<void> => {
    const sent = body === undefined ? { method } : json(body, method);
    const headers = {
      ...(sent as { headers?: Record<string, string> }).headers,
      ...(reason && { 'x-reason': reason }),
    };
    const { status, text } = await app.client(path, { ...sent, headers });
    expect(status, text).to.be.within(200, 204);
    ends.push(await app.api.head());
  };

  before(async () => {
    const fields = [field('title'), field('writer', 'integer')];
    await step('/collections', 'POST', [{ collection: 'authors', schema: {}, fields: [field('name')] }], 'Begin');
    await step('/collections', 'POST', { collection: 'books', schema: {}, fields }, 'We sell books now');
    await step('/relations', 'POST', { collection: 'books', field: 'writer', related_collection: 'authors' });
    await step('/fields/books/title', 'PATCH', { schema: { is_nullable: false } }, `No book without ${HOSTILE}`);
    await step('/collections/authors/rename', 'POST', { to: 'people' });
    await step('/fields/books/title', 'DELETE');
    await step('/collections/books', 'DELETE');
  });

  const bar = (page: Page) => page.getByRole('region', { name: 'History' });
  const item = (page: Page, name: string) => page.getByRole('treeitem', { name, exact: true });
  const table = (page: Page, name: string) => page.getByLabel(`Table ${name}`, { exact: true });
  const placeOf = async (page: Page, name: string) =>
    page
      .locator(`.react-flow__node[data-id="${name}"]`)
      .evaluate((node) => (node as unknown as { style: { transform: string } }).style.transform);

  it('shows tree and diagram at the position in the address, with the change, its user and its reason', async () => {
    const page = await app.visit({ path: `?at=${ends[3]}&depth=columns` });
    await table(page, 'books, changed').getByRole('img', { name: 'changed' }).first().waitFor();
    await item(page, 'books changed').waitFor();
    await item(page, 'authors').waitFor();
    await bar(page)
      .getByText('Updated field books.title')
      .or(bar(page).getByText('updated field books.title'))
      .waitFor();
    await bar(page).getByText(`No book without ${HOSTILE}`).waitFor();
    await bar(page).getByText('Admin').waitFor();
    expect(await page.locator('img').count()).to.equal(0);
    // The past is read-only: no button creates anything, and no key moves a collection.
    expect(await page.getByRole('button', { name: 'New collection or folder' }).count()).to.equal(0);
    await item(page, 'authors').press('Alt+ArrowDown');
    expect(await page.getByRole('region', { name: 'Draft' }).count()).to.equal(0);
    const back = bar(page).getByRole('link', { name: 'Go back to this point' });
    expect(await back.getAttribute('href')).to.equal(`/app/review?to=${ends[3]}`);
  });

  it('ends immediately, even while the next page is loading', async () => {
    const page = await app.visit({ path: `?at=${ends[1]}` });
    await table(page, 'books, new').waitFor();
    await page.route(/\/assets\/.*\.js$/, async (route) => {
      await sleep(800);
      await route.continue();
    });
    // Faster than the driver can move a mouse.
    await page.evaluate<void>(`new Promise((resolve) => {
      document.querySelector('[aria-label="Next change"]').click();
      const follow = () => {
        const link = document.querySelector('a[href$="to=${ends[2]}"]');
        if (link === null) return requestAnimationFrame(follow);
        link.click();
        resolve();
      };
      follow();
    })`);
    await page.getByRole('region', { name: 'Apply changes' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/review');
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('steps forward and back with buttons and keys, and unchanged tables do not move', async () => {
    const page = await app.visit({ path: `?at=${ends[1]}` });
    await table(page, 'books, new').waitFor();
    const [books, authors] = [await placeOf(page, 'books'), await placeOf(page, 'authors')];
    await bar(page).getByRole('button', { name: 'Next change' }).click();
    await page.getByLabel('books.writer references authors, new').first().waitFor({ state: 'attached' });
    await page.keyboard.press('.');
    await table(page, 'books, changed').getByText('title').waitFor();
    expect([await placeOf(page, 'books'), await placeOf(page, 'authors')]).to.deep.equal([books, authors]);
    await page.keyboard.press('.');
    await table(page, 'people, changed').waitFor();
    expect(await placeOf(page, 'people')).to.equal(authors);
    await page.keyboard.press('.');
    await table(page, 'books, changed').getByRole('img', { name: 'deleted' }).waitFor();
    await page.keyboard.press('.');
    await table(page, 'books, deleted').waitFor();
    await item(page, 'books deleted').waitFor();
    expect(await placeOf(page, 'books')).to.equal(books);
    await page.waitForURL((url) => url.search === `?at=${ends[6]}`);
    await bar(page).getByRole('slider').focus();
    for (let left = 6; left > 0; left--) await page.keyboard.press('ArrowLeft');
    await item(page, 'authors new').waitFor();
    expect(await placeOf(page, 'authors')).to.equal(authors);
    await page.keyboard.press('ArrowLeft');
    await bar(page).getByText('the schema is empty').waitFor();
    expect(await page.getByRole('treeitem').count()).to.equal(0);
  });

  it('plays from the beginning to the end, and returns to the present', async () => {
    const page = await app.visit();
    await page.getByRole('button', { name: 'Replay history' }).click();
    await bar(page).getByLabel('Speed').selectOption('Fast');
    // Observed at every change of the page, because it plays for less than a second.
    const playing = page.evaluate<void>(`new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('[aria-label="Pause"]') === null) return;
        observer.disconnect();
        resolve();
      }).observe(document.body, { attributes: true, childList: true, subtree: true });
    })`);
    await bar(page).getByRole('button', { name: 'Play', exact: true }).click();
    await playing;
    await bar(page).getByRole('button', { name: 'Play', exact: true }).waitFor();
    await bar(page).getByText('deleted collection books').waitFor();
    await bar(page).getByRole('button', { name: 'Exit replay' }).click();
    await page.getByRole('button', { name: 'Replay history' }).waitFor();
    expect(new URL(page.url()).search).to.equal('');
  });

  it('jumps to a time, and to a position within a change', async () => {
    const page = await app.visit({ path: `?at=${ends[4]}` });
    const time = bar(page).getByLabel('Go to date and time');
    await time.fill('2001-01-01T08:00');
    await time.press('Enter');
    await bar(page).getByText('the schema is empty').waitFor();
    await page.goto(`/app?at=${(ends[0] ?? 0) + 999}`);
    await bar(page).getByText('deleted collection books').waitFor();
  });

  it('loads a long log in pages', async () => {
    for (let note = 0; note < 60; note++) {
      await app.client('/collections/people', json({ meta: { note: `note ${note}` } }, 'PATCH'));
    }
    const head = await app.api.head();
    const page = await app.visit({ path: `?at=${head}` });
    await bar(page).getByText('updated collection people').waitFor();
    await bar(page).getByRole('slider').focus();
    for (let steps = 0; steps < 62; steps++) {
      await page.keyboard.press('ArrowLeft');
      const before = head - steps - 1;
      await bar(page).getByText(`${before} of ${head}`).waitFor();
      if (before === ends[6]) break;
    }
    await page.keyboard.press('ArrowLeft');
    await item(page, 'books changed').waitFor();
    await page.goto('/app?at=1');
    await item(page, 'authors new').waitFor();
  });

  it('is available to auditors, who cannot revert, but not to readers', async () => {
    const page = await app.visit({ path: `?at=${ends[1]}`, as: await app.user('auditor') });
    await table(page, 'books, new').waitFor();
    expect(await page.getByRole('link', { name: 'Go back to this point' }).count()).to.equal(0);
    const reader = await app.visit({ as: await app.user('reader') });
    await reader.getByRole('tree').waitFor();
    expect(await reader.getByRole('button', { name: 'Replay history' }).count()).to.equal(0);
  });

  for (const look of [{ dark: true }, { narrow: true }]) {
    it(`is accessible and fits the window: ${JSON.stringify(look)}`, async () => {
      const page = await app.visit({ ...look, path: `?at=${ends[3]}&c=books` });
      await table(page, 'books, changed').waitFor();
      await expectAccessible(page);
      await expectFits(page);
    });
  }
});
