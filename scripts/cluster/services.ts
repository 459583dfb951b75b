import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from './cluster.js';
import { type Layout, hostsUrl } from './layout.js';
import { start } from './processes.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export const ADMIN_TOKEN = 'cluster-admin-token-0123456789abcdef';

/** @param settings besides the address of the database */
export function startService(layout: Layout, index: number, settings: Readonly<Record<string, string>> = {}): void {
  start({
    directory: layout.directory,
    name: `service${index + 1}`,
    program: process.execPath,
    args: ['--enable-source-maps', MAIN],
    account: undefined,
    environment: {
      PORT: String(layout.services[index]),
      DATABASE_URL: hostsUrl(layout),
      ADMIN_TOKEN,
      ADMIN_PASSWORD: 'correct horse battery',
      LOG_FORMAT: 'json',
      DATA_DIR: join(layout.directory, 'unused'),
      ...settings,
    },
  });
}

export const serviceUrl = (layout: Layout, index: number): string => `http://127.0.0.1:${layout.services[index]}`;

export async function isWell(url: string): Promise<boolean> {
  return (await fetch(`${url}/server/health`, { signal: AbortSignal.timeout(4_000) })).ok;
}

/** One after another, because the first creates the tables. */
export async function startServices(
  layout: Layout,
  settings: Readonly<Record<string, string>> = {},
): Promise<{ urls: string[]; token: string }> {
  const urls = layout.services.map((_, index) => serviceUrl(layout, index));
  for (const [index, url] of urls.entries()) {
    startService(layout, index, settings);
    await waitFor(() => isWell(url), `answer of ${url}`, 60_000);
  }
  return { urls, token: ADMIN_TOKEN };
}
