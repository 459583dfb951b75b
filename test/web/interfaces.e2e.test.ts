import { expect } from 'chai';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the interface of a field in the admin app', () => {
  const app = withApp();

  before(async () => {
    const fields = [
      { field: 'state', type: 'string', interface: 'input', options: { trim: true, ours: [1] } },
      {
        field: 'sizes',
        type: 'csv',
        interface: 'select-multiple-dropdown',
        options: {
          choices: [
            { text: 'One', value: 1, color: 'red' },
            { text: 'Two', value: 2 },
          ],
        },
      },
      { field: 'words', type: 'csv', interface: 'tags' },
      { field: 'odd', type: 'string', interface: 'our-own-interface', options: { ours: [1] } },
    ];
    const { status, text } = await app.client('/collections', json({ collection: 'orders', schema: {}, fields }));
    expect(status, text).to.equal(200);
  });

  it('has a form for its own options, a preview, and keeps unknown options', async () => {
    const page = await app.visit({ path: '/collections/orders?edit=field&of=state' });
    await page.getByRole('button', { name: 'Appearance' }).click();
    const options = page.getByRole('group', { name: 'Interface options' });
    expect(await options.getByLabel('Trim spaces at both ends').isChecked()).to.equal(true);
    await options.getByLabel('Placeholder').fill('Draft');
    await page.getByTestId('interface-preview').getByPlaceholder('Draft').waitFor();
    await expectAccessible(page);
    await options.getByRole('switch', { name: 'Edit as JSON' }).click();
    expect(JSON.parse(await options.getByLabel('Interface options').inputValue())).to.deep.equal({
      trim: true,
      ours: [1],
      placeholder: 'Draft',
    });
    await options.getByRole('switch', { name: 'Edit as JSON' }).click();
    // The list is searched by label too.
    await page.getByRole('combobox', { name: 'Interface', exact: true }).fill('radio');
    await page.getByRole('option', { name: 'select-radio' }).click();
    await options.getByRole('button', { name: 'Add a choice' }).click();
    await options.getByLabel('Value 1').fill('paid');
    await options.getByLabel('Text 1').fill('Paid in full');
    await page.getByTestId('interface-preview').getByText('Paid in full').waitFor();
    await page.getByRole('combobox', { name: 'Display', exact: true }).fill('formatted-value');
    await page.getByRole('group', { name: 'Display options' }).getByLabel('Suffix').fill(' EUR');
    await page.getByTestId('display-preview').getByText('Sample text EUR').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expectAccessible(page);
    await expectFits(page);
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const { data } = (await app.client('/fields/orders/state')).json as { data: { meta: object } };
    expect(data.meta).to.deep.include({
      interface: 'select-radio',
      options: { trim: true, ours: [1], placeholder: 'Draft', choices: [{ text: 'Paid in full', value: 'paid' }] },
      display: 'formatted-value',
      display_options: { suffix: ' EUR' },
    });
  });

  it('keeps values that are not edited, and stores that an option is off if it is on by default', async () => {
    const page = await app.visit({ path: '/collections/orders?edit=field&of=sizes' });
    const options = page.getByRole('group', { name: 'Interface options' });
    const optionsAsJson = async (): Promise<unknown> => {
      await options.getByRole('switch', { name: 'Edit as JSON' }).click();
      return JSON.parse(await options.getByLabel('Interface options').inputValue()) as unknown;
    };
    await page.getByRole('button', { name: 'Appearance' }).click();
    await options.getByLabel('Text 2').fill('Two of them');
    expect(await optionsAsJson()).to.deep.equal({
      choices: [
        { text: 'One', value: 1, color: 'red' },
        { text: 'Two of them', value: 2 },
      ],
    });
    await page.goto('/app/collections/orders?edit=field&of=words');
    await page.getByRole('button', { name: 'Appearance' }).click();
    const custom = options.getByLabel('Allow other tags');
    expect(await custom.isChecked()).to.equal(true);
    await custom.click();
    expect(await optionsAsJson()).to.deep.equal({ allowCustom: false });
  });

  it('has its options as JSON if the interface is unknown', async () => {
    const page = await app.visit({ path: '/collections/orders?edit=field&of=odd' });
    await page.getByRole('button', { name: 'Appearance' }).click();
    const options = page.getByRole('group', { name: 'Interface options' });
    expect(await options.getByLabel('Interface options').inputValue()).to.include('"ours"');
    expect(await page.getByTestId('interface-preview').count()).to.equal(0);
  });
});
