import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

const ISOLATED = Array.from({ length: 20 }, (_, index) => `alone_${index}`);
interface Box {
  name: string;
  left: number;
  right: number;
}

const BOXES = `[...document.querySelectorAll('.react-flow__node')].map((node) => {
  const { left, right } = node.getBoundingClientRect();
  return { name: node.dataset.id, left, right };
})`;

/** The tables that are not completely in view. */
const OUTSIDE = `(() => {
  const view = document.querySelector('.react-flow').getBoundingClientRect();
  return [...document.querySelectorAll('.react-flow__node')].flatMap((node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const isInside = left >= view.left && right <= view.right && top >= view.top && bottom <= view.bottom;
    return isInside ? [] : [node.dataset.id];
  });
})()`;

const HOSTILE = 'a "quoted" name';

describe('the diagram of the admin app', () => {
  const app = withApp();

  before(async () => {
    const column = (field: string, type = 'string') => ({ field, type, interface: 'input', schema: {} });
    const collections = [
      { collection: 'shop', schema: null },
      { collection: 'orders', schema: {}, meta: { group: 'shop' }, fields: [column('customer', 'integer')] },
      { collection: 'customers', schema: {}, meta: { group: 'shop' } },
      { collection: HOSTILE, schema: {}, meta: { group: 'shop' }, fields: [column('odd name')] },
      ...ISOLATED.map((collection) => ({ collection, schema: {} })),
    ];
    const created = await app.client('/collections', json(collections));
    expect(created.status, created.text).to.equal(200);
    const relation = { collection: 'orders', field: 'customer', related_collection: 'customers' };
    expect((await app.client('/relations', json(relation))).status).to.equal(200);
  });

  const tables = (page: Page) => page.getByRole('region', { name: 'Diagram' }).locator('.react-flow__node');
  const save = async (page: Page, format: string) => {
    await page.getByRole('button', { name: 'Save the diagram' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: format, exact: true }).click(),
    ]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };

  it('opens with all tables in view, and those without relations next to the others', async () => {
    const page = await app.visit();
    await tables(page).first().waitFor();
    await until('all tables are drawn', async () => (await tables(page).count()) === ISOLATED.length + 3);
    // The view moves once the tables have their sizes.
    await until('all tables are in view', async () => (await page.evaluate<string[]>(OUTSIDE)).length === 0);
    const boxes = await page.evaluate<Box[]>(BOXES);
    const linked = boxes.filter(({ name }) => name === 'orders' || name === 'customers');
    const alone = boxes.filter(({ name }) => name.startsWith('alone_'));
    expect(Math.min(...alone.map(({ left }) => left))).to.be.above(Math.max(...linked.map(({ right }) => right)));
  });

  it('has an overview that moves the view while tables are outside it, except on a phone', async () => {
    const page = await app.visit();
    await tables(page).first().waitFor();
    const overview = page.locator('.react-flow__minimap');
    await until('all tables are in view', async () => (await page.evaluate<string[]>(OUTSIDE)).length === 0);
    await overview.waitFor({ state: 'hidden' });
    for (let step = 0; step < 4; step++) await page.getByRole('button', { name: 'Zoom in' }).click();
    await overview.waitFor();
    const transform = () => page.locator('.react-flow__viewport').getAttribute('style');
    const before = await transform();
    const box = await overview.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 60);
    await page.mouse.wheel(0, -400);
    await until('the view has moved', async () => (await transform()) !== before);
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await overview.waitFor({ state: 'hidden' });
    await expectFits(page);
  });

  it('is saved as SVG, PNG and Mermaid', async () => {
    const page = await app.visit({ path: '/?depth=columns' });
    await tables(page).first().waitFor();
    const svg = await save(page, 'SVG');
    expect(svg.name).to.equal('schema.svg');
    const [, width = ''] = /<svg [^>]*width="(\d+)"/.exec(svg.bytes.toString()) ?? [];
    const png = await save(page, 'PNG');
    expect(png.name).to.equal('schema.png');
    expect(png.bytes.subarray(1, 4).toString()).to.equal('PNG');
    expect(png.bytes.readUInt32BE(16), 'width').to.equal(Math.min(8_192, 2 * Number(width)));
    const mermaid = await save(page, 'Mermaid');
    expect(mermaid.name).to.equal('schema.mmd');
    const text = mermaid.bytes.toString();
    expect(text).to.include('  "orders" }o--|| "customers" : "customer"');
    expect(text).to.include('    integer customer FK');
    expect(text).to.include('    string odd_name "odd name"');
    expect(text).to.include(`  "a 'quoted' name" {`);
    expect(app.complaints()).to.deep.equal([]);
  });

  it('can be arranged with the mouse or the keyboard, for each user and view', async () => {
    const login = await app.user('reader');
    const page = await app.visit({ as: login });
    const table = page.locator('.react-flow__node[data-id="customers"]');
    const placeOf = () =>
      page.evaluate<string>(`document.querySelector('.react-flow__node[data-id="customers"]').style.transform`);
    const saved = () => page.waitForResponse((answer) => answer.request().method() === 'PUT');
    const automatic = page.getByRole('button', { name: 'Arrange automatically' });
    await table.waitFor();
    await until('all tables are in view', async () => (await page.evaluate<string[]>(OUTSIDE)).length === 0);
    const first = await placeOf();
    expect(await automatic.count()).to.equal(0);

    const box = await table.boundingBox();
    const [x, y] = [(box?.x ?? 0) + 20, (box?.y ?? 0) + 8];
    const dropped = saved();
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 30, y + 120, { steps: 5 });
    await page.mouse.up();
    expect((await dropped).status()).to.equal(200);
    const second = await placeOf();
    expect(second).not.to.equal(first);

    await page.goto('/app/?c=customers');
    await table.waitFor();
    expect(await placeOf()).to.equal(second);
    const pressed = saved();
    await table.focus();
    await page.keyboard.press('ArrowDown');
    expect((await pressed).status()).to.equal(200);
    const third = await placeOf();
    expect(third).not.to.equal(second);
    await expectAccessible(page);

    // Another browser of the same user, on a phone.
    const phone = await app.visit({ as: login, narrow: true });
    await phone.getByText('Diagram', { exact: true }).click();
    await phone.locator('.react-flow__node[data-id="customers"]').waitFor();
    const there = `document.querySelector('.react-flow__node[data-id="customers"]').style.transform`;
    expect(await phone.evaluate<string>(there)).to.equal(third);
    await expectFits(phone);
    const admin = await app.visit();
    await admin.locator('.react-flow__node[data-id="customers"]').waitFor();
    expect(await admin.evaluate<string>(there)).to.equal(first);

    const reset = saved();
    await automatic.click();
    expect((await reset).status()).to.equal(200);
    await automatic.waitFor({ state: 'detached' });
    expect(await placeOf()).to.equal(first);
  });

  it('draws the pending changes of the draft with marks, a legend and the same marks in files', async () => {
    const page = await app.visit({ path: '/new' });
    const form = async (path: string, name: string, button: string) => {
      if (path !== '') await page.goto(`/app${path}`);
      if (name !== '') await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByRole('button', { name: button }).click();
    };
    await form('', 'invoices', 'Save to draft');
    await page.getByRole('heading', { name: 'invoices' }).waitFor();
    await form('/collections/customers?edit=new-field', 'vip', 'Save to draft');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await form('/collections/alone_0?edit=delete', '', 'Save deletion to draft');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto('/app/?depth=columns&c=invoices');
    await page.getByRole('complementary', { name: 'About invoices' }).getByText('1 field').waitFor();
    // Without a selected table, all tables are in view. Others are not drawn.
    await page.goto('/app/?depth=columns');
    const table = (label: string) => page.getByRole('group', { name: label, exact: true });
    await table('Table invoices, new').waitFor();
    await table('Table alone_0, deleted').waitFor();
    await table('Table customers, changed').getByText('vip').waitFor();
    await table('Table orders').waitFor();
    await page.getByRole('list', { name: 'Pending changes:' }).waitFor();
    await expectAccessible(page);
    const mermaid = (await save(page, 'Mermaid')).bytes.toString();
    expect(mermaid).to.include('  "invoices"["invoices, new"] {').and.include('    string vip "vip, new"');
    const svg = (await save(page, 'SVG')).bytes.toString();
    expect(svg).to.include('<title>Schema with pending changes</title>').and.include('>+ vip</text>');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Yes, discard all' }).click();
    await table('Table customers').waitFor();
    await until('the new table is no longer drawn', async () => (await table('Table invoices, new').count()) === 0);
  });

  it('shows the tables of one folder', async () => {
    const page = await app.visit({ path: '/?c=shop' });
    await page.getByRole('button', { name: 'Show only this folder' }).click();
    await until('only three tables are drawn', async () => (await tables(page).count()) === 3);
    expect(new URL(page.url()).searchParams.get('folder')).to.equal('shop');
    await page.getByRole('button', { name: 'Folder shop: show all folders' }).click();
    await until('all tables are drawn', async () => (await tables(page).count()) === ISOLATED.length + 3);
  });
});

describe('the diagram of more than 300 tables', () => {
  const app = withApp();

  before(async () => {
    const many = (group: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ collection: `${group}_${index}`, schema: {}, meta: { group } }));
    const folders = ['north', 'south'].map((collection) => ({ collection, schema: null }));
    for (const collections of [folders, many('north', 150), many('south', 151)]) {
      const { status, text } = await app.client('/collections', json(collections));
      expect(status, text).to.equal(200);
    }
  });

  it('offers a folder to start with', async () => {
    const page = await app.visit();
    await page.getByText('The diagram cannot show 301 tables').waitFor();
    await page.getByRole('list', { name: 'Folders' }).getByRole('button', { name: 'south: 151 tables' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'north: 150 tables' }).click();
    await page.locator('.react-flow__node').first().waitFor();
    await page.getByRole('button', { name: 'Folder north: show all folders' }).click();
    await page.getByText('The diagram cannot show 301 tables').waitFor();
  });
});
