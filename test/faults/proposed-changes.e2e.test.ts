import { expect } from 'chai';
import type pg from 'pg';
import { expectConsistent } from '../support/consistent.js';
import type { Gates } from '../support/gates.js';
import { withKilledService } from '../support/killed-service.js';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

interface Shown {
  id: string;
  plan: string;
  state: string;
}

describe('an approved change request whose process is killed', function () {
  this.timeout(300_000);
  const service = withKilledService();
  const { start, send, call, kill } = service;
  let database: TestDatabase;
  let db: pg.Client;
  let gates: Gates;

  before(() => {
    ({ database, db, gates } = service);
  });

  /** An approved request that creates a field. */
  async function approveRequest(collection: string): Promise<string> {
    await call('POST', '/collections', { collection, schema: {}, fields: [] });
    const snapshot = await call<{ fields: object[] }>('GET', '/schema/snapshot');
    snapshot.fields.push({ collection, field: 'title', type: 'string', meta: { interface: 'input' }, schema: {} });
    const { data } = await call<{ data: Shown }>('POST', '/changes', { title: 'A title', snapshot });
    await call('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    return data.id;
  }

  /** The service's backends that are in a transaction. */
  const BACKENDS = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND application_name LIKE 'data-platform-service%' AND state <> 'idle'`;

  for (const [what, isKilled] of [
    ['and its transaction ends with it', true],
    ['and its transaction goes on to its end', false],
  ] as const)
    it(`${what}: it is applied once, regardless of who retries`, async () => {
      const collection = isKilled ? 'killed' : 'finished';
      const id = await approveRequest(collection);
      const key = { 'Idempotency-Key': `apply ${id}` };
      await gates.close('applied');
      const lost = send('POST', `/changes/${id}/apply`, undefined, key).catch(() => 'lost');
      await gates.reached('applied');
      await kill();
      expect(await lost).to.equal('lost');
      if (isKilled) await db.query(`SELECT pg_terminate_backend(pid, 5000) ${BACKENDS}`);
      await gates.open('applied');
      await until('the transaction has ended', async () => (await db.query(`SELECT ${BACKENDS}`)).rowCount === 0);
      await start();
      const { data } = await call<{ data: Shown }>('GET', `/changes/${id}`);
      expect(data.state).to.be.oneOf(isKilled ? ['approved'] : ['approved', 'applied']);
      const again = await send('POST', `/changes/${id}/apply`, undefined, key);
      expect(again.status, await again.text()).to.equal(200);
      const { rows } = await db.query<{ types: string[] }>(
        `SELECT array_agg(e.type ORDER BY e.position) AS types FROM service.service_events e WHERE e.batch =
          (SELECT batch FROM service.service_events WHERE subject ->> 'id' = $1 AND type = 'change.applied')`,
        [id],
      );
      expect(rows[0]?.types).to.deep.equal(['field.created', 'change.applied']);
      expect((await send('POST', `/changes/${id}/apply`)).status).to.equal(409);
      await expectConsistent(database.connectionString);
    });
});
