import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import type pg from 'pg';
import { createStartPoint, foldBefore } from '../../src/log/fold.js';
import { verifyChain } from '../../src/log/verification.js';
import { type LogHead, GENESIS_HASH, emptyHead } from '../../src/log/head.js';
import { type EventRecord, readRecordPages } from '../../src/log/read.js';
import { readDatabase } from '../../src/postgres/server.js';
import { migrate } from '../../src/postgres/migrate.js';
import { createPool, withClient } from '../../src/postgres/pool.js';
import type { Cause, LogEvent, NewEvent, StoredEvent } from '../../src/schema/model/events.js';
import { initialState } from '../../src/schema/model/state.js';
import { CAUSE, silent } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { appendEvents } from '../support/append.js';
import { eventHash } from '../support/event-hash.js';
import { attempt } from '../support/given.js';
import { eventsOf } from '../support/log.js';
import type { Json } from '../../src/kernel/json.js';

/** Values that jsonb might return changed. */
const HOSTILE: Json = {
  zz: 1,
  a: 2,
  'ä ö': 3,
  '10': 'ten',
  '9': 'nine',
  ['__proto__']: { polluted: true },
  constructor: null,
  numbers: [0, -0, 1.0, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, -123456789.12345679, 9007199254740991],
  text: ['9007199254740993', '1e400', '', ' ', 'a\u0001b', '😀', '\u2028', 'e\u0301', '\\u0000', `'"\\`, '\uFFFF'],
  deep: [[[[{ b: [], a: {} }]]]],
};

const patch = (value: Json): NewEvent => ({
  type: 'collection.updated',
  version: 1,
  collection: `it's "a" \\ 😀 collection`,
  field: null,
  data: { patch: [{ op: 'replace', path: '/meta/translations', value }] },
});

describe('the log', () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    pool = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 3,
      logger: silent,
    });
    await migrate({
      pool,
      schema: 'public',
      serviceSchema: 'service',
      database: await readDatabase(pool),
      logger: silent,
    });
  });

  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  const append = (
    events: readonly LogEvent[],
    cause: Cause = CAUSE,
    head: LogHead = emptyHead(),
  ): Promise<StoredEvent[]> => withClient(pool, (client) => appendEvents(client, head, events, cause));

  const headOf = ({ position, hash, occurred_at }: StoredEvent): LogHead => ({ position, hash, occurred_at });

  function readAll(after = 0, limit?: number): Promise<StoredEvent[]> {
    return eventsOf(pool, { after, ...(limit !== undefined && { limit }) });
  }

  /** Like a role with all privileges. */
  async function tamper(change: string): Promise<void> {
    await pool.query(
      `ALTER TABLE service.service_events DISABLE TRIGGER ALL; ${change}; ALTER TABLE service.service_events ENABLE TRIGGER ALL`,
    );
  }

  it('returns exactly what was appended, with an intact chain', async () => {
    const cause: Cause = {
      actor: { id: 'x', name: 'Zoë "the" O\'Neil' },
      command: 'update-collection',
      reason: 'because:\n“reasons” 😀',
      request_id: 'r-1',
      ip: '::1',
      user_agent: 'curl/8',
    };
    const stored = await append([patch(HOSTILE), patch('9007199254740993'), patch(null)], cause);
    const read = await readAll();
    // jsonb has no negative zero, and neither has JSON.stringify.
    expect(read).to.deep.equal(JSON.parse(JSON.stringify(stored)));
    expect(read.map((event) => event.position)).to.deep.equal([1, 2, 3]);
    expect(read[0]?.previous_hash).to.equal(GENESIS_HASH);
    const value = (read[0] as { data: { patch: { value: object }[] } }).data.patch[0]?.value ?? {};
    expect(Object.hasOwn(value, '__proto__')).to.equal(true);
    expect(await verifyChain(pool)).to.deep.equal({
      ok: true,
      checked: 3,
      erased: 0,
      head: headOf(read[2] as StoredEvent),
      disallowed: [],
    });
  });

  it('replaces header text that PostgreSQL cannot store', async () => {
    const [stored] = await append([patch(1)], {
      ...CAUSE,
      user_agent: 'a\0b\uD800c',
      actor: { id: '1', name: '\uDC00' },
    });
    expect(stored).to.deep.include({ user_agent: 'a\uFFFDb\uFFFDc', actor: { id: '1', name: '\uFFFD' } });
    expect(await readAll()).to.deep.equal([stored]);
    expect((await verifyChain(pool)).ok).to.equal(true);
  });

  it('never has decreasing times', async () => {
    const head = { position: 0, hash: GENESIS_HASH, occurred_at: '2999-01-01T00:00:00.000Z' };
    const [stored] = await append([patch(1)], CAUSE, head);
    expect(stored?.occurred_at).to.equal('2999-01-01T00:00:00.000Z');
    expect((await verifyChain(pool)).ok).to.equal(true);
  });

  it('is read in pages from any position, of any size', async () => {
    const stored = await append(Array.from({ length: 2_500 }, (_, index) => patch(index)));
    expect((await readAll()).length).to.equal(2_500);
    expect(await readAll(1_999)).to.deep.equal(stored.slice(1_999));
    expect(await readAll(10, 1_000)).to.deep.equal(stored.slice(10, 1_010));
    expect(await readAll(10, 1_001)).to.deep.equal(stored.slice(10, 1_011));
    expect(await readAll(10, 0)).to.deep.equal([]);
    expect(await readAll(2_500)).to.deep.equal([]);
    const pages: EventRecord[][] = [];
    for await (const page of readRecordPages(pool, { after: 0, upTo: 1_200 })) pages.push(page);
    expect(pages.map((page) => page.length)).to.deep.equal([1_000, 200]);
  });

  it('ignores a failed prefetched page that is not needed', async () => {
    await append(Array.from({ length: 1_001 }, (_, index) => patch(index)));
    const unhandled: unknown[] = [];
    const note = (error: unknown): unknown => unhandled.push(error);
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
    try {
      let queries = 0;
      // The second page is requested on a closed connection.
      const client = await pool.connect();
      const query = ((...args: Parameters<pg.PoolClient['query']>) => {
        queries += 1;
        if (queries === 2) client.release(true);
        return client.query(...args);
      }) as typeof client.query;
      for await (const page of readRecordPages({ query }, { after: 0 })) {
        expect(page).to.have.length(1_000);
        break;
      }
      await setTimeout(50);
      expect(queries).to.equal(2);
      expect(unhandled).to.deep.equal([]);
    } finally {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
  });

  it('accepts a batch that is too large for one value', async () => {
    const value = 'x'.repeat(3_000_000);
    const stored = await append([1, 2, 3, 4, 5, 6].map(() => patch(value)));
    expect((await readAll()).map((event) => event.hash)).to.deep.equal(stored.map((event) => event.hash));
  });

  it('rejects a second event for a position', async () => {
    await append([patch(1)]);
    const error = await append([patch(2)]).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    expect((await readAll()).length).to.equal(1);
  });

  it('stops at an unknown event and names its position', async () => {
    await append([patch(1), patch(2)]);
    await tamper(`UPDATE service.service_events SET version = 99 WHERE position = 2`);
    const error = await readAll().catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.match(/event 2 .*version 99/);
  });

  it('is folded to the state before each of some events, even at the borders of pages', async () => {
    const created = attempt(initialState(), 'create-collection', {
      body: { collection: 'articles', schema: {} },
      concurrentIndexes: false,
    });
    if (!created.ok) throw new Error('the collection was not created');
    const noted = Array.from({ length: 2_002 }, (_, index): NewEvent => {
      const data = { patch: [{ op: 'replace' as const, path: '/meta/note', value: `note ${index + 2}` }] };
      return { type: 'collection.updated', version: 1, collection: 'articles', field: null, data };
    });
    const stored = await append([...created.value, ...noted]);
    const noteBefore = async (positions: number[], from = createStartPoint()) => {
      const notes: [number, number, string | null | undefined][] = [];
      const events = positions.map((position) => ({ position }));
      const point = await foldBefore(pool, from, events, ({ position }, state) =>
        notes.push([position, state.position, state.collections.get('articles')?.collection.meta.note]),
      );
      return { notes, point };
    };

    const all = await noteBefore([1, 2, 3, 4, 2_000, 2_001, 2_002]);
    expect(all.notes).to.deep.equal([
      [1, 0, undefined],
      [2, 1, null],
      [3, 2, 'note 2'],
      [4, 3, 'note 3'],
      [2_000, 1_999, 'note 1999'],
      [2_001, 2_000, 'note 2000'],
      [2_002, 2_001, 'note 2001'],
    ]);
    expect(all.point.head).to.deep.equal(headOf(stored[2_000] as StoredEvent));
    const { notes } = await noteBefore([2_002, 2_003], all.point);
    expect(notes).to.deep.equal([
      [2_002, 2_001, 'note 2001'],
      [2_003, 2_002, 'note 2002'],
    ]);
    const none = await noteBefore([], all.point);
    expect(none.notes).to.be.empty;
    expect(none.point).to.equal(all.point);
  });

  describe('verification', () => {
    beforeEach(async () => {
      await append([patch({ b: 1, a: [1, 2] }), patch(2), patch(3), patch(4)]);
    });

    const changes: Record<string, [change: string, broken: number, reason: RegExp]> = {
      data: [`UPDATE service.service_events SET data = '{"patch": []}' WHERE position = 2`, 2, /hash does not match/],
      'a number in data': [
        `UPDATE service.service_events SET data = jsonb_set(data, '{patch,0,value,b}', '1.5') WHERE position = 1`,
        1,
        /hash does not match/,
      ],
      actor: [
        `UPDATE service.service_events SET actor = actor || '{"name": "Eve"}' WHERE position = 3`,
        3,
        /does not match its commitment/,
      ],
      time: [
        `UPDATE service.service_events SET occurred_at = occurred_at - interval '1 ms' WHERE position = 3`,
        3,
        /hash does not match/,
      ],
      reason: [
        `UPDATE service.service_events SET reason = 'none' WHERE position = 4`,
        4,
        /does not match its commitment/,
      ],
      'a missing event': [`DELETE FROM service.service_events WHERE position = 2`, 2, /position 2 is missing/],
      'a missing beginning': [`DELETE FROM service.service_events WHERE position = 1`, 1, /position 1 is missing/],
      order: [
        `UPDATE service.service_events SET position = CASE position WHEN 2 THEN 30 ELSE 20 END WHERE position IN (2, 3);
         UPDATE service.service_events SET position = position / 10 WHERE position IN (20, 30)`,
        2,
        /previous_hash is not the hash of position 1/,
      ],
    };

    for (const [what, [change, broken, reason]] of Object.entries(changes)) {
      it(`finds a change to ${what}`, async () => {
        await tamper(change);
        const verification = await verifyChain(pool);
        expect(verification.ok).to.equal(false);
        expect(verification.broken?.position).to.equal(broken);
        expect(verification.broken?.reason).to.match(reason);
        expect(verification.checked).to.equal(verification.head.position);
      });
    }

    it('finds a rewritten event with a matching hash through the next event', async () => {
      const [, second] = await readAll();
      const forged = { ...(second as StoredEvent), command: 'forged' };
      await tamper(
        `UPDATE service.service_events SET command = 'forged', hash = '${eventHash(forged)}' WHERE position = 2`,
      );
      expect((await verifyChain(pool)).broken).to.deep.include({ position: 3 });
    });

    it('reports the number of verified events', async () => {
      const seen: number[] = [];
      await verifyChain(pool, { onProgress: (checked) => seen.push(checked) });
      expect(seen).to.deep.equal([4]);
    });
  });
});
