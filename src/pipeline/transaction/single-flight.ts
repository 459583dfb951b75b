/*
 * Carries out a small change in one flight: BEGIN, the log lock, a guard, DDL, rows and COMMIT. The change is decided
 * before the transaction begins, on the state that this process has folded. The guard runs under the log lock. It fails
 * if anything differs from what the decision relied on, and then nothing is changed and `begin` starts over.
 */
import type pg from 'pg';
import { CHECK_QUERY } from '../../log/divergence.js';
import { POLICY_QUERY } from '../../log/decisive-events.js';
import { sessionOf } from '../../postgres/client.js';
import { ExchangeError, isLocked } from '../../postgres/errors.js';
import type { Parameterised } from '../../postgres/exchange.js';
import { REFUSE_OLDER_RELEASE, own } from '../../postgres/own-tables.js';
import { HELD } from '../../features/change-requests/rows.js';
import { DEFAULT_POLICY } from '../../schema/policy.js';
import type { Job, PipelineOptions, RequestContext } from '../types.js';
import { LogBusyError, type StartedTransaction, type Limits, openingStatements } from './begin.js';
import { isReader } from './decide.js';
import { isLost } from './idempotency.js';

/** The facts that the next single flight relies on, besides the folded state. Its guard checks this. */
export interface Assumptions {
  timeline: number;
}

/** Updated after every transaction of this process. */
export interface ExpectedOutcome {
  /** Undefined if the next single flight would probably fail. */
  assumptions: Assumptions | undefined;
}

/**
 * Decides after a transaction whether the next change may use a single flight. It may not if the policy needs findings
 * from the database, if a held table needs an explanation, or if another process has just committed and will probably
 * do so again.
 */
export const assumptionsAfter = ({
  held,
  policyHash,
  timeline,
  point,
  base,
}: StartedTransaction): Assumptions | undefined =>
  held.length === 0 && policyHash === null && timeline !== null && point === base ? { timeline } : undefined;

export function fitsOneRoundTrip<C>({ operation, command, request }: Job<C>): boolean {
  if (isReader(command) || operation.isLight?.(command) !== true) return false;
  const { revise, online, acknowledges, ifMatch, pipelineToken, lossless } = request;
  return [revise, online, acknowledges, ifMatch, pipelineToken, lossless].every((each) => each === undefined);
}

/**
 * Returns the state on which a single flight is decided. Undefined if the flight would certainly fail. Also undefined
 * if the server process of the connection is unknown, because it is needed to end a lost flight. A pooler hides it.
 */
export function assumeBegin(
  client: pg.ClientBase,
  { store, watch }: PipelineOptions,
  { timeline }: Assumptions,
): StartedTransaction | undefined {
  const point = store.point();
  const backend = sessionOf(client);
  // The guard compares the last event, and an empty log has none.
  if (backend === undefined || point.head.position === 0 || watch?.pending() !== undefined) return undefined;
  try {
    watch?.admit({ timeline });
  } catch {
    return undefined;
  }
  return {
    point,
    base: point,
    backend,
    timeline,
    held: [],
    policy: DEFAULT_POLICY,
    policyHash: null,
    found: [],
    isRevoked: false,
    glance: { tables: [], rows: [] },
    childless: new Set(),
  };
}

class DatabaseNeededError extends Error {
  override readonly name = 'DatabaseNeededError';
}

/** Replaces the database in decisions before the flight. It rejects every query with DatabaseNeededError. */
export const NO_DATABASE = {
  query: () => {
    throw new DatabaseNeededError();
  },
} as unknown as pg.ClientBase;

/** Turns DatabaseNeededError into undefined, and throws every other error. */
export function ignoreDatabaseNeeded(error: unknown): undefined {
  if (!(error instanceof DatabaseNeededError)) throw error;
}

const EXPECTED = `c.position = $1 AND c.hash = $2 AND c.forgotten IS NULL AND c.pending IS NULL AND c.timeline = $3`;

/** Fails by an impossible cast, like `REFUSE_OLDER_RELEASE`. The transaction that follows finds the reason. */
const GUARD = `
SELECT CASE WHEN ${EXPECTED} AND (${REFUSE_OLDER_RELEASE.text}) IS NULL
              AND (SELECT true FROM pg_catalog.pg_namespace WHERE nspname = $4)
              AND (SELECT true FROM (${HELD}) h LIMIT 1) IS NULL
              AND (SELECT p.hash FROM (${POLICY_QUERY}) p) IS NULL
              AND (SELECT true FROM ${own.idempotency} i WHERE i.actor = $6 AND i.key = $7) IS NULL
              AND NOT ${isLost('$5')}
            THEN 0 ELSE ('not what was expected: ' || coalesce(c.position, 0)::text)::int END
  FROM (${CHECK_QUERY}) c`;

/** Returns the statements that precede DDL and rows. */
export function createOpening(
  { point: { head }, timeline }: StartedTransaction,
  options: PipelineOptions,
  { idempotency, cause, batch, ...limits }: Pick<RequestContext, 'idempotency' | 'cause'> & Limits & { batch: string },
): Parameterised[] {
  const answer = idempotency === undefined ? [null, null] : [cause.actor.id, idempotency.key];
  const guard = {
    text: GUARD,
    values: [head.position, head.hash, timeline, options.location.schema, batch, ...answer],
  };
  return [...Object.values(openingStatements(options, limits)), guard];
}

/** The index of the statement that waits for the log lock. */
const LOG_LOCK = 2;

/**
 * Returns normally only if PostgreSQL rejected a statement of the flight, so that nothing was changed.
 * @param count the number of statements, including COMMIT
 * @throws LogBusyError if the log lock was not granted, and every other error
 */
export function requireRejected(error: unknown, count: number): void {
  // After an error of the driver itself, every statement may have been completed, including COMMIT.
  if (!(error instanceof ExchangeError) || !error.isSent || error.results.length >= count) throw error;
  if (error.results.length === LOG_LOCK && isLocked(error)) throw new LogBusyError();
}
