import { expect } from 'chai';
import { readVendorColumn } from '../../../../src/schema/normal-form/types/vendor-types.js';

/** Columns of other vendors' types, where only the database determines the result. */
const THEIRS: [ours: string, type: string, theirs: string][] = [
  ['character varying', 'string', 'nvarchar(20) varchar2(20) nvarchar2(20)'],
  ['character', 'string', 'nchar(20)'],
  ['text', 'text', 'tinytext mediumtext longtext ntext clob nclob enum set xml string'],
  ['boolean', 'boolean', 'bit tinyint(1)'],
  ['smallint', 'integer', 'tinyint year int1 tinyint(4)'],
  ['integer', 'integer', 'mediumint serial number'],
  ['bigint', 'bigInteger', 'bigserial'],
  ['double precision', 'float', 'double binary_double'],
  ['real', 'float', 'binary_float float'],
  ['numeric', 'decimal', 'money smallmoney fixed'],
  ['timestamp without time zone', 'dateTime', 'datetime datetime2 smalldatetime'],
  ['timestamp with time zone', 'timestamp', 'datetimeoffset'],
  ['uuid', 'uuid', 'uniqueidentifier'],
  ['bytea', 'binary', 'blob tinyblob mediumblob longblob binary varbinary image raw'],
  ['geometry', 'geometry', 'point linestring polygon multipoint multilinestring multipolygon sdo_geometry'],
];

describe('types of other vendors', () => {
  for (const [data_type, type, theirs] of THEIRS) {
    for (const each of theirs.split(' ')) {
      it(`${each} becomes ${data_type}`, () => {
        expect(readVendorColumn('unknown', { data_type: each }, 'mysql')).to.include({ type, data_type });
        expect(readVendorColumn(undefined, { data_type: each.toUpperCase() }, 'mysql')).to.include({ type, data_type });
      });
    }
  }

  it('have 8 bytes for floats if the vendor has no others', () => {
    for (const [vendor, data_type] of [
      ['sqlite', 'double precision'],
      ['mssql', 'double precision'],
      ['oracle', 'double precision'],
      ['mysql', 'real'],
      ['postgres', 'real'],
      [undefined, 'real'],
    ] as const) {
      expect(readVendorColumn('float', { data_type: 'float' }, vendor), vendor).to.include({ data_type });
    }
  });

  it('keep their modifiers if ours support them', () => {
    const read = (type: string, data_type: string, more: object = {}) =>
      readVendorColumn(type, { data_type, ...more }, 'mysql');
    expect(read('string', 'nvarchar(20)')).to.deep.equal({
      type: 'string',
      data_type: 'character varying',
      max_length: 20,
    });
    expect(read('string', 'nvarchar(20)', { max_length: 30 })).to.include({ max_length: 30 });
    expect(read('string', 'nvarchar(max)', { max_length: -1 })).to.include({ max_length: null });
    expect(read('string', 'varchar', { max_length: '40' })).to.include({ max_length: 40 });
    for (const wrong of [0, '', 'x', 1.5, 10_485_761, null]) {
      expect(read('string', 'varchar', { max_length: wrong }), String(wrong)).to.include({ max_length: null });
    }
    expect(read('string', 'varchar', { max_length: 10_485_760 })).to.include({ max_length: 10_485_760 });
    expect(read('string', 'varchar', { max_length: 1 })).to.include({ max_length: 1 });
    expect(read('string', 'nchar')).to.include({ data_type: 'character', max_length: 1 });
    expect(read('decimal', 'fixed(8)')).to.include({ numeric_precision: 8, numeric_scale: 0 });
    expect(read('decimal', 'fixed(8,3)')).to.include({ numeric_precision: 8, numeric_scale: 3 });
    expect(read('decimal', 'fixed', { numeric_precision: 1001, numeric_scale: 1001 })).to.include({
      numeric_precision: 1001,
      numeric_scale: null,
    });
    expect(read('decimal', 'fixed', { numeric_precision: null, numeric_scale: 2 })).to.include({
      numeric_precision: null,
      numeric_scale: null,
    });
    expect(read('integer', 'int(11) unsigned', { max_length: 11, numeric_precision: 10 })).to.deep.equal({
      type: 'integer',
      data_type: 'integer',
      max_length: null,
      numeric_precision: null,
      numeric_scale: null,
    });
  });

  it('get the default data type if they fit only without their own', () => {
    expect(readVendorColumn('integer', { data_type: 'nvarchar(20)' }, 'mysql')).to.include({ data_type: 'integer' });
    expect(readVendorColumn('json', { data_type: 'longtext' }, 'mysql')).to.include({
      type: 'json',
      data_type: 'json',
    });
    expect(readVendorColumn('string', {}, 'mysql')).to.deep.equal({ type: 'string' });
    expect(readVendorColumn('string', { max_length: 5 })).to.deep.equal({ type: 'string', max_length: 5 });
    expect(readVendorColumn('invented', {})).to.deep.equal({ type: 'invented' });
    expect(readVendorColumn('unknown', {})).to.deep.equal({});
    expect(readVendorColumn('unknown', { data_type: 'invented' }, 'mysql')).to.include({
      type: 'text',
      data_type: 'text',
    });
  });

  it("stay if they are PostgreSQL's, and unnamed arrays and enums become text", () => {
    const none = { max_length: null, numeric_precision: null, numeric_scale: null };
    const read = (data_type: string) => readVendorColumn('unknown', { data_type }, 'postgres');
    expect(read('inet')).to.deep.equal({ type: 'unknown', data_type: 'inet', ...none });
    for (const kind of ['ARRAY', 'USER-DEFINED', 'array'])
      expect(read(kind)).to.include({ type: 'text', data_type: 'text' });
    expect(read('varchar')).to.include({ type: 'string', data_type: 'character varying' });
  });

  it('are aliases for fields of Directus without a column', () => {
    for (const type of ['alias', 'o2m', 'm2m', 'm2a', 'o2a', 'files', 'translations', 'presentation', 'group']) {
      expect(readVendorColumn(type, { data_type: 'text' })).to.deep.equal({ type: 'alias' });
    }
  });
});
