import { expect } from 'chai';
import {
  indexKeys,
  keyDefinition,
  targetColumns,
  type ParsedKey,
  checkCollation,
  checkIndexDefinition,
  checkPartitionBound,
  checkPartitionKey,
  parseConstraint,
} from '../../../src/schema/sql-text/definitions.js';
import { parseConstant } from '../../../src/schema/normal-form/defaults/catalog-default.js';

const SUBQUERY = 'must not contain a subquery';
const notPostgres = (near: string): string => `must be valid PostgreSQL: syntax error at ${near}`;

describe('the definition of a constraint', () => {
  const key = (more: Partial<ParsedKey>): ParsedKey => ({
    columns: ['a'],
    included: [],
    deferrable: false,
    initiallyDeferred: false,
    nullsNotDistinct: false,
    more: false,
    ...more,
  });
  const reads: [definition: string, parsed: object][] = [
    ['PRIMARY KEY (a)', { kind: 'primary key', skipsRows: false, key: key({}) }],
    [
      'PRIMARY KEY (a, b) INCLUDE (c)',
      { kind: 'primary key', skipsRows: false, key: key({ columns: ['a', 'b'], included: ['c'] }) },
    ],
    ['UNIQUE (a) DEFERRABLE', { kind: 'unique', skipsRows: false, key: key({ deferrable: true }) }],
    [
      'UNIQUE (a) DEFERRABLE INITIALLY DEFERRED',
      { kind: 'unique', skipsRows: false, key: key({ deferrable: true, initiallyDeferred: true }) },
    ],
    ['UNIQUE NULLS NOT DISTINCT (a)', { kind: 'unique', skipsRows: false, key: key({ nullsNotDistinct: true }) }],
    ['UNIQUE (a) WITH (fillfactor=70)', { kind: 'unique', skipsRows: false, key: key({ more: true }) }],
    [
      'UNIQUE (a, b WITHOUT OVERLAPS)',
      { kind: 'unique', skipsRows: false, key: key({ columns: ['a', 'b'], more: true }) },
    ],
    ['CHECK ((a > 0))', { kind: 'check', skipsRows: false, isInherited: true }],
    ['CHECK ((a > 0)) NOT VALID', { kind: 'check', skipsRows: true, isInherited: true }],
    ['CHECK ((a > 0)) NO INHERIT', { kind: 'check', skipsRows: false }],
    ['EXCLUDE USING gist (a WITH =) WHERE (b > 0)', { kind: 'exclusion', skipsRows: false }],
    ['FOREIGN KEY (a) REFERENCES other(b)', { kind: 'foreign key', skipsRows: false, references: { table: 'other' } }],
    [
      'FOREIGN KEY (a) REFERENCES s.other NOT VALID',
      { kind: 'foreign key', skipsRows: true, references: { table: 'other', schema: 's' } },
    ],
  ];
  const refuses: [definition: string, why: string][] = [
    ['NOT NULL a', 'must be the definition of one constraint'],
    ['CHECK (a > 0), ADD CHECK (b > 0)', 'must be the definition of one constraint'],
    ['CHECK (a > 0), DROP COLUMN b', 'must be the definition of one constraint'],
    ['UNIQUE USING INDEX i', 'must not name an index or a tablespace'],
    ['UNIQUE (a) USING INDEX TABLESPACE x', 'must not name an index or a tablespace'],
    ['CHECK (a > (SELECT 1))', SUBQUERY],
    ['EXCLUDE USING gist (a WITH =) WHERE ((SELECT true))', SUBQUERY],
    ['EXCLUDE USING gist (((SELECT 1) + 1) WITH =)', SUBQUERY],
    ['nonsense', notPostgres('or near "nonsense"')],
  ];

  it('is parsed into its parts, or rejected with the reason', () => {
    for (const [definition, parsed] of reads) expect(parseConstraint(definition), definition).to.deep.equal(parsed);
    for (const [definition, why] of refuses) expect(parseConstraint(definition), definition).to.equal(why);
  });

  it('yields the columns of a key, and whether there is more', () => {
    const all: [definition: string, keys: string[], including: string[], isPlain: boolean][] = [
      ['PRIMARY KEY (b, a)', ['b', 'a'], [], true],
      ['UNIQUE (a)', ['a'], [], true],
      ['PRIMARY KEY (a) INCLUDE (c, d)', ['a'], ['c', 'd'], false],
      ['PRIMARY KEY (a) DEFERRABLE', ['a'], [], false],
      ['UNIQUE (a) WITH (fillfactor=70)', ['a'], [], false],
      ['nonsense', [], [], true],
    ];
    for (const [definition, keys, including, isPlain] of all)
      expect(keyDefinition(definition), definition).to.deep.equal({ keys, including, isPlain });
    expect(targetColumns('FOREIGN KEY (a, x) REFERENCES o(b, c)')).to.deep.equal(['b', 'c']);
    expect(targetColumns('FOREIGN KEY (a) REFERENCES o')).to.deep.equal([]);
  });
});

describe('the definition of an index', () => {
  it('is a single index with nothing before USING', () => {
    const full = 'must be the definition of one index, starting with USING';
    const all: [definition: string, why: string | null][] = [
      ['USING btree (a)', null],
      ['using gin (a)', null],
      ["USING btree (lower(a)) INCLUDE (b) WITH (fillfactor='70') WHERE (c > 0)", null],
      ['(a)', 'must start with USING'],
      ['USING btree (a) TABLESPACE x', full],
      ['USING btree (a); DROP TABLE t', 'must be one statement'],
      ['USING btree (a) WHERE (SELECT true)', SUBQUERY],
      ['USING btree ((a + (SELECT 1)))', SUBQUERY],
      ['nonsense (', notPostgres('or near "nonsense"')],
    ];
    for (const [definition, why] of all) expect(checkIndexDefinition(definition), definition).to.equal(why);
  });

  it('yields its columns in order, and null for an expression', () => {
    expect(indexKeys('USING btree (a, lower(b), c DESC) INCLUDE (d) WHERE (e > 0)')).to.deep.equal(['a', null, 'c']);
    expect(indexKeys('nonsense (')).to.deep.equal([]);
  });
});

describe('partition definitions', () => {
  it('have a key and nothing else about their table', () => {
    const other = 'must be a partition key: RANGE (a), LIST (a), HASH (a)';
    const all: [key: string, why: string | null][] = [
      ['RANGE (a)', null],
      ['LIST (lower(a))', null],
      ['HASH (a, b)', null],
      ['RANGE (a) WITH (fillfactor=70)', other],
      ['RANGE (a) ON COMMIT DROP', other],
      ['RANGE (a) TABLESPACE x', other],
      ['RANGE (a) USING heap', other],
      ['RANGE ((a + (SELECT 1)))', SUBQUERY],
      ['no', notPostgres('end of input')],
    ];
    for (const [key, why] of all) expect(checkPartitionKey(key), key).to.equal(why);
  });

  it('have bounds without other clauses', () => {
    const all: [bound: string, why: string | null][] = [
      ['DEFAULT', null],
      ['FOR VALUES FROM (1) TO (MAXVALUE)', null],
      ['FOR VALUES IN (1, NULL)', null],
      ['FOR VALUES WITH (modulus 2, remainder 0)', null],
      ['FOR VALUES IN ((SELECT 1))', SUBQUERY],
      ['FOR VALUES FROM ((SELECT 1)) TO (2)', SUBQUERY],
      ['FOR VALUES FROM (1) TO ((SELECT 2))', SUBQUERY],
      ['nonsense', notPostgres('or near "nonsense"')],
    ];
    for (const [bound, why] of all) expect(checkPartitionBound(bound), bound).to.equal(why);
  });
});

describe('a collation name', () => {
  it('contains nothing else', () => {
    const other = 'must be the name of a collation';
    for (const name of ['"C"', 'public."de-x"']) expect(checkCollation(name), name).to.equal(null);
    for (const text of ['"C" FROM t', '"C" AS x', '"C", b', `"C" || 'x'`, '"C" COLLATE "D"'])
      expect(checkCollation(text), text).to.equal(other);
    expect(checkCollation('nonsense(')).to.equal(notPostgres('or near "("'));
  });
});

describe('a default in the catalog', () => {
  const cast = (name: string, more: object = {}) => ({ name, isArray: false, parameters: [], ...more });
  const literal = (text: string | null, isQuoted: boolean, ...casts: object[]) => ({
    kind: 'literal',
    text,
    isQuoted,
    casts,
  });

  it('is a literal with casts, or a call without arguments', () => {
    const all: [text: string, constant: object | null][] = [
      ["''::text", literal('', true, cast('text'))],
      ["'x'", literal('x', true)],
      ["'x'::s.t(3)[]", literal('x', true, cast('s.t', { isArray: true, parameters: [3] }))],
      ["('1'::text)::integer", literal('1', true, cast('text'), cast('integer'))],
      ['NULL::text', literal(null, false, cast('text'))],
      ['0', literal('0', false)],
      ['-5', literal('-5', false)],
      ['1.50', literal('1.50', false)],
      ['true', literal('true', false)],
      ['false', literal('false', false)],
      ['now()', { kind: 'call', text: 'now()' }],
      ['s.now()', { kind: 'call', text: 's.now()' }],
      ['CURRENT_DATE', { kind: 'call', text: 'CURRENT_DATE' }],
      ['now()::text', null],
      ['f(1)', null],
      ['a + 1', null],
    ];
    for (const [text, constant] of all) expect(parseConstant(text), text).to.deep.equal(constant);
  });
});
