import { expect } from 'chai';
import pg from 'pg';
import { expectConsistent } from '../support/consistent.js';
import type { Gates } from '../support/gates.js';
import { withKilledService } from '../support/killed-service.js';
import { type Change, ROWS, endedRequest } from '../support/online.js';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

interface Snapshot {
  fields: { collection: string; field: string; schema: { is_nullable: boolean; is_unique: boolean } }[];
  relations: object[];
}

const fieldOf = (field: string, type: string) => ({ field, type, interface: 'input', schema: {} });

describe('an online change', function () {
  this.timeout(300_000);
  const service = withKilledService({ KEEP_COPY_ROWS: '5' });
  const { start, call, current } = service;
  let database: TestDatabase;
  let db: pg.Client;
  let gates: Gates;
  /** The table of the test. */
  let table: string;
  let tables = 0;

  before(async () => {
    ({ database, db, gates } = service);
    await call('POST', '/collections', { collection: 'customers', schema: {}, fields: [] });
    await db.query('INSERT INTO customers SELECT FROM generate_series(1, 10)');
  });
  beforeEach(async () => {
    table = `orders${++tables}`;
    const fields = [
      fieldOf('title', 'string'),
      fieldOf('code', 'integer'),
      fieldOf('customer', 'integer'),
      fieldOf('note', 'string'),
    ];
    await call('POST', '/collections', { collection: table, schema: {}, fields });
    // Nearly empty pages, so that the table is large but quickly read.
    await db.query(`
      ALTER TABLE ${table} SET (fillfactor = 10);
      INSERT INTO ${table} (title, code, customer, note)
        SELECT repeat('x', 250), i, i % 10 + 1, 'note ' || i FROM generate_series(1, ${ROWS}) i;
      ALTER TABLE ${table} RESET (fillfactor); ANALYZE ${table}`);
  });

  /** NOT NULL, a unique index, a foreign key and a deleted field of one large table, as one request. */
  async function openRequest(): Promise<Change> {
    const snapshot = await call<Snapshot>('GET', '/schema/snapshot');
    snapshot.fields = snapshot.fields.filter(({ collection, field }) => collection !== table || field !== 'note');
    for (const { collection, field, schema } of snapshot.fields) {
      if (collection === table && field === 'title') schema.is_nullable = false;
      if (collection === table && field === 'code') schema.is_unique = true;
    }
    snapshot.relations.push({ collection: table, field: 'customer', related_collection: 'customers', schema: {} });
    const { data } = await call<{ data: Change }>(
      'POST',
      '/schema/apply?online',
      await call('POST', '/schema/diff', snapshot),
    );
    return data;
  }

  const retrieve = async (id: string): Promise<Change> => (await call<{ data: Change }>('GET', `/changes/${id}`)).data;

  const ended = (id: string, state: string): Promise<Change> => endedRequest(retrieve, id, state);

  const sessionsEnd = () =>
    db.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name LIKE 'data-platform-service%'`);

  /** Concurrent application writes: one row of each kind. */
  const write = (turn: number) =>
    db.query(`UPDATE ${table} SET note = 'changed at ${turn}' WHERE id IN (${10 + turn}, ${ROWS - turn});
              DELETE FROM ${table} WHERE id IN (${100 + turn}, ${ROWS - 100 - turn});
              INSERT INTO ${table} (title, code, customer, note) VALUES ('new', ${ROWS + 1 + turn}, 1, 'new at ${turn}')`);
  const rowsOf = async (columns: string) =>
    (
      await db.query<{ hash: string }>(
        `SELECT md5(string_agg((${columns})::text, ',' ORDER BY id)) AS hash FROM ${table}`,
      )
    ).rows[0]?.hash;

  /** A transaction of an application that PostgreSQL waits for while the index is invalid. */
  async function building(during: () => Promise<void>): Promise<void> {
    const blocker = new pg.Client({ connectionString: database.connectionString });
    await blocker.connect();
    await blocker.query(`BEGIN; UPDATE ${table} SET code = code WHERE id = 1`);
    await gates.open('begin 3');
    const isInvalid = async () => (await db.query('SELECT FROM pg_index WHERE NOT indisvalid')).rowCount === 1;
    await until('the index is being built', isInvalid);
    await during();
    await blocker.query('ROLLBACK');
    await blocker.end();
  }

  /** Opens the request and calls the function at each point. */
  async function disturbAt(
    points: readonly string[],
    disturb: (at: { id: string; turn: number; proceed: () => Promise<void> }) => Promise<void>,
  ) {
    await gates.close(points[0] as string);
    const { id } = await openRequest();
    let rows: string | undefined;
    for (const [turn, point] of points.entries()) {
      await gates.reached(point);
      // From this point the table is locked, or the field no longer exists.
      if (!['applied', 'forget'].includes(point)) {
        await write(turn);
        rows = await rowsOf('id, note');
      }
      const next = points[turn + 1];
      if (next !== undefined) await gates.close(next);
      if (point === 'begin 3') await building(() => disturb({ id, turn, proceed: () => Promise.resolve() }));
      else await disturb({ id, turn, proceed: () => gates.open(point) });
    }
    return { id, rows };
  }

  async function expectNothingLeft(): Promise<void> {
    const left = await db.query(`
      SELECT conname AS name FROM pg_constraint WHERE conname LIKE 'dps_online%' OR NOT convalidated
      UNION ALL SELECT relname FROM pg_class WHERE relname LIKE 'dps_online%'
      UNION ALL SELECT tgname FROM pg_trigger WHERE tgname LIKE 'dps_online%'
      UNION ALL SELECT proname FROM pg_proc WHERE proname LIKE 'dps_online%'
      UNION ALL SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid
      UNION ALL SELECT step ->> 'key' FROM service.service_preparations`);
    expect(left.rows).to.deep.equal([]);
    expect(await call('GET', '/projections/verify')).to.have.nested.property('data.ok', true);
    await expectConsistent(database.connectionString);
  }

  /** Applied once, with all rows and all values of the deleted field. */
  async function expectApplied({ id, rows }: { id: string; rows: string | undefined }): Promise<void> {
    const { result } = await ended(id, 'applied');
    const { rows: events } = await db.query<{ type: string; batch: string }>(
      `SELECT type, batch FROM service.service_events WHERE subject ->> 'id' = $1 OR batch = $2 ORDER BY position`,
      [id, result?.batch],
    );
    expect(events.map(({ type }) => type)).to.deep.equal([
      'change.opened',
      'change.preparing',
      'change.prepared',
      'field.deleted',
      'field.updated',
      'field.updated',
      'relation.created',
      'change.applied',
    ]);
    await expectNothingLeft();
    const [entry] = (await call<{ data: { position: number }[] }>('GET', '/trash')).data;
    await call('POST', `/trash/${entry?.position}/restore`, {});
    expect(await rowsOf('id, note')).to.equal(rows);
  }

  const POINTS = [
    'end 1',
    'checkpoint 2',
    'end 2',
    'begin 3',
    'end 3',
    'end 4',
    'end 5',
    'end 6',
    'end 7',
    'prepared',
    'applied',
    'forget',
  ];

  it('continues in the next process when it is killed at each step, and is applied once', async () => {
    const change = await disturbAt(POINTS, async ({ turn, proceed }) => {
      await current().end('SIGKILL');
      // A statement that was already sent may still complete.
      if (turn % 2 === 0) await sessionsEnd();
      await proceed();
      await start();
    });
    await expectApplied(change);
  });

  it('continues in the same process when its connections are cut at each step, and is applied once', async () => {
    const change = await disturbAt(POINTS, async ({ proceed }) => {
      await sessionsEnd();
      await proceed();
    });
    await expectApplied(change);
    expect(current().child.exitCode).to.equal(null);
  });

  it('continues in another process when the preparing one is killed', async () => {
    const change = await disturbAt(['checkpoint 2', 'begin 3', 'applied'], async ({ turn, proceed }) => {
      const preparing = current();
      await start();
      await preparing.end('SIGKILL');
      if (turn !== 1) await sessionsEnd();
      await proceed();
    });
    await expectApplied(change);
  });

  it('is prepared again when a preparation is lost, or too much was written', async () => {
    let rows: string | undefined;
    const { id } = await disturbAt(['prepared'], async ({ proceed }) => {
      for (let i = 0; i < 6; i++) await db.query(`UPDATE ${table} SET note = note || '.'`);
      rows = await rowsOf('id, note');
      const { rows: indexes } = await db.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relname LIKE 'dps_online%' AND relkind = 'i' AND relnamespace = 'public'::regnamespace`,
      );
      expect(indexes).to.have.length(1);
      await db.query(`DROP INDEX ${indexes[0]?.name}`);
      await proceed();
    });
    await expectApplied({ id, rows });
  });

  for (const point of ['checkpoint 2', 'begin 3', 'end 6'])
    it(`leaves nothing behind when it is withdrawn after its process was killed at ${point}`, async () => {
      const change = await disturbAt([point], async ({ id, proceed }) => {
        await current().end('SIGKILL');
        await sessionsEnd();
        await proceed();
        await gates.close('end 7');
        await start();
        await call('POST', `/changes/${id}/withdraw`);
      });
      await ended(change.id, 'withdrawn');
      await gates.open('end 7');
      await expectNothingLeft();
      expect(await rowsOf('id, note')).to.equal(change.rows);
    });
});
