import { expect } from 'chai';
import { expectAccessible, withApp } from '../support/app.js';

describe('views in the admin app', () => {
  const app = withApp({ settings: { OBJECTS: 'on' } });

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    await app.api.ok('POST', '/collections', { collection: 'articles', schema: {}, fields });
    const definition = 'CREATE VIEW titles AS SELECT title FROM articles';
    await app.api.ok('POST', '/objects', { kind: 'view', definition });
  });

  it('shows a view that someone changed by hand, and accepts it', async () => {
    await app.api.sql(`CREATE OR REPLACE VIEW titles AS SELECT title FROM articles WHERE title <> 'hidden'`);
    await app.api.sql('CREATE VIEW by_hand AS SELECT title FROM articles');
    const page = await app.visit({ path: '/operations/checks' });
    await page.getByRole('button', { name: 'Check for drift' }).click();
    await page.getByText('1 view differs').waitFor();
    await page.getByText('Unmanaged tables and objects (not drift): view by_hand').waitFor();
    await page.getByText('DROP VIEW').first().waitFor();
    await expectAccessible(page);
    await page.getByLabel('Reason for accepting view titles').fill('Hidden articles stay hidden');
    await page.getByRole('button', { name: 'Accept: view titles' }).click();
    await page.getByRole('button', { name: 'Yes, accept drift: view titles' }).click();
    await page.getByText('No drift: the database matches the event log').waitFor();
    const { data } = await app.api.ok<{ data: { definition: string } }>('GET', '/objects/view/titles');
    expect(data.definition).to.contain('hidden');
    await app.api.sql('DROP VIEW by_hand');
  });
});
