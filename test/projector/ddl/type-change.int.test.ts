import { expect } from 'chai';
import pg from 'pg';
import { conversion } from '../../../src/projector/ddl/type-change.js';
import { typeChangeCosts } from '../../../src/projector/ddl/type-change-costs.js';
import { ident } from '../../../src/projector/ddl/sql.js';
import type { ColumnSchema } from '../../../src/schema/model/model.js';
import { columnType, typeFromColumn } from '../../../src/schema/normal-form/index.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { column } from '../columns.js';

/** With each number of digits that rounds otherwise. */
const timed = (name: string, zone: string, values: string[]): Record<string, string[]> =>
  Object.fromEntries([0, 3, 5, 6].map((digits) => [`${name}(${digits}) ${zone}`, values]));

/** Each type with values that are at its edges. */
const SAMPLES: Record<string, string[]> = {
  'character varying(10)': ['a', '0123456789', '1', '1.5', '{"a": 1}', '2020-02-03'],
  'character varying(20)': ['a', '01234567890123456789', 'true'],
  'character varying': ['x'.repeat(300), '-7', '2020-02-03 10:11:12.5'],
  'character(10)': ['a', '0123456789'],
  text: ['x'.repeat(300), '12', '12.3456789', '[1]', '10:11', '8c7a5a0e-3d9c-4bd5-8b0a-000000000001', '\\x00ff'],
  boolean: ['true', 'false'],
  smallint: ['-32768', '32767', '0'],
  integer: ['-2147483648', '2147483647', '1', '16777217'],
  bigint: ['-9223372036854775808', '9223372036854775807', '1', '9007199254740993'],
  real: ['1.1', '3.4e38', '-0.25', 'NaN', '1e-20'],
  'double precision': ['1.1', '1.7e308', '0.1234567890123456', 'NaN'],
  numeric: ['1', '12345678901234567890.123456789', 'NaN'],
  'numeric(10,5)': ['99999.99999', '1.00001', '-0.5', 'NaN'],
  'numeric(12,5)': ['9999999.99999', '2'],
  'numeric(12,0)': ['999999999999', '3'],
  date: ['2020-02-03', '0001-01-01', 'infinity'],
  'time without time zone': ['10:11:12.123456', '00:00'],
  'timestamp without time zone': ['2020-02-03 10:11:12.123456', 'infinity'],
  'timestamp with time zone': ['2020-02-03 10:11:12.123456+02', '-infinity'],
  ...timed('time', 'without time zone', ['10:11:12.123456', '00:00', '23:59:59.999999']),
  ...timed('timestamp', 'without time zone', ['2020-02-03 10:11:12.123456', '1999-12-31 23:59:59.9', 'infinity']),
  ...timed('timestamp', 'with time zone', ['2020-02-03 10:11:12.123456+02', '-infinity']),
  json: ['{"a": [1, 2]}', '"text"', '5', 'null', 'true', '"\\u0000"'],
  jsonb: ['{"a": [1, 2]}', '"text"', '5.5', 'null', 'true'],
  uuid: ['8c7a5a0e-3d9c-4bd5-8b0a-000000000001'],
  bytea: ['\\x', '\\x00ff61'],
};

const TYPES = Object.keys(SAMPLES);
const isTemporal = (type: string): boolean => /^(date|time)/.test(type);
/** To other kinds of types digits make no difference. */
const isTried = (from: string, to: string): boolean =>
  from !== to && (isTemporal(from) === isTemporal(to) || ![from, to].some((type) => /^time\w*\(/.test(type)));
/** Where text is read, or JSON unwrapped, the way back spells the same value differently: only the way there counts. */
const isComparable = (from: string, to: string): boolean => {
  const isText = (type: string): boolean => type === 'text' || type.startsWith('character');
  return !/^(json|bytea)/.test(from) && (!isText(from) || isText(to));
};
const schemaOf = (type: string): ColumnSchema => {
  const [, name, digits, zone] = /^(time|timestamp)\((\d)\) (.*)$/.exec(type) ?? [];
  const { type: fieldType, ...schema } = typeFromColumn(name === undefined ? type : `${name} ${zone}`);
  const extras = digits === undefined ? {} : { extras: { precision: Number(digits) } };
  return column('c', fieldType, { ...schema, ...extras }).schema as ColumnSchema;
};

interface Run {
  failed: string | null;
  rewritten: boolean;
  /** The value went there and back as it was; null where the way back is refused. */
  kept: boolean | null;
}

/** Saying too much is a fault as well. */
function expectNotTooMuch(outcomes: readonly Run['kept'][], loses: boolean, change: string): void {
  const isKept = outcomes.includes(true) && !outcomes.includes(false);
  if (isKept) expect(loses, `${change} keeps all`).to.equal(false);
}

describe('a change of type does what it says it costs', () => {
  let database: TestDatabase;
  let client: pg.Client;
  before(async () => {
    database = await createDatabase();
    client = new pg.Client({ connectionString: database.connectionString, options: '-c TimeZone=UTC' });
    await client.connect();
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  const alter = (from: ColumnSchema, to: ColumnSchema): string => {
    const using = conversion(from, to, ident('c'));
    return `ALTER TABLE probe ALTER COLUMN c TYPE ${columnType(to)}${using === null ? '' : ` USING ${using}`}`;
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
      try {
        await client.query(alter(to, from));
      } catch {
        return { failed: null, rewritten, kept: null };
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
    it(`from ${type}`, async () => {
      const from = schemaOf(type);
      for (const target of TYPES.filter((other) => isTried(type, other))) {
        const to = schemaOf(target);
        const costs = typeChangeCosts(from, to);
        const change = `${type} → ${target}`;
        const empty = await run(from, to, null);
        expect(empty.failed, `${change} without values`).to.equal(null);
        expect(empty.rewritten, `${change} rewrites`).to.equal(costs.rewrites_table);
        const outcomes: Run['kept'][] = [];
        for (const value of SAMPLES[type] ?? []) {
          const { failed, kept } = await run(from, to, value);
          outcomes.push(kept);
          if (failed !== null) expect(costs.may_fail, `${change} of ${value}: ${failed}`).to.equal(true);
          if (kept === false && isComparable(type, target))
            expect(costs.loses_data, `${change} of ${value} is not kept`).to.equal(true);
        }
        if (isTemporal(type) && isTemporal(target)) expectNotTooMuch(outcomes, costs.loses_data, change);
      }
    });
  }

  it('text that is too long for its new length is refused, not cut', async () => {
    const { failed } = await run(schemaOf('text'), schemaOf('character varying(10)'), 'x'.repeat(11));
    expect(failed).to.match(/too long/);
  });

  it('a number is carried to boolean as its being other than zero', async () => {
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
