/** Reads the requested change of a proposal for an action on it. */
import type pg from 'pg';
import { type Result, ok, refuse } from '../../../kernel/problem.js';
import { readChange } from '../../../projector/change-requests/rows.js';
import { type ChangeAction, mayDo } from '../../../schema/change-requests/actions.js';
import type { ChangeRequest } from '../../../schema/change-requests/model.js';
import type { CommandOf } from '../../../schema/operations/index.js';
import type { Queryable } from '../../../postgres/pool.js';
import { type Command, CommandRefused, type Prepare } from '../../types.js';
import { wrongState } from '../applying.js';
import { type NamedCommand, type Reading, commandOf } from '../command.js';
import { updatedMeanwhile } from './problems.js';

/** The operations that people propose. */
export type ProposedOperation = 'apply-diff' | 'update-policy';

type Proposed = CommandOf<ProposedOperation>;

export interface AskedForNow {
  name: ProposedOperation;
  /** Decides the change against the schema and the policy at the head, if the request allows the action. */
  command: Prepare<Proposed>;
  how: Omit<NamedCommand, 'name' | 'command'>;
  online: boolean;
}

/** The document is read before the transaction. In the transaction, the request must still have the same document. */
export async function askedForNow(reading: Reading, id: string, action: ChangeAction): Promise<Result<AskedForNow>> {
  const request = await readChange(reading.pool, id);
  if (request === undefined) return refuse(wrongState(id, undefined));
  if (request.proposal === null) return refuse(wrongState(id, request));
  const askedFor = await commandOf(reading, request);
  if (!askedFor.ok) return askedFor;
  const { command, name, ...how } = askedFor.value;
  const decided = command as Command<Proposed>;
  return ok({
    name: name as ProposedOperation,
    how,
    online: request.online,
    command: async (client, state) => {
      const now = await allowed(client, id, action);
      if (now.document !== request.document) throw new CommandRefused([updatedMeanwhile(id)]);
      return typeof decided === 'function' ? decided(client, state) : decided;
    },
  });
}

/** Returns the request if it allows the action. */
export async function requireAction(db: Queryable, id: string, action: ChangeAction): Promise<Result<ChangeRequest>> {
  const request = await readChange(db, id);
  return request !== undefined && mayDo(request, action) ? ok(request) : refuse(wrongState(id, request));
}

/** Returns the request if it allows the action now. @throws CommandRefused */
export async function allowed(
  client: pg.ClientBase,
  id: string,
  action: ChangeAction,
): Promise<ChangeRequest & { proposal: NonNullable<ChangeRequest['proposal']> }> {
  const request = await readChange(client, id);
  if (request === undefined || request.proposal === null || !mayDo(request, action))
    throw new CommandRefused([wrongState(id, request)]);
  return { ...request, proposal: request.proposal };
}
