import { expect } from 'chai';
import type pg from 'pg';
import { type Queryable, createPool } from '../../../src/postgres/pool.js';
import { type Tail, createTail } from '../../../src/reads/history/tail.js';
import type { Store } from '../../../src/reads/state-store.js';
import type { LogEvent } from '../../../src/schema/model/events.js';
import type { EventText } from '../../../src/log/read.js';
import { ACKNOWLEDGED, append } from '../../support/append.js';
import { silent } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

type Listener = Parameters<Store['subscribe']>[0];

describe('the tail of the log', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  let reads: number;
  let atOnce: number;
  let head: number;
  let tail: Tail;
  let tell: Listener;
  const ends: AbortController[] = [];

  beforeEach(async () => {
    database = await createDatabase('migrated');
    pool = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 3,
      logger: silent,
    });
    [reads, atOnce, head] = [0, 0, 0];
    let running = 0;
    const query = pool.query.bind(pool) as (statement: pg.QueryConfig) => Promise<pg.QueryResult>;
    const counted = {
      query: (statement: pg.QueryConfig) => {
        reads += 1;
        atOnce = Math.max(atOnce, ++running);
        return query(statement).finally(() => (running -= 1));
      },
    } as unknown as Queryable;
    const store = {
      point: () => ({ head: { position: head } }),
      subscribe: (listener: Listener) => {
        tell = listener;
        return () => undefined;
      },
    } as unknown as Store;
    tail = createTail({ pool: counted, store });
  });

  afterEach(async () => {
    for (const end of ends.splice(0)) end.abort();
    await pool.end();
    await database.drop();
  });

  /** Appends events, each with a number of extra characters, and announces them. */
  async function add(count: number, characters = 0): Promise<void> {
    const event = { ...ACKNOWLEDGED, data: { more: 'x'.repeat(characters) } } as unknown as LogEvent;
    await append(
      database.connectionString,
      Array.from({ length: count }, () => event),
    );
    head += count;
    tell(undefined as never, false);
  }

  interface Follower {
    /** First and last position of each part. */
    parts: [first: number, last: number][];
    ended(): boolean;
    end: AbortController;
  }

  function follow(after: number): Follower {
    const end = new AbortController();
    ends.push(end);
    let over = false;
    const parts: [number, number][] = [];
    const run = async (): Promise<void> => {
      for await (const events of tail.follow(after, end.signal)) {
        const positions = events.map(({ position }: EventText) => position);
        expect(positions).to.deep.equal(positions.map((_, index) => (positions[0] ?? 0) + index));
        parts.push([positions[0] ?? 0, positions.at(-1) ?? 0]);
      }
      over = true;
    };
    void run();
    return { parts, ended: () => over, end };
  }
  const has = (follower: Follower, position: number): Promise<void> =>
    until(`position ${position} is there`, () => follower.parts.at(-1)?.[1] === position);

  it('is read in pages of 50, each once for all followers, in sequence', async () => {
    await add(120);
    const [one, two, late] = [follow(0), follow(0), follow(30)];
    await Promise.all([has(one, 120), has(two, 120), has(late, 120)]);
    const all = [
      [1, 50],
      [51, 100],
      [101, 120],
    ];
    expect([one.parts, two.parts]).to.deep.equal([all, all]);
    expect(late.parts).to.deep.equal([[31, 50], ...all.slice(1)]);
    expect([reads, atOnce, tail.followers()]).to.deep.equal([3, 1, 3]);
    await add(1);
    await has(one, 121);
    await has(two, 121);
    expect(reads, 'what came is read once as well').to.equal(4);
  });

  it('waits at its end without queries, and resumes', async () => {
    await add(50);
    const follower = follow(50);
    tell(undefined as never, false, []);
    await new Promise(setImmediate);
    expect([follower.parts, reads]).to.deep.equal([[], 0]);
    await add(2);
    await has(follower, 52);
    expect(follower.parts).to.deep.equal([[51, 52]]);
    follower.end.abort();
    await until('it has ended', follower.ended);
    expect(tail.followers()).to.equal(0);
  });

  it('wakes many followers over several turns of the event loop, after the change was answered', async () => {
    let turn = 0;
    let timer = setImmediate(function next() {
      turn += 1;
      timer = setImmediate(next);
    });
    const turns: number[] = [];
    for (let count = 0; count < 100; count++) {
      const end = new AbortController();
      ends.push(end);
      void (async () => {
        for await (const _ of tail.follow(0, end.signal)) turns.push(turn);
      })();
    }
    await add(1);
    const announced = turn;
    await until('all have it', () => turns.length === 100);
    clearImmediate(timer);
    expect(Math.min(...turns)).to.be.greaterThan(announced);
    expect(new Set(turns).size).to.be.at.least(100 / 16);
  });

  it('delivers events that arrived while other followers were woken', async () => {
    const followers = Array.from({ length: 40 }, () => follow(0));
    await add(1);
    await add(1);
    await add(1);
    for (const follower of followers) await has(follower, 3);
  });

  it('keeps recently used pages up to 16 MiB of text', async () => {
    for (let page = 0; page < 3; page++) {
      await add(1, 6_000_000);
      await add(49);
    }
    const first = follow(0);
    await has(first, 150);
    expect(reads).to.equal(3);
    const again = follow(50);
    await has(again, 150);
    expect(reads, 'the second and the third are kept').to.equal(3);
    const fromStart = follow(0);
    await has(fromStart, 150);
    expect(reads, 'the first had to go, and then each made room for another').to.equal(6);
  });

  it('keeps all small pages', async () => {
    await add(150);
    await has(follow(0), 150);
    await has(follow(0), 150);
    expect(reads).to.equal(3);
  });

  it('restarts with another log: followers end, and cached events are dropped', async () => {
    await add(60);
    const follower = follow(0);
    await has(follower, 60);
    tell(undefined as never, true);
    await until('it has ended', follower.ended);
    const next = follow(0);
    await has(next, 60);
    expect([reads, next.ended()]).to.deep.equal([4, false]);
  });

  it('ends all current and later followers when closed', async () => {
    await add(1);
    const follower = follow(1);
    await until('it follows', () => tail.followers() === 1);
    tail.close();
    await until('it has ended', follower.ended);
    const late = follow(0);
    await until('it has ended', late.ended);
    expect([late.parts, tail.followers()]).to.deep.equal([[], 0]);
  });

  it('fails for an announced position outside the log, and continues for others', async () => {
    await add(1);
    head = 2;
    const next = tail.follow(0, new AbortController().signal).next();
    const error: unknown = await next.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect((error as Error).message).to.equal('position 2 was announced and is not in the log');
    head = 1;
    await has(follow(0), 1);
  });
});
