import { expect } from 'chai';
import pg from 'pg';
import { diffOf, open, without } from '../features/change-requests/people.js';
import { expectAccessible, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the review page of the admin app: a deletion that needs permission', () => {
  const app = withApp();
  let then = 0;
  let pool: pg.Pool;

  before(async () => {
    pool = new pg.Pool({ connectionString: app.service.databaseUrl, max: 1 });
    await pool.query('CREATE TABLE base (id int PRIMARY KEY); INSERT INTO base VALUES (1)');
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

  it('offers it on the page of a change request, where approvals must then be given again', async () => {
    app.mayComplain(/status of 422/);
    await pool.query('DROP TABLE elsewhere.heir');
    const added = await app.client('/fields/base', json({ field: 'note', type: 'string' }));
    expect(added.status, added.text).to.equal(200);
    const { id, plan } = await open(app.client, {
      title: 'Without notes',
      diff: await diffOf(app.client, without('base', 'note')),
    });
    const approved = await app.client(`/changes/${id}/approve`, json({ plan }));
    expect(approved.status, approved.text).to.equal(200);
    await pool.query('CREATE TABLE elsewhere.later () INHERITS (base)');
    const page = await app.visit({ path: `/review?change=${id}` });
    const offer = page.getByRole('button', { name: 'Delete permanently: base.note, elsewhere.later.note' });
    await page.getByRole('button', { name: 'Dry run' }).click();
    await offer.waitFor();
    const apply = async () => {
      await page.getByRole('button', { name: 'Apply: base' }).click();
      await page.getByRole('button', { name: 'Yes, apply it: base' }).click();
    };
    await apply();
    await page.getByRole('alert').nth(1).waitFor();
    await expectAccessible(page);
    await offer.last().click();
    await page.getByText('does not count: the plan was changed after it').waitFor();
    await page.getByText('Permanent. The trash does not keep it, because the change has the option purge.').waitFor();
    await apply();
    await page.getByText('This request is applied.').waitFor();
    const { rows } = await pool.query(
      `SELECT 1 FROM information_schema.columns WHERE column_name = 'note' AND table_name IN ('base', 'later')`,
    );
    expect(rows).to.have.lengthOf(0);
  });

  it('offers it when a request is reverted, and the new request has the option', async () => {
    app.mayComplain(/status of 422/);
    await pool.query('DROP TABLE IF EXISTS elsewhere.heir, elsewhere.later');
    const { id } = await open(app.client, {
      title: 'With a remark',
      diff: await diffOf(app.client, (snapshot) => {
        const key = snapshot.fields.find(({ collection }) => collection === 'base');
        if (key === undefined) throw new Error('The snapshot lacks the key of "base"');
        const schema = { data_type: 'text', is_nullable: true };
        const meta = { ...key.meta, field: 'remark' };
        snapshot.fields.push({ ...structuredClone(key), field: 'remark', type: 'text', meta, schema } as typeof key);
      }),
    });
    const applied = await app.client(`/changes/${id}/apply`, { method: 'POST' });
    expect(applied.status, applied.text).to.equal(200);
    await pool.query('CREATE TABLE elsewhere.last () INHERITS (base)');
    const page = await app.visit({ path: `/review?change=${id}` });
    await page.getByRole('button', { name: 'Propose a revert' }).click();
    const offer = page.getByRole('button', { name: 'Delete permanently: base.remark, elsewhere.last.remark' });
    await offer.waitFor();
    await expectAccessible(page);
    await offer.click();
    await page.getByRole('heading', { name: 'Revert: With a remark' }).waitFor();
    await page.getByText('Permanent. The trash does not keep it, because the change has the option purge.').waitFor();
    const { data } = (await app.client('/changes?limit=1')).json as { data: { id: string; reverts: string | null }[] };
    expect(data[0]?.reverts).to.equal(id);
    const reverted = await app.client(`/changes/${data[0]?.id}/apply`, { method: 'POST' });
    expect(reverted.status, reverted.text).to.equal(200);
  });
});
