/** The findings of a plan, with facts from the database about its tables. */
import { runYielding } from '../../kernel/event-loop.js';
import { NotInTimeError, inTime } from '../../kernel/in-time.js';
import type { Warning } from '../../kernel/warning.js';
import { namesInLives } from '../../log/lives.js';
import { readPolicy } from '../../log/read-policy.js';
import type { Queryable } from '../../postgres/pool.js';
import {
  type Dependent,
  type Finding,
  type Known,
  type Plan,
  type Questions,
  type TableStatistics,
  findingOf,
  findingsOf,
  questionsOf,
  together,
} from '../../schema/findings/index.js';
import { type NamesBefore, collectionsNamed } from '../../schema/fold/former-names.js';
import type { LogEvent } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import { type Judged, type Policy, isStopping, judgedAll } from '../../schema/policy/index.js';
import { typeLookup, typeQuestion } from '../refusals/missing-extension.js';
import { readTableFacts } from '../online/table-facts.js';
import { readDependents } from './dependents.js';

/** Milliseconds for all queries. A plan without these facts is better than none. */
const LIMIT = 2_000;

/** Tables per query, because each result is parsed in one go. */
const AT_ONCE = 1_000;

/**
 * Queries once per plan, outside its transaction, and only if a rule needs it. The statements may already have run
 * and been rolled back.
 * @param schema of the tables; `patient`: waits for the results, because a decision depends on them
 */
export async function planFindings(
  db: Queryable,
  schema: string,
  plan: Plan,
  { patient = false } = {},
): Promise<Finding[]> {
  const questions = await runYielding(questionsOf(plan));
  return runYielding(findingsOf(plan, await ask(db, schema, { questions, patient })));
}

/**
 * The findings of a plan, with the effect of the current policy.
 * @param noticed findings from other sources
 */
export async function judgedFindings(
  db: Queryable,
  schema: string,
  { plan, noticed }: { plan: Plan; noticed: readonly Warning[] },
): Promise<Judged<Finding>[]> {
  const { policy } = await readPolicy(db);
  return findingsByPolicy(db, schema, { plan, policy, noticed });
}

/** For accepted drift: only the findings that the policy blocks. The others are already true in the database. */
export async function stoppingFindings(
  db: Queryable,
  schema: string,
  { warnings, ...plan }: Plan & { warnings: readonly Warning[] },
): Promise<Judged<Finding>[]> {
  const shown = await judgedFindings(db, schema, { plan: { ...plan, adopted: true }, noticed: warnings });
  return shown.filter(({ action }) => isStopping(action));
}

/** The same under another policy. */
export async function findingsByPolicy(
  db: Queryable,
  schema: string,
  { plan, policy, noticed }: { plan: Plan; policy: Policy; noticed: readonly Warning[] },
): Promise<Judged<Finding>[]> {
  const found = await planFindings(db, schema, { ...plan, policy });
  const before = await namesJudged(db, { policy, before: plan.before, events: plan.events });
  const shown = await runYielding(judgedAll(policy, found, before));
  const beside = await runYielding(judgedAll(policy, noticed.map(findingOf), before));
  return [...shown, ...(await runYielding(together(beside)))];
}

/**
 * The names under which the policy judges a collection: all that it had since it was created, also through the trash,
 * and those that the batch assigns. Queries nothing if the policy is the same for all collections.
 */
export async function namesJudged(
  db: Queryable,
  { policy, before, events }: Pick<Plan, 'before' | 'events'> & { policy: Policy },
): Promise<NamesBefore> {
  const called = await runYielding(collectionsNamed(before, events));
  const lives = policy.collections.length === 0 ? undefined : await namesInLives(db, namesBefore(before, events));
  return (name) => new Set(called(name).flatMap(({ identity, names }) => [...names, ...(lives?.get(identity) ?? [])]));
}

/** Names of existing collections, and of those that the batch restores. */
function* namesBefore({ collections }: State, events: readonly LogEvent[]): Iterable<string> {
  yield* collections.keys();
  for (const { type, data } of events) if (type === 'collection.created' && data.restored) yield data.restored.name;
}

interface Asking {
  questions: Questions;
  patient: boolean;
}

async function ask(db: Queryable, schema: string, { questions, patient }: Asking): Promise<Known> {
  if (patient) return answer(db, schema, questions);
  try {
    return await inTime(answer(db, schema, questions), LIMIT);
  } catch (error) {
    if (error instanceof NotInTimeError) return {};
    throw error;
  }
}

async function answer(db: Queryable, schema: string, { tables, altered, types = [] }: Questions): Promise<Known> {
  const statistics: [string, TableStatistics][] = [];
  for (const some of inParts(tables)) {
    const facts = await readTableFacts(db, { schema, tables: some, exact: false });
    for (const { name, bytes, rows, age, uses } of facts.values()) statistics.push([name, { bytes, rows, age, uses }]);
  }
  const dependents: Dependent[] = [];
  for (const some of inParts(altered)) dependents.push(...(await readDependents(db, schema, some)));
  const known = { statistics: new Map(statistics), dependents };
  if (types.length === 0) return known;
  const { rows } = await db.query(typeQuestion(types.slice(0, AT_ONCE), schema));
  return { ...known, types: typeLookup(rows) };
}

function inParts(names: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let from = 0; from < names.length; from += AT_ONCE) parts.push(names.slice(from, from + AT_ONCE));
  return parts;
}
