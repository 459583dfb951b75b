import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '../../../src/kernel/canonical.js';
import type { Result } from '../../../src/kernel/problem.js';
import { type Resumable, runToEnd, stepsTo } from '../../../src/kernel/resumable.js';
import { planHash } from '../../../src/schema/change-requests/plan-hash.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { operations } from '../../../src/schema/operations/index.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { relationBody } from '../../../src/schema/transition/context.js';
import { attempt, follow } from '../../support/given.js';
import { type RandomCommand, createRandomCommands } from '../../support/random-commands.js';
import { limitRuns } from '../../support/runs.js';
import { edit, edited, identifiedState } from '../merge/edits.js';

/** The hash of the diff between two states. */
function hashBetween(before: State, after: State): string {
  const snapshot = runToEnd(snapshotOf(after, '1'));
  const compared = runToEnd(compareSnapshot(before, snapshot, { force: false, mode: 'mirror', release: '1' }));
  if (!compared.ok) throw new Error(JSON.stringify(compared.problems));
  const { hash, diff } = compared.value;
  const decided = attempt(before, 'apply-diff', { release: '1', body: { hash, diff } });
  if (!decided.ok) throw new Error(JSON.stringify(decided.problems));
  return runToEnd(planHash({ before, after: follow(before, decided.value), events: decided.value }));
}

function renderState(state: State): string {
  const { collections, fields, relations } = runToEnd(snapshotOf(state, '1'));
  return JSON.stringify([collections, fields, relations.map(relationBody)]);
}

it('the hash of a plan is the same elsewhere and unique within a schema', () => {
  const edits = fc.array(edit, { maxLength: 4 });
  fc.assert(
    fc.property(identifiedState, edits, edits, (before, some, others) => {
      const [one, other] = [edited(before, some), edited(before, others)];
      expect(hashBetween(before, one) === hashBetween(before, other)).to.equal(renderState(one) === renderState(other));
    }),
    limitRuns(50),
  );
});

it('the hash of a plan differs for events that differ in more than positions', () => {
  const seeds = fc.tuple(fc.nat(), fc.integer({ min: 3, max: 25 }), fc.nat(), fc.nat());
  fc.assert(
    fc.property(seeds, ([seed, length, one, other]) => {
      let before = initialState();
      const next = createRandomCommands(seed);
      for (let createdCount = 0; createdCount < length; createdCount += 1)
        before = accept(before, next(before))?.after ?? before;
      const [first, second] = [one, other].map((each) => accept(before, createRandomCommands(each)(before)));
      if (first === undefined || second === undefined) return;
      const [a, b] = [first, second].map(({ events, after }) => runToEnd(planHash({ before, after, events })));
      expect(a === b).equal(canonicalJson(first.events) === canonicalJson(second.events));
    }),
    limitRuns(300),
  );
});

function accept(before: State, { name, command }: RandomCommand): { events: NewEvent[]; after: State } | undefined {
  const { decide } = operations[name] as unknown as {
    decide(state: State, command: unknown): Result<NewEvent[]> | Resumable<Result<NewEvent[]>>;
  };
  const decided = runToEnd(stepsTo(decide(before, command)));
  return decided.ok ? { events: decided.value, after: follow(before, decided.value) } : undefined;
}
