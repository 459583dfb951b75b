/**
 * Compares the schema with those of environments. No request waits for an environment: a list contains the last result
 * and starts the comparisons that are due.
 */
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { runYielding } from '../../kernel/event-loop.js';
import { shareNext } from '../../kernel/memoize.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type CompareOptions, readDesired } from '../../schema/compare/compare-snapshot.js';
import type { ObjectEquality } from '../../schema/compare/desired-state.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { mergeStates } from '../../schema/merge/merge-states.js';
import type { Resolution } from '../../schema/merge/model.js';
import { type State, contentOf, initialState } from '../../schema/model/state.js';
import { VENDOR, snapshotHash } from '../../schema/snapshot/snapshot.js';
import { unwrap } from '../../http/answer/answer.js';
import { type Bodies, createBodies, mediaType } from '../../http/body/index.js';
import type { HttpDeps } from '../../http/deps.js';
import { createSnapshotBase, readEquality } from '../../http/diff-answer.js';
import { RejectedError, inManagedSchemas } from '../../http/errors.js';
import type { FailureCode, Comparison } from './routes-answers.js';
import type { CommonBase, EnvironmentRow } from './rows.js';

/** The environment cannot be compared. The message contains no text from it. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
  readonly code: FailureCode;
  constructor(code: FailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

const failure = (code: FailureCode, message: string): EnvironmentError => new EnvironmentError(code, message);

const NOT_THIS_SERVICE = 'The server at this address is not a Data Platform Service. Check the address.';

/* Requests to an environment. */

/** A snapshot of an environment, with the position in its log. */
interface RemoteSnapshot {
  document: unknown;
  position: number;
  /** The beginning of the hash of the event at the position. */
  hash: string;
}

const remoteInfo = z.object({
  release: z.string(),
  vendor: z.literal(VENDOR),
  position: z.int().nonnegative(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The name of an exported snapshot, from its header. */
const FILE_NAME = /"snapshot-\d{8}-\d{6}-(\d{1,15})-([0-9a-f]{8})\.json"/;

type ReadJson = (environment: EnvironmentRow, path: string) => Promise<{ value: unknown; response: IncomingMessage }>;

/** Reads JSON responses of at most as many bytes as a request with a schema may have. @throws EnvironmentError */
function createReader({ environments, config }: Pick<HttpDeps, 'environments' | 'config'>): ReadJson {
  let bodies: Bodies | undefined;
  return async (environment, path) => {
    const reached = await environments.request(environment, path);
    if ('error' in reached) throw failure('unreachable', reached.error);
    const { response } = reached;
    try {
      requireJson(response);
      bodies ??= createBodies(config.maxBody);
      const { value, release } = await bodies.document(response);
      release();
      return { value, response };
    } catch (error) {
      throw error instanceof EnvironmentError ? error : readFailure(error, config.maxBody.schema);
    } finally {
      response.destroy();
    }
  };
}

function requireJson({ statusCode = 0, headers }: IncomingMessage): void {
  if (statusCode === 401)
    throw failure('token_rejected', 'The environment rejected the token. Create a new token there, and enter it here.');
  if (statusCode === 403)
    throw failure(
      'token_rejected',
      'The token does not allow reading the schema and the history of the environment. Use a token of an admin or author with the actions read and history, for all collections.',
    );
  if (statusCode >= 300 && statusCode < 400)
    throw failure(
      'unreachable',
      `The environment responded with ${statusCode}. Redirects are not followed. Enter the address that it redirects to.`,
    );
  if (statusCode >= 500 || statusCode === 429)
    throw failure('unreachable', `The environment responded with ${statusCode}. Try again later.`);
  if (statusCode !== 200 || mediaType(headers['content-type']).type !== 'application/json')
    throw failure('not_this_service', NOT_THIS_SERVICE);
}

function readFailure(error: unknown, limit: number): EnvironmentError {
  const code = error instanceof RejectedError ? error.problems[0]?.code : undefined;
  if (code === 'CONTENT_TOO_LARGE')
    return failure(
      'unreachable',
      `The response of the environment exceeds ${limit} bytes. An operator can increase MAX_BODY.`,
    );
  if (code === undefined || code === 'REQUEST_TIMEOUT')
    return failure('unreachable', 'The environment did not finish its response in time.');
  return failure('not_this_service', NOT_THIS_SERVICE);
}

const RELEASE = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/;

/** The releases must be equal, because another release may have other members. */
function requireRelease(theirs: string, own: string): void {
  if (theirs === own) return;
  const [theirNumbers, ownNumbers] = [theirs, own].map((release) => RELEASE.exec(release)?.slice(1).map(Number));
  // Only a number is repeated, because a hostile environment could return anything, even the token.
  if (theirNumbers === undefined || ownNumbers === undefined)
    throw failure('other_release', `The environment does not run release ${own}. Both must run the same release.`);
  const index = theirNumbers.findIndex((number, at) => number !== ownNumbers[at]);
  const isOlder = (theirNumbers[index] ?? 0) < (ownNumbers[index] ?? 0);
  throw failure(
    'other_release',
    `The environment runs release ${theirs}, which is ${isOlder ? 'older' : 'newer'} than release ${own} of this service. Upgrade the older one first.`,
  );
}

export function createRemotes({ environments, config, history }: HttpDeps) {
  const read = createReader({ environments, config });

  const snapshot = async (environment: EnvironmentRow, path: string): Promise<RemoteSnapshot> => {
    const { value, response } = await read(environment, path);
    const [, position, hash = ''] = FILE_NAME.exec(response.headers['content-disposition'] ?? '') ?? [];
    if (position === undefined) throw failure('not_this_service', NOT_THIS_SERVICE);
    return { document: value, position: Number(position), hash };
  };

  const isOwnEvent = async (position: number, hash: string, head: number): Promise<boolean> =>
    position > 0 && position <= head && (await history.at(position)).head.hash.startsWith(hash);

  return {
    async info(environment: EnvironmentRow) {
      const { value } = await read(environment, '/server/info');
      const parsed = remoteInfo.safeParse(value);
      if (!parsed.success) throw failure('not_this_service', NOT_THIS_SERVICE);
      requireRelease(parsed.data.release, config.release);
      return parsed.data;
    },

    /** @param head the position of the newest event of this log */
    async current(environment: EnvironmentRow, head: number): Promise<RemoteSnapshot> {
      const remote = await snapshot(environment, '/schema/snapshot?export=json');
      if (await isOwnEvent(remote.position, remote.hash, head))
        throw failure(
          'same_instance',
          'The environment has the event log of this service. It is this service itself, or a copy without its own changes. Enter the address of another instance.',
        );
      return remote;
    },

    /** Returns a snapshot in the environment, or undefined if its log no longer contains the position. */
    async past(environment: EnvironmentRow, { position, hash }: CommonBase): Promise<unknown> {
      try {
        const remote = await snapshot(environment, `/history/snapshot?at=${position}&export=json`);
        return remote.hash === hash.slice(0, remote.hash.length) ? remote.document : undefined;
      } catch (error) {
        // The service responds with 404 or 400 to a position after the end of its log.
        if (error instanceof EnvironmentError && error.code === 'not_this_service') return undefined;
        throw error;
      }
    },

    isOwnEvent,
  };
}

export type Remotes = ReturnType<typeof createRemotes>;

/** Every difference counts. An object that is missing was deleted. */
export const OPTIONS = { force: false, mode: 'mirror' } as const;

/**
 * Returns a function that reads the base of a merge: the last schema that both had in common. It is empty if it is not
 * known, or if its log no longer contains it: everything then counts as new on both sides.
 */
export function createBaseReader(deps: HttpDeps, remotes: Remotes) {
  const snapshotBase = createSnapshotBase(deps);
  return async (environment: EnvironmentRow, ours: State): Promise<State> => {
    const { base } = environment;
    if (base === null) return initialState();
    if (base.log === 'own') {
      const isThere = await remotes.isOwnEvent(base.position, base.hash, ours.position);
      return isThere ? (await deps.history.at(base.position)).state : initialState();
    }
    const document = await remotes.past(environment, base);
    return document === undefined ? initialState() : snapshotBase(document, ours, OPTIONS);
  };
}

/* Counts the changes on both sides. */

/** The number of changes that a review shows: the content of new and deleted collections counts as part of them. */
function countChanges({ collections, fields, relations, objects = [] }: SchemaDiff): number {
  const whole = new Set(
    collections.filter(({ diff }) => diff.some((entry) => !('path' in entry))).map(({ collection }) => collection),
  );
  const members = [...fields, ...relations].filter(({ collection }) => !whole.has(collection));
  return collections.length + members.length + objects.length;
}

interface Sides {
  base: State;
  ours: State;
  theirs: State;
}

/** Resolving conflicts can reveal others: first of names, then of members, then of rules. */
const MOST_ROUNDS = 4;

/** Counts the changes of theirs that a merge into ours would make, apart from conflicts. Null if unknown. */
function* countMerge(
  sides: Sides,
  objects: ObjectEquality | undefined,
): Resumable<{ changes: number | null; conflicts: number }> {
  const resolutions: Resolution[] = [];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const merged = yield* mergeStates(sides, { resolutions, ...(objects && { objects }) });
    if (merged.kind === 'merged') {
      const diff = yield* diffStates(sides.ours, merged.state, merged.touched);
      return { changes: countChanges(diff), conflicts: resolutions.length };
    }
    for (const { place } of merged.conflicts) resolutions.push({ place, take: 'ours' });
  }
  return { changes: null, conflicts: resolutions.length };
}

export interface Comparer {
  /** Returns the last result, or null if there is none, and starts a comparison that is due. */
  latest(environment: EnvironmentRow): Comparison | null;
  /** Compares now. All callers that arrive before a comparison begins share its result. */
  compare(environment: EnvironmentRow): Promise<Comparison>;
}

/** Milliseconds after which a result is outdated. The time is longer after a failure. */
const DUE_MS = 10_000;
const DUE_AFTER_FAILURE_MS = 30_000;

interface Held {
  revision: number;
  comparison: Comparison;
  at: number;
  /** The contents that were compared. Null after a failure. */
  of: { own: object; theirs: string } | null;
}

export function createComparer(deps: HttpDeps, remotes: Remotes): Comparer {
  const { environments, store, freshness, config } = deps;
  const { release, schemas } = config;
  const baseOf = createBaseReader(deps, remotes);
  const held = new Map<string, Held>();
  const runsOf = new Map<string, { revision: number; ask: () => Promise<Comparison> }>();
  /** The comparisons that requests for lists have started. */
  const pending = new Set<string>();

  const count = async (environment: EnvironmentRow, own: { state: State; hash: string }) => {
    const { state: ours } = own;
    const remote = await remotes.current(environment, ours.position);
    const base = await baseOf(environment, ours);
    await inManagedSchemas(remote.document, schemas, OPTIONS);
    const options: CompareOptions = {
      ...OPTIONS,
      release,
      ...(await readEquality(deps, remote.document, base, ours)),
    };
    const theirs = unwrap(await runYielding(readDesired(base, remote.document, options))).desired.state;
    const behind = await runYielding(countMerge({ base, ours, theirs }, options.objects));
    const ahead = await runYielding(countMerge({ base, ours: theirs, theirs: ours }, options.objects));
    const conflicts = Math.max(ahead.conflicts, behind.conflicts);
    if (conflicts === 0) {
      // If one schema contains all changes of the other, the other is the last common schema.
      const next: CommonBase | null =
        ahead.changes === 0
          ? { log: 'own', position: ours.position, hash: own.hash }
          : behind.changes === 0
            ? { log: 'environment', position: remote.position, hash: remote.hash }
            : null;
      const nextState = next?.log === 'own' ? ours : theirs;
      if (next !== null && (environment.base === null || (await differs(base, nextState, release))))
        await environments.noteBase(environment, next);
    }
    return { ahead: ahead.changes, behind: behind.changes, conflicts };
  };

  const compareNow = async (id: string): Promise<Comparison> => {
    // The base may have been updated since the environment was read.
    const environment = unwrap(await environments.get(id));
    const { revision } = environment;
    const began = { checked_at: new Date().toISOString(), error: null };
    const hold = (comparison: Comparison, of: Held['of']): Comparison => {
      if ((held.get(id)?.revision ?? 0) <= revision) held.set(id, { revision, of, comparison, at: performance.now() });
      return comparison;
    };
    try {
      const info = await remotes.info(environment);
      await store.atHead((await freshness.check()).head);
      const { state, head } = store.point();
      const of = { own: contentOf(state), theirs: info.hash };
      const before = held.get(id);
      const isSame = before?.revision === revision && before.of?.own === of.own && before.of.theirs === of.theirs;
      const counts = isSame ? before.comparison : await count(environment, { state, hash: head.hash });
      return hold({ ...counts, ...began }, of);
    } catch (error) {
      return hold({ ahead: null, behind: null, conflicts: 0, ...began, error: errorOf(error) }, null);
    }
  };

  const compare = ({ id, revision }: EnvironmentRow): Promise<Comparison> => {
    let runs = runsOf.get(id);
    // A changed environment does not wait for the comparison before its change.
    if (runs?.revision !== revision) {
      runs = { revision, ask: shareNext(() => compareNow(id)) };
      runsOf.set(id, runs);
    }
    return runs.ask();
  };

  return {
    latest(environment) {
      const { id, revision } = environment;
      const last = held.get(id);
      const isCurrent = last?.revision === revision;
      const dueMs = last?.comparison.error === null ? DUE_MS : DUE_AFTER_FAILURE_MS;
      const key = `${id} ${revision}`;
      if (!pending.has(key) && (!isCurrent || performance.now() - last.at > dueMs)) {
        pending.add(key);
        const done = () => void pending.delete(key);
        // It fails only if the environment was deleted.
        compare(environment).then(done, done);
      }
      return isCurrent ? last.comparison : null;
    },
    compare,
  };
}

const differs = async (a: State, b: State, release: string): Promise<boolean> =>
  (await runYielding(snapshotHash(a, release))) !== (await runYielding(snapshotHash(b, release)));

/** Errors in a snapshot are not repeated here, because they contain text of the environment. Its review shows them. */
function errorOf(error: unknown): Comparison['error'] {
  if (error instanceof EnvironmentError) return { code: error.code, message: error.message };
  if (error instanceof RejectedError)
    return {
      code: 'not_comparable',
      message: 'The schema of the environment is not valid here. "Bring changes here" shows the reasons.',
    };
  return { code: 'failed', message: 'The comparison failed. It is repeated automatically.' };
}
