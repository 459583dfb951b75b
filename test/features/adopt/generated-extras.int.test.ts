import { expect } from 'chai';
import type { Outcome } from '../../../src/pipeline/index.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { CAUSE, command, expectDone, refusedWith } from '../../support/instance.js';
import { testServer } from '../../support/postgres.js';
import { catalogText } from '../../support/catalog-text.js';
import {
  type AdoptFixture,
  adopt,
  expectReplayed,
  expectVerified,
  promote,
  runSql,
  startAdoptFixture,
  tryPromoting,
} from './round-trip.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const table = (a = 'int', g = 'a*2', columns = ''): string =>
  `CREATE TABLE g2 (id int PRIMARY KEY, a ${a}, g int GENERATED ALWAYS AS (${g}) STORED, h int${columns});`;

const PARTS: [what: string, sql: string][] = [
  ['an index', 'CREATE INDEX g2i ON g2 (g, h DESC)'],
  ['an index of an expression', 'CREATE INDEX ON g2 ((g + 1))'],
  ['a partial index', 'CREATE INDEX ON g2 (h) WHERE g > 5'],
  ['a unique index that includes the column', 'CREATE UNIQUE INDEX ON g2 (h) INCLUDE (g)'],
  ['a check', 'ALTER TABLE g2 ADD CONSTRAINT larger CHECK (g > h)'],
  ['a check that is not valid', 'ALTER TABLE g2 ADD CONSTRAINT larger CHECK (g > h) NOT VALID'],
  ['a unique constraint', 'ALTER TABLE g2 ADD UNIQUE (g, h)'],
  [
    'its own index, unique, comment and foreign key',
    `CREATE TABLE aim (id int PRIMARY KEY); INSERT INTO aim VALUES (6); ALTER TABLE g2 ADD UNIQUE (g), ADD FOREIGN KEY (g) REFERENCES aim;
     CREATE INDEX ON g2 (g); COMMENT ON COLUMN g2.g IS 'twice'`,
  ],
  [
    'a primary key of the column',
    'ALTER TABLE g2 DROP CONSTRAINT g2_pkey; ALTER TABLE g2 ADD CONSTRAINT k PRIMARY KEY (g)',
  ],
  [
    'a primary key of two columns, and a foreign key that references it',
    `ALTER TABLE g2 DROP CONSTRAINT g2_pkey; ALTER TABLE g2 ADD CONSTRAINT k PRIMARY KEY (id, g);
     CREATE TABLE shot (a int, b int, CONSTRAINT hits FOREIGN KEY (a, b) REFERENCES g2); INSERT INTO shot VALUES (1, 6)`,
  ],
  [
    'a primary key that includes the column, and relations and foreign keys that reference it',
    `ALTER TABLE g2 DROP CONSTRAINT g2_pkey; ALTER TABLE g2 ADD CONSTRAINT k PRIMARY KEY (id) INCLUDE (g);
     CREATE TABLE child (id int PRIMARY KEY, up int REFERENCES g2 ON DELETE CASCADE); INSERT INTO child VALUES (1, 1);
     ALTER TABLE g2 ADD FOREIGN KEY (h) REFERENCES g2`,
  ],
  [
    'foreign keys from and to the column, and to its own table',
    `CREATE TABLE aim (x int, y int, UNIQUE (x, y)); INSERT INTO aim VALUES (6, 1);
     ALTER TABLE g2 ADD CONSTRAINT self_unique UNIQUE (g, h), ADD CONSTRAINT points FOREIGN KEY (g, h) REFERENCES aim (x, y),
       ADD CONSTRAINT self FOREIGN KEY (g, h) REFERENCES g2 (g, h);
     CREATE TABLE shot (b int, a int, CONSTRAINT hits FOREIGN KEY (a, b) REFERENCES g2 (h, g)); INSERT INTO shot VALUES (6, 1)`,
  ],
];

const ROW = 'INSERT INTO g2 (id, a, h) VALUES (1, 3, 1);';

/** All lines except those of the changed column, because column order differs. */
const otherLines = (lines: string[]): string[] =>
  lines.map((line) => line.replace(/ #\d+ /, ' ')).filter((line) => !/^column g2\.[ag] /.test(line));

describe('objects that depend on generated columns', () => {
  const fixtures: AdoptFixture[] = [];

  before(async function () {
    if ((await testServer()).majorVersion < 14) this.skip();
  });
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) await fixture.stop();
  });

  async function start(sql: string): Promise<AdoptFixture> {
    const fixture = await startAdoptFixture(sql);
    fixtures.push(fixture);
    await adopt(fixture.instance);
    return fixture;
  }

  const patch = (
    { instance: { pipeline } }: AdoptFixture,
    collection: string,
    field: string,
    body: object,
  ): Promise<Outcome> =>
    pipeline.apply('update-fields', command('update-fields', { collection, field, body, concurrentIndexes: false }), {
      cause: { ...CAUSE, command: 'update-fields' },
    });

  const expression = (text: string) => ({ schema: { generation_expression: text } });

  for (const [what, sql] of PARTS) {
    it(`are recreated after a field change: ${what}`, async () => {
      const fixture = await start(table() + ROW + sql);
      const before = otherLines(await catalogText(fixture.instance.pool));
      expectDone(await patch(fixture, 'g2', 'a', { type: 'bigInteger' }));
      await expectVerified(fixture.instance);
      expect(otherLines(await catalogText(fixture.instance.pool))).to.deep.equal(before);
      expectDone(await patch(fixture, 'g2', 'g', expression('a*2 + 0')));
      await expectVerified(fixture.instance);
      expect(otherLines(await catalogText(fixture.instance.pool))).to.deep.equal(before);
      await expectReplayed(fixture.instance);
    });

    it(`are recreated after an applied diff: ${what}`, async () => {
      const desired = await start(table('bigint') + sql.replaceAll(/INSERT[^;]*/g, ''));
      const fixture = await start(table() + ROW + sql);
      const before = otherLines(await catalogText(fixture.instance.pool));
      await promote(desired.instance, fixture.instance);
      await expectVerified(fixture.instance);
      expect(otherLines(await catalogText(fixture.instance.pool))).to.deep.equal(before);
    });
  }

  it('are changed once if the same snapshot changes them', async () => {
    const parts = (n: number) => `CREATE INDEX stays ON g2 (g, h); CREATE INDEX ${['goes', 'comes'][n]} ON g2 (g);
      CREATE INDEX changes ON g2 (g, ${['h', 'h DESC'][n]}); ALTER TABLE g2 ADD CONSTRAINT checked CHECK (g > ${n})`;
    const desired = await start(table('bigint') + parts(1));
    const fixture = await start(table() + ROW + parts(0));
    await promote(desired.instance, fixture.instance);
    await expectVerified(fixture.instance);
    const [actual, there] = [await catalogText(fixture.instance.pool), await catalogText(desired.instance.pool)];
    expect(otherLines(actual)).to.deep.equal(otherLines(there));
  });

  it('stay when a plain column becomes generated', async () => {
    const parts = 'CREATE INDEX k8i ON g2 (p, h); ALTER TABLE g2 ADD CONSTRAINT c CHECK (p < 100)';
    const desired = await start(table('int', 'a*2', ', p int GENERATED ALWAYS AS (a + 1) STORED') + parts);
    const fixture = await start(table('int', 'a*2', ', p int') + ROW + parts);
    await promote(desired.instance, fixture.instance);
    await expectVerified(fixture.instance);
    const [restored, there] = [await catalogText(fixture.instance.pool), await catalogText(desired.instance.pool)];
    expect(otherLines(restored)).to.deep.equal(otherLines(there));
  });

  it('are dropped with a column that is deleted at the same time', async () => {
    const parts = ', i int); CREATE INDEX stays ON g2 (g, h)';
    const desired = await start(table('bigint').replace(');', parts).replace(', i int', ''));
    const fixture = await start(`${table().replace(');', parts)}; ${ROW} CREATE INDEX goes ON g2 (g, i)`);
    const left = otherLines(await catalogText(desired.instance.pool));
    await promote(desired.instance, fixture.instance);
    await expectVerified(fixture.instance);
    expect(otherLines(await catalogText(fixture.instance.pool))).to.deep.equal(left);
  });

  it('include a primary key of two generated columns, recreated after both', async () => {
    const sql = `CREATE TABLE two (a int, g int GENERATED ALWAYS AS (a + 1) STORED, h int GENERATED ALWAYS AS (a + 2) STORED,
      PRIMARY KEY (g, h)); INSERT INTO two VALUES (1);`;
    const fixture = await start(sql);
    expectDone(await patch(fixture, 'two', 'a', { type: 'bigInteger' }));
    await expectVerified(fixture.instance);
    await expectReplayed(fixture.instance);
  });

  it('are listed in the plan as dropped and recreated, with the costs', async () => {
    const fixture = await start(
      `${table()} CREATE UNIQUE INDEX g2i ON g2 (g, h); ALTER TABLE g2 ADD CONSTRAINT c CHECK (g > h)`,
    );
    const data = { patch: [{ op: 'replace' as const, path: '/schema/generation_expression', value: 'a*3' }] };
    const event: NewEvent = { type: 'field.updated', version: 1, collection: 'g2', field: 'g', data };
    const { statements } = runToEnd(planBatch(fixture.instance.store.current(), [event], 'public'));
    expect(statements.map((each) => [each.summary, each.lock, each.may_fail])).to.deep.equal([
      ['check that no other object depends on g of g2', 'none', false],
      ['drop constraint c of g2', 'ACCESS EXCLUSIVE', false],
      ['drop index g2i of g2', 'ACCESS EXCLUSIVE', false],
      ['drop column g2.g', 'ACCESS EXCLUSIVE', false],
      ['add column g2.g', 'ACCESS EXCLUSIVE', true],
      ['add constraint c to g2', 'ACCESS EXCLUSIVE', true],
      ['create index g2i on g2', 'SHARE', true],
    ]);
    expect(statements.some((each) => each.loses_data)).to.equal(false);
  });

  const FOREIGN: [what: string, sql: string, dependent: RegExp][] = [
    ['statistics', 'CREATE STATISTICS mine ON g, h FROM g2', /statistics object mine depends on column g/],
    ['a privilege', 'GRANT SELECT (g) ON g2 TO PUBLIC', /privilege SELECT of PUBLIC depends on column g/],
    ['a comment on its index', `COMMENT ON INDEX g2_g_h_key IS 'x'`, /comment on index g2_g_h_key depends on column g/],
    [
      'a comment on its constraint',
      `COMMENT ON CONSTRAINT g2_g_h_key ON g2 IS 'x'`,
      /comment on constraint g2_g_h_key/,
    ],
    [
      'the replica identity',
      'ALTER TABLE g2 ALTER g SET NOT NULL, ALTER h SET NOT NULL, REPLICA IDENTITY USING INDEX g2_g_h_key',
      /replica identity, clustering or tablespace of constraint g2_g_h_key on table g2 depends on column g/,
    ],
    [
      'a target of statistics',
      'ALTER TABLE g2 ALTER g SET STATISTICS 500',
      /setting of the column depends on column g/,
    ],
    ['an index made by hand', 'CREATE INDEX by_hand ON g2 (h, g)', /index by_hand depends on column g/],
    ['a check made by hand', 'ALTER TABLE g2 ADD CONSTRAINT hand CHECK (g > h)', /constraint hand on table g2 depends/],
    ['a sequence', 'CREATE SEQUENCE counts OWNED BY g2.g', /sequence counts depends on column g/],
    ['a view', 'CREATE VIEW shows AS SELECT g FROM g2', /view shows depends on column g/],
    [
      'a trigger',
      `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
       CREATE TRIGGER watches BEFORE UPDATE OF g ON g2 FOR EACH ROW EXECUTE FUNCTION f()`,
      /trigger watches on table g2 depends on column g/,
    ],
    [
      'a foreign key of an unmanaged table',
      'CREATE TABLE mine (a int, b int, CONSTRAINT hits FOREIGN KEY (a, b) REFERENCES g2 (g, h))',
      /constraint hits on table mine depends on/,
    ],
  ];

  for (const [what, sql, dependent] of FOREIGN) {
    it(`${what} is not lost: the change is rejected with the reason`, async () => {
      const fixture = await start(`${table()} ${ROW} ALTER TABLE g2 ADD UNIQUE (g, h)`);
      const desired = await start(`${table('bigint')} ALTER TABLE g2 ADD UNIQUE (g, h)`);
      await runSql(fixture.database, sql);
      const before = await catalogText(fixture.instance.pool);
      const outcomes = [
        await patch(fixture, 'g2', 'a', { type: 'bigInteger' }),
        await patch(fixture, 'g2', 'g', expression('a*3')),
        await tryPromoting(desired.instance, fixture.instance),
      ];
      for (const outcome of outcomes) {
        expect(refusedWith(outcome)).to.equal('IN_USE');
        const { problems } = outcome as Extract<Outcome, { kind: 'refused' }>;
        expect(problems[0]?.message).to.match(dependent);
      }
      expect(await catalogText(fixture.instance.pool)).to.deep.equal(before);
    });
  }
});
