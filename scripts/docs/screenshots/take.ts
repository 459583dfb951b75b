/** One picture: signed in, gone to, made ready, taken. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Service } from '../../bench/servers.js';
import type { Furnished } from './furnish.js';

export interface Picture {
  /** Of its file, without the ending. */
  name: string;
  /** Below /app. */
  path: string | ((furnished: Furnished) => string);
  /** What has to be seen, or done, before it is taken. */
  ready(page: Page, furnished: Furnished): Promise<unknown>;
  dark?: boolean;
}

export interface Studio {
  /** Signed in. */
  context: BrowserContext;
  furnished: Furnished;
  folder: string;
}

/** Of WebP: letters stay sharp. */
const QUALITY = 82;

interface StudioOptions {
  chromium: Browser;
  service: Service;
  furnished: Furnished;
  folder: string;
}

/** One browser for all pictures, in which somebody has signed in once. */
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

/** GitHub shows WebP, and Chromium writes it: a third of what PNG takes. @returns bytes */
export async function takePicture({ context, furnished, folder }: Studio, picture: Picture): Promise<number> {
  const { name, path, dark = false } = picture;
  const page = await context.newPage();
  try {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await page.goto(`/app${typeof path === 'string' ? path : path(furnished)}`);
    await picture.ready(page, furnished);
    // Icons, and whatever else is on its way.
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
}
