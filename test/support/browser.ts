/** Chromium for tests of the admin app, as installed on this machine. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { atEnd } from './at-end.js';

/** The headless shell comes first: it loads a page of the app in about half the time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

export const INSTALL_CHROMIUM =
  'Skipped: tests of the admin app need Chromium (apt-get install chromium-headless-shell), in PATH or named by CHROMIUM.';

/** The path from CHROMIUM or PATH; null if there is none. */
export function chromiumProgram(): string | null {
  const named = process.env['CHROMIUM'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const places = named ? [named] : folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return places.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

let launched: Promise<Browser> | undefined;

/** One for all tests of a process. */
export function browser(executablePath: string): Promise<Browser> {
  launched ??= launch(executablePath);
  return launched;
}

async function launch(executablePath: string): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  // Chromium cannot create its sandbox as root, as in containers; it loads only our pages.
  const started = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  // Mocha ends worker processes with their browser; in other processes the browser lives until the end.
  if (process.env['MOCHA_WORKER_ID'] === undefined) atEnd(() => started.close());
  return started;
}
