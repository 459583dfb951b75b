import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Api, createApi } from '../support/api.js';
import { expectConsistent } from '../support/consistent.js';
import { type Gates, makeGates } from '../support/gates.js';
import { type Change, type Online, ROWS, column, onlineOf } from '../support/online.js';
import { INSTALL_PGBOUNCER, type Pgbouncer, pgbouncerProgram, startPgbouncer } from '../support/pgbouncer.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { type Cluster, startCluster } from '../support/standby.js';
import { until } from '../support/until.js';

const FIELDS = [column('code', 'integer'), column('owner', 'integer'), column('title'), column('note')];
const VALUES = `code = i; owner = i % 10 + 1; title = 't'; note = 'note ' || i`;

/** NOT NULL, a unique index, a foreign key and a deleted field of one large table, as one request. */
async function open(online: Online, table: string): Promise<Change> {
  const diff = await online.diff((snapshot) => {
    snapshot.fields = snapshot.fields.filter(({ collection, field }) => collection !== table || field !== 'note');
    for (const { collection, field, schema } of snapshot.fields) {
      if (collection === table && field === 'title') schema.is_nullable = false;
      if (collection === table && field === 'code') schema.is_unique = true;
    }
    snapshot.relations.push({ collection: table, field: 'owner', related_collection: 'owners', schema: {} });
  });
  return online.open('POST', '/schema/apply', diff);
}

async function make(api: Api, online: Online, table: string): Promise<void> {
  if (table === 'items') {
    await api.ok('POST', '/collections', { collection: 'owners', schema: {}, fields: [] });
    await api.sql('INSERT INTO owners SELECT FROM generate_series(1, 10)');
  }
  await online.large(table, FIELDS, VALUES);
}

/** Applied once, with all rows and the values of the deleted field. */
async function expectApplied(api: Api, online: Online, { id }: Change, table: string): Promise<void> {
  await online.ended(id, 'applied');
  expect(await online.leftBehind()).to.deep.equal([]);
  const applied = await api.sql(
    `SELECT FROM service.service_events WHERE type = 'change.applied' AND subject ->> 'id' = $1`,
    [id],
  );
  expect(applied).to.have.length(1);
  const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
  await api.ok('POST', `/trash/${data[0]?.position}/restore`, {});
  const [row] = await api.sql(
    `SELECT count(*)::int, count(*) FILTER (WHERE note = 'note ' || id)::int AS kept FROM ${table}`,
  );
  expect(row).to.deep.equal({ count: ROWS, kept: ROWS });
}

describe('an online change behind PgBouncer', () => {
  let database: TestDatabase;
  let pooler: Pgbouncer;
  let service: TestService;
  let api: Api;

  before(async function () {
    if (pgbouncerProgram() === null) {
      console.log(`      ${INSTALL_PGBOUNCER}`);
      this.skip();
    }
    database = await createDatabase('migrated');
    pooler = await startPgbouncer(database.connectionString);
    service = await startService({
      DATABASE_URL: pooler.through(database.connectionString),
      DIRECT_DATABASE_URL: database.connectionString,
      KEEP_COPY_ROWS: '5',
    });
    api = createApi({ ...service, databaseUrl: database.connectionString });
  });
  after(async () => {
    await api?.stop();
    await service?.stop();
    await pooler?.stop();
    await database?.drop();
  });

  it('is prepared on the server itself and applied through the pooler in transaction mode', async () => {
    const online = onlineOf(api);
    await make(api, online, 'items');
    await expectApplied(api, online, await open(online, 'items'), 'items');
    await expectConsistent(database.connectionString);
  });

  it('continues when the pooler is killed during preparation, and can be withdrawn during a step', async () => {
    const online = onlineOf(api);
    const gates = await makeGates(database.connectionString);
    await make(api, online, 'items2');
    await gates.close('checkpoint 2');
    const change = await open(online, 'items2');
    await gates.reached('checkpoint 2');
    await pooler.kill();
    await pooler.start();
    await gates.open('checkpoint 2');
    await expectApplied(api, online, change, 'items2');
    await make(api, online, 'items3');
    await gates.close('checkpoint 2');
    const { id } = await open(online, 'items3');
    await gates.reached('checkpoint 2');
    await api.ok('POST', `/changes/${id}/withdraw`);
    await gates.open('checkpoint 2');
    await online.ended(id, 'withdrawn');
    expect(await online.leftBehind()).to.deep.equal([]);
    await gates.end();
  });
});

describe('an online change on its own server', function () {
  this.timeout(300_000);
  let cluster: Cluster;
  let service: TestService;
  let api: Api;
  let online: Online;

  before(async () => {
    cluster = await startCluster({ durable: true });
    const { primary } = cluster;
    await primary.sql('grant pg_read_all_stats to dps_owner');
    service = await startService({
      DATABASE_URL: primary.connectionString,
      KEEP_COPY_ROWS: '5',
      ONLINE_MAX_LAG: '300ms',
      ONLINE_ROWS_PER_SECOND: '2000',
    });
    api = createApi(service);
    online = onlineOf(api);
    await make(api, online, 'items');
  });
  after(async () => {
    await api?.stop();
    await service?.stop();
    await cluster?.stop();
  });

  it('continues when the server restarts at each step, and is applied once', async () => {
    const gates: Gates = await makeGates(cluster.primary.connectionString);
    const points = [
      'end 1',
      'checkpoint 2',
      'end 2',
      'end 3',
      'end 4',
      'end 5',
      'end 6',
      'end 7',
      'prepared',
      'applied',
      'forget',
    ];
    await gates.close(points[0] as string);
    const change = await open(online, 'items');
    for (const [index, point] of points.entries()) {
      await gates.reached(point);
      const next = points[index + 1];
      if (next !== undefined) await gates.close(next);
      await cluster.primary.stop(index % 2 === 0 ? 'SIGQUIT' : 'SIGINT');
      await cluster.primary.start();
      await gates.reconnect();
      await gates.open(point);
    }
    await until('the service answers again', async () => (await api.client('/server/health')).status === 200);
    await gates.end();
    await expectApplied(api, online, change, 'items');
    await expectConsistent(service.databaseUrl);
  });

  it('copies no more rows per second than allowed, and waits for a lagging standby', async () => {
    await make(api, online, 'followed');
    const standby = await cluster.addStandby();
    await until(
      'the standby follows',
      async () => (await api.sql(`SELECT FROM pg_stat_replication WHERE state = 'streaming'`)).length === 1,
    );
    // Before the change begins: copying 4,000 rows takes 2 s, enough for a busy machine to pause a server.
    await standby.pause();
    const started = performance.now();
    const { id } = await online.open('DELETE', '/fields/followed/note');
    const copied = async (): Promise<number> =>
      (
        await api.sql<{ copied: number }>(
          `SELECT coalesce((checkpoint ->> 'copied')::int, 0) AS copied FROM service.service_preparations WHERE number = 2`,
        )
      )[0]?.copied ?? 0;
    await until('it waits for the standby', async () => {
      const { steps } = await online.retrieve(id);
      return steps.some(({ phase }) => /^waiting for a standby that is [\d.]+ s behind$/.test(phase ?? ''));
    });
    const before = await copied();
    expect(before).to.be.lessThan(ROWS);
    await sleep(1_500);
    expect(await copied()).to.equal(before);
    await standby.resume();
    await online.ended(id, 'applied');
    expect(performance.now() - started).to.be.greaterThan((ROWS / 2_000) * 1_000);
    expect(await online.leftBehind()).to.deep.equal([]);
  });
});
