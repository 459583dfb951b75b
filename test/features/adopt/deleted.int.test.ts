import { expect } from 'chai';
import type { Outcome } from '../../../src/pipeline/index.js';
import type { InputOf, OperationName } from '../../../src/schema/operations/index.js';
import { CAUSE, type Instance, command, expectDone, refusedWith } from '../../support/instance.js';
import { adopt, expectReplayed, expectVerified, promote, startAdoptFixture } from './round-trip.js';

function attempt<N extends OperationName>({ pipeline }: Instance, name: N, input: InputOf<N>): Promise<Outcome> {
  return pipeline.apply(name, command(name, input), { cause: { ...CAUSE, command: name } });
}

async function change<N extends OperationName>(instance: Instance, name: N, input: InputOf<N>): Promise<void> {
  expectDone(await attempt(instance, name, input));
}

/** Adopts everything, then deletes it. The rest must match the log, on this instance and on another. */
async function expectDeletable(sql: string, ...collections: string[]): Promise<void> {
  const { instance, stop } = await startAdoptFixture(sql);
  try {
    await adopt(instance);
    for (const collection of collections) {
      await change(instance, 'delete-collection', { collection });
      await expectVerified(instance);
    }
    await expectReplayed(instance);
  } finally {
    await stop();
  }
}

/** Adopts everything, and deletes it in one change by applying the snapshot of an empty database. */
async function expectDeletableAtOnce(sql: string): Promise<void> {
  const [source, empty] = [await startAdoptFixture(sql), await startAdoptFixture()];
  try {
    await adopt(source.instance);
    await promote(empty.instance, source.instance);
    expect(source.instance.store.current().collections.size).to.equal(0);
    await expectVerified(source.instance);
    await expectReplayed(source.instance);
  } finally {
    await source.stop();
    await empty.stop();
  }
}

describe('deleting adopted tables', () => {
  const PAIR = `
    CREATE TABLE p (a integer, b integer, PRIMARY KEY (a, b));
    CREATE TABLE q (id integer PRIMARY KEY, a integer, b integer, FOREIGN KEY (a, b) REFERENCES p);`;
  const filler = (prefix: string) =>
    Array.from({ length: 60 }, (_, n) => `CREATE TABLE ${prefix}${n} (id integer PRIMARY KEY);`).join('\n');

  for (const [title, sql] of [
    ['', PAIR],
    [' when many events lie between them', PAIR + filler('pf')],
    [' when the owner was adopted first', PAIR.replaceAll(' p ', ' z ').replace('REFERENCES p', 'REFERENCES z')],
    [
      ' when the owner was adopted long before',
      PAIR.replaceAll(' p ', ' z ').replace('REFERENCES p', 'REFERENCES z') + filler('x'),
    ],
  ] as const) {
    const target = sql.includes('TABLE z ') ? 'z' : 'p';
    it(`replays dropping the owner of a two-column foreign key${title}`, () => expectDeletable(sql, 'q', target));
    it(`replays dropping the target of a two-column foreign key${title}`, () => expectDeletable(sql, target, 'q'));
  }

  it('replays a cycle of such keys', () =>
    expectDeletable(
      `${PAIR} ALTER TABLE p ADD FOREIGN KEY (a, b) REFERENCES p, ADD c integer, ADD d integer;
      CREATE TABLE r (a integer, b integer, PRIMARY KEY (a, b), FOREIGN KEY (a, b) REFERENCES p);
      ALTER TABLE p ADD FOREIGN KEY (c, d) REFERENCES r;`,
      'r',
      'p',
      'q',
    ));
});

describe('deleting related tables in one change', () => {
  const KEY = 'x integer, y integer, PRIMARY KEY (x, y)';
  const TO = 'FOREIGN KEY (x, y) REFERENCES';
  const cases: [title: string, sql: string][] = [
    ['the key before its target', `CREATE TABLE b (${KEY}); CREATE TABLE a (${KEY}, ${TO} b);`],
    ['the key after its target', `CREATE TABLE a (${KEY}); CREATE TABLE b (${KEY}, ${TO} a);`],
    ['a key to its own table', `CREATE TABLE a (${KEY}, z integer, FOREIGN KEY (z, y) REFERENCES a);`],
    [
      'a cycle of two tables',
      `CREATE TABLE a (${KEY}); CREATE TABLE b (${KEY}, ${TO} a); ALTER TABLE a ADD ${TO} b, ADD ${TO} a;`,
    ],
    [
      'a cycle of three tables',
      `CREATE TABLE a (${KEY}); CREATE TABLE b (${KEY}, ${TO} a); CREATE TABLE c (${KEY}, ${TO} b);
      ALTER TABLE a ADD ${TO} c;`,
    ],
    [
      'keys of one column and of two',
      `CREATE TABLE a (x integer PRIMARY KEY, y integer, UNIQUE (x, y));
      CREATE TABLE b (x integer PRIMARY KEY REFERENCES a, y integer, UNIQUE (x, y), ${TO} a (x, y));
      ALTER TABLE a ADD FOREIGN KEY (x) REFERENCES b, ADD ${TO} b (x, y);`,
    ],
    [
      'keys of partitioned tables',
      `CREATE TABLE c (${KEY}); CREATE TABLE a (${KEY}, ${TO} c) PARTITION BY RANGE (x);
      CREATE TABLE b PARTITION OF a FOR VALUES FROM (0) TO (10); ALTER TABLE c ADD ${TO} a;`,
    ],
    [
      'a column whose default uses the sequence of the other table',
      `CREATE TABLE b (x serial); CREATE TABLE a (x integer DEFAULT nextval('b_x_seq'));`,
    ],
  ];

  for (const [title, sql] of cases) {
    it(title, () => expectDeletableAtOnce(sql));
  }
});

describe('partitioned tables with a foreign key', () => {
  const DIVIDED = `
    CREATE TABLE tg (id integer PRIMARY KEY);
    CREATE TABLE pp (id integer, tgt integer REFERENCES tg, bare integer, PRIMARY KEY (id)) PARTITION BY RANGE (id);
    CREATE TABLE aa PARTITION OF pp FOR VALUES FROM (0) TO (10);
    CREATE TABLE zz PARTITION OF pp FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
    CREATE TABLE mm PARTITION OF zz DEFAULT;
    CREATE TABLE qq (id integer PRIMARY KEY, tgt integer CONSTRAINT "of qq" REFERENCES tg, bare integer);
    ALTER TABLE pp ATTACH PARTITION qq FOR VALUES FROM (20) TO (30);
    CREATE TABLE own PARTITION OF pp DEFAULT;
    ALTER TABLE own ADD FOREIGN KEY (bare) REFERENCES tg;`;

  it('survive dropping its target', () => expectDeletable(DIVIDED, 'tg', 'aa', 'mm', 'zz', 'own', 'qq', 'pp'));

  it('can be deleted, partitions first', () => expectDeletable(DIVIDED, 'own', 'mm', 'zz', 'qq', 'aa', 'pp', 'tg'));

  it('can be deleted with its target in one change', () => expectDeletableAtOnce(DIVIDED));

  it("keep it when its target's key changes type", async () => {
    const { instance, stop } = await startAdoptFixture(DIVIDED);
    try {
      await adopt(instance);
      await change(instance, 'update-fields', {
        collection: 'tg',
        body: [{ field: 'id', type: 'bigInteger' }],
        concurrentIndexes: false,
      });
      await expectVerified(instance);
      await expectReplayed(instance);
    } finally {
      await stop();
    }
  });

  it('reject other changes to it, but allow relations without a foreign key', async () => {
    const { instance, stop } = await startAdoptFixture(DIVIDED);
    const metadata = { many_collection: 'pp', many_field: 'bare', one_collection: 'tg', schema: null };
    try {
      await adopt(instance);
      await change(instance, 'create-relation', { body: metadata });
      await change(instance, 'update-relation', {
        collection: 'aa',
        field: 'tgt',
        body: { sort_field: 'id' },
      });
      await change(instance, 'delete-relation', { collection: 'pp', field: 'bare' });
      for (const [name, input] of [
        ['create-relation', { body: { ...metadata, schema: {} } }],
        ['create-relation', { body: { ...metadata, many_collection: 'aa', schema: {} } }],
        ['update-relation', { collection: 'pp', field: 'tgt', body: { schema: { on_delete: 'CASCADE' } } }],
        ['update-relation', { collection: 'aa', field: 'tgt', body: { schema: { on_delete: 'CASCADE' } } }],
        ['update-relation', { collection: 'aa', field: 'tgt', body: { schema: null } }],
        ['delete-relation', { collection: 'pp', field: 'tgt' }],
        ['delete-relation', { collection: 'mm', field: 'tgt' }],
        ['delete-relation', { collection: 'own', field: 'bare' }],
      ] as const) {
        const outcome = await attempt(instance, name, input as never);
        expect(refusedWith(outcome), JSON.stringify([name, input])).to.equal('INVALID_PAYLOAD');
        expect(JSON.stringify(outcome)).to.include('cannot change foreign keys of a partitioned table');
      }
      await expectVerified(instance);
      await expectReplayed(instance);
    } finally {
      await stop();
    }
  });

  const composite = (one: string, part: string) => `
    CREATE TABLE pair (a integer, b integer, PRIMARY KEY (a, b));
    CREATE TABLE ${one} (id integer, a integer, b integer, PRIMARY KEY (id), FOREIGN KEY (a, b) REFERENCES pair)
      PARTITION BY RANGE (id);
    CREATE TABLE ${part} PARTITION OF ${one} FOR VALUES FROM (0) TO (10);`;

  for (const [one, part] of [
    ['divided', 'part'],
    ['whole', 'part'],
  ] as const) {
    it(`can be created elsewhere and dropped if ${one} has a multi-column foreign key and the partition ${part}`, async () => {
      const [source, target] = [await startAdoptFixture(composite(one, part)), await startAdoptFixture('')];
      try {
        await adopt(source.instance);
        await promote(source.instance, target.instance);
        await expectVerified(target.instance);
        for (const { instance } of [source, target]) {
          await change(instance, 'delete-collection', { collection: 'pair' });
          await expectVerified(instance);
        }
        await expectReplayed(source.instance);
      } finally {
        await source.stop();
        await target.stop();
      }
    });
  }
});
