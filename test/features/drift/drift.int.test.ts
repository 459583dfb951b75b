import { expect } from 'chai';
import { findDrift } from '../../../src/features/drift/find.js';
import type { Drift, TableDrift } from '../../../src/features/drift/model.js';
import { type RepairResult, repairDrift } from '../../../src/features/drift/repair.js';
import { type AdoptFixture, adopt, expectVerified, startAdoptFixture } from '../adopt/round-trip.js';
import { HARD_SCHEMA } from '../adopt/hard-schema.js';
import { catalogText } from '../../support/catalog-text.js';
import { testServer } from '../../support/postgres.js';
import { CAUSE, command, expectDone, field, table } from '../../support/instance.js';

const OURS = [
  field('title', 'string', { is_nullable: false, default_value: 'untitled' }),
  field('slug', 'string', { is_unique: true }),
  field('views', 'integer', { is_indexed: true, default_value: 0 }),
  field('author', 'integer'),
  field('twice', 'integer', { generation_expression: 'views * 2' }),
];

const NO_UNIQUE =
  'ALTER TABLE articles DROP CONSTRAINT articles_slug_unique; ALTER TABLE articles ADD CONSTRAINT articles_slug_unique';
const NO_KEY = 'ALTER TABLE articles DROP CONSTRAINT articles_pkey; ALTER TABLE articles ADD CONSTRAINT articles_pkey';
const NO_FOREIGN = `ALTER TABLE articles DROP CONSTRAINT articles_author_foreign;
  ALTER TABLE articles ADD CONSTRAINT articles_author_foreign`;

describe('drift', () => {
  let fixture: AdoptFixture;

  beforeEach(async () => {
    fixture = await startAdoptFixture();
    const { pipeline } = fixture.instance;
    expectDone(await pipeline.apply('create-collection', table('authors'), { cause: CAUSE }));
    expectDone(await pipeline.apply('create-collection', table('articles', OURS), { cause: CAUSE }));
    const body = { many_collection: 'articles', many_field: 'author', one_collection: 'authors' };
    expectDone(await pipeline.apply('create-relation', command('create-relation', { body }), { cause: CAUSE }));
  });

  afterEach(() => fixture.stop());

  const drift = (): Promise<Drift> => {
    const { pipeline, schema } = fixture.instance;
    return pipeline.underLock((client, { state }) => findDrift(client, state, { schema }));
  };
  const repair = (allowDrop = false): Promise<RepairResult> => {
    const { pipeline, schema } = fixture.instance;
    return pipeline.underLock((client, { state }) => repairDrift({ client, state, schema, allowDrop }));
  };
  const byHand = (text: string) => fixture.instance.pool.query(text);

  async function readDrift(): Promise<{ table: TableDrift; named: string[] }> {
    const { tables } = await drift();
    expect(tables, JSON.stringify(tables, null, 1)).to.have.length(1);
    const [only] = tables as [TableDrift];
    return { table: only, named: only.differences.map(({ field: name, member }) => `${name ?? '-'} ${member}`) };
  }

  /** Changes the database manually. The drift is reported and gone after the repair. */
  async function foundAndRepaired(text: string, named: string[], allowDrop = false): Promise<TableDrift> {
    const before = await catalogText(fixture.instance.pool);
    await byHand(text);
    const { table: only, named: names } = await readDrift();
    expect(names).to.deep.equal(named);
    const repaired = await repair(allowDrop);
    expect(repaired.drift.ok, JSON.stringify(repaired, null, 1)).to.equal(true);
    await expectVerified(fixture.instance);
    expect((await catalogText(fixture.instance.pool)).map(withoutNumber).sort()).to.deep.equal(
      before.map(withoutNumber).sort(),
    );
    return only;
  }

  it('is empty without changes', async () => {
    await byHand('CREATE TABLE beside (id integer)');
    expect(await drift()).to.deep.equal({
      ok: true,
      tables: [],
      unmanaged: ['beside'],
      unmanaged_tables: [{ table: 'beside', rows: null }],
    });
  });

  it('finds an added column, and drops it only with permission', async () => {
    await byHand('ALTER TABLE articles ADD COLUMN extra text');
    const { table: only, named } = await readDrift();
    expect(named).to.deep.equal(['extra column']);
    const [difference] = only.differences;
    expect(difference?.repair.log.map(({ type, field: name }) => `${type} ${name}`)).to.deep.equal([
      'field.created extra',
    ]);
    const careful = await repair();
    expect(careful.made).to.deep.equal([]);
    expect(careful.left.map(({ reason }) => reason)).to.deep.equal(['it drops an object or may lose values']);
    expect((await repair(true)).drift.ok).to.equal(true);
  });

  it('finds a dropped column', async () => {
    await foundAndRepaired('ALTER TABLE articles DROP COLUMN slug', [
      'slug column',
      'slug constraint articles_slug_unique',
    ]);
  });

  it('finds a narrowed type and widens it', async () => {
    const only = await foundAndRepaired('ALTER TABLE articles ALTER COLUMN title TYPE varchar(9)', [
      'title schema.data_type',
    ]);
    expect(only.differences[0]).to.include({ expected: 'character varying(255)', found: 'character varying(9)' });
    expect(only.differences[0]?.repair.log.map(({ type }) => type)).to.deep.equal(['field.updated']);
  });

  it('finds a widened type and narrows it only with permission, because blanks are truncated', async () => {
    const toText = 'ALTER TABLE articles ALTER COLUMN title TYPE text';
    await byHand(`${toText}; INSERT INTO articles (title) VALUES (repeat(' ', 300))`);
    const careful = await repair();
    expect(careful.made).to.deep.equal([]);
    expect(careful.left.map(({ summary, reason }) => [summary, reason])).to.deep.equal([
      ['alter column articles.title: default, type', 'it drops an object or may lose values'],
    ]);
    expect((await byHand('SELECT length(title) FROM articles')).rows).to.deep.equal([{ length: 300 }]);
    expect((await repair(true)).drift.ok).to.equal(true);
    expect((await byHand('SELECT length(title) FROM articles')).rows).to.deep.equal([{ length: 255 }]);
    const only = await foundAndRepaired(toText, ['title schema.data_type'], true);
    expect(only.differences[0]).to.include({ expected: 'character varying(255)', found: 'text' });
  });

  it('finds a dropped index', async () => {
    await foundAndRepaired('DROP INDEX articles_views_index', ['views index articles_views_index']);
  });

  it('finds an added index', async () => {
    await foundAndRepaired('CREATE INDEX by_hand ON articles (lower(title))', ['- index by_hand'], true);
  });

  it('finds a renamed table and names its probable new name', async () => {
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

  it('does not confuse another table with a renamed one', async () => {
    const columns = 'id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY';
    const tables = async () => (await drift()).unmanaged;
    await byHand(`CREATE TABLE somebodys (${columns})`);
    const only = await foundAndRepairedBeside('DROP TABLE authors CASCADE');
    expect(only).not.to.have.property('renamed_to');
    expect(await tables()).to.deep.equal(['somebodys']);
    await byHand('CREATE TABLE copied (LIKE authors INCLUDING ALL); DROP TABLE somebodys');
    expect(await foundAndRepairedBeside('DROP TABLE authors CASCADE')).not.to.have.property('renamed_to');
    await byHand('ALTER TABLE authors RENAME TO people');
    // Two tables are similar, so no rename is detected.
    expect((await drift()).tables[0]).not.to.have.property('renamed_to');
    await byHand('DROP TABLE copied');
    expect((await drift()).tables[0]).to.include({ renamed_to: 'people' });
    expect((await repair()).drift).to.deep.equal({ ok: true, tables: [], unmanaged: [], unmanaged_tables: [] });
  });

  /** Drift of `authors` without its foreign key. */
  async function foundAndRepairedBeside(text: string): Promise<TableDrift | undefined> {
    await byHand(text);
    const only = (await drift()).tables.find(({ table: name }) => name === 'authors');
    const { drift: after } = await repair();
    expect(after.ok, JSON.stringify(after, null, 1)).to.equal(true);
    return only;
  }

  it('finds a renamed column and names its probable new name', async () => {
    const only = await foundAndRepaired(
      'ALTER TABLE articles RENAME COLUMN slug TO handle',
      ['slug column', 'slug constraint articles_slug_unique', 'handle constraint articles_slug_unique'].slice(0, 2),
    );
    expect(only.differences[0]).to.include({ field: 'slug', renamed_to: 'handle' });
  });

  it('finds a dropped table', async () => {
    const only = await foundAndRepaired('DROP TABLE articles', ['- table']);
    expect(only).to.include({ kind: 'missing' });
    expect(only).not.to.have.property('renamed_to');
  });

  it('finds a changed default', async () => {
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN views SET DEFAULT 7', ['views schema.default_value']);
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN title DROP DEFAULT', ['title schema.default_value']);
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN views SET DEFAULT (random() * 10)::int', [
      'views schema.default_value',
    ]);
  });

  it('reports a column whose nullability was changed in the database', async () => {
    await foundAndRepaired('ALTER TABLE articles ALTER COLUMN title DROP NOT NULL', ['title schema.is_nullable']);
  });

  it('finds a dropped constraint', async () => {
    await foundAndRepaired('ALTER TABLE articles DROP CONSTRAINT articles_slug_unique', [
      'slug constraint articles_slug_unique',
    ]);
    await foundAndRepaired('ALTER TABLE articles DROP CONSTRAINT articles_author_foreign', [
      'author constraint articles_author_foreign',
    ]);
    await foundAndRepaired('ALTER TABLE articles DROP CONSTRAINT articles_pkey', ['id constraint articles_pkey']);
  });

  it('finds changed comments and generated columns', async () => {
    await foundAndRepaired(`COMMENT ON TABLE articles IS 'by hand'`, ['- schema.comment']);
    const plain = 'ALTER TABLE articles ALTER COLUMN twice DROP EXPRESSION';
    await foundAndRepaired(plain, ['twice schema.generation_expression'], true);
  });

  it('finds a name taken by another index or constraint', async () => {
    const cases: [string, string][] = [
      [
        'DROP INDEX articles_views_index; CREATE INDEX articles_views_index ON articles (title)',
        'views index articles_views_index',
      ],
      [
        'DROP INDEX articles_views_index; CREATE UNIQUE INDEX articles_views_index ON articles (views)',
        'views index articles_views_index',
      ],
      [
        'DROP INDEX articles_views_index; CREATE INDEX articles_views_index ON articles (lower(title))',
        'views index articles_views_index',
      ],
      [`${NO_UNIQUE} UNIQUE (views)`, 'slug constraint articles_slug_unique'],
      [`${NO_UNIQUE} UNIQUE (views, slug)`, 'slug constraint articles_slug_unique'],
      [`${NO_UNIQUE} CHECK (views > 0)`, 'slug constraint articles_slug_unique'],
      [`${NO_KEY} PRIMARY KEY (id, title)`, 'id constraint articles_pkey'],
      [
        `${NO_FOREIGN} FOREIGN KEY (author) REFERENCES authors ON DELETE CASCADE`,
        'author constraint articles_author_foreign',
      ],
      [`${NO_FOREIGN} FOREIGN KEY (views) REFERENCES authors`, 'author constraint articles_author_foreign'],
    ];
    for (const [text, named] of cases) {
      await foundAndRepaired(text, [named], true);
    }
  });

  it('drops an object with a taken name only with permission', async () => {
    await byHand('DROP INDEX articles_views_index; CREATE INDEX articles_views_index ON articles (title)');
    const { table: only } = await readDrift();
    const [difference] = only.differences;
    expect(difference?.repair.database.map(({ sql, drops }) => [sql, drops])).to.deep.equal([
      ['DROP INDEX "public"."articles_views_index"', true],
      ['CREATE INDEX "articles_views_index" ON "public"."articles" ("views")', false],
    ]);
    expect(difference?.repair.log.map(({ type, field: name }) => `${type} ${name}`)).to.deep.equal([
      'field.updated views',
      'field.updated title',
    ]);
    const careful = await repair();
    expect(careful.made).to.deep.equal([]);
    expect(careful.left).to.have.length(2);
    expect((await repair(true)).drift.ok).to.equal(true);
  });

  it('finds a renamed primary key, or one on another column', async () => {
    const only = await foundAndRepaired('ALTER TABLE articles RENAME CONSTRAINT articles_pkey TO other_name', [
      'id constraint articles_pkey',
      'id constraint other_name',
    ]);
    expect(only.differences[0]?.repair.database.map(({ sql }) => sql)).to.deep.equal([
      'ALTER TABLE "public"."articles" RENAME CONSTRAINT "other_name" TO "articles_pkey"',
    ]);
    const other = `${NO_KEY} PRIMARY KEY (title)`;
    await foundAndRepaired(other, ['id constraint articles_pkey'], true);
  });

  it('finds an added constraint or index on one column and drops it only with permission', async () => {
    for (const [text, named] of [
      ['ADD CONSTRAINT chk CHECK (views > 0)', 'views constraint chk'],
      ['ADD CONSTRAINT twice_u UNIQUE (slug)', 'slug constraint twice_u'],
      ['ADD CONSTRAINT late UNIQUE (title) DEFERRABLE', 'title constraint late'],
    ] as const) {
      await byHand(`ALTER TABLE articles ${text}`);
      const { table: only, named: names } = await readDrift();
      expect(names).to.deep.equal([named]);
      expect(only.differences[0]?.repair.log.map(({ type }) => type)).to.deep.equal(['collection.updated']);
      const careful = await repair();
      expect(careful.left.map(({ sql, reason }) => [sql, reason])).to.deep.equal([
        [
          `ALTER TABLE "public"."articles" DROP CONSTRAINT "${named.split(' ')[2]}"`,
          'it drops an object or may lose values',
        ],
      ]);
      expect((await repair(true)).drift.ok).to.equal(true);
    }
    await foundAndRepaired('CREATE UNIQUE INDEX once ON articles (title)', ['title index once'], true);
    await foundAndRepaired('CREATE INDEX again ON articles (views)', ['views index again'], true);
    const createFunction = `CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'`;
    await byHand(createFunction);
    await foundAndRepaired('CREATE INDEX foreign_one ON articles (f(views))', ['- index foreign_one'], true);
  });

  it('offers no statement without effect', async () => {
    await byHand(`CREATE TYPE st AS ENUM ('a'); CREATE TABLE e1 (id serial PRIMARY KEY, s st)`);
    await adopt(fixture.instance);
    await byHand(`ALTER TYPE st ADD VALUE 'b'`);
    const { table: only, named } = await readDrift();
    expect(named).to.deep.equal(['- enum st']);
    expect(only.differences[0]?.repair.database).to.deep.equal([]);
    expect(only.differences[0]?.repair.log.map(({ type }) => type)).to.deep.equal(['collection.updated']);
    expect((await repair(true)).made).to.deep.equal([]);
    await byHand('ALTER SEQUENCE e1_id_seq INCREMENT 5');
    const both = (await readDrift()).table.differences;
    expect(both.map(({ member }) => member)).to.deep.equal(['enum st', 'sequence e1_id_seq']);
    expect((await repair()).made.map(({ summary }) => summary)).to.deep.equal([
      'ensure that sequence e1_id_seq exists',
    ]);
    expect((await readDrift()).named).to.deep.equal(['- enum st']);
    await byHand('DROP TABLE e1');
    const again = (await readDrift()).table.differences[0]?.repair.database.map(({ summary }) => summary);
    expect(again).not.to.include('ensure that enum st exists');
    expect(again).to.include('ensure that sequence e1_id_seq exists');
    // Built with the current type, which differs from the log's.
    expect((await repair()).drift.tables.flatMap(({ differences }) => differences)).to.have.length(1);
  });

  it('finds a sequence with a different owner or none', async () => {
    await byHand(`CREATE TABLE counted (id serial, n integer); CREATE SEQUENCE free;
      CREATE TABLE apart (id integer DEFAULT nextval('free'))`);
    await adopt(fixture.instance);
    const own = ['- sequence counted_id_seq'];
    await foundAndRepaired('ALTER SEQUENCE counted_id_seq OWNED BY NONE', own);
    await foundAndRepaired('ALTER SEQUENCE counted_id_seq OWNED BY counted.n', own);
    await foundAndRepaired('ALTER SEQUENCE counted_id_seq OWNED BY authors.id', own);
    await foundAndRepaired('ALTER SEQUENCE free OWNED BY apart.id', ['- sequence free']);
    // The table no longer uses the sequence either.
    const both = `ALTER TABLE counted ALTER COLUMN id DROP DEFAULT; ALTER SEQUENCE counted_id_seq OWNED BY NONE`;
    await foundAndRepaired(both, ['id schema.default_value', ...own]);
  });

  it('finds a renamed multi-column primary key', async () => {
    await byHand('CREATE TABLE pairs (a integer, b integer, CONSTRAINT both_of_them PRIMARY KEY (b, a))');
    await adopt(fixture.instance);
    const names = ['- constraint both_of_them', '- constraint other'];
    await foundAndRepaired('ALTER TABLE pairs RENAME CONSTRAINT both_of_them TO other', names);
  });

  it('finds the same differences in adopted tables', async function () {
    if ((await testServer()).majorVersion < 15) this.skip();
    await byHand(HARD_SCHEMA);
    await adopt(fixture.instance);
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

/** A column that was dropped and recreated is last. */
const withoutNumber = (line: string): string => line.replace(/ #\d+ /, ' ');
