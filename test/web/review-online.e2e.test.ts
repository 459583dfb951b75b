import { expect } from 'chai';
import pg from 'pg';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

const field = (name: string, type = 'string', schema: object = {}) => ({
  field: name,
  type,
  interface: 'input',
  schema,
});

describe('online changes in the admin app', () => {
  const app = withApp();
  let then = 0;

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };

  const connected = async () => {
    const database = new pg.Client({ connectionString: app.service.databaseUrl });
    await database.connect();
    return database;
  };

  before(async () => {
    const nullable = field('note', 'text', { is_nullable: false });
    await send('/collections', { collection: 'orders', schema: {}, fields: [nullable, field('kept')] });
    then = ((await app.client('/server/info')).json as { data: { position: number } }).data.position;
    await send('/fields/orders/note', { schema: { is_nullable: true } }, 'PATCH');
    const database = await connected();
    await database.query(`INSERT INTO orders (note) SELECT repeat('x', 600) FROM generate_series(1, 20000)`);
    await database.query('ANALYZE orders');
    await database.end();
  });

  it('are the default for large tables, show progress also after a reload, and can be withdrawn', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await page
      .getByText(/about 20,000 rows/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Prepare online' }).first().click();
    await page.getByText(/The service first prepares/).waitFor();
    const database = await connected();
    database.on('error', () => undefined);
    await database.query('BEGIN');
    await database.query('SELECT 1 FROM orders LIMIT 1');
    await page.getByRole('textbox', { name: 'Reason' }).fill('every order says something');
    await page.getByRole('button', { name: 'Prepare and apply' }).click();
    await page.getByRole('heading', { name: 'Change to orders' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Change to orders' }).waitFor();
    await page.getByText(/every order says something/).waitFor();
    await page.getByRole('progressbar').first().waitFor({ state: 'attached' });
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('button', { name: 'Yes, withdraw it' }).click();
    await page.getByText('was withdrawn. Nothing was changed').waitFor();
    await database.end();
  });

  it('are applied, link to the result, and are listed among the requests', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    const ready = async () => {
      const { data } = (await app.client('/changes?limit=1')).json as { data: { id: string }[] };
      const { json: change } = await app.client(`/changes/${data[0]?.id}`);
      return !(change as { data: { cleaning: boolean } }).data.cleaning;
    };
    await until('what was prepared is gone', ready);
    await page.getByRole('button', { name: 'Options' }).click();
    await page.getByRole('switch', { name: 'Online (keeps tables available)' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Prepare and apply' }).click();
    await page.getByText('This request is applied.').waitFor();
    await page.getByRole('link', { name: 'Show applied changes' }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const auditor = await app.visit({ path: '/review', as: await app.user('auditor'), narrow: true });
    await auditor.getByRole('link', { name: /orders.*applied/ }).click();
    await auditor.getByText('This request is applied.').waitFor();
    expect(await auditor.getByRole('button', { name: 'Withdraw' }).count()).to.equal(0);
    await expectAccessible(auditor);
    await expectFits(auditor);
  });
});
