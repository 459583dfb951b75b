import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { withApp, expectAccessibleInEachLook } from '../support/app.js';
import { json } from '../support/client.js';

/** PostgreSQL would truncate the names of the foreign keys of its fields. */
const POSTS = 'posts_and_whatever_else_people_write_and_others_want_to_read';
const HOSTILE = '<img src=x onerror=alert(1)>';

describe('editing in the admin app', () => {
  const app = withApp();

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };
  const read = async (path: string) => {
    const { status, text } = await app.client(path);
    expect(status, text).to.equal(200);
    return (JSON.parse(text) as { data: Record<string, unknown> }).data as {
      type?: string;
      meta: Record<string, unknown>;
      schema: Record<string, unknown> | null;
    };
  };
  const column = (name: string, type: string) => ({ field: name, type, interface: 'input' });

  before(async () => {
    await send('/collections', [
      { collection: 'people', schema: {}, fields: [column('name', 'string')] },
      { collection: 'tags', schema: {}, fields: [column('word', 'string')] },
      {
        collection: 'articles',
        schema: {},
        note: HOSTILE,
        fields: [column('title', 'string'), column('text', 'text'), column('author', 'integer')],
      },
    ]);
  });

  const keep = async (page: Page, button = 'Save to draft') => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  /** @param isLost whether data is lost, which the review then asks about */
  const apply = async (page: Page, isLost = false) => {
    const draft = page.getByRole('region', { name: 'Draft' });
    await draft.getByRole('link', { name: 'Review' }).click();
    // The draft, its review and the applied change show the same number.
    const count = await draft.getByRole('status').innerText();
    await page.getByRole('navigation', { name: 'Changed collections' }).getByText(count).waitFor();
    await page.getByRole('button', { name: /^Apply(: delete .*)?$/ }).click();
    if (isLost) await page.getByRole('button', { name: /^Delete data: / }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    await page.getByText(count, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Draft' }).waitFor({ state: 'detached' });
  };
  const menu = async (page: Page, source: string, item: string) => {
    await page.getByRole('button', { name: `Actions for ${source}` }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };

  it('creates a collection with a key, suggested fields and a custom field, up to the table', async () => {
    const page = await app.visit({ path: '/new' });
    await page.getByLabel('Name', { exact: true }).fill('people');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByText('Field "people" already exists.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('events');
    await page.getByText('UUID', { exact: true }).click();
    await page.getByLabel('Status').check();
    const types = page.getByLabel('Type of field 1').getByRole('option');
    await types.filter({ hasText: 'text – text of any length' }).waitFor({ state: 'attached' });
    await page.getByLabel('Name of field 1').fill('seats');
    await page.getByLabel('Type of field 1').selectOption('integer');
    await page.getByLabel('Name of field 2').fill('id');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByText('Field "id" already exists.').waitFor();
    await page.getByLabel('Name of field 2').fill('');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('heading', { name: 'events' }).waitFor();
    await page.getByRole('button', { name: 'New field' }).click();
    await page.getByLabel('Name', { exact: true }).fill('price');
    await page.getByLabel('Type', { exact: true }).selectOption('decimal');
    await page.getByRole('combobox', { name: 'Default' }).fill('1.5');
    await page.getByText('"price" numeric(10, 5) DEFAULT 1.5').waitFor();
    await keep(page);
    await page.getByRole('row', { name: /^price/ }).waitFor();
    await page.reload();
    await page.getByText('1 change in 1 collection').waitFor();
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('article', { name: 'field events.price' }).waitFor();
    const fields = await page.getByRole('article', { name: /^field events\./ }).all();
    const names = await Promise.all(fields.map((each) => each.getAttribute('aria-label')));
    expect(names.map((name) => name?.split('.')[1])).to.deep.equal(['id', 'seats', 'status', 'price']);
    await page.goBack();
    await apply(page);
    expect((await read('/collections/events')).meta).to.include({ archive_field: 'status', archive_value: 'archived' });
    expect((await read('/fields/events/price')).schema).to.include({ default_value: 1.5, numeric_precision: 10 });
    expect((await read('/fields/events/id')).schema).to.include({ data_type: 'uuid', is_primary_key: true });
    expect((await read('/fields/events/seats')).schema).to.include({ data_type: 'integer', is_nullable: true });
  });

  it('edits all metadata of a collection, with the checks and messages of the service', async () => {
    const page = await app.visit({ path: '/collections/tags' });
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Icon' }).fill('label');
    await page.getByRole('option', { name: 'label', exact: true }).click();
    await dialog.getByLabel('Note').fill(`All of them ${HOSTILE}`);
    await dialog.getByRole('button', { name: 'Add a language' }).click();
    await dialog.getByLabel('Language', { exact: true }).fill('de-DE');
    await dialog.getByLabel('Name in de-DE').fill('Schlagwörter');
    await dialog.getByRole('button', { name: 'Items' }).click();
    await dialog.getByLabel('Singleton (one item only)').check();
    await dialog.getByRole('button', { name: 'Table' }).click();
    await dialog.getByLabel('Comment in the database').fill('tags of articles');
    await keep(page);
    await page.getByText(`All of them ${HOSTILE}`).waitFor();
    await apply(page);
    const { meta, schema } = await read('/collections/tags');
    expect(meta).to.deep.include({
      icon: 'label',
      singleton: true,
      translations: [{ language: 'de-DE', translation: 'Schlagwörter' }],
    });
    expect(schema).to.include({ comment: 'tags of articles' });
  });

  it('changes a field, shows the service’s error at its input, and discards a single edit', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path: '/collections/articles' });
    await menu(page, 'title', 'Edit …');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Max length').fill('99999999');
    await dialog.getByRole('button', { name: 'Save to draft' }).click();
    await dialog.getByText(/max_length must be/).waitFor();
    await dialog.getByLabel('Max length').fill('380');
    await dialog.getByLabel('Nullable').uncheck();
    await dialog.getByRole('button', { name: 'Rules' }).click();
    await dialog.getByLabel('Required in forms').check();
    await dialog.getByLabel('Validation', { exact: true }).fill('{"title": ');
    await dialog.getByRole('button', { name: 'Save to draft' }).click();
    await dialog.getByText('validation must be an array, an object or null').waitFor();
    await dialog.getByLabel('Validation', { exact: true }).fill('{"title": {"_nnull": true}}');
    await keep(page);
    await page
      .getByRole('row', { name: /^title/ })
      .getByText('changed')
      .waitFor();
    await menu(page, 'text', 'Edit …');
    await page.getByLabel('Type', { exact: true }).selectOption('json');
    await keep(page);
    await menu(page, 'text', 'Discard changes');
    await page.getByText('1 change in 1 collection').waitFor();
    await apply(page);
    const { meta, schema } = await read('/fields/articles/title');
    expect(schema).to.include({ max_length: 380, is_nullable: false });
    expect(meta).to.deep.include({ required: true, validation: { title: { _nnull: true } } });
  });

  it('creates a many-to-one with its other side, and a many-to-many with its junction, in one step each', async () => {
    const page = await app.visit({ path: '/collections/articles' });
    await page.getByRole('button', { name: 'New relation' }).click();
    await page.getByLabel('Related collection', { exact: true }).selectOption('people');
    await page.getByLabel('Field name').fill('author');
    await page.getByLabel('Reverse field in people').fill('articles');
    await keep(page);
    await page.getByRole('button', { name: 'New relation' }).click();
    await page.getByText('Many to many').click();
    await page.getByLabel('Related collection', { exact: true }).selectOption('tags');
    await page.getByLabel('Reverse field').fill('articles');
    await keep(page);
    await apply(page);
    expect(await read('/relations/articles/author')).to.include({ one_collection: 'people', one_field: 'articles' });
    expect(await read('/relations/articles_tags/tags_id')).to.include({ junction_field: 'articles_id' });
    expect((await read('/fields/articles/tags')).type).to.equal('alias');
    expect((await read('/fields/tags/articles')).type).to.equal('alias');
  });

  it('creates a one-to-many and a many-to-any, and changes the actions of a foreign key', async () => {
    const page = await app.visit({ path: '/collections/people' });
    await page.getByRole('button', { name: 'New relation' }).click();
    await page.getByText('One to many').click();
    await page.getByLabel('Related collection', { exact: true }).selectOption('tags');
    await keep(page);
    await page.getByRole('button', { name: 'New relation' }).click();
    await page.getByText('Many to any').click();
    await page.getByRole('checkbox', { name: 'articles', exact: true }).check();
    await page.getByRole('checkbox', { name: 'tags', exact: true }).check();
    await page.getByLabel('Field name').fill('parts');
    await keep(page);
    await page.goto('/app/collections/articles?tab=relations');
    await menu(page, 'articles.author', 'Edit …');
    await page.getByLabel('On delete').selectOption('CASCADE');
    await keep(page);
    await apply(page);
    expect(await read('/relations/tags/people')).to.include({ one_collection: 'people', one_field: 'tags' });
    expect(await read('/relations/people_items/item')).to.deep.include({
      one_allowed_collections: ['articles', 'tags'],
      one_collection_field: 'collection',
    });
    expect((await read('/relations/articles/author')).schema).to.include({ on_delete: 'CASCADE' });
  });

  it('renames, and names dependents before it deletes with them', async () => {
    const page = await app.visit({ path: '/collections/articles' });
    await menu(page, 'text', 'Rename …');
    await page.getByLabel('New name of text').fill('body');
    await keep(page);
    await menu(page, 'author', 'Delete …');
    await page.getByText('relation articles.author is deleted').waitFor();
    await page.getByText('field people.articles is deleted').waitFor();
    await keep(page, 'Save deletion to draft');
    await page.getByRole('button', { name: 'More actions for articles' }).click();
    await page.getByRole('menuitem', { name: 'Rename …' }).click();
    await page.getByLabel('New name of articles').fill(POSTS);
    await keep(page);
    await page.getByRole('heading', { name: POSTS }).waitFor();
    await apply(page, true);
    expect((await read(`/fields/${POSTS}/body`)).type).to.equal('text');
    expect((await app.client(`/fields/${POSTS}/author`)).status).to.equal(404);
    expect((await app.client('/fields/people/articles')).status).to.equal(404);
    await page.goto('/app/collections/events?edit=delete');
    await keep(page, 'Save deletion to draft');
    await page.getByText('1 change in 1 collection').waitFor();
    await apply(page);
    expect((await app.client('/collections/events')).status).to.equal(404);
  });

  it('is accessible and fits a wide light and a narrow dark window', async function () {
    this.timeout(360_000);
    const page = await app.visit({ path: '/new' });
    await page.getByLabel('Primary key field').waitFor();
    await expectAccessibleInEachLook(page);
    for (const edit of ['collection', 'new-field', 'new-relation', 'field&of=title', 'rename', 'delete']) {
      await page.goto(`/app/collections/${POSTS}?edit=${edit}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor();
      await expectAccessibleInEachLook(page);
    }
  });
});
