import { expect } from 'chai';
import pg from 'pg';
import { conversionExpression, kindOf, typeChangeCosts } from '../../../src/projector/ddl/type-change.js';
import { ident } from '../../../src/projector/ddl/sql.js';
import type { Need } from '../../../src/schema/model/extras.js';
import type { ColumnSchema } from '../../../src/schema/model/model.js';
import { columnType, typeFromColumn } from '../../../src/schema/normal-form/index.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { column } from '../columns.js';

/** Uses every number of digits that rounds differently. */
const timeTypes = (name: string, zone: string, values: string[]): Record<string, string[]> =>
  Object.fromEntries([0, 3, 5, 6].map((digits) => [`${name}(${digits}) ${zone}`, values]));

/** Texts that most types store in a different spelling. */
const SPELLINGS = ['0012', '+12', ' 12', '12 ', '1e1', 'yes', 't', '[1,1 ]', '{"b":1}', '20200203', '101100', '10:11'];
const UUID_UPPER = '8C7A5A0E-3D9C-4BD5-8B0A-000000000001';

/** Each type with edge values. */
const SAMPLES: Record<string, string[]> = {
  'character varying(10)': ['a', '0123456789', '1', '1.5', '{"a": 1}', '2020-02-03', ...SPELLINGS],
  'character varying(20)': ['a', '01234567890123456789', 'true', `a${' '.repeat(19)}`, ...SPELLINGS],
  'character varying': ['x'.repeat(300), '-7', '2020-02-03 10:11:12.5', `a${' '.repeat(29)}`, ...SPELLINGS, UUID_UPPER],
  'character(10)': ['a', '0123456789', ...SPELLINGS],
  text: [
    'x'.repeat(300),
    '12',
    '12.3456789',
    '[1]',
    '10:11',
    '8c7a5a0e-3d9c-4bd5-8b0a-000000000001',
    '\\x00ff',
    `a${' '.repeat(29)}`,
    UUID_UPPER,
    '{"a":1, "a":2}',
    '2020-02-03 10:11:12.1234567+02',
    ...SPELLINGS,
  ],
  boolean: ['true', 'false'],
  smallint: ['-32768', '32767', '0', '1011'],
  integer: ['-2147483648', '2147483647', '1', '16777217', '20200203', '101112'],
  bigint: ['-9223372036854775808', '9223372036854775807', '1', '9007199254740993'],
  real: ['1.1', '3.4e38', '-0.25', 'NaN', '1e-20', '-0', '101112'],
  'double precision': ['1.1', '1.7e308', '0.1234567890123456', 'NaN', '-0', '101112'],
  numeric: ['1', '1.50', '12345678901234567890.123456789', 'NaN', '101112', '1'.repeat(32)],
  'numeric(10,5)': ['99999.99999', '1.00001', '-0.5', 'NaN'],
  'numeric(12,5)': ['9999999.99999', '2', '1.5'],
  'numeric(12,0)': ['999999999999', '3', '101112'],
  date: ['2020-02-03', '0001-01-01', '0001-01-01 BC', 'infinity'],
  'time with time zone': ['10:11:12.123456+02', '00:00-15:59'],
  'time without time zone': ['10:11:12.123456', '00:00'],
  'timestamp without time zone': ['2020-02-03 10:11:12.123456', 'infinity'],
  'timestamp with time zone': ['2020-02-03 10:11:12.123456+02', '-infinity'],
  ...timeTypes('time', 'without time zone', ['10:11:12.123456', '00:00', '23:59:59.999999']),
  ...timeTypes('timestamp', 'without time zone', ['2020-02-03 10:11:12.123456', '1999-12-31 23:59:59.9', 'infinity']),
  ...timeTypes('timestamp', 'with time zone', ['2020-02-03 10:11:12.123456+02', '-infinity']),
  json: [
    '{"a": [1, 2]}',
    '{"a":1, "a":2}',
    '"text"',
    ' 5',
    '-0',
    'null',
    ' true',
    '"\\u0000"',
    '101112',
    '20200203',
    '1'.repeat(32),
    `5${' '.repeat(20)}`,
  ],
  jsonb: ['{"a": [1, 2]}', '"text"', '5.5', '5', '1', '20200203', '101112', 'null', 'true', '1'.repeat(32)],
  uuid: ['8c7a5a0e-3d9c-4bd5-8b0a-000000000001'],
  bytea: ['\\x', '\\x00ff61'],
  mood: ['0012', 'yes', '{"b":1}', '20200203', '101112', `a${' '.repeat(29)}`, UUID_UPPER],
  score: ['0', '1', '20200203', '101112', '9007199254740993'],
};

const ENUM = { kind: 'enum', name: 'mood', labels: [...(SAMPLES['mood'] ?? [])] } as const;
const NEEDS: Need[] = [ENUM, { kind: 'domain', name: 'score', type: 'bigint' }] as unknown as Need[];

const TYPES = Object.keys(SAMPLES);
const isTemporal = (type: string): boolean => /^(date|time)/.test(type);
/** Digits do not matter for other kinds of types. */
const isTried = (from: string, to: string): boolean =>
  from !== to && (isTemporal(from) === isTemporal(to) || ![from, to].some((type) => /^time\w*\(/.test(type)));
/** Values of a domain are cast back through its base type. */
const baseOf = (schema: ColumnSchema): ColumnSchema => (schema.data_type === 'score' ? schemaOf('bigint') : schema);
const schemaOf = (type: string): ColumnSchema => {
  const [, name, digits, zone] = /^(time|timestamp)\((\d)\) (.*)$/.exec(type) ?? [];
  const { type: fieldType, ...schema } = typeFromColumn(name === undefined ? type : `${name} ${zone}`);
  const extras = digits === undefined ? {} : { extras: { precision: Number(digits) } };
  return column('c', fieldType, { ...schema, ...extras }).schema as ColumnSchema;
};

interface Run {
  failed: string | null;
  rewritten: boolean;
  /** True if the value reads back as the same text; null if it was not converted. */
  kept: boolean | null;
}

/** Reporting a loss that cannot occur is also a fault. */
function expectNotTooMuch(outcomes: readonly Run['kept'][], loses: boolean, change: string): void {
  const isKept = outcomes.includes(true) && !outcomes.includes(false);
  if (isKept) expect(loses, `${change} keeps all`).to.equal(false);
}

describe('the actual costs of a type change', () => {
  let database: TestDatabase;
  let client: pg.Client;
  before(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.connectionString, options: '-c TimeZone=UTC' });
    await client.connect();
    const labels = ENUM.labels.map((label) => `'${label}'`).join();
    await client.query(`CREATE TYPE mood AS ENUM (${labels}); CREATE DOMAIN score AS bigint CHECK (VALUE >= 0)`);
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  const alter = (from: ColumnSchema, to: ColumnSchema): string => {
    const using = conversionExpression(from, to, ident('c'));
    return `ALTER TABLE probe ALTER COLUMN c TYPE ${columnType(to)}${using === null ? '' : ` USING ${using}`}`;
  };

  /** JSON stores other values as scalars, and other types store JSON as text. */
  const isUnlike = (from: ColumnSchema, to: ColumnSchema): boolean =>
    (kindOf(from) === 'json') !== (kindOf(to) === 'json');
  const unwrap = (from: ColumnSchema): string => {
    const isWrapped = kindOf(from) !== 'json' && kindOf(from) !== 'text';
    const text = isWrapped ? `c::json #>> '{}'` : 'c::text';
    return `ALTER TABLE probe ALTER COLUMN c TYPE ${columnType(from)} USING (${text})::${columnType(from)}`;
  };

  async function run(from: ColumnSchema, to: ColumnSchema, value: string | null): Promise<Run> {
    await client.query(`BEGIN; CREATE TEMP TABLE probe (c ${columnType(from)}) ON COMMIT DROP`);
    try {
      await client.query('INSERT INTO probe VALUES ($1)', [value]);
      const look = `SELECT pg_relation_filenode('probe') AS file, c::text AS value FROM probe`;
      const { rows: was } = await client.query<{ file: number; value: string }>(look);
      await client.query(alter(from, to));
      const { rows: is } = await client.query<{ file: number; value: string }>(look);
      const rewritten = was[0]?.file !== is[0]?.file;
      const wayBack = isUnlike(from, to) ? unwrap(from) : alter(to, baseOf(from));
      try {
        await client.query(wayBack);
      } catch {
        // No offered conversion can restore the old value from the new one.
        return { failed: null, rewritten, kept: false };
      }
      const { rows: back } = await client.query<{ value: string }>(look);
      return { failed: null, rewritten, kept: was[0]?.value === back[0]?.value };
    } catch (error) {
      return { failed: (error as Error).message, rewritten: false, kept: null };
    } finally {
      await client.query('ROLLBACK');
    }
  }

  for (const type of TYPES) {
    it(`match the announced ones from ${type}`, async () => {
      const from = schemaOf(type);
      for (const target of TYPES.filter((other) => isTried(type, other))) {
        const to = schemaOf(target);
        const costs = typeChangeCosts(from, to, NEEDS);
        const change = `${type} → ${target}`;
        const empty = await run(from, to, null);
        expect(empty.failed, `${change} without values`).to.equal(null);
        expect(empty.rewritten, `${change} rewrites`).to.equal(costs.rewrites_table);
        const outcomes: Run['kept'][] = [];
        for (const value of SAMPLES[type] ?? []) {
          const { failed, kept } = await run(from, to, value);
          outcomes.push(kept);
          if (failed !== null) expect(costs.may_fail, `${change} of ${value}: ${failed}`).to.equal(true);
          if (kept === false) expect(costs.loses_data, `${change} of ${value} is not kept`).to.equal(true);
        }
        // PostgreSQL converts a domain through text, which it rejects where a cast would change the value.
        if (![type, target].includes('score')) expectNotTooMuch(outcomes, costs.loses_data, change);
      }
    });
  }

  it('text too long for its new length is rejected instead of truncated', async () => {
    const { failed } = await run(schemaOf('text'), schemaOf('character varying(10)'), 'x'.repeat(11));
    expect(failed).to.match(/too long/);
  });

  it('a number becomes boolean by comparison with zero', async () => {
    for (const type of ['smallint', 'bigint', 'numeric', 'real']) {
      for (const [value, expected] of [
        ['0', 'false'],
        ['7', 'true'],
      ] as const) {
        await client.query(`BEGIN; CREATE TEMP TABLE probe (c ${type}) ON COMMIT DROP`);
        await client.query('INSERT INTO probe VALUES ($1)', [value]);
        await client.query(alter(schemaOf(type), schemaOf('boolean')));
        const { rows } = await client.query<{ c: string }>('SELECT c::text FROM probe');
        await client.query('ROLLBACK');
        expect(rows[0]?.c, `${type} ${value}`).to.equal(expected);
      }
    }
  });
});
