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

  const lastReason = async () => {
    const { json: found } = await app.client('/history/batches?limit=1');
    return (found as { data: { reason: string | null }[] }).data[0]?.reason;
  };

  it('says how the service is, how far projections have come, and makes one again when it is asked twice', async () => {
    const page = await app.visit({ path: '/operations' });
    await page.getByText('projections: well').waitFor();
    await page.getByText('at the head, event 1').first().waitFor();
    await page.getByRole('button', { name: 'Rebuild: metadata' }).click();
    await page.getByRole('button', { name: 'Yes, rebuild: metadata' }).click();
    await page.getByText('Made again from the log.').waitFor();
  });

  it('shows a rebuild that runs, also to who comes to the page later', async () => {
    const [page, other] = [await app.visit({ path: '/operations' }), await app.visit({ path: '/operations' })];
    await page.getByRole('button', { name: 'Rebuild: tables' }).waitFor();
    // Somebody has the table: the rebuild waits, and lasts.
    await app.api.sql('alter table public.articles alter column title set not null');
    await app.api.sql('begin; lock table public.articles in access exclusive mode');
    try {
      await page.getByRole('button', { name: 'Rebuild: tables' }).click();
      await page.getByRole('button', { name: 'Yes, rebuild: tables' }).click();
      await page.getByRole('progressbar', { name: 'Rebuilding tables' }).waitFor();
      await other.reload();
      await other.getByRole('progressbar', { name: 'Rebuilding tables' }).waitFor();
    } finally {
      await app.api.sql('commit');
    }
    await page.getByText('Made again from the log.').waitFor();
    await other.getByRole('progressbar').waitFor({ state: 'hidden' });
  });

  it('finds what was changed by hand, and takes it into the log with its reason', async () => {
    await app.api.sql('alter table public.articles alter column title set not null');
    const page = await app.visit({ path: '/operations/checks' });
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('articles.title in the catalog').first().waitFor();
    await page.getByRole('button', { name: 'Examine' }).click();
    await page.getByText('TABLES_DIFFER').waitFor();
    await page.getByText('"dps drift" names what').waitFor();
    await page.getByRole('button', { name: 'Look for drift' }).click();
    await page.getByText('DROP NOT NULL').first().waitFor();
    await expectAccessible(page);
    await page.getByLabel('Why articles is as it is').fill('Wegen der Prüfung');
    await page.getByRole('button', { name: 'Take it into the log: articles' }).click();
    await page.getByRole('button', { name: 'Yes, take it as it is: articles' }).click();
    await page.getByText('The database is as the log says').waitFor();
    expect(await lastReason()).to.equal('Wegen der Prüfung');
  });

  it('makes the tables as the log says, but for what would drop something', async () => {
    await app.api.sql('alter table public.articles alter column title drop not null');
    await app.api.sql('create index by_hand on public.articles (title)');
    const page = await app.visit({ path: '/operations/checks' });
    await page.getByRole('button', { name: 'Look for drift' }).click();
    await page.getByText('SET NOT NULL').first().waitFor();
    await page.getByRole('button', { name: 'Make them as the log says' }).click();
    await page.getByRole('button', { name: 'Yes, change the tables' }).click();
    await page.getByText('1 statement was run; 1 is left to do by hand.').waitFor();
    await app.api.sql('drop index by_hand');
    await page.getByRole('button', { name: 'Look for drift' }).click();
    await page.getByText('The database is as the log says').waitFor();
  });

  it('adopts tables that are chosen: tried first, with what stays out, and refused at the table it is about', async () => {
    app.mayComplain(/status of 400/);
    await app.api.sql('create table public.by_hand (id integer primary key, parent integer references public.by_hand)');
    await app.api.sql('create table public." bad name" (id integer primary key)');
    await app.api.sql(
      `create function noted() returns trigger language plpgsql as 'begin return new; end'; create trigger notes after insert on by_hand for each row execute function noted()`,
    );
    const page = await app.visit({ path: '/operations/adopt' });
    await page.getByRole('button', { name: 'Choose all 2' }).click();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByRole('alert').getByText('bad name').first().waitFor();
    expect(await page.getByRole('button', { name: /^Adopt/ }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'None' }).click();
    await page.getByRole('checkbox', { name: 'by_hand' }).check();
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText(/^Tried: 1 table with 1 relation/).waitFor();
    await page.getByText('trigger', { exact: true }).first().waitFor();
    await expectAccessible(page);
    await page.getByLabel('Why').fill('It was here before us');
    await page.getByRole('button', { name: 'Adopt 1 table' }).click();
    await page.getByText('1 table is managed now').waitFor();
    expect((await app.client('/collections/by_hand')).status).to.equal(200);
    expect(await lastReason()).to.equal('It was here before us');
    await page.getByRole('checkbox', { name: 'by_hand' }).waitFor({ state: 'hidden' });
  });

  it('draws the metrics of the last minutes from one reading to the next', async () => {
    await app.client('/collections', json({ collection: 'articles', schema: {} }));
    const page = await app.visit({ path: '/operations/metrics' });
    await page.getByText('commands accepted').waitFor();
    await page.getByRole('img', { name: /^Requests: answered [0-9.]+, refused 0, failed 0/ }).waitFor();
    await page.getByText('ALREADY_EXISTS', { exact: true }).waitFor();
    await expectAccessible(page);
  });

  it('verifies the log for auditors, who change nothing', async () => {
    const page = await app.visit({ path: '/operations/checks', as: await app.user('auditor') });
    await page.getByRole('button', { name: 'Verify the log' }).click();
    await page.getByText(/^\d+ events, unbroken/).waitFor();
    await page.getByRole('button', { name: 'Examine' }).click();
    await page
      .getByText(/checks, nothing found|finding/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Health' }).click();
    await page.getByText('at the head').first().waitFor();
    expect(await page.getByRole('button', { name: /^Rebuild/ }).count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Adopt' }).count()).to.equal(0);
  });

  for (const look of [{}, { dark: true, narrow: true }]) {
    it(`has nothing that axe finds, and fits: ${JSON.stringify(look)}`, async () => {
      const page = await app.visit({ ...look, path: '/operations/checks' });
      await page.getByRole('button', { name: 'Verify the log' }).click();
      await page.getByText('unbroken').waitFor();
      await page.getByRole('button', { name: 'Examine' }).click();
      await page.getByRole('list', { name: 'What was looked at' }).waitFor();
      await expectAccessible(page);
      await expectFits(page);
    });
  }
});
