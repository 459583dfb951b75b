import { expect } from 'chai';
import { member, onlyElement, parseStatement } from '../../../src/schema/sql-text/expression.js';
import { sizeOf } from '../../../src/schema/sql-text/result-size.js';

function size(expression: string): number {
  const statement = parseStatement(`SELECT ${expression}`);
  const select = member(statement, 'SelectStmt');
  return sizeOf(member(onlyElement(select?.['targetList']), 'ResTarget')?.['val']);
}

describe('the estimated size of a value', () => {
  const COLUMN = 1_000;
  const SIZES: [expression: string, bytes: number][] = [
    ['a', COLUMN],
    ['5', 20],
    ['true', 20],
    ["'abc'", 3],
    ["''", 0],
    ["b'0101'", 5],
    ["a || 'abc'", COLUMN + 3],
    ['a || b', 2 * COLUMN],
    ['lower(a)', COLUMN],
    ['concat(a, b, a)', 3 * COLUMN],
    ['quote_literal(a)', 2 * COLUMN],
    ['pg_catalog.lower(a)', COLUMN],
    ["repeat('ab', 500)", 1_000],
    ["repeat('ab', 0)", 2],
    ["repeat(repeat('ab', 100), 100)", 20_000],
    ["repeat('ab', a)", Infinity],
    ["array_fill('ab'::text, ARRAY[10, 20])", 400],
    ['lpad(a, 5000)', COLUMN + 20 + 5_000],
    ["rpad(a, 5000, 'xy')", COLUMN + 20 + 2 + 5_000],
    ['rpad(a, 0)', COLUMN + 20 + 1],
    ["replace(a, 'x', 'abcd')", COLUMN * 4 + 1],
    ["replace(a, 'x', '')", COLUMN + 1],
    ["regexp_replace(a, 'xy', 'abc', 'g')", COLUMN * 3 + 2],
    ["'x'::character(300)", 301],
    ['a::varchar(20)', COLUMN + 20],
    ['a::text', COLUMN],
    ["bpchar('x', 50, true)", 2 * (1 + 20 + 20) + 50],
    ['"bit"(a, 60)', 2 * (COLUMN + 20) + 60],
    ['varbit(a)', 2 * COLUMN],
    ['polygon(12, a)', 2 * (20 + COLUMN) + 16 * 12],
    ['polygon(a)', 2 * COLUMN],
    ["jsonb_path_query_array(a, '$.**')", COLUMN],
    ["jsonb_path_query_array(a, '$.**.**')", COLUMN ** 2],
    ["jsonb_path_query_array(a, '$[0,0]'::jsonpath)", 2 * COLUMN],
    ["jsonb_path_query_array(a, ('$' || b)::jsonpath)", Infinity],
    ['jsonb_path_query_array(a, b)', 2 * COLUMN],
    ["a @? '$.**.**'", COLUMN ** 2],
    ["a @@ '$[1,2,3]'", 3 * COLUMN],
    ["a = '$.**.**'", COLUMN + 7],
    ["CASE WHEN a THEN 'xy' ELSE b END", 2 * COLUMN + 2],
  ];
  for (const [expression, bytes] of SIZES) {
    it(`${expression}: ${bytes}`, () => expect(size(expression)).to.equal(bytes));
  }
});
