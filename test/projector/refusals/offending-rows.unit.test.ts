import { expect } from 'chai';
import { type RejectedBatch, offendingRowsOf, addRowCount } from '../../../src/projector/refusals/offending-rows.js';
import type { Problem } from '../../../src/kernel/problem.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Field } from '../../../src/schema/model/model.js';
import { initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { added, changed, column, created, relationCreated, tableOf } from '../columns.js';

/** The query after PostgreSQL rejects the change with this SQLSTATE, without the surrounding count. */
function ask(sqlstate: string, before: NewEvent[], change: NewEvent[], more: Partial<RejectedBatch> = {}) {
  const held = follow(initialState(), before);
  const problem: Problem = {
    code: 'DATABASE_REFUSED',
    message: 'no',
    collection: 't',
    field: 'a',
    details: { sqlstate },
  };
  const refused = { problem, before: held, after: follow(held, change), schema: 'public', ...more };
  const query = offendingRowsOf(refused);
  if (query === null) return null;
  const { question, kind, words } = query;
  expect(question).to.match(/^SELECT count\(\*\)::int AS count FROM \(.* LIMIT 1001\) AS offending$/s);
  return [question.replace(/^.*? FROM \(/, '').replace(/ LIMIT 1001\) AS offending$/, ''), kind, ...words];
}

const a = (type: string, schema: object | null = {}): Field => column('t.a', type, schema);
const alter = (sqlstate: string, from: Field, to: Field) => ask(sqlstate, [created('t', [from])], [changed(from, to)]);
const T = '"public"."t"';

describe('violating rows', () => {
  it('are null or would become null', () => {
    expect(alter('23502', a('text'), a('text', { is_nullable: false }))).to.deep.equal([
      `SELECT FROM ${T} WHERE "a" IS NOT DISTINCT FROM NULL`,
      'null',
      'row is null',
      'rows are null',
    ]);
    expect(ask('23502', [created('t')], [added(a('text', { is_nullable: false }))])).to.deep.equal([
      `SELECT FROM ${T}`,
      'null',
      'row would have no value',
      'rows would have no value',
    ]);
  });

  it('have a duplicate value', () => {
    expect(alter('23505', a('text'), a('text', { is_unique: true }))).to.deep.equal([
      `SELECT FROM ${T} WHERE "a" IS DISTINCT FROM NULL GROUP BY "a" HAVING count(*) > 1`,
      'repeated',
      'value occurs more than once',
      'values occur more than once',
    ]);
    expect(ask('23505', [created('t')], [added(a('text', { is_unique: true, default_value: 'x' }))])).to.deep.equal([
      `SELECT FROM ${T}`,
      'repeated',
      'row would have the same value',
      'rows would have the same value',
    ]);
    // Generated columns and columns of a different type cannot be compared yet.
    expect(ask('23505', [created('t')], [added(a('text', { generation_expression: "'x'" }))])).to.equal(null);
    expect(alter('23505', a('text'), a('integer', { is_unique: true }))).to.equal(null);
    expect(alter('23505', a('text'), a('alias', null))).to.equal(null);
  });

  it('are the rows whose foreign key references no row', () => {
    const before = [created('other'), created('t', [a('integer')])];
    const orphans = (one: string, from = T) => [
      `SELECT FROM ${from} m WHERE m."a" IS DISTINCT FROM NULL AND NOT EXISTS (SELECT FROM ${one} o WHERE o."id" = m."a")`,
      'orphaned',
      'row has no referenced row',
      'rows have no referenced row',
    ];
    expect(ask('23503', before, [relationCreated('t.a', 'other')])).to.deep.equal(orphans('"public"."other"'));
    expect(ask('23503', before, [])).to.equal(null);
    expect(ask('23503', before, [relationCreated('t.a', 'other', null)])).to.equal(null);
    expect(
      ask('23503', [created('other'), created('t')], [added(a('integer')), relationCreated('t.a', 'other')]),
    ).to.equal(null);
    const keyless = { ...created('other'), data: { collection: tableOf('other'), fields: [] } } as NewEvent;
    expect(ask('23503', [keyless, created('t', [a('integer')])], [relationCreated('t.a', 'other')])).to.equal(null);
    // Until it is restored, it is in the trash under its former name.
    const restored = new Map([['t', { position: 7, name: 'was' }]]);
    const query = ask('23503', [created('other')], [created('t', [a('integer')]), relationCreated('t.a', 'other')], {
      restored,
    });
    expect(query).to.deep.equal(orphans('"public"."other"', '\0\0' + '7."was"'));
  });

  it('have a longer text', () => {
    expect(alter('22001', a('text'), a('string', { max_length: 5 }))).to.deep.equal([
      `SELECT FROM ${T} WHERE pg_catalog.char_length(pg_catalog.rtrim("a"::text, ' ')) > 5`,
      'too_long',
      'value is longer than 5',
      'values are longer than 5',
    ]);
    expect(alter('22001', a('string'), a('text'))).to.equal(null);
    expect(ask('22001', [created('t')], [added(a('string', { max_length: 5 }))])).to.equal(null);
  });

  it('have a text that does not parse as the new type', () => {
    for (const sqlstate of ['22P02', '22007', '22008']) {
      expect(alter(sqlstate, a('text'), a('date')), sqlstate).to.deep.equal([
        `SELECT FROM ${T} WHERE NOT pg_catalog.pg_input_is_valid("a"::text, 'date')`,
        'unreadable',
        'value cannot be converted to date',
        'values cannot be converted to date',
      ]);
    }
    expect(ask('22P02', [created('t')], [added(a('date'))])).to.equal(null);
    expect(alter('22003', a('text'), a('integer'))?.[1]).to.equal('unreadable');
  });

  it('have a number outside the new type', () => {
    const beyond = (from: string, to: Field) => alter('22003', a(from), to)?.[0];
    const value = '"a"::numeric';
    const whole = (bits: number) =>
      `SELECT FROM ${T} WHERE pg_catalog.round(${value}) NOT BETWEEN - (2::numeric ^ ${bits}) AND (2::numeric ^ ${bits}) - 1`;
    expect(beyond('bigInteger', a('integer'))).to.equal(whole(31));
    expect(beyond('bigInteger', a('integer', { data_type: 'smallint' }))).to.equal(whole(15));
    expect(beyond('decimal', a('bigInteger'))).to.equal(whole(63));
    expect(beyond('bigInteger', a('decimal', { numeric_precision: 7, numeric_scale: 2 }))).to.equal(
      `SELECT FROM ${T} WHERE pg_catalog.abs(pg_catalog.round(${value}, 2)) >= 10::numeric ^ 5 AND ${value} <> 'NaN'`,
    );
    expect(beyond('bigInteger', a('float', { data_type: 'real' }))).to.match(/2::numeric \^ 128 .* OR /);
    expect(beyond('bigInteger', a('float', { data_type: 'double precision' }))).to.equal(undefined);
    expect(alter('22003', a('bigInteger'), a('integer'))?.slice(1)).to.deep.equal([
      'out_of_range',
      'value cannot be converted to integer',
      'values cannot be converted to integer',
    ]);
    expect(ask('22003', [created('t')], [added(a('integer'))])).to.equal(null);
  });

  it('are not queried if the error concerns none or has no location', () => {
    const [before, change] = [[created('t', [a('text')])], [changed(a('text'), a('text', { is_nullable: false }))]];
    const problem = { code: 'DATABASE_REFUSED', message: 'no', details: { sqlstate: '23502' } } as const;
    expect(ask('42P01', before, change)).to.equal(null);
    expect(ask('23502', before, change, { problem: { ...problem, collection: 't' } })).to.equal(null);
    expect(ask('23502', before, change, { problem: { ...problem, field: 'a' } })).to.equal(null);
    expect(ask('23502', [], [created('t', [a('text')])])).to.equal(null);
  });
});

describe('the number of violating rows', () => {
  const problem: Problem = { code: 'DATABASE_REFUSED', message: 'no', details: { sqlstate: '23502' } };
  const rows = { question: '' as never, kind: 'null', words: ['row is null', 'rows are null'] } as const;
  const messagesOf = (count: number) => addRowCount(problem, rows, count);

  it('is reported in words and as a number', () => {
    expect(messagesOf(0)).to.equal(problem);
    expect(messagesOf(1)).to.deep.equal({
      code: 'DATABASE_REFUSED',
      message: 'no (1 row is null)',
      details: { sqlstate: '23502', offending: { kind: 'null', count: 1, more: false } },
    });
    expect(messagesOf(2).message).to.equal('no (2 rows are null)');
    expect(messagesOf(1000)).to.deep.include({ message: 'no (1,000 rows are null)' });
    expect(messagesOf(1000).details?.['offending']).to.deep.equal({ kind: 'null', count: 1000, more: false });
    expect(messagesOf(1001)).to.deep.include({ message: 'no (at least 1,000 rows are null)' });
    expect(messagesOf(1001).details?.['offending']).to.deep.equal({ kind: 'null', count: 1000, more: true });
  });
});
