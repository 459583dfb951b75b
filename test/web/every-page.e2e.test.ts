import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TABS } from '../../src/web/pages/collection/search.js';
import { expectAccessibleInEachLook, expectTitle, routesOf, waitUntilLoaded, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const MARKUP = '<img src=x onerror="hacked=1">';
/** 63 bytes, as long as PostgreSQL's names get. */
const LONGEST = `${'ü'.repeat(31)}x`;
const FROM_THE_RIGHT = 'שלום مرحبا.txt';
/** Reverses the text after it, unless the page isolates the name. New names must not contain it, so the test adopts it. */
const OVERRIDE = 'a\u202Eb';
const NEW_NAMES = [MARKUP, LONGEST, FROM_THE_RIGHT, '__proto__', 'a/b?c#d%2e&e'];
const NAMES = [...NEW_NAMES, OVERRIDE];
const NOTE = `</title></script><script>hacked=1</script>${MARKUP} `.repeat(14_000).slice(0, 1_000_000);

/** Values for the parameters of routes. A route with another parameter must be added here, or this test fails. */
const FILLED: Readonly<Record<string, readonly string[]>> = { $name: NAMES, $page: ['concepts', 'nothing'] };

/** The reference is long and contains no names. Its own test checks it, with an open operation. */
const CHECKED_ELSEWHERE = ['/api'];

describe('every page of the admin app, with hostile names and notes', () => {
  const app = withApp();
  const ok = async (
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = { 'X-Reason': MARKUP },
  ) => {
    const send = json(body);
    const { status, text } = await app.client(path, { ...send, headers: { ...send.headers, ...headers } });
    expect(status, `${path} ${text}`).to.equal(200);
  };

  before(async () => {
    const translations = [{ language: 'en-US', translation: MARKUP, singular: MARKUP, plural: MARKUP }];
    await ok('/collections', { collection: `${MARKUP} group`, schema: null, meta: { note: NOTE, icon: MARKUP } });
    for (const name of NEW_NAMES) {
      const fields = NEW_NAMES.map((each) => ({
        field: each,
        type: 'string',
        interface: MARKUP,
        schema: { default_value: MARKUP, comment: MARKUP },
        meta: { note: MARKUP },
      }));
      const meta = { note: NOTE, translations, group: `${MARKUP} group`, color: MARKUP, icon: MARKUP };
      await ok('/collections', { collection: name, schema: { comment: MARKUP }, meta, fields });
    }
    await app.api.sql(`create table "${OVERRIDE}" (id serial primary key, "${OVERRIDE}" text)`);
    await ok('/schema/adopt', { tables: [OVERRIDE] });
    const many = { field: 'many', type: 'integer', interface: 'input' };
    await ok(`/fields/${encodeURIComponent(MARKUP)}`, many);
    await ok('/relations', { collection: MARKUP, field: 'many', related_collection: LONGEST });
    await ok('/collections', { collection: `${MARKUP} gone`, schema: {} });
    const gone = `/collections/${encodeURIComponent(`${MARKUP} gone`)}`;
    expect((await app.client(gone, { method: 'DELETE' })).status).to.equal(204);
    await app.api.sql(`create table "${MARKUP.replaceAll('"', '""')} by hand" (id integer)`);
    await app.api.sql(`create view "${MARKUP.replaceAll('"', '""')} view" as select 1 from "__proto__"`);
    await ok('/users', { email: 'm@example.com', name: MARKUP, role: 'admin', password: 'correct horse battery' }, {});
  });

  /** Uses the router's list, so that it includes new pages. */
  const addresses = async (page: Page): Promise<string[]> => {
    const routes = await routesOf(page);
    const filled = routes.flatMap((route) => {
      const [part] = /\$\w+/.exec(route) ?? [];
      if (part === undefined) return [route];
      const values = FILLED[part];
      if (values === undefined) throw new Error(`${route}: this test has nothing for ${part}`);
      return values.map((value) => route.replace(part, encodeURIComponent(value)));
    });
    const tabs = TABS.map((tab) => `/collections/${encodeURIComponent(MARKUP)}?tab=${tab}`);
    const chosen = [`/?c=${encodeURIComponent(JSON.stringify(MARKUP))}&near=1&depth=columns`];
    return [...new Set([...filled, ...tabs, ...chosen])];
  };

  it('shows them as text without browser errors, and fits a wide light and a narrow dark window', async function () {
    this.timeout(900_000);
    app.mayComplain(/status of 404/);
    const page = await app.visit();
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    for (const address of await addresses(page)) {
      const isReady = () => waitUntilLoaded(page);
      await page.goto(`/app${address}`);
      await isReady();
      if (!CHECKED_ELSEWHERE.includes(address)) await expectAccessibleInEachLook(page, isReady);
      const [hacked, images, scripts] = await page.evaluate<[unknown, number, number]>(
        '[window.hacked, document.querySelectorAll("img[onerror], img[src=x]").length, [...document.scripts].filter((each) => each.text.includes("hacked")).length]',
      );
      expect([hacked ?? null, images, scripts], address).to.deep.equal([null, 0, 0]);
      expect(app.complaints(), address).to.deep.equal([]);
    }
    expect(dialogs).to.deep.equal([]);
  });

  it('shows the unchanged name in the title of the page', async () => {
    const page = await app.visit({ path: `/collections/${encodeURIComponent(MARKUP)}` });
    await page.getByRole('heading', { name: MARKUP }).waitFor();
    await expectTitle(page, `${MARKUP} · Data Platform`);
  });

  it('shows the keyboard focus on every page of the navigation', async () => {
    const page = await app.visit({});
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').first().waitFor();
    const places = await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link')
      .evaluateAll((links: { getAttribute(name: string): string | null }[]) =>
        links.map((link) => link.getAttribute('href') ?? ''),
      );
    expect(places.length).to.be.above(4);
    for (const place of places) {
      await page.goto(place);
      await page.locator('main :is(h1, h2)').first().waitFor();
      for (let step = 0; step < 14; step++) {
        await page.keyboard.press('Tab');
        const unseen = await page.evaluate<string | null>(UNSEEN);
        expect(unseen, `${place}, after ${step + 1} steps`).to.equal(null);
      }
    }
  });
});

/** The focused element without a visible focus; null if the focus is visible. Text fields change their border. */
const UNSEEN = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body || element.matches('input, textarea, select')) return null;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  const isSeen = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
  return isSeen ? null : element.outerHTML.slice(0, 200);
})()`;
