import { expect } from 'chai';
import pg from 'pg';
import {
  PoolerError,
  type RouteProperties,
  isStartupRefused,
  createLostOptionsError,
  poolerOf,
  createUnexpectedPoolerError,
} from '../../src/postgres/open-database.js';

const SERVER: RouteProperties = { pooled: false, refuses: undefined, database: 'app', system: '7' };
const POOLER: RouteProperties = { ...SERVER, pooled: true };

describe('the pooler on DATABASE_URL', () => {
  const of = (
    seen: RouteProperties,
    direct: RouteProperties | null = null,
    expected: 'none' | 'transaction' | null = null,
  ): string => {
    try {
      return poolerOf({ seen, direct, expected }) ?? 'none';
    } catch (error) {
      expect(error).to.be.instanceOf(PoolerError);
      return (error as Error).message;
    }
  };
  const MISSING =
    'The setting DIRECT_DATABASE_URL is required, because DATABASE_URL uses a pooler. LISTEN, migrations and ' +
    'concurrent index builds need their own session. Set it to the address of the server itself.';

  it('is detected if DB_POOLER is not set', () => {
    expect(of(SERVER)).to.equal('none');
    expect(of(SERVER, SERVER)).to.equal('none');
    expect(of(POOLER, SERVER)).to.equal('transaction');
  });

  it('has the kind that DB_POOLER sets', () => {
    expect(of(POOLER, null, 'none')).to.equal('none');
    expect(of(POOLER, SERVER, 'none')).to.equal('none');
    expect(of(SERVER, SERVER, 'transaction')).to.equal('transaction');
  });

  it('requires the direct address of the server', () => {
    expect(of(POOLER)).to.equal(MISSING);
    expect(of(SERVER, null, 'transaction')).to.equal(MISSING);
  });

  it('must not be on the direct address, unless DB_POOLER denies it', () => {
    const refused =
      'DIRECT_DATABASE_URL cannot be used: it uses a pooler too. Set it to the address of the server itself.';
    expect(of(POOLER, POOLER)).to.equal(refused);
    expect(of(SERVER, POOLER)).to.equal(refused);
    expect(of(POOLER, POOLER, 'transaction')).to.equal(refused);
    expect(of(POOLER, POOLER, 'none')).to.equal('none');
  });

  it('must lead to the same database and cluster, as far as visible', () => {
    const other =
      'DIRECT_DATABASE_URL cannot be used: it leads to a different database than DATABASE_URL. Set it to the address of the ' +
      'same database without the pooler.';
    expect(of(POOLER, { ...SERVER, database: 'other' })).to.equal(other);
    expect(of(POOLER, { ...SERVER, system: '8' })).to.equal(other);
    expect(of(POOLER, { ...SERVER, database: 'other' }, 'none')).to.equal(other);
    expect(of(POOLER, { ...SERVER, database: 'other', system: null })).to.equal(other);
    expect(of(POOLER, { ...SERVER, system: null })).to.equal('transaction');
    expect(of({ ...POOLER, system: null }, SERVER)).to.equal('transaction');
  });

  it('is rejected if it does not allow transactions', () => {
    const refused =
      'DATABASE_URL cannot be used: its pooler rejects transactions (transaction blocks not allowed). Configure ' +
      'the pooler for transaction pooling (PgBouncer: pool_mode = transaction), or set DATABASE_URL to the server itself.';
    expect(of({ ...POOLER, refuses: 'transaction blocks not allowed' }, SERVER)).to.equal(refused);
    expect(of({ ...SERVER, refuses: 'transaction blocks not allowed' }, null, 'none')).to.equal(refused);
  });
});

describe('errors of a pooler', () => {
  const error = (code: string, message: string) =>
    Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code });

  it('are recognized for startup parameters', () => {
    expect(isStartupRefused(error('08P01', 'unsupported startup parameter: options'))).to.equal(true);
    expect(isStartupRefused(error('08P01', 'unsupported startup parameter in options: search_path'))).to.equal(true);
    expect(isStartupRefused(error('08P01', 'no such user'))).to.equal(false);
    expect(isStartupRefused(error('28P01', 'unsupported startup parameter'))).to.equal(false);
    expect(isStartupRefused(new Error('unsupported startup parameter'))).to.equal(false);
  });

  it('name the setting to change', () => {
    const cause = new Error('x');
    expect(createUnexpectedPoolerError(cause)).to.be.instanceOf(PoolerError).with.property('cause', cause);
    expect(createUnexpectedPoolerError(cause).message).to.equal(
      'DB_POOLER is none, but DATABASE_URL uses a pooler that rejects session settings. Remove DB_POOLER.',
    );
    expect(createLostOptionsError().message).to.equal(
      'DATABASE_URL cannot be used: its pooler does not pass its options on. Set them for the role or the database (ALTER ROLE … ' +
        'SET, ALTER DATABASE … SET).',
    );
  });
});
