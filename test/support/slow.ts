/**
 * Bad conditions for tests of the app, to find what races: a browser with a slower processor, and answers that come late.
 * SLOW_BROWSER=4: scripts take four times as long. SLOW_ANSWERS=400: each request and each answer waits up to 400 ms more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page, Route } from 'playwright-core';

const RATE = Number(process.env['SLOW_BROWSER'] ?? 1);
const MOST_MS = Number(process.env['SLOW_ANSWERS'] ?? 0);

/** How much longer a test and what it waits for may take. */
export const PATIENCE = RATE > 1 || MOST_MS > 0 ? 3 : 1;

export async function slowContext(context: BrowserContext): Promise<void> {
  if (MOST_MS > 0) await context.route(/^https?:/, late);
}

export async function slowPage(page: Page): Promise<void> {
  if (RATE <= 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: RATE });
}

/** One half of them waits before the service has it, the other when it is done and nobody knows it yet. */
async function late(route: Route): Promise<void> {
  const pause = () => sleep(Math.random() * MOST_MS);
  try {
    // An answer that has no end can't be held back.
    if (Math.random() < 0.5 || new URL(route.request().url()).pathname.endsWith('/stream')) {
      await pause();
      await route.continue();
    } else {
      const response = await route.fetch({ maxRedirects: 0, headers: asSent(await route.request().allHeaders()) });
      await pause();
      await route.fulfill({ response });
    }
  } catch (error) {
    // The page was closed or has gone on: nobody waits for it any more. What else it may be is told.
    const isGone =
      String(error).includes('closed') ||
      (await route.abort().then(
        () => false,
        () => true,
      ));
    if (!isGone) console.log(`not sent: ${String(error)}`);
  }
}

/** Byte by byte, as Node takes headers: what isn't ASCII is UTF-8 in them. */
const asSent = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')] as const),
  );
