/** What findings and a policy add to the plan of a large change, in this process: nobody waits for a disk. */
import { planBatch } from '../../src/projector/ddl/plan.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { compareSnapshot } from '../../src/schema/compare/compare-snapshot.js';
import { type Known, type Plan, RULES, findingsOf, questionsOf } from '../../src/schema/findings/index.js';
import { DEFAULT_POLICY, type Policy, judgedAll } from '../../src/schema/policy/index.js';
import { initialState } from '../../src/schema/model/state.js';
import { transition } from '../../src/schema/transition/transition.js';
import { median } from './measure.js';
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

/** The plan of a schema of `count` collections that is new, and how much of it its findings take. */
export function findingsOfMany(release: string, count: number, runs: number): Row {
  const snapshot = snapshotOf(count, release);
  const known: Known = {};
  const plain: number[] = [];
  const whole: number[] = [];
  for (let run = -3; run < runs; run++) {
    const started = performance.now();
    const plan = planOf(structuredClone(snapshot), release);
    const planned = performance.now();
    runToEnd(questionsOf(plan));
    runToEnd(judgedAll(POLICY, runToEnd(findingsOf({ ...plan, policy: POLICY }, known))));
    const found = performance.now();
    if (run < 0) continue;
    plain.push(planned - started);
    whole.push(found - started);
  }
  return {
    work: `plan ${count.toLocaleString('en')} collections with their findings and a policy`,
    measured: show(median(whole), 'ms'),
    limit: `${show(median(plain), 'ms')} without`,
    ratio: median(whole) / median(plain),
    budget: '<= 1.15',
  };
}
