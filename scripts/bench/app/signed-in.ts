/** A fresh browser context with only the session cookie. */
import type { BrowserContext } from 'playwright-core';
import { browser } from '../../../test/support/browser.js';

const EMAIL = 'admin@example.com';

export async function signedIn(program: string, url: string, password: string): Promise<BrowserContext> {
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: EMAIL, password, mode: 'cookie' }),
  });
  if (!answer.ok) throw new Error(`login: ${answer.status} ${await answer.text()}`);
  const [name = '', value = ''] = (answer.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? [];
  const cookie = { name, value, domain: new URL(url).hostname, path: '/auth', httpOnly: true, secure: false };
  return (await browser(program)).newContext({
    baseURL: url,
    viewport: { width: 1280, height: 800 },
    storageState: {
      cookies: [{ ...cookie, sameSite: 'Strict', expires: -1 }],
      origins: [{ origin: url, localStorage: [{ name: 'dps.session', value: '1' }] }],
    },
  });
}
