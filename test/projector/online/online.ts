/** Runs an online change step by step like the runner of change requests, for tests of the engine. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { runToEnd, stepsTo } from '../../../src/kernel/resumable.js';
import { ServiceClient } from '../../../src/postgres/client.js';
import { connectionConfig } from '../../../src/postgres/pool.js';
import { runScript } from '../../../src/postgres/exchange.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { lockTables, findStrongestLocks } from '../../../src/projector/ddl/table-locks.js';
import {
  type DecidedChange,
  type PreparationEngine,
  type PreparationStep,
  type StepContext,
  createPreparationEngine,
} from '../../../src/projector/online/index.js';
import type { LogEvent } from '../../../src/schema/model/events.js';
import { operations, type CommandOf, type OperationName } from '../../../src/schema/operations/index.js';
import type { Instance } from '../../support/instance.js';
import type { Json } from '../../../src/kernel/json.js';

/** Treats every table as large. */
export const engine: PreparationEngine = createPreparationEngine({ lockWait: 100, smallTable: -1 });

/** A command, decided and planned now. */
export function decideChange<N extends OperationName>(
  instance: Instance,
  name: N,
  command: CommandOf<N>,
): DecidedChange {
  const before = instance.store.current();
  const operation = operations[name] as { decide(state: typeof before, command: unknown): Generator };
  const result = runToEnd(stepsTo(operation.decide(before, command)) as never) as { ok: boolean; value: LogEvent[] };
  if (!result.ok) throw new Error(JSON.stringify(result));
  const { statements, after } = runToEnd(planBatch(before, result.value, instance.schema));
  return { id: randomUUID(), before, after, events: result.value, statements, schema: instance.schema };
}

/** Like a step's session: outside transactions and without limits. */
export async function openSession(connectionString: string): Promise<pg.Client> {
  const client = new ServiceClient(
    connectionConfig({ connectionString, schema: 'public', serviceSchema: 'service', applicationName: 'online' }),
  );
  client.on('error', () => undefined);
  await client.connect();
  await client.query('SET statement_timeout = 0; SET lock_timeout = 0');
  return client;
}

export async function planned(instance: Instance, change: DecidedChange) {
  return engine.planPreparation(instance.pool, change);
}

export async function stepsOf(instance: Instance, change: DecidedChange): Promise<PreparationStep[]> {
  const preparation = await planned(instance, change);
  if (preparation.kind !== 'steps') throw new Error(JSON.stringify(preparation));
  // As stored between two processes.
  return JSON.parse(JSON.stringify(preparation.steps)) as PreparationStep[];
}

export type Kept = Map<string, Json>;

export function contextOf(
  session: pg.ClientBase,
  change: Pick<DecidedChange, 'id' | 'schema'>,
  step: PreparationStep,
  more: Partial<StepContext> & { kept?: Kept } = {},
): StepContext {
  const { kept = new Map<string, Json>(), ...rest } = more;
  return {
    id: change.id,
    session,
    schema: change.schema,
    signal: new AbortController().signal,
    checkpoint: kept.get(step.key) ?? null,
    save: (checkpoint) => {
      kept.set(step.key, checkpoint);
      return Promise.resolve();
    },
    progress: () => undefined,
    ...rest,
  };
}

export async function runSteps(
  session: pg.ClientBase,
  change: DecidedChange,
  steps: readonly PreparationStep[],
): Promise<void> {
  for (const step of steps) await engine.runStep(contextOf(session, change, step), step);
}

/** The short transaction without its events. */
export async function applyChange(
  session: pg.ClientBase,
  change: DecidedChange,
  steps: readonly PreparationStep[],
): Promise<void> {
  const prepared = engine.preparedStatements(change, steps);
  if (prepared.kind === 'missing') throw new Error(JSON.stringify(prepared.steps));
  await session.query('BEGIN');
  try {
    const locks = findStrongestLocks(prepared.statements);
    const locking = locks.length === 0 ? [] : [lockTables(change.schema, locks)];
    await runScript(session, [...locking, ...prepared.statements.map(({ sql }) => sql)]);
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK');
    throw error;
  }
}
