/** Faults, one after another, drawn by the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { advisoryKey, logChannel } from '../../src/postgres/locked-session.js';
import type { Verdict } from '../../test/support/proxy.js';
import type { Random } from '../fuzz/random.js';
import type { Node } from './cluster.js';

export interface Faults {
  /** Number of faults of each kind. */
  made: Map<string, number>;
  /** Causes faults until stopped, and waits until all are over. */
  run(running: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

interface FaultTarget {
  node: Node;
  random: Random;
  /** Connects directly as the owner of the database, without a proxy. */
  db: pg.Pool;
  database: string;
}

type Fault = (place: FaultTarget) => Promise<void>;

/** Cuts the connection before or after the message with a COMMIT of the log. Each cut happens at most once. */
const atCommit =
  (verdict: Verdict): Fault =>
  async ({ node, random }) => {
    let met = false;
    node.proxy.intercept((sent) => {
      if (met || !sent.includes(logChannel('public'))) return 'pass';
      met = true;
      return verdict;
    });
    await sleep(1_000 + random.below(2_000));
    node.proxy.intercept(() => 'pass');
  };

/** A manual transaction that holds a lock for some seconds. */
const holding =
  (statement: string): Fault =>
  async ({ db, random }) => {
    const client = await db.connect();
    // The service terminates an idle session that holds the log's lock. This fault tests that.
    client.on('error', () => undefined);
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = '2s'`);
      await client.query(statement);
      await sleep(500 + random.below(6_000));
    } catch {
      // Another session holds the lock.
    } finally {
      const ended = await client.query('ROLLBACK').then(
        () => false,
        () => true,
      );
      client.release(ended);
    }
  };

const newConnections =
  (outcome: 'refused' | 'never'): Fault =>
  async ({ node, random }) => {
    node.proxy.answer(outcome);
    node.proxy.cut();
    await sleep(500 + random.below(3_000));
    node.proxy.answer('through');
  };

const FAULTS: Record<string, Fault> = {
  'process killed': ({ node }) => node.restart('SIGKILL'),
  'process stopped in good order': ({ node }) => node.restart('SIGTERM'),
  async 'process stopped'({ node, random }) {
    node.signal('SIGSTOP');
    await sleep(1_000 + random.below(9_000));
    node.signal('SIGCONT');
  },
  async 'connections cut'({ node }) {
    node.proxy.cut();
  },
  async 'connections silent'({ node }) {
    node.proxy.fallSilent();
  },
  async 'answers swallowed'({ node }) {
    node.proxy.muffle();
  },
  'COMMIT done, connection cut': atCommit('pass and hang up'),
  'COMMIT lost, connection cut': atCommit('hang up'),
  'COMMIT done, connection silent': atCommit('pass and fall silent'),
  'COMMIT lost, connection silent': atCommit('fall silent'),
  'no new connections': newConnections('refused'),
  'new connections hang': newConnections('never'),
  'table locked by hand': holding('LOCK TABLE shared IN ACCESS EXCLUSIVE MODE'),
  'table read by hand': holding('SELECT count(*) FROM shared'),
  async 'log locked by hand'(place) {
    const key = advisoryKey({ database: place.database, schema: 'public' }, 'log');
    await holding(`SELECT pg_advisory_xact_lock(${key})`)(place);
  },
  async 'backend terminated'({ db }) {
    await db.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
        ORDER BY random() LIMIT 1`,
    );
  },
};

const NAMES = Object.keys(FAULTS);

/**
 * Terminates every session of the service.
 * @returns their number
 */
const TERMINATE_ALL = `
  SELECT count(pg_terminate_backend(pid))::int AS count FROM pg_stat_activity
   WHERE datname = current_database() AND application_name LIKE 'data-platform-service%'`;

const ALL_TERMINATED = 'backends terminated, all at once';

export interface FaultOptions {
  nodes: readonly Node[];
  databaseUrl: string;
  /** Only terminates all backends of the service, at this interval in milliseconds. */
  terminate: number | undefined;
  /** Called at the start of each fault. */
  trace: (line: string) => void;
}

export function createFaults({ nodes, databaseUrl, terminate, trace }: FaultOptions, random: Random): Faults {
  const db = new pg.Pool({ connectionString: databaseUrl, max: 8 });
  // Terminates its own connection too.
  db.on('error', () => undefined);
  const counts = new Map<string, number>();
  const under = new Map<Node, Promise<void>>();
  const database = new URL(databaseUrl).pathname.slice(1);

  const one = (node: Node): void => {
    const name = random.pick(NAMES);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    trace(`${name}, process ${nodes.indexOf(node)}`);
    const fault = (FAULTS[name] as Fault)({ node, random, db, database }).catch((error: unknown) => {
      process.stderr.write(`${name}: ${(error as Error).message}\n`);
    });
    under.set(
      node,
      fault.finally(() => under.delete(node)),
    );
  };

  return {
    made: counts,
    async run(running) {
      while (terminate !== undefined && running()) {
        const { rows } = await db.query<{ count: number }>(TERMINATE_ALL);
        counts.set(ALL_TERMINATED, (counts.get(ALL_TERMINATED) ?? 0) + (rows[0]?.count ?? 0));
        await sleep(terminate);
      }
      while (running()) {
        // At least one process stays unaffected.
        const free = nodes.filter((node) => !under.has(node));
        if (free.length > 1) one(random.pick(free));
        await sleep(300 + random.below(2_000));
      }
      await Promise.all(under.values());
    },
    stop: () => db.end(),
  };
}
