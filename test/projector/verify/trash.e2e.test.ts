import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withService } from '../../support/with-service.js';
import { createDatabase } from '../../support/postgres.js';
import { clientOf } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { startService } from '../../support/service.js';

const field = (name: string) => ({ field: name, type: 'string', schema: {}, meta: { interface: 'input' } });

describe('checks of the trash', () => {
  const { api, client, service } = withService({ each: true });

  /** A field's values and a table in the trash, with positions. */
  const given = async (): Promise<[number, number]> => {
    for (const collection of ['articles', 'authors'])
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [field('title'), field('body')] });
    await api.sql(`INSERT INTO articles (title) VALUES ('one'); INSERT INTO authors (title) VALUES ('two')`);
    await api.ok('DELETE', '/fields/articles/title');
    await api.ok('DELETE', '/collections/authors');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    return [data[1]!.position, data[0]!.position];
  };

  const verified = async () =>
    (await api.ok<{ data: { ok: boolean; differences: object[] } }>('GET', '/projections/verify')).data;

  const examined = async (): Promise<string[]> => {
    const { out } = await dps(['doctor', '--json'], { DATABASE_URL: service.databaseUrl });
    const { checks } = JSON.parse(out) as { checks: { findings: { code: string; message: string }[] }[] };
    return checks
      .flatMap(({ findings }) => findings)
      .filter(({ code }) => code.startsWith('TRASH'))
      .map(({ code, message }) => `${code} ${message}`);
  };

  it('verification and doctor report missing objects, and a purge removes their entries', async () => {
    const [values, table] = await given();
    expect(await verified()).to.include({ ok: true });
    expect(await examined()).to.deep.equal([]);
    await api.sql(`DROP SCHEMA service_trash_${values} CASCADE; DROP TABLE service_trash_s1.authors`);
    const { ok, differences } = await verified();
    expect(ok).to.equal(false);
    expect(differences.map((each) => ({ ...each, expected: null }))).to.deep.equal([
      {
        where: 'trash',
        collection: 'articles',
        field: 'title',
        member: `position ${values}`,
        expected: null,
        found: null,
      },
      { where: 'trash', collection: 'authors', member: `position ${table}`, expected: null, found: null },
    ]);
    expect(await examined()).to.have.length(1);
    const gone = await client(`/trash/${values}/restore`, { method: 'POST' });
    expect([gone.status, gone.text.includes('dropped by hand')]).to.deep.equal([404, true]);
    for (const position of [values, table]) await api.ok('DELETE', `/trash/${position}`);
    expect(await verified()).to.include({ ok: true });
  });

  it('verification reports changed, missing and extra rows, and a rebuild fixes all', async () => {
    const [values, table] = await given();
    const list = async () => (await api.ok<{ data: unknown[] }>('GET', '/trash')).data;
    const before = await list();
    const CHANGES: [sql: string, members: string[]][] = [
      [`DELETE FROM service.service_trash WHERE position = ${values}`, [`position ${values}`]],
      [
        `UPDATE service.service_trash SET identity = '1.3' WHERE position = ${values}`,
        [`position ${values}, identity`],
      ],
      [`UPDATE service.service_trash SET identity = 'x' WHERE position = ${table}`, [`position ${table}, identity`]],
      [
        `UPDATE service.service_trash SET kept_until = kept_until + interval '1 day', batch = gen_random_uuid() WHERE position = ${table}`,
        [`position ${table}, batch`, `position ${table}, kept_until`],
      ],
      [
        `UPDATE service.service_trash SET collection = 'other', field = 'f', kind = 'field' WHERE position = ${table}`,
        [`position ${table}, collection`, `position ${table}, field`, `position ${table}, kind`],
      ],
      [
        `INSERT INTO service.service_trash SELECT 1, kind, 'phantom', field, identity, batch, deleted_at, kept_until FROM service.service_trash LIMIT 1`,
        ['position 1'],
      ],
      [`TRUNCATE service.service_trash`, [`position ${values}`, `position ${table}`]],
    ];
    for (const [sql, members] of CHANGES) {
      await api.sql(sql);
      const { ok, differences } = await verified();
      expect([ok, differences.map((each) => (each as { member: string }).member).sort()], sql).to.deep.equal([
        false,
        members,
      ]);
      const rebuilt = await api.ok<{ data: object }>('POST', '/projections/trash/rebuild');
      expect(rebuilt.data).to.include({ name: 'trash', entries: 2 });
      expect(await list(), sql).to.deep.equal(before);
      expect(await verified()).to.include({ ok: true });
    }
    // Without its row a table is still found, and restored with its rows.
    await api.sql(`TRUNCATE service.service_trash`);
    await api.ok('POST', `/trash/${table}/restore`);
    expect(await api.sql('SELECT title FROM authors')).to.deep.equal([{ title: 'two' }]);
    const ran = await dps(['rebuild', 'trash'], { DATABASE_URL: service.databaseUrl });
    expect([ran.code, ran.out]).to.deep.equal([0, `trash: at position ${await api.head()}, 1 entries.`]);
    await api.ok('POST', `/trash/${values}/restore`);
    // Objects that were dropped manually are removed from the list, and can be restored empty.
    await api.ok('DELETE', '/collections/authors');
    const [entry] = (await list()) as { position: number }[];
    await api.sql(`DROP TABLE service_trash_s1.authors`);
    expect((await api.ok<{ data: object }>('POST', '/projections/trash/rebuild')).data).to.include({ entries: 0 });
    expect(await verified()).to.include({ ok: true });
    const back = await api.ok<{ warnings: { code: string }[] }>('POST', `/trash/${entry!.position}/restore`);
    expect(back.warnings.map(({ code }) => code)).to.deep.equal(['DATA_NOT_RESTORED']);
    expect(await verified()).to.include({ ok: true });
  });

  it('doctor reports foreign objects in it, which adoption and drift ignore', async () => {
    const [values] = await given();
    await api.sql(
      `CREATE TABLE service_trash_${values}.by_hand (a int); CREATE SCHEMA service_trash_999; CREATE VIEW service_trash_999.v AS SELECT 1;
       CREATE VIEW service_trash_s1.odd AS SELECT 1`,
    );
    expect(await examined()).to.deep.equal([
      `TRASH_STRANGE The trash contains objects that the service did not create: "service_trash_${values}.by_hand", "service_trash_999", "service_trash_s1.odd".`,
    ]);
    expect(await verified()).to.include({ ok: true });
    const drift = await api.ok<{ data: { ok: boolean; tables: unknown[]; unmanaged: string[] } }>(
      'GET',
      '/schema/drift',
    );
    expect(drift).to.deep.include({ ok: true, tables: [], unmanaged: [] });
    const adopted = await api.ok<Record<string, unknown>>('POST', '/schema/adopt', { all: true });
    expect(JSON.stringify(adopted)).not.to.match(/by_hand|authors/);
  });

  it('a replay, an export and a backup have no trash, so restored objects are empty', async () => {
    const [values, table] = await given();
    await api.ok('POST', `/trash/${values}/restore`, {});
    await api.ok('POST', `/trash/${table}/restore`, { as: 'people' });
    await api.ok('DELETE', '/fields/articles/body');
    const later = (await api.ok<{ data: { position: number }[] }>('GET', '/trash')).data[0]!.position;
    const before = await client('/schema/snapshot');
    const sql = await client('/history/snapshot?export=sql');
    expect(sql.text).not.to.match(/_trash_/);
    const directory = await mkdtemp(join(tmpdir(), 'trash-'));
    const other = await createDatabase();
    try {
      const file = join(directory, 'backup.dps');
      const taken = await dps(['backup', file], { DATABASE_URL: service.databaseUrl });
      expect(taken.code, taken.err).to.equal(0);
      expect(taken.out + taken.err).to.contain(`trash: articles.body (position ${later})`);
      const restored = await dps(['restore', '--backup', file], { DATABASE_URL: other.connectionString });
      expect(restored.code, restored.err).to.equal(0);
      const second = await startService({ DATABASE_URL: other.connectionString });
      try {
        const ask = clientOf(second);
        expect((await ask('/schema/snapshot')).text).to.equal(before.text);
        expect((await ask('/trash')).json).to.deep.equal({ data: [] });
        const check = (await ask('/projections/verify')).json as { data: object };
        expect(check.data).to.include({ ok: true });
        expect((await ask(`/trash/${later}`)).status).to.equal(404);
        const back = await ask(`/history/diff?to=${later - 1}`);
        expect(back.text).to.contain('DATA_NOT_RESTORED').and.not.to.contain('"restores"');
      } finally {
        await second.stop();
      }
    } finally {
      await rm(directory, { recursive: true });
      await other.drop();
    }
  });
});
