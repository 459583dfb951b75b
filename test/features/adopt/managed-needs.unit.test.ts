import { expect } from 'chai';
import { completeNeeds } from '../../../src/features/adopt/read.js';
import type { Need } from '../../../src/schema/model/extras.js';
import type { Collection } from '../../../src/schema/model/model.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { created, tableOf } from '../../projector/columns.js';

const moodEnum = (...labels: string[]): Need => ({ kind: 'enum', name: 'mood', labels });
const counter = (more: object = {}): Need => ({ kind: 'sequence', name: 's', ...more });

const table = (collection: string, ...needs: Need[]): Collection => tableOf(collection, { extras: { needs } });

/** The tables whose needs change, with the new needs. */
function completed(adopted: Collection[], managed: [string, ...Need[]][], done: Collection[] = []): unknown[] {
  const state = follow(
    initialState(),
    managed.map(([name, ...needs]) => created(name, [], needs.length === 0 ? {} : { extras: { needs } })),
  );
  return completeNeeds(adopted, state, done).map(({ collection, schema }) => [collection, schema?.extras?.needs]);
}

describe('the needs of managed tables', () => {
  it('take the definition of adopted tables with the same name', () => {
    const managed: [string, ...Need[]][] = [
      ['a', moodEnum('x'), counter()],
      ['b', moodEnum('x', 'y')],
      ['c'],
      ['d', { kind: 'domain', name: 'mood', type: 'text' }],
    ];
    expect(completed([table('t', moodEnum('x', 'y'))], managed)).to.deep.equal([
      ['a', [moodEnum('x', 'y'), counter()]],
    ]);
    expect(completed([table('t')], managed)).to.deep.equal([]);
  });

  it('have one owning column per sequence', () => {
    const managed: [string, ...Need[]][] = [['a', counter({ owned_by: 'n' })]];
    // A sequence that the adopted table owns belongs to no other table. A sequence that it only uses keeps its owner.
    expect(completed([table('t', counter({ owned_by: 'm' }))], managed)).to.deep.equal([['a', [counter()]]]);
    expect(completed([table('t', counter())], managed)).to.deep.equal([]);
    expect(completed([table('t', counter({ start: '5' }))], managed)).to.deep.equal([
      ['a', [counter({ owned_by: 'n', start: '5' })]],
    ]);
    // The owning table determines the definition.
    const both = [table('t', counter({ owned_by: 'm' })), table('u', counter())];
    expect(completed(both, managed)).to.deep.equal([['a', [counter()]]]);
    expect(completed(both.toReversed(), managed)).to.deep.equal([['a', [counter()]]]);
  });

  it('use the first definition if several adopted tables have one', () => {
    const adopted = [table('t', moodEnum('x', 'y')), table('u', moodEnum('x', 'z'))];
    expect(completed(adopted, [['a', moodEnum('x')]])).to.deep.equal([['a', [moodEnum('x', 'y')]]]);
  });

  it('are merged with earlier completions', () => {
    const done = [table('a', moodEnum('x'), counter({ start: '9' })), table('b')];
    expect(completed([table('t', moodEnum('x', 'y'))], [['a', moodEnum('x')], ['b']], done)).to.deep.equal([
      ['a', [moodEnum('x', 'y'), counter({ start: '9' })]],
      ['b', undefined],
    ]);
    expect(completed([table('t')], [['a']], done)).to.deep.equal([
      ['a', [moodEnum('x'), counter({ start: '9' })]],
      ['b', undefined],
    ]);
  });
});
