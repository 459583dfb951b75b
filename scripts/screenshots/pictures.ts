/** Which pictures there are. A new page has a line here. */
import type { Page } from 'playwright-core';
import type { Picture } from './take.js';

const seen = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();

const diagram = async (page: Page) => {
  await page.locator('.react-flow__node').first().waitFor();
  await page.waitForTimeout(1_500);
};

export const PICTURES: readonly Picture[] = [
  {
    name: 'sign-in',
    path: '/',
    signedOut: true,
    ready: (page) => page.getByRole('textbox', { name: 'E-mail' }).waitFor(),
  },
  { name: 'schema', path: '/', ready: diagram },
  { name: 'schema-dark', path: '/?c=news&near=1&depth=columns', dark: true, ready: diagram },
  { name: 'schema-phone', path: '/', phone: true, ready: (page) => page.getByRole('tree').waitFor() },
  {
    name: 'replay',
    path: '/?c=news&near=2&depth=columns&at=117',
    async ready(page) {
      await page.getByRole('button', { name: 'Step on' }).waitFor();
      await diagram(page);
    },
  },
  { name: 'review', path: '/review?to=113', ready: seen(/news/) },
  { name: 'collection', path: '/collections/news', ready: seen('Jonas Keller') },
  { name: 'collection-table', path: '/collections/news?tab=table', ready: seen('published_news') },
  { name: 'timeline', path: '/timeline', ready: seen('Not before the general assembly') },
  { name: 'operations', path: '/operations', ready: seen('at the head') },
  {
    name: 'operations-checks',
    path: '/operations/checks',
    async ready(page) {
      await page.getByRole('button', { name: 'Examine' }).click();
      await page.getByText('TABLES_DIFFER').waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Look for drift' }).click();
      await page.getByText('character varying').first().waitFor();
    },
  },
  { name: 'operations-trash', path: '/operations/trash', ready: seen('partners.link') },
  {
    name: 'operations-restore',
    path: '/operations/trash',
    async ready(page) {
      await page.getByRole('button', { name: 'Restore partners.link' }).click();
      await page
        .getByText(/come back/)
        .first()
        .waitFor();
    },
  },
  {
    name: 'operations-adopt',
    path: '/operations/adopt',
    async ready(page) {
      await page.getByRole('button', { name: /^Choose all/ }).click();
      await page.getByRole('button', { name: 'Try it' }).click();
      await page.getByText(/^Tried:/).waitFor();
    },
  },
  {
    name: 'operations-metrics',
    path: '/operations/metrics',
    async ready(page) {
      await page.getByText('accepted', { exact: false }).first().waitFor();
      // Something to draw: a minute of somebody asking.
      for (let round = 0; round < 40; round++) {
        for (let asked = 0; asked < round % 7; asked++) await page.request.get('/server/health');
        await page.waitForTimeout(700);
      }
    },
  },
  { name: 'accounts', path: '/accounts', ready: seen('Signed in now') },
  { name: 'reference', path: '/api', ready: seen('/collections') },
  { name: 'guides', path: '/docs/concepts', ready: seen('Fold') },
  {
    name: 'search',
    path: '/',
    async ready(page) {
      await diagram(page);
      await page.keyboard.press('Control+k');
      await page.keyboard.type('trans');
      await page.getByText('icbd_translations').last().waitFor();
    },
  },
];
