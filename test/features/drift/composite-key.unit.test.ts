import { expect } from 'chai';
import { repairKey } from '../../../src/features/drift/repair-plan.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type CollectionNode, initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import { column, created, tableOf } from '../../projector/columns.js';

type Key = TableExtras['primary_key'];

/** A table `t` with `a`, `b` and `c`. The given fields form its key. */
function keyed(columns: string[], key?: Key, names: object = {}): CollectionNode {
  const fields = ['a', 'b', 'c'].map((name) => {
    const isKey = columns.includes(name);
    const schema = { is_primary_key: isKey, is_unique: isKey, is_nullable: false };
    return column(name, 'integer', { ...schema, ...(isKey && Object.keys(names).length > 0 ? { extras: names } : {}) });
  });
  const event = created('t', fields);
  const node = follow(initialState(), [{ ...event, data: { ...event.data, fields } } as typeof event]).collections.get(
    't',
  );
  if (node === undefined) throw new Error('no collection');
  const schema = { comment: null, ...(key === undefined ? {} : { extras: { primary_key: key } }) };
  return { ...node, collection: { ...tableOf('t'), schema } };
}

const both = (name = 'k', columns = ['a', 'b'], definition?: string): Key => ({
  name,
  columns,
  ...(definition === undefined ? {} : { definition }),
});
const ALTER = 'ALTER TABLE "public"."t"';

function repair(known: CollectionNode, there: CollectionNode) {
  const plan = repairKey(known, there, 'public');
  if (plan === null) return null;
  const shown = (statements: typeof plan.before) =>
    statements.map(({ field, sql, drops, object: { kind, name } }) => {
      expect(kind).to.equal('constraint');
      return [field, sql.replace(`${ALTER} `, ''), drops, name];
    });
  const marked = (node: CollectionNode) =>
    [...node.fields.values()].filter((each: Field) => each.schema?.is_primary_key).map(({ field }) => field);
  return {
    before: shown(plan.before),
    after: shown(plan.after),
    marked: marked(plan.there),
    extras: plan.there.collection.schema?.extras ?? null,
  };
}

describe('a multi-column key', () => {
  it('needs no repair if it is right or belongs to one field', () => {
    expect(repair(keyed(['a', 'b'], both()), keyed(['a', 'b'], both()))).to.equal(null);
    expect(repair(keyed(['a']), keyed(['a']))).to.equal(null);
    expect(repair(keyed(['a']), keyed([]))).to.equal(null);
    expect(repair(keyed([]), keyed(['a']))).to.equal(null);
    expect(repair(keyed(['a'], undefined, { primary_key_name: 'x' }), keyed(['a']))).to.equal(null);
  });

  it('replaces another multi-column key', () => {
    expect(repair(keyed(['a', 'b'], both()), keyed(['a']))).to.deep.equal({
      before: [[null, 'DROP CONSTRAINT "t_pkey"', true, 't_pkey']],
      after: [[null, 'ADD CONSTRAINT "k" PRIMARY KEY ("a", "b")', false, 'k']],
      marked: ['a', 'b'],
      extras: { primary_key: both() },
    });
    expect(repair(keyed(['a']), keyed(['a', 'b'], both()))).to.deep.equal({
      before: [['a', 'DROP CONSTRAINT "k"', true, 'k']],
      after: [['a', 'ADD CONSTRAINT "t_pkey" PRIMARY KEY ("a")', false, 't_pkey']],
      marked: ['a'],
      extras: null,
    });
    expect(repair(keyed(['b']), keyed(['a']))).to.deep.include({
      before: [['b', 'DROP CONSTRAINT "t_pkey"', true, 't_pkey']],
      after: [['b', 'ADD CONSTRAINT "t_pkey" PRIMARY KEY ("b")', false, 't_pkey']],
      marked: ['b'],
    });
    expect(repair(keyed(['a', 'b'], both('k', ['b', 'a'])), keyed(['a', 'b'], both()))).to.deep.include({
      before: [[null, 'DROP CONSTRAINT "k"', true, 'k']],
      after: [[null, 'ADD CONSTRAINT "k" PRIMARY KEY ("b", "a")', false, 'k']],
    });
  });

  it('is added if missing and dropped if unexpected', () => {
    expect(repair(keyed(['a', 'b'], both()), keyed([]))).to.deep.include({
      before: [],
      after: [[null, 'ADD CONSTRAINT "k" PRIMARY KEY ("a", "b")', false, 'k']],
    });
    expect(repair(keyed([]), keyed(['a', 'b'], both()))).to.deep.include({
      before: [[null, 'DROP CONSTRAINT "k"', true, 'k']],
      after: [],
      marked: [],
      extras: null,
    });
  });

  it('is renamed, and recreated for a different definition', () => {
    expect(repair(keyed(['a', 'b'], both('l')), keyed(['a', 'b'], both()))).to.deep.equal({
      before: [[null, 'RENAME CONSTRAINT "k" TO "l"', false, 'l']],
      after: [],
      marked: ['a', 'b'],
      extras: { primary_key: both('l') },
    });
    const words = 'PRIMARY KEY (a) INCLUDE (b)';
    expect(repair(keyed(['a'], both('k', ['a'], words)), keyed(['a']))).to.deep.include({
      before: [[null, 'DROP CONSTRAINT "t_pkey"', true, 't_pkey']],
      after: [[null, `ADD CONSTRAINT "k" ${words}`, false, 'k']],
    });
  });

  it('waits for a missing column', () => {
    const there = keyed(['a']);
    const fields = new Map([...there.fields].filter(([name]) => name !== 'b'));
    expect(repair(keyed(['a', 'b'], both()), { ...there, fields })).to.equal(null);
  });

  it('leaves names of fields and other unique constraints unchanged', () => {
    const known = keyed(['a'], undefined, { primary_key_name: 'x' });
    const plan = repairKey(known, keyed(['a', 'b'], both()), 'public');
    expect(plan?.there.fields.get('a')?.schema).to.not.have.property('extras');
    const [other, unique] = [keyed(['b'], undefined, { primary_key_name: 'y', not_null_name: 'n' }), keyed(['a'])];
    const back = repairKey(known, other, 'public')?.there.fields;
    expect(back?.get('a')?.schema).to.deep.include({
      is_primary_key: true,
      is_unique: true,
      extras: { primary_key_name: 'x' },
    });
    expect(back?.get('b')?.schema).to.deep.include({
      is_primary_key: false,
      is_unique: false,
      extras: { not_null_name: 'n' },
    });
    const b = unique.fields.get('b') as Field;
    const twice = new Map(unique.fields).set('b', { ...b, schema: { ...b.schema, is_unique: true } } as Field);
    const kept = repairKey({ ...unique, fields: twice }, keyed(['b']), 'public')?.there.fields.get('b');
    expect(kept?.schema).to.include({ is_primary_key: false, is_unique: true });
  });
});
