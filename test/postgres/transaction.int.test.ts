import { expect } from 'chai';
import pg from 'pg';
import { ProblemError } from '../../src/kernel/problem.js';
import { sendBatch } from '../../src/postgres/exchange.js';
import { TRANSACTION_ID, type Transaction, commitOrThrow } from '../../src/postgres/transaction.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

describe('a COMMIT without a response', () => {
  let database: TestDatabase;
  /** The connection that lost the response. */
  let lost: pg.Client;
  /** The server's side of it. */
  let session: pg.Client;
  let isEnded: boolean;
  const ask = async (statement: string): Promise<unknown[]> => {
    const client = new pg.Client(database.connectionString);
    await client.connect();
    try {
      return (await client.query(statement)).rows as unknown[];
    } finally {
      await client.end();
    }
  };

  before(async () => {
    database = await createDatabase();
    await ask('CREATE TABLE written (n integer)');
  });
  beforeEach(async () => {
    await ask('TRUNCATE written');
    [lost, session] = [0, 1].map(() => new pg.Client(database.connectionString)) as [pg.Client, pg.Client];
    isEnded = false;
    lost.on('error', () => undefined);
    session.on('error', () => (isEnded = true));
    await Promise.all([lost.connect(), session.connect()]);
    (lost as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  });
  afterEach(() => session.end().catch(() => undefined));
  after(() => database.drop());

  const begin = async (statement: string): Promise<Transaction> => {
    await session.query('BEGIN');
    await session.query(statement);
    return (await sendBatch(session, [TRANSACTION_ID]))[0]?.rows[0] as unknown as Transaction;
  };
  const outcome = (known: Transaction): Promise<string> =>
    commitOrThrow({ options: { connectionString: database.connectionString } }, lost, known).then(
      () => 'committed',
      (error: unknown) => {
        expect(error).to.be.instanceOf(ProblemError);
        const { code, message } = (error as ProblemError).problem;
        return `${code}: ${message}`;
      },
    );
  const WRITE = 'INSERT INTO written VALUES (1)';
  const NOTHING_WRITTEN =
    'UNAVAILABLE: The connection to the database was lost before the commit. Nothing was changed.';

  it('counts as done if the server confirms it', async () => {
    const known = await begin(WRITE);
    await session.query('COMMIT');
    expect(await outcome(known)).to.equal('committed');
  });

  it('counts as not done if the transaction was rolled back', async () => {
    const known = await begin(WRITE);
    await session.query('ROLLBACK');
    expect(await outcome(known)).to.equal(NOTHING_WRITTEN);
  });

  it('counts as not done if the transaction still waits, which is then ended', async () => {
    const known = await begin(WRITE);
    expect(await outcome(known)).to.equal(NOTHING_WRITTEN);
    await until('its session is ended', () => isEnded);
    expect(await ask('SELECT n FROM written')).to.deep.equal([]);
  });

  it('needs no check if nothing was written', async () => {
    const known = await begin('SELECT 1');
    expect(known.transaction).to.equal(null);
    expect(await outcome(known)).to.equal('committed');
    expect(isEnded).to.equal(false);
  });

  it('is unknown on a server of another timeline', async () => {
    const known = await begin(WRITE);
    const reported = await outcome({ ...known, timeline: (known.timeline ?? 0) + 1 });
    expect(reported).to.include('it is not known whether');
    expect((await session.query('SELECT n FROM written')).rows).to.deep.equal([{ n: 1 }]);
    expect(isEnded).to.equal(false);
  });
});
