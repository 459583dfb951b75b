import { expect } from 'chai';
import { dps } from '../support/dps.js';
import { createDatabase, testServer } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

/**
 * `own` and `named` define the constraint of `a` themselves, so PostgreSQL 18 gives it another name than that of `base`.
 * `late` defines that of `free`, which its parent lacks. `attached` has names of its own too.
 */
const TABLES = `
CREATE TABLE base (id int PRIMARY KEY, a int NOT NULL, free int, plain int);
CREATE TABLE child () INHERITS (base);
CREATE TABLE grandchild () INHERITS (child);
CREATE TABLE late (free int NOT NULL) INHERITS (base);
CREATE TABLE below_late () INHERITS (late);
CREATE TABLE root (id int PRIMARY KEY, a int NOT NULL);
CREATE TABLE own (a int NOT NULL) INHERITS (root);
CREATE TABLE below_own () INHERITS (own);
CREATE TABLE named (a int CONSTRAINT mine NOT NULL) INHERITS (root);
CREATE TABLE below_named () INHERITS (named);
CREATE TABLE parts (id int NOT NULL, k int NOT NULL) PARTITION BY LIST (k);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1, 2) PARTITION BY LIST (k);
CREATE TABLE subpart PARTITION OF part FOR VALUES IN (1);
CREATE TABLE groups (id int NOT NULL, k int NOT NULL) PARTITION BY LIST (k);
CREATE TABLE attached (id int NOT NULL, k int CONSTRAINT kept NOT NULL);
ALTER TABLE groups ATTACH PARTITION attached FOR VALUES IN (3);
INSERT INTO grandchild VALUES (1, 2, 3);
INSERT INTO below_own VALUES (1, 2);
INSERT INTO subpart VALUES (1, 1);`;

interface Snapshot {
  collections: { collection: string; renamed_from?: string }[];
  fields: {
    collection: string;
    field: string;
    renamed_from?: string;
    meta?: object;
    schema?: { name: string; is_nullable: boolean; extras?: { not_null_name?: string } };
  }[];
}

describe('names of NOT NULL constraints that tables inherit', function () {
  this.timeout(300_000);
  // Rows, catalog and log agree at the end of each test.
  const { api, service } = withService({ each: true, consistent: true });
  let isNamed = false;

  before(async () => {
    isNamed = (await testServer()).majorVersion >= 18;
  });

  beforeEach(async () => {
    await api.sql(TABLES);
    await api.ok('POST', '/schema/adopt', { all: true });
  });

  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const diffOf = (document: object) =>
    api.ok<{ diff: Record<'collections' | 'fields' | 'relations', { collection: string; field?: string }[]> }>(
      'POST',
      '/schema/diff',
      document,
    );
  /** The names in the log, or in the catalog. */
  const namesOf = ({ fields }: Snapshot) =>
    Object.fromEntries(
      fields.flatMap(({ collection, field, schema }) => {
        const name = schema?.extras?.not_null_name;
        return name === undefined ? [] : [[`${collection}.${field}`, name]];
      }),
    );
  const namesInCatalog = async (...tables: string[]) => {
    const rows = await api.sql<{ place: string; name: string }>(
      `SELECT c.conrelid::regclass || '.' || a.attname AS place, c.conname::text AS name FROM pg_constraint c
         JOIN pg_attribute a ON a.attrelid = c.conrelid AND c.conkey = ARRAY[a.attnum]
        WHERE c.contype = 'n' AND c.conrelid = ANY ($1::regclass[])`,
      [tables],
    );
    return Object.fromEntries(rows.map(({ place, name }) => [place, name]));
  };

  const isClean = async (): Promise<void> => {
    const { tables } = await api.ok<{ tables: object[] }>('GET', '/schema/drift');
    expect(JSON.stringify(tables)).to.equal('[]');
    const { diff } = await diffOf(await snapshot());
    expect(diff).to.deep.include({ collections: [], fields: [], relations: [] });
  };
  const rebuilds = async (): Promise<void> => {
    const other = await createDatabase();
    try {
      const command = ['rebuild', 'tables', '--into', other.connectionString];
      const rebuilt = await dps(command, { DATABASE_URL: service.databaseUrl });
      expect(rebuilt.code, `${rebuilt.out}${rebuilt.err}`).to.equal(0);
    } finally {
      await other.drop();
    }
  };
  /** There is no drift after the change, in a replay, and after going back and forth. */
  const changed = async (change: () => Promise<unknown>): Promise<void> => {
    await isClean();
    const [before, start] = [await snapshot(), await api.head()];
    await change();
    await isClean();
    await rebuilds();
    const [after, end] = [await snapshot(), await api.head()];
    for (const [to, expected] of [
      [start, before],
      [end, after],
    ] as const) {
      await api.ok('POST', '/schema/apply?purge', await api.ok<object>('GET', `/history/diff?to=${to}`));
      await isClean();
      const { collections, fields } = await snapshot();
      expect(collections).to.have.deep.members(expected.collections);
      expect(fields).to.have.deep.members(expected.fields);
    }
  };
  const rename = (path: string, to: string) => api.ok('POST', `/${path}/rename`, { to });

  for (const [path, to, what] of [
    ['collections/base', 'renamed', 'a parent'],
    ['collections/child', 'renamed', 'a child with children'],
    ['collections/grandchild', 'renamed', 'a grandchild'],
    ['collections/late', 'renamed', 'a child with a constraint that its parent lacks'],
    ['collections/root', 'renamed', 'a parent whose children have constraints of their own'],
    ['collections/own', 'renamed', 'a child with a constraint of its own'],
    ['collections/named', 'renamed', 'a child whose constraint has a custom name'],
    ['collections/parts', 'renamed', 'a partitioned table'],
    ['collections/part', 'renamed', 'a partition with partitions'],
    ['collections/groups', 'renamed', 'a partitioned table with an attached partition'],
    ['fields/base/a', 'z', 'a column of a parent'],
    ['fields/base/free', 'z', 'a column whose child alone is NOT NULL'],
    ['fields/root/a', 'z', 'a column whose children have constraints of their own'],
    ['fields/parts/k', 'z', 'a column of a partitioned table'],
    ['fields/groups/k', 'z', 'a column of a partitioned table with an attached partition'],
  ] as const)
    it(`keeps drift clean when ${what} is renamed`, () => changed(() => rename(path, to)));

  for (const [name, what] of [
    ['base', 'a parent'],
    ['root', 'a parent whose children have constraints of their own'],
    ['parts', 'a partitioned table'],
    ['groups', 'a partitioned table with an attached partition'],
  ] as const)
    it(`renames ${what} in a snapshot whose children stay as they are`, () =>
      changed(async () => {
        const document = await snapshot();
        const text = JSON.stringify(document).replaceAll(`"${name}"`, '"renamed"');
        const renamed = JSON.parse(text) as Snapshot;
        for (const each of renamed.collections) if (each.collection === 'renamed') each.renamed_from = name;
        const offered = await diffOf(renamed);
        expect(offered.diff.fields).to.deep.equal([]);
        await api.ok('POST', '/schema/apply', offered);
        expect(namesOf(await snapshot())).to.deep.equal(namesOf(renamed));
      }));

  it('leaves a name that equals that of the parent to the parent', async function () {
    if (!isNamed) this.skip();
    expect(namesOf(await snapshot())).to.deep.equal({
      'own.a': 'own_a_not_null',
      'named.a': 'mine',
      'attached.id': 'attached_id_not_null',
      'attached.k': 'kept',
    });
  });

  it('accepts the names of children that earlier releases recorded, and renames their parents', async () => {
    const document = await snapshot();
    const parents = { child: 'base', grandchild: 'base', part: 'parts', subpart: 'parts' };
    for (const { collection, field, schema } of document.fields) {
      const parent = parents[collection as keyof typeof parents];
      if (schema?.is_nullable === false && parent !== undefined)
        schema.extras = { ...schema.extras, not_null_name: `${parent}_${field}_not_null` };
    }
    await changed(async () => api.ok('POST', '/schema/apply', await diffOf(document)));
    expect(namesOf(await snapshot())).to.include({
      'grandchild.a': 'base_a_not_null',
      'subpart.k': 'parts_k_not_null',
    });
    await changed(() => rename('collections/parts', 'pieces'));
    await changed(() => rename('fields/base/a', 'z'));
    await changed(() => rename('collections/base', 'bottom'));
  });

  it('rejects another name for a constraint that PostgreSQL cannot rename', async function () {
    if (!isNamed) this.skip();
    const inherited = (field: string, table: string, parent: string) =>
      `Column "${field}" of "${table}" cannot be changed: the table inherits it from ${parent}. Change the column there, which changes it here too.`;
    for (const [place, expected] of [
      ['own.a', inherited('a', 'own', 'root')],
      ['attached.k', inherited('k', 'attached', 'groups')],
      [
        'groups.k',
        'PostgreSQL failed to rename the NOT NULL constraint of groups.k: constraint "groups_k_not_null" for table "attached" does not exist',
      ],
    ] as const) {
      const document = await snapshot();
      for (const { collection, field, schema } of document.fields)
        if (`${collection}.${field}` === place && schema) schema.extras = { ...schema.extras, not_null_name: 'wanted' };
      const offered = await diffOf(document);
      const refusal = { status: 422, code: 'DATABASE_REFUSED' };
      expect((await api.refused(refusal, 'POST', '/schema/apply', offered)).message).to.equal(expected);
    }
    await isClean();
  });

  it('renames the constraint of a partitioned table and of its partitions', async function () {
    if (!isNamed) this.skip();
    const document = await snapshot();
    for (const { collection, field, schema } of document.fields)
      if (collection === 'parts' && field === 'k' && schema) schema.extras = { not_null_name: 'wanted' };
    await changed(async () => api.ok('POST', '/schema/apply', await diffOf(document)));
    expect(await namesInCatalog('parts', 'part', 'subpart')).to.include({ 'parts.k': 'wanted', 'subpart.k': 'wanted' });
  });

  it('restores a partition after its partitioned table was renamed', async () => {
    await api.ok('DELETE', '/collections/subpart');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await rename('collections/parts', 'renamed');
    await changed(() => api.ok('POST', `/trash/${data[0]?.position}/restore`, {}));
    await changed(() => rename('collections/renamed', 'parts'));
  });

  it('keeps drift clean when tables are detached and attached by hand', async () => {
    await api.sql('ALTER TABLE child NO INHERIT base; ALTER TABLE named NO INHERIT root');
    await isClean();
    await changed(() => rename('collections/base', 'renamed'));
    await api.sql('ALTER TABLE child INHERIT renamed; ALTER TABLE named INHERIT root');
    await isClean();
    await api.sql('ALTER TABLE parts DETACH PARTITION part');
    await api.sql('ALTER TABLE parts ATTACH PARTITION part FOR VALUES IN (1, 2)');
    await changed(() => rename('collections/child', 'renamed_child'));
    await changed(() => rename('fields/renamed/a', 'z'));
    await changed(() => rename('collections/parts', 'pieces'));
  });

  it('gives the children the constraint of their parent, and drops it from them', async () => {
    await api.sql('UPDATE base SET plain = 1');
    await changed(() => api.ok('PATCH', '/fields/base/plain', { schema: { is_nullable: false } }));
    await changed(() => api.ok('PATCH', '/fields/base/a', { schema: { is_nullable: true } }));
    if (isNamed) expect(await namesInCatalog('grandchild')).to.include({ 'grandchild.plain': 'base_plain_not_null' });
  });
});
