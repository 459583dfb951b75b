import { expect } from 'chai';
import { withService } from '../../support/with-service.js';
import { type CatalogColumn, catalogColumn, key, plain } from './columns.js';

interface Case {
  what: string;
  /** The column `c` before: type and schema. */
  from: [type: string, schema?: object];
  /** SQL of the existing values, row by row. */
  rows?: string[];
  patch: object;
  column: Partial<CatalogColumn>;
  /** The same rows afterwards, as text. */
  values?: (string | null)[];
}

const CASES: Case[] = [
  {
    what: 'type: text becomes a number',
    from: ['string'],
    rows: [`'1'`, `'-20'`, 'NULL'],
    patch: { type: 'integer' },
    column: { type: 'integer' },
    values: ['1', '-20', null],
  },
  {
    what: 'type: a number becomes text',
    from: ['integer'],
    rows: ['1', '2147483647'],
    patch: { type: 'string' },
    column: { type: 'character varying(255)' },
    values: ['1', '2147483647'],
  },
  {
    what: 'type: integer becomes bigInteger',
    from: ['integer', { is_unique: true, is_indexed: true }],
    rows: ['1', '2'],
    patch: { type: 'bigInteger' },
    column: { type: 'bigint', unique: true, indexes: 1 },
    values: ['1', '2'],
  },
  {
    what: 'type: integer becomes boolean, and its default with it',
    from: ['integer', { default_value: 1 }],
    rows: ['0', '7'],
    patch: { type: 'boolean' },
    column: { type: 'boolean', default: 'true' },
    values: ['false', 'true'],
  },
  {
    what: 'type: boolean becomes integer',
    from: ['boolean'],
    rows: ['true', 'false'],
    patch: { type: 'integer' },
    column: { type: 'integer' },
    values: ['1', '0'],
  },
  {
    what: 'type: text becomes json',
    from: ['text'],
    rows: [`'{"a": [1]}'`],
    patch: { type: 'json', schema: { data_type: 'jsonb' } },
    column: { type: 'jsonb' },
    values: ['{"a": [1]}'],
  },
  {
    what: 'type: json becomes text',
    from: ['json'],
    rows: [`'{"a":1}'`],
    patch: { type: 'text' },
    column: { type: 'text' },
    values: ['{"a":1}'],
  },
  {
    what: 'type: text becomes uuid',
    from: ['string'],
    rows: [`'11111111-2222-4333-8444-555555555555'`],
    patch: { type: 'uuid' },
    column: { type: 'uuid' },
    values: ['11111111-2222-4333-8444-555555555555'],
  },
  {
    what: 'type: text becomes timestamp',
    from: ['string'],
    rows: [`'2020-02-29T10:00:00Z'`],
    patch: { type: 'timestamp' },
    column: { type: 'timestamp with time zone' },
    values: ['2020-02-29 10:00:00+00'],
  },
  {
    what: 'type: timestamp becomes date',
    from: ['timestamp', { default_value: 'now()' }],
    rows: [`'2020-02-29T23:59:59Z'`],
    patch: { type: 'date' },
    column: { type: 'date', default: 'now()' },
    values: ['2020-02-29'],
  },
  {
    what: 'type: decimal becomes float',
    from: ['decimal'],
    rows: ['1.5'],
    patch: { type: 'float', schema: { data_type: 'double precision' } },
    column: { type: 'double precision' },
    values: ['1.5'],
  },
  {
    what: 'data type within a type: integer to smallint',
    from: ['integer', { default_value: 3 }],
    rows: ['5'],
    patch: { schema: { data_type: 'smallint' } },
    column: { type: 'smallint', default: `'3'::smallint` },
    values: ['5'],
  },
  {
    what: 'data type within a type: json to jsonb',
    from: ['json', { default_value: { a: 1 } }],
    rows: [`'{"b":1}'`],
    patch: { schema: { data_type: 'jsonb' } },
    column: { type: 'jsonb', default: `'{"a": 1}'::jsonb` },
    values: ['{"b": 1}'],
  },
  {
    what: 'length: longer',
    from: ['string', { max_length: 10 }],
    rows: [`'0123456789'`],
    patch: { schema: { max_length: 20 } },
    column: { type: 'character varying(20)' },
    values: ['0123456789'],
  },
  {
    what: 'length: shorter, where it fits',
    from: ['string'],
    rows: [`'abc'`],
    patch: { schema: { max_length: 3 } },
    column: { type: 'character varying(3)' },
    values: ['abc'],
  },
  {
    what: 'length: none',
    from: ['string'],
    rows: [`'abc'`],
    patch: { schema: { max_length: null } },
    column: { type: 'character varying' },
    values: ['abc'],
  },
  {
    what: 'precision and scale',
    from: ['decimal'],
    rows: ['1.25'],
    patch: { schema: { numeric_precision: 6, numeric_scale: 1 } },
    column: { type: 'numeric(6,1)' },
    values: ['1.3'],
  },
  {
    what: 'precision: none',
    from: ['decimal'],
    rows: ['1.25'],
    patch: { schema: { numeric_precision: null, numeric_scale: null } },
    column: { type: 'numeric' },
    values: ['1.25000'],
  },
  {
    what: 'nullability: off',
    from: ['string'],
    rows: [`'a'`],
    patch: { schema: { is_nullable: false } },
    column: { not_null: true },
    values: ['a'],
  },
  {
    what: 'nullability: on',
    from: ['string', { is_nullable: false }],
    rows: [`'a'`],
    patch: { schema: { is_nullable: true } },
    column: { not_null: false },
    values: ['a'],
  },
  {
    what: 'default: set, with a quote in it',
    from: ['string'],
    rows: ['NULL'],
    patch: { schema: { default_value: "it's" } },
    column: { default: `'it''s'::character varying` },
    values: [null],
  },
  {
    what: 'default: another',
    from: ['bigInteger', { default_value: 1 }],
    rows: ['DEFAULT'],
    patch: { schema: { default_value: '9223372036854775807' } },
    column: { default: `'9223372036854775807'::bigint` },
    values: ['1'],
  },
  {
    what: 'default: none',
    from: ['integer', { default_value: 1 }],
    rows: ['DEFAULT'],
    patch: { schema: { default_value: null } },
    column: { default: null },
    values: ['1'],
  },
  {
    what: 'default: a function',
    from: ['timestamp'],
    patch: { schema: { default_value: 'CURRENT_TIMESTAMP' } },
    column: { default: 'CURRENT_TIMESTAMP' },
  },
  {
    what: 'unique: on, by the name that it would have had from the start',
    from: ['string'],
    rows: [`'a'`, `'b'`, 'NULL', 'NULL'],
    patch: { schema: { is_unique: true } },
    column: { unique: true, indexes: 0 },
    values: ['a', 'b', null, null],
  },
  {
    what: 'unique: off',
    from: ['string', { is_unique: true }],
    rows: [`'a'`],
    patch: { schema: { is_unique: false } },
    column: { unique: false, indexes: 0 },
  },
  {
    what: 'index: on',
    from: ['string'],
    rows: [`'a'`],
    patch: { schema: { is_indexed: true } },
    column: { indexes: 1 },
  },
  {
    what: 'index: off',
    from: ['string', { is_indexed: true }],
    patch: { schema: { is_indexed: false } },
    column: { indexes: 0 },
  },
  {
    what: 'unique instead of indexed, with another type',
    from: ['string', { is_indexed: true }],
    rows: [`'1'`, `'2'`],
    patch: { type: 'integer', schema: { is_indexed: false, is_unique: true } },
    column: { type: 'integer', unique: true, indexes: 0 },
    values: ['1', '2'],
  },
  {
    what: 'auto increment: on, from the largest value there is',
    from: ['integer', { is_nullable: false }],
    rows: ['41'],
    patch: { schema: { has_auto_increment: true } },
    column: { identity: 'd', not_null: true },
    values: ['41'],
  },
  {
    what: 'auto increment: off',
    from: ['integer', { has_auto_increment: true }],
    rows: ['DEFAULT'],
    patch: { schema: { has_auto_increment: false } },
    column: { identity: '', not_null: true },
    values: ['1'],
  },
  { what: 'comment: on', from: ['string'], patch: { schema: { comment: "it's" } }, column: { comment: "it's" } },
  {
    what: 'comment: off',
    from: ['string', { comment: 'x' }],
    patch: { schema: { comment: null } },
    column: { comment: null },
  },
  {
    what: 'generated expression: another',
    from: ['integer', { generation_expression: 'id * 2' }],
    rows: ['DEFAULT', 'DEFAULT'],
    patch: { schema: { generation_expression: 'id * 3' } },
    column: { generated: 's' },
    values: ['3', '6'],
  },
  {
    what: 'generated expression: none, the values stay',
    from: ['integer', { generation_expression: 'id * 2' }],
    rows: ['DEFAULT'],
    patch: { schema: { generation_expression: null } },
    column: { generated: '' },
    values: ['2'],
  },
  {
    what: 'generated expression: another type',
    from: ['integer', { generation_expression: 'id * 2', is_indexed: true }],
    rows: ['DEFAULT'],
    patch: { type: 'bigInteger' },
    column: { generated: 's', type: 'bigint', indexes: 1 },
    values: ['2'],
  },
  {
    what: 'everything at once',
    from: ['string', { default_value: '1', is_indexed: true }],
    rows: [`'5'`],
    patch: {
      type: 'bigInteger',
      schema: { default_value: 7, is_nullable: false, is_unique: true, is_indexed: false, comment: 'all' },
    },
    column: { type: 'bigint', default: `'7'::bigint`, not_null: true, unique: true, indexes: 0, comment: 'all' },
    values: ['5'],
  },
];

describe('a column changes in place', () => {
  const { api } = withService({ consistent: true });

  for (const [index, { what, from, rows = [], patch, column, values }] of CASES.entries()) {
    it(what, async () => {
      const table = `t${index}`;
      const [type, schema = {}] = from;
      await api.ok('POST', '/collections', {
        collection: table,
        schema: {},
        fields: [key('id'), plain('c', type, schema)],
      });
      for (const [at, value] of rows.entries()) await api.sql(`INSERT INTO ${table} VALUES (${at + 1}, ${value})`);
      const answered = await api.appends<{ data: object }>(
        [`field.updated ${table}.c`],
        'PATCH',
        `/fields/${table}/c`,
        patch,
      );
      expect(await catalogColumn(api, table, 'c')).to.include(column);
      if (values !== undefined) {
        const converted = await api.sql<{ c: string | null }>(`SELECT c::text FROM ${table} ORDER BY id`);
        expect(converted.map(({ c }) => c)).to.deep.equal(values);
      }
      expect(await api.ok('GET', `/fields/${table}/c`)).to.deep.equal(answered);
      await api.appends([], 'PATCH', `/fields/${table}/c`, patch);
      await api.appends([], 'PATCH', `/fields/${table}/c`, answered.data);
    });
  }
});
