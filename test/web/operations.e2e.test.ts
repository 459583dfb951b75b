import { expect } from 'chai';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the operations page of the admin app', () => {
  const app = withApp();

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    expect((await app.client('/collections', json({ collection: 'articles', schema: {}, fields }))).status).to.equal(
      200,
    );
  });

  it('says how the service is, how far projections have come, and makes one again when it is asked twice', async () => {
    const page = await app.visit({ path: '/operations' });
    await page.getByText('projections: well').waitFor();
    await page.getByText('at the head, event 1').first().waitFor();
    await page.getByRole('button', { name: 'Rebuild: metadata' }).click();
    await page.getByRole('button', { name: 'Yes, rebuild: metadata' }).click();
    await page.getByText('Made again from the log.').waitFor();
  });

  it('finds what was changed by hand, shows both ways out, and takes it into the log with its reason', async () => {
    await app.api.sql('alter table public.articles alter column title set not null');
    const page = await app.visit({ path: '/operations' });
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('articles.title in the catalog').first().waitFor();
    await page.getByRole('button', { name: 'Look for drift' }).click();
    await page.getByText('DROP NOT NULL').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Why articles is as it is').fill('Wegen der Prüfung');
    await page.getByRole('button', { name: 'Take it into the log: articles' }).click();
    await page.getByRole('button', { name: 'Yes, take it as it is: articles' }).click();
    await page.getByText('The database is as the log says').waitFor();
    const { json: found } = await app.client('/history/batches?limit=1');
    expect((found as { data: { reason: string }[] }).data[0]?.reason).to.equal('Wegen der Prüfung');
  });

  it('verifies the log for auditors, who change nothing', async () => {
    const page = await app.visit({ path: '/operations', as: await app.user('auditor') });
    await page.getByRole('button', { name: 'Verify the log' }).click();
    await page.getByText('2 events, unbroken').waitFor();
    expect(await page.getByRole('button', { name: /^Rebuild/ }).count()).to.equal(0);
  });

  for (const look of [{}, { dark: true, narrow: true }]) {
    it(`has nothing that axe finds, and fits: ${JSON.stringify(look)}`, async () => {
      const page = await app.visit({ ...look, path: '/operations' });
      await page.getByText('projections: well').waitFor();
      await page.getByRole('button', { name: 'Verify the log' }).click();
      await page.getByText('unbroken').waitFor();
      await expectAccessible(page);
      await expectFits(page);
    });
  }
});
