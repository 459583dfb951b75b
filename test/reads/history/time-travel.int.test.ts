import { expect } from 'chai';
import type pg from 'pg';
import { snapshotBytes } from '../../../src/http/documents/snapshot-pieces.js';
import { createTimeTravel } from '../../../src/reads/history/time-travel.js';
import { createStore } from '../../../src/reads/state-store.js';
import { type StoredFolds, createStoredFolds, insertFold } from '../../../src/reads/stored-folds.js';
import { evolve } from '../../../src/schema/fold/evolve.js';
import type { CommandOf } from '../../../src/schema/operations/index.js';
import { relationsInOrder } from '../../../src/schema/model/order.js';
import {
  collectionDocumentOf,
  fieldDocumentsOf,
  keyTarget,
  relationDocument,
} from '../../../src/schema/snapshot/documents.js';
import { snapshotHash } from '../../../src/schema/snapshot/snapshot.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { CAUSE, type Instance, silent, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { createRandomCommands } from '../../support/random-commands.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const COMMANDS = 1_200;
const RELEASE = '1.2.3';

describe('time travel through a random history', () => {
  let database: TestDatabase;
  let instance: Instance;
  let folds: StoredFolds;
  /** Keyed by position: the snapshot at that head. */
  const recorded = [''];
  const text = (state: State): string => String(runToEnd(snapshotBytes(state, RELEASE)).body);

  before(async function () {
    this.timeout(300_000);
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    folds = createStoredFolds({ pool: instance.pool, logger: silent, interval: () => 100, secret: 'secret' });
    instance.store.subscribe((point) => folds.offer(point));
    await writeHistory();
    await folds.idle();
  });

  after(async () => {
    await folds.close();
    await instance.stop();
    await database.drop();
  });

  /** Commands in sequence, including rejected ones. */
  async function writeHistory(): Promise<void> {
    const next = createRandomCommands(2026);
    recorded[0] = text(initialState());
    for (let accepted = 0; accepted < COMMANDS;) {
      const { name, command } = next(instance.store.current());
      const cause = { ...CAUSE, command: name };
      const outcome = await instance.pipeline.apply(name, command as CommandOf<typeof name>, { cause });
      if (outcome.kind !== 'done' || outcome.events.length === 0) continue;
      accepted += 1;
      let state = outcome.before;
      for (const event of outcome.events) {
        state = evolve(state, event);
        recorded[event.position] = text(state);
      }
      expect(text(outcome.state)).to.equal(text(state));
    }
  }

  const positions = async (): Promise<number[]> => {
    const { rows } = await instance.pool.query<{ position: number }>(
      'SELECT position FROM service.service_folds ORDER BY 1',
    );
    return rows.map((row) => row.position);
  };

  /** Every position, in an order with a different nearest state each time. */
  async function travelEverywhere(): Promise<void> {
    const count = recorded.length;
    const step = 977;
    for (let round = 0, at = 0; round < count; round += 1, at = (at + step) % count) {
      const travel = createFreshTravel();
      const point = await travel.at(at);
      expect(point.head.position).to.equal(at);
      if (text(point.state) !== recorded[at]) throw new Error(`another schema at position ${at}`);
    }
  }

  /** Without cached states, so each starts at a stored fold. */
  function createFreshTravel() {
    const { pool } = instance;
    return createTimeTravel({ pool, store: behind, folds });
  }

  /** Recomputes the head too. */
  const behind = {
    point: () => ({ state: initialState(), head: { position: -1, hash: '', occurred_at: null } }),
    subscribe: () => () => undefined,
  };

  it('stores folds along the way', async () => {
    const stored = await positions();
    expect(stored.length).to.be.greaterThan(5);
    expect(recorded.length).to.be.greaterThan(COMMANDS);
  });

  it('returns every past state exactly', async function () {
    this.timeout(300_000);
    await travelEverywhere();
  });

  it('returns single collections exactly as the whole schema has them', async function () {
    this.timeout(300_000);
    const fewer = new Set<number>();
    for (let at = 1; at < recorded.length; at += 53) {
      const { state: full, head } = await createFreshTravel().at(at);
      const names = [...full.collections.keys(), 'never_there'];
      const requested = names.filter((_, index) => index % 3 === at % 3);
      const { state, head: headAt } = await createFreshTravel().collectionsAt(requested, at);
      expect(headAt).to.deep.equal(head);
      expect(documentsOf(state, requested), `position ${at}`).to.equal(documentsOf(full, requested));
      if (state.collections.size < full.collections.size) fewer.add(at);
    }
    expect(fewer.size).to.be.greaterThan(5);
  });

  /** The documents and identities of the collections. */
  function documentsOf(state: State, names: readonly string[]): string {
    const nodes = names.flatMap((name) => state.collections.get(name) ?? []);
    return JSON.stringify(
      nodes.map((node) => [
        collectionDocumentOf(state, node),
        runToEnd(fieldDocumentsOf(state, node)),
        relationsInOrder(node).map((each) => relationDocument(each, keyTarget(state, node, each.many_field))),
        [node.identities.collection, ...node.identities.fields],
      ]),
    );
  }

  it('starts at the newest fold with the same result', async () => {
    let events = 0;
    const store = createStore({ pool: counting((rows) => (events += rows)), logger: silent, folds });
    await store.load();
    expect(text(store.current())).to.equal(recorded.at(-1));
    expect(runToEnd(snapshotHash(store.current(), RELEASE))).to.equal(
      runToEnd(snapshotHash(instance.store.current(), RELEASE)),
    );
    expect(events).to.be.lessThan(200);
  });

  function counting(count: (rows: number) => void): pg.Pool {
    return {
      query: async (...args: Parameters<pg.Pool['query']>) => {
        const result = await (instance.pool.query(...args) as unknown as Promise<pg.QueryResult>);
        count(result.rows.length);
        return result;
      },
    } as unknown as pg.Pool;
  }

  const damages = {
    'changed content': `UPDATE service.service_folds SET content = set_byte(content, length(content) / 2, get_byte(content, length(content) / 2) # 255)`,
    'a changed hash': `UPDATE service.service_folds SET hash = repeat('0', 64)`,
    'another log': `UPDATE service.service_folds SET event_hash = repeat('0', 64)`,
    'another time': `UPDATE service.service_folds SET occurred_at = occurred_at + interval '1 second'`,
    'no content': `UPDATE service.service_folds SET content = ''`,
  };

  for (const [name, damage] of Object.entries(damages)) {
    it(`ignores, deletes and replaces a fold with ${name}`, async () => {
      const stored = await positions();
      const number = stored.findIndex((position, index) => (stored[index + 1] ?? 0) - position === 100);
      const wrong = stored[number] as number;
      await instance.pool.query(`${damage} WHERE position = $1`, [wrong]);
      const point = await createFreshTravel().at(wrong + 50);
      expect(text(point.state)).to.equal(recorded[wrong + 50]);
      await folds.idle();
      const remade = stored.map((position) => (position === wrong ? wrong + 50 : position));
      expect(await positions()).to.deep.equal(remade);
    });
  }

  it('ignores and deletes a completely forged fold', async () => {
    const stored = await positions();
    const number = stored.findIndex((position, index) => (stored[index + 1] ?? 0) - position === 100);
    const wrong = stored[number] as number;
    const { head } = await createFreshTravel().at(wrong);
    await insertFold(instance.pool, { state: initialState(), head }, 'a guessed secret');
    expect(text((await createFreshTravel().at(wrong + 50)).state)).to.equal(recorded[wrong + 50]);
    await folds.idle();
    expect(await positions()).not.to.include(wrong);
  });

  it('returns the same without stored folds, and a walk stores them again', async function () {
    this.timeout(300_000);
    await instance.pool.query('DELETE FROM service.service_folds');
    const middle = Math.floor(recorded.length / 2);
    const point = await createFreshTravel().at(middle);
    expect(text(point.state)).to.equal(recorded[middle]);
    await folds.idle();
    await instance.pool.query('DELETE FROM service.service_folds');
    const last = await createFreshTravel().at(recorded.length - 1);
    expect(text(last.state)).to.equal(recorded.at(-1));
    await folds.idle();
    expect(await positions()).not.to.deep.equal([]);
    await travelEverywhere();
  });
});
