import { expect } from 'chai';
import { withoutNoOps } from '../../../src/features/drift/find.js';
import type { PlannedRepair } from '../../../src/features/drift/model.js';
import {
  type TableToRepair,
  planForDifferent,
  planForMissing,
  repairOf,
  repairOfAll,
} from '../../../src/features/drift/repair-plan.js';
import type { Need } from '../../../src/schema/model/extras.js';
import type { Field, NewRelation } from '../../../src/schema/model/model.js';
import { type CollectionNode, type State, initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { type Objects, catalogObjects, catalogSequence } from '../../projector/catalog-tables.js';
import { column, created, relationCreated, tableOf } from '../../projector/columns.js';

function nodeOf(state: State): CollectionNode {
  const node = state.collections.get('t');
  if (node === undefined) throw new Error('no collection');
  return node;
}

const a = column('t.a', 'integer');
const alias = column('t.note', 'alias', null);
const state = follow(initialState(), [created('other'), created('t', [a, alias]), relationCreated('t.a', 'other')]);
const [id] = [...nodeOf(state).fields.values()] as [Field];
const { id: _, ...relation } = nodeOf(state).relations.get('a') ?? { id: 0 };

/** The actual table with these fields and relations. */
function actualTable(fields: Field[], relations: unknown[] = []): TableToRepair {
  const all = { collection: nodeOf(state).collection, fields, relations: relations as NewRelation[] };
  return { all, rest: all, statements: [] };
}

const planned = (table: TableToRepair) => {
  const { statements, events } = planForDifferent(state, nodeOf(state), table, { schema: 'public', owner: undefined });
  return {
    statements: statements.map(({ sql, drops, field }) => [sql, drops, field]),
    events: events.map(({ type, collection, field }) => `${type} ${collection}.${field}`),
  };
};

describe('the repair of a differing table', () => {
  it('is empty without differences, ignoring aliases', () => {
    expect(planned(actualTable([id, a], [relation]))).to.deep.equal({ statements: [], events: [] });
  });

  it('recreates a foreign key, or removes it from the log', () => {
    expect(planned(actualTable([id, a]))).to.deep.equal({
      statements: [
        [
          'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."other" ("id")',
          false,
          'a',
        ],
      ],
      events: ['relation.updated t.a'],
    });
  });

  it('recreates a column with its dependents', () => {
    const { statements, events } = planned(actualTable([id]));
    expect(statements).to.deep.equal([
      ['ALTER TABLE "public"."t" ADD COLUMN "a" integer', false, 'a'],
      [
        'ALTER TABLE "public"."t" ADD CONSTRAINT "t_a_foreign" FOREIGN KEY ("a") REFERENCES "public"."other" ("id")',
        false,
        'a',
      ],
    ]);
    expect(events).to.deep.equal(['relation.deleted t.a', 'field.deleted t.a']);
  });

  it('drops a column that the log does not have', () => {
    expect(planned(actualTable([id, a, column('t.b', 'text')], [relation]))).to.deep.equal({
      statements: [['ALTER TABLE IF EXISTS "public"."t" DROP COLUMN IF EXISTS "b"', true, 'b']],
      events: ['field.created t.b'],
    });
  });
});

describe('losses of a repair', () => {
  const dropsOf = (table: TableToRepair) =>
    planForDifferent(state, nodeOf(state), table, { schema: 'public', owner: undefined }).statements.map(
      ({ summary, drops }) => [summary, drops],
    );
  const unique = column('t.a', 'integer', { is_unique: true });

  it('are marked for rows, values and parts of the table', () => {
    expect(dropsOf(actualTable([id, unique], [relation]))).to.deep.equal([['drop the unique constraint of t.a', true]]);
    expect(dropsOf(actualTable([id, column('t.a', 'bigInteger')], [relation]))).to.deep.equal([
      ['drop the foreign key of t.a', true],
      ['alter column t.a: type', false],
      ['add a foreign key from t.a to other', false],
    ]);
  });

  it('are not marked for a different representation of the whole table', () => {
    const withKey = actualTable([id, a], [relation]);
    const all = { ...withKey.all, collection: tableOf('t', { comment: 'c' }) };
    const plan = planForDifferent(
      state,
      nodeOf(state),
      { ...withKey, all, rest: all },
      { schema: 'public', owner: undefined },
    );
    const { database, log } = repairOf(plan, undefined);
    expect(database.map(({ sql, drops }) => [sql, drops])).to.deep.equal([
      ['COMMENT ON TABLE "public"."t" IS NULL', false],
    ]);
    expect(log.map(({ type, field }) => [type, field])).to.deep.equal([['collection.updated', null]]);
    expect(repairOf(plan, 'a')).to.deep.equal({ database: [], log: [] });
  });
});

describe('the repair of a missing table', () => {
  it('ensures its needs and lists that', () => {
    const needs: Need[] = [
      { kind: 'extension', name: 'citext' },
      { kind: 'sequence', name: 's', owned_by: 'a' },
    ];
    const needing = follow(initialState(), [created('t', [a], { extras: { needs } })]);
    const { statements } = planForMissing(needing, nodeOf(needing), { schema: 'public', owner: undefined });
    expect(
      statements.map((each) => [each.object.kind, each.object.name, 'ensures' in each && each.ensures]),
    ).to.deep.equal([
      ['extension', 'citext', 'object'],
      ['sequence', 's', 'object'],
      ['table', 't', false],
      ['sequence', 's', 'owner'],
    ]);
  });

  it('creates it, or removes it from the log', () => {
    const { statements, events } = planForMissing(state, nodeOf(state), { schema: 'public', owner: undefined });
    expect(statements.map(({ summary, field, drops }) => [summary, field, drops])).to.deep.equal([
      ['create table t', null, false],
      ['add a foreign key from t.a to other', null, false],
    ]);
    expect(events.map(({ type, collection, field }) => `${type} ${collection}.${field}`)).to.deep.equal([
      'relation.deleted t.a',
      'collection.deleted t.null',
    ]);
  });
});

describe('a part of a repair', () => {
  const plan = planForDifferent(state, nodeOf(state), actualTable([id, column('t.b', 'text')]), {
    schema: 'public',
    owner: undefined,
  });

  it('contains the statements of a field with its related events', () => {
    const summaries = (...about: Parameters<typeof repairOf>) => {
      const { database, log } = repairOf(...about);
      return [database.map(({ summary }) => summary), log.map(({ type, field }) => `${type} ${field}`)];
    };
    expect(summaries(plan, 'b')).to.deep.equal([['drop column t.b'], ['field.created b']]);
    expect(summaries(plan, 'a', { others: ['b'] })).to.deep.equal([
      ['add column t.a', 'add a foreign key from t.a to other'],
      ['relation.deleted a', 'field.deleted a', 'field.created b'],
    ]);
    expect(summaries(plan, undefined)).to.deep.equal([[], []]);
    expect(repairOfAll(plan).database.every((each) => Object.keys(each).join() === 'sql,summary,drops')).to.equal(true);
    expect(repairOfAll(plan).log.every((each) => Object.keys(each).join() === 'type,collection,field,data')).to.equal(
      true,
    );
  });
});

describe('a repair statement without effect', () => {
  const kinds: [Need['kind'], Objects][] = [
    ['extension', { extensions: ['x'] }],
    ['collation', { collations: new Map([['x', { provider: 'libc' as const }]]) }],
    ['sequence', { sequences: [catalogSequence('x', 'bigint')] }],
    ['enum', { typeNames: ['x'] }],
    ['domain', { typeNames: ['x'] }],
  ];
  const left = (more: Partial<PlannedRepair>, objects: Objects, needs: Need[] = []): number => {
    const statement = { sql: '', summary: '', drops: false, field: null, ...more } as PlannedRepair;
    const node = { ...nodeOf(state), collection: tableOf('t', { extras: { needs } }) };
    return withoutNoOps({ statements: [statement] }, node, { beside: catalogObjects(objects) }).statements.length;
  };
  const all: Objects = Object.assign({}, ...kinds.map(([, objects]) => objects)) as Objects;

  for (const [kind, objects] of kinds) {
    it(`ensures ${kind} that exists`, () => {
      const object = { kind, name: 'x', table: null };
      expect(left({ object, ensures: 'object' }, objects)).to.equal(0);
      expect(left({ object: { ...object, name: 'y' }, ensures: 'object' }, all)).to.equal(1);
      expect(left({ object }, all)).to.equal(1);
      const isType = (each: string): boolean => each === 'enum' || each === 'domain';
      for (const [other, each] of kinds) {
        if (other !== kind && !(isType(other) && isType(kind))) {
          expect(left({ object, ensures: 'object' }, each), other).to.equal(1);
        }
      }
    });
  }

  it('sets the owner of a sequence', () => {
    const object = { kind: 'sequence', name: 'x', table: null } as const;
    const needs: Need[] = [
      { kind: 'sequence', name: 'w', owned_by: 'b' },
      { kind: 'sequence', name: 'x', owned_by: 'a' },
    ];
    const owned = (table: string, by: string) => ({
      sequences: [catalogSequence('x', 'bigint', { owner: { table, column: by } })],
    });
    expect(left({ object, ensures: 'owner' }, owned('t', 'a'), needs)).to.equal(0);
    expect(left({ object, ensures: 'owner' }, owned('t', 'b'), needs)).to.equal(1);
    expect(left({ object, ensures: 'owner' }, owned('other', 'a'), needs)).to.equal(1);
    expect(left({ object, ensures: 'owner' }, owned('t', 'a'))).to.equal(1);
    expect(left({ object, ensures: 'owner' }, all, needs)).to.equal(1);
    expect(left({ object, ensures: 'owner' }, owned('t', 'a'), [{ kind: 'enum', name: 'x', labels: [] }])).to.equal(1);
  });
});
