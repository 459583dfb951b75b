import { expect } from 'chai';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { accept } from '../../support/given.js';

const meta = { interface: 'input' };
const column = (field: string, type: string) => ({ field, type, meta, schema: {} });

const build = (state: State, collection: string, more: object): State =>
  accept(state, 'create-collection', {
    body: {
      collection,
      schema: {},
      fields: [
        column('title', 'string'),
        column('part', 'string'),
        column('kind', 'string'),
        column('above', 'integer'),
      ],
      meta: more,
    },
    concurrentIndexes: false,
  });

const withRelation = (state: State, body: object): State => accept(state, 'create-relation', { body });

/** Chapters contain parts of any kind, including chapters, and have a parent. */
const chapters = (templates: object): State => {
  const state = build(build(initialState(), 'notes', {}), 'chapters', templates);
  const above = withRelation(state, {
    collection: 'chapters',
    field: 'above',
    related_collection: 'chapters',
    schema: {},
  });
  return withRelation(above, {
    many_collection: 'chapters',
    many_field: 'part',
    one_collection: null,
    one_collection_field: 'kind',
    one_allowed_collections: ['chapters', 'notes'],
    schema: null,
  });
};

const renamed = (state: State, collection: string, to: string): State =>
  accept(state, 'rename-collection', { collection, body: { to } });
const renamedField = (state: State, collection: string, field: string, to: string): State =>
  accept(state, 'rename-field', { collection, field, body: { to } });

const metaOf = (state: State, name: string): object => {
  const { display_template, preview_url, item_duplication_fields } = state.collections.get(name)?.collection.meta ?? {};
  return { display_template, preview_url, item_duplication_fields };
};

describe('templates after a rename', () => {
  const before = chapters({
    display_template:
      '{{ part:chapters.title }} in {{above.above.title}}, {{ part:notes.title }}, {{title}}, {{ part:none.title }}',
    preview_url: 'https://example.org/{{ above.title }}/{{title}}',
    item_duplication_fields: ['title', 'above.title', 'part:chapters.title'],
  });

  it('use the new name of their own collection', () => {
    expect(metaOf(renamed(before, 'chapters', 'sections'), 'sections')).to.deep.equal({
      display_template:
        '{{ part:sections.title }} in {{above.above.title}}, {{ part:notes.title }}, {{title}}, {{ part:none.title }}',
      preview_url: 'https://example.org/{{ above.title }}/{{title}}',
      item_duplication_fields: ['title', 'above.title', 'part:sections.title'],
    });
  });

  it('use the new name of another collection', () => {
    expect(metaOf(renamed(before, 'notes', 'remarks'), 'chapters')).to.deep.equal({
      display_template:
        '{{ part:chapters.title }} in {{above.above.title}}, {{ part:remarks.title }}, {{title}}, {{ part:none.title }}',
      preview_url: 'https://example.org/{{ above.title }}/{{title}}',
      item_duplication_fields: ['title', 'above.title', 'part:chapters.title'],
    });
  });

  it('use the new name of a field on every path', () => {
    expect(metaOf(renamedField(before, 'chapters', 'title', 'name'), 'chapters')).to.deep.equal({
      display_template:
        '{{ part:chapters.name }} in {{above.above.name}}, {{ part:notes.title }}, {{name}}, {{ part:none.title }}',
      preview_url: 'https://example.org/{{ above.name }}/{{name}}',
      item_duplication_fields: ['name', 'above.name', 'part:chapters.name'],
    });
    expect(metaOf(renamedField(before, 'notes', 'title', 'name'), 'chapters')).to.deep.include({
      display_template:
        '{{ part:chapters.title }} in {{above.above.title}}, {{ part:notes.name }}, {{title}}, {{ part:none.title }}',
    });
    expect(metaOf(renamedField(before, 'chapters', 'above', 'of'), 'chapters')).to.deep.include({
      display_template:
        '{{ part:chapters.title }} in {{of.of.title}}, {{ part:notes.title }}, {{title}}, {{ part:none.title }}',
    });
  });

  it('stay if the new name would be read as something else', () => {
    for (const name of ['a.b', 'a:b', 'a{b', 'a)b'])
      expect(metaOf(renamedField(before, 'chapters', 'title', name), 'chapters'), name).to.deep.include({
        display_template:
          '{{ part:chapters.title }} in {{above.above.title}}, {{ part:notes.title }}, {{title}}, {{ part:none.title }}',
      });
  });
});
