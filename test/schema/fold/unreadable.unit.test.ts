import { expect } from 'chai';
import { evolve } from '../../../src/schema/fold/evolve.js';
import { formerNames } from '../../../src/schema/fold/former-names.js';
import { UnreadableEventError, readEvent } from '../../../src/schema/fold/upcasting.js';
import { MOST_SHARED, type LogEvent } from '../../../src/schema/model/events.js';
import { LIBRARY, withRelations } from '../../support/library.js';
import { accept, attempt, follow } from '../../support/given.js';

const STATE = withRelations();

type Loose = Record<string, unknown>;
type EventFields = [type: string, collection: string | null, field: string | null, data: unknown, more?: Loose];
const eventOf = (...[type, collection, field, data, more]: EventFields) =>
  ({ position: 7, type, version: 1, collection, field, data, ...more }) as never;

function rejectionOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).to.be.instanceOf(UnreadableEventError);
    const { name, message, position } = error as UnreadableEventError;
    expect([name, position]).to.deep.equal(['UnreadableEventError', 7]);
    return message.replace('event 7 cannot be read: ', '');
  }
  return 'accepted';
}

describe('an unreadable event', () => {
  const reading = (...event: EventFields) => rejectionOf(() => readEvent(eventOf(...event)));

  it('has an unknown type or version, or no collection', () => {
    expect(reading('table.created', 'a', null, {})).to.equal('event type "table.created" is not known');
    expect(reading('constructor', 'a', null, {})).to.equal('event type "constructor" is not known');
    for (const version of [0, 2])
      expect(reading('collection.deleted', 'a', null, {}, { version })).to.equal(
        `version ${version} of collection.deleted is not known; this release supports versions 1 to 1`,
      );
    expect(reading('collection.deleted', null, null, {})).to.equal('it does not name a collection');
  });

  it('names a shared trash schema above the greatest number', () => {
    const kept = (kept_in: number) => reading('collection.deleted', 'a', null, { kept_until: '2030-01-01', kept_in });
    expect(kept(MOST_SHARED)).to.equal('accepted');
    for (const wrong of [0, MOST_SHARED + 1, 3_000_000_000]) expect(kept(wrong)).to.match(/not valid.*kept_in/);
  });

  it('has invalid data for its type', () => {
    const patched = (...patch: unknown[]) => reading('collection.updated', 'a', null, { patch });
    const replace = { op: 'replace', path: '/meta/note', value: null };
    expect(patched(replace)).to.equal('accepted');
    expect(patched(replace, replace)).to.equal('accepted');
    const not = /^its data is not valid for collection\.updated version 1: patch/;
    for (const wrong of [
      { ...replace, op: 'other' },
      { ...replace, path: 5 },
      { op: 'replace', path: '/a' },
      { ...replace, more: 1 },
      'text',
      null,
    ])
      expect(patched(wrong), JSON.stringify(wrong)).to.match(not);
    expect(reading('collection.updated', 'a', null, { patch: 'text' })).to.match(not);
    expect(reading('collection.updated', 'a', null, { patch: [replace], more: 1 })).to.match(
      /collection\.updated version 1/,
    );
    expect(reading('collection.updated', 'a', null, null)).to.match(/collection\.updated version 1/);
    // No other type has a patch as its payload.
    expect(reading('collection.created', 'a', null, { patch: [replace] })).to.match(/collection\.created version 1/);
  });

  it('is kept as stored, with hostile members', () => {
    const data = JSON.parse(
      '{"patch": [{"op": "replace", "path": "/meta/note", "value": {"__proto__": 1}}]}',
    ) as object;
    const event = eventOf('collection.updated', 'a', null, data, { batch: 'b' });
    expect(readEvent(event)).to.equal(event);
  });
});

describe('an event that does not follow', () => {
  const following = (...event: EventFields) => rejectionOf(() => evolve(STATE, eventOf(...event)));
  const note = { patch: [{ op: 'replace', path: '/meta/note', value: 'n' }] };
  const misfit = { patch: [{ op: 'remove', path: '/meta/nothing/deep' }] };

  it('conflicts with a missing or existing object', () => {
    const { collection } = STATE.collections.get('tags')!;
    expect(following('collection.created', 'tags', null, { collection, fields: [] })).to.equal(
      'the collection already exists (collection.created tags)',
    );
    for (const type of ['collection.updated', 'collection.deleted', 'field.created', 'relation.deleted'])
      expect(following(type, 'nothing', null, note)).to.equal(`the collection does not exist (${type} nothing)`);
    expect(following('field.updated', 'tags', 'nothing', note)).to.equal(
      'no object with that name exists (field.updated tags.nothing)',
    );
    expect(following('relation.updated', 'articles', 'id', note)).to.equal(
      'no object with that name exists (relation.updated articles.id)',
    );
    for (const [type, field] of [
      ['collection.updated', null],
      ['field.updated', 'id'],
    ] as const)
      expect(following(type, 'tags', field, misfit)).to.match(
        new RegExp(`^its patch cannot be applied \\(.*\\) \\(${type} tags${field === null ? '' : '\\.id'}\\)$`),
      );
  });

  it('renames a missing object, or to an existing name', () => {
    const table = (from: string, to: string, patches?: unknown) =>
      following('collection.renamed', from, null, { to, ...(patches !== undefined && { patches }) });
    const field = (collection: string, from: string, to: string) =>
      following('field.renamed', collection, from, { to });
    expect(table('nothing', 'x')).to.equal('the collection does not exist (collection.renamed nothing)');
    expect(table('tags', 'authors')).to.equal(
      'a collection with the new name already exists (collection.renamed tags)',
    );
    expect(table('tags', 'x')).to.equal('accepted');
    expect(field('nothing', 'id', 'x')).to.equal('the collection does not exist (field.renamed nothing.id)');
    expect(field('tags', 'nothing', 'x')).to.equal('the field does not exist (field.renamed tags.nothing)');
    expect(field('tags', 'id', 'articles')).to.equal(
      'a field with the new name already exists (field.renamed tags.id)',
    );
    expect(field('tags', 'id', 'key')).to.equal('accepted');
    const missing = 'no object with that name exists (collection.renamed tags)';
    const { patch } = note;
    for (const place of [
      { collection: 'nothing' },
      { collection: 'tags' },
      { collection: 'x', field: 'nothing' },
      { collection: 'articles', relation: 'id' },
    ])
      expect(table('tags', 'x', [{ ...place, patch }]), JSON.stringify(place)).to.equal(missing);
    for (const place of [{ collection: 'x' }, { collection: 'x', field: 'id' }])
      expect(table('tags', 'x', [{ ...place, patch }]), JSON.stringify(place)).to.equal('accepted');
    const oneField = [{ op: 'replace', path: '/one_field', value: null }];
    expect(table('tags', 'x', [{ collection: 'articles', relation: 'author', patch: oneField }])).to.equal('accepted');
  });
});

describe('former names in a batch', () => {
  const renamed = (collection: string, field: string | null, to: string): LogEvent => ({
    type: field === null ? 'collection.renamed' : 'field.renamed',
    version: 1,
    collection,
    field,
    data: { to },
  });

  it('are followed back through any number of renames', () => {
    const former = formerNames();
    expect([former.collection('a'), former.field('a', 'x')]).to.deep.equal(['a', 'x']);
    former.add(renamed('a', 'x', 'y'));
    former.add(renamed('a', null, 'b'));
    former.add(renamed('b', 'y', 'z'));
    former.add(renamed('b', null, 'c'));
    expect([former.collection('c'), former.field('c', 'z'), former.field('c', 'w')]).to.deep.equal(['a', 'x', 'w']);
    expect(former.collection('b'), 'no object has that name anymore').to.equal('b');
    expect(former.field('c', 'y')).to.equal('y');
    former.add({ ...renamed('c', null, 'd'), type: 'collection.deleted' } as LogEvent);
    expect(former.collection('d')).to.equal('d');
  });

  it('are distinct when names were swapped', () => {
    const former = formerNames();
    for (const [from, to] of [
      ['a', 'x'],
      ['b', 'a'],
      ['x', 'b'],
    ] as const)
      former.add(renamed(from, null, to));
    expect([former.collection('a'), former.collection('b')]).to.deep.equal(['b', 'a']);
    former.add(renamed('a', 'one', 'two'));
    expect([former.field('a', 'two'), former.field('b', 'two')]).to.deep.equal(['one', 'two']);
  });
});

describe('the fold of a rename', () => {
  it('keeps unrelated objects identical', () => {
    const before = STATE.collections;
    const result = attempt(STATE, 'rename-collection', { collection: 'tags', body: { to: 'words' } });
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    const { collections } = follow(STATE, result.value);
    expect(collections.get('authors')).to.equal(before.get('authors'));
    expect(collections.get('articles_tags')?.relations.get('tags_id')?.one_collection).to.equal('words');
    expect([...collections.keys()].sort()).to.deep.equal(
      [...Object.keys(LIBRARY.collections).filter((name) => name !== 'tags'), 'words'].sort(),
    );
  });

  it('updates the other side of relations and their junction', () => {
    const after = [
      { collection: 'authors', field: 'articles', body: { to: 'texts' } },
      { collection: 'articles_tags', field: 'tags_id', body: { to: 'word' } },
      { collection: 'comments', field: 'item_collection', body: { to: 'kind' } },
    ].reduce((state, input) => accept(state, 'rename-field', input), STATE);
    const relation = (collection: string, field: string) => after.collections.get(collection)?.relations.get(field);
    expect(relation('articles', 'author')?.one_field).to.equal('texts');
    expect(relation('articles', 'parent')?.one_field).to.equal(null);
    expect(relation('articles_tags', 'articles_id')).to.include({ junction_field: 'word', one_field: 'tags' });
    expect(relation('articles_tags', 'word')).to.include({ many_field: 'word', junction_field: 'articles_id' });
    expect(relation('articles_tags', 'tags_id')).to.equal(undefined);
    expect(relation('comments', 'item')).to.include({ one_collection_field: 'kind' });
  });
});
