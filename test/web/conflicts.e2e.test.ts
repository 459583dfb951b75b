/** Users can resolve conflicting changes, regardless of their number and of what happens in the meantime. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { stampOf } from '../../src/http/answer/export.js';
import { expectAccessible, withApp } from '../support/app.js';
import { json } from '../support/client.js';

interface Snapshot {
  fields: { collection: string; field: string; meta: Record<string, unknown>; schema: Record<string, unknown> }[];
}

describe('conflicts in the admin app', () => {
  const app = withApp();

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text, headers, json: answer } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
    return { position: Number(headers.get('x-log-position')), answer };
  };
  const make = (collection: string, fields: string[]) =>
    send('/collections', {
      collection,
      schema: {},
      fields: fields.map((field) => ({ field, type: 'string', interface: 'input', schema: {} })),
    });
  const snapshot = async () => (await app.client('/schema/snapshot')).json as Snapshot;
  const ofField = (source: Snapshot, collection: string, field: string) => {
    const document = source.fields.find((each) => each.collection === collection && each.field === field);
    if (document === undefined) throw new Error(`no ${collection}.${field}`);
    return document;
  };
  const note = async (path: string) =>
    ((await app.client(`/fields/${path}`)).json as { data: { meta: { note: string | null } } }).data.meta.note;
  const patchNote = (path: string, text: string | null) => send(`/fields/${path}`, { meta: { note: text } }, 'PATCH');
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const messagesOf = (page: Page) =>
    page.getByRole('alert').filter({ hasText: 'The schema has changed since you opened this review' });
  const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true });
  const planned = (page: Page) => page.locator('button:not([aria-disabled])', { hasText: /^Apply$/ }).waitFor();

  /** A file with another note, and a schema in which others changed the note since then. The file's value is chosen. */
  async function decidedFile(collection: string): Promise<Page> {
    await make(collection, ['title']);
    // File names contain the time to the second.
    await sleep(1_100);
    const stamp = stampOf(new Date());
    const file = await snapshot();
    ofField(file, collection, 'title').meta['note'] = 'From the file';
    await patchNote(`${collection}/title`, 'From others');
    const page = await app.visit({ path: '/review?bring=true' });
    const buffer = Buffer.from(JSON.stringify(file));
    await page
      .getByLabel('Snapshot file')
      .setInputFiles({ name: `snapshot-${stamp}.json`, mimeType: 'text/plain', buffer });
    await button(page, 'This schema, at that time').click();
    await page.getByRole('radio', { name: 'File: From the file' }).click();
    await button(page, 'Continue').click();
    await card(page, `field ${collection}.title`).getByText('From the file').first().waitFor();
    await planned(page);
    return page;
  }

  it('drop a decision that is no longer needed', async () => {
    app.mayComplain(/status of (?:400|409)/);
    const page = await decidedFile('articles');
    await patchNote('articles/title', null);
    await messagesOf(page).waitFor();
    await button(page, /^Continue with the current schema/).click();
    await messagesOf(page).waitFor({ state: 'detached' });
    await planned(page);
    await button(page, 'Apply').click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await note('articles/title')).to.equal('From the file');
  });

  it('show why a review could not be reloaded, and offer a retry', async () => {
    app.mayComplain(/status of (?:400|409)/);
    const page = await decidedFile('pages');
    await patchNote('pages/title', 'From others again');
    await messagesOf(page).waitFor();
    const refusal = { errors: [{ message: 'The moon is in the way.', extensions: { code: 'INVALID_PAYLOAD' } }] };
    await page.route('**/schema/merge*', (route) => route.fulfill({ status: 400, json: refusal }));
    await button(page, /^Continue with the current schema/).click();
    await page.getByText('The moon is in the way.').waitFor();
    await expectAccessible(page);
    await page.unroute('**/schema/merge*');
    await button(page, 'Try again').click();
    await page.getByText('The moon is in the way.').waitFor({ state: 'detached' });
    await messagesOf(page).waitFor({ state: 'detached' });
  });

  it('can be resolved one by one when there are more than fifty, and none has a default', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `f${String(index).padStart(2, '0')}`);
    await make('many', names);
    const noteAll = async (text: string) => {
      const file = await snapshot();
      for (const name of names) ofField(file, 'many', name).meta['note'] = text;
      const { answer } = await send('/schema/diff', file);
      return (await send('/schema/apply', answer)).position;
    };
    const then = await noteAll('first');
    await noteAll('second');
    const page = await app.visit({ path: `/review?to=${then}` });
    await planned(page);
    await noteAll('third');
    await messagesOf(page).getByText('60 changes conflict with yours').waitFor();
    const goOn = messagesOf(page).getByRole('button', { name: /^Continue/ });
    expect(await goOn.innerText()).to.equal('Continue (10 not shown yet)');
    expect(await goOn.getAttribute('aria-disabled')).to.equal('true');
    await button(page, 'Show 10 of 10 more').click();
    await messagesOf(page)
      .getByRole('radiogroup', { name: 'many.f59, meta.note' })
      .getByRole('radio', { name: 'Theirs: third' })
      .check();
    await expectAccessible(page);
    await goOn.click();
    await messagesOf(page).waitFor({ state: 'detached' });
    await planned(page);
    await button(page, 'Apply').click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect([await note('many/f00'), await note('many/f58'), await note('many/f59')]).to.deep.equal([
      'first',
      'first',
      'third',
    ]);
  });

  /** An applied request whose note others have changed since then. */
  async function applyRequest(collection: string): Promise<string> {
    await make(collection, ['title']);
    const file = await snapshot();
    ofField(file, collection, 'title').meta['note'] = 'Asked for';
    const { answer } = await send('/changes', { title: `A note for ${collection}`, snapshot: file });
    const { id } = (answer as { data: { id: string } }).data;
    await send(`/changes/${id}/apply`, {});
    await patchNote(`${collection}/title`, 'Since then');
    return id;
  }

  it('are shown when a request is reverted, and the revert proposes the chosen values', async () => {
    app.mayComplain(/status of 409/);
    const id = await applyRequest('offers');
    const page = await app.visit({ path: `/review?change=${id}` });
    await button(page, 'Propose a revert').press('Enter');
    const theirs = page.getByRole('radio', { name: 'Current schema: Since then' });
    await theirs.waitFor();
    await page.getByText('Asked for', { exact: true }).first().waitFor();
    // The keyboard focus has moved to the choice.
    await page.locator('[type=radio]:focus').waitFor();
    await expectAccessible(page);
    await page.getByRole('radio', { name: /^Previous state/ }).check();
    await button(page, 'Continue').click();
    await page.getByText('This request is waiting for review.').waitFor();
    await page.getByText('Since then').first().waitFor();
    await button(page, /^Apply/).click();
    await page.getByText('This request is applied.').waitFor();
    expect(await note('offers/title')).to.equal(null);
  });

  it('may have disappeared when the revert of a request is proposed', async () => {
    app.mayComplain(/status of (?:400|409)/);
    const id = await applyRequest('orders');
    const page = await app.visit({ path: `/review?change=${id}` });
    await button(page, 'Propose a revert').click();
    await page.getByRole('radio', { name: /^Previous state/ }).check();
    await patchNote('orders/title', 'Asked for');
    await button(page, 'Continue').click();
    await page.getByText('This request is waiting for review.').waitFor();
  });
});
