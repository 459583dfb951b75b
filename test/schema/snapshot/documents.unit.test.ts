import { expect } from 'chai';
import type { Relation } from '../../../src/schema/model/model.js';
import { getField } from '../../../src/schema/model/state.js';
import {
  collectionDocument,
  fieldDocument,
  keyTarget,
  relationDocument,
} from '../../../src/schema/snapshot/documents.js';
import { KEY, alias, column, stateOf } from '../invariants/states.js';

const FOREIGN_KEY = { constraint_name: 'k', on_update: 'NO ACTION', on_delete: 'CASCADE' } as const;

describe('response documents', () => {
  const relation = (many_field: string, more: Partial<Relation> = {}) => ({
    many_collection: 'a',
    many_field,
    schema: FOREIGN_KEY,
    id: 7,
    ...more,
  });
  const state = stateOf(
    {
      a: { fields: [KEY, column('b'), column('c'), column('u', 'uuid'), column('k'), alias('shown')] },
      one: { fields: [column('x'), { ...KEY, field: 'key' }] },
      keyless: { fields: [column('x')] },
      folder: { fields: [], collection: { schema: null } },
    },
    [
      relation('b'),
      relation('c', { schema: null }),
      relation('u', { one_collection: 'service_users' }),
      relation('k', { one_collection: 'keyless' }),
    ],
  );
  const node = state.collections.get('a')!;

  it('contain their table, and their collection in meta', () => {
    const { collection, meta } = node.collection;
    expect(collectionDocument(node.collection)).to.deep.equal({
      collection,
      meta: { collection, ...meta },
      schema: { name: 'a', comment: null },
    });
    expect(collectionDocument(state.collections.get('folder')!.collection).schema).to.equal(null);
  });

  it('show the target of the foreign key of a field', () => {
    expect(keyTarget(state, node, 'b')).to.deep.equal({ table: 'one', column: 'key' });
    expect(keyTarget(state, node, 'c'), 'a relation without one').to.equal(null);
    expect(keyTarget(state, node, 'id')).to.equal(null);
    expect(keyTarget(state, node, 'u')).to.deep.equal({ table: 'service_users', column: 'id' });
    expect(keyTarget(state, node, 'k')).to.deep.equal({ table: 'keyless', column: null });
  });

  it('derive the dependent members of a column', () => {
    const field = getField(state, 'a', 'b')!;
    expect(fieldDocument(field, { table: 'one', column: 'key' }).schema).to.deep.equal({
      name: 'b',
      table: 'a',
      ...field.schema,
      is_generated: false,
      foreign_key_table: 'one',
      foreign_key_column: 'key',
    });
    expect(fieldDocument(field, null).schema).to.include({ foreign_key_table: null, foreign_key_column: null });
    const generated = {
      ...field,
      schema: { ...field.schema!, generation_expression: 'id', extras: { virtual: true as const } },
    };
    expect(fieldDocument(generated, null).schema).to.deep.include({
      is_generated: true,
      generation_expression: 'id',
      extras: { virtual: true },
    });
    expect(fieldDocument(getField(state, 'a', 'shown')!, null)).to.deep.include({
      schema: null,
      collection: 'a',
      field: 'shown',
      type: 'alias',
    });
    expect(fieldDocument(field, null).meta).to.include({ collection: 'a', field: 'b' });
  });

  it('show a relation in the flat and the nested format at once', () => {
    const created = node.relations.get('b')!;
    const { schema: _, ...ends } = created;
    const shown = relationDocument(created, { table: 'one', column: 'key' });
    expect(shown).to.deep.equal({
      ...ends,
      schema: { ...FOREIGN_KEY, table: 'a', column: 'b', foreign_key_table: 'one', foreign_key_column: 'key' },
      collection: 'a',
      field: 'b',
      related_collection: 'one',
      meta: ends,
    });
    expect(relationDocument({ ...created, schema: null }, null).schema).to.equal(null);
    expect(relationDocument(created, null).schema).to.include({ foreign_key_table: '', foreign_key_column: null });
    const later = { ...created, schema: { ...FOREIGN_KEY, deferrable: 'INITIALLY DEFERRED' as const } };
    expect(relationDocument(later, null).schema).to.have.property('deferrable', 'INITIALLY DEFERRED');
    expect(shown.schema).not.to.have.property('deferrable');
  });
});
