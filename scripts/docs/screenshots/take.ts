/** Takes one screenshot after signing in, opening the page and preparing it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Service } from '../../bench/servers.js';
import type { Furnished } from './furnish.js';

export interface Picture {
  /** File name without extension. */
  name: string;
  /** Path below /app. */
  path: string | ((furnished: Furnished) => string);
  /** Steps and expectations before the screenshot. */
  ready(page: Page, furnished: Furnished): Promise<unknown>;
  dark?: boolean;
}

export interface Studio {
  /** A page that is signed in. */
  context: BrowserContext;
  furnished: Furnished;
  folder: string;
}

/** WebP quality at which text stays sharp. */
const QUALITY = 82;

interface StudioOptions {
  chromium: Browser;
  service: Service;
  furnished: Furnished;
  folder: string;
}

/** One browser with one session for all screenshots. */
export async function openStudio({ chromium, service, furnished, folder }: StudioOptions): Promise<Studio> {
  const context = await chromium.newContext({
    baseURL: service.url,
    viewport: { width: 1280, height: 800 },
    deviceScaleFactor: 1.5,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  const page = await context.newPage();
  await page.goto('/app/');
  await signIn(page, furnished);
  await page.close();
  return { context, furnished, folder };
}

/**
 * GitHub shows WebP and Chromium writes it, in a third of the size of PNG.
 * @returns bytes
 */
export async function takePicture({ context, furnished, folder }: Studio, picture: Picture): Promise<number> {
  const { name, path, dark = false } = picture;
  const page = await context.newPage();
  try {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await page.goto(`/app${typeof path === 'string' ? path : path(furnished)}`);
    await picture.ready(page, furnished);
    // Waits for icons and other pending requests.
    await page.waitForLoadState('networkidle').catch(() => undefined);
    await page.waitForTimeout(400);
    const session = await context.newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    const bytes = Buffer.from(data, 'base64');
    writeFileSync(join(folder, `${name}.webp`), bytes);
    return bytes.length;
  } finally {
    await page.close();
  }
}

async function signIn(page: Page, { email, password }: Furnished): Promise<void> {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await page.getByRole('button', { name: 'Close the first steps' }).click();
}
