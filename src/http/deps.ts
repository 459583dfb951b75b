/** What the HTTP edge needs from the rest of the service. */
import type { Auth } from '../auth/index.js';
import type { CheckpointService } from '../log/signed-checkpoints/start.js';
import type { LogWatch } from '../log/watch.js';
import type { Queryable } from '../postgres/pool.js';
import type { ChangeRequests } from '../pipeline/change-requests/index.js';
import type { Proposals } from '../pipeline/change-requests/proposals/index.js';
import type { Changes } from '../reads/changes.js';
import type { Pipeline } from '../pipeline/types.js';
import type { Logger } from '../postgres/logger.js';
import type { Projections } from '../projector/projections/index.js';
import type { Freshness } from '../reads/freshness.js';
import type { Positions } from '../reads/positions.js';
import type { History } from '../reads/history/index.js';
import type { RenderedCache } from '../reads/rendered-cache.js';
import type { Store } from '../reads/state-store.js';
import type { CollectionMeta } from '../schema/model/model.js';
import type { QuotaLimits } from './quotas.js';
import type { Handled } from './request-log.js';

/** What Prometheus reads, and how it is called. */
export interface MetricsSource {
  contentType: string;
  text(): Promise<string>;
}

/** A collection as `/collections` shows it. */
export interface CollectionDocument {
  collection: string;
  meta: { collection: string; system?: true } & CollectionMeta;
  schema: { name: string; sql: string; comment: string | null } | null;
}

export interface HealthCheck {
  ok: boolean;
  /** Why not, for operators; no host names, no SQL. */
  message?: string;
}

export type HealthReport = Record<'database' | 'log' | 'projections', HealthCheck>;

/** True while requests are rejected for lack of time or memory. The service still counts as healthy. */
export interface LoadReport {
  overloaded: boolean;
  /** Pieces of work that wait for their turn. */
  waiting: number;
  /** Of answers that are finished and not sent yet. */
  answer_bytes: number;
}

/** One thing that was looked at; `skipped` where an earlier finding prevents it, or it needs a primary. */
export interface DoctorCheck {
  name: string;
  result: 'ok' | 'warning' | 'error' | 'skipped';
  findings: { code: string; severity: 'error' | 'warning'; message: string; fix: string }[];
}

export interface HttpDeps {
  pipeline: Pick<Pipeline, 'execute' | 'dryRun' | 'record' | 'underLock' | 'acknowledge'>;
  /** Change requests: opened, withdrawn, shown. */
  changes: ChangeRequests & Proposals & Changes;
  store: Pick<Store, 'atHead'>;
  /** For what is no part of the state: the list of the trash. */
  pool: Queryable;
  freshness: Pick<Freshness, 'check'>;
  positions: Positions;
  rendered: RenderedCache;
  history: History;
  /** Signed, for auditors. */
  checkpoints: CheckpointService;
  auth: Pick<Auth, 'identify' | 'users' | 'tokens' | 'sessions' | 'liveSessions' | 'loginLimit'>;
  /** Our own tables, as documents with `meta.system`. */
  systemCollections: readonly CollectionDocument[];
  health: () => Promise<HealthReport>;
  /** All that `dps doctor` looks at, now. */
  doctor: () => Promise<DoctorCheck[]>;
  projections: Projections;
  /** Tells of a log that is not the one that was seen. */
  watch: Pick<LogWatch, 'subscribe'>;
  metrics: MetricsSource & { request(handled: Handled): void };
  logger: Logger;
  config: {
    /** The release of this service. */
    release: string;
    /** Of the database server: `18.4`. */
    databaseVersion: string;
    /** The database schema that holds the managed tables. */
    schema: string;
    /** The one that holds the service's own. */
    serviceSchema: string;
    /** Milliseconds that what is deleted is kept; 0: it is dropped at once. */
    keepDeleted: number;
    /** Milliseconds that a change waits for locks, and for a database that is away. */
    lockTimeout: number;
    /** Bytes of a request body: of schema documents, and of everything else. */
    maxBody: { schema: number; other: number };
    quotas: QuotaLimits;
    /** Proxies that are believed: how many, or their addresses and networks. */
    trustProxy: number | readonly string[];
    /** Of other sites, whose pages may ask. */
    corsOrigins: readonly string[];
    /** Whether the admin app is served at /app. */
    app: boolean;
    /** Where changes can be made while the database takes none; null: nobody has said. */
    primaryUrl: string | null;
    /** Also log reads that went well, at `debug`; changes and failures are logged in any case. */
    logReads: boolean;
  };
}
