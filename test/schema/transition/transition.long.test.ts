import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '../../../src/kernel/canonical.js';
import { relationBody } from '../../../src/schema/transition/context.js';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { diffStates, isEmptyDiff } from '../../../src/schema/diff/diff.js';
import { invariantProblems } from '../../../src/schema/invariants/index.js';
import { operations } from '../../../src/schema/operations/index.js';
import { snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import type { State } from '../../../src/schema/model/state.js';
import { limitRuns } from '../../support/runs.js';
import { runToEnd, stepsTo } from '../../../src/kernel/resumable.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { schemaState } from '../../support/arbitraries.js';
import { attempt, follow, followStrictly } from '../../support/given.js';

const RELEASE = '0.0.0';
const names = (a: State, b: State) => new Set([...a.collections.keys(), ...b.collections.keys()]);
const withoutIds = (state: State) => ({
  ...runToEnd(snapshotOf(state, RELEASE)),
  relations: runToEnd(snapshotOf(state, RELEASE)).relations.map(relationBody),
});

describe('transition and diff (properties)', () => {
  it('a state has no difference from itself', () => {
    fc.assert(
      fc.property(schemaState, (a) => {
        expect(runToEnd(transition(a, a, a.collections.keys()))).to.deep.equal([]);
        expect(isEmptyDiff(runToEnd(diffStates(a, a, a.collections.keys())))).to.equal(true);
      }),
      limitRuns(200),
    );
  });

  it('the events between two states transform one into the other, with a valid schema after each', () => {
    fc.assert(
      fc.property(schemaState, schemaState, (a, b) => {
        const events = runToEnd(transition(a, b, names(a, b)));
        const reached = followStrictly(a, events);
        expect(withoutIds(reached)).to.deep.equal(withoutIds(b));
        expect(runToEnd(snapshotHash(reached, RELEASE))).to.equal(runToEnd(snapshotHash(b, RELEASE)));
        expect(runToEnd(transition(reached, b, names(reached, b)))).to.deep.equal([]);
      }),
      limitRuns(300),
    );
  });

  it('applying the snapshot of b to a yields b, without remaining differences', () => {
    fc.assert(
      fc.property(schemaState, schemaState, (a, b) => {
        const submitted = JSON.parse(JSON.stringify(runToEnd(snapshotOf(b, RELEASE)))) as unknown;
        const options = { force: false, mode: 'mirror', release: RELEASE } as const;
        const compared = runToEnd(compareSnapshot(a, submitted, options));
        if (!compared.ok) throw new Error(JSON.stringify(compared.problems));
        const { hash, diff } = compared.value;
        const sent = JSON.parse(JSON.stringify({ hash, diff })) as unknown;
        const command = runToEnd(stepsTo(operations['apply-diff'].parse({ release: RELEASE, body: sent })));
        if (!command.ok) throw new Error(JSON.stringify(command.problems));
        const events = runToEnd(stepsTo(operations['apply-diff'].decide(a, command.value)));
        if (!events.ok) throw new Error(JSON.stringify(events.problems));
        const reached = follow(a, events.value);
        expect(withoutIds(reached)).to.deep.equal(withoutIds(b));
        const again = runToEnd(compareSnapshot(reached, submitted, options));
        if (!again.ok) throw new Error(JSON.stringify(again.problems));
        expect(again.value.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
      }),
      limitRuns(300),
    );
  });

  it('merge mode removes nothing', () => {
    fc.assert(
      fc.property(schemaState, schemaState, (a, b) => {
        const compared = runToEnd(
          compareSnapshot(a, runToEnd(snapshotOf(b, RELEASE)), { force: false, mode: 'merge', release: RELEASE }),
        );
        if (!compared.ok) return; // two schemas may contradict each other
        const { state } = compared.value.desired;
        for (const [name, node] of a.collections) {
          for (const field of node.fields.keys())
            expect(state.collections.get(name)?.fields.has(field), field).to.equal(true);
          for (const many of node.relations.keys())
            expect(state.collections.get(name)?.relations.has(many), many).to.equal(true);
        }
      }),
      limitRuns(200),
    );
  });

  it('missing members of a snapshot change nothing', () => {
    fc.assert(
      fc.property(schemaState, fc.infiniteStream(fc.nat(3)), (a, choices) => {
        const trimmed = trim(JSON.parse(JSON.stringify(runToEnd(snapshotOf(a, RELEASE)))), choices);
        const compared = runToEnd(compareSnapshot(a, trimmed, { force: false, mode: 'mirror', release: RELEASE }));
        if (!compared.ok) throw new Error(JSON.stringify(compared.problems));
        expect(compared.value.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
      }),
      limitRuns(200),
    );
  });

  it('deleting any collection leaves a valid schema after each event', () => {
    fc.assert(
      fc.property(schemaState, fc.nat(), (a, pick) => {
        const all = [...a.collections.keys()];
        if (all.length === 0) return;
        const decided = attempt(a, 'delete-collection', { collection: all[pick % all.length] as string });
        if (!decided.ok) throw new Error(JSON.stringify(decided.problems));
        const after = followStrictly(a, decided.value);
        expect(runToEnd(invariantProblems(after, after.collections.keys()))).to.deep.equal([]);
      }),
      limitRuns(200),
    );
  });

  it('the hash covers the schema and not its history', () => {
    fc.assert(
      fc.property(schemaState, (a) => {
        const copy = follow(
          { ...a, collections: a.collections.clear(), referencedBy: a.referencedBy.clear() },
          runToEnd(
            transition(
              { ...a, collections: a.collections.clear(), referencedBy: a.referencedBy.clear() },
              a,
              a.collections.keys(),
            ),
          ),
        );
        expect(runToEnd(snapshotHash(copy, RELEASE))).to.equal(runToEnd(snapshotHash(a, RELEASE)));
        expect(canonicalJson(withoutIds(copy))).to.equal(canonicalJson(withoutIds(a)));
      }),
      limitRuns(200),
    );
  });
});

/** Removes random members of documents, except identifying names and a folder's schema. */
function trim(snapshot: { collections: object[]; fields: object[]; relations: object[] }, choices: Iterable<number>) {
  const next = choices[Symbol.iterator]();
  const keep = new Set(['collection', 'field', 'many_collection', 'many_field']);
  const drop = (document: Record<string, unknown>) => {
    for (const member of Object.keys(document)) {
      if (keep.has(member)) continue;
      if (next.next().value === 0) delete document[member];
      else if ((member === 'meta' || member === 'schema') && document[member])
        drop(document[member] as Record<string, unknown>);
    }
  };
  for (const document of [...snapshot.collections, ...snapshot.fields, ...snapshot.relations])
    drop(document as Record<string, unknown>);
  return snapshot;
}
