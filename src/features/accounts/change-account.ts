/* Changes accounts: the rows and the events that record them, in one transaction. */
import type pg from 'pg';
import { type Result, ok, refuse } from '../../kernel/problem.js';
import { readFirstEvents, readAccounts, recordsAccounts } from '../../log/decisive-events.js';
import { accountEvent } from '../../schema/fold/accounts.js';
import type { Cause, LogEvent } from '../../schema/model/events.js';
import {
  CommandRefused,
  type Pipeline,
  type Prepare,
  type Recording,
  type RequestContext,
} from '../../pipeline/types.js';

/**
 * Writes to the account tables in the transaction that appends the events. If the transaction is repeated, this
 * function is called again, so it must not write before it rejects. If it returns no events, nothing changed and
 * nothing was written.
 */
export type AccountChange<T> = (client: pg.ClientBase) => Promise<Result<{ value: T; events: LogEvent[] }>>;

/** `value` is returned in the response. */
interface ChangedAccount<T> extends Recording {
  value: T;
}

export const createAccountCommand =
  <T>(change: AccountChange<T>): Prepare<ChangedAccount<T>> =>
  async (client) => {
    const earlier = (await recordsAccounts(client)) ? [] : await readFirstEvents(client);
    const changed = await change(client);
    if (!changed.ok) throw new CommandRefused(changed.problems);
    const { value, events } = changed.value;
    return { value, events: events.length === 0 ? [] : [...earlier, ...events] };
  };

/** Changes an account for callers that store no response under an idempotency key. */
export async function changeAccount<T>(
  pipeline: Pick<Pipeline, 'apply'>,
  change: AccountChange<T>,
  request: Omit<RequestContext, 'revise' | 'idempotency'>,
): Promise<Result<T>> {
  const outcome = await pipeline.apply('record', createAccountCommand(change), request);
  if (outcome.kind === 'replayed') throw new Error('an account change is never replayed');
  return outcome.kind === 'refused' ? refuse(...outcome.problems) : ok(outcome.command.value);
}

const FIRST_START: Cause = {
  actor: { id: 'service', name: 'Data Platform Service' },
  command: 'first-start',
  reason: 'the database contained no accounts',
  request_id: null,
  ip: null,
  user_agent: null,
};

/**
 * Creates the first admin of a database that was restored from a log. Such a database lacks the accounts in the log, so
 * they are recorded as deleted. Undefined if the log records no account.
 */
export async function createFirstAdminRecorder(
  pool: pg.Pool,
  pipeline: Pick<Pipeline, 'apply'>,
): Promise<(<T>(create: AccountChange<T>) => ReturnType<AccountChange<T>>) | undefined> {
  if (!(await recordsAccounts(pool))) return undefined;
  return async (create) => {
    const change: typeof create = async (client) => {
      const created = await create(client);
      if (!created.ok || created.value.events.length === 0) return created;
      const deletions = [...(await readAccounts(client)).keys()].map((user) =>
        accountEvent('account.deleted', user, {}),
      );
      return ok({ ...created.value, events: [...deletions, ...created.value.events] });
    };
    const result = await changeAccount(pipeline, change, { cause: FIRST_START });
    return result.ok ? ok({ value: result.value, events: [] }) : result;
  };
}
