/** Service processes that are killed one after another, on a database whose steps can be stopped. */
import { expect } from 'chai';
import pg from 'pg';
import { type Gates, makeGates } from './gates.js';
import { type TestDatabase, createDatabase } from './postgres.js';
import { type ServiceProcess, spawnService } from './process.js';

const TOKEN = 'test-admin-token-0123456789abcdef';

/** Set before the tests of the suite. */
export interface KilledService {
  database: TestDatabase;
  db: pg.Client;
  gates: Gates;
  /** Starts another process; requests use the newest. */
  start(): Promise<void>;
  current(): ServiceProcess;
  kill(): Promise<void>;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** @throws AssertionError unless the response is a success */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
}

/**
 * Starts with one process and ends with none.
 * @param settings of each, in addition to the database and its admin
 */
export function withKilledService(settings: Readonly<Record<string, string>> = {}): KilledService {
  const processes: ServiceProcess[] = [];
  let url = '';
  const send: KilledService['send'] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const services = {
    async start() {
      const admin = { ADMIN_TOKEN: TOKEN, ADMIN_PASSWORD: 'correct horse' };
      const service = spawnService({ DATABASE_URL: services.database.connectionString, ...admin, ...settings });
      processes.push(service);
      ({ url } = await service.ready());
    },
    current: () => processes.at(-1) as ServiceProcess,
    kill: async () => void (await processes.at(-1)?.end('SIGKILL')),
    send,
    async call<T>(method: string, path: string, body?: unknown) {
      const answer = await send(method, path, body);
      const text = await answer.text();
      expect(answer.ok, `${method} ${path}: ${answer.status} ${text}`).to.equal(true);
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
  } as KilledService;

  before(async () => {
    services.database = await createDatabase('migrated');
    services.db = new pg.Client({ connectionString: services.database.connectionString });
    await services.db.connect();
    services.gates = await makeGates(services.database.connectionString);
    await services.start();
  });
  after(async () => {
    await Promise.all(processes.map((service) => service.end('SIGKILL')));
    await services.gates.end();
    await services.db.end();
    await services.database.drop();
  });
  return services;
}
