import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { cutOff, projectionsPass, rewrite, tamper } from '../support/tamper.js';

const NOTES = 30;
/** The last position of the log at the start of each test. */
const HEAD = NOTES + 1;

describe('the verification page of the admin app', () => {
  const app = withApp({ each: true });

  beforeEach(async () => {
    const created = await app.client('/collections', json({ collection: 'articles', schema: {} }));
    expect(created.status, created.text).to.equal(200);
    for (let note = 1; note <= NOTES; note++) {
      await app.client('/collections/articles', json({ meta: { note: `Zürich ${note} \u2028 😀` } }, 'PATCH'));
    }
  });

  const checked = async (page: Page): Promise<Page> => {
    await page.getByRole('button', { name: /^Verify (?:the event log|\d)/ }).click();
    await page.getByText(/^The hash chain is (?:valid|broken)/).waitFor();
    return page;
  };
  const broken = async (position: number, reason: RegExp | string): Promise<void> => {
    const page = await checked(await app.visit({ path: '/verification' }));
    await page.getByText(`The hash chain is broken at event ${position}`).waitFor();
    await page.getByText(reason).waitFor();
  };

  it('recomputes the chain, shows the hash of its head, and compares it with a stored one', async () => {
    const page = await app.visit({ path: '/timeline' });
    await page.getByRole('link', { name: 'Verification' }).click();
    await checked(page);
    await page.getByText(`The hash chain is valid: ${HEAD} events`).waitFor();
    const { json: event } = await app.client(`/history/events/${HEAD}`);
    const { hash } = (event as { data: { hash: string } }).data;
    await page.getByText(hash, { exact: true }).waitFor();
    await page.getByLabel('Expected hash of the last event').fill(hash.toUpperCase());
    await page.getByText('The hash of the last event matches').waitFor();
    await page.getByLabel('Expected hash of the last event').fill('0'.repeat(64));
    await page.getByText('The hash of the last event differs').waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });

  it('names the event in which one byte was changed', async () => {
    await tamper(app.service.databaseUrl, async (client) => {
      await client.query(
        `UPDATE service.service_events SET data = replace(data::text, 'Zürich 8 ', 'Zürich 9 ')::jsonb WHERE position = 9`,
      );
    });
    await broken(9, /its hash does not match its content/);
  });

  it('names the event that is missing', async () => {
    await projectionsPass(app.service.databaseUrl, 12);
    await tamper(app.service.databaseUrl, async (client) => {
      await client.query('DELETE FROM service.service_events WHERE position = 12');
    });
    await broken(12, /it is missing/);
  });

  it('names the first of two swapped events', async () => {
    await projectionsPass(app.service.databaseUrl, 21);
    await tamper(app.service.databaseUrl, async (client) => {
      await client.query(`UPDATE service.service_events SET position = 9999 WHERE position = 20`);
      await client.query(`UPDATE service.service_events SET position = 20 WHERE position = 21`);
      await client.query(`UPDATE service.service_events SET position = 21 WHERE position = 9999`);
    });
    await broken(20, /its previous_hash is not the hash of position 19/);
  });

  it('compares checkpoints with the log, which shows a rewritten or truncated log', async () => {
    const { text } = await app.client('/history/checkpoint');
    const take = async (): Promise<Page> => {
      const page = await app.visit({ path: '/verification', narrow: true, dark: true });
      const chooser = page.waitForEvent('filechooser');
      await page.getByRole('button', { name: 'Checkpoint files' }).click();
      await (await chooser).setFiles({ name: 'mine.checkpoint', mimeType: 'text/plain', buffer: Buffer.from(text) });
      return checked(page);
    };
    const page = await take();
    await page.getByText('mine.checkpoint: matches').waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await rewrite(app.service.databaseUrl, (events) =>
      events.map((event, index) => (index === 5 ? { ...event, reason: 'never said' } : event)),
    );
    const forged = await take();
    await forged.getByText('The hash chain is valid').waitFor();
    await forged.getByText('mine.checkpoint: differs').waitFor();
    await forged.getByText(`The hash at position ${HEAD} differs`).waitFor();
    await cutOff(app.service.databaseUrl, 3);
    await (await take()).getByText(`The event log ends at position ${HEAD - 3}`).waitFor();
  });
});
