import { expect } from 'chai';
import { foreignKeyName } from '../../../src/schema/model/name-length.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { NewRelation } from '../../../src/schema/model/model.js';
import { type State, getObject } from '../../../src/schema/model/state.js';
import { snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { type Head, byDraftNames, draftDiff, resolveConflict } from '../../../src/web/draft/diff.js';
import {
  collectionOf,
  fieldOf,
  relationOf,
  draftText,
  readDraft,
  type Draft,
  EMPTY,
  changesIn,
  isEmpty,
  memberKey,
  objectKeyOf,
  touchedAtHead,
} from '../../../src/web/draft/model.js';
import {
  discard,
  put,
  remove,
  renameCollection,
  renameField,
  renameObject,
  remainingDraft,
} from '../../../src/web/draft/edits.js';
import {
  type Item,
  selectChosen,
  itemsOf,
  leftOutOf,
  withDependents,
} from '../../../src/web/pages/review/model/items.js';
import { totalText } from '../../../src/web/shared/changes/total.js';
import { accept, attempt, follow, given } from '../../support/given.js';
import { withRelations } from '../../support/library.js';

const release = '0.0.0';
const start = accept(withRelations(), 'create-field', {
  collection: 'articles',
  body: { field: 'title', type: 'string' },
} as never);

/** As the app reads it: only the collections of the draft. */
function headOf(state: State, draft: Draft): Head {
  const names = new Set(touchedAtHead(draft));
  const {
    collections,
    fields,
    relations,
    objects = [],
  } = runToEnd(snapshotOf(state, release, (name) => names.has(name), true));
  return {
    position: state.position,
    hash: runToEnd(snapshotHash(state, release)),
    collections: collections.map((each) => collectionOf(each as never)),
    fields: fields.map(fieldOf),
    relations: relations.map((each) => relationOf(each as unknown as NewRelation)),
    objects,
  };
}

const collectionAt = (state: State, name: string) => {
  const collection = state.collections.get(name)?.collection;
  if (collection === undefined) throw new Error(`no ${name}`);
  return collection;
};
const fieldAt = (state: State, collection: string, field: string) => {
  const document = state.collections.get(collection)?.fields.get(field);
  if (document === undefined) throw new Error(`no ${collection}.${field}`);
  return document;
};
const relationAt = (state: State, collection: string, field: string) => {
  const document = state.collections.get(collection)?.relations.get(field);
  if (document === undefined) throw new Error(`no relation ${collection}.${field}`);
  const { id: _, ...relation } = document;
  return relation;
};

/** An edit of members of meta. */
const withMeta = (draft: Draft, state: State, name: string, meta: object): Draft => {
  const before = collectionAt(state, name);
  return put(draft, 'collections', { before, after: { ...before, meta: { ...before.meta, ...meta } } });
};
const withFieldMeta = (draft: Draft, [collection, field]: [string, string], meta: object, state = start): Draft => {
  const before = fieldAt(state, collection, field);
  return put(draft, 'fields', { before, after: { ...before, meta: { ...before.meta, ...meta } } });
};

const appliedTo = (state: State, draft: Draft) => {
  const { hash, diff, conflicts } = draftDiff(draft, headOf(state, draft));
  // The draft and its review show the same number, unless the schema already contains part of the draft.
  if (state === start) expect(totalText(changesIn(draft))).to.equal(totalText(itemsOf(diff)));
  return { diff, conflicts, when: given(state).when('apply-diff', { release, body: { hash, diff } }) };
};

/** Every subset of the keys. */
const subsetsOf = (keys: readonly string[]): string[][] =>
  keys.reduce<string[][]>((subsets, key) => [...subsets, ...subsets.map((subset) => [...subset, key])], [[]]);

describe('a partly applied draft', () => {
  const title = fieldAt(start, 'articles', 'title');
  const drafts: Record<string, Draft> = {
    'changes of members': withFieldMeta(
      withMeta(EMPTY, start, 'articles', { note: 'Long reads', icon: 'article' }),
      ['articles', 'title'],
      { required: true, note: 'x' },
    ),
    'new names': renameField(
      withFieldMeta(
        renameCollection(withMeta(EMPTY, start, 'articles', { note: 'x' }), 'articles', 'posts'),
        ['authors', 'id'],
        {
          note: 'y',
        },
      ),
      'posts',
      'title',
      'headline',
    ),
    deletions: remove(
      remove(withMeta(EMPTY, start, 'authors', { note: 'x' }), 'fields', fieldAt(start, 'articles', 'title')),
      'collections',
      collectionAt(start, 'comments'),
    ),
    'a new collection and a new field': put(
      put(
        put(EMPTY, 'collections', {
          before: null,
          after: { ...collectionAt(start, 'articles'), collection: 'topics', schema: { comment: null } },
        }),
        'fields',
        { before: null, after: { ...fieldAt(start, 'articles', 'id'), collection: 'topics' } },
      ),
      'fields',
      { before: null, after: { ...fieldAt(start, 'articles', 'title'), field: 'subtitle' } },
    ),
    'another field under the same name': put(
      remove(withMeta(EMPTY, start, 'authors', { note: 'x' }), 'fields', fieldAt(start, 'articles', 'title')),
      'fields',
      {
        before: null,
        after: { ...title, type: 'text', schema: { ...title.schema, data_type: 'text', max_length: null } as never },
      },
    ),
  };
  for (const [name, draft] of Object.entries(drafts))
    it(`keeps exactly what was not selected: ${name}`, () => {
      const { hash, diff } = draftDiff(draft, headOf(start, draft));
      const items = itemsOf(diff);
      const keys = items.flatMap((item) => [
        item.key,
        ...(item.members.length > 1 ? item.members.map(({ key }) => key) : []),
      ]);
      expect(keys.length).within(2, 9);
      const outcomes = subsetsOf(keys).map((subset) => {
        const isChosen = ({ key }: Item) => subset.includes(key);
        const leftOut = new Set([...subset, ...items.filter(isChosen).flatMap((item) => withDependents(items, item))]);
        const chosen = selectChosen(diff, items, leftOut).diff;
        const tried = attempt(start, 'apply-diff', { release, body: { hash, diff: chosen } });
        if (!tried.ok) return 'rejected';
        const after = follow(start, tried.value);
        const rest = remainingDraft(draft, draft, leftOutOf({ items, keys: leftOut }));
        const { diff: restDiff, conflicts } = draftDiff(rest, headOf(after, rest));
        expect(conflicts).deep.equal([]);
        const state = accept(after, 'apply-diff', {
          release,
          body: { hash: runToEnd(snapshotHash(after, release)), diff: restDiff },
        });
        expect(headOf(state, draft).fields).deep.equal(headOf(appliedWhole(draft), draft).fields);
        expect(headOf(state, draft).collections).deep.equal(headOf(appliedWhole(draft), draft).collections);
        return isEmpty(rest) ? 'nothing left' : 'some left';
      });
      expect(new Set(outcomes)).include.all.keys('nothing left', 'some left');
    });

  const appliedWhole = (draft: Draft): State => {
    const { hash, diff } = draftDiff(draft, headOf(start, draft));
    return accept(start, 'apply-diff', { release, body: { hash, diff } });
  };

  it('keeps an edit that was made while the rest was applied', () => {
    const sent = withMeta(EMPTY, start, 'articles', { note: 'x' });
    const edited = withFieldMeta(sent, ['articles', 'title'], { note: 'meanwhile' });
    const rest = remainingDraft(edited, sent, { hasObject: () => false, membersOf: () => [] });
    expect(rest).deep.equal(withFieldMeta(EMPTY, ['articles', 'title'], { note: 'meanwhile' }));
  });
});

describe('a draft of the admin app', () => {
  it('becomes entries that apply accepts', () => {
    const draft = withFieldMeta(withMeta(EMPTY, start, 'articles', { note: 'Long reads' }), ['articles', 'title'], {
      required: true,
    });
    const { diff, when } = appliedTo(start, draft);
    expect(diff).to.deep.equal({
      collections: [
        { collection: 'articles', diff: [{ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'Long reads' }] },
      ],
      fields: [
        {
          collection: 'articles',
          field: 'title',
          diff: [{ kind: 'E', path: ['meta', 'required'], lhs: false, rhs: true }],
        },
      ],
      relations: [],
    });
    when.then('field.updated articles.title', 'collection.updated articles');
  });

  it('is empty when every change was undone', () => {
    const draft = withMeta(withMeta(EMPTY, start, 'articles', { note: 'x' }), start, 'articles', {});
    expect(isEmpty(draft)).to.equal(true);
    expect(draft).to.equal(EMPTY);
  });

  it('creates a collection with fields and a relation, and counts them as one change', () => {
    const topic = { ...collectionAt(start, 'articles'), collection: 'topics' };
    const id = { ...fieldAt(start, 'articles', 'id'), collection: 'topics' };
    const author = { ...fieldAt(start, 'articles', 'author'), collection: 'topics' };
    const relation = relationAt(start, 'articles', 'author');
    let draft = put(EMPTY, 'collections', { before: null, after: { ...topic, schema: { comment: null } } });
    draft = put(draft, 'fields', { before: null, after: id });
    draft = put(draft, 'fields', { before: null, after: author });
    draft = put(draft, 'relations', {
      before: null,
      after: {
        ...relation,
        many_collection: 'topics',
        one_field: null,
        schema: { constraint_name: 'topics_author_foreign', on_update: 'NO ACTION', on_delete: 'SET NULL' },
      },
    });
    expect(totalText(changesIn(draft))).to.equal('1 change in 1 collection');
    appliedTo(start, draft).when.then('collection.created topics', 'relation.created topics.author');
    expect(discard(draft, 'collections', 'topics')).to.equal(EMPTY);
  });

  it('deletes existing objects, regardless of their changes in the draft', () => {
    const author = fieldAt(start, 'articles', 'author');
    let draft = withFieldMeta(EMPTY, ['articles', 'author'], { note: 'x' });
    draft = remove(draft, 'relations', relationAt(start, 'articles', 'author'));
    draft = remove(draft, 'fields', { ...author, meta: { ...author.meta, note: 'x' } });
    draft = remove(draft, 'fields', fieldAt(start, 'authors', 'articles'));
    const { conflicts, when } = appliedTo(start, draft);
    expect(conflicts).to.deep.equal([]);
    when.then('relation.deleted articles.author', 'field.deleted articles.author', 'field.deleted authors.articles');
  });

  it('deletes a collection with its fields, without separate entries for them', () => {
    let draft = withFieldMeta(EMPTY, ['comments', 'item'], { note: 'x' });
    draft = remove(draft, 'collections', collectionAt(start, 'comments'));
    const { diff, when } = appliedTo(start, draft);
    expect(diff.fields).to.deep.equal([]);
    when.then('relation.deleted comments.item', 'collection.deleted comments');
  });

  it('renames first, and uses the new names in all other entries', () => {
    let draft = renameCollection(withFieldMeta(EMPTY, ['articles', 'title'], { note: 'x' }), 'articles', 'posts');
    draft = renameField(draft, 'posts', 'title', 'headline');
    expect(totalText(changesIn(draft))).to.equal('2 changes in 1 collection');
    const { diff, when } = appliedTo(start, draft);
    expect(diff.collections).to.deep.equal([
      { collection: 'posts', diff: [{ kind: 'E', path: ['collection'], lhs: 'articles', rhs: 'posts' }] },
    ]);
    expect(diff.fields).to.deep.equal([
      {
        collection: 'posts',
        field: 'headline',
        diff: [
          { kind: 'E', path: ['field'], lhs: 'title', rhs: 'headline' },
          { kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'x' },
        ],
      },
    ]);
    const state = follow(
      start,
      when.then('collection.renamed articles', 'field.renamed posts.title', 'field.updated posts.headline'),
    );
    expect(fieldAt(state, 'posts', 'headline').meta.note).to.equal('x');
    expect(touchedAtHead(draft)).to.deep.equal(['articles']);
    expect(isEmpty(discard(discard(draft, 'fields', memberKey('posts', 'headline')), 'collections', 'posts'))).to.equal(
      true,
    );
  });

  it('deletes a relation of a renamed collection, whose foreign key then has another name', () => {
    const renamed = renameCollection(EMPTY, 'articles', 'posts');
    const relation = { ...relationAt(start, 'articles', 'author'), many_collection: 'posts' };
    const [drop] = byDraftNames(renamed, headOf(start, renamed)).relations.values();
    expect(drop?.schema?.constraint_name).to.equal('posts_author_foreign');
    const draft = remove(renamed, 'relations', { ...relation, schema: drop?.schema ?? null });
    const { conflicts, when } = appliedTo(start, remove(draft, 'fields', fieldAt(start, 'authors', 'articles')));
    expect(conflicts).to.deep.equal([]);
    when.then('collection.renamed articles', 'relation.deleted posts.author', 'field.deleted authors.articles');
  });

  it('deletes the relation also if the name of its foreign key is shortened, before or after the rename', () => {
    const long = 'a_collection_with_a_name_that_fills_what_postgresql_has_for_it';
    const renamed = renameCollection(EMPTY, 'articles', long);
    const after = follow(start, appliedTo(start, renamed).when.then('collection.renamed articles'));
    for (const [state, from, to] of [
      [start, 'articles', long],
      [after, long, 'posts'],
    ] as const) {
      const other = renameCollection(EMPTY, from, to);
      const [drop] = byDraftNames(other, headOf(state, other)).relations.values();
      expect(drop?.schema?.constraint_name).to.equal(foreignKeyName(to, 'author'));
      const relation = { ...relationAt(state, from, 'author'), many_collection: to };
      const draft = remove(other, 'relations', { ...relation, schema: drop?.schema ?? null });
      const { conflicts, when } = appliedTo(state, remove(draft, 'fields', fieldAt(state, 'authors', 'articles')));
      expect(conflicts).to.deep.equal([]);
      when.then(`collection.renamed ${from}`, `relation.deleted ${to}.author`, 'field.deleted authors.articles');
    }
  });

  it('deletes a renamed object by its present name', () => {
    const draft = remove(renameField(EMPTY, 'articles', 'title', 'headline'), 'fields', {
      ...fieldAt(start, 'articles', 'title'),
      field: 'headline',
    });
    expect(changesIn(draft)).to.deep.equal([
      { part: 'fields', collection: 'articles', field: 'title', kind: null, mark: 'removed' },
    ]);
    appliedTo(start, draft).when.then('field.deleted articles.title');
  });

  it('replaces a deleted object with a new one of the same name', () => {
    const title = fieldAt(start, 'articles', 'title');
    let draft = remove(EMPTY, 'fields', title);
    draft = put(draft, 'fields', { before: null, after: { ...title, type: 'alias', schema: null } });
    expect(totalText(changesIn(draft))).to.equal('2 changes in 1 collection');
    appliedTo(start, draft).when.then('field.deleted articles.title', 'field.created articles.title');
  });

  it('keeps other changes by another user', () => {
    const draft = withMeta(EMPTY, start, 'articles', { note: 'mine' });
    const meta = { icon: 'article' };
    const head = accept(start, 'update-collection', { collection: 'articles', body: { meta } });
    const { conflicts, when } = appliedTo(head, draft);
    expect(conflicts).to.deep.equal([]);
    const after = follow(head, when.then('collection.updated articles'));
    expect(collectionAt(after, 'articles').meta).to.include({ icon: 'article', note: 'mine' });
  });

  it('shows three values for a conflict, and accepts either side', () => {
    const draft = withMeta(EMPTY, start, 'articles', { note: 'mine' });
    const body = { meta: { note: 'theirs' } };
    const state = accept(start, 'update-collection', { collection: 'articles', body });
    const head = headOf(state, draft);
    const [conflict] = draftDiff(draft, head).conflicts;
    expect(conflict).to.deep.equal({
      part: 'collections',
      key: 'articles',
      path: ['meta', 'note'],
      base: null,
      mine: 'mine',
      theirs: 'theirs',
    });
    if (conflict === undefined) throw new Error('no conflict');
    const mine = appliedTo(state, resolveConflict(draft, head, conflict, 'mine'));
    expect(mine.conflicts).to.deep.equal([]);
    expect(collectionAt(follow(state, mine.when.then('collection.updated articles')), 'articles').meta.note).to.equal(
      'mine',
    );
    const theirs = appliedTo(state, resolveConflict(draft, head, conflict, 'theirs'));
    expect(theirs.conflicts).to.deep.equal([]);
    theirs.when.then();
  });

  it('reports an object that was deleted or created in the meantime', () => {
    const draft = withFieldMeta(EMPTY, ['articles', 'title'], { note: 'mine' });
    const gone = accept(start, 'delete-field', { collection: 'articles', field: 'title' });
    const [conflict] = draftDiff(draft, headOf(gone, draft)).conflicts;
    expect(conflict?.path).to.deep.equal([]);
    expect(conflict?.theirs).to.equal(undefined);
    if (conflict === undefined) throw new Error('no conflict');
    expect(resolveConflict(draft, headOf(gone, draft), conflict, 'theirs')).to.equal(EMPTY);
    const mine = resolveConflict(draft, headOf(gone, draft), conflict, 'mine');
    appliedTo(gone, mine).when.then('field.created articles.title');
  });

  describe('of views and triggers', () => {
    const body = { kind: 'view', definition: 'CREATE VIEW names AS SELECT title FROM articles' };
    const definition =
      'CREATE TRIGGER audit BEFORE UPDATE ON articles FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()';
    const trigger = { kind: 'trigger', definition };
    const state = [body, trigger].reduce((before, each) => accept(before, 'create-object', { body: each }), start);
    const objectAt = (kind: 'view' | 'trigger', id: string) => {
      const object = getObject(state, { kind, id });
      if (object === undefined) throw new Error(`no ${kind} ${id}`);
      return object;
    };
    const view = objectAt('view', 'names');
    const applied = (draft: Draft, to: State = state) => {
      const { hash, diff, conflicts } = draftDiff(draft, headOf(to, draft));
      const when = given(to).when('apply-diff', { release, body: { hash, diff }, objects: true });
      return { diff, conflicts, when };
    };

    it('renames and changes a view in one item, from the definition with its former name', () => {
      const definition = 'CREATE VIEW names AS SELECT id FROM articles';
      const changed = put(EMPTY, 'objects', { before: view, after: { ...view, definition } });
      const draft = renameObject(changed, view, 'titles');
      expect(changesIn(draft)).to.deep.equal([
        { part: 'objects', collection: 'titles', field: null, kind: 'view', mark: 'renamed' },
      ]);
      const { when, conflicts } = applied(draft);
      expect(conflicts).to.deep.equal([]);
      const after = follow(state, when.then('object.renamed null', 'object.updated null'));
      expect(getObject(after, { kind: 'view', id: 'titles' })?.definition).to.equal(
        'CREATE VIEW titles AS SELECT id FROM articles',
      );
      expect(renameObject(draft, { kind: 'view', id: 'titles' }, 'names')).to.deep.equal(changed);
      expect(discard(draft, 'objects', objectKeyOf({ kind: 'view', id: 'titles' }))).to.equal(EMPTY);
    });

    it('deletes a trigger of a renamed collection, and drops its edit if the collection is deleted', () => {
      const named = renameCollection(EMPTY, 'articles', 'posts');
      const own = { ...objectAt('trigger', 'audit on articles'), id: 'audit on posts' };
      const { when } = applied(remove(named, 'objects', own));
      when.then('object.deleted null', 'collection.renamed articles');
      const edited = put(named, 'objects', { before: own, after: { ...own, comment: 'Audited' } });
      expect(
        remove(edited, 'collections', { ...collectionAt(start, 'articles'), collection: 'posts' }).objects.size,
      ).to.equal(0);
    });

    it('reports another definition by another user as a conflict', () => {
      const edited = (definition: string) => ({ ...view, definition });
      const mine = 'CREATE VIEW names AS SELECT id FROM articles';
      const draft = put(EMPTY, 'objects', { before: view, after: edited(mine) });
      const theirs = 'CREATE VIEW names AS SELECT title AS name FROM articles';
      const input = { kind: 'view', id: 'names', body: { definition: theirs } };
      const now = accept(state, 'update-object', input);
      const { conflicts } = applied(draft, now);
      expect(conflicts).to.deep.equal([
        { part: 'objects', key: 'names\0view', path: ['definition'], base: view.definition, mine, theirs },
      ]);
      const [conflict] = conflicts;
      if (conflict === undefined) throw new Error('no conflict');
      const kept = resolveConflict(draft, headOf(now, draft), conflict, 'mine');
      applied(kept, now).when.then('object.updated null');
      const taken = resolveConflict(draft, headOf(now, draft), conflict, 'theirs');
      applied(taken, now).when.then();
    });

    it('is read from storage, also from a release without objects', () => {
      const draft = renameObject(remove(EMPTY, 'objects', objectAt('trigger', 'audit on articles')), view, 'titles');
      expect(readDraft(draftText(draft))).to.deep.equal(draft);
      const { objects: _, ...stored } = JSON.parse(draftText(withMeta(EMPTY, start, 'articles', { note: 'x' }))) as {
        objects: unknown;
      };
      expect(readDraft(JSON.stringify(stored)).collections.size).to.equal(1);
    });
  });

  it('survives serialization, with names of any kind', () => {
    let draft = withFieldMeta(EMPTY, ['articles', 'title'], { note: '<img onerror>' });
    draft = renameField({ ...draft, position: 7 }, 'articles', 'title', '__proto__');
    expect(readDraft(draftText(draft))).to.deep.equal(draft);
    for (const text of [null, '', '{}', 'null', '{"version":1}']) expect(readDraft(text)).to.equal(EMPTY);
  });
});
