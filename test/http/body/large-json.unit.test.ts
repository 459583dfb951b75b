/** Cut or whole, JSON.parse decides. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseJsonInSteps } from '../../../src/http/body/large-json.js';
import { toEnd } from '../../../src/schema/steps.js';

const outcome = (parse: () => unknown): { value: unknown } | { message: string } => {
  try {
    return { value: parse() };
  } catch (error) {
    expect(error).instanceOf(SyntaxError);
    return { message: (error as Error).message };
  }
};

/** Small enough that every array is cut, some between all of their elements. */
const expectSame = (text: string): void => {
  for (const group of [0, 3, 50]) {
    const cut = outcome(() => toEnd(parseJsonInSteps(text, { worth: 0, group, rest: Infinity })));
    const long = outcome(() => toEnd(parseJsonInSteps(text, { worth: 0, group, rest: 10 })));
    const whole = outcome(() => JSON.parse(text));
    expect(cut, text).deep.equal(whole);
    expect(long, text).deep.equal(whole);
    // Deep equality doesn't see the order of members.
    expect(JSON.stringify(cut)).equal(JSON.stringify(whole));
  }
};

describe('JSON that is parsed in steps', () => {
  it('is what JSON.parse makes of it', () => {
    const documents = fc.json({ maxDepth: 6, depthSize: 'large' });
    fc.assert(
      fc.property(documents, fc.integer({ min: 0, max: 3 }), (text, indent) =>
        expectSame(JSON.stringify(JSON.parse(text), null, indent)),
      ),
      { numRuns: 300 },
    );
  });

  it('is refused as by JSON.parse where a character is missing, doubled or another one', () => {
    const documents = fc.json({ maxDepth: 4 });
    const change = fc.tuple(fc.nat(), fc.constantFrom('', ',', '[', ']', '{', '}', '"', '\\', '0', ' ,', 'x'));
    fc.assert(
      fc.property(documents, change, fc.boolean(), (text, [place, other], keep) => {
        const at = place % text.length;
        expectSame(text.slice(0, at) + other + text.slice(keep ? at : at + 1));
      }),
      { numRuns: 1_000 },
    );
  });

  for (const text of [
    '',
    '[]',
    ' [ ] ',
    '[,]',
    '[1,]',
    '[ ,1]',
    '[1,,2]',
    '[1 2]',
    '[[1],[2,[3]],{"a":[{}]}]',
    '{"a":{"b":{"c":{"d":[1,2]}}},"e":[]}',
    '{"a":[1],"a":[2]}',
    '{"__proto__":[1],"b":{"__proto__":{"c":[2]}}}',
    String.raw`["\\","\"]",{"a\"[":"]"}]`,
    '["a',
    '[{]}]',
    '{"a":[1}]',
    '[1]]',
    ']',
    '{"a":[1]',
    '\uFEFF[1]',
  ]) {
    it(`parses or refuses ${JSON.stringify(text)}`, () => expectSame(text));
  }

  it('pauses on the way', () => {
    const text = JSON.stringify({
      fields: Array.from({ length: 5_000 }, (_, index) => ({ index, text: 'x'.repeat(100) })),
    });
    const steps = parseJsonInSteps(text, { worth: 0, group: 1_000, rest: 100 });
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).above(300);
  });
});
