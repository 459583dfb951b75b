/**
 * Every operation on each table of a partition tree and of an inheritance tree, attached and detached by hand. The
 * service either carries it out, so that the log and the catalog differ no more than before, or rejects it and changes
 * nothing.
 */
import { expect } from 'chai';
import { type Reply, json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { withService } from '../support/with-service.js';

interface Family {
  title: string;
  /** The statements that create the tables, whose names begin with `prefix`. */
  create: (prefix: string) => string;
  /** The managed tables, without the prefix. The prefix `second.` marks tables in the second managed schema. */
  tables: readonly string[];
  /** Changes by hand after adoption. */
  byHand: Readonly<Record<string, ByHand>>;
}

interface ByHand {
  change: (prefix: string) => string;
  /** The managed tables that are no longer below the root in the catalog, but still are in the log. */
  apart?: readonly string[];
}

const PARTITIONED = (prefix: string): string => `
      CREATE TABLE ${prefix} (id int NOT NULL, d date NOT NULL, a int, b text) PARTITION BY RANGE (d);
      CREATE TABLE ${prefix}one PARTITION OF ${prefix} FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
      CREATE TABLE ${prefix}two PARTITION OF ${prefix} FOR VALUES FROM ('2021-01-01') TO ('2022-01-01')
        PARTITION BY LIST (id);
      CREATE TABLE ${prefix}leaf PARTITION OF ${prefix}two DEFAULT;
      CREATE TABLE elsewhere.${prefix} PARTITION OF ${prefix} FOR VALUES FROM ('2022-01-01') TO ('2023-01-01');
      INSERT INTO ${prefix} VALUES (1, '2020-05-05', 1, 'x'), (2, '2021-05-05', 2, 'y'), (3, '2022-05-05', 3, 'z');`;

const INHERITED = (prefix: string): string => `
      CREATE TABLE ${prefix} (id int PRIMARY KEY, d date, a int, b text);
      CREATE TABLE ${prefix}kid () INHERITS (${prefix});
      CREATE TABLE ${prefix}deep () INHERITS (${prefix}kid);
      CREATE TABLE elsewhere.${prefix} () INHERITS (${prefix});
      INSERT INTO ${prefix}kid VALUES (1, '2020-05-05', 1, 'x');
      INSERT INTO ${prefix}deep VALUES (2, '2021-05-05', 2, 'y');
      INSERT INTO elsewhere.${prefix} VALUES (3, '2022-05-05', 3, 'z');`;

const FAMILIES: readonly Family[] = [
  {
    title: 'a partition tree',
    create: PARTITIONED,
    tables: ['', 'one', 'two', 'leaf'],
    byHand: {
      'with all partitions attached': { change: () => '' },
      'with a detached partition': {
        change: (prefix) => `ALTER TABLE ${prefix} DETACH PARTITION ${prefix}one`,
        apart: ['one'],
      },
      'with a detached nested partition': {
        change: (prefix) => `ALTER TABLE ${prefix}two DETACH PARTITION ${prefix}leaf`,
        apart: ['leaf'],
      },
      'with a detached tree': {
        change: (prefix) => `ALTER TABLE ${prefix} DETACH PARTITION ${prefix}two`,
        apart: ['two', 'leaf'],
      },
      'with a detached partition in another schema': {
        change: (prefix) => `ALTER TABLE ${prefix} DETACH PARTITION elsewhere.${prefix}`,
      },
      'with a partition attached by hand': {
        change: (prefix) => `
        CREATE TABLE ${prefix}new (LIKE ${prefix});
        ALTER TABLE ${prefix} ATTACH PARTITION ${prefix}new FOR VALUES FROM ('2023-01-01') TO ('2024-01-01')`,
      },
    },
  },
  {
    title: 'an inheritance tree',
    create: INHERITED,
    tables: ['', 'kid', 'deep'],
    byHand: {
      'with all children attached': { change: () => '' },
      'with a detached child': {
        change: (prefix) => `ALTER TABLE ${prefix}kid NO INHERIT ${prefix}`,
        apart: ['kid', 'deep'],
      },
      'with a detached grandchild': {
        change: (prefix) => `ALTER TABLE ${prefix}deep NO INHERIT ${prefix}kid`,
        apart: ['deep'],
      },
      'with a detached child in another schema': {
        change: (prefix) => `ALTER TABLE elsewhere.${prefix} NO INHERIT ${prefix}`,
      },
      'with a child attached by hand': {
        change: (prefix) => `
        CREATE TABLE ${prefix}new (LIKE ${prefix} INCLUDING INDEXES); ALTER TABLE ${prefix}new INHERIT ${prefix}`,
      },
    },
  },
  {
    title: 'a partition tree in two managed schemas',
    create: (prefix) => `
      CREATE TABLE ${prefix} (id int NOT NULL, d date NOT NULL, a int, b text) PARTITION BY RANGE (d);
      CREATE TABLE second.${prefix}two PARTITION OF ${prefix} FOR VALUES FROM ('2021-01-01') TO ('2022-01-01')
        PARTITION BY LIST (id);
      CREATE TABLE second.${prefix}leaf PARTITION OF second.${prefix}two DEFAULT;
      INSERT INTO ${prefix} VALUES (2, '2021-05-05', 2, 'y');`,
    tables: ['', 'second.two', 'second.leaf'],
    byHand: {
      'with all partitions attached': { change: () => '' },
      'with a detached tree': {
        change: (prefix) => `ALTER TABLE ${prefix} DETACH PARTITION second.${prefix}two`,
        apart: ['second.two', 'second.leaf'],
      },
    },
  },
  {
    title: 'an inheritance tree in two managed schemas',
    create: (prefix) => `
      CREATE TABLE second.${prefix} (id int PRIMARY KEY, d date, a int, b text);
      CREATE TABLE ${prefix}kid () INHERITS (second.${prefix});
      CREATE TABLE second.${prefix}deep () INHERITS (${prefix}kid);
      INSERT INTO ${prefix}kid VALUES (1, '2020-05-05', 1, 'x');
      INSERT INTO second.${prefix}deep VALUES (2, '2021-05-05', 2, 'y');`,
    tables: ['second.', 'kid', 'second.deep'],
    byHand: {
      'with a detached child': {
        change: (prefix) => `ALTER TABLE ${prefix}kid NO INHERIT second.${prefix}`,
        apart: ['kid', 'second.deep'],
      },
    },
  },
  {
    title: 'an inheritance tree without a managed root',
    create: INHERITED,
    tables: ['kid', 'deep'],
    byHand: {
      'with all children attached': { change: () => '' },
      'with a detached grandchild': {
        change: (prefix) => `ALTER TABLE ${prefix}deep NO INHERIT ${prefix}kid`,
        apart: ['deep'],
      },
    },
  },
  {
    title: 'an inheritance tree with an unmanaged table in the middle',
    create: INHERITED,
    tables: ['', 'deep'],
    byHand: {
      'with a detached child': {
        change: (prefix) => `ALTER TABLE ${prefix}kid NO INHERIT ${prefix}`,
        apart: ['deep'],
      },
    },
  },
  {
    title: 'a partition tree with an unmanaged partition that has partitions',
    create: PARTITIONED,
    tables: ['', 'one'],
    byHand: {
      'with all partitions attached': { change: () => '' },
      'with a detached tree': { change: (prefix) => `ALTER TABLE ${prefix} DETACH PARTITION ${prefix}two` },
    },
  },
];

type Operation = readonly [
  method: string,
  /** `entry` is the position of the table in the trash, 0 if it is not there. */
  path: (table: string, entry: number) => string,
  body?: (table: string) => object,
];

/** The order ensures that the later ones still have their columns. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'changes its note': ['PATCH', (table) => `/collections/${table}`, () => ({ meta: { note: 'A note' } })],
  'accepts its drift': ['POST', () => '/schema/drift/accept', (table) => ({ collections: [table] })],
  'comments a column': ['PATCH', (table) => `/fields/${table}/a`, () => ({ schema: { comment: 'A comment' } })],
  'adds a field': ['POST', (table) => `/fields/${table}`, () => ({ field: 'c', type: 'string' })],
  'adds a required field': [
    'POST',
    (table) => `/fields/${table}`,
    () => ({ field: 'e', type: 'integer', schema: { is_nullable: false, default_value: 4 } }),
  ],
  'changes a type': ['PATCH', (table) => `/fields/${table}/a`, () => ({ type: 'bigInteger' })],
  'changes a default': ['PATCH', (table) => `/fields/${table}/a`, () => ({ schema: { default_value: 5 } })],
  'makes a field required': ['PATCH', (table) => `/fields/${table}/b`, () => ({ schema: { is_nullable: false } })],
  'makes a field optional': ['PATCH', (table) => `/fields/${table}/b`, () => ({ schema: { is_nullable: true } })],
  'indexes a field': ['PATCH', (table) => `/fields/${table}/a`, () => ({ schema: { is_indexed: true } })],
  'makes a field unique': ['PATCH', (table) => `/fields/${table}/a`, () => ({ schema: { is_unique: true } })],
  'renames a field': ['POST', (table) => `/fields/${table}/a/rename`, () => ({ to: 'renamed' })],
  'deletes a field': ['DELETE', (table) => `/fields/${table}/b`],
  'purges a field': ['DELETE', (table) => `/fields/${table}/d?purge=true`],
  'renames it': ['POST', (table) => `/collections/${table}/rename`, (table) => ({ to: `${table}_renamed` })],
  'renames it back': ['POST', (table) => `/collections/${table}_renamed/rename`, (table) => ({ to: table })],
  'deletes it': ['DELETE', (table) => `/collections/${table}`],
  'restores it': ['POST', (_table, entry) => `/trash/${entry}/restore`, () => ({})],
  'purges it': ['DELETE', (table) => `/collections/${table}?purge=true`],
};

/** Columns, indexes, constraints and parents of the tables of a family. */
const CATALOG = `
SELECT c.oid::regclass::text AS name,
  (SELECT json_agg(json_build_array(attname, format_type(atttypid, atttypmod), attnotnull) ORDER BY attnum)
   FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
  (SELECT json_agg(pg_get_indexdef(indexrelid) ORDER BY indexrelid) FROM pg_index WHERE indrelid = c.oid) AS indexes,
  (SELECT json_agg(pg_get_constraintdef(oid) ORDER BY oid) FROM pg_constraint WHERE conrelid = c.oid) AS constraints,
  (SELECT json_agg(inhparent::regclass::text ORDER BY inhseqno) FROM pg_inherits WHERE inhrelid = c.oid) AS parents
FROM pg_class c WHERE starts_with(c.relname, $1) AND c.relkind IN ('r', 'p') ORDER BY 1`;

interface TrashEntry {
  position: number;
  collection: string;
  field: string | null;
}

interface Drift {
  tables: { table: string; differences: object[] }[];
}

describe('operations on partitions and inherited tables', () => {
  const { api, client, service } = withService({ settings: { DB_SCHEMAS: 'public,second' } });
  let families = 0;

  before(() => api.sql('CREATE SCHEMA elsewhere'));

  const collectionOf = (prefix: string, suffix: string): string => suffix.replace(/^(second\.)?/, `$1${prefix}`);

  /** The tables of the family that differ from the log, except those in `apart`. */
  const drifted = async (prefix: string, apart: readonly string[] = []): Promise<string[]> => {
    const { tables } = await api.ok<Drift>('GET', '/schema/drift');
    return tables
      .filter(
        ({ table }) => table.includes(prefix) && !apart.includes(table.replace(prefix, '').replace('_renamed', '')),
      )
      .map((table) => JSON.stringify(table));
  };
  const observed = async (prefix: string, apart: readonly string[]) => ({
    catalog: await api.sql(CATALOG, [prefix]),
    drift: await drifted(prefix, apart),
    head: await api.head(),
  });
  async function send([method, path, body]: Operation, table: string): Promise<Reply> {
    const { data } = await api.ok<{ data: TrashEntry[] }>('GET', '/trash?limit=1');
    const entry = data.find(({ collection, field }) => collection === table && field === null)?.position ?? 0;
    return client(path(table, entry), body === undefined ? { method } : json(body(table), method));
  }

  for (const { title, create, tables, byHand } of FAMILIES)
    for (const [state, { change, apart = [] }] of Object.entries(byHand))
      for (const suffix of tables)
        it(`succeed or change nothing on ${title} ${state}: ${/^(second\.)?$/.test(suffix) ? 'the root' : `the table ${suffix}`}`, async () => {
          families += 1;
          const prefix = `family_${families}_`;
          const table = collectionOf(prefix, suffix);
          await api.sql(create(prefix));
          const names = tables.map((each) => collectionOf(prefix, each));
          await api.ok('POST', '/schema/adopt', { tables: names });
          const adopted = await api.head();
          expect(await drifted(prefix)).to.deep.equal([]);
          await api.sql(change(prefix));

          let before = await observed(prefix, apart);
          const judge = async (what: string, { status, text }: Reply): Promise<void> => {
            const shown = `${table} ${what}: ${status} ${text}`;
            expect(status, shown).to.be.below(500);
            const after = await observed(prefix, apart);
            if (status < 300)
              expect(after.drift.length, JSON.stringify([shown, after])).to.be.at.most(before.drift.length);
            else expect(after, shown).to.deep.equal(before);
            before = after;
          };
          for (const [what, operation] of Object.entries(OPERATIONS)) await judge(what, await send(operation, table));
          const back = await client(`/history/diff?to=${adopted}`);
          if (back.status === 200)
            await judge('reverts to the adoption', await client('/schema/apply?purge', json(back.json)));

          const repaired = await dps(['drift', '--repair', '--allow-drop', '--purge'], {
            DATABASE_URL: service.databaseUrl,
            DB_SCHEMAS: 'public,second',
          });
          const shown = `${repaired.out}\n${repaired.err}`;
          expect(await drifted(prefix), shown).to.deep.equal([]);
        });
});
