/** Pure work on large schemas, in this process, by processor time. */
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { type Comparison, compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { type DatabaseFacts, type Plan, findingsOf, questionsOf } from '../../../src/schema/findings/planned-batch.js';
import { RULES } from '../../../src/schema/findings/rules/index.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { DEFAULT_POLICY, type Policy, judgeAll } from '../../../src/schema/policy.js';
import { LANGUAGES, programTypes } from '../../../src/schema/program-types.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { processorTime } from '../measure.js';
import type { Case } from '../runner.js';
import { snapshotOf } from '../schemas.js';

function compared(state: State, snapshot: object, release: string): Comparison {
  const read = runToEnd(compareSnapshot(state, snapshot, { force: false, mode: 'mirror', release }));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

/** Computes a plan like POST /schema/diff: comparison, order and statements. */
function planOf(snapshot: object, release: string): Plan {
  const before = initialState();
  const { desired } = compared(before, snapshot, release);
  const events = runToEnd(transition(before, desired.state, desired.touched));
  return { before, events, ...runToEnd(planBatch(before, events, 'public')) };
}

/** Every code has a rule, and many collections have another one. */
const POLICY: Policy = {
  ...DEFAULT_POLICY,
  findings: Object.fromEntries(RULES.map(({ code }) => [code, 'approve'])),
  collections: Array.from({ length: 20 }, (_, index) => ({
    pattern: `*tmp_${index}*`,
    findings: { JSON_NOT_JSONB: 'refuse', KEY_MAY_OVERFLOW: 'refuse', LOSES_DATA: 'off' },
  })),
  online_above_rows: 100_000,
};

const FACTS: DatabaseFacts = {};

function find(plan: Plan): void {
  runToEnd(questionsOf(plan));
  runToEnd(judgeAll(POLICY, runToEnd(findingsOf(plan, FACTS))));
}

/** What findings and a policy add to the plan of a new schema. */
export const findings =
  (count: number, runs: number): Case =>
  async ({ release }) => {
    const snapshot = snapshotOf(count, release);
    const planned = (andThen: (plan: Plan) => void) => (): number => {
      const body = structuredClone(snapshot);
      return processorTime(() => andThen(planOf(body, release)));
    };
    return [
      {
        work: `plan ${count.toLocaleString('en')} collections with findings and a policy, by processor time`,
        against: 'without',
        goal: 'findings',
        runs,
        measured: planned((plan) => find({ ...plan, policy: POLICY })),
        limit: planned(() => {}),
      },
    ];
  };

/** Types for programs, compared with the snapshot as JSON. */
export const types =
  (count: number, runs: number): Case =>
  async ({ release }) => {
    const snapshot = snapshotOf(count, release);
    return LANGUAGES.map((language) => ({
      work: `types of ${count.toLocaleString('en')} collections as ${language}, by processor time`,
      against: 'the snapshot as JSON',
      runs,
      measured() {
        const { state } = compared(initialState(), structuredClone(snapshot), release).desired;
        return processorTime(() => void runToEnd(programTypes(state, language, release)));
      },
      limit: () => processorTime(() => void JSON.stringify(snapshot)),
    }));
  };
