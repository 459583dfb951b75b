/**
 * Which kind of server the service meets: a primary, or a standby, which follows one and takes no changes. A failover
 * makes the one the other, without a word: it is asked with every head check.
 */
import type { Logger } from './logger.js';
import type { Queryable } from './pool.js';

/** Columns of a query that tells of the server that runs it: `standby`, and on a standby `replay`, how far it has come. */
export const ROLE_COLUMNS = `
  pg_is_in_recovery() AS standby,
  CASE WHEN pg_is_in_recovery() THEN (
    SELECT pg_catalog.json_build_object(
      'replayed', pg_last_wal_replay_lsn() - '0/0',
      'received', pg_last_wal_receive_lsn() - '0/0',
      'receiving', EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver),
      'sent', (SELECT latest_end_lsn - '0/0' FROM pg_catalog.pg_stat_wal_receiver),
      'committed', extract(epoch FROM coalesce(pg_last_xact_replay_timestamp(), (pg_control_checkpoint()).checkpoint_time)),
      'now', extract(epoch FROM clock_timestamp()))) END AS replay`;

/** Whether the server takes no changes because it follows another one. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  return rows[0]?.standby === true;
}

/** What the server is now, without what was seen of it before. */
export async function readServerState(db: Queryable): Promise<ServerState> {
  const { rows } = await db.query<RoleRow>(`SELECT ${ROLE_COLUMNS}`);
  const { standby, replay } = rows[0] as RoleRow;
  return { standby, lag: replay === null ? 0 : createLag()(replay) };
}

/** How far a standby has come. Places of the write-ahead log in bytes, times in seconds since 1970 by its clock. */
export interface Replay {
  replayed: number | null;
  received: number | null;
  /** It has a connection to the server that it follows. */
  receiving: boolean;
  /** The end of what that server has told it of; null: the account may not see that (pg_read_all_stats). */
  sent: number | null;
  /** When the last transaction that it replayed was committed; after a start, the last checkpoint. */
  committed: number;
  now: number;
}

/** What `ROLE_COLUMNS` answer. */
export interface RoleRow {
  standby: boolean;
  /** Null on a primary. */
  replay: Replay | null;
}

export interface ServerState {
  standby: boolean;
  /** Seconds that what is read may be behind the primary, at most; 0 on a primary. */
  lag: number;
}

export interface ServerRole {
  /** As last seen. A server that was promoted counts as a standby until everything is done that it has to. */
  current(): ServerState;
  /** Takes in what a query has told. */
  observe(found: RoleRow): ServerState;
  /** Called when a standby has become a primary, and before that is told; again at the next look where it fails. */
  onPromotion(prepare: () => Promise<void>): void;
  /** Tells of every change of the role. Returns what ends it. */
  subscribe(listener: (standby: boolean) => void): () => void;
}

/** @param standby what the server was found to be at the start */
export function createServerRole({ logger, standby }: { logger: Logger; standby: boolean }): ServerRole {
  const lagOf = createLag();
  const listeners = new Set<(standby: boolean) => void>();
  let state: ServerState = { standby, lag: 0 };
  let prepare: () => Promise<void> = () => Promise.resolve();
  let preparing = false;
  /** As the last look found it, prepared or not. */
  let found = standby;

  const become = (next: boolean): void => {
    state = { standby: next, lag: 0 };
    logger.info(next ? 'the database server is a standby: nothing is written' : 'the database server is a primary');
    for (const listener of listeners) listener(next);
  };

  const promote = async (): Promise<void> => {
    if (preparing) return;
    preparing = true;
    try {
      await prepare();
      if (!found) become(false);
    } catch (error) {
      logger.warn('the database server was promoted, and nothing can be written yet', { error });
    } finally {
      preparing = false;
    }
  };

  return {
    current: () => state,
    observe: (row) => {
      const { replay } = row;
      found = row.standby;
      if (found && !state.standby) become(true);
      if (found) state = { standby: true, lag: replay === null ? 0 : lagOf(replay) };
      else if (state.standby) {
        state = { standby: true, lag: 0 };
        void promote();
      }
      return state;
    },
    onPromotion: (given) => (prepare = given),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Seconds: a transaction that was older when it came to be replayed tells of a standby that is catching up. */
const OLD = 1;

/** Answers for how many seconds, at most, a standby has not heard of what its primary has committed. */
export function createLag(): (replay: Replay) => number {
  let before: Replay | undefined;
  let caughtUp: number | undefined;

  return (replay) => {
    const { committed, now } = replay;
    const isCaughtUp = hasReplayedAll(replay) && !isReplayingOld(replay, before);
    before = replay;
    if (isCaughtUp) caughtUp = now;
    // Without a change on the primary the last transaction grows old and nothing is missing: two bounds, the lower holds.
    return isCaughtUp ? 0 : Math.max(0, now - Math.max(committed, caughtUp ?? 0));
  };
}

function hasReplayedAll({ replayed, received, receiving, sent }: Replay): boolean {
  if (!receiving || replayed === null) return false;
  return replayed >= (sent ?? received ?? Infinity);
}

/** Where it can't be seen what the primary has sent: everything that came so far was replayed, and more is on its way. */
function isReplayingOld({ sent, committed }: Replay, before: Replay | undefined): boolean {
  if (sent !== null || before === undefined) return false;
  return committed !== before.committed && before.now - committed > OLD;
}
