import { withApp } from '../support/app.js';
import { until } from '../support/until.js';

describe('the guides in the admin app', () => {
  const app = withApp();

  it('are shown in the app, with working links and images', async () => {
    const page = await app.visit({ path: '/docs/architecture', as: await app.user('reader') });
    await page.getByRole('heading', { name: 'Architecture' }).waitFor();
    const picture = page.getByRole('img', { name: /^The folders of src/ });
    await picture.scrollIntoViewIfNeeded();
    await until(
      'the picture is loaded',
      async () => (await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth)) > 0,
    );
    await page.getByRole('article').getByRole('link', { name: 'Concepts' }).first().click();
    await page.getByRole('heading', { name: 'Concepts' }).waitFor();
    await page.waitForURL(/\/app\/docs\/concepts$/);
    await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Trash' }).click();
    await page.getByRole('heading', { name: 'Trash', exact: true }).waitFor();
    await page.waitForURL(/\/app\/docs\/trash$/);
  });

  it('can be found by their headings, and open there', async () => {
    const page = await app.visit({ path: '/timeline' });
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.keyboard.type('worked example: not null');
    await page.getByRole('button', { name: /^Worked example: NOT NULL.*Online changes/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/online-changes#worked-example/);
    const heading = page.getByRole('heading', { name: /^Worked example/ });
    await heading.waitFor();
    await until('the page is scrolled to the heading', async () => ((await heading.boundingBox())?.y ?? 500) < 500);
    await page.goto('/app/docs/nothing-of-the-kind');
    await page.getByText('Page not found').waitFor();
  });
});
