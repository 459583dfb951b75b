import { expect } from 'chai';
import {
  canReplace,
  isSameDefinition,
  parseDefinition,
  renamedDefinition,
} from '../../../src/schema/sql-text/object-definition.js';
import { readObjectFile, writeObjectFile } from '../../../src/schema/sql-text/object-file.js';

const parsed = (text: string) => {
  const result = parseDefinition(text);
  if (typeof result === 'string') throw new Error(result);
  return result;
};

const TOTAL = `CREATE AGGREGATE total(a integer, text) (SFUNC = add, STYPE = numeric, FINALFUNC = finish, INITCOND = '0')`;

describe('the definition of an aggregate', () => {
  for (const [written, id] of [
    ['f(*)', 'f()'],
    ['"F" (int4, IN b text[])', '"F"(integer, text[])'],
    ['billing . f(VARIADIC "any")', 'billing.f("any")'],
    ['f(a float8 ORDER BY timestamptz, b "my type")', 'f(double precision, timestamp with time zone, "my type")'],
    ['f(ORDER BY anyelement)', 'f(anyelement)'],
    ['aggregate_(VARIADIC "any" ORDER BY VARIADIC "any")', 'aggregate_("any")'],
  ] as const)
    it(`has the id ${id} if it is written ${written}`, () => {
      const definition = parsed(`CREATE AGGREGATE ${written} (SFUNC = s, STYPE = integer)`);
      expect(definition).to.deep.include({ kind: 'aggregate', id });
      expect(renamedDefinition(`CREATE AGGREGATE ${written} (SFUNC = s, STYPE = integer)`, 'g')).to.match(
        /^CREATE AGGREGATE g ?\(.+\) \(SFUNC = s, STYPE = integer\)$/,
      );
    });

  it('names its functions and its types, but not those of PostgreSQL', () => {
    const definition = parsed(
      `CREATE AGGREGATE f(members, pg_catalog.int4) (SFUNC = a, STYPE = other.state[], FINALFUNC = "B", COMBINEFUNC = s.c, SERIALFUNC = d,
        DESERIALFUNC = e, MSFUNC = g, MINVFUNC = h, MFINALFUNC = pg_catalog.i, MSTYPE = integer, SORTOP = OPERATOR(s.<))`,
    );
    expect(definition.calls.map(({ schema, name }) => [schema, name])).to.deep.equal([
      [undefined, 'a'],
      [undefined, 'B'],
      ['s', 'c'],
      [undefined, 'd'],
      [undefined, 'e'],
      [undefined, 'g'],
      [undefined, 'h'],
    ]);
    expect(definition.relations).to.deep.equal([
      { schema: undefined, name: 'members' },
      { schema: 'other', name: 'state' },
    ]);
  });

  it('is the same with options in a different order, but not with a different option, mode or number of direct arguments', () => {
    const spelled = `create or replace aggregate TOTAL (IN a pg_catalog.int4, text) (initcond = '0', finalfunc = finish, stype = decimal, sfunc = "add")`;
    expect(isSameDefinition(TOTAL, spelled)).to.equal(true);
    for (const other of [
      TOTAL.replace("'0'", "'1'"),
      TOTAL.replace('add', 'plus'),
      TOTAL.replace(', text', ' ORDER BY text'),
      TOTAL.replace(', text', ', VARIADIC text'),
      TOTAL.replace('(a ', '(b '),
    ])
      expect(isSameDefinition(TOTAL, other), other).to.equal(false);
  });

  it('can be replaced only if the arguments and the type of the result do not change', () => {
    for (const after of [
      TOTAL.replace("'0'", "'1'"),
      TOTAL.replace('add', 'plus'),
      TOTAL.replace(', text', ', b text'),
      TOTAL.replace('INITCOND', 'PARALLEL = SAFE, MSFUNC = a, MINVFUNC = b, MSTYPE = integer, INITCOND'),
    ])
      expect(canReplace(TOTAL, after), after).to.equal(true);
    for (const after of [
      TOTAL.replace('(a ', '(b '),
      TOTAL.replace('(a ', '('),
      TOTAL.replace('numeric', 'integer'),
      TOTAL.replace('= finish', '= other'),
      TOTAL.replace('FINALFUNC = finish, ', ''),
      TOTAL.replace('INITCOND', 'FINALFUNC_EXTRA, INITCOND'),
      TOTAL.replace(', text', ' ORDER BY text'),
      'CREATE FUNCTION total(a integer, text) RETURNS numeric RETURN 1',
    ])
      expect(canReplace(TOTAL, after), after).to.equal(false);
  });

  for (const [written, message] of [
    ['f (BASETYPE = integer, SFUNC = s, STYPE = integer)', 'instead of BASETYPE'],
    ['f(integer) (SFUNC1 = s, STYPE = integer)', 'option "sfunc1"'],
    ['f(integer) (SFUNC = s, "Stype" = integer)', 'option "Stype"'],
    ['f(integer) (SFUNC = s, STYPE = integer, SFUNC = t)', 'option "sfunc" only once'],
    ['f(integer) (SFUNC = d.s.f, STYPE = integer)', 'must not name a database'],
    ['d.s.f(integer) (SFUNC = f, STYPE = integer)', 'must not name a database'],
    ['f(_int4) (SFUNC = f, STYPE = integer)', 'with []'],
    ['f(members.age%TYPE) (SFUNC = f, STYPE = integer)', '%TYPE'],
    ['f(OUT integer) (SFUNC = f, STYPE = integer)', 'valid PostgreSQL'],
    ['U&"f"(integer) (SFUNC = f, STYPE = integer)', 'or U&'],
  ] as const)
    it(`is rejected if it is ${written}`, () => {
      expect(parseDefinition(`CREATE AGGREGATE ${written}`))
        .to.be.a('string')
        .that.contains(message);
    });

  it('is a file that is read back unchanged, even without arguments', () => {
    for (const object of [
      {
        kind: 'aggregate',
        id: 'every()',
        definition: 'CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = int8)',
        comment: "All's",
      },
      { kind: 'aggregate', id: 'total(integer, text)', definition: TOTAL, comment: 'Adds' },
    ] as const) {
      const text = writeObjectFile(object);
      expect(readObjectFile(text)).to.deep.include({ object });
    }
  });
});
