/** A service for the tests of a `describe`: started before them, stopped after them, whether they passed or not. */
import { type Api, createApi } from './api.js';
import type { Client } from './client.js';
import { expectConsistent } from './consistent.js';
import { type TestService, startService } from './service.js';

export interface Served {
  service: TestService;
  /** given/when/then over HTTP, as the admin. */
  api: Api;
  /** Any call, as the admin. */
  client: Client;
}

export interface Serving {
  /** As `startService` takes them. */
  settings?: Readonly<Record<string, string>>;
  /** A service of its own for each test. */
  each?: boolean;
  /** In the end the rows and the catalog must be as the log says. */
  consistent?: boolean;
  /** What else is to be done before the service is stopped. */
  atEnd?: () => Promise<void>;
}

/**
 * Registers the hooks where it is called, so that hooks below it find the service running.
 * What it gives is empty until then, and is another service's in the next test where `each` has one of its own.
 */
export function withService({ settings, each = false, consistent = false, atEnd }: Serving = {}): Served {
  const service = {} as TestService;
  const api = {} as Api;
  let running = false;

  (each ? beforeEach : before)(async () => {
    Object.assign(service, await startService(settings));
    Object.assign(api, createApi(service));
    running = true;
  });
  (each ? afterEach : after)(async () => {
    // It may not even have started.
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
