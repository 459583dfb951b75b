/** The whole service in this process, each on its own database. */
import { Writable } from 'node:stream';
import { createService } from '../../src/app.js';
import { readConfig, secretsOf } from '../../src/config.js';
import { createLogger } from '../../src/logger.js';
import { throughPooler } from './pooler.js';
import { createDatabase } from './postgres.js';

export interface TestService {
  url: string;
  /** A static token of the admin. */
  adminToken: string;
  adminEmail: string;
  adminPassword: string;
  databaseUrl: string;
  /** The service's log so far, one JSON object per line. */
  log(): string;
  /** Stops the service, and drops the database if it was created here. */
  stop(): Promise<void>;
}

const ADMIN = { email: 'admin@example.com', password: 'correct horse', token: 'test-admin-token-0123456789abcdef' };

const defaultSchemaOf = ({ DB_SCHEMA, DB_SCHEMAS }: Readonly<Record<string, string>>): string =>
  DB_SCHEMA ?? DB_SCHEMAS?.split(',')[0] ?? 'public';

/**
 * @param overrides settings by name, `{ LOCK_TIMEOUT: '200ms' }`. With a DATABASE_URL the service joins that
 * database, which the caller keeps, so that several services can share one.
 */
export async function startService(overrides: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const schema = defaultSchemaOf(overrides);
  const database =
    overrides['DATABASE_URL'] === undefined ? await createDatabase(schema === 'public' ? 'migrated' : 'empty') : null;
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const settings: Record<string, string> = {
    PORT: '0',
    DB_POOL: '5',
    ADMIN_EMAIL: ADMIN.email,
    ADMIN_PASSWORD: ADMIN.password,
    ADMIN_TOKEN: ADMIN.token,
    LOG_FORMAT: 'json',
    ...(database && { DATABASE_URL: database.connectionString }),
    ...overrides,
  };
  const ways = await throughPooler(settings);
  const config = readConfig({ ...settings, ...ways });
  const logger = createLogger({ ...config.log, secrets: secretsOf(config), stream });
  const service = await createService(config, logger).catch(async (error: unknown) => {
    await database?.drop();
    throw error;
  });
  return {
    url: service.url,
    adminToken: config.admin.token ?? ADMIN.token,
    adminEmail: config.admin.email ?? ADMIN.email,
    adminPassword: config.admin.password ?? ADMIN.password,
    databaseUrl: settings['DATABASE_URL'] ?? '',
    log: () => lines.join(''),
    async stop() {
      await service.stop();
      await database?.drop();
    },
  };
}
