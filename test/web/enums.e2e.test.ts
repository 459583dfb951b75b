/** The values of an enum are edited in a form: those that tables need in the draft, and those of an object on its page. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectCount, expectFits, withApp } from '../support/app.js';

const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name });

describe('the values of enums in the admin app', () => {
  const app = withApp();

  before(async () => {
    await app.api.sql(`CREATE TYPE mood AS ENUM ('sad', 'it''s ok');
      CREATE TABLE people (id int PRIMARY KEY, feels mood); CREATE TABLE teams (id int PRIMARY KEY, spirit mood[])`);
    await app.api.ok('POST', '/schema/adopt', { all: true });
  });

  it('gets new values at any position, in all tables that use the type', async () => {
    const page = await app.visit({ path: '/collections/people?edit=field&of=feels', narrow: true });
    const form = dialogOf(page, 'people.feels');
    await form.getByText('The type changes in all of these collections: people, teams.').waitFor();
    expect(await form.getByLabel('Value 1', { exact: true }).getAttribute('readonly')).to.equal('');
    await expectCount(form.getByRole('button', { name: 'Remove value sad' }), 0);
    await form.getByRole('button', { name: 'Add value' }).click();
    await form.getByRole('button', { name: 'Save to draft', exact: true }).click();
    await form.getByText('Enter each value.').waitFor();
    await form.getByLabel('Value 3', { exact: true }).fill('happy');
    await form.getByRole('button', { name: 'Move value happy up' }).click();
    await page.keyboard.press('Enter');
    await form.getByRole('button', { name: 'Move value happy up' }).and(page.locator('[aria-disabled]')).waitFor();
    expect(await form.getByLabel('Value 1', { exact: true }).inputValue()).to.equal('happy');
    await expectFits(page);
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Save to draft', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /^feels/ })
      .getByText("happy, sad, it's ok")
      .waitFor();
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('article', { name: 'collection teams' }).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const [row] = await app.api.sql<{ all: string }>('SELECT enum_range(NULL::mood)::text AS all');
    expect(row?.all).to.equal(`{happy,sad,"it's ok"}`);
    expect(await app.api.ok('GET', '/schema/drift')).to.have.property('ok', true);
  });
});

describe('the values of enums that are objects in the admin app', () => {
  const app = withApp({ settings: { OBJECTS: 'on' } });

  before(async () => {
    await app.api.ok('POST', '/objects', { kind: 'type', definition: "CREATE TYPE mood AS ENUM ('sad', 'it''s ok')" });
    const fields = [{ field: 'feels', type: 'unknown', interface: 'input', schema: { data_type: 'mood' } }];
    await app.api.ok('POST', '/collections', { collection: 'people', schema: {}, fields });
    await app.api.ok('POST', '/objects', { kind: 'type', definition: "CREATE TYPE size AS ENUM ('s', 'm', 'l')" });
  });

  const labels = async (type: string) =>
    (await app.api.sql<{ all: string }>(`SELECT enum_range(NULL::${type})::text AS all`))[0]?.all;

  const apply = async (page: Page) => {
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
  };

  it('are renamed or extended if columns use the type, from the form of such a column', async () => {
    const page = await app.visit({ path: '/collections/people?edit=field&of=feels' });
    await dialogOf(page, 'people.feels').getByText("sad, it's ok").waitFor();
    await dialogOf(page, 'people.feels').getByRole('link', { name: 'Edit the values of mood' }).click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('region', { name: 'Edit mood' });
    await form.getByText('Columns use this type.').waitFor();
    await form.getByRole('button', { name: 'Remove value sad' }).waitFor();
    await form.getByLabel('Value 1', { exact: true }).fill('blue');
    await expectCount(form.getByRole('button', { name: 'Add value' }), 0);
    await expectCount(form.getByRole('button', { name: /^Remove value/ }), 0);
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Save to draft' }).click();
    await form.waitFor({ state: 'detached' });
    // A second edit of the draft renames values, too.
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await expectCount(form.getByRole('button', { name: 'Add value' }), 0);
    await form.getByRole('button', { name: 'Cancel' }).click();
    await apply(page);
    expect(await labels('mood')).to.equal(`{blue,"it's ok"}`);
    await page.goto('/app/objects?kind=type&id=mood');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await form.getByRole('button', { name: 'Add value' }).click();
    await form.getByLabel('Value 3', { exact: true }).fill('blue');
    await form.getByRole('button', { name: 'Move value blue up' }).last().click();
    await form.getByLabel('Value 2', { exact: true }).fill('so so');
    await form.getByRole('button', { name: 'Save to draft' }).click();
    await form.waitFor({ state: 'detached' });
    await apply(page);
    expect(await labels('mood')).to.equal(`{blue,"so so","it's ok"}`);
  });

  it('are moved and removed if columns use the type', async () => {
    const page = await app.visit({ path: '/objects?kind=type&id=mood' });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('region', { name: 'Edit mood' });
    await form.getByRole('button', { name: 'Remove value so so' }).click();
    await form.getByRole('button', { name: "Move value it's ok up" }).click();
    await expectCount(form.getByRole('button', { name: 'Add value' }), 0);
    await form.getByRole('button', { name: 'Save to draft' }).click();
    await form.waitFor({ state: 'detached' });
    await apply(page);
    expect(await labels('mood')).to.equal(`{"it's ok",blue}`);
  });

  it('change in any way if no column uses the type', async () => {
    const page = await app.visit({ path: '/objects?kind=type&id=size' });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('region', { name: 'Edit size' });
    await form.getByText('No column uses this type.').waitFor();
    await form.getByRole('button', { name: 'Remove value m' }).click();
    await form.getByRole('button', { name: 'Move value s down' }).click();
    await form.getByRole('button', { name: 'Save to draft' }).click();
    await form.waitFor({ state: 'detached' });
    await apply(page);
    expect(await labels('size')).to.equal('{l,s}');
    await page.goto('/app/objects?kind=type&id=size');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await form.getByLabel('Edit as SQL').click();
    expect(await form.getByLabel('Definition').inputValue()).to.equal("CREATE TYPE size AS ENUM ('l', 's')");
  });

  it('become the values of an existing text column', async () => {
    const note = { field: 'note', type: 'string', interface: 'input', schema: {} };
    await app.api.ok('POST', '/fields/people', note);
    const page = await app.visit({ path: '/collections/people?edit=field&of=note' });
    const form = dialogOf(page, 'people.note');
    await form.getByLabel('Type', { exact: true }).selectOption({ label: 'size' });
    await form.getByRole('button', { name: 'Save to draft', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await apply(page);
    const { data } = await app.api.ok<{ data: { schema: { data_type: string } } }>('GET', '/fields/people/note');
    expect(data.schema.data_type).to.equal('size');
  });
});
