import { expect } from 'chai';
import { expectAccessibleInEachLook, expectFits, withApp } from '../support/app.js';

describe('the first steps in the admin app', () => {
  const app = withApp();

  it('appear at the first sign-in in five steps, and not again after they were finished', async () => {
    const page = await app.visit({ tour: true, narrow: true });
    const tour = page.getByRole('region', { name: 'First steps' });
    const next = tour.getByRole('button', { name: 'Next step' });
    await tour.getByText('1 of 5').waitFor();
    await expectFits(page);
    await expectAccessibleInEachLook(page, () => tour.waitFor());
    for (const title of ['Draft', 'Review', 'Timeline']) {
      await next.click();
      await tour.getByRole('link', { name: title }).waitFor();
    }
    await tour.getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await tour.getByRole('button', { name: 'Previous step' }).click();
    await tour.getByText('3 of 5').waitFor();
    await page.reload();
    await tour.getByText('3 of 5').waitFor();
    await next.click();
    await next.click();
    await tour.getByRole('button', { name: 'Finish' }).click();
    await tour.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    expect(await tour.count()).to.equal(0);

    await page.keyboard.press('Control+k');
    await page.keyboard.type('first steps');
    await page.keyboard.press('Enter');
    await tour.getByText('1 of 5').waitFor();
    await tour.getByRole('button', { name: 'Close the first steps' }).click();
    await tour.waitFor({ state: 'detached' });
  });

  it('show a reader only the steps of the pages that a reader sees', async () => {
    const page = await app.visit({ tour: true, as: await app.user('reader') });
    const tour = page.getByRole('region', { name: 'First steps' });
    await tour.getByText('1 of 2').waitFor();
    await tour.getByRole('button', { name: 'Next step' }).click();
    await tour.getByRole('link', { name: 'Guides' }).click();
    await page.waitForURL(/\/app\/docs/);
  });
});
