/** Geometry with PostGIS; on Debian, `.ci/debian-postgres` provides it. types.e2e.test.ts tests without PostGIS. */
import { expect } from 'chai';
import { expectConsistent } from '../../support/consistent.js';
import { type Api, createApi } from '../../support/api.js';
import { asSuperuser } from '../../support/postgres.js';
import { append } from '../../support/append.js';
import { dps } from '../../support/dps.js';
import { type TestService, startService } from '../../support/service.js';
import { catalogColumn, key, plain } from './columns.js';

const TYPES = [
  'geometry',
  'geometry.Point',
  'geometry.LineString',
  'geometry.Polygon',
  'geometry.MultiPoint',
  'geometry.MultiLineString',
  'geometry.MultiPolygon',
];

const EXISTING = `
CREATE TABLE surveyed (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  place geometry(Point, 4326) NOT NULL,
  area geometry(MultiPolygonZM),
  route geography(LineString, 4326),
  anything geometry,
  CONSTRAINT on_earth CHECK (st_srid(place) = 4326)
);
CREATE INDEX surveyed_place ON surveyed USING gist (place);
INSERT INTO surveyed (place) VALUES ('SRID=4326;POINT(8.5 47.4)');`;

interface Field {
  field: string;
  type: string;
  schema: { data_type: string };
}

interface Adopted {
  adopted: string[];
  refused: { table: string; code: string }[];
  not_represented: { table: string | null; code: string; name: string }[];
}

describe('geometry with PostGIS', () => {
  let service: TestService;
  let other: TestService;
  let api: Api;
  let target: Api;

  before(async function () {
    service = await startService();
    api = createApi(service);
    other = await startService();
    target = createApi(other);
    const [available] = await api.sql(`SELECT FROM pg_available_extensions WHERE name = 'postgis'`);
    if (available === undefined) this.skip();
    for (const each of [service, other]) await asSuperuser(each.databaseUrl, 'CREATE EXTENSION postgis');
  });
  after(async () => {
    for (const { databaseUrl } of [service, other]) await expectConsistent(databaseUrl);
    await api.stop();
    await target.stop();
    await service.stop();
    await other.stop();
  });

  it('creates a geometry column for every shape, with the table or later', async () => {
    const fields = TYPES.map((type, index) => plain(`f${index}`, type));
    await api.ok('POST', '/collections', { collection: 'places', schema: {}, fields: [key('id'), ...fields] });
    for (const [index, type] of TYPES.entries()) {
      await api.ok('POST', '/fields/places', plain(`later${index}`, type));
      expect(await catalogColumn(api, 'places', `later${index}`)).to.include({ type: 'geometry' });
      expect(await catalogColumn(api, 'places', `f${index}`)).to.include({ type: 'geometry' });
      const { data } = await api.ok<{ data: Field }>('GET', `/fields/places/f${index}`);
      expect(data.type).to.equal(type);
    }
    await api.sql(`INSERT INTO places (id, f1) VALUES (1, 'POINT(1 2)')`);
  });

  it('converts from text and back with its data, and rejects invalid data', async () => {
    await api.ok('POST', '/fields/places', plain('text', 'text'));
    await api.sql(`UPDATE places SET text = 'POINT(3 4)'`);
    await api.ok('PATCH', '/fields/places/text', { type: 'geometry.Point' });
    expect(await api.sql('SELECT st_x(text) AS x FROM places')).to.deep.equal([{ x: 3 }]);
    await api.ok('PATCH', '/fields/places/text', { type: 'geometry' });
    await api.ok('PATCH', '/fields/places/text', { type: 'text' });
    await api.sql(`UPDATE places SET text = 'nowhere'`);
    const expected = { status: 422, code: 'DATABASE_REFUSED' };
    await api.refused(expected, 'PATCH', '/fields/places/text', { type: 'geometry.Point' });
  });

  it('is equal on another instance', async () => {
    const document = await api.ok<object>('GET', '/schema/snapshot');
    await target.ok('POST', '/schema/apply', await target.ok('POST', '/schema/diff', document));
    const again = await target.ok<{ diff: object }>('POST', '/schema/diff', document);
    expect(again.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    expect(await target.sql(SHAPE)).to.deep.equal(await api.sql(SHAPE));
  });

  it('is adopted with its dimensions and reference system', async () => {
    await api.sql(EXISTING);
    const before = await api.sql(SHAPE);
    const { adopted, refused, not_represented: listed } = await api.ok<Adopted>('POST', '/schema/adopt', { all: true });
    expect(adopted).to.deep.equal(['surveyed']);
    expect(refused).to.have.length(1);
    expect(refused[0]).to.include({ table: 'spatial_ref_sys', code: 'BELONGS_TO_EXTENSION' });
    expect(listed.map(({ table, code, name }) => [table, code, name])).to.deep.equal([
      ['surveyed', 'EXTENSION_NEEDED', 'postgis'],
    ]);
    expect(await api.sql(SHAPE)).to.deep.equal(before);
    const { data } = await api.ok<{ data: Field[] }>('GET', '/fields/surveyed');
    expect(data.map(({ field, type, schema }) => [field, type, schema.data_type])).to.deep.equal([
      ['id', 'integer', 'integer'],
      ['place', 'geometry.Point', 'geometry(Point,4326)'],
      ['area', 'geometry.MultiPolygon', 'geometry(MultiPolygonZM)'],
      ['route', 'unknown', 'geography(LineString,4326)'],
      ['anything', 'geometry', 'geometry'],
    ]);
  });

  it('is created elsewhere with index and check, and reports a missing PostGIS', async () => {
    const document = await api.ok<object>('GET', '/schema/snapshot');
    const bare = await startService();
    const without = createApi(bare);
    const diff = await without.ok('POST', '/schema/diff', document);
    const { message } = await without.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/schema/apply', diff);
    expect(message).to.include('PostGIS').and.include('CREATE EXTENSION postgis');
    await without.stop();
    await bare.stop();
    await target.ok('POST', '/schema/apply', await target.ok('POST', '/schema/diff', document));
    expect(await target.sql(SHAPE)).to.deep.equal(await api.sql(SHAPE));
  });

  it('keeps its type modifier through a Directus import, changes, drift repair and the SQL export', async () => {
    const map = (collection: string) => ({
      version: 1,
      directus: '11.1.0',
      vendor: 'postgres',
      collections: [{ collection, meta: { icon: 'map' }, schema: { name: collection } }],
      fields: [
        {
          collection,
          field: 'g',
          type: 'geometry.Point',
          meta: { interface: 'map' },
          schema: { name: 'g', table: collection, data_type: null, is_nullable: true },
        },
      ],
      relations: [],
    });
    const shown = async (collection: string) => {
      const { data } = await api.ok<{ data: Field }>('GET', `/fields/${collection}/g`);
      return [data.type, data.schema.data_type, (await catalogColumn(api, collection, 'g'))?.['type']];
    };
    const path = '/schema/diff?force&mode=merge';
    await api.sql('CREATE TABLE spots (id serial PRIMARY KEY, g geometry(Point,4326), v geography(Point,4326))');
    await api.ok('POST', '/schema/adopt', { tables: ['spots'] });
    type Answer = { hash: string; diff: object; warnings?: { code: string; message: string }[] };
    for (const collection of ['spots', 'made']) {
      const { hash, diff, warnings = [] } = await api.ok<Answer>('POST', path, map(collection));
      const output = warnings.filter(({ message }) => message.includes('geometry(Point,4326)'));
      expect(output.map(({ code }) => code)).to.deep.equal(collection === 'made' ? ['TYPE_CHANGED'] : []);
      await api.ok('POST', '/schema/apply', { hash, diff });
      expect((await shown(collection)).slice(0, 2)).to.deep.equal(['geometry.Point', 'geometry(Point,4326)']);
      const again = await api.ok<Answer>('POST', path, map(collection));
      expect(again.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    }
    await api.ok('PATCH', '/fields/made/g', {
      type: 'geometry',
      schema: { data_type: 'GEOMETRY ( linestringz , 2056 )' },
    });
    expect((await shown('made')).slice(0, 2)).to.deep.equal(['geometry', 'geometry(LineStringZ,2056)']);
    const wrong = { schema: { data_type: 'geometry(Polygon,4326)' }, type: 'geometry.Point' };
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'schema.data_type' },
      'PATCH',
      '/fields/made/g',
      wrong,
    );
    await api.sql('ALTER TABLE made ALTER g TYPE geometry');
    const drift = await dps(['drift', '--repair'], { DATABASE_URL: service.databaseUrl });
    expect(drift.code, drift.err).to.equal(0);
    const [column] = await api.sql<{ type: string }>(
      SHAPE.replace("'places', 'surveyed'", "'made'").replace(/ORDER BY 1, 2$/, "AND attname = 'g'"),
    );
    expect(column?.type).to.equal('geometry(LineStringZ,2056)');
    const sql = await api.client('/history/snapshot?export=sql');
    expect(sql.text).to.contain('geometry(LineStringZ,2056)');
    const { data } = await api.ok<{ data: Field }>('GET', '/fields/spots/v');
    expect([data.type, data.schema.data_type]).to.deep.equal(['unknown', 'geography(Point,4326)']);
  });

  it('accepts the log and the snapshots of a release that had no name for restricted geometries', async () => {
    const SPOT = 'geometry(Point,4326)';
    const old = await startService();
    await asSuperuser(old.databaseUrl, 'CREATE EXTENSION postgis');
    const before = createApi(old);
    const fields = [key('id'), plain('place', 'geometry.Point', { data_type: SPOT })];
    await before.ok('POST', '/collections', { collection: 'spots', schema: {}, fields });
    const created = (await before.client('/history/export')).text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    // The log of the older release, on existing tables.
    const oldLog = await startService();
    await asSuperuser(oldLog.databaseUrl, 'CREATE EXTENSION postgis');
    const api = createApi(oldLog);
    await api.sql('CREATE TABLE spots (id integer PRIMARY KEY, place geometry(Point,4326))');
    const event = created.find(({ type }) => type === 'collection.created');
    event.data.fields[1].type = 'unknown';
    const { version, collection, data } = event;
    await append(oldLog.databaseUrl, [{ type: 'collection.adopted', version, collection, field: null, data }]);
    const shown = async (source: Api) => {
      const { data } = await source.ok<{ data: Field }>('GET', '/fields/spots/place');
      return [data.type, data.schema.data_type];
    };
    expect(await shown(api)).to.deep.equal(['unknown', SPOT]);
    const rebuilt = await dps(['rebuild', 'metadata'], { DATABASE_URL: oldLog.databaseUrl });
    expect(rebuilt.code, rebuilt.err).to.equal(0);
    await expectConsistent(oldLog.databaseUrl);

    type Snapshot = { fields: { type: string; schema: { data_type: string } }[] };
    type Answer = { hash: string; diff: { fields: { diff: object[] }[] } };
    const none = { collections: [], fields: [], relations: [] };
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    expect(snapshot.fields.map(({ type, schema }) => [type, schema.data_type])).to.deep.include(['unknown', SPOT]);
    expect((await api.ok<Answer>('POST', '/schema/diff', snapshot)).diff).to.deep.equal(none);
    // A file of the older release changes nothing if the field has its name, and creates the field otherwise.
    expect((await before.ok<Answer>('POST', '/schema/diff', snapshot)).diff).to.deep.equal(none);
    const fresh = await startService();
    await asSuperuser(fresh.databaseUrl, 'CREATE EXTENSION postgis');
    const other = createApi(fresh);
    await other.ok('POST', '/schema/apply', await other.ok('POST', '/schema/diff', snapshot));
    expect(await shown(other)).to.deep.equal(['geometry.Point', SPOT]);
    expect((await other.ok<Answer>('POST', '/schema/diff', snapshot)).diff).to.deep.equal(none);

    // The field of the old log can be changed, and a snapshot of the current release renames it.
    await api.ok('PATCH', '/fields/spots/place', { meta: { note: 'by hand' } });
    expect(await shown(api)).to.deep.equal(['unknown', SPOT]);
    const today = await other.ok<Snapshot>('GET', '/schema/snapshot');
    const then = await api.head();
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', today));
    expect(await shown(api)).to.deep.equal(['geometry.Point', SPOT]);
    // Going back to the old type and modifier results in the current name.
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${then}`));
    expect(await shown(api)).to.deep.equal(['geometry.Point', SPOT]);
    await api.ok('DELETE', '/fields/spots/place?purge');
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${then}`));
    expect(await shown(api)).to.deep.equal(['geometry.Point', SPOT]);
    for (const each of [old, oldLog, fresh]) await expectConsistent(each.databaseUrl);
    for (const each of [before, api, other]) await each.stop();
    for (const each of [old, oldLog, fresh]) await each.stop();
  });
});

const SHAPE = `
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
       (SELECT array_agg(pg_get_indexdef(i.indexrelid) ORDER BY i.indexrelid::regclass::text) FROM pg_index i WHERE i.indrelid = c.oid) AS indexes,
       (SELECT array_agg(pg_get_constraintdef(n.oid) ORDER BY n.conname) FROM pg_constraint n WHERE n.conrelid = c.oid) AS checks
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
 WHERE c.relname IN ('places', 'surveyed') AND a.attnum > 0 ORDER BY 1, 2`;
