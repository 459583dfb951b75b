import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Download, Page } from 'playwright-core';
import { expectAccessible, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string, type = 'string') => ({ field: name, type, interface: 'input' });

const DIRECTUS = `version: 1
directus: 11.1.0
vendor: mysql
collections:
  - collection: posts
    meta: { note: What we write }
    schema: { name: posts }
fields:
  - { collection: posts, field: id, type: integer, meta: null, schema: { data_type: int, is_primary_key: true, has_auto_increment: true } }
  - { collection: posts, field: author, type: uuid, meta: { interface: select-dropdown-m2o }, schema: { data_type: char, max_length: 36 } }
relations:
  - collection: posts
    field: author
    related_collection: directus_users
    meta: { many_collection: posts, many_field: author, one_collection: directus_users }
    schema: { on_delete: SET NULL }
systemFields:
  - { collection: directus_activity, field: timestamp, schema: { is_indexed: true } }
`;

/** Two collections with a relation, and a third. */
function snapshotOfShop(): object {
  const names = ['shop_orders', 'shop_people', 'shop_notes'];
  const key = { data_type: 'integer', is_primary_key: true, has_auto_increment: true, is_nullable: false };
  const buyer = {
    collection: 'shop_orders',
    field: 'buyer',
    type: 'integer',
    meta: {},
    schema: { data_type: 'integer' },
  };
  const ends = { many_collection: 'shop_orders', many_field: 'buyer', one_collection: 'shop_people' };
  return {
    version: 1,
    service: '0.1.0',
    vendor: 'postgres',
    collections: names.map((collection) => ({ collection, meta: {}, schema: {} })),
    fields: [
      ...names.map((collection) => ({ collection, field: 'id', type: 'integer', meta: {}, schema: key })),
      buyer,
    ],
    relations: [
      {
        collection: 'shop_orders',
        field: 'buyer',
        related_collection: 'shop_people',
        meta: ends,
        schema: { on_delete: 'SET NULL' },
      },
    ],
  };
}

describe('snapshots in the admin app', () => {
  const app = withApp();

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };
  const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true });
  const choose = (page: Page, name: string, text: string) =>
    page.getByLabel('Snapshot file').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  const textOf = async (download: Download) => readFileSync(await download.path(), 'utf8');

  it('are applied to an empty service, in the format of Directus too', async () => {
    const page = await app.visit();
    await page.getByRole('link', { name: 'Choose file' }).click();
    await choose(page, 'directus.yaml', DIRECTUS);
    await page.getByText('Directus 11.1.0 snapshot.').waitFor();
    await page
      .locator('code', { hasText: /^bigInteger$/ })
      .first()
      .waitFor();
    await card(page, 'collection posts').getByText('a table with 2 fields').waitFor();
    await page.getByText('SYSTEM_FIELDS_LEFT_OUT').waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true, disabled: false }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await card(page, 'collection posts').waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect((await app.client('/fields/posts/author')).status).to.equal(200);
    await page.goBack();
    await page.getByText('No changes: the schema already matches.').waitFor();
  });

  it('keep every adopted collection if they come from Directus, and delete only what the user requests', async () => {
    const tables = ['legacy_orders', 'legacy_people', 'legacy_places'];
    for (const table of tables)
      await app.api.sql(`CREATE TABLE ${table} (id int PRIMARY KEY); INSERT INTO ${table} VALUES (1)`);
    await send('/schema/adopt', { all: true });
    const page = await app.visit({ path: '/review?bring=true' });
    await choose(page, 'directus.yaml', DIRECTUS.replaceAll('posts', 'stories'));
    await card(page, 'collection stories').waitFor();
    for (const table of tables) expect(await card(page, `collection ${table}`).count()).to.equal(0);
    // The page names the number before and after the choice.
    const [lacking = ''] = /\d+ collections/.exec(await page.getByText(/^The file lacks \d+/).innerText()) ?? [];
    await page.getByRole('switch', { name: 'Delete what is missing from the file' }).click();
    await card(page, 'collection legacy_orders').waitFor();
    await page.getByRole('button', { name: `Apply: delete ${lacking}` }).waitFor();
    await page.getByRole('switch', { name: 'Delete what is missing from the file', checked: true }).click();
    await card(page, 'collection legacy_orders').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Apply', exact: true, disabled: false }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    for (const table of tables) {
      expect((await app.client(`/collections/${table}`)).status).to.equal(200);
      expect(await app.api.sql(`SELECT id FROM ${table}`)).to.deep.equal([{ id: 1 }]);
    }
    for (const table of [...tables, 'stories'])
      expect((await app.client(`/collections/${table}?purge`, { method: 'DELETE' })).status).to.equal(204);
  });

  it('are pasted, keep missing collections if requested, and show the service’s errors', async () => {
    app.mayComplain(/status of 400/);
    await send('/collections', { collection: 'kept', schema: {}, fields: [field('name')] });
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').fill('import');
    await page.getByRole('dialog', { name: 'Search' }).getByText('Import a snapshot').click();
    await page.getByRole('button', { name: 'Paste text' }).click();
    const paste = async (text: string) => {
      await page.getByRole('textbox', { name: 'Snapshot text' }).fill(text);
      await page.getByRole('button', { name: 'Compare' }).click();
    };
    await expectAccessible(page);
    await paste(
      '{"version": 1, "service": "0.1.0", "vendor": "postgres", "collections": [{"collection": "kept", "meta": {"note": "pasted", "icon": 7}}]}',
    );
    await page.getByRole('alert').filter({ hasText: 'icon' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Paste text' }).click();
    await paste(
      '{"version": 1, "service": "0.1.0", "vendor": "postgres", "collections": [{"collection": "kept", "meta": {"note": "pasted"}}]}',
    );
    await card(page, 'collection kept').getByText('Set the note of kept to “pasted”').waitFor();
    expect(await card(page, 'collection posts').count()).to.equal(0);
    await page.getByRole('switch', { name: 'Delete what is missing from the file' }).click();
    await card(page, 'collection posts').getByText('with its fields and rows').waitFor();
    await page.getByRole('heading', { name: /deletes 1 collection$/ }).waitFor();
    await page.getByRole('button', { name: 'Apply: delete 1 collection' }).waitFor();
    expect(new URL(page.url()).search).to.include('mirror=true');
  });

  it('import the other collections when one of them has an error', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path: '/review?bring=true' });
    const collections = [
      { collection: 'kept', meta: { note: 'imported' } },
      { collection: 'posts', schema: null },
      { collection: 'extra', schema: {} },
    ];
    await choose(
      page,
      'staging.json',
      JSON.stringify({ version: 1, service: '0.1.0', vendor: 'postgres', collections }),
    );
    await page.getByRole('button', { name: 'Import without “posts”' }).click();
    await card(page, 'collection extra').waitFor();
    await card(page, 'collection kept').getByText('Set the note of kept to “imported”').waitFor();
    await page.getByText('Not imported: posts.').waitFor();
    await page.getByRole('switch', { name: 'Delete what is missing from the file' }).click();
    await page.getByRole('switch', { name: 'Delete what is missing from the file', checked: true }).waitFor();
    await card(page, 'collection extra').waitFor();
    expect(await card(page, 'collection posts').count()).to.equal(0);
    await page.getByRole('button', { name: 'Import all collections' }).click();
    await page.getByRole('button', { name: 'Import without “posts”' }).waitFor();
  });

  it('exclude collections, and import others under new names with their relations', async () => {
    const page = await app.visit({ path: '/review?bring=true' });
    await choose(page, 'staging.json', JSON.stringify(snapshotOfShop()));
    await card(page, 'collection shop_orders').waitFor();
    await page.getByRole('button', { name: 'Choose or rename collections' }).click();
    const dialog = page.getByRole('dialog', { name: 'Collections of the file' });
    await dialog.getByRole('checkbox', { name: 'Import shop_notes' }).uncheck();
    const name = dialog.getByRole('textbox', { name: 'Import shop_people as' });
    await name.fill('shop_orders');
    await dialog.getByText('Another collection of the file has this name.').first().waitFor();
    await name.fill('buyers');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Compare' }).click();
    await card(page, 'collection buyers').waitFor();
    await page.getByText('Not imported: shop_notes.').waitFor();
    await page.getByText('Imported under another name: shop_people as buyers.').waitFor();
    for (const gone of ['shop_notes', 'shop_people'])
      expect(await card(page, `collection ${gone}`).count(), gone).to.equal(0);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const relation = (await app.client('/relations/shop_orders/buyer')).json as { data: object };
    expect(relation.data).to.include({ related_collection: 'buyers' });
  });

  it('can be imported without an error if another release created them', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path: '/review?bring=true' });
    const collections = [{ collection: 'later', schema: {} }];
    const text = JSON.stringify({ version: 1, service: '99.0.0', vendor: 'postgres', collections });
    await choose(page, 'later.json', text);
    await page.getByText('Another release or product wrote this file.').waitFor();
    expect(await page.getByRole('alert').count()).to.equal(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Import anyway' }).click();
    await card(page, 'collection later').waitFor();
  });

  it('are dropped on the page', async () => {
    const page = await app.visit({ path: '/review?bring=true' });
    await page.getByText('Drop a snapshot here').waitFor();
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{"version": 1, "service": "0.1.0", "vendor": "postgres", "collections": [{"collection": "dropped", "schema": {}}]}'], 'staging.json'));
      return transfer;
    })()`);
    await page.getByText('Drop a snapshot here').dispatchEvent('drop', { dataTransfer: transfer });
    await page.getByRole('heading', { name: 'staging.json' }).waitFor();
    await card(page, 'collection dropped').waitFor();
  });

  it('are downloaded in every format, and the one for Directus can be imported again', async () => {
    await send('/collections', { collection: 'folder', schema: null });
    const page = await app.visit();
    const get = async (label: string | RegExp): Promise<[string, string]> => {
      await page.getByRole('button', { name: 'Snapshot' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: label }).click(),
      ]);
      return [download.suggestedFilename(), await textOf(download)];
    };
    const [name, first] = await get('JSON');
    expect(name).to.match(/^snapshot-.*\.json$/);
    expect(JSON.parse(first)).to.include({ version: 1, vendor: 'postgres' });
    expect((await get('YAML'))[1]).to.include('version: 1');
    expect((await get(/SQL/))[1]).to.include('CREATE TABLE');
    expect((await get('XML'))[1]).to.include('<?xml');
    expect((await get('CSV for spreadsheets'))[1]).to.include('kind');
    const [, exported] = await get('Directus snapshot');
    expect(exported).to.include('directus: 11.17.4').and.include('directus_users');
    await page.getByRole('button', { name: 'Snapshot' }).click();
    await page.getByRole('menuitem', { name: /Import a snapshot/ }).click();
    await choose(page, 'directus.yaml', exported);
    await page.getByText('Directus 11.17.4 snapshot.').waitFor();
    await page.getByText('No changes: the schema already matches.').waitFor();
  });

  it('are compared with another environment, and diff and SQL can be copied', async () => {
    const page = await app.visit({ path: '/review?bring=true' });
    await choose(
      page,
      'staging.yaml',
      'version: 1\nservice: 0.1.0\nvendor: postgres\ncollections:\n  - { collection: staged, schema: {}, meta: { note: from there } }\n',
    );
    await card(page, 'collection staged').waitFor();
    const get = async (label: string): Promise<string> => {
      await page.getByRole('button', { name: 'Download or copy' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: label, exact: true }).click(),
      ]);
      return textOf(download);
    };
    expect(JSON.parse(await get('Diff (JSON)'))).to.have.nested.property('diff.collections');
    expect(await get('Diff (YAML)')).to.include('collection: staged');
    expect(await get('SQL')).to.match(/^BEGIN;[^]*CREATE TABLE[^]*COMMIT;\n$/);
  });
});
