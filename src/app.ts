/** Assembles the service from its parts. */
import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import { createAuth } from './auth/index.js';
import type { FirstAdmin } from './auth/first-admin.js';
import type { Config } from './config.js';
import { createDoctor } from './examine.js';
import { explained } from './explain-start.js';
import { followLog } from './follow-log.js';
import { createHealth } from './health.js';
import { createHttp } from './http/app.js';
import { httpConfig } from './http-config.js';
import { type ListeningServer, listen } from './http/server.js';
import { readKeyFile } from './log/signed-checkpoints/key-file.js';
import { startCheckpoints } from './log/signed-checkpoints/start.js';
import { createLogWatch } from './log/watch.js';
import { autoAcknowledge } from './pipeline/auto-acknowledge.js';
import { createPipeline } from './pipeline/index.js';
import { recordingFirstAdmin } from './pipeline/prepare/change-account.js';
import { createPurger } from './pipeline/purger.js';
import { readDatabase } from './postgres/database.js';
import type { Logger } from './postgres/logger.js';
import { type ConnectionOptions, createPool, directly, withSessions } from './postgres/pool.js';
import { createServerRole } from './postgres/server-role.js';
import { openDatabase } from './postgres/open-database.js';
import { createMetrics } from './metrics/index.js';
import { countChanges } from './projector/change-requests/rows.js';
import { createIndexProjection } from './projector/indexes/index.js';
import { createProjections } from './projector/projections/index.js';
import { createFreshness } from './reads/freshness.js';
import { createHeadChecks } from './reads/head-checks.js';
import { createHistory } from './reads/history/index.js';
import { createRenderedCache } from './reads/rendered-cache.js';
import { createPositions } from './reads/positions.js';
import { createStore } from './reads/state-store.js';
import { createStoredFolds } from './reads/stored-folds/index.js';
import { readSystemCollections } from './reads/system-collections.js';
import { readRelease } from './release.js';
import { setUp } from './set-up.js';
import { type Shutdown, createShutdown } from './shutdown.js';
import { startChanges } from './start-changes.js';

export interface Service {
  url: string;
  /** The first admin. The generated secrets appear here on the first start only. */
  admin: FirstAdmin;
  /** Resolves when the embedded server has ended, by `stop` or by itself. The value is its last output. */
  databaseLost: Promise<string>;
  /** True after `stop` was called. */
  stopping(): boolean;
  /** Stops accepting requests, finishes running ones and closes everything. Idempotent. */
  stop(): Promise<void>;
}

/** Milliseconds that running requests may take to finish after `stop`. */
const GRACE = 30_000;

/** Connections outside the pool: listener, reads, index builder, the operator commands and a few manual sessions. */
const SPARE_CONNECTIONS = 20;

/**
 * @param signal ends a start that waits for another process
 * @throws OperatorError with one sentence that says what is wrong and what to do
 */
export async function createService(
  config: Config,
  logger: Logger,
  signal: AbortSignal = new AbortController().signal,
): Promise<Service> {
  const shutdown = createShutdown(logger);
  try {
    return await start({ ...config, logger, signal }, shutdown);
  } catch (error) {
    await shutdown.run();
    throw explained(error);
  }
}

async function start(options: Starting, shutdown: Shutdown): Promise<Service> {
  const { keyFile } = options.checkpoints;
  const fileKey = keyFile === null ? null : readKeyFile(keyFile);
  const server = await listen(options.host, options.port);
  // A failed start releases the address here. `stop` closes it earlier, together with the running requests.
  shutdown.add('address', () => server.close(0));
  const source = await openDatabase({ ...options, connections: options.poolSize + SPARE_CONNECTIONS });
  shutdown.add('database server', () => source.stop());

  const { connectionString, pooler, direct } = source;
  const admin = await startOn({ ...options, fileKey, connectionString, pooler, direct }, server, shutdown);
  return {
    url: server.url,
    admin,
    databaseLost: source.ended,
    stopping: () => shutdown.begun(),
    stop: () => shutdown.run(),
  };
}

type Starting = Config & { logger: Logger; signal: AbortSignal };
type OnDatabase = Starting & ConnectionOptions & { fileKey: KeyObject | null };

/**
 * Starts everything that needs the database: migrations, accounts, the state, then the parts that depend on the state.
 */
async function startOn(options: OnDatabase, server: ListeningServer, shutdown: Shutdown): Promise<FirstAdmin> {
  const { logger, fileKey, schema, serviceSchema } = options;
  const pooling = { ...options, max: options.poolSize };
  const pool = createPool(pooling);
  shutdown.add('pool', () => pool.end());
  const database = await readDatabase(pool);
  const place = { database: database.database, schema };
  const connection = directly(options);
  const preparing = {
    ...options,
    pool,
    database,
    withSessions: (work: (sessions: pg.Pool) => Promise<void>) => withSessions(pool, pooling, work),
    onWait: (sentence: string) => waitAloud(sentence, { server, logger }),
  };
  const { secret, standby } = await setUp(preparing);
  const role = createServerRole({ logger, standby });
  const readOnly = (): boolean => role.current().standby;

  const auth = await createAuth({ pool, secret });
  shutdown.add('accounts', () => auth.stop());

  const folds = createStoredFolds({ pool, logger, secret, readOnly });
  const watch = createLogWatch({ pool, logger, readOnly });
  const store = createStore({ pool, logger, folds, onReplaced: ({ head }) => watch.replaced(head) });
  store.subscribe(({ head }) => watch.remember(head));
  await store.load();
  shutdown.add('stored folds', () => folds.close(store.point()));
  const checks = createHeadChecks({ store, watch, role });
  const freshness = createFreshness({ ...options, role, watch: checks });
  shutdown.add('reads', () => freshness.close());
  const atHead = async () => store.atHead((await freshness.check()).head);
  const indexes = createIndexProjection({
    pool,
    connection,
    database: database.database,
    currentState: atHead,
    logger,
    readOnly,
  });
  shutdown.add('index builder', () => indexes.stop());
  store.subscribe(() => indexes.wake());
  role.subscribe(() => indexes.wake());
  indexes.wake();

  const release = readRelease();
  const metrics = createMetrics();
  const pipeline = metrics.commands.counted(createPipeline({ ...options, pool, place, release, store, watch }));
  const ensureAdmin = async () => auth.ensureAdmin(options.admin, await recordingFirstAdmin(pool, pipeline));
  role.onPromotion(async () => {
    await setUp(preparing);
    await ensureAdmin();
  });
  autoAcknowledge({ ...options, watch, pipeline, readOnly });
  const purger = createPurger({ ...options, pool, pipeline, readOnly, news: [store, role] });
  shutdown.add('purger', () => purger.stop());
  // Checkpoints may show that the log diverged while no process was running.
  await freshness.check();
  const following = followLog({ connection, role, freshness, store, logger, shutdown });
  const checkpoints = startCheckpoints({
    ...checks,
    pool,
    place,
    fileKey,
    readOnly,
    logger,
    settings: options.checkpoints,
    pending: watch.pending,
  });
  shutdown.add('checkpoints', () => checkpoints.publisher.stop());
  store.subscribe(() => checkpoints.publisher.wake());
  role.subscribe(() => checkpoints.publisher.wake());
  const projections = createProjections({ ...options, ...place, pool, connection, store, pipeline, indexes });
  const rendered = createRenderedCache();
  const history = createHistory({ ...options, pool, store, folds, release, keepDeleted: options.keep.deleted });
  const changes = startChanges({
    ...options,
    ...place,
    pool,
    connection,
    pipeline,
    release,
    store,
    role,
    shutdown,
    metrics: metrics.changes,
    history,
  });
  metrics.watch({
    release,
    databaseVersion: database.version,
    projections: () => projections.list(),
    state: () => store.current(),
    rendered: () => rendered.size(),
    pool,
    listening: () => following.listening(),
    server: () => role.current(),
    divergences: watch.count,
    changes: () => countChanges(pool),
    checkpoints: checkpoints.publisher.status,
  });
  const health = createHealth({ freshness, store, pool, watch, pipeline, schema });
  const positions = createPositions({ check: () => freshness.check(), timeout: options.positionTimeout });
  const http = createHttp({
    pipeline,
    pool,
    store,
    freshness,
    positions,
    changes,
    rendered,
    history,
    checkpoints: checkpoints.service,
    auth,
    systemCollections: await readSystemCollections(pool, serviceSchema),
    health,
    doctor: createDoctor({ ...options, pool, projections }),
    projections,
    metrics,
    watch,
    logger,
    config: httpConfig(options, { databaseVersion: database.version, release }),
  });
  // This runs late because generated secrets are shown only once, so no later step of the start may fail.
  const admin = await ensureAdmin();
  for (const name of admin.ignored) logger.warn(`${name} is not what is stored for the admin, and changes nothing`);
  server.serve(http);
  shutdown.add('http', () => server.close(GRACE));
  shutdown.add('history streams', () => history.tail.close());
  return admin;
}

/** Reports what the start waits for, to the log and to clients that send requests meanwhile. */
function waitAloud(sentence: string, { server, logger }: { server: ListeningServer; logger: Logger }): void {
  server.say(sentence);
  logger.warn(sentence);
}
