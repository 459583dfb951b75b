import { expect } from 'chai';
import {
  claim,
  insert,
  isDue,
  isNewPosition,
  markPublished,
  release,
} from '../../../src/log/signed-checkpoints/publish.js';
import type pg from 'pg';
import { ACKNOWLEDGED, append } from '../../support/append.js';
import { type Instance, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';

describe('claims on undelivered checkpoints', () => {
  let database: TestDatabase;
  let instance: Instance;
  let pool: pg.Pool;

  before(async () => {
    database = await createDatabase();
    instance = await startInstance(database.connectionString);
    pool = instance.pool;
    const end = { origin: 'here', position: 1, hash: 'a'.repeat(64), note: 'a note' };
    await insert(pool, 'folder', end as Parameters<typeof insert>[2]);
  });

  after(async () => {
    await instance.stop();
    await database.drop();
  });

  const claimedAt = (when: string) => pool.query(`UPDATE service.service_checkpoints SET claimed_at = ${when}`);

  it('are not taken from a live process that claimed them in the meantime', async () => {
    // A statement's clock stops at its start, so later commits are in its future.
    await claimedAt(`now() + interval '2 seconds'`);
    expect(await claim(pool, 'folder')).to.equal(undefined);
    await claimedAt(`now() - interval '50 seconds'`);
    expect(await claim(pool, 'folder')).to.equal(undefined);
  });

  it('are taken from a dead process, and after the clock was set back', async () => {
    for (const when of [`now() - interval '61 seconds'`, `now() + interval '2 minutes'`, 'NULL']) {
      await claimedAt(when);
      expect((await claim(pool, 'folder'))?.position, when).to.equal(1);
    }
  });
});

describe('stored checkpoints', () => {
  let database: TestDatabase;
  let instance: Instance;
  let pool: pg.Pool;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    pool = instance.pool;
  });

  afterEach(async () => {
    await instance.stop();
    await database.drop();
  });

  /** Rows of `target` from the position `from`. */
  const keep = (count: number, mode: { target?: string; from?: number; published?: boolean } = {}) => {
    const { target = 'folder', from = 1, published = false } = mode;
    return pool.query(
      `INSERT INTO service.service_checkpoints (target, origin, position, hash, note, published_at)
       SELECT $1, 'here', $2 + n, repeat('a', 64), 'a note', CASE WHEN $3 THEN now() END FROM generate_series(0, $4 - 1) n`,
      [target, from, published, count],
    );
  };
  const count = async (): Promise<number> =>
    (await pool.query<{ count: number }>('SELECT count(*)::int AS count FROM service.service_checkpoints')).rows[0]
      ?.count ?? 0;

  it('are created for uncovered positions while few are waiting', async () => {
    expect(await isNewPosition(pool, 'folder')).to.equal(false);
    const [event] = await append(database.connectionString, [ACKNOWLEDGED]);
    expect(await isNewPosition(pool, 'folder')).to.equal(true);
    const end = { origin: 'here', position: 1, hash: event?.hash, note: 'a note' } as Parameters<typeof insert>[2];
    await insert(pool, 'folder', end);
    await insert(pool, 'folder', end);
    expect(await count()).to.equal(1);
    expect([await isNewPosition(pool, 'folder'), await isNewPosition(pool, 'elsewhere')]).to.deep.equal([false, true]);
    await append(database.connectionString, [ACKNOWLEDGED]);
    await keep(98, { from: 10 });
    expect(await isNewPosition(pool, 'folder')).to.equal(true);
    await keep(1, { from: 200 });
    expect(await isNewPosition(pool, 'folder')).to.equal(false);
    const claimed = await claim(pool, 'folder');
    await release(pool, claimed?.id ?? '', { message: 'another one is there', refused: true });
    expect(await isNewPosition(pool, 'folder')).to.equal(true);
  });

  it('are due after a number of events, a time with an event, or a clock change', async () => {
    const every = { events: 3, time: 60_000 };
    const isDueAt = (position: number, origin = 'here') =>
      isDue(pool, { target: 'folder', end: { origin, position }, every });
    expect(await isDueAt(5), 'the first').to.equal(true);
    await keep(1, { from: 5 });
    await keep(1, { from: 50, target: 'elsewhere' });
    const dueAt = async () => [await isDueAt(5), await isDueAt(6), await isDueAt(7), await isDueAt(8)];
    expect(await dueAt()).to.deep.equal([false, false, false, true]);
    expect(await isDueAt(6, 'another log')).to.equal(true);
    const signedAt = (when: string) => pool.query(`UPDATE service.service_checkpoints SET signed_at = ${when}`);
    await signedAt(`now() - interval '40 seconds'`);
    expect(await dueAt()).to.deep.equal([false, false, false, true]);
    for (const when of [`now() - interval '61 seconds'`, `now() + interval '1 minute'`]) {
      await signedAt(when);
      expect(await dueAt(), when).to.deep.equal([false, true, true, true]);
    }
  });

  it('are delivered in order, with retries for failures and none for rejections', async () => {
    await keep(3);
    const [first, second] = [await claim(pool, 'folder'), await claim(pool, 'folder')];
    expect([first?.position, second?.position, await claim(pool, 'elsewhere')]).to.deep.equal([1, 2, undefined]);
    expect(first).to.deep.include({ origin: 'here', note: 'a note' });
    await release(pool, first?.id ?? '', { message: 'away', refused: false });
    await release(pool, second?.id ?? '', { message: 'another one is there', refused: true });
    const again = [await claim(pool, 'folder'), await claim(pool, 'folder'), await claim(pool, 'folder')];
    expect(again.map((each) => each?.position)).to.deep.equal([1, 3, undefined]);
    await markPublished(pool, again[0]?.id ?? '', 'folder');
    const { rows } = await pool.query(
      `SELECT position, claimed_at IS NULL AS free, last_error, published_at IS NOT NULL AS published,
              refused_at IS NOT NULL AS refused FROM service.service_checkpoints ORDER BY position`,
    );
    expect(rows).to.deep.equal([
      { position: 1, free: true, last_error: null, published: true, refused: false },
      { position: 2, free: true, last_error: 'another one is there', published: false, refused: true },
      { position: 3, free: false, last_error: null, published: false, refused: false },
    ]);
  });

  it('are deleted, oldest first, beyond a thousand delivered ones per destination', async () => {
    await keep(1_001, { published: true });
    await keep(1, { from: 1, target: 'elsewhere', published: true });
    await keep(1, { from: 2_000 });
    const claimed = await claim(pool, 'folder');
    await markPublished(pool, claimed?.id ?? '', 'folder');
    expect(await count()).to.equal(1_001);
    const { rows } = await pool.query<{ first: number }>(
      `SELECT min(position) AS first FROM service.service_checkpoints WHERE target = 'folder'`,
    );
    expect(rows).to.deep.equal([{ first: 3 }]);
  });
});
