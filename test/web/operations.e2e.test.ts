import { expect } from 'chai';
import { expectAccessible, withApp, expectAccessibleInEachLook } from '../support/app.js';
import { json } from '../support/client.js';

describe('the operations page of the admin app', () => {
  // A rebuild waits for a lock until a second page shows it.
  const app = withApp({ settings: { LOCK_TIMEOUT: '60s' } });

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    expect((await app.client('/collections', json({ collection: 'articles', schema: {}, fields }))).status).to.equal(
      200,
    );
  });

  const lastReason = async () => {
    const { json: batches } = await app.client('/history/batches?limit=1');
    return (batches as { data: { reason: string | null }[] }).data[0]?.reason;
  };

  it('shows health and projections, and rebuilds one after a confirmation', async () => {
    const page = await app.visit({ path: '/operations' });
    await page.getByText('projections: healthy').waitFor();
    await page.getByText('up to date, event 1').first().waitFor();
    await page.getByRole('button', { name: 'Rebuild: metadata' }).click();
    await page.getByRole('button', { name: 'Yes, rebuild: metadata' }).click();
    await page.getByText('Rebuilt from the event log.').waitFor();
  });

  it('shows a running rebuild, even to users who open the page later', async () => {
    const [page, other] = [await app.visit({ path: '/operations' }), await app.visit({ path: '/operations' })];
    await page.getByRole('button', { name: 'Rebuild: tables' }).waitFor();
    // Another session has locked the table, so the rebuild waits.
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
    await page.getByText('Rebuilt from the event log.').waitFor();
    await other.getByRole('progressbar').waitFor({ state: 'hidden' });
  });

  it('finds manual changes, and accepts them into the log with a reason', async () => {
    await app.api.sql('alter table public.articles alter column title set not null');
    const page = await app.visit({ path: '/operations/checks' });
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('articles.title in the catalog').first().waitFor();
    await page.getByRole('button', { name: 'Run checks' }).click();
    await page.getByText('TABLES_DIFFER').waitFor();
    await page.getByText('"dps drift" lists the differences').waitFor();
    await page.getByRole('button', { name: 'Check for drift' }).click();
    await page.getByText('DROP NOT NULL').first().waitFor();
    await expectAccessible(page);
    await page.getByLabel('Reason for accepting articles').fill('Wegen der Prüfung');
    await page.getByRole('button', { name: 'Accept: articles' }).click();
    await page.getByRole('button', { name: 'Yes, accept drift: articles' }).click();
    await page.getByText('No drift: the database matches the event log').waitFor();
    expect(await lastReason()).to.equal('Wegen der Prüfung');
  });

  it('repairs the tables, except where something would be dropped', async () => {
    await app.api.sql('alter table public.articles alter column title drop not null');
    await app.api.sql('create index by_hand on public.articles (title)');
    const page = await app.visit({ path: '/operations/checks' });
    await page.getByRole('button', { name: 'Check for drift' }).click();
    await page.getByText('SET NOT NULL').first().waitFor();
    await page.getByRole('button', { name: 'Repair tables' }).click();
    await page.getByRole('button', { name: 'Yes, repair tables' }).click();
    await page.getByText('The service ran 1 statement and skipped 1. Run the skipped ones yourself.').waitFor();
    await app.api.sql('drop index by_hand');
    await page.getByRole('button', { name: 'Check for drift' }).click();
    await page.getByText('No drift: the database matches the event log').waitFor();
  });

  it('adopts chosen tables after a dry run, shows what is left out, and reports errors at their table', async () => {
    app.mayComplain(/status of 400/);
    await app.api.sql('create table public.by_hand (id integer primary key, parent integer references public.by_hand)');
    await app.api.sql('create table public." bad name" (id integer primary key)');
    await app.api.sql(
      `create function noted() returns trigger language plpgsql as 'begin return new; end'; create trigger notes after insert on by_hand for each row execute function noted()`,
    );
    const page = await app.visit({ path: '/operations/adopt' });
    await page.getByRole('button', { name: 'Select all 2' }).click();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('alert').getByText('bad name').first().waitFor();
    expect(await page.getByRole('button', { name: /^Adopt/ }).isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await page.getByRole('checkbox', { name: 'by_hand' }).check();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText(/^Dry run: 1 table with 1 relation/).waitFor();
    const left = page.getByRole('list', { name: 'Objects that will not be managed' });
    await left.getByText('by_hand: 1 trigger').click();
    await left.getByText('trigger "notes" stays unchanged').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Reason', { exact: true }).fill('It was here before us');
    await page.getByRole('button', { name: 'Adopt 1 table' }).click();
    await page.getByText('1 table adopted').waitFor();
    expect((await app.client('/collections/by_hand')).status).to.equal(200);
    expect(await lastReason()).to.equal('It was here before us');
    await page.getByRole('checkbox', { name: 'by_hand' }).waitFor({ state: 'hidden' });
  });

  it('shows the partitions of a table below it with estimated rows, and selects the table together with them', async () => {
    await app.api.sql(`CREATE TABLE visits (id integer NOT NULL) PARTITION BY RANGE (id);
      CREATE TABLE visits_low PARTITION OF visits FOR VALUES FROM (0) TO (1000);
      CREATE TABLE visits_high PARTITION OF visits FOR VALUES FROM (1000) TO (2000);
      INSERT INTO visits SELECT generate_series(1, 1500)`);
    await app.api.sql('ANALYZE visits');
    const page = await app.visit({ path: '/operations/adopt' });
    const partitions = page.getByRole('list', { name: 'Partitions of visits' });
    await partitions.getByText('about 999 rows').waitFor();
    await page.getByText('about 1,500 rows, 2 partitions').waitFor();
    await partitions.getByRole('checkbox', { name: 'visits_low' }).check();
    const visits = page.getByRole('checkbox', { name: 'visits', exact: true });
    expect(await visits.isChecked(), 'a partition needs its table').to.equal(true);
    expect(await partitions.getByRole('checkbox', { name: 'visits_high' }).isChecked()).to.equal(false);
    await visits.uncheck();
    expect(await partitions.getByRole('checkbox', { name: 'visits_low' }).isChecked()).to.equal(false);
    await visits.check();
    await page.getByLabel('Filter').fill('low');
    await page.getByText('about 999 rows, partition of visits').waitFor();
    await page.getByLabel('Filter').fill('');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText(/^Dry run: 3 tables/).waitFor();
    await expectAccessibleInEachLook(page);
    await page.getByRole('button', { name: 'Adopt 3 tables' }).click();
    await page.getByText('3 tables adopted').waitFor();
  });

  it('draws the metrics of the last minutes', async () => {
    await app.client('/collections', json({ collection: 'articles', schema: {} }));
    const page = await app.visit({ path: '/operations/metrics' });
    await page.getByText('commands accepted').waitFor();
    await page.getByRole('img', { name: /^Requests: succeeded [0-9.]+, rejected 0, failed 0/ }).waitFor();
    await page.getByText('ALREADY_EXISTS', { exact: true }).waitFor();
    await expectAccessible(page);
  });

  it('lets auditors verify the log, but change nothing', async () => {
    const page = await app.visit({ path: '/operations/checks', as: await app.user('auditor') });
    await page.getByRole('button', { name: 'Verify the event log' }).click();
    await page.getByText(/^\d+ events verified/).waitFor();
    await page.getByRole('button', { name: 'Run checks' }).click();
    await page
      .getByText(/checks, no findings|finding/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Health' }).click();
    await page.getByText('up to date').first().waitFor();
    expect(await page.getByRole('button', { name: /^Rebuild/ }).count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Adopt' }).count()).to.equal(0);
  });

  it('is accessible and fits a wide light and a narrow dark window', async () => {
    const page = await app.visit({ path: '/operations/checks' });
    await page.getByRole('button', { name: 'Verify the event log' }).click();
    await page.getByText('events verified').waitFor();
    await page.getByRole('button', { name: 'Run checks' }).click();
    await page.getByRole('list', { name: 'Checks' }).waitFor();
    await expectAccessibleInEachLook(page);
  });

  it('shows all tabs at 1024 and 1280 px', async () => {
    const page = await app.visit({ path: '/operations/checks' });
    const tabs = page.getByRole('navigation', { name: 'Operations' });
    await tabs.getByRole('link', { name: 'Environments' }).waitFor();
    for (const width of [1_280, 1_024]) {
      await page.setViewportSize({ width, height: 800 });
      const hidden = await tabs.evaluate((list) => list.scrollWidth - list.clientWidth);
      expect(hidden, `${width} px`).to.equal(0);
    }
  });
});
