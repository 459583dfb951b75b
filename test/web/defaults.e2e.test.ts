import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the defaults of the forms of the admin app', () => {
  const app = withApp();

  before(async () => {
    const collections = ['people', 'places'].map((collection) => ({ collection, schema: {} }));
    const { status, text } = await app.client('/collections', json(collections));
    expect(status, text).to.equal(200);
  });

  const create = async (page: Page, name: string, { key = '', hasCommonFields = false } = {}) => {
    await page.goto('/app/new');
    await page.getByLabel('Name', { exact: true }).fill(name);
    if (key !== '') await page.getByText(key, { exact: true }).click();
    if (hasCommonFields)
      for (const common of await page.getByRole('group', { name: 'Common fields' }).getByRole('checkbox').all())
        await common.check();
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('heading', { name, exact: true }).waitFor();
  };
  const relate = async (page: Page, kind: string, other: string) => {
    await page.getByRole('button', { name: 'New relation' }).click();
    await page.getByText(kind, { exact: true }).click();
    await page.getByLabel('Related collection', { exact: true }).selectOption(other);
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const review = (page: Page) =>
    page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();

  /** Applies the draft, for which the review must show no finding. */
  const apply = async (page: Page) => {
    await review(page);
    // The page shows this heading only if there are no findings.
    await page.getByRole('heading', { name: 'No data loss' }).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
  };
  const fieldAt = async (path: string) =>
    ((await app.client(`/fields/${path}`)).json as { data: { type: string; schema: object } }).data;

  it('raise no findings for new collections with common fields, regardless of their keys', async () => {
    const page = await app.visit({ path: '/' });
    await create(page, 'codes', { key: 'String' });
    await create(page, 'members', { hasCommonFields: true });
    await create(page, 'tokens', { key: 'UUID' });
    await apply(page);
    expect((await fieldAt('members/id')).type).to.equal('bigInteger');
  });

  it('raise no findings for the relations of a new collection, because their keys are indexed', async () => {
    const page = await app.visit({ path: '/' });
    await create(page, 'events');
    await relate(page, 'Many to one', 'people');
    await relate(page, 'Many to many', 'places');
    await apply(page);
    expect((await fieldAt('events_places/id')).type).to.equal('bigInteger');
    for (const path of ['events/people', 'events_places/events_id', 'events_places/places_id'])
      expect((await fieldAt(path)).schema, path).to.include({ is_indexed: true });
  });

  it('name the limit of an integer key as a finding if the user chooses it', async () => {
    const page = await app.visit({ path: '/' });
    await create(page, 'small', { key: 'Integer' });
    await review(page);
    await page.getByRole('heading', { name: /^Findings/ }).waitFor();
  });
});
