import { expect } from 'chai';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the trash in the admin app', () => {
  const app = withApp();
  const path = '/operations/trash';

  const build = async (collection: string, fields: object[] = []) => {
    const { status, text } = await app.client('/collections', json({ collection, schema: {}, fields }));
    expect(status, text).to.equal(200);
  };
  const field = (name: string, type = 'string') => ({ field: name, type, interface: 'input', schema: {} });
  const remove = async (at: string) => expect((await app.client(at, { method: 'DELETE' })).status).to.equal(204);

  it('lists deleted tables, and restores one under another name with its rows', async () => {
    app.mayComplain(/status of 409/);
    await build('members', [field('name')]);
    await app.api.sql(`insert into members (name) values ('Ada'), ('Grace')`);
    await build('taken');
    await remove('/collections/members');
    const page = await app.visit({ path });
    await page.getByText('deleted by Admin').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Restore members' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore members' });
    await dialog.getByText('Everything is restored').waitFor();
    await dialog.getByLabel('New name').fill('taken');
    await dialog.locator('[aria-invalid=true]').or(dialog.getByRole('alert')).first().waitFor();
    expect(await dialog.getByRole('button', { name: 'Restore', exact: true }).isDisabled()).to.equal(true);
    await dialog.getByLabel('New name').fill('people');
    await dialog.getByText('Everything is restored').waitFor();
    await dialog.getByLabel('Reason', { exact: true }).fill('They are still here');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    await dialog.getByRole('link', { name: 'people' }).click();
    await page.getByRole('heading', { name: 'people' }).waitFor();
    expect(await app.api.sql('select name from people order by id')).to.deep.equal([
      { name: 'Ada' },
      { name: 'Grace' },
    ]);
    await page.getByRole('tab', { name: 'History' }).click();
    const back = page.getByRole('listitem').filter({ hasText: 'They are still here' }).first();
    await back.getByText('restored').first().waitFor();
    await back.getByRole('link', { name: 'Show the whole change' }).click();
    const changes = page.getByRole('listitem').filter({ hasText: 'collection people' }).last();
    await changes.getByText('restored').waitFor();
    await page.getByRole('listitem').filter({ hasText: 'field people.name' }).last().getByText('restored').waitFor();
  });

  it('reports after an apply that deleted data is not in the trash', async () => {
    await build('parents', [field('name')]);
    const { headers } = await app.client('/fields/parents', json(field('extra')));
    // More rows than a change copies into the trash.
    await app.api.sql('insert into parents select from generate_series(1, 100001)');
    const page = await app.visit({ path: `/review?to=${Number(headers.get('x-log-position')) - 1}` });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('button', { name: 'Delete data: extra' }).click();
    const lost = 'Some data is permanently deleted: the trash could not keep it, or its rows no longer exist.';
    await page.getByRole('alert').getByText(lost).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Open the schema' }).click();
    await page.getByRole('status', { name: 'Last change' }).getByText(lost).waitFor();
  });

  it('restores a table without a foreign key that its rows no longer fit', async () => {
    app.mayComplain(/status of 4\d\d/);
    await build('vendors');
    await build('offers', [field('vendor', 'integer')]);
    const relation = { collection: 'offers', field: 'vendor', related_collection: 'vendors' };
    expect((await app.client('/relations', json(relation))).status).to.equal(200);
    await app.api.sql('insert into vendors default values; insert into offers (vendor) values (1)');
    await remove('/collections/offers');
    await app.api.sql('delete from vendors');
    const page = await app.visit({ path });
    await page.getByRole('button', { name: 'Restore offers' }).click();
    const dialog = page.getByRole('dialog', { name: 'Restore offers' });
    await dialog.getByText('1 row has no referenced row').first().waitFor();
    await dialog.getByLabel('Skip these foreign keys').click();
    await page.getByRole('option', { name: 'offers_vendor_foreign' }).click();
    await page.keyboard.press('Escape');
    await page.getByText('Not restored', { exact: true }).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click();
    // Shown after the table is restored. The preview already names the foreign key.
    await dialog.getByRole('link', { name: 'offers' }).waitFor();
    await dialog
      .getByText(/offers\.vendor/)
      .first()
      .waitFor();
    expect(await app.api.sql('select vendor from offers')).to.deep.equal([{ vendor: 1 }]);
  });

  it('restores a field, and purges only after its name is typed', async () => {
    await build('notes', [field('text'), field('author')]);
    await app.api.sql(`insert into notes (text, author) values ('one', 'Ada')`);
    await remove('/fields/notes/author');
    await remove('/fields/notes/text');
    const page = await app.visit({ path });
    await page.getByRole('button', { name: 'Restore notes.author' }).click();
    await page.getByText('1 value is restored').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await app.api.sql('select author from notes')).to.deep.equal([{ author: 'Ada' }]);

    await page.getByRole('button', { name: 'Purge notes.text' }).click();
    const dialog = page.getByRole('dialog', { name: 'Purge notes.text' });
    const button = dialog.getByRole('button', { name: 'Delete permanently' });
    await dialog.getByRole('textbox', { name: /^Type/ }).fill('notes');
    expect(await button.isDisabled()).to.equal(true);
    await dialog.getByRole('textbox', { name: /^Type/ }).fill('notes.text');
    await expectAccessible(page);
    await button.click();
    await page.getByRole('button', { name: 'Purge notes.text' }).waitFor({ state: 'hidden' });
    expect(await app.api.events(0)).to.include('trash.purged notes.text');
  });

  it('lets auditors read it, but restore nothing', async () => {
    await build('seen');
    await remove('/collections/seen');
    const page = await app.visit({ path, as: await app.user('auditor'), narrow: true, dark: true });
    await page.getByText('seen', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^(Restore|Purge)/ }).count()).to.equal(0);
    await expectAccessible(page);
    await expectFits(page);
  });
});
