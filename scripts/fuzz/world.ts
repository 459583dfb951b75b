/** Objects that the fuzzer knows from responses, so that most requests refer to existing ones. */
import type { Body, FuzzRequest, Reply } from './request.js';

export interface CollectionDoc {
  collection: string;
  meta: Record<string, unknown>;
  schema: Record<string, unknown> | null;
}

export interface FieldDoc {
  collection: string;
  field: string;
  type: string;
  meta: Record<string, unknown>;
  schema: Record<string, unknown> | null;
}

interface RelationDoc {
  many_collection: string;
  many_field: string;
  one_collection: string | null;
  one_field: string | null;
  [member: string]: unknown;
}

export interface SnapshotDoc {
  collections: CollectionDoc[];
  fields: FieldDoc[];
  relations: RelationDoc[];
  [member: string]: unknown;
}

export interface World {
  snapshot: SnapshotDoc;
  /** Position of the newest event. */
  head: number;
  /** Hashes of snapshots, the current one last. */
  hashes: string[];
  /** Diffs from responses, the newest last. */
  diffs: unknown[];
  users: string[];
  tokens: { user: string; token: string }[];
  refreshTokens: string[];
  /** Change requests with their plans. */
  changes: { id: string; plan: string }[];
  batches: string[];
  /** Tables that were created directly in the database. */
  unmanaged: string[];
  /** Accepted changes with an Idempotency-Key. */
  keyed: FuzzRequest[];
  /** Sent texts that look like internal details; see leaks.ts. */
  sent: Set<string>;
}

export function createWorld(): World {
  return {
    snapshot: { collections: [], fields: [], relations: [] },
    head: 0,
    hashes: [],
    diffs: [],
    users: [],
    tokens: [],
    refreshTokens: [],
    changes: [],
    batches: [],
    unmanaged: [],
    keyed: [],
    sent: new Set(),
  };
}

/** The oldest entries are removed beyond this number. */
const KEPT = 20;

export function addRecent<T>(list: T[], value: T): void {
  list.push(value);
  if (list.length > KEPT) list.shift();
}

interface Answered {
  id?: string;
  refresh_token?: string;
  plan?: string | null;
}

/** Stores the parts of a response that later requests can use. */
export function learn(world: World, request: FuzzRequest, reply: Reply): void {
  if (reply.status >= 300) return;
  const batch = reply.headers['x-batch-id'];
  if (typeof batch === 'string') addRecent(world.batches, batch);
  if (reply.appended > 0 && hasKey(request)) addRecent(world.keyed, request);
  LESSONS[request.route]?.(world, reply, request);
}

const hasKey = ({ headers }: FuzzRequest): boolean =>
  Object.keys(headers).some((name) => /^idempotency-key$/i.test(name));

const dataOf = ({ json }: Reply): Answered => (json as { data?: Answered } | undefined)?.data ?? {};

type Lesson = (world: World, reply: Reply, request: FuzzRequest) => void;

const learnDiff: Lesson = (world, { json }) => {
  if (json !== undefined) addRecent(world.diffs, json);
};

const learnSession: Lesson = (world, reply) => {
  const { refresh_token: token } = dataOf(reply);
  if (token !== undefined) addRecent(world.refreshTokens, token);
};

const learnChange: Lesson = (world, reply) => {
  const { id, plan } = dataOf(reply);
  if (id !== undefined && plan != null) addRecent(world.changes, { id, plan });
};

const LESSONS: Record<string, Lesson> = {
  'POST /changes': learnChange,
  'PATCH /changes/{id}': learnChange,
  'POST /schema/diff': learnDiff,
  'POST /schema/merge': learnDiff,
  'GET /history/diff': learnDiff,
  'POST /auth/login': learnSession,
  'POST /auth/refresh': learnSession,
  'POST /users': (world, reply) => {
    const { id } = dataOf(reply);
    if (id !== undefined) addRecent(world.users, id);
  },
  'POST /users/{id}/tokens': (world, reply, { path }) => {
    const { id } = dataOf(reply);
    if (id !== undefined) addRecent(world.tokens, { user: path.split('/')[2] ?? '', token: id });
  },
};

export const tablesOf = ({ snapshot }: World): CollectionDoc[] =>
  snapshot.collections.filter(({ schema }) => schema !== null);

export const fieldsOf = ({ snapshot }: World, collection: string): FieldDoc[] =>
  snapshot.fields.filter((field) => field.collection === collection);

export const json = (value: unknown): Body => ({ kind: 'json', value });
