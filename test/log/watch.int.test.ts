import { expect } from 'chai';
import { type NotedDivergence, checkHead } from '../../src/log/divergence.js';
import type { LogHead } from '../../src/log/head.js';
import { type EventRecord, readRecordPages, restoreEvents } from '../../src/log/read.js';
import { createLogWatch } from '../../src/log/watch.js';
import type { LogEvent } from '../../src/schema/model/events.js';
import { ACKNOWLEDGED, append } from '../support/append.js';
import { cutOff, tamper } from '../support/tamper.js';
import { withPool } from '../support/with-pool.js';

const NOTHING = '0'.repeat(64);

describe('the divergence watch of a process', () => {
  const { database, pool } = withPool({ each: true });
  let messages: [message: string, details: Record<string, unknown> | undefined][];
  let readOnly: boolean;

  beforeEach(() => {
    messages = [];
    readOnly = false;
  });

  const watch = () => {
    const say = (message: string, details?: Record<string, unknown>) => void messages.push([message, details]);
    const created = createLogWatch({
      pool: pool(),
      logger: { debug() {}, info() {}, warn: say, error: say },
      readOnly: () => readOnly,
    });
    const received: NotedDivergence[] = [];
    const stop = created.subscribe((divergence) => received.push(divergence));
    return {
      ...created,
      told: received,
      stop,
      look: async (seen: LogHead) => created.examine(await checkHead(pool()), seen),
    };
  };
  const created = (collection: string): LogEvent =>
    ({ type: 'collection.created', version: 1, collection, field: null, data: {} }) as unknown as LogEvent;
  const headOf = ({ position, hash, occurred_at }: EventRecord): LogHead => ({ position, hash, occurred_at });
  /** Their records in the log. */
  async function logged(...names: string[]): Promise<EventRecord[]> {
    await append(database.connectionString, names.map(created));
    const records: EventRecord[] = [];
    for await (const page of readRecordPages(pool(), { after: 0 })) records.push(...page);
    return records;
  }
  const noted = async () =>
    (
      await pool().query<Record<string, unknown>>(
        `SELECT seen_position AS seen, found_position AS found, fork_position AS fork, acknowledged
           FROM service.service_divergences ORDER BY id`,
      )
    ).rows.map((row) => [row['seen'], row['found'], row['fork'], row['acknowledged']]);
  async function acknowledge(): Promise<number> {
    const [event] = await append(database.connectionString, [ACKNOWLEDGED]);
    await pool().query('UPDATE service.service_divergences SET acknowledged = $1 WHERE acknowledged IS NULL', [
      event?.position,
    ]);
    return event?.position ?? 0;
  }
  const last = (records: readonly EventRecord[]): LogHead => headOf(records.at(-1) as EventRecord);

  it('reports nothing while the log grows', async () => {
    const one = watch();
    const seen = last(await logged('a', 'b'));
    expect(await one.look(seen)).to.equal(false);
    await logged('c');
    expect(await one.look(seen)).to.equal(false);
    await one.replaced(seen);
    expect([one.pending(), one.count(), one.told, messages, await noted()]).to.deep.equal([undefined, 0, [], [], []]);
  });

  it('records a divergence once, reports it once, with both ends and the last common position', async () => {
    const one = watch();
    const records = await logged('a', 'b', 'c');
    for (const record of records) one.remember(record);
    const seen = last(records);
    await cutOff(database.connectionString, 1);
    expect(await one.look(seen)).to.equal(true);
    expect(await one.look(seen)).to.equal(true);
    expect(await noted()).to.deep.equal([[3, 2, 2, null]]);
    expect(one.told.map(({ seen: { position }, fork }) => [position, fork])).to.deep.equal([[3, 2]]);
    expect(one.pending()).to.deep.equal(one.told[0]);
    expect(one.count()).to.equal(1);
    const [, second] = records;
    expect(messages).to.deep.equal([
      [
        'the log has forked: it no longer contains the events that were read before',
        {
          lost_after: 2,
          seen_position: 3,
          seen_hash: seen.hash,
          found_position: 2,
          found_hash: second?.hash,
          next: 'verify it (GET /history/verify), then acknowledge the fork: dps acknowledge-log',
        },
      ],
    ]);
  });

  it('reports divergences that others recorded, but not to former subscribers', async () => {
    const [one, other] = [watch(), watch()];
    const seen = last(await logged('a', 'b'));
    await cutOff(database.connectionString, 2);
    await one.look(seen);
    other.stop();
    expect(await other.look({ position: 0, hash: NOTHING, occurred_at: null })).to.equal(false);
    expect(other.pending()).to.deep.equal(one.pending());
    expect([other.count(), other.told]).to.deep.equal([1, []]);
    expect(messages.map(([, details]) => details?.['lost_after'])).to.deep.equal([null, null]);
  });

  it('clears a divergence after its acknowledgement', async () => {
    const one = watch();
    const seen = last(await logged('a', 'b'));
    await cutOff(database.connectionString, 1);
    await one.look(seen);
    const position = await acknowledge();
    const { head } = await checkHead(pool());
    expect(await one.look(head as LogHead)).to.equal(false);
    expect([one.pending(), one.count(), await noted()]).to.deep.equal([undefined, 1, [[2, 1, null, position]]]);
  });

  it('reports an acknowledgement it missed, without recording the divergence again', async () => {
    const [one, sleeping] = [watch(), watch()];
    const records = await logged('a', 'b', 'c');
    await sleeping.look(last(records));
    await cutOff(database.connectionString, 2);
    await one.look(last(records));
    await acknowledge();
    expect(await sleeping.look(headOf(records[1] as EventRecord))).to.equal(true);
    expect(sleeping.told.map(({ seen }) => seen.position)).to.deep.equal([3]);
    expect(sleeping.pending()).to.equal(undefined);
    expect(await noted()).to.have.length(1);
  });

  it('reports a further loss after an acknowledgement as a new divergence', async () => {
    const one = watch();
    const records = await logged('a', 'b', 'c');
    await cutOff(database.connectionString, 1);
    await one.look(last(records));
    await acknowledge();
    const now = last(await logged('d'));
    expect(now.position).to.equal(4);
    expect(await one.look(now)).to.equal(false);
    await cutOff(database.connectionString, 1);
    expect(await one.look(now)).to.equal(true);
    expect((await noted()).map(([lost]) => lost)).to.deep.equal([3, 4]);
  });

  it('remembers a divergence on a read-only database, and records it later', async () => {
    const one = watch();
    const seen = last(await logged('a', 'b'));
    await cutOff(database.connectionString, 1);
    readOnly = true;
    expect(await one.look(seen)).to.equal(true);
    const kept = one.pending();
    expect(kept).to.deep.include({ id: 0, seen: { position: 2, hash: seen.hash } });
    expect(Date.parse(kept?.noticed_at ?? '')).to.be.closeTo(Date.now(), 60_000);
    expect(kept?.found.position).to.equal(1);
    const { head } = await checkHead(pool());
    await one.look(head as LogHead);
    expect([one.pending()?.id, one.told.length, one.count(), await noted()]).to.deep.equal([0, 1, 1, []]);
    readOnly = false;
    await one.look(head as LogHead);
    expect(await noted()).to.deep.equal([[2, 1, null, null]]);
    expect(one.pending()?.id).to.be.above(0);
    expect(one.told.map(({ id }) => id > 0)).to.deep.equal([false, true]);
    await one.look(head as LogHead);
    expect(one.told).to.have.length(2);
  });

  it('clears a divergence when a lagging server has caught up', async () => {
    const one = watch();
    const records = await logged('a', 'b', 'c');
    await cutOff(database.connectionString, 2);
    readOnly = true;
    await one.look(last(records));
    const { head } = await checkHead(pool());
    await tamper(database.connectionString, (client) => restoreEvents(client, records.slice(1, 2)));
    await one.look(head as LogHead);
    expect(one.pending()?.id).to.equal(0);
    await tamper(database.connectionString, (client) => restoreEvents(client, records.slice(2)));
    await one.look(head as LogHead);
    expect(one.pending()).to.equal(undefined);
    readOnly = false;
    await one.look(head as LogHead);
    expect([one.pending(), await noted()]).to.deep.equal([undefined, []]);
  });

  it('reports a second loss before the first was recorded', async () => {
    const one = watch();
    const records = await logged('a', 'b', 'c');
    await cutOff(database.connectionString, 1);
    readOnly = true;
    await one.look(last(records));
    await cutOff(database.connectionString, 1);
    await one.look(headOf(records[1] as EventRecord));
    expect(one.told.map(({ id, seen }) => [id, seen.position])).to.deep.equal([
      [0, 3],
      [0, 2],
    ]);
    expect(one.count()).to.equal(1);
    expect(one.pending()?.seen.position).to.equal(2);
  });

  it('keeps a divergence whose row is rejected, with a warning, and records it later', async () => {
    const one = watch();
    const seen = last(await logged('a', 'b'));
    await cutOff(database.connectionString, 1);
    await pool().query('REVOKE INSERT ON service.service_divergences FROM current_user');
    expect(await one.look(seen)).to.equal(true);
    expect(one.pending()).to.deep.include({ id: 0 });
    expect(messages.map(([message]) => message)).to.deep.equal([
      'the log has forked: it no longer contains the events that were read before',
      'a fork of the log could not be recorded',
    ]);
    expect(messages.at(-1)?.[1]?.['error']).to.have.property('code', '42501');
    await pool().query('GRANT INSERT ON service.service_divergences TO current_user');
    await one.look(seen);
    expect(one.pending()?.id).to.be.above(0);
    expect(await noted()).to.deep.equal([[2, 1, null, null]]);
  });

  it('records a divergence again if its row was deleted without an acknowledgement', async () => {
    const one = watch();
    const seen = last(await logged('a', 'b'));
    await cutOff(database.connectionString, 1);
    await one.look(seen);
    const { head } = await checkHead(pool());
    const remove = () => pool().query('DELETE FROM service.service_divergences');
    await tamper(database.connectionString, async (client) => {
      await client.query('ALTER TABLE service.service_divergences DISABLE TRIGGER USER');
    });
    await remove();
    readOnly = true;
    await one.look(head as LogHead);
    expect(await noted()).to.deep.equal([]);
    readOnly = false;
    await one.look(head as LogHead);
    expect(await noted()).to.deep.equal([[2, 1, null, null]]);
    expect(one.pending()?.seen.position).to.equal(2);
    await acknowledge();
    const end = (await checkHead(pool())).head;
    await one.look(end as LogHead);
    await remove();
    await one.look(end as LogHead);
    expect([one.pending(), await noted()]).to.deep.equal([undefined, []]);
  });

  it('notices a divergence while it continues to read', async () => {
    const one = watch();
    const seen = last(await logged('a', 'b'));
    await cutOff(database.connectionString, 1);
    await logged('other');
    await one.replaced(seen);
    expect(await noted()).to.deep.equal([[2, 2, null, null]]);
    expect(one.pending()?.seen.hash).to.equal(seen.hash);
  });

  it('treats a checkpoint outside the log as a divergence', async () => {
    const one = watch();
    const [first] = await logged('a');
    await pool().query(
      `INSERT INTO service.service_projections (name, kind, position, hash) VALUES ('metadata', 'metadata', 7, $1)
         ON CONFLICT (name) DO UPDATE SET position = EXCLUDED.position, hash = EXCLUDED.hash`,
      [NOTHING],
    );
    expect(await one.look(headOf(first as EventRecord))).to.equal(false);
    expect(await noted()).to.deep.equal([[7, 1, null, null]]);
    expect(one.pending()?.seen).to.deep.equal({ position: 7, hash: NOTHING });
  });

  it('finds the last common position among the newest 2,000', async () => {
    const records = await logged('a', 'b');
    const [first, second] = records as [EventRecord, EventRecord];
    await cutOff(database.connectionString, 1);
    /** Remembers this many positions of another log and returns where the two diverge. */
    const fork = async (more: number): Promise<unknown> => {
      const one = watch();
      one.remember(first);
      for (let position = 2; position <= more + 1; position += 1) {
        one.remember({ position, hash: `${second.hash.slice(0, 56)}${String(position).padStart(8, '0')}` });
      }
      await pool().query('TRUNCATE service.service_divergences');
      await one.look(headOf(second));
      return (await noted())[0]?.[2];
    };
    await pool().query('ALTER TABLE service.service_divergences DISABLE TRIGGER USER');
    expect(await fork(3_999)).to.equal(1);
    expect(await fork(4_000)).to.equal(null);
  });

  it('forgets the positions of the replaced log after the last common one', async () => {
    const one = watch();
    const records = await logged('a', 'b', 'c');
    const [first, second, third] = records as [EventRecord, EventRecord, EventRecord];
    for (const record of records) one.remember(record);
    // The same end again is not another log.
    one.remember(third);
    one.remember({ position: 2, hash: NOTHING });
    await cutOff(database.connectionString, 1);
    await one.look({ ...headOf(second), hash: NOTHING });
    expect(await noted()).to.deep.equal([[2, 2, first.position, null]]);
  });
});
