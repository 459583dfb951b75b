import { expect } from 'chai';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { createDatabase } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

interface FieldDocument {
  collection: string;
  field: string;
  meta: { note: string | null };
  schema: { data_type: string; default_value: unknown; is_nullable: boolean; is_indexed: boolean };
}

interface Snapshot {
  collections: { collection: string }[];
  fields: FieldDocument[];
}

/**
 * `a_kid` sorts before its parent and `z_kid` after it. `own` defines the columns itself. `elsewhere.kid` cannot be
 * managed, and its child can.
 */
const TABLES = `
CREATE TABLE base (id int PRIMARY KEY, a int DEFAULT 1, b int);
CREATE TABLE a_kid () INHERITS (base);
CREATE TABLE z_kid (more int) INHERITS (base);
CREATE TABLE grandkid () INHERITS (a_kid);
CREATE TABLE own (a int DEFAULT 7 NOT NULL, b int, x text) INHERITS (base);
CREATE TABLE diamond () INHERITS (a_kid, z_kid);
CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.kid () INHERITS (base);
CREATE TABLE distant () INHERITS (elsewhere.kid);
CREATE TYPE mood AS ENUM ('calm', 'keen');
CREATE TABLE uses_mood (id int PRIMARY KEY, mood mood);
INSERT INTO a_kid VALUES (1, 2, 3);`;

const ALL = ['a_kid', 'base', 'diamond', 'distant', 'grandkid', 'own', 'z_kid'];
const KIDS = ALL.filter((name) => name !== 'base');

describe('changing a column that managed tables inherit', function () {
  this.timeout(120_000);
  // Rows, catalog and log agree at the end of each test.
  const { api, service } = withService({ each: true, consistent: true });

  beforeEach(async () => {
    await api.sql(TABLES);
    await api.ok('POST', '/schema/adopt', { all: true });
    await api.ok('PATCH', '/fields/a_kid/a', { meta: { note: 'of the kid' }, schema: { is_indexed: true } });
  });

  const snapshot = (query = '') => api.ok<Snapshot>('GET', `/schema/snapshot${query}`);
  const fieldsNamed = async (name: string): Promise<Map<string, FieldDocument>> => {
    const { fields } = await snapshot();
    return new Map(fields.filter(({ field }) => field === name).map((each) => [each.collection, each]));
  };
  const noDrift = async (): Promise<void> => {
    const { tables } = await api.ok<{ tables: object[] }>('GET', '/schema/drift');
    expect(JSON.stringify(tables)).to.equal('[]');
  };
  /** Each change keeps the log and the catalog equal, in the present, in the past and in a replay. */
  const changed = async (change: () => Promise<unknown>): Promise<string[]> => {
    const before = await snapshot();
    const head = await api.head();
    await change();
    await noDrift();
    const after = await snapshot();
    const events = await api.events(head);
    expect(await api.ok('GET', `/history/snapshot?at=${head}`)).to.deep.include({ fields: before.fields });
    const other = await createDatabase();
    try {
      const replayed = await dps(['rebuild', 'tables', '--into', other.connectionString], {
        DATABASE_URL: service.databaseUrl,
      });
      expect(replayed.code, `${replayed.out}${replayed.err}`).to.equal(0);
    } finally {
      await other.drop();
    }
    const back = await api.ok<object>('GET', `/history/diff?to=${head}`);
    await api.ok('POST', '/schema/apply?purge', back);
    await noDrift();
    expect((await snapshot()).fields).to.have.deep.members(before.fields);
    await api.ok(
      'POST',
      '/schema/apply?purge',
      await api.ok<object>('GET', `/history/diff?to=${head + events.length}`),
    );
    await noDrift();
    expect((await snapshot()).fields).to.have.deep.members(after.fields);
    return events;
  };

  it('adds the column to the children in the same batch, with its type and default', async () => {
    const column = { field: 'c', type: 'string', schema: { default_value: 'x', is_nullable: false, is_indexed: true } };
    const plan = await api.ok<{ events: { type: string; collection: string; data: object }[] }>(
      'POST',
      '/fields/base?explain',
      column,
    );
    const events = await changed(() => api.ok('POST', '/fields/base', column));
    expect(plan.events.map(({ type, collection }) => `${type} ${collection}.c`)).to.deep.equal(events);
    expect(events.sort()).to.deep.equal(ALL.map((name) => `field.created ${name}.c`));
    const found = await fieldsNamed('c');
    expect([...found.keys()].sort()).to.deep.equal(ALL);
    for (const [name, { schema }] of found)
      expect(schema, name).to.include({ default_value: 'x', is_nullable: false, is_indexed: name === 'base' });
  });

  it('keeps the column of a child that has one of that name', async () => {
    const events = await changed(() => api.ok('POST', '/fields/base', { field: 'x', type: 'text' }));
    expect(events).to.have.members(ALL.filter((name) => name !== 'own').map((name) => `field.created ${name}.x`));
  });

  it('rejects a column whose name a child gives to a field without a column', async () => {
    await api.ok('POST', '/fields/z_kid', { field: 'c', type: 'alias' });
    const expected = { status: 409, code: 'ALREADY_EXISTS' };
    const refused = await api.refused(expected, 'POST', '/fields/base', { field: 'c', type: 'text' });
    expect(refused.message).to.contain('"z_kid"');
    expect(refused.extensions).to.include({ collection: 'base', field: 'c' });
    await api.ok('DELETE', '/fields/z_kid/c');
  });

  it('renames the column of the children, with their indexes and metadata', async () => {
    const events = await changed(() => api.ok('POST', '/fields/base/a/rename', { to: 'renamed' }));
    expect(events.sort()).to.deep.equal(ALL.map((name) => `field.renamed ${name}.a`));
    const found = await fieldsNamed('renamed');
    expect([...found.keys()].sort()).to.deep.equal(ALL);
    expect(found.get('a_kid')).to.nested.include({ 'meta.note': 'of the kid', 'schema.is_indexed': true });
  });

  it('changes type, default and nullability of the children', async () => {
    await api.sql('UPDATE base SET a = 1 WHERE a IS NULL');
    const schema = { data_type: 'bigint', default_value: 9, is_nullable: false };
    const events = await changed(() => api.ok('PATCH', '/fields/base/a', { type: 'bigInteger', schema }));
    expect(events.sort()).to.deep.equal(ALL.map((name) => `field.updated ${name}.a`));
    const found = await fieldsNamed('a');
    for (const name of KIDS)
      expect(found.get(name)?.schema, name).to.include({ data_type: 'bigint', is_nullable: false });
    expect(found.get('a_kid')).to.nested.include({ 'meta.note': 'of the kid', 'schema.is_indexed': true });
  });

  it('allows null in the children, except where a constraint of their own forbids it', async () => {
    await api.sql('UPDATE base SET a = 1 WHERE a IS NULL');
    await api.ok('PATCH', '/fields/base/a', { schema: { is_nullable: false } });
    await noDrift();
    await changed(() => api.ok('PATCH', '/fields/base/a', { schema: { is_nullable: true, default_value: null } }));
    const found = await fieldsNamed('a');
    expect(found.get('z_kid')?.schema).to.include({ is_nullable: true, default_value: null });
  });

  it('adds a column of an enum, which the children need then', async () => {
    const document = await snapshot();
    const { fields } = document;
    const mood = fields.find(({ collection, field }) => collection === 'uses_mood' && field === 'mood');
    const added = { ...mood, collection: 'base', meta: null, schema: { ...mood?.schema, table: 'base' } };
    const needs = (name: string) => {
      const found = document.collections.find(({ collection }) => collection === name) as {
        schema?: { extras?: object };
      };
      return found.schema?.extras;
    };
    const collections = document.collections.map((each) =>
      each.collection === 'base'
        ? { ...each, schema: { ...(each as { schema?: object }).schema, extras: needs('uses_mood') } }
        : each,
    );
    await changed(async () => {
      const diff = await api.ok<object>('POST', '/schema/diff', {
        ...document,
        collections,
        fields: [...fields, added],
      });
      await api.ok('POST', '/schema/apply', diff);
    });
    expect([...(await fieldsNamed('mood')).keys()].sort()).to.deep.equal([...ALL, 'uses_mood'].sort());
  });

  it('applies a diff that changes the parent and its children alike, and the children further', async () => {
    const document = await snapshot();
    const fields = document.fields.map((each) => {
      if (each.field !== 'b' || !ALL.includes(each.collection)) return each;
      const isIndexed = each.collection === 'z_kid';
      const schema = { ...each.schema, data_type: 'bigint', is_indexed: isIndexed, default_value: isIndexed ? 4 : 5 };
      return { ...each, type: 'bigInteger', schema };
    });
    await changed(async () => {
      const diff = await api.ok<object>('POST', '/schema/diff', { ...document, fields });
      await api.ok('POST', '/schema/apply', diff);
    });
    const found = await fieldsNamed('b');
    expect(found.get('z_kid')?.schema).to.include({ data_type: 'bigint', is_indexed: true, default_value: 4 });
    expect(found.get('a_kid')?.schema).to.include({ data_type: 'bigint', is_indexed: false, default_value: 5 });
  });

  it('applies a change request with the plan that was approved', async () => {
    const document = await snapshot();
    const fields = document.fields.map((each) =>
      each.collection === 'base' && each.field === 'b'
        ? { ...each, schema: { ...each.schema, default_value: 3 } }
        : each,
    );
    const asked = { title: 'a default', snapshot: { ...document, fields } };
    const { data } = await api.ok<{ data: { id: string; plan: string } }>('POST', '/changes', asked);
    await api.ok('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    await changed(() => api.ok('POST', `/changes/${data.id}/apply`));
    for (const [name, { schema }] of await fieldsNamed('b')) expect(schema.default_value, name).to.equal(3);
  });

  it('renames the parent without drift, and changes its columns afterwards in the same batch', async () => {
    await api.ok('POST', '/collections/base/rename', { to: 'renamed' });
    await noDrift();
    await api.ok('POST', '/fields/renamed/id/rename', { to: 'key' });
    await noDrift();
    expect([...(await fieldsNamed('key')).keys()]).to.have.members(['renamed', ...KIDS]);
  });

  it('rejects what PostgreSQL does not do to a column with several parents, and leaves nothing behind', async () => {
    await api.sql('CREATE TABLE side (a int); CREATE TABLE "both" () INHERITS (base, side)');
    await api.ok('POST', '/schema/adopt', { tables: ['side', 'both'] });
    const refused = await api.client('/fields/base/a/rename', json({ to: 'renamed' }));
    expect(refused.status, refused.text).to.be.within(409, 422);
    expect(refused.text).to.contain('inherited column');
    await api.ok('PATCH', '/fields/base/a', { schema: { default_value: 5 } });
    await noDrift();
    await api.ok('POST', '/fields/base', { field: 'c', type: 'integer' });
    await api.ok('POST', '/fields/side', { field: 'c', type: 'integer' });
    await noDrift();
  });

  it('does not touch partitions and unrelated tables', async () => {
    await api.sql(`CREATE TABLE parts (k int NOT NULL, a int) PARTITION BY LIST (k);
      CREATE TABLE part PARTITION OF parts FOR VALUES IN (1)`);
    await api.ok('POST', '/schema/adopt', { tables: ['parts', 'part'] });
    await api.appends(['field.updated parts.a'], 'PATCH', '/fields/parts/a', { schema: { comment: 'c' } });
    await api.appends(['field.created uses_mood.c'], 'POST', '/fields/uses_mood', { field: 'c', type: 'text' });
    await noDrift();
  });

  it('changes the expression of a generated column in the children too', async () => {
    await api.sql(`CREATE TABLE sums (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED);
      CREATE TABLE heir () INHERITS (sums)`);
    await api.ok('POST', '/schema/adopt', { tables: ['sums', 'heir'] });
    await changed(() => api.ok('PATCH', '/fields/sums/twice', { schema: { generation_expression: 'n * 3' } }));
    await changed(() => api.ok('PATCH', '/fields/sums/n', { type: 'bigInteger', schema: { data_type: 'bigint' } }));
  });
});
