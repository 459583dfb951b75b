import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { EventRecord } from '../../../src/log/read.js';
import { type Client, clientOf, json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { type TestDatabase, createDatabase, temporaryDirectory } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { cutOff, rewrite, tamper } from '../../support/tamper.js';
import { until } from '../../support/until.js';

const SIGNED = 6;

interface Result {
  ok: boolean;
  file: { ok: boolean };
  checkpoints: { ok: boolean; position: number; reason?: string; signed_by: string | null }[];
}

/** Ways in which the owner of the tables can rewrite a log, and the places in the database that reveal it. */
const REWRITTEN: Record<string, { how: (url: string) => Promise<unknown>; reason: RegExp }> = {
  'every event has another actor': {
    how: (url) => rewrite(url, (events) => events.map((each) => ({ ...each, actor: { id: 'x', name: 'Mallory' } }))),
    reason: /the log is a different one .*it was rewritten from its beginning/,
  },
  'one event in the middle was ordered': {
    how: (url) => rewrite(url, (events) => events.map((each) => (each.position === 3 ? withReason(each) : each))),
    reason: /position 6 has the hash [0-9a-f]{64}: the log was rewritten there or before/,
  },
  'the last signed event is gone, and others come after': {
    how: (url) => rewrite(url, (events) => events.filter(({ position }) => position !== SIGNED)),
    reason: /position 6 has the hash/,
  },
  'everything since is gone': { how: (url) => cutOff(url, 5), reason: /the log ends at position 3/ },
};

const withReason = (event: EventRecord): EventRecord => ({ ...event, reason: 'it was ordered' });

/** Removes every trace of the other log from the database, so that nothing on it alone can detect it. */
const removeTraces = (url: string): Promise<void> =>
  tamper(url, async (client) => {
    await client.query(`UPDATE service.service_projections p SET position = e.position, hash = e.hash
      FROM (SELECT position, hash FROM service.service_events ORDER BY position DESC LIMIT 1) e WHERE p.position > 0`);
    for (const table of ['divergences', 'checkpoints', 'folds', 'idempotency']) {
      await client.query(`DELETE FROM service.service_${table}`);
    }
    await client.query(`DELETE FROM service.service_settings WHERE key = 'log_beginning'`);
  });

describe('a completely rewritten log with all its stored checkpoints', () => {
  let database: TestDatabase;
  let folder: string;
  let services: TestService[];

  beforeEach(async () => {
    database = await createDatabase('migrated');
    folder = await temporaryDirectory();
    services = [];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  const start = async (settings: Record<string, string> = {}): Promise<Client> => {
    const service = await startService({ DATABASE_URL: database.connectionString, ...settings });
    services.push(service);
    return clientOf(service);
  };

  const create = async (send: Client, from: number, to: number): Promise<void> => {
    for (let number = from; number <= to; number += 1) {
      expect((await send('/collections', json({ collection: `c${number}`, schema: {} }))).status).to.equal(200);
    }
  };

  const stopAll = async (): Promise<void> => {
    for (const service of services.splice(0)) await service.stop();
  };

  const save = async (name: string, content: string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, content);
    return file;
  };

  const exported = async (send: Client): Promise<string> => save('log.ndjson', (await send('/history/export')).text);

  const held = async (...args: string[]): Promise<Result & { code: number; err: string }> => {
    const ran = await dps(['verify', ...args, '--json'], {});
    return {
      ...(ran.out === '' ? { ok: false, file: { ok: false }, checkpoints: [] } : (JSON.parse(ran.out) as Result)),
      ...ran,
    };
  };

  for (const [what, { how, reason }] of Object.entries(REWRITTEN)) {
    it(`is detected with an old checkpoint and an export: ${what}`, async () => {
      const send = await start();
      await create(send, 1, SIGNED);
      const checkpoint = await save('old.checkpoint', (await send('/history/checkpoint')).text);
      const keys = await save('keys', (await send('/history/checkpoint/keys')).text);
      await create(send, SIGNED + 1, 8);
      expect(await held('--file', await exported(send), '--checkpoint', checkpoint, '--key', keys)).to.include({
        ok: true,
        code: 0,
      });
      await stopAll();
      await how(database.connectionString);
      await removeTraces(database.connectionString);
      const again = await start();
      // The service itself finds nothing and continues.
      expect((await again('/server/health', { token: null })).status).to.equal(200);
      expect((await again('/history/verify')).json).to.have.nested.property('data.ok', true);
      const file = await exported(again);
      expect(await held('--file', file)).to.include({ ok: true, code: 0 });
      for (const key of [[], ['--key', keys]]) {
        const result = await held('--file', file, '--checkpoint', checkpoint, ...key);
        expect(result).to.include({ ok: false, code: 1 });
        expect(result.file.ok).to.equal(true);
        expect(result.checkpoints[0]?.reason).to.match(reason);
      }
      // Only the old checkpoint contradicts the current responses of the service.
      const { url, adminToken } = services[0] as TestService;
      const asked = await dps(['verify', '--checkpoint', checkpoint, '--against', url], { DPS_TOKEN: adminToken });
      expect(asked.code, asked.out + asked.err).to.equal(1);
      const onDatabase = await dps(['verify', '--checkpoint', checkpoint], { DATABASE_URL: database.connectionString });
      expect(onDatabase.code, onDatabase.out + onDatabase.err).to.equal(1);
      expect(onDatabase.out).to.match(reason);
    });
  }

  it('is distinguished from a log that only grew, offline, over HTTP and on its database', async () => {
    const send = await start();
    const files: string[] = [];
    for (const number of [1, 2, 3]) {
      await create(send, number, number);
      files.push(await save(`${number}.checkpoint`, (await send('/history/checkpoint')).text));
    }
    await create(send, 4, 5);
    const given = files.flatMap((file) => ['--checkpoint', file]);
    const keys = ['--key', await save('keys', (await send('/history/checkpoint/keys')).text)];
    const offline = await held('--file', await exported(send), ...given, ...keys);
    expect(offline.checkpoints.map(({ ok, position }) => [ok, position])).to.deep.equal([
      [true, 1],
      [true, 2],
      [true, 3],
    ]);
    for (const { signed_by } of offline.checkpoints)
      expect(signed_by).to.match(/^data-platform-service\+[0-9a-f]{8}\+/);
    const { url, adminToken } = services[0] as TestService;
    const asked = await dps(['verify', '--checkpoint', folder, '--against', url, ...keys], { DPS_TOKEN: adminToken });
    expect(asked.code, asked.out + asked.err).to.equal(0);
    expect(asked.out.match(/matches the log: no event up to it has changed; signed by/g)).to.have.length(3);
    const onDatabase = await dps(['verify', ...given], { DATABASE_URL: database.connectionString });
    expect(onDatabase.code, onDatabase.out + onDatabase.err).to.equal(0);
    expect(onDatabase.out).to.contain('No signature was verified');
  });

  it('gets a new origin after its acknowledgement, and the event names the previous one', async () => {
    const send = await start();
    await create(send, 1, 8);
    const before = (await send('/history/checkpoint')).text;
    const early = await save('early.checkpoint', before);
    await cutOff(database.connectionString, 3);
    const refused = await send('/history/checkpoint');
    expect([refused.status, refused.codes]).to.deep.equal([503, ['LOG_DIVERGED']]);
    expect((await send('/history/acknowledge', { method: 'POST' })).status).to.equal(200);
    const event = (await send('/history/events/6')).json as {
      data: { hash: string; data: { previous_origin: string } };
    };
    expect(event.data.data.previous_origin).to.equal(before.split('\n')[0]);
    const after = (await send('/history/checkpoint')).text;
    expect(after.split('\n').slice(0, 2)).to.deep.equal([`data-platform-service/${event.data.hash}`, '6']);
    await create(send, 10, 14);
    const late = await save('late.checkpoint', (await send('/history/checkpoint')).text);
    const file = await exported(send);
    expect(await held('--file', file, '--checkpoint', late)).to.include({ ok: true });
    const earlyResult = await held('--file', file, '--checkpoint', early);
    expect(earlyResult).to.include({ ok: false, code: 1 });
    expect(earlyResult.checkpoints[0]?.reason).to.match(/Event 6 acknowledges a fork of the log/);
    // A second fork names the second origin, even without a checkpoint in between.
    await cutOff(database.connectionString, 1);
    expect((await send('/history/acknowledge', { method: 'POST' })).status).to.equal(200);
    const last = (
      (await send('/history/events?type=log.acknowledged&order=desc')).json as { data: (typeof event)['data'][] }
    ).data[0];
    expect(last?.data.previous_origin).to.equal(`data-platform-service/${event.data.hash}`);
  });

  it('is noticed by the service if only its stored checkpoints were forged', async () => {
    const to = join(folder, 'out');
    await mkdir(to);
    const send = await start({ CHECKPOINT_TO: to, CHECKPOINT_EVERY: '1' });
    await create(send, 1, 3);
    // A file has a temporary name until it is complete.
    const published = async () => (await readdir(to)).filter((each) => each.endsWith('.checkpoint'));
    await until('three are published', async () => (await published()).length >= 1);
    const [name = ''] = await published();
    expect(await readFile(join(to, name), 'utf8')).to.match(/^data-platform-service\//);
    await stopAll();
    await rewrite(database.connectionString, (events) => events.map(withReason));
    await tamper(database.connectionString, async (client) => {
      await client.query(`UPDATE service.service_projections p SET position = e.position, hash = e.hash
        FROM (SELECT position, hash FROM service.service_events ORDER BY position DESC LIMIT 1) e WHERE p.position > 0`);
    });
    const again = await start();
    expect((await again('/history/checkpoint')).codes).to.deep.equal(['LOG_DIVERGED']);
    expect((await again('/collections', json({ collection: 'more', schema: {} }))).codes).to.deep.equal([
      'LOG_DIVERGED',
    ]);
  });
});
