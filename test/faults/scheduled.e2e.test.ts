/** An approved, scheduled and prepared request whose process is killed at each step is applied once or not at all. */
import { expect } from 'chai';
import type pg from 'pg';
import { expectConsistent } from '../support/consistent.js';
import type { Gates } from '../support/gates.js';
import { withKilledService } from '../support/killed-service.js';
import { type Change, ROWS, endedRequest } from '../support/online.js';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

describe('a scheduled change request', function () {
  this.timeout(300_000);
  const service = withKilledService();
  const { start, send, call, kill } = service;
  let database: TestDatabase;
  let db: pg.Client;
  let gates: Gates;
  let table: string;
  let tables = 0;

  const sessionsEnd = () =>
    db.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name LIKE 'data-platform-service%'`);

  before(async () => {
    ({ database, db, gates } = service);
    await call('PUT', '/policy', { author_may_approve: true });
  });
  beforeEach(async () => {
    table = `orders${++tables}`;
    const fields = ['title', 'code'].map((field) => ({
      field,
      type: field === 'code' ? 'integer' : 'string',
      interface: 'input',
      schema: {},
    }));
    await call('POST', '/collections', { collection: table, schema: {}, fields });
    await db.query(`ALTER TABLE ${table} SET (fillfactor = 10);
      INSERT INTO ${table} (title, code) SELECT repeat('x', 250), i FROM generate_series(1, ${ROWS}) i;
      ALTER TABLE ${table} RESET (fillfactor); ANALYZE ${table}`);
  });

  /** An approved request that makes a column of a large table unique. */
  async function approveRequest(): Promise<string> {
    interface Snapshot {
      fields: { collection: string; field: string; schema: { is_unique: boolean } }[];
    }
    const snapshot = await call<Snapshot>('GET', '/schema/snapshot');
    for (const { collection, field, schema } of snapshot.fields)
      if (collection === table && field === 'code') schema.is_unique = true;
    const diff = await call('POST', '/schema/diff', snapshot);
    const opened = { title: 'Unique', diff, online: true };
    const { data } = await call<{ data: { id: string; plan: string } }>('POST', '/changes', opened);
    await call('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    return data.id;
  }

  const inTime = (milliseconds: number) => ({ at: new Date(Date.now() + milliseconds).toISOString() });
  const retrieve = async (id: string): Promise<Change> => (await call<{ data: Change }>('GET', `/changes/${id}`)).data;
  const typesOf = async (id: string): Promise<string[]> => {
    const { rows } = await db.query<{ type: string }>(
      `SELECT type FROM service.service_events WHERE subject ->> 'id' = $1 ORDER BY position`,
      [id],
    );
    return rows.map(({ type }) => type);
  };

  async function expectApplied(id: string): Promise<void> {
    await endedRequest(retrieve, id, 'applied');
    expect(await typesOf(id)).to.deep.equal([
      'change.opened',
      'change.approved',
      'change.scheduled',
      'change.preparing',
      'change.prepared',
      'change.applied',
    ]);
    const { rows } = await db.query(
      `SELECT type FROM service.service_events WHERE type = 'field.updated' AND collection = $1`,
      [table],
    );
    expect(rows).to.have.length(1);
    await expectConsistent(database.connectionString);
  }

  it('continues in the next process when it is killed at each step, and is applied once', async () => {
    const points = ['preparing', 'end 1', 'prepared', 'applied', 'forget'];
    await gates.close('preparing');
    const id = await approveRequest();
    await call('POST', `/changes/${id}/apply`, inTime(1_500));
    for (const [turn, point] of points.entries()) {
      await gates.reached(point);
      const next = points[turn + 1];
      if (next !== undefined) await gates.close(next);
      await kill();
      // A statement that was already sent may still complete.
      if (turn % 2 === 0) await sessionsEnd();
      await gates.open(point);
      await start();
    }
    await expectApplied(id);
  });

  it('agrees with the log when its process is killed while it is scheduled', async () => {
    const id = await approveRequest();
    await gates.close('scheduled');
    const pending = send('POST', `/changes/${id}/apply`, inTime(60_000)).catch(() => undefined);
    await gates.reached('scheduled');
    await kill();
    await sessionsEnd();
    await gates.open('scheduled');
    await pending;
    await start();
    const { state } = await retrieve(id);
    expect(state).to.equal((await typesOf(id)).includes('change.scheduled') ? 'scheduled' : 'approved');
    if (state === 'approved') await call('POST', `/changes/${id}/apply`, inTime(1_500));
    else await call('POST', `/changes/${id}/apply`);
    await endedRequest(retrieve, id, 'applied');
    expect((await typesOf(id)).filter((type) => type === 'change.applied')).to.have.length(1);
    await expectConsistent(database.connectionString);
  });

  it('is applied by a later process, and by one whose connections were cut while it waited', async () => {
    const first = await approveRequest();
    await call('POST', `/changes/${first}/apply`, inTime(1_500));
    await kill();
    await new Promise((resolve) => setTimeout(resolve, 1_600));
    await start();
    await expectApplied(first);
    const next = await approvedNote();
    await call('POST', `/changes/${next}/apply`, inTime(1_500));
    await sessionsEnd();
    await until('it is applied', async () => (await typesOf(next)).includes('change.applied'));
    await expectConsistent(database.connectionString);
  });

  async function approvedNote(): Promise<string> {
    const snapshot = await call<{ collections: { collection: string; meta: object }[] }>('GET', '/schema/snapshot');
    for (const each of snapshot.collections)
      if (each.collection === table) each.meta = { ...each.meta, note: 'scheduled' };
    const diff = await call('POST', '/schema/diff', snapshot);
    return (await call<{ data: { id: string } }>('POST', '/changes', { title: 'A note', diff })).data.id;
  }
});
