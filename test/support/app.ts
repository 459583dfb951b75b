/** The admin app in a browser, signed in, for the tests of a `describe`. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { Role } from '../../src/auth/caller.js';
import { INSTALL_CHROMIUM, browser, chromiumProgram } from './browser.js';
import { ensureBuilt } from './built.js';
import { choosePassword, json } from './client.js';
import { PATIENCE, slowContext, slowPage } from './slow.js';
import { until } from './until.js';
import { type Served, type Serving, withService } from './with-service.js';

export interface Visit {
  /** Below `/app`: `/collections/articles?tab=history`. */
  path?: string;
  /** By whom; null: nobody is signed in. By default the admin. */
  as?: { email: string; password: string } | null;
  dark?: boolean;
  /** A phone's width. */
  narrow?: boolean;
}

export interface App extends Served {
  /** A page of its own context: cookies, storage. */
  visit(visit?: Visit): Promise<Page>;
  /** Another tab beside one. */
  another(page: Page, path: string): Promise<Page>;
  /** A new user with this role. */
  user(role: Role): Promise<{ email: string; password: string }>;
  /**
   * What browsers complained of since the last call: errors, refused content, requests to other places. There must be
   * none at the end of a test.
   */
  complaints(): string[];
  /** Until the test ends, that is no complaint: what is refused is told in the console, sooner or later than on the page. */
  mayComplain(of: RegExp): void;
}

/** Milliseconds that a test has at least: it opens several pages, on a machine that may be busy. */
const LONGEST = 90_000;

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Registers the hooks; without a browser the tests are skipped. What browsers complain of fails the test. */
export function withApp(serving: Serving = {}): App {
  const program = chromiumProgram();
  before(function () {
    if (program === null) {
      console.log(INSTALL_CHROMIUM);
      this.skip();
    }
    this.timeout(120_000);
    ensureBuilt();
  });
  const contexts: BrowserContext[] = [];
  // Before a service of each test is stopped: a page that is still open would ask it, and complain.
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await tellPages(contexts);
    for (const context of contexts.splice(0)) await context.close();
  });
  const served = withService(serving);
  let heard: string[] = [];
  let expected: RegExp[] = [];

  const complaints = (): string[] => {
    const found = heard.filter((each) => !expected.some((pattern) => pattern.test(each)));
    heard = [];
    return found;
  };
  const listen = async (page: Page): Promise<Page> => {
    await slowPage(page);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') heard.push(message.text());
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
    test?.timeout(Math.max(test.timeout(), LONGEST) * PATIENCE);
  });
  afterEach(() => {
    expect(complaints(), 'the browser complained').to.deep.equal([]);
  });

  return Object.assign(served, {
    complaints,
    mayComplain: (of: RegExp) => void expected.push(of),
    async visit({ path = '', as, dark = false, narrow = false }: Visit = {}) {
      const { url, adminEmail, adminPassword } = served.service;
      const user = as === undefined ? { email: adminEmail, password: adminPassword } : as;
      const chromium = await browser(program ?? '');
      const context = await chromium.newContext({
        ...(user && { storageState: await signedIn(url, user) }),
        baseURL: url,
        viewport: narrow ? { width: 390, height: 844 } : { width: 1280, height: 800 },
        colorScheme: dark ? 'dark' : 'light',
        reducedMotion: 'reduce',
      });
      // Sooner than the test's own limit, so that a failure says what was waited for.
      context.setDefaultTimeout(20_000 * PATIENCE);
      contexts.push(context);
      await slowContext(context);
      const page = await listen(await context.newPage());
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

/** Where a test failed, what its pages showed: whoever reads it has no other way to see them. */
async function tellPages(contexts: readonly BrowserContext[]): Promise<void> {
  for (const page of contexts.flatMap((context) => context.pages())) {
    const text = await page.innerText('body', { timeout: 2_000 }).catch(String);
    console.log(`${page.url()} showed:\n${text.slice(0, 2_000)}\n`);
  }
}

/** The cookie and the hint that signing in leaves, without drawing the form. */
async function signedIn(url: string, { email, password }: { email: string; password: string }) {
  const answer = await fetch(`${url}/auth/login`, json({ email, password, mode: 'cookie' }));
  expect(answer.status, await answer.text()).to.equal(200);
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? [];
  const cookie = { name, value, domain: new URL(url).hostname, path: '/auth', httpOnly: true, secure: false };
  return {
    cookies: [{ ...cookie, sameSite: 'Strict' as const, expires: -1 }],
    origins: [{ origin: url, localStorage: [{ name: 'dps.session', value: '1' }] }],
  };
}

interface Violation {
  id: string;
  help: string;
  nodes: { target: string[]; failureSummary?: string }[];
}

/** What axe finds on the page as it stands must be nothing. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(readFileSync(AXE, 'utf8'));
  // A colour on its way to another is none that somebody reads; what turns for ever isn't waited for.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter((each) => Number.isFinite(each.effect.getComputedTiming().endTime)).map((each) => each.finished.catch(() => undefined))).then(() => undefined)',
  );
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run()');
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  expect(told, page.url()).to.deep.equal([]);
}

/** Nothing lies beside the page's width. */
export async function expectFits(page: Page): Promise<void> {
  const [needed, has] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(needed, `${page.url()} is wider than the window`).to.be.at.most(has);
}

/** A page says its title once it is drawn. */
export const expectTitle = (page: Page, title: string): Promise<void> =>
  until(`the title is ${title}`, async () => (await page.title()) === title);
