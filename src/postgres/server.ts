/* Facts about the server: the database, and whether it is a primary or a standby. */
import type { Logger } from './logger.js';
import type { Queryable } from './pool.js';
import { OperatorError } from '../kernel/problem.js';

/* Identifies the connected database. */

export interface Database {
  /** The database name. */
  database: string;
  /** For display: `18.4`. */
  version: string;
  /** The number that PostgreSQL uses: 180004. */
  versionNumber: number;
}

const OLDEST = 140_000;

/**
 * Reads the version of the server.
 * @throws OperatorError if the service does not support it
 */
export async function readDatabase(db: Queryable): Promise<Database> {
  const { rows } = await db.query<{ database: string; version: string; number: number; encoding: string }>(`
    SELECT current_database() AS database,
           pg_catalog.current_setting('server_version') AS version,
           pg_catalog.current_setting('server_version_num')::int AS number,
           pg_catalog.current_setting('server_encoding') AS encoding`);
  const row = rows[0] as (typeof rows)[number];
  const version = row.version.split(' ')[0] ?? row.version;
  if (row.number < OLDEST) {
    throw new OperatorError(`The database server runs PostgreSQL ${version}, but this service requires 14 or newer.`);
  }
  if (row.encoding !== 'UTF8') {
    throw new OperatorError(
      `The database "${row.database}" has the encoding ${row.encoding}, but this service requires UTF8.`,
    );
  }
  return { database: row.database, version, versionNumber: row.number };
}

/*
 * Tracks whether the server is a primary or a standby, which accepts no changes. A failover changes the role without
 * notice, so every head check asks for it.
 */

/** SQL columns that describe the server running the query: `standby`, and on a standby `replay`, its progress. */
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

/** True if the server is in recovery and accepts no changes. */
export async function isStandby(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
  return rows[0]?.standby === true;
}

/** Returns the current state of the server, without earlier observations. */
export async function readServerState(db: Queryable): Promise<ServerState> {
  const { rows } = await db.query<RoleRow>(`SELECT ${ROLE_COLUMNS}`);
  const { standby, replay } = rows[0] as RoleRow;
  return { standby, lag: replay === null ? 0 : createLag()(replay) };
}

/**
 * The progress of a standby. WAL positions are in bytes. Times are in seconds since 1970, by the clock of the standby.
 */
export interface Replay {
  replayed: number | null;
  received: number | null;
  /** True if the standby has a connection to the server that it follows. */
  receiving: boolean;
  /** The end of the WAL as that server announced it. Null if the role lacks pg_read_all_stats. */
  sent: number | null;
  /** Commit time of the last replayed transaction. After a start, the time of the last checkpoint. */
  committed: number;
  now: number;
}

/** The columns of `ROLE_COLUMNS` in a result. */
export interface RoleRow {
  standby: boolean;
  /** Null on a primary. */
  replay: Replay | null;
}

export interface ServerState {
  standby: boolean;
  /** Maximum number of seconds that reads on this server are behind the primary. 0 on a primary. */
  lag: number;
}

export interface ServerRole {
  /** The last observed state. A promoted server counts as a standby until it is prepared. */
  current(): ServerState;
  /** Records the role and progress that a query returned. */
  observe(found: RoleRow): ServerState;
  /**
   * Registers what to do after a promotion, before the promotion is reported. If it fails, the next check repeats it.
   */
  onPromotion(prepare: () => Promise<void>): void;
  /** Reports each time that the role changes. Returns the function that unsubscribes. */
  subscribe(listener: (standby: boolean) => void): () => void;
}

/** @param standby the role at the start */
export function createServerRole({ logger, standby }: { logger: Logger; standby: boolean }): ServerRole {
  const lagOf = createLag();
  const listeners = new Set<(standby: boolean) => void>();
  let state: ServerState = { standby, lag: 0 };
  let prepare: () => Promise<void> = () => Promise.resolve();
  let preparing = false;
  /** The last observed role. A promoted server counts as a primary here even before it is prepared. */
  let currentRole = standby;

  const changeRole = (next: boolean): void => {
    state = { standby: next, lag: 0 };
    logger.info(
      next ? 'the database server is a standby: this process only reads' : 'the database server is a primary',
    );
    for (const listener of listeners) listener(next);
  };

  const promote = async (): Promise<void> => {
    if (preparing) return;
    preparing = true;
    try {
      await prepare();
      if (!currentRole) changeRole(false);
    } catch (error) {
      logger.warn('the database server was promoted, and does not accept writes yet', { error });
    } finally {
      preparing = false;
    }
  };

  return {
    current: () => state,
    observe: (row) => {
      const { replay } = row;
      currentRole = row.standby;
      if (currentRole && !state.standby) changeRole(true);
      if (currentRole) state = { standby: true, lag: replay === null ? 0 : lagOf(replay) };
      else if (state.standby) {
        state = { standby: true, lag: 0 };
        void promote();
      }
      return state;
    },
    onPromotion: (callback) => (prepare = callback),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** If a transaction was older than this many seconds when it was replayed, the standby is still catching up. */
const OLD = 1;

/** Returns the maximum number of seconds for which a standby may lack commits of its primary. */
export function createLag(): (replay: Replay) => number {
  let before: Replay | undefined;
  let caughtUp: number | undefined;

  return (replay) => {
    const { committed, now } = replay;
    const isCaughtUp = hasReplayedAll(replay) && !isReplayingOld(replay, before);
    before = replay;
    if (isCaughtUp) caughtUp = now;
    // On an idle primary, the last transaction grows older although the standby lacks nothing. The lower of two bounds
    // applies.
    return isCaughtUp ? 0 : Math.max(0, now - Math.max(committed, caughtUp ?? 0));
  };
}

function hasReplayedAll({ replayed, received, receiving, sent }: Replay): boolean {
  if (!receiving || replayed === null) return false;
  return replayed >= (sent ?? received ?? Infinity);
}

/**
 * True if the standby is catching up although everything received was replayed, because more keeps arriving. Used if
 * the role cannot see what the primary has sent.
 */
function isReplayingOld({ sent, committed }: Replay, before: Replay | undefined): boolean {
  if (sent !== null || before === undefined) return false;
  return committed !== before.committed && before.now - committed > OLD;
}
