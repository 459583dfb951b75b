import { expect } from 'chai';
import type pg from 'pg';
import { areEquivalent } from '../../../src/projector/verify/objects.js';
import { withPool } from '../../support/with-pool.js';

interface Case {
  before?: string;
  a: string;
  b: string;
  /** A change to something that the definitions use. The first answer is true, the answer after the change is false. */
  change: string;
}

const view = (query: string): string => `CREATE VIEW v AS SELECT ${query}`;
const pair = (a: string, b: string): Pick<Case, 'a' | 'b'> => ({ a: view(a), b: view(b) });

const CASES: Readonly<Record<string, Case>> = {
  'the type of a column': {
    before: 'CREATE TABLE t (n bigint)',
    ...pair('n % 2 AS n FROM t', 'n % 2::bigint AS n FROM t'),
    change: 'ALTER TABLE t ALTER n TYPE integer',
  },
  'the type of a column of a view': {
    before: 'CREATE VIEW w AS SELECT 1::bigint AS n',
    ...pair('n % 2 AS n FROM w', 'n % 2::bigint AS n FROM w'),
    change: 'DROP VIEW w; CREATE VIEW w AS SELECT 1 AS n',
  },
  'a new function with a better match': {
    before: 'CREATE FUNCTION f(bigint) RETURNS bigint RETURN $1',
    ...pair('f(1) AS n', 'f(1::bigint) AS n'),
    change: 'CREATE FUNCTION f(integer) RETURNS bigint RETURN $1',
  },
  'the label of an enum that no definition names': {
    before: `CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE TABLE t (feels mood)`,
    ...pair(`feels = 'sad' AS n FROM t`, `t.feels = 'sad' AS n FROM t`),
    change: `ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'`,
  },
  'an attribute of the type of a column': {
    before: 'CREATE TYPE pair AS (one bigint); CREATE TABLE t (x pair)',
    ...pair('(x).one % 2 AS n FROM t', '(x).one % 2::bigint AS n FROM t'),
    change: 'DROP TABLE t; DROP TYPE pair; CREATE TYPE pair AS (one integer); CREATE TABLE t (x pair)',
  },
  'the base type of an array of a domain': {
    before: 'CREATE DOMAIN size AS bigint; CREATE TABLE t (x size[])',
    ...pair('x[1] % 2 AS n FROM t', 'x[1] % 2::bigint AS n FROM t'),
    change: 'DROP TABLE t; DROP DOMAIN size; CREATE DOMAIN size AS integer; CREATE TABLE t (x size[])',
  },
  'the result of a function': {
    before: 'CREATE FUNCTION f() RETURNS bigint RETURN 1',
    ...pair('f() % 2 AS n', 'f() % 2::bigint AS n'),
    change: 'DROP FUNCTION f(); CREATE FUNCTION f() RETURNS integer RETURN 1',
  },
  'a new operator': {
    before: 'CREATE TABLE t (n bigint)',
    ...pair('n % 2 AS n FROM t', 'n % 2::bigint AS n FROM t'),
    change: `CREATE FUNCTION rest(bigint, integer) RETURNS bigint RETURN 0;
      CREATE OPERATOR % (FUNCTION = rest, LEFTARG = bigint, RIGHTARG = integer)`,
  },
  'a primary key': {
    before: 'CREATE TABLE t (id integer PRIMARY KEY, n integer)',
    ...pair('n+1 AS n FROM t GROUP BY id', '(n + 1) AS n FROM public.t GROUP BY id'),
    change: 'ALTER TABLE t DROP CONSTRAINT t_pkey',
  },
  'a quoted name in a string': {
    before: 'CREATE SEQUENCE "My numbers"',
    ...pair(`nextval('"My numbers"') AS n`, `nextval('public."My numbers"'::regclass) AS n`),
    change: 'DROP SEQUENCE "My numbers"',
  },
  'the table of a policy': {
    before: 'CREATE TABLE t (n integer)',
    a: 'CREATE POLICY p ON t TO PUBLIC USING (n>1)',
    b: 'CREATE POLICY p ON t USING ((t.n > 1))',
    change: 'DROP TABLE t',
  },
};

describe('the comparison of definitions', () => {
  const { pool } = withPool();
  let client: pg.PoolClient;
  let statements: string[] = [];

  /** Rolls everything back, so that the tests share a database. */
  async function inTransaction(work: () => Promise<void>): Promise<void> {
    client = await pool().connect();
    try {
      await client.query('BEGIN');
      await work();
    } finally {
      client.release(true);
    }
  }

  /** Compares with the connection, and records its statements. */
  const compare = (a: string, b: string): Promise<boolean> => {
    statements = [];
    const query = ((text: string, values?: unknown[]) => {
      statements.push(text);
      return client.query(text, values);
    }) as unknown as pg.ClientBase['query'];
    return areEquivalent({ query }, a, b);
  };
  const scratch = () => statements.filter((text) => /CREATE|SAVEPOINT/.test(text)).length;

  for (const [title, { before, a, b, change }] of Object.entries(CASES))
    it(`is cached until a change to ${title}`, () =>
      inTransaction(async () => {
        if (before !== undefined) await client.query(before);
        expect(await compare(a, b), 'first').to.equal(true);
        expect(scratch()).to.be.greaterThan(0);
        expect(await compare(a, b), 'again').to.equal(true);
        expect(statements).to.have.length(1);
        expect(await compare(b, a), 'the other way round').to.equal(true);
        expect(scratch()).to.equal(0);
        await client.query(change);
        expect(await compare(a, b), 'after the change').to.equal(false);
      }));

  it('also caches that definitions differ', () =>
    inTransaction(async () => {
      await client.query('CREATE TABLE t (n integer)');
      const [a, b] = [view('n+1 AS n FROM t'), view('n+2 AS n FROM t')];
      expect(await compare(a, b)).to.equal(false);
      expect(await compare(a, b)).to.equal(false);
      expect(scratch()).to.equal(0);
    }));

  it('does not cache what PostgreSQL rejects, or what will have a different meaning tomorrow', () =>
    inTransaction(async () => {
      await client.query('CREATE TABLE t (n date)');
      for (const [a, b, isSame] of [
        [view('m AS n FROM t'), view('(m) AS n FROM public.t'), false],
        [view(`n > 'today' AS n FROM t`), view(`(n > 'today') AS n FROM public.t`), true],
        [view(`n > 'now' AS n FROM t`), view(`(n > 'now') AS n FROM public.t`), true],
        [view(`n > E'\\x6eow' AS n FROM t`), view(`(n > 'now') AS n FROM public.t`), true],
      ] as const)
        for (const time of ['first', 'again']) {
          expect(await compare(a, b), a).to.equal(isSame);
          expect(scratch(), `${a}, ${time}`).to.be.greaterThan(0);
        }
      const call = [view('n > now() AS n FROM t'), view('(n > now()) AS n FROM public.t')] as const;
      expect(await compare(...call)).to.equal(true);
      expect(await compare(...call)).to.equal(true);
      expect(scratch()).to.equal(0);
    }));
});
