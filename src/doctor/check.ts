/** What a check gets, and what it answers. */
import type pg from 'pg';
import type { Addresses } from '../postgres/pool.js';
import type { Projections } from '../projector/projections/index.js';
import type { ServerState } from '../postgres/server-role.js';
import type { Finding } from './finding.js';

/** Of the service's settings. */
export interface DoctorSettings {
  schema: string;
  serviceSchema: string;
  databaseUrl: string | null;
  databasePooler: 'none' | 'transaction' | null;
  poolSize: number;
  tokenSecret: string | null;
}

export interface DoctorContext {
  config: DoctorSettings;
  /** The ways to the database. */
  addresses: Addresses;
  /** On the server itself. */
  pool: pg.Pool;
  tools: {
    projections: Pick<Projections, 'list' | 'verify'>;
    /** Folds the whole log. */
    load(): Promise<void>;
  };
  /** Told how many of how many events are verified. */
  onVerified?: (done: number, total: number) => void;
  /** Why a check could not be made; without it, the error's own message. */
  explain?: (error: unknown, check: string) => string;
  /** Of the server at the start of the examination. */
  server: ServerState;
  /** Milliseconds since 1970, by this machine. */
  now: () => number;
}

export interface Check {
  /** A few words, shown with the result. */
  name: string;
  /** Skipped on a standby, where it can't be found out. */
  needsPrimary?: true;
  /** Nothing that comes after it makes sense where it finds an error. */
  decisive?: true;
  run(context: DoctorContext): Promise<Finding[]>;
}
