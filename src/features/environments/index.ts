/* Environments: other instances of the service. Changes them with the events that record them, and sends requests. */
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type pg from 'pg';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { isUuid } from '../../kernel/text.js';
import { own } from '../../postgres/own-tables.js';
import { readHeadPosition } from '../../log/read.js';
import type { LogEvent, OtherEventData } from '../../schema/model/events.js';
import { ENVIRONMENT } from '../../schema/model/service-events.js';
import { CommandRefused, type Prepare, type Recording } from '../../pipeline/types.js';
import { type Timeouts, addressFault, createClassify, createOutbound, describeFailure } from '../webhooks/send.js';
import {
  type CommonBase,
  type EnvironmentRow,
  readEnvironment,
  readEnvironments,
  readToken,
  writeBase,
} from './rows.js';

interface NewEnvironment {
  name: string;
  url: string;
  token: string;
}

type EnvironmentChanges = { [M in keyof NewEnvironment]?: NewEnvironment[M] | undefined } & {
  /** A position of this log at which both schemas were equal. Null if unknown. */
  base?: number | null | undefined;
};

/** Runs in the transaction that appends the events. If it returns no events, nothing changed. */
export type EnvironmentChange<T> = Prepare<Recording & { value: T }>;

/** The beginning of a response, or the reason why there is none. The reason contains no text from the environment. */
type Reached = { response: IncomingMessage } | { error: string };

export interface Environments {
  list(): Promise<EnvironmentRow[]>;
  get(id: string): Promise<Result<EnvironmentRow>>;
  create(environment: NewEnvironment): EnvironmentChange<EnvironmentRow>;
  update(id: string, changes: EnvironmentChanges): EnvironmentChange<EnvironmentRow>;
  remove(id: string): EnvironmentChange<null>;
  /** Sends a GET request with the token of the environment. The caller reads or destroys the response. Never throws. */
  request(environment: EnvironmentRow, path: string): Promise<Reached>;
  /** Stores the last common schema, unless the environment was changed in the meantime or the database is read-only. */
  noteBase(environment: EnvironmentRow, base: CommonBase): Promise<void>;
}

interface EnvironmentsOptions {
  pool: pg.Pool;
  /** The private networks that requests may reach. */
  networks: readonly string[];
  readOnly: () => boolean;
}

/** Maximum number of environments of a service. */
const MOST = 20;

const TIMEOUTS: Timeouts = { connect: 5_000, response: 15_000, whole: 60_000 };

export function createEnvironments(options: EnvironmentsOptions): Environments & { stop(): Promise<void> } {
  const { pool, networks, readOnly } = options;
  const classify = createClassify(networks);
  const outbound = createOutbound({ classify, idleMs: 15_000 });
  const stopping = new AbortController();
  // Every running request listens to it.
  setMaxListeners(0, stopping.signal);
  const requireAddress = (url: string): string => {
    const fault = pathFault(url) ?? addressFault(url, classify, networks.length > 0);
    if (fault !== null) throw createRefusal({ code: 'INVALID_PAYLOAD', message: `url ${fault}.`, path: 'url' });
    return new URL(url).href.replace(/\/+$/, '');
  };
  return {
    ...changes(requireAddress),
    list: () => readEnvironments(pool),
    get: (id) => requireEnvironment(pool, id),
    async request(environment, path) {
      const token = await readToken(pool, environment);
      if (token === undefined) return { error: CHANGED };
      if (token === null) return { error: NO_TOKEN };
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'accept-encoding': 'identity' };
      const request = { method: 'GET', headers, signal: stopping.signal } as const;
      const begun = await outbound.send(new URL(environment.url + path), request, TIMEOUTS);
      return 'failure' in begun ? { error: describeFailure(begun.failure, 'environment') } : begun;
    },
    async noteBase(environment, base) {
      if (!readOnly()) await writeBase(pool, environment, base);
    },
    stop() {
      stopping.abort();
      outbound.close();
      return Promise.resolve();
    },
  };
}

const NO_TOKEN = 'The environment has no token, because it was restored from a backup. Enter its token again.';

const CHANGED = 'The environment was changed or deleted in the meantime. Try again.';

/** Returns why the address is not one to which paths can be added. The other rules are those of webhooks. */
function pathFault(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { username, password, href } = new URL(text);
  if (username + password !== '') return 'must not contain a user or a password';
  return /[?#]/.test(href) ? 'must not contain a query or a fragment' : null;
}

const createRefusal = (problem: Problem): CommandRefused => new CommandRefused([problem]);

const unknown = (id: string): Problem => ({
  code: 'NOT_FOUND',
  message: `Environment ${JSON.stringify(id)} does not exist. GET /environments lists all environments.`,
});

async function requireEnvironment(db: Pick<pg.ClientBase, 'query'>, id: string): Promise<Result<EnvironmentRow>> {
  const row = isUuid(id) ? await readEnvironment(db, id) : undefined;
  return row === undefined ? refuse(unknown(id)) : ok(row);
}

async function required(client: pg.ClientBase, id: string): Promise<EnvironmentRow> {
  const result = await requireEnvironment(client, id);
  if (!result.ok) throw new CommandRefused(result.problems);
  return result.value;
}

type EnvironmentEvents = {
  [T in keyof OtherEventData as T extends `environment.${string}` ? T : never]: OtherEventData[T];
};

const environmentEvent = <T extends keyof EnvironmentEvents>(
  type: T,
  id: string,
  data: EnvironmentEvents[T],
): LogEvent =>
  ({
    type,
    version: 1,
    collection: null,
    field: null,
    subject: { kind: ENVIRONMENT, id: id.toLowerCase() },
    data,
  }) as LogEvent;

const originOf = (url: string): string => new URL(url).origin;

/** @param requireAddress returns the address without slashes at its end */
function changes(requireAddress: (url: string) => string): Pick<Environments, 'create' | 'update' | 'remove'> {
  return {
    create:
      ({ name, token, ...address }) =>
      async (client) => {
        const url = requireAddress(address.url);
        const all = await readEnvironments(client);
        if (all.length >= MOST)
          throw createRefusal({ code: 'INVALID_STATE', message: `There are ${MOST} environments, the maximum.` });
        requireFree(all, name);
        const id = randomUUID();
        await client.query(`INSERT INTO ${own.environments} (id, name, url, token) VALUES ($1, $2, $3, $4)`, [
          id,
          name,
          url,
          token,
        ]);
        const events = [environmentEvent('environment.created', id, { name, origin: originOf(url) })];
        return { value: await required(client, id), events };
      },

    update: (id, changed) => async (client) => {
      const before = await required(client, id);
      const after = {
        name: changed.name ?? before.name,
        url: changed.url === undefined ? before.url : requireAddress(changed.url),
        base: await readBase(client, before, changed),
      };
      if (after.name !== before.name) requireFree(await readEnvironments(client), after.name);
      if (after.url !== before.url && changed.token === undefined) throw createRefusal(TOKEN_REQUIRED);
      const data = changedSettings(before, after, changed.token !== undefined);
      if (Object.keys(data).length === 0) return { value: before, events: [] };
      await writeSettings(client, id, { ...after, token: changed.token ?? null });
      return { value: await required(client, id), events: [environmentEvent('environment.updated', id, data)] };
    },

    remove: (id) => async (client) => {
      await required(client, id);
      await client.query(`DELETE FROM ${own.environments} WHERE id = $1`, [id]);
      return { value: null, events: [environmentEvent('environment.deleted', id, {})] };
    },
  };
}

const TOKEN_REQUIRED: Problem = {
  code: 'INVALID_PAYLOAD',
  message: 'token is required with a new address, because the stored token must not be sent to another server.',
  path: 'token',
};

function requireFree(all: readonly EnvironmentRow[], name: string): void {
  if (!all.some((each) => each.name === name)) return;
  throw createRefusal({
    code: 'ALREADY_EXISTS',
    message: `Environment ${JSON.stringify(name)} already exists.`,
    path: 'name',
  });
}

/** Returns the changed members in the form that events record. */
function changedSettings(before: Settings, after: Settings, isTokenReplaced: boolean) {
  const isSameBase = JSON.stringify(before.base) === JSON.stringify(after.base);
  return {
    ...(after.name !== before.name && { name: after.name }),
    ...(after.url !== before.url && { origin: originOf(after.url) }),
    ...(isTokenReplaced && { token: 'replaced' as const }),
    ...(!isSameBase && { base: after.base?.position ?? null }),
  };
}

type Settings = Pick<EnvironmentRow, 'name' | 'url' | 'base'>;

/** @param settings.token null keeps the stored one */
async function writeSettings(
  client: pg.ClientBase,
  id: string,
  { name, url, base, token }: Settings & { token: string | null },
): Promise<void> {
  // Another address can be another instance, so a position of its log no longer counts.
  await client.query(
    `UPDATE ${own.environments} SET name = $2, token = coalesce($3, token), revision = revision + 1, url = $4,
            base_log = CASE WHEN url = $4 OR $5::text = 'own'::text THEN $5::text END, base_position = $6, base_hash = $7
      WHERE id = $1`,
    [id, name, token, url, base?.log ?? null, base?.position ?? null, base?.hash ?? null],
  );
}

async function readBase(
  client: pg.ClientBase,
  before: EnvironmentRow,
  { base: position }: EnvironmentChanges,
): Promise<CommonBase | null> {
  if (position === undefined) return before.base;
  if (position === null) return null;
  const { rows } = await client.query<{ hash: string }>(`SELECT hash FROM ${own.events} WHERE position = $1`, [
    position,
  ]);
  const [event] = rows;
  if (event !== undefined) return { log: 'own', position, hash: event.hash };
  const message = `base must be at most ${await readHeadPosition(client)}, the end of the log.`;
  throw createRefusal({ code: 'INVALID_PAYLOAD', message, path: 'base' });
}
