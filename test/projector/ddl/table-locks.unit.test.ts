import { expect } from 'chai';
import { findStrongestLocks } from '../../../src/projector/ddl/table-locks.js';
import type { LockedTable } from '../../../src/projector/ddl/step.js';

type Mode = LockedTable['lock'];

/** From the weakest, by PostgreSQL's table of conflicting lock modes. */
const MODES: Mode[] = ['SHARE UPDATE EXCLUSIVE', 'SHARE', 'SHARE ROW EXCLUSIVE', 'ACCESS EXCLUSIVE'];

const strongestOf = (one: Mode, other: Mode): Mode | undefined =>
  findStrongestLocks([{ locks: [{ table: 'a', lock: one }] }, { locks: [{ table: 'a', lock: other }] }])[0]?.lock;

describe('locks of a change', () => {
  it('combine to the stronger mode', () => {
    for (const [index, one] of MODES.entries())
      for (const other of MODES.slice(index)) {
        const apart = one === 'SHARE UPDATE EXCLUSIVE' && other === 'SHARE';
        const expected = apart ? 'SHARE ROW EXCLUSIVE' : other;
        expect([strongestOf(one, other), strongestOf(other, one)], `${one}, ${other}`).to.deep.equal([
          expected,
          expected,
        ]);
      }
  });

  it('are requested once per table in byte order of names', () => {
    const locks = ['b', 'é', 'a', 'Z', 'b', '😀', '￿'].map((table) => ({ table, lock: 'SHARE' as const }));
    const strongest = findStrongestLocks([{ locks: locks.slice(0, 3) }, { locks: [] }, { locks: locks.slice(3) }]);
    expect(strongest.map(({ table }) => table)).to.deep.equal(['Z', 'a', 'b', 'é', '￿', '😀']);
  });
});
