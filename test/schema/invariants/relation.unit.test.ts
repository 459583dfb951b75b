import { expect } from 'chai';
import type { Relation } from '../../../src/schema/model/model.js';
import { initialState } from '../../../src/schema/model/state.js';
import { type StateInput, KEY, alias, column, stateOf, toldOf } from './states.js';

const FOREIGN_KEY = { constraint_name: 'k', on_update: 'NO ACTION', on_delete: 'NO ACTION' } as const;

/** many.one → one, and further fields to name. */
const COLLECTIONS: Record<string, StateInput> = {
  many: {
    fields: [KEY, column('one'), column('two'), column('kind', 'string'), column('doc', 'json'), alias('shown')],
  },
  one: { fields: [KEY, alias('all'), column('plain')] },
  folder: { fields: [], collection: { schema: null } },
  keyless: { fields: [column('a')] },
  texts: { fields: [{ field: 'id', type: 'string', schema: { is_primary_key: true } }] },
};
const ANY = { one_collection: null, one_collection_field: 'kind', one_allowed_collections: ['one'] };

/** The errors for many.one with these members, without the common location. */
function messagesOf(members: Partial<Relation>): string[] {
  const relation = { many_collection: 'many', many_field: 'one', ...members };
  const place = `relation ${relation.many_collection}.${relation.many_field} `;
  return toldOf(stateOf(COLLECTIONS, [relation])).map((text) => text.replace(place, ''));
}

describe('a valid relation', () => {
  it('has all of its parts if it references a table', () => {
    expect(messagesOf({})).to.deep.equal([]);
    expect(
      messagesOf({ schema: FOREIGN_KEY, one_field: 'all', sort_field: 'two', junction_field: 'kind' }),
    ).to.deep.equal([]);
    expect(messagesOf(ANY)).to.deep.equal([]);
    expect(messagesOf({ one_collection: 'keyless' }), 'without a foreign key').to.deep.equal([]);
    expect(messagesOf({ one_collection: 'texts' }), 'without a foreign key').to.deep.equal([]);
  });

  it('has an existing column', () => {
    expect(messagesOf({ many_field: 'gone' })).to.deep.equal(['many_field: field "gone" does not exist in "many"']);
    expect(messagesOf({ many_field: 'shown' })).to.deep.equal([
      'many_field: "shown" is an alias field; the many side must be a column',
    ]);
  });

  it('references a table with the required key', () => {
    expect(messagesOf({ one_collection: 'gone' })).to.deep.equal(['one_collection: collection "gone" does not exist']);
    expect(messagesOf({ one_collection: 'folder' })).to.deep.equal([
      'one_collection: "folder" is a folder, and a relation can only reference a table',
    ]);
    expect(messagesOf({ one_collection: 'service_flows' })).to.deep.equal([
      'one_collection: "service_flows" is a system collection that relations cannot reference',
    ]);
    expect(messagesOf({ one_collection: 'keyless', schema: FOREIGN_KEY })).to.deep.equal([
      'one_collection: "keyless" has no primary key with a single column that a foreign key can reference',
    ]);
    expect(messagesOf({ one_collection: 'texts', schema: FOREIGN_KEY })).to.deep.equal([
      'many_field: "one" has the type integer, but the primary key of "texts" has the type character varying(255); give both the same type',
    ]);
    for (const members of [{ one_collection_field: 'kind' }, { one_allowed_collections: ['one'] }]) {
      expect(messagesOf(members)).to.deep.equal([
        'one_collection: one_collection_field and one_allowed_collections are for a many-to-any relation, whose one_collection is null',
      ]);
    }
  });

  it('has neither foreign key nor one field if it references any collection, and reports all faults', () => {
    expect(messagesOf({ ...ANY, schema: FOREIGN_KEY, one_field: 'all', one_allowed_collections: null })).to.deep.equal([
      'schema: schema must be null: a many-to-any relation references several tables and cannot have a foreign key',
      'one_field: one_field must be null: a many-to-any relation has no single collection that could show it',
      'one_allowed_collections: one_allowed_collections is required, because one_collection is null',
    ]);
    expect(messagesOf({ ...ANY, one_allowed_collections: ['one', 'gone', 'folder', 'texts'] })).to.deep.equal([
      'one_allowed_collections.1: collection "gone" does not exist',
      'one_allowed_collections.2: "folder" is a folder, and a relation can only reference a table',
    ]);
  });

  it('needs a text column if it references any collection', () => {
    const needs =
      'one_collection_field: a many-to-any relation needs one_collection_field, a column of "many" that stores the name of the collection';
    for (const one_collection_field of [null, 'gone', 'shown']) {
      expect(messagesOf({ ...ANY, one_collection_field })).to.deep.equal([needs]);
    }
    expect(messagesOf({ ...ANY, one_collection_field: 'two' })).to.deep.equal([
      'one_collection_field: "two" has the type integer, which cannot store the name of a collection; name a text column',
    ]);
    const generated = column('made', 'string', { generation_expression: "'one'" });
    const state = stateOf({ many: { fields: [KEY, column('one'), generated] }, one: {} }, [
      { many_collection: 'many', many_field: 'one', ...ANY, one_collection_field: 'made' },
    ]);
    expect(toldOf(state)).to.deep.equal([
      'relation many.one one_collection_field: "made" is generated, so it cannot store the name of a collection',
    ]);
  });

  it('names only existing fields that fit their purpose', () => {
    expect(messagesOf({ junction_field: 'gone', sort_field: 'nowhere' })).to.deep.equal([
      'junction_field: field "gone" does not exist in "many"',
      'sort_field: field "nowhere" does not exist in "many"',
    ]);
    expect(messagesOf({ junction_field: 'shown' })).to.deep.equal([
      'junction_field: "shown" is an alias field, which stores no value; name a column, or null',
    ]);
    expect(messagesOf({ junction_field: 'doc' })).to.deep.equal([]);
    expect(messagesOf({ sort_field: 'doc' })[0]).to.match(/^sort_field: "doc" cannot be the sort field: /);
    const noAlias = (name: string) =>
      `one_field: "${name}" is not an alias field of "one"; name an alias field, or null`;
    expect(messagesOf({ one_field: 'plain' })).to.deep.equal([noAlias('plain')]);
    expect(messagesOf({ one_field: 'gone' })).to.deep.equal([noAlias('gone')]);
  });

  it('is the only one of its column', () => {
    const holds = (member: string, name: string, what: string) =>
      `${member}: "${name}" already stores ${what}; name another field`;
    const [key, kind] = [
      'the key of the related item (many_field)',
      'the collection of the related item (one_collection_field)',
    ];
    expect(messagesOf({ junction_field: 'one' })).to.deep.equal([holds('junction_field', 'one', key)]);
    expect(messagesOf({ sort_field: 'one' })).to.deep.equal([holds('sort_field', 'one', key)]);
    expect(messagesOf({ junction_field: 'two', sort_field: 'two' })).to.deep.equal([
      holds('sort_field', 'two', 'the other side of the junction (junction_field)'),
    ]);
    expect(messagesOf({ ...ANY, junction_field: 'kind' })).to.deep.equal([holds('junction_field', 'kind', kind)]);
  });

  describe('next to another relation', () => {
    const keyed = (many_field: string, id: number, more: Partial<Relation> = {}) => ({
      many_collection: 'many',
      many_field,
      schema: FOREIGN_KEY,
      id,
      ...more,
    });
    const taken = (field: string, other: string) =>
      `relation many.${field} schema.constraint_name: constraint "k" is already the foreign key of "${other}" (ALREADY_EXISTS)`;
    const state = (...relations: Partial<Relation>[]) => stateOf(COLLECTIONS, relations);

    it('is rejected for the same constraint name if it is newer or changed', () => {
      const both = state(keyed('one', 1), keyed('two', 2));
      expect(toldOf(both)).to.deep.equal([taken('two', 'one')]);
      expect(toldOf(state(keyed('one', 2), keyed('two', 1)))).to.deep.equal([taken('one', 'two')]);
      expect(toldOf(state(keyed('one', 0), keyed('two', 1))), 'not in the log yet').to.deep.equal([
        taken('one', 'two'),
      ]);
      expect(toldOf(state(keyed('one', 0), keyed('two', 0))), 'by name').to.deep.equal([taken('two', 'one')]);
      const before = state(keyed('one', 1, { schema: { ...FOREIGN_KEY, constraint_name: 'other' } }), keyed('two', 2));
      expect(toldOf(both, ['many'], before)).to.deep.equal([taken('one', 'two')]);
      expect(toldOf(both, ['many'], state(keyed('two', 2))), 'which is new').to.deep.equal([taken('one', 'two')]);
      expect(toldOf(both, ['many'], initialState()), 'both are').to.deep.equal([taken('two', 'one')]);
    });

    it('is valid with another name or table', () => {
      expect(
        toldOf(state(keyed('one', 1), keyed('two', 2, { schema: { ...FOREIGN_KEY, constraint_name: 'l' } }))),
      ).to.deep.equal([]);
      expect(toldOf(state(keyed('one', 1), keyed('two', 2, { schema: null })))).to.deep.equal([]);
      const two = { many: COLLECTIONS['many'] as StateInput, others: COLLECTIONS['many'] as StateInput, one: {} };
      expect(toldOf(stateOf(two, [keyed('one', 1), keyed('one', 2, { many_collection: 'others' })]))).to.deep.equal([]);
    });

    it('is rejected if both have the same alias', () => {
      const shown = (many_field: string, id: number) => keyed(many_field, id, { schema: null, one_field: 'all' });
      const already = (field: string, other: string) =>
        `relation many.${field} one_field: alias "all" of "one" already shows the relation "many.${other}"`;
      expect(toldOf(state(shown('one', 1), shown('two', 2)))).to.deep.equal([already('two', 'one')]);
      expect(toldOf(state(shown('one', 2), shown('two', 1)))).to.deep.equal([already('one', 'two')]);
      expect(toldOf(state(shown('one', 1), shown('two', 2)), ['one']), 'by the side it points at').to.deep.equal([
        already('two', 'one'),
      ]);
      expect(toldOf(state(shown('one', 1)))).to.deep.equal([]);
    });
  });

  it('is checked once when the referenced table changes', () => {
    const relation = { many_collection: 'many', many_field: 'one', one_collection: 'folder' };
    const state = stateOf(COLLECTIONS, [relation]);
    const fault = 'relation many.one one_collection: "folder" is a folder, and a relation can only reference a table';
    for (const touched of [['many'], ['folder'], ['many', 'folder'], ['folder', 'many']]) {
      expect(toldOf(state, touched), touched.join()).to.deep.equal([fault]);
    }
    expect(toldOf(state, ['one', 'gone'])).to.deep.equal([]);
  });
});
