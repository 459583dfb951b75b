import { expect } from 'chai';
import { initialState } from '../../../src/schema/model/state.js';
import { alias, importInto, column, file, key, names, NOTHING, read, relation, table } from './read.js';

describe('imported relations', () => {
  const parts = (fields: Record<string, unknown>[], relations: Record<string, unknown>[]) =>
    file({
      collections: [table('a'), table('b'), { collection: 'f', schema: null }],
      fields: [key('a'), key('b'), ...fields],
      relations,
    });

  it('become flat with only the given members', () => {
    const schema = {
      table: 'a',
      column: 'b',
      foreign_key_table: 'b',
      foreign_key_column: 'id',
      constraint_name: 'c',
      on_update: 'NO ACTION',
      on_delete: 'set null',
    };
    const full = relation(
      'a.b',
      'b',
      { one_field: 'as', sort_field: null, one_deselect_action: 'delete', id: 3 },
      schema,
    );
    const result = read(
      parts(
        [column('a.b', 'integer'), alias('b.as'), column('b.x', 'integer')],
        [full, { collection: 'b', field: 'x', related_collection: 'a', meta: null }],
      ),
    );
    expect(result.relations).to.deep.equal([
      {
        many_collection: 'a',
        many_field: 'b',
        one_collection: 'b',
        one_field: 'as',
        sort_field: null,
        one_deselect_action: 'delete',
        schema: { constraint_name: 'c', on_update: 'NO ACTION', on_delete: 'SET NULL' },
      },
      { many_collection: 'b', many_field: 'x', one_collection: 'a' },
    ]);
    expect(result.warnings).to.deep.equal([]);
  });

  it('are skipped with a skipped end, and the column is kept', () => {
    const fields = [column('a.x', 'integer'), column('a.y', 'integer'), alias('a.z')];
    const relations = [
      relation('a.x', 'gone'),
      relation('gone.x', 'a'),
      relation('a.missing', 'b'),
      relation('a.z', 'b'),
      relation('a.y', 'f'),
      relation('a.id', null, { one_allowed_collections: null }),
    ];
    const result = read(parts(fields, relations));
    expect(result.relations).to.deep.equal([]);
    expect(names(result.fields)).to.include.members(['a.x', 'a.y', 'a.z']);
    expect(new Set(result.warnings.map((warning) => warning.split(' ')[0]))).to.deep.equal(
      new Set(['RELATION_LEFT_OUT']),
    );
    expect(
      read(parts(fields, relations), { exists: (name) => name === 'gone' }).relations.map(
        ({ one_collection }) => one_collection,
      ),
    ).to.deep.equal(['gone']);
  });

  it('lose names of missing fields', () => {
    const meta = { one_field: 'nope', junction_field: 'nope', sort_field: 'id' };
    const result = read(parts([column('a.b', 'integer')], [relation('a.b', 'b', meta)]));
    expect(result.relations[0]).to.include({ one_field: null, junction_field: null, sort_field: 'id' });
    expect(result.warnings).to.deep.equal(['REFERENCE_LEFT_OUT a.b', 'REFERENCE_LEFT_OUT a.b']);
    const onColumn = read(parts([column('a.b', 'integer')], [relation('a.b', 'b', { one_field: 'id' })]));
    expect(onColumn.relations[0]).to.include({ one_field: null });
  });

  it('keep the existing ones of many collections', () => {
    const fields = [column('a.item', 'string'), column('a.kind', 'string')];
    const meta = {
      one_collection_field: 'kind',
      one_allowed_collections: ['b', 'gone', 'directus_files', 'directus_users'],
      junction_field: null,
    };
    const result = read(parts(fields, [relation('a.item', null, meta, null)]));
    expect(result.relations).to.deep.equal([
      {
        many_collection: 'a',
        many_field: 'item',
        one_collection: null,
        one_collection_field: 'kind',
        one_allowed_collections: ['b', 'service_users'],
        junction_field: null,
        schema: null,
      },
    ]);
    expect(result.warnings).to.deep.equal(['REFERENCE_LEFT_OUT a.item', 'REFERENCE_LEFT_OUT a.item']);
  });

  it('lose names of fields with a different purpose or none', () => {
    const fields = [column('a.b', 'integer'), alias('a.al'), column('a.kind', 'string'), column('a.item', 'string')];
    const meta = { junction_field: 'b', sort_field: 'al' };
    const result = read(parts(fields, [relation('a.b', 'b', meta)]));
    expect(result.relations[0]).to.include({ junction_field: null, sort_field: null });
    expect(result.warnings).to.deep.equal(['REFERENCE_LEFT_OUT a.b', 'REFERENCE_LEFT_OUT a.b']);
    const any = { one_allowed_collections: ['b'], one_collection_field: 'kind', sort_field: 'kind' };
    const kept = read(parts(fields, [relation('a.item', null, any, null)]));
    expect(kept.relations[0]).to.include({ one_collection_field: 'kind', sort_field: null });
    const same = read(parts(fields, [relation('a.item', null, { ...any, one_collection_field: 'item' }, null)]));
    expect(same.relations).to.deep.equal([]);
    expect(same.warnings).to.deep.equal(['RELATION_LEFT_OUT a.item']);
    const counted = read(parts(fields, [relation('a.item', null, { ...any, one_collection_field: 'b' }, null)]));
    expect(counted.warnings).to.deep.equal(['RELATION_LEFT_OUT a.item']);
  });

  it('recognize aliases of the instance, as groups do', () => {
    const fields = [
      key('a'),
      key('b'),
      column('a.b', 'integer'),
      column('a.x', 'text', {}, { group: 'b' }),
      alias('a.as'),
    ];
    const tables = { collections: [table('a'), table('b')] };
    const relations = [relation('a.b', 'a', { one_field: 'x' }), relation('a.as', 'b', {}, null)];
    const { state } = importInto(initialState(), file({ ...tables, fields, relations }), 'mirror');
    const trimmed = fields.map(({ collection, field, type, meta }) => ({ collection, field, type, meta }));
    const untyped = fields.map(({ collection, field, meta }) => ({ collection, field, meta }));
    for (const again of [trimmed, untyped]) {
      for (const mode of ['mirror', 'merge'] as const) {
        expect(importInto(state, file({ ...tables, fields: again, relations }), mode).diff, mode).to.deep.equal(
          NOTHING,
        );
      }
    }
  });
});
