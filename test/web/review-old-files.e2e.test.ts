/** An older snapshot: later changes by others stay, and conflicts are resolved. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { stampOf } from '../../src/http/answer/export.js';
import { expectAccessible, expectCount, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input', schema: {} });

interface Snapshot {
  fields: { collection: string; field: string; meta: Record<string, unknown>; schema: Record<string, unknown> }[];
}

describe('an old snapshot in the admin app', () => {
  const app = withApp();
  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text, headers } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
    return Number(headers.get('x-log-position'));
  };
  const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true });
  const choose = (page: Page, name: string, text: string) =>
    page.getByLabel('Snapshot file').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  const fieldOf = async (path: string) =>
    ((await app.client(`/fields/${path}`)).json as { data: Snapshot['fields'][number] }).data;

  interface EditedFile {
    /** The position of the file's schema. */
    position: number;
    /** The file name that the service chooses. */
    name: string;
    stamp: string;
    text: string;
  }

  /** Edits a snapshot while others change the service. */
  async function editWhileOthersChange(collection: string): Promise<EditedFile> {
    const position = await send('/collections', {
      collection,
      schema: {},
      fields: [field('title'), field('text')],
    });
    // File names contain the time to the second.
    await sleep(1_100);
    const stamp = stampOf(new Date());
    const exported = await app.client('/schema/snapshot?export=json');
    const name = /filename="(.+)"/.exec(exported.headers.get('content-disposition') ?? '')?.[1] ?? '';
    const snapshot = JSON.parse(exported.text) as Snapshot;
    for (const each of snapshot.fields) {
      if (each.collection !== collection) continue;
      if (each.field === 'title') each.meta['note'] = 'From the file';
      if (each.field === 'text') each.schema['max_length'] = 300;
    }
    await send(`/fields/${collection}`, field('price'));
    await send(`/fields/${collection}/title`, { meta: { width: 'half' } }, 'PATCH');
    await send(`/fields/${collection}/text`, { schema: { max_length: 400 } }, 'PATCH');
    return { position, name, stamp, text: JSON.stringify(snapshot) };
  }

  it('is merged from the time in its name: conflicts are resolved, and other changes by others stay', async () => {
    app.mayComplain(/status of 409/);
    const { stamp, text } = await editWhileOthersChange('articles');
    const page = await app.visit({ path: '/review?bring=true' });
    await choose(page, `snapshot-${stamp}.json`, text);
    await page.getByText('3 objects have changed since then').waitFor();
    await page.getByRole('link', { name: 'field articles.price' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'This schema, at that time' }).click();
    const conflict = page.getByRole('alert').filter({ hasText: '1 conflicting change' });
    const radios = conflict.getByRole('radiogroup', { name: 'articles.text, type' });
    await radios.getByText('max_length 255').waitFor();
    expect(await page.getByLabel('Created from').locator('option:checked').innerText()).to.include(
      '(from the file name)',
    );
    await expectAccessible(page);
    await radios.getByRole('radio', { name: 'Current schema: max_length 400' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await card(page, 'field articles.title').getByText('From the file').first().waitFor();
    await expectCount(page.getByRole('article'), 1);
    await page.getByText('3 objects have changed since then').waitFor();
    await page.getByRole('button', { name: 'Show changes' }).click();
    await page.getByRole('listitem').filter({ hasText: 'articles.price' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect((await fieldOf('articles/title')).meta).to.include({ note: 'From the file', width: 'half' });
    expect((await fieldOf('articles/text')).schema).to.include({ max_length: 400 });
    expect((await app.client('/fields/articles/price')).status).to.equal(200);
  });

  it('is compared as it is if it comes from another environment, or nothing has changed since then', async () => {
    const { stamp, text } = await editWhileOthersChange('books');
    const page = await app.visit({ path: '/review?bring=true', narrow: true });
    await choose(page, `snapshot-${stamp}.json`, text);
    await page.getByRole('button', { name: 'The schema of another environment' }).waitFor();
    await expectFits(page);
    await page.getByRole('button', { name: 'The schema of another environment' }).click();
    await card(page, 'field books.title').waitFor();
    expect(await page.getByLabel('Created from').locator('option:checked').innerText()).to.equal('Current schema');
    expect(new URL(page.url()).searchParams.get('base')).to.equal('now');
    await page.goto('/app/review?bring=true');
    await sleep(1_100);
    await choose(page, `snapshot-${stampOf(new Date())}.json`, text);
    await card(page, 'field books.title').waitFor();
  });

  it('is merged from the position in its name, which the service wrote', async () => {
    app.mayComplain(/status of 409/);
    const { position, name, text } = await editWhileOthersChange('letters');
    const page = await app.visit({ path: '/review?bring=true' });
    await choose(page, name, text);
    await page.getByRole('radio', { name: 'File: max_length 300' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await card(page, 'field letters.title').getByText('From the file').first().waitFor();
    const base = page.getByLabel('Created from');
    expect(await base.locator('option:checked').innerText()).to.equal(`event ${position} (from the file name)`);
    await page.getByText('3 objects have changed since then').waitFor();
    await base.selectOption({ label: 'Current schema' });
    await page.getByText('3 objects have changed since then').waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('base')).to.equal('now');
  });

  it('is compared as it is if the log does not contain the event in its name', async () => {
    app.mayComplain(/status of 404/);
    const { position, text } = await editWhileOthersChange('reports');
    const page = await app.visit({ path: '/review?bring=true' });
    for (const origin of [`${position}-00000000`, '999999-3dd83ede']) {
      await page.goto('/app/review?bring=true');
      await choose(page, `snapshot-20261121-074501-${origin}.json`, text);
      await card(page, 'field reports.title').waitFor();
      await card(page, 'field reports.text').waitFor();
      await page.getByText('Where the file and the current schema differ').waitFor();
      expect(await page.getByLabel('Created from').locator('option:checked').innerText()).to.equal('Current schema');
    }
  });

  it('is compared with the current schema if its name contains no time, until the user states its base', async () => {
    app.mayComplain(/status of 409/);
    const { position, text } = await editWhileOthersChange('pages');
    const page = await app.visit({ path: '/review?bring=true' });
    await choose(page, 'mine.json', text);
    await page.getByText('Where the file and the current schema differ').waitFor();
    await card(page, 'field pages.title').waitFor();
    expect(await card(page, 'field pages.price').count()).to.equal(0);
    await page.getByRole('switch', { name: 'Delete what is missing from the file' }).click();
    await card(page, 'field pages.price').waitFor();
    await page.getByLabel('Created from').selectOption({ value: String(position) });
    await page.getByRole('radio', { name: 'File: max_length 300' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await card(page, 'field pages.text').getByText('300').first().waitFor();
    await card(page, 'field pages.price').waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('base')).to.equal(String(position));
    await page.getByRole('button', { name: 'Revert these too' }).click();
    await card(page, 'field pages.price').waitFor();
  });

  it('can be imported by authors too, from a day and time, and as YAML', async () => {
    app.mayComplain(/status of 4\d\d/);
    const position = await send('/collections', { collection: 'notes', schema: {}, fields: [field('title')] });
    await send('/fields/notes', field('price'));
    const page = await app.visit({ path: '/review?bring=true', as: await app.user('author'), narrow: true });
    await choose(
      page,
      'notes.yaml',
      'version: 1\nservice: 0.1.0\nvendor: postgres\ncollections:\n  - { collection: notes, meta: { note: From YAML } }\n  - { collection: added, schema: {} }\n',
    );
    await page.getByText('Where the file and the current schema differ').waitFor();
    await expectCount(page.getByLabel('Created from').locator('option'), 2);
    await page.getByLabel('Created from').selectOption({ label: 'Other date and time …' });
    await page.getByLabel('Created at').fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.waitForURL(/base=2020/);
    await page.goto(`${page.url().replace(/base=[^&]*/, `base=${position}`)}`);
    await card(page, 'collection notes').getByText('From YAML').first().waitFor();
    await card(page, 'collection added').waitFor();
    await expectCount(page.getByRole('article'), 2);
    await expectAccessible(page);
    await expectFits(page);
  });
});
