import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ACKNOWLEDGED, append } from '../../support/append.js';
import { dps } from '../../support/dps.js';
import { createDatabase, temporaryDirectory } from '../../support/postgres.js';
import { startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';
import { clientOf, json } from '../../support/client.js';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

interface Event {
  position: number;
  type: string;
  collection: string | null;
  subject?: { kind: string; id: string };
  context?: Record<string, unknown>;
}

describe('events without schema changes', () => {
  const { service, client: send } = withService();
  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    const traced = { ...json({ collection: 'books', schema: {}, fields }) };
    await send('/collections', { ...traced, headers: { ...traced.headers, traceparent: TRACEPARENT } });
  });

  const events = async (query: string): Promise<Event[]> =>
    ((await send(`/history/events?${query}`)).json as { data: Event[] }).data;

  const READS = ['/collections', '/collections/books', '/fields', '/schema/snapshot', '/history/snapshot'];

  it('advance the position, but keep tags, hashes and cached responses', async () => {
    const before = await Promise.all(READS.map((path) => send(path)));
    const info = (await send('/server/info')).json as { data: { position: number; hash: string } };
    const kept = (await send('/metrics')).text.match(/^dps_renderings_total \d+/m)?.[0];
    await append(service.databaseUrl, [ACKNOWLEDGED]);
    for (const [index, path] of READS.entries()) {
      const again = await send(path);
      const etag = before[index]?.headers.get('etag') ?? '';
      expect(again.text, path).to.equal(before[index]?.text);
      expect(again.headers.get('etag'), path).to.equal(etag);
      expect(Number(again.headers.get('x-log-position')), path).to.equal(info.data.position + 1);
      expect((await send(path, { headers: { 'if-none-match': etag } })).status, path).to.equal(304);
    }
    const now = (await send('/server/info')).json as typeof info;
    expect(now.data).to.deep.equal({ ...info.data, position: info.data.position + 1 });
    expect((await send('/metrics')).text.match(/^dps_renderings_total \d+/m)?.[0]).to.equal(kept);
    const change = json({ meta: { note: 'n' } }, 'PATCH');
    const headers = { ...change.headers, 'if-match': `"${info.data.hash}"` };
    expect((await send('/collections/books', { ...change, headers })).status).to.equal(200);
  });

  it('count as positions for later events', async () => {
    await append(service.databaseUrl, [ACKNOWLEDGED, ACKNOWLEDGED]);
    const field = { field: 'next', type: 'integer', interface: 'input' };
    expect((await send('/fields/books', json(field))).status).to.equal(200);
    const relation = { many_collection: 'books', many_field: 'next', one_collection: 'books' };
    const build = (await send('/relations', json(relation))).json as { data: { id: number } };
    const [created] = await events('type=relation.created');
    expect(build.data.id).to.equal(created?.position);
    const verified = (await send('/projections/verify')).json as { data: unknown };
    expect(verified.data).to.deep.include({ ok: true });
  });

  it('appear in the history: filtered, summarized, exported, streamed', async () => {
    const logEvents = await events('subject=log');
    expect(logEvents.map(({ type, collection }) => [type, collection])).to.deep.equal(
      Array.from({ length: 3 }, () => ['log.acknowledged', null]),
    );
    expect(await events('subject=log:7')).to.have.length(3);
    expect(await events('subject=log:8')).to.have.length(0);
    expect(await events('subject=policy')).to.have.length(0);
    expect((await send('/history/events?subject=:7')).status).to.equal(400);
    const batches = (await send('/history/batches?subject=log')).json as { data: { summary: string }[] };
    expect(batches.data[1]?.summary).to.equal('acknowledged log');
    expect((await send('/history/verify')).json).to.have.nested.property('data.ok', true);
    const lines = (await send('/history/export')).text.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Event).subject?.kind ?? '-').join(' ')).to.equal(
      '- log - log log - -',
    );
    expect((await send('/history/snapshot?at=2&export=sql')).text).to.contain('CREATE TABLE');
    const between = (await send('/history/diff?from=1&to=2')).json as { diff: { collections: unknown[] } };
    expect(between.diff.collections).to.deep.equal([]);
  });

  it('keep a valid trace of their request', async () => {
    const [created, acknowledged] = await events('order=asc&limit=2');
    expect(created?.context).to.deep.equal({ traceparent: TRACEPARENT });
    expect(acknowledged).not.to.have.property('context');
  });

  for (const path of ['restore', 'rebuild tables']) {
    it(`are copied with a log: dps ${path}`, async () => {
      const target = await createDatabase();
      const directory = await temporaryDirectory();
      try {
        const file = join(directory, 'log.ndjson');
        const exported = (await send('/history/export')).text;
        await writeFile(file, exported);
        const options = path === 'restore' ? ['--file', file] : [];
        const command = [...path.split(' '), ...options, '--into', target.connectionString];
        const ran = await dps(command, { DATABASE_URL: service.databaseUrl });
        expect(ran.code, ran.out + ran.err).to.equal(0);
        const restored = await startService({ DATABASE_URL: target.connectionString });
        try {
          expect((await clientOf(restored)('/history/export')).text).to.equal(exported);
        } finally {
          await restored.stop();
        }
      } finally {
        await target.drop();
        await rm(directory, { recursive: true });
      }
    });
  }
});
