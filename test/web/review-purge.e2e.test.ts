import { expect } from 'chai';
import pg from 'pg';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the review page of the admin app: a deletion that needs permission', () => {
  const app = withApp();
  let then = 0;
  let pool: pg.Pool;

  before(async () => {
    pool = new pg.Pool({ connectionString: app.service.databaseUrl, max: 1 });
    await pool.query('CREATE TABLE base (id int PRIMARY KEY)');
    const adopted = await app.client('/schema/adopt', json({ tables: ['base'] }));
    expect(adopted.status, adopted.text).to.equal(200);
    then = ((await app.client('/server/info')).json as { data: { position: number } }).data.position;
    const added = await app.client('/fields/base', json({ field: 'extra', type: 'string' }));
    expect(added.status, added.text).to.equal(200);
    await pool.query('CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.heir () INHERITS (base)');
  });

  after(() => pool.end());

  it('offers to delete a column from the tables that inherit it, and names them', async () => {
    app.mayComplain(/status of 422/);
    const page = await app.visit({ path: `/review?to=${then}` });
    const bar = page.getByRole('region', { name: 'Apply changes' });
    await bar.getByRole('button', { name: 'Dry run' }).click();
    const offer = bar.getByRole('button', { name: 'Delete permanently: base.extra, elsewhere.heir.extra' });
    await offer.click();
    await offer.waitFor({ state: 'detached' });
    await bar.getByRole('button', { name: 'Options (1)' }).waitFor();
    await bar.getByRole('button', { name: 'Dry run' }).click();
    await bar.getByText('The dry run succeeded. Nothing was changed.').waitFor();
    await bar.getByRole('button', { name: 'Apply', exact: true }).click();
    await bar.getByRole('button', { name: 'Delete data: extra' }).click();
    await page.waitForURL(/\?done=/);
    const { rows } = await pool.query(
      `SELECT 1 FROM information_schema.columns WHERE column_name = 'extra' AND table_name IN ('base', 'heir')`,
    );
    expect(rows).to.have.lengthOf(0);
  });
});
