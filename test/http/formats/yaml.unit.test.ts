import { expect } from 'chai';
import fc from 'fast-check';
import { character } from '../../support/characters.js';
import { parseYaml, writeYaml, YamlError, type YamlLimits } from '../../../src/http/formats.js';
import { limitRuns } from '../../support/runs.js';

const refusalOf = (text: string, limits?: YamlLimits): string => {
  try {
    parseYaml(text, limits);
  } catch (error) {
    if (error instanceof YamlError) return error.message;
    throw error;
  }
  throw new Error('accepted');
};

describe('YAML', () => {
  it('reads back as the same string', () => {
    const texts = ['y', 'no', 'On', '~', 'null', '', '2020-01-01', '2020-01-01T00:00:00Z', '12:30:45', '0x1f', '0o17'];
    const more = [
      '017',
      '1_000',
      '1e3',
      '.5',
      '-',
      '- a',
      'a: b',
      '#',
      "it's",
      '"',
      '{}',
      '[',
      '&a',
      '*a',
      '!x',
      '%',
      '|',
    ];
    const odd = ['a\nb', 'a\n', ' a', 'a ', '\t', '\r\n', '\u0085', '\u2028', '\ufeff', '\u0007', 'ü', '😀', '<<', '='];
    const value = [...texts, ...more, ...odd, '9223372036854775807', 1e21, 1.5, -0.25, 2 ** 53, true, null];
    expect(parseYaml(writeYaml(value))).deep.equal(value);
    const object = Object.fromEntries([...texts, ...more, ...odd].map((text) => [text, text]));
    expect(parseYaml(writeYaml(object))).deep.equal(object);
  });

  it('reads back as the same JSON value', () => {
    const value = fc
      .jsonValue({ maxDepth: 5, stringUnit: character })
      .map((generated) => JSON.parse(JSON.stringify(generated)) as unknown);
    fc.assert(
      fc.property(value, (sample) => {
        expect(parseYaml(writeYaml(sample))).deep.equal(sample);
      }),
      limitRuns(500),
    );
  });

  it('quotes strings that other parsers take for dates and booleans', () => {
    expect(parseYaml('a: 2020-01-01\nb: y\nc: no\nd: 1_000\ne: 0b1')).deep.equal({
      a: '2020-01-01',
      b: 'y',
      c: 'no',
      d: '1_000',
      e: '0b1',
    });
  });

  it('reads a member called __proto__ as a member', () => {
    const value = parseYaml('__proto__: {polluted: true}\nconstructor: 1') as object;
    expect(Object.keys(value)).deep.equal(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).equal(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).equal(undefined);
  });

  it('does not fold long text', () => {
    const text = 'a word and '.repeat(50).trim();
    expect(writeYaml({ text })).equal(`text: ${text}\n`);
  });

  it('replaces aliases by the value of their anchor', () => {
    expect(parseYaml('a: &x {b: 1}\nc: *x\nd: [*x]')).deep.equal({ a: { b: 1 }, c: { b: 1 }, d: [{ b: 1 }] });
  });

  it('rejects aliases that expand too much or contain themselves', () => {
    const levels = Array.from({ length: 9 }, (_, level) => {
      const item = level === 0 ? 'x' : `*a${level - 1}`;
      return `a${level}: &a${level} [${Array.from({ length: 9 }, () => item).join(', ')}]`;
    });
    expect(refusalOf(levels.join('\n'))).equal('it contains more than 1000000 values, including aliases');
    expect(refusalOf('&a [*a, *a]')).equal('the alias "a" refers to a value that contains it');
    expect(refusalOf('a: *b')).match(/^unidentified alias "b"/);
  });

  it('limits values and characters, counting aliases each time', () => {
    for (const [text, values, characters] of [
      ['a: &x abc\nb: *x', 5, 8],
      ['- &x [1, [2, &y {a: b}]]\n- *x\n- *y', 18, 10],
      ['abc', 1, 3],
      ['[]', 1, 0],
    ] as const) {
      expect(parseYaml(text, { values, characters }), text).not.equal(undefined);
      expect(refusalOf(text, { values: values - 1, characters })).equal(
        `it contains more than ${values - 1} values, including aliases`,
      );
      if (characters === 0) continue;
      expect(refusalOf(text, { values, characters: characters - 1 })).equal(
        `it contains more than ${characters - 1} characters, including aliases`,
      );
    }
  });

  it('rejects duplicate keys, tags, several documents, none, and deep nesting, with the location', () => {
    expect(refusalOf('a: 1\nb: 2\na: 3')).equal('duplicated mapping key (line 3, column 1)');
    expect(refusalOf('a: !!js/function x')).match(/unknown .*tag/);
    expect(refusalOf('a: !mine x')).match(/unknown .*tag/);
    expect(refusalOf('a: !!timestamp 2020-01-01')).match(/unknown .*tag/);
    expect(refusalOf('--- 1\n--- 2')).equal('expected one document, found 2');
    expect(refusalOf('')).equal('expected one document, found 0');
    expect(refusalOf('['.repeat(5000))).match(/nesting exceeded/);
    expect(refusalOf('a: [1')).match(/line \d+, column \d+/);
  });
});
