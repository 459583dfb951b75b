/**
 * Rebuilds the metadata rows from the log while the service runs. The new rows are staged beside the real ones. The
 * log's lock is only taken for the last events and the switch. Readers see the old rows until the commit.
 */
import type pg from 'pg';
import { checkHead, logDiverged } from '../../log/divergence.js';
import { headPosition, readEventPages } from '../../log/read.js';
import { advisoryKey } from '../../postgres/advisory.js';
import { environmentProblem } from '../../postgres/errors.js';
import { sendBatch } from '../../postgres/exchange.js';
import type { Logger } from '../../postgres/logger.js';
import { ServiceClient } from '../../postgres/client.js';
import { type ConnectionOptions, connectionConfig } from '../../postgres/pool.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/release-guard.js';
import { watchOwnClient } from '../../postgres/silent-connections.js';
import { commitSurely } from '../../postgres/transaction.js';
import { unlimited } from '../../postgres/unlimited.js';
import { writeLimits } from '../../postgres/write-limits.js';
import { type FoldLogOptions, type Point, foldLog, foldPage, startPoint } from '../../log/fold.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import { sql, own } from '../ddl/sql.js';
import { type StagedRows, createStaging, restage, stage, switchRows } from './staging.js';
import { runYielding } from '../../kernel/event-loop.js';
import { ProblemError } from '../../kernel/problem.js';

export interface RebuildMetadataOptions {
  connection: ConnectionOptions;
  database: string;
  /** Milliseconds to wait for the log's lock. */
  lockTimeout: number;
  logger: Logger;
  onProgress?: Progress;
}

/** Reports how many events are done. */
export type Progress = (done: number, total: number) => void;

export interface RebuiltMetadata extends StagedRows {
  /** The position of the rows. */
  position: number;
  /** The number of collections whose rows were wrong or changed during the rebuild. */
  replaced: number;
  milliseconds: number;
  /** The part of the time during which writers had to wait. */
  locked_milliseconds: number;
}

/** @throws ProblemError IN_USE while another rebuild runs on any instance; LOCK_TIMEOUT, UNAVAILABLE */
export async function rebuildMetadataRows(options: RebuildMetadataOptions): Promise<RebuiltMetadata> {
  const { connection } = options;
  const config = connectionConfig({ ...connection, applicationName: 'data-platform-service rebuild' });
  const client = new ServiceClient(config);
  watchOwnClient(client, config, options.logger);
  try {
    await client.connect();
    return await rebuild(client, config, options);
  } catch (error) {
    const problem = environmentProblem(error);
    throw problem === undefined ? error : new ProblemError(problem, error);
  } finally {
    // The temporary tables and the session's lock end with the connection.
    await client.end().catch(() => undefined);
  }
}

async function rebuild(
  client: pg.Client,
  config: pg.ClientConfig,
  options: RebuildMetadataOptions,
): Promise<RebuiltMetadata> {
  const started = performance.now();
  const place = { database: options.database, schema: options.connection.schema };
  await enter(client, advisoryKey(place, 'rebuild-metadata'));
  await requireUndiverged(client);
  const total = await headPosition(client);
  // Starts at the first event: a rebuild trusts only the log, not stored folds.
  const folded = await foldLog(client, startPoint(), { stops: telling(total, options.onProgress) });
  options.onProgress?.(folded.head.position, folded.head.position);
  await createStaging(client);
  const rows = await stage(client, folded.state);
  const caughtUp = await approach(client, folded);
  const switched = await switchOver(client, { ...caughtUp, options, config, key: advisoryKey(place, 'log') });
  return { ...switched, ...rows, milliseconds: Math.round(performance.now() - started) };
}

/** Rewriting the checkpoint would hide a divergence. */
async function requireUndiverged(client: pg.Client): Promise<void> {
  const { head, forgotten, pending } = await checkHead(client);
  const [noted] = pending ?? [];
  const seen = noted?.seen ?? forgotten;
  if (seen !== null) throw new ProblemError(logDiverged({ seen, found: noted?.found ?? head }));
}

const TOLD_EVERY = 10_000;

function telling(total: number, onProgress: Progress = () => undefined): FoldLogOptions['stops'] {
  return {
    next: ({ head }) => head.position + TOLD_EVERY,
    reached: ({ head }) => onProgress(head.position, Math.max(total, head.position)),
  };
}

async function enter(client: pg.Client, key: string): Promise<void> {
  // A long log takes long, and only the switch needs a transaction.
  await client.query(unlimited('session'));
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_catalog.pg_try_advisory_lock($1) AS locked', [
    key,
  ]);
  if (rows[0]?.locked === true) return;
  throw new ProblemError({
    code: 'IN_USE',
    message: 'The metadata rows are being rebuilt already: wait for that rebuild to end.',
  });
}

interface Followed {
  point: Point;
  /** The collections that the events changed. */
  touched: Set<string>;
  events: number;
}

/** Folds the events after `from`. */
async function follow(client: pg.Client, from: Point): Promise<Followed> {
  const touched = new Set<string>();
  let point = from;
  for await (const page of readEventPages(client, { after: from.head.position })) {
    point = await runYielding(foldPage(point, page));
    for (const name of collectionsChanged(page)) touched.add(name);
  }
  return { point, touched, events: point.head.position - from.head.position };
}

/** With so few events left, they can be processed under the lock. */
const FEW = 100;
const ROUNDS = 20;

/** Catches up with writers as far as possible without blocking them. */
async function approach(client: pg.Client, from: Point): Promise<{ point: Point; touched: Set<string> }> {
  const touched = new Set<string>();
  let point = from;
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = await follow(client, point);
    point = next.point;
    for (const name of next.touched) touched.add(name);
    if (next.events <= FEW) break;
  }
  return { point, touched };
}

interface Switch {
  point: Point;
  touched: Set<string>;
  options: RebuildMetadataOptions;
  config: pg.ClientConfig;
  /** The key of the log's lock. */
  key: string;
}

const CHECKPOINT = sql`
INSERT INTO ${own.projections} (name, kind, position, hash) VALUES ('metadata', 'transactional', $1, $2)
ON CONFLICT (name) DO UPDATE
  SET position = excluded.position, hash = excluded.hash, status = 'running', last_error = NULL, updated_at = now()`;

type Switched = Pick<RebuiltMetadata, 'position' | 'replaced' | 'locked_milliseconds'>;

async function switchOver(client: pg.Client, { point, touched, options, config, key }: Switch): Promise<Switched> {
  await restage(client, point.state, touched);
  await sendBatch(client, [
    { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' },
    writeLimits({ lock: options.lockTimeout, statement: 0 }),
    { text: 'SELECT pg_catalog.pg_advisory_xact_lock($1)', values: [key] },
    REFUSE_OLDER_RELEASE,
  ]);
  const locked = performance.now();
  await requireUndiverged(client);
  const last = await follow(client, point);
  await restage(client, last.point.state, last.touched);
  const replaced = await switchRows(client);
  const { position, hash } = last.point.head;
  await client.query(CHECKPOINT, [position, hash]);
  await commitSurely({ options: config }, client);
  return { position, replaced, locked_milliseconds: Math.round(performance.now() - locked) };
}
