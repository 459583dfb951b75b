import { expect } from 'chai';
import { type TextKind, checkSqlText } from '../../../src/schema/sql-text/check-sql-text.js';
import { textContextOfTable } from '../../../src/schema/sql-text/expression.js';

const around = textContextOfTable({
  collection: 't',
  columns: [
    { name: 'a', type: 'integer' },
    { name: 'b', type: 'text' },
    { name: 'mood', type: 'mood' },
  ],
  needs: [
    { kind: 'enum', name: 'mood', labels: ['sad'] },
    { kind: 'domain', name: 'Short', type: 'text' },
    { kind: 'sequence', name: 's' },
    { kind: 'sequence', name: 'My.s' },
    { kind: 'sequence', name: 'other.s' },
    { kind: 'enum', name: 'pg_catalog.regclass', labels: ['x'] },
    { kind: 'extension', name: 'citext' },
    { kind: 'extension', name: 'uuid-ossp' },
    { kind: 'extension', name: 'btree_gist' },
    { kind: 'extension', name: 'pg_trgm' },
  ],
});

const judge = (kind: TextKind, text: string) => checkSqlText(kind, text, around);

describe('SQL text from requests', () => {
  const allowed: [TextKind, string][] = [
    ['expression', "lower(b) || ' '"],
    ['expression', 'LOWER(b)'],
    ['expression', '"lower"(b)'],
    ['expression', 'pg_catalog.lower(b)'],
    ['expression', 't.a + 1'],
    ['expression', 'a OPERATOR(pg_catalog.+) 1'],
    ['expression', 'now()'],
    ['expression', "(now() + '1 day'::interval)"],
    ['expression', 'CURRENT_TIMESTAMP'],
    ['expression', 'LOCALTIMESTAMP(3)'],
    ['expression', 'CURRENT_USER'],
    ['expression', 'array_fill(0, ARRAY[3, 2])'],
    ['index', 'USING gin (b gin_trgm_ops) WITH (fastupdate=off)'],
    ['index', "USING gist (b gist_trgm_ops (siglen='32'))"],
    ['expression', 'gen_random_uuid()'],
    ['expression', 'uuid_generate_v4()'],
    ['expression', "nextval('s'::regclass)"],
    ['expression', "nextval('S')"],
    ['expression', "pg_catalog.nextval(('s'::text)::regclass)"],
    ['expression', 'nextval(\'"My.s"\'::regclass)'],
    ['expression', "current_setting('app.tenant'::text, true)"],
    ['expression', "current_setting('app.tenant', true)::uuid"],
    ['expression', "extract(year FROM '2020-01-01'::date)"],
    ['expression', 'substring(b FROM 1 FOR 3)'],
    ['expression', "b AT TIME ZONE 'UTC'"],
    ['expression', "'sad'::mood"],
    ['expression', '\'x\'::"Short"'],
    ['expression', '\'x\'::"pg_catalog.regclass"'],
    ['expression', 'nextval(\'"other.s"\')'],
    ['expression', "npoints(polygon(12, '((0,0),1)'::circle))"],
    ['expression', "'x'::citext"],
    ['expression', "ARRAY['a'::character varying, 'b']::text[]"],
    ['expression', "to_tsvector('english'::regconfig, b)"],
    ['expression', "to_tsvector('pg_catalog.simple'::regconfig, b)"],
    ['expression', 'coalesce(a, 1)::numeric(10,2)'],
    ['expression', "lpad(a::text, 6, '0')"],
    ['expression', "repeat('x', 10000)"],
    ['expression', "jsonb_path_exists(b::jsonb, '$.items[*].price[*] ? (@ > 3)')"],
    ['expression', "b::jsonb @? '$.**.name'"],
    ['expression', "to_tsvector('simple', b) @@ to_tsquery('simple', 'x')"],
    ['expression', "regexp_replace(regexp_replace(lower(b), '[^a-z0-9]+', '-', 'g'), '(^-|-$)', '', 'g')"],
    ['expression', `${'replace('.repeat(12)}b${", ' ', '-')".repeat(12)}`],
    ['expression', `b${" || 'x'".repeat(400)}`],
    ['expression', "json_object('a' : b)"],
    ['expression', 'b IS JSON'],
    ['expression', 'xml IS DOCUMENT'],
    ['constraint', "CHECK ((b ~ '^[a-z]+$'::text))"],
    ['constraint', 'CHECK (((a >= 0) AND (a <= 5))) NOT VALID'],
    ['constraint', "CHECK (a BETWEEN 1 AND 3 OR a IN (5, 6) OR b SIMILAR TO 'x')"],
    ['constraint', 'UNIQUE (a, b)'],
    ['constraint', 'FOREIGN KEY (a) REFERENCES other(id) ON DELETE CASCADE'],
    ['constraint', 'EXCLUDE USING gist (a WITH =, daterange(b, b) WITH &&) WHERE ((a > 1))'],
    ['index', 'USING btree (lower(b) text_pattern_ops) WHERE (a > 1)'],
    ['index', 'USING gin (b gin_trgm_ops)'],
    ['index', "USING gin (to_tsvector('english'::regconfig, b))"],
    ['partition key', 'RANGE (a, lower(b))'],
    ['partition bound', "FOR VALUES IN ('a', NULL, 1, true, -1.5, 'x'::text, DATE '2020-01-01')"],
    ['partition bound', "FOR VALUES FROM (MINVALUE, '2020-01-01 00:00:00+00'::timestamptz) TO (MAXVALUE, MAXVALUE)"],
    ['partition bound', 'FOR VALUES WITH (modulus 4, remainder 0)'],
    ['partition bound', 'DEFAULT'],
  ];
  for (const [kind, text] of allowed) {
    it(`accepts as ${kind} ${text.slice(0, 70)}`, () => expect(judge(kind, text)).to.equal(null));
  }

  const listed = 'docs/functions.md does not list it';
  const unlisted = (name: string, kind = 'function'): string => `must not use the ${kind} "${name}": ${listed}`;
  const cast = (name: string): string =>
    `must not cast to "${name}": it must be a built-in PostgreSQL type (docs/functions.md), or schema.extras.needs must name the type`;
  const long = (name: string): string => `must not call ${name} except with a literal length of at most 10,000`;
  const HUGE = 'could compute values of more than 128 MiB from a few characters';
  const DOT = 'must not select part of a value with a dot, which can call any function: write the function call';
  const SEQUENCE = 'must not call nextval except with a literal that names a sequence of schema.extras.needs';
  const SETTING =
    'must not call current_setting except with the name of a custom setting (with a dot) as a literal, and true';
  const calls: [call: string, why: string][] = [
    ['pg_sleep(1)', unlisted('pg_sleep')],
    ['PG_SLEEP(1)', unlisted('pg_sleep')],
    ['"pg_sleep"(1)', unlisted('pg_sleep')],
    ['pg_catalog.pg_sleep(1)', unlisted('pg_catalog.pg_sleep')],
    ['PG_CATALOG . "pg_sleep" (1)', unlisted('pg_catalog.pg_sleep')],
    ['U&"pg\\005fsleep"(1)', unlisted('pg_sleep')],
    ['U&"pg!005fsleep" UESCAPE \'!\' (1)', unlisted('pg_sleep')],
    ['(1.0::float8).pg_sleep', DOT],
    ['((1.0)::float8)."pg_sleep"', DOT],
    ['t.f', DOT],
    ['t.row_to_json', DOT],
    ['other.a', DOT],
    ['public.t.a', DOT],
    ["lower(pg_read_file('/etc/passwd'))", unlisted('pg_read_file')],
    ["pg_read_file(E'/etc/pass\\x77d')", unlisted('pg_read_file')],
    ['pg_read_file($$/etc/passwd$$)', unlisted('pg_read_file')],
    ["CASE WHEN a > 1 THEN pg_sleep(1)::text ELSE 'x' END", unlisted('pg_sleep')],
    ['ARRAY[pg_sleep(1)::text]', unlisted('pg_sleep')],
    ['coalesce(b, version())', unlisted('version')],
    ['version()', unlisted('version')],
    ["query_to_xml('select 1', true, true, '')", unlisted('query_to_xml')],
    ["database_to_xml(true, true, '')", unlisted('database_to_xml')],
    ["set_config('search_path', 'x', false)", unlisted('set_config')],
    ["lo_export(1, '/tmp/x')", unlisted('lo_export')],
    ["lo_from_bytea(0, 'x')", unlisted('lo_from_bytea')],
    ["dblink('x', 'y')", unlisted('dblink')],
    ["current_setting('data_directory')", SETTING],
    ["current_setting('data_directory', true)", SETTING],
    ["current_setting('app.x')", SETTING],
    ["current_setting('app.x', false)", SETTING],
    ["current_setting('app.x', NULL)", SETTING],
    ['current_setting(b, true)', SETTING],
    ["current_setting('app.' || b, true)", SETTING],
    ["pg_catalog.current_setting('data_directory', true)", SETTING],
    ["nextval('other'::regclass)", `${SEQUENCE}, and "other" is not one`],
    ["nextval('public.s'::regclass)", `${SEQUENCE}, and "public.s" is not one`],
    // A name with a dot is not a name in another schema.
    ["nextval('other.s'::regclass)", `${SEQUENCE}, and "other.s" is not one`],
    ["'x'::pg_catalog.regclass", cast('pg_catalog.regclass')],
    ['nextval(b::regclass)', SEQUENCE],
    ["nextval('s' || pg_sleep(1)::text)", SEQUENCE],
    ["nextval('s'::regclass, pg_sleep(1))", SEQUENCE],
    ["setval('s', 1)", unlisted('setval')],
    ["currval('s')", unlisted('currval')],
    ['lower(b) || public.f()', unlisted('public.f')],
    ['f(b)', unlisted('f')],
    ['public.lower(b)', unlisted('public.lower')],
    ['pg_temp.lower(b)', unlisted('pg_temp.lower')],
    ['pg_catalog.uuid_generate_v4()', unlisted('pg_catalog.uuid_generate_v4')],
    ['a OPERATOR(pg_temp.+) 1', unlisted('pg_temp.+', 'operator')],
    ['a OPERATOR(public.+) 1', unlisted('public.+', 'operator')],
    ['a @#@ 1', unlisted('@#@', 'operator')],
    ['b <-> 1 OPERATOR(x.=) 2', unlisted('x.=', 'operator')],
    [
      'unaccent(b)',
      'must not use the function "unaccent" without its extension: schema.extras.needs must name "unaccent"',
    ],
    ["'pg_class'::regclass", cast('regclass')],
    ["'x'::pg_catalog.regproc", cast('pg_catalog.regproc')],
    ["'english'::regconfig::text::regclass", cast('regclass')],
    ['b::regconfig', cast('regconfig')],
    ["'mine'::regconfig", cast('regconfig')],
    ["'x'::other", cast('other')],
    ["'x'::public.mood", cast('public.mood')],
    ["'x'::t.a%TYPE", cast('t.a')],
    ["'x'::pg_node_tree", cast('pg_node_tree')],
    ["'x'::aclitem", cast('aclitem')],
    ['xmlparse(DOCUMENT b)', 'must not create or parse XML'],
    ['xmlelement(name x, b)', 'must not create or parse XML'],
    ['xmlserialize(CONTENT b AS text)', 'must not create or parse XML'],
    ["xpath('/a', b::xml)", unlisted('xpath')],
    ["b IS DOCUMENT AND xmlexists('/a' PASSING b)", unlisted('pg_catalog.xmlexists')],
    ['array_fill(1, a)', long('array_fill')],
    ['array_fill(pg_sleep(1)::text, ARRAY[3])', unlisted('pg_sleep')],
    ['COLLATION FOR (b)', unlisted('pg_catalog.pg_collation_for')],
    ["repeat('x', 1000000000)", long('repeat')],
    ["repeat('x', a)", long('repeat')],
    ["pg_catalog.repeat('x', 10001)", long('repeat')],
    ["lpad('x', 1000000000)", long('lpad')],
    ["rpad('x', 5000 + 5000000)", long('rpad')],
    ["repeat(repeat(repeat('x', 10000), 10000), 10000)", HUGE],
    ["jsonb_array_length(jsonb_path_query_array(b::jsonb, '$.**.**.**'))", HUGE],
    ["jsonb_path_exists(b::jsonb, ('$.**' || '.**')::jsonpath)", HUGE],
    [`jsonb_path_exists(b::jsonb, '$${'[0,0]'.repeat(30)}')`, HUGE],
    ["jsonb_path_exists(b::jsonb, '$.** ? (exists(@.** ? (exists(@.**))))')", HUGE],
    ["b::jsonb @? '$.**.**.**'", HUGE],
    ["b::jsonb @@ '$.**.**.** == 1'", HUGE],
    [`${'replace('.repeat(3)}b${", 'x', b)".repeat(3)}`, HUGE],
    [`${'quote_literal('.repeat(40)}'x'${')'.repeat(40)}`, HUGE],
    [`${'encode('.repeat(30)}b${"::bytea, 'hex')".repeat(30)}`, HUGE],
    ["'x'::character(10485760)::text || ".repeat(20) + "''", HUGE],
    [`${'- '.repeat(2000)}a`, 'must not be nested deeper than 500 levels'],
    ['array_fill(1, ARRAY[100000, 1000])', long('array_fill')],
    ['factorial(30000)', unlisted('factorial')],
    ["npoints(polygon(60000000, '((0,0),1)'::circle))", HUGE],
    ["npoints(polygon(a, '((0,0),1)'::circle))", HUGE],
    ["replace(bpchar('x', 10485764, true), ' ', repeat('b', 99))", HUGE],
    ['TREAT(b AS regclass)', unlisted('pg_catalog.regclass')],
    ['generate_series(1, 1000000000)', unlisted('generate_series')],
    ['unnest(ARRAY[1])', unlisted('unnest')],
    ['sum(a)', unlisted('sum')],
    ['count(*)', 'must not call aggregates or window functions'],
    ['(SELECT 1)', 'must not contain a subquery'],
    ['EXISTS (SELECT 1)', 'must not contain a subquery'],
    ['$1', 'must not contain parameters ($1)'],
    ['row_number() OVER ()', 'must not call aggregates or window functions'],
  ];
  for (const [call, why] of calls) {
    it(`reports the reason for ${call.slice(0, 70)}`, () => expect(judge('expression', call)).to.equal(why));
    for (const [kind, text] of [
      ['constraint', `CHECK ((${call}) IS NULL)`],
      ['index', `USING btree ((${call}))`],
      ['index', `USING btree (a) WHERE ((${call}) IS NULL)`],
      ['partition key', `RANGE ((${call}))`],
      ['partition bound', `FOR VALUES IN (${call})`],
    ] as const) {
      it(`rejects as ${kind} ${text.slice(0, 70)}`, () => expect(judge(kind, text)).to.be.a('string'));
    }
  }

  const refused: [TextKind, string][] = [
    ['partition bound', "FOR VALUES IN (pg_read_file('/etc/passwd')::int::text)"],
    ['partition bound', 'FOR VALUES IN (now())'],
    ['partition bound', "FOR VALUES IN (B'1'::bit(83886080)::text)"],
    ['partition bound', "FOR VALUES IN (lower('X'))"],
    ['partition bound', "FOR VALUES IN ('a' || 'b')"],
    ['partition bound', 'FOR VALUES IN (1 + 1)'],
    ['partition bound', "FOR VALUES FROM ('pg_class'::regclass) TO (MAXVALUE)"],
    ['partition bound', "FOR VALUES FROM ('x'::mood) TO (MAXVALUE)"],
    ['partition bound', 'FOR VALUES FROM (CURRENT_DATE) TO (MAXVALUE)'],
    ['partition bound', 'FOR VALUES FROM (a) TO (MAXVALUE)'],
    ['partition bound', 'FOR VALUES FROM (ARRAY[1]) TO (MAXVALUE)'],
    ['constraint', 'EXCLUDE USING gist (a WITH OPERATOR(public.=))'],
    ['constraint', 'EXCLUDE USING gist (a public.my_ops WITH =)'],
    ['constraint', 'EXCLUDE USING gist (f(a) WITH =)'],
    ['constraint', 'EXCLUDE USING gist (a WITH =) WHERE (f(a))'],
    ['index', 'USING btree (a my_ops)'],
    ['index', 'USING btree (a public.int4_ops)'],
    ['partition key', 'RANGE (a my_ops)'],
  ];
  for (const [kind, text] of refused) {
    it(`rejects as ${kind} ${text}`, () => expect(judge(kind, text)).to.be.a('string'));
  }

  it('names the extension that provides a missing function', () => {
    expect(judge('expression', 'unaccent(b)')).to.include('schema.extras.needs must name "unaccent"');
    expect(judge('expression', "'a'::ltree")).to.include('"ltree"');
    expect(judge('expression', 'pg_sleep(1)')).to.include('"pg_sleep"').and.include('docs/functions.md');
  });
});
