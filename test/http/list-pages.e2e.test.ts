import { expect } from 'chai';
import { dps } from '../support/dps.js';
import { column, onlineOf } from '../support/online.js';
import { withService } from '../support/with-service.js';

const ROWS = 1_100;

const ID = `lpad(to_hex(n), 32, '0')::uuid`;

/** Written directly to the tables, so that the log has no events about them. */
const FILL = `
INSERT INTO service.service_changes (id, state, collections, held, opened_position, request)
  SELECT ${ID}, state, collections, held, 1000000 + n, request || jsonb_build_object('id', ${ID}, 'opened_position', 1000000 + n)
    FROM service.service_changes, generate_series(2, ${ROWS}) n;
INSERT INTO service.service_trash (position, kind, collection, identity, batch, deleted_at, kept_until)
  SELECT 1000000 + n, 'collection', 't' || n, (1000000 + n)::text, gen_random_uuid(), now(), '2999-01-01' FROM generate_series(1, ${ROWS}) n;
INSERT INTO service.service_sessions (id, user_id, refresh_hash, family_hash, expires_at)
  SELECT ${ID}, (SELECT id FROM service.service_users LIMIT 1), decode(lpad(to_hex(n), 8, '0'), 'hex'), '', now() + interval '1 day'
    FROM generate_series(1, ${ROWS}) n;
INSERT INTO service.service_users (id, email, name, role)
  SELECT ${ID}, 'user' || lpad(n::text, 4, '0') || '@example.com', 'User ' || n, 'reader' FROM generate_series(2, ${ROWS}) n`;

describe('a growing list', () => {
  const { service, api, client } = withService();

  before(async () => {
    const online = onlineOf(api);
    await online.large('items', [column('code', 'integer')], 'code = i');
    const { id } = await online.open('PATCH', '/fields/items/code', { schema: { is_indexed: true } });
    await online.ended(id, 'applied');
    await api.sql(FILL);
  });

  interface List {
    data: { id?: string; position?: number }[];
    meta: { total_count: number };
  }

  for (const path of ['/changes', '/trash', '/sessions', '/users']) {
    it(`${path} is returned in pages`, async () => {
      const page = (query: string) => api.ok<List>('GET', `${path}?meta=total_count&${query}`);
      const first = await page('');
      expect(first.data).to.have.length(100);
      expect(first.meta.total_count).to.equal(ROWS);
      const keys = new Set<unknown>();
      for (const offset of [0, 1_000])
        for (const { id, position } of (await page(`limit=1000&offset=${offset}`)).data) keys.add(id ?? position);
      expect(keys).to.have.property('size', ROWS);
      expect((await page('limit=0')).data).to.deep.equal([]);
      const { status, text } = await client(`${path}?limit=1001`);
      expect(status, text).to.equal(400);
      expect(text).to.contain('must be an integer from 0 to 1000.');
    });
  }

  it('is collected from all pages by dps', async () => {
    const environment = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
    const lengthOf = async (...args: string[]): Promise<number> => {
      const { code, out, err } = await dps([...args, '--json'], environment);
      expect(code, err).to.equal(0);
      return (JSON.parse(out) as unknown[]).length;
    };
    expect(await lengthOf('trash')).to.equal(ROWS);
    const database = ['--database-url', service.databaseUrl];
    expect(await lengthOf('users', 'list', ...database)).to.equal(ROWS);
    expect(await lengthOf('changes', '--limit', '1050')).to.equal(1_050);
    expect(await lengthOf('changes', '--limit', '5000')).to.equal(ROWS);
    expect(await lengthOf('changes')).to.equal(20);
  });
});

describe('the whole list', () => {
  const { api, client } = withService();

  /** The path of one page renders items, that of the whole list joins cached pieces. */
  async function expectEqualLists(): Promise<void> {
    for (const path of ['/collections', '/fields', '/relations']) {
      const full = await client(path);
      const page = await client(`${path}?limit=1000`);
      expect(full.text, path).to.equal(page.text);
    }
  }

  it('equals a page with all items after every change', async () => {
    await expectEqualLists();
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    await api.ok('POST', '/collections', [
      { collection: 'authors', schema: {}, fields },
      {
        collection: 'Books',
        schema: {},
        fields: [...fields, { field: 'author', type: 'integer', interface: 'input' }],
      },
      { collection: 'folder', schema: null },
    ]);
    await expectEqualLists();
    await api.ok('POST', '/relations', { collection: 'Books', field: 'author', related_collection: 'authors' });
    await expectEqualLists();
    await api.ok('PATCH', '/collections/folder', { meta: { note: 'n' } });
    await expectEqualLists();
    await api.ok('POST', '/fields/authors/id/rename', { to: 'key' });
    await expectEqualLists();
    await api.ok('POST', '/collections/authors/rename', { to: 'people' });
    await expectEqualLists();
    await api.ok('DELETE', '/collections/Books');
    await expectEqualLists();
  });
});
