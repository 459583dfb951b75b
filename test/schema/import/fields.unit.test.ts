import { expect } from 'chai';
import { alias, column, file, find, key, names, read, table } from './read.js';

describe('imported fields', () => {
  const one = (type: string, schema: Record<string, unknown>, vendor = 'mysql') => {
    const result = read(file({ vendor, collections: [table('a')], fields: [key('a'), column('a.x', type, schema)] }));
    return { ...find(result.fields, 'a.x'), warnings: result.warnings } as {
      type?: string;
      schema: Record<string, unknown>;
      warnings: string[];
    };
  };

  const types: [vendor: string, type: string, dataType: string, ours: string, becomes: string][] = [
    ['mysql', 'string', 'varchar', 'string', 'character varying'],
    ['mysql', 'string', 'char', 'string', 'character'],
    ['mysql', 'uuid', 'char', 'uuid', 'uuid'],
    ['mysql', 'integer', 'int unsigned', 'integer', 'integer'],
    ['mysql', 'integer', 'tinyint', 'integer', 'smallint'],
    ['mysql', 'bigInteger', 'bigint unsigned', 'bigInteger', 'bigint'],
    ['mysql', 'boolean', 'tinyint(1)', 'boolean', 'boolean'],
    ['mysql', 'text', 'longtext', 'text', 'text'],
    ['mysql', 'json', 'longtext', 'json', 'json'],
    ['mysql', 'timestamp', 'timestamp', 'timestamp', 'timestamp with time zone'],
    ['mysql', 'dateTime', 'datetime', 'dateTime', 'timestamp without time zone'],
    ['mysql', 'float', 'float', 'float', 'real'],
    ['sqlite', 'float', 'float', 'float', 'double precision'],
    ['mysql', 'unknown', 'tinyint(1)', 'boolean', 'boolean'],
    ['mysql', 'unknown', 'enum', 'text', 'text'],
    ['mysql', 'unknown', 'mediumblob', 'binary', 'bytea'],
    ['mssql', 'unknown', 'datetimeoffset', 'timestamp', 'timestamp with time zone'],
    ['mssql', 'unknown', 'nvarchar', 'string', 'character varying'],
    ['oracle', 'unknown', 'VARCHAR2', 'string', 'character varying'],
    ['postgres', 'unknown', 'bytea', 'binary', 'bytea'],
    ['postgres', 'unknown', 'inet', 'unknown', 'inet'],
    ['postgres', 'unknown', 'money', 'unknown', 'money'],
    ['postgres', 'unknown', 'ARRAY', 'text', 'text'],
    ['postgres', 'csv', 'character varying', 'csv', 'text'],
  ];
  for (const [vendor, type, dataType, ours, becomes] of types) {
    it(`become ${ours} from type ${type} with data type ${dataType} of ${vendor}`, () => {
      const field = one(type, { data_type: dataType }, vendor);
      expect(field).to.include({ type: ours });
      expect(field.schema).to.include({ data_type: becomes });
      expect(field.warnings).to.deep.equal(ours === 'text' && type === 'unknown' ? ['TYPE_CHANGED a.x'] : []);
    });
  }

  it('use auto increment only for integers', () => {
    const counts = (type: string, data_type: string) =>
      one(type, { data_type, has_auto_increment: true }).schema['has_auto_increment'];
    expect(counts('integer', 'int')).to.equal(true);
    expect(counts('bigInteger', 'bigint')).to.equal(true);
    expect(counts('string', 'varchar')).to.equal(false);
  });

  it('get key properties if they are keys, and missing ones stay absent', () => {
    const field = { is_primary_key: true, is_nullable: true, is_unique: false, is_indexed: true };
    expect(one('integer', field).schema).to.include({
      is_primary_key: true,
      is_nullable: false,
      is_unique: true,
      is_indexed: false,
    });
    const { schema } = one('integer', { is_primary_key: true, is_nullable: true });
    expect(schema).to.include({ is_nullable: false }).and.not.to.have.any.keys('is_unique', 'is_indexed');
    const other = { is_primary_key: false, is_nullable: true, is_unique: false, is_indexed: true };
    expect(one('integer', other).schema).to.include(other);
  });

  it('get the column of their type if only the type is given', () => {
    const counting = one('integer', { default_value: "nextval('a_x_seq'::regclass)" }, 'postgres');
    expect(counting.schema).to.include({ has_auto_increment: true, default_value: null });
    expect(counting.warnings).to.deep.equal([]);
    const large = one('integer', { default_value: 3_000_000_000 });
    expect(large.schema).to.include({ default_value: null });
    expect(large.warnings).to.deep.equal(['DEFAULT_LEFT_OUT a.x']);
    expect(one('bigInteger', { default_value: 3_000_000_000 }).warnings).to.deep.equal([]);
  });

  it('keep meaningful lengths and drop others', () => {
    expect(one('string', { data_type: 'varchar', max_length: 127 }).schema).to.include({ max_length: 127 });
    expect(one('string', { data_type: 'varchar(31)' }).schema).to.include({ max_length: 31 });
    expect(one('string', { data_type: 'character varying', max_length: -5 }, 'postgres').schema).to.include({
      max_length: null,
    });
    expect(one('text', { data_type: 'text', max_length: 65535 }).schema).to.include({ max_length: null });
    expect(one('integer', { data_type: 'int', numeric_precision: 10, numeric_scale: 0 }).schema).to.include({
      numeric_precision: null,
    });
    expect(one('decimal', { data_type: 'decimal', numeric_precision: 8, numeric_scale: 2 }).schema).to.include({
      numeric_precision: 8,
      numeric_scale: 2,
    });
    expect(one('string', { data_type: 'varchar' }).schema).to.not.have.property('max_length');
  });

  const defaults: [type: string, given: unknown, normal: unknown, vendor?: string][] = [
    ['integer', '0', 0],
    ['boolean', '1', true],
    ['string', 5, '5'],
    ['timestamp', 'current_timestamp()', 'CURRENT_TIMESTAMP'],
    ['timestamp', 'CURRENT_TIMESTAMP(6)', 'CURRENT_TIMESTAMP'],
    ['dateTime', '(getdate())', 'CURRENT_TIMESTAMP', 'mssql'],
    ['uuid', 'newid()', 'gen_random_uuid()', 'mssql'],
    ['date', 'curdate()', 'CURRENT_DATE'],
    ['string', "(N'x')", 'x', 'mssql'],
    ['text', "((N'it''s'))", "it's", 'mssql'],
    ['integer', '((0))', 0, 'mssql'],
    ['decimal', '((1.50))', 1.5, 'mssql'],
    ['boolean', '((1))', true, 'mssql'],
    ['boolean', "b'1'", true, 'mysql'],
    ['string', "'x'", 'x', 'sqlite'],
    ['string', "'x' ", 'x', 'oracle'],
    ['string', '(none)', '(none)', 'mysql'],
    ['string', "'x'::character varying", 'x', 'postgres'],
    ['uuid', '(newid())', 'gen_random_uuid()', 'mssql'],
    ['string', '(NULL)', null, 'mssql'],
    ['string', "it's", "it's"],
    ['json', '[]', []],
    ['json', "'{}'::jsonb", {}, 'postgres'],
    ['timestamp', '2020-01-01 00:00:00+00', '2020-01-01T00:00:00Z'],
    ['string', 'NULL', 'NULL'],
    ['integer', 'NULL', null],
  ];
  for (const [type, input, normal, vendor] of defaults) {
    it(`map the default ${JSON.stringify(input)} of type ${type} to ${JSON.stringify(normal)}`, () => {
      const field = one(type, { data_type: '', default_value: input }, vendor);
      expect(field.schema).to.deep.include({ default_value: normal });
      expect(field.warnings).to.deep.equal([]);
    });
  }

  it('lose invalid defaults, expressions and flags with a warning each', () => {
    const zero = one('dateTime', { default_value: '0000-00-00 00:00:00' });
    expect(zero.schema).to.include({ default_value: null });
    expect(zero.warnings).to.deep.equal(['DEFAULT_LEFT_OUT a.x']);
    for (const [type, input] of [
      ['string', '(getdate())'],
      ['string', 'uuid()'],
      ['text', '(newid())'],
      ['integer', '(1+1)'],
      ['string', '(next value for [dbo].[s])'],
    ] as const) {
      const called = one(type, { default_value: input }, 'mssql');
      expect(called.schema, input).to.include({ default_value: null });
      expect(called.warnings, input).to.deep.equal(['DEFAULT_LEFT_OUT a.x']);
    }
    const generated = one('integer', { generation_expression: '`a` + 1', default_value: 5 });
    expect(generated.schema).to.include({ generation_expression: null });
    expect(generated.warnings).to.deep.equal(['EXPRESSION_LEFT_OUT a.x']);
    expect(one('integer', { is_nullable: 'maybe', is_unique: 0 }).warnings).to.deep.equal(['VALUE_LEFT_OUT a.x']);
    expect(
      one('integer', { generation_expression: '(a + 1)', default_value: '(a + 1)' }, 'postgres').schema,
    ).to.include({ generation_expression: '(a + 1)', default_value: null });
  });

  it('are not generated if their expression is null', () => {
    for (const nothing of [null, ''])
      for (const vendor of ['postgres', 'mysql'] as const) {
        const plain = one('integer', { generation_expression: nothing, default_value: 5 }, vendor);
        expect(plain.schema).to.include({ generation_expression: null, default_value: 5 });
        expect(plain.warnings).to.deep.equal([]);
      }
  });

  it('leave missing members absent', () => {
    const fields = [
      key('a'),
      { collection: 'a', field: 'x', meta: { note: null } },
      { collection: 'a', field: 'y', type: 'string', schema: { max_length: 3 } },
      { collection: 'a', field: 'z', schema: { data_type: 'text', default_value: 'd' } },
      { collection: 'a', field: 'u', type: 'unknown' },
    ];
    const result = read(file({ collections: [table('a')], fields }));
    expect(result.fields.slice(1)).to.deep.equal([
      { collection: 'a', field: 'x', meta: { note: null } },
      { collection: 'a', field: 'y', type: 'string', schema: { max_length: 3 } },
      { collection: 'a', field: 'z', schema: { data_type: 'text', default_value: 'd' } },
      { collection: 'a', field: 'u' },
    ]);
  });

  it('are skipped without their collection, and grouped by aliases only', () => {
    const group = alias('a.group');
    const fields = [
      key('a'),
      group,
      column('a.x', 'string', {}, { group: 'group' }),
      column('a.y', 'string', {}, { group: 'x' }),
      alias('f.x'),
      column('gone.x', 'string'),
    ];
    const result = read(file({ collections: [table('a'), { collection: 'f', schema: null }], fields }));
    expect(names(result.fields)).to.deep.equal(['a.id', 'a.group', 'a.x', 'a.y']);
    expect(result.warnings).to.deep.equal(['FIELD_LEFT_OUT gone.x', 'FIELD_LEFT_OUT f.x', 'REFERENCE_LEFT_OUT a.y']);
    const merged = read(file({ collections: [], fields: [column('gone.x', 'string')] }), {
      exists: (name) => name === 'gone',
    });
    expect(names(merged.fields)).to.deep.equal(['gone.x']);
  });
});
