import { expect } from 'chai';
import { changeNeed } from '../../../src/projector/ddl/needs.js';
import { qualified } from '../../../src/projector/ddl/sql.js';
import type { Need } from '../../../src/schema/model/extras.js';

const MOOD = qualified('public', 'mood');

describe('changing a type in place', () => {
  const labels = (old: string[], now: string[]): string[] =>
    changeNeed({ kind: 'enum', name: 'mood', labels: now }, MOOD, { kind: 'enum', name: 'mood', labels: old });

  it('adds labels at their position, and never removes or moves any', () => {
    expect(labels(['a', 'b'], ['a', 'b'])).to.deep.equal([]);
    expect(labels(['a', 'b'], ['z', 'a', 'm', 'b', 'n'])).to.deep.equal([
      `ALTER TYPE "public"."mood" ADD VALUE IF NOT EXISTS 'z' BEFORE 'a';`,
      `ALTER TYPE "public"."mood" ADD VALUE IF NOT EXISTS 'm' AFTER 'a';`,
      `ALTER TYPE "public"."mood" ADD VALUE IF NOT EXISTS 'n' AFTER 'b';`,
    ]);
    expect(labels([], ['a'])).to.deep.equal([`ALTER TYPE "public"."mood" ADD VALUE IF NOT EXISTS 'a';`]);
    expect(labels(['a', 'b'], ['a', 'c'])).to.deep.equal([]);
    expect(labels(['a', 'b'], ['b', 'a', 'c'])).to.deep.equal([]);
  });

  it('does not change the kind of the type', () => {
    const need: Need = { kind: 'enum', name: 'mood', labels: ['a', 'b'] };
    for (const old of [undefined, { kind: 'extension', name: 'mood' } as const]) {
      expect(changeNeed(need, MOOD, old)).to.deep.equal([]);
    }
    expect(changeNeed({ kind: 'extension', name: 'mood' }, MOOD, need)).to.deep.equal([]);
  });
});
