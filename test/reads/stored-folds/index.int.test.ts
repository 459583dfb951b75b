import { expect } from 'chai';
import type pg from 'pg';
import { type Point, foldLog, createStartPoint } from '../../../src/log/fold.js';
import { createPool } from '../../../src/postgres/pool.js';
import type { Logger } from '../../../src/postgres/logger.js';
import { type StoredFoldsOptions, createStoredFolds } from '../../../src/reads/stored-folds.js';
import { type CollectionNode, initialState } from '../../../src/schema/model/state.js';
import { ACKNOWLEDGED, append } from '../../support/append.js';
import { silent } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';

const INTERVAL = 100;

const folderCalled = (name: string): CollectionNode => ({
  identities: { collection: name, fields: new Map() },
  collection: { collection: name, meta: {} as CollectionNode['collection']['meta'], schema: null },
  fields: new Map(),
  relations: new Map(),
});

describe('stored folds', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let messages: [message: string, members: object | undefined][];

  beforeEach(async () => {
    database = await createDatabase('migrated');
    const { connectionString } = database;
    pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 2, logger: silent });
    messages = [];
  });

  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  const foldsOf = (more: Partial<StoredFoldsOptions> = {}) => {
    const logger: Logger = { ...silent, warn: (message, members) => messages.push([message, members]) };
    return createStoredFolds({ pool, logger, secret: 'secret', interval: () => INTERVAL, ...more });
  };

  /** A point with a schema of this many collections. Only positions matter, not contents. */
  function at(position: number, count = 0): Point {
    const collections = initialState().collections.asMutable();
    for (let number = 0; number < count; number += 1) collections.set(`c${number}`, folderCalled(`c${number}`));
    const state = { ...initialState(), position, collections: collections.asImmutable() };
    return { state, head: { position, hash: 'a'.repeat(64), occurred_at: '2026-01-01T00:00:00.000Z' } };
  }

  const stored = async (): Promise<number[]> => {
    const { rows } = await pool.query<{ position: number }>(
      'SELECT position FROM service.service_folds ORDER BY position',
    );
    return rows.map(({ position }) => position);
  };

  /** Offers points one after another, each after the previous one was stored. */
  const offered = async (...positions: number[]): Promise<number[]> => {
    const folds = foldsOf();
    for (const position of positions) {
      folds.offer(at(position));
      await folds.idle();
    }
    return stored();
  };

  it('can be created along a log at the right distances', async () => {
    await append(
      database.connectionString,
      Array.from({ length: 8_001 }, () => ACKNOWLEDGED),
    );
    const reached: number[] = [];
    const point = await foldLog(pool, createStartPoint(), {
      stops: {
        next: ({ head }) => head.position + 3_000,
        reached: ({ head, state }) => reached.push(head.position, state.position),
      },
    });
    // Whole pages of 2,000 are folded. So 4,000 is the first after 3,000, and 8,000 the first after 7,000.
    expect(reached).to.deep.equal([4_000, 4_000, 8_000, 8_000]);
    expect(point.head.position).to.equal(8_001);
  });

  it('have the required distance', async () => {
    expect(await offered(99, 100, 199, 200, 350, 449, 450)).to.deep.equal([100, 200, 350, 450]);
    expect(foldsOf().nextStop(at(450))).to.equal(550);
  });

  it('are not stored twice or near those of other processes', async () => {
    await offered(100);
    const build = () => pool.query('SELECT position, made_at::text FROM service.service_folds');
    const { rows } = await build();
    expect(await offered(100, 150)).to.deep.equal([100]);
    expect((await build()).rows).to.deep.equal(rows);
    const one = foldsOf();
    one.offer(at(200));
    await one.idle();
    one.offer(at(200));
    await one.idle();
    expect(await stored()).to.deep.equal([100, 200]);
  });

  it('are only logged if they cannot be stored', async () => {
    const { connectionString } = database;
    const away = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 1, logger: silent });
    await away.end();
    const folds = foldsOf({ pool: away });
    folds.offer(at(100));
    await folds.idle();
    expect(messages.map(([message]) => message)).to.deep.equal(['a state could not be stored']);
    expect(messages[0]?.[1]).to.include({ position: 100 });
  });

  it('are added between remaining ones at half the distance or more', async () => {
    expect(await offered(100, 500, 451, 450, 200)).to.deep.equal([100, 200, 450, 500]);
  });

  it('are as far apart as there are collections, and at least five thousand events', () => {
    const next = (collections: number): number => {
      return createStoredFolds({ pool, logger: silent, secret: 'secret' }).nextStop(at(7, collections));
    };
    expect([next(0), next(5_001), next(50_001)]).to.deep.equal([5_007, 5_008, 50_007]);
  });

  it('keep the distance in the queue and are few', async () => {
    const folds = foldsOf();
    for (const position of [100, 200, 250, 300, 350, 400, 500, 600, 700]) folds.offer(at(position));
    await folds.idle();
    expect(await stored()).to.deep.equal([100, 200, 300, 400, 500]);
    folds.offer(at(700));
    await folds.idle();
    expect(await stored()).to.include(700);
  });

  it('are not stored when read-only or closed', async () => {
    const reading = foldsOf({ readOnly: () => true });
    reading.offer(at(100));
    await reading.idle();
    await reading.close(at(5_000));
    const closed = foldsOf();
    await closed.close();
    closed.offer(at(100));
    await closed.idle();
    expect([await stored(), messages]).to.deep.equal([[], []]);
  });

  it('get a last one at the end if it saves a thousand events', async () => {
    await foldsOf({ interval: () => 5_000 }).close(at(999));
    expect(await stored()).to.deep.equal([]);
    await foldsOf({ interval: () => 5_000 }).close(at(1_000));
    expect(await stored()).to.deep.equal([1_000]);
    await foldsOf().close(at(9_000, 2_001));
    expect(await stored()).to.deep.equal([1_000]);
    await foldsOf().close(at(9_000, 2_000));
    expect(await stored()).to.deep.equal([1_000, 9_000]);
  });

  describe('of a log', () => {
    const EVENTS = 12;
    const onTheWay = async (...positions: number[]): Promise<void> => {
      const folds = foldsOf({ interval: () => 1 });
      for (const upTo of positions) {
        folds.offer(await foldLog(pool, createStartPoint(), { upTo }));
        await folds.idle();
      }
    };

    beforeEach(async () => {
      await append(
        database.connectionString,
        Array.from({ length: EVENTS }, () => ACKNOWLEDGED),
      );
      await onTheWay(3, 6, 9);
    });

    const nearest = async (...requested: [position: number, above?: number]) =>
      (await foldsOf().nearest(...requested))?.head.position;

    it('return the newest at or before a position, above another', async () => {
      expect([await nearest(2), await nearest(3), await nearest(8), await nearest(99)]).to.deep.equal([
        undefined,
        3,
        6,
        9,
      ]);
      expect([await nearest(8, 5), await nearest(8, 6), await nearest(9, 8)]).to.deep.equal([6, undefined, 9]);
    });

    it('are deleted if invalid, and the previous one is used', async () => {
      await pool.query(`UPDATE service.service_folds SET hash = repeat('0', 64) WHERE position = 9`);
      await pool.query(`UPDATE service.service_folds SET event_hash = repeat('0', 64) WHERE position = 6`);
      expect(await nearest(99)).to.equal(3);
      const thrown = 'a stored state is invalid and is discarded';
      expect(messages).to.deep.equal([
        [thrown, { position: 9, why: 'its hash does not match its content' }],
        [thrown, { position: 6, why: 'it belongs to another log' }],
      ]);
      expect(await stored()).to.deep.equal([3]);
    });

    it('are kept on a read-only database, even if invalid', async () => {
      await pool.query(`UPDATE service.service_folds SET content = content || content`);
      expect(await foldsOf({ readOnly: () => true }).nearest(99)).to.equal(undefined);
      expect(messages).to.have.length(3);
      expect(await stored()).to.deep.equal([3, 6, 9]);
    });

    it('need the secret of the service that stored them', async () => {
      expect(await foldsOf({ secret: 'another' }).nearest(4)).to.equal(undefined);
      expect(await stored()).to.deep.equal([6, 9]);
    });

    it('contain the head and the state of their position', async () => {
      const point = await foldLog(pool, createStartPoint(), { upTo: 6 });
      const read = await foldsOf().nearest(6);
      expect(read?.head).to.deep.equal(point.head);
      expect(read?.state.position).to.equal(6);
    });
  });
});
