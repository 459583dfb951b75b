import { expect } from 'chai';
import { clientOf, json } from '../support/client.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const field = (name: string, type: string) => ({ field: name, type, interface: 'input' });
const KEY = { ...field('id', 'integer'), schema: { is_primary_key: true, has_auto_increment: true } };
const PLACES = {
  collection: 'places',
  schema: {},
  fields: [KEY, field('city', 'string'), field('zip', 'string'), field('age', 'integer')],
};

const CITIES = 'CREATE STATISTICS cities (mcv) ON city, zip FROM places';
const NOTHING = { collections: [], fields: [], relations: [] };

interface Plan {
  accepted: boolean;
  statements: { sql: string; summary: string; lock: string }[];
}

interface Document {
  kind: string;
  id: string;
  definition: string;
  comment: string | null;
}

describe('statistics objects', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const create = (definition: string, more: object = {}, kind = 'statistics') =>
    api.ok<{ data: Document }>('POST', '/objects', { kind, definition, ...more });
  const path = (id: string): string => `/objects/statistics/${encodeURIComponent(id)}`;
  const shown = async (id: string) => (await api.ok<{ data: Document }>('GET', path(id))).data;
  const listed = async () =>
    (await api.ok<{ data: Document[] }>('GET', '/objects?kind=statistics')).data.map(({ id }) => id);
  /** The statistics objects of the database, with the statistics target. */
  const existing = () =>
    api.sql<{ name: string; table: string; target: number | null; comment: string | null }>(
      `SELECT stxname::text AS name, stxrelid::regclass::text AS table, nullif(stxstattarget, -1)::int AS target,
              obj_description(oid, 'pg_statistic_ext') AS comment
         FROM pg_statistic_ext ORDER BY 1`,
    );
  const eventsSince = async (position: number) =>
    (
      await api.ok<{ data: { type: string; subject?: { kind: string; id: string } }[] }>(
        'GET',
        `/history/events?after=${position}`,
      )
    ).data.map(({ type, subject }) => (subject === undefined ? type : `${type} ${subject.kind} ${subject.id}`));
  const diffTo = async (snapshot: object) => (await api.ok<{ diff: object }>('POST', '/schema/diff', snapshot)).diff;
  const restoreLast = async (body: object) => {
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    return api.ok<{ warnings?: { message: string }[] }>('POST', `/trash/${data[0]?.position}/restore`, body);
  };

  beforeEach(() => api.ok('POST', '/collections', PLACES));

  it('creates a statistics object, reads it, changes it, renames it and deletes it', async () => {
    expect(await create(CITIES, { comment: 'Cities' })).to.deep.equal({
      data: { kind: 'statistics', id: 'cities', definition: CITIES, comment: 'Cities' },
    });
    expect(await api.ok('GET', '/objects?name=cities&collection=places&kind=statistics&fields=id')).to.deep.equal({
      data: [{ id: 'cities' }],
    });
    const changed = 'CREATE STATISTICS cities ON city, (lower(zip)) FROM places';
    await api.ok('PATCH', path('cities'), { definition: changed });
    expect(await existing()).to.deep.equal([{ name: 'cities', table: 'places', target: null, comment: 'Cities' }]);
    await api.ok('PATCH', path('cities'), { comment: null });
    await api.ok('POST', `${path('cities')}/rename`, { to: 'Cities "and" zip' });
    expect(await shown('Cities "and" zip')).to.deep.equal({
      kind: 'statistics',
      id: 'Cities "and" zip',
      definition: changed.replace('cities', '"Cities ""and"" zip"'),
      comment: null,
    });
    await api.ok('DELETE', path('Cities "and" zip'));
    expect(await existing()).to.deep.equal([]);
  });

  it('can change to another table with the same columns, by a change and by drift', async () => {
    await api.ok('POST', '/collections', { ...PLACES, collection: 'towns' });
    await create(CITIES);
    const other = CITIES.replace('places', 'towns');
    await api.ok('PATCH', path('cities'), { definition: other });
    expect((await shown('cities')).definition).to.equal(other);
    expect((await existing()).map(({ table }) => table)).to.deep.equal(['towns']);
    await api.sql(`DROP STATISTICS cities; ${CITIES}`);
    const { objects } = await api.ok<{ objects: { differences: { member: string }[] }[] }>('GET', '/schema/drift');
    expect(objects.map(({ differences }) => differences.map(({ member }) => member))).to.deep.equal([['definition']]);
    await api.ok('POST', '/schema/drift/accept', { objects: [{ kind: 'statistics', id: 'cities' }] });
    expect((await shown('cities')).definition).to.contain('FROM places');
  });

  it('shows the lock on its table in a dry run', async () => {
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', { kind: 'statistics', definition: CITIES });
    expect(plan.accepted).to.equal(true);
    expect(plan.statements.map(({ summary, lock }) => [summary, lock])).to.deep.equal([
      ['create statistics object cities', 'SHARE UPDATE EXCLUSIVE'],
    ]);
    expect(await existing()).to.deep.equal([]);
  });

  for (const [title, definition, message] of [
    ['two statements', `${CITIES}; DROP TABLE places`, 'exactly one statement'],
    ['a table of another schema', CITIES.replace('places', 'elsewhere.places'), 'managed schema'],
    ['a table of the service', CITIES.replace('places', 'service.service_events'), 'managed schema'],
    ['another schema', CITIES.replace('cities', 'elsewhere.cities'), 'managed schema'],
    ['a table that does not exist', CITIES.replace('places', 'strangers'), 'not a managed table'],
  ] as const) {
    it(`rejects ${title} and changes nothing`, async () => {
      const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'definition' };
      const error = await api.refused(expected, 'POST', '/objects', { kind: 'statistics', definition });
      expect(error.message).to.contain(message);
      expect(await listed()).to.deep.equal([]);
    });
  }

  it('reports what PostgreSQL rejects', async () => {
    const rejected = (definition: string) =>
      api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', { kind: 'statistics', definition });
    await rejected(CITIES.replace('zip', 'missing'));
    await rejected('CREATE STATISTICS one ON city FROM places');
    await create(CITIES);
    const again = { kind: 'statistics', definition: CITIES };
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/objects', again);
  });

  it('follows the renames of its table and its columns as events, and goes back', async () => {
    await create(CITIES.replace('zip', 'lower(zip)'));
    const snapshot = await api.ok('GET', '/schema/snapshot');
    const head = await api.head();
    await api.ok('POST', '/collections/places/rename', { to: 'Towns' });
    expect(await eventsSince(head)).to.deep.equal(['collection.renamed', 'object.updated statistics cities']);
    await api.ok('POST', '/fields/Towns/zip/rename', { to: 'code' });
    expect((await shown('cities')).definition).to.equal(
      'CREATE STATISTICS cities (mcv) ON city, lower(code::text) FROM "Towns"',
    );
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${head}`));
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    expect((await existing()).map(({ table }) => table)).to.deep.equal(['places']);
  });

  it('are deleted in the same batch as a column that they use, and not with another column', async () => {
    await create(CITIES);
    await create('CREATE STATISTICS lowered ON (lower(zip)) FROM places');
    await create('CREATE STATISTICS others ON city, age FROM places');
    const head = await api.head();
    await api.ok('DELETE', '/fields/places/zip');
    expect((await eventsSince(head)).sort()).to.deep.equal([
      'field.deleted',
      'object.deleted statistics cities',
      'object.deleted statistics lowered',
    ]);
    expect((await existing()).map(({ name }) => name)).to.deep.equal(['others']);
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${head}`));
    expect(await listed()).to.deep.equal(['cities', 'lowered', 'others']);
  });

  it('stays when another change of the batch no longer uses the deleted column', async () => {
    await create(CITIES);
    const snapshot = await api.ok<{ fields: { field: string }[]; objects: Document[] }>('GET', '/schema/snapshot');
    const wanted = {
      ...snapshot,
      fields: snapshot.fields.filter(({ field: name }) => name !== 'zip'),
      objects: snapshot.objects.map((each) => ({ ...each, definition: each.definition.replace('zip', 'age') })),
    };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', wanted));
    expect((await shown('cities')).definition).to.contain('city, age');
    expect(await diffTo(wanted)).to.deep.equal(NOTHING);
  });

  it('are created again with their statistics target and comment when a column changes its type', async () => {
    await create('CREATE STATISTICS ages ON city, age FROM places', { comment: 'Ages' });
    await api.sql('ALTER STATISTICS ages SET STATISTICS 7');
    const plan = await api.ok<Plan>('PATCH', '/fields/places/age?dry_run', { type: 'bigInteger' });
    expect(plan.statements.map(({ summary }) => summary)).to.include.members([
      'drop statistics object ages',
      'recreate statistics object ages',
    ]);
    await api.ok('PATCH', '/fields/places/age', { type: 'bigInteger' });
    expect(await existing()).to.deep.equal([{ name: 'ages', table: 'places', target: 7, comment: 'Ages' }]);
    await api.ok('PATCH', path('ages'), { definition: 'CREATE STATISTICS ages (mcv) ON city, age FROM places' });
    expect(await existing()).to.deep.equal([{ name: 'ages', table: 'places', target: 7, comment: 'Ages' }]);
  });

  it('prevents deleting a function that it calls', async () => {
    const body = 'RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT upper(a) $$';
    await create(`CREATE FUNCTION shout(a text) ${body}`, {}, 'function');
    await create('CREATE STATISTICS loud ON (shout(city)) FROM places');
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/objects/function/shout(text)');
    expect(error.message).to.contain('statistics "loud" uses "shout(text)"');
    await api.ok('DELETE', '/collections/places');
    await api.ok('DELETE', '/objects/function/shout(text)');
    const restored = await restoreLast({});
    expect(restored.warnings?.map(({ message }) => message)).to.deep.equal([
      'not restored: statistics object of places: "loud": function "shout" no longer exists',
    ]);
  });

  it('are deleted with their collection, and restored with it under another name', async () => {
    await create(CITIES, { comment: 'Cities' });
    const head = await api.head();
    await api.ok('DELETE', '/collections/places');
    expect((await eventsSince(head)).sort()).to.deep.equal(['collection.deleted', 'object.deleted statistics cities']);
    expect(await existing()).to.deep.equal([]);
    await restoreLast({ as: 'Towns' });
    expect(await shown('cities')).to.deep.equal({
      kind: 'statistics',
      id: 'cities',
      definition: CITIES.replace('places', '"Towns"'),
      comment: 'Cities',
    });
    expect((await existing()).map(({ table }) => table)).to.deep.equal(['"Towns"']);
  });

  it('are excluded from a restore if another statistics object now has the name', async () => {
    await create(CITIES);
    await api.ok('DELETE', '/collections/places');
    await api.ok('POST', '/collections', { ...PLACES, collection: 'towns' });
    await create(CITIES.replace('places', 'towns'));
    const restored = await restoreLast({});
    expect(restored.warnings?.map(({ message }) => message)).to.deep.equal([
      'not restored: statistics object of places: "cities": another object now has its name',
    ]);
    expect((await existing()).map(({ table }) => table)).to.deep.equal(['towns']);
  });

  it('follows its table and its columns with OBJECTS=off', async () => {
    await create(CITIES);
    await create('CREATE STATISTICS others ON city, age FROM places');
    const other = await startService({ DATABASE_URL: service.databaseUrl });
    try {
      const client = clientOf(other);
      for (const [url, init] of [
        ['/collections/places/rename', json({ to: 'towns' })],
        ['/fields/towns/zip', { method: 'DELETE' }],
        ['/collections/towns', { method: 'DELETE' }],
      ] as const) {
        const reply = await client(url, init);
        expect(reply.status, `${url}: ${reply.text}`).to.be.oneOf([200, 204]);
      }
    } finally {
      await other.stop();
    }
    expect(await existing()).to.deep.equal([]);
    expect(await listed()).to.deep.equal([]);
  });

  it('applies snapshots with statistics objects, and finds no difference afterwards', async () => {
    await create('CREATE STATISTICS cities (ndistinct, mcv) ON city, zip, (age + 1) FROM places');
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const replaced = (from: string, to: string) => ({
      ...snapshot,
      objects: snapshot.objects.map((each) => ({ ...each, definition: each.definition.replace(from, to) })),
    });
    for (const spelled of [
      replaced('ndistinct, mcv', 'mcv, ndistinct'),
      replaced('city, zip', 'zip, city'),
      replaced('(age + 1)', '((places.age + 1))'),
      replaced('places', 'public.places'),
    ])
      expect(await diffTo(spelled)).to.deep.equal(NOTHING);
    const other = replaced('ndistinct, mcv', 'dependencies');
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', other));
    expect(await diffTo(other)).to.deep.equal(NOTHING);
    const empty = { ...snapshot, collections: [], fields: [], relations: [], objects: [] };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', empty));
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', snapshot));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
  });

  it('are deleted with a column that PostgreSQL drops by inheritance', async () => {
    await api.sql('CREATE TABLE parent (id int PRIMARY KEY, a int, b int); CREATE TABLE child () INHERITS (parent)');
    await api.ok('POST', '/schema/adopt', { tables: ['parent', 'child'] });
    await create('CREATE STATISTICS inherited ON a, b FROM child');
    const head = await api.head();
    await api.ok('DELETE', '/fields/parent/a?purge=true');
    expect(await eventsSince(head)).to.have.members([
      'field.deleted',
      'field.deleted',
      'object.deleted statistics inherited',
    ]);
    expect([await listed(), await existing()]).to.deep.equal([[], []]);
  });

  it('adopts statistics objects, and lists those that it cannot manage', async () => {
    await api.sql(`
      CREATE TABLE days (id integer, at integer NOT NULL, size integer, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
      CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (10);
      CREATE STATISTICS whole (dependencies) ON id, size FROM days;
      CREATE STATISTICS "Part" ON (size + 1) FROM days_1;
      COMMENT ON STATISTICS whole IS 'All days';
      ALTER STATISTICS whole SET STATISTICS 20;
      CREATE SCHEMA other;
      CREATE STATISTICS other.elsewhere ON id, size FROM days`);
    const report = await api.ok<{ not_represented: { code: string; kind: string; name: string }[] }>(
      'POST',
      '/schema/adopt',
      { all: true },
    );
    expect(report.not_represented.map(({ code, name }) => `${code} ${name}`).sort()).to.deep.equal([
      'STATISTICS_OBJECT_NOT_REPRESENTED other.elsewhere',
      'STATISTICS_TARGET_NOT_REPRESENTED whole',
    ]);
    expect((await api.ok<{ data: Document[] }>('GET', '/objects')).data).to.deep.equal([
      {
        kind: 'statistics',
        id: 'Part',
        definition: 'CREATE STATISTICS "Part" ON (size + 1) FROM days_1',
        comment: null,
      },
      {
        kind: 'statistics',
        id: 'whole',
        definition: 'CREATE STATISTICS whole (dependencies) ON id, size FROM days',
        comment: 'All days',
      },
    ]);
    await api.ok('POST', '/fields/days/size/rename', { to: 'width' });
    expect((await shown('Part')).definition).to.equal('CREATE STATISTICS "Part" ON (width + 1) FROM days_1');
  });
});
