import type pg from 'pg';
import type { Config } from '../../config.js';
import { type Pipeline, type Refusal, type RequestContext, createPipeline } from '../../pipeline/index.js';
import { OperatorError } from '../../kernel/operator-error.js';
import { renderPath } from '../../kernel/problem.js';
import { readDatabase } from '../../postgres/database.js';
import { createStore } from '../../reads/state-store.js';
import { readRelease } from '../../release.js';
import { type Invocation, PolicyRefusedError, text } from '../command.js';
import { withDatabase } from './database.js';
import { OPTION, acknowledged, asOption } from '../policy.js';
import { silentLogger } from './silent-logger.js';

export interface Workplace {
  pipeline: Pipeline;
  pool: pg.Pool;
  /** Past a pooler. */
  connectionString: string;
  schema: string;
}

/** Folds the whole log first. Waits for `work` and then closes the connections. */
export function withPipeline<T>(invocation: Invocation, work: (place: Workplace) => Promise<T>): Promise<T> {
  const config = invocation.config();
  return withDatabase(config, async (pool, connectionString) =>
    work({ pool, connectionString, schema: config.schema, pipeline: await openPipeline(pool, config) }),
  );
}

/** Folds the whole log first. The caller closes the pool. */
export async function openPipeline(pool: pg.Pool, config: Config): Promise<Pipeline> {
  const { database } = await readDatabase(pool);
  const store = createStore({ pool, logger: silentLogger });
  await store.load();
  const place = { database, schema: config.schema };
  return createPipeline({ ...config, pool, store, logger: silentLogger, release: readRelease(), place });
}

/** Shell commands have no user of the service. */
export function operatorsRequest(command: string, { environment, values }: Invocation): RequestContext {
  const name = environment['USER'] ?? environment['LOGNAME'] ?? 'operator';
  const actor = { id: 'dps', name: `${name} (dps)` };
  const findings = acknowledged(values);
  return {
    ...(findings.length > 0 && { acknowledges: { findings, at: () => [OPTION] } }),
    cause: { actor, command, reason: text(values, 'reason') ?? null, request_id: null, ip: null, user_agent: 'dps' },
  };
}

/** An OperatorError with one line per problem. */
export function refusedByService({ problems }: Refusal): OperatorError {
  const place = renderPath([OPTION]);
  const lines = problems.map(({ message, path }) => asOption(message, path === place ? OPTION : undefined));
  const message = lines.join('\n');
  return problems[0]?.code === 'POLICY_REFUSED' ? new PolicyRefusedError(message) : new OperatorError(message);
}
