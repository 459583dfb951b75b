import { expect } from 'chai';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { type Snapshot, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import type { State } from '../../../src/schema/model/state.js';
import { follow, given } from '../../support/given.js';
import { withRelations } from '../../support/library.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const release = '0.0.0';

/** Patches that change the array of `articles.author` to this one. */
function createPatches(state: State, conditions: number[]) {
  const document = JSON.parse(JSON.stringify(runToEnd(snapshotOf(state, release)))) as Snapshot;
  const author = document.fields.find((each) => each.collection === 'articles' && each.field === 'author');
  Object.assign(author?.meta ?? {}, { conditions });
  const compared = runToEnd(compareSnapshot(state, document, { force: false, mode: 'mirror', release }));
  if (!compared.ok) throw new Error(JSON.stringify(compared.problems));
  return { hash: compared.value.hash, diff: compared.value.diff };
}

describe('apply-diff with a large diff', () => {
  it('accepts an array that grows by as many elements as entries', () => {
    const state = withRelations();
    const empty = given(state).when('apply-diff', { release, body: createPatches(state, []) });
    const before = follow(state, empty.then('field.updated articles.author'));
    const long = Array.from({ length: 120_000 }, (_, index) => index);
    const body = createPatches(before, long);
    expect(body.diff.fields[0]?.diff).to.have.length(120_000);
    given(before).when('apply-diff', { release, body }).then('field.updated articles.author');
  });
});
