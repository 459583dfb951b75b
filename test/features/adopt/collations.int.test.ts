import { runToEnd } from '../../../src/kernel/resumable.js';
import { expect } from 'chai';
import type { Outcome } from '../../../src/pipeline/index.js';
import { scriptOf } from '../../../src/reads/history/index.js';
import { findDrift } from '../../../src/features/drift/find.js';
import { repairDrift } from '../../../src/features/drift/repair.js';
import { testServer } from '../../support/postgres.js';
import { catalogText } from '../../support/catalog-text.js';
import {
  type AdoptFixture,
  adopt,
  expectReplayed,
  expectVerified,
  promote,
  roundTrip,
  runSql,
  startAdoptFixture,
  tryPromoting,
} from './round-trip.js';

const COLLATIONS = `
  CREATE COLLATION german (PROVIDER = icu, LOCALE = 'de-u-kn-true');
  CREATE COLLATION "it's \\ ""any"" case" (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
  CREATE COLLATION plain (PROVIDER = libc, LOCALE = 'C');
  CREATE COLLATION mixed (PROVIDER = libc, LC_COLLATE = 'C', LC_CTYPE = 'POSIX');
  CREATE COLLATION in_domain (PROVIDER = icu, LOCALE = 'fr');
  CREATE COLLATION in_check (PROVIDER = icu, LOCALE = 'it');
  CREATE COLLATION in_index (PROVIDER = icu, LOCALE = 'es');
  CREATE COLLATION in_key (PROVIDER = icu, LOCALE = 'sv');
  CREATE COLLATION unused (PROVIDER = icu, LOCALE = 'fi');`;

const TABLES = `
  CREATE DOMAIN d AS text COLLATE in_domain CHECK (VALUE < 'z' COLLATE in_check);
  CREATE TABLE t (id integer PRIMARY KEY, a text COLLATE german, b varchar(9) COLLATE "it's \\ ""any"" case" UNIQUE,
    c text[] COLLATE plain, e text, f d[], g text GENERATED ALWAYS AS (upper(e COLLATE mixed)) STORED);
  CREATE INDEX t_a ON t (a); CREATE INDEX t_e ON t (e COLLATE in_index);
  CREATE TABLE k (e text) PARTITION BY RANGE (e COLLATE in_key);
  CREATE TABLE k1 PARTITION OF k FOR VALUES FROM ('a') TO ('b')`;

describe('collations of adopted tables', () => {
  const fixtures: AdoptFixture[] = [];
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) await fixture.stop();
  });

  async function start(sql?: string): Promise<AdoptFixture> {
    const fixture = await startAdoptFixture(sql);
    fixtures.push(fixture);
    if (sql !== undefined) await adopt(fixture.instance);
    return fixture;
  }

  const faults = (outcome: Outcome): string[] =>
    outcome.kind === 'refused' ? outcome.problems.map(({ code, message }) => `${code} ${message}`) : [];

  it('are created if missing, with a provider of this server', async () => {
    const { majorVersion } = await testServer();
    const newer = [
      majorVersion >= 16 ? `CREATE COLLATION rules (PROVIDER = icu, LOCALE = 'de', RULES = '&a < g');` : '',
      majorVersion >= 17 ? `CREATE COLLATION own (PROVIDER = builtin, LOCALE = 'C.UTF-8');` : '',
    ];
    const columns = [
      majorVersion >= 16 ? ', r text COLLATE rules' : '',
      majorVersion >= 17 ? ', o text COLLATE own' : '',
    ];
    const { adoption } = await roundTrip(
      `${COLLATIONS}${newer.join('')}${TABLES}; CREATE TABLE n (id integer${columns.join('')})`,
    );
    expect(adoption.notRepresented.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(['collation unused']);
  });

  it('are replayed and exported as SQL', async () => {
    const { instance } = await start(COLLATIONS.replace(/CREATE COLLATION unused.*/, '') + TABLES);
    await expectReplayed(instance);
    const exported = await startAdoptFixture();
    fixtures.push(exported);
    await runSql(
      exported.database,
      runToEnd(scriptOf(instance.store.point(), { schema: 'public', serviceSchema: 'service' })).toString(),
    );
    expect(await catalogText(exported.instance.pool)).to.deep.equal(await catalogText(instance.pool));
  });

  it('are compared when the log first contains them', async () => {
    const source = await start(`CREATE COLLATION c (PROVIDER = icu, LOCALE = 'de'); CREATE TABLE t (a text COLLATE c)`);
    const same = await startAdoptFixture(`CREATE COLLATION c (PROVIDER = icu, LOCALE = 'de')`);
    const other = await startAdoptFixture(`CREATE COLLATION c (PROVIDER = icu, LOCALE = 'fr')`);
    fixtures.push(same, other);
    await promote(source.instance, same.instance);
    await expectVerified(same.instance);
    const before = await catalogText(other.instance.pool);
    const [fault] = faults(await tryPromoting(source.instance, other.instance));
    expect(fault).to.match(/^ALREADY_EXISTS .*ensure that collation c exists: it already exists, as \{"locale": "fr"/);
    expect(await catalogText(other.instance.pool)).to.deep.equal(before);
  });

  it('are not drift if only their spelling differs', async function () {
    // Earlier releases of PostgreSQL kept the ICU locale as written.
    if ((await testServer()).majorVersion < 16) this.skip();
    const { instance } = await start('CREATE TABLE t (id integer PRIMARY KEY)');
    const needs = [{ kind: 'collation', name: 'c', provider: 'icu', locale: 'de_DE' }];
    const outcome = await tryPromoting(instance, instance, {
      edit: ({ collections }) => Object.assign((collections[0] as { schema: object }).schema, { extras: { needs } }),
    });
    expect(faults(outcome)).to.deep.equal([]);
    await expectVerified(instance);
    await expectReplayed(instance);
  });

  it('are recreated after a manual drop', async () => {
    const { instance } = await start(
      `CREATE COLLATION c (PROVIDER = icu, LOCALE = 'de'); CREATE TABLE t (a text COLLATE c)`,
    );
    await instance.pool.query('ALTER TABLE t ALTER a TYPE text; DROP COLLATION c');
    const { pipeline, schema } = instance;
    const { tables } = await pipeline.underLock((client, { state }) => findDrift(client, state, { schema }));
    expect(tables[0]?.differences.map(({ member }) => member)).to.have.members(['collation', 'collation c']);
    const { drift } = await pipeline.underLock((client, { state }) =>
      repairDrift({ client, state, schema, allowDrop: false }),
    );
    expect(drift.ok).to.equal(true);
    await expectVerified(instance);
  });

  it('must exist if they are in another schema', async () => {
    const fixture =
      await startAdoptFixture(`CREATE SCHEMA elsewhere; CREATE COLLATION elsewhere.c (PROVIDER = icu, LOCALE = 'de');
      CREATE TABLE t (a text COLLATE elsewhere.c)`);
    fixtures.push(fixture);
    const { notRepresented } = await adopt(fixture.instance);
    expect(notRepresented.map(({ code }) => code)).to.deep.equal(['COLLATION_NEEDED']);
  });
});
