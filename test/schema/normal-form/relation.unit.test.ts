import { expect } from 'chai';
import type { Relation } from '../../../src/schema/model/model.js';
import { changedRelation, expectInPlace, faultsOf, FORCED, relation, sent, STRICT, valueOf } from './read.js';

const KEY = { constraint_name: 'articles_author_foreign', on_update: 'NO ACTION', on_delete: 'NO ACTION' };

const PLAIN = {
  many_collection: 'articles',
  many_field: 'author',
  one_collection: 'authors',
  one_field: null,
  one_collection_field: null,
  one_allowed_collections: null,
  junction_field: null,
  sort_field: null,
  one_deselect_action: 'nullify',
  schema: null,
};

const ANY = { one_collection: null, one_collection_field: 'kind', one_allowed_collections: ['a', 'b'] };

describe('relations in normal form', () => {
  it('have defaults, and a foreign key if requested', () => {
    expect(valueOf(relation({ one_collection: 'authors' }))).to.deep.equal(PLAIN);
    expect(valueOf(relation({ one_collection: 'authors', schema: null }))).to.deep.equal(PLAIN);
    expect(valueOf(relation({ one_collection: 'authors', schema: {} })).schema).to.deep.equal(KEY);
    const byDefault = { ...STRICT, foreignKeyByDefault: true };
    expect(valueOf(relation({ one_collection: 'authors' }, byDefault)).schema).to.deep.equal(KEY);
    expect(valueOf(relation({ one_collection: 'authors', schema: null }, byDefault)).schema).to.equal(null);
    expect(valueOf(relation(ANY, byDefault)).schema).to.equal(null);
  });

  it('accept the nested format of Directus, and both formats together', () => {
    const nested = {
      many_collection: undefined,
      many_field: undefined,
      collection: 'articles',
      field: 'author',
      related_collection: 'authors',
      meta: {
        id: 3,
        many_collection: 'articles',
        many_field: 'author',
        one_collection: 'authors',
        one_field: 'articles',
      },
      schema: {
        table: 'articles',
        column: 'author',
        foreign_key_table: 'authors',
        foreign_key_column: 'id',
        constraint_name: 'c',
        on_delete: 'CASCADE',
      },
    };
    const read = valueOf(relation(nested));
    expect(read).to.deep.equal({
      ...PLAIN,
      one_field: 'articles',
      schema: { ...KEY, constraint_name: 'c', on_delete: 'CASCADE' },
    });
    expect(valueOf(relation({ ...nested, id: 7, one_collection: 'authors' }))).to.deep.equal(read);
    expect(faultsOf(relation({ ...nested, one_collection: 'other' })).join()).to.include('must have the same value');
  });

  it('have no foreign key if they reference many collections', () => {
    expect(valueOf(relation(ANY))).to.deep.include({ ...ANY, schema: null });
    expect(valueOf(relation({ ...ANY, one_allowed_collections: [] }))).to.deep.include({ one_allowed_collections: [] });
    expect(faultsOf(relation({ ...ANY, schema: {} })).join()).to.include('schema must be null');
    expect(faultsOf(relation({ ...ANY, one_collection_field: null })).join()).to.include(
      'one_collection must name a collection',
    );
    for (const member of [{}, { one_collection_field: null }, { one_allowed_collections: null }]) {
      const both = { ...ANY, one_collection: 'authors', ...member };
      expect(faultsOf(relation(both)).join()).to.include('one_collection must be null');
    }
  });

  const refused: [Record<string, unknown>, string][] = [
    [{}, 'one_collection is required'],
    [{ one_collection: null }, 'one_collection must name a collection'],
    [{ one_collection: 'a', many_field: undefined }, 'many_field is required'],
    [{ one_collection: '' }, 'one_collection must be a non-empty string'],
    [{ ...ANY, one_allowed_collections: ['a', 'a'] }, 'one_allowed_collections must be an array of distinct'],
    [{ ...ANY, one_allowed_collections: 'a' }, 'one_allowed_collections must be an array'],
    [{ one_collection: 'a', one_deselect_action: 'x' }, 'one_deselect_action must be "nullify" or "delete"'],
    [{ one_collection: 'a', foo: 1 }, 'foo is not a known member'],
    [{ one_collection: 'a', meta: 'x' }, 'meta must be an object'],
    [{ one_collection: 'a', meta: { foo: 1 } }, 'foo is not a known member'],
    [{ one_collection: 'a', schema: 'x' }, 'schema must be an object'],
    [{ one_collection: 'a', schema: { on_delete: 'cascade' } }, 'on_delete must be "NO ACTION", '],
    [{ one_collection: 'a', schema: { on_update: null } }, 'on_update must be'],
    [{ one_collection: 'a', schema: { constraint_name: 'x'.repeat(64) } }, '63 bytes'],
    [{ one_collection: 'a', schema: { constraint_name: null } }, 'constraint_name must be'],
    [{ one_collection: 'a', schema: { table: 'x' } }, 'table must be "articles"'],
    [{ one_collection: 'a', schema: { column: 'x' } }, 'column must be "author"'],
    [{ one_collection: 'a', schema: { foreign_key_table: 'x' } }, 'foreign_key_table must be "a"'],
    [{ one_collection: 'a', schema: { foo: 'x' } }, 'foo is not a known member'],
  ];
  for (const [members, message] of refused) {
    it(`reject ${JSON.stringify(members).slice(0, 80)}`, () => {
      const faults = faultsOf(relation(members));
      expect(faults.join()).to.include(message);
      expectInPlace(faults, members);
    });
  }

  it('accept any case, unnamed foreign keys and unknown members from another vendor', () => {
    const schema = { on_delete: 'set null', constraint_name: null, foreign_key_schema: 'public' };
    expect(valueOf(relation({ one_collection: 'authors', foo: 1, schema }, FORCED)).schema).to.deep.equal({
      ...KEY,
      on_delete: 'SET NULL',
    });
  });
});

describe('relation updates', () => {
  const existing: Relation = {
    id: 9,
    ...valueOf(relation({ one_collection: 'authors', one_field: 'articles', schema: { on_delete: 'SET NULL' } })),
  };
  const { id: _, ...withoutId } = existing;

  it('return the same relation if they change nothing', () => {
    expect(valueOf(changedRelation(existing, {}))).to.equal(existing);
    expect(valueOf(changedRelation(existing, sent(existing)))).to.equal(existing);
    expect(valueOf(changedRelation(existing, { id: 5, meta: null, schema: {} }))).to.equal(existing);
  });

  it('overwrite present members only', () => {
    expect(valueOf(changedRelation(existing, { one_field: null }))).to.deep.equal({ ...withoutId, one_field: null });
    expect(valueOf(changedRelation(existing, { schema: { on_delete: 'CASCADE' } })).schema).to.deep.equal({
      ...KEY,
      on_delete: 'CASCADE',
    });
    expect(valueOf(changedRelation(existing, { schema: null })).schema).to.equal(null);
    expect(valueOf(changedRelation({ ...existing, schema: null }, { schema: {} })).schema).to.deep.equal(KEY);
  });

  it('drop the foreign key when they allow several collections', () => {
    expect(valueOf(changedRelation(existing, ANY))).to.deep.include({ ...ANY, schema: null });
  });

  it('keep the identifying members', () => {
    expect(faultsOf(changedRelation(existing, { many_field: 'x' })).join()).to.include('it identifies the relation');
    expect(faultsOf(changedRelation(existing, { collection: 'x' })).join()).to.include('it identifies the relation');
  });
});
