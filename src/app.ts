/* Assembles the service from its parts. */
import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import { createAuth } from './features/accounts/index.js';
import type { FirstAdmin } from './features/accounts/first-admin.js';
import { type Config, httpConfig } from './config.js';
import { followLog } from './follow-log.js';
import { createHealth } from './health.js';
import { createHttp } from './http/app.js';
import { type ListeningServer, listen } from './http/server.js';
import { readKeyFile } from './log/signed-checkpoints/keys.js';
import { startCheckpoints } from './log/signed-checkpoints/publish.js';
import { createLogWatch } from './log/watch.js';
import { autoAcknowledge } from './pipeline/acknowledge.js';
import { createPipeline } from './pipeline/index.js';
import { checkScratchServer } from './pipeline/transaction/prove.js';
import { createFirstAdminRecorder } from './features/accounts/change-account.js';
import { createPurger } from './features/trash/purger.js';
import { readDatabase, createServerRole, readServerState, type ServerRole } from './postgres/server.js';
import type { Logger } from './postgres/logger.js';
import { type ConnectionOptions, createPool, toDirectOptions, withSessions } from './postgres/pool.js';
import { openDatabase, isStartupRefused, createUnexpectedPoolerError } from './postgres/open-database.js';
import { createMetrics } from './metrics/index.js';
import { startTraces, testExport } from './metrics/traces.js';
import { countChanges } from './features/change-requests/rows.js';
import { isChangeEvent } from './schema/change-requests/fold.js';
import { createIndexProjection } from './projector/indexes/index.js';
import { createProjections, type Projections } from './features/projections/index.js';
import { scheduleComparisons } from './features/projections/scheduled-comparisons.js';
import { createFreshness, createPositions } from './reads/freshness.js';
import { createHeadChecks, createStore, type Store } from './reads/state-store.js';
import { READERS } from './features/readers.js';
import { createEnvironments } from './features/environments/index.js';
import { createWebhooks } from './features/webhooks/index.js';
import { createHistory, type History } from './reads/history/index.js';
import { requireManaged } from './projector/catalog/managed.js';
import { createPlanReads } from './reads/plans.js';
import { createRenderedCache } from './reads/rendered-cache.js';
import { createStoredFolds } from './reads/stored-folds.js';
import { readSystemCollections } from './reads/system-collections.js';
import { readRelease } from './release.js';
import { setUp } from './set-up.js';
import { type Shutdown, createShutdown } from './shutdown.js';
import { type ExaminedCheck, examine } from './doctor/index.js';
import { shareNext } from './kernel/memoize.js';
import { READ_ONLY_BY_DEFAULT, sqlState, SQLSTATE } from './postgres/errors.js';
import { OperatorError } from './kernel/problem.js';
import { type ChangeRequests, createChangeRequests, createChangeRunner } from './features/change-requests/index.js';
import type { ChangeRunnerOptions } from './features/change-requests/runner.js';
import type { RetentionOptions, Pipeline } from './pipeline/types.js';
import { type Proposals, createProposals } from './features/change-requests/proposals.js';
import { createPreparationEngine } from './projector/online/index.js';
import { type Changes, createChanges } from './features/change-requests/read.js';

/* Runs the checks of `dps doctor` and GET /server/doctor. */

type ServiceOptions = Config &
  ConnectionOptions & { pool: pg.Pool; logger: Logger; projections: Projections; untrustedProxy: () => string | null };

/**
 * Returns the function that runs the checks. An examination reads the whole log, so requests that arrive during one
 * share the next.
 */
function createDoctor(options: ServiceOptions): () => Promise<ExaminedCheck[]> {
  const { logger, projections, untrustedProxy } = options;
  // Addresses and paths of this machine appear in the service's own log only.
  const explain = (error: unknown, check: string): string => {
    logger.error('a doctor check failed to run', { check, error: String(error) });
    return sqlState(error) === undefined ? 'see the service log' : (error as Error).message;
  };
  return shareNext(() =>
    withSessions(options.pool, { ...options, max: 1 }, async (pool) => {
      const server = await readServerState(pool);
      const tools = { projections, load: () => foldAll(pool, logger), testExport };
      const now = () => Date.now();
      return examine({ config: options, addresses: options, pool, tools, server, now, explain, untrustedProxy });
    }),
  );
}

/** Folds from the first event, because the check must not rely on stored folds. @throws UnreadableEventError */
async function foldAll(pool: pg.Pool, logger: Logger): Promise<void> {
  const store = createStore({ pool, logger });
  await store.load();
  const unreadable = store.unreadable();
  if (unreadable !== undefined) throw unreadable;
}

/* Explains database errors during the start whose own message does not say what the operator must do. */

/**
 * Explains rejected start-up parameters, a read-only database and a missing privilege. Other errors explain themselves.
 */
function explainFailure(error: unknown): unknown {
  if (isStartupRefused(error)) return createUnexpectedPoolerError(error);
  if (sqlState(error) === SQLSTATE.read_only_sql_transaction)
    return new OperatorError(READ_ONLY_BY_DEFAULT, { cause: error });
  if (sqlState(error) !== SQLSTATE.insufficient_privilege) return error;
  return new OperatorError(
    `The role of DATABASE_URL lacks a privilege that the service needs (${(error as Error).message}). Grant it USAGE and CREATE on the schemas of DB_SCHEMA and SERVICE_SCHEMA ("dps doctor" shows the statements).`,
    { cause: error },
  );
}

/* Starts the execution of change requests. */

interface Starting extends Omit<ChangeRunnerOptions, 'engine' | 'readOnly' | 'onStep' | 'inTrash'> {
  logger: Logger;
  pipeline: Pick<Pipeline, 'apply' | 'plan' | 'dryRun'>;
  /** Milliseconds that one attempt waits for each table lock. */
  lockWait: number;
  store: Pick<Store, 'subscribe'>;
  quotas: { changes: number };
  keep: RetentionOptions;
  role: Pick<ServerRole, 'current' | 'subscribe'>;
  history: Pick<History, 'inTrash' | 'at'>;
  metrics: { step(kind: string, milliseconds: number): void };
  shutdown: Shutdown;
}

/** Runs until `shutdown`. Resumes the work that an earlier process left, unless the server is a standby. */
function startChanges(options: Starting): ChangeRequests & Proposals & Changes {
  const { pool, pipeline, store, role, metrics, shutdown } = options;
  const engine = createPreparationEngine(options);
  const readOnly = (): boolean => role.current().standby;
  const { inTrash, at } = options.history;
  const runner = createChangeRunner({ ...options, inTrash, engine, readOnly, onStep: metrics.step });
  shutdown.add('change requests', () => runner.stop());
  store.subscribe((_point, _replaced, events) => {
    if (events?.some(isChangeEvent) !== false) runner.wake();
  });
  role.subscribe(() => runner.wake());
  runner.wake();
  return {
    ...createChangeRequests(engine, pipeline),
    ...createProposals({ ...options, inTrash, at, engine }),
    ...createChanges(pool),
  };
}

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

/**
 * Connections that an embedded server allows in addition to the pool: for the listener, reads, the index builder, the
 * operator commands and a few manual sessions.
 */
const SPARE_CONNECTIONS = 20;

/**
 * @param signal cancels a start that waits for another process
 * @throws OperatorError with one sentence that names the problem and the fix
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
    throw explainFailure(error);
  }
}

async function start(options: StartOptions, shutdown: Shutdown): Promise<Service> {
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

type StartOptions = Config & { logger: Logger; signal: AbortSignal };
type OnDatabase = StartOptions & ConnectionOptions & { fileKey: KeyObject | null };

/**
 * Starts everything that needs the database: migrations, accounts, the state, then the parts that depend on the state.
 */
async function startOn(options: OnDatabase, server: ListeningServer, shutdown: Shutdown): Promise<FirstAdmin> {
  const { logger, fileKey, schema, schemas, serviceSchema } = options;
  const pooling = { ...options, max: options.poolSize };
  const pool = createPool(pooling);
  shutdown.add('pool', () => pool.end());
  const database = await readDatabase(pool);
  const location = { database: database.database, schema, schemas };
  const connection = toDirectOptions(options);
  const preparing = {
    ...options,
    pool,
    database,
    withSessions: (work: (sessions: pg.Pool) => Promise<void>) => withSessions(pool, pooling, work),
    onWait: (sentence: string) => waitWithLog(sentence, { server, logger }),
  };
  const { secret, standby } = await setUp(preparing);
  const role = createServerRole({ logger, standby });
  const readOnly = (): boolean => role.current().standby;

  const auth = await createAuth({ ...options, pool, secret });
  shutdown.add('accounts', () => auth.stop());

  const folds = createStoredFolds({ pool, logger, secret, readOnly });
  const watch = createLogWatch({ pool, logger, readOnly });
  const store = createStore({ pool, logger, folds, onReplaced: ({ head }) => watch.replaced(head) });
  store.subscribe(({ head }) => watch.remember(head));
  await store.load();
  requireManaged({ schema, schemas, state: store.point().state });
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
  store.subscribe((_point, _replaced, events) => indexes.wake(events));
  role.subscribe(() => indexes.wake());
  indexes.wake();

  const release = readRelease();
  const metrics = createMetrics();
  const traces = await startTraces({ ...options.traces, release, logger, onExport: metrics.spans });
  shutdown.add('traces', () => traces.stop());
  const pipeline = traces.traced(
    metrics.commands.counted(createPipeline({ ...options, pool, location, release, store, watch, readers: READERS })),
  );
  if (options.proveDatabaseUrl !== null) void checkScratchServer({ pool, url: options.proveDatabaseUrl, logger });
  const ensureAdmin = async () => auth.ensureAdmin(options.admin, await createFirstAdminRecorder(pool, pipeline));
  role.onPromotion(async () => {
    await setUp(preparing);
    await ensureAdmin();
  });
  autoAcknowledge({ ...options, watch, pipeline, readOnly });
  const webhooks = createWebhooks({ pool, pipeline, networks: options.webhookNetworks, logger, readOnly });
  shutdown.add('webhooks', () => webhooks.stop());
  for (const news of [store, role]) news.subscribe(() => webhooks.wake());
  webhooks.wake();
  const environments = createEnvironments({ pool, networks: options.webhookNetworks, readOnly });
  shutdown.add('environments', () => environments.stop());
  // Checkpoints may show that the log diverged while no process was running.
  await freshness.check();
  const following = followLog({ connection, role, freshness, store, logger, shutdown });
  const checkpoints = startCheckpoints({
    ...checks,
    pool,
    location,
    fileKey,
    readOnly,
    logger,
    settings: options.checkpoints,
    pending: watch.pending,
  });
  shutdown.add('checkpoints', () => checkpoints.publisher.stop());
  store.subscribe(() => checkpoints.publisher.wake());
  role.subscribe(() => checkpoints.publisher.wake());
  const projections = createProjections({ ...options, ...location, pool, connection, store, pipeline, indexes });
  const rendered = createRenderedCache();
  const history = createHistory({ ...options, pool, store, folds, release, keepDeleted: options.keep.deleted });
  const every = options.verifyEvery;
  const comparisons = scheduleComparisons({ ...options, pipeline, projections, history, every, readOnly });
  shutdown.add('scheduled comparisons', () => comparisons.stop());
  const { collectionsAt } = history;
  const purger = createPurger({ ...options, pool, pipeline, collectionsAt, readOnly, news: [store, role] });
  shutdown.add('purger', () => purger.stop());
  const changes = startChanges({
    ...options,
    ...location,
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
    webhooks: { counts: webhooks.counts, countByState: webhooks.countByState },
    comparisons,
  });
  const health = createHealth({ freshness, store, pool, watch, pipeline, schemas });
  const positions = createPositions({ check: () => freshness.check(), timeout: options.positionTimeout });
  let untrustedProxy: string | null = null;
  const http = createHttp({
    pipeline,
    pool,
    store,
    freshness,
    positions,
    changes,
    rendered,
    history,
    plans: createPlanReads({ pool, schema }),
    checkpoints: checkpoints.service,
    auth,
    systemCollections: await readSystemCollections(pool, serviceSchema),
    health,
    doctor: createDoctor({ ...options, pool, projections, untrustedProxy: () => untrustedProxy }),
    onUntrustedProxy: (address) => void (untrustedProxy = address),
    projections,
    webhooks,
    environments,
    metrics,
    traces,
    watch,
    logger,
    config: httpConfig(options, { databaseVersion: database.version, release }),
  });
  // This runs late because generated secrets are shown only once, so no later step of the start may fail.
  const admin = await ensureAdmin();
  for (const name of admin.ignored)
    logger.warn(`${name} differs from the stored credentials of the admin and has no effect`);
  server.serve(http);
  shutdown.add('http', () => server.close(GRACE));
  shutdown.add('history streams', () => history.tail.close());
  return admin;
}

/** Reports the reason for the wait, to the log and to clients that send requests in the meantime. */
function waitWithLog(sentence: string, { server, logger }: { server: ListeningServer; logger: Logger }): void {
  server.say(sentence);
  logger.warn(sentence);
}
