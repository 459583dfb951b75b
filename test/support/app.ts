/** The admin app in a signed-in browser, for the tests of a `describe`. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import type { Role } from '../../src/features/accounts/caller.js';
import { INSTALL_CHROMIUM, browser, chromiumProgram } from './browser.js';
import { ensureBuilt } from './built.js';
import { choosePassword, json } from './client.js';
import { PATIENCE, slowContext, slowPage } from './slow.js';
import { until } from './until.js';
import { type Served, type Serving, withService } from './with-service.js';

interface Visit {
  /** Below `/app`: `/collections/articles?tab=history`. */
  path?: string;
  /** The user; null for none. The admin by default. */
  as?: { email: string; password: string } | null;
  dark?: boolean;
  /** Uses the width of a phone. */
  narrow?: boolean;
  /** Shows the first steps, as at the first sign-in. */
  tour?: boolean;
}

export interface App extends Served {
  /** Opens a page with its own cookies and storage. */
  visit(visit?: Visit): Promise<Page>;
  /** Opens another tab in the same browser. */
  another(page: Page, path: string): Promise<Page>;
  /** A new user with this role. */
  user(role: Role): Promise<{ email: string; password: string }>;
  /**
   * Browser errors, blocked content and external requests since the last call. There must be none at the end of a
   * test.
   */
  complaints(): string[];
  /** Ignores matching messages until the test ends. Rejected requests may appear in the console at any time. */
  mayComplain(of: RegExp): void;
}

/** Later tests reuse it: without cached files and compiled scripts, a first page takes four times as long. */
interface UsedContext {
  context: BrowserContext;
  /** The running test has no page open in it. */
  isFree: boolean;
}

const SCREEN = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * Registers the hooks. Tests are skipped without a browser, and fail if the browser reports errors.
 * @param locale the language of the browser, which the app speaks
 */
export function withApp(serving: Serving = {}, locale = 'en-US'): App {
  const program = chromiumProgram();
  before(function () {
    if (program === null) {
      console.log(INSTALL_CHROMIUM);
      this.skip();
    }
    ensureBuilt();
  });
  const contexts: UsedContext[] = [];
  // Called before the service of a test stops, because an open page would send requests to it and report errors.
  afterEach(async function () {
    const hasFailed = this.currentTest?.state === 'failed';
    if (hasFailed) await tellPages(contexts.map(({ context }) => context));
    if (hasFailed || serving.each === true) return closeAll(contexts);
    for (const used of contexts.filter(({ isFree }) => !isFree)) {
      for (const page of used.context.pages()) await page.close();
      await used.context.clearPermissions();
      used.isFree = true;
    }
  });
  after(() => closeAll(contexts));
  const served = withService(serving);
  let heard: string[] = [];
  let expected: RegExp[] = [];

  const complaints = (): string[] => {
    const unexpected = heard.filter((each) => !expected.some((pattern) => pattern.test(each)));
    heard = [];
    return unexpected;
  };
  const newContext = async (): Promise<BrowserContext> => {
    const started = await browser(program ?? '');
    const context = await started.newContext({
      baseURL: served.service.url,
      viewport: SCREEN,
      locale,
      colorScheme: 'light',
      reducedMotion: 'reduce',
    });
    // Shorter than the test's own limit, so that a failure names the awaited condition.
    context.setDefaultTimeout(60_000 * PATIENCE);
    await slowContext(context);
    return context;
  };
  const listen = async (page: Page): Promise<Page> => {
    await slowPage(page);
    page.on('console', (message) => {
      const { url } = message.location();
      // Chromium itself may look for this icon. The page does not refer to it.
      if (url.endsWith('/favicon.ico')) return;
      if (message.type() === 'error' || message.type() === 'warning') heard.push(`${message.text()} ${url}`);
    });
    page.on('pageerror', (error) => heard.push(String(error)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== served.service.url && protocol !== 'blob:') heard.push(`asked ${request.url()}`);
    });
    return page;
  };

  beforeEach(function () {
    expected = [];
    const test = this.currentTest;
    test?.timeout(test.timeout() * PATIENCE);
  });
  afterEach(() => {
    expect(complaints(), 'the browser complained').to.deep.equal([]);
  });

  return Object.assign(served, {
    complaints,
    mayComplain: (source: RegExp) => void expected.push(source),
    async visit({ path = '', as, tour = false, ...look }: Visit = {}) {
      const { url, adminEmail, adminPassword } = served.service;
      const user = as === undefined ? { email: adminEmail, password: adminPassword } : as;
      const free = contexts.find((each) => each.isFree);
      const used = free ?? { context: await newContext(), isFree: false };
      if (free === undefined) contexts.push(used);
      used.isFree = false;
      const page = await used.context.newPage();
      await prepareStorage(page, user === null ? null : { ...(await signedIn(url, user)), tour });
      await listen(page);
      await setLook(page, look);
      await page.goto(`/app${path}`);
      return page;
    },
    async another(page: Page, path: string) {
      const next = await listen(await page.context().newPage());
      await next.goto(`/app${path}`);
      return next;
    },
    async user(role: Role) {
      const account = { email: `${role}-${Date.now()}@example.com`, password: 'correct horse battery' };
      const { status, text, json: body } = await served.client('/users', json({ ...account, role }));
      expect(status, text).to.equal(200);
      const { id } = (body as { data: { id: string } }).data;
      if (role === 'admin') await choosePassword(served.client, { ...account, id });
      return account;
    },
  });
}

async function setLook(page: Page, { dark = false, narrow = false }: Pick<Visit, 'dark' | 'narrow'>): Promise<void> {
  if (dark) await page.emulateMedia({ colorScheme: 'dark' });
  if (narrow) await page.setViewportSize(PHONE);
}

async function closeAll(contexts: UsedContext[]): Promise<void> {
  for (const { context } of contexts.splice(0)) await context.close();
}

/** Shows the pages of a failed test, which are not visible otherwise. */
async function tellPages(contexts: readonly BrowserContext[]): Promise<void> {
  for (const page of contexts.flatMap((context) => context.pages())) {
    const text = await page.innerText('body', { timeout: 2_000 }).catch(String);
    console.log(`${page.url()} showed:\n${text.slice(0, 2_000)}\n`);
  }
}

/** The cookie of a login, without rendering the form. */
async function signedIn(url: string, { email, password }: { email: string; password: string }) {
  const answer = await fetch(`${url}/auth/login`, json({ email, password, mode: 'cookie' }));
  const text = await answer.text();
  expect(answer.status, text).to.equal(200);
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? [];
  const { access_token: token } = (JSON.parse(text) as { data: { access_token: string } }).data;
  const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string };
  const cookie = { name, value, domain: new URL(url).hostname, path: '/auth', httpOnly: true, secure: false };
  return { cookie, user: sub };
}

/** Removes what an earlier test stored, and stores the result of a login with a password. */
async function prepareStorage(
  page: Page,
  signIn: (Awaited<ReturnType<typeof signedIn>> & { tour: boolean }) | null,
): Promise<void> {
  await page.context().clearCookies();
  // Any page of the service gives access to its storage.
  await page.goto('/server/ping');
  await page.evaluate(`(async () => {
    localStorage.clear();
    for (const { name } of await indexedDB.databases())
      await new Promise((resolve) => {
        const deletion = indexedDB.deleteDatabase(name);
        deletion.onsuccess = deletion.onerror = resolve;
      });
  })()`);
  if (signIn === null) return;
  const { cookie, user, tour } = signIn;
  await page.context().addCookies([{ ...cookie, sameSite: 'Strict', expires: -1 }]);
  await page.evaluate("localStorage.setItem('dps.session', '1')");
  if (!tour) await page.evaluate(`localStorage.setItem('dps.tour.${user}', 'finished')`);
}

/** Milliseconds for controls to change, for example to become enabled. axe misreads the colours in between. */
const SETTLED = 20_000;

/** Minimum number of checks, because one check of a long page can take longer than that on a busy machine. */
const CHECKS = 5;

/** axe must find nothing on the page after it has settled. */
export async function expectAccessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>('window.axe?.run !== undefined'))) await page.evaluate(readFileSync(AXE, 'utf8'));
  const end = Date.now() + SETTLED;
  let violations = await violationsOn(page);
  for (let checks = 1; violations.length > 0 && (checks < CHECKS || Date.now() < end); checks++)
    violations = await violationsOn(page);
  expect(violations, page.url()).to.deep.equal([]);
}

async function violationsOn(page: Page): Promise<string[]> {
  // Ends colour transitions, but does not wait for endless animations.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter((each) => Number.isFinite(each.effect.getComputedTiming().endTime)).map((each) => each.finished.catch(() => undefined))).then(() => undefined)',
  );
  return page.evaluate<string[]>(VIOLATIONS);
}

/** Reads the result in the page. Passing the passed checks of all elements to the test takes longer than the checks. */
const VIOLATIONS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`;

const LOOKS = [
  { colorScheme: 'dark', size: PHONE },
  { colorScheme: 'light', size: SCREEN },
] as const;

/**
 * The page must be accessible, and fit a narrow dark window and then a wide light window.
 * @param isReady waits until the page has changed its layout
 */
export async function expectAccessibleInEachLook(
  page: Page,
  isReady: () => Promise<void> = async () => {},
): Promise<void> {
  for (const { colorScheme, size } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    await isReady();
    await expectAccessible(page);
    await expectFits(page);
  }
}

/** Nothing may exceed the width of the page after layout. */
export const expectFits = (page: Page): Promise<void> =>
  until(`${page.url()} is not wider than the window`, () =>
    page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
  );

/** Waits for this number of elements. The page may still add or remove some. */
export const expectCount = (elements: Locator, count: number): Promise<void> =>
  until(`there are ${count} of ${elements.toString()}`, async () => (await elements.count()) === count);

/** Waits for the value of an input, which a page may set after rendering. */
export const expectValue = (input: Locator, value: string): Promise<void> =>
  until(`${input.toString()} has the value ${value}`, async () => (await input.inputValue()) === value);

/** A page sets its title after rendering. */
export const expectTitle = (page: Page, title: string): Promise<void> =>
  until(`the title is ${title}`, async () => (await page.title()) === title);

/** Waits until the page has a heading and nothing is loading. */
export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('main :is(h1, h2)').first().waitFor();
  await expectCount(page.locator('main [role=status][aria-label]'), 0);
}

/** Returns the list of the router, so that it includes new pages: `/collections/$name`. */
export async function routesOf(page: Page): Promise<string[]> {
  await page.locator('main :is(h1, h2)').first().waitFor();
  const routes = await page.evaluate<string[]>('Object.keys(window.__TSR_ROUTER__.routesByPath)');
  expect(routes).to.include.members(['/', '/collections/$name', '/operations/trash', '/docs/$page']);
  return routes;
}

/** Returns the texts of controls that are cut off by their own edges or by the window. */
export const cutOffIn = async (page: Page): Promise<string[]> => [
  ...(await page.evaluate<string[]>(CUT)),
  ...(await page.evaluate<string[]>(OUTSIDE)),
];

/** Labels that are wider than their space, and navigation links on two lines. */
const CUT = `[...document.querySelectorAll(
  '.mantine-Button-label, .mantine-SegmentedControl-label, .mantine-Tabs-tabLabel, label, main button, nav a',
)]
  .filter((each) => each.offsetParent !== null && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.textContent)`;

/**
 * Controls outside the window, unless their container scrolls sideways, and selected tabs outside the window. Visually
 * hidden inputs have a label instead.
 */
const OUTSIDE = `(() => {
  const isReachable = (element) => {
    for (let each = element.parentElement; each !== null; each = each.parentElement)
      if (/auto|scroll/.test(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth) return true;
    return false;
  };
  const isOutside = (element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 1 && (left < -1 || right > document.documentElement.clientWidth + 1);
  };
  const nameOf = (element) => element.getAttribute('aria-label') || element.textContent || element.outerHTML.slice(0, 120);
  const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, [role=tab]')].filter(
    (each) => each.checkVisibility({ opacityProperty: true }) && each.getAttribute('href') !== '#page',
  );
  const chosen = [...document.querySelectorAll('[role=tab][aria-selected=true], [aria-current=page]')];
  return [
    ...controls.filter((each) => isOutside(each) && !isReachable(each)),
    ...chosen.filter(isOutside),
  ].map(nameOf);
})()`;
