import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { diffStates } from '../../../src/schema/diff/diff.js';
import { invariantProblems } from '../../../src/schema/invariants/index.js';
import { type MergedStates, mergeStates } from '../../../src/schema/merge/merge-states.js';
import type { MergeConflict } from '../../../src/schema/merge/model.js';
import type { State } from '../../../src/schema/model/state.js';
import { snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { relationBody } from '../../../src/schema/transition/context.js';
import { accept } from '../../support/given.js';
import { limitRuns } from '../../support/runs.js';
import { type Edit, edit, edited, identifiedState } from './edits.js';

const merge = (base: State, ours: State, theirs: State): MergedStates => runToEnd(mergeStates({ base, ours, theirs }));

/** Everything a snapshot shows, without relation ids. */
function shownOf(state: State): unknown {
  const { collections, fields, relations } = runToEnd(snapshotOf(state, '1'));
  return { collections, fields, relations: relations.map(relationBody) };
}

function stateOf(result: MergedStates): State {
  if (result.kind === 'merged') return result.state;
  throw new Error(`conflicts: ${JSON.stringify(result.conflicts)}`);
}

const edits = fc.array(edit, { maxLength: 6 });
const sides = fc.tuple(identifiedState, edits, edits).map(([base, first, second]) => ({
  base,
  ours: edited(base, first),
  theirs: edited(base, second),
  texts: JSON.stringify([first, second]),
}));

/** If two objects violate a rule, either may be reported. */
const placeOf = ({ kind, place }: MergeConflict): unknown =>
  kind === 'invalid' && place.part !== 'objects' ? place.collection : place;
const describeConflict = (conflict: MergeConflict): string => {
  const { kind, base, ours, theirs } = conflict;
  const values = kind === 'invalid' ? [] : [base, ours, theirs];
  return JSON.stringify([kind, placeOf(conflict), values.map(sorted)]);
};
const describeSwapped = ({ ours, theirs, ...rest }: MergeConflict): string =>
  describeConflict({
    ...rest,
    ...(theirs !== undefined && { ours: theirs }),
    ...(ours !== undefined && { theirs: ours }),
  });
const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, each]) => [name, sorted(each)])
    : value;

/** The member that an edit changes, for edits of one member. */
function memberOf({ kind, collection, field, name }: Edit): string | null {
  if (kind === 'note') return `note ${collection}`;
  if (kind === 'option') return `option ${collection} ${field} ${name}`;
  if (kind === 'add field') return `add ${name}`;
  return kind === 'field note' || kind === 'nullable' ? `${kind} ${collection} ${field}` : null;
}

describe('a merge', () => {
  it('takes the changes of one side or of both alike', () => {
    fc.assert(
      fc.property(sides, ({ base, theirs }) => {
        expect(shownOf(stateOf(merge(base, base, theirs)))).to.deep.equal(shownOf(theirs));
        expect(shownOf(stateOf(merge(base, theirs, base)))).to.deep.equal(shownOf(theirs));
        expect(shownOf(stateOf(merge(base, theirs, theirs)))).to.deep.equal(shownOf(theirs));
      }),
      limitRuns(300),
    );
  });

  it('is symmetric except for the sides of conflicts', () => {
    fc.assert(
      fc.property(sides, ({ base, ours, theirs }) => {
        const [one, other] = [merge(base, ours, theirs), merge(base, theirs, ours)];
        expect(other.kind).to.equal(one.kind);
        if (one.kind === 'merged' && other.kind === 'merged')
          expect(shownOf(other.state)).to.deep.equal(shownOf(one.state));
        else if (one.kind === 'conflicts' && other.kind === 'conflicts')
          expect(other.conflicts.map(describeSwapped).sort()).to.deep.equal(one.conflicts.map(describeConflict).sort());
      }),
      limitRuns(400),
    );
  });

  it('never conflicts for different members, and keeps both changes', () => {
    // The member determines the side.
    const sideOf = (member: string): number => Buffer.from(member).reduce((sum, byte) => sum + byte, 0) % 2;
    fc.assert(
      fc.property(identifiedState, fc.array(edit, { maxLength: 12 }), (base, all) => {
        // By index modulo, so two indexes can hit one member; their positions decide.
        const tables = Math.max(base.collections.size, 1);
        const fixed = all.map((each) => ({ ...each, collection: each.collection % tables, field: 0 }));
        const known = fixed.filter((each) => memberOf(each) !== null);
        const [ours, theirs] = [0, 1].map((side) => known.filter((each) => sideOf(memberOf(each) as string) === side));
        const merged = stateOf(merge(base, edited(base, ours ?? []), edited(base, theirs ?? [])));
        expect(shownOf(merged)).to.deep.equal(shownOf(edited(edited(base, ours ?? []), theirs ?? [])));
      }),
      limitRuns(200),
    );
  });

  it('produces a valid schema through a diff that apply accepts', () => {
    fc.assert(
      fc.property(sides, ({ base, ours, theirs }) => {
        const result = merge(base, ours, theirs);
        if (result.kind === 'conflicts') return;
        const { state, touched } = result;
        expect(runToEnd(invariantProblems(state, state.collections.keys()))).to.deep.equal([]);
        const diff = runToEnd(diffStates(ours, state, touched));
        const body = { hash: runToEnd(snapshotHash(ours, '1')), diff };
        expect(shownOf(accept(ours, 'apply-diff', { release: '1', body }))).to.deep.equal(shownOf(state));
      }),
      limitRuns(300),
    );
  });
});
