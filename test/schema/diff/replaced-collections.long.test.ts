/** A table that becomes a folder, or vice versa, is another collection with the same name. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type SchemaDiff, diffStates } from '../../../src/schema/diff/diff.js';
import { snapshotHash } from '../../../src/schema/snapshot/snapshot.js';
import type { State } from '../../../src/schema/model/state.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { schemaState } from '../../support/arbitraries.js';
import { accept, folder, followStrictly, given, table } from '../../support/given.js';
import { limitRuns } from '../../support/runs.js';
import { withRelations } from '../../support/library.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const release = '0.0.0';

/** The diff between two states and the events of its apply. */
function planReplacement(from: State, to: State) {
  const names = new Set([...from.collections.keys(), ...to.collections.keys()]);
  const diff = JSON.parse(JSON.stringify(runToEnd(diffStates(from, to, names)))) as SchemaDiff;
  const body = { hash: runToEnd(snapshotHash(from, release)), diff };
  return { diff, applied: given(from).when('apply-diff', { release, body }) };
}

const outline = (items: readonly { collection: string; field?: string; diff: readonly { kind: string }[] }[]) =>
  items.map(({ collection, field, diff }) => [collection, field, diff.map(({ kind }) => kind).join('')].join(' '));

/** `state` with a folder in place of its table `name`, and another folder inside. */
function withFolder(state: State, name: string): State {
  const without = accept(state, 'delete-collection', { collection: name });
  const placed = accept(without, 'create-collection', folder(name));
  return accept(placed, 'create-collection', folder('inside', { group: name }));
}

describe('a collection of another kind', () => {
  const grouped = (state: State) => accept(state, 'create-collection', folder('inner', { group: 'place' }));
  const asFolder = grouped(accept(withRelations(), 'create-collection', folder('place', { note: 'a folder' })));
  const asTable = grouped(accept(withRelations(), 'create-collection', table('place')));

  it('is removed and added in a diff', () => {
    const { diff } = planReplacement(asTable, asFolder);
    expect(outline(diff.collections)).to.deep.equal(['place  D', 'place  N']);
    expect(outline(diff.fields)).to.deep.equal([]);
    expect(outline(planReplacement(asFolder, asTable).diff.fields)).to.deep.equal(['place id N']);
  });

  it('is deleted and created by apply, and keeps its children', () => {
    const regrouped = ['collection.updated inner', 'collection.deleted place', 'collection.created place'];
    planReplacement(asTable, asFolder).applied.then(...regrouped, 'collection.updated inner');
    planReplacement(asFolder, asTable).applied.then(...regrouped, 'collection.updated inner');
  });

  it('removes the relations of the table', () => {
    const without = accept(withRelations(), 'delete-collection', { collection: 'comments' });
    const replaced = accept(without, 'create-collection', folder('comments'));
    const events = ['relation.deleted comments.item', 'collection.deleted comments', 'collection.created comments'];
    planReplacement(withRelations(), replaced).applied.then(...events);
  });

  it('passes through valid schemas only, for any pair of schemas', () => {
    fc.assert(
      fc.property(schemaState, schemaState, fc.nat(), (a, b, pick) => {
        const tables = [...b.collections.values()].filter(({ collection }) => collection.schema !== null);
        const name = tables[pick % Math.max(1, tables.length)]?.collection.collection;
        fc.pre(name !== undefined);
        const replaced = withFolder(b, name);
        for (const [from, to] of [
          [b, replaced],
          [replaced, b],
          [a, replaced],
          [replaced, a],
        ] as const) {
          const names = new Set([...from.collections.keys(), ...to.collections.keys()]);
          const reached = followStrictly(from, runToEnd(transition(from, to, names)));
          expect(runToEnd(snapshotHash(reached, release))).to.equal(runToEnd(snapshotHash(to, release)));
        }
      }),
      limitRuns(100),
    );
  });

  it('is also the meaning of a schema-only entry', () => {
    const entry = (kind: object) => ({ collections: [{ collection: 'inner', diff: [kind] }] });
    const diff = {
      ...entry({ kind: 'E', path: ['schema'], lhs: null, rhs: { comment: null } }),
      fields: [
        {
          collection: 'inner',
          field: 'id',
          diff: [
            { kind: 'N', rhs: { collection: 'inner', field: 'id', type: 'integer', schema: { is_primary_key: true } } },
          ],
        },
      ],
    };
    given(asFolder)
      .when('apply-diff', { release, body: { hash: runToEnd(snapshotHash(asFolder, release)), diff } })
      .then('collection.deleted inner', 'collection.created inner');
  });
});
