import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Plan {
  accepted: boolean;
  warnings: { code: string; collection: string; message: string }[];
  statements: { sql: string; summary: string }[];
}

interface Entry {
  position: number;
  collection: string;
  kept_in: number | null;
  publications: string[];
  foreign_keys: { name: string }[];
}

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const KEY = { is_primary_key: true, has_auto_increment: true };

describe('moving tables to the trash', () => {
  const { api } = withService({ consistent: true });

  const make = (collection: string, fields: object[] = []) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields: [plain('id', 'integer', KEY), ...fields] });
  const trash = async (): Promise<Entry[]> => (await api.ok<{ data: Entry[] }>('GET', '/trash')).data;
  const remove = async (collection: string): Promise<number> => {
    await api.ok('DELETE', `/collections/${encodeURIComponent(collection)}`);
    return (await trash()).find((each) => each.collection === collection)?.position ?? 0;
  };
  const shared = () => api.sql(`SELECT oid, nspname FROM pg_namespace WHERE nspname ~ '^service_trash_s' ORDER BY 1`);
  const onShared = (sql: string): string =>
    `DO $$ DECLARE s text; BEGIN FOR s IN SELECT nspname FROM pg_namespace WHERE nspname ~ '^service_trash_s'
       LOOP EXECUTE format('${sql}', s); END LOOP; END $$`;
  const restore = (position: number) =>
    api.ok<{ warnings?: { message: string }[] }>('POST', `/trash/${position}/restore`);
  /** The snapshot without these collections. */
  const dropping = async (...names: string[]): Promise<object> => {
    const snapshot = await api.ok<Record<'collections' | 'fields' | 'relations', Record<string, unknown>[]>>(
      'GET',
      '/schema/snapshot',
    );
    const gone = new Set<unknown>(names);
    const desired = {
      ...snapshot,
      collections: snapshot.collections.filter(({ collection }) => !gone.has(collection)),
      fields: snapshot.fields.filter(({ collection }) => !gone.has(collection)),
      relations: snapshot.relations.filter(
        (each) => !gone.has(each['many_collection']) && !gone.has(each['one_collection']),
      ),
    };
    return api.ok<object>('POST', '/schema/diff', desired);
  };

  const IN_THE_WAY: [what: string, sql: string, undo: string][] = [
    ['a view', 'CREATE VIEW v AS SELECT id FROM wanted', 'DROP VIEW v'],
    ['a materialized view', 'CREATE MATERIALIZED VIEW m AS SELECT id FROM wanted', 'DROP MATERIALIZED VIEW m'],
    [
      'a function with a body of SQL',
      'CREATE FUNCTION f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM wanted; END',
      'DROP FUNCTION f()',
    ],
    [
      'a function that takes a row',
      'CREATE FUNCTION f(wanted) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
      'DROP FUNCTION f(wanted)',
    ],
    [
      'a foreign key of a table that is not managed',
      'CREATE TABLE other (w int REFERENCES wanted)',
      'DROP TABLE other',
    ],
    ['a table that inherits', 'CREATE TABLE heir () INHERITS (wanted)', 'DROP TABLE heir'],
    ['a column of its row type', 'CREATE TABLE rows_of (w wanted)', 'DROP TABLE rows_of'],
    [
      "another table's default by its sequence",
      `CREATE TABLE counted (n int DEFAULT nextval('wanted_id_seq'))`,
      'DROP TABLE counted',
    ],
    [
      'a policy of another table',
      'CREATE TABLE guarded (n int); CREATE POLICY p ON guarded USING (n IN (SELECT id FROM wanted))',
      'DROP TABLE guarded',
    ],
  ];
  for (const [what, sql, undo] of IN_THE_WAY) {
    it(`is rejected by ${what} like a drop`, async () => {
      await make('wanted');
      await api.sql(sql);
      const kept = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/wanted');
      const dropped = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/wanted?purge');
      expect(kept).to.deep.equal(dropped);
      await api.sql(undo);
      await api.ok('DELETE', '/collections/wanted');
    });
  }

  it('drops publications and manual foreign keys, and the plan and response report it', async () => {
    await make('targets');
    await make('published', [plain('target', 'integer')]);
    await api.sql('CREATE PUBLICATION news FOR TABLE published');
    await api.sql('ALTER TABLE published ADD CONSTRAINT by_hand FOREIGN KEY (target) REFERENCES targets');
    const plan = await api.ok<Plan>('POST', '/schema/apply?dry_run', await dropping('published'));
    expect(plan.accepted).to.equal(true);
    expect(plan.warnings.map(({ code }) => code)).to.include.members(['LOSES_DATA', 'LEAVES_PUBLICATION']);
    expect(plan.warnings.find(({ code }) => code === 'LEAVES_PUBLICATION')).to.include({
      collection: 'published',
      message:
        'move table published to the trash: it leaves the publication "news", and a restore does not add it again',
    });
    expect(plan.warnings.find(({ code }) => code === 'LOSES_DATA')?.message).to.match(
      /move table published to the trash: data is restorable from the trash until 20\d\d-/,
    );
    const position = await remove('published');
    expect((await trash())[0]).to.deep.include({ publications: ['news'] });
    expect((await trash())[0]?.foreign_keys).to.deep.equal([
      { name: 'by_hand', definition: 'FOREIGN KEY (target) REFERENCES targets(id)' },
    ]);
    expect(await api.sql('SELECT FROM pg_publication_rel')).to.deep.equal([]);
    await api.sql('DROP TABLE IF EXISTS nothing; TRUNCATE targets');
    const { warnings = [] } = await restore(position);
    expect(warnings.map(({ message }) => message).join('\n'))
      .to.contain('publication "news"')
      .and.to.contain(
        'foreign key "by_hand", created outside the service: FOREIGN KEY (target) REFERENCES targets(id)',
      );
    await api.sql('DROP PUBLICATION news');
  });

  it('grants access to no other role, regardless of default privileges', async () => {
    try {
      // The service no longer uses them.
      await api.sql(onShared('GRANT USAGE ON SCHEMA %I TO pg_monitor'));
      await api.sql(`ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO pg_monitor, PUBLIC`);
      await make('private');
      await remove('private');
      const [entry] = await trash();
      const [schema] = await api.sql<{ usage: boolean; granted: string }>(
        `SELECT has_schema_privilege('pg_monitor', nspname, 'USAGE') AS usage, nspacl::text AS granted FROM pg_namespace WHERE nspname = $1`,
        [`service_trash_s${entry?.kept_in}`],
      );
      expect(schema?.usage, schema?.granted).to.equal(false);
    } finally {
      await api.sql(`ALTER DEFAULT PRIVILEGES REVOKE USAGE ON SCHEMAS FROM pg_monitor, PUBLIC`);
      await api.sql(onShared('REVOKE ALL ON SCHEMA %I FROM pg_monitor'));
    }
  });

  it('uses no shared schema on which the role lacks privileges', async () => {
    await make('usable');
    const [{ name } = { name: '' }] = await api.sql<{ name: string }>('SELECT current_user AS name');
    try {
      await api.sql(onShared(`REVOKE CREATE ON SCHEMA %I FROM "${name}"`));
      await remove('usable');
    } finally {
      await api.sql(onShared(`GRANT CREATE ON SCHEMA %I TO "${name}"`));
    }
  });

  it('creates no PostgreSQL schema for a table whose names are free in a shared one', async () => {
    await make('firstborn');
    await remove('firstborn');
    const before = await shared();
    await make('secondborn', [plain('number', 'integer', { is_indexed: true })]);
    await remove('secondborn');
    expect(await shared()).to.deep.equal(before);
    // PostgreSQL may choose any shared schema in which the names are free.
    for (const entry of (await trash()).slice(0, 2)) expect(entry.kept_in).to.be.a('number');
  });

  it('keeps tables with the same names, indexes, sequences or array types apart', async () => {
    const positions: number[] = [];
    for (const n of [1, 2]) {
      await make('twin', [plain('number', 'integer', { is_unique: true })]);
      await api.sql(`INSERT INTO twin (number) VALUES (${n})`);
      positions.push(await remove('twin'));
    }
    await make('sibling');
    await api.sql(`CREATE INDEX twin_pkey ON sibling (id)`);
    positions.push(await remove('sibling'));
    // This is PostgreSQL's name for the array type of "twin".
    await make('_twin');
    positions.push(await remove('_twin'));
    const places = (await trash()).slice(0, 4).map(({ kept_in }) => kept_in);
    expect(new Set(places.slice(1)).size, places.join()).to.equal(3);
    expect(places[0], places.join()).not.to.be.oneOf(places.slice(2));
    await api.ok('POST', `/trash/${positions[1]}/restore`);
    await api.ok('POST', `/trash/${positions[0]}/restore`, { as: 'elder' });
    expect(await api.sql('SELECT e.number AS elder, t.number AS twin FROM elder e, twin t')).to.deep.equal([
      { elder: 1, twin: 2 },
    ]);
    for (const position of positions.slice(2)) await api.ok('DELETE', `/trash/${position}`);
  });

  it('restores a table under a name that another table in the trash has', async () => {
    for (const name of ['ada', 'grace']) {
      await make(name, [plain('name', 'string', { is_unique: true })]);
      await api.sql(`INSERT INTO ${name} (name) VALUES ('${name}')`);
    }
    const [ada, grace] = [await remove('ada'), await remove('grace')];
    await api.ok('POST', `/trash/${ada}/restore`, { as: 'grace' });
    await api.ok('POST', `/trash/${grace}/restore`, { as: 'ada' });
    expect(await api.sql('SELECT a.name AS ada, g.name AS grace FROM ada a, grace g')).to.deep.equal([
      { ada: 'grace', grace: 'ada' },
    ]);
    expect(await api.sql(`SELECT FROM pg_namespace WHERE nspname ~ '^service_trash_[0-9]'`)).to.deep.equal([]);
  });

  it('never restores a table from the entry of another one of the same name', async () => {
    await make('namesake');
    const first = await remove('namesake');
    const [entry] = await trash();
    await api.sql(
      `DROP TABLE service_trash_s${entry?.kept_in}.namesake; DELETE FROM service.service_trash WHERE position = ${first}`,
    );
    await make('namesake', [plain('age', 'integer')]);
    await api.sql('INSERT INTO namesake (age) VALUES (7)');
    const second = await remove('namesake');
    const { data } = await api.ok<{ data: object }>('GET', '/projections/verify');
    expect(data).to.deep.include({ ok: true });
    const back = await api.ok<{ warnings: { code: string }[] }>('POST', `/trash/${first}/restore`, { as: 'empty' });
    expect(back.warnings.map(({ code }) => code)).to.deep.equal(['DATA_NOT_RESTORED']);
    await restore(second);
    expect(await api.sql('SELECT age FROM namesake')).to.deep.equal([{ age: 7 }]);
  });

  it('does not give the name of an open entry to an index of another table', async () => {
    await make('tags');
    const first = await remove('tags');
    const [entry] = await trash();
    await api.sql(`DROP TABLE service_trash_s${entry?.kept_in}.tags`);
    await make('labels');
    await api.sql('CREATE INDEX tags ON labels (id)');
    const second = await remove('labels');
    const [labels] = await trash();
    expect(labels?.kept_in).not.to.equal(entry?.kept_in);
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', `/trash/${first}/restore`);
    // An object that someone created by hand is not a table of the entry either.
    await api.sql(`CREATE SEQUENCE service_trash_s${entry?.kept_in}.tags`);
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', `/trash/${first}/restore`);
    await api.sql(`DROP SEQUENCE service_trash_s${entry?.kept_in}.tags`);
    for (const position of [first, second]) await api.ok('DELETE', `/trash/${position}`);
  });

  it('allows tables deleted together to be restored one by one in any order', async () => {
    await make('first', [plain('second', 'integer')]);
    await make('second', [plain('first', 'integer')]);
    await api.ok('POST', '/relations', { many_collection: 'first', many_field: 'second', one_collection: 'second' });
    await api.ok('POST', '/relations', { many_collection: 'second', many_field: 'first', one_collection: 'first' });
    await api.sql(
      'INSERT INTO first DEFAULT VALUES; INSERT INTO second (first) VALUES (1); UPDATE first SET second = 1',
    );
    await api.ok('POST', '/schema/apply', await dropping('first', 'second'));
    const [second, first] = (await trash()).slice(0, 2);
    expect([first?.collection, second?.collection]).to.have.members(['first', 'second']);
    const single = await restore(second!.position);
    expect(single.warnings).to.have.length(2);
    expect((await restore(first!.position)).warnings).to.equal(undefined);
    const relations = await api.ok<{ data: unknown[] }>('GET', '/relations');
    expect(relations.data).to.have.length(2);
    expect(await api.sql('SELECT second FROM first')).to.deep.equal([{ second: 1 }]);
  });

  it('drops immediately in an apply that asks for it', async () => {
    await make('unwanted');
    const before = (await trash()).length;
    await api.ok('POST', '/schema/apply?purge', await dropping('unwanted'));
    expect((await trash()).length).to.equal(before);
    await api.refused({ status: 400, code: 'INVALID_QUERY' }, 'DELETE', '/relations/a/b?purge');
    await api.refused({ status: 400, code: 'INVALID_QUERY' }, 'POST', '/collections?purge', {});
  });

  it('detaches partitions, and attaches them again after the table is restored', async () => {
    await api.sql(`CREATE TABLE measures (id int NOT NULL, at date NOT NULL, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
      CREATE TABLE measures_25 PARTITION OF measures FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
      CREATE TABLE measures_26 PARTITION OF measures FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
      INSERT INTO measures VALUES (1, '2025-05-05'), (2, '2026-06-06')`);
    await api.ok('POST', '/schema/adopt', { tables: ['measures', 'measures_25', 'measures_26'] });
    const one = await remove('measures_25');
    expect(await api.sql('SELECT id FROM measures')).to.deep.equal([{ id: 2 }]);
    await restore(one);
    expect(await api.sql('SELECT id FROM measures ORDER BY id')).to.deep.equal([{ id: 1 }, { id: 2 }]);
    await api.ok('POST', '/schema/apply', await dropping('measures', 'measures_25', 'measures_26'));
    const entries = await trash();
    const of = (name: string) => entries.find(({ collection }) => collection === name)?.position ?? 0;
    const child = await api.refused({ status: 409, code: 'IN_USE' }, 'POST', `/trash/${of('measures_25')}/restore`);
    expect(child.message).to.contain('restore that first');
    for (const name of ['measures', 'measures_25', 'measures_26']) await restore(of(name));
    expect(await api.sql('SELECT id FROM measures ORDER BY id')).to.deep.equal([{ id: 1 }, { id: 2 }]);
  });

  it('does not block deleting the owner of a sequence that the table uses', async () => {
    await api.sql(`CREATE TABLE counting (id serial PRIMARY KEY);
      CREATE TABLE counted (id int PRIMARY KEY DEFAULT nextval('counting_id_seq'), code text DEFAULT 'x' || nextval('counting_id_seq'));
      INSERT INTO counted DEFAULT VALUES`);
    await api.ok('POST', '/schema/adopt', { tables: ['counting', 'counted'] });
    await api.ok('POST', '/schema/apply', await dropping('counting', 'counted'));
    const entries = await trash();
    const of = (name: string) => entries.find(({ collection }) => collection === name)?.position ?? 0;
    await restore(of('counting'));
    await restore(of('counted'));
    await api.sql('INSERT INTO counted DEFAULT VALUES');
    expect(await api.sql('SELECT id FROM counted ORDER BY id')).to.deep.equal([{ id: 1 }, { id: 3 }]);
  });

  it('deletes a collection dropped by hand, and keeps nothing', async () => {
    await make('lost');
    await api.sql('DROP TABLE lost');
    const before = (await trash()).length;
    await api.ok('DELETE', '/collections/lost');
    expect((await trash()).length).to.equal(before);
    await make('robbed');
    const position = await remove('robbed');
    const [entry] = await trash();
    await api.sql(`DROP TABLE service_trash_s${entry?.kept_in}.robbed`);
    const gone = await api.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', `/trash/${position}/restore`);
    expect(gone.message).to.contain('dropped by hand');
    await api.ok('DELETE', `/trash/${position}`);
  });

  it('keeps and restores tables with any name', async () => {
    for (const name of ['a b', "it's", '"', 'Ü\\', 'select', '__proto__', 'constructor', '%s%I$1', 'x'.repeat(63)]) {
      await make(name, [
        plain('__proto__', 'string'),
        plain('to"string', 'integer', { is_unique: true, is_indexed: true }),
      ]);
      await api.sql(`INSERT INTO "${name.replaceAll('"', '""')}" ("__proto__") VALUES ('x')`);
      const position = await remove(name);
      await restore(position);
      const again = await remove(name);
      await api.ok('POST', `/trash/${again}/restore`, { as: `${name.slice(0, 50)} 2` });
    }
  });

  it('is visible to auditors and changed by admins', async () => {
    const user = await api.ok<{ data: { id: string } }>('POST', '/users', { email: 'a@example.com', role: 'auditor' });
    const created = await api.ok<{ data: { token: string } }>('POST', `/users/${user.data.id}/tokens`, {
      name: 'test',
    });
    const { token } = created.data;
    await make('guarded_entry');
    const position = await remove('guarded_entry');
    const statusOf = async (method: string, path: string) => (await api.client(path, { method, token })).status;
    expect(await statusOf('GET', '/trash')).to.equal(200);
    expect(await statusOf('GET', `/trash/${position}`)).to.equal(200);
    expect(await statusOf('POST', `/trash/${position}/restore`)).to.equal(403);
    expect(await statusOf('POST', `/trash/${position}/restore?dry_run`)).to.equal(403);
    expect(await statusOf('DELETE', `/trash/${position}`)).to.equal(403);
    expect(await statusOf('GET', '/trash/0')).to.equal(400);
    expect(await statusOf('GET', '/trash/999999')).to.equal(404);
  });

  it('detaches a partition of a referenced table, unless rows reference its rows', async () => {
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);
      CREATE TABLE other PARTITION OF parts FOR VALUES FROM (10) TO (19);
      CREATE TABLE users_of_parts (id int PRIMARY KEY, part int REFERENCES parts);
      INSERT INTO parts VALUES (1), (11); INSERT INTO users_of_parts VALUES (1, 1)`);
    await api.ok('POST', '/schema/adopt', { tables: ['parts', 'part', 'other', 'users_of_parts'] });
    for (const path of ['/collections/part', '/collections/part?purge']) {
      const { message } = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'DELETE', path);
      expect(message).to.contain('detach partition part from parts: rows of table "users_of_parts" violate');
    }
    const position = await remove('other');
    await restore(position);
    expect(await api.sql('SELECT id FROM parts ORDER BY id')).to.deep.equal([{ id: 1 }, { id: 11 }]);
    await api.ok('DELETE', '/collections/other?purge');
    expect(await api.sql('SELECT id FROM parts')).to.deep.equal([{ id: 1 }]);
  });
});
