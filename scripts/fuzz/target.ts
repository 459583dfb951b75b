/** A service with its own database, as a target for requests. */
import { readFileSync } from 'node:fs';
import { createDatabase } from '../../test/support/postgres.js';
import { spawnService } from '../../test/support/process.js';
import type { Caller } from './request.js';

export interface Target {
  url: string;
  databaseUrl: string;
  adminToken: string;
  admin: { email: string; password: string };
  /** Resident memory in bytes; null if the process is shared. */
  memory(): number | null;
  /** Its output before it exited by itself; null while it runs. */
  ended(): string | null;
  stop(): Promise<void>;
}

const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' };
const ADMIN_TOKEN = 'fuzz-admin-token-0123456789abcdef';

const PAGE = 4096;

/** The built service as a process. */
export async function startTarget(): Promise<Target> {
  const database = await createDatabase();
  const service = spawnService(
    {
      DATABASE_URL: database.connectionString,
      // A wait for a position that never exists must end before the time limit for responses.
      POSITION_TIMEOUT: '1s',
      ADMIN_EMAIL: ADMIN.email,
      ADMIN_PASSWORD: ADMIN.password,
      ADMIN_TOKEN,
      OBJECTS: 'on',
      DB_POOL: '5',
      LOG_LEVEL: 'warn',
    },
    'built',
  );
  const { url } = await service.ready();
  let lastWords: string | null = null;
  void service.ended().then(({ code, signal, stderr }) => {
    lastWords = `the service ended (${code ?? signal}): ${stderr.slice(-2_000)}`;
  });
  return {
    url,
    databaseUrl: database.connectionString,
    adminToken: ADMIN_TOKEN,
    admin: ADMIN,
    memory: () => Number(readFileSync(`/proc/${service.child.pid}/statm`, 'utf8').split(' ')[1]) * PAGE,
    ended: () => lastWords,
    async stop() {
      await service.end('SIGTERM');
      await database.drop();
    },
  };
}

type Post = (path: string, body: unknown) => Promise<{ data: { id: string; token: string } }>;

/** A token for each kind of caller. */
export async function makeCallers({ url, adminToken }: Target): Promise<Partial<Record<Caller, string>>> {
  const post: Post = async (path, body) => {
    const headers = { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { data: { id: string; token: string } };
  };
  const tokenOf = async (role: string): Promise<string> => {
    const { data: user } = await post('/users', { email: `${role}@example.com`, role });
    return (await post(`/users/${user.id}/tokens`, {})).data.token;
  };
  return {
    admin: adminToken,
    auditor: await tokenOf('auditor'),
    author: await tokenOf('author'),
    reader: await tokenOf('reader'),
    unknown: 'nobody-knows-this-token-0123456789abcdef',
  };
}
