import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { fileNameOf, parseCheckpoint } from '../../../src/log/signed-checkpoints/checkpoint.js';
import { type Client, clientOf, json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { type TestDatabase, asSuperuser, createDatabase, query, temporaryDirectory } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { until } from '../../support/until.js';

describe('published checkpoints', () => {
  let database: TestDatabase;
  let folder: string;
  let services: TestService[];

  beforeEach(async () => {
    [database, folder, services] = [await createDatabase('migrated'), await temporaryDirectory(), []];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (settings: Record<string, string>): Promise<{ service: TestService; send: Client }> => {
    const service = await startService({ DATABASE_URL: database.connectionString, ...settings });
    services.push(service);
    return { service, send: clientOf(service) };
  };

  let count = 0;
  const create = async (send: Client): Promise<void> => {
    expect((await send('/collections', json({ collection: `c${(count += 1)}`, schema: {} }))).status).to.equal(200);
  };

  const published = async (): Promise<number[]> => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.checkpoint')).sort();
    const all = await Promise.all(names.map((name) => readFile(join(folder, name))));
    return all.map((bytes) => parseCheckpoint(bytes).position);
  };

  const metric = async (send: Client, name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\d+)`, 'm').exec((await send('/metrics')).text)?.[1]);

  const publishedBy = (log: string): number[] =>
    log
      .split('\n')
      .filter((line) => line.includes('"checkpoint published"'))
      .map((line) => (JSON.parse(line) as { position: number }).position);

  it('are each published by one of several processes, and all match the log', async () => {
    const settings = { CHECKPOINT_TO: folder, CHECKPOINT_EVERY: '1' };
    const [one, two] = [await start(settings), await start(settings)];
    for (let number = 1; number <= 6; number += 1) {
      await Promise.all([create(one.send), create(two.send)]);
      await until('the end is published', async () => (await published()).at(-1) === 2 * number);
    }
    // The other process may still be publishing an earlier checkpoint.
    await until('none waits', async () => {
      const waiting = 'SELECT FROM service.service_checkpoints WHERE published_at IS NULL';
      return (await query(database.connectionString, waiting)).length === 0;
    });
    const all = await published();
    const messagesOf = () => services.flatMap((service) => publishedBy(service.log())).sort((a, b) => a - b);
    // The file appears just before the log line.
    await until('all are said', () => messagesOf().length >= all.length);
    expect(messagesOf()).to.deep.equal(all);
    expect(
      Math.max(await metric(one.send, 'dps_checkpoint_position'), await metric(two.send, 'dps_checkpoint_position')),
    ).to.equal(12);
    const file = join(folder, 'log.ndjson');
    await writeFile(file, (await one.send('/history/export')).text);
    const ran = await dps(['verify', '--file', file, '--checkpoint', folder], {});
    expect(ran.code, ran.out + ran.err).to.equal(0);
  });

  it('are published after a number of events, or after a time with at least one event', async () => {
    const { send } = await start({ CHECKPOINT_TO: folder, CHECKPOINT_EVERY: '5,1440min' });
    await create(send);
    await until('the first is published', async () => (await published()).length === 1);
    for (let number = 0; number < 4; number += 1) await create(send);
    expect(await published()).to.deep.equal([1]);
    await create(send);
    await until('five later', async () => (await published()).length === 2);
    await services.pop()?.stop();
    const other = await start({ CHECKPOINT_TO: folder, CHECKPOINT_EVERY: '500ms' });
    await create(other.send);
    await until('half a second later', async () => (await published()).length >= 3);
  });

  it('wait for a missing folder, report it once, and block no writer', async () => {
    const to = join(folder, 'later');
    const { service, send } = await start({ CHECKPOINT_TO: to, CHECKPOINT_EVERY: '1' });
    for (let number = 0; number < 3; number += 1) await create(send);
    await until('it says so', () => service.log().includes('checkpoints cannot be published'));
    expect(service.log()).to.contain('ENOENT');
    expect(await metric(send, 'dps_checkpoint_failures_total')).to.be.at.least(1);
    expect((await send('/server/health', { token: null })).status).to.equal(200);
    await mkdir(to);
    await until('it is published', () => service.log().includes('checkpoints are published again'));
    expect((await readdir(to)).length).to.be.at.least(1);
  });

  it('never overwrite those of another log, and continue after them', async () => {
    const { service, send } = await start({ CHECKPOINT_EVERY: '1' });
    await create(send);
    const { origin } = parseCheckpoint(Buffer.from((await send('/history/checkpoint')).text));
    await writeFile(join(folder, fileNameOf({ origin, position: 1 })), 'something else');
    await services.pop()?.stop();
    expect(service.log()).not.to.contain('checkpoint published');
    const next = await start({ CHECKPOINT_TO: folder, CHECKPOINT_EVERY: '1' });
    await until('it is refused', () => next.service.log().includes('the target rejected a checkpoint'));
    await create(next.send);
    const second = join(folder, fileNameOf({ origin, position: 2 }));
    await until('the next is published', () =>
      readFile(second).then(
        () => true,
        () => false,
      ),
    );
    expect(await readFile(join(folder, fileNameOf({ origin, position: 1 })), 'utf8')).to.equal('something else');
  });

  it('are delivered to a returned address, oldest first, while writes continue', async () => {
    let down = true;
    const taken: string[] = [];
    const server = createServer((req, res) => {
      // An unavailable server: accepts the request and never responds.
      if (down) return;
      taken.push(req.url ?? '');
      req.resume().on('end', () => res.writeHead(201).end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const { send } = await start({ CHECKPOINT_TO: to, CHECKPOINT_EVERY: '1' });
      // Nothing is published until all are created.
      for (let number = 0; number < 5; number += 1) await create(send);
      expect(taken).to.deep.equal([]);
      down = false;
      server.closeAllConnections();
      await until('all are there', () => taken.at(-1)?.includes('-000000000005.') === true);
      expect(taken).to.deep.equal([...taken].sort());
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('continue when clocks change', async () => {
    const first = await start({ CHECKPOINT_TO: folder, CHECKPOINT_EVERY: '1000,1440min' });
    await create(first.send);
    await until('the first is published', async () => (await published()).length === 1);
    await services.pop()?.stop();
    await asSuperuser(
      database.connectionString,
      `UPDATE service.service_checkpoints SET signed_at = now() + interval '1 year', published_at = NULL, claimed_at = now() + interval '1 year'`,
    );
    await rm(folder, { recursive: true });
    await mkdir(folder);
    const next = await start({ CHECKPOINT_TO: folder, CHECKPOINT_EVERY: '1000,1440min' });
    await until('the claim of the future is none', async () => (await published()).includes(1));
    await create(next.send);
    await until('a clock that was set back says that it is time', async () => (await published()).includes(2));
  });
});
