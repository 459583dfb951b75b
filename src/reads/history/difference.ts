/** The difference between two points in time as a diff, with the costs of applying it. */
import type { Queryable } from '../../postgres/pool.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { judgeFindings } from '../../projector/findings.js';
import { warnAboutDescendants } from '../../projector/inheritance/descendants.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { addOrigins } from '../../schema/diff/origins.js';
import { type ProposedChange, changeProblems } from '../../schema/invariants/index.js';
import type { Problem } from '../../kernel/problem.js';
import { isReplacedField } from '../../schema/transition/context.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';
import { type State, type Identity, findDifferingNames } from '../../schema/model/state.js';
import {
  recreatedObjects,
  restorableEntries,
  restoringTransition,
  type TrashNode,
} from '../../schema/transition/restoring-transition.js';
import { type Finding, withoutPlaces } from '../../schema/findings/index.js';
import { runYielding } from '../../kernel/event-loop.js';
import { warnAboutMentions, findReturns } from './returns.js';
import { findBlockingRows } from './rows-before.js';
import type { TimeTravel } from './time-travel.js';
import { findRestorable } from '../../features/trash/rows.js';

/* Finds objects by identity in the trash, and returns their state at the time of the deletion. */

/**
 * Returns the objects by the time of deletion. An object is `empty` if the database was restored from its log, without
 * rows.
 */
export async function readTrashEntries(
  db: Queryable,
  travel: TimeTravel,
  identities: readonly Identity[],
): Promise<TrashNode[]> {
  const entries: TrashNode[] = [];
  // The loop is sequential, because each state is folded from the previous one.
  for (const { position, kind, collection: name, identity, kept_in, empty } of await findRestorable(db, identities)) {
    const { state } = await travel.at(position - 1);
    const node = state.collections.get(name);
    if (node === undefined) throw new Error(`trash: position ${position} did not delete ${JSON.stringify(name)}`);
    entries.push({ position, kind, name, identity, kept_in: kept_in ?? undefined, node, empty });
  }
  return entries;
}

export interface Difference {
  /** Hash of the snapshot that the diff starts from. Apply accepts it while that snapshot is current. */
  hash: string;
  diff: SchemaDiff;
  /** Absent if there are no warnings. */
  warnings?: Finding[];
}

export interface DifferenceOptions {
  release: string;
  /** The schema of the managed tables. */
  schema: string;
  travel: TimeTravel;
  /** Milliseconds that deleted objects stay in the trash. */
  keepDeleted: number;
}

export interface Moments {
  from: State;
  to: State;
  /** True if the diff starts from the current schema. It then restores objects from the trash. */
  isFromNow: boolean;
}

/** Computes the difference with the costs and warnings of applying it. Takes no locks and changes nothing. */
export async function computeDifference(
  db: Queryable,
  { from, to, isFromNow }: Moments,
  { release, schema, travel, keepDeleted }: DifferenceOptions,
): Promise<Difference> {
  const touched = findDifferingNames(from, to);
  const way = { from, to, touched };
  const again = recreatedObjects(way);
  const kept = isFromNow ? await readTrashEntries(db, travel, [...again.values()]) : [];
  const restorable = await runYielding(restorableEntries(way, kept));
  const diff = addOrigins(await runYielding(diffStates(from, to, touched)), again, restorable);
  const events = await runYielding(restoringTransition(way, restorable));
  const { statements } = await runYielding(planBatch(from, events, schema));
  const noticed = [
    ...(await findReturns(db, schema, { before: from, events, again })),
    ...(isFromNow ? await findBlockingRows(db, schema, { before: from, after: to, events }) : []),
    ...(isFromNow ? await warnAboutDescendants(db, { state: from, events, schema }) : []),
    ...(await warnAboutMentions(db, { before: from, after: to, touched })),
  ];
  const plan = { before: from, after: to, events, statements, keep: keepDeleted };
  const warnings = withoutPlaces(await judgeFindings(db, schema, { plan, noticed }));
  const hash = await runYielding(snapshotHash(from, release));
  return { hash, diff, ...(warnings.length > 0 && { warnings }) };
}

/** Returns the problems for which apply would reject the difference. */
export async function findObstaclesBetween(from: State, to: State): Promise<Problem[]> {
  const touched = new Set(findDifferingNames(from, to));
  // A diff shows a field that was deleted and created again under the same name as both changes.
  const isRecreated: ProposedChange['isRecreated'] = (_, __, before, after) =>
    before !== undefined && after !== undefined && isReplacedField(before, after);
  return runYielding(changeProblems({ from, to, touched, isRecreated }));
}

/** Yields collections that may differ. A collection whose object is identical in both states cannot. */
