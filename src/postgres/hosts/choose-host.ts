/**
 * Chooses one of several hosts. All connections of a process use the same server, so that reads and writes follow one
 * log. When another host is chosen, connections to the old one are closed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { LostConnectionError, sqlState } from '../errors.js';
import type { Logger } from '../../postgres/logger.js';
import { type DatabaseAddress, type Host, parseAddress, formatHost, type SessionAttrs } from './address.js';

export interface Hosts {
  /** The chosen host. Undefined before the first choice. */
  current(): Host | undefined;
  /**
   * Returns the host to connect to. Waits for one that matches the address.
   * @param limit milliseconds
   * @throws LostConnectionError if no host matches in time, or the error of a server that rejects the connection
   */
  choose(limit: number): Promise<Host>;
  /** Returns the address with only that host. */
  of(host: Host): string;
  /** Registers a connection to `host`, which is closed when another host is chosen. */
  joined(client: pg.Client, host: Host): void;
  /** Forces the next connection to check the chosen host again, after a connection to it failed. */
  doubt(): void;
  /** The address with its first host, for properties that all hosts share. */
  any: string;
  /** Sets the logger for later switches of the host. */
  tell(logger: Logger): void;
}

/** Milliseconds for which a choice is valid without another check. */
const HOLDS = 1_000;

/** Milliseconds between two rounds while no server matches. */
const PAUSE = 250;

/**
 * Milliseconds that the other hosts get to answer after the first one matched, because one of them may be preferred.
 */
const GRACE = 150;

const hostsByAddress = new Map<string, Hosts>();

/**
 * Returns the object that all connections of this process to the address share. Null for an address with one host and
 * no requirement.
 */
export function hostsOf(connectionString: string): Hosts | null {
  const address = parseAddress(connectionString);
  if (address === undefined || (address.hosts.length === 1 && address.attrs === 'any')) return null;
  let hosts = hostsByAddress.get(connectionString);
  if (hosts === undefined) hostsByAddress.set(connectionString, (hosts = createHosts(address)));
  return hosts;
}

/** @param ask queries the state of a server */
export function createHosts(
  address: DatabaseAddress,
  ask: (connectionString: string) => Promise<Probed> = probe,
): Hosts {
  const { attrs } = address;
  let current: Host | undefined;
  let checked = -Infinity;
  let running: Promise<ProbeRound> | undefined;
  const clients = new Map<pg.Client, Host>();
  let logger: Logger | undefined;

  const round = async (): Promise<ProbeRound> => {
    const answers = await askAll(address, ask);
    const host = findBest(address, answers, current);
    if (host === undefined) return { answers };
    checked = performance.now();
    const from = current;
    current = host;
    if (from === host) return { answers, host };
    // The first choice is not a change, so only later ones are logged.
    if (from)
      logger?.warn('the address now leads to a different server', { host: formatHost(host), before: formatHost(from) });
    for (const [client, of] of clients) if (of !== host) close(client, of);
    return { answers, host };
  };

  return {
    current: () => current,
    of: (host) => address.of(host),
    doubt: () => {
      checked = -Infinity;
    },
    async choose(limit) {
      const end = performance.now() + limit;
      for (;;) {
        if (current !== undefined && performance.now() - checked < HOLDS) return current;
        running ??= round().finally(() => (running = undefined));
        const { host, answers } = await running;
        if (host !== undefined) return host;
        // A server that accepts connections may match soon, for example after a promotion, so only other errors are
        // thrown.
        const refusals = [...answers.values()].flatMap((answer) =>
          'error' in answer && isRefusal(answer.error) ? [answer.error] : [],
        );
        if (refusals.length === address.hosts.length) throw refusals[0] as Error;
        if (performance.now() + PAUSE > end) throw new LostConnectionError(describeMisfits(answers, attrs));
        await sleep(PAUSE);
      }
    },
    joined(client, host) {
      // Another host was chosen while this one was connecting.
      if (current !== host) return close(client, host);
      clients.set(client, host);
      client.once('end', () => {
        clients.delete(client);
        checked = -Infinity;
      });
    },
    any: address.of(address.hosts[0] as Host),
    tell: (to) => {
      logger = to;
    },
  };
}

interface ProbeRound {
  answers: Map<Host, Probed>;
  /** Undefined if none matches. */
  host?: Host;
}

/** Asks all hosts at once, so that an unreachable host causes no delay. */
async function askAll(
  { hosts, attrs, of }: DatabaseAddress,
  ask: (connectionString: string) => Promise<Probed>,
): Promise<Map<Host, Probed>> {
  const answers = new Map<Host, Probed>();
  let resolveFirst!: () => void;
  const oneFits = new Promise<void>((resolve) => (resolveFirst = resolve));
  const all = hosts.map(async (host) => {
    const answer = await ask(of(host));
    answers.set(host, answer);
    if ('found' in answer && matchesAttributes(answer.found, attrs)) resolveFirst();
  });
  const enough = new AbortController();
  const soon = oneFits.then(() => sleep(GRACE, undefined, { signal: enough.signal })).catch(() => undefined);
  await Promise.race([Promise.all(all), soon]);
  enough.abort();
  // Returns a copy, because answers that arrive later do not belong to this round.
  return new Map(answers);
}

/** Prefers the newest timeline, then the preferred role, then the current host, then the order of the address. */
function findBest({ hosts, attrs }: DatabaseAddress, answers: Map<Host, Probed>, current?: Host): Host | undefined {
  const fitting: { host: Host; found: ProbedServer }[] = [];
  for (const host of hosts) {
    const answer = answers.get(host);
    if (answer !== undefined && 'found' in answer && matchesAttributes(answer.found, attrs))
      fitting.push({ host, found: answer.found });
  }
  const newest = Math.max(...fitting.map(({ found }) => found.timeline ?? 0));
  const isCandidate = ({ found }: { found: ProbedServer }): boolean =>
    found.timeline === null || found.timeline === newest;
  const candidates = fitting.filter(isCandidate);
  const preferred = candidates.filter(({ found }) => attrs === 'prefer-standby' && found.standby);
  const last = preferred.length > 0 ? preferred : candidates;
  return (last.find(({ host }) => host === current) ?? last[0])?.host;
}

/**
 * Closes the connection immediately, even during a statement. The outcome of a pending COMMIT is looked up on the new
 * server.
 */
function close(client: pg.Client, host: Host): void {
  const { stream } = (client as unknown as pg.PoolClient).connection;
  stream.destroy(new LostConnectionError(`another server replaces ${formatHost(host)}`));
}

function describeMisfits(answers: Map<Host, Probed>, attrs: string): string {
  const descriptions = [...answers].map(([host, answer]) => {
    if ('error' in answer) return `${formatHost(host)}: ${answer.error.message || 'no answer'}`;
    return `${formatHost(host)} is a ${answer.found.standby ? 'standby' : answer.found.readOnly ? 'read-only primary' : 'primary'}`;
  });
  return `no host of the database address is ${attrs} (${descriptions.join('; ')})`;
}

/* Queries the state of a server over a separate connection. */

/*
 * Compares the timelines of servers. PostgreSQL increases the timeline with each promotion. Of two servers that both
 * claim to be the primary, the one with the lower timeline was deposed.
 */

/** SQL: the server's timeline as an integer. Null in recovery. */
export const TIMELINE = `CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
  ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::int END`;

/**
 * Milliseconds after which an older timeline is accepted if no newer one was seen since. The server is then a restored
 * database, not a former primary. This is longer than a cluster needs to fence the old primary.
 */
const BELIEVED_AFTER = 60_000;

interface TimelineGuard {
  /**
   * Compares a timeline with the newest one seen.
   * @param timeline null for a standby, which is always accepted
   * @throws LostConnectionError for a deposed primary, which must not be read or written
   */
  admit(timeline: number | null): void;
}

/** @param clock returns milliseconds */
export function createTimelineGuard(clock: () => number = () => performance.now()): TimelineGuard {
  let newest = 0;
  let seen = -Infinity;
  return {
    admit(timeline) {
      if (timeline === null) return;
      const now = clock();
      if (timeline < newest && now - seen < BELIEVED_AFTER) {
        throw new LostConnectionError(
          `the server is no longer the primary: it is on timeline ${timeline}, and timeline ${newest} exists`,
        );
      }
      newest = timeline;
      seen = now;
    },
  };
}

/** The state that a server reports about itself. */
export interface ProbedServer {
  /** True in recovery, when it accepts no writes. */
  standby: boolean;
  /** True if transactions of new sessions are read-only. */
  readOnly: boolean;
  /** Increases with each promotion. Null on a standby. */
  timeline: number | null;
}

export type Probed = { found: ProbedServer } | { error: Error };

/** Milliseconds to wait for an answer. A stopped server process accepts connections without answering. */
const LIMIT = 1_500;

const QUESTION = `
  SELECT pg_catalog.pg_is_in_recovery() AS standby,
         pg_catalog.pg_is_in_recovery() OR pg_catalog.current_setting('default_transaction_read_only')::boolean AS "readOnly",
         ${TIMELINE} AS timeline`;

/** @param connectionString an address with one host */
export async function probe(connectionString: string): Promise<Probed> {
  const client = new pg.Client({
    connectionString,
    application_name: 'data-platform-service probe',
    connectionTimeoutMillis: LIMIT,
    query_timeout: LIMIT,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<ProbedServer>(QUESTION);
    return { found: rows[0] as ProbedServer };
  } catch (error) {
    return { error: error as Error };
  } finally {
    client.end().catch(() => undefined);
  }
}

/** True if a server matches `target_session_attrs`. `prefer-standby` accepts all, standbys first. */
function matchesAttributes({ standby, readOnly }: ProbedServer, attrs: SessionAttrs): boolean {
  switch (attrs) {
    case 'read-write':
      return !readOnly;
    case 'read-only':
      return readOnly;
    case 'primary':
      return !standby;
    case 'standby':
      return standby;
    default:
      return true;
  }
}

/**
 * True if the server rejects the connection for a reason other than starting, stopping or being full. Waiting does not
 * help.
 */
function isRefusal(error: Error): boolean {
  const state = sqlState(error);
  return state !== undefined && /^(?:28|3D|42)/.test(state);
}
