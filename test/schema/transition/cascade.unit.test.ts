import { expect } from 'chai';
import { changeRelation, dropCollection, dropField, dropRelation } from '../../../src/schema/transition/cascade.js';
import type { Collection, Relation } from '../../../src/schema/model/model.js';
import type { State } from '../../../src/schema/model/state.js';
import { Draft } from '../../../src/schema/transition/draft.js';
import { withRelations } from '../../support/library.js';
import { KEY, alias, column, stateOf } from '../invariants/states.js';

const after = (state: State, edit: (draft: Draft) => void): State => {
  const draft = new Draft(state);
  edit(draft);
  return draft.toState();
};
const relation = (state: State, collection: string, field: string): Relation | undefined =>
  state.collections.get(collection)?.relations.get(field);
const fieldsOf = (state: State, collection: string): string[] => [
  ...(state.collections.get(collection)?.fields.keys() ?? []),
];
const groupOf = (state: State, collection: string, field?: string): string | null | undefined => {
  const node = state.collections.get(collection);
  return field === undefined ? node?.collection.meta.group : node?.fields.get(field)?.meta.group;
};
const extrasOf = (state: State, collection: string) => state.collections.get(collection)?.collection.schema?.extras;

describe('cascading deletes', () => {
  const library = withRelations();

  it('delete relations to a deleted collection with their aliases, and its entry among allowed collections', () => {
    const state = after(library, (draft) => dropCollection(draft, library, 'articles'));
    expect([...state.collections.keys()]).not.to.include('articles');
    expect(fieldsOf(state, 'authors'), 'the alias that showed articles').to.deep.equal(['id']);
    expect(fieldsOf(state, 'articles_tags'), 'columns stay').to.deep.equal(['id', 'articles_id', 'tags_id']);
    expect(relation(state, 'articles_tags', 'articles_id')).to.equal(undefined);
    expect(relation(state, 'articles_tags', 'tags_id')).to.include({ one_collection: 'tags', junction_field: null });
    expect(relation(state, 'comments', 'item')?.one_allowed_collections).to.deep.equal(['authors']);
  });

  it('delete nothing for a missing collection', () => {
    expect(after(library, (draft) => dropCollection(draft, library, 'gone')).collections.size).to.equal(
      library.collections.size,
    );
  });

  it('move the members of a deleted group to its own group', () => {
    const grouped = (group: string | null) => ({
      change: (collection: Collection) => ({ ...collection, meta: { ...collection.meta, group } }),
    });
    const before = stateOf({ top: {}, middle: grouped('top'), low: grouped('middle'), other: grouped('top') });
    const state = after(before, (draft) => dropCollection(draft, before, 'middle'));
    expect([groupOf(state, 'low'), groupOf(state, 'other')]).to.deep.equal(['top', 'top']);
    const none = after(before, (draft) => dropCollection(draft, before, 'top'));
    expect([groupOf(none, 'middle'), groupOf(none, 'low')]).to.deep.equal([null, 'middle']);
  });

  it('drop foreign keys outside relations that reference a deleted collection', () => {
    const key = (table: string, name: string) => ({
      name,
      definition: `FOREIGN KEY (id) REFERENCES ${table}(id)`,
      references: table,
    });
    const extras = { constraints: [key('one', 'k'), key('two', 'l'), { name: 'c', definition: 'CHECK (id > 0)' }] };
    const change = (collection: Collection) => ({ ...collection, schema: { comment: null, extras } });
    const before = stateOf({ one: {}, two: {}, many: { change } });
    const state = after(before, (draft) => dropCollection(draft, before, 'one'));
    expect(extrasOf(state, 'many')?.constraints?.map(({ name }) => name)).to.deep.equal(['l', 'c']);
  });

  it('delete the alias of a deleted relation and its use as a junction half', () => {
    const state = after(library, (draft) => dropRelation(draft, relation(library, 'articles_tags', 'articles_id')!));
    expect(fieldsOf(state, 'articles')).not.to.include('tags');
    expect(fieldsOf(state, 'tags'), 'which the other half shows').to.include('articles');
    expect(relation(state, 'articles_tags', 'tags_id')?.junction_field).to.equal(null);
    expect(relation(state, 'articles_tags', 'articles_id')).to.equal(undefined);
  });

  it('delete the alias at the former target of a retargeted relation', () => {
    const before = relation(library, 'articles', 'author')!;
    const other = { ...before, one_collection: 'tags', one_field: null };
    const moved = after(library, (draft) => changeRelation(draft, before, other));
    expect(fieldsOf(moved, 'authors')).to.deep.equal(['id']);
    const same = after(library, (draft) => changeRelation(draft, before, { ...before, one_deselect_action: 'delete' }));
    expect(fieldsOf(same, 'authors')).to.deep.equal(['id', 'articles']);
    expect(relation(same, 'articles', 'author')?.one_deselect_action).to.equal('delete');
    const unshown = { ...before, one_field: null };
    expect(
      fieldsOf(
        after(library, (draft) => changeRelation(draft, unshown, other)),
        'authors',
      ),
    ).to.have.lengthOf(2);
  });

  describe('of a field', () => {
    const meta = (group: string | null) => ({ meta: { group } });
    const extras = {
      constraints: [
        { name: 'u', definition: 'UNIQUE (b, c)' },
        { name: 'v', definition: 'UNIQUE (c)' },
      ],
      indexes: [{ name: 'i', definition: 'USING btree (b)' }],
    };
    const before = stateOf({
      a: {
        fields: [
          KEY,
          column('b'),
          column('c'),
          alias('top'),
          alias('g', meta('top')),
          alias('in', meta('g')),
          column('d'),
        ],
        change: (collection: Collection) => ({
          ...collection,
          schema: { comment: null, extras },
          meta: { ...collection.meta, archive_field: 'b', sort_field: 'c' },
        }),
      },
    });
    const without = (field: string): State => after(before, (draft) => dropField(draft, before, 'a', field));

    it('move members of the group to its own group', () => {
      expect(groupOf(without('g'), 'a', 'in')).to.equal('top');
      expect(groupOf(without('top'), 'a', 'g')).to.equal(null);
      expect(groupOf(without('top'), 'a', 'in')).to.equal('g');
    });

    it('clear its uses in meta only', () => {
      const metaOf = (state: State) => state.collections.get('a')?.collection.meta;
      expect(metaOf(without('b'))).to.include({ archive_field: null, sort_field: 'c' });
      expect(metaOf(without('c'))).to.include({ archive_field: 'b', sort_field: null });
      expect(metaOf(without('d'))).to.include({ archive_field: 'b', sort_field: 'c' });
    });

    it('drop constraints and indexes that name it', () => {
      const names = (state: State) => {
        const { constraints = [], indexes = [] } = extrasOf(state, 'a') ?? {};
        return [...constraints, ...indexes].map(({ name }) => name);
      };
      expect(names(without('b'))).to.deep.equal(['v']);
      expect(names(without('c'))).to.deep.equal(['i']);
      expect(names(without('d'))).to.deep.equal(['u', 'v', 'i']);
    });

    it('delete its relation and its uses in others', () => {
      const dropped = (collection: string, field: string): State =>
        after(library, (draft) => dropField(draft, library, collection, field));
      const noAuthor = dropped('articles', 'author');
      expect([relation(noAuthor, 'articles', 'author'), fieldsOf(noAuthor, 'authors')]).to.deep.equal([
        undefined,
        ['id'],
      ]);
      expect(relation(dropped('authors', 'articles'), 'articles', 'author')).to.include({ one_field: null });
      expect(relation(dropped('articles', 'tags'), 'articles_tags', 'articles_id')).to.include({ one_field: null });
      const noTag = dropped('articles_tags', 'tags_id');
      expect(relation(noTag, 'articles_tags', 'articles_id')).to.include({ junction_field: null, one_field: 'tags' });
      const sorted = stateOf({ many: { fields: [KEY, column('b'), column('c')] }, one: {} }, [
        { many_collection: 'many', many_field: 'b', sort_field: 'c' },
      ]);
      const unsorted = after(sorted, (draft) => dropField(draft, sorted, 'many', 'c'));
      expect(relation(unsorted, 'many', 'b')).to.include({ sort_field: null, one_collection: 'one' });
    });
  });
});
