/** All screenshots. A page of docs/ shows each. */
import type { Page } from 'playwright-core';
import type { Picture } from './take.js';

const waitForText = (text: string | RegExp) => (page: Page) => page.getByText(text).first().waitFor();

const scrollToText = (text: string) => async (page: Page) => {
  await page.getByText(text).first().waitFor();
  await page
    .getByText(text)
    .first()
    .evaluate((place) => place.scrollIntoView({ block: 'center' }));
};

const diagram = async (page: Page) => {
  await page.locator('.react-flow__node').first().waitFor();
  await page.waitForTimeout(1_500);
};

export const PICTURES: readonly Picture[] = [
  { name: 'schema', path: '/', ready: diagram },
  { name: 'schema-dark', path: '/?c=news&near=1&depth=columns&drift=true', ready: diagram, dark: true },
  {
    name: 'replay',
    path: '/?c=news&near=2&depth=columns&at=117',
    async ready(page) {
      await page.getByRole('button', { name: 'Next change' }).waitFor();
      await diagram(page);
    },
  },
  {
    name: 'review',
    path: '/review?to=113',
    async ready(page) {
      await page
        .getByRole('button', { name: 'Apply', exact: true })
        .and(page.locator(':not([aria-disabled])'))
        .waitFor();
      await page.waitForTimeout(1_000);
    },
  },
  {
    name: 'change-request',
    path: ({ proposal }) => `/review?change=${proposal}`,
    ready: waitForText('which nobody misses'),
  },
  { name: 'collection', path: '/collections/news', ready: waitForText('Jonas Keller') },
  { name: 'collection-table', path: '/collections/news?tab=table', ready: waitForText('published_news') },
  {
    name: 'editing',
    path: '/collections/news?edit=new-relation',
    async ready(page) {
      await page.getByRole('radio', { name: 'Many to many' }).click();
      await page.getByRole('combobox', { name: 'Related collection', exact: true }).fill('social_links');
      await page.keyboard.press('Escape');
    },
  },
  {
    name: 'verification',
    path: '/verification',
    async ready(page) {
      await page.getByRole('button', { name: /^Verify / }).click();
      await page.getByText('The hash chain is valid').waitFor();
      await page.mouse.move(0, 0);
    },
  },
  { name: 'timeline', path: '/timeline', ready: waitForText('Not before the general assembly') },
  {
    name: 'operations-checks',
    path: '/operations/checks',
    async ready(page) {
      await page.getByRole('button', { name: 'Run checks' }).click();
      await page.getByText('TABLES_DIFFER').waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'Check for drift' }).click();
      await page.getByText('character varying').first().waitFor();
      await page.getByRole('heading', { level: 1 }).scrollIntoViewIfNeeded();
    },
  },
  { name: 'operations-trash', path: '/operations/trash', ready: waitForText('partners.link') },
  {
    name: 'operations-policy',
    path: '/operations/policy',
    ready: (page: Page) => page.getByText('members*').first().waitFor(),
  },
  { name: 'accounts', path: '/accounts', ready: waitForText('Active sessions') },
  { name: 'reference', path: '/api?op=createField', ready: scrollToText('Try it') },
  { name: 'guides', path: '/docs/concepts', ready: waitForText('Fold') },
  {
    name: 'search',
    path: '/',
    async ready(page) {
      await diagram(page);
      await page.keyboard.press('Control+k');
      await page.keyboard.type('news');
      await page.getByText('news_translations').last().waitFor();
    },
  },
  {
    name: 'operations-metrics',
    path: '/operations/metrics',
    async ready(page, { call }) {
      await page.getByText('accepted', { exact: false }).first().waitFor();
      // Draws the work of a minute. It is last, because it changes the schema.
      for (let round = 0; round < 40; round++) {
        for (let request = 0; request < round % 7; request++) await page.request.get('/server/health');
        await call('PATCH', '/collections/languages', { meta: { note: `Of the site, ${round}` } });
        if (round % 3 === 0)
          await call('POST', '/fields/news', { field: 'slug', type: 'string' }).catch(() => undefined);
        await page.waitForTimeout(700);
      }
    },
  },
];
