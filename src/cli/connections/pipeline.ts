import type pg from 'pg';
import type { Config } from '../../config.js';
import { changeAccount } from '../../features/accounts/change-account.js';
import { createPasswords } from '../../features/accounts/secrets.js';
import { type Tokens, createTokens } from '../../features/accounts/tokens.js';
import { type User, type AccountChange, type Users, createUsers } from '../../features/accounts/users.js';
import { READERS } from '../../features/readers.js';
import { OperatorError, renderPath } from '../../kernel/problem.js';
import { type Pipeline, type Refusal, type RequestContext, createPipeline } from '../../pipeline/index.js';
import type { Command } from '../../pipeline/types.js';
import { readDatabase } from '../../postgres/server.js';
import { requireManaged } from '../../projector/catalog/managed.js';
import { stoppingFindings } from '../../projector/findings.js';
import { createStore } from '../../reads/state-store.js';
import { readRelease } from '../../release.js';
import type { CommandOf, OperationName } from '../../schema/operations/index.js';
import { type Invocation, PolicyRefusedError, text, type ExitCode, isSet } from '../command.js';
import { unwrapResult } from '../output.js';
import {
  OPTION,
  readAcknowledgements,
  withOptionNames,
  type JudgedWarning,
  selectBlocked,
} from '../planned-changes.js';
import { withDatabase, silentLogger } from './database.js';

export interface PipelineContext {
  pipeline: Pipeline;
  pool: pg.Pool;
  /** The address of the server itself, without a pooler. */
  connectionString: string;
  /** The default schema. */
  schema: string;
  /** All managed schemas. */
  schemas: readonly string[];
  /** True if the instance manages objects other than tables. */
  objects: boolean;
}

/** Runs `work` after folding the whole log, and then closes the connections. */
export function withPipeline<T>(invocation: Invocation, work: (workplace: PipelineContext) => Promise<T>): Promise<T> {
  const config = invocation.config();
  return withDatabase(config, async (pool, connectionString) => {
    const { schema, schemas, objects } = config;
    return work({ pool, connectionString, schema, schemas, objects, pipeline: await openPipeline(pool, config) });
  });
}

/** Folds the whole log first. The caller must close the pool. */
async function openPipeline(pool: pg.Pool, config: Config): Promise<Pipeline> {
  const { database } = await readDatabase(pool);
  const store = createStore({ pool, logger: silentLogger });
  await store.load();
  requireManaged({ schema: config.schema, schemas: config.schemas, state: store.point().state });
  const location = { database, schema: config.schema, schemas: config.schemas };
  return createPipeline({
    ...config,
    pool,
    store,
    logger: silentLogger,
    release: readRelease(),
    location,
    readers: READERS,
  });
}

/** Returns the actor of shell commands, which have no user of the service. */
export const operatorActor = (name: string) => ({ id: 'dps', name: `${name} (dps)` });

export function createOperatorRequest(command: string, { environment, values }: Invocation): RequestContext {
  const actor = operatorActor(environment['USER'] ?? environment['LOGNAME'] ?? 'operator');
  const findings = readAcknowledgements(values);
  return {
    ...(findings.length > 0 && { acknowledges: { findings, at: () => [OPTION] } }),
    cause: { actor, command, reason: text(values, 'reason') ?? null, request_id: null, ip: null, user_agent: 'dps' },
  };
}

/** Creates an OperatorError with one line per problem. */
export function toOperatorError({ problems }: Refusal): OperatorError {
  const location = renderPath([OPTION]);
  const lines = problems.map(({ message, path }) => withOptionNames(message, path === location ? OPTION : undefined));
  const message = lines.join('\n');
  return problems[0]?.code === 'POLICY_REFUSED' ? new PolicyRefusedError(message) : new OperatorError(message);
}

interface Accounts {
  users: Users;
  tokens: Tokens;
  /**
   * Commits an account change together with its events.
   * @throws OperatorError if the change is rejected
   */
  change<T>(command: string, change: AccountChange<T>): Promise<T>;
}

/** Runs `work` and then closes the connections. The service may be running or stopped. */
export function withAccounts<T>(invocation: Invocation, work: (accounts: Accounts) => Promise<T>): Promise<T> {
  const config = invocation.config();
  return withDatabase(config, (pool) =>
    work({
      users: createUsers({ pool, passwords: createPasswords() }),
      tokens: createTokens({ pool }),
      async change(command, change) {
        const pipeline = await openPipeline(pool, config);
        return unwrapResult(await changeAccount(pipeline, change, createOperatorRequest(command, invocation)));
      },
    }),
  );
}

/** Finds a user by id or by e-mail address, ignoring case. */
export async function findUser(users: Users, named: string): Promise<User> {
  const user = await users.find(named);
  if (!user) throw new OperatorError(`User "${named}" does not exist. List all users with "dps users list".`);
  return user;
}

interface PlannedAndApplied<C> {
  /** The command that was decided. Parts of it may have been read from the database. */
  command: C;
  /** The findings that would block the command. Empty if it was carried out. */
  warnings: readonly JudgedWarning[];
  /** 3 if the policy would block the command. Otherwise undefined. */
  code: ExitCode | undefined;
}

/**
 * Carries out a command. With --dry-run, nothing is stored.
 * @throws OperatorError if the command is rejected
 */
export async function planAndApply<N extends OperationName, C extends CommandOf<N>>(
  invocation: Invocation,
  { pipeline, pool, schema }: PipelineContext,
  name: N,
  command: Command<C>,
): Promise<PlannedAndApplied<C>> {
  const request = createOperatorRequest(name, invocation);
  if (!isSet(invocation.values, 'dryRun')) {
    const outcome = await pipeline.apply(name, command, request);
    if (outcome.kind === 'refused') throw toOperatorError(outcome);
    if (outcome.kind === 'replayed') throw new Error('a command without a key is never replayed');
    return { command: outcome.command, warnings: [], code: undefined };
  }
  const run = await pipeline.dryRun(name, command, request);
  if (run.kind === 'refused') throw toOperatorError(run);
  const warnings = await stoppingFindings(pool, schema, run);
  return {
    command: run.command,
    warnings,
    code: selectBlocked(warnings, invocation.values).length > 0 ? 3 : undefined,
  };
}
