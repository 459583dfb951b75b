import { expect } from 'chai';
import { testServer } from '../../support/postgres.js';
import { adopt, expectVerified, roundTrip, startAdoptFixture } from './round-trip.js';

const BESIDE = `
  CREATE EXTENSION hstore; CREATE EXTENSION citext;
  CREATE TYPE mood AS ENUM ('sad', 'happy');
  CREATE DOMAIN positive AS integer DEFAULT 1 CHECK (VALUE > 0);
  CREATE DOMAIN word AS text;
  CREATE SEQUENCE counter;`;

/** Keyed by type: the text after DEFAULT. */
const DEFAULTS: Record<string, string[]> = {
  'timestamp with time zone': [
    'now()',
    `'now'`,
    `'now'::text::timestamptz`,
    'CURRENT_TIMESTAMP',
    'CURRENT_TIMESTAMP(3)',
    'clock_timestamp()',
    'transaction_timestamp()',
    `'2024-01-01'`,
    `'infinity'`,
    `'2024-01-01 BC'`,
    `date_trunc('day', now())`,
    `(now() AT TIME ZONE 'utc')`,
    'LOCALTIMESTAMP',
    `'2024-01-01 12:00:00.123456789'`,
    'NULL::timestamptz',
  ],
  'timestamp(3) with time zone': ['now()', `'2024-01-01 12:00:00.123456'`, 'CURRENT_TIMESTAMP(2)'],
  'timestamp without time zone': ['now()', 'LOCALTIMESTAMP(0)', `'2024-01-01'::date`, `timezone('UTC', now())`],
  date: ['now()', 'CURRENT_DATE', 'CURRENT_DATE + 1', `'2024-02-29'`, `'0044-03-15 BC'`, `'now'::text::date`],
  'time without time zone': ['CURRENT_TIME', 'LOCALTIME', 'LOCALTIME(2)', `'24:00'`, `'12:30:01.5'`, 'now()'],
  'time with time zone': ['CURRENT_TIME', 'CURRENT_TIME(2)', 'now()', `'12:00+02'`],
  interval: [`'1 day'`, `'1 day'::interval day`, 'make_interval(days => 3)', `'P1Y2M'`, `'-1:30'`],
  'interval day to second(3)': [`'1 day 1.2345 sec'`],
  inet: [`'127.0.0.1'`, `'10.0.0.0/8'::cidr`, `'::1'`, 'inet_client_addr()'],
  cidr: [`'10/8'`],
  money: [`'12.34'`, '0', '12.5::numeric', `nextval('counter')`],
  tsvector: [`'a b'`, `to_tsvector('english', 'x')`],
  xml: [`'<a/>'`],
  point: [`'(1,2)'`, 'point(1,2)'],
  'bit(3)': [`B'101'`, `X'5'::bit(3)`, `'101'`, '5::bit(3)'],
  'bit varying(5)': [`B'101'`, `B''`],
  int4range: [`'[1,5)'`, `'empty'`, 'int4range(1,5)'],
  tstzrange: ['tstzrange(now(), NULL)', `'[2024-01-01,)'`],
  'text[]': [`'{}'`, 'ARRAY[]::text[]', `ARRAY['a','b''c']`, `'{"a b","c,d"}'`, 'NULL', 'NULL::text[]'],
  'integer[]': ['ARRAY[1,2]', 'ARRAY[[1],[2]]', 'array_fill(0, ARRAY[3])'],
  'timestamptz[]': ['ARRAY[now()]'],
  'varchar(3)[]': [`'{abc}'`, `ARRAY['a'::varchar]`],
  'numeric(5,2)[]': [`'{1.5}'`],
  '"char"': [`'a'`],
  name: ['CURRENT_USER', 'SESSION_USER', 'current_database()'],
  regclass: [`'pg_class'`, `nextval('counter')`],
  text: [
    'CURRENT_USER',
    'NULL::text',
    `'it''s'`,
    String.raw`E'a\\b'`,
    String.raw`E'two\nlines\t.'`,
    `''`,
    `' '`,
    `'now()'`,
    `'NULL'`,
    `'true'`,
    'true',
    '1',
    `'a'::varchar`,
    `'abc'::varchar(2)`,
    `'abc'::char(5)`,
    `upper('x')`,
    `'a' || 'b'`,
    'md5(random()::text)',
    'gen_random_uuid()',
    'now()',
    `CASE WHEN true THEN 'a' ELSE 'b' END`,
    `COALESCE(NULL, 'x')`,
    `'x' COLLATE "C"`,
    `substring('abc' from 2 for 1)`,
    `trim(both 'x' from 'xax')`,
    'extract(year from now())',
    `'a--b'`,
    `'/* x */'`,
    `$$dollar 'q'$$`,
    `current_setting('x.y', true)`,
    `nextval('counter')`,
  ],
  'varchar(10)': [
    `'abc'`,
    `'abc'::text`,
    `''`,
    'NULL::character varying',
    'USER',
    `'much too long'::varchar(10)`,
    '1',
    `nextval('counter')`,
  ],
  'char(5)': [`'ab'`, `'ab   '`, `''`],
  bpchar: [`'ab'`, `'ab  '`],
  citext: [`'x'`, 'CURRENT_USER', `nextval('counter')`],
  word: [`'x'`, `upper('x')`, `nextval('counter')`],
  integer: [
    '-5',
    '(1+2)',
    '- (3)',
    '0',
    `'7'`,
    '1.5',
    '3::bigint',
    '3::smallint',
    `'3'::bigint`,
    'round(2.5)',
    '2147483647',
    '-2147483648',
    'floor(random()*10)',
    'NULL::integer',
    '~1',
    'true::integer',
    '(-1)',
    '1e3',
    `length('x')`,
  ],
  smallint: ['3', '-3', `'3'`, '3::integer', `'-3'::integer`],
  bigint: [`nextval('counter')`, '9007199254740993', '-9223372036854775808', '5', `'5'`, '5::numeric', '1e10', '2^10'],
  positive: ['5', 'NULL', `nextval('counter')`],
  'numeric(10,2)': [
    '1.5',
    '1.555',
    `'1.5'`,
    '1',
    '-1',
    '-1.50',
    `'NaN'`,
    '1e3',
    '0.00',
    '.5',
    '1::float8',
    '1.5::numeric(3,1)',
    `nextval('counter')`,
  ],
  numeric: ['1e50', '1.0', '12345678901234567890.1234567890', '-0.0', `'Infinity'`],
  real: ['1.5', `'NaN'`, '1', '-1.25', '1e10', `'0.1'`, '1.5::float8', 'pi()', `nextval('counter')`],
  'double precision': ['0.1', '1e308', `'-Infinity'`, 'random()', '1', '1.0', `nextval('counter')`],
  boolean: ['true', 'false', `'t'`, `'yes'`, '(NOT true)', '(1 = 1)', 'NULL', '1::boolean', `('a' LIKE 'b')`],
  uuid: ['gen_random_uuid()', `'A0EEBC999C0B4EF8BB6D6BB9BD380A11'`, `md5('x')::uuid`],
  bytea: [String.raw`'\xDEAD'`, `''`, `decode('AA==','base64')`],
  json: [
    `'{}'`,
    `'{"a":  1}'`,
    `'[]'::json`,
    `'null'`,
    `'"x"'`,
    `json_build_object('a', 1)`,
    `'{"a":1,"a":2}'`,
    `'1.0'`,
  ],
  jsonb: [
    `'{}'::jsonb`,
    `'{"b": 1, "a":2}'`,
    `jsonb_build_object('a', now())`,
    `'null'`,
    `'1.0'`,
    `'{"a":1.10}'`,
    `'"it''s, \\"so: there\\""'`,
    `'{}'::json`,
    `'{"10":1,"9":{"b":[1,2,{"c":null}]}}'`,
    `'1e5'`,
  ],
  hstore: [`''`, `'a=>1'`, `hstore('a','b')`],
  mood: [`'sad'`, `'sad'::mood`],
  'mood[]': [`'{sad}'`, `ARRAY['sad'::mood]`, 'enum_range(NULL::mood)'],
};

/** Keyed by type: the text in GENERATED ALWAYS AS. */
const GENERATED: Record<string, string[]> = {
  text: [
    'upper(a)',
    `a || 'x'`,
    `COALESCE(a, 'x')`,
    `CASE WHEN n > 0 THEN a WHEN n IS NULL THEN 'none' ELSE 'x' END`,
    `j ->> 'a'`,
    'left(a, 3)',
    'substring(a from 1 for 2)',
    'md5(a)',
    'a COLLATE "C"',
    `NULLIF(a, '')`,
    `n::text || '-' || a`,
    'lower(trim(both from a))',
    `'it''s ' || E'\\n' || a`,
    'j::text',
  ],
  integer: [
    'n + 1',
    'n::bigint',
    'length(a)',
    'EXTRACT(year FROM d)',
    'GREATEST(n, 0)',
    'n % 3',
    '-n',
    '(ARRAY[n,2])[1]',
  ],
  'numeric(10,2)': ['round(p * 1.19, 2)', 'n / 2.0'],
  boolean: ['n = ANY (ARRAY[1,2])', `a LIKE 'x%'`, 'n IS DISTINCT FROM 3', 'NOT (n > 1 AND n < 5 OR n IS NULL)'],
  jsonb: [`j -> 'a'`, `j #> '{a,b}'`],
  tsvector: [`to_tsvector('english', COALESCE(a, ''))`, `setweight(to_tsvector('simple'::regconfig, a), 'A')`],
  date: ['d + 1'],
  timestamp: [`d + interval '1 day'`, `ts AT TIME ZONE 'UTC'`],
  'text[]': [`string_to_array(a, ',')`],
  'char(3)': ['left(a,3)'],
  uuid: ['md5(a)::uuid'],
  int4range: ['int4range(n, n+1)'],
  mood: [`CASE WHEN n > 1 THEN 'sad'::mood ELSE 'happy'::mood END`],
};

const pairs = (all: Record<string, string[]>): [type: string, sql: string][] =>
  Object.entries(all).flatMap(([type, texts]) => texts.map((text): [string, string] => [type, text]));

/** One table each, so that a failure names the type. */
async function expectKept(tables: readonly string[]): Promise<void> {
  const { adoption } = await roundTrip([BESIDE, ...tables].join(';\n'));
  expect(adoption.refused).to.deep.equal([]);
  expect(adoption.notRepresented.filter(({ table }) => table !== null)).to.deep.equal([]);
}

const generated = (kind: string): string[] =>
  pairs(GENERATED).map(
    (
      [type, text],
      index,
    ) => `CREATE TABLE g${index} (a text, n integer, p numeric(10,2), j jsonb, d date, ts timestamptz,
      c ${type} GENERATED ALWAYS AS (${text}) ${kind})`,
  );

describe('adopting defaults', () => {
  it('keeps the spelling of each default', () =>
    expectKept(pairs(DEFAULTS).map(([type, text], index) => `CREATE TABLE t${index} (c ${type} DEFAULT ${text})`)));

  it('keeps the expressions of stored generated columns', () => expectKept(generated('STORED')));

  it('keeps the expressions of virtual generated columns', async function () {
    if ((await testServer()).majorVersion < 18) this.skip();
    await expectKept(generated('VIRTUAL').filter((table) => !table.includes(' c mood ')));
  });

  it('distinguishes user functions from PostgreSQL’s with the same name', async () => {
    const { instance, stop } = await startAdoptFixture(`
      CREATE FUNCTION gen_random_uuid() RETURNS uuid LANGUAGE sql AS 'SELECT NULL::uuid';
      CREATE TABLE mine (id integer PRIMARY KEY, mark uuid DEFAULT public.gen_random_uuid())`);
    try {
      const { notRepresented } = await adopt(instance);
      const [only] = notRepresented.filter(({ table }) => table === 'mine');
      expect(only).to.include({ code: 'DEFAULT_NOT_REPRESENTED', name: 'mark' });
      await expectVerified(instance);
    } finally {
      await stop();
    }
  });
});
