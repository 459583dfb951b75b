import { expect } from 'chai';
import { canReplace, isSameDefinition, parseDefinition } from '../../../src/schema/sql-text/object-definition.js';

const parsed = (text: string) => {
  const result = parseDefinition(text);
  if (typeof result === 'string') throw new Error(result);
  return result;
};

describe('the definition of a function', () => {
  for (const [written, id] of [
    ['f()', 'f()'],
    ['f(int)', 'f(integer)'],
    ['f(a pg_catalog.int8, OUT b text)', 'f(bigint)'],
    [
      'f(varchar(10), "char", char(3), timestamp(3), timetz, interval day)',
      'f(character varying, "char", character, timestamp without time zone, time with time zone, interval)',
    ],
    ['f(bool[], numeric(9,2)[][], VARIADIC float8[])', 'f(boolean[], numeric[], double precision[])'],
    ['"f g"(billing."Mood", "a, b")', '"f g"(billing."Mood", "a, b")'],
    ['"select"(json, "any")', 'select(json, "any")'],
    ['"a""(b"(xml)', '"a""(b"(xml)'],
  ] as const)
    it(`has the id ${id} if it is written ${written}`, () => {
      expect(parsed(`CREATE FUNCTION ${written} RETURNS integer LANGUAGE sql AS ''`).id).to.equal(id);
    });

  it('is the same with other white space, modes and order of options, but not with another body', () => {
    const one = 'CREATE FUNCTION f(a int, OUT b text) LANGUAGE sql STABLE AS $$ SELECT 1 $$';
    expect(
      isSameDefinition(
        one,
        "create or replace function f( IN a integer,out b text ) STABLE AS ' SELECT 1 ' language sql",
      ),
    ).to.equal(true);
    expect(isSameDefinition(one, one.replace('SELECT 1', 'SELECT  1'))).to.equal(false);
    expect(isSameDefinition(one, one.replace('STABLE', ''))).to.equal(false);
  });

  for (const [change, after, expected] of [
    ['another body', `f(a integer, b text DEFAULT 'y') RETURNS integer AS 'z'`, true],
    ['a new default', `f(a integer DEFAULT 1, b text DEFAULT 'x') RETURNS integer AS ''`, true],
    ['a removed default', `f(a integer, b text) RETURNS integer AS ''`, false],
    ['another argument name', `f(c integer, b text DEFAULT 'x') RETURNS integer AS ''`, false],
    ['another result', `f(a integer, b text DEFAULT 'x') RETURNS bigint AS ''`, false],
    ['a set', `f(a integer, b text DEFAULT 'x') RETURNS SETOF integer AS ''`, false],
    ['an output', `f(a integer, b text DEFAULT 'x', OUT c integer) AS ''`, false],
  ] as const)
    it(`${expected ? 'is replaced' : 'is created again'} if it gets ${change}`, () => {
      const before = `CREATE FUNCTION f(a integer, b text DEFAULT 'x') RETURNS integer LANGUAGE sql AS ''`;
      expect(canReplace(before, `CREATE FUNCTION ${after} LANGUAGE sql`)).to.equal(expected);
    });

  it('names the relations and functions that a parsed body and arguments use', () => {
    const { relations, calls } = parsed(
      'CREATE FUNCTION f(a members) RETURNS SETOF billing.notes BEGIN ATOMIC SELECT g(id) FROM notes; END',
    );
    expect(relations.map(({ schema, name }) => [schema, name])).to.have.deep.members([
      [undefined, 'notes'],
      [undefined, 'members'],
      ['billing', 'notes'],
    ]);
    expect(calls).to.deep.equal([{ schema: undefined, name: 'g' }]);
  });
});
