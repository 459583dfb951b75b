/* Decides the events of a command against the state at the head of the log. */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { locate } from '../../kernel/locate.js';
import { stepsTo } from '../../kernel/resumable.js';
import { type Problem, MAX_PROBLEMS, type Warning } from '../../kernel/problem.js';
import type { Parameterised } from '../../postgres/exchange.js';
import type { ObjectFacts } from '../../projector/ddl/catalog-object.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { changesObjects } from '../../schema/fold/event-schemas.js';
import { readObjectFacts } from './rewritten-objects.js';
import type { Statement } from '../../projector/ddl/step.js';
import { type LogEvent, isAdopted } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import {
  OUT_OF_SCOPE,
  type CollectionScope,
  isOnTableOutside,
  reachesOutside,
  visibleState,
} from '../../schema/collection-scope.js';
import { kindWithLabel } from '../../schema/model/objects.js';
import { OBJECTS_OFF } from '../../schema/operations/objects.js';
import { followsTable } from '../../schema/transition/objects.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';
import type { StartedTransaction } from './begin.js';
import { type KeepInput, keepDeleted } from './keep-deleted.js';
import type { EnforcementInput } from './enforce-policy.js';
import { withDescendants } from '../../projector/inheritance/descendants.js';
import {
  CommandRefused,
  type Job,
  type PipelineOptions,
  type Prepare,
  type PreparedSteps,
  type ReadContext,
  type Refusal,
  type RevisedBatch,
} from '../types.js';
import type { HeldCollections } from '../../features/change-requests/rows.js';
import { indexTargets } from '../../projector/indexes/catch-up.js';

/* While a request prepares tables, protects their columns and names from other changes. */

/** Returns one problem for each held table that the batch would change. */
export function findHeldProblems(
  batch: Pick<RevisedBatch, 'events' | 'statements' | 'change'>,
  held: readonly HeldCollections[],
): Problem[] {
  const others = held.filter(({ id }) => id !== batch.change);
  if (others.length === 0) return [];
  const tables = tablesChanged(batch);
  return others
    .flatMap(({ id, collections }) =>
      collections.filter((name) => tables.has(name)).map((name) => createInUseProblem(name, id)),
    )
    .slice(0, MAX_PROBLEMS);
}

/** Returns the existing tables that the batch changes. Metadata and references to a table do not count. */
function tablesChanged({ events, statements }: Pick<RevisedBatch, 'events' | 'statements'>): Set<string> {
  const tables = new Set<string>();
  for (const { locks, object, source } of statements) {
    if (locks.length === 0) continue;
    tables.add(source.collection);
    if (object.table !== null) tables.add(object.table);
  }
  // Events without a statement do not change their table now. It was changed by hand or changes with its parent, or an
  // index is built or dropped after the commit.
  for (const event of events) {
    if (event.collection !== null && (isAdopted(event) || isInherited(event))) tables.add(event.collection);
    for (const { collection } of indexTargets(event)) tables.add(collection);
  }
  return tables;
}

const isInherited = (event: LogEvent): boolean => event.type === 'field.renamed' && event.data.inherited === true;

/** Returns the reason why a request cannot hold its tables while others hold them, or null. */
export const findHeldConflicts = (held: readonly HeldCollections[], { id, collections }: HeldCollections): Problem[] =>
  held
    .filter((other) => other.id !== id)
    .flatMap((other) =>
      other.collections.filter((name) => collections.includes(name)).map((name) => createInUseProblem(name, other.id)),
    )
    .slice(0, MAX_PROBLEMS);

function createInUseProblem(collection: string, change: string): Problem {
  return {
    code: 'IN_USE',
    message: `Change request ${change} is preparing a change to ${JSON.stringify(collection)}. Wait for it, or withdraw it (POST /changes/${change}/withdraw).`,
    collection,
    details: { change },
  };
}

/** A batch that is ready to be executed. */
export interface DecidedBatch<C = unknown> {
  kind: 'decided';
  /** The command that was decided. It may have been read from the database. */
  command: C;
  /** Empty if there is nothing to do. */
  events: LogEvent[];
  statements: Statement[];
  /** The resulting state. */
  after: State;
  /** Further statements of the transaction. */
  also: readonly Parameterised[];
  /** Warnings that do not follow from the events. */
  warnings: Warning[];
  /** The planned and the revised batch, which the policy evaluates. */
  judging: Pick<EnforcementInput, 'planned' | 'revised'>;
  /** For plans: the steps that would be prepared online first. */
  preparation: PreparedSteps | undefined;
  /** The managed objects other than tables before the batch. Absent if the batch cannot affect them. */
  facts?: ObjectFacts | undefined;
}

export interface DecideOptions<C> {
  options: PipelineOptions;
  job: Job<C>;
  begun: Pick<StartedTransaction, 'point' | 'held' | 'policy' | 'glance' | 'childless'>;
  /** Limits of lock waits. With null, no table is locked or read, so it is not known what the trash would keep. */
  waits: KeepInput['waits'] | null;
  isDryRun?: boolean;
}

/** Decides and plans the command, and lets a change request revise the batch. */
export async function decideBatch<C>(
  client: pg.ClientBase,
  deciding: DecideOptions<C>,
): Promise<DecidedBatch<C> | Refusal> {
  return decideAndPlan(client, deciding).catch((error: unknown): Refusal => {
    if (error instanceof CommandRefused) return { kind: 'refused', problems: [...error.problems] };
    throw error;
  });
}

async function decideAndPlan<C>(
  client: pg.ClientBase,
  { options, job, begun, waits, isDryRun = false }: DecideOptions<C>,
): Promise<DecidedBatch<C> | Refusal> {
  const { point, held, policy, glance, childless } = begun;
  const from = { job, state: point.state, policy, options, waits, isDryRun, glance, childless };
  const decided = await decideEvents(client, from);
  if (decided.kind === 'refused') return decided;
  const { schema } = options.location;
  const { command, events, warnings } = decided;
  const { operation, request } = job;
  const scope = request.collections;
  const drafted = await planObjectsAndTables(client, { state: point.state, events, options, scope });
  if (drafted.kind === 'refused') return drafted;
  const { statements, after, facts } = drafted;
  const planned = { command, before: point, after, events, statements, schema, held, policy };
  const revised: RevisedBatch | Refusal = (await request.revise?.(client, planned)) ?? {
    ...planned,
    kind: 'revised',
    also: operation.also?.(command) ?? [],
  };
  if (revised.kind === 'refused') return revised;
  const problems = findRevisedProblems(revised, { held, before: point.state, scope });
  if (problems.length > 0) return { kind: 'refused', problems };
  const position = point.state.position + revised.events.length;
  return {
    kind: 'decided',
    command,
    events: revised.events,
    statements: revised.statements,
    after: { ...revised.after, position },
    also: revised.also,
    warnings,
    judging: { planned, revised },
    preparation: revised.preparation,
    facts,
  };
}

const isOutOfScope = (batch: Parameters<typeof reachesOutside>[0], scope: CollectionScope | undefined): boolean =>
  scope !== undefined && reachesOutside(batch, scope);

export const outOfScope = (): Refusal => ({ kind: 'refused', problems: [OUT_OF_SCOPE] });

/**
 * Returns problems of the revised batch. A change that will be prepared first is not checked for held tables, because
 * it waits later until others release them.
 */
function findRevisedProblems(
  { events, after, ...revised }: RevisedBatch,
  { held, before, scope }: { held: readonly HeldCollections[]; before: State; scope: CollectionScope | undefined },
): Problem[] {
  if (isOutOfScope({ before, after, events }, scope)) return outOfScope().problems;
  return revised.preparation === undefined ? findHeldProblems({ events, ...revised }, held) : [];
}

type DraftedPlan = ({ kind: 'drafted' } & Pick<DecidedBatch, 'statements' | 'after' | 'facts'>) | Refusal;

async function planObjectsAndTables(
  client: pg.ClientBase,
  {
    state,
    events,
    options,
    scope,
  }: { state: State; events: readonly LogEvent[]; options: PipelineOptions; scope: CollectionScope | undefined },
): Promise<DraftedPlan> {
  // The scope is checked first. Any later check could fail with a message that names another collection.
  if (isOutOfScope({ before: state, after: state, events }, scope)) return outOfScope();
  const { schema } = options.location;
  const isManaging = options.objects === true;
  const objectEvents = events.filter(changesObjects);
  if (!isManaging && objectEvents.some((event) => !followsTable(event, events, state)))
    return { kind: 'refused', problems: [{ code: 'INVALID_PAYLOAD', message: OBJECTS_OFF }] };
  // A process without OBJECTS=on, such as a command of dps, must not leave the views of another process behind.
  const objects = isManaging || !state.objects.isEmpty() || objectEvents.length > 0;
  const facts = await readObjectFacts(client, { state, events, schema });
  const { statements, after, problems } = await runYielding(
    planBatch(state, events, schema, { facts, objects, owner: options.objectsOwner }),
  );
  if (isOutOfScope({ before: state, after, events }, scope)) return outOfScope();
  if (scope !== undefined && recreatesOutside(statements, [state, after], scope)) return outOfScope();
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'drafted', statements, after, facts };
}

/** True if a plan creates triggers or policies of tables outside the scope again, because they use what it changes. */
const recreatesOutside = (
  statements: readonly Statement[],
  states: readonly State[],
  scope: CollectionScope,
): boolean =>
  statements.some(({ object: { kind: label, name: id } }) => {
    const kind = kindWithLabel(label);
    return kind !== undefined && isOnTableOutside(scope, states, { kind, id });
  });

type Decision<C> = Pick<DecidedBatch<C>, 'kind' | 'command' | 'events' | 'warnings'> | Refusal;

async function decideEvents<C>(
  client: pg.ClientBase,
  {
    job,
    state,
    policy,
    waits,
    childless,
    ...keeping
  }: Pick<KeepInput, 'state' | 'options' | 'glance' | 'isDryRun'> &
    Pick<DecideOptions<C>, 'job' | 'options' | 'waits'> &
    Pick<StartedTransaction, 'policy' | 'childless'>,
): Promise<Decision<C>> {
  const { release, location } = keeping.options;
  const { schema, schemas } = location;
  const { operation, request } = job;
  const context = { state, policy, schema, schemas, objects: keeping.options.objects === true };
  const command = await readCommand(client, job, context);
  const { ifMatch, collections } = request;
  // A caller with a scope knows the hash of the snapshot of its collections.
  const read = collections === undefined ? state : visibleState(state, collections);
  if (ifMatch !== undefined && ifMatch !== (await runYielding(snapshotHash(read, release)))) {
    return { kind: 'refused', problems: [preconditionFailed()] };
  }
  const result = await runYielding(stepsTo(operation.decide(state, command)));
  if (!result.ok) return { kind: 'refused', problems: result.problems };
  const purge = request.purge === true;
  const inheriting = { state, events: result.value, schema, childless, purge };
  const { events, warnings, problems } = await withDescendants(client, inheriting);
  if (problems.length > 0) {
    const locations = operation.locations?.(command) ?? {};
    return { kind: 'refused', problems: problems.map((problem) => locate(problem, locations)) };
  }
  if (waits === null) return { kind: 'decided', command, events, warnings };
  const kept = await keepDeleted(client, { ...keeping, waits, state, events, request });
  if (kept.kind === 'refused') return kept;
  return { kind: 'decided', command, events: kept.events, warnings: [...warnings, ...kept.warnings] };
}

async function readCommand<C>(client: pg.ClientBase, { operation, command }: Job<C>, context: ReadContext): Promise<C> {
  const submitted = isReader(command) ? await command(client, context.state, context.policy) : command;
  return operation.read === undefined ? submitted : operation.read(client, submitted, context);
}

/** True if the command is a function that reads the actual command from the database. */
export const isReader = <C>(command: Job<C>['command']): command is Prepare<C> => typeof command === 'function';

function preconditionFailed(): Problem {
  const message = 'The schema has changed since you read it (If-Match). Read it again.';
  return { code: 'PRECONDITION_FAILED', message };
}
