/** A database that was created without the service is adopted, viewed and changed in the app. */
import { expect } from 'chai';
import pg from 'pg';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { testServer } from '../support/postgres.js';
import { pagila, realSchemasAreThere } from '../features/adopt/real-schemas.js';

const ROWS = `
INSERT INTO country (country) VALUES ('Chile'), ('Peru');
INSERT INTO language (name) VALUES ('Spanish');
INSERT INTO film (title, release_year, language_id, rating, special_features) VALUES ('A', 1999, 1, 'PG-13', '{a,b}');`;

describe('Pagila in the admin app', () => {
  before(async function () {
    if (!realSchemasAreThere() || (await testServer()).majorVersion < 18) this.skip();
  });
  const app = withApp();

  before(async () => {
    // Runs like a psql script on its own connection, whose settings end with it.
    const run = async (sql: string) => {
      const client = new pg.Client({ connectionString: app.service.databaseUrl });
      await client.connect();
      try {
        await client.query(sql);
      } finally {
        await client.end();
      }
    };
    await run(pagila());
    await run(ROWS);
    await run('ANALYZE');
  });

  it('is adopted unchanged, with a list of what is left out', async () => {
    const page = await app.visit({ path: '/operations/adopt' });
    await page.getByRole('button', { name: /^Select all \d+$/ }).click();
    await page.getByLabel('Reason', { exact: true }).fill('It was here before us');
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText(/^Dry run: \d+ tables with \d+ relations/).waitFor({ timeout: 60_000 });
    await page.getByText('film: 1 materialized view, 2 triggers, 4 views').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Adopt \d+ tables$/ }).click();
    await page.getByText(/^\d+ tables adopted/).waitFor({ timeout: 60_000 });
  });

  it('is drawn in the diagram around a selected table', async () => {
    const page = await app.visit({ path: '/?depth=columns' });
    await page.locator('.react-flow__node').first().waitFor();
    const output = await page.getByText(/^\d+ tables$/).innerText();
    expect(Number.parseInt(output, 10), output).to.be.above(60);
    await page.goto('/app/?c=film&near=1&depth=columns');
    await page
      .getByLabel(/^Table film\b/)
      .first()
      .waitFor();
    await page.getByLabel(/^Table language\b/).waitFor();
    await page.getByLabel(/^Table film_actor\b/).waitFor();
    expect(await page.getByLabel(/^Table staff\b/).count()).to.equal(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Compare with the database' }).click();
    await page.getByRole('button', { name: 'Compare with the database', pressed: true }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await page.getByRole('img', { name: 'differs in the database' }).count(), 'nothing drifted').to.equal(0);
  });

  it('has a page for each table with everything in PostgreSQL', async () => {
    const page = await app.visit({ path: '/collections/film' });
    const row = page.getByRole('row', { name: /^rating/ });
    await row.getByText('mpaa_rating').waitFor();
    await page.getByRole('row', { name: /^special_features/ }).waitFor();
    await page
      .getByRole('row', { name: /^fulltext/ })
      .getByText('tsvector')
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'Relations' }).click();
    await page.getByText('film_actor').first().waitFor();
    await page.getByRole('tab', { name: 'Table' }).click();
    await page.getByText('film_fulltext_idx').first().waitFor();
    await page.getByText('film_fulltext_trigger').first().waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'SQL' }).click();
    await page.getByText('CREATE TABLE').first().waitFor();
    await page.getByRole('tab', { name: 'History' }).click();
    await page.getByText('It was here before us').first().waitFor();
    const narrow = await app.visit({ path: '/collections/film?tab=table', narrow: true, dark: true });
    await narrow.getByText('film_fulltext_idx').first().waitFor();
    await expectFits(narrow);
  });

  it('shows its adoption in the timeline', async () => {
    const page = await app.visit({ path: '/timeline' });
    await page.getByRole('button', { name: /It was here before us/ }).click();
    await page.getByRole('link', { name: 'collection actor', exact: true }).waitFor();
    await expectAccessible(page);
  });

  it('shows affected views and rows when it is changed', async () => {
    const page = await app.visit({ path: '/collections/country' });
    await page.getByRole('button', { name: 'New field' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('code');
    await page.getByRole('dialog').getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('article', { name: 'field country.code' }).waitFor();
    await page.getByText('about 2 rows').first().waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('The dry run succeeded. Nothing was changed.').waitFor();
    const apply = page.getByRole('button', { name: /^Apply(: delete .*)?$/ });
    await apply.and(page.locator(':not([aria-disabled])')).waitFor();
    await apply.click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    await app.api.sql(`insert into country (country, code) values ('Bolivia', 'BO')`);
  });
});
