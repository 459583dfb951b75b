import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type ServiceProcess, spawnService } from '../support/process.js';
import { type ResponsiveClock, startResponsiveClock } from '../support/responsive-clock.js';

const MIB = 1024 * 1024;
const TOKEN = 'hostile-bodies-admin-token-0123456789';

/**
 * Milliseconds that another request may wait. It took half a minute before the fix, and takes less than 100 on an idle
 * machine.
 */
const PATIENCE = 3_000;

/** Each body took 3 GiB, so three would end the process. */
const AT_ONCE = 3;

/** MiB of the whole process. Six bodies of 24 MiB took 3 GiB each, and ended it. */
const MEMORY = 2_000;

/** A larger heap delays garbage collection and makes the measurement meaningless. */
const NODE_OPTIONS = '--max-old-space-size=1024';

describe('hostile bodies', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let url: string;
  let clock: ResponsiveClock;

  before(async () => {
    database = await createDatabase('migrated');
    service = spawnService({ DATABASE_URL: database.connectionString, ADMIN_TOKEN: TOKEN, NODE_OPTIONS });
    ({ url } = await service.ready());
    clock = await startResponsiveClock(database.connectionString);
  });
  after(async () => {
    await clock.stop();
    await service.end('SIGTERM');
    await database.drop();
  });

  const send = async (body: string | Buffer, type: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${url}/schema/diff?force`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': type, ...headers },
      body,
    });
    const { errors } = (await answer.json()) as { errors?: [{ message: string; extensions: { code: string } }] };
    return { status: answer.status, message: errors?.[0].message ?? '', code: errors?.[0].extensions.code };
  };

  /** The longest response time of /server/ping while `work` runs, and the peak memory of the process in MiB. */
  async function measureDuring<T>(work: Promise<T>): Promise<{ result: T; wait: number; memory: number }> {
    let [wait, over] = [0, false];
    const done = work.finally(() => (over = true));
    while (!over) {
      const [, waited] = await clock.timed(fetch(`${url}/server/ping`).then((answer) => answer.text()));
      wait = Math.max(wait, waited);
      await sleep(10);
    }
    const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
    return { result: await done, wait, memory: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024 };
  }

  const repeated = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));
  const array = (element: string, bytes: number) => `[${repeated(`${element},`, bytes)}${element}]`;
  const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;

  const BODIES: Record<string, { body: () => string; type?: string; answer: number }> = {
    'empty objects': { body: () => array('{}', 24 * MIB), answer: 413 },
    'as many empty objects as are taken': {
      body: () => `[${array(array('{}', 2_700_000), 11 * MIB)}]`,
      answer: 400,
    },
    'members of many objects': {
      body: () => `{"version":1,"fields":[${repeated(`${members(9_000)},`, 24 * MIB)}{}]}`,
      answer: 400,
    },
    'white space and strings': {
      body: () => `{"version":${repeated(' ', 3 * MIB)}"${repeated('\\u00e4', 28 * MIB)}"}`,
      answer: 413,
    },
    'a sequence of YAML': { body: () => repeated('- a\n', 24 * MIB), type: 'application/yaml', answer: 413 },
    'aliases of YAML': {
      body: () =>
        `a: &a [${repeated('x,', 20_000)}]\nb: &b [${repeated('*a,', 3_000)}]\nc: [${repeated('*b,', 1_500)}]\n`,
      type: 'application/yaml',
      answer: 413,
    },
  };

  for (const [name, { body, type = 'application/json', answer }] of Object.entries(BODIES)) {
    it(`${name}, ${AT_ONCE} at once, delay no other request`, async () => {
      const text = Buffer.from(body());
      const all = Array.from({ length: AT_ONCE }, () => send(text, type));
      const { result, wait, memory } = await measureDuring(Promise.all(all));
      const shown = `${JSON.stringify(result)}, ping ${Math.round(wait)} ms, ${Math.round(memory)} MiB`;
      // A request that waited too long receives 503.
      for (const { status } of result) expect([answer, 503], shown).include(status);
      expect(
        result.map(({ status }) => status),
        shown,
      ).include(answer);
      // The service may have exported such a snapshot itself.
      const tooLarge = result.filter(({ status }) => type === 'application/yaml' && status === 413);
      for (const { message } of tooLarge) expect(message).contain('Export the snapshot as JSON');
      expect(wait, shown).below(PATIENCE);
      expect(memory, shown).below(MEMORY);
    });
  }

  it('bodies compressed a thousand times delay no other request', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * MIB, '[]'));
    const six = Array.from({ length: 6 }, () => send(bomb, 'application/json', { 'content-encoding': 'gzip' }));
    const { result, wait, memory } = await measureDuring(Promise.all(six));
    // Each caller can process one of them at a time. A request that waits too long receives 503.
    const statuses = result.map(({ status }) => status);
    for (const status of statuses) expect([413, 503]).include(status);
    expect(statuses).include(413);
    expect(wait).below(PATIENCE);
    expect(memory).below(MEMORY);
  });
});
