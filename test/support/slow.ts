/**
 * Slow conditions to find races in tests of the app. SLOW_BROWSER=4: scripts take four times as long.
 * SLOW_ANSWERS=400: each request and response is delayed by up to 400 ms.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page, Route } from 'playwright-core';

const RATE = Number(process.env['SLOW_BROWSER'] ?? 1);
const MOST_MS = Number(process.env['SLOW_ANSWERS'] ?? 0);

/** The factor for test timeouts and waits. */
export const PATIENCE = RATE > 1 || MOST_MS > 0 ? 3 : 1;

export async function slowContext(context: BrowserContext): Promise<void> {
  if (MOST_MS > 0) await context.route(/^https?:/, delayRoute);
}

export async function slowPage(page: Page): Promise<void> {
  if (RATE <= 1) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: RATE });
}

/** Half of them are delayed before the service receives them, the other half afterwards. */
async function delayRoute(route: Route): Promise<void> {
  const pause = () => sleep(Math.random() * MOST_MS);
  try {
    // An endless response cannot be delayed.
    if (Math.random() < 0.5 || new URL(route.request().url()).pathname.endsWith('/stream')) {
      await pause();
      await route.continue();
    } else {
      const response = await route.fetch({ maxRedirects: 0, headers: asSent(await route.request().allHeaders()) });
      await pause();
      await route.fulfill({ response });
    }
  } catch (error) {
    // The page was closed or has navigated, so nobody waits for it. Other errors are reported.
    const isGone =
      String(error).includes('closed') ||
      (await route.abort().then(
        () => false,
        () => true,
      ));
    if (!isGone) console.log(`not sent: ${String(error)}`);
  }
}

/** As bytes, like Node: UTF-8 outside ASCII. */
const asSent = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')] as const),
  );
