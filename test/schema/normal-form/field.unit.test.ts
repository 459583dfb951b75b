import { expect } from 'chai';
import { columnType, defaultPrimaryKey, readNewField, typeFromColumn } from '../../../src/schema/normal-form/index.js';
import type { ColumnSchema } from '../../../src/schema/model/model.js';
import { changed, column, faultsOf, field, FORCED, pathsOf, STRICT, valueOf } from './read.js';

const COLUMNS: [type: string, formatType: string, others: Record<string, string>][] = [
  [
    'string',
    'character varying(255)',
    { varchar: 'character varying(255)', 'VARCHAR(50)': 'character varying(50)', 'char(3)': 'character(3)' },
  ],
  ['text', 'text', { citext: 'citext' }],
  ['boolean', 'boolean', { bool: 'boolean' }],
  ['integer', 'integer', { int4: 'integer', int2: 'smallint', smallint: 'smallint' }],
  ['bigInteger', 'bigint', { int8: 'bigint' }],
  ['float', 'real', { float8: 'double precision', 'double precision': 'double precision', float4: 'real' }],
  ['decimal', 'numeric(10,5)', { 'decimal(8,2)': 'numeric(8,2)', 'numeric(8)': 'numeric(8,0)' }],
  ['date', 'date', {}],
  ['time', 'time without time zone', { time: 'time without time zone' }],
  ['dateTime', 'timestamp without time zone', { timestamp: 'timestamp without time zone' }],
  ['timestamp', 'timestamp with time zone', { timestamptz: 'timestamp with time zone' }],
  ['json', 'json', { JSONB: 'jsonb' }],
  ['csv', 'text', {}],
  ['uuid', 'uuid', {}],
  ['hash', 'character varying(255)', {}],
  ['binary', 'bytea', {}],
  ['geometry', 'geometry', {}],
  ['geometry.MultiPolygon', 'geometry', {}],
];

/** Each error is at the member whose name it begins with. */
function expectInPlace(part: string, faults: readonly string[]): void {
  for (const fault of faults) {
    const [path, output = ''] = fault.split(': ', 2);
    expect(path, fault).to.equal(`${part}.${output.split(' ')[0]}`);
  }
}

describe('columns of new fields', () => {
  for (const [type, formatType, others] of COLUMNS) {
    it(`${type} is ${formatType}`, () => {
      expect(columnType(column(type) as unknown as ColumnSchema)).to.equal(formatType);
      for (const [input, normal] of Object.entries(others)) {
        expect(columnType(column(type, { data_type: input }) as unknown as ColumnSchema), input).to.equal(normal);
      }
    });
  }

  it('have every member with its default', () => {
    expect(column('string')).to.deep.equal({
      data_type: 'character varying',
      default_value: null,
      max_length: 255,
      numeric_precision: null,
      numeric_scale: null,
      is_nullable: true,
      is_unique: false,
      is_indexed: false,
      is_primary_key: false,
      generation_expression: null,
      has_auto_increment: false,
      comment: null,
    });
  });

  it('accept lengths and precisions, and null for no limit', () => {
    expect(column('string', { max_length: null })).to.include({ max_length: null });
    expect(column('decimal', { numeric_precision: null, numeric_scale: null })).to.include({
      numeric_precision: null,
      numeric_scale: null,
    });
    expect(column('decimal', { numeric_precision: 3 })).to.include({ numeric_precision: 3, numeric_scale: 3 });
    expect(column('decimal', { numeric_precision: 8, numeric_scale: null })).to.include({ numeric_scale: 0 });
    expect(column('integer', { numeric_precision: 32, numeric_scale: 0 })).to.include({
      numeric_precision: null,
      numeric_scale: null,
    });
    expect(column('float', { numeric_precision: 24 })).to.include({ numeric_precision: null });
  });

  const refused: [string, Record<string, unknown>, string][] = [
    ['string', { max_length: 0 }, 'max_length must be an integer from 1 to 10485760'],
    ['string', { max_length: 10485761 }, 'max_length'],
    ['string', { max_length: '50' }, 'max_length'],
    ['string', { data_type: 'character' }, 'max_length'],
    ['string', { data_type: 'varchar(50)', max_length: 40 }, 'max_length must be 50, as in data_type'],
    ['string', { data_type: 'text' }, 'data_type must be character varying or character for type string'],
    ['string', { data_type: null }, 'data_type must be the name of a data type'],
    ['string', { numeric_precision: 3 }, 'numeric_precision must be null'],
    ['text', { max_length: 255 }, 'max_length must be null'],
    ['integer', { data_type: 'int unsigned' }, 'data_type must be integer or smallint'],
    ['integer', { data_type: 'integer(5)' }, 'data_type must not have a length'],
    ['integer', { numeric_precision: 5 }, 'numeric_precision must be null'],
    ['decimal', { numeric_precision: 1001 }, 'numeric_precision must be an integer from 1 to 1000'],
    ['decimal', { numeric_scale: 11 }, 'numeric_scale must be an integer from 0 to 10, the precision'],
    ['decimal', { numeric_precision: null, numeric_scale: 2 }, 'numeric_scale must be null'],
    ['timestamp', { data_type: 'timestamp' }, 'data_type must be timestamp with time zone'],
    ['unknown', {}, 'data_type must be the name of a data type'],
    ['unknown', { data_type: 'int; drop' }, 'data_type must be the name of a data type as PostgreSQL writes it'],
    ['string', { is_nullable: 1 }, 'is_nullable must be true or false'],
    ['string', { is_unique: 'true' }, 'is_unique must be true or false'],
    ['string', { comment: 5 }, 'comment must be a string or null'],
    ['string', { foo: 1 }, 'foo is not a known member'],
    ['string', { name: 'other' }, 'name must be "title"'],
    ['string', { table: 'other' }, 'table must be "articles"'],
    ['string', { foreign_key_table: 5 }, 'foreign_key_table must be a string or null'],
    ['string', { has_auto_increment: true }, 'has_auto_increment must be false'],
    [
      'integer',
      { has_auto_increment: true, default_value: 5 },
      'default_value must be null: a column with auto increment',
    ],
    ['integer', { generation_expression: 'a; b' }, 'generation_expression must be one SQL expression'],
    ['integer', { generation_expression: ' ' }, 'generation_expression must be a scalar SQL expression'],
    [
      'integer',
      { generation_expression: 'a', default_value: 1 },
      'default_value must be null: a column with a generation expression',
    ],
    ['integer', { generation_expression: 'a', has_auto_increment: true }, 'has_auto_increment must be false'],
    ['integer', { generation_expression: 'a', is_generated: false }, 'is_generated must be true'],
    ['integer', { is_generated: true }, 'is_generated must be false'],
    ['integer', { is_generated: 'no' }, 'is_generated must be true or false'],
    ['integer', { is_nullable: 1, is_unique: 1, is_indexed: 1, is_primary_key: 1 }, 'is_indexed must be true or false'],
  ];
  for (const [type, schema, message] of refused) {
    it(`reject ${type} with ${JSON.stringify(schema)}`, () => {
      const faults = faultsOf(field({ type, schema }));
      expect(faults.join('\n')).to.include(message);
      expectInPlace('schema', faults);
    });
  }

  it('drop derived members that agree', () => {
    const derived = {
      name: 'title',
      table: 'articles',
      is_generated: false,
      foreign_key_table: null,
      foreign_key_column: null,
    };
    expect(column('string', derived)).to.deep.equal(column('string'));
    expect(column('integer', { generation_expression: ' a + 1 ', is_generated: true })).to.include({
      generation_expression: 'a + 1',
    });
  });

  it('make primary keys unique and not nullable without another index', () => {
    const normal = { is_primary_key: true, is_nullable: false, is_unique: true, is_indexed: false };
    expect(column('uuid', { is_primary_key: true })).to.include(normal);
    expect(column('uuid', normal)).to.include(normal);
    const other = { is_primary_key: true, is_nullable: true, is_unique: false, is_indexed: true };
    expect(column('uuid', other, FORCED)).to.include(normal);
    expect(faultsOf(field({ type: 'uuid', schema: other })).join()).to.match(
      /is_nullable must be false.*is_unique must be true.*is_indexed must be false/,
    );
  });

  it('recognize auto increment by name and by sequence', () => {
    const counting = column('integer', { has_auto_increment: true });
    expect(counting).to.include({ has_auto_increment: true, default_value: null, is_nullable: false });
    expect(column('integer', { default_value: "nextval('articles_id_seq'::regclass)" })).to.deep.equal(counting);
    expect(column('bigInteger', { default_value: 'NEXTVAL(x)', has_auto_increment: true })).to.include({
      has_auto_increment: true,
    });
    expect(column('string', { default_value: 'nextval(x)' })).to.include({
      default_value: 'nextval(x)',
      has_auto_increment: false,
    });
  });

  it('are auto-increment by a sequence default wherever a number can be assigned', () => {
    const extras = { default: `nextval('q'::regclass)` };
    const counting = { has_auto_increment: true, extras };
    for (const [type, data_type] of [
      ['decimal', 'numeric'],
      ['float', 'real'],
      ['text', 'text'],
      ['unknown', 'uint'],
    ] as const) {
      expect(column(type, { data_type, ...counting })).to.deep.include({ ...counting, default_value: null });
      const silent = faultsOf(field({ type, schema: { data_type, extras } })).join();
      expect(silent).to.contain('extras.default').and.contain('must be omitted');
      const identity = faultsOf(field({ type, schema: { data_type, has_auto_increment: true } })).join();
      expect(identity).to.contain(
        'has_auto_increment must be false: an identity column is smallint, integer or bigint',
      );
    }
    expect(faultsOf(field({ type: 'uuid', schema: counting })).join()).to.contain('has_auto_increment must be false');
    const number = valueOf(field({ type: 'decimal', schema: counting }));
    expect(valueOf(changed(number, { type: 'bigInteger' })).schema).to.deep.include(counting);
    expect(valueOf(changed(number, { schema: { has_auto_increment: false } })).schema).to.not.have.property('extras');
    const silent = changed(valueOf(field({ type: 'integer', schema: counting })), { type: 'text' });
    expect(faultsOf(silent).join()).to.contain('send false with the new type');
  });

  it('treat empty comments as none', () => {
    expect(column('string', { comment: '' })).to.include({ comment: null });
  });
});

describe('new fields', () => {
  it('get the defaults of meta', () => {
    expect(valueOf(field({ type: 'text' })).meta).to.deep.equal({
      special: null,
      interface: null,
      options: null,
      display: null,
      display_options: null,
      readonly: false,
      hidden: false,
      sort: null,
      width: 'full',
      translations: null,
      note: null,
      conditions: null,
      group: null,
      required: false,
      validation: null,
      validation_message: null,
    });
    expect(valueOf(field({ type: 'text', meta: null }))).to.deep.equal(valueOf(field({ type: 'text', meta: {} })));
  });

  const meta: [Record<string, unknown>, string][] = [
    [{ special: 'a,b' }, 'special must be an array of strings'],
    [{ special: [1] }, 'special must be an array of strings'],
    [{ options: [] }, 'options must be an object or null'],
    [{ options: 'x' }, 'options must be an object or null'],
    [{ hidden: null }, 'hidden must be true or false'],
    [{ sort: 1.5 }, 'sort must be an integer'],
    [{ sort: 2147483648 }, 'sort must be an integer'],
    [{ width: 'enormous' }, 'width must be "half", '],
    [{ translations: ['a'] }, 'translations must be an object'],
    [{ translations: 'a' }, 'translations must be an object'],
    [{ conditions: 'a' }, 'conditions must be an array, an object or null'],
    [{ group: '' }, 'group must be a non-empty string'],
    [{ note: 5 }, 'note must be a string or null'],
    [{ foo: 1 }, 'foo is not a known member'],
    [{ constructor: 1 }, 'constructor is not a known member'],
    [JSON.parse('{"__proto__": 1}') as Record<string, unknown>, '__proto__ is not a known member'],
    [{ collection: 'other' }, 'collection must be "articles"'],
    [{ field: 'other' }, 'field must be "title"'],
    [{ id: 'five' }, 'id must be an integer, null or omitted'],
    [{ searchable: 1 }, 'searchable must be true, false or omitted'],
    [{ system: true }, 'system must be false'],
  ];
  for (const [input, message] of meta) {
    it(`reject meta ${JSON.stringify(input)}`, () => {
      const faults = faultsOf(field({ type: 'text', meta: input }));
      expect(faults.join('\n')).to.include(message);
      expectInPlace('meta', faults);
    });
  }

  it('accept width null as full, and derived members that agree', () => {
    const read = field({ type: 'text', meta: { width: null, collection: 'articles', field: 'title', system: false } });
    expect(valueOf(read)).to.deep.equal(valueOf(field({ type: 'text' })));
  });

  it('must have an existing type', () => {
    expect(faultsOf(field({}))).to.have.length(1);
    expect(faultsOf(field({}))[0]).to.include('type: type is required: one of string, text');
    expect(faultsOf(field({ type: 'bogus' }))[0]).to.include('type must be one of');
    expect(faultsOf(field({ type: null }))[0]).to.include('type must be one of');
    expect(faultsOf(field({ type: 'constructor' }))[0]).to.include('type must be one of');
  });

  it('have no column if their type is alias', () => {
    expect(valueOf(field({ type: 'alias' })).schema).to.equal(null);
    expect(valueOf(field({ type: 'alias', schema: null })).schema).to.equal(null);
    expect(faultsOf(field({ type: 'alias', schema: {} }))[0]).to.include('schema must be null');
    expect(faultsOf(field({ type: 'text', schema: null }))[0]).to.include('schema must be an object');
    expect(faultsOf(field({ type: 'text', schema: 'x' }))[0]).to.include('schema must be an object');
  });

  it('keep the text of an unnamed type', () => {
    expect(column('unknown', { data_type: 'inet', default_value: '::1' })).to.include({
      data_type: 'inet',
      default_value: '::1',
    });
    expect(column('unknown', { data_type: 'integer[]' })).to.include({ data_type: 'integer[]', max_length: null });
  });

  it('report every problem at its location in the request', () => {
    const input = { field: 'ctid', type: 'string', bogus: 1, meta: { sort: 'x' }, schema: { max_length: -1 } };
    const read = readNewField(input, ['fields', 2], { ...STRICT, collection: 'articles' });
    expect(pathsOf(read)).to.have.members([
      'fields[2].field',
      'fields[2].bogus',
      'fields[2].meta.sort',
      'fields[2].schema.max_length',
    ]);
    expect(faultsOf(readNewField('x', ['fields', 0], STRICT))).to.deep.equal([
      'fields[0]: a field must be a JSON object',
    ]);
  });

  it('take their collection from the document or the options, which must agree', () => {
    expect(valueOf(readNewField({ field: 'a', type: 'text' }, [], { ...STRICT, collection: 'c' })).collection).to.equal(
      'c',
    );
    expect(pathsOf(readNewField({ field: 'a', type: 'text' }, [], STRICT))).to.deep.equal(['collection']);
    expect(
      pathsOf(readNewField({ collection: 'd', field: 'a', type: 'text' }, [], { ...STRICT, collection: 'c' })),
    ).to.deep.equal(['collection']);
  });

  it('may have members of meta at the top level if allowed', () => {
    const options = { ...STRICT, topLevelMeta: true };
    expect(valueOf(field({ type: 'text', interface: 'input', note: 'n' }, options)).meta).to.include({
      interface: 'input',
      note: 'n',
    });
    expect(pathsOf(field({ type: 'text', interface: 'input' }))).to.deep.equal(['interface']);
    expect(pathsOf(field({ type: 'text', interface: 5 }, options))).to.deep.equal(['interface']);
    expect(pathsOf(field({ type: 'text', bogus: 5 }, options))).to.deep.equal(['bogus']);
    const twice = { type: 'text', interface: 'input', meta: { interface: 'input' } };
    expect(valueOf(field(twice, options)).meta.interface).to.equal('input');
    expect(pathsOf(field({ ...twice, interface: 'other' }, options))).to.deep.equal(['interface']);
  });

  it('ignore unknown members and translate types if another vendor wrote them', () => {
    const input = {
      type: 'integer',
      foo: 1,
      meta: { id: 5, bar: 2, hidden: 1, special: 'a, b' },
      schema: { data_type: 'int unsigned', max_length: 11, baz: 1, is_nullable: 0 },
    };
    const read = valueOf(field(input, FORCED));
    expect(read.schema).to.include({ data_type: 'integer', is_nullable: false });
    expect(read.meta).to.deep.include({ hidden: true, special: ['a', 'b'] });
    expect(valueOf(field({ type: 'unknown' }, FORCED)).type).to.equal('alias');
    expect(faultsOf(field({ type: 'bogus' }, FORCED))[0]).to.include('type must be one of');
    expect(column('unknown', { data_type: 'inet' }, FORCED)).to.include({ data_type: 'inet' });
  });

  it('include a default primary key', () => {
    const key = defaultPrimaryKey('articles');
    expect(key).to.deep.include({ collection: 'articles', field: 'id', type: 'integer' });
    expect(key.meta).to.include({ hidden: true, readonly: true });
    expect(key.schema).to.include({ is_primary_key: true, has_auto_increment: true, is_nullable: false });
  });
});

describe('types of columns in the catalog', () => {
  it('map back to the normal form', () => {
    for (const [type, formatType] of COLUMNS) {
      if (type === 'csv' || type === 'hash' || type.startsWith('geometry.')) continue;
      const { type: read, ...rest } = typeFromColumn(formatType);
      expect(read).to.equal(type);
      expect(column(type, rest)).to.deep.equal(column(type));
    }
    expect(typeFromColumn('character varying')).to.deep.include({ type: 'string', max_length: null });
    expect(typeFromColumn('numeric')).to.deep.include({
      type: 'decimal',
      numeric_precision: null,
      numeric_scale: null,
    });
    expect(typeFromColumn('character(3)')).to.deep.include({ type: 'string', data_type: 'character', max_length: 3 });
    expect(typeFromColumn('citext')).to.deep.include({ type: 'text', data_type: 'citext' });
  });

  it('stay unchanged without a name in the normal form', () => {
    const texts = [
      'inet',
      'integer[]',
      'numeric(3,-1)',
      'numeric(2,5)',
      'timestamp(3) without time zone',
      'bpchar',
      '"char"',
      'mood',
      'geography(Point,4326)',
      'varchar',
      'interval',
      'time(2) without time zone',
    ];
    for (const text of texts) expect(typeFromColumn(text), text).to.deep.include({ type: 'unknown', data_type: text });
  });
});
