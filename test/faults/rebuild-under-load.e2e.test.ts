import { expect } from 'chai';
import pg from 'pg';
import { type Client, clientOf, json } from '../support/client.js';
import { type TestService, startService } from '../support/service.js';

const WRITERS = 8;
const READERS = 8;
const REBUILDS = 10;

describe('rebuilding metadata rows under load', () => {
  let service: TestService;
  let client: Client;
  let pool: pg.Pool;

  before(async () => {
    service = await startService({ LOCK_TIMEOUT: '30s' });
    client = clientOf(service);
    pool = new pg.Pool({ connectionString: service.databaseUrl, max: READERS });
    for (let writer = 0; writer < WRITERS; writer += 1) {
      const created = await client('/collections', json({ collection: nameOf(writer), schema: {}, meta: { sort: 0 } }));
      expect(created.status, created.text).to.equal(200);
    }
  });

  after(async () => {
    await pool.end();
    await service.stop();
  });

  const nameOf = (writer: number): string => `written_${writer}`;

  /** Increments a number in the metadata of its own collection. Every response must be a success. */
  async function write(writer: number, isOver: () => boolean, answered: number[]): Promise<void> {
    for (let count = 1; !isOver(); count += 1) {
      const reply = await client(`/collections/${nameOf(writer)}`, json({ meta: { sort: count } }, 'PATCH'));
      expect(reply.status, reply.text).to.equal(200);
      answered[writer] = count;
    }
  }

  /** Values that a client has read once must never disappear, in the API and in the rows. */
  async function read(reader: number, isOver: () => boolean, answered: readonly number[]): Promise<number> {
    const seen = Array.from({ length: WRITERS }, () => 0);
    let [reads, position] = [0, 0];
    for (; !isOver(); reads += 1) {
      const known = [...answered];
      const counts = reader % 2 === 0 ? await readRows() : await readApi();
      for (const [writer, count] of counts.entries()) {
        expect(count, 'back in time').to.be.at.least(seen[writer] ?? 0);
        expect(count, 'behind an answered write').to.be.at.least(known[writer] ?? 0);
        seen[writer] = count;
      }
    }
    return reads;

    async function readApi(): Promise<number[]> {
      const reply = await client('/collections');
      expect(reply.status).to.equal(200);
      const now = Number(reply.headers.get('x-log-position'));
      expect(now).to.be.at.least(position);
      position = now;
      const { data } = reply.json as { data: { collection: string; meta: { sort: number } }[] };
      return countsOf(data);
    }
  }

  async function readRows(): Promise<number[]> {
    const { rows } = await pool.query<{ collection: string; meta: { sort: number } }>(
      'select collection, meta from service.service_collections',
    );
    return countsOf(rows);
  }

  function countsOf(collections: { collection: string; meta: { sort: number } }[]): number[] {
    const sorts = new Map(collections.map(({ collection, meta }) => [collection, meta.sort]));
    return Array.from({ length: WRITERS }, (_, writer) => {
      const sort = sorts.get(nameOf(writer));
      if (sort === undefined) throw new Error(`${nameOf(writer)} is missing`);
      return sort;
    });
  }

  it('causes no errors and no stale reads, and verification finds nothing', async () => {
    let over = false;
    const isOver = () => over;
    const answered = Array.from({ length: WRITERS }, () => 0);
    const working = Promise.all([
      ...answered.map((_, writer) => write(writer, isOver, answered)),
      ...Array.from({ length: READERS }, (_, reader) => read(reader, isOver, answered)),
    ]);
    const rebuilding = (async () => {
      for (let count = 0; count < REBUILDS; count += 1) {
        // Every second rebuild has something to fix, so that rows are really replaced.
        if (count % 2 === 1) await pool.query(`update service.service_fields set meta = meta || '{"note": "forged"}'`);
        const reply = await client('/projections/metadata/rebuild', { method: 'POST' });
        expect(reply.status, reply.text).to.equal(200);
      }
    })();
    await Promise.race([rebuilding, working]).finally(() => (over = true));
    const done = await working;
    const verified = await client('/projections/verify');
    expect((verified.json as { data: unknown }).data).to.deep.include({ ok: true, differences: [] });
    expect(Math.min(...answered), 'every writer wrote').to.be.above(0);
    for (const reads of done.slice(WRITERS)) expect(reads, 'every reader read').to.be.above(0);
  });
});
