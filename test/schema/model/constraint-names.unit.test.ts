import { expect } from 'chai';
import fc from 'fast-check';
import { character } from '../../support/characters.js';
import {
  indexName,
  postgresName,
  primaryKeyName,
  primaryKeyNameOf,
  uniqueName,
} from '../../../src/schema/model/constraint-names.js';
import { foreignKeyName } from '../../../src/schema/model/name-length.js';
import type { Collection } from '../../../src/schema/model/model.js';
import { stateOf } from '../invariants/states.js';

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'a_b', 'a_b_c', 'b_c', 'c', 'é'.repeat(31), 'x'.repeat(63), '🎉'.repeat(15), '_', "it's"),
  fc.string({ unit: character, minLength: 1, maxLength: 15 }).filter((text) => !text.includes('\0')),
);

describe('names of constraints and indexes', () => {
  it("follow PostgreSQL's conventions", () => {
    expect(primaryKeyName('articles')).to.equal('articles_pkey');
    expect(uniqueName('articles', 'slug')).to.equal('articles_slug_unique');
    expect(indexName('articles', 'slug')).to.equal('articles_slug_index');
    expect(foreignKeyName('blog_posts', 'author_id')).to.equal('blog_posts_author_id_foreign');
  });

  it('are the adopted ones if they exist', () => {
    const KEY = { field: 'id', type: 'integer', schema: { is_primary_key: true } };
    const named = { ...KEY, schema: { ...KEY.schema, extras: { primary_key_name: 'mine' } } };
    const nameOf = (input: object) => primaryKeyNameOf(stateOf({ a: input }).collections.get('a')!);
    expect(nameOf({ fields: [KEY] })).to.equal('a_pkey');
    expect(nameOf({ fields: [named] })).to.equal('mine');
    expect(nameOf({ fields: [] })).to.equal('a_pkey');
    expect(nameOf({ fields: [named, { ...KEY, field: 'b' }] }), 'of two columns').to.equal('a_pkey');
    const extras = { primary_key: { name: 'both', columns: ['id'] } };
    const change = (collection: Collection) => ({ ...collection, schema: { comment: null, extras } });
    expect(nameOf({ fields: [named], change })).to.equal('both');
  });

  it('have a hash if two pairs of names would collide', () => {
    expect(indexName('a_b', 'c')).to.match(/^a_b_c_[0-9a-f]{8}_index$/);
    expect(indexName('a_b', 'c')).to.not.equal(indexName('a', 'b_c'));
    expect(uniqueName('a_b', 'c')).to.not.equal(uniqueName('a', 'b_c'));
  });

  it('have at most 63 bytes, cut between characters, and keep their suffix', () => {
    const long = 'é'.repeat(31);
    expect(indexName(long, long)).to.match(/^é+_[0-9a-f]{8}_index$/);
    expect(primaryKeyName('x'.repeat(63))).to.match(/^x{49}_[0-9a-f]{8}_pkey$/);
    fc.assert(
      fc.property(name, name, (collection, field) => {
        for (const created of [
          primaryKeyName(collection),
          uniqueName(collection, field),
          indexName(collection, field),
          foreignKeyName(collection, field),
        ]) {
          expect(Buffer.byteLength(created)).to.be.at.most(63);
          expect(Buffer.from(created).toString()).to.equal(created);
        }
      }),
    );
  });

  it("match PostgreSQL's for NOT NULL and sequences, cutting the longer part", () => {
    expect(postgresName('articles', 'id', '_seq')).to.equal('articles_id_seq');
    const [a, b] = ['a'.repeat(63), 'b'.repeat(63)];
    expect(postgresName(a, b, '_seq')).to.equal(`${a.slice(0, 29)}_${b.slice(0, 29)}_seq`);
    expect(postgresName(a, b, '_not_null')).to.equal(`${a.slice(0, 27)}_${b.slice(0, 26)}_not_null`);
    expect(postgresName(a, 'id', '_seq')).to.equal(`${a.slice(0, 56)}_id_seq`);
    expect(postgresName('a'.repeat(56), 'id', '_seq')).to.equal(`${'a'.repeat(56)}_id_seq`);
    expect(postgresName('t', b, '_seq')).to.equal(`t_${b.slice(0, 57)}_seq`);
    expect(postgresName('é'.repeat(31), 'id', '_seq')).to.equal(`${'é'.repeat(28)}_id_seq`);
    expect(postgresName('🎉'.repeat(15), 'key', '_seq')).to.equal(`${'🎉'.repeat(13)}_key_seq`);
  });

  it('differ for different pairs', () => {
    fc.assert(
      fc.property(name, name, name, name, (a, b, c, d) => {
        fc.pre(a !== c || b !== d);
        expect(indexName(a, b)).to.not.equal(indexName(c, d));
        expect(uniqueName(a, b)).to.not.equal(uniqueName(c, d));
        expect(indexName(a, b)).to.not.equal(uniqueName(c, d));
      }),
    );
  });
});
