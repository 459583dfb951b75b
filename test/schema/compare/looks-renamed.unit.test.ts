import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { warnAboutLikelyRenames } from '../../../src/schema/compare/looks-renamed.js';
import type { State } from '../../../src/schema/model/state.js';
import { type StateInput, KEY, alias, column, stateOf } from '../invariants/states.js';

/** `a -> b` for each detected pair, with its location. */
function pairs(from: { [name: string]: StateInput }, to: { [name: string]: StateInput }): string[] {
  const [before, after]: State[] = [stateOf(from), stateOf(to)];
  if (before === undefined || after === undefined) return [];
  const touched = new Set([...before.collections.keys(), ...after.collections.keys()]);
  return runToEnd(warnAboutLikelyRenames(before, after, touched)).map(({ code, message, collection, field }) => {
    const [, kind, old, now, output] =
      /^(\w+) "(.*?)" is deleted, and "(.*?)", which looks like it, is created\. If you renamed it, add this line to "\3" in the snapshot to keep its data: "renamed_from": "(.*?)"$/.exec(
        message,
      ) ?? [];
    expect([code, output], message).to.deep.equal(['LOOKS_RENAMED', old]);
    return `${kind} ${old} -> ${now} at ${[collection, field].filter((name) => name !== undefined).join('.')}`;
  });
}

const text = (field: string, schema: object = {}) => column(field, 'string', schema);
const singleTable = (...fields: NonNullable<StateInput['fields']>) => ({ t: { fields: [KEY, ...fields] } });

describe('a probable rename', () => {
  it('is a table with the same fields, if it is the only one', () => {
    const fields = [KEY, text('title'), column('views')];
    expect(pairs({ a: { fields } }, { b: { fields } })).to.deep.equal(['collection a -> b at b']);
    expect(pairs({ a: { fields } }, { b: { fields }, c: { fields } })).to.deep.equal([]);
    expect(pairs({ a: { fields }, b: { fields } }, { c: { fields } })).to.deep.equal([]);
    expect(pairs({ a: { fields } }, { a: { fields }, b: { fields } })).to.deep.equal([]);
    const [first, second] = [{ fields: [KEY, text('x')] }, { fields: [KEY, text('y')] }];
    expect(pairs({ z: first, a: second }, { m: first, k: second })).to.deep.equal([
      'collection a -> k at k',
      'collection z -> m at m',
    ]);
  });

  it('is not a folder in place of a table', () => {
    const empty = { fields: [], collection: { schema: null } };
    expect(pairs({ a: empty }, { b: empty })).to.deep.equal(['collection a -> b at b']);
    expect(pairs({ a: { fields: [] } }, { b: empty })).to.deep.equal([]);
  });

  it('is a table with a few added or removed fields', () => {
    const fields = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => text(name));
    const similar = pairs({ old: { fields: [KEY, ...fields] } }, { new: { fields: [KEY, ...fields, text('g')] } });
    expect(similar).to.deep.equal(['collection old -> new at new']);
  });

  it('is a field with the same column, regardless of its meta', () => {
    expect(pairs(singleTable(text('x')), singleTable({ ...text('y'), meta: { note: 'other' } }))).to.deep.equal([
      'field x -> y at t.y',
    ]);
    expect(pairs(singleTable(text('x')), singleTable(text('y'), text('z')))).to.deep.equal([]);
    expect(pairs(singleTable(text('x'), text('w')), singleTable(text('y')))).to.deep.equal([]);
    expect(pairs(singleTable(text('x'), column('w')), singleTable(column('b'), text('a')))).to.deep.equal([
      'field w -> b at t.b',
      'field x -> a at t.a',
    ]);
    expect(pairs(singleTable(text('x')), singleTable(text('x'), text('y')))).to.deep.equal([]);
  });

  it('does not match a field with another column', () => {
    const differs: [object, object][] = [
      [{}, { max_length: 9 }],
      [{}, { is_nullable: false }],
      [{}, { is_unique: true }],
      [{}, { default_value: 'x' }],
      [{}, { generation_expression: "'x'" }],
    ];
    for (const [before, after] of differs)
      expect(pairs(singleTable(text('x', before)), singleTable(text('y', after))), JSON.stringify(after)).to.deep.equal(
        [],
      );
    expect(pairs(singleTable(text('x')), singleTable(column('y', 'text')))).to.deep.equal([]);
  });

  it('is an alias of the same kind', () => {
    const of = (special: string) => ({ meta: { special: [special] } });
    const group = (name: string) => alias(name, of('group'));
    expect(pairs(singleTable(group('x')), singleTable(group('y')))).to.deep.equal(['field x -> y at t.y']);
    expect(pairs(singleTable(group('x')), singleTable(alias('y', of('translations'))))).to.deep.equal([]);
  });
});
