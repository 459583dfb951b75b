import { expect } from 'chai';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Field } from '../../../src/schema/model/model.js';
import { column, created, relationCreated, renamed, tableOf, unrelated } from '../columns.js';
import { planned } from './planned.js';

const manyColumn = (name: string) => column(name, 'integer');

/** A table without the default columns. */
const without = (name: string, fields: Field[]): NewEvent => {
  const event = created(name);
  return { ...event, data: { ...event.data, fields } } as NewEvent;
};

const folder = (name: string): NewEvent =>
  ({ ...created(name), data: { collection: tableOf(name, null), fields: [] } }) as NewEvent;

describe('the plan for renames', () => {
  it('renames a table with its default names', () => {
    expect(
      planned(
        [
          created('other'),
          created('t', [
            column('a', 'integer', { is_unique: true, is_indexed: true }),
            column('b', 'integer', { is_nullable: false }),
            column('c', 'integer', { extras: { unique_name: 'u' }, is_unique: true }),
          ]),
          relationCreated('t.b', 'other'),
        ],
        [renamed('t', 'n')],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" RENAME TO "n" -- rename table t to n: table t, t ACCESS EXCLUSIVE, 6 entries',
      'ALTER TABLE "public"."n" RENAME CONSTRAINT "t_pkey" TO "n_pkey" -- rename the primary key of n: table t, t ACCESS EXCLUSIVE, 2 entries',
      'DO -- rename the sequence of n.id: table t, 2 entries',
      'ALTER TABLE "public"."n" RENAME CONSTRAINT "t_a_unique" TO "n_a_unique" -- rename the constraint of n.a: table t, t ACCESS EXCLUSIVE, 2 entries',
      'DO -- rename the index of n.a: table t, t ACCESS EXCLUSIVE, 2 entries',
      'DO -- rename NOT NULL constraints of n: table t, t ACCESS EXCLUSIVE, 2 entries',
    ]);
  });

  it("keeps custom names of a table's objects", () => {
    expect(
      planned(
        [
          created('t', [
            column('k', 'integer', {
              is_primary_key: true,
              is_nullable: false,
              extras: { primary_key_name: 'key', not_null_name: 'nn' },
            }),
            column('a', 'integer', { is_indexed: true, extras: { index_name: 'i' } }),
          ]),
        ],
        [renamed('t', 'n')],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" RENAME TO "n" -- rename table t to n: table t, t ACCESS EXCLUSIVE, 6 entries',
      'DO -- rename the NOT NULL constraint of n.k: table t, t ACCESS EXCLUSIVE, 2 entries',
    ]);
  });

  it('renames a table without a key', () => {
    expect(planned([without('t', [manyColumn('a')])], [renamed('t', 'n')])).to.deep.equal([
      'ALTER TABLE "public"."t" RENAME TO "n" -- rename table t to n: table t, t ACCESS EXCLUSIVE, 6 entries',
    ]);
  });

  it('renames a table with a relation named after it', () => {
    expect(
      planned(
        [
          created('other'),
          created('t', [manyColumn('a'), manyColumn('b')]),
          relationCreated('t.a', 'other', { constraint_name: 'mine' }),
          relationCreated('t.b', 'other', null),
        ],
        [renamed('t', 'n')],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" RENAME TO "n" -- rename table t to n: table t, t ACCESS EXCLUSIVE, 6 entries',
      'ALTER TABLE "public"."n" RENAME CONSTRAINT "t_pkey" TO "n_pkey" -- rename the primary key of n: table t, t ACCESS EXCLUSIVE, 2 entries',
      'DO -- rename the sequence of n.id: table t, 2 entries',
      'DO -- rename the NOT NULL constraint of n.id: table t, t ACCESS EXCLUSIVE, 2 entries',
    ]);
  });

  it('renames a folder without statements', () => {
    expect(planned([folder('f')], [renamed('f', 'g')])).to.deep.equal([]);
  });

  it('renames a column with its default names', () => {
    expect(
      planned(
        [
          created('other'),
          created('t', [column('a', 'integer', { is_unique: true, is_indexed: true, is_nullable: false })]),
          relationCreated('t.a', 'other'),
        ],
        [renamed('t.a', 'b')],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" RENAME COLUMN "a" TO "b" -- rename column t.a to b: column t.a, t ACCESS EXCLUSIVE, 4 entries',
      'ALTER TABLE "public"."t" RENAME CONSTRAINT "t_a_unique" TO "t_b_unique" -- rename the constraint of t.b: column t.a, t ACCESS EXCLUSIVE, 2 entries',
      'DO -- rename the index of t.b: index t.t_b_index, t ACCESS EXCLUSIVE, 2 entries',
      'DO -- rename the NOT NULL constraint of t.b: column t.a, t ACCESS EXCLUSIVE, 2 entries',
    ]);
  });

  it('renames an auto increment column', () => {
    expect(planned([created('t')], [renamed('t.id', 'key')])).to.deep.equal([
      'ALTER TABLE "public"."t" RENAME COLUMN "id" TO "key" -- rename column t.id to key: column t.id, t ACCESS EXCLUSIVE, 4 entries',
      'DO -- rename the sequence of t.key: column t.id, 2 entries',
      'DO -- rename the NOT NULL constraint of t.key: column t.id, t ACCESS EXCLUSIVE, 2 entries',
    ]);
  });

  it('renames an alias without statements', () => {
    expect(planned([created('t', [column('a', 'alias', null)])], [renamed('t.a', 'b')])).to.deep.equal([]);
  });

  it("renames a partition's column with its parent's", () => {
    expect(
      planned(
        [
          created('p', [manyColumn('a')], { extras: { partition_by: 'LIST (a)' } }),
          created('t', [column('a', 'integer', { is_indexed: true })], {
            extras: { partition_of: { table: 'p', bound: 'DEFAULT' } },
          }),
        ],
        [renamed('p.a', 'b'), renamed('t.a', 'b')],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."p" RENAME COLUMN "a" TO "b" -- rename column p.a to b: column p.a, p ACCESS EXCLUSIVE, 4 entries',
      'DO -- rename the index of t.b: index t.t_b_index, t ACCESS EXCLUSIVE, 2 entries',
    ]);
  });

  it('retargets and renames a relation', () => {
    expect(
      planned(
        [created('other'), created('more'), created('t', [manyColumn('a')]), relationCreated('t.a', 'other')],
        [
          unrelated('t.a'),
          relationCreated('t.a', 'more', {
            on_update: 'CASCADE',
            on_delete: 'RESTRICT',
            deferrable: 'INITIALLY IMMEDIATE',
          }),
        ],
      ),
    ).to.deep.equal([
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "t_a_foreign" -- drop the foreign key of t.a: constraint t.t_a_foreign, t ACCESS EXCLUSIVE, other ACCESS EXCLUSIVE, 7 entries, drops constraint t_a_foreign',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."more" ("id") ON UPDATE CASCADE ON DELETE RESTRICT DEFERRABLE -- add a foreign key from t.a to more: constraint t.t_a_foreign, t SHARE ROW EXCLUSIVE, more SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint t_a_foreign more FOREIGN KEY ("a") REFERENCES "public"."more" ("id") ON UPDATE CASCADE ON DELETE RESTRICT DEFERRABLE',
    ]);
  });

  it('leaves the foreign keys of a partition to its parent', () => {
    expect(
      planned(
        [
          created('other'),
          created('p', [manyColumn('a')], { extras: { partition_by: 'LIST (a)' } }),
          relationCreated('p.a', 'other'),
          created('t', [manyColumn('a')], { extras: { partition_of: { table: 'p', bound: 'DEFAULT' } } }),
        ],
        [relationCreated('t.a', 'other')],
      ),
    ).to.deep.equal([]);
  });
});
