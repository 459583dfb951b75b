import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  expectAccessible,
  expectCount,
  expectFits,
  expectValue,
  withApp,
  expectAccessibleInEachLook,
} from '../support/app.js';
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

  it('shows who changed what and why, the values before, and older pages on request', async () => {
    const page = await app.visit({ path: '/timeline' });
    const last = line(page, `Note%20${CHANGES}`);
    await last.getByRole('button').click();
    await last.getByText('meta.note').waitFor();
    await last.getByText(`<b>${CHANGES - 1}</b>`).waitFor();
    await expectCount(page.getByRole('listitem').filter({ hasText: 'Admin' }), 50);
    await page.getByRole('button', { name: 'Show older changes' }).click();
    await line(page, 'Make%20people').waitFor();
    await page.reload();
    await last.getByText('meta.note').waitFor();
  });

  it('filters by collection, user and day, in the address', async () => {
    const page = await app.visit({ path: '/timeline' });
    await page
      .getByRole('textbox', { name: 'Collection' })
      .or(page.getByRole('combobox', { name: 'Collection' }))
      .fill('people');
    await line(page, `Note%20${CHANGES}`).waitFor({ state: 'hidden' });
    await line(page, 'Make%20people').waitFor();
    expect(new URL(page.url()).search).to.equal('?collection=people');
    await page.getByRole('combobox', { name: 'User' }).fill('nobody');
    await page.getByText('No changes match the filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await line(page, `Note%20${CHANGES}`).waitFor();
    await page.getByRole('combobox', { name: 'User' }).fill('adm');
    await page.getByRole('option', { name: 'Admin', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('actor') === 'Admin');
    await line(page, `Note%20${CHANGES}`).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL((url) => url.search === '');
    await page.getByLabel('To').fill('2001-01-01');
    await page.getByText('No changes match the filters.').waitFor();
  });

  it('searches by part of a reason or a name, by field and by event type', async () => {
    const page = await app.visit({ path: '/timeline' });
    await line(page, `Note%20${CHANGES}`).waitFor();
    await page.getByRole('searchbox', { name: 'Reason or name' }).fill('note%2017');
    await page.waitForURL((url) => url.searchParams.get('q') === 'note%2017');
    await line(page, `Note%20${CHANGES}`).waitFor({ state: 'hidden' });
    await line(page, 'Note%2017').waitFor();
    await page.getByLabel('Event type').selectOption('collection created');
    await page.getByText('No changes match the filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Event type').selectOption('collection created');
    await line(page, 'Make%20people').waitFor();
    await page.getByLabel('Field').fill('nothing');
    await page.getByText('No changes match the filters.').waitFor();
  });

  it('links a change to the schema at that time, and to the difference between two changes', async () => {
    app.mayComplain(/status of 4\d\d/);
    const page = await app.visit({ path: '/timeline' });
    const last = line(page, `Note%20${CHANGES}`);
    await last.getByRole('button', { name: /Note%20/ }).click();
    const back = last.getByRole('link', { name: 'Go back to this point' });
    expect(await back.getAttribute('href')).to.equal(`/app/review?to=${CHANGES + 2}`);
    await last.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('status', { name: 'Comparing' }).waitFor();
    const other = line(page, `Note%20${CHANGES - 9}`);
    await other.getByRole('button', { name: /Note%20/ }).click();
    await other.getByRole('link', { name: `Compare with event ${CHANGES + 2}` }).click();
    await page.getByText(`<b>${CHANGES - 9}</b>`).waitFor();
    await page.getByText(`<b>${CHANGES}</b>`).waitFor();
    expect(new URL(page.url()).search).to.equal(`?from=${CHANGES - 7}&to=${CHANGES + 2}`);
    await page.getByText('SQL', { exact: true }).click();
    await page.getByLabel('Difference as SQL').or(page.getByText('The scripts are identical.')).first().waitFor();
    await page.getByRole('combobox', { name: 'From', exact: true }).fill('0');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.locator('ins').getByText('CREATE TABLE').first().waitFor();
    await expectAccessible(page);
    await page.getByText('Files', { exact: true }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Difference as JSON' }).click();
    expect((await saved).suggestedFilename()).to.equal(`diff-0-${CHANGES + 2}.json`);
    await page.getByText('Entries', { exact: true }).click();
    await page.getByText('collection people').waitFor();
    await expectFits(page);
    await page.goBack();
    await page.goto('/app/timeline/compare?from=x');
    await page.getByRole('alert').waitFor();
  });

  it('compares a date with a change that the user finds by its reason, and names the types of new fields', async () => {
    const page = await app.visit({ path: '/timeline' });
    await page.getByRole('link', { name: 'Compare points in time' }).click();
    const to = page.getByRole('combobox', { name: 'To', exact: true });
    await to.fill('nothing');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Choose a change from the list').waitFor();
    await to.fill('Make%20people');
    await page.getByRole('option', { name: /Make%20people/ }).click();
    await expectValue(to, '2');
    await page.getByLabel('From: date and time').fill('2020-01-02T08:05');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.waitForURL((url) => /^\?from=2020-01-0.*Z&to=2$/.test(decodeURIComponent(url.search)));
    await page.getByText('field people.id').waitFor();
    await page.getByText('integer', { exact: true }).first().waitFor();
    await page.getByText('2 changes in 2 collections', { exact: true }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });

  it('opens a linked change, wherever it is in the list', async () => {
    const { json: batches } = await app.client('/history/batches?collection=people');
    const [batch] = (batches as { data: { batch: string }[] }).data;
    const page = await app.visit({ path: `/timeline?batch=${batch?.batch}` });
    const linked = page.getByRole('region', { name: 'Linked change' });
    await linked.getByText('collection people', { exact: true }).waitFor();
  });

  it('shows new changes at its top', async () => {
    const page = await app.visit({ path: '/timeline' });
    await line(page, `Note%20${CHANGES}`).waitFor();
    await send('/collections/people', { meta: { note: 'late' } }, 'Latest', 'PATCH');
    await line(page, 'Latest').waitFor();
  });

  it('holds back new changes while the user reads further down', async () => {
    const page = await app.visit({ path: '/timeline' });
    await line(page, 'Latest').waitFor();
    const read = line(page, `Note%20${CHANGES - 20}`);
    await read.scrollIntoViewIfNeeded();
    const before = await read.boundingBox();
    await send('/collections/people', { meta: { note: 'later' } }, 'Meanwhile', 'PATCH');
    const fresh = page.getByRole('button', { name: '1 new change' });
    await fresh.waitFor();
    expect(await line(page, 'Meanwhile').count()).to.equal(0);
    expect(Math.abs(((await read.boundingBox())?.y ?? 0) - (before?.y ?? 0))).to.be.below(60);
    await fresh.click();
    await line(page, 'Meanwhile').waitFor();
  });

  it('shows one filter on a phone, and the others on request', async () => {
    const page = await app.visit({ path: '/timeline', narrow: true });
    await page.getByRole('searchbox', { name: 'Reason or name' }).waitFor();
    const user = page.getByRole('combobox', { name: 'User' });
    expect(await user.isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'More filters' }).click();
    await user.fill('nobody');
    await page.getByText('No changes match the filters.').waitFor();
    await page.reload();
    await user.waitFor();
    await page.getByRole('button', { name: 'Fewer filters' }).click();
    await user.waitFor({ state: 'hidden' });
    await expectFits(page);
  });

  it('is visible to auditors', async () => {
    const page = await app.visit({ path: '/timeline', as: await app.user('auditor') });
    await line(page, 'Latest').waitFor();
    expect(await page.getByRole('link', { name: 'Accounts' }).count()).to.equal(0);
  });

  it('is accessible and fits a wide light and a narrow dark window', async () => {
    const page = await app.visit({ path: '/timeline' });
    const latest = line(page, 'Latest');
    await latest.getByRole('button').click();
    await latest.getByText('meta.note').waitFor();
    await expectAccessibleInEachLook(page);
  });
});
