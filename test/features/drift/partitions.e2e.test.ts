import { expect } from 'chai';
import pg from 'pg';
import { clientOf, json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { type TestService, startService } from '../../support/service.js';

const TABLES = [
  `CREATE TABLE base (id int PRIMARY KEY)`,
  `CREATE TABLE kid () INHERITS (base)`,
  `CREATE SCHEMA oth`,
  `CREATE TABLE parents (id int PRIMARY KEY, a int, b int)`,
  `CREATE TABLE children () INHERITS (parents)`,
  `CREATE TABLE pp (k int) PARTITION BY LIST (k)`,
  `CREATE TABLE oth.pp1 PARTITION OF pp FOR VALUES IN (1)`,
  `CREATE TABLE par (id int PRIMARY KEY)`,
  `CREATE TABLE oth.chi () INHERITS (par)`,
  `CREATE TABLE pt (id int, d date NOT NULL) PARTITION BY RANGE (d)`,
  `CREATE TABLE pt_1 PARTITION OF pt FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')`,
  `CREATE TABLE pt_2 PARTITION OF pt FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') PARTITION BY LIST (id)`,
  `CREATE TABLE pt_2_all PARTITION OF pt_2 DEFAULT`,
  `INSERT INTO pt VALUES (1, '2020-05-05'), (2, '2021-05-05')`,
  `INSERT INTO kid VALUES (7)`,
];

describe('partitions and inherited children', () => {
  let service: TestService;
  let report: { not_represented: { table: string; code: string; name: string }[] };

  before(async () => {
    service = await startService();
    await sql(...TABLES);
    const reply = await clientOf(service)('/schema/adopt', json({ all: true }));
    expect(reply.status, reply.text).to.equal(200);
    report = JSON.parse(reply.text) as typeof report;
  });
  after(() => service.stop());

  const settings = (): Record<string, string> => ({ DATABASE_URL: service.databaseUrl });
  const remote = (): Record<string, string> => ({ DPS_URL: service.url, DPS_TOKEN: service.adminToken });

  async function query(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async function sql(...texts: string[]): Promise<void> {
    for (const text of texts) await query(text);
  }

  it('lists partitions and inherited children in other schemas when their parent is adopted', () => {
    const partitionNotes = report.not_represented.filter(({ code }) => /^(PARTITION|INHERITED_CHILD)_/.test(code));
    expect(partitionNotes.map(({ table, code, name }) => [table, code, name])).to.have.deep.members([
      ['par', 'INHERITED_CHILD_NOT_REPRESENTED', 'oth.chi'],
      ['pp', 'PARTITION_NOT_REPRESENTED', 'oth.pp1'],
    ]);
  });

  it('lists them as unmanaged in drift', async () => {
    const { code, out, err } = await dps(['drift', '--json'], settings());
    expect(code, err).to.equal(0);
    expect(JSON.parse(out)).to.have.deep.property('unmanaged', ['oth.chi', 'oth.pp1']);
  });

  it('rejects deleting a parent with a child in another schema, and names the reason', async () => {
    for (const [parent, reason] of [
      ['pp', /still has partitions/],
      ['par', /oth\.chi/],
    ] as const) {
      for (const query_ of ['', '?purge=true']) {
        const reply = await clientOf(service)(`/collections/${parent}${query_}`, { method: 'DELETE' });
        expect(reply.status, reply.text).to.be.oneOf([409, 422]);
        expect(reply.text).to.match(reason);
      }
    }
    expect(
      await query(`SELECT count(*)::int AS n FROM pg_class WHERE relname IN ('pp', 'pp1', 'par', 'chi')`),
    ).to.deep.equal([{ n: 4 }]);
  });

  it('refuses to keep an inherited child in the trash, gives the reason, and drops it with --purge', async () => {
    const refused = await clientOf(service)('/collections/kid', { method: 'DELETE' });
    expect(refused.status).to.equal(409);
    expect(refused.text)
      .to.contain('it inherits from base, whose queries would still return its rows')
      .and.contain('purge');
    const snapshot = JSON.parse((await clientOf(service)('/schema/snapshot')).text) as Snapshot;
    const without = JSON.stringify({
      ...snapshot,
      collections: snapshot.collections.filter(({ collection }) => collection !== 'kid'),
      fields: snapshot.fields.filter(({ collection }) => collection !== 'kid'),
    });
    const apply = ['apply', '-', '--allow-drop', 'kid', '--mode', 'mirror'];
    const kept = await dps(apply, remote(), { stdin: without });
    expect(kept.code).to.equal(2);
    expect(`${kept.out}${kept.err}`).to.contain('whose queries would still return its rows');
    const purged = await dps([...apply, '--purge'], remote(), { stdin: without });
    expect(purged.code, `${purged.out}\n${purged.err}`).to.equal(0);
    expect(await query(`SELECT to_regclass('kid') AS kid, (SELECT count(*)::int FROM base) AS n`)).to.deep.equal([
      { kid: null, n: 0 },
    ]);
  });

  it('drops a column that a managed child inherits with --purge only, and names the child', async () => {
    const snapshot = JSON.parse((await clientOf(service)('/schema/snapshot')).text) as Snapshot;
    const without = JSON.stringify({
      ...snapshot,
      fields: snapshot.fields.filter(({ collection, field }) => collection !== 'parents' || field !== 'a'),
    });
    const apply = ['apply', '-', '--allow-drop', 'parents.a', '--mode', 'mirror'];
    const kept = await dps(apply, remote(), { stdin: without });
    expect(kept.code).to.equal(2);
    expect(`${kept.out}${kept.err}`).to.contain('the table children inherits from it');
    const purged = await dps([...apply, '--purge'], remote(), { stdin: without });
    expect(purged.code, `${purged.out}\n${purged.err}`).to.equal(0);
    const result = await dps(['drift'], settings());
    expect(result.code, result.out).to.equal(0);
  });

  for (const [title, [root, child, leaf]] of [
    ['in the order of their names', ['tree_a', 'tree_b', 'tree_c']],
    ['against the order of their names', ['tree_z', 'tree_y', 'tree_x']],
  ] as const)
    it(`deletes a tree of inherited tables with --purge, created ${title}`, async () => {
      await sql(
        `CREATE TABLE ${root} (id int PRIMARY KEY)`,
        `CREATE TABLE ${child} () INHERITS (${root})`,
        `CREATE TABLE ${leaf} () INHERITS (${child})`,
      );
      const client = clientOf(service);
      const names = [root, child, leaf];
      const { json: before } = await client('/schema/snapshot');
      const adopted = await client('/schema/adopt', json({ tables: names }));
      expect(adopted.status, adopted.text).to.equal(200);
      const allowed = names.flatMap((name) => ['--allow-drop', name]);
      const apply = ['apply', '-', ...allowed, '--mode', 'mirror', '--purge'];
      const purged = await dps(apply, remote(), { stdin: JSON.stringify(before) });
      expect(purged.code, `${purged.out}\n${purged.err}`).to.equal(0);
      expect(await query(`SELECT relname FROM pg_class WHERE relname LIKE 'tree_%'`)).to.deep.equal([]);
    });

  it('repairs drift by dropping a column that others inherit with --purge only, and names them', async () => {
    await sql(
      `CREATE TABLE oth.deep () INHERITS (oth.chi)`,
      `ALTER TABLE par ADD COLUMN by_hand text`,
      `INSERT INTO oth.deep VALUES (1, 'kept')`,
    );
    const { json: drift } = await clientOf(service)('/schema/drift');
    const { tables } = drift as { tables: { differences: { repair: { database: object[] } }[] }[] };
    expect(tables[0]?.differences[0]?.repair.database).to.have.lengthOf(1);
    expect(tables[0]?.differences[0]?.repair.database[0]).to.deep.include({
      drops: true,
      inherited_by: ['oth.chi', 'oth.deep'],
    });
    const repair = ['drift', '--repair', '--allow-drop'];
    const refused = await dps(repair, settings());
    expect(refused.code, refused.out).to.equal(1);
    expect(refused.out)
      .to.contain('the tables oth.chi, oth.deep inherit from it')
      .and.contain('repeat the repair with "--purge"')
      .and.contain('(drops, including from oth.chi, oth.deep)');
    expect(await query('SELECT by_hand FROM par')).to.deep.equal([{ by_hand: 'kept' }]);
    const repaired = await dps([...repair, '--purge'], settings());
    expect(repaired.code, repaired.out).to.equal(0);
    expect(await query(`SELECT * FROM oth.deep`)).to.deep.equal([{ id: 1 }]);
  });

  interface Snapshot {
    collections: { collection: string }[];
    fields: { collection: string; field: string }[];
  }

  for (const [what, partition, parent] of [
    ['a partition', 'pt_1', 'pt'],
    ['a nested partition', 'pt_2_all', 'pt_2'],
  ] as const) {
    it(`deletes ${what} that was detached by hand, and restores it as a partition with its rows`, async () => {
      const rows = await query(`SELECT * FROM ${partition}`);
      await sql(`ALTER TABLE ${parent} DETACH PARTITION ${partition}`);
      const accepted = await dps(['drift', '--accept', partition], settings());
      expect(accepted.code).to.equal(1);
      expect(accepted.out).to.contain(`it is no longer attached to "${parent}"`).and.contain('dps drift --repair');
      const deleted = await clientOf(service)(`/collections/${partition}`, { method: 'DELETE' });
      expect(deleted.status, deleted.text).to.equal(204);
      const entry = JSON.parse((await clientOf(service)('/trash')).text) as { data: { position: number }[] };
      const position = entry.data.at(0)?.position;
      const restored = await clientOf(service)(`/trash/${position}/restore`, json({}));
      expect(restored.status, restored.text).to.be.oneOf([200, 204]);
      expect(await query(`SELECT * FROM ${partition}`)).to.deep.equal(rows);
      expect(
        await query(
          `SELECT inhparent::regclass::text AS parent FROM pg_inherits WHERE inhrelid = '${partition}'::regclass`,
        ),
      ).to.deep.equal([{ parent }]);
      expect((await dps(['drift'], settings())).code).to.equal(0);
    });

    it(`attaches ${what} that was detached by hand with drift --repair`, async () => {
      await sql(`ALTER TABLE ${parent} DETACH PARTITION ${partition}`);
      const { code, out, err } = await dps(['drift', '--repair'], settings());
      expect(code, `${out}\n${err}`).to.equal(0);
    });
  }
});
