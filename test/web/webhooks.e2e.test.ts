import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Webhook as Verifier } from 'standardwebhooks';
import { expectAccessible, expectAccessibleInEachLook, withApp } from '../support/app.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

describe('the webhooks page of the admin app', () => {
  const app = withApp({ settings: { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' } });
  const path = '/operations/webhooks';
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    const { data } = await app.api.ok<{ data: { id: string }[] }>('GET', '/webhooks');
    for (const { id } of data) await app.api.ok('DELETE', `/webhooks/${id}`);
    await receiver.stop();
  });

  const create = (name: string): Promise<unknown> =>
    app.api.ok('POST', '/webhooks', { name, url: receiver.url, types: ['collection.*'] });
  const addCollection = (collection: string): Promise<unknown> =>
    app.api.ok('POST', '/collections', { collection, schema: {} });
  const card = (page: Page, name: string) =>
    page.getByRole('list', { name: 'Webhooks' }).getByRole('listitem').filter({ hasText: name }).first();

  it('creates a webhook, shows its secret once, and shows invalid input at its member', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path });
    await page.getByText('No webhooks').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'New webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'New webhook' });
    await dialog.getByLabel('Name').fill('catalog');
    await dialog.getByLabel('Address').fill('https://10.0.0.1/hook');
    await dialog.getByLabel('Event types').and(page.locator('input')).fill('nothing.*');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText(/must be an event type/).waitFor();
    await dialog.getByLabel('Event types').and(page.locator('input')).press('Backspace');
    // Closes the list of suggestions, which covers the button.
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByLabel('Address').and(page.locator('[aria-invalid=true]')).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByLabel('Collections').and(page.locator('input')).fill('shop_*');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    const secret = await dialog.getByText(/^whsec_/).innerText();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await card(page, 'catalog').getByText('CloudEvents. All events of shop_*').waitFor();
    expect(await page.getByText(/^whsec_/).count()).to.equal(0);

    await addCollection('shop_items');
    await until('the event is delivered', async () => receiver.received.length > 0);
    const [{ body, headers } = { body: '', headers: {} }] = receiver.received;
    expect(new Verifier(secret).verify(body, headers as Record<string, string>)).to.deep.include({
      subject: 'shop_items',
    });
  });

  it('sends a test, lists deliveries with their status, and delivers again from a position', async () => {
    app.mayComplain(/status of 400/);
    await create('printer');
    await addCollection('orders');
    await until('the event is delivered', async () => receiver.received.length === 1);
    const page = await app.visit({ path });
    await card(page, 'printer').getByText('Up to date').waitFor();
    await page.getByRole('button', { name: 'Send a test to printer' }).click();
    await page.getByText(/The receiver accepted the test with status 204 after/).waitFor();
    await page.getByRole('button', { name: 'Deliveries of printer' }).click();
    const deliveries = page.getByRole('list', { name: 'Last deliveries of printer' }).getByRole('listitem');
    await deliveries.filter({ hasText: 'webhook.test' }).filter({ hasText: 'status 204' }).waitFor();
    const delivered = deliveries.filter({ hasText: 'collection.created' }).filter({ hasText: 'status 204' });
    await delivered.waitFor();
    await expectAccessibleInEachLook(page);
    const position = /\d+/.exec(await delivered.innerText())?.[0] ?? '';

    await page.getByLabel('Deliver again from event').fill('1000000');
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/position must be at most \d+/).waitFor();
    await page.getByLabel('Deliver again from event').fill(position);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(`Delivery continues at event ${position}.`).waitFor();
    const repeated = () =>
      receiver.received.filter(({ headers }) => headers['webhook-id'] === receiver.received[0]?.headers['webhook-id']);
    await until('the event is delivered again', async () => repeated().length === 2);
  });

  it('shows why a webhook fails, and disables, enables, changes and deletes it', async () => {
    receiver.respond = (response) => void response.writeHead(410).end();
    await create('broken');
    await addCollection('invoices');
    const page = await app.visit({ path });
    const broken = card(page, 'broken');
    await broken.getByText('The service disabled it, because the receiver responded with status 410.').waitFor();
    await expectAccessible(page);
    receiver.respond = (response) => void response.writeHead(204).end();
    await page.getByRole('button', { name: 'Enable broken' }).click();
    await broken.getByText('enabled', { exact: true }).waitFor();
    await until('the event is delivered', async () => receiver.received.length > 1);
    await page.getByRole('button', { name: 'Disable broken' }).click();
    await broken.getByText('An admin disabled it.').waitFor();

    await page.getByRole('button', { name: 'Edit broken' }).click();
    const dialog = page.getByRole('dialog', { name: 'broken' });
    await dialog.getByLabel('Name').fill('mended');
    await dialog.getByLabel('Format').selectOption('slack');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card(page, 'mended').getByText('Slack. Events collection.*').waitFor();

    await page.getByRole('button', { name: 'Edit mended' }).click();
    const mended = page.getByRole('dialog', { name: 'mended' });
    await mended.getByRole('button', { name: 'Replace secret' }).click();
    await mended.getByRole('button', { name: 'Yes, replace secret' }).click();
    await mended.getByText(/^whsec_/).waitFor();
    await mended.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Edit mended' }).click();
    await mended.getByRole('button', { name: 'Delete' }).click();
    await mended.getByRole('button', { name: 'Yes, delete webhook' }).click();
    await page.getByText('No webhooks').waitFor();
  });

  it('is hidden from auditors', async () => {
    const page = await app.visit({ path: '/operations', as: await app.user('auditor') });
    const tabs = page.getByRole('navigation', { name: 'Operations' });
    await tabs.getByRole('link', { name: 'Metrics' }).waitFor();
    expect(await tabs.getByRole('link', { name: 'Webhooks' }).count()).to.equal(0);
  });
});
