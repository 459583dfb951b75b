import { expect } from 'chai';
import type { NewEvent } from '../../../src/schema/model/events.js';
import { column, created, relationCreated, unrelated } from '../columns.js';
import { planned } from './planned.js';

const manyColumn = (name: string) => column(name, 'integer');

const set = (path: string, value: unknown): object => ({ op: 'replace', path, value });

/** relation.updated with these operations. */
function relationUpdated(relation: string, ...patch: object[]): NewEvent {
  const [collection = '', field = ''] = relation.split('.');
  return { type: 'relation.updated', version: 1, collection, field, data: { patch } } as NewEvent;
}

describe('the plan for relations', () => {
  it('follows a relation to another table', () => {
    expect(
      planned(
        [created('one'), created('two'), created('t', [manyColumn('a')]), relationCreated('t.a', 'one')],
        [relationUpdated('t.a', set('/one_collection', 'two'))],
      ),
    ).to.deep.equal([
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "t_a_foreign" -- drop the foreign key of t.a: constraint t.t_a_foreign, t ACCESS EXCLUSIVE, one ACCESS EXCLUSIVE, 7 entries, drops constraint t_a_foreign',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."two" ("id") -- add a foreign key from t.a to two: constraint t.t_a_foreign, t SHARE ROW EXCLUSIVE, two SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint t_a_foreign two FOREIGN KEY ("a") REFERENCES "public"."two" ("id")',
    ]);
  });

  it('recreates a key with a different action or deferrability', () => {
    expect(
      planned(
        [created('one'), created('t', [manyColumn('a')]), relationCreated('t.a', 'one')],
        [
          relationUpdated('t.a', set('/schema/on_update', 'CASCADE')),
          relationUpdated('t.a', set('/schema/on_delete', 'SET DEFAULT')),
          relationUpdated('t.a', { op: 'add', path: '/schema/deferrable', value: 'INITIALLY DEFERRED' }),
        ],
      ),
    ).to.deep.equal([
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "t_a_foreign" -- drop the foreign key of t.a: constraint t.t_a_foreign, t ACCESS EXCLUSIVE, one ACCESS EXCLUSIVE, 7 entries, drops constraint t_a_foreign',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON UPDATE CASCADE -- add a foreign key from t.a to one: constraint t.t_a_foreign, t SHARE ROW EXCLUSIVE, one SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint t_a_foreign one FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON UPDATE CASCADE',
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "t_a_foreign" -- drop the foreign key of t.a: constraint t.t_a_foreign, t ACCESS EXCLUSIVE, one ACCESS EXCLUSIVE, 7 entries, drops constraint t_a_foreign',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON UPDATE CASCADE ON DELETE SET DEFAULT -- add a foreign key from t.a to one: constraint t.t_a_foreign, t SHARE ROW EXCLUSIVE, one SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint t_a_foreign one FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON UPDATE CASCADE ON DELETE SET DEFAULT',
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "t_a_foreign" -- drop the foreign key of t.a: constraint t.t_a_foreign, t ACCESS EXCLUSIVE, one ACCESS EXCLUSIVE, 7 entries, drops constraint t_a_foreign',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON UPDATE CASCADE ON DELETE SET DEFAULT DEFERRABLE INITIALLY DEFERRED -- add a foreign key from t.a to one: constraint t.t_a_foreign, t SHARE ROW EXCLUSIVE, one SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint t_a_foreign one FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON UPDATE CASCADE ON DELETE SET DEFAULT DEFERRABLE INITIALLY DEFERRED',
    ]);
  });

  it('renames a foreign key constraint', () => {
    expect(
      planned(
        [created('one'), created('t', [manyColumn('a')]), relationCreated('t.a', 'one')],
        [relationUpdated('t.a', set('/schema/constraint_name', 'k'))],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" RENAME CONSTRAINT "t_a_foreign" TO "k" -- rename the foreign key of t.a: constraint t.k, t ACCESS EXCLUSIVE, 2 entries',
    ]);
  });

  it('recreates a key under another name', () => {
    expect(
      planned(
        [created('one'), created('t', [manyColumn('a')]), relationCreated('t.a', 'one')],
        [relationUpdated('t.a', set('/schema/constraint_name', 'k'), set('/schema/on_delete', 'CASCADE'))],
      ),
    ).to.deep.equal([
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "t_a_foreign" -- drop the foreign key of t.a: constraint t.t_a_foreign, t ACCESS EXCLUSIVE, one ACCESS EXCLUSIVE, 7 entries, drops constraint t_a_foreign',
      'ALTER TABLE "public"."t" ADD CONSTRAINT "k" FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON DELETE CASCADE -- add a foreign key from t.a to one: constraint t.k, t SHARE ROW EXCLUSIVE, one SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint k one FOREIGN KEY ("a") REFERENCES "public"."one" ("id") ON DELETE CASCADE',
    ]);
  });

  it('creates and drops a key for changes to metadata members', () => {
    expect(
      planned(
        [created('one'), created('t', [manyColumn('a')]), relationCreated('t.a', 'one', null)],
        [
          relationUpdated(
            't.a',
            set('/schema', { constraint_name: 'k', on_update: 'NO ACTION', on_delete: 'NO ACTION' }),
          ),
          relationUpdated('t.a', set('/schema', null)),
          relationUpdated('t.a', set('/one_deselect_action', 'delete')),
        ],
      ),
    ).to.deep.equal([
      'ALTER TABLE "public"."t" ADD CONSTRAINT "k" FOREIGN KEY ("a") REFERENCES "public"."one" ("id") -- add a foreign key from t.a to one: constraint t.k, t SHARE ROW EXCLUSIVE, one SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint k one FOREIGN KEY ("a") REFERENCES "public"."one" ("id")',
      'ALTER TABLE IF EXISTS "public"."t" DROP CONSTRAINT IF EXISTS "k" -- drop the foreign key of t.a: constraint t.k, t ACCESS EXCLUSIVE, one ACCESS EXCLUSIVE, 7 entries, drops constraint k',
    ]);
  });

  it("references the service's users", () => {
    expect(planned([created('t', [column('u', 'uuid')])], [relationCreated('t.u', 'service_users')])).to.deep.equal([
      'ALTER TABLE "public"."t" ADD CONSTRAINT "t_u_foreign" FOREIGN KEY ("u") REFERENCES #service_users ("id") -- add a foreign key from t.u to service_users: constraint t.t_u_foreign, t SHARE ROW EXCLUSIVE, service_users SHARE ROW EXCLUSIVE, 4 entries, may fail, prepared as constraint t_u_foreign service_users FOREIGN KEY ("u") REFERENCES #service_users ("id")',
    ]);
  });

  it('references a table created in the same batch', () => {
    expect(planned([], [created('one'), created('t', [manyColumn('a')]), relationCreated('t.a', 'one')])).to.deep.equal(
      [
        'CREATE TABLE "public"."one" ( "id" integer GENERATED BY DEFAULT AS IDENTITY NOT NULL, CONSTRAINT "one_pkey" PRIMARY KEY ("id") ) -- create table one: table one, 11 entries',
        'CREATE TABLE "public"."t" ( "id" integer GENERATED BY DEFAULT AS IDENTITY NOT NULL, "a" integer, CONSTRAINT "t_pkey" PRIMARY KEY ("id") ) -- create table t: table t, 11 entries',
        'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."one" ("id") -- add a foreign key from t.a to one: constraint t.t_a_foreign, 4 entries',
      ],
    );
  });

  it('leaves the key of a partition to its parent', () => {
    expect(
      planned(
        [
          created('one'),
          created('p', [manyColumn('a')], { extras: { partition_by: 'LIST (a)' } }),
          relationCreated('p.a', 'one'),
          created('t', [manyColumn('a')], { extras: { partition_of: { table: 'p', bound: 'DEFAULT' } } }),
          relationCreated('t.a', 'one'),
        ],
        [unrelated('t.a')],
      ),
    ).to.deep.equal([]);
  });
});
