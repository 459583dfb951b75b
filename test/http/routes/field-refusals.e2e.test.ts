import { expect } from 'chai';
import { testServer } from '../../support/postgres.js';
import { withService } from '../../support/with-service.js';
import { json } from '../../support/client.js';
import { alias, key, plain } from './columns.js';

interface Offending {
  kind: string;
  count: number;
  more: boolean;
}

const REFUSED = { status: 422, code: 'DATABASE_REFUSED' };
const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };

describe('a change that existing rows violate', () => {
  let tables = 0;

  const { api } = withService({ consistent: true });

  /** Creates a table with the column `c` and these values; returns its name. */
  const tableWith = async (type: string, schema: object, values: string): Promise<string> => {
    const table = `t${(tables += 1)}`;
    await api.ok('POST', '/collections', {
      collection: table,
      schema: {},
      fields: [key('id'), plain('c', type, schema)],
    });
    await api.sql(`INSERT INTO ${table} SELECT row_number() OVER (), v FROM (${values}) AS given (v)`);
    return table;
  };
  const refusedChange = async (table: string, patch: object) => {
    const { message, extensions } = await api.refused(REFUSED, 'PATCH', `/fields/${table}/c`, patch);
    expect(extensions).to.include({ collection: table, field: 'c' });
    return { message, sqlstate: extensions['sqlstate'], offending: extensions['offending'] as Offending | undefined };
  };

  it('reports how many nulls violate NOT NULL', async () => {
    const table = await tableWith('string', {}, `VALUES (NULL), ('a'), (NULL)`);
    const { message, sqlstate, offending } = await refusedChange(table, { schema: { is_nullable: false } });
    expect(sqlstate).to.equal('23502');
    expect(message).to.match(/\(2 rows are null\)$/);
    expect(offending).to.deep.equal({ kind: 'null', count: 2, more: false });
  });

  it('stops counting very many nulls', async () => {
    const table = await tableWith('string', {}, `SELECT NULL FROM generate_series(1, 1200)`);
    const { message, offending } = await refusedChange(table, { schema: { is_nullable: false } });
    expect(message).to.match(/\(at least 1,000 rows are null\)$/);
    expect(offending).to.deep.equal({ kind: 'null', count: 1000, more: true });
  });

  it('reports how many values are not unique, ignoring nulls', async () => {
    const table = await tableWith('string', {}, `VALUES ('a'), ('a'), ('a'), ('b'), ('b'), ('c'), (NULL), (NULL)`);
    const { message, sqlstate, offending } = await refusedChange(table, { schema: { is_unique: true } });
    expect(sqlstate).to.equal('23505');
    expect(message).to.match(/\(2 values occur more than once\)$/);
    expect(offending).to.deep.equal({ kind: 'repeated', count: 2, more: false });
  });

  it('reports how many values exceed a shorter length', async () => {
    const table = await tableWith('string', {}, `VALUES ('abc'), ('abcd'), ('ab   '), ('éàüö')`);
    const { message, sqlstate } = await refusedChange(table, { schema: { max_length: 3 } });
    expect(sqlstate).to.equal('22001');
    expect(message).to.match(/\(2 values are longer than 3\)$/);
  });

  it('reports how many values do not convert to a different type', async () => {
    const table = await tableWith('string', {}, `VALUES ('1'), ('one'), ('99999999999')`);
    const number = await refusedChange(table, { type: 'integer' });
    expect(number.sqlstate).to.be.oneOf(['22P02', '22003']);
    // Before 16, PostgreSQL does not report which one.
    if ((await testServer()).majorVersion < 16) return;
    expect(number.message).to.match(/\(2 values cannot be converted to integer\)$/);
    const date = await refusedChange(table, { type: 'date' });
    expect(date.message).to.match(/\(3 values cannot be converted to date\)$/);
  });

  it('reports how many values exceed a smaller number type', async () => {
    const table = await tableWith('bigInteger', {}, `VALUES (1), (2147483648), (-2147483649)`);
    expect((await refusedChange(table, { type: 'integer' })).message).to.match(
      /\(2 values cannot be converted to integer\)$/,
    );
    const decimals = await tableWith('decimal', {}, `VALUES (1.5), (999.99), (99999)`);
    const { message, sqlstate } = await refusedChange(decimals, { schema: { numeric_precision: 3, numeric_scale: 1 } });
    expect(sqlstate).to.equal('22003');
    expect(message).to.match(/\(2 values cannot be converted to numeric\(3,1\)\)$/);
  });

  it('reports how many values become infinite or zero as a smaller floating-point type', async () => {
    const doubles = `VALUES (1), (1e39), (-3.5e38), (3.4e38), (1e-50), (0), ('NaN'), ('Infinity')`;
    const table = await tableWith(
      'float',
      { data_type: 'double precision' },
      `SELECT v::float8 FROM (${doubles}) AS d (v)`,
    );
    expect((await refusedChange(table, { schema: { data_type: 'real' } })).message).to.match(
      /\(3 values cannot be converted to real\)$/,
    );
  });

  it('reports NaN for a decimal with fewer digits', async () => {
    const table = await tableWith('float', {}, `VALUES (123456), (1), ('NaN'::float8)`);
    const { message } = await refusedChange(table, {
      type: 'decimal',
      schema: { numeric_precision: 5, numeric_scale: 2 },
    });
    expect(message).to.match(/\(1 value cannot be converted to numeric\(5,2\)\)$/);
  });

  it('reports every row for a unique field with a constant default', async () => {
    const table = await tableWith('string', {}, `VALUES ('a'), ('b')`);
    const body = plain('same', 'integer', { is_unique: true, default_value: 1 });
    const { message } = await api.refused(REFUSED, 'POST', `/fields/${table}`, body);
    expect(message).to.match(/\(2 rows would have the same value\)$/);
  });

  it('reports every row for a required field without default', async () => {
    const table = await tableWith('string', {}, `VALUES ('a'), ('b'), ('c')`);
    const { message } = await api.refused(
      REFUSED,
      'POST',
      `/fields/${table}`,
      plain('needed', 'string', { is_nullable: false }),
    );
    expect(message).to.match(/\(3 rows would have no value\)$/);
    await api.ok('POST', `/fields/${table}`, plain('needed', 'string', { is_nullable: false, default_value: 'x' }));
  });

  it('reports how many rows violate a foreign key', async () => {
    const one = await tableWith('string', {}, `VALUES ('a')`);
    const table = await tableWith('integer', {}, `VALUES (1), (2), (3), (NULL)`);
    const body = { collection: table, field: 'c', related_collection: one };
    const { message, extensions } = await api.refused(REFUSED, 'POST', '/relations', body);
    expect(extensions).to.include({ collection: table, field: 'c', sqlstate: '23503' });
    expect(message).to.match(/\(2 rows have no referenced row\)$/);
    await api.ok('POST', '/relations', { ...body, schema: null });
  });

  it('repeats the count with an Idempotency-Key', async () => {
    const table = await tableWith('string', {}, `VALUES (NULL), ('a')`);
    const send = json({ schema: { is_nullable: false } }, 'PATCH');
    const headers = { ...send.headers, 'idempotency-key': 'not-null' };
    const first = await api.client(`/fields/${table}/c`, { ...send, headers });
    expect(first.text).to.include('(1 row is null)');
    await api.sql(`UPDATE ${table} SET c = 'x'`);
    expect((await api.client(`/fields/${table}/c`, { ...send, headers })).text).to.equal(first.text);
    await api.ok('PATCH', `/fields/${table}/c`, { schema: { is_nullable: false } });
  });

  it('reports the count in a dry run', async () => {
    const table = await tableWith('string', {}, `VALUES (NULL), ('a')`);
    type Document = { fields: { collection: string; field: string; schema: object }[] };
    const document = await api.ok<Document>('GET', '/schema/snapshot');
    const field = document.fields.find((each) => each.collection === table && each.field === 'c');
    Object.assign(field?.schema ?? {}, { is_nullable: false });
    const diff = await api.ok<object>('POST', '/schema/diff', document);
    const plan = await api.ok<{ accepted: boolean }>('POST', '/schema/apply?dry_run', diff);
    expect(plan.accepted).to.equal(false);
    expect(JSON.stringify(plan)).to.include('(1 row is null)');
  });
});

describe('a change that is not possible in place', () => {
  const { api } = withService();
  before(async () => {
    await api.ok('POST', '/collections', {
      collection: 't',
      schema: {},
      fields: [
        key('id'),
        plain('a', 'string'),
        plain('n', 'integer'),
        plain('g', 'integer', { generation_expression: 'n * 2' }),
        alias('links'),
        plain('counter', 'integer', { has_auto_increment: true }),
        plain('u', 'uuid'),
        plain('parent', 'integer'),
      ],
    });
    await api.ok('POST', '/relations', { collection: 't', field: 'parent', related_collection: 't' });
    await api.ok('POST', '/collections', { collection: 'folder', schema: null });
  });

  const refusals: [what: string, field: string, patch: object, at: string, reason: RegExp][] = [
    ['column to alias', 'a', { type: 'alias', schema: null }, 'type', /cannot become an alias field/],
    ['alias to column', 'links', { type: 'string', schema: {} }, 'schema.data_type', /cannot become a column/],
    [
      'plain to generated',
      'n',
      { schema: { generation_expression: 'id + 1' } },
      'schema.generation_expression',
      /cannot become a generated column/,
    ],
    ['a rename', 'a', { field: 'b' }, 'field', /To rename it: POST/],
    ['a move', 'a', { collection: 'other' }, 'collection', /cannot move to another collection/],
    ['schema null on a column', 'a', { schema: null }, 'schema', /must be an object/],
    ['a length where there is none', 'n', { schema: { max_length: 3 } }, 'schema.max_length', /no length/],
    ['auto increment of a text', 'a', { schema: { has_auto_increment: true } }, 'schema.has_auto_increment', /integer/],
    ['a default that does not fit', 'n', { schema: { default_value: 'x' } }, 'schema.default_value', /integer/],
    ['a data type of another type', 'n', { schema: { data_type: 'text' } }, 'schema.data_type', /must be integer or/],
    ['an unknown type', 'a', { type: 'varchar' }, 'type', /must be one of/],
    ['a default on a generated column', 'g', { schema: { default_value: 1 } }, 'schema.default_value', /no default/],
    [
      'an expression that is a statement',
      'g',
      { schema: { generation_expression: '1); DROP TABLE t; --' } },
      'schema.generation_expression',
      /must/,
    ],
    ['an unknown member', 'a', { schema: { colour: 1 } }, 'schema.colour', /not a known member/],
    ['an unknown member of meta', 'a', { meta: { findable: true } }, 'meta.findable', /not a known member/],
    ['a group that is a column', 'a', { meta: { group: 'n' } }, 'meta.group', /only an alias field/],
    ['a group that is not there', 'a', { meta: { group: 'nope' } }, 'meta.group', /does not exist/],
    ['a wrong width', 'a', { meta: { width: 'wide' } }, 'meta.width', /half/],
    ['the key without another', 'id', { schema: { is_primary_key: false } }, 'schema.is_primary_key', /same request/],
    ['nulls in the key', 'id', { schema: { is_nullable: true } }, 'schema.is_nullable', /must be false.*primary key/],
    ['a key that is not unique', 'id', { schema: { is_unique: false } }, 'schema.is_unique', /must be true/],
    ['another index on the key', 'id', { schema: { is_indexed: true } }, 'schema.is_indexed', /its own index/],
    ['nulls in what counts', 'counter', { schema: { is_nullable: true } }, 'schema.is_nullable', /auto-increment/],
    ['a length of a uuid', 'u', { schema: { max_length: 36 } }, 'schema.max_length', /no length/],
    [
      'a precision of an integer',
      'n',
      { schema: { numeric_precision: 5 } },
      'schema.numeric_precision',
      /must be null/,
    ],
    [
      'a foreign key',
      'n',
      { schema: { foreign_key_table: 't' } },
      'schema.foreign_key_table',
      /the relation of the field determines it$/,
    ],
    [
      'another foreign key',
      'parent',
      { schema: { foreign_key_column: 'n' } },
      'schema.foreign_key_column',
      /must be "id" or omitted/,
    ],
  ];
  for (const [what, field, patch, at, reason] of refusals) {
    it(`${what} is rejected with the reason`, async () => {
      const inUse = what === 'the key without another';
      const expected = inUse ? { status: 409, code: 'IN_USE', at } : { ...INVALID, at };
      const { message } = await api.refused(expected, 'PATCH', `/fields/t/${field}`, patch);
      expect(message).to.match(reason);
    });
  }

  it('rejects a second primary key at its location', async () => {
    const at = 'schema.is_primary_key';
    await api.refused({ ...INVALID, at }, 'PATCH', '/fields/t/a', { schema: { is_primary_key: true } });
    // References from other tables are not part of the body.
    await api.refused({ ...INVALID, at, also: [undefined] }, 'POST', '/fields/t', key('other'));
    await api.refused({ ...INVALID, at: `[1].${at}` }, 'PATCH', '/fields/t', [
      { field: 'n', meta: { note: 'x' } },
      { field: 'a', schema: { is_primary_key: true } },
    ]);
    const snapshot = await api.ok<{ fields: { field: string; schema: object }[] }>('GET', '/schema/snapshot');
    const index = snapshot.fields.findIndex(({ field }) => field === 'u');
    const key2 = { is_primary_key: true, is_nullable: false, is_unique: true };
    Object.assign(snapshot.fields[index]?.schema ?? {}, key2);
    const also = ['relations[0].one_collection'];
    await api.refused({ ...INVALID, at: `fields[${index}].${at}`, also }, 'POST', '/schema/diff', snapshot);
  });

  it('accepts current values, including a whole field as it was read', async () => {
    for (const field of ['id', 'counter', 'parent', 'u', 'n', 'g', 'links']) {
      const { data } = await api.ok<{ data: object }>('GET', `/fields/t/${field}`);
      await api.appends([], 'PATCH', `/fields/t/${field}`, data);
    }
    const { data } = await api.ok<{ data: object[] }>('GET', '/fields/t');
    await api.appends([], 'PATCH', '/fields/t', data);
  });

  it('is rejected for a new field too', async () => {
    const refused: [object, string][] = [
      [{ is_primary_key: true, is_nullable: true }, 'is_nullable'],
      [{ is_primary_key: true, is_unique: false }, 'is_unique'],
      [{ is_primary_key: true, is_indexed: true }, 'is_indexed'],
      [{ has_auto_increment: true, is_nullable: true }, 'is_nullable'],
    ];
    for (const [schema, member] of refused) {
      const body = { collection: 'keyed', schema: {}, fields: [plain('k', 'integer', schema)] };
      await api.refused({ ...INVALID, at: `fields[0].schema.${member}` }, 'POST', '/collections', body);
    }
  });

  it('reports a missing member at its location', async () => {
    await api.ok('POST', '/collections', { collection: 'told', schema: {} });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'schema' }, 'PATCH', '/fields/told/id', {
      type: 'boolean',
    });
  });

  it('rejects a body without changes', async () => {
    for (const body of [null, [], 'x', 1]) await api.refused(INVALID, 'PATCH', '/fields/t/a', body);
    for (const body of [null, {}, 'x', [1], [null], [{}], [{ field: 1 }]]) {
      await api.refused(INVALID, 'PATCH', '/fields/t', body);
    }
    await api.refused({ ...INVALID, at: '[1].field' }, 'PATCH', '/fields/t', [{ field: 'a' }, { field: 'a' }]);
    await api.refused({ ...INVALID, at: '[1].schema.max_length' }, 'PATCH', '/fields/t', [
      { field: 'a', meta: { note: 'x' } },
      { field: 'n', schema: { max_length: 3 } },
    ]);
  });

  it('rejects a missing field among several with its location', async () => {
    const body = [{ field: 'a', meta: { note: 'x' } }, { field: 'nope' }];
    await api.refused({ status: 404, code: 'NOT_FOUND', at: '[1].field' }, 'PATCH', '/fields/t', body);
    const { extensions } = await api.refused({ status: 404, code: 'NOT_FOUND' }, 'PATCH', '/fields/t/nope', {});
    expect(extensions).not.to.have.property('path');
  });

  it('keeps digits beyond the scale in a default and rounds them in rows', async () => {
    const fields = [key('id'), plain('d', 'decimal', { default_value: 1.234567 })];
    await api.ok('POST', '/collections', { collection: 'rounded', schema: {}, fields });
    const { data } = await api.ok<{ data: { schema: object } }>('GET', '/fields/rounded/d');
    expect(data.schema).to.include({ default_value: 1.234567, numeric_scale: 5 });
    await api.sql('INSERT INTO rounded (id) VALUES (1)');
    expect(await api.sql('SELECT d::text FROM rounded')).to.deep.equal([{ d: '1.23457' }]);
  });

  it('rejects a field that cannot be created', async () => {
    const bodies: [object, string][] = [
      [{ type: 'string' }, 'field'],
      [{ field: 'x' }, 'type'],
      [plain('x', 'nope'), 'type'],
      [plain('x'.repeat(64), 'string'), 'field'],
      [plain(' x', 'string'), 'field'],
      [plain('xmin', 'string'), 'field'],
      [{ ...plain('x', 'string'), schema: null }, 'schema'],
      [{ ...plain('x', 'alias'), schema: {} }, 'schema'],
      [{ ...plain('x', 'string'), extra: 1 }, 'extra'],
      [{ ...plain('x', 'string'), collection: 'other' }, 'collection'],
      [plain('x', 'string', { default_value: 1 }), 'schema.default_value'],
      [plain('x', 'json', { is_unique: true }), 'schema.is_unique'],
      [plain('x', 'json', { is_indexed: true }), 'schema.is_indexed'],
      [plain('x', 'integer', { generation_expression: 'nope + 1' }), 'schema.generation_expression'],
      [plain('x', 'integer', { generation_expression: 'g + 1' }), 'schema.generation_expression'],
    ];
    for (const [body, at] of bodies) await api.refused({ ...INVALID, at }, 'POST', '/fields/t', body);
    for (const body of [null, [], [plain('x', 'string')], 'x']) await api.refused(INVALID, 'POST', '/fields/t', body);
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/fields/t', plain('a', 'string'));
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/fields/t', plain('links', 'string'));
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', '/fields/nope', plain('x', 'string'));
    await api.refused(INVALID, 'POST', '/fields/folder', plain('x', 'string'));
    await api.refused({ status: 403, code: 'FORBIDDEN' }, 'POST', '/fields/service_users', plain('x', 'string'));
  });

  it("rejects an expression with PostgreSQL's reason", async () => {
    const bad = ['now()', `a || 1`, 'lower(n, n)'];
    for (const generation_expression of bad) {
      await api.refused(REFUSED, 'POST', '/fields/t', plain('x', 'timestamp', { generation_expression }));
    }
  });
});
