/** A list that cannot load its next page reports the error and offers to retry. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

const REFUSAL = { errors: [{ message: 'The moon is in the way.', extensions: { code: 'INVALID_QUERY' } }] };

describe('paginated lists in the admin app', () => {
  const app = withApp();
  let batch = '';

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text, headers, json: answer } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
    return { headers, answer };
  };

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    const many = Array.from({ length: 250 }, (_, index) => ({ collection: `folder_${index}`, schema: null }));
    const { headers } = await send('/collections', [...many, { collection: 'articles', schema: {}, fields }]);
    batch = headers.get('x-batch-id') ?? '';
    for (let index = 0; index < 55; index++)
      await send('/collections/articles', { meta: { note: `note ${index}` } }, 'PATCH');
    for (let index = 0; index < 105; index++)
      await send('/users', { email: `u${String(index).padStart(3, '0')}@example.com`, role: 'reader' });
    const snapshot = (await app.client('/schema/snapshot')).json as { collections: { meta: { note?: unknown } }[] };
    for (const { meta } of snapshot.collections) meta.note = 'proposed';
    for (let index = 0; index < 25; index++) await send('/changes', { title: `Request ${index}`, snapshot });
  });

  /** The next page fails with a message, and the one after a retry is shown. */
  async function expectAnotherTry(page: Page, { address, label }: { address: RegExp; label: RegExp }) {
    app.mayComplain(/status of 400/);
    const more = page.getByRole('button', { name: label });
    await more.waitFor();
    await page.route(address, (route) => route.fulfill({ status: 400, json: REFUSAL }));
    await more.click();
    const refusal = page.getByRole('alert').filter({ hasText: 'The moon is in the way.' });
    await refusal.waitFor();
    expect(await refusal.count()).to.equal(1);
    await page.unroute(address);
    await refusal.getByRole('button', { name: 'Try again' }).click();
    await refusal.waitFor({ state: 'detached' });
    await more.waitFor({ state: 'detached' });
  }

  it('shows more users after a retry', async () => {
    const page = await app.visit({ path: '/accounts' });
    await expectAnotherTry(page, { address: /\/users\?.*offset=100/, label: /^Show more of 106 users/ });
    await page.getByText('u104@example.com').first().waitFor();
  });

  it('shows the changes of the timeline', async () => {
    const page = await app.visit({ path: '/timeline?collection=articles' });
    await expectAnotherTry(page, { address: /\/history\/batches\?.*after=/, label: /^Show older changes/ });
  });

  it('shows the result of a large change', async () => {
    const page = await app.visit({ path: `/review?done=${batch}` });
    const show = page.getByRole('button', { name: /^Show/ });
    const showAll = async () => {
      while ((await show.count()) > 0) await show.click();
    };
    await show.waitFor();
    await showAll();
    await expectAnotherTry(page, { address: /\/history\/diff\?/, label: /more events$/ });
    await showAll();
    await page.getByRole('link', { name: 'collection folder_99' }).waitFor();
  });

  it('shows change requests in the review and in the operations', async () => {
    for (const path of ['/review', '/operations/changes']) {
      const page = await app.visit({ path });
      await page.getByText('Request 24').first().waitFor();
      // The review lists all requests that wait for an approval before the others.
      expect(await page.getByText('Request 3', { exact: true }).count()).to.equal(path === '/review' ? 1 : 0);
      expect(await page.getByText('No change requests.').count()).to.equal(0);
      await expectAnotherTry(page, { address: /\/changes\?.*offset=20/, label: /^Show older requests/ });
      await page.getByText('Request 3', { exact: true }).first().waitFor();
    }
  });
});
