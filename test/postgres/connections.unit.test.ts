import { EventEmitter } from 'node:events';
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import pg from 'pg';
import { advisoryKey, logChannel } from '../../src/postgres/locked-session.js';
import { OLDER_RELEASE } from '../../src/postgres/errors.js';
import {
  JSON_AS_TEXT,
  connectionConfig,
  toDirectOptions,
  retryRecoveryConflicts,
  startupOptions,
  transactionSettings,
} from '../../src/postgres/pool.js';
import { nameStatements, prepareNothingOn, preparationsOn } from '../../src/postgres/exchange.js';
import { MIGRATIONS, REFUSE_OLDER_RELEASE } from '../../src/postgres/own-tables.js';
import { writeLimits } from '../../src/postgres/limits.js';

const HERE = { connectionString: 'postgres://u:p@h:1/app', schema: 'crm', serviceSchema: 'service_crm' };
const SETTINGS = { schema: 'crm', applicationName: 'data-platform-service' };

describe('the connection configuration', () => {
  it('sends session settings as startup parameters', () => {
    const { types, ...config } = connectionConfig(HERE);
    expect(config).to.deep.equal({
      connectionString: 'postgres://u:p@h:1/app',
      hosts: null,
      serviceSchema: 'service_crm',
      objectsOwner: null,
      application_name: 'data-platform-service',
      options: startupOptions(SETTINGS),
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    expect(types).to.have.property('getTypeParser');
  });

  it('sets its application name, timeouts and lock limits', () => {
    const config = connectionConfig({ ...HERE, applicationName: 'x', connectTimeout: 7, lockTimeout: 9 });
    expect(config).to.include({
      application_name: 'x',
      connectionTimeoutMillis: 7,
      options: startupOptions({ ...SETTINGS, applicationName: 'x', lockTimeout: 9 }),
    });
    expect(config.options).to.contain('-c lock_timeout=9');
  });

  it("keeps the address's options before its own", () => {
    const { connectionString, options } = connectionConfig({
      ...HERE,
      connectionString: 'postgres://u:p@h:1/app?options=-c%20work_mem%3D1MB&sslmode=disable',
    });
    expect(connectionString).to.equal('postgres://u:p@h:1/app?sslmode=disable');
    expect(options).to.equal(`-c work_mem=1MB ${startupOptions(SETTINGS)}`);
  });

  it('leaves invalid addresses unchanged', () => {
    const { connectionString, options } = connectionConfig({ ...HERE, connectionString: '/var/run/sock app' });
    expect([connectionString, options]).to.deep.equal(['/var/run/sock app', startupOptions(SETTINGS)]);
  });

  it('sends settings with each transaction behind a pooler', () => {
    const pooled = { ...HERE, pooler: 'transaction' as const, direct: 'postgres://u:p@d:2/app' };
    const { options, settings, direct } = connectionConfig(pooled);
    expect([options, settings]).to.deep.equal([undefined, transactionSettings(SETTINGS)]);
    expect(direct).to.include({ connectionString: 'postgres://u:p@d:2/app', options: startupOptions(SETTINGS) });
    expect(direct).to.not.have.any.keys('direct', 'settings');
    expect(toDirectOptions(pooled)).to.deep.equal({
      ...HERE,
      connectionString: 'postgres://u:p@d:2/app',
      pooler: undefined,
      direct: undefined,
    });
    expect(toDirectOptions(HERE)).to.include({ connectionString: HERE.connectionString });
  });

  it('parses counts and positions as numbers while they are exact', () => {
    const { types } = connectionConfig(HERE);
    const parse = types?.getTypeParser(20) as (text: string) => unknown;
    expect(['0', '-7', '9007199254740991', '9007199254740992', '9223372036854775807'].map(parse)).to.deep.equal([
      0,
      -7,
      9_007_199_254_740_991,
      '9007199254740992',
      '9223372036854775807',
    ]);
    expect(types?.getTypeParser(23)).to.equal(pg.types.getTypeParser(23));
    expect((JSON_AS_TEXT.getTypeParser(3802) as (text: string) => unknown)('{"a": 1}')).to.equal('{"a": 1}');
    expect(JSON_AS_TEXT.getTypeParser(20)).to.equal(parse);
  });
});

describe('prepared statements of a connection', () => {
  it('get a hundred distinct names, and none afterwards', () => {
    const connection = new EventEmitter() as unknown as pg.Connection;
    const texts = Array.from({ length: 101 }, (_, index) => ({ text: `SELECT ${index}` }));
    const { names, onCompleted } = nameStatements(preparationsOn(connection), texts);
    for (const _ of names) onCompleted();
    expect(names).to.deep.equal([...Array.from({ length: 100 }, (_, index) => `batch_${index + 1}`), '']);
    const another = [{ text: 'SELECT' }];
    expect(nameStatements(preparationsOn(connection), another).names).to.deep.equal(['']);
    const fresh = new EventEmitter() as unknown as pg.Connection;
    expect(nameStatements(preparationsOn(fresh), another).names).to.deep.equal(['batch_1']);
  });

  it('get no names behind a pooler', () => {
    const connection = new EventEmitter() as unknown as pg.Connection;
    prepareNothingOn(connection);
    expect(nameStatements(preparationsOn(connection), [{ text: 'SELECT' }]).names).to.deep.equal(['']);
  });
});

describe('a query cancelled by a standby', () => {
  const conflict = (): pg.DatabaseError =>
    Object.assign(new pg.DatabaseError('canceling statement due to conflict with recovery', 0, 'error'), {
      code: '40001',
    });

  /** The statements that are sent for these pool responses. */
  async function ask(answers: unknown[]): Promise<{ sent: unknown[][]; answer: unknown }> {
    const sent: unknown[][] = [];
    const pool = {
      query: (...input: unknown[]) => {
        sent.push(input);
        const answer = answers.shift();
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    };
    retryRecoveryConflicts(pool as unknown as pg.Pool);
    const answer: unknown = await (pool as unknown as pg.Pool).query('SELECT $1', [1]).catch((error: unknown) => error);
    return { sent, answer };
  }

  it('is retried at most twice', async () => {
    expect(await ask([conflict(), conflict(), 'rows'])).to.deep.equal({
      sent: Array.from({ length: 3 }, () => ['SELECT $1', [1]]),
      answer: 'rows',
    });
  });

  it('then fails, and fails immediately for any other reason', async () => {
    const last = conflict();
    const { sent, answer } = await ask([conflict(), conflict(), last, 'rows']);
    expect([sent.length, answer]).to.deep.equal([3, last]);
    const other = new Error('division by zero');
    expect((await ask([other, 'rows'])).answer).to.equal(other);
  });
});

describe('lock keys and notification channels', () => {
  it('are equal in every release', () => {
    expect(advisoryKey({ database: 'app', schema: 'public' }, 'log')).to.equal('-1632596186223478543');
    expect(advisoryKey({ database: 'app', schema: 'public' }, 'migrations')).to.equal('7095764540280253007');
    expect(logChannel('public')).to.equal('service_events_efa1f375d76194fa');
  });

  it('differ by database, schema and purpose', () => {
    const places = ['a', 'b'].flatMap((database) => ['a', 'b'].map((schema) => ({ database, schema })));
    const keys = places.flatMap((place) => [advisoryKey(place, 'log'), advisoryKey(place, 'change 1')]);
    expect(new Set(keys).size).to.equal(8);
  });
});

describe('the statements before a write', () => {
  it('limit every wait for a lock', () => {
    const limits = (lock: number, statement: number) => writeLimits({ lock, statement }).values;
    expect(limits(1_000, 0)).to.deep.equal(['1000', '0', '5000']);
    expect(limits(0, 7)).to.deep.equal(['1', '7', '5000']);
    expect(limits(-3, 7)).to.deep.equal(['1', '7', '5000']);
    expect(limits(2.1, 7)).to.deep.equal(['3', '7', '5000']);
  });

  it('reject the write if a newer release migrated the database', () => {
    const known = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'));
    expect(REFUSE_OLDER_RELEASE.text).to.contain(
      `CASE WHEN pg_catalog.max(number) > ${known.length} THEN ('${OLDER_RELEASE} '`,
    );
  });
});
