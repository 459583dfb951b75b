/** The app in German: no English text is left, and no control is cut off. */
import { createRequire } from 'node:module';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { expect } from 'chai';
import { buildSync } from 'esbuild';
import type { Page } from 'playwright-core';
import { EDITS } from '../../src/web/editing/edit-names.js';
import { TABS } from '../../src/web/pages/collection/search.js';
import { cutOffIn, expectFits, expectTitle, routesOf, waitUntilLoaded, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const WEB = fileURLToPath(new URL('../../src/web/', import.meta.url));

type Catalogue = { readonly [name: string]: unknown };

/** Reads all catalogues in one language, as a browser with that choice does. */
function readCatalogues(language: string): Catalogue {
  const files = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((file) => /messages\.tsx?$/.test(file));
  expect(files.length).to.be.above(8);
  const exported = files.map(
    (file) => `export * as ${file.replaceAll(/\W/g, '_')} from ${JSON.stringify(`./${file}`)};`,
  );
  const { outputFiles } = buildSync({
    stdin: { contents: exported.join('\n'), resolveDir: WEB },
    bundle: true,
    write: false,
    platform: 'node',
    // Wrapped in a function, which has the scope of a browser.
    format: 'cjs',
    jsx: 'automatic',
    define: { globalThis: 'theBrowser' },
    loader: { '.css': 'empty' },
  });
  const module = { exports: {} };
  const browser = { localStorage: { getItem: () => language } };
  const code = `(function (module, exports, require, theBrowser) {${outputFiles[0]?.text ?? ''}})`;
  const run = runInThisContext(code) as (...scope: unknown[]) => void;
  run(module, module.exports, createRequire(import.meta.url), browser);
  return module.exports;
}

/** Represents a value in a message. */
const VALUE = '§';

/** Returns the texts of a message. One with values is tried with a value in the singular and in the plural. */
function textsOf(message: unknown): string[] {
  if (typeof message === 'string') return [message];
  if (typeof message !== 'function') return [];
  const { length } = message;
  return [VALUE, 1].flatMap((value) => {
    try {
      const text: unknown = Reflect.apply(
        message,
        undefined,
        Array.from({ length }, () => value),
      );
      return typeof text === 'string' ? [text] : [];
    } catch {
      // The message expects a different type.
      return [];
    }
  });
}

/** Visits the messages of both languages in pairs. */
function pairsOf(english: unknown, german: unknown): [string, string][] {
  if (typeof english === 'object' && english !== null && typeof german === 'object' && german !== null)
    return Object.entries(english).flatMap(([name, message]) => pairsOf(message, (german as Catalogue)[name]));
  const germanTexts = textsOf(german);
  return textsOf(english).map((text, index) => [text, germanTexts[index] ?? '']);
}

const pattern = (text: string): RegExp =>
  new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(VALUE, '.+')}$`, 's');

/** A message that consists of a few letters and a value matches too many texts of the schema. */
const isTelling = (text: string): boolean =>
  !text.includes(VALUE) ? /\p{L}{2}/u.test(text) : text.replaceAll(/[^\p{L}]/gu, '').length >= 8;

/** Texts of the page: visible ones, labels and placeholders. Texts marked as English are excluded. */
const SHOWN = `(() => {
  const isShown = (element) => element.checkVisibility() && element.closest('[lang=en], pre, code, bdi') === null;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [document.title.split(' · ')[0]];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (isShown(node.parentElement)) texts.push(node.textContent);
  for (const name of ['aria-label', 'placeholder', 'title', 'aria-valuetext'])
    for (const element of document.querySelectorAll('[' + name + ']'))
      if (isShown(element)) texts.push(element.getAttribute(name));
  return [...new Set(texts.map((text) => text.replaceAll(/\\s+/g, ' ').trim()))];
})()`;

/** Names of tables and fields, which the schema could also have in English. */
const COLLECTION = 'artikel';

describe('the admin app in German', () => {
  const app = withApp({ settings: { OBJECTS: 'on' } }, 'de-DE');
  const english: RegExp[] = [];

  before(async () => {
    const pairs = pairsOf(readCatalogues('en'), readCatalogues('de'));
    const german = new Set(pairs.map(([, text]) => text));
    const foreign = pairs.flatMap(([text]) => (isTelling(text) && !german.has(text) ? [text] : []));
    expect(foreign.length, 'texts to look for').to.be.above(500);
    english.push(...[...new Set(foreign)].map(pattern));

    const fields = [{ field: 'titel', type: 'string', interface: 'input', schema: { is_unique: true } }];
    const ok = async (path: string, body: unknown) => {
      const { status, text } = await app.client(path, json(body));
      expect(status, `${path} ${text}`).to.equal(200);
    };
    await ok('/collections', { collection: COLLECTION, schema: {}, fields });
    await ok('/collections', { collection: 'ordner', schema: null });
    await ok('/collections', { collection: 'autoren', schema: {}, meta: { group: 'ordner', hidden: true } });
    await ok(`/fields/${COLLECTION}`, { field: 'autor', type: 'integer', interface: 'input', schema: {} });
    await ok('/relations', { collection: COLLECTION, field: 'autor', related_collection: 'autoren' });
    await ok('/collections', { collection: 'alt', schema: {} });
    expect((await app.client('/collections/alt', { method: 'DELETE' })).status).to.equal(204);
    await app.api.sql('create table nebenbei (id integer)');
  });

  const addresses = async (page: Page): Promise<Set<string>> => {
    const filled = (await routesOf(page)).map((route) =>
      route.replace('$name', COLLECTION).replace('$page', 'concepts'),
    );
    const tabs = TABS.map((tab) => `/collections/${COLLECTION}?tab=${tab}`);
    const edits = EDITS.map((edit) => `/collections/${COLLECTION}?edit=${edit}&of=titel`);
    const others = ['/?at=1', `/?c=${COLLECTION}&near=1`, '/new?as=folder', '/objects?new=true', '/accounts?new=true'];
    const reviews = ['/review?bring=true', '/review?to=1', '/timeline/compare?from=0&to=now', '/gibt-es-nicht'];
    return new Set([...filled, ...tabs, ...edits, ...others, ...reviews]);
  };

  for (const narrow of [false, true]) {
    it(`shows no English text and cuts off no control in a ${narrow ? 'narrow' : 'wide'} window`, async function () {
      this.timeout(900_000);
      app.mayComplain(/status of 404/);
      const page = await app.visit({ narrow });
      if (!narrow) await page.setViewportSize({ width: 1_440, height: 900 });
      const faults: Record<string, string[]> = {};
      for (const address of await addresses(page)) {
        await page.goto(`/app${address}`);
        await waitUntilLoaded(page);
        const shown = await page.evaluate<string[]>(SHOWN);
        const left = shown.filter((text) => english.some((each) => each.test(text)));
        const cut = await cutOffIn(page);
        if (left.length + cut.length > 0) faults[address] = [...left.map((text) => `English: ${text}`), ...cut];
        await expectFits(page);
      }
      expect(faults).to.deep.equal({});
    });
  }

  it('shows the sign-in and the first steps in German, and English after the user has chosen it', async () => {
    const signIn = await app.visit({ as: null });
    await expectTitle(signIn, 'Anmelden · Data Platform');
    const page = await app.visit({ tour: true });
    await page.getByRole('region', { name: 'Erste Schritte' }).getByText('1 von 5').waitFor();
    await page.getByRole('button', { name: /^Kontomenü von / }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await page.getByRole('region', { name: 'First steps' }).getByText('1 of 5').waitFor();
    expect(await page.getAttribute('html', 'lang')).to.equal('en');
  });
});
