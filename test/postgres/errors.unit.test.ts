import { expect } from 'chai';
import pg from 'pg';
import {
  DISK_FULL,
  ExchangeError,
  LostConnectionError,
  OLDER_RELEASE,
  ReadOnlyServerError,
  SQLSTATE,
  driverError,
  environmentProblem,
  isConnectionLoss,
  isLocked,
  isRecoveryConflict,
  readOnly,
  sqlState,
} from '../../src/postgres/errors.js';

function sent(code: string, message = 'refused'): pg.DatabaseError {
  const error = new pg.DatabaseError(message, 0, 'error');
  error.code = code;
  return error;
}
const system = (code: unknown): Error => Object.assign(new Error(`connect ${String(code)}`), { code });

const UNREACHABLE = {
  code: 'UNAVAILABLE',
  message: 'The database is not reachable. Nothing was changed. Try again later.',
};
const EXHAUSTED = {
  code: 'UNAVAILABLE',
  message: 'The database is out of resources. Nothing was changed. Try again later.',
};
const LOCKED = {
  code: 'LOCK_TIMEOUT',
  message: 'Another session holds a lock that this change needs. Nothing was changed. Try again shortly.',
};
const TOO_LONG = {
  code: 'LOCK_TIMEOUT',
  message:
    'PostgreSQL canceled a statement of this change: it exceeded STATEMENT_TIMEOUT, or an operator ' +
    'canceled it. Nothing was changed.',
};
const READ_ONLY_REASON =
  'The database is read-only: it is a standby, or its transactions are read-only by default. Nothing was changed. ' +
  'Send the change to the primary';
const READ_ONLY = { code: 'READ_ONLY', message: `${READ_ONLY_REASON}.` };
const CONFLICT = {
  code: 'UNAVAILABLE',
  message: 'The standby canceled the query, because it conflicted with replay. Try again.',
};

/** Keyed by kind: the response, and whether the connection is lost. */
const MEANINGS: [what: string, error: unknown, problem: object | undefined, isLost: boolean][] = [
  ['no lock in time', sent('55P03'), LOCKED, false],
  ['a deadlock', sent('40P01'), LOCKED, false],
  ['two changes at once', sent('40001'), LOCKED, false],
  [
    'a query in the way of a standby',
    sent('40001', 'canceling statement due to conflict with recovery'),
    CONFLICT,
    false,
  ],
  ['a statement that took too long', sent('57014'), TOO_LONG, false],
  ['a statement that a read-only server rejects', sent('25006'), READ_ONLY, false],
  ['a connection to a read-only server', new ReadOnlyServerError('the server is a standby'), READ_ONLY, true],
  ['a server that is stopped', sent('57P01'), UNREACHABLE, true],
  ['a server that crashed', sent('57P02'), UNREACHABLE, true],
  ['a server that starts', sent('57P03'), UNREACHABLE, true],
  ['a database that was dropped', sent('57P04'), UNREACHABLE, true],
  ['a session that was idle too long', sent('57P05'), UNREACHABLE, true],
  ['a transaction that was idle too long', sent('25P03'), UNREACHABLE, true],
  ['a transaction that took too long', sent('25P04'), UNREACHABLE, true],
  ['a connection that broke', sent('08006'), UNREACHABLE, true],
  ['a wrong password', sent('28P01'), UNREACHABLE, false],
  ['a database that is not there', sent('3D000'), UNREACHABLE, false],
  ['no free connection', sent('53300'), EXHAUSTED, false],
  ['no memory', sent('53200'), EXHAUSTED, false],
  [
    'a full disk',
    sent('53100'),
    { code: 'UNAVAILABLE', message: `${DISK_FULL} Nothing was changed.`, details: { sqlstate: '53100' } },
    false,
  ],
  [
    'a newer release',
    sent('22P02', `invalid input: "${OLDER_RELEASE}"`),
    { code: 'UNAVAILABLE', message: OLDER_RELEASE },
    false,
  ],
  ['that sentence for another reason', sent('42P01', OLDER_RELEASE), undefined, false],
  ['a text that is not a number', sent('22P02'), undefined, false],
  ['a value that is there', sent('23505'), undefined, false],
  ['a transaction that failed before', sent('25P02'), undefined, false],
  ['a code that only begins alike', sent('57P06'), undefined, false],
  ...(
    [
      'ECONNREFUSED',
      'ECONNRESET',
      'ECONNABORTED',
      'EPIPE',
      'ETIMEDOUT',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'ENOTFOUND',
      'EAI_AGAIN',
      'ENOENT',
    ] as const
  ).map((code): [string, unknown, object, boolean] => [code, system(code), UNREACHABLE, true]),
  ['another error of the system', system('EACCES'), undefined, false],
  ['a code that is a number', Object.assign(new Error('Connection terminated'), { code: 5 }), UNREACHABLE, true],
  ['a connection that was given up', new LostConnectionError('silent'), UNREACHABLE, true],
  ...[
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'timeout expired',
    'Query read timeout',
  ].map((text): [string, unknown, object, boolean] => [text, new Error(text), UNREACHABLE, true]),
  [
    'timeout exceeded when trying to connect',
    new Error('timeout exceeded when trying to connect'),
    {
      code: 'OVERLOADED',
      message: 'All database connections are in use. Nothing was changed. Try again later.',
    },
    true,
  ],
  ['a sentence that only ends so', new Error('the Connection terminated'), undefined, false],
  ['a bug', new TypeError('undefined is not a function'), undefined, false],
  ['no error at all', 'Connection terminated', undefined, false],
];

describe('an error of PostgreSQL', () => {
  for (const [what, error, problem, isLost] of MEANINGS) {
    it(what, () => {
      expect({ problem: environmentProblem(error), isLost: isConnectionLoss(error) }).to.deep.equal({
        problem,
        isLost,
      });
      const wrapped = new ExchangeError(error, []);
      expect({ problem: environmentProblem(wrapped), isLost: isConnectionLoss(wrapped) }).to.deep.equal({
        problem,
        isLost,
      });
    });
  }

  it('has its name from the manual', () => {
    expect(SQLSTATE).to.deep.equal({
      insufficient_privilege: '42501',
      duplicate_table: '42P07',
      duplicate_object: '42710',
      duplicate_column: '42701',
      duplicate_function: '42723',
      dependent_objects_still_exist: '2BP01',
      undefined_table: '42P01',
      undefined_column: '42703',
      wrong_object_type: '42809',
      unique_violation: '23505',
      invalid_text_representation: '22P02',
      serialization_failure: '40001',
      deadlock_detected: '40P01',
      lock_not_available: '55P03',
      object_in_use: '55006',
      query_canceled: '57014',
      read_only_sql_transaction: '25006',
      disk_full: '53100',
      internal_error: 'XX000',
    });
    expect(new LostConnectionError('x').name).to.equal('LostConnectionError');
  });

  it('names the primary if it is known', () => {
    const primary = 'https://primary.example';
    expect(environmentProblem(sent('25006'), primary)).to.deep.equal({
      code: 'READ_ONLY',
      message: `${READ_ONLY_REASON}: ${primary}`,
      details: { primary },
    });
    expect(readOnly(null)).to.not.have.property('details');
  });

  it('is recognized as a lock conflict or standby conflict', () => {
    for (const code of ['55P03', '40P01', '40001']) expect(isLocked(sent(code)), code).to.equal(true);
    for (const code of ['57014', '23505']) expect(isLocked(sent(code)), code).to.equal(false);
    expect(isRecoveryConflict(sent('40001', 'conflict with recovery'))).to.equal(true);
    expect(isRecoveryConflict(sent('40001'))).to.equal(false);
    expect(isRecoveryConflict(sent('57014', 'conflict with recovery'))).to.equal(false);
  });

  it('keeps the wrapped error and its message', () => {
    const error = sent('23505', 'twice');
    const wrapped = new ExchangeError(error, [{ command: 'SELECT', rows: [1] }]);
    expect(driverError(wrapped)).to.equal(error);
    expect(wrapped).to.deep.include({
      message: 'twice',
      name: 'ExchangeError',
      results: [{ command: 'SELECT', rows: [1] }],
    });
    expect(new ExchangeError('text', []).message).to.equal('text');
    expect([sqlState(wrapped), sqlState(error), sqlState(system('23505'))]).to.deep.equal([
      '23505',
      '23505',
      undefined,
    ]);
  });
});
