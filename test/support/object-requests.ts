/** Requests about privileges and other objects, for the tests of a `describe`. */
import { asSuperuser } from './postgres.js';
import type { Served } from './with-service.js';

export interface Document {
  kind: string;
  id: string;
  definition: unknown;
  comment: string | null;
}

export interface Plan {
  accepted: boolean;
  refusal?: { message: string };
  statements: { sql: string; summary: string; lock: string }[];
  warnings: { code: string; message: string; object?: { kind: string; name: string } }[];
}

interface Snapshot {
  collections: object[];
  objects: Document[];
}

interface Drift {
  ok: boolean;
  objects: { object: Pick<Document, 'kind' | 'id'>; kind: string }[];
  unmanaged_objects: Pick<Document, 'kind' | 'id'>[];
}

interface Event {
  type: string;
  subject?: Pick<Document, 'kind' | 'id'>;
}

export type Method = 'POST' | 'PATCH' | 'DELETE';

/** The arrays of a snapshot or a diff without collections. */
export const NOTHING = { collections: [], fields: [], relations: [] };

/** The address of an object. */
export const objectPath = (kind: string, id: string): string => `/objects/${kind}/${encodeURIComponent(id)}`;

export function objectRequests({ api, service }: Pick<Served, 'api' | 'service'>) {
  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const dryRun = (method: Method, path: string, body?: object) =>
    api.ok<Plan>(method, `${path}${path.includes('?') ? '&' : '?'}dry_run`, body);
  return {
    create: (kind: string, definition: string) => api.ok('POST', '/objects', { kind, definition }),
    /** Creates privileges and returns them. */
    grant: async (id: string, definition: unknown) =>
      (await api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', id, definition })).data,
    /** The ids of all privileges. */
    listed: async () =>
      (await api.ok<{ data: Document[] }>('GET', '/objects?kind=privileges')).data.map(({ id }) => id),
    /** The events after a position: `object.updated type mood`. */
    eventsSince: async (position: number) =>
      (await api.ok<{ data: Event[] }>('GET', `/history/events?after=${position}`)).data.map(
        ({ type, subject }) => `${type} ${subject?.kind} ${subject?.id}`,
      ),
    snapshot,
    /** A snapshot without collections and objects. */
    emptied: async () => ({ ...(await snapshot()), ...NOTHING, objects: [] }),
    diffTo: async (to: object) => (await api.ok<{ diff: object }>('POST', '/schema/diff', to)).diff,
    apply: async (to: object) => api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', to)),
    drift: () => api.ok<Drift>('GET', '/schema/drift'),
    /** Runs SQL as a superuser. */
    admin: (...texts: string[]) => asSuperuser(service.databaseUrl, ...texts),
    summaries: async (method: Method, path: string, body?: object) =>
      (await dryRun(method, path, body)).statements.map(({ summary }) => summary),
    /** The findings of a change whose codes fit: `PRIVILEGE_LOST: …`. */
    messages: async (codes: RegExp, method: Method, path: string, body?: object) =>
      (await dryRun(method, path, body)).warnings
        .filter(({ code }) => codes.test(code))
        .map(({ code, message }) => `${code}: ${message}`)
        .sort(),
    /** The codes of these findings. */
    codes: async (codes: RegExp, method: Method, path: string, body?: object) =>
      (await dryRun(method, path, body)).warnings
        .map(({ code }) => code)
        .filter((code) => codes.test(code))
        .sort(),
  };
}
