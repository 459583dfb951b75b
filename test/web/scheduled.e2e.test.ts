/** The navigation of every page shows the faults of scheduled comparisons. */
import { expect } from 'chai';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('scheduled comparisons in the admin app', () => {
  const app = withApp({ settings: { VERIFY_EVERY: '1s' } });

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    const { status, text } = await app.client('/collections', json({ collection: 'articles', schema: {}, fields }));
    expect(status, text).to.equal(200);
  });

  it('count their faults in the navigation, and disappear when the drift is resolved', async () => {
    const page = await app.visit({ narrow: true });
    const operations = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Operations/ });
    await operations.waitFor();
    const counted = operations.and(page.getByRole('link', { name: /1 fault found by the scheduled comparison/ }));
    expect(await counted.count()).to.equal(0);
    await app.api.sql('ALTER TABLE articles ALTER COLUMN title SET NOT NULL');
    await counted.click();
    await page
      .getByRole('navigation', { name: 'Operations' })
      .getByRole('link', { name: /^Checks\s*1$/ })
      .click();
    const found = page.getByRole('note').filter({ hasText: 'The database differs from the event log' });
    await found.getByText('articles', { exact: true }).waitFor();
    await expectFits(page);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Check for drift' }).click();
    await page.getByRole('button', { name: 'Repair tables' }).click();
    await page.getByRole('button', { name: 'Yes, repair tables' }).click();
    await page.getByText('No drift: the database matches the event log').waitFor();
    await found.waitFor({ state: 'detached' });
    await counted.waitFor({ state: 'detached' });
  });

  it('are hidden once the user finds no drift, before the next comparison', async () => {
    const page = await app.visit();
    const event = { position: 1, type: 'drift.found', occurred_at: new Date(0).toISOString() };
    const data = [{ ...event, data: { differences: 2, tables: ['articles', 'authors'] } }];
    await page.route(/\/history\/events\?.*comparison(:|%3A)drift/, (route) =>
      route.fulfill({ json: { data, meta: { next: null } } }),
    );
    await page.goto('/app/operations/checks');
    const found = page.getByText('articles, authors', { exact: true });
    await found.waitFor();
    await page.getByRole('button', { name: 'Check for drift' }).click();
    await found.waitFor({ state: 'detached' });
    expect(await page.getByRole('link', { name: /fault/ }).count()).to.equal(0);
  });
});
