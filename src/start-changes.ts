/** Starts the execution of change requests. */
import type { Logger } from './postgres/logger.js';
import { type ChangeRequests, createChangeRequests, createChangeRunner } from './pipeline/change-requests/index.js';
import type { ChangeRunnerOptions } from './pipeline/change-requests/runner.js';
import type { Pipeline } from './pipeline/types.js';
import { type Proposals, createProposals } from './pipeline/change-requests/proposals/index.js';
import { createPreparationEngine } from './projector/online/index.js';
import { type Changes, createChanges } from './reads/changes.js';
import type { History } from './reads/history/index.js';
import type { Store } from './reads/state-store.js';
import type { ServerRole } from './postgres/server-role.js';
import type { Shutdown } from './shutdown.js';

interface Starting extends Omit<ChangeRunnerOptions, 'engine' | 'readOnly' | 'onStep' | 'inTrash'> {
  logger: Logger;
  pipeline: Pick<Pipeline, 'execute' | 'dryRun' | 'record'>;
  /** Milliseconds that one attempt waits for each table lock. */
  lockWait: number;
  store: Pick<Store, 'subscribe'>;
  quotas: { changes: number };
  role: Pick<ServerRole, 'current' | 'subscribe'>;
  history: Pick<History, 'inTrash' | 'at'>;
  metrics: { step(kind: string, milliseconds: number): void };
  shutdown: Shutdown;
}

/** Runs until `shutdown`. Resumes the work that an earlier process left, unless the server is a standby. */
export function startChanges(options: Starting): ChangeRequests & Proposals & Changes {
  const { pool, pipeline, store, role, metrics, shutdown } = options;
  const engine = createPreparationEngine(options);
  const readOnly = (): boolean => role.current().standby;
  const { inTrash, at } = options.history;
  const runner = createChangeRunner({ ...options, inTrash, engine, readOnly, onStep: metrics.step });
  shutdown.add('change requests', () => runner.stop());
  store.subscribe(() => runner.wake());
  role.subscribe(() => runner.wake());
  runner.wake();
  return {
    ...createChangeRequests(engine, pipeline),
    ...createProposals({ ...options, inTrash, at, engine }),
    ...createChanges(pool),
  };
}
