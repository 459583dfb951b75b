import { initialState } from '../../../src/schema/model/state.js';
import { expect } from 'chai';
import pg from 'pg';
import { parseYaml } from '../../../src/http/formats.js';
import { readCatalog } from '../../../src/projector/catalog/read.js';
import { createClient } from '../../../src/postgres/pool.js';
import { createDatabase } from '../../support/postgres.js';
import { withService } from '../../support/with-service.js';
import { type Client, type Reply, json } from '../../support/client.js';

interface Diff {
  hash: string;
  diff: Record<'collections' | 'fields' | 'relations', object[]>;
  warnings?: { code: string; collection: string; field?: string; message: string }[];
}

describe('the schema at a point in time', () => {
  /** Keyed by position, as they were taken. */
  const snapshots = new Map<number, string>();
  const times = new Map<number, string>();
  const catalogs = new Map<number, object>();

  const { service, client: send } = withService();
  before(async () => {
    const field = (name: string, type = 'string', schema: object = {}) => ({
      field: name,
      type,
      interface: 'input',
      schema,
    });
    const fields = [
      field('title', 'string', { is_indexed: true, comment: "what it's called" }),
      field('price', 'decimal', { default_value: 3 }),
      field('twice', 'decimal', { generation_expression: 'price * 2' }),
      field('author', 'integer'),
      field('owner', 'uuid'),
    ];
    await sendStep(json({ collection: 'authors', schema: { comment: 'people' } }), '/collections');
    await sendStep(json({ collection: 'shelf', schema: null }), '/collections');
    await sendStep(json({ collection: 'books', schema: {}, fields, meta: { group: 'shelf' } }), '/collections');
    const toAuthors = { many_collection: 'books', many_field: 'author', one_collection: 'authors' };
    await sendStep(json({ ...toAuthors, schema: { on_delete: 'CASCADE' } }), '/relations');
    await sendStep(
      json({ many_collection: 'books', many_field: 'owner', one_collection: 'service_users' }),
      '/relations',
    );
    await sendStep(
      json({ schema: { is_unique: true }, meta: { options: { z: 1, a: { y: 2, b: 3 } } } }, 'PATCH'),
      '/fields/books/title',
    );
    await sendStep({ method: 'DELETE' }, '/fields/books/twice');
    await sendStep({ method: 'DELETE' }, '/collections/authors');
  });

  async function sendStep(what: Parameters<Client>[1], path: string): Promise<void> {
    const reply = await send(path, what);
    expect(reply.status, reply.text).to.be.oneOf([200, 204]);
    // Times have millisecond precision, and each step needs its own.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const snapshot = await send('/schema/snapshot');
    const position = positionOf(snapshot);
    snapshots.set(position, snapshot.text);
    const event = await send(`/history/events/${position}`);
    catalogs.set(position, await catalogOf(service.databaseUrl, position));
    times.set(position, (event.json as { data: { occurred_at: string } }).data.occurred_at);
  }

  const positionOf = (reply: Reply): number => Number(reply.headers.get('x-log-position'));
  const at = (moment: string | number, more = '') => send(`/history/snapshot?at=${moment}${more}`);
  const headPosition = (): number => [...snapshots.keys()].at(-1) ?? 0;

  it('equals the snapshot taken then, byte for byte', async () => {
    for (const [position, text] of snapshots) {
      const byPosition = await at(position);
      expect(byPosition.text === text, `position ${position}`).to.equal(true);
      expect(positionOf(byPosition)).to.equal(position);
      const byTime = await at(times.get(position) ?? '');
      expect(byTime.text === text, `time ${times.get(position)}`).to.equal(true);
    }
    for (const now of ['now', '']) {
      const reply = await send(`/history/snapshot${now && '?at=now'}`);
      expect(reply.text).to.equal(snapshots.get(headPosition()));
      expect(reply.headers.get('etag')).to.equal((await send('/schema/snapshot')).headers.get('etag'));
    }
  });

  it('is empty before the first event, and constant between two', async () => {
    for (const moment of ['0', '2000-01-01', '1999-12-31T23:59:59+02:00', '1999-12-31T23:59:59 02:00']) {
      const reply = await at(moment);
      expect([reply.status, positionOf(reply)], moment).to.deep.equal([200, 0]);
      expect((reply.json as { collections: object[] }).collections).to.deep.equal([]);
    }
    const [first, second] = [...times];
    const between = new Date(Date.parse(second?.[1] ?? '') - 1).toISOString();
    expect(positionOf(await at(between))).to.equal(first?.[0]);
  });

  it('is available in every export format, named after its time, and cached', async () => {
    const stamp = times.get(4)?.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
    for (const format of ['json', 'yaml', 'csv', 'csv_utf8', 'xml', 'sql']) {
      const reply = await at(4, `&export=${format}`);
      expect(reply.status, format).to.equal(200);
      expect(reply.headers.get('content-disposition'), format).to.contain(stamp);
      const again = await send(`/history/snapshot?at=4&export=${format}`, {
        headers: { 'if-none-match': reply.headers.get('etag') ?? '' },
      });
      expect(again.status, format).to.equal(304);
    }
    const yaml = parseYaml((await at(4, '&export=yaml')).text);
    expect(yaml).to.deep.equal(JSON.parse(snapshots.get(4) ?? ''));
  });

  it('creates the same catalog on an empty server as an SQL script', async () => {
    for (const [position, expected] of catalogs) {
      const target = await createDatabase();
      try {
        await run(target.connectionString, (await at(position, '&export=sql')).text);
        // Tells the reader of the catalog which schema belongs to the service.
        await run(
          target.connectionString,
          'CREATE SCHEMA IF NOT EXISTS service; CREATE TABLE service.service_migrations ()',
        );
        expect(await catalogOf(target.connectionString, position), `position ${position}`).to.deep.equal(expected);
      } finally {
        await target.drop();
      }
    }
  }).timeout(120_000);

  it('is an SQL script that comments references outside the script', async () => {
    const script = (await at(headPosition(), '&export=sql')).text;
    expect(script).to.contain('CREATE TABLE IF NOT EXISTS service.service_users ("id" uuid PRIMARY KEY)');
    expect(script).to.match(/-- The table of the service, reduced to its key/);
  });

  async function run(connectionString: string, script: string): Promise<void> {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      await client.query(script);
    } finally {
      await client.end();
    }
  }

  async function catalogOf(connectionString: string, position: number) {
    const { collections } = JSON.parse(snapshots.get(position) ?? '') as { collections: { collection: string }[] };
    const names = collections.map(({ collection }) => collection);
    const client = createClient({ connectionString, schema: 'public', serviceSchema: 'service' });
    await client.connect();
    try {
      return [
        ...(
          await readCatalog(client, { schema: 'public', schemas: ['public'], state: initialState() }, names)
        ).tables.values(),
      ];
    } finally {
      await client.end();
    }
  }

  it('shows changes between two points', async () => {
    const reply = (await send('/history/diff?from=4&to=6')).json as Diff;
    expect(reply.diff.fields).to.have.length(1);
    expect(reply.diff.relations).to.have.length(1);
    const [field] = reply.diff.fields as { diff: { path: string[] }[] }[];
    expect(field?.diff.map(({ path }) => path.join('.')).sort()).to.deep.equal(['meta.options', 'schema.is_unique']);
    const nothing = (await send('/history/diff')).json as Diff;
    expect(nothing.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('can be restored with new events, and shows restored rows', async () => {
    const head = headPosition();
    const reply = await send('/history/diff?to=6');
    const back = reply.json as Diff;
    expect(back.hash).to.equal((await send('/schema/snapshot')).headers.get('etag')?.slice(1, -1));
    const codes = (warnings: Diff['warnings']) =>
      (warnings ?? [])
        .filter((warning) => warning.code.startsWith('DATA_'))
        .map(
          ({ code, collection, field }) =>
            `${code} ${[collection, field].filter((name) => name !== undefined).join('.')}`,
        );
    expect(codes(back.warnings)).to.deep.equal(['DATA_RESTORED authors']);
    const plan = await send('/schema/apply?dry_run', json(back));
    expect(plan.json).to.include({ accepted: true });
    expect(codes((plan.json as Diff).warnings)).to.deep.equal(codes(back.warnings));
    const headers = { 'content-type': 'application/json', 'x-reason': 'back to 6' };
    expect((await send('/schema/apply', { ...json(back), headers })).status).to.equal(204);
    expect(withoutIds((await send('/schema/snapshot')).text)).to.equal(withoutIds(snapshots.get(6) ?? ''));
    // Nothing is erased. The log contains both the change and its revert.
    expect((await at(head)).text).to.equal(snapshots.get(head));
    const events = await send(`/history/events?after=${head}`);
    const { data } = events.json as { data: { reason: string }[] };
    expect(data.length).to.be.greaterThan(1);
    expect(data.every((event) => event.reason === 'back to 6')).to.equal(true);
    // An older diff is rejected, because the schema has changed.
    expect((await send('/schema/apply', json(back))).codes).to.include('SCHEMA_CHANGED');
  });

  it('does not warn about objects that never existed', async () => {
    const before = await send('/schema/snapshot');
    await send('/collections', json({ collection: 'brand_new', schema: {} }));
    const there = positionOf(await send('/schema/snapshot'));
    await send('/collections/brand_new', { method: 'DELETE' });
    const diff = (await send(`/history/diff?from=${positionOf(before)}&to=${there}`)).json as Diff;
    expect(diff.warnings?.map(({ code }) => code)).to.deep.equal(['KEY_MAY_OVERFLOW', 'DATA_NOT_RESTORED']);
    const folder = json({ collection: 'brand_new_folder', schema: null });
    await send('/collections', folder);
    const folderThere = positionOf(await send('/schema/snapshot'));
    await send('/collections/brand_new_folder', { method: 'DELETE' });
    expect(((await send(`/history/diff?to=${folderThere}`)).json as Diff).warnings).to.equal(undefined);
  });

  const withoutIds = (text: string): string => text.replaceAll(/\{"id":\d+,/g, '{');
});
