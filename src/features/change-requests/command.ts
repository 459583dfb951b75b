/** Reads the command of a request from its document. */
import { sha256 } from '../../kernel/sha256.js';
import { documentFault } from '../../log/document-lines.js';
import { readDocuments } from '../../log/documents.js';
import { readPolicy } from '../../log/decisive-events.js';
import { runYielding } from '../../kernel/event-loop.js';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { stepsTo } from '../../kernel/resumable.js';
import type { Queryable } from '../../postgres/pool.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { type CommandOf, type OperationName, operations } from '../../schema/operations/index.js';
import { originsIn } from '../../schema/diff/origins.js';
import type { ApplyDiff } from '../../schema/operations/apply-diff.js';
import type { Operation } from '../../schema/operations/operation.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';
import type { Identity } from '../../schema/model/state.js';
import type { InTrash } from '../../schema/transition/restoring-transition.js';
import type { UpdatePolicy } from '../../schema/operations/update-policy.js';
import { applying } from '../trash/restore.js';
import type { Acknowledgement, Policy } from '../../schema/policy.js';
import type { Acknowledgements, Ask } from '../../pipeline/types.js';

/** The content of a request's document. */
export interface AskedFor {
  operation: OperationName;
  /** The input of the operation: names, body, options. */
  input: object;
  /** Drops deleted objects at once. */
  purge?: true;
  /** Findings that the author acknowledged. */
  acknowledged?: Acknowledgement[];
}

export interface NamedCommand {
  name: OperationName;
  /** As in the document. */
  input: object;
  command: CommandOf<OperationName> | Ask<CommandOf<OperationName>>;
  purge?: true;
  acknowledges?: Acknowledgements;
}

export interface Reading {
  pool: Queryable;
  /** The release of this service. */
  release: string;
  /** Returns what the trash contains of the identities. */
  inTrash(identities: readonly Identity[]): Promise<InTrash[]>;
}

/** Parses the document of a request. */
export async function askedForBy(
  db: Queryable,
  { document }: Pick<ChangeRequest, 'document'>,
): Promise<Result<AskedFor>> {
  const found = (await readDocuments(db, [document])).get(document);
  const fault = documentFault(found, { hash: document, sha256 });
  if (fault !== null || found?.content == null) return refuse(lost(fault ?? 'its document was erased'));
  return ok(JSON.parse(found.content) as AskedFor);
}

/** Returns the command, to be decided again against the current schema. */
export async function commandOf(reading: Reading, request: ChangeRequest): Promise<Result<NamedCommand>> {
  const askedFor = await askedForBy(reading.pool, request);
  if (!askedFor.ok) return askedFor;
  const { operation, input, purge, acknowledged } = askedFor.value;
  const { parse } = operations[operation] as unknown as Operation<string, object, object>;
  const parsed = await runYielding(stepsTo(parse(input)));
  if (!parsed.ok) return parsed;
  const command = await onPresentState(reading, operation, parsed.value);
  return ok({
    name: operation,
    input,
    command: command as NamedCommand['command'],
    ...(purge && { purge }),
    ...(acknowledged && { acknowledges: { findings: acknowledged } }),
  });
}

/** Binds a command that depends on the schema or the policy to their state at the time of the decision. */
async function onPresentState(reading: Reading, operation: OperationName, parsed: object): Promise<object> {
  if (operation === 'apply-diff') return onAnySchema(reading, parsed as ApplyDiff);
  return operation === 'update-policy' ? replacingCurrent((parsed as UpdatePolicy).policy) : parsed;
}

/** The policy in force is read when the command is decided. */
export const replacingCurrent =
  (policy: Policy): Ask<UpdatePolicy> =>
  async (db) => ({ policy, current: (await readPolicy(db)).policy });

/** The hash was valid when the request was opened. Later only the entries must fit the schema. */
async function onAnySchema({ release, inTrash }: Reading, read: ApplyDiff): Promise<Ask<ApplyDiff>> {
  const again = applying(read, await inTrash([...originsIn(read.diff).values()]));
  return async (client, state) => ({
    ...(typeof again === 'function' ? await again(client, state) : again),
    release,
    hash: await runYielding(snapshotHash(state, release)),
  });
}

const lost = (why: string): Problem => ({
  code: 'NOT_FOUND',
  message: `The change of the change request is no longer available: ${why}.`,
});
