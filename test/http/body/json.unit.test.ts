/** JSON.parse is the reference for complete and truncated texts. What it would silently accept is rejected. */
import { expect } from 'chai';
import fc from 'fast-check';
import { buildJson, JSON_LIMITS, parseJson, scanJson } from '../../../src/http/body/json.js';
import { RejectedError } from '../../../src/http/errors.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { limitRuns } from '../../support/runs.js';

/** Deeper than any of these documents. */
const options = { limits: { ...JSON_LIMITS, depth: 1_000 }, group: 0 };

const built = (text: string, group: number): { value: string } | 'refused' => {
  const bytes = Buffer.from(text);
  try {
    return {
      value: JSON.stringify(runToEnd(buildJson(bytes, runToEnd(scanJson(bytes, { ...options, group }))))),
    };
  } catch {
    return 'refused';
  }
};

const parseWhole = (text: string): { value: string } | 'refused' => {
  try {
    return { value: JSON.stringify(JSON.parse(text)) };
  } catch (error) {
    expect(error).instanceOf(SyntaxError);
    return 'refused';
  }
};

/** Small enough to cut every container, some between all elements. The text shows the member order. */
const expectSame = (text: string): void => {
  for (const group of [0, 3, 50]) expect(built(text, group), text).deep.equal(parseWhole(text));
};

async function refusalOf(text: string, limits = JSON_LIMITS) {
  try {
    await parseJson(Buffer.from(text), limits);
  } catch (error) {
    if (error instanceof RejectedError) return error.problems[0];
    throw error;
  }
  throw new Error('accepted');
}

describe('parsing JSON in steps', () => {
  it('yields the result of JSON.parse', () => {
    const documents = fc.json({ maxDepth: 6, depthSize: 'large' });
    fc.assert(
      fc.property(documents, fc.integer({ min: 0, max: 3 }), (text, indent) =>
        expectSame(JSON.stringify(JSON.parse(text), null, indent)),
      ),
      { numRuns: 300 },
    );
  });

  it('rejects texts with a missing, repeated or changed character like JSON.parse', () => {
    const documents = fc.json({ maxDepth: 4 });
    const change = fc.tuple(
      fc.nat(),
      fc.constantFrom('', ',', '[', ']', '{', '}', '"', '\\', '0', ' ,', 'x', '-', '.', 'e'),
    );
    fc.assert(
      fc.property(documents, change, fc.boolean(), (text, [place, other], keep) => {
        const at = place % text.length;
        expectSame(text.slice(0, at) + other + text.slice(keep ? at : at + 1));
      }),
      limitRuns(2_000),
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
    '-',
    '-0',
    '01',
    '1.',
    '1e5',
    '1E+05',
    '.5',
    '"\\u00e4\\uZZZZ"',
    '"\t"',
    'nul',
    'nulls',
    'true false',
  ]) {
    it(`parses or refuses ${JSON.stringify(text)}`, () => expectSame(text));
  }

  it('cuts large texts, and gives cut containers their own chunks', () => {
    const text = '{"x":0,"a":[10,20,30],"b":{"c":1}}';
    const cutsOf = (group: number) =>
      runToEnd(scanJson(Buffer.from(text), { ...options, group })).cuts.map(({ kind, from, to, isArray, name }) => [
        kind,
        from,
        text.slice(from, to),
        isArray,
        name && text.slice(...name),
      ]);
    expect(cutsOf(4)).deep.equal([
      ['open', 0, '', false, null],
      ['cut', 1, '"x":0', false, null],
      ['open', 7, '', true, '"a"'],
      ['cut', 12, '10,20', false, null],
      ['close', 18, '30', false, null],
      ['close', 22, '"b":{"c":1}', false, null],
    ]);
    expect(cutsOf(6)).deep.equal([
      ['open', 0, '', false, null],
      ['cut', 1, '"x":0,"a":[10,20,30]', false, null],
      ['close', 22, '"b":{"c":1}', false, null],
    ]);
    expect(cutsOf(100)).deep.equal([]);
  });

  it('adds members with any name as ordinary members', () => {
    const bytes = Buffer.from('{"__proto__":[1],"a":[2]}');
    const value = runToEnd(buildJson(bytes, runToEnd(scanJson(bytes, options)))) as object;
    const like = { enumerable: true, writable: true, configurable: true };
    expect(Object.getOwnPropertyDescriptors(value)).deep.equal(
      Object.fromEntries([
        ['__proto__', { value: [1], ...like }],
        ['a', { value: [2], ...like }],
      ]),
    );
  });

  it('yields to the event loop', () => {
    const bytes = Buffer.from(
      JSON.stringify({ fields: Array.from({ length: 5_000 }, (_, index) => ({ index, text: 'x'.repeat(100) })) }),
    );
    const scan = runToEnd(scanJson(bytes, { ...options, group: 1_000 }));
    let count = 0;
    for (const steps = buildJson(bytes, scan); steps.next().done !== true;) count += 1;
    expect(count).above(300);
  });

  it('reports the location of an invalid character', async () => {
    expect(await refusalOf('{"a":\n [1,\n "ü" x]}')).deep.include({
      code: 'INVALID_PAYLOAD',
      message: 'The body is not valid JSON: unexpected "x" (line 3, column 6).',
      path: 'a[1]',
      details: { line: 3, column: 6 },
    });
    for (const [text, message, path, column] of [
      ['[1,', 'unexpected end of input', '[1]', 4],
      ['{"a" 1}', 'unexpected "1"', 'a', 6],
      ['{"a":1,}', 'unexpected "}"', 'a', 8],
      ['{1:2}', 'unexpected "1"', undefined, 2],
      ['{"a":[1}]', 'unexpected "}"', 'a[0]', 8],
      ['1 😀', 'unexpected "😀"', undefined, 3],
      ['"a\nb"', 'unexpected "\\n"', undefined, 3],
    ] as const) {
      expect(await refusalOf(text), text).deep.equal({
        code: 'INVALID_PAYLOAD',
        message: `The body is not valid JSON: ${message} (line 1, column ${column}).`,
        ...(path !== undefined && { path }),
        details: { line: 1, column },
      });
    }
  });

  it('rejects an object that contains a member twice', async () => {
    expect(await refusalOf('{"fields":[{},{"a":{"type":1,"b":2,"type":1}}]}')).include({
      code: 'INVALID_PAYLOAD',
      message: 'The body exceeds a limit: an object contains the member "type" twice.',
      path: 'fields[1].a.type',
    });
    // The same name in a different spelling, and in objects that consist of several chunks.
    expect(await refusalOf('{"a":1,"\\u0061":2}')).include({ path: 'a' });
    const long = Array.from({ length: 9_000 }, (_, index) => `"member ${index}":${index}`).join();
    expect(await refusalOf(`{"__proto__":1,${long},"__proto__":2}`)).include({ path: '__proto__' });
    expect(await parseJson(Buffer.from(`{${long}}`))).property('member 8999', 8_999);
  });

  it('rejects texts beyond its limits before building anything', async () => {
    const limits = { values: 10, depth: 3, members: 3, elements: 5, scalar: 8 };
    const refused = async (text: string) => {
      const { code, message, path, details } = (await refusalOf(text, limits)) ?? {};
      return [code, path, message, details];
    };
    for (const [text, path, message, limited] of [
      ['[[1,2,3,4],[5,6,7,8]]', '[1][3]', 'it contains more than 10 values', 'values'],
      ['[1,{"a":[0,1,2,3,4,5]}]', '[1].a', 'an array contains more than 5 elements', 'elements'],
      ['[1,{"a":1,"b":2,"c":3,"d":4}]', '[1]', 'an object contains more than 3 members', 'members'],
      ['[1,"123456"]', '[1]', 'a string or number has 8 bytes or more', 'scalar'],
      ['[1,12345678]', '[1]', 'a string or number has 8 bytes or more', 'scalar'],
      ['{"123456":1}', undefined, 'a string or number has 8 bytes or more', 'scalar'],
    ] as const) {
      const details = { limit: limits[limited], limited };
      expect(await refused(text), text).deep.equal([
        'CONTENT_TOO_LARGE',
        path,
        `The body exceeds a limit: ${message}.`,
        details,
      ]);
    }
    expect(await refused('[1,[[[]]]]')).deep.equal([
      'INVALID_PAYLOAD',
      '[1][0][0]',
      'The body exceeds a limit: it must not be nested deeper than 3 levels.',
      undefined,
    ]);
    for (const text of [
      '[[1,2,3],[{"a":"12345"}]]',
      '[1,2,3,4,5]',
      '{"a":1,"b":2,"c":1234567}',
      '[[1,2,3],[4,5,6,7]]',
    ]) {
      expect(await parseJson(Buffer.from(text), limits), text).deep.equal(JSON.parse(text));
    }
  });

  it('counts the values before it builds them, so that they can be rejected', async () => {
    const requests: number[] = [];
    const admit = async (values: number) => void requests.push(values);
    await parseJson(Buffer.from('{"a":[1,{"b":null}],"c":"d"}'), JSON_LIMITS, admit);
    expect(requests).deep.equal([6]);
    const full = new Error('no room');
    const refusal = await parseJson(Buffer.from('[]'), JSON_LIMITS, () => Promise.reject(full)).catch(
      (error: unknown) => error,
    );
    expect(refusal).equal(full);
  });
});
