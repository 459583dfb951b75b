/** Equal for the same change anywhere and anytime, and different for any other effect. */
import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planDocument, planHash } from '../../../src/schema/change-requests/plan-hash.js';
import type { SchemaEvent } from '../../../src/schema/model/events.js';
import type { ObjectKind, ObjectName } from '../../../src/schema/model/objects.js';
import { DEFAULT_POLICY, type Policy } from '../../../src/schema/model/policy.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { collectionDocument } from '../../../src/schema/snapshot/documents.js';
import type { InputOf, OperationName } from '../../../src/schema/operations/index.js';
import { policyUpdated } from '../../../src/schema/policy.js';
import { relationBody } from '../../../src/schema/transition/context.js';
import { accept, attempt, follow } from '../../support/given.js';
import { withRelations } from '../../support/library.js';

const fields = ['title', 'note', 'code'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));
const build = (names: readonly string[], from: State = initialState()): State =>
  names.reduce(
    (state, collection) =>
      accept(state, 'create-collection', { body: { collection, schema: {}, fields }, concurrentIndexes: false }),
    from,
  );

function decideEvents<N extends OperationName>(state: State, name: N, input: InputOf<N>): SchemaEvent[] {
  const result = attempt(state, name, input);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

const hashOf = (before: State, events: SchemaEvent[], mode: { purge?: boolean; acknowledge?: object[] } = {}): string =>
  runToEnd(planHash({ before, after: follow(before, events), events, ...mode }));

const dropNote = (state: State, mode: Parameters<typeof hashOf>[2] = {}): string =>
  hashOf(state, decideEvents(state, 'delete-field', { collection: 'posts', field: 'note' }), mode);

/** Two definitions of one object of each kind. */
const DEFINITIONS: Record<ObjectKind, [string, string]> = {
  view: ['CREATE VIEW v AS SELECT title FROM posts', 'CREATE VIEW v AS SELECT note FROM posts'],
  materialized_view: ['CREATE MATERIALIZED VIEW v AS SELECT 1 AS a', 'CREATE MATERIALIZED VIEW v AS SELECT 2 AS a'],
  function: [
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'",
  ],
  procedure: ["CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1'", "CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 2'"],
  aggregate: [
    'CREATE AGGREGATE a(int) (SFUNC = int4pl, STYPE = int)',
    'CREATE AGGREGATE a(int) (SFUNC = int4mul, STYPE = int)',
  ],
  trigger: [
    'CREATE TRIGGER t BEFORE UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION f()',
    'CREATE TRIGGER t BEFORE UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION g()',
  ],
  policy: ['CREATE POLICY p ON posts USING (false)', 'CREATE POLICY p ON posts USING (true)'],
  row_security: [
    'ALTER TABLE posts ENABLE ROW LEVEL SECURITY',
    'ALTER TABLE posts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
  ],
  statistics: ['CREATE STATISTICS s ON title, note FROM posts', 'CREATE STATISTICS s ON title, code FROM posts'],
  rule: [
    'CREATE RULE r AS ON DELETE TO posts DO INSTEAD NOTHING',
    'CREATE RULE r AS ON UPDATE TO posts DO INSTEAD NOTHING',
  ],
  privileges: ['GRANT SELECT ON posts TO editors', 'GRANT DELETE ON posts TO editors'],
  table_options: ['ALTER TABLE posts SET (fillfactor = 70)', 'ALTER TABLE posts SET UNLOGGED'],
  type: ["CREATE TYPE t AS ENUM ('a')", "CREATE TYPE t AS ENUM ('a', 'b')"],
  sequence: ['CREATE SEQUENCE s', 'CREATE SEQUENCE s CYCLE'],
};

describe('the hash of a plan', () => {
  const base = build(['posts', 'pages']);

  it('is the same after unrelated changes and on another server', () => {
    const hash = dropNote(base);
    expect(hash).to.match(/^[0-9a-f]{64}$/);
    const others = accept(base, 'update-collection', { collection: 'pages', body: { meta: { note: 'other' } } });
    expect(dropNote(others)).to.equal(hash);
    const beside = accept(base, 'delete-field', { collection: 'posts', field: 'code' });
    expect(dropNote(beside), 'another field of the collection').to.equal(hash);
    // Other positions, identities and relation ids.
    expect(dropNote(build(['pages', 'first', 'posts']))).to.equal(hash);
  });

  it('is the same for a policy of an earlier release, which does not contain requires_reason', () => {
    const { requires_reason: _, ...earlier } = DEFAULT_POLICY;
    const hashed = (from: object, to: object) =>
      runToEnd(planHash({ before: base, after: base, events: [policyUpdated(to as Policy)], policy: from as Policy }));
    const hash = hashed(earlier, { ...earlier, approvals: 2 });
    expect(hashed(DEFAULT_POLICY, { ...DEFAULT_POLICY, approvals: 2 })).to.equal(hash);
    const strict = { requires_reason: true };
    expect(hashed(DEFAULT_POLICY, { ...DEFAULT_POLICY, approvals: 2, ...strict })).not.to.equal(hash);
    expect(hashed({ ...DEFAULT_POLICY, ...strict }, { ...DEFAULT_POLICY, approvals: 2 })).not.to.equal(hash);
  });

  it('differs if the removed object differs', () => {
    const hash = dropNote(base);
    const changed = accept(base, 'update-fields', {
      collection: 'posts',
      body: [{ field: 'note', meta: { note: 'read every day' } }],
      concurrentIndexes: false,
    });
    expect(dropNote(changed)).to.not.equal(hash);
  });

  it('differs if and only if a changed or deleted view was different before', () => {
    const definition = 'CREATE VIEW titles AS SELECT title FROM posts';
    const body = { kind: 'view', definition };
    const view = { kind: 'view', id: 'titles' };
    const before = accept(base, 'create-object', { body });
    const unrelated = accept(before, 'create-object', {
      body: { ...body, definition: 'CREATE VIEW a AS SELECT 1 AS b' },
    });
    const changed = accept(before, 'update-object', { ...view, body: { definition: `${definition} WHERE false` } });
    const hashes = (state: State): string[] => [
      hashOf(state, decideEvents(state, 'delete-object', view)),
      hashOf(state, decideEvents(state, 'rename-object', { ...view, body: { to: 'headings' } })),
      hashOf(state, decideEvents(state, 'update-object', { ...view, body: { definition: `${definition} LIMIT 5` } })),
    ];
    expect(hashes(unrelated)).to.deep.equal(hashes(before));
    for (const [index, hash] of hashes(changed).entries()) expect(hash).to.not.equal(hashes(before)[index]);
  });

  for (const [kind, [one, other]] of Object.entries(DEFINITIONS))
    it(`differs if a created or deleted object of kind ${kind} has a different definition`, () => {
      const created = [one, other].map((definition) =>
        decideEvents(base, 'create-object', { body: { kind, definition } }),
      );
      const [first, second] = created.map((events) => hashOf(base, events));
      expect(first).not.to.equal(second);
      const [before, after] = created.map((events) => {
        const state = follow(base, events);
        const [object] = state.objects.values();
        return hashOf(state, decideEvents(state, 'delete-object', object?.object as ObjectName));
      });
      expect(before).not.to.equal(after);
    });

  it('differs if a removed collection has other content', () => {
    const drop = (state: State): string =>
      hashOf(state, decideEvents(state, 'delete-collection', { collection: 'posts' }));
    const document = runToEnd(
      planDocument({
        before: base,
        after: accept(base, 'delete-collection', { collection: 'posts' }),
        events: decideEvents(base, 'delete-collection', { collection: 'posts' }),
      }),
    );
    expect(document.collections).to.have.length(1);
    expect(document.collections[0]).to.have.nested.property('fields.length', 4);
    const more = accept(base, 'create-field', {
      collection: 'posts',
      body: { field: 'more', type: 'integer', interface: 'input', schema: {} },
      concurrentIndexes: false,
    });
    expect(drop(more)).to.not.equal(drop(base));
    expect(drop(accept(base, 'delete-field', { collection: 'pages', field: 'note' }))).to.equal(drop(base));
  });

  it('covers purges and acknowledgements in any order', () => {
    const [one, two] = [
      { code: 'DATA_LOST', place: 'posts.note' },
      { place: 'posts', code: 'LONG_LOCK' },
    ];
    const hashes = [{}, { purge: true }, { acknowledge: [one] }, { acknowledge: [one, two] }].map((mode) =>
      dropNote(base, mode),
    );
    expect(new Set(hashes).size).to.equal(4);
    expect(dropNote(base, { acknowledge: [{ ...two }, { ...one }] })).to.equal(hashes[3]);
    expect(dropNote(base, { purge: false, acknowledge: [] })).to.equal(hashes[0]);
  });

  it('covers the former names', () => {
    const rename = (from: string): string => {
      const state = build([from]);
      return hashOf(state, decideEvents(state, 'rename-collection', { collection: from, body: { to: 'articles' } }));
    };
    expect(rename('posts')).to.not.equal(rename('stories'));
  });
});

describe('the document of a plan', () => {
  const documentOf = (before: State, events: SchemaEvent[]) =>
    runToEnd(planDocument({ before, after: follow(before, events), events }));
  const library = withRelations();
  const bodyIn = (state: State, collection: string, field: string) => {
    const relation = state.collections.get(collection)?.relations.get(field);
    return relation && relationBody(relation);
  };
  const nothing = {
    version: 2,
    collections: [],
    fields: [],
    relations: [],
    purge: false,
    acknowledge: [],
  };

  const stepsOf = (events: readonly SchemaEvent[]) =>
    events.map(({ type, collection, field, data }) => ({ type, collection, field, data }));

  it('has the old and new document of each changed object', () => {
    const events = decideEvents(library, 'update-relation', {
      collection: 'articles',
      field: 'author',
      body: { sort_field: 'id' },
    });
    const after = follow(library, events);
    expect(documentOf(library, events)).to.deep.equal({
      ...nothing,
      steps: stepsOf(events),
      relations: [
        {
          collection: 'articles',
          field: 'author',
          from: bodyIn(library, 'articles', 'author'),
          to: bodyIn(after, 'articles', 'author'),
        },
      ],
    });
    const dropped = decideEvents(library, 'delete-relation', { collection: 'articles', field: 'parent' });
    expect(documentOf(library, dropped).relations).to.deep.equal([
      { collection: 'articles', field: 'parent', from: bodyIn(library, 'articles', 'parent'), to: null },
    ]);
    const created = decideEvents(follow(library, dropped), 'create-relation', {
      body: { collection: 'articles', field: 'parent', related_collection: 'articles' },
    });
    const [relation] = documentOf(follow(library, dropped), created).relations;
    expect(relation).to.deep.include({ collection: 'articles', field: 'parent', from: null });
    expect(relation?.to).to.deep.include({ many_field: 'parent', one_collection: 'articles' });
  });

  it('has the former name and document of renamed objects', () => {
    const field = decideEvents(library, 'rename-field', {
      collection: 'comments',
      field: 'item_collection',
      body: { to: 'kind' },
    });
    const [renamed] = documentOf(library, field).fields;
    const fieldIn = (state: State, name: string) => state.collections.get('comments')?.fields.get(name);
    expect(renamed).to.deep.equal({
      collection: 'comments',
      field: 'kind',
      was: 'item_collection',
      from: fieldIn(library, 'item_collection'),
      to: fieldIn(follow(library, field), 'kind'),
    });
    const table = decideEvents(library, 'rename-collection', { collection: 'tags', body: { to: 'words' } });
    const { collections } = documentOf(library, table);
    expect(collections).to.deep.equal([
      {
        collection: 'words',
        was: 'tags',
        from: library.collections.get('tags')?.collection,
        to: follow(library, table).collections.get('words')?.collection,
      },
    ]);
  });

  it('has the fields and relations of removed collections, but not of new ones', () => {
    const dropped = documentOf(library, decideEvents(library, 'delete-collection', { collection: 'articles_tags' }));
    const node = library.collections.get('articles_tags');
    expect(dropped.collections).to.deep.equal([
      {
        collection: 'articles_tags',
        from: node && collectionDocument(node.collection),
        to: null,
        fields: ['articles_id', 'id', 'tags_id'].map((name) => node?.fields.get(name)),
        relations: ['articles_id', 'tags_id'].map((name) => bodyIn(library, 'articles_tags', name)),
      },
    ]);
    const body = { collection: 'new', schema: {} };
    const created = decideEvents(library, 'create-collection', { body, concurrentIndexes: false });
    const [collection] = documentOf(library, created).collections;
    expect(collection).to.have.all.keys('collection', 'from', 'to');
    expect(collection).to.deep.include({ collection: 'new', from: null });
  });

  it('differs for every member of a restored object', () => {
    const [event] = decideEvents(library, 'create-collection', {
      body: { collection: 'new', schema: {} },
      concurrentIndexes: false,
    });
    const [field] = decideEvents(library, 'create-field', {
      collection: 'tags',
      body: { field: 'note', type: 'string', interface: 'input', schema: {} },
      concurrentIndexes: false,
    });
    const restored = { position: 3, identity: '3', name: 'new', fields: ['3.1'] };
    const back = (each: SchemaEvent | undefined, more: object = {}) =>
      ({ ...each, data: { ...each?.data, restored: { ...restored, ...more } } }) as SchemaEvent;
    const hashes = [
      [event],
      [back(event)],
      [back(event, { empty: true })],
      [back(event, { position: 4 })],
      [back(event, { identity: '4' })],
      [back(event, { name: 'salaries' })],
      [back(event, { fields: ['4.1'] })],
      [field],
      [back(field)],
      [back(field, { position: 4 })],
      [event, field],
      [back(event), field],
      [event, back(field)],
    ].map((events) => hashOf(library, events as SchemaEvent[]));
    expect(new Set(hashes).size).equal(hashes.length);
  });

  it('differs for every backfill', () => {
    const added = (backfill?: object) =>
      decideEvents(library, 'create-field', {
        collection: 'tags',
        body: { field: 'note', type: 'string', interface: 'input', schema: {}, ...(backfill && { backfill }) },
        concurrentIndexes: false,
      });
    const hashes = [undefined, { value: 'a' }, { value: 'b' }].map((each) => hashOf(library, added(each)));
    expect(new Set(hashes).size).equal(hashes.length);
  });
});
