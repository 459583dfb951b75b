import { expect } from 'chai';
import { z } from 'zod';
import { jsonTokens } from '../../src/kernel/canonical.js';
import { copyJson, findDroppedMembers, isObject, jsonEqual } from '../../src/kernel/json.js';

describe('JSON values', () => {
  const EQUAL: [unknown, unknown][] = [
    [null, null],
    [1, 1],
    ['a', 'a'],
    [[], []],
    [{}, {}],
    [
      { a: 1, b: [1, { c: null }] },
      { b: [1, { c: null }], a: 1 },
    ],
  ];
  const OTHERS: [unknown, unknown][] = [
    [null, {}],
    [{}, null],
    [null, 0],
    [0, false],
    [1, '1'],
    [[], {}],
    [{}, []],
    [[1], [2]],
    [[1], [1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { toString: undefined }],
    [{ a: [1, 2, 3] }, { a: [1, 2, 4] }],
  ];
  for (const [a, b] of EQUAL)
    it(`${JSON.stringify(a)} equals ${JSON.stringify(b)}`, () => expect(jsonEqual(a, b)).equal(true));
  for (const [a, b] of OTHERS) {
    it(`${JSON.stringify(a)} does not equal ${JSON.stringify(b)}`, () => {
      expect(jsonEqual(a, b)).to.equal(false);
      expect(jsonEqual(b, a)).to.equal(false);
    });
  }

  it('objects are neither null nor arrays', () => {
    expect([{}, { a: 1 }].every(isObject)).to.equal(true);
    expect([null, [], 'a', 1, undefined].some(isObject)).to.equal(false);
  });

  it('are written token by token down to the third level, like JSON.stringify', () => {
    const value = { a: [{ b: { c: [1] } }, 'é', undefined], left: undefined, d: {}, e: [], f: null };
    const tokens = [...jsonTokens(value)];
    expect(tokens.slice(0, 5)).to.deep.equal(['{"a":', '[', '{"b":', '{"c":[1]}', '}']);
    expect(tokens.join('')).to.equal(JSON.stringify(value));
    expect([...jsonTokens(value, 0)]).to.deep.equal([JSON.stringify(value)]);
    for (const plain of [1, 'a', null, true]) expect([...jsonTokens(plain)]).to.deep.equal([JSON.stringify(plain)]);
    expect([...jsonTokens(undefined)]).to.deep.equal(['null']);
  });

  it('share nothing with their copies', () => {
    const value = JSON.parse('{"__proto__": {"a": [1]}}') as { ['__proto__']: { a: number[] } };
    const copy = copyJson(value);
    expect(JSON.stringify(copy)).to.equal(JSON.stringify(value));
    expect(copy).not.to.equal(value);
  });

  it('name the members that a parsed copy lacks because they are called __proto__', () => {
    const value = JSON.parse(
      '{"a": {"__proto__": 1}, "b": [{}, {"__proto__": {"c": 2}}], "d": {"__proto__": 3}, "constructor": 4}',
    ) as { d: object };
    const copy = z
      .object({
        a: z.record(z.string(), z.number()),
        b: z.array(z.looseObject({})),
        d: z.unknown(),
        constructor: z.number(),
      })
      .parse(value);
    expect(copy).to.deep.equal({ a: {}, b: [{}, {}], d: value.d, constructor: 4 });
    expect(findDroppedMembers(value, copy)).to.deep.equal([
      ['a', '__proto__'],
      ['b', 1, '__proto__'],
    ]);
    for (const [one, other] of [
      [value, value],
      [value, null],
      ['a', {}],
      [{ a: 1 }, {}],
    ])
      expect(findDroppedMembers(one, other)).to.deep.equal([]);
  });
});
