import { expect } from 'chai';
import { replayInto } from '../../../src/cli/connections/projections.js';
import { readRecordPages } from '../../../src/log/read.js';
import type { Outcome } from '../../../src/pipeline/index.js';
import { findDrift } from '../../../src/features/drift/find.js';
import { repairDrift } from '../../../src/features/drift/repair.js';
import type { Need } from '../../../src/schema/model/extras.js';
import type { Collection } from '../../../src/schema/model/model.js';
import type { Problem } from '../../../src/kernel/problem.js';
import { CAUSE, command, expectDone, table } from '../../support/instance.js';
import { createDatabase } from '../../support/postgres.js';
import { catalogText } from '../../support/catalog-text.js';
import {
  type AdoptFixture,
  adopt,
  expectReplayed,
  expectVerified,
  promote,
  startAdoptFixture,
  tryPromoting,
} from './round-trip.js';

const MOOD: Need = { kind: 'enum', name: 'mood', labels: ['a'] };

describe('types and sequences shared by tables', () => {
  const fixtures: AdoptFixture[] = [];
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) await fixture.stop();
  });

  /** Adopts existing tables. */
  async function start(sql?: string): Promise<AdoptFixture['instance']> {
    const fixture = await startAdoptFixture(sql);
    fixtures.push(fixture);
    if (sql !== undefined) await adopt(fixture.instance);
    return fixture.instance;
  }

  /** Applies the instance's own snapshot with other needs of some tables. */
  async function withNeeds(
    instance: AdoptFixture['instance'],
    needs: { [collection: string]: Need[] },
  ): Promise<Outcome> {
    return tryPromoting(instance, instance, {
      edit: ({ collections }) => {
        for (const each of collections as Collection[]) {
          const input = needs[each.collection];
          if (input !== undefined && each.schema !== null) each.schema.extras = { ...each.schema.extras, needs: input };
        }
      },
    });
  }

  /** The errors of a rejected diff or apply. */
  async function errorsOf(promoting: Promise<Outcome>): Promise<string[]> {
    const problems = await promoting.then(
      (outcome) => (outcome.kind === 'refused' ? outcome.problems : []),
      (error: Error) => JSON.parse(error.message) as Problem[],
    );
    return problems.map(({ code, message }) => `${code} ${message}`);
  }

  const create = async ({ pipeline }: AdoptFixture['instance'], name: string): Promise<void> => {
    expectDone(await pipeline.apply('create-collection', table(name), { cause: CAUSE }));
  };

  for (const [what, between] of [
    ['at once', 0],
    ['much later', 70],
  ] as const) {
    it(`are replayed when a label was added and used ${what}`, async () => {
      const instance = await start(`CREATE TYPE mood AS ENUM ('a'); CREATE TABLE m (id integer PRIMARY KEY, m mood)`);
      for (let index = 0; index < between; index++) await create(instance, `t${index}`);
      expectDone(await withNeeds(instance, { m: [{ ...MOOD, labels: ['a', 'b'] }] }));
      const schema = { data_type: 'mood', extras: { default: `'b'::mood` } };
      const body = { field: 'm2', type: 'unknown', schema };
      expectDone(
        await instance.pipeline.apply(
          'create-field',
          command('create-field', { collection: 'm', body, concurrentIndexes: false }),
          {
            cause: CAUSE,
          },
        ),
      );
      await expectVerified(instance);
      await expectReplayed(instance);
    });
  }

  it('are equal in all of them', async () => {
    const instance = await start(`CREATE TYPE mood AS ENUM ('a'); CREATE TABLE m1 (id integer PRIMARY KEY, m mood);
      CREATE TABLE m2 (id integer PRIMARY KEY, m mood)`);
    const more: Need = { ...MOOD, labels: ['a', 'b'] };
    expect(await errorsOf(withNeeds(instance, { m1: [more] }))).to.deep.equal([
      'INVALID_PAYLOAD enum "mood" differs from the definition in "m2". Every table must define it in the same way',
    ]);
    expect(await errorsOf(withNeeds(instance, { m2: [MOOD, more] }))).to.deep.equal([
      'INVALID_PAYLOAD enum "mood" is listed twice',
    ]);
    expectDone(await withNeeds(instance, { m1: [more], m2: [more] }));
    await expectVerified(instance);
    await expectReplayed(instance);
  });

  it('are updated in all of them when one is adopted later', async () => {
    const instance = await start(`CREATE TYPE mood AS ENUM ('a'); CREATE SEQUENCE q; CREATE DOMAIN d AS integer;
      CREATE TABLE m1 (id integer PRIMARY KEY DEFAULT nextval('q'), m mood, d d); ALTER SEQUENCE q OWNED BY m1.id`);
    await instance.pool.query(`ALTER TYPE mood ADD VALUE 'b'`);
    await instance.pool.query(`ALTER DOMAIN d ADD CONSTRAINT small CHECK (VALUE < 9); ALTER SEQUENCE q INCREMENT 2;
      CREATE TABLE m2 (id integer PRIMARY KEY DEFAULT nextval('q'), m mood, d d); ALTER SEQUENCE q OWNED BY m2.id`);
    await adopt(instance);
    await expectVerified(instance);
    await expectReplayed(instance);
  });

  it('include a sequence owned by a column of one', async () => {
    const instance =
      await start(`CREATE SEQUENCE q; CREATE TABLE a (id integer PRIMARY KEY, q integer DEFAULT nextval('q'));
      CREATE TABLE m (id integer PRIMARY KEY, b integer DEFAULT nextval('q')); ALTER SEQUENCE q OWNED BY m.b`);
    const q: Need = { kind: 'sequence', name: 'q' };
    expect(await errorsOf(withNeeds(instance, { a: [{ ...q, owned_by: 'q' }] }))).to.deep.equal([
      'INVALID_PAYLOAD sequence "q" is already owned by a column of "m"',
    ]);
    for (const needs of [
      { a: [{ ...q, owned_by: 'q' }], m: [q] },
      { a: [q], m: [{ ...q, owned_by: 'b' }] },
      { a: [q], m: [q] },
    ]) {
      expectDone(await withNeeds(instance, needs));
      await expectVerified(instance);
    }
    await expectReplayed(instance);
  });

  it("do not include the service's own sequences in its own schema", async () => {
    const instance = await start('CREATE TABLE m (id integer PRIMARY KEY, a integer)');
    const name = 'service_divergences_id_seq';
    expectDone(await withNeeds(instance, { m: [{ kind: 'sequence', name }] }));
    await expectVerified(instance);
  });

  it('are not removed from a table that uses them', async () => {
    const instance = await start('CREATE TABLE m (id integer PRIMARY KEY, a integer)');
    await instance.pool.query('CREATE TABLE n (id serial); CREATE TABLE o (id integer GENERATED ALWAYS AS IDENTITY)');
    for (const name of ['n_id_seq', 'o_id_seq']) {
      const [fault] = await errorsOf(
        withNeeds(instance, { m: [{ kind: 'sequence', name, type: 'integer', owned_by: 'a' }] }),
      );
      expect(fault).to.include(
        `ensure that sequence ${name} exists: it already exists, and is owned by a column of ${name[0]}`,
      );
    }
    await expectVerified(instance);
  });

  it('are changed once, whichever table comes first', async () => {
    const types = (labels: string) =>
      `CREATE TYPE mood AS ENUM (${labels}); CREATE TABLE m (id integer PRIMARY KEY, m mood)`;
    for (const fresh of ['aa', 'zz']) {
      const target = await start(`${types(`'a'`)}; CREATE TABLE nn (id integer PRIMARY KEY)`);
      const source = await start(`${types(`'a', 'b'`)}; CREATE TABLE nn (id integer PRIMARY KEY, m mood);
        CREATE TABLE ${fresh} (id integer PRIMARY KEY, m mood)`);
      await promote(source, target);
      await expectVerified(target);
      await expectReplayed(target);
    }
    const target = await start(types(`'a'`));
    await promote(
      await start(`CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE n (id integer PRIMARY KEY, m mood)`),
      target,
    );
    await expectVerified(target);
  });

  it('differ after a replay of every event, and only then, if they were recreated by hand', async () => {
    const instance = await start(
      `CREATE TYPE mood AS ENUM ('a', 'b'); CREATE TABLE m (id integer PRIMARY KEY, m mood)`,
    );
    await instance.pool.query(`ALTER TYPE mood RENAME TO old; CREATE TYPE mood AS ENUM ('a');
      ALTER TABLE m ALTER m TYPE mood USING m::text::mood; DROP TYPE old`);
    expectDone(await withNeeds(instance, { m: [MOOD] }));
    await expectVerified(instance);
    const groups: string[][] = [];
    for (const tables of ['every-event', 'end-state'] as const) {
      const target = await createDatabase();
      const pages = readRecordPages(instance.pool, { after: 0 });
      const { connectionString } = target;
      const { verification } = await replayInto({
        connectionString,
        schema: 'public',
        serviceSchema: 'service',
        pages,
        tables,
      });
      groups.push(verification.differences.map(({ member }) => member));
      await target.drop();
    }
    expect(groups).to.deep.equal([['enum mood'], []]);
  });

  it('are recreated after a manual drop', async () => {
    const instance = await start(`CREATE TYPE mood AS ENUM ('a'); CREATE DOMAIN d AS integer;
      CREATE TABLE m (id integer PRIMARY KEY, m mood, d d)`);
    const body = { collection: 'm', field: 'd' };
    // The copy in the trash would still use the domain.
    const request = { cause: CAUSE, purge: true };
    expectDone(await instance.pipeline.apply('delete-field', command('delete-field', body), request));
    await instance.pool.query('DROP TYPE mood CASCADE; DROP DOMAIN d');
    const { pipeline, schema } = instance;
    const { tables } = await pipeline.underLock((client, { state }) => findDrift(client, state, { schema }));
    const members = tables.flatMap(({ differences }) => differences.map(({ member }) => member));
    expect(members).to.have.members(['column', 'enum mood', 'domain d']);
    const { drift } = await pipeline.underLock((client, { state }) =>
      repairDrift({ client, state, schema, allowDrop: false }),
    );
    expect(drift.ok).to.equal(true);
    await expectVerified(instance);
  });

  it('are not drift if only their spelling differs', async () => {
    const instance = await start(
      `CREATE DOMAIN d AS integer CHECK (VALUE > 0); CREATE TABLE m (id integer PRIMARY KEY, d d)`,
    );
    const checks = [{ name: 'd_check', definition: 'CHECK (VALUE>1)' }];
    expectDone(
      await withNeeds(instance, { m: [{ kind: 'domain', name: 'd', type: 'integer', default: '1+1', checks }] }),
    );
    await expectVerified(instance);
    await expectReplayed(instance);
    await instance.pool.query('ALTER DOMAIN d SET DEFAULT 3');
    const { schema } = instance;
    const { tables } = await instance.pipeline.underLock((client, { state }) => findDrift(client, state, { schema }));
    expect(tables[0]?.differences.map(({ member }) => member)).to.deep.equal(['domain d']);
  });

  it('may be domains over arrays', async () => {
    const source = await start(`CREATE DOMAIN ts AS timestamp(2) with time zone[]; CREATE TYPE e AS ENUM ('a');
      CREATE DOMAIN es AS e[] CHECK (cardinality(VALUE) < 9); CREATE TABLE m (id integer PRIMARY KEY, a ts, b es, c es[])`);
    const target = await start();
    await promote(source, target);
    await expectVerified(target);
    expect(await catalogText(target.pool)).to.deep.equal(await catalogText(source.pool));
    await expectReplayed(source);
  });

  it("work with a partition created after its parent's foreign key", async () => {
    const tables = `CREATE TABLE par (a integer, b integer, PRIMARY KEY (a, b));
      CREATE TABLE kid (id integer, p integer, q integer, FOREIGN KEY (p, q) REFERENCES par) PARTITION BY RANGE (id)`;
    const partition = 'CREATE TABLE kid_1 PARTITION OF kid FOR VALUES FROM (1) TO (2)';
    const [source, target] = [await start(tables), await start()];
    await promote(source, target);
    for (let index = 0; index < 60; index++) await create(source, `t${index}`);
    await source.pool.query(partition);
    await adopt(source);
    await promote(source, target);
    await expectVerified(target);
    expect(await catalogText(target.pool)).to.deep.equal(await catalogText(source.pool));
    await expectReplayed(source);
  });
});
