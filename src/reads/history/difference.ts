/** What changed between two moments, in the diff's form: what leads from one to the other, and what that would cost. */
import type { Queryable } from '../../postgres/pool.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { warningsOf } from '../../projector/ddl/cost-warnings.js';
import { type SchemaDiff, diffStates } from '../../schema/diff/diff.js';
import { changeProblems } from '../../schema/invariants/index.js';
import type { Problem } from '../../kernel/problem.js';
import { isReplacedField } from '../../schema/transition/removed-objects.js';
import { snapshotHash } from '../../schema/snapshot/snapshot.js';
import { type State, getField } from '../../schema/model/state.js';
import { transition } from '../../schema/transition/transition.js';
import type { Warning } from '../../kernel/warning.js';
import { runYielding } from '../../kernel/event-loop.js';
import type { Resumable } from '../../kernel/resumable.js';
import { namesMentioned } from './names-mentioned.js';
import { notRestored } from './not-restored.js';

export interface Difference {
  /** Of the snapshot that it starts from: apply takes it as long as that is the current one. */
  hash: string;
  diff: SchemaDiff;
  /** Absent when there are none. */
  warnings?: Warning[];
}

export interface DifferenceOptions {
  release: string;
  /** The database schema that holds the managed tables. */
  schema: string;
}

export async function differenceBetween(
  db: Queryable,
  from: State,
  to: State,
  { release, schema }: DifferenceOptions,
): Promise<Difference> {
  const touched = await runYielding(namesThatDiffer(from, to));
  const diff = await runYielding(diffStates(from, to, touched));
  const events = await runYielding(transition(from, to, touched));
  const { statements } = await runYielding(planBatch(from, events, schema));
  const warnings = [
    ...(await runYielding(warningsOf(statements))),
    ...(await notRestored(db, events)),
    ...(await namesMentioned(db, { before: from, after: to, touched })),
  ];
  const hash = await runYielding(snapshotHash(from, release));
  return { hash, diff, ...(warnings.length > 0 && { warnings }) };
}

/** What stands against a way from one to the other: apply would refuse it. */
export async function obstaclesBetween(from: State, to: State): Promise<Problem[]> {
  const touched = new Set(await runYielding(namesThatDiffer(from, to)));
  // The diff says of such a field that it goes, and that another one of its name comes.
  const isRecreated = (collection: string, field: string): boolean => {
    const [before, after] = [getField(from, collection, field), getField(to, collection, field)];
    return before !== undefined && after !== undefined && isReplacedField(before, after);
  };
  return runYielding(changeProblems({ from, to, touched, isRecreated }));
}

/** Collections that may differ: those that aren't one and the same value. */
function* namesThatDiffer(from: State, to: State): Resumable<string[]> {
  const names: string[] = [];
  for (const [name, node] of from.collections) {
    if (node !== to.collections.get(name)) names.push(name);
    yield;
  }
  for (const name of to.collections.keys()) {
    if (!from.collections.has(name)) names.push(name);
    yield;
  }
  return names;
}
