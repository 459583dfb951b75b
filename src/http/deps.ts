import type { IncomingMessage } from 'node:http';
import type { Auth } from '../features/accounts/index.js';
import type { CheckpointService } from '../log/signed-checkpoints/publish.js';
import type { LogWatch } from '../log/watch.js';
import type { Queryable } from '../postgres/pool.js';
import type { ChangeRequests } from '../features/change-requests/index.js';
import type { Proposals } from '../features/change-requests/proposals.js';
import type { Changes } from '../features/change-requests/read.js';
import type { Environments } from '../features/environments/index.js';
import type { Webhooks } from '../features/webhooks/index.js';
import type { Pipeline } from '../pipeline/types.js';
import type { Logger } from '../postgres/logger.js';
import type { Projections } from '../features/projections/index.js';
import type { Freshness, Positions } from '../reads/freshness.js';
import type { History } from '../reads/history/index.js';
import type { PlanReads } from '../reads/plans.js';
import type { RenderedCache } from '../reads/rendered-cache.js';
import type { Store } from '../reads/state-store.js';
import type { CollectionMeta } from '../schema/model/model.js';
import type { QuotaLimits } from './quotas.js';
import type { HandledRequest } from './request-log.js';

/**
 * A sign-in in a browser, a sign-in of a command line that the user confirms on another device, or the exchange of the
 * ID token of a pipeline.
 */
export type SignInKind = 'browser' | 'device' | 'pipeline';

/** The source of the Prometheus metrics. */
export interface MetricsSource {
  contentType: string;
  text(): Promise<string>;
}

export interface CollectionDocument {
  collection: string;
  meta: { collection: string; system?: true } & CollectionMeta;
  schema: { name: string; sql: string; comment: string | null } | null;
}

export interface HealthCheck {
  ok: boolean;
  /** The reason, for operators. It contains no host names and no SQL. */
  message?: string;
}

export type HealthReport = Record<'database' | 'log' | 'projections', HealthCheck>;

/** True while requests are rejected for lack of time or memory. The service still counts as healthy. */
export interface LoadReport {
  overloaded: boolean;
  /** The number of queued tasks. */
  waiting: number;
  /** Bytes of finished responses that are not sent yet. */
  answer_bytes: number;
}

/**
 * The result of one check. `skipped` means that an earlier finding prevents the check, or that the check needs a
 * primary.
 */
interface DoctorCheck {
  name: string;
  result: 'ok' | 'warning' | 'error' | 'skipped';
  findings: { code: string; severity: 'error' | 'warning'; message: string; fix: string }[];
}

export interface HttpDeps {
  pipeline: Pick<Pipeline, 'apply' | 'plan' | 'dryRun' | 'underLock' | 'acknowledge'>;
  /** Opens, withdraws and shows change requests. */
  changes: ChangeRequests & Proposals & Changes;
  store: Pick<Store, 'atHead' | 'point'>;
  /** For data that is not part of the state, such as the list of the trash. */
  pool: Queryable;
  freshness: Pick<Freshness, 'check'>;
  positions: Positions;
  rendered: RenderedCache;
  history: History;
  plans: PlanReads;
  /** Signed checkpoints for auditors. */
  checkpoints: CheckpointService;
  auth: Omit<Auth, 'ensureAdmin' | 'stop'>;
  /** The service's own tables, as documents with `meta.system`. */
  systemCollections: readonly CollectionDocument[];
  health: () => Promise<HealthReport>;
  /** Runs all checks of `dps doctor`. */
  doctor: () => Promise<DoctorCheck[]>;
  /** Called with the address of a client that forwards requests although TRUST_PROXY does not contain this address. */
  onUntrustedProxy: (address: string) => void;
  projections: Projections;
  webhooks: Webhooks;
  environments: Environments;
  /** Reports a diverged log. */
  watch: Pick<LogWatch, 'subscribe'>;
  metrics: MetricsSource & {
    request(handled: HandledRequest): void;
    signIn(kind: SignInKind, outcome: string): void;
  };
  traces: {
    request(
      req: IncomingMessage,
      route: string,
      work: () => Promise<HandledRequest | null>,
    ): Promise<HandledRequest | null>;
  };
  logger: Logger;
  config: {
    /** The release of this service. */
    release: string;
    /** The version of the database server: `18.4`. */
    databaseVersion: string;
    /** The default schema. */
    schema: string;
    /** The managed schemas, the default first. */
    schemas: readonly string[];
    /** The schema of the service's own tables. */
    serviceSchema: string;
    /** True if the service manages objects other than tables. */
    objects: boolean;
    /** True if admins and auditors may read sample rows. */
    samples: boolean;
    /** Milliseconds for which the trash keeps deleted objects. With 0, they are dropped immediately. */
    keepDeleted: number;
    /** Maximum rows of a table whose deleted field values are copied to the trash. */
    keepCopyRows: number;
    /** Milliseconds that a change waits for locks or for an unavailable database. */
    lockTimeout: number;
    /** Maximum sizes of request bodies in bytes: for schema documents, and for all other bodies. */
    maxBody: { schema: number; other: number };
    quotas: QuotaLimits;
    /** Trusted proxies: their number, or their addresses and networks. */
    trustProxy: number | readonly string[];
    /** Origins of other sites that may call the API. */
    corsOrigins: readonly string[];
    /** True if the admin app is served at /app. */
    app: boolean;
    /** The URL that clients must use for changes while this database is read-only. Null if not configured. */
    primaryUrl: string | null;
    /** True to log successful reads as well, at the level `debug`. Changes and failures are always logged. */
    logReads: boolean;
  };
}
