import { expect } from 'chai';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

const COLLECTIONS = 10_000;
/** Limit for JSON that the page's main thread reads or writes at once, in bytes: a few milliseconds. */
const AT_ONCE = 1024 * 1024;

const nameAt = (index: number) => `c${String(index).padStart(4, '0')}`;

/** Folders, so that nothing waits for ten thousand tables. */
const snapshot = (release: string, note: string) => ({
  version: 1,
  service: release,
  vendor: 'postgres',
  collections: Array.from({ length: COLLECTIONS }, (_, index) => ({
    collection: nameAt(index),
    schema: null,
    meta: { note: `${note} ${index}` },
  })),
});

/** Records the longest JSON that the main thread reads or writes, and the sizes of the requested plans. */
const WATCH = `
  window.longestJson = 0;
  const { parse, stringify } = JSON;
  const note = (text) => { window.longestJson = Math.max(window.longestJson, text?.length ?? 0); return text; };
  JSON.parse = (text, ...rest) => parse(note(text), ...rest);
  JSON.stringify = (...args) => note(stringify(...args));
  window.sent = [];
  const ask = window.fetch;
  window.fetch = (path, init) => {
    if (String(path).includes('explain=true')) window.sent.push(init.body.size ?? init.body.length);
    return ask(path, init);
  };
  Response.prototype.json = async function () { return JSON.parse(await this.text()); };
`;

describe('ten thousand collections in the admin app', function () {
  this.timeout(240_000);
  const app = withApp();
  let release = '';

  before(async () => {
    const info = await app.client('/server/info');
    release = (info.json as { data: { release: string } }).data.release;
    const response = await app.client('/schema/diff', json(snapshot(release, 'About')));
    const { hash, diff } = response.json as { hash: string; diff: unknown };
    const applied = await app.client('/schema/apply', json({ hash, diff }));
    expect(applied.status, applied.text.slice(0, 500)).to.be.below(300);
  });

  it('can be reviewed in pages when all of them change, and one can be left out', async () => {
    const page = await app.visit({ path: '/review?bring=true' });
    page.setDefaultTimeout(120_000);
    await page.getByLabel('Snapshot file').waitFor({ state: 'attached' });
    await page.evaluate(WATCH);
    const buffer = Buffer.from(JSON.stringify(snapshot(release, 'Now about')));
    const sent = () => page.evaluate<number[]>('window.sent');
    await page.getByLabel('Snapshot file').setInputFiles({ name: 'large.json', mimeType: 'application/json', buffer });
    await page.getByText('10,000 changes in 10,000 collections').waitFor();
    expect(await page.locator('article').count()).to.be.below(30);
    await until('the whole change is sent', async () => (await sent()).length === 1);
    await page.getByRole('checkbox', { name: 'Include: collection c0000' }).uncheck();
    const outline = page.getByRole('navigation', { name: 'Changed collections' });
    await outline.getByText('excluded', { exact: true }).waitFor();
    await until('it is sent without the one', async () => (await sent()).length === 2);
    const [all, less] = await sent();
    expect(all, 'the whole change is sent').to.be.above(AT_ONCE);
    expect(less, 'without the one').to.be.within((all ?? 0) - 1_000, (all ?? 0) - 50);
    await page.getByRole('region', { name: 'Apply changes' }).getByText('Planning …').waitFor({ state: 'detached' });
    expect(await page.evaluate<number>('window.longestJson')).to.be.below(AT_ONCE);
  });

  it('have a batch whose events are shown in pages', async () => {
    const page = await app.visit({ path: '/timeline' });
    page.setDefaultTimeout(60_000);
    const requests: number[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/history/diff')
        requests.push(Number(searchParams.get('to')) - Number(searchParams.get('from')));
    });
    await page.getByRole('button', { name: /event/ }).first().click();
    await page.getByText('collection c0099').waitFor();
    await page.getByRole('button', { name: 'Show 100 of 100 more' }).click();
    await page.getByText('collection c0199').waitFor();
    await page.getByRole('button', { name: '9,800 more events' }).click();
    await page.getByRole('button', { name: 'Show 100 of 200 more' }).click();
    await page.getByText('collection c0250').waitFor();
    expect(requests).to.deep.equal([200, 200]);
  });

  it('can be searched with the keyboard, even if nothing matches', async () => {
    const page = await app.visit({ path: '/collections/c0000?edit=collection' });
    page.setDefaultTimeout(60_000);
    const inside = page
      .getByRole('textbox', { name: 'Parent group' })
      .or(page.getByRole('combobox', { name: 'Parent group' }));
    const options = page.getByRole('listbox').getByRole('option');
    await inside.waitFor();
    expect(await options.count()).to.equal(0);
    await inside.focus();
    await page.keyboard.type('c77');
    await options.filter({ hasText: 'c7700' }).waitFor();
    expect(await options.count()).to.be.within(2, 50);
    expect(await inside.getAttribute('aria-expanded')).to.equal('true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const active = await inside.getAttribute('aria-activedescendant');
    expect(active, 'what is chosen is told').to.be.a('string');
    const second = await options.nth(1).innerText();
    expect(await page.locator(`[id="${active}"]`).innerText()).to.equal(second);
    await page.keyboard.press('Enter');
    await options.first().waitFor({ state: 'detached' });
    expect(await inside.inputValue()).to.equal(second);
    await inside.fill('nobody');
    await page.getByText('No results.').waitFor();
    expect(await inside.getAttribute('aria-invalid')).to.equal('true');
    const messagesOf = (await inside.getAttribute('aria-describedby')) ?? '';
    const words = await Promise.all(messagesOf.split(' ').map((id) => page.locator(`[id="${id}"]`).textContent()));
    expect(words.join(' ')).to.include('No results.');
    await inside.fill('c9999');
    await page.getByText('No results.').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('region', { name: 'Draft' }).getByText('1 change in 1 collection').waitFor();
  });
});
