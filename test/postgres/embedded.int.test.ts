import { expect } from 'chai';
import pg from 'pg';
import { createDatabase, testServer } from '../support/postgres.js';

describe('test server', () => {
  it('gives every spec a fresh database, UTF8 and ordered by code point', async () => {
    const database = await createDatabase();
    const client = new pg.Client(database.connectionString);
    await client.connect();
    const { rows } = await client.query(
      `select current_setting('server_encoding') as encoding, array(select x from unnest(array['b','B','a']) x order by x) as sorted`,
    );
    await client.end();
    await database.drop();
    expect(rows).to.deep.equal([{ encoding: 'UTF8', sorted: ['B', 'a', 'b'] }]);
    expect((await testServer()).majorVersion).to.be.within(14, 18);
  });
});
