/** A service for the tests of a `describe`: started before and stopped after them. */
import { type Api, createApi } from './api.js';
import type { Client } from './client.js';
import { expectConsistent } from './consistent.js';
import { type TestService, startService } from './service.js';

export interface Served {
  service: TestService;
  /** given/when/then over HTTP, as the admin. */
  api: Api;
  /** Any call as the admin. */
  client: Client;
}

export interface Serving {
  /** As in `startService`. A function is called before the service starts. */
  settings?: Readonly<Record<string, string>> | (() => Promise<Record<string, string>>);
  /** A separate service for each test. */
  each?: boolean;
  /** At the end, the rows and the catalog must match the log. */
  consistent?: boolean;
  /** Additional cleanup before the service stops. */
  atEnd?: () => Promise<void>;
}

/**
 * Registers the hooks, so that later hooks find the service running. The result is empty until then, and changes per
 * test with `each`.
 */
export function withService({ settings, each = false, consistent = false, atEnd }: Serving = {}): Served {
  const service = {} as TestService;
  const api = {} as Api;
  let running = false;

  (each ? beforeEach : before)(async () => {
    Object.assign(service, await startService(typeof settings === 'function' ? await settings() : settings));
    Object.assign(api, createApi(service));
    running = true;
  });
  (each ? afterEach : after)(async () => {
    // The service may not have started.
    if (!running) return;
    running = false;
    try {
      await atEnd?.();
      if (consistent) await expectConsistent(service.databaseUrl);
    } finally {
      await api.stop();
      await service.stop();
    }
  });

  return { service, api, client: (path, send) => api.client(path, send) };
}
