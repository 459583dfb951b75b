import { expect } from 'chai';
import pg from 'pg';
import { parseYaml } from '../../src/http/formats.js';
import { withService } from '../support/with-service.js';
import { json } from '../support/client.js';

interface Snapshot {
  collections: { collection: string; meta: object; schema?: object | null }[];
  fields: { collection: string; field: string; schema?: object | null }[];
  relations: object[];
}

interface Diff {
  hash: string;
  diff: Record<'collections' | 'fields' | 'relations', { diff: object[] }[]>;
  warnings?: { code: string; collection?: string; message: string }[];
}

describe('collections and schema over HTTP', () => {
  let system: number;

  const { service, client: send } = withService();
  before(async () => {
    system = ((await send('/collections')).json as { data: unknown[] }).data.length;
    for (const collection of ['books', 'a,b', 'Authors']) {
      const fields = [{ field: 'title', type: 'string', interface: 'input' }];
      const reply = await send('/collections?meta=*', json({ collection, schema: {}, fields }));
      expect(reply.status, reply.text).equal(200);
    }
  });

  const snapshotOf = async (query = '') => (await send(`/schema/snapshot${query}`)).json as Snapshot;
  const diffOf = async (snapshot: object, query = '') => {
    const reply = await send(`/schema/diff${query}`, json(snapshot));
    expect(reply.status, reply.text).equal(200);
    return reply.json as Diff;
  };

  describe('lists', () => {
    const names = async (query: string) => {
      const { data, ...rest } = (await send(`/collections${query}`)).json as { data: { collection: string }[] };
      return { names: data.map(({ collection }) => collection), ...rest };
    };

    it('are ordered by name and include system collections', async () => {
      const { names: all } = await names('');
      expect(all).deep.equal([...all].sort());
      expect(all.slice(0, 3)).deep.equal(['Authors', 'a,b', 'books']);
      expect(all)
        .include('service_events')
        .lengthOf(system + 3);
    });

    it('are cut by offset and limit, with the total count', async () => {
      expect(await names('?offset=1&limit=1')).deep.equal({ names: ['a,b'] });
      expect(await names('?limit=0&meta=total_count')).deep.equal({ names: [], meta: { total_count: system + 3 } });
      expect(await names('?offset=1000&meta=*')).deep.equal({
        names: [],
        meta: { total_count: system + 3, filter_count: system + 3 },
      });
    });

    it('reject query parameters that they do not support', async () => {
      for (const query of ['?offset=-1', '?limit=x', '?meta=all', '?sort=x', '?limit=1&limit=2', '?filter=a']) {
        const { status, codes } = await send(`/collections${query}`);
        expect([status, ...codes], query).deep.equal([400, 'INVALID_QUERY']);
      }
    });
  });

  it('allow a collection to repeat its name in the query', async () => {
    expect((await send('/collections/books?id=books&meta=total_count')).status).equal(200);
    expect((await send('/collections/books?id=other')).codes).deep.equal(['INVALID_QUERY']);
  });

  describe('snapshots', () => {
    it('contain all or some collections', async () => {
      expect((await snapshotOf()).collections).lengthOf(3);
      expect((await snapshotOf('?includeCollections=books,%22a,b%22')).fields).lengthOf(4);
      expect((await snapshotOf('?excludeCollections=books')).collections).lengthOf(2);
      const { codes } = await send('/schema/snapshot?includeCollections=bokks');
      expect(codes).deep.equal(['INVALID_QUERY']);
    });

    it('are exported as attachments, of which JSON and YAML can be sent back', async () => {
      const types = {
        json: 'application/json; charset=utf-8',
        yaml: 'application/yaml; charset=utf-8',
        csv: 'text/csv; charset=utf-8',
        csv_utf8: 'text/csv; charset=utf-8',
        xml: 'application/xml; charset=utf-8',
      };
      const full = await snapshotOf();
      for (const [format, type] of Object.entries(types)) {
        const { headers, text } = await send(`/schema/snapshot?export=${format}`);
        expect(headers.get('content-type')).equal(type);
        expect(headers.get('content-disposition')).match(
          /^attachment; filename="snapshot-\d{8}-\d{6}-\d+-[0-9a-f]{8}\.(json|yaml|csv|xml)"$/,
        );
        if (format === 'json') expect(JSON.parse(text)).deep.equal(full);
        if (format === 'yaml') expect(parseYaml(text)).deep.equal(full);
      }
      for (const value of ['', 'yml', 'JSON']) {
        expect((await send(`/schema/snapshot?export=${value}`)).codes, value).deep.equal(['INVALID_QUERY']);
      }
    });
  });

  describe('diffs', () => {
    it('are empty without changes, and have the hash', async () => {
      const { headers } = await send('/schema/snapshot');
      expect(await diffOf(await snapshotOf())).deep.equal({
        hash: headers.get('etag')?.slice(1, -1),
        diff: { collections: [], fields: [], relations: [] },
      });
    });

    it('show their costs, and remove nothing unless requested', async () => {
      const snapshot = await snapshotOf('?excludeCollections=books');
      const mirror = await diffOf(snapshot);
      expect(mirror.diff.collections).lengthOf(1);
      expect(mirror.warnings?.[0]).include({ code: 'LOSES_DATA', collection: 'books' });
      expect((await diffOf(snapshot, '?mode=merge')).diff.collections).deep.equal([]);
      expect((await send('/schema/diff?mode=other', json(snapshot))).codes).deep.equal(['INVALID_QUERY']);
      expect((await send('/schema/diff?force=maybe', json(snapshot))).codes).deep.equal(['INVALID_QUERY']);
    });

    it('are rejected without force if another release created them', async () => {
      const imported = { ...(await snapshotOf()), service: '0.0.0-other' };
      expect((await send('/schema/diff', json(imported))).codes).deep.equal(['INVALID_PAYLOAD']);
      expect((await send('/schema/diff?force', json(imported))).status).equal(200);
      expect((await send('/schema/diff?force=false', json(imported))).codes).deep.equal(['INVALID_PAYLOAD']);
    });
  });

  describe('apply', () => {
    it('plans without side effects, then applies once', async () => {
      const snapshot = await snapshotOf();
      snapshot.collections.push({ collection: 'planned', meta: { note: 'new' }, schema: {} });
      const diff = await diffOf(snapshot);
      const dry = await send('/schema/apply?dry_run', json(diff));
      expect(dry.status, dry.text).equal(200);
      const plan = dry.json as {
        accepted: boolean;
        events: object[];
        statements: { sql: string }[];
        warnings: object[];
      };
      expect(plan).include({ accepted: true });
      expect(plan.events[0]).include({ type: 'collection.created', collection: 'planned' });
      expect(plan.statements.map(({ sql }) => sql).join('\n')).include('"planned"');
      expect(plan.warnings).an('array');
      expect((await send('/collections/planned')).status).equal(404);

      const applied = await send('/schema/apply', json({ data: diff }));
      expect([applied.status, applied.text]).deep.equal([204, '']);
      expect((await send('/collections/planned')).status).equal(200);
      const again = await send('/schema/apply', json(diff));
      expect([again.status, again.codes[0]]).deep.equal([409, 'SCHEMA_CHANGED']);
    });

    it('returns the plan, the locked tables and their sizes for explain, and takes no locks', async () => {
      const holder = new pg.Client({ connectionString: service.databaseUrl });
      await holder.connect();
      await holder.query('begin; lock table books in access exclusive mode');
      try {
        const snapshot = await snapshotOf();
        const title = snapshot.fields.find(({ collection, field }) => collection === 'books' && field === 'title');
        Object.assign(title?.schema ?? {}, { is_nullable: false });
        const diff = await diffOf(snapshot);
        const { status, text, json: plan } = await send('/schema/apply?explain', json(diff));
        expect(status, text).equal(200);
        expect(plan).include({ accepted: null }).not.have.property('errors');
        expect(plan).nested.include({ 'statements[0].lock': 'ACCESS EXCLUSIVE', 'statements[0].field': 'title' });
        expect(plan)
          .have.property('tables')
          .deep.equal([{ table: 'books', lock: 'ACCESS EXCLUSIVE', rows: null, bytes: null }]);
        const stale = await send('/schema/apply?explain', json({ ...diff, hash: 'x' }));
        expect([stale.status, ...stale.codes]).deep.equal([409, 'SCHEMA_CHANGED']);
      } finally {
        await holder.end();
      }
    });

    it('rejects a stale hash, including in a dry run', async () => {
      const stale = { hash: 'x', diff: { collections: [], fields: [], relations: [] } };
      for (const query of ['', '?dry_run']) {
        const { status, codes } = await send(`/schema/apply${query}`, json(stale));
        expect([status, ...codes]).deep.equal([409, 'SCHEMA_CHANGED']);
      }
    });

    it('reports in a dry run what PostgreSQL would reject', async () => {
      const client = new pg.Client({ connectionString: service.databaseUrl });
      await client.connect();
      await client.query('insert into books default values');
      await client.end();
      const snapshot = await snapshotOf();
      const title = snapshot.fields.find(({ collection, field }) => collection === 'books' && field === 'title');
      Object.assign(title?.schema ?? {}, { is_nullable: false });
      const diff = await diffOf(snapshot);
      const dry = await send('/schema/apply?dry_run', json(diff));
      expect([dry.status, ...dry.codes]).deep.equal([200, 'DATABASE_REFUSED']);
      expect(dry.json).nested.include({
        accepted: false,
        'errors[0].extensions.collection': 'books',
        'errors[0].extensions.field': 'title',
      });
      const applied = await send('/schema/apply', json(diff));
      expect([applied.status, ...applied.codes]).deep.equal([422, 'DATABASE_REFUSED']);
    });
  });
});
