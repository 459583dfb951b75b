/** Reads the command of a request from the document of the request. */
import { sha256 } from '../../kernel/sha256.js';
import { documentFault } from '../../log/document-lines.js';
import { readDocuments } from '../../log/documents.js';
import { runYielding } from '../../kernel/event-loop.js';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { stepsTo } from '../../kernel/resumable.js';
import type { Queryable } from '../../postgres/pool.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import { type CommandOf, type OperationName, operations } from '../../schema/operations/index.js';
import { readOrigins } from '../../schema/diff/origins.js';
import type { ApplyDiff } from '../../schema/operations/apply-diff.js';
import type { Operation } from '../../schema/operations/operation.js';
import type { Identity } from '../../schema/model/state.js';
import type { TrashNode } from '../../schema/transition/restoring-transition.js';
import type { Acknowledgement } from '../../schema/policy.js';
import type { Acknowledgements } from '../../pipeline/types.js';

/** The content of a request's document. */
export interface RequestedOperation {
  operation: OperationName;
  /** The input of the operation: names, body, options. */
  input: object;
  /** True to drop deleted objects immediately. */
  purge?: true;
  /** Findings that the author acknowledged. */
  acknowledged?: Acknowledgement[];
}

export interface NamedCommand {
  name: OperationName;
  /** The input in the form that the document contains. */
  input: object;
  command: CommandOf<OperationName>;
  purge?: true;
  acknowledges?: Acknowledgements;
}

export interface Reading {
  pool: Queryable;
  /** The release of this service. */
  release: string;
  /** Returns the trash entries of objects with these identities. */
  inTrash(identities: readonly Identity[]): Promise<TrashNode[]>;
}

/** Parses the document of a request. */
export async function readRequestedOperation(
  db: Queryable,
  { document }: Pick<ChangeRequest, 'document'>,
): Promise<Result<RequestedOperation>> {
  const text = (await readDocuments(db, [document])).get(document);
  const fault = documentFault(text, { hash: document, sha256 });
  if (fault !== null || text?.content == null) return refuse(missingDocument(fault ?? 'its document was erased'));
  return ok(JSON.parse(text.content) as RequestedOperation);
}

/** Returns the command, which must be decided again against the current schema. */
export async function commandOf(reading: Reading, request: ChangeRequest): Promise<Result<NamedCommand>> {
  const askedFor = await readRequestedOperation(reading.pool, request);
  if (!askedFor.ok) return askedFor;
  const { operation, input, purge, acknowledged } = askedFor.value;
  const { parse } = operations[operation] as unknown as Operation<string, object, object>;
  const parsed = await runYielding(stepsTo(parse(input)));
  if (!parsed.ok) return parsed;
  const command = operation === 'apply-diff' ? await withoutBaseHash(reading, parsed.value as ApplyDiff) : parsed.value;
  return ok({
    name: operation,
    input,
    command: command as NamedCommand['command'],
    ...(purge && { purge }),
    ...(acknowledged && { acknowledges: { findings: acknowledged } }),
  });
}

/**
 * Removes the hash of the schema, which was checked when the request was opened. From then on, only the entries must
 * match the schema.
 */
async function withoutBaseHash({ release, inTrash }: Reading, { diff }: ApplyDiff): Promise<ApplyDiff> {
  return { release, diff, kept: await inTrash([...readOrigins(diff).values()]) };
}

const missingDocument = (why: string): Problem => ({
  code: 'NOT_FOUND',
  message: `The content of the change request is no longer available: ${why}.`,
});
