import { expect } from 'chai';
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import type { SchemaDiff } from '../../../src/schema/diff/diff.js';
import { type Snapshot, snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import type { State } from '../../../src/schema/model/state.js';
import { given } from '../../support/given.js';
import { withRelations } from '../../support/library.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const release = '0.0.0';
const state = withRelations();
const hash = runToEnd(snapshotHash(state, release));

const snapshot = (): Snapshot => JSON.parse(JSON.stringify(runToEnd(snapshotOf(state, release)))) as Snapshot;

function diffOf(edit: (document: Snapshot) => void, from: State = state): SchemaDiff {
  const document = snapshot();
  edit(document);
  const compared = runToEnd(compareSnapshot(from, document, { force: false, mode: 'mirror', release }));
  if (!compared.ok) throw new Error(JSON.stringify(compared.problems));
  return JSON.parse(JSON.stringify(compared.value.diff)) as SchemaDiff;
}

const apply = (diff: unknown, more: object = {}) =>
  given(state).when('apply-diff', { release, body: { hash, diff, ...more } });
const field = (document: Snapshot, collection: string, name: string) => {
  const match = document.fields.find((each) => each.collection === collection && each.field === name);
  if (match === undefined) throw new Error(`no ${collection}.${name}`);
  return match;
};
const entry = (collection: string, diff: object[]) => ({
  collections: [{ collection, diff }],
  fields: [],
  relations: [],
});

describe('apply-diff', () => {
  it('accepts the output of diff with warnings, and does nothing for an empty diff', () => {
    apply(
      diffOf(() => undefined),
      { warnings: [] },
    ).then();
  });

  it('rejects a stale hash and names conflicting entries', () => {
    const diff = entry('articles', [{ kind: 'E', path: ['meta', 'note'], lhs: 'old', rhs: 'new' }]);
    const [problem] = given(state)
      .when('apply-diff', { release, body: { hash: 'x', diff } })
      .thenRefused('SCHEMA_CHANGED');
    expect(problem?.details).to.deep.equal({ current_hash: hash, conflicts: ['diff.collections[0].diff[0]'] });
  });

  it('rejects a restore from the trash that is no longer possible', () => {
    const created = diffOf((document) => {
      const { meta, schema, ...author } = field(document, 'articles', 'author');
      const editor = { ...author, field: 'editor', meta: { ...meta, field: 'editor' } };
      document.fields.push({
        ...editor,
        schema: schema && { ...schema, name: 'editor', foreign_key_table: null, foreign_key_column: null },
      });
    });
    const [item] = created.fields;
    const identity = '3.1';
    const problems = apply({ ...created, fields: [{ ...item, identity, restores: 7 }] }).thenRefused('SCHEMA_CHANGED');
    expect(problems.map(({ message, path }) => [path, message])).to.deep.equal([
      [
        'diff.fields[0].restores',
        'the trash no longer contains a matching deletion at position 7. Create a new diff and apply that',
      ],
    ]);
    apply(created).then('field.created articles.editor');
  });

  it('rejects unreadable additions and removals at their location, without other changes', () => {
    const build = (rhs: object) => ({ collection: 'articles', field: 'editor', diff: [{ kind: 'N', rhs }] });
    const gone = (lhs: object) => ({ collection: 'articles', field: 'author', diff: [{ kind: 'D', lhs }] });
    const wrong = { collection: 'articles', field: 'editor', type: 'none', meta: {}, schema: {} };
    for (const item of [build(wrong), gone({ ...wrong, field: 'author' })]) {
      const [source] = Object.keys(item.diff[0] as object).filter((member) => member.endsWith('hs'));
      apply({ collections: [], fields: [item], relations: [] }).thenRefused(
        'INVALID_PAYLOAD',
        `diff.fields[0].diff[0].${source}.type`,
      );
    }
  });

  it('checks lhs even if the hash matches, so a manipulated diff is rejected', () => {
    apply(entry('articles', [{ kind: 'E', path: ['meta', 'note'], lhs: 'tampered', rhs: 'x' }])).thenRefused(
      'SCHEMA_CHANGED',
    );
    const removed = diffOf((document) => document.relations.splice(0, 1));
    expect(removed.relations).to.have.length(1);
    const [relation] = removed.relations;
    const tampered = {
      ...relation,
      diff: [
        { kind: 'D', lhs: { ...(relation as unknown as { diff: { lhs: object }[] }).diff[0]?.lhs, one_field: null } },
      ],
    };
    apply({ ...removed, relations: [tampered] }).thenRefused('SCHEMA_CHANGED');
  });

  it('resets only a member for D with a path', () => {
    const noted = diffOf((document) => {
      if (document.collections[0]) document.collections[0].meta.hidden = true;
    });
    expect(noted.collections[0]?.diff).to.deep.equal([{ kind: 'E', path: ['meta', 'hidden'], lhs: false, rhs: true }]);
    apply(entry('articles', [{ kind: 'D', path: ['meta', 'icon'], lhs: null }])).then();
  });

  it('has separate entries inside options, and patches in the event', () => {
    const diff = diffOf((document) => {
      field(document, 'articles', 'author').meta.options = { choices: [1, 2] };
    });
    expect(diff.fields).to.deep.equal([
      {
        collection: 'articles',
        field: 'author',
        diff: [{ kind: 'E', path: ['meta', 'options'], lhs: null, rhs: { choices: [1, 2] } }],
      },
    ]);
    const [event] = apply(diff).then('field.updated articles.author');
    expect(event?.data).to.deep.equal({
      patch: [{ op: 'replace', path: '/meta/options', value: { choices: [1, 2] } }],
    });
  });

  it('accepts some of the entries', () => {
    const diff = diffOf((document) => {
      field(document, 'articles', 'author').meta.note = 'a';
      field(document, 'articles', 'parent').meta.note = 'b';
    });
    apply({ fields: diff.fields.slice(0, 1) }).then('field.updated articles.author');
  });

  it('rejects a part that produces an invalid schema, naming entry or collection', () => {
    const diff = diffOf((document) => {
      document.collections = document.collections.filter((each) => each.collection !== 'authors');
      document.fields = document.fields.filter((each) => each.collection !== 'authors');
      document.relations = document.relations.filter((each) => each.one_collection !== 'authors');
      for (const relation of document.relations) relation.one_allowed_collections &&= ['articles'];
    });
    apply(diff).then(
      'relation.deleted articles.author',
      'relation.updated comments.item',
      'collection.deleted authors',
    );
    apply({ collections: diff.collections }).thenRefused('INVALID_PAYLOAD');
  });

  it('replaces a column with an alias of the same name, and shows the loss', () => {
    const diff = diffOf((document) => {
      document.relations = document.relations.filter((each) => each.many_field !== 'parent');
      Object.assign(field(document, 'articles', 'parent'), { type: 'alias', schema: null });
    });
    expect(diff.fields.map((each) => each.diff[0]?.kind)).to.deep.equal(['D', 'N']);
    apply(diff).then(
      'relation.deleted articles.parent',
      'field.deleted articles.parent',
      'field.created articles.parent',
    );
  });

  it('retargets a relation by deleting and creating it', () => {
    const diff = diffOf((document) => {
      const relation = document.relations.find((each) => each.many_field === 'parent');
      Object.assign(relation ?? {}, { one_collection: 'tags' });
    });
    apply(diff).then('relation.deleted articles.parent', 'relation.created articles.parent');
  });

  it('changes the type of a primary key and its references', () => {
    const diff = diffOf((document) => {
      const toUuid = (collection: string, name: string) =>
        Object.assign(field(document, collection, name), {
          type: 'uuid',
          schema: { ...field(document, collection, name).schema, data_type: 'uuid', has_auto_increment: false },
        });
      toUuid('authors', 'id');
      toUuid('articles', 'author');
    });
    const events = apply(diff).then(
      'relation.updated articles.author',
      'field.updated articles.author',
      'field.updated authors.id',
      'relation.updated articles.author',
    );
    expect(events[0]?.data).to.deep.equal({ patch: [{ op: 'replace', path: '/schema', value: null }] });
  });

  it('moves the primary key between columns', () => {
    const diff = diffOf((document) => {
      Object.assign(field(document, 'comments', 'id').schema ?? {}, {
        is_primary_key: false,
        is_unique: false,
        has_auto_increment: false,
      });
      Object.assign(field(document, 'comments', 'item').schema ?? {}, {
        is_primary_key: true,
        is_unique: true,
        is_nullable: false,
      });
    });
    apply(diff).then('field.updated comments.id', 'field.updated comments.id', 'field.updated comments.item');
  });

  const wrong: [string, unknown, string][] = [
    ['an unknown kind', entry('articles', [{ kind: 'X', path: ['meta'] }]), 'diff.collections[0].diff[0].kind'],
    [
      'an unknown member',
      entry('articles', [{ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'x', foo: 1 }]),
      'diff.collections[0].diff[0].foo',
    ],
    ['an unknown part', { systemFields: [] }, 'diff.systemFields'],
    ['a system collection', entry('service_users', [{ kind: 'D', lhs: {} }]), 'diff.collections[0].collection'],
    [
      'a value that does not fit',
      entry('articles', [{ kind: 'E', path: ['meta', 'hidden'], lhs: false, rhs: 'abc' }]),
      'diff.collections[0].diff[0].rhs',
    ],
    [
      'a new field of a collection that is not there',
      { fields: [{ collection: 'nope', field: 'a', diff: [{ kind: 'N', rhs: {} }] }] },
      'diff.fields[0].collection',
    ],
    [
      'an unknown meta member',
      entry('articles', [{ kind: 'N', path: ['meta', 'foo'], rhs: 1 }]),
      'diff.collections[0].diff[0].rhs',
    ],
    [
      'a document under another name',
      entry('x', [{ kind: 'N', rhs: { collection: 'y', schema: {} } }]),
      'diff.collections[0].diff[0].rhs',
    ],
  ];
  for (const [what, diff, path] of wrong) {
    it(`rejects ${what} at ${path}`, () => {
      apply(diff).thenRefused('INVALID_PAYLOAD', path);
    });
  }

  it('rejects an index far beyond the end of an array', () => {
    const diff = [{ kind: 'A', path: ['one_allowed_collections'], index: 1e9, item: { kind: 'N', rhs: 'tags' } }];
    apply({ relations: [{ collection: 'comments', field: 'item', diff }] }).thenRefused(
      'INVALID_PAYLOAD',
      'diff.relations[0].diff[0]',
    );
  });

  it('rejects missing and mistyped hash and diff', () => {
    const when = (body: unknown) => given(state).when('apply-diff', { release, body });
    when(null).thenRefused('INVALID_PAYLOAD');
    when([]).thenRefused('INVALID_PAYLOAD');
    when({}).thenRefused('INVALID_PAYLOAD', 'hash');
    when({ hash: 5, diff: {} }).thenRefused('INVALID_PAYLOAD', 'hash');
    when({ hash, diff: [] }).thenRefused('INVALID_PAYLOAD', 'diff');
    when({ hash, diff: { collections: {} } }).thenRefused('INVALID_PAYLOAD', 'diff.collections');
    when({ hash, diff: {}, foo: 1 }).thenRefused('INVALID_PAYLOAD', 'foo');
  });

  it('treats members named __proto__ like others', () => {
    const hostile = JSON.parse('{"a": 1, "__proto__": {"polluted": true}}') as never;
    const diff = diffOf((document) => {
      field(document, 'articles', 'author').meta.options = hostile;
    });
    const [event] = apply(diff).then('field.updated articles.author');
    expect(JSON.stringify(event?.data)).to.include('__proto__');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });
});
