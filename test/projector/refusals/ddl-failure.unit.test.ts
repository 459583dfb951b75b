import { expect } from 'chai';
import pg from 'pg';
import { ExchangeError } from '../../../src/postgres/errors.js';
import type { Statement } from '../../../src/projector/ddl/step.js';
import {
  ddlFailure,
  isLockTableFull,
  locksPerTransaction,
  createTooFewLocksProblem,
} from '../../../src/projector/refusals/ddl-failure.js';

const statement = (summary: string, source: Partial<Statement['source']>, lock_entries = 1) =>
  ({
    summary,
    lock_entries,
    source: { event: 0, type: 'field.updated', collection: 't', field: null, ...source },
  }) as Statement;

const STATEMENTS = [statement('create table t', {}, 20), statement('alter column t.a', { event: 3, field: 'a' }, 7)];

const messagesOf = (code: string, message: string, more: Partial<pg.DatabaseError> = {}): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError(message, 0, 'error'), { code }, more);

describe('an error of PostgreSQL', () => {
  it('has the location and summary of its statement', () => {
    const error = messagesOf('23502', 'column "a" contains null values');
    const details = { reason: error.message, sqlstate: '23502' };
    const code = 'DATABASE_REFUSED';
    expect(ddlFailure(error, STATEMENTS, 1)).to.deep.equal({
      code,
      message: `PostgreSQL failed to alter column t.a: ${error.message}`,
      collection: 't',
      field: 'a',
      details: { ...details, statement: 'alter column t.a', event: 3 },
    });
    expect(ddlFailure(new ExchangeError(error, []), STATEMENTS, 0)).to.deep.equal({
      code,
      message: `PostgreSQL failed to create table t: ${error.message}`,
      collection: 't',
      details: { ...details, statement: 'create table t', event: 0 },
    });
    // Reported at the commit.
    expect(ddlFailure(error, STATEMENTS, 2)).to.deep.equal({
      code,
      message: `PostgreSQL rejected the change: ${error.message}`,
      details,
    });
  });

  const codes: [sqlstate: string, code: string][] = [
    ['42P07', 'ALREADY_EXISTS'],
    ['42710', 'ALREADY_EXISTS'],
    ['42701', 'ALREADY_EXISTS'],
    ['42P01', 'DATABASE_REFUSED'],
    ['2BP01', 'DATABASE_REFUSED'],
    ['55P03', 'LOCK_TIMEOUT'],
    ['40P01', 'LOCK_TIMEOUT'],
    ['57014', 'LOCK_TIMEOUT'],
    ['53100', 'UNAVAILABLE'],
    ['57P01', 'UNAVAILABLE'],
  ];
  for (const [sqlstate, code] of codes) {
    it(`becomes ${code} if its SQLSTATE is ${sqlstate}, with a location if known`, () => {
      const problem = ddlFailure(messagesOf(sqlstate, 'no'), STATEMENTS, 1);
      const place = code === 'UNAVAILABLE' ? [undefined, undefined] : ['t', 'a'];
      expect([problem.code, problem.collection, problem.field]).to.deep.equal([code, ...place]);
    });
  }

  it('names the dependents, if PostgreSQL lists them', () => {
    const detail = 'view v depends on table t\nview w depends on view v';
    expect(ddlFailure(messagesOf('2BP01', 'cannot drop table t', { detail }), STATEMENTS, 0)).to.deep.equal({
      code: 'IN_USE',
      message:
        'PostgreSQL failed to create table t: view v depends on table t; view w depends on view v. ' +
        'Change or drop the dependent objects first.',
      collection: 't',
      details: {
        reason: 'cannot drop table t',
        sqlstate: '2BP01',
        statement: 'create table t',
        event: 0,
        dependents: ['view v depends on table t', 'view w depends on view v'],
      },
    });
    expect(ddlFailure(messagesOf('23505', 'no', { detail }), STATEMENTS, 0).code).to.equal('DATABASE_REFUSED');
  });
});

describe('a full lock table', () => {
  const full = messagesOf('53200', 'out of shared memory', { file: 'lock.c' });
  const settings = { max_locks_per_transaction: 2, max_connections: 7, max_prepared_transactions: 2 };

  it('is recognized by the source file, unlike other memory shortages', () => {
    expect(isLockTableFull(full)).to.equal(true);
    expect(isLockTableFull(messagesOf('53200', 'out of memory', { file: 'mcxt.c' }))).to.equal(false);
    expect(isLockTableFull(messagesOf('53100', 'no', { file: 'lock.c' }))).to.equal(false);
    expect(isLockTableFull(new Error('out of shared memory'))).to.equal(false);
  });

  it('reports the need of the whole batch', () => {
    expect(ddlFailure(new ExchangeError(full, []), STATEMENTS, 1, settings)).to.deep.equal({
      code: 'DATABASE_REFUSED',
      message:
        'PostgreSQL ran out of lock slots: this change needs about 27 at once. Raise max_locks_per_transaction from 2 ' +
        'to 3 or more and restart PostgreSQL, or split the change.',
      collection: 't',
      field: 'a',
      details: { sqlstate: '53200', setting: 'max_locks_per_transaction', present: 2, needed: 3, entries: 27 },
    });
    expect(ddlFailure(full, STATEMENTS, 0)).to.deep.equal({
      code: 'DATABASE_REFUSED',
      message:
        'PostgreSQL ran out of lock slots: this change needs about 27 at once. Raise max_locks_per_transaction and ' +
        'restart PostgreSQL, or split the change.',
      collection: 't',
      details: { sqlstate: '53200', setting: 'max_locks_per_transaction', entries: 27 },
    });
  });

  it('suggests a value with room for all connections', () => {
    const needed = (entries: number) => createTooFewLocksProblem(entries, settings).details?.['needed'];
    expect([needed(1), needed(27), needed(28), needed(90)]).to.deep.equal([3, 3, 4, 10]);
    expect([locksPerTransaction(27, settings), locksPerTransaction(28, settings)]).to.deep.equal([3, 4]);
  });
});
