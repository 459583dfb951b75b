/** What is read off the service when Prometheus asks. */
import { Gauge, type Registry } from 'prom-client';
import type { ProjectionStatus } from '../projector/projections/index.js';
import type { State } from '../schema/state.js';

export interface Sources {
  release: string;
  /** `18.4` */
  databaseVersion: string;
  projections(): Promise<{ head: number; projections: ProjectionStatus[] }>;
  state(): State;
  /** Answers kept rendered. */
  rendered(): { answers: number; bytes: number };
  pool: { totalCount: number; idleCount: number; waitingCount: number };
  listening(): boolean;
}

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
  addProjections(registry, sources);
  addState(registry, sources);
  gauge('dps_rendered_answers', 'Answers kept rendered in memory.', () => sources.rendered().answers);
  gauge('dps_rendered_bytes', 'Size of the answers kept rendered in memory.', () => sources.rendered().bytes);
  addPool(registry, sources);
  gauge(
    'dps_database_pool_waiting_requests',
    'Requests waiting for a connection of the pool.',
    () => sources.pool.waitingCount,
  );
  gauge('dps_listener_connected', '1 while notifications of other instances reach this one.', () =>
    sources.listening() ? 1 : 0,
  );
}

function addInfo(registry: Registry, { release, databaseVersion }: Sources): void {
  new Gauge({
    name: 'dps_info',
    help: 'Always 1: the releases are in the labels.',
    labelNames: ['release', 'database_version'] as const,
    registers: [registry],
  }).set({ release, database_version: databaseVersion }, 1);
}

function addProjections(registry: Registry, sources: Sources): void {
  const labelled = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['projection'] as const, registers: [registry] });
  const lag = labelled('dps_projection_lag_events', 'Events in the log that the projection has not handled yet.');
  const failed = labelled('dps_projection_failed', '1 while the projection is stopped by an error.');
  void new Gauge({
    name: 'dps_log_head_position',
    help: 'Position of the newest event in the log.',
    registers: [registry],
    async collect() {
      const { head, projections } = await sources.projections();
      this.set(head);
      for (const projection of projections) {
        lag.set({ projection: projection.name }, projection.lag);
        failed.set({ projection: projection.name }, projection.status === 'failed' ? 1 : 0);
      }
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
    collect() {
      const { collections } = sources.state();
      let [fields, relations] = [0, 0];
      for (const node of collections.values()) {
        fields += node.fields.size;
        relations += node.relations.size;
      }
      this.set({ kind: 'collection' }, collections.size);
      this.set({ kind: 'field' }, fields);
      this.set({ kind: 'relation' }, relations);
    },
  });
}

function addPool(registry: Registry, { pool }: Sources): void {
  void new Gauge({
    name: 'dps_database_pool_connections',
    help: 'Connections of the pool by state: their sum is the size of the pool now.',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'in_use' }, pool.totalCount - pool.idleCount);
    },
  });
}
