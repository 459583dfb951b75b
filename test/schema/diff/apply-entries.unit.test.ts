import { expect } from 'chai';
import { type Problem, problemAbout } from '../../../src/kernel/problem.js';
import { locate } from '../../../src/kernel/locate.js';
import { diffLocations } from '../../../src/schema/diff/apply-entries.js';
import { stepsInEntries } from '../../../src/schema/diff/entries.js';

const full = { kind: 'N', rhs: { meta: { note: 'n' }, schema: { extras: { indexes: [{ name: 'i' }] } } } } as const;
const edit = (path: (string | number)[], rhs: unknown) => ({ kind: 'E', path, lhs: null, rhs }) as const;
const removed = (path: string[]) => ({ kind: 'D', path, lhs: 1 }) as const;

describe('locations in a diff', () => {
  it('are in the entry of a member or in its parent', () => {
    const entries = [edit(['meta', 'note'], 'n'), edit(['schema', 'extras'], { indexes: [] }), removed(['type'])];
    const at = (...member: (string | number)[]) => stepsInEntries(entries as never, member);
    expect(at('meta', 'note')).to.deep.equal(['diff', 0, 'rhs']);
    expect(at('schema', 'extras')).to.deep.equal(['diff', 1, 'rhs']);
    expect(at('schema', 'extras', 'indexes')).to.deep.equal(['diff', 1, 'rhs', 'indexes']);
    expect(at('type')).to.deep.equal(['diff', 2]);
    // Values below the member belong to it too.
    expect(at('schema')).to.deep.equal(['diff', 1, 'rhs']);
    expect(at('meta', 'icon')).to.deep.equal([]);
    expect(stepsInEntries([full] as never, ['schema', 'extras', 'indexes', 0, 'name'])).to.deep.equal([
      'diff',
      0,
      'rhs',
      'schema',
      'extras',
      'indexes',
      0,
      'name',
    ]);
  });

  it('are those of the last item with a name', () => {
    const item = (collection: string, field: string) => ({ collection, field, diff: [full] });
    const places = diffLocations({
      collections: [
        { collection: 'a', diff: [full] },
        { collection: 'b', diff: [full] },
      ],
      fields: [item('a', 'x'), item('b', 'x'), item('a', 'y'), item('a', 'x')],
      relations: [item('b', 'y'), item('a', 'y')],
    } as never);
    const pathOf = (problem: Problem): string | undefined => locate(problem, places).path;
    const member = ['meta', 'note'] as const;
    expect(pathOf(problemAbout({ kind: 'collection', collection: 'b', member }, ''))).to.equal(
      'diff.collections[1].diff[0].rhs.meta.note',
    );
    expect(pathOf(problemAbout({ kind: 'field', collection: 'a', field: 'x', member }, ''))).to.equal(
      'diff.fields[3].diff[0].rhs.meta.note',
    );
    expect(pathOf(problemAbout({ kind: 'field', collection: 'b', field: 'x', member }, ''))).to.equal(
      'diff.fields[1].diff[0].rhs.meta.note',
    );
    expect(pathOf(problemAbout({ kind: 'relation', collection: 'a', field: 'y' }, ''))).to.match(
      /^diff\.relations\[1\]/,
    );
  });
});
