import { expect } from 'chai';
import { parseConstant } from '../../../src/schema/normal-form/defaults/catalog-default.js';
import { checkExpression, checkTypeText } from '../../../src/schema/sql-text/expression.js';

describe('expressions', () => {
  const accepted = [
    'price * quantity',
    "lower(title) || ' '",
    "(data ->> 'a')::integer",
    'CASE WHEN a > 1 THEN b ELSE 0 END',
    'coalesce(a, b, 0)',
    'a IS NOT NULL AND NOT b',
    'extract(year FROM d)',
    'a[1] + (b).c',
    'greatest(a, b)',
    'a BETWEEN 1 AND 2 OR a IN (5, 6)',
    'x COLLATE "C"',
    "json_object('a' : b)",
    'date_trunc(\'day\', "created at")',
    'ARRAY[a, b]',
    "E'\\'' || a",
    '1\n',
  ];
  for (const text of accepted) it(`accepts ${text}`, () => expect(checkExpression(text)).to.equal(null));

  const refused: [string, string][] = [
    ['', 'empty'],
    ['  ', 'empty'],
    ['a +', 'syntax error'],
    ['1; DROP TABLE x', 'syntax error'],
    ['1); DROP TABLE x; SELECT (1', 'syntax error'],
    ['1) + (2', 'syntax error'],
    ['a, b', 'not a list'],
    ['(a, b)', 'not a row'],
    ['ROW(a)', 'not a row'],
    ['a AS b', 'syntax error'],
    ['a b', 'syntax error'],
    ['a FROM t', 'syntax error'],
    ['a;', 'syntax error'],
    ['*', 'syntax error'],
    ['t.*', '*'],
    ['(SELECT 1)', 'subquery'],
    ['EXISTS (SELECT 1)', 'subquery'],
    ['a IN (SELECT b FROM c)', 'subquery'],
    ['ARRAY(SELECT 1)', 'subquery'],
    ['count(*)', 'aggregates'],
    ['sum(DISTINCT a)', 'aggregates'],
    ['string_agg(a, b ORDER BY c)', 'aggregates'],
    ['sum(a) FILTER (WHERE b)', 'aggregates'],
    ['percentile_cont(0.5) WITHIN GROUP (ORDER BY a)', 'aggregates'],
    ['row_number() OVER ()', 'window'],
    ['grouping(a)', 'scalar'],
    ['$1', 'parameters'],
    ['DEFAULT', 'DEFAULT'],
    ['a -- comment', 'comments'],
    ['a /* comment */', 'comments'],
    ['a /* open', 'one SQL expression'],
    ["'open", 'one SQL expression'],
    ['a\0', 'NUL'],
    ['a'.repeat(10_001), '10000 characters'],
  ];
  for (const [text, message] of refused) {
    it(`rejects ${JSON.stringify(text.slice(0, 50))}`, () => expect(checkExpression(text)).to.include(message));
  }

  it('survive the deepest accepted nesting', () => {
    const deep = ['(', 'f(', '- ', 'NOT ', 'CASE WHEN a THEN ', 'ARRAY['];
    for (const open of deep) expect(checkExpression(open.repeat(9_999 / open.length))).to.be.a('string');
    expect(checkExpression(`a${'::text'.repeat(1_600)}`)).to.equal(null);
    expect(checkExpression('a + 1')).to.equal(null);
  });
});

describe('type texts', () => {
  const accepted = [
    'inet',
    'integer[]',
    '"Foo"."Bar"',
    'bit(3)',
    'geometry(Point,4326)',
    'interval year to month',
    'my_enum',
  ];
  for (const text of [...accepted, 'timestamp(3) without time zone', '"char"']) {
    it(`accepts ${text}`, () => expect(checkTypeText(text)).to.equal(null));
  }
  for (const text of [
    '',
    'int; DROP TABLE x',
    'int + 1',
    'int DEFAULT 5',
    'int NOT NULL',
    'int AS x',
    'text::int',
    'setof int',
    'int -- x',
    'int, a',
    'int COLLATE "C"',
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => expect(checkTypeText(text)).to.be.a('string'));
  }
});

describe('constants in the catalog', () => {
  it('are literals with casts, or calls without arguments', () => {
    expect(parseConstant("'it''s'::character varying")).to.deep.include({
      kind: 'literal',
      text: "it's",
      isQuoted: true,
    });
    expect(parseConstant("'-5'::integer")).to.deep.include({
      text: '-5',
      casts: [{ name: 'integer', isArray: false, parameters: [] }],
    });
    expect(parseConstant('0')).to.deep.include({ text: '0', isQuoted: false });
    expect(parseConstant('-1.50')).to.deep.include({ text: '-1.50' });
    expect(parseConstant('false')).to.deep.include({ text: 'false' });
    expect(parseConstant('NULL::integer')).to.deep.include({ text: null });
    expect(parseConstant("''::text")).to.deep.include({ text: '' });
    expect(parseConstant('now()')).to.deep.equal({ kind: 'call', text: 'now()' });
    expect(parseConstant('CURRENT_DATE')).to.deep.equal({ kind: 'call', text: 'CURRENT_DATE' });
  });

  it('exclude function calls, columns and operators', () => {
    for (const text of [
      "nextval('a'::regclass)",
      'a',
      '1 + 1',
      "lower('A'::text)",
      '(now())::date',
      'ARRAY[1]',
      'no expression',
    ]) {
      expect(parseConstant(text), text).to.equal(null);
    }
  });
});
