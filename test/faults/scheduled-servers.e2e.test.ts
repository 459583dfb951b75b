/**
 * PostgreSQL restarts, or a standby is promoted, at each step of an approved, scheduled and prepared request. The
 * request must be applied once or not at all, as the log says. The service never restarts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { clientOf, type Client, json } from '../support/client.js';
import { expectConsistent } from '../support/consistent.js';
import { type Gates, makeGates } from '../support/gates.js';
import { endedRequest, fill } from '../support/online.js';
import { type TestService, startService } from '../support/service.js';
import { type Cluster, type Server, startCluster } from '../support/standby.js';
import { until } from '../support/until.js';

/** The events of a prepared request up to its application. */
const STEPS = ['change.opened', 'change.approved', 'change.scheduled', 'change.preparing', 'change.prepared'];

/** The members of a change request that the test reads. */
interface Shown {
  id: string;
  plan: string;
  state: string;
  cleaning: boolean;
  errors: null;
}

describe('a scheduled change request', function () {
  this.timeout(300_000);
  let cluster: Cluster;
  let service: TestService;
  let send: Client;
  let gates: Gates;
  /** The current primary. */
  let server: Server;

  afterEach(async () => {
    await service?.stop();
    await cluster?.stop();
  });

  async function begin(standbys: number): Promise<Server[]> {
    cluster = await startCluster({ durable: true });
    server = cluster.primary;
    const chain = [server];
    // Each follows the previous one, even after that one was promoted.
    for (let createdCount = 0; createdCount < standbys; createdCount += 1)
      chain.push(await cluster.addStandby(chain.at(-1)));
    const [first] = chain.map(({ connectionString }) => new URL(connectionString));
    const hosts = chain.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const several = `postgresql://${first?.username}:${first?.password}@${hosts}${first?.pathname}?target_session_attrs=read-write`;
    service = await startService({ DATABASE_URL: standbys === 0 ? server.connectionString : several });
    send = clientOf(service);
    gates = await makeGates(server.connectionString);
    return chain;
  }

  const sql = async <T extends object>(text: string, values: unknown[] = []): Promise<T[]> => {
    const client = new pg.Client({ connectionString: server.connectionString });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<T>(text, values)).rows;
    } finally {
      await client.end();
    }
  };
  const ok = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await send(path, body === undefined ? { method } : json(body, method));
    expect(reply.status, `${method} ${path}: ${reply.text}`).to.be.within(200, 204);
    return reply.json as T;
  };
  const retrieve = async (id: string): Promise<Shown> => (await ok<{ data: Shown }>('GET', `/changes/${id}`)).data;
  const typesOf = async (id: string): Promise<string[]> => {
    const text = `SELECT type FROM service.service_events WHERE subject ->> 'id' = $1 ORDER BY position`;
    return (await sql<{ type: string }>(text, [id])).map(({ type }) => type);
  };
  const answers = () => until('the service answers', async () => (await send('/collections')).status === 200);
  const inTime = (milliseconds: number) => ({ at: new Date(Date.now() + milliseconds).toISOString() });

  async function make(table: string): Promise<void> {
    const fields = ['code', 'wide'].map((field) => ({
      field,
      type: field === 'code' ? 'integer' : 'text',
      interface: 'input',
      schema: {},
    }));
    await ok('POST', '/collections', { collection: table, schema: {}, fields });
  }

  /**
   * An approved request that makes a column unique.
   * @param large whether it needs preparation
   */
  async function approveRequest(table: string, large = true): Promise<string> {
    await make(table);
    if (large) await fill({ sql }, table, 'code = i');
    interface Snapshot {
      fields: { collection: string; field: string; schema: { is_unique: boolean } }[];
    }
    const snapshot = await ok<Snapshot>('GET', '/schema/snapshot');
    for (const { collection, field, schema } of snapshot.fields)
      if (collection === table && field === 'code') schema.is_unique = true;
    const diff = await ok('POST', '/schema/diff', snapshot);
    const { data } = await ok<{ data: Shown }>('POST', '/changes', { title: 'Unique', diff, online: large });
    await ok('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    return data.id;
  }

  /** The change is in the log once with its request's last event, and the database matches the log. */
  async function expectApplied(id: string, table: string, steps: readonly string[]): Promise<void> {
    await endedRequest(retrieve, id, 'applied');
    expect(await typesOf(id)).to.deep.equal([...steps, 'change.applied']);
    const changes = await sql<{ batch: string }>(
      `SELECT batch FROM service.service_events WHERE type = 'field.updated' AND collection = $1`,
      [table],
    );
    expect(changes).to.have.length(1);
    expect(await ok('GET', '/history/verify')).to.have.nested.property('data.ok', true);
    await expectConsistent(server.connectionString);
  }

  const restart = async (mode: 'SIGINT' | 'SIGQUIT'): Promise<void> => {
    await server.stop(mode);
    await server.start();
    await gates.reconnect();
  };

  it('continues when its server restarts at each step, and is applied once', async () => {
    await begin(0);
    const points = ['preparing', 'end 1', 'prepared', 'applied', 'forget'];
    await gates.close('preparing');
    const id = await approveRequest('orders');
    await ok('POST', `/changes/${id}/apply`, inTime(1_500));
    for (const [turn, point] of points.entries()) {
      await gates.reached(point);
      const next = points[turn + 1];
      if (next !== undefined) await gates.close(next);
      await restart(turn % 2 === 0 ? 'SIGQUIT' : 'SIGINT');
      await gates.open(point);
    }
    await answers();
    await expectApplied(id, 'orders', STEPS);
  });

  it('is applied when its server returns after its time', async () => {
    await begin(0);
    const id = await approveRequest('orders');
    await ok('POST', `/changes/${id}/apply`, inTime(1_000));
    await server.stop('SIGQUIT');
    await sleep(1_500);
    await server.start();
    await answers();
    await expectApplied(id, 'orders', STEPS);
  });

  for (const mode of ['SIGINT', 'SIGQUIT'] as const)
    it(`agrees with the log when its server restarts (${mode}) while it is scheduled or applied`, async () => {
      await begin(0);
      const id = await approveRequest('orders', false);
      for (const [gate, body] of [
        ['scheduled', inTime(600_000)],
        ['applied', undefined],
      ] as const) {
        await gates.close(gate);
        const pending = send(`/changes/${id}/apply`, body === undefined ? { method: 'POST' } : json(body));
        await gates.reached(gate);
        await restart(mode);
        await gates.open(gate);
        const { status, text } = await pending;
        await answers();
        const isIn = (await typesOf(id)).includes(`change.${gate}`);
        expect((await retrieve(id)).state === gate, text).to.equal(isIn);
        // A success response and the log must agree.
        expect([status, isIn], text).to.be.deep.oneOf([
          [200, true],
          [503, false],
        ]);
        if (!isIn) await ok('POST', `/changes/${id}/apply`, body);
      }
      await expectApplied(id, 'orders', STEPS.slice(0, 3));
    });

  it('continues when a standby is promoted at each step, and is applied once', async () => {
    const points = ['preparing', 'end 1', 'prepared', 'applied'];
    const chain = await begin(points.length);
    await gates.close('preparing');
    const id = await approveRequest('orders');
    await ok('POST', `/changes/${id}/apply`, inTime(1_500));
    for (const [turn, point] of points.entries()) {
      await gates.reached(point);
      const next = points[turn + 1];
      if (next !== undefined) await gates.close(next);
      const [old, heir] = [server, chain[turn + 1] as Server];
      await waitForFollowers(old, chain.slice(turn + 1));
      await old.stop('SIGQUIT');
      await heir.promote();
      server = heir;
      await gates.reconnect(heir.connectionString);
      await gates.open(point);
    }
    await answers();
    await expectApplied(id, 'orders', STEPS);
  });
});

/** Waits until the followers have received everything. */
async function waitForFollowers(server: Server, followers: readonly Server[]): Promise<void> {
  const [row] = await server.sql('SELECT pg_current_wal_lsn()::text AS lsn');
  for (const follower of followers)
    await until('a standby has all', async () => {
      const [change] = await follower.sql(
        `SELECT pg_last_wal_replay_lsn() >= '${String(row?.['lsn'])}'::pg_lsn AS has FROM pg_database LIMIT 1`,
      );
      return change?.['has'] === true;
    });
}
