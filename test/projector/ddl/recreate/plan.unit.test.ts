import { expect } from 'chai';
import { added, changed, column, created, dropped, relationCreated, renamed } from '../../columns.js';
import { planned } from '../planned.js';

const manyColumn = (name: string) => column(name, 'integer');

describe('a plan', () => {
  it('recreates keys and indexes on a generated column', () => {
    expect(
      planned(
        [
          created('other'),
          created(
            't',
            [
              manyColumn('a'),
              column('g', 'integer', { generation_expression: 'a + 1', is_unique: true, is_indexed: true }),
              column('h', 'integer', { generation_expression: 'id + 1', is_indexed: true }),
            ],
            {
              extras: {
                constraints: [
                  { name: 'c', definition: 'CHECK ((g > 0))' },
                  { name: 'k', definition: 'UNIQUE (a, g)' },
                  { name: 'l', definition: 'CHECK ((a > 0))' },
                  { name: 'f', definition: 'FOREIGN KEY (g) REFERENCES other(id)', references: 'other' },
                ],
                indexes: [
                  { name: 'i', definition: 'USING btree (g, a)' },
                  { name: 'j', definition: 'USING btree (a)' },
                  { name: 'w', definition: 'USING btree (id) WHERE (g > 0)' },
                ],
              },
            },
          ),
        ],
        [changed(manyColumn('a'), column('a', 'bigInteger', {}))],
      ),
    ).to.deep.equal([
      'DO -- check that no other object depends on g of t: column t.a, 1 entry',
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "f" -- drop constraint f of t: constraint t.f, t ACCESS EXCLUSIVE, other ACCESS EXCLUSIVE, 7 entries, drops constraint f',
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "c" -- drop constraint c of t: constraint t.c, t ACCESS EXCLUSIVE, 4 entries, drops constraint c',
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "k" -- drop constraint k of t: constraint t.k, t ACCESS EXCLUSIVE, 4 entries, drops constraint k',
      'DO -- drop index i of t: index t.i, t ACCESS EXCLUSIVE, 2 entries, drops index i',
      'DO -- drop index w of t: index t.w, t ACCESS EXCLUSIVE, 2 entries, drops index w',
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "g" -- drop column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE "public"."t" ALTER COLUMN "a" TYPE bigint USING "a"::bigint -- alter column t.a: type: column t.a, t ACCESS EXCLUSIVE, 8 entries, rewrites',
      'DO -- keep the definitions of l on t: column t.a, t ACCESS EXCLUSIVE, 8 entries',
      'ALTER TABLE "public"."t" ADD COLUMN "g" integer GENERATED ALWAYS AS (a + 1) STORED -- add column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, rewrites, may fail',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_g_unique" UNIQUE ("g") -- make t.g unique: constraint t.t_g_unique, t ACCESS EXCLUSIVE, 3 entries, may fail',
      'CREATE INDEX "t_g_index" ON "public"."t" ("g") -- create index on t.g: index t.t_g_index, t SHARE, 2 entries, prepared as index t_g_index false ("g")',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "c" CHECK ((g > 0)) -- add constraint c to t: constraint t.c, t ACCESS EXCLUSIVE, 4 entries, may fail, prepared as constraint c CHECK ((g > 0))',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "k" UNIQUE (a, g) -- add constraint k to t: constraint t.k, t ACCESS EXCLUSIVE, 4 entries, may fail, prepared as key k UNIQUE ("a", "g") ',
      'CREATE INDEX "i" ON "public"."t" USING btree (g, a) -- create index i on t: index t.i, t SHARE, 2 entries, may fail, prepared as index i false USING btree (g, a)',
      'CREATE INDEX "w" ON "public"."t" USING btree (id) WHERE (g > 0) -- create index w on t: index t.w, t SHARE, 2 entries, may fail, prepared as index w false USING btree (id) WHERE (g > 0)',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "f" FOREIGN KEY (g) REFERENCES other(id) -- add constraint f to t: constraint t.f, t SHARE ROW EXCLUSIVE, other SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint f other FOREIGN KEY (g) REFERENCES other(id)',
    ]);
  });

  it('recreates a generated key column and its references', () => {
    expect(
      planned(
        [
          created('t', [
            manyColumn('a'),
            column('g', 'integer', { generation_expression: 'a + 1', is_primary_key: true, is_nullable: false }),
          ]),
          created('u', [manyColumn('r')], {}),
          relationCreated('u.r', 't'),
        ],
        [changed(manyColumn('a'), column('a', 'bigInteger', {}))],
      ),
    ).to.deep.equal([
      'DO -- check that no other object depends on g of t: column t.a, 1 entry',
      'ALTER TABLE IF EXISTS "public"."u" DROP CONSTRAINT IF EXISTS "u_r_foreign" -- drop the foreign key of u.r: constraint u.u_r_foreign, u ACCESS EXCLUSIVE, t ACCESS EXCLUSIVE, 7 entries, drops constraint u_r_foreign',
      'ALTER TABLE "public"."t" DROP CONSTRAINT IF EXISTS "t_pkey" -- drop the primary key of t: constraint t.t_pkey, t ACCESS EXCLUSIVE, 3 entries, drops constraint t_pkey',
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "g" -- drop column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE "public"."t" ALTER COLUMN "a" TYPE bigint USING "a"::bigint -- alter column t.a: type: column t.a, t ACCESS EXCLUSIVE, 8 entries, rewrites',
      'ALTER TABLE "public"."t" ADD COLUMN "g" integer GENERATED ALWAYS AS (a + 1) STORED NOT NULL -- add column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, rewrites, may fail',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_pkey" PRIMARY KEY ("g") -- make g the primary key of t: constraint t.t_pkey, t ACCESS EXCLUSIVE, 3 entries, may fail, prepared as key t_pkey PRIMARY KEY ("g") ',
      'ALTER TABLE "public"."u" ADD CONSTRAINT "u_r_foreign" FOREIGN KEY ("r") REFERENCES "public"."t" ("g") -- add a foreign key from u.r to t: constraint u.u_r_foreign, u SHARE ROW EXCLUSIVE, t SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint u_r_foreign t FOREIGN KEY ("r") REFERENCES "public"."t" ("g")',
    ]);
  });

  it('recreates a column with a different expression', () => {
    expect(
      planned(
        [created('t', [manyColumn('a'), column('g', 'integer', { generation_expression: 'a + 1' }), manyColumn('z')])],
        [
          changed(
            column('g', 'integer', { generation_expression: 'a + 1' }),
            column('g', 'integer', { generation_expression: 'a + 2' }),
          ),
        ],
      ),
    ).to.deep.equal([
      'DO -- check that no other object depends on g of t: column t.g, 1 entry',
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "g" -- drop column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE "public"."t" ADD COLUMN "g" integer GENERATED ALWAYS AS (a + 2) STORED -- add column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, rewrites, may fail',
    ]);
  });

  it('recreates a column whose input is dropped', () => {
    expect(
      planned(
        [created('t', [manyColumn('a'), column('g', 'integer', { generation_expression: 'a + 1' })])],
        [dropped(column('g', 'integer', { generation_expression: 'a + 1' })), dropped(manyColumn('a'))],
      ),
    ).to.deep.equal([
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "g" -- drop column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "a" -- drop column t.a: column t.a, t ACCESS EXCLUSIVE, 5 entries, loses data, drops column a',
    ]);
  });

  it('recreates shared dependencies of two changes once', () => {
    expect(
      planned(
        [created('t', [manyColumn('a'), manyColumn('b'), column('g', 'integer', { generation_expression: 'a + b' })])],
        [
          changed(manyColumn('a'), column('a', 'bigInteger', {})),
          changed(manyColumn('b'), column('b', 'bigInteger', {})),
        ],
      ),
    ).to.deep.equal([
      'DO -- check that no other object depends on g of t: column t.a, 1 entry',
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "g" -- drop column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE "public"."t" ALTER COLUMN "a" TYPE bigint USING "a"::bigint -- alter column t.a: type: column t.a, t ACCESS EXCLUSIVE, 8 entries, rewrites',
      'ALTER TABLE "public"."t" ALTER COLUMN "b" TYPE bigint USING "b"::bigint -- alter column t.b: type: column t.b, t ACCESS EXCLUSIVE, 8 entries, rewrites',
      'ALTER TABLE "public"."t" ADD COLUMN "g" integer GENERATED ALWAYS AS (a + b) STORED -- add column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, rewrites, may fail',
    ]);
  });

  it('recreates columns before a rename', () => {
    expect(
      planned(
        [created('t', [manyColumn('a'), column('g', 'integer', { generation_expression: 'a + 1' })])],
        [changed(manyColumn('a'), column('a', 'bigInteger', {})), renamed('t.a', 'b')],
      ),
    ).to.deep.equal([
      'DO -- check that no other object depends on g of t: column t.a, 1 entry',
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "g" -- drop column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE "public"."t" ALTER COLUMN "a" TYPE bigint USING "a"::bigint -- alter column t.a: type: column t.a, t ACCESS EXCLUSIVE, 8 entries, rewrites',
      'ALTER TABLE "public"."t" ADD COLUMN "g" integer GENERATED ALWAYS AS (a + 1) STORED -- add column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, rewrites, may fail',
      'ALTER TABLE "public"."t" RENAME COLUMN "a" TO "b" -- rename column t.a to b: column t.a, t ACCESS EXCLUSIVE, 4 entries',
    ]);
  });

  it('recreates columns of each table separately', () => {
    expect(
      planned(
        [
          created('t', [manyColumn('a'), column('g', 'integer', { generation_expression: 'a + 1' })]),
          created('u', [manyColumn('u.a'), column('u.g', 'integer', { generation_expression: 'a + 1' })]),
        ],
        [
          changed(manyColumn('a'), column('a', 'bigInteger', {})),
          changed(column('u.a', 'integer'), column('u.a', 'bigInteger', {})),
          added(column('b', 'integer')),
        ],
      ),
    ).to.deep.equal([
      'DO -- check that no other object depends on g of t: column t.a, 1 entry',
      'ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "g" -- drop column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE "public"."t" ALTER COLUMN "a" TYPE bigint USING "a"::bigint -- alter column t.a: type: column t.a, t ACCESS EXCLUSIVE, 8 entries, rewrites',
      'DO -- check that no other object depends on g of u: column u.a, 1 entry',
      'ALTER TABLE IF EXISTS "public"."u" DROP COLUMN IF EXISTS "g" -- drop column u.g: column u.g, u ACCESS EXCLUSIVE, 5 entries, drops column g',
      'ALTER TABLE "public"."u" ALTER COLUMN "a" TYPE bigint USING "a"::bigint -- alter column u.a: type: column u.a, u ACCESS EXCLUSIVE, 8 entries, rewrites',
      'ALTER TABLE "public"."u" ADD COLUMN "g" integer GENERATED ALWAYS AS (a + 1) STORED -- add column u.g: column u.g, u ACCESS EXCLUSIVE, 5 entries, rewrites, may fail',
      'ALTER TABLE "public"."t" ADD COLUMN "b" integer -- add column t.b: column t.b, t ACCESS EXCLUSIVE, 5 entries',
      'ALTER TABLE "public"."t" ADD COLUMN "g" integer GENERATED ALWAYS AS (a + 1) STORED -- add column t.g: column t.g, t ACCESS EXCLUSIVE, 5 entries, rewrites, may fail',
    ]);
  });

  it('does not recreate a column that keeps its former computed values', () => {
    expect(
      planned(
        [created('t', [manyColumn('a'), column('g', 'integer', { generation_expression: 'a + 1' })])],
        [
          changed(column('g', 'integer', { generation_expression: 'a + 1' }), column('g', 'integer')),
          changed(manyColumn('a'), column('a', 'bigInteger', {})),
        ],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" ALTER COLUMN "g" DROP EXPRESSION IF EXISTS -- keep the values of t.g: column t.g, t ACCESS EXCLUSIVE, 1 entry',
      'ALTER TABLE "public"."t" ALTER COLUMN "a" TYPE bigint USING "a"::bigint -- alter column t.a: type: column t.a, t ACCESS EXCLUSIVE, 8 entries, rewrites',
    ]);
  });

  it('does not recreate an undisturbed column', () => {
    expect(
      planned(
        [created('t', [manyColumn('a'), manyColumn('b'), column('g', 'integer', { generation_expression: 'a + 1' })])],
        [
          changed(manyColumn('b'), column('b', 'bigInteger', {})),
          changed(manyColumn('a'), column('a', 'integer', { comment: 'x' })),
        ],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" ALTER COLUMN "b" TYPE bigint USING "b"::bigint -- alter column t.b: type: column t.b, t ACCESS EXCLUSIVE, 8 entries, rewrites',
      'COMMENT ON COLUMN "public"."t"."a" IS \'x\' -- comment on t.a: column t.a, t SHARE UPDATE EXCLUSIVE, 1 entry',
    ]);
  });
});
