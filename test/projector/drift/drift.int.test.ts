import { expect } from 'chai';
import { findDrift } from '../../../src/projector/drift/find.js';
import type { Drift, TableDrift } from '../../../src/projector/drift/model.js';
import { type Repaired, repairDrift } from '../../../src/projector/drift/repair.js';
import { type Bench, adopt, expectVerified, startBench } from '../../adopt/round-trip.js';
import { HARD_SCHEMA } from '../../adopt/hard-schema.js';
import { catalogText } from '../../adopt/catalog-text.js';
import { testServer } from '../../support/postgres.js';
import { CAUSE, command, done, field, table } from '../../pipeline/instance.js';

const OURS = [
  field('title', 'string', { is_nullable: false, default_value: 'untitled' }),
  field('slug', 'string', { is_unique: true }),
  field('views', 'integer', { is_indexed: true, default_value: 0 }),
  field('author', 'integer'),
  field('twice', 'integer', { generation_expression: 'views * 2' }),
];

describe('drift', function () {
  this.timeout(60_000);
  let bench: Bench;

  beforeEach(async () => {
    bench = await startBench();
    const { pipeline } = bench.instance;
    done(await pipeline.execute('create-collection', table('authors'), { cause: CAUSE }));
    done(await pipeline.execute('create-collection', table('articles', OURS), { cause: CAUSE }));
    const body = { many_collection: 'articles', many_field: 'author', one_collection: 'authors' };
    done(await pipeline.execute('create-relation', command('create-relation', { body }), { cause: CAUSE }));
  });

  afterEach(() => bench.stop());

  const drift = (): Promise<Drift> => {
    const { pipeline, schema } = bench.instance;
    return pipeline.underLock((client, { state }) => findDrift(client, state, schema));
  };
  const repair = (allowDrop = false): Promise<Repaired> => {
    const { pipeline, schema } = bench.instance;
    return pipeline.underLock((client, { state }) => repairDrift({ client, state, schema, allowDrop }));
  };
  const byHand = (text: string) => bench.instance.pool.query(text);

  /** Each difference as `field member`, of the one table that differs. */
  async function found(): Promise<{ table: TableDrift; named: string[] }> {
    const { tables } = await drift();
    expect(tables, JSON.stringify(tables, null, 1)).to.have.length(1);
    const [only] = tables as [TableDrift];
    return { table: only, named: only.differences.map(({ field: name, member }) => `${name ?? '-'} ${member}`) };
  }

  /** Done by hand, found and named, and gone after the repair. */
  async function foundAndRepaired(text: string, named: string[], allowDrop = false): Promise<TableDrift> {
    const before = await catalogText(bench.instance.pool);
    await byHand(text);
    const { table: only, named: names } = await found();
    expect(names).to.deep.equal(named);
    const repaired = await repair(allowDrop);
    expect(repaired.drift.ok, JSON.stringify(repaired, null, 1)).to.equal(true);
    await expectVerified(bench.instance);
    expect((await catalogText(bench.instance.pool)).map(unnumbered).sort()).to.deep.equal(
      before.map(unnumbered).sort(),
    );
    return only;
  }

  it('is none where nobody did anything', async () => {
    await byHand('CREATE TABLE beside (id integer)');
    expect(await drift()).to.deep.equal({ ok: true, tables: [], unmanaged: ['beside'] });
  });

  it('finds a column added, and drops it only when told to', async () => {
    await byHand('ALTER TABLE articles ADD COLUMN extra text');
    const { table: only, named } = await found();
    expect(named).to.deep.equal(['extra column']);
    const [difference] = only.differences;
    expect(difference?.repair.log.map(({ type, field: name }) => `${type} ${name}`)).to.deep.equal([
      'field.created extra',
    ]);
    const careful = await repair();
    expect(careful.made).to.deep.equal([]);
    expect(careful.left.map(({ reason }) => reason)).to.deep.equal(['it drops something']);
    expect((await repair(true)).drift.ok).to.equal(true);
  });

  it('finds a column dropped', async () => {
    await foundAndRepaired('ALTER TABLE articles DROP COLUMN slug', [
      'slug column',
      'slug constraint articles_slug_unique',
    ]);
  });

  it('finds a type changed', async () => {
    const only = await foundAndRepaired('ALTER TABLE articles ALTER COLUMN title TYPE text', [
      'title schema.data_type',
    ]);
    expect(only.differences[0]).to.include({ expected: 'character varying(255)', found: 'text' });
    expect(only.differences[0]?.repair.log.map(({ type }) => type)).to.deep.equal(['field.updated']);
  });

  it('finds an index dropped', async () => {
    await foundAndRepaired('DROP INDEX articles_views_index', ['views index articles_views_index']);
  });

  it('finds an index added', async () => {
    await foundAndRepaired('CREATE INDEX by_hand ON articles (lower(title))', ['- index by_hand'], true);
  });

  it('finds a table renamed, and names the one it probably is', async () => {
    const only = await foundAndRepaired('ALTER TABLE articles RENAME TO posts', ['- table']);
    expect(only).to.include({ kind: 'missing', renamed_to: 'posts' });
    expect(only.differences[0]?.repair.database.map(({ sql }) => sql)).to.deep.equal([
      'ALTER TABLE "public"."posts" RENAME TO "articles"',
    ]);
    expect(only.differences[0]?.repair.log.map(({ type }) => type)).to.include.members([
      'collection.deleted',
      'collection.adopted',
    ]);
  });

  it("takes over nobody's table for a renamed one", async () => {
    const columns = 'id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY';
    const tables = async () => (await drift()).unmanaged;
    await byHand(`CREATE TABLE somebodys (${columns})`);
    const only = await foundAndRepairedBeside('DROP TABLE authors CASCADE');
    expect(only).not.to.have.property('renamed_to');
    expect(await tables()).to.deep.equal(['somebodys']);
    await byHand('CREATE TABLE copied (LIKE authors INCLUDING ALL); DROP TABLE somebodys');
    expect(await foundAndRepairedBeside('DROP TABLE authors CASCADE')).not.to.have.property('renamed_to');
    await byHand('ALTER TABLE authors RENAME TO people');
    // Two look alike: nobody can tell.
    expect((await drift()).tables[0]).not.to.have.property('renamed_to');
    await byHand('DROP TABLE copied');
    expect((await drift()).tables[0]).to.include({ renamed_to: 'people' });
    expect((await repair()).drift).to.deep.equal({ ok: true, tables: [], unmanaged: [] });
  });

  /** Of `authors`, and without its foreign key. */
  async function foundAndRepairedBeside(text: string): Promise<TableDrift | undefined> {
    await byHand(text);
    const only = (await drift()).tables.find(({ table: name }) => name === 'authors');
    const { drift: after } = await repair();
    expect(after.ok, JSON.stringify(after, null, 1)).to.equal(true);
    return only;
  }

  it('finds a column renamed, and names the one it probably is', async () => {
    const only = await foundAndRepaired(
      'ALTER TABLE articles RENAME COLUMN slug TO handle',
      ['slug column', 'slug constraint articles_slug_unique', 'handle constraint articles_slug_unique'].slice(0, 2),
    );
    expect(only.differences[0]).to.include({ field: 'slug', renamed_to: 'handle' });
  });

  it('finds a table dropped', async () => {
    const only = await foundAndRepaired('DROP TABLE articles', ['- table']);
    expect(only).to.include({ kind: 'missing' });
    expect(only).not.to.have.property('renamed_to');
  });

  it('finds a default changed', async () => {
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN views SET DEFAULT 7', ['views schema.default_value']);
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN title DROP DEFAULT', ['title schema.default_value']);
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN views SET DEFAULT (random() * 10)::int', [
      'views schema.default_value',
    ]);
  });

  it('finds nullability changed', async () => {
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN title DROP NOT NULL', ['title schema.is_nullable']);
  });

  it('finds a constraint dropped', async () => {
    await foundAndRepaired('ALTER TABLE articles DROP CONSTRAINT articles_slug_unique', [
      'slug constraint articles_slug_unique',
    ]);
    await foundAndRepaired('ALTER TABLE articles DROP CONSTRAINT articles_author_foreign', [
      'author constraint articles_author_foreign',
    ]);
    await foundAndRepaired('ALTER TABLE articles DROP CONSTRAINT articles_pkey', ['id constraint articles_pkey']);
  });

  it('finds comments and generated columns changed', async () => {
    await foundAndRepaired(`COMMENT ON TABLE articles IS 'by hand'`, ['- schema.comment']);
    const plain = 'ALTER TABLE articles ALTER COLUMN twice DROP EXPRESSION';
    await foundAndRepaired(plain, ['twice schema.generation_expression'], true);
  });

  it('finds the same in adopted tables', async function () {
    if ((await testServer()).majorVersion < 15) this.skip();
    await byHand(HARD_SCHEMA);
    await adopt(bench.instance);
    await foundAndRepaired('DROP INDEX fuzzy', ['- index fuzzy']);
    await foundAndRepaired('ALTER TABLE pairs DROP CONSTRAINT both_of_them', ['- constraint both_of_them']);
    const onlyA = 'ALTER TABLE pairs DROP CONSTRAINT both_of_them; ALTER TABLE pairs ADD PRIMARY KEY (a)';
    await foundAndRepaired(onlyA, ['- constraint both_of_them', 'a constraint pairs_pkey'], true);
    await foundAndRepaired('ALTER TABLE "Or ders" DROP CONSTRAINT only_few', ['- constraint only_few']);
    await foundAndRepaired('ALTER TABLE lines DROP CONSTRAINT to_order', ['- constraint to_order']);
    await foundAndRepaired('ALTER TABLE lines DROP CONSTRAINT short_name_key', [
      'short_name constraint short_name_key',
    ]);
    await foundAndRepaired('ALTER TABLE "Or ders" ALTER COLUMN at DROP DEFAULT', ['at schema.default_value']);
    await foundAndRepaired('ALTER TABLE no_key ALTER COLUMN b TYPE varchar(5)', ['b schema.data_type']);
    await foundAndRepaired('ALTER TABLE counters ALTER COLUMN id SET GENERATED BY DEFAULT', [
      'id schema.has_auto_increment',
    ]);
    await foundAndRepaired('ALTER TABLE lines RENAME TO rows', ['- table']);
  });
});

/** A column that was dropped and made again stands last. */
const unnumbered = (line: string): string => line.replace(/ #\d+ /, ' ');
