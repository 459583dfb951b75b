import { expect } from 'chai';
import { defaultFromCatalog, typeFromColumn } from '../../../../src/schema/normal-form/index.js';

/** The output of pg_get_expr for a default, and its normal form. */
const KNOWN: [formatType: string, text: string, normal: unknown][] = [
  ['character varying(255)', "'it''s'::character varying", "it's"],
  ['character varying(255)', "'a'::text", 'a'],
  ['character varying(255)', "'abc'::character varying(10)", 'abc'],
  ['character varying(255)', "'abc'::character varying(3)", 'abc'],
  ['text', "'abc'::citext", 'abc'],
  ['character varying(255)', '5', '5'],
  ['character varying(255)', 'NULL::character varying', null],
  ['character(3)', "'a'::bpchar", 'a'],
  ['text', "''::text", ''],
  ['integer', '0', 0],
  ['integer', "'-5'::integer", -5],
  ['integer', '(5)::integer', 5],
  ['smallint', "'5'::smallint", 5],
  ['bigint', "'9223372036854775807'::bigint", '9223372036854775807'],
  ['bigint', '(0)::bigint', 0],
  ['numeric(10,5)', '1.50', 1.5],
  ['numeric(10,2)', '(0)::numeric', 0],
  ['numeric', "'-1.5'::numeric", -1.5],
  ['real', "'0.1'::real", 0.1],
  ['double precision', "'1e+21'::double precision", 1e21],
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['date', "'2024-02-29'::date", '2024-02-29'],
  ['date', 'CURRENT_DATE', 'CURRENT_DATE'],
  ['time without time zone', "'10:11:12.5'::time without time zone", '10:11:12.5'],
  ['timestamp without time zone', "'2024-01-02 03:04:05'::timestamp without time zone", '2024-01-02T03:04:05'],
  ['timestamp with time zone', "'2024-01-02 03:04:05.5+00'::timestamp with time zone", '2024-01-02T03:04:05.5Z'],
  ['timestamp with time zone', 'now()', 'now()'],
  ['timestamp with time zone', 'CURRENT_TIMESTAMP', 'CURRENT_TIMESTAMP'],
  ['uuid', 'gen_random_uuid()', 'gen_random_uuid()'],
  ['json', '\'{"a": 1}\'::json', { a: 1 }],
  ['jsonb', '\'"x"\'::jsonb', '"x"'],
  ['jsonb', "'null'::jsonb", 'null'],
  ['bytea', "'\\x00ff'::bytea", '\\x00ff'],
  ['mood', "'sad'::mood", 'sad'],
  ['integer[]', "'{}'::integer[]", '{}'],
  ['bit(3)', '\'101\'::"bit"', '101'],
  ['timestamp(3) without time zone', "'2024-01-02 03:04:05'::timestamp without time zone", '2024-01-02 03:04:05'],
];

const UNSAYABLE: [formatType: string, text: string][] = [
  ['integer', "nextval('a_id_seq'::regclass)"],
  ['integer', '(1 + 1)'],
  ['integer', '(1.5)::integer'],
  ['numeric(10,5)', "'NaN'::numeric"],
  ['double precision', "'Infinity'::double precision"],
  ['double precision', '(1.1)::real'],
  ['character varying(255)', 'now()'],
  ['character varying(255)', 'CURRENT_USER'],
  ['character varying(255)', "lower('A'::text)"],
  ['text', "('abcdef'::character(3))::text"],
  ['text', "'abcd'::character varying(3)"],
  ['text', "('{a}'::text[])::text"],
  ['text', "('1'::integer)::text"],
  ['json', "'{}'::json[]"],
  ['json', "'{}'::text"],
  ['integer', "'5'::integer[]"],
  ['integer', '(5)::real'],
  ['mood', "('sad'::text)::mood"],
  ['mood', "'sad'::mood[]"],
  ['mood', "'sad'::other"],
  ['mood', "'sad'"],
  ['bit(3)', '(5)::"bit"'],
  ['date', "('now'::text)::date"],
  ['date', "'infinity'::date"],
  ['timestamp without time zone', "'2024-01-02'::date"],
  ['timestamp with time zone', 'statement_timestamp()'],
  ['timestamp without time zone', 'LOCALTIMESTAMP'],
  ['time without time zone', "'24:00:00'::time without time zone"],
  ['uuid', 'uuid_generate_v4()'],
  ['json', "'[12345678901234567890]'::json"],
  ['mood', "'sad'::other_mood"],
  ['mood', 'NULL::text || NULL::text'],
  ['oid', "'pg_class'::regclass"],
  ['money', '5'],
];

describe('defaults from the catalog', () => {
  for (const [formatType, text, normal] of KNOWN) {
    it(`include ${formatType} DEFAULT ${text}`, () => {
      const { type, ...column } = typeFromColumn(formatType);
      expect(defaultFromCatalog(type, column, text)).to.deep.equal(normal);
    });
  }
  for (const [formatType, text] of UNSAYABLE) {
    it(`have no normal form for ${formatType} DEFAULT ${text}`, () => {
      const { type, ...column } = typeFromColumn(formatType);
      expect(defaultFromCatalog(type, column, text)).to.equal(undefined);
    });
  }
});
