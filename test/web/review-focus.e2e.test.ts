import { expect } from 'chai';
import type { Locator, Page, Route } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input', schema: {} });

describe('the buttons of a review, with the keyboard', () => {
  const app = withApp();
  let then = 0;

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };
  const batches = async () =>
    ((await app.client('/history/batches?limit=1000')).json as { data: object[] }).data.length;
  const expectFocus = (place: Locator) => place.and(place.page().locator(':focus')).waitFor();
  const apply = (page: Page) => page.getByRole('button', { name: 'Apply', exact: true });
  const free = (button: Locator) => button.and(button.page().locator(':not([aria-disabled])'));

  before(async () => {
    await send('/collections', { collection: 'articles', schema: {}, fields: [field('title')] });
    await app.api.sql('insert into articles default values');
    then = ((await app.client('/server/info')).json as { data: { position: number } }).data.position;
    await send('/fields/articles', field('body'));
  });

  it('keep the focus on Apply, which is disabled while a plan is loading', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    const held: (() => void)[] = [];
    const hold = async (route: Route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    };
    await page.route('**/schema/apply?explain=true', hold);
    await page.goto(`/app/review?to=${then}`);
    await apply(page).and(page.locator('[aria-disabled=true]')).waitFor();
    const before = await batches();
    await apply(page).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Space');
    await expectFocus(apply(page));
    await page.unroute('**/schema/apply?explain=true', hold);
    for (const release of held) release();
    await free(apply(page)).waitFor();
    await expectFocus(apply(page));
    expect(await batches(), 'nothing was applied before the plan was there').to.equal(before);
    await page.keyboard.press('Enter');
    const sure = page.getByRole('button', { name: 'Delete data: body' });
    await expectFocus(sure);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await batches()).to.equal(before + 1);
    await send('/fields/articles', field('body'));
  });

  it('keep the focus on Dry run and Apply while they run, and when no response comes', async () => {
    app.mayComplain(/ERR_FAILED/);
    const page = await app.visit({ path: `/review?to=${then}` });
    await free(apply(page)).waitFor();
    const dryRun = page.getByRole('button', { name: 'Dry run' });
    await dryRun.focus();
    await page.keyboard.press('Enter');
    await page.getByText('The dry run succeeded. Nothing was changed.').waitFor();
    await expectFocus(dryRun);
    const lose = (route: Route) => route.abort();
    await page.route('**/schema/apply', lose);
    await apply(page).focus();
    await page.keyboard.press('Enter');
    const sure = page.getByRole('button', { name: 'Delete data: body' });
    await expectFocus(sure);
    await page.keyboard.press('Enter');
    await page.getByText('applies the change only once').waitFor();
    await expectFocus(sure);
    await page.unroute('**/schema/apply', lose);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
  });
});
