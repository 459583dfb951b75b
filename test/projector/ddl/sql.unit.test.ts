import { expect } from 'chai';
import {
  UnsafeSqlError,
  expression,
  ident,
  join,
  literal,
  qualified,
  sql,
  typeName,
} from '../../../src/projector/ddl/sql.js';

describe('SQL text', () => {
  const IDENTIFIERS: [string, string][] = [
    ['articles', '"articles"'],
    ['a b', '"a b"'],
    ["it's", `"it's"`],
    ['"', '""""'],
    ['a"b', '"a""b"'],
    ['$$', '"$$"'],
    ['%I', '"%I"'],
    ['select', '"select"'],
    ['__proto__', '"__proto__"'],
    ['back\\slash', '"back\\slash"'],
    ['é'.repeat(31), `"${'é'.repeat(31)}"`],
    ['x'.repeat(63), `"${'x'.repeat(63)}"`],
    ['--', '"--"'],
    ['/*', '"/*"'],
    [';drop table x', '";drop table x"'],
  ];
  for (const [name, quoted] of IDENTIFIERS) {
    it(`the identifier ${name} is ${quoted}`, () => expect(ident(name)).to.equal(quoted));
  }

  for (const name of ['', 'a\0b', 'x'.repeat(64), 'é'.repeat(32), '\ud800', 'a\udc00']) {
    it(`rejects ${JSON.stringify(name)} as an identifier`, () => expect(() => ident(name)).to.throw(UnsafeSqlError));
  }

  const LITERALS: [string, string][] = [
    ['', "''"],
    ['a', "'a'"],
    ["it's", "'it''s'"],
    ['a\\b', "E'a\\\\b'"],
    ["\\'; drop table x; --", "E'\\\\''; drop table x; --'"],
    ['$1 %s $$', "'$1 %s $$'"],
    ['line\nbreak', "'line\nbreak'"],
  ];
  for (const [text, quoted] of LITERALS) {
    it(`the literal ${JSON.stringify(text)} is ${quoted}`, () => expect(literal(text)).to.equal(quoted));
  }

  it('NUL and lone surrogates are not literals', () => {
    expect(() => literal('a\0')).to.throw(UnsafeSqlError);
    expect(() => literal('\udfff')).to.throw(UnsafeSqlError);
  });

  it('joins and templates accept only SQL of this module', () => {
    const columns = join([ident('a'), ident('b')], sql`, `);
    expect(sql`SELECT ${columns} FROM ${qualified('s', 't"')}`).to.equal('SELECT "a", "b" FROM "s"."t"""');
  });

  for (const type of ['character varying(255)', 'numeric(10,5)', 'timestamp with time zone', 'inet', 'integer[]']) {
    it(`accepts ${type} as a type`, () => expect(typeName(type)).to.equal(type));
  }
  for (const type of ['"my type"', 'public."X"(1,2)', 'geometry(Point,4326)', 'interval year to month', 'tstzrange']) {
    it(`accepts ${type} as a type`, () => expect(typeName(type)).to.equal(type));
  }
  const NO_TYPES = [
    '',
    'int); drop table x; --',
    'int, b int',
    'int) , (NULL::int',
    'int -- x',
    'int /* x */',
    'int collate "C"',
    'int::text',
    'int default 5',
    'int not null',
    'select 1',
  ];
  for (const type of NO_TYPES) {
    it(`rejects ${JSON.stringify(type)} as a type`, () => expect(() => typeName(type)).to.throw(UnsafeSqlError));
  }

  it('an expression is exactly one scalar expression', () => {
    expect(expression(`"a" || ')'`)).to.equal(`("a" || ')')`);
    for (const text of [
      '',
      'a) STORED, b int GENERATED ALWAYS AS (1',
      '1; select 1',
      '(select 1)',
      'a -- x',
      'a, b',
      '$1',
    ]) {
      expect(() => expression(text), text).to.throw(UnsafeSqlError);
    }
  });
});
