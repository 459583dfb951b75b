import { request, Agent, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import pg from 'pg';
import { dps } from '../../support/dps.js';
import { until } from '../../support/until.js';
import { type TestService, startService } from '../../support/service.js';
import { type Client, clientOf, json } from '../../support/client.js';

interface Listener {
  /** Positions in arrival order. */
  positions: number[];
  response: IncomingMessage;
  /** Returns true if the server ended the stream. */
  ended(): boolean;
  close(): void;
}

describe('the live stream', () => {
  let service: TestService;
  let other: TestService;
  let send: Client;
  const open: Listener[] = [];
  const agent = new Agent({ maxSockets: Infinity });

  before(async () => {
    service = await startService({ STREAMS_PER_USER: '1000' });
    other = await startService({ DATABASE_URL: service.databaseUrl });
    send = clientOf(service);
    await create(5);
  });

  afterEach(() => {
    for (const listener of open.splice(0)) listener.close();
  });

  after(async () => {
    agent.destroy();
    await other.stop();
    await service.stop();
  });

  let created = 0;

  /** @returns the head afterwards */
  async function create(count: number, through = send): Promise<number> {
    let head = 0;
    for (let number = 0; number < count; number += 1) {
      created += 1;
      const reply = await through('/collections', json({ collection: `c${created}`, schema: null }));
      expect(reply.status, reply.text).to.equal(200);
      head = Number(reply.headers.get('x-log-position'));
    }
    return head;
  }

  async function listen(lastEventId?: number, token = service.adminToken): Promise<Listener> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (lastEventId !== undefined) headers['last-event-id'] = String(lastEventId);
    const pending = request(`${service.url}/history/stream`, { headers, agent });
    pending.end();
    const [response] = (await once(pending, 'response')) as [IncomingMessage];
    expect(response.statusCode).to.equal(200);
    expect(response.headers['content-type']).to.match(/^text\/event-stream/);
    const positions: number[] = [];
    let rest = '';
    let ended = false;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const [id, data] = frame.split('\n');
        if (!id?.startsWith('id: ')) continue;
        const event = JSON.parse(data?.replace(/^data: /, '') ?? '') as { position: number; hash: string };
        expect(`${event.position}-${event.hash}`).to.equal(id.slice(4));
        positions.push(event.position);
      }
    });
    response.on('error', () => undefined);
    response.on('close', () => (ended = true));
    const listener = { positions, response, ended: () => ended, close: () => void response.destroy() };
    open.push(listener);
    return listener;
  }

  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const connections = async (): Promise<number> => {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    await client.end();
    return rows[0]?.count ?? 0;
  };

  it('sends new events, including those of other processes', async () => {
    const head = await create(1);
    const listener = await listen();
    await create(3);
    const last = await create(3, clientOf(other));
    await until('the events arrive', () => listener.positions.at(-1) === last);
    expect(listener.positions).to.deep.equal(range(head + 1, last));
  });

  it('resumes after Last-Event-ID without loss or repetition, after any number of breaks', async () => {
    const seen: number[] = [];
    const head = await create(1);
    let writing = true;
    const writers = [send, clientOf(other)].map(async (through) => {
      while (writing) await create(1, through);
    });
    for (let round = 0; round < 15; round += 1) {
      const listener = await listen(seen.at(-1) ?? 0);
      const expected = 4 + (round % 7);
      await until('the events arrive', () => listener.positions.length >= expected);
      listener.close();
      seen.push(...listener.positions);
    }
    writing = false;
    await Promise.all(writers);
    const last = await create(1);
    const listener = await listen(seen.at(-1));
    await until('the events arrive', () => listener.positions.at(-1) === last);
    expect([...seen, ...listener.positions]).to.deep.equal(range(1, last));
    expect(last).to.be.greaterThan(head);
  });

  it('uses no database connection per listener, with 500 of them', async () => {
    await create(60);
    const before = await connections();
    const head = await create(1);
    const listeners: Listener[] = [];
    // In groups, because a user may not have all of them wait at once.
    while (listeners.length < 500) {
      const group = Array.from({ length: 50 }, (_, index) => listen(head - ((listeners.length + index) % 60)));
      listeners.push(...(await Promise.all(group)));
    }
    const last = await create(20, clientOf(other));
    await until('the events arrive', () => listeners.every((listener) => listener.positions.at(-1) === last));
    for (const [index, listener] of listeners.entries()) {
      expect(listener.positions).to.deep.equal(range(head - (index % 60) + 1, last));
    }
    // The pools of both services may have grown to five connections each, regardless of which test used them.
    expect((await connections()) - before).to.be.at.most(10);
  });

  it('pauses for a listener that does not read, and resumes', async () => {
    const slow = await listen(0);
    slow.response.pause();
    const quick = await listen(0);
    const last = await create(40);
    await until('the events arrive', () => quick.positions.at(-1) === last);
    expect(slow.positions.length).to.be.lessThan(last);
    slow.response.resume();
    await until('the events arrive', () => slow.positions.at(-1) === last);
    expect(slow.positions).to.deep.equal(range(1, last));
  });

  describe('of a caller without permission', () => {
    const settings = () => ({ DATABASE_URL: service.databaseUrl });
    const password = 'correct horse battery';
    const run = async (...args: string[]) => {
      const { code, out, err } = await dps(args, settings(), { stdin: password });
      expect(code, err).to.equal(0);
      return out;
    };
    const auditor = async (email: string): Promise<string> => {
      await run('users', 'add', email, '--role', 'auditor', '--password-stdin');
      return (JSON.parse(await run('tokens', 'add', email, '--name', 'stream', '--json')) as { token: string }).token;
    };

    const changes: Record<string, (email: string) => Promise<unknown>> = {
      'a revoked token': (email) => run('tokens', 'revoke', email, 'stream'),
      'another role': (email) => run('users', 'set', email, '--role', 'reader'),
      'a suspension': (email) => run('users', 'set', email, '--status', 'suspended'),
      'a deletion': (email) => run('users', 'remove', email),
    };
    for (const [name, change] of Object.entries(changes)) {
      it(`ends with ${name} before the next event`, async () => {
        const email = `${name.replaceAll(' ', '-')}@example.com`;
        const token = await auditor(email);
        const [theirs, others] = [await listen(undefined, token), await listen()];
        await change(email);
        await until('the stream ends', theirs.ended);
        const head = await create(1);
        await until('the event arrives', () => others.positions.at(-1) === head);
        expect(theirs.positions).to.deep.equal([]);
        expect(others.ended()).to.equal(false);
      });
    }

    for (const name of ['logout', 'password']) {
      it(`sends no event after a session change: ${name}`, async () => {
        const email = `${name}@example.com`;
        await auditor(email);
        const login = (await send('/auth/login', json({ email, password }))).json as {
          data: { access_token: string; refresh_token: string };
        };
        const theirs = await listen(undefined, login.data.access_token);
        if (name === 'logout') await send('/auth/logout', json({ refresh_token: login.data.refresh_token }));
        else await run('users', 'set', email, '--new-password');
        await create(1);
        await until('the stream ends', theirs.ended);
        expect(theirs.positions).to.deep.equal([]);
      });
    }

    it('ends with the next heartbeat without events', async () => {
      const email = 'heartbeat@example.com';
      await auditor(email);
      const login = (await send('/auth/login', json({ email, password }))).json as {
        data: { access_token: string; refresh_token: string };
      };
      mock.timers.enable({ apis: ['setInterval'] });
      try {
        const theirs = await listen(undefined, login.data.access_token);
        let beats = 0;
        theirs.response.on('data', (chunk: string) => (beats += chunk.split(': heartbeat\n').length - 1));
        mock.timers.tick(15_000);
        await until('the heartbeat comes', () => beats > 0);
        await send('/auth/logout', json({ refresh_token: login.data.refresh_token }));
        mock.timers.tick(15_000);
        await until('the stream ends', theirs.ended);
      } finally {
        mock.timers.reset();
      }
    });
  });

  it('ends when the service stops, without waiting for listeners', async () => {
    const third = await startService({ DATABASE_URL: service.databaseUrl });
    const answer = await fetch(`${third.url}/history/stream`, {
      headers: { authorization: `Bearer ${third.adminToken}` },
    });
    const reader = answer.body!.getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).to.match(/^retry: /);
    await third.stop();
    while (!(await reader.read()).done);
  });
});
