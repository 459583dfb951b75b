import { expect } from 'chai';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { accept, attempt, folder, given, table } from '../../support/given.js';
import { withRelations } from '../../support/library.js';

const create = (body: object) => ({ body, concurrentIndexes: false });
const nodeOf = (state: State, name: string) => {
  const node = state.collections.get(name);
  if (node === undefined) throw new Error(`no ${name}`);
  return node;
};

describe('create-collection', () => {
  it('creates a table with an id if no fields are given', () => {
    const state = accept(initialState(), 'create-collection', table('articles'));
    const { collection, fields } = nodeOf(state, 'articles');
    expect(collection.schema).to.deep.equal({ comment: null });
    expect([...fields.keys()]).to.deep.equal(['id']);
    const id = fields.get('id');
    expect(id?.type).to.equal('integer');
    expect(id?.schema).to.include({
      is_primary_key: true,
      has_auto_increment: true,
      is_nullable: false,
      is_unique: true,
    });
    expect(id?.meta).to.include({ hidden: true, readonly: true, sort: 1 });
  });

  it('accepts documented members at the top of its body and rejects contradictions below', () => {
    const top = {
      icon: 'box',
      note: 'n',
      display_template: '{{id}}',
      hidden: true,
      singleton: true,
      versioning: true,
      archive_field: 'status',
      archive_app_filter: false,
      archive_value: 'gone',
      unarchive_value: 'there',
      sort_field: 'sort',
    };
    const fields = ['id', 'status', 'sort'].map((name) => ({
      field: name,
      type: 'string',
      interface: 'input',
      schema: { is_primary_key: name === 'id' },
    }));
    const metaOf = (members: object) => {
      const body = { collection: 't', schema: {}, fields, ...members };
      return nodeOf(accept(initialState(), 'create-collection', create(body)), 't').collection.meta;
    };
    expect(metaOf(top)).to.include(top);
    for (const [member, value] of Object.entries(top))
      expect(metaOf({ [member]: value, meta: { [member]: value } }), member).to.include({ [member]: value });
    given()
      .when('create-collection', create({ collection: 't', schema: {}, icon: 'box', meta: { icon: 'other' } }))
      .thenRefused('INVALID_PAYLOAD', 'icon');
  });

  it('adds the id first without a primary key field, and keeps the order', () => {
    const fields = [
      { field: 'b', type: 'string', interface: 'input' },
      { field: 'a', type: 'text', interface: 'input' },
    ];
    const node = nodeOf(accept(initialState(), 'create-collection', table('t', fields)), 't');
    expect([...node.fields.values()].map((field) => [field.field, field.meta.sort])).to.deep.equal([
      ['id', 1],
      ['b', 2],
      ['a', 3],
    ]);
  });

  it('reads metadata at the top level, in meta, or both if equal', () => {
    const body = {
      collection: 't',
      schema: {},
      icon: 'box',
      translation: '{"de":"Kiste"}',
      archive_app_filter: 'false',
      meta: { icon: 'box', note: 'n' },
    };
    const { meta } = nodeOf(accept(initialState(), 'create-collection', create(body)), 't').collection;
    expect(meta).to.include({ icon: 'box', note: 'n', archive_app_filter: false });
    expect(meta.translations).to.deep.equal({ de: 'Kiste' });
  });

  const refused: [string, object, string][] = [
    ['schema absent', { collection: 't' }, 'schema'],
    ['no name', { schema: {} }, 'collection'],
    ['an unknown member', { collection: 't', schema: {}, foo: 1 }, 'foo'],
    ['an unknown meta member', { collection: 't', schema: {}, meta: { foo: 1 } }, 'meta.foo'],
    [
      'the same member twice with different values',
      { collection: 't', schema: {}, icon: 'a', meta: { icon: 'b' } },
      'icon',
    ],
    ['a wrong value at the top level, shown there', { collection: 't', schema: {}, hidden: 'abc' }, 'hidden'],
    ['another table name', { collection: 't', schema: { name: 'u' } }, 'schema.name'],
    [
      'fields in a folder',
      { collection: 't', schema: null, fields: [{ field: 'a', type: 'string', interface: 'x' }] },
      'fields',
    ],
    [
      'a field without interface',
      { collection: 't', schema: {}, fields: [{ field: 'a', type: 'string' }] },
      'fields[0].interface',
    ],
    [
      'a field without type',
      { collection: 't', schema: {}, fields: [{ field: 'a', interface: 'x' }] },
      'fields[0].type',
    ],
    [
      'an unknown type',
      { collection: 't', schema: {}, fields: [{ field: 'a', type: 'bogus', interface: 'x' }] },
      'fields[0].type',
    ],
    ['a system name', { collection: 'service_flows', schema: {} }, 'collection'],
    ['64 bytes', { collection: 'x'.repeat(64), schema: {} }, 'collection'],
    ['64 bytes in 32 characters', { collection: 'é'.repeat(32), schema: {} }, 'collection'],
    ['outer spaces', { collection: ' t', schema: {} }, 'collection'],
    ['control characters', { collection: 'a\nb', schema: {} }, 'collection'],
    [
      'a system column',
      { collection: 't', schema: {}, fields: [{ field: 'ctid', type: 'string', interface: 'x' }] },
      'fields[0].field',
    ],
    ['a group that is not there', { collection: 't', schema: {}, meta: { group: 'nope' } }, 'meta.group'],
    ['itself as group', { collection: 't', schema: {}, meta: { group: 't' } }, 'meta.group'],
    ['a sort_field that is not a field', { collection: 't', schema: {}, sort_field: 'nope' }, 'sort_field'],
  ];
  for (const [what, body, path] of refused) {
    it(`rejects ${what}, naming ${path}`, () => {
      given().when('create-collection', create(body)).thenRefused('INVALID_PAYLOAD', path);
    });
  }

  it('rejects two primary keys, naming the second', () => {
    const key = (field: string) => ({ field, type: 'integer', interface: 'x', schema: { is_primary_key: true } });
    given()
      .when('create-collection', table('t', [key('a'), key('b')]))
      .thenRefused('INVALID_PAYLOAD', 'fields[1].schema.is_primary_key');
  });

  it('names every missing member of each field', () => {
    const fields = [{}, { field: 'a' }, { type: 'integer', interface: 'input' }, { field: 'b', type: 'x', meta: {} }];
    const problems = given(initialState()).when('create-collection', table('t', fields)).thenRefused('INVALID_PAYLOAD');
    expect(problems.map(({ path, message }) => `${path}: ${message}`).slice(0, 7)).to.deep.equal([
      'fields[0].field: field is required',
      'fields[0].type: type is required',
      'fields[0].interface: interface is required, either here or in meta',
      'fields[1].type: type is required',
      'fields[1].interface: interface is required, either here or in meta',
      'fields[2].field: field is required',
      'fields[3].interface: interface is required, either here or in meta',
    ]);
    expect(problems[7]?.path).to.equal('fields[3].type');
  });

  it('rejects a second field with the same name', () => {
    const field = { field: 'a', type: 'string', interface: 'x' };
    given()
      .when('create-collection', table('t', [field, field]))
      .thenRefused('INVALID_PAYLOAD', 'fields[1].field');
  });

  it('rejects an id that is not the primary key where one would be added', () => {
    const field = { field: 'id', type: 'string', interface: 'x' };
    given()
      .when('create-collection', table('t', [field]))
      .thenRefused('INVALID_PAYLOAD', 'fields[0].schema.is_primary_key');
  });

  it('rejects a name in use', () => {
    const state = accept(initialState(), 'create-collection', table('t'));
    given(state).when('create-collection', table('t')).thenRefused('ALREADY_EXISTS');
  });

  for (const name of ['a b', 'a/b', "it's", '"', 'constructor', 'toString', '__proto__', 'select', 'é'.repeat(31)]) {
    it(`accepts ${JSON.stringify(name)} as a name of a collection and of a field`, () => {
      const field = { field: name, type: 'string', interface: 'x', schema: { is_primary_key: true } };
      given()
        .when('create-collection', table(name, [field]))
        .then(`collection.created ${name}`);
    });
  }

  it('records in the event that indexes are deferred, only if there are any', () => {
    const indexed = { field: 'a', type: 'string', interface: 'x', schema: { is_indexed: true } };
    const [event] = given()
      .when('create-collection', { ...table('t', [indexed]), concurrentIndexes: true })
      .then('collection.created t');
    expect(event?.data).to.include({ concurrent_indexes: true });
    const [plain] = given()
      .when('create-collection', { ...table('t'), concurrentIndexes: true })
      .then('collection.created t');
    expect(plain?.data).not.to.have.property('concurrent_indexes');
  });
});

describe('update-collection', () => {
  const state = accept(accept(initialState(), 'create-collection', folder('f')), 'create-collection', table('t'));

  it('changes the given members as a patch', () => {
    const [event] = given(state)
      .when('update-collection', { collection: 't', body: { meta: { note: 'n', hidden: false } } })
      .then('collection.updated t');
    expect(event?.data).to.deep.equal({ patch: [{ op: 'replace', path: '/meta/note', value: 'n' }] });
  });

  it('appends nothing without changes', () => {
    given(state)
      .when('update-collection', { collection: 't', body: { meta: { note: null } } })
      .then();
    given(state).when('update-collection', { collection: 't', body: {} }).then();
  });

  it('accepts collection and schema as read', () => {
    const body = { collection: 't', meta: { group: 'f' }, schema: { name: 't', sql: 'CREATE TABLE …', comment: null } };
    given(state).when('update-collection', { collection: 't', body }).then('collection.updated t');
  });

  it('rejects a rename, a changed schema, an unknown member and a cycle', () => {
    const when = (body: object, collection = 't') => given(state).when('update-collection', { collection, body });
    when({ collection: 'u' }).thenRefused('INVALID_PAYLOAD', 'collection');
    when({ schema: null }).thenRefused('INVALID_PAYLOAD', 'schema');
    when({ schema: { name: 't', comment: 'x' } }).thenRefused('INVALID_PAYLOAD', 'schema.comment');
    when({ note: 'x' }).thenRefused('INVALID_PAYLOAD', 'note');
    when({ meta: { collection: 'u' } }).thenRefused('INVALID_PAYLOAD', 'meta.collection');
    when({ meta: { hidden: null } }).thenRefused('INVALID_PAYLOAD', 'meta.hidden');
    when({ meta: { group: 'f' } }, 'f').thenRefused('INVALID_PAYLOAD', 'meta.group');
  });

  it('distinguishes unknown and system collections', () => {
    given(state).when('update-collection', { collection: 'nope', body: {} }).thenRefused('NOT_FOUND');
    given(state).when('update-collection', { collection: 'T', body: {} }).thenRefused('NOT_FOUND');
    given(state).when('update-collection', { collection: 'service_users', body: {} }).thenRefused('FORBIDDEN');
  });
});

describe('delete-collection', () => {
  it('deletes relations to it and their aliases, and keeps columns as plain fields', () => {
    given(withRelations())
      .when('delete-collection', { collection: 'authors' })
      .then('relation.deleted articles.author', 'relation.updated comments.item', 'collection.deleted authors');
  });

  it('deletes a many side with the alias on the one side', () => {
    given(withRelations())
      .when('delete-collection', { collection: 'articles' })
      .then(
        'relation.deleted articles.author',
        'relation.deleted articles.parent',
        'relation.deleted articles_tags.articles_id',
        'relation.updated comments.item',
        'field.deleted authors.articles',
        'collection.deleted articles',
        'relation.updated articles_tags.tags_id',
      );
  });

  it('deletes a junction with the aliases on both ends', () => {
    given(withRelations())
      .when('delete-collection', { collection: 'articles_tags' })
      .then(
        'relation.deleted articles_tags.articles_id',
        'relation.deleted articles_tags.tags_id',
        'field.deleted articles.tags',
        'field.deleted tags.articles',
        'collection.deleted articles_tags',
      );
  });

  it('moves collections grouped under it to its parent', () => {
    let state = accept(initialState(), 'create-collection', folder('top'));
    state = accept(state, 'create-collection', folder('middle', { group: 'top' }));
    state = accept(state, 'create-collection', folder('low', { group: 'middle' }));
    const [event] = given(state)
      .when('delete-collection', { collection: 'middle' })
      .then('collection.updated low', 'collection.deleted middle');
    expect(event?.data).to.deep.equal({ patch: [{ op: 'replace', path: '/meta/group', value: 'top' }] });
  });

  it('rejects missing and system collections', () => {
    expect(attempt(initialState(), 'delete-collection', { collection: 'x' })).to.have.nested.property(
      'problems[0].code',
      'NOT_FOUND',
    );
    expect(attempt(initialState(), 'delete-collection', { collection: 'service_events' })).to.have.nested.property(
      'problems[0].code',
      'FORBIDDEN',
    );
  });
});
