/** Bounds of new partitions that PostgreSQL rejects. The test asks PostgreSQL about every pair of bounds. */
import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { newBoundProblems } from '../../../src/schema/invariants/partitions.js';
import type { Collection } from '../../../src/schema/model/model.js';
import type { Need, TableExtras } from '../../../src/schema/model/extras.js';
import type { State } from '../../../src/schema/model/state.js';
import { type Projected, startProjected } from '../../support/projected.js';
import { column, stateOf } from './states.js';

interface Key {
  title: string;
  /** The columns in SQL, and as fields. */
  sql: string;
  fields: object[];
  partition_by: string;
  needs?: Need[];
  /** True if the service finds all conflicts, not only some of them. */
  isExact?: true;
  bounds: string[];
}

const range = (from: string, to: string): string => `FOR VALUES FROM (${from}) TO (${to})`;
const within = (...values: string[]): string => `FOR VALUES IN (${values.join(', ')})`;
const hash = (modulus: number, remainder: number): string =>
  `FOR VALUES WITH (modulus ${modulus}, remainder ${remainder})`;

const TEXT_RANGES = [
  range(`'a'`, `'m'`),
  range(`'b'`, `'Z'`),
  range(`'B'`, `'a'`),
  range(`'m'`, 'MAXVALUE'),
  range('MINVALUE', `'b'`),
  range(`'a'`, `'a'`),
];
/** The order of their bytes depends on the encoding of the database. */
const OTHER_TEXT_RANGES = [range(`'é'`, `'ü'`), range(`'a'`, `'é'`)];

const DATE_RANGES = [
  range(`'2024-01-01'`, `'2024-02-01'`),
  range(`'2024-02-01'`, `'infinity'`),
  range(`'-infinity'`, `'2024-01-01'`),
  range(`'infinity'`, 'MAXVALUE'),
  range(`'2024-01-31'::date`, `'2024-03-01'`),
];

const KEYS: Key[] = [
  {
    title: 'ranges of integers',
    sql: 'v integer',
    fields: [column('v')],
    partition_by: 'RANGE (v)',
    isExact: true,
    bounds: [
      range('0', '10'),
      range(`'10'`, `'20'`),
      range('-5', '0'),
      range(`'-10'`, '-5'),
      range('9', '11'),
      range('5', '5'),
      range('5', '1'),
      range('MINVALUE', '0'),
      range('20', 'MAXVALUE'),
      range('MINVALUE', 'MAXVALUE'),
      range('MAXVALUE', 'MINVALUE'),
      range('5::integer', `'7'::int`),
      range('1, 2', '3, 4'),
      range('NULL', '4'),
      within('1'),
      hash(2, 0),
      'DEFAULT',
    ],
  },
  {
    title: 'ranges of several columns',
    sql: 'v integer, w date',
    fields: [column('v'), column('w', 'date')],
    partition_by: 'RANGE (v, w)',
    isExact: true,
    bounds: [
      range(`1, '2024-01-01'`, `1, '2024-02-01'`),
      range(`1, '2024-02-01'`, `2, '2024-01-01'`),
      range(`1, MINVALUE`, `1, MAXVALUE`),
      range(`1, MAXVALUE`, `2, MINVALUE`),
      range(`MINVALUE, MINVALUE`, `1, MINVALUE`),
      range(`2, '2024-01-01'`, `MAXVALUE, MAXVALUE`),
      range(`2, '2024-01-01'`, `2, '2023-01-01'`),
      range('1', '2'),
      'DEFAULT',
    ],
  },
  {
    title: 'ranges of dates',
    sql: 'v date',
    fields: [column('v', 'date')],
    partition_by: 'RANGE (v)',
    isExact: true,
    bounds: DATE_RANGES,
  },
  {
    title: 'ranges of dates in other formats',
    sql: 'v date',
    fields: [column('v', 'date')],
    partition_by: 'RANGE (v)',
    bounds: [...DATE_RANGES, range(`'Jan 1 2024'`, `'20240201'`), range(`'today'`, `'tomorrow'`)],
  },
  {
    title: 'lists of dates whose meaning changes',
    sql: 'v date',
    fields: [column('v', 'date')],
    partition_by: 'LIST (v)',
    bounds: [within(`'today'`), within(`'today'`, `'2024-01-01'`), within(`'2024-01-01'`), within(`'20240101'`)],
  },
  {
    title: 'ranges of timestamps with time zone',
    sql: 'v timestamptz',
    fields: [column('v', 'timestamp')],
    partition_by: 'RANGE (v)',
    isExact: true,
    bounds: [
      range(`'2024-01-01 00:00:00+00'`, `'2024-02-01 00:00:00+00'`),
      range(`'2024-02-01 01:00:00+01'`, `'2024-03-01'`),
      range(`'2024-02-01T01:30:00+01:30'`, `'2024-02-01 00:00:00.000001Z'`),
      range(`'2024-01-31 23:30:00-0030'`, `'2024-02-01 00:00:01'`),
      range(`'-infinity'`, `'2023-12-31 19:00:00-05'`),
    ],
  },
  {
    title: 'ranges of timestamps without time zone and with seconds only',
    sql: 'v timestamp(0)',
    fields: [column('v', 'dateTime', { extras: { precision: 0 } })],
    partition_by: 'RANGE (v)',
    bounds: [
      range(`'2024-01-01 00:00:00'`, `'2024-02-01 00:00:00'`),
      range(`'2024-01-31 23:59:59.6'`, `'2024-02-02'`),
      range(`'2024-02-01 00:00:00+05'`, `'2024-02-02'`),
      range(`'2024-02-02'`, `'2024-02-01 00:00:00'`),
    ],
  },
  {
    title: 'ranges of rounded numbers',
    sql: 'v numeric(6,2)',
    fields: [column('v', 'decimal', { numeric_precision: 6, numeric_scale: 2 })],
    partition_by: 'RANGE (v)',
    bounds: [
      range('0', '1.5'),
      range('1.50', '2'),
      range('1.499', '1.6'),
      range('1.4999', '1.5001'),
      range(`'-1.25'`, '-0.5'),
      range('-0.50', '0.00'),
      range('1e0', '2'),
      range(`'NaN'`, 'MAXVALUE'),
    ],
  },
  {
    title: 'lists of numbers',
    sql: 'v numeric',
    fields: [column('v', 'decimal', { numeric_precision: null, numeric_scale: null })],
    partition_by: 'LIST (v)',
    bounds: [
      within('1', '2.50'),
      within(`'2.5'`),
      within('1.0', '7'),
      within('NULL', '8'),
      within('NULL'),
      within('9', '9'),
    ],
  },
  {
    title: 'lists of texts',
    sql: 'v varchar(3)',
    fields: [column('v', 'string', { max_length: 3 })],
    partition_by: 'LIST (v)',
    isExact: true,
    bounds: [
      within(`'a'`, `'b'`),
      within(`'B'`, `''`),
      within(`'b'`),
      within(`''`),
      within('NULL'),
      within(`'x'`, 'NULL'),
      within(`'é'`),
      within(`'é'`, `'é'`),
      'DEFAULT',
    ],
  },
  {
    title: 'lists of padded texts',
    sql: 'v char(4)',
    fields: [column('v', 'string', { data_type: 'character', max_length: 4 })],
    partition_by: 'LIST (v)',
    isExact: true,
    bounds: [within(`'a'`), within(`'a  '`), within(`' a'`), within(`''`, `'b'`), within(`' '`)],
  },
  {
    title: 'ranges of texts in the order of bytes',
    sql: 'v text COLLATE "C"',
    fields: [column('v', 'text', { extras: { collation: '"C"' } })],
    partition_by: 'RANGE (v)',
    isExact: true,
    bounds: TEXT_RANGES,
  },
  {
    title: 'ranges of texts with other characters in the order of bytes',
    sql: 'v text COLLATE "C"',
    fields: [column('v', 'text', { extras: { collation: '"C"' } })],
    partition_by: 'RANGE (v)',
    bounds: [...TEXT_RANGES, ...OTHER_TEXT_RANGES],
  },
  {
    title: 'ranges of texts in the order of a key',
    sql: 'v text',
    fields: [column('v', 'text')],
    partition_by: 'RANGE (v COLLATE "POSIX")',
    isExact: true,
    bounds: TEXT_RANGES,
  },
  {
    title: 'ranges of texts in the order of a language',
    sql: 'v text COLLATE "en-x-icu"',
    fields: [column('v', 'text', { extras: { collation: '"en-x-icu"' } })],
    partition_by: 'RANGE (v)',
    bounds: [...TEXT_RANGES, ...OTHER_TEXT_RANGES],
  },
  {
    title: 'ranges of texts with an operator class',
    sql: 'v text COLLATE "C"',
    fields: [column('v', 'text', { extras: { collation: '"C"' } })],
    partition_by: 'RANGE (v text_pattern_ops)',
    bounds: TEXT_RANGES,
  },
  {
    title: 'lists of booleans',
    sql: 'v boolean',
    fields: [column('v', 'boolean')],
    partition_by: 'LIST (v)',
    bounds: [within('true'), within(`'t'`), within('false', 'NULL'), within(`'no'`), within(`'false'`)],
  },
  {
    title: 'lists of labels',
    sql: 'v mood',
    fields: [column('v', 'unknown', { data_type: 'mood' })],
    partition_by: 'LIST (v)',
    needs: [{ kind: 'enum', name: 'mood', labels: ['sad', 'ok', 'glad'] }],
    isExact: true,
    bounds: [within(`'sad'`, `'ok'`), within(`'ok'`), within(`'glad'`), within('NULL')],
  },
  {
    title: 'ranges of UUIDs',
    sql: 'v uuid',
    fields: [column('v', 'uuid')],
    partition_by: 'RANGE (v)',
    isExact: true,
    bounds: [
      range(`'00000000-0000-0000-0000-000000000000'`, `'80000000-0000-0000-0000-000000000000'`),
      range(`'7FFFFFFF-0000-0000-0000-000000000000'`, 'MAXVALUE'),
      range(`'80000000-0000-0000-0000-000000000000'`, 'MAXVALUE'),
      range(`'a0000000-0000-0000-0000-000000000000'`, `'B0000000-0000-0000-0000-000000000000'`),
    ],
  },
  {
    title: 'lists of an expression',
    sql: 'v text',
    fields: [column('v', 'text')],
    partition_by: 'LIST (lower(v))',
    bounds: [within(`'a'`), within(`'a'`, `'b'`), within('NULL'), 'DEFAULT'],
  },
  {
    title: 'hashes',
    sql: 'v integer',
    fields: [column('v')],
    partition_by: 'HASH (v)',
    isExact: true,
    bounds: [
      hash(2, 0),
      hash(2, 1),
      hash(4, 1),
      hash(4, 2),
      hash(6, 1),
      hash(8, 7),
      hash(4, 4),
      hash(1, 0),
      hash(0, 0),
      'DEFAULT',
    ],
  },
];

describe('bounds of a new partition', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
    await projected.client.query(`CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad')`);
  });
  after(() => projected.stop());

  function stateWith({ fields, partition_by, needs }: Key, bounds: Record<string, string>): State {
    const table = (extras: TableExtras) => ({
      fields,
      change: (collection: Collection) => ({ ...collection, schema: { comment: null, extras } }),
    });
    const parts = Object.entries(bounds).map(([name, bound]) => [name, table({ partition_of: { table: 't', bound } })]);
    return stateOf({ t: table({ partition_by, ...(needs && { needs }) }), ...Object.fromEntries(parts) });
  }

  /** Asks PostgreSQL which of the bounds it rejects, each in addition to the first. */
  async function findRejected(
    { sql, partition_by }: Key,
    first: string,
    bounds: readonly string[],
  ): Promise<Set<string>> {
    const { client } = projected;
    await client.query('BEGIN');
    await client.query(`CREATE TABLE t (${sql}) PARTITION BY ${partition_by}; CREATE TABLE a PARTITION OF t ${first}`);
    const rejected = new Set<string>();
    for (const bound of bounds) {
      await client.query('SAVEPOINT one');
      await client.query(`CREATE TABLE b PARTITION OF t ${bound}`).catch(() => rejected.add(bound));
      await client.query('ROLLBACK TO one');
    }
    await client.query('ROLLBACK');
    return rejected;
  }

  /** Returns the bounds that PostgreSQL accepts for the only partition of a table. */
  async function findValid({ sql, partition_by, bounds }: Key): Promise<string[]> {
    const { client } = projected;
    await client.query('BEGIN');
    await client.query(`CREATE TABLE t (${sql}) PARTITION BY ${partition_by}`);
    const valid: string[] = [];
    for (const bound of bounds) {
      await client.query('SAVEPOINT one');
      await client.query(`CREATE TABLE b PARTITION OF t ${bound}`).then(
        () => valid.push(bound),
        () => undefined,
      );
      await client.query('ROLLBACK TO one');
    }
    await client.query('ROLLBACK');
    return valid;
  }

  for (const key of KEYS)
    it(`are rejected only if PostgreSQL rejects ${key.title}${key.isExact ? ', and always then' : ''}`, async () => {
      for (const first of await findValid(key)) {
        const rejected = await findRejected(key, first, key.bounds);
        const from = stateWith(key, { a: first });
        for (const bound of key.bounds) {
          const problems = runToEnd(newBoundProblems({ from, to: stateWith(key, { a: first, b: bound }) }, ['b']));
          const message = problems.map((each) => each.message).join();
          const both = `${first} and ${bound}: ${message}`;
          if (problems.length > 0) expect(rejected.has(bound), both).to.equal(true);
          else if (key.isExact) expect(rejected.has(bound), both).to.equal(false);
        }
      }
    });

  const [integers, hashes] = [KEYS[0], KEYS.at(-1)] as [Key, Key];
  const told = (key: Key, before: Record<string, string>, after: Record<string, string>): string[] => {
    const [from, to] = [stateWith(key, before), stateWith(key, { ...before, ...after })];
    return runToEnd(newBoundProblems({ from, to }, Object.keys(after))).map(
      ({ subject, message }) =>
        `${subject?.kind === 'collection' ? `${subject.collection} ${subject.member?.join('.')}` : ''}: ${message}`,
    );
  };

  it('are left to PostgreSQL if their numbers have very many digits', () => {
    for (const digits of [1_000, 2_000]) {
      const end = '9'.repeat(digits);
      const problems = told(integers, { a: range('0', end) }, { b: range('1', end) });
      expect(problems).to.have.length(digits > 1_000 ? 0 : 1);
    }
  });

  it('name the other partition and the location', () => {
    const at = (name: string): string => `${name} schema.extras.partition_of.bound`;
    const a = range('0', '10');
    expect(told(integers, { a }, { b: range('9', '20') })).to.deep.equal([
      `${at('b')}: the bound overlaps that of "a": partitions of "t" must not have common values`,
    ]);
    expect(told(integers, {}, { b: a, a, c: range('10', '20') })).to.deep.equal([
      `${at('b')}: the bound overlaps that of "a": partitions of "t" must not have common values`,
    ]);
    expect(told(integers, { a: 'DEFAULT' }, { b: 'DEFAULT' })).to.deep.equal([
      `${at('b')}: "t" already has the default partition "a"`,
    ]);
    expect(told(integers, { a }, { b: range('20', '20') })).to.deep.equal([`${at('b')}: FROM must be less than TO`]);
    expect(told(integers, { a }, { b: within('20') })).to.deep.equal([
      `${at('b')}: the table is partitioned by RANGE: use FOR VALUES FROM (…) TO (…)`,
    ]);
    expect(told(hashes, { a: hash(4, 1) }, { b: hash(6, 2), c: hash(2, 2) })).to.deep.equal([
      `${at('b')}: the modulus must be a factor or a multiple of that of "a"`,
      `${at('c')}: the remainder must be less than the modulus, and not negative`,
    ]);
    expect(told(integers, { a, b: a }, {})).to.deep.equal([]);
  });
});
