/** Signs checkpoints of the log on request and publishes them to the configured target. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ProblemError } from '../../kernel/problem.js';
import { unavailableProblem } from '../../postgres/errors.js';
import { own } from '../../postgres/own-tables.js';
import { type HeadCheck, type NotedDivergence, createLogDivergedProblem } from '../divergence.js';
import type { LogHead } from '../head.js';
import { checkpointText, signNote } from './checkpoint.js';
import type { Keys } from './keys.js';
import { storeFirstEvent, type StandbyState, type LogEnd, type HeadView, isKept, readHeadView } from './position.js';

interface SignedCheckpoint {
  position: number;
  /** The signed note, which is the complete file of a checkpoint. */
  note: string;
}

export interface Checkpoints {
  /**
   * Signs the newest position that may be signed. On a standby it returns the newest published checkpoint.
   * @throws ProblemError NOT_FOUND for an empty log, LOG_DIVERGED, or UNAVAILABLE if no position may be signed yet
   */
  sign(): Promise<SignedCheckpoint>;
  /**
   * Returns the newest position that may be signed. Undefined if there is nothing to sign.
   * @throws ProblemError LOG_DIVERGED, or UNAVAILABLE while standbys have not received it
   */
  signable(): Promise<LogEnd | undefined>;
  /** @returns the signed note with the current time */
  signEnd(end: LogEnd): Promise<string>;
}

export interface CheckpointOptions {
  pool: pg.Pool;
  keys: Pick<Keys, 'signer'>;
  /**
   * Number of standbys that must have flushed the signed events. Null requires one standby if the server has or expects
   * any.
   */
  standbys: number | null;
  /** Returns the end of the log that this process has folded. */
  seen: () => LogHead;
  /** Checks, before signing, that the log still contains `seen`. The caller must read `seen` before the check. */
  examine: (check: HeadCheck, seen: LogHead) => Promise<void>;
  /** True if the server is a standby, or was promoted and is not prepared for writes yet. */
  readOnly: () => boolean;
  /** Returns the divergence that must be acknowledged before anything is signed. */
  pending: () => NotedDivergence | undefined;
  clock?: () => Date;
}

/** Milliseconds to wait for standbys in total, and milliseconds between two checks of them. */
const PATIENCE = 2_000;
const LOOK_EVERY = 50;

/** Remembers the newest position that may be signed. There is no background work. */
export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { pool, keys, standbys, clock = () => new Date() } = options;
  /** The newest position that standbys are known to have, and a later one that is not confirmed yet. */
  let kept: LogEnd | undefined;
  let waiting: LogEnd | undefined;
  /** The beginning of the log, as this process stored it in the database. */
  let beginning: string | null = null;

  const readCheckedHead = async (): Promise<HeadView> => {
    const seen = options.seen();
    const view = await readHeadView(pool);
    await options.examine(view.check, seen);
    const pending = options.pending();
    if (pending !== undefined) throw new ProblemError(createLogDivergedProblem(pending));
    return { ...view, standby: view.standby || options.readOnly() };
  };

  const signEnd = async (end: LogEnd): Promise<string> => {
    const { key, privateKey } = await keys.signer();
    if (beginning !== end.beginning.hash) {
      const { text, values } = storeFirstEvent(end.beginning);
      await pool.query(text, values as unknown[]);
      beginning = end.beginning.hash;
    }
    const now = clock().toISOString();
    // If the clock was set back, the checkpoint gets the time of its event.
    const time = now < end.occurred_at ? end.occurred_at : now;
    return signNote(checkpointText({ ...end, time }), key, privateKey);
  };

  /** Waits briefly until `end` may be signed. @returns the last check */
  const settle = async (end: LogEnd): Promise<StandbyState> => {
    const until = performance.now() + PATIENCE;
    for (;;) {
      const isHeadKept = await isKept(pool, end, standbys);
      if (!isHeadKept.there || isEnough(isHeadKept) || performance.now() + LOOK_EVERY > until) return isHeadKept;
      await sleep(LOOK_EVERY);
    }
  };

  /** Checks again the position that an earlier call waited for. Standbys may have reached it by now. */
  const recheckWaiting = async (end: LogEnd): Promise<void> => {
    const seen = waiting ?? end;
    const isSeenKept = seen.origin === end.origin ? await isKept(pool, seen, standbys) : undefined;
    if (isSeenKept !== undefined && isEnough(isSeenKept)) kept = seen;
    waiting = isSeenKept?.there === true && !isEnough(isSeenKept) ? seen : end;
  };

  /** Returns the newest position up to `end` that may be signed. It is an earlier one if standbys are behind. */
  const findNewestKept = async (end: LogEnd): Promise<LogEnd | StandbyState> => {
    const headView = await settle(end);
    if (isEnough(headView)) return (kept = end);
    await recheckWaiting(end);
    const usable = kept?.origin === end.origin && (await isKept(pool, kept, standbys)).there;
    return kept !== undefined && usable ? kept : headView;
  };

  return {
    signEnd,
    sign: async () => {
      const { standby, end } = await readCheckedHead();
      if (end === null) {
        throw new ProblemError({ code: 'NOT_FOUND', message: 'The log is empty, so no checkpoint can be signed yet.' });
      }
      const newest = standby ? undefined : await findNewestKept(end);
      if (newest !== undefined && 'hash' in newest) return { position: newest.position, note: await signEnd(newest) };
      const published = await newestNote(pool, end.origin);
      if (published !== undefined) return published;
      throw new ProblemError(unavailableProblem(newest === undefined ? ON_STANDBY : explainNotSigned(newest)));
    },
    signable: async () => {
      const { standby, end } = await readCheckedHead();
      if (standby || end === null) return undefined;
      const signableHead = await findNewestKept(end);
      if ('hash' in signableHead) return signableHead;
      throw new ProblemError(unavailableProblem(explainNotSigned(signableHead)));
    },
  };
}

const isEnough = ({ there, flushed, needed }: StandbyState): boolean => there && flushed >= needed;

const ON_STANDBY = 'A standby signs no checkpoints, and none has been published yet. Ask the primary.';

function explainNotSigned({ there, needed, flushed, hidden }: StandbyState): string {
  if (!there) return 'The log has just forked. No checkpoint was signed. Try again.';
  const wanted = `${needed} ${needed === 1 ? 'standby' : 'standbys'} must have flushed a position before it is signed`;
  if (hidden) {
    return `${wanted}, and the database does not show their progress. GRANT pg_read_all_stats to the role of the service.`;
  }
  return `${wanted}, and ${flushed === 0 ? 'none has' : `only ${flushed} have`} (CHECKPOINT_WAIT_FOR_STANDBYS).`;
}

async function newestNote(pool: pg.Pool, origin: string): Promise<SignedCheckpoint | undefined> {
  const { rows } = await pool.query<SignedCheckpoint>(
    `SELECT position, note FROM ${own.checkpoints} WHERE origin = $1 ORDER BY position DESC LIMIT 1`,
    [origin],
  );
  return rows[0];
}
