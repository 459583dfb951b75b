/* Opens a proposal and updates its requested change. */
import type pg from 'pg';
import type { Document } from '../../log/document-lines.js';
import { keepDocuments } from '../../log/documents.js';
import { countUnderWay, findOpenRevert } from './rows.js';
import { listCollections } from '../../schema/collection-scope.js';
import type { ChangeUpdated } from '../../schema/model/events.js';
import { type State, NEW_IDENTITY, memberKey, findDifferingNames } from '../../schema/model/state.js';
import {
  CommandRefused,
  type PlannedBatch,
  type Revise,
  type Outcome,
  type Pipeline,
  type Prepare,
  type Recording,
  type RequestContext,
} from '../../pipeline/types.js';
import { changeEvent, replaceBatch } from './planning.js';
import {
  explainMissingDocument,
  type PlanOptions,
  planOf,
  type ProposedOperation,
  requireAllowed,
  requireAction,
} from './plan.js';
import {
  changesNothing,
  otherSubject,
  tooManyOpen,
  alreadyRevertedProblem,
  nothingToRevertProblem,
  concurrentUpdateProblem,
} from './problems.js';
import { runYielding } from '../../kernel/event-loop.js';
import type { Problem } from '../../kernel/problem.js';
import { type Resumable, stepsTo } from '../../kernel/resumable.js';
import { own } from '../../postgres/own-tables.js';
import { readReturningEntries } from '../trash/rows.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import type { EntryFindings } from '../../schema/diff/entries.js';
import { readOrigins, addOrigins } from '../../schema/diff/origins.js';
import { type Resolution, type MergeConflict, describeLocation } from '../../schema/merge/model.js';
import { applyToDraft } from '../../schema/operations/apply-diff.js';
import { type CommandOf, operations } from '../../schema/operations/index.js';
import {
  recreatedObjects,
  type RecreatedObjects,
  restorableEntries,
  type TrashNode,
} from '../../schema/transition/restoring-transition.js';
import { type Reading, type RequestedOperation, readRequestedOperation } from './command.js';
import { carryBackfills } from '../../schema/diff/apply-entries.js';
import { type FieldDiff, type SchemaDiff, diffStates, isEmptyDiff } from '../../schema/diff/diff.js';
import { noConflictProblem, mergeStates } from '../../schema/merge/merge-states.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';
import { Draft } from '../../schema/transition/draft.js';
import { selectStillInTrash } from '../trash/restore.js';

export interface ProposalInput extends PlanOptions {
  operation: ProposedOperation;
  /** The document with the requested change. */
  document: Document;
  online: boolean;
  credential: RequestContext['credential'];
}

/** @throws CommandRefused TOO_MANY_REQUESTS if the user has the maximum number of open requests */
export async function requireRoom(client: pg.ClientBase, author: string, most: number): Promise<void> {
  if ((await countUnderWay(client, author)) >= most) throw new CommandRefused([tooManyOpen(most)]);
}

/**
 * Rejects a change without effect with INVALID_PAYLOAD.
 * @param reverts the applied request that the new one reverts
 */
export const reviseForProposal =
  (
    id: string,
    {
      title,
      operation,
      document,
      online,
      reverts,
      credential,
      ...planOptions
    }: ProposalInput & { title: string; reverts?: string },
  ): Revise =>
  async (_, batch) => {
    if (batch.events.length === 0) return { kind: 'refused', problems: [changesNothing(operation)] };
    const { collections, ...plan } = await describePlannedBatch(batch, planOptions);
    const askedFor = { operation, document: document.hash, online, collections };
    const proposal = { ...askedFor, ...(reverts !== undefined && { reverts }), ...proposedWith(credential) };
    const opened = changeEvent('change.opened', id, { ...proposal, proposal: { title, ...plan } });
    return replaceBatch(batch, { events: [opened], also: keepDocuments([document]), online });
  };

const proposedWith = (credential: RequestContext['credential']): Pick<ChangeUpdated, 'proposed_with'> =>
  credential === undefined ? {} : { proposed_with: credential };

type TitleAndReason = Pick<ChangeUpdated, 'title' | 'reason'>;

/** Updates the title and the reason of a proposal. The requested change stays the same. */
export const planTextUpdate =
  (id: string, texts: TitleAndReason): Prepare<Recording> =>
  async (client) => {
    await requireAllowed(client, id, 'update');
    return { events: [changeEvent('change.updated', id, texts)] };
  };

export const reviseForUpdate =
  (
    id: string,
    texts: TitleAndReason,
    { operation, document, online, credential, ...planOptions }: ProposalInput,
  ): Revise =>
  async (client, batch) => {
    const request = await requireAllowed(client, id, 'update');
    if (operation !== request.operation) return { kind: 'refused', problems: [otherSubject(request)] };
    if (batch.events.length === 0) return { kind: 'refused', problems: [changesNothing(operation)] };
    const requested = { document: document.hash, online, ...(await describePlannedBatch(batch, planOptions)) };
    const updated = changeEvent('change.updated', id, { ...texts, ...requested, ...proposedWith(credential) });
    return replaceBatch(batch, { events: [updated], also: keepDocuments([document]), online });
  };

async function describePlannedBatch(
  batch: PlannedBatch,
  planOptions: PlanOptions,
): Promise<{ collections: string[]; plan: string; base: number }> {
  return {
    collections: listCollections({ ...batch, before: batch.before.state }),
    plan: await planOf(batch, planOptions),
    base: batch.before.head.position,
  };
}

/* Rebases a proposal onto the current schema, and reverts an applied request. */

/* Merges the difference between two schemas onto the current schema, for rebases and reverts. */

interface ResolvedMerge {
  base: State;
  /** The target state. New objects in it have no identity, except those of `again`. */
  theirs: State;
  /** Objects of `theirs` that existed before, by their names in `theirs`. */
  again: RecreatedObjects;
  /** The trash entries of these objects when the merge was requested. */
  kept: readonly TrashNode[];
  resolutions: readonly Resolution[];
  /** True if the diff of the request may contain objects other than tables. */
  objects?: boolean;
  /** The items of the request that may fill rows. */
  fields?: readonly FieldDiff[];
}

interface MergedCommand {
  /** The input of `apply-diff`. */
  input: { release: string; body: { hash: string; diff: SchemaDiff }; objects?: boolean };
  command: CommandOf<'apply-diff'>;
}

/**
 * @param ours the schema at the head
 * @returns undefined if the schema already contains the change
 * @throws CommandRefused MERGE_CONFLICT with each location and its three values
 */
async function mergeOntoCurrent(
  client: pg.ClientBase,
  { ours, release }: { ours: State; release: string },
  leading: ResolvedMerge,
): Promise<MergedCommand | undefined> {
  const { base, theirs, again, resolutions, objects, fields = [] } = leading;
  const merged = await runYielding(mergeStates({ base, ours, theirs }, { resolutions }));
  if (merged.unused.length > 0) throw new CommandRefused(merged.unused.map(noConflictProblem));
  if (merged.kind === 'conflicts') throw new CommandRefused(merged.conflicts.slice(0, MOST_CONFLICTS).map(problemOf));
  const { touched } = merged;
  const to = restoreIdentities(merged.state, touched, again);
  const kept = await selectStillInTrash(client, leading.kept);
  const diff = await runYielding(diffTouched({ ours, to, touched, kept }));
  if (isEmptyDiff(diff)) return undefined;
  const filling = carryBackfills(diff, { theirs, fields }, to);
  const body = { hash: await runYielding(snapshotHash(ours, release)), diff: filling };
  const input = { release, body, ...(objects && { objects }) };
  const read = await runYielding(stepsTo(operations['apply-diff'].parse(input)));
  if (!read.ok) throw new CommandRefused(read.problems);
  return { input, command: { ...read.value, kept } };
}

/** Maximum number of conflicts in a response, enough to understand the problem. */
const MOST_CONFLICTS = 100;

/** MERGE_CONFLICT. `details` contains the location and the three values. */
const problemOf = ({ message, ...details }: MergeConflict): Problem => ({
  code: 'MERGE_CONFLICT',
  message: `${describeLocation(details.place)}: ${message}`,
  details,
});

/** Assigns recreated objects their former identity. */
function restoreIdentities(state: State, touched: ReadonlySet<string>, again: RecreatedObjects): State {
  if (again.size === 0) return state;
  const draft = new Draft(state);
  for (const name of touched) {
    const node = state.collections.get(name);
    if (node === undefined) continue;
    const { identities } = node;
    const fields = [...identities.fields].flatMap(([field, identity]) => {
      const before = again.get(memberKey(name, field));
      return identity === NEW_IDENTITY && before !== undefined ? [[field, before] as const] : [];
    });
    draft.identify(name, new Map(fields), identities.collection === NEW_IDENTITY ? again.get(name) : undefined);
  }
  return draft.toState();
}

interface TouchedDiff {
  ours: State;
  to: State;
  touched: ReadonlySet<string>;
  kept: readonly TrashNode[];
}

function* diffTouched({ ours, to, touched, kept }: TouchedDiff): Resumable<SchemaDiff> {
  const way = { from: ours, to, touched };
  const restorable = yield* restorableEntries(way, kept);
  return addOrigins(yield* diffStates(ours, to, touched), recreatedObjects(way), restorable);
}

export interface RebaseContext extends Reading {
  pipeline: Pick<Pipeline, 'apply'>;
  /** Returns the state after the event at a position. */
  at(position: number): Promise<{ state: State }>;
  /** The maximum number of open requests per user. */
  quotas: { changes: number };
  /** Creates the document of a requested change. Rejects a change that is too long. */
  documentOf(askedFor: RequestedOperation): Promise<Document>;
}

interface MergedChange {
  planOptions: Pick<RequestedOperation, 'purge' | 'acknowledged'>;
  online: boolean;
  leading: ResolvedMerge;
  /** Checks preconditions before the change is decided. @throws CommandRefused */
  require: (client: pg.ClientBase) => Promise<void>;
  becomes: (proposed: ProposalInput) => Revise;
}

/** Decides and records the merged change in one transaction, so that the schema cannot change in between. */
async function applyMerged(
  { pipeline, release, documentOf }: RebaseContext,
  { planOptions, online, leading, require, becomes }: MergedChange,
  request: RequestContext,
): Promise<Outcome> {
  const { purge, acknowledged } = planOptions;
  const command: Prepare<CommandOf<'apply-diff'> & { proposed: ProposalInput }> = async (client, ours) => {
    await require(client);
    const merged = await mergeOntoCurrent(client, { ours, release }, leading);
    if (merged === undefined) throw new CommandRefused([nothingToRevertProblem()]);
    const document = await documentOf({ operation: 'apply-diff', input: merged.input, ...planOptions });
    const acknowledges = acknowledged && { acknowledges: { findings: acknowledged } };
    const options = { credential: request.credential, ...(purge && { purge }), ...acknowledges };
    return { ...merged.command, proposed: { operation: 'apply-diff', document, online, ...options } };
  };
  return pipeline.apply('apply-diff', command, {
    ...request,
    revise: (client, batch: PlannedBatch<{ proposed: ProposalInput }>) =>
      becomes(batch.command.proposed)(client, batch),
    ...(purge && { purge }),
  });
}

/** Rebases a proposal. Writes nothing if it is already based on the current schema. */
export async function rebase(
  rebasing: RebaseContext,
  { id, resolutions }: { id: string; resolutions: readonly Resolution[] },
  request: RequestContext,
): Promise<Outcome> {
  const before = await requireAction(rebasing.pool, id, 'rebase');
  if (!before.ok) return { kind: 'refused', problems: before.problems };
  const { document, online, proposal } = before.value;
  const askedFor = await readRequestedOperation(rebasing.pool, before.value);
  if (!askedFor.ok) {
    const { problems } = await explainMissingDocument(rebasing.pool, id, 'rebase', askedFor);
    return { kind: 'refused', problems };
  }
  const { input, purge, acknowledged } = askedFor.value;
  const { state: base } = await rebasing.at(proposal?.base ?? 0);
  const led = await applyRequestedDiff(rebasing, base, input);
  if ('problems' in led) return { kind: 'refused', problems: led.problems };
  return applyMerged(
    rebasing,
    {
      planOptions: { ...(purge && { purge }), ...(acknowledged && { acknowledged }) },
      online,
      leading: { base, ...led, resolutions },
      require: async (client) => {
        if ((await requireAllowed(client, id, 'rebase')).document !== document)
          throw new CommandRefused([concurrentUpdateProblem(id)]);
      },
      becomes: (proposed) =>
        proposed.document.hash === document
          ? (_, batch) => Promise.resolve(replaceBatch(batch, { events: [], also: [] }))
          : reviseForUpdate(id, {}, proposed),
    },
    request,
  );
}

/** Applies the diff of the request to the schema on which it is based. */
async function applyRequestedDiff(
  { inTrash }: RebaseContext,
  base: State,
  input: object,
): Promise<Pick<ResolvedMerge, 'theirs' | 'again' | 'kept' | 'objects' | 'fields'> | { problems: Problem[] }> {
  const requested = input as Parameters<(typeof operations)['apply-diff']['parse']>[0];
  const read = await runYielding(stepsTo(operations['apply-diff'].parse(requested)));
  if (!read.ok) return read;
  const { diff } = read.value;
  const findings: EntryFindings = { problems: [], conflicts: [] };
  const theirs = (await runYielding(applyToDraft(base, diff, findings))).toState();
  const problems = [...findings.problems, ...findings.conflicts];
  if (problems.length > 0) return { problems };
  const again = readOrigins(diff);
  const kept = await inTrash([...again.values()]);
  return { theirs, again, kept, fields: diff.fields, ...(requested.objects === true && { objects: true }) };
}

export interface RevertOptions {
  id: string;
  /** Id of the new request. */
  newId: string;
  title: string | undefined;
  online: boolean | undefined;
  purge: boolean | undefined;
  resolutions: readonly Resolution[];
}

/** Opens a request that reverts an applied one, merged onto the current schema. */
export async function revert(
  rebasing: RebaseContext,
  { id, newId, title, online, purge, resolutions }: RevertOptions,
  request: RequestContext,
): Promise<Outcome> {
  const applied = await requireAction(rebasing.pool, id, 'revert');
  if (!applied.ok) return { kind: 'refused', problems: applied.problems };
  const { result } = applied.value;
  const [{ state: base }, { state: theirs }] = await readAroundBatch(rebasing, result as NonNullable<typeof result>);
  const touched = findDifferingNames(base, theirs);
  const again = recreatedObjects({ from: base, to: theirs, touched });
  const kept = await rebasing.inTrash([...again.values()]);
  return applyMerged(
    rebasing,
    {
      planOptions: purge === true ? { purge } : {},
      online: online ?? applied.value.online,
      leading: { base, theirs, again, kept, resolutions, objects: base.objects !== theirs.objects },
      require: async (client) => {
        const other = await findOpenRevert(client, id);
        if (other !== undefined) throw new CommandRefused([alreadyRevertedProblem(id, other)]);
        await requireRoom(client, request.cause.actor.id, rebasing.quotas.changes);
      },
      becomes: (proposed) => async (client, batch) => {
        const named = { ...proposed, title: title ?? titleOf(applied.value), reverts: id };
        const revised = await reviseForProposal(newId, named)(client, batch);
        return { ...revised, returns: await readReturningEntries(client, batch.events) };
      },
    },
    request,
  );
}

/** Maximum length in characters. */
const LONGEST_TITLE = 200;

function titleOf({ proposal, operation, collections }: ChangeRequest): string {
  const what = proposal === null ? `${operation} of ${collections.join(', ')}` : proposal.title;
  return Array.from(`Revert: ${what}`).slice(0, LONGEST_TITLE).join('');
}

/** Returns the schema before and after a batch. */
async function readAroundBatch(
  { pool, at }: RebaseContext,
  { batch, position }: { batch: string; position: number },
): Promise<[{ state: State }, { state: State }]> {
  const { rows } = await pool.query<{ first: number }>(
    `SELECT pg_catalog.min(position)::float8 AS first FROM ${own.events} WHERE batch = $1`,
    [batch],
  );
  const [{ first }] = rows as [{ first: number }];
  return [await at(position), await at(first - 1)];
}
