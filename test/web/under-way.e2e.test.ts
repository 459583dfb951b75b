import { expect } from 'chai';
import pg from 'pg';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string, schema: object = {}) => ({ field: name, type: 'string', interface: 'input', schema });

describe('running changes in the operations of the admin app', () => {
  const app = withApp();
  const path = '/operations/changes';

  before(async () => {
    const created = { collection: 'orders', schema: {}, fields: [field('note')] };
    expect((await app.client('/collections', json(created))).status).to.equal(200);
    await app.api.sql(`insert into orders (note) select repeat('x', 200) from generate_series(1, 60000)`);
    await app.api.sql('analyze orders');
  });

  /** More than any page lists at first, so that earlier requests are not among the newest. */
  const proposeMany = async () => {
    const snapshot = (await app.client('/schema/snapshot')).json as { collections: { meta: { note?: unknown } }[] };
    for (const { meta } of snapshot.collections) meta.note = 'proposed';
    for (let index = 0; index < 25; index++) {
      const { status, text } = await app.client('/changes', json({ title: `Request ${index}`, snapshot }));
      expect(status, text).to.be.below(300);
    }
  };

  it('explains the list when it is empty', async () => {
    const page = await app.visit({ path });
    await page.getByText('No change requests').waitFor();
    await expectAccessible(page);
  });

  it('shows a running change with its steps and the blocking transaction, and withdraws it', async () => {
    const holder = new pg.Client({ connectionString: app.service.databaseUrl, application_name: 'night report' });
    holder.on('error', () => undefined);
    await holder.connect();
    try {
      await holder.query('BEGIN; SELECT 1 FROM orders LIMIT 1');
      const requested = json({ schema: { is_nullable: false } }, 'PATCH');
      const { status, text } = await app.client('/fields/orders/note?online', {
        ...requested,
        headers: { ...requested.headers, 'X-Reason': 'Every order says something' },
      });
      expect(status, text).to.equal(202);
      const page = await app.visit({ path });
      await page.getByText('Every order says something').waitFor();
      await page.getByText('Waiting for other transactions').waitFor();
      await page.getByText('night report').waitFor();
      await page.getByRole('progressbar').first().waitFor({ state: 'attached' });
      await page.getByRole('link', { name: 'Schema' }).click();
      await page.getByRole('button', { name: 'Compare with the database' }).click();
      await page.getByLabel('Table orders, online change in progress').waitFor();
      const auditor = await app.visit({ path, as: await app.user('auditor'), narrow: true, dark: true });
      await auditor.getByText('night report').waitFor();
      expect(await auditor.getByRole('button', { name: /Withdraw/ }).count()).to.equal(0);
      await expectAccessible(auditor);
      await expectFits(auditor);
      await page.goto(`/app${path}`);
      await page.getByRole('button', { name: 'Withdraw: orders' }).click();
      await page.getByRole('button', { name: 'Yes, withdraw it: orders' }).click();
      await page.getByText('withdrawn', { exact: true }).waitFor();
    } finally {
      await holder.end();
    }
    const page = await app.visit({ path });
    await page.getByRole('link', { name: 'Details of orders' }).click();
    await page.getByText('was withdrawn. Nothing was changed').waitFor();
  });

  it('marks an index that is being created, on the page of its collection and in the diagram', async () => {
    const holder = new pg.Client({ connectionString: app.service.databaseUrl });
    holder.on('error', () => undefined);
    await holder.connect();
    try {
      // CREATE INDEX CONCURRENTLY waits for transactions that write.
      await holder.query(`BEGIN; UPDATE orders SET note = note WHERE id = 1`);
      const { status, text } = await app.client(
        '/fields/orders/note?online',
        json({ schema: { is_indexed: true } }, 'PATCH'),
      );
      expect(status, text).to.equal(202);
      await proposeMany();
      const page = await app.visit({ path: '/collections/orders' });
      await page.getByRole('row', { name: /note/ }).getByText('creating index').waitFor();
      await expectAccessible(page);
      await page.getByRole('tab', { name: 'Table' }).click();
      await page.getByRole('heading', { name: 'Creating 1 index' }).waitFor();
      await page.getByRole('link', { name: 'Show the change request' }).waitFor();
      await expectAccessible(page);
      await page.goto('/app/?drift=true&depth=columns');
      await page.getByLabel('Table orders, creating index').waitFor();
      await page.getByRole('link', { name: 'Operations' }).click();
      await page.getByRole('link', { name: 'Change requests' }).click();
      await page.getByRole('progressbar').first().waitFor({ state: 'attached' });
      await page.goBack();
      await page.goBack();
      await page.locator('.react-flow__node').getByRole('img', { name: 'creating index' }).nth(1).waitFor();
      await page.goto('/app/collections/orders');
      await page.getByText('creating index').waitFor();
      await holder.query('ROLLBACK');
      await page.getByText('indexed', { exact: true }).waitFor();
      await page.getByText('creating index').waitFor({ state: 'detached' });
    } finally {
      await holder.end();
    }
  });
});
