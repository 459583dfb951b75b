import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectCount, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input', schema: {} });

describe('two people who edit at the same time', () => {
  const app = withApp();

  before(async () => {
    const fields = [field('title'), field('text'), field('label')];
    const { status, text } = await app.client('/collections', json({ collection: 'articles', schema: {}, fields }));
    expect(status, text).to.equal(200);
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  const keep = async (page: Page) => {
    await button(page, 'Save to draft').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const review = (page: Page) =>
    page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
  const applied = async (page: Page) => {
    await button(page, 'Apply').click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
  };
  const edit = async (page: Page, name: string, then: (dialog: ReturnType<Page['getByRole']>) => Promise<void>) => {
    await button(page, `Actions for ${name}`).click();
    await page.getByRole('menuitem', { name: 'Edit …' }).click();
    await then(page.getByRole('dialog'));
    await keep(page);
  };
  const longest = (text: string) => (dialog: ReturnType<Page['getByRole']>) =>
    dialog.getByLabel('Max length').fill(text);
  const schemaOf = async (name: string) =>
    ((await app.client(`/fields/articles/${name}`)).json as { data: { schema: { max_length: number } } }).data.schema;
  const both = async () => {
    const path = '/collections/articles';
    return [await app.visit({ path }), await app.visit({ path, as: await app.user('admin') })] as const;
  };

  it('see each other’s changes, keep their drafts, and apply one after the other', async () => {
    const [ada, grace] = await both();
    await edit(ada, 'title', longest('380'));
    await button(grace, 'New field').click();
    await grace.getByLabel('Name', { exact: true }).fill('price');
    await keep(grace);
    await review(grace);
    await applied(grace);
    await row(ada, 'price').waitFor();
    await row(ada, 'title').getByText('changed').waitFor();
    await ada.getByText('1 change in 1 collection').waitFor();
    await review(ada);
    await ada.getByRole('article', { name: 'field articles.title' }).waitFor();
    await expectCount(ada.getByRole('article'), 1);
    await applied(ada);
    expect((await schemaOf('title')).max_length).to.equal(380);
    expect((await app.client('/fields/articles/price')).status).to.equal(200);
  });

  it('are shown three values for a conflict, and the second one decides', async () => {
    const [ada, grace] = await both();
    await edit(ada, 'title', longest('420'));
    await edit(grace, 'title', longest('400'));
    await review(grace);
    await applied(grace);
    await review(ada);
    const conflict = ada.getByRole('alert').filter({ hasText: '1 conflicting change' });
    await conflict.getByRole('radio', { name: 'Theirs: 400' }).waitFor();
    await conflict.getByText('380', { exact: true }).waitFor();
    await conflict.getByRole('radio', { name: 'Mine: 420' }).click();
    await conflict.waitFor({ state: 'hidden' });
    await applied(ada);
    expect((await schemaOf('title')).max_length).to.equal(420);
  });

  it('lose no input when the other changes or deletes what they are editing', async () => {
    const [ada, grace] = await both();
    await button(ada, 'Actions for text').click();
    await ada.getByRole('menuitem', { name: 'Edit …' }).click();
    const form = ada.getByRole('dialog');
    await longest('40')(form);
    await edit(grace, 'label', longest('330'));
    await button(grace, 'Actions for text').click();
    await grace.getByRole('menuitem', { name: 'Delete …' }).click();
    await button(grace, 'Save deletion to draft').click();
    await grace.getByRole('dialog').waitFor({ state: 'detached' });
    await review(grace);
    await button(grace, 'Apply').click();
    await grace.getByRole('heading', { name: 'Applied' }).waitFor();
    await form.getByText('Another user deleted this object').waitFor();
    expect(await form.getByLabel('Max length').inputValue()).to.equal('40');
    await keep(ada);
    await row(ada, 'text').getByText('new', { exact: true }).waitFor();
    await review(ada);
    await ada.getByRole('article', { name: 'field articles.text' }).waitFor();
    await applied(ada);
    expect((await schemaOf('text')).max_length).to.equal(40);
    expect((await schemaOf('label')).max_length).to.equal(330);
  });
});
