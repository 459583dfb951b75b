import type { Row } from './every-member.js';

/** An object that the table uses, named after it: created by `sql`, and changed by `change`. */
const need = (member: string, sql: string, change: object, byHand?: string): Row => {
  const [, kind = ''] = member.split('.');
  const name = (t: string): string => `${t}_n`;
  return {
    member: `table.${member}`,
    sql: (t) => sql.replaceAll('$n', name(t)).replaceAll('$t', t),
    change: (t) => ({ needs: [{ kind, name: name(t), ...change }] }),
    ...(byHand === undefined
      ? {}
      : { byHand: (t) => byHand.replaceAll('$n', name(t)).replaceAll('$t', t), noticed: (t) => `${kind} ${name(t)}` }),
  };
};

const COLLATION = `CREATE COLLATION $n (PROVIDER = icu, LOCALE = 'de'); CREATE TABLE $t (id integer PRIMARY KEY, x text COLLATE $n)`;
const ENUM = `CREATE TYPE $n AS ENUM ('a'); CREATE TABLE $t (id integer PRIMARY KEY, x $n)`;
const DOMAIN = `CREATE DOMAIN $n AS text COLLATE "C" CONSTRAINT c CHECK (VALUE <> ''); CREATE TABLE $t (id integer PRIMARY KEY, x $n)`;
const asDomain = { type: 'text', collation: '"C"', checks: [{ name: 'c', definition: `CHECK (VALUE <> ''::text)` }] };
const SEQUENCE = `CREATE SEQUENCE $n; CREATE TABLE $t (id integer PRIMARY KEY, x bigint DEFAULT nextval('$n'), y bigint, g bigint GENERATED ALWAYS AS IDENTITY)`;

const counted = (member: string, change: object, carried: RegExp, byHand: string): Row => ({
  ...need(`needs.sequence.${member}`, SEQUENCE, change, `ALTER SEQUENCE $n ${byHand}`),
  carried,
});

const uncounted = (change: object, refused: RegExp): Row => ({
  ...need(`needs.sequence.${Object.keys(change)[0] ?? ''}`, SEQUENCE, change),
  what: JSON.stringify(change),
  refused,
});

const THERE = /it already exists, as/;

const other = (kind: string, sql: string, change: object): Row => ({
  ...need(`needs.${kind}.schema`, sql, { ...change, schema: 'elsewhere' }),
  what: 'differs from the schema of the type that the field uses',
  refused: /needs: must contain \w+ "t\d+_n", because field "x" uses it/,
});

export const NEEDS: readonly Row[] = [
  other('collation', COLLATION, { provider: 'icu', locale: 'de' }),
  other('enum', ENUM, { labels: ['a'] }),
  other('domain', DOMAIN, asDomain),
  other('sequence', SEQUENCE, {}),
  {
    ...need('needs.extension', 'CREATE TABLE $t (id integer PRIMARY KEY, x integer)', {}),
    change: () => ({ needs: [{ kind: 'extension', name: 'hstore' }] }),
    carried: /extension hstore/,
  },
  {
    member: 'table.needs.extension',
    what: 'dropped by hand',
    sql: (t) => `CREATE EXTENSION IF NOT EXISTS citext; CREATE TABLE ${t} (id integer PRIMARY KEY, x citext)`,
    change: () => ({ needs: [{ kind: 'extension', name: 'citext' }] }),
    byHand: () => 'DROP EXTENSION citext CASCADE',
    noticed: () => 'extension citext',
  },
  {
    ...need('needs.extension', 'CREATE TABLE $t (id integer PRIMARY KEY, x integer)', {}),
    what: 'that reaches the server',
    change: () => ({ needs: [{ kind: 'extension', name: 'file_fdw' }] }),
    refused: /needs\[0\]\.name: name must be an extension that PostgreSQL marks as trusted/,
  },
  {
    ...need('needs.collation', 'CREATE TABLE $t (id integer PRIMARY KEY, x text)', { provider: 'libc', locale: 'C' }),
    what: 'that is new',
    carried: /collation t\d+_n .*"collcollate": "C"/,
  },
  ...(
    [
      ['provider', { provider: 'libc', locale: 'C' }, `(PROVIDER = libc, LOCALE = 'C')`],
      ['locale', { locale: 'fr' }, '(PROVIDER = icu, LOCALE = fr)'],
      ['lc_collate', { provider: 'libc', lc_collate: 'C', lc_ctype: 'POSIX' }],
      ['lc_ctype', { provider: 'libc', lc_collate: 'POSIX', lc_ctype: 'C' }],
      ['deterministic', { deterministic: false }, '(PROVIDER = icu, LOCALE = de, DETERMINISTIC = false)'],
      ['rules', { rules: '&a < b' }, `(PROVIDER = icu, LOCALE = de, RULES = '&b < c')`, 16],
    ] as const
  ).map(([member, change, byHand, since]): Row => {
    const again = `ALTER TABLE $t ALTER x TYPE text; DROP COLLATION $n; CREATE COLLATION $n ${byHand ?? ''};
      ALTER TABLE $t ALTER x TYPE text COLLATE $n`;
    const all = 'lc_collate' in change ? change : { provider: 'icu', locale: 'de', ...change };
    return {
      ...need(`needs.collation.${member}`, COLLATION, all, byHand === undefined ? undefined : again),
      refused: THERE,
      ...(since === undefined ? {} : { since }),
    };
  }),
  {
    ...need('needs.collation.locale', 'CREATE TABLE $t (id integer PRIMARY KEY, x text)', {}),
    what: 'unknown to the server',
    change: () => ({ needs: [{ kind: 'collation', name: 'lacking', provider: 'libc', locale: 'xx_XX' }] }),
    refused: /ensure that collation lacking exists: .*SQLSTATE 22023/,
  },
  {
    ...need('needs.collation.rules', COLLATION, { provider: 'libc', locale: 'C', rules: '&a' }),
    what: 'of another provider',
    refused: /needs\[0\]\.rules: rules must be omitted: a collation of libc has none/,
  },
  {
    ...need('needs.enum', 'CREATE TABLE $t (id integer PRIMARY KEY, x integer)', { labels: ['a'] }),
    what: 'that is new',
    carried: /enum t\d+_n 'a'/,
  },
  {
    ...need('needs.enum.labels', ENUM, { labels: ['a', 'b'] }, `ALTER TYPE $n RENAME VALUE 'a' TO 'z'`),
    carried: /enum t\d+_n 'a','b'/,
  },
  { ...need('needs.enum.labels', ENUM, { labels: ['b'] }), what: 'that PostgreSQL keeps', refused: THERE },
  {
    ...need('needs.domain', 'CREATE TABLE $t (id integer PRIMARY KEY, x integer)', { type: 'int4' }),
    what: 'that is new',
    carried: /domain t\d+_n integer/,
  },
  {
    ...need(
      'needs.domain.type',
      DOMAIN,
      { ...asDomain, type: 'character varying' },
      `ALTER TABLE $t ALTER x TYPE text; DROP DOMAIN $n; CREATE DOMAIN $n AS varchar COLLATE "C" CONSTRAINT c CHECK (VALUE <> '');
       ALTER TABLE $t ALTER x TYPE $n`,
    ),
    refused: THERE,
  },
  { ...need('needs.domain.collation', DOMAIN, { ...asDomain, collation: '"POSIX"' }), refused: THERE },
  {
    ...need('needs.domain.not_null', DOMAIN, { ...asDomain, not_null: true }, 'ALTER DOMAIN $n SET NOT NULL'),
    carried: /domain t\d+_n text true/,
  },
  {
    ...need('needs.domain.default', DOMAIN, { ...asDomain, default: `lower('X')` }, `ALTER DOMAIN $n SET DEFAULT 'y'`),
    carried: /default lower\('X'::text\)/,
  },
  {
    ...need(
      'needs.domain.checks.name',
      DOMAIN,
      { ...asDomain, checks: [{ ...asDomain.checks[0], name: 'd' }] },
      'ALTER DOMAIN $n RENAME CONSTRAINT c TO d',
    ),
    carried: / d CHECK/,
  },
  {
    ...need(
      'needs.domain.checks.definition',
      DOMAIN,
      { ...asDomain, checks: [{ name: 'c', definition: `CHECK (VALUE<>'b')` }] },
      `ALTER DOMAIN $n DROP CONSTRAINT c, ADD CONSTRAINT c CHECK (VALUE <> 'z')`.replace(
        ', ADD',
        '; ALTER DOMAIN $n ADD',
      ),
    ),
    carried: /VALUE <> 'b'/,
  },
  {
    ...need('needs.sequence', 'CREATE TABLE $t (id integer PRIMARY KEY, x integer)', {}),
    what: 'that is new',
    carried: /sequence t\d+_n bigint/,
  },
  counted('type', { type: 'smallint' }, /_n smallint 1 1 32767 /, 'AS integer'),
  counted('start', { start: '0005' }, /_n bigint 5 1 /, 'START 6'),
  counted('increment', { increment: '-1' }, /_n bigint -1 /, 'INCREMENT 6'),
  counted('min', { min: '-6' }, /_n bigint -6 -6 /, 'MINVALUE -7'),
  counted('max', { max: '6' }, /_n bigint 1 1 6 /, 'MAXVALUE 7'),
  counted('cache', { cache: '6' }, /_n .* 6$/m, 'CACHE 7'),
  counted('cycle', { cycle: true }, /_n .* true 1$/m, 'CYCLE'),
  counted('owned_by', { owned_by: 'y' }, /\.y .*sequence public\.t\d+_n/, 'OWNED BY $t.y'),
  uncounted({ cache: '-1' }, /needs\[0\]\.cache: cache must be greater than zero/),
  uncounted({ increment: '0' }, /needs\[0\]\.increment: increment must not be zero/),
  uncounted({ max: '0' }, /needs\[0\]\.max: max must be greater than min, 1/),
  uncounted(
    { owned_by: 'nothing' },
    /needs\[0\]\.owned_by.*: sequence "t\d+_n" must be owned by column "nothing", which does not exist/,
  ),
  uncounted(
    { owned_by: 'g' },
    /needs\[0\]\.owned_by.*: sequence "t\d+_n" must be owned by column "g", which generates/,
  ),
];
