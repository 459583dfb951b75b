/**
 * Uses any three steps of a real project as base and two branches. The merge must report exactly the real conflicts.
 */
import { expect } from 'chai';
import { parseYaml } from '../../src/http/formats.js';
import { runToEnd } from '../../src/kernel/resumable.js';
import { assemble, documentsOf } from '../../src/cli/schema-files/contents.js';
import { compareSnapshot } from '../../src/schema/compare/compare-snapshot.js';
import { invariantProblems } from '../../src/schema/invariants/index.js';
import { type MergedStates, mergeStates } from '../../src/schema/merge/merge-states.js';
import type { MergeConflict } from '../../src/schema/merge/model.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { snapshotOf } from '../../src/schema/snapshot/snapshot.js';
import { Draft } from '../../src/schema/transition/draft.js';
import { corpusIsThere, historyFiles } from './corpus.js';
import { type Documents, byKey, grouped } from './folders.js';
import { applyStep, conflictsBetween, mergedBetween } from './three-ways.js';

interface Step {
  state: State;
  documents: Documents;
}

const OPTIONS = { force: true, mode: 'mirror', release: '0.1.0' } as const;

/** Objects are identified by name, as with a snapshot as base. */
function identifyByName(state: State): State {
  const draft = new Draft(state);
  for (const [name, { fields }] of state.collections)
    draft.identify(name, new Map([...fields.keys()].map((field) => [field, `${name} ${field}`])), name);
  return draft.toState();
}

const documentsIn = (state: State): Documents => {
  const snapshot = JSON.parse(JSON.stringify(runToEnd(snapshotOf(state, OPTIONS.release)))) as Parameters<
    typeof documentsOf
  >[0];
  return byKey(documentsOf(snapshot).values());
};

/** The state of the documents; null if they are not a valid schema. */
function stateOf(documents: Documents): State | null {
  const body = { version: 1, service: OPTIONS.release, vendor: 'postgres', ...assemble(grouped(documents)).parts };
  const read = runToEnd(compareSnapshot(initialState(), body, OPTIONS));
  if (!read.ok) return null;
  const { state } = read.value.desired;
  return runToEnd(invariantProblems(state, state.collections.keys())).length === 0 ? identifyByName(state) : null;
}

function describeConflict({ kind, place }: MergeConflict): string {
  if (place.part === 'objects') throw new Error('the projects contain no managed views');
  const { part, collection, field, path = [] } = place;
  return [kind, part[0], field === undefined ? collection : `${collection}.${field}`, path.join('.')]
    .join(' ')
    .trimEnd();
}

describe('branches of a real project', () => {
  const steps: Step[] = [];

  before(async function () {
    if (!corpusIsThere()) {
      process.stderr.write('The folder of real schemas is absent: their branches are not merged.\n');
      this.skip();
    }
    let state = initialState();
    for (const { name, text } of historyFiles()) {
      const compared = runToEnd(compareSnapshot(state, await parseYaml(text), OPTIONS));
      if (!compared.ok) throw new Error(`${name}: ${JSON.stringify(compared.problems)}`);
      state = compared.value.desired.state;
      steps.push({ state: identifyByName(state), documents: documentsIn(state) });
    }
  });

  function expectMerge(base: Step, ours: Step, theirs: Step, what: string): MergedStates {
    const expected = conflictsBetween(base.documents, ours.documents, theirs.documents);
    const merged = runToEnd(mergeStates({ base: base.state, ours: ours.state, theirs: theirs.state }));
    const conflicts = merged.kind === 'conflicts' ? merged.conflicts : [];
    const [broken, others] = [true, false].map((is) => conflicts.filter(({ kind }) => (kind === 'invalid') === is));
    expect(others?.map(describeConflict).sort(), what).to.deep.equal(expected);
    if (expected.length > 0) return merged;
    const documents = mergedBetween(base.documents, ours.documents, theirs.documents);
    if (merged.kind === 'merged')
      expect(Object.fromEntries(documentsIn(merged.state)), what).to.deep.equal(Object.fromEntries(documents));
    expect(broken?.length === 0, `${what}: ${JSON.stringify(broken?.slice(0, 3))}`).to.equal(
      stateOf(documents) !== null,
    );
    return merged;
  }

  it('conflict if both changed the same member differently, for any three steps', () => {
    const counts = { conflicts: 0, merged: 0 };
    const all = [...steps.keys()];
    const triples = all.flatMap((base) => all.flatMap((ours) => all.map((theirs) => [base, ours, theirs] as const)));
    for (const triple of triples) {
      const [base, ours, theirs] = triple;
      // Symmetry and unchanged sides are tested as properties of the merge.
      if (base === ours || base === theirs || ours >= theirs) continue;
      const [b, o, t] = triple.map((index) => steps[index]) as [Step, Step, Step];
      counts[expectMerge(b, o, t, `base, ours, theirs: ${triple.map((index) => index + 1).join(', ')}`).kind] += 1;
    }
    expect(counts.conflicts).to.be.above(200);
    expect(counts.merged).to.be.above(100);
  });

  it('merge without conflicts when one has the odd and the other the even steps', () => {
    const [first, ...later] = steps as [Step, ...Step[]];
    const branches = [new Map(first.documents), new Map(first.documents)] as const;
    for (const [index, { documents }] of later.entries())
      applyStep(branches[(index % 2) as 0 | 1], (steps[index] as Step).documents, documents);
    const [even, odd] = branches.map((documents) => ({ documents, state: stateOf(documents) as State })) as [
      Step,
      Step,
    ];
    for (const [ours, theirs] of [
      [odd, even],
      [even, odd],
    ] as const)
      expect(expectMerge(first, ours, theirs, 'odd and even').kind).to.equal('merged');
  });
});
