/** Online changes in tests: large tables, change requests, and their ends. */
import { expect } from 'chai';
import type { Api } from './api.js';
import type { Reply } from './client.js';
import { until } from './until.js';

/** The members of a change request that tests read. */
export interface Change {
  id: string;
  state: string;
  operation: string;
  collections: string[];
  steps: { key: string; kind: string; state: string; summary: string; phase: string | null }[];
  holds: string[];
  queued_behind: string[];
  waiting_for: { pid: number; application_name: string }[];
  cleaning: boolean;
  warnings: { code: string; message: string }[];
  result: { batch: string; position: number } | null;
  errors: { message: string; extensions: { code: string; [more: string]: unknown } }[] | null;
}

/** Rows of a large table. */
export const ROWS = 4_000;

export interface Online {
  /** Requests an online change, which must create a change request. */
  open(method: string, path: string, body?: unknown): Promise<Change>;
  retrieve(id: string): Promise<Change>;
  /** Waits for its end and cleanup. */
  ended(id: string, state: 'applied' | 'failed' | 'withdrawn'): Promise<Change>;
  /** A table of more than 8 MB with few rows: nearly empty pages that are quickly read. */
  large(name: string, fields: readonly object[], columns?: string): Promise<void>;
  /** The snapshot after `edit`, as a diff to apply. */
  diff(edit: (snapshot: Snapshot) => void): Promise<object>;
  /** Objects of requests in the database, and invalid ones. */
  leftBehind(): Promise<unknown[]>;
}

interface Schema {
  is_nullable: boolean;
  is_unique: boolean;
  is_indexed: boolean;
  default_value: unknown;
  [more: string]: unknown;
}

export interface Snapshot {
  collections: { collection: string; schema: { extras?: Record<string, unknown>; [more: string]: unknown } | null }[];
  fields: { collection: string; field: string; type: string; schema: Schema; meta: Record<string, unknown> }[];
  relations: object[];
}

export const column = (field: string, type = 'string', schema: object = {}) => ({
  field,
  type,
  interface: 'input',
  schema,
});

/**
 * Waits for the end and cleanup of a request.
 * @throws if it ended otherwise
 */
export async function endedRequest<Found extends Pick<Change, 'state' | 'cleaning' | 'errors'>>(
  retrieve: (id: string) => Promise<Found>,
  id: string,
  state: string,
): Promise<Found> {
  let change = await retrieve(id);
  const isOver = async () => {
    change = await retrieve(id);
    return ['applied', 'failed', 'withdrawn'].includes(change.state) && !change.cleaning;
  };
  await until('the request ends', isOver);
  expect(change.state, JSON.stringify(change.errors)).to.equal(state);
  return change;
}

export function onlineOf(api: Pick<Api, 'client' | 'ok' | 'sql'>): Online {
  const retrieve = async (id: string): Promise<Change> =>
    (await api.ok<{ data: Change }>('GET', `/changes/${id}`)).data;
  return {
    retrieve,
    async open(method, path, body) {
      const at = `${path}${path.includes('?') ? '&' : '?'}online`;
      const answer: Reply = await api.client(at, {
        method,
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      expect(answer.status, `${method} ${at}: ${answer.text}`).to.equal(202);
      const { data } = answer.json as { data: Change };
      expect(answer.headers.get('location')).to.equal(`/changes/${data.id}`);
      return data;
    },
    ended: (id, state) => endedRequest(retrieve, id, state),
    async large(name, fields, columns = '') {
      const all = [...fields, { field: 'wide', type: 'text', interface: 'input', schema: {} }];
      await api.ok('POST', '/collections', { collection: name, schema: {}, fields: all });
      await fill(api, name, columns);
    },
    async diff(edit) {
      const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
      edit(snapshot);
      return api.ok<object>('POST', '/schema/diff', snapshot);
    },
    leftBehind: () =>
      api.sql(`
        SELECT conname AS name FROM pg_constraint WHERE conname LIKE 'dps_online%' OR NOT convalidated
        UNION ALL SELECT relname FROM pg_class WHERE relname LIKE 'dps_online%'
        UNION ALL SELECT tgname FROM pg_trigger WHERE tgname LIKE 'dps_online%'
        UNION ALL SELECT proname FROM pg_proc WHERE proname LIKE 'dps_online%'
        UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid
        UNION ALL SELECT step ->> 'key' FROM service.service_preparations`),
  };
}

/** @param columns `code = i % 7; name = 'n' || i`: further columns, by row number */
export async function fill({ sql }: Pick<Api, 'sql'>, name: string, columns: string): Promise<void> {
  const [names, values] = columns === '' ? ['', ''] : split(columns);
  await sql(`ALTER TABLE ${name} SET (fillfactor = 10)`);
  await sql(`INSERT INTO ${name} (wide${names}) SELECT repeat('x', 300)${values} FROM generate_series(1, ${ROWS}) i`);
  await sql(`ALTER TABLE ${name} RESET (fillfactor)`);
  await sql(`ANALYZE ${name}`);
}

function split(columns: string): [string, string] {
  const pairs = columns.split(';').map((each) => each.split('=').map((part) => part.trim()) as [string, string]);
  return [pairs.map(([name]) => `, ${name}`).join(''), pairs.map(([, value]) => `, ${value}`).join('')];
}
