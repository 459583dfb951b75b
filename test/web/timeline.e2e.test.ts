import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const CHANGES = 60;

describe('the timeline of the admin app', () => {
  const app = withApp();
  const send = async (path: string, body: unknown, reason: string, method = 'POST') => {
    const sent = json(body, method);
    const { status, text } = await app.client(path, {
      ...sent,
      headers: { ...sent.headers, 'x-reason': encodeURI(reason) },
    });
    expect(status, text).to.equal(200);
  };

  before(async () => {
    for (const collection of ['articles', 'people'])
      await send('/collections', { collection, schema: {} }, `Make ${collection}`);
    for (let note = 1; note <= CHANGES; note++) {
      await send('/collections/articles', { meta: { note: `<b>${note}</b>` } }, `Note ${note}`, 'PATCH');
    }
  });

  const line = (page: Page, text: string) => page.getByRole('listitem').filter({ hasText: text });

  it('shows who changed what and why, what it was before, and older pages when asked', async () => {
    const page = await app.visit({ path: '/timeline' });
    const last = line(page, `Note%20${CHANGES}`);
    await last.getByRole('button').click();
    await last.getByText('meta.note').waitFor();
    await last.getByText(`<b>${CHANGES - 1}</b>`).waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: 'Admin' }).count()).to.equal(50);
    await page.getByRole('button', { name: 'Older changes' }).click();
    await line(page, 'Make%20people').waitFor();
    await page.reload();
    await last.getByText('meta.note').waitFor();
  });

  it('narrows down by collection, by who and by day, in the address', async () => {
    const page = await app.visit({ path: '/timeline' });
    await page
      .getByRole('textbox', { name: 'Collection' })
      .or(page.getByRole('combobox', { name: 'Collection' }))
      .fill('people');
    await line(page, `Note%20${CHANGES}`).waitFor({ state: 'hidden' });
    await line(page, 'Make%20people').waitFor();
    expect(new URL(page.url()).search).to.equal('?collection=people');
    await page.getByRole('textbox', { name: 'Who' }).fill('nobody');
    await page.getByText('No change fits all of this.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await line(page, `Note%20${CHANGES}`).waitFor();
    await page.getByLabel('To').fill('2001-01-01');
    await page.getByText('No change fits all of this.').waitFor();
  });

  it('opens a change that a link leads to, wherever it stands', async () => {
    const { json: found } = await app.client('/history/batches?collection=people');
    const [batch] = (found as { data: { batch: string }[] }).data;
    const page = await app.visit({ path: `/timeline?batch=${batch?.batch}` });
    const linked = page.getByRole('region', { name: 'The change that was linked' });
    await linked.getByText('collection people', { exact: true }).waitFor();
  });

  it('shows what happens meanwhile at its top', async () => {
    const page = await app.visit({ path: '/timeline' });
    await line(page, `Note%20${CHANGES}`).waitFor();
    await send('/collections/people', { meta: { note: 'late' } }, 'Latest', 'PATCH');
    await line(page, 'Latest').waitFor();
  });

  it('is for auditors as well', async () => {
    const page = await app.visit({ path: '/timeline', as: await app.user('auditor') });
    await line(page, 'Latest').waitFor();
    expect(await page.getByRole('link', { name: 'Accounts' }).count()).to.equal(0);
  });

  for (const look of [{}, { dark: true, narrow: true }]) {
    it(`has nothing that axe finds, and fits: ${JSON.stringify(look)}`, async () => {
      const page = await app.visit({ ...look, path: '/timeline' });
      await page.getByRole('listitem').first().getByRole('button').click();
      await page.getByText('meta.note').waitFor();
      await expectAccessible(page);
      await expectFits(page);
    });
  }
});
