import { expect } from 'chai';
import pg from 'pg';
import { type Client, type Send, clientOf, json } from './client.js';
import type { TestService } from './service.js';
import { until } from './until.js';

interface ApiError {
  message: string;
  extensions: { code: string; path?: string; [member: string]: unknown };
}

export interface Refused {
  status: number;
  code: string;
  /** The location in the first error. */
  at?: string;
  /** The locations in further errors; none by default. */
  also?: readonly (string | undefined)[];
}

export interface Api {
  client: Client;
  /** The call must succeed and append exactly these events (`type collection[.field]`). Returns the parsed body. */
  appends<T = { data: never }>(events: readonly string[], method: string, path: string, body?: unknown): Promise<T>;
  ok<T = { data: never }>(method: string, path: string, body?: unknown): Promise<T>;
  /** The call must be rejected and append nothing. */
  refused(expected: Refused, method: string, path: string, body?: unknown): Promise<ApiError>;
  /** The events after `position`, in order. */
  events(after: number): Promise<string[]>;
  /** The position of the newest event. */
  head(): Promise<number>;
  /** Applies the diff to the schema at a position, and checks that the snapshot then equals that schema. */
  goTo(position: number): Promise<void>;
  sql<T extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

export function createApi(service: TestService): Api {
  const client = clientOf(service);
  const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  // The server may have restarted.
  pool.on('error', () => undefined);
  const sql: Api['sql'] = async <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<T>(text, values)).rows;

  const head = async (): Promise<number> => {
    const [row] = await sql<{ head: number }>(
      'SELECT coalesce(max(position), 0)::int AS head FROM service.service_events',
    );
    return row?.head ?? 0;
  };
  const events = async (after: number): Promise<string[]> => {
    const rows = await sql<{ type: string; collection: string; field: string | null }>(
      'SELECT type, collection, field FROM service.service_events WHERE position > $1 ORDER BY position',
      [after],
    );
    return rows.map(({ type, collection, field }) => `${type} ${collection}${field === null ? '' : `.${field}`}`);
  };
  const send = (method: string, path: string, body: unknown) => {
    const request: Send = body === undefined ? { method } : json(body, method);
    return client(path, request);
  };
  const ok = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await send(method, path, body);
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.within(200, 204);
    return reply.json as T;
  };

  return {
    client,
    sql,
    head,
    events,
    ok,
    async goTo(position) {
      const past = await ok('GET', `/history/snapshot?at=${position}`);
      const { hash, diff } = await ok<{ hash: string; diff: object }>('GET', `/history/diff?to=${position}`);
      await ok('POST', '/schema/apply', { hash, diff });
      expect(await ok('GET', '/schema/snapshot')).to.deep.equal(past);
    },
    async appends<T>(expected: readonly string[], method: string, path: string, body?: unknown) {
      const before = await head();
      const answer = await ok<T>(method, path, body);
      expect(await events(before), `${method} ${path}`).to.deep.equal(expected);
      return answer;
    },
    async refused({ status, code, at, also }, method, path, body) {
      const before = await head();
      const reply = await send(method, path, body);
      const shown = `${method} ${path}: ${reply.status} ${reply.text}`;
      expect(reply.status, shown).to.equal(status);
      const { errors } = reply.json as { errors: [ApiError] };
      expect(errors[0].extensions.code, shown).to.equal(code);
      if (at !== undefined) expect(errors[0].extensions.path, shown).to.equal(at);
      const errorTexts = errors.map(({ message, extensions }) => JSON.stringify([message, extensions.path]));
      expect(new Set(errorTexts).size, `${shown}: it says something twice`).to.equal(errorTexts.length);
      if (errors.length > 1 && also === undefined) {
        const places = errors.slice(1).map(({ extensions }) => extensions.path ?? null);
        expect.fail(`${shown}: it has further errors, at ${JSON.stringify(places)}: name them in "also"`);
      }
      if (also !== undefined)
        expect(
          errors.slice(1).map(({ extensions }) => extensions.path),
          shown,
        ).to.deep.equal(also);
      expect(reply.text, 'something internal leaks').not.to.match(/\.[jt]s:\d|SELECT |INSERT |node_modules/);
      expect(await head(), `${shown}: it left events behind`).to.equal(before);
      return errors[0];
    },
    stop: () => pool.end(),
  };
}

/** Resolves when the index projection has processed every event. */
export const indexesBuilt = (api: Api): Promise<void> =>
  until('the builder is at the head', async () => {
    const { data } = await api.ok<{ data: { name: string; lag: number }[] }>('GET', '/projections');
    return data.find(({ name }) => name === 'indexes')?.lag === 0;
  });
