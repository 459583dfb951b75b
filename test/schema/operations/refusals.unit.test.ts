import { expect } from 'chai';
import type { State } from '../../../src/schema/model/state.js';
import type { OperationName } from '../../../src/schema/operations/index.js';
import { accept, attempt, given } from '../../support/given.js';
import { withRelations } from '../../support/library.js';
import { KEY, column, stateOf } from '../invariants/states.js';

const LIBRARY = withRelations();

/** `CODE path: message`; `accepted` without errors. */
function messagesOf(name: OperationName, input: object, state: State = LIBRARY): string[] {
  const result = attempt(state, name, input as never);
  if (result.ok) return ['accepted'];
  return result.problems.map(({ code, path, message }) => `${code} ${path ?? '-'}: ${message}`);
}

describe('create-relation', () => {
  const create = (body: unknown, state?: State) => messagesOf('create-relation', { body }, state);
  const relation = (more: object) => ({ collection: 'comments', field: 'id', related_collection: 'tags', ...more });

  it('rejects existing relations, and missing or system collections', () => {
    expect(create('text')).to.deep.equal(['INVALID_PAYLOAD : a relation must be a JSON object']);
    expect(create(relation({ collection: 'articles', field: 'author' }))).to.deep.equal([
      'ALREADY_EXISTS -: "author" of "articles" already has a relation; update or delete it',
    ]);
    expect(create(relation({ collection: 'nothing' }))).to.deep.equal([
      'INVALID_PAYLOAD collection: collection "nothing" does not exist',
    ]);
    const many = { many_collection: 'nothing', many_field: 'x', one_collection: 'tags' };
    expect(create(many)).to.deep.equal(['INVALID_PAYLOAD many_collection: collection "nothing" does not exist']);
    expect(create(relation({ collection: 'service_users' }))).to.have.length(1);
    expect(create(relation({ collection: 'service_users' }))[0]).to.match(/^FORBIDDEN /);
  });

  it('requires a collection if it may reference any', () => {
    const any = { many_collection: 'tags', many_field: 'item', one_collection: null, one_collection_field: 'kind' };
    const state = stateOf({ tags: { fields: [KEY, column('item'), column('kind', 'string')] } });
    expect(create({ ...any, one_allowed_collections: [] }, state)).to.deep.equal([
      'INVALID_PAYLOAD one_allowed_collections: one_allowed_collections must name at least one collection',
    ]);
    expect(create({ ...any, one_allowed_collections: ['tags'] }, state)).to.deep.equal(['accepted']);
  });

  it("has a foreign key by default, with the column's requirements", () => {
    const state = stateOf({ one: { fields: [KEY] }, many: { fields: [KEY, column('x')] } });
    const body = { collection: 'many', field: 'x', related_collection: 'one' };
    const of = (more: object) => accept(state, 'create-relation', { body: { ...body, ...more } });
    const keyIn = (created: State) => created.collections.get('many')?.relations.get('x')?.schema;
    expect(keyIn(of({}))).to.deep.equal({
      constraint_name: 'many_x_foreign',
      on_update: 'NO ACTION',
      on_delete: 'NO ACTION',
    });
    expect(keyIn(of({ schema: null }))).to.equal(null);
  });
});

describe('update-relation and delete-relation', () => {
  const update = (collection: string, field: string, body: object) =>
    messagesOf('update-relation', { collection, field, body });

  it('require an existing relation, named by its many side', () => {
    for (const name of ['update-relation', 'delete-relation'] as const) {
      const of = (collection: string, field: string) => messagesOf(name, { collection, field, body: {} });
      expect(of('nothing', 'x')).to.deep.equal(['NOT_FOUND -: collection "nothing" does not exist']);
      expect(of('articles', 'x')).to.deep.equal(['NOT_FOUND -: field "x" of collection "articles" does not exist']);
      expect(of('authors', 'articles')).to.deep.equal([
        'NOT_FOUND -: "articles" of "authors" has no relation. A relation is identified by its many side',
      ]);
      expect(of('service_users', 'x')[0]).to.match(/^FORBIDDEN -: /);
    }
    expect(messagesOf('update-relation', { collection: 'articles', field: 'author', body: {} })).to.deep.equal([
      'accepted',
    ]);
    expect(messagesOf('delete-relation', { collection: 'articles', field: 'author' })).to.deep.equal(['accepted']);
  });

  it('report an invalid member at its location', () => {
    expect(
      update('articles', 'author', { schema: { on_delete: 'MAYBE' } }).map((text) => text.split(':')[0]),
    ).to.deep.equal(['INVALID_PAYLOAD schema.on_delete']);
    expect(update('comments', 'item', { one_allowed_collections: [] })).to.deep.equal([
      'INVALID_PAYLOAD one_allowed_collections: one_allowed_collections must name at least one collection',
    ]);
    expect(update('comments', 'item', { meta: { one_allowed_collections: [] } })).to.deep.equal([
      'INVALID_PAYLOAD meta.one_allowed_collections: one_allowed_collections must name at least one collection',
    ]);
  });

  it('use the names of the service or those of Directus', () => {
    const state = stateOf({ many: { fields: [KEY, column('who', 'uuid')] } });
    const body = { collection: 'many', field: 'who', related_collection: 'service_users', schema: null };
    const related = accept(state, 'create-relation', { body });
    for (const same of [
      { related_collection: 'directus_users' },
      { one_collection: 'directus_users' },
      { meta: { one_collection: 'directus_users' } },
    ])
      given(related).when('update-relation', { collection: 'many', field: 'who', body: same }).then();
  });
});

describe('update-collection', () => {
  const update = (body: unknown, more: object = {}) =>
    messagesOf('update-collection', { collection: 'articles', body, ...more });
  const asRead = 'an update can change meta only; send schema as you read it';

  it('changes only meta and accepts the rest as read', () => {
    expect(update({ meta: { note: 'n' }, collection: 'articles' })).to.deep.equal(['accepted']);
    expect(update({ schema: { name: 'articles', sql: null, comment: null } })).to.deep.equal(['accepted']);
    expect(update('text')).to.deep.equal(['INVALID_PAYLOAD : the body must be an object with the member meta']);
    expect(update({ meta: 5 })).to.deep.equal(['INVALID_PAYLOAD meta: meta must be an object']);
    expect(update({ schema: { name: 'other', comment: 'c', more: 1 } })).to.deep.equal([
      `INVALID_PAYLOAD schema.more: ${asRead}`,
      `INVALID_PAYLOAD schema.name: ${asRead}`,
      `INVALID_PAYLOAD schema.comment: ${asRead}`,
    ]);
    expect(update({ schema: 'text' })).to.deep.equal(['INVALID_PAYLOAD schema: schema must be an object or null']);
    expect(update({ collection: 'posts' })).to.deep.equal([
      'INVALID_PAYLOAD collection: an update cannot rename the collection, which is "articles". To rename it: POST /collections/articles/rename',
    ]);
  });

  it('converts no table to a folder, and no folder to a table', () => {
    const message =
      'INVALID_PAYLOAD schema: a table cannot become a folder or a folder a table; send schema as you read it';
    const state = stateOf({ folder: { fields: [], collection: { schema: null } } });
    expect(update({ schema: null })).to.deep.equal([message]);
    const of = (schema: object | null) =>
      messagesOf('update-collection', { collection: 'folder', body: { schema } }, state);
    expect(of({})).to.deep.equal([message]);
    expect(of(null)).to.deep.equal(['accepted']);
  });

  it('requires an existing collection, and names the index of a missing one among several', () => {
    expect(messagesOf('update-collection', { collection: 'nothing', body: {} })).to.deep.equal([
      'NOT_FOUND -: collection "nothing" does not exist',
    ]);
    const several = (...body: unknown[]) => messagesOf('update-collections', { body });
    expect(several({ collection: 'articles' }, { collection: 'nothing', meta: {} })).to.deep.equal([
      'NOT_FOUND [1].collection: collection "nothing" does not exist',
    ]);
    expect(messagesOf('update-collections', { body: {} })).to.deep.equal([
      'INVALID_PAYLOAD : the body must be an array of collections, each with its name and meta',
    ]);
    expect(
      several('text', {}, { collection: 5 }, { collection: 'tags', meta: 1 }, { collection: 'tags', more: 1 }),
    ).to.deep.equal([
      'INVALID_PAYLOAD [0]: a collection must be an object with its name and meta',
      'INVALID_PAYLOAD [1].collection: collection is required and must be a string',
      'INVALID_PAYLOAD [2].collection: collection is required and must be a string',
      'INVALID_PAYLOAD [3].meta: meta must be an object',
      'INVALID_PAYLOAD [4].more: unknown member "more"; known members: collection, meta, schema',
    ]);
    const twice = [{ collection: 'tags' }, { collection: 'articles' }, { collection: 'tags' }];
    expect(several(...twice)).to.deep.equal([
      'INVALID_PAYLOAD [2].collection: "tags" occurs more than once in the array',
    ]);
    given(LIBRARY)
      .when('update-collections', {
        body: ['tags', 'articles'].map((collection) => ({ collection, meta: { note: 'n' } })),
      })
      .then('collection.updated articles', 'collection.updated tags');
    expect(several({ collection: 'tags', meta: { group: 'nothing' } }).map((text) => text.split(':')[0])).to.deep.equal(
      ['INVALID_PAYLOAD [0].meta.group'],
    );
  });
});

describe('create-collections', () => {
  const table = (collection: string) => ({ collection, schema: {} });
  const create = (...body: unknown[]) => messagesOf('create-collections', { body, concurrentIndexes: false });

  it('reports all names in use and repeated ones by location', () => {
    expect(create(table('tags'), table('new'), table('authors'))).to.deep.equal([
      'ALREADY_EXISTS [0].collection: collection "tags" already exists',
      'ALREADY_EXISTS [2].collection: collection "authors" already exists',
    ]);
    expect(create(table('new'), table('new'))).to.deep.equal([
      'INVALID_PAYLOAD [1].collection: "new" occurs more than once in the array',
    ]);
    expect(create(5, table('new'))).to.deep.equal(['INVALID_PAYLOAD [0]: a collection must be a JSON object']);
  });
});

describe('rename operations', () => {
  it('require a new name that is free', () => {
    const rename = (body: unknown, collection = 'articles') => messagesOf('rename-collection', { collection, body });
    expect(rename('text')).to.deep.equal([
      'INVALID_PAYLOAD : the body must be an object with the new name: {"to": "…"}',
    ]);
    expect(rename({}).map((text) => text.split(':')[0])).to.deep.equal(['INVALID_PAYLOAD to']);
    expect(rename({ to: 'tags' })).to.deep.equal(['ALREADY_EXISTS to: collection "tags" already exists']);
    expect(rename({ to: 'x', more: 1 }).map((text) => text.split(':')[0])).to.deep.equal(['INVALID_PAYLOAD more']);
    expect(rename({ to: 'x' }, 'nothing')).to.deep.equal(['NOT_FOUND -: collection "nothing" does not exist']);
    expect(rename({ to: 'x' }, 'service_users')[0]).to.match(/^FORBIDDEN /);
    given(LIBRARY)
      .when('rename-collection', { collection: 'tags', body: { to: 'tags' } })
      .then();
    given(LIBRARY)
      .when('rename-field', { collection: 'tags', field: 'id', body: { to: 'id' } })
      .then();
    const field = (to: string, name = 'author') =>
      messagesOf('rename-field', { collection: 'articles', field: name, body: { to } });
    expect(field('parent')).to.deep.equal([
      'ALREADY_EXISTS to: field "parent" of collection "articles" already exists',
    ]);
    expect(field('x', 'nothing')).to.deep.equal([
      'NOT_FOUND -: field "nothing" of collection "articles" does not exist',
    ]);
  });
});

describe('create-field', () => {
  const create = (collection: string, body: unknown, state?: State) =>
    messagesOf('create-field', { collection, body, concurrentIndexes: false }, state);
  const body = { field: 'x', type: 'integer', interface: 'input' };

  it('rejects folders, existing fields and missing collections', () => {
    const folder = stateOf({ folder: { fields: [], collection: { schema: null } } });
    expect(create('tags', 'text')).to.deep.equal(['INVALID_PAYLOAD : a field must be a JSON object']);
    expect(create('tags', {}).slice(0, 2)).to.deep.equal([
      'INVALID_PAYLOAD field: field is required',
      'INVALID_PAYLOAD type: type is required',
    ]);
    expect(create('folder', body, folder)).to.deep.equal([
      `INVALID_PAYLOAD -: "folder" is a folder (schema null) and cannot have fields`,
    ]);
    expect(create('articles', { ...body, field: 'author' })).to.deep.equal([
      'ALREADY_EXISTS field: field "author" of collection "articles" already exists',
    ]);
    expect(create('nothing', body)).to.deep.equal(['NOT_FOUND -: collection "nothing" does not exist']);
    expect(create('service_users', body)[0]).to.match(/^FORBIDDEN /);
  });

  it('places the field after its group, as far as sort numbers allow', () => {
    const sorted = (field: string, sort: number | null, group: string | null = null) => ({
      ...column(field),
      meta: { sort, group },
    });
    const group = (name: string) => ({
      field: name,
      type: 'alias',
      schema: null,
      meta: { special: ['group'], sort: 2 },
    });
    const state = stateOf({ t: { fields: [KEY, group('g'), sorted('a', 5), sorted('b', null), sorted('c', 9, 'g')] } });
    const sortOf = (meta: object, from: State = state) =>
      accept(from, 'create-field', {
        collection: 't',
        body: { field: 'x', type: 'integer', meta: { interface: 'input', ...meta } },
        concurrentIndexes: false,
      })
        .collections.get('t')
        ?.fields.get('x')?.meta.sort;
    expect([sortOf({}), sortOf({ group: 'g' }), sortOf({ sort: 3 })]).to.deep.equal([6, 10, 3]);
    expect(sortOf({}, stateOf({ t: { fields: [KEY] } }))).to.equal(1);
    const last = 2 ** 31 - 1;
    expect(sortOf({}, stateOf({ t: { fields: [KEY, sorted('a', last)] } }))).to.equal(last);
  });
});

describe('a needed field', () => {
  const drop = (collection: string, field: string, state?: State) =>
    messagesOf('delete-field', { collection, field }, state);

  it('is reported with each need as a separate problem', () => {
    expect(drop('tags', 'id')).to.deep.equal([
      'IN_USE -: "id" is the primary key of "tags", and relations reference it (articles_tags.tags_id); delete the collection, or make another field the key first',
    ]);
    expect(drop('comments', 'id')).to.deep.equal([
      'IN_USE -: "id" is the primary key of "comments"; delete the collection, or make another field the key first',
    ]);
    expect(drop('comments', 'item_collection')).to.deep.equal([
      `IN_USE -: the many-to-any relation comments.item stores the name of its collection in "item_collection"; delete comments.item first`,
    ]);
    const computed = (field: string) => column(field, 'integer', { generation_expression: 'x + 1' });
    const build = (...fields: string[]) => stateOf({ t: { fields: [KEY, column('x'), ...fields.map(computed)] } });
    expect(drop('t', 'x', build('a'))).to.deep.equal([
      'IN_USE -: "a" is computed from "x"; delete or change that first',
    ]);
    expect(drop('t', 'x', build('a', 'b'))).to.deep.equal([
      'IN_USE -: "a", "b" are computed from "x"; delete or change them first',
    ]);
    const result = attempt(build('a', 'b'), 'delete-field', { collection: 't', field: 'x' });
    expect(result.ok ? [] : result.problems.map(({ details }) => details)).to.deep.equal([
      { needed_by: ['t.a', 't.b'] },
    ]);
    expect(drop('nothing', 'x')).to.deep.equal(['NOT_FOUND -: collection "nothing" does not exist']);
  });

  it('can be an INCLUDE column of the key', () => {
    const extras = { primary_key: { name: 'pk', columns: ['id'], definition: 'PRIMARY KEY (id) INCLUDE (x)' } };
    const state = stateOf({ t: { fields: [{ ...KEY }, column('x')], collection: { schema: { extras } } } });
    expect(drop('t', 'x', state)).to.deep.equal([
      `IN_USE -: the primary key "pk" contains "x", so it cannot be changed here`,
    ]);
  });
});
