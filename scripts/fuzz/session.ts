/** One service, what is known about it, and direct access to its database. */
import pg from 'pg';
import { startResponsiveClock } from '../../test/support/responsive-clock.js';
import { readRelease } from '../../src/release.js';
import type { Context } from './grammar/context.js';
import type { Random } from './random.js';
import { sentOf } from './leaks.js';
import { type Caller, encode, type FuzzRequest, type Reply } from './request.js';
import { createSender } from './send.js';
import { makeCallers, type Target } from './target.js';
import { createWorld, addRecent, learn, type SnapshotDoc } from './world.js';

export interface Session {
  target: Target;
  context: Context;
  /** Runs SQL directly in the database, without the service. */
  db: pg.Client;
  /** Sends a request and learns from the response. Rejects without a response. */
  execute(request: FuzzRequest): Promise<Reply>;
  /** A request of the fuzzer itself, as an admin. */
  ask<T>(method: string, path: string, body?: unknown): Promise<{ status: number; json: T; text: string }>;
  stop(): Promise<void>;
}

/** The service also appends events by itself, for change requests and the trash. These have no request. */
const NEW_EVENTS = `SELECT max(position)::int AS head, count(request_id)::int AS requested
  FROM service.service_events WHERE position > $1`;

export async function createSession(target: Target, random: Random): Promise<Session> {
  const tokens: Partial<Record<Caller, string>> = await makeCallers(target);
  const db = new pg.Client({ connectionString: target.databaseUrl });
  // The service and its database may have stopped.
  db.on('error', () => undefined);
  await db.connect();
  const clock = await startResponsiveClock(target.databaseUrl);
  const sender = createSender();
  const world = createWorld();
  const context: Context = { random, world, release: readRelease(), admin: target.admin };

  /** @returns the number of new events that belong to a request */
  const readEvents = async (): Promise<number> => {
    const { rows } = await db.query<{ head: number | null; requested: number }>(NEW_EVENTS, [world.head]);
    world.head = rows[0]?.head ?? world.head;
    return rows[0]?.requested ?? 0;
  };

  const ask: Session['ask'] = async <T>(method: string, path: string, body?: unknown) => {
    const request = { route: '', method, path, query: [], headers: {}, caller: 'admin' as const };
    const encoded = encode(body === undefined ? request : { ...request, body: { kind: 'json', value: body } }, tokens);
    const { status, text } = await sender.send(target.url, method, encoded);
    return { status, text, json: parsed(text) as T };
  };

  const look = async (): Promise<void> => {
    const { json, text } = await ask<SnapshotDoc>('GET', '/schema/snapshot');
    if (json?.collections === undefined) throw new Error(`no snapshot: ${text.slice(0, 500)}`);
    world.snapshot = json;
    const info = await ask<{ data: { hash: string } }>('GET', '/server/info');
    addRecent(world.hashes, info.json.data.hash);
  };
  await readEvents();
  await look();

  return {
    target,
    context,
    db,
    ask,
    async execute(request) {
      const before = world.head;
      for (const each of sentOf(request)) world.sent.add(each);
      const [answered, took] = await clock.timed(sender.send(target.url, request.method, encode(request, tokens)));
      const reply: Reply = { ...answered, took, json: parsed(answered.text), appended: await readEvents() };
      learn(world, request, reply);
      if (world.head > before) await look();
      return reply;
    },
    async stop() {
      sender.close();
      await clock.stop();
      await db.end().catch(() => undefined);
      await target.stop();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
