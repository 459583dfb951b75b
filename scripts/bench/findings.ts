/** What findings and a policy add to the plan of a large change, in this process: nobody waits for a disk. */
import { planBatch } from '../../src/projector/ddl/plan.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { compareSnapshot } from '../../src/schema/compare/compare-snapshot.js';
import { type DatabaseFacts, type Plan, RULES, findingsOf, questionsOf } from '../../src/schema/findings/index.js';
import { DEFAULT_POLICY, type Policy, judgedAll } from '../../src/schema/policy.js';
import { initialState } from '../../src/schema/model/state.js';
import { transition } from '../../src/schema/transition/transition.js';
import { median, processorTime } from './measure.js';
import { type Row, show } from './report.js';
import { snapshotOf } from './schemas.js';

/** A plan as POST /schema/diff makes it: compared, put in order, as statements. */
function planOf(snapshot: object, release: string): Plan {
  const before = initialState();
  const compared = runToEnd(compareSnapshot(before, snapshot, { force: false, mode: 'mirror', release }));
  if (!compared.ok) throw new Error(JSON.stringify(compared.problems));
  const { desired } = compared.value;
  const events = runToEnd(transition(before, desired.state, desired.touched));
  return { before, events, ...runToEnd(planBatch(before, events, 'public')) };
}

/** Of every code something, and of many collections something else. */
const POLICY: Policy = {
  ...DEFAULT_POLICY,
  findings: Object.fromEntries(RULES.map(({ code }) => [code, 'approve'])),
  collections: Array.from({ length: 20 }, (_, index) => ({
    pattern: `*tmp_${index}*`,
    findings: { JSON_NOT_JSONB: 'refuse', KEY_MAY_OVERFLOW: 'refuse', LOSES_DATA: 'off' },
  })),
  online_above_rows: 100_000,
};

/**
 * The plan of a schema of `count` collections that is new, and how much of it its findings take: in pairs by processor time,
 * of which the ratio in the middle is told, so that what else the machine does doesn't change it.
 */
export function findingsOfMany(release: string, count: number, runs: number): Row {
  const snapshot = snapshotOf(count, release);
  const known: DatabaseFacts = {};
  const pairs: { plain: number; added: number }[] = [];
  for (let run = -3; run < runs; run++) {
    const body = structuredClone(snapshot);
    let plan: Plan | undefined;
    const plain = processorTime(() => (plan = planOf(body, release)));
    const added = processorTime(() => find({ ...(plan as Plan), policy: POLICY }, known));
    if (run >= 0) pairs.push({ plain, added });
  }
  const of = (value: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(value));
  return {
    work: `plan ${count.toLocaleString('en')} collections with their findings and a policy, by processor time`,
    measured: show(
      of(({ plain, added }) => plain + added),
      'ms',
    ),
    limit: `${show(
      of(({ plain }) => plain),
      'ms',
    )} without`,
    ratio: of(({ plain, added }) => (plain + added) / plain),
    budget: '<= 1.15',
  };
}

function find(plan: Plan, known: DatabaseFacts): void {
  runToEnd(questionsOf(plan));
  runToEnd(judgedAll(POLICY, runToEnd(findingsOf(plan, known))));
}
