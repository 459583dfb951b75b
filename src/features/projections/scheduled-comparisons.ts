/**
 * Compares the database with the log, and verifies the log, on a schedule. Appends an event if a result differs from
 * the previous one, so that webhooks can deliver it.
 */
import type pg from 'pg';
import { jsonEqual, type Json } from '../../kernel/json.js';
import { quoteName } from '../../kernel/text.js';
import { createEarliestTimer } from '../../kernel/time.js';
import type { LogVerification } from '../../log/verification.js';
import { CommandRefused, type Pipeline, type Prepare, type Recording } from '../../pipeline/types.js';
import type { Logger } from '../../postgres/logger.js';
import { own } from '../../postgres/own-tables.js';
import type { Difference } from '../../projector/verify/index.js';
import type { Cause, LogEvent } from '../../schema/model/events.js';
import { COMPARISON, type FoundDrift } from '../../schema/model/service-events.js';
import type { Verified } from './index.js';

interface ScheduledOptions {
  pipeline: Pick<Pipeline, 'apply'>;
  projections: { verify(): Promise<Verified> };
  history: { verify(): Promise<LogVerification> };
  /** Milliseconds between two comparisons. With 0, there are none. */
  every: number;
  logger: Logger;
  /** True while the database is read-only. */
  readOnly: () => boolean;
}

export interface ScheduledComparisons {
  /** The number of faults of the last comparison by this process: `drift` and `verification`. Empty before it. */
  faults: ReadonlyMap<string, number>;
  /** Ends the schedule, but does not wait for a running comparison. */
  stop(): void;
}

/** The longest time in milliseconds from the start of the service to its first comparison. */
const FIRST = 60_000;

/** Maximum number of names in an event. */
const MAX_NAMES = 100;

/** The part of the interval that varies at random, so that several processes compare at different times. */
const VARIANCE = 0.1;

/**
 * Starts the schedule. Every process has its own, and the lock of the log ensures that each result is recorded once.
 * Failed comparisons are logged and repeated after the interval.
 */
export function scheduleComparisons(options: ScheduledOptions): ScheduledComparisons {
  const { every, logger, readOnly } = options;
  const faults = new Map<string, number>();
  let stopped = every === 0;
  const timer = createEarliestTimer(() => void run());

  const run = async (): Promise<void> => {
    try {
      if (!readOnly()) await compare(options, faults);
    } catch (error) {
      if (!stopped) logger.warn('the database could not be compared with the log', { error });
    }
    plan(every);
  };
  const plan = (wait: number): void => {
    if (!stopped) timer.set(wait * (1 - VARIANCE * Math.random()));
  };

  plan(Math.min(FIRST, every));
  return {
    faults,
    stop() {
      stopped = true;
      timer.stop();
    },
  };
}

async function compare(
  { pipeline, projections, history, logger }: ScheduledOptions,
  faults: Map<string, number>,
): Promise<void> {
  const log = await history.verify();
  const differences = await readDifferences(projections, log);
  const drift = differences === null ? [] : [driftOf(differences)];
  const results = [...drift, verificationOf(differences ?? [], log)];
  // The log may accept no events, so all faults are shown first.
  for (const { id, count, problem, event } of results) {
    faults.set(id, count);
    if (problem !== null) logger.error(problem, event);
  }
  for (const { problem, event } of results) {
    const outcome = await pipeline.apply('record', recordIfNew(event), { cause: { ...BY_ITSELF, reason: problem } });
    if (outcome.kind === 'refused') throw new CommandRefused(outcome.problems);
  }
}

/** Returns null if the log is broken and cannot be read, so that nothing can be compared with it. */
async function readDifferences(
  projections: ScheduledOptions['projections'],
  { broken }: LogVerification,
): Promise<readonly Difference[] | null> {
  try {
    return (await projections.verify()).differences;
  } catch (error) {
    if (broken === undefined) throw error;
    return null;
  }
}

const BY_ITSELF: Omit<Cause, 'reason'> = {
  actor: { id: 'service', name: 'Data Platform Service' },
  command: 'verify',
  request_id: null,
  ip: null,
  user_agent: null,
};

interface Result {
  id: 'drift' | 'verification';
  /** The number of faults. */
  count: number;
  /** Null if nothing is wrong. */
  problem: string | null;
  event: ComparisonEvent;
}

type ComparisonEvent = Extract<LogEvent, { type: `drift.${string}` | `verification.${string}` }>;

const about = (id: Result['id']) =>
  ({ version: 1, collection: null, field: null, subject: { kind: COMPARISON, id } }) as const;

function driftOf(all: readonly Difference[]): Result {
  const id = 'drift';
  const differences = all.filter(({ where }) => where === 'catalog');
  if (differences.length === 0)
    return { id, count: 0, problem: null, event: { type: 'drift.resolved', ...about(id), data: {} } };
  const tables = new Set<string>();
  const objects = new Map<string, { kind: string; id: string }>();
  for (const { collection, object } of differences)
    if (object === undefined) tables.add(collection);
    else objects.set(`${object.kind} ${object.id}`, object);
  const data: FoundDrift = {
    differences: differences.length,
    tables: [...tables].sort().slice(0, MAX_NAMES),
    ...(objects.size > 0 && {
      objects: [...objects.keys()]
        .sort()
        .slice(0, MAX_NAMES)
        .flatMap((key) => objects.get(key) ?? []),
    }),
  };
  const names = [...tables, ...objects.keys()].sort();
  const others = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  const problem = `The database differs from the log: ${names.slice(0, SHOWN).map(quoteName).join(', ')}${others}`;
  return { id, count: differences.length, problem, event: { type: 'drift.found', ...about(id), data } };
}

/** The number of names in a sentence. */
const SHOWN = 5;

function verificationOf(differences: readonly Difference[], log: LogVerification): Result {
  const id = 'verification';
  const faults: Record<string, number> = {};
  const add = (what: string, count = 1): void => {
    if (count > 0) faults[what] = (faults[what] ?? 0) + count;
  };
  if (log.broken !== undefined) add('hash_chain');
  add('policy', log.disallowed.length);
  add('protection', log.unprotected.length);
  for (const { where } of differences) if (where !== 'catalog') add(where);
  const entries = Object.entries(faults);
  if (entries.length === 0)
    return { id, count: 0, problem: null, event: { type: 'verification.passed', ...about(id), data: {} } };
  const problem = `The verification failed (faults: ${entries.map(([what, count]) => `${what} ${count}`).join(', ')})`;
  const count = entries.reduce((sum, [, each]) => sum + each, 0);
  return { id, count, problem, event: { type: 'verification.failed', ...about(id), data: { faults } } };
}

/**
 * Records the event unless the newest event about the same comparison equals it. If there is no such event, the
 * previous result had no faults.
 */
const recordIfNew =
  (event: ComparisonEvent): Prepare<Recording> =>
  async (client: pg.ClientBase) => {
    const { rows } = await client.query<{ type: string; data: Json }>(NEWEST, [COMPARISON, event.subject?.id]);
    const [newest] = rows;
    const isNew =
      newest === undefined
        ? event.type === 'drift.found' || event.type === 'verification.failed'
        : newest.type !== event.type || !jsonEqual(newest.data, event.data);
    return { events: isNew ? [event] : [] };
  };

const NEWEST = `
SELECT type, data FROM ${own.events}
 WHERE subject ->> 'kind'::text = $1 AND subject ->> 'id'::text = $2 ORDER BY position DESC LIMIT 1`;
