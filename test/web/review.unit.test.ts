import { expect } from 'chai';
import {
  conflictsOf,
  keysSince,
  selectChosen,
  itemsOf,
  keyOf,
  memberKeyOf,
  withDependents,
} from '../../src/web/pages/review/model/items.js';
import {
  curlFor,
  locateProblems,
  lossesOf,
  scriptOf,
  statementsByItem,
} from '../../src/web/pages/review/model/plan.js';
import { toPlainText, suggestTitle, sentencesOf } from '../../src/web/pages/review/model/sentences.js';
import { dropContents } from '../../src/web/shared/changes/total.js';
import { bytesText, sizeText } from '../../src/web/shared/text.js';
import { readReviewSearch } from '../../src/web/pages/review/search.js';
import { toDirectusForm } from '../../src/web/shared/snapshot/directus-form.js';

const build = (collection: string) => ({ collection, diff: [{ kind: 'N', rhs: { collection, schema: {} } }] });
const DIFF = {
  collections: [
    build('tags'),
    { collection: 'old', diff: [{ kind: 'D', lhs: { collection: 'old', schema: null } }] },
    {
      collection: 'articles',
      diff: [{ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'About <b>articles</b>' }],
    },
  ],
  fields: [
    { collection: 'tags', field: 'label', diff: [{ kind: 'N', rhs: { type: 'string', schema: {} } }] },
    {
      collection: 'articles',
      field: 'title',
      diff: [
        { kind: 'E', path: ['schema', 'is_nullable'], lhs: true, rhs: false },
        { kind: 'A', path: ['meta', 'options', 'choices'], index: 1, item: { kind: 'N', rhs: 'b' } },
        { kind: 'E', path: ['meta', 'options', 'choices', 0], lhs: 'x', rhs: 'a' },
        { kind: 'E', path: ['schema', 'max_length'], lhs: 255, rhs: 40 },
      ],
    },
    {
      collection: 'articles',
      field: 'headline',
      diff: [{ kind: 'E', path: ['field'], lhs: 'heading', rhs: 'headline' }],
    },
  ],
  relations: [
    {
      collection: 'tags',
      field: 'label',
      related_collection: 'articles',
      diff: [{ kind: 'N', rhs: { one_collection: 'articles', schema: null } }],
    },
  ],
} as never;

const items = itemsOf(DIFF);
const messagesOf = (name: string) =>
  items
    .filter(({ collection, field }) => [collection, field].filter((each) => each !== null).join('.') === name)
    .flatMap((item) => sentencesOf(item, () => 1))
    .map(toPlainText);
const TITLE = keyOf('fields', 'articles', 'title');

describe('the review of the admin app', () => {
  it('describes each change in a sentence', () => {
    expect(messagesOf('articles.title')).to.deep.equal([
      'Make title not null',
      'Change the choices of title',
      'Limit title to 40 characters (was 255)',
    ]);
    expect(messagesOf('articles')).to.deep.equal(['Set the note of articles to “About <b>articles</b>”']);
    expect(messagesOf('tags')).to.deep.equal(['Add tags, a table with 1 field']);
    expect(messagesOf('old')).to.deep.equal(['Delete old, which has no data']);
    expect(messagesOf('articles.headline')).to.deep.equal(['Rename heading to headline']);
    expect(messagesOf('tags.label')).to.deep.equal([
      'Add label, string',
      'Add the relation from tags.label to articles, without a foreign key',
    ]);
    expect(suggestTitle(items)).to.equal(
      'Add tags, a table with 1 field. Delete old, which has no data. Set the note of articles to “About <b>articles</b>”. 2 more changes',
    );
  });

  it('counts the content of a new or deleted collection with it, as the draft does', () => {
    expect(dropContents(items).map(({ key }) => key)).to.deep.equal([
      keyOf('collections', 'tags', null),
      keyOf('collections', 'old', null),
      keyOf('collections', 'articles', null),
      TITLE,
      keyOf('fields', 'articles', 'headline'),
    ]);
  });

  it('compares an array as one member, by position', () => {
    const choices = items.find(({ key }) => key === TITLE)?.members[1];
    expect(choices).to.deep.include({ before: { 0: 'x' }, after: { 0: 'a', 1: 'b' }, entries: [1, 2] });
  });

  it('sends the selected changes, and maps errors back to them', () => {
    const out = new Set([keyOf('collections', 'tags', null), memberKeyOf(TITLE, ['schema', 'is_nullable'])]);
    const chosen = selectChosen(DIFF, items, out);
    const { diff } = chosen;
    expect(diff.collections.map(({ collection }) => collection)).to.deep.equal(['old', 'articles']);
    expect(diff.fields[1]?.diff.map(({ kind }) => kind)).to.deep.equal(['A', 'E', 'E']);
    const problem = (path?: string, about = {}) => ({
      message: path ?? 'none',
      extensions: { code: 'X', path, ...about },
    });
    const { at, elsewhere: other } = locateProblems(
      [
        problem('diff.fields[1].diff[2].rhs'),
        problem('diff.collections[0]'),
        problem(),
        problem(undefined, { collection: 'articles', field: 'headline' }),
      ],
      () => chosen,
      items,
    );
    expect([...at.keys()]).to.deep.equal([
      memberKeyOf(TITLE, ['schema', 'max_length']),
      keyOf('collections', 'old', null),
      keyOf('fields', 'articles', 'headline'),
    ]);
    expect(other).to.have.length(1);
  });

  it('leaves out the contents of a collection, and the relation of a field, with it', () => {
    const [tags] = items;
    expect(tags && withDependents(items, tags)).to.deep.equal([
      keyOf('collections', 'tags', null),
      keyOf('fields', 'tags', 'label'),
      keyOf('relations', 'tags', 'label'),
    ]);
  });

  it('distinguishes a deleted and a new object of the same name', () => {
    const again = itemsOf({
      collections: [...(DIFF as { collections: object[] }).collections.slice(1, 2), build('old')],
    } as never);
    expect(new Set(again.map(({ key }) => key)).size).to.equal(2);
  });

  it('shows base, ours and theirs of a member that both sides changed', () => {
    const entry = (path: string[], lhs: unknown, rhs: unknown) => ({ kind: 'E', path, lhs, rhs });
    const theirs = {
      collections: [{ collection: 'old', diff: [entry(['meta', 'icon'], null, 'star')] }, build('tags')],
      fields: [
        {
          collection: 'articles',
          field: 'title',
          diff: [entry(['schema', 'max_length'], 255, 80), entry(['schema', 'is_nullable'], true, false)],
        },
      ],
      relations: [],
    } as never;
    const conflicts = conflictsOf(items, theirs);
    expect(conflicts.map(({ path, base, mine, theirs: their }) => [path.join('.'), base, mine, their])).to.deep.equal([
      ['', 'present', 'deleted', 'changed: meta.icon'],
      ['schema.max_length', '255', '40', '80'],
    ]);
    const before = itemsOf({
      fields: [{ collection: 'articles', field: 'title', diff: [entry(['schema', 'max_length'], 255, 40)] }],
    } as never);
    expect(
      keysSince(
        before,
        items.filter(({ key }) => key === TITLE),
      ),
    ).to.deep.equal([
      memberKeyOf(TITLE, ['schema', 'is_nullable']),
      memberKeyOf(TITLE, ['meta', 'options', 'choices']),
    ]);
  });

  it('assigns the statements of a plan to their changes, with losses and retention times', () => {
    const statement = (about: object) => ({
      sql: 'SELECT 1;',
      summary: 'do\nit',
      lock: 'none',
      loses_data: false,
      rewrites_table: false,
      may_fail: false,
      event: 0,
      collection: 'articles',
      field: null,
      ...about,
    });
    const plan = {
      accepted: null,
      events: [
        { type: 'field.updated' },
        { type: 'field.deleted', data: { kept_until: '2030-01-01T00:00:00Z' } },
        { type: 'relation.created' },
        { type: 'collection.deleted', data: {} },
      ],
      statements: [
        statement({ field: 'title', lock: 'ACCESS EXCLUSIVE' }),
        statement({ event: 1, field: 'gone', loses_data: true }),
        statement({ event: 2, collection: 'tags', field: 'label' }),
        statement({ event: 3, collection: 'old', loses_data: true }),
      ],
      warnings: [{ code: 'LOSES_DATA', level: 'danger', collection: 'old', message: 'drop table old: data is lost' }],
    } as never;
    const statements = statementsByItem(plan, items);
    expect([...statements.keys()]).to.deep.equal([
      TITLE,
      keyOf('collections', 'articles', null),
      keyOf('relations', 'tags', 'label'),
      keyOf('collections', 'old', null),
    ]);
    const { statements: all } = plan as { statements: [] };
    expect([...statementsByItem({ statements: all }, items).keys()], 'by their names').to.deep.equal([
      TITLE,
      keyOf('collections', 'articles', null),
      keyOf('fields', 'tags', 'label'),
      keyOf('collections', 'old', null),
    ]);
    expect(lossesOf(plan).map(({ collection, until, isForGood }) => [collection, until, isForGood])).to.deep.equal([
      ['articles', '2030-01-01T00:00:00Z', false],
      ['old', null, true],
    ]);
    const tables = [{ table: 'old', lock: 'ACCESS EXCLUSIVE', rows: 0, bytes: 0, empty: true }];
    const kept = lossesOf({ ...(plan as object), tables } as never);
    expect(kept.map(({ collection }) => collection)).to.deep.equal(['articles']);
    expect(scriptOf(plan)).to.match(/^BEGIN;\n\n-- do it; locks ACCESS EXCLUSIVE\nSELECT 1;\n\n-- do it\n/);
  });

  it('quotes commands of any content for a shell', () => {
    const text = curlFor({
      origin: 'http://host',
      path: '/schema/apply?online=true',
      body: '{"a":1}',
      reason: "it's\n$HOME",
    });
    expect(text).to.equal(
      `curl -sS 'http://host/schema/apply?online=true' -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -H 'X-Reason: it'\\''s $HOME' --data-binary @- <<'END'\n{"a":1}\nEND\n`,
    );
  });

  it('formats sizes for people, and reads its address strictly', () => {
    expect([bytesText(512), bytesText(2048), bytesText(5 * 1024 ** 3)]).to.deep.equal(['512 bytes', '2 KiB', '5 GiB']);
    expect(sizeText({ rows: 1200, bytes: null })).to.equal('about 1,200 rows');
    expect(sizeText({ rows: null, bytes: null })).to.equal(null);
    const id = '0b0e7c5c-9d6c-4a43-a53e-0a2a3a0f7a11';
    expect(readReviewSearch({ to: 42, file: id, change: '../x', mirror: true, force: 'yes', done: 7 })).to.deep.equal({
      to: 42,
      file: id,
      mirror: true,
    });
    expect(readReviewSearch({ to: '2026-11-21T08:05:03Z', bring: true, draft: true })).to.deep.equal({
      to: '2026-11-21T08:05:03Z',
      draft: true,
      bring: true,
    });
  });

  it('writes a snapshot as Directus does', () => {
    const exported = toDirectusForm({
      collections: [{ collection: 'folder', meta: {}, schema: null }],
      fields: [
        {
          collection: 'posts',
          field: 'nr',
          type: 'integer',
          meta: {},
          schema: { name: 'nr', is_primary_key: true, comment: 'x', extras: {} },
        },
        { collection: 'posts', field: 'tags', type: 'alias', meta: {}, schema: null },
      ],
      relations: [
        {
          id: 4,
          many_collection: 'a',
          many_field: 'b',
          one_collection: 'posts',
          one_allowed_collections: null,
          schema: { constraint_name: 'c', on_update: 'CASCADE', on_delete: 'CASCADE', deferrable: 'deferred' },
        },
        {
          id: 5,
          many_collection: 'a',
          many_field: 'u',
          one_collection: 'service_users',
          one_allowed_collections: null,
          schema: null,
        },
      ],
    });
    expect(Object.keys(exported)).to.deep.equal([
      'version',
      'directus',
      'vendor',
      'collections',
      'fields',
      'systemFields',
      'relations',
    ]);
    expect(exported['collections']).to.deep.equal([{ collection: 'folder', meta: {} }]);
    const [nr, tags] = exported['fields'] as [{ schema: object }, object];
    expect(nr.schema).to.not.have.any.keys('comment', 'extras');
    expect(tags).to.not.have.property('schema');
    expect(exported).to.have.nested.property('relations[0].schema.foreign_key_column', 'nr');
    expect(exported).to.not.have.nested.property('relations[0].id');
    expect(exported).to.have.nested.property('relations[1].related_collection', 'directus_users');
  });
});
