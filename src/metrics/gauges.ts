/** Gauges that are read on each scrape. */
import { limitTime } from '../kernel/time.js';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ProjectionStatus } from '../features/projections/index.js';
import type { ServerState } from '../postgres/server.js';
import { createTimeSlice, mapYielding } from '../kernel/event-loop.js';
import { runShared, scheduler } from '../kernel/scheduler.js';
import { CHANGE_STATES } from '../schema/change-requests/model.js';
import type { CollectionNode, State } from '../schema/model/state.js';

export interface Sources {
  release: string;
  databaseVersion: string;
  projections(): Promise<{ head: number; projections: ProjectionStatus[] }>;
  state(): State;
  rendered(): { answers: number; bytes: number; renderings: number };
  pool: { totalCount: number; idleCount: number; waitingCount: number };
  listening(): boolean;
  server(): ServerState;
  /** Divergences of the log since the start. */
  divergences(): number;
  /** Returns the number of change requests in each state. */
  changes(): Promise<ReadonlyMap<string, number>>;
  /** Returns the newest published position and the failed deliveries since the start. */
  checkpoints(): { position: number; failures: number };
  webhooks: {
    /** Returns the delivery attempts of this process since the start. */
    counts(): Readonly<Record<'delivered' | 'failed', number>>;
    /** Returns webhooks by state, and the most events that an enabled one has not reached. */
    countByState(): Promise<{ states: ReadonlyMap<string, number>; behind: number }>;
  };
  comparisons: { faults: ReadonlyMap<string, number> };
}

/** Adds gauges. Releases are constant; all other values are read on each scrape. */
export function addGauges(registry: Registry, sources: Sources): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    void new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  addInfo(registry, sources);
  // The pool comes first. Metrics are collected in this order, and the projections query uses the pool itself.
  addPool(registry, sources);
  addState(registry, sources);
  gauge('dps_rendered_answers', 'Rendered responses cached in memory.', () => sources.rendered().answers);
  gauge('dps_work_waiting', 'Queued tasks.', () => scheduler.load().waiting);
  gauge(
    'dps_unsent_answer_bytes',
    'Size of responses that are complete and not yet sent.',
    () => scheduler.load().bytes,
  );
  gauge('dps_rendered_bytes', 'Size of the rendered responses cached in memory.', () => sources.rendered().bytes);
  gauge(
    'dps_database_pool_waiting_requests',
    'Requests waiting for a connection from the pool.',
    () => sources.pool.waitingCount,
  );
  gauge('dps_listener_connected', '1 while notifications from other instances arrive.', () =>
    sources.listening() ? 1 : 0,
  );
  gauge('dps_standby', '1 while the database server is a standby, so that this process only reads.', () =>
    sources.server().standby ? 1 : 0,
  );
  gauge(
    'dps_log_lag_seconds',
    'Maximum lag of the log behind the primary; 0 on a primary.',
    () => sources.server().lag,
  );
  const counter = (name: string, help: string, read: () => number): void => {
    void new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  };
  counter('dps_overload_refusals_total', 'Requests rejected because the service was overloaded.', () => {
    return scheduler.load().refused;
  });
  counter('dps_renderings_total', 'Responses rendered because the cache did not contain them.', () => {
    return sources.rendered().renderings;
  });
  counter('dps_log_divergence_total', 'Number of times that the log differed from an earlier read.', () =>
    sources.divergences(),
  );
  gauge(
    'dps_checkpoint_position',
    'The newest position whose checkpoint this process has published; 0 if none.',
    () => sources.checkpoints().position,
  );
  counter(
    'dps_checkpoint_failures_total',
    'Failed attempts to publish a checkpoint.',
    () => sources.checkpoints().failures,
  );
  addProjections(registry, sources);
  addChanges(registry, sources);
  addWebhooks(registry, sources);
  void new Gauge({
    name: 'dps_comparison_faults',
    help: 'Faults that the last scheduled comparison of this process found, by comparison: drift, verification.',
    labelNames: ['comparison'] as const,
    registers: [registry],
    collect() {
      for (const [comparison, count] of sources.comparisons.faults) this.set({ comparison }, count);
    },
  });
}

function addWebhooks(registry: Registry, { webhooks }: Sources): void {
  const read = shareRuns(() => limitTime(webhooks.countByState(), ANSWER_LIMIT).catch(() => null));
  void new Gauge({
    name: 'dps_webhooks',
    help: 'Webhooks by state: enabled, failing, disabled.',
    labelNames: ['state'] as const,
    registers: [registry],
    async collect() {
      this.reset();
      for (const [state, count] of (await read())?.states ?? []) this.set({ state }, count);
    },
  });
  void new Gauge({
    name: 'dps_webhook_events_behind',
    help: 'Events after the position of the enabled webhook that is furthest behind; 0 if all are up to date.',
    registers: [registry],
    async collect() {
      const reading = await read();
      if (reading === null) this.remove();
      else this.set(reading.behind);
    },
  });
  void new Counter({
    name: 'dps_webhook_deliveries_total',
    help: 'Attempts of this process to deliver an event to a webhook, by result: delivered, failed.',
    labelNames: ['result'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(webhooks.counts())) this.inc({ result }, count);
    },
  });
}

function addInfo(registry: Registry, { release, databaseVersion }: Sources): void {
  new Gauge({
    name: 'dps_info',
    help: 'Always 1. The labels contain the releases.',
    labelNames: ['release', 'database_version'] as const,
    registers: [registry],
  }).set({ release, database_version: databaseVersion }, 1);
}

/** Runs once per scrape for all gauges that share the query. */
function shareRuns<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= runShared(ask).finally(() => (running = undefined));
    return running;
  };
}

/** Milliseconds that the database has during a scrape, which must succeed without it. */
const ANSWER_LIMIT = 2_000;

function addProjections(registry: Registry, sources: Sources): void {
  const read = shareRuns(() => limitTime(sources.projections(), ANSWER_LIMIT).catch(() => null));
  void new Gauge({
    name: 'dps_database_up',
    help: '1 while the database responds, 0 while it does not.',
    registers: [registry],
    async collect() {
      this.set((await read()) === null ? 0 : 1);
    },
  });
  void new Gauge({
    name: 'dps_log_head_position',
    help: 'Position of the newest event in the log.',
    registers: [registry],
    async collect() {
      const reading = await read();
      if (reading === null) this.remove();
      else this.set(reading.head);
    },
  });
  const addProjectionGauge = (name: string, help: string, valueOf: (projection: ProjectionStatus) => number): void => {
    void new Gauge({
      name,
      help,
      labelNames: ['projection'] as const,
      registers: [registry],
      async collect() {
        this.reset();
        for (const each of (await read())?.projections ?? []) this.set({ projection: each.name }, valueOf(each));
      },
    });
  };
  addProjectionGauge(
    'dps_projection_lag_events',
    'Events in the log that the projection has not processed yet.',
    ({ lag }) => lag,
  );
  addProjectionGauge('dps_projection_failed', '1 while an error has stopped the projection.', ({ status }) =>
    status === 'failed' ? 1 : 0,
  );
}

/** Exports a series for each state, so that graphs begin at zero. */
function addChanges(registry: Registry, sources: Sources): void {
  void new Gauge({
    name: 'dps_change_requests',
    help: 'Change requests by state.',
    labelNames: ['state'] as const,
    registers: [registry],
    async collect() {
      this.reset();
      const counts = await limitTime(sources.changes(), ANSWER_LIMIT).catch(() => null);
      if (counts !== null) for (const state of CHANGE_STATES) this.set({ state }, counts.get(state) ?? 0);
    },
  });
}

function addState(registry: Registry, sources: Sources): void {
  void new Gauge({
    name: 'dps_state_position',
    help: 'Position of the state that this process holds in memory.',
    registers: [registry],
    collect() {
      this.set(sources.state().position);
    },
  });
  void new Gauge({
    name: 'dps_state_objects',
    help: 'Collections, fields and relations in the state that this process holds in memory.',
    labelNames: ['kind'] as const,
    registers: [registry],
    async collect() {
      const { collections } = sources.state();
      let [fields, relations] = [0, 0];
      const count = ({ fields: own, relations: held }: CollectionNode): void => {
        fields += own.size;
        relations += held.size;
      };
      await mapYielding(collections.values(), count, createTimeSlice());
      this.set({ kind: 'collection' }, collections.size);
      this.set({ kind: 'field' }, fields);
      this.set({ kind: 'relation' }, relations);
    },
  });
}

function addPool(registry: Registry, { pool }: Sources): void {
  void new Gauge({
    name: 'dps_database_pool_connections',
    help: 'Connections of the pool by state. Their sum is the current size of the pool.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'in_use' }, pool.totalCount - pool.idleCount);
    },
  });
}
