import { expect } from 'chai';
import { OperatorError } from '../../src/kernel/problem.js';
import { readDatabase } from '../../src/postgres/server.js';
import type { Queryable } from '../../src/postgres/pool.js';

/** A server that responds with these values. */
const server = (version: string, number: number, encoding = 'UTF8'): Queryable =>
  ({ query: () => Promise.resolve({ rows: [{ database: 'd', version, number, encoding }] }) }) as unknown as Queryable;

const refusalOf = async (db: Queryable): Promise<string> => {
  const error: unknown = await readDatabase(db).catch((reason: unknown) => reason);
  expect(error).to.be.instanceOf(OperatorError);
  return (error as Error).message;
};

describe('the database server', () => {
  it('is identified by name and version', async () => {
    expect(await readDatabase(server('18.4 (Debian 18.4-1)', 180_004))).to.deep.equal({
      database: 'd',
      version: '18.4',
      versionNumber: 180_004,
    });
    expect(await readDatabase(server('14.0', 140_000))).to.include({ version: '14.0' });
  });

  it('is rejected below PostgreSQL 14 and with other encodings than UTF8', async () => {
    expect(await refusalOf(server('13.22 (Debian)', 139_999))).to.equal(
      'The database server runs PostgreSQL 13.22, but this service requires 14 or newer.',
    );
    for (const encoding of ['LATIN1', 'SQL_ASCII']) {
      expect(await refusalOf(server('18.4', 180_004, encoding))).to.equal(
        `The database "d" has the encoding ${encoding}, but this service requires UTF8.`,
      );
    }
  });
});
