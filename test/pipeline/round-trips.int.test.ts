import { expect } from 'chai';
import { CAUSE, command, expectDone, field, refusedWith, startInstance, table } from '../support/instance.js';
import { INSTALL_PGBOUNCER, pgbouncerProgram, startPgbouncer } from '../support/pgbouncer.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

describe('a change', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase('migrated');
  });

  afterEach(() => database.drop());

  /** The packets of one change on an existing connection. */
  async function packets(address: string, pooled: boolean): Promise<string[]> {
    const proxy = await startProxy(address);
    const instance = await startInstance(database.connectionString, {
      writeThrough: proxy.connectionString,
      pooled,
      max: 1,
    });
    const sent: string[] = [];
    try {
      const create = (name: string) =>
        instance.pipeline.apply('create-collection', table(name, [field('a')]), { cause: CAUSE });
      expectDone(await create('first'));
      expectDone(await create('second'));
      proxy.intercept((packet) => {
        const text = packet.toString('latin1');
        // The session is cleaned after the response.
        if (!text.includes('DISCARD TEMP')) sent.push(text);
        return 'pass';
      });
      expectDone(await create('third'));
      return [...sent];
    } finally {
      await instance.stop();
      await proxy.close();
    }
  }

  it('takes one round trip', async () => {
    expect(await packets(database.connectionString, false)).to.have.length(1);
  });

  it('is followed by a reset of its session only if it ran DDL', async () => {
    const proxy = await startProxy(database.connectionString);
    const instance = await startInstance(database.connectionString, { writeThrough: proxy.connectionString, max: 1 });
    let resets = 0;
    proxy.intercept((packet) => {
      if (packet.includes('DISCARD TEMP')) resets += 1;
      return 'pass';
    });
    const create = async (name: string) => {
      const before = resets;
      expectDone(await instance.pipeline.apply('create-collection', table(name, [field('a')]), { cause: CAUSE }));
      await until('the session is reset', () => resets > before);
    };
    try {
      await create('first');
      for (const note of ['a', 'b', 'c']) {
        const input = command('update-collection', { collection: 'first', body: { meta: { note } } });
        expectDone(await instance.pipeline.apply('update-collection', input, { cause: CAUSE }));
      }
      await create('second');
      expect(resets).to.equal(2);
    } finally {
      await instance.stop();
      await proxy.close();
    }
  });

  it('leaves its connection usable when it is rejected', async () => {
    const proxy = await startProxy(database.connectionString);
    const instance = await startInstance(database.connectionString, { writeThrough: proxy.connectionString, max: 1 });
    try {
      const create = (name: string) =>
        instance.pipeline.apply('create-collection', table(name, [field('a')]), { cause: CAUSE });
      expectDone(await create('first'));
      const before = proxy.connections();
      for (let times = 0; times < 20; times += 1) expect(refusedWith(await create('first'))).to.equal('ALREADY_EXISTS');
      expectDone(await create('second'));
      // A connection that is still being cleaned may be skipped, and the pool has a few.
      expect(proxy.connections() - before).to.be.below(10);
    } finally {
      await instance.stop();
      await proxy.close();
    }
  });

  it('takes three round trips behind a pooler, which hides the server process: begin, change tables, commit', async function () {
    if (pgbouncerProgram() === null) {
      console.log(`      ${INSTALL_PGBOUNCER}`);
      this.skip();
    }
    const pgbouncer = await startPgbouncer(database.connectionString);
    try {
      const sent = await packets(pgbouncer.through(database.connectionString), true);
      expect(sent).to.have.length(3);
      expect(sent.map((packet) => packet.includes('search_path'))).to.deep.equal([true, false, false]);
    } finally {
      await pgbouncer.stop();
    }
  });
});
