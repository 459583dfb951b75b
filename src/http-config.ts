/** Selects the settings that the HTTP layer needs. */
import type { Config } from './config.js';
import type { HttpDeps } from './http/deps.js';
import type { ConnectionOptions } from './postgres/pool.js';

/** Read requests are logged at level `debug` only. */
export function httpConfig(
  options: Config & Pick<ConnectionOptions, 'serviceSchema'>,
  about: Pick<HttpDeps['config'], 'databaseVersion' | 'release'>,
): HttpDeps['config'] {
  const { schema, serviceSchema, lockTimeout, maxBody, quotas, trustProxy, corsOrigins, app, primaryUrl, log } =
    options;
  return {
    ...about,
    schema,
    serviceSchema,
    keepDeleted: options.keep.deleted,
    keepCopyRows: options.keep.copyRows,
    lockTimeout,
    maxBody,
    quotas,
    trustProxy,
    corsOrigins,
    app,
    primaryUrl,
    logReads: log.level === 'debug',
  };
}
