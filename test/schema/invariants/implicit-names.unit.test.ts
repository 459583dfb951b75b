import { expect } from 'chai';
import { KEY, column, stateOf, toldOf } from './states.js';

const COUNTING = column('id', 'integer', { is_primary_key: true, has_auto_increment: true });
const relation = (constraint_name: string) => ({
  many_collection: 'a',
  many_field: 'b',
  schema: { on_delete: 'NO ACTION', on_update: 'NO ACTION', constraint_name } as never,
});

describe('an implicit name of PostgreSQL', () => {
  it("cannot be a table name if a column's sequence has it", () => {
    const reported = toldOf(stateOf({ a: { fields: [COUNTING] }, a_id_seq: {} }));
    expect(reported).to.deep.equal([
      'field a.id schema.has_auto_increment: "a_id_seq" is already the name of the table that would conflict with the sequence of this column: choose another name (ALREADY_EXISTS)',
    ]);
    expect(toldOf(stateOf({ a: { fields: [KEY] }, a_id_seq: {} }))).to.deep.equal([]);
    const named = column('id', 'integer', {
      is_primary_key: true,
      has_auto_increment: true,
      extras: { sequence: { name: 'other' } },
    });
    expect(toldOf(stateOf({ a: { fields: [named] }, a_id_seq: {} }))).to.deep.equal([]);
    const folder = { fields: [], collection: { schema: null } };
    expect(toldOf(stateOf({ a: { fields: [COUNTING] }, a_id_seq: folder }))).to.deep.equal([]);
  });

  it('cannot be a foreign key name if a NOT NULL of the table has it', () => {
    const fields = [KEY, column('b'), column('c', 'integer', { is_nullable: false })];
    const tables = { one: {}, a: { fields } };
    expect(toldOf(stateOf(tables, [relation('a_c_not_null')]))).to.deep.equal([
      'relation a.b schema.constraint_name: "a_c_not_null" is already the name of the NOT NULL constraint of "c": choose another name (ALREADY_EXISTS)',
    ]);
    for (const free of ['a_b_not_null', 'one_c_not_null', 'a_c_not_null_'])
      expect(toldOf(stateOf(tables, [relation(free)])), free).to.deep.equal([]);
    const called = column('c', 'integer', { is_nullable: false, extras: { not_null_name: 'filled' } });
    const other = { one: {}, a: { fields: [KEY, column('b'), called] } };
    expect(toldOf(stateOf(other, [relation('a_c_not_null')]))).to.deep.equal([]);
  });
});
