import { expect } from 'chai';
import pg from 'pg';
import { type ProbedServer, type Probed, probe } from '../../../src/postgres/hosts/choose-host.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

const foundServer = (probed: Probed): ProbedServer | undefined => ('found' in probed ? probed.found : undefined);

describe('probing a server', () => {
  let database: TestDatabase;
  let client: pg.Client;

  before(async () => {
    database = await createDatabase();
    client = new pg.Client(database.connectionString);
    await client.connect();
  });
  after(async () => {
    await client.end();
    await database.drop();
  });

  it('returns whether it accepts changes, and leaves no connection', async () => {
    const outcome = foundServer(await probe(database.connectionString));
    expect(outcome).to.include({ standby: false, readOnly: false });
    expect(outcome?.timeline).to.be.a('number');
    const open = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '% probe'`;
    await until('its connection is gone', async () => (await client.query(open)).rowCount === 0);
  });

  it('reports read-only databases', async () => {
    await client.query(
      `ALTER DATABASE ${client.escapeIdentifier(client.database ?? '')} SET default_transaction_read_only = on`,
    );
    expect(foundServer(await probe(database.connectionString))).to.include({ standby: false, readOnly: true });
  });

  it('reports the reason if there is no response', async () => {
    const nowhere = new URL(database.connectionString);
    nowhere.pathname = '/nowhere';
    const probed = await probe(nowhere.href);
    expect(foundServer(probed)).to.equal(undefined);
    expect(probed).to.have.nested.property('error.code', '3D000');
  });
});
