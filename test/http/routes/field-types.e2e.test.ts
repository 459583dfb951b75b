import { expect } from 'chai';
import { expectConsistent } from '../../support/consistent.js';
import { createApi } from '../../support/api.js';
import { startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';
import { catalogColumn, key, plain } from './columns.js';

interface Row {
  type: string;
  schema?: object;
  /** The definition in the catalog. */
  column: string;
  /** Defaults as sent, and as PostgreSQL inserts them, as text. A function checks unpredictable values. */
  defaults?: [given: unknown, inserted: string | ((text: string) => boolean)][];
}

const isNow = (text: string): boolean => text !== '';

const ROWS: Row[] = [
  {
    type: 'string',
    column: 'character varying(255)',
    defaults: [
      ['', ''],
      ["it's", "it's"],
      ['now()', 'now()'],
      ['back\\slash', 'back\\slash'],
      ['ü🎉', 'ü🎉'],
    ],
  },
  { type: 'string', schema: { max_length: 3 }, column: 'character varying(3)', defaults: [['äöü', 'äöü']] },
  { type: 'string', schema: { max_length: null }, column: 'character varying', defaults: [['x', 'x']] },
  { type: 'string', schema: { data_type: 'char(4)' }, column: 'character(4)', defaults: [['abcd', 'abcd']] },
  {
    type: 'text',
    column: 'text',
    defaults: [
      ['NULL', 'NULL'],
      ['a::text', 'a::text'],
    ],
  },
  {
    type: 'boolean',
    column: 'boolean',
    defaults: [
      [true, 'true'],
      [false, 'false'],
    ],
  },
  {
    type: 'integer',
    column: 'integer',
    defaults: [
      [0, '0'],
      [-2147483648, '-2147483648'],
    ],
  },
  { type: 'integer', schema: { data_type: 'smallint' }, column: 'smallint', defaults: [[32767, '32767']] },
  {
    type: 'bigInteger',
    column: 'bigint',
    defaults: [
      [7, '7'],
      ['9223372036854775807', '9223372036854775807'],
      ['-9007199254740993', '-9007199254740993'],
    ],
  },
  {
    type: 'float',
    column: 'real',
    defaults: [
      [0.5, '0.5'],
      [-1e10, '-1e+10'],
    ],
  },
  { type: 'float', schema: { data_type: 'double precision' }, column: 'double precision', defaults: [[0.1, '0.1']] },
  {
    type: 'decimal',
    column: 'numeric(10,5)',
    defaults: [
      [1.5, '1.50000'],
      ['12345.67891', '12345.67891'],
    ],
  },
  {
    type: 'decimal',
    schema: { numeric_precision: 30, numeric_scale: 0 },
    column: 'numeric(30,0)',
    defaults: [['123456789012345678901234567890', '123456789012345678901234567890']],
  },
  { type: 'decimal', schema: { numeric_precision: null }, column: 'numeric', defaults: [['1.10', '1.1']] },
  {
    type: 'date',
    column: 'date',
    defaults: [
      ['2020-02-29', '2020-02-29'],
      ['CURRENT_DATE', isNow],
    ],
  },
  {
    type: 'time',
    column: 'time without time zone',
    defaults: [
      ['23:59:59.5', '23:59:59.5'],
      ['CURRENT_TIME', isNow],
    ],
  },
  {
    type: 'dateTime',
    column: 'timestamp without time zone',
    defaults: [
      ['2020-02-29T10:11:12.123456', '2020-02-29 10:11:12.123456'],
      ['now()', isNow],
    ],
  },
  {
    type: 'timestamp',
    column: 'timestamp with time zone',
    defaults: [
      ['2020-02-29T10:11:12Z', '2020-02-29 10:11:12+00'],
      ['2020-02-29T10:11:12+02:00', '2020-02-29 08:11:12+00'],
      ['CURRENT_TIMESTAMP', isNow],
    ],
  },
  {
    type: 'json',
    column: 'json',
    defaults: [
      [{ a: "it's" }, `{"a":"it's"}`],
      [[], '[]'],
      ['"text"', '"text"'],
    ],
  },
  {
    type: 'json',
    schema: { data_type: 'jsonb' },
    column: 'jsonb',
    defaults: [
      [{ b: [1] }, '{"b": [1]}'],
      [true, 'true'],
    ],
  },
  {
    type: 'csv',
    column: 'text',
    defaults: [
      ['a,b', 'a,b'],
      [['a', 'b'], 'a,b'],
    ],
  },
  {
    type: 'uuid',
    column: 'uuid',
    defaults: [
      ['11111111-2222-4333-8444-55555555555A', '11111111-2222-4333-8444-55555555555a'],
      ['gen_random_uuid()', (text) => /^[0-9a-f-]{36}$/.test(text)],
    ],
  },
  { type: 'hash', column: 'character varying(255)', defaults: [['x', 'x']] },
  { type: 'binary', column: 'bytea', defaults: [['\\x00FF', '\\x00ff']] },
];

/** Type, default that does not fit, schema. */
const UNFIT: [type: string, value: unknown, schema?: object][] = [
  ['string', 1],
  ['string', 'abcd', { max_length: 3 }],
  ['string', 'a\u0000b'],
  ['text', {}],
  ['boolean', 'yes'],
  ['integer', 1.5],
  ['integer', 2147483648],
  ['integer', 32768, { data_type: 'smallint' }],
  ['bigInteger', 2 ** 60],
  ['bigInteger', '9223372036854775808'],
  ['float', 'x'],
  ['decimal', '123456'],
  ['decimal', true],
  ['date', '2021-02-29'],
  ['date', 'now'],
  ['time', '25:00'],
  ['dateTime', '2020-01-01T00:00:00Z'],
  ['timestamp', 'yesterday'],
  ['json', '{"a":'],
  ['csv', [1]],
  ['uuid', 'x'],
  ['binary', 'ff'],
  ['hash', false],
  ['geometry', 'POINT(0 0)'],
];

const UNFIT_COLUMNS: [type: string, schema: object, at: string][] = [
  ['string', { max_length: 0 }, 'max_length'],
  ['string', { max_length: 10485761 }, 'max_length'],
  ['string', { data_type: 'character', max_length: null }, 'max_length'],
  ['text', { max_length: 5 }, 'max_length'],
  ['decimal', { numeric_precision: 1001 }, 'numeric_precision'],
  ['decimal', { numeric_precision: 3, numeric_scale: 4 }, 'numeric_scale'],
  ['integer', { data_type: 'bigint' }, 'data_type'],
  ['uuid', { data_type: 'text' }, 'data_type'],
  ['uuid', { has_auto_increment: true }, 'has_auto_increment'],
  ['integer', { has_auto_increment: true, default_value: 1 }, 'default_value'],
  ['integer', { has_auto_increment: true, generation_expression: '1' }, 'has_auto_increment'],
  ['json', { is_unique: true }, 'is_unique'],
];

describe('field types', () => {
  const { api } = withService({ consistent: true });

  for (const [index, { type, schema = {}, column, defaults = [] }] of ROWS.entries()) {
    it(`${type} ${JSON.stringify(schema)} is ${column}`, async () => {
      const table = `t${index}`;
      const fields = [key('id'), plain('c', type, schema)];
      for (const [at, [value]] of defaults.entries()) {
        fields.push(plain(`d${at}`, type, { ...schema, default_value: value }));
      }
      await api.ok('POST', '/collections', { collection: table, schema: {}, fields });
      expect(await catalogColumn(api, table, 'c')).to.include({ type: column, not_null: false, default: null });
      await api.sql(`INSERT INTO ${table} (id) VALUES (1)`);
      for (const [at, [, inserted]] of defaults.entries()) {
        const [row] = await api.sql<{ v: string }>(`SELECT d${at}::text AS v FROM ${table}`);
        if (typeof inserted === 'string') expect(row?.v).to.equal(inserted);
        else expect(row?.v).to.satisfy(inserted);
      }
      // A field that is added later has the same column.
      await api.ok('POST', `/fields/${table}`, plain('later', type, schema));
      expect(await catalogColumn(api, table, 'later')).to.deep.equal(await catalogColumn(api, table, 'c'));
    });
  }

  it('support auto increment and generated columns', async () => {
    await api.ok('POST', '/collections', {
      collection: 'counting',
      schema: {},
      fields: [
        key('id', 'bigInteger', { has_auto_increment: true }),
        plain('small', 'integer', { data_type: 'smallint', default_value: `nextval('old_seq'::regclass)` }),
        plain('twice', 'bigInteger', { generation_expression: 'small * 2' }),
        { field: 'shown', type: 'alias', schema: null, interface: 'x' },
      ],
    });
    expect(await catalogColumn(api, 'counting', 'id')).to.include({ type: 'bigint', identity: 'd' });
    expect(await catalogColumn(api, 'counting', 'small')).to.include({
      type: 'smallint',
      identity: 'd',
      not_null: true,
    });
    expect(await catalogColumn(api, 'counting', 'twice')).to.include({ type: 'bigint', generated: 's' });
    expect(await catalogColumn(api, 'counting', 'shown')).to.equal(undefined);
  });

  it('are equal on another instance after one apply', async () => {
    const document = await api.ok<object>('GET', '/schema/snapshot');
    const other = await startService();
    const target = createApi(other);
    try {
      await target.ok('POST', '/schema/apply', await target.ok('POST', '/schema/diff', document));
      const again = await target.ok<{ diff: object }>('POST', '/schema/diff', document);
      expect(again.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
      const catalog = `
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attidentity,
               a.attgenerated, pg_get_expr(d.adbin, d.adrelid) AS value
          FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
          LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
         WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE 'service%' AND a.attnum > 0 ORDER BY 1, 2`;
      expect(await target.sql(catalog)).to.deep.equal(await api.sql(catalog));
      await expectConsistent(other.databaseUrl);
    } finally {
      await target.stop();
      await other.stop();
    }
  });

  it('reject defaults that do not fit, with the location', async () => {
    await api.ok('POST', '/collections', { collection: 'unfit', schema: {} });
    const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'schema.default_value' };
    for (const [type, value, schema = {}] of UNFIT) {
      await api.refused(expected, 'POST', '/fields/unfit', plain('x', type, { ...schema, default_value: value }));
    }
  });

  it('reject invalid column settings, with the location', async () => {
    for (const [type, schema, at] of UNFIT_COLUMNS) {
      const expected = { status: 400, code: 'INVALID_PAYLOAD', at: `schema.${at}` };
      await api.refused(expected, 'POST', '/fields/unfit', plain('x', type, schema));
    }
  });

  it('reject geometry without PostGIS, with advice', async () => {
    const [installed] = await api.sql(`SELECT FROM pg_type WHERE typname = 'geometry'`);
    if (installed !== undefined) return;
    const expected = { status: 422, code: 'DATABASE_REFUSED' };
    for (const type of ['geometry', 'geometry.Point', 'geometry.MultiPolygon']) {
      const { message, extensions } = await api.refused(expected, 'POST', '/fields/unfit', plain('place', type));
      expect(message).to.include('PostGIS').and.include('CREATE EXTENSION postgis');
      expect(extensions).to.include({ collection: 'unfit', field: 'place', extension: 'postgis' });
    }
    const body = { collection: 'places', schema: {}, fields: [key('id'), plain('place', 'geometry')] };
    const { message, extensions } = await api.refused(expected, 'POST', '/collections', body);
    expect(message).to.include('PostGIS');
    expect(extensions).to.include({ collection: 'places', field: 'place' });
    await api.ok('POST', '/fields/unfit', plain('was_text', 'text'));
    const changed = await api.refused(expected, 'PATCH', '/fields/unfit/was_text', { type: 'geometry' });
    expect(changed.message).to.include('PostGIS');
  });

  it('reject citext without its extension, and treat it as text with it', async () => {
    const citext = plain('name', 'text', { data_type: 'citext' });
    const { message } = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/fields/unfit', citext);
    expect(message).to.include('extension citext').and.include('CREATE EXTENSION citext');
    const [available] = await api.sql(`SELECT FROM pg_available_extensions WHERE name = 'citext'`);
    if (available === undefined) return;
    await api.sql('CREATE EXTENSION citext');
    await api.ok('POST', '/fields/unfit', citext);
    expect(await catalogColumn(api, 'unfit', 'name')).to.include({ type: 'citext' });
    await api.ok('PATCH', '/fields/unfit/name', { schema: { data_type: 'text' } });
  });
});
