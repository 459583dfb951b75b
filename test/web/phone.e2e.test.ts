/** On a phone, no text or control of the app is cut off. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { cutOffIn, expectFits, routesOf, waitUntilLoaded, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { TABS } from '../../src/web/pages/collection/search.js';

describe('the admin app on a phone', () => {
  const app = withApp();
  let createdCount = 0;

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    const answer = await app.client('/collections', json({ collection: 'articles', schema: {}, fields }));
    expect(answer.status, answer.text).to.equal(200);
    createdCount = Number(answer.headers.get('x-log-position'));
    const more = { field: 'note', type: 'string', interface: 'input', schema: {} };
    expect((await app.client('/fields/articles', json(more))).status).to.equal(200);
  });

  const expectWhole = async (page: Page) => {
    expect(await cutOffIn(page), page.url()).to.deep.equal([]);
    await expectFits(page);
  };

  it('shows the name of a collection in one line, and its actions below', async () => {
    const page = await app.visit({ path: '/collections/articles', narrow: true });
    const heading = page.getByRole('heading', { name: 'articles' });
    await page.getByRole('row', { name: /title/ }).waitFor();
    const [name, edit] = await Promise.all([
      heading.boundingBox(),
      page.getByRole('button', { name: 'Edit', exact: true }).boundingBox(),
    ]);
    expect(name?.height, 'one line').to.be.below(50);
    expect(edit?.y, 'below the name').to.be.above((name?.y ?? 0) + (name?.height ?? 0) - 1);
    await expectWhole(page);
  });

  it('shows all buttons of a review and all pages of the navigation', async () => {
    const page = await app.visit({ path: `/review?to=${createdCount}`, narrow: true });
    const apply = page.getByRole('button', { name: /^Apply(: delete .*)?$/ });
    await apply.and(page.locator(':not([aria-disabled])')).waitFor();
    await expectWhole(page);
    const lines = await page.evaluate<number[]>(
      `[...document.querySelectorAll('nav[aria-label=Pages] a')].map((each) => Math.round(each.getBoundingClientRect().height))`,
    );
    expect(new Set(lines).size, `heights ${lines.join(', ')}`).to.equal(1);
  });

  it('saves the diagram while a collection is selected: its card does not cover the button', async () => {
    const page = await app.visit({ path: '?c=articles', narrow: true });
    const save = page.getByRole('button', { name: 'Save the diagram' });
    await save.waitFor();
    const [card, button] = await Promise.all([
      page.getByRole('complementary', { name: 'About articles' }).boundingBox(),
      save.boundingBox(),
    ]);
    expect(card?.x, 'beside the button').to.be.above((button?.x ?? 0) + (button?.width ?? 0));
    await expectFits(page);
    await save.click();
    await expectWhole(page);
    const svg = page.getByRole('menuitem', { name: 'SVG' });
    const [download] = await Promise.all([page.waitForEvent('download'), svg.click()]);
    expect(download.suggestedFilename()).to.equal('schema.svg');
  });

  it('cuts off no control on any page, and shows the selected tab', async function () {
    this.timeout(600_000);
    app.mayComplain(/status of 404/);
    const page = await app.visit({ narrow: true });
    const filled = (await routesOf(page)).map((route) =>
      route.replace('$name', 'articles').replace('$page', 'concepts'),
    );
    const tabs = TABS.map((tab) => `/collections/articles?tab=${tab}`);
    const sources = ['/review?bring=true', `/review?to=${createdCount}`, '/timeline/compare?from=0&to=now'];
    const faults: Record<string, string[]> = {};
    for (const address of new Set([...filled, ...tabs, ...sources])) {
      await page.goto(`/app${address}`);
      await waitUntilLoaded(page);
      const found = await cutOffIn(page);
      if (found.length > 0) faults[address] = found;
    }
    expect(faults).to.deep.equal({});
  });

  /** Every control of the dialog can be scrolled into view, and nothing covers it. */
  const expectReachable = async (dialog: Locator) => {
    await expectWhole(dialog.page());
    const controls = dialog.locator('button:enabled:not([aria-disabled=true]), input:enabled, select, textarea');
    for (const control of await controls.all()) {
      // A visually hidden input has a label instead.
      if (await control.isVisible()) await control.click({ trial: true, timeout: 5_000 });
    }
  };

  it('shows dialogs whole, with every control within reach', async function () {
    this.timeout(300_000);
    await app.client('/collections', json({ collection: 'old', schema: {}, fields: [] }));
    expect((await app.client('/collections/old', { method: 'DELETE' })).status).to.equal(204);
    const dialogs: [path: string, button: string][] = [
      ['/accounts', 'New user'],
      ['/accounts', 'Edit Admin'],
      ['/accounts', 'Tokens of Admin'],
      ['/operations/trust', 'New rule'],
      ['/operations/webhooks', 'New webhook'],
      ['/operations/environments', 'Connect environment'],
      ['/operations/trash', 'Restore old'],
      ['/operations/trash', 'Purge old'],
    ];
    const page = await app.visit({ path: '/accounts', narrow: true });
    for (const [path, name] of dialogs) {
      await page.goto(`/app${path}`);
      await page.getByRole('button', { name }).click();
      await expectReachable(page.getByRole('dialog'));
    }
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Change password' }).click();
    await expectReachable(page.getByRole('dialog', { name: 'Change password' }));
  });

  it('shows the whole button that copies a secret', async () => {
    const page = await app.visit({ path: '/accounts', narrow: true });
    await page.getByRole('button', { name: 'New user' }).click();
    const invitation = page.getByRole('dialog', { name: 'New user' });
    await invitation.getByLabel('E-mail').fill('someone.with.a.long.address@subsidiary.example.com');
    await invitation.getByLabel('Create an invitation link').check();
    await invitation.getByRole('button', { name: 'Create user' }).click();
    await invitation.getByRole('button', { name: 'Copy the link' }).waitFor();
    await expectReachable(invitation);
    await page.goto('/app/accounts');
    await page.getByRole('button', { name: 'Tokens of Admin' }).click();
    const tokens = page.getByRole('dialog', { name: 'Tokens of Admin' });
    await tokens.getByLabel('Name of a new token').fill('nightly');
    await tokens.getByRole('button', { name: 'Create token' }).click();
    await tokens.getByRole('button', { name: 'Copy the token' }).waitFor();
    await expectReachable(tokens);
  });
});
