/**
 * Which of the hosts of an address to connect to. All connections of a process go to the same server, so that its reads
 * and writes follow one log: when another one is chosen, those to the old one are closed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { LostConnectionError } from '../errors.js';
import type { Logger } from '../../postgres/logger.js';
import { type DatabaseAddress, type Host, parseAddress, spelled } from './address.js';
import { type ProbedServer, type Probed, fits, isRefusal, probe } from './probe.js';

export interface Hosts {
  /** What the service works on now; undefined before the first choice. */
  current(): Host | undefined;
  /**
   * The host to connect to; waits for one that is what the address asks for.
   * @param limit milliseconds
   * @throws LostConnectionError when there is none in time; the error of a server that doesn't let us in
   */
  choose(limit: number): Promise<Host>;
  /** The address with that host alone. */
  of(host: Host): string;
  /** A connection to `host`: closed when another host is chosen. */
  joined(client: pg.Client, host: Host): void;
  /** What `choose` found is looked at again before the next connection. */
  doubt(): void;
  /** The address with its first host: for what all have in common. */
  any: string;
  /** Every choice of another host than before is said there from now on. */
  tell(logger: Logger): void;
}

/** Milliseconds that a choice holds without another look. */
const HOLDS = 1_000;

/** Milliseconds between two rounds, while no server fits. */
const PAUSE = 250;

/** Milliseconds that the others have to answer, when one that fits has answered. */
const GRACE = 150;

const known = new Map<string, Hosts>();

/** One for each address in a process; null for an address with one host that may be anything. */
export function hostsOf(connectionString: string): Hosts | null {
  const address = parseAddress(connectionString);
  if (address === undefined || (address.hosts.length === 1 && address.attrs === 'any')) return null;
  let hosts = known.get(connectionString);
  if (hosts === undefined) known.set(connectionString, (hosts = createHosts(address)));
  return hosts;
}

/** @param ask what a server is */
export function createHosts(
  address: DatabaseAddress,
  ask: (connectionString: string) => Promise<Probed> = probe,
): Hosts {
  const { attrs } = address;
  let current: Host | undefined;
  let checked = -Infinity;
  let running: Promise<Round> | undefined;
  const clients = new Map<pg.Client, Host>();
  let logger: Logger | undefined;

  const round = async (): Promise<Round> => {
    const answers = await askAll(address, ask);
    const host = best(address, answers, current);
    if (host === undefined) return { answers };
    checked = performance.now();
    const from = current;
    current = host;
    if (from === host) return { answers, host };
    // The first choice is no news.
    if (from) logger?.warn('the database is another server now', { host: spelled(host), before: spelled(from) });
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
        // One that lets us in may be on its way to become what is asked for.
        const refusals = [...answers.values()].flatMap((answer) =>
          'error' in answer && isRefusal(answer.error) ? [answer.error] : [],
        );
        if (refusals.length === address.hosts.length) throw refusals[0] as Error;
        if (performance.now() + PAUSE > end) throw new LostConnectionError(noneFits(answers, attrs));
        await sleep(PAUSE);
      }
    },
    joined(client, host) {
      // Chosen before another one was, and connected after.
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

interface Round {
  answers: Map<Host, Probed>;
  /** Undefined: none fits. */
  host?: Host;
}

/** Asks all at once: one that is gone keeps nobody waiting when another one fits. */
async function askAll(
  { hosts, attrs, of }: DatabaseAddress,
  ask: (connectionString: string) => Promise<Probed>,
): Promise<Map<Host, Probed>> {
  const answers = new Map<Host, Probed>();
  let found!: () => void;
  const oneFits = new Promise<void>((resolve) => (found = resolve));
  const all = hosts.map(async (host) => {
    const answer = await ask(of(host));
    answers.set(host, answer);
    if ('found' in answer && fits(answer.found, attrs)) found();
  });
  const enough = new AbortController();
  const soon = oneFits.then(() => sleep(GRACE, undefined, { signal: enough.signal })).catch(() => undefined);
  await Promise.race([Promise.all(all), soon]);
  enough.abort();
  // What comes late is not of this round.
  return new Map(answers);
}

/** Of those that fit: the newest history, then what is wanted first, then the one in use, then the order of the address. */
function best({ hosts, attrs }: DatabaseAddress, answers: Map<Host, Probed>, current?: Host): Host | undefined {
  const fitting: { host: Host; found: ProbedServer }[] = [];
  for (const host of hosts) {
    const answer = answers.get(host);
    if (answer !== undefined && 'found' in answer && fits(answer.found, attrs))
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

/** At once, whatever runs on it: a COMMIT under way is looked up on the server that was chosen. */
function close(client: pg.Client, host: Host): void {
  const { stream } = (client as unknown as pg.PoolClient).connection;
  stream.destroy(new LostConnectionError(`another server was chosen in place of ${spelled(host)}`));
}

function noneFits(answers: Map<Host, Probed>, attrs: string): string {
  const said = [...answers].map(([host, answer]) => {
    if ('error' in answer) return `${spelled(host)}: ${answer.error.message || 'no answer'}`;
    return `${spelled(host)} is a ${answer.found.standby ? 'standby' : answer.found.readOnly ? 'read-only primary' : 'primary'}`;
  });
  return `no host of the database's address is ${attrs} (${said.join('; ')})`;
}
