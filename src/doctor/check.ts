import type pg from 'pg';
import type { Addresses } from '../postgres/pool.js';
import type { Projections } from '../projector/projections/index.js';
import type { ServerState } from '../postgres/server-role.js';
import type { Finding } from './finding.js';

/** From the service's settings. */
interface DoctorSettings {
  schema: string;
  serviceSchema: string;
  databaseUrl: string | null;
  databasePooler: 'none' | 'transaction' | null;
  poolSize: number;
  tokenSecret: string | null;
}

export interface DoctorContext {
  config: DoctorSettings;
  addresses: Addresses;
  pool: pg.Pool;
  tools: {
    projections: Pick<Projections, 'list' | 'verify'>;
    /** Folds the whole log. */
    load(): Promise<void>;
  };
  onVerified?: (done: number, total: number) => void;
  /** Explains why a check could not run. Default: the error's message. */
  explain?: (error: unknown, check: string) => string;
  server: ServerState;
  /** Milliseconds since 1970, by this machine's clock. */
  now: () => number;
}

export interface Check {
  name: string;
  /** Skipped on a standby, where the answer is not available. */
  needsPrimary?: true;
  /** If it finds an error, later checks are skipped. */
  decisive?: true;
  run(context: DoctorContext): Promise<Finding[]>;
}
