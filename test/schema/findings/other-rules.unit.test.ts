import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { findingsOf as judge, questionsOf } from '../../../src/schema/findings/planned-batch.js';
import { RULES } from '../../../src/schema/findings/rules/index.js';
import type { Backfill } from '../../../src/schema/model/backfill.js';
import type { ObjectName } from '../../../src/schema/model/objects.js';
import { ROWS } from './plan.js';
import { readFileSync } from 'node:fs';
import { type Edited, type DiffOptions, LIBRARY, column, edit, eventsOfEdit, fieldIn, key, table } from './diffs.js';

type Edit = (snapshot: Edited) => void;

const relation =
  (on_delete: string, one = 'authors'): Edit =>
  ({ relations }) =>
    relations.push({
      many_collection: 'articles',
      many_field: 'author',
      one_collection: one,
      schema: { constraint_name: 'articles_author_foreign', on_update: 'NO ACTION', on_delete },
    });
const add =
  (name: string, type: string, schema: object = {}): Edit =>
  ({ fields }) =>
    fields.push(column('articles', name, type, { ...schema }));
const made =
  (name: string, ...fields: Edited['fields']): Edit =>
  (snapshot) => {
    snapshot.collections.push(table(name));
    snapshot.fields.push(...fields);
  };
const required: Edit = (snapshot) => Object.assign(fieldIn(snapshot, 'title').schema, { is_nullable: false });

const findingsOf = (change: Edit, how?: DiffOptions) => edit(LIBRARY, change, how).findings;
const codes = (change: Edit, how?: DiffOptions): string[] => findingsOf(change, how).map(({ code }) => code);
const oneOf = (code: string, change: Edit, how?: DiffOptions) =>
  findingsOf(change, how).find((each) => each.code === code);
const statistics = (rows: number, more = {}): DiffOptions => ({
  known: { statistics: new Map([['articles', ROWS(rows, more)]]) },
});

describe('rules of findings', () => {
  it('FOREIGN_KEY_WITHOUT_INDEX checks for an index that begins with the field', () => {
    const code = 'FOREIGN_KEY_WITHOUT_INDEX';
    const plain = oneOf(code, relation('NO ACTION'), statistics(500_000));
    expect(plain).to.include({ level: 'warn', field: 'author' });
    expect(plain?.safer?.request?.path).to.equal('/fields/articles/author?concurrentIndexCreation');
    expect(oneOf(code, relation('NO ACTION'), statistics(500))?.level).to.equal('note');
    const indexed: Edit = (snapshot) => {
      relation('NO ACTION')(snapshot);
      Object.assign(fieldIn(snapshot, 'author').schema, { is_indexed: true });
    };
    expect(codes(indexed)).not.to.include(code);
    const byExtras =
      (columns: string): Edit =>
      (snapshot) => {
        relation('NO ACTION')(snapshot);
        for (const each of snapshot.collections)
          if (each.collection === 'articles')
            each['schema'] = { extras: { indexes: [{ name: 'own', definition: `USING btree (${columns})` }] } };
      };
    expect(codes(byExtras('author, slug'))).not.to.include(code);
    expect(codes(byExtras('slug, author'))).to.include(code);
  });

  it('CASCADE_DELETES and NULL_ON_REQUIRED check the delete action', () => {
    expect(codes(relation('CASCADE'))).to.include('CASCADE_DELETES');
    expect(codes(relation('RESTRICT'))).not.to.include('CASCADE_DELETES');
    const joining: Edit = (snapshot) => {
      relation('CASCADE')(snapshot);
      Object.assign(snapshot.relations.at(-1) ?? {}, { junction_field: 'slug' });
    };
    expect(codes(joining)).not.to.include('CASCADE_DELETES');
    expect(oneOf('CASCADE_DELETES', relation('CASCADE'), statistics(50_000_000))?.level).to.equal('warn');
    const needed: Edit = (snapshot) => {
      relation('SET NULL')(snapshot);
      Object.assign(fieldIn(snapshot, 'author').schema, { is_nullable: false });
    };
    expect(codes(needed)).to.include('NULL_ON_REQUIRED');
    expect(codes(relation('SET NULL'))).not.to.include('NULL_ON_REQUIRED');
  });

  it('RESERVED_NAME and NAME_NEEDS_QUOTES check names of tables and columns', () => {
    expect(codes(made('order', key('order')))).to.include('RESERVED_NAME');
    expect(codes(made('orders', key('orders')))).not.to.include('RESERVED_NAME');
    expect(codes(add('user', 'string'))).to.include('RESERVED_NAME');
    expect(codes(made('BlogPosts', key('BlogPosts')))).to.include('NAME_NEEDS_QUOTES');
    expect(codes(made('artículos_2', key('artículos_2')))).not.to.include('NAME_NEEDS_QUOTES');
    const folder: Edit = ({ collections }) => collections.push({ collection: 'Big Folder', schema: null });
    expect(codes(folder)).not.to.include('NAME_NEEDS_QUOTES');
  });

  it('LOCAL_TIME_DEFAULT checks timestamps that a session writes in its own zone', () => {
    expect(codes(add('made', 'dateTime', { default_value: 'now()' }))).to.include('LOCAL_TIME_DEFAULT');
    expect(codes(add('made', 'timestamp', { default_value: 'now()' }))).not.to.include('LOCAL_TIME_DEFAULT');
  });

  it('DROPS_CONSTRAINT ignores recreated constraints and dropped tables', () => {
    const related = edit(LIBRARY, relation('NO ACTION')).after;
    const of = (change: Edit): string[] => edit(related, change).findings.map(({ code }) => code);
    expect(of(({ relations }) => relations.splice(0))).to.include('DROPS_CONSTRAINT');
    const cascading: Edit = ({ relations }) =>
      relations.forEach((each) => Object.assign(each['schema'] as object, { on_delete: 'CASCADE' }));
    expect(of(cascading)).not.to.include('DROPS_CONSTRAINT');
    const withoutAuthors: Edit = (snapshot) => {
      snapshot.collections = snapshot.collections.filter(({ collection }) => collection !== 'authors');
      snapshot.fields = snapshot.fields.filter(({ collection }) => collection !== 'authors');
      snapshot.relations = [];
    };
    expect(of(withoutAuthors)).not.to.include('DROPS_CONSTRAINT');
  });

  it('PRIMARY_KEY_OVER_ROWS and KEY_MAY_OVERFLOW check the key', () => {
    const moved: Edit = (snapshot) => {
      Object.assign(fieldIn(snapshot, 'id').schema, { is_primary_key: false });
      Object.assign(fieldIn(snapshot, 'slug'), { schema: { is_primary_key: true, is_nullable: false } });
    };
    expect(codes(moved)).to.include('PRIMARY_KEY_OVER_ROWS');
    const small: Edit = (snapshot) =>
      Object.assign(fieldIn(snapshot, 'id'), {
        type: 'integer',
        schema: { is_primary_key: true, has_auto_increment: true, is_nullable: false },
      });
    expect(oneOf('KEY_MAY_OVERFLOW', small, statistics(1_500_000_000))?.level).to.equal('danger');
    expect(oneOf('KEY_MAY_OVERFLOW', small, statistics(1_000))?.level).to.equal('note');
    const single: Edit = (snapshot) => {
      snapshot.collections.push({ ...table('settings'), meta: { singleton: true } });
      snapshot.fields.push(key('settings', 'integer'));
    };
    expect(codes(single)).not.to.include('KEY_MAY_OVERFLOW');
  });

  it('NEEDED_ELSEWHERE names dependents in PostgreSQL', () => {
    const dependents = [
      { kind: 'view', name: 'latest', table: 'articles', column: 'title', isManaged: false },
      { kind: 'view', name: 'managed', table: 'articles', column: 'title', isManaged: true },
      { kind: 'view', name: 'names', table: 'authors', column: null, isManaged: false },
    ];
    const gone: Edit = (snapshot) => {
      snapshot.fields = snapshot.fields.filter(({ field }) => field !== 'title' && field !== 'sent');
    };
    const told = findingsOf(gone, { known: { dependents } }).filter(({ code }) => code === 'NEEDED_ELSEWHERE');
    expect(told.map(({ level, field }) => [level, field])).to.deep.equal([['danger', 'title']]);
    expect(told[0]?.message).to.contain('view latest needs it, so PostgreSQL rejects');
    expect(codes(required, { known: { dependents } })).not.to.include('NEEDED_ELSEWHERE');
  });

  it('INHERITED names the parents that determine a column', () => {
    const names = { childName: 'articles', parentName: 'elsewhere.base' };
    const parent = { child: 'articles', parent: 'elsewhere\0base', isPartition: false };
    const inheritance = [{ ...parent, ...names, columns: ['title'], notNull: [], checks: [] }];
    const gone: Edit = (snapshot) => {
      snapshot.fields = snapshot.fields.filter(({ field }) => field !== 'title' && field !== 'sent');
    };
    const told = findingsOf(gone, { known: { inheritance } }).filter(({ code }) => code === 'INHERITED');
    expect(told.map(({ level, field }) => [level, field])).to.deep.equal([['danger', 'title']]);
    expect(told[0]?.message).to.contain('"articles" inherits it from elsewhere.base').and.contain('rejects');
    expect(codes(required, { known: { inheritance } })).not.to.include('INHERITED');
  });

  it('INHERITED names the tables that inherit from a deleted table', () => {
    const link = (childName: string, isPartition = false) => {
      const names = { child: childName, childName, parent: 'articles', parentName: 'articles' };
      return { ...names, isPartition, columns: [], notNull: [], checks: [] };
    };
    const inheritance = [link('old_articles'), link('authors'), link('articles_2026', true)];
    const gone = (...tables: string[]): Edit => {
      return (snapshot) => {
        snapshot.collections = snapshot.collections.filter(({ collection }) => !tables.includes(collection));
        snapshot.fields = snapshot.fields.filter(({ collection }) => !tables.includes(collection));
        snapshot.relations = [];
      };
    };
    const messages = (edit: Edit): string[] =>
      findingsOf(edit, { known: { inheritance } }).flatMap(({ code, message }) =>
        code === 'INHERITED' ? [message] : [],
      );
    expect(messages(gone('articles'))).to.deep.equal([
      'drop table articles: old_articles and authors inherit from it, so PostgreSQL rejects it. Delete them first, with SQL if the service does not manage them.',
      'drop table articles: it has the partition articles_2026, which the service does not manage, so the service rejects it. Detach or drop it with SQL first.',
    ]);
    expect(messages(gone('articles', 'authors'))[0]).to.contain('drop table articles: old_articles inherits from it');
  });

  it('CREATES_EXTENSION names the extension', () => {
    const typed: Edit = (snapshot) => {
      for (const each of snapshot.collections)
        if (each.collection === 'articles')
          each['schema'] = { extras: { needs: [{ kind: 'extension', name: 'ltree' }] } };
      add('more', 'unknown', { data_type: 'ltree' })(snapshot);
    };
    expect(oneOf('CREATES_EXTENSION', typed)).to.include({ level: 'note', collection: 'articles' });
    expect(codes(add('more', 'text'))).not.to.include('CREATES_EXTENSION');
  });

  it('NO_PRIMARY_KEY is found when the key is dropped', () => {
    const keyless: Edit = (snapshot) =>
      Object.assign(fieldIn(snapshot, 'id').schema, { is_primary_key: false, is_unique: false });
    expect(codes(keyless)).to.include('NO_PRIMARY_KEY');
  });

  it('MAY_FAIL ignores a relation with a new field that is null everywhere', () => {
    expect(codes(relation('NO ACTION'))).to.include('MAY_FAIL');
    const fresh: Edit = (snapshot) => {
      add('editor', 'bigInteger')(snapshot);
      snapshot.relations.push({
        many_collection: 'articles',
        many_field: 'editor',
        one_collection: 'authors',
        schema: { constraint_name: 'articles_editor_foreign', on_update: 'NO ACTION', on_delete: 'NO ACTION' },
      });
    };
    expect(codes(fresh)).not.to.include('MAY_FAIL');
  });

  it('notes about new tables are merged with their locations', () => {
    const many: Edit = (snapshot) =>
      ['a', 'b', 'c', 'd', 'e', 'f'].forEach((name) => made(name, key(name, 'integer'))(snapshot));
    const told = findingsOf(many).filter(({ code }) => code === 'KEY_MAY_OVERFLOW');
    expect(told).to.have.length(1);
    expect(told[0]?.places?.map(({ collection }) => collection)).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(told[0]?.message).to.contain('also applies to b.id, c.id, d.id and 2 more');
  });

  it('NAME_LOOKS_ALIKE compares names regardless of case and Unicode normalization', () => {
    const code = 'NAME_LOOKS_ALIKE';
    expect(oneOf(code, add('Title', 'string'))).to.include({ level: 'warn', field: 'Title' });
    expect(codes(add('subtitle', 'string'))).not.to.include(code);
    expect(codes(made('Articles', key('Articles')))).to.include(code);
  });

  it('TYPE_NEEDED finds missing types only', () => {
    const types = new Map([['type address', { isMissing: true, relation: null }]]);
    const change = add('home', 'unknown', { data_type: 'address' });
    expect(oneOf('TYPE_NEEDED', change, { known: { types } })).to.include({ level: 'danger', field: 'home' });
    expect(codes(change, { known: {} })).not.to.include('TYPE_NEEDED');
  });

  it('CHANGES_ROW_SECURITY, CHANGES_TRIGGER, CHANGES_RULE and CHANGES_PRIVILEGES name the objects that a restored table lacks', () => {
    const restored = { position: 7, identity: '00000000', name: 'posts', fields: ['id'] };
    const events = eventsOfEdit(LIBRARY, made('notes', key('notes'))).map((event) =>
      event.type === 'collection.created' ? { ...event, data: { ...event.data, restored } } : event,
    );
    const plan = { before: LIBRARY, events, ...runToEnd(planBatch(LIBRARY, events, 'public')) };
    expect(runToEnd(questionsOf(plan))).to.deep.include({ deletions: [7] });
    const deleted: ObjectName[] = [
      { kind: 'policy', id: 'own on posts' },
      { kind: 'row_security', id: 'posts' },
      { kind: 'trigger', id: 'mark on posts' },
      { kind: 'rule', id: 'keep on posts' },
      { kind: 'privileges', id: 'editors on posts' },
      { kind: 'policy', id: 'own on other' },
      { kind: 'view', id: 'posts' },
    ];
    const known = runToEnd(judge(plan, { deletedObjects: new Map([[7, deleted]]) }));
    const lost = (code: string) => known.filter((each) => each.code === code).map(({ object }) => object?.name);
    expect(lost('CHANGES_ROW_SECURITY')).to.deep.equal(['own on posts', 'posts']);
    expect(lost('CHANGES_TRIGGER')).to.deep.equal(['mark on posts']);
    expect(lost('CHANGES_RULE')).to.deep.equal(['keep on posts']);
    expect(lost('CHANGES_PRIVILEGES')).to.deep.equal(['editors on posts']);
  });

  it('FILLS_ROWS names the source of the values, and other rules expect no null after it', () => {
    const filled = (change: Edit, backfill: Backfill, how: DiffOptions = {}) => {
      const events = eventsOfEdit(LIBRARY, change).map((event) =>
        event.type === 'field.created' || event.type === 'field.updated'
          ? { ...event, data: { ...event.data, backfill } }
          : event,
      );
      const plan = { before: LIBRARY, events, ...runToEnd(planBatch(LIBRARY, events as never, 'public')) };
      return runToEnd(judge(plan as never, how.known));
    };
    const code = 'FILLS_ROWS';
    const [finding] = filled(required, { value: 'a secret' }, statistics(20_000)).filter((each) => each.code === code);
    expect(finding).to.include({ level: 'warn', collection: 'articles', field: 'title' });
    expect(finding?.message).to.match(/^fill column articles.title with one value: .* null \(about 20,000 rows/);
    const few = filled(required, { field: 'slug' }, statistics(10)).find((each) => each.code === code);
    expect([few?.level, few?.message]).to.deep.equal([
      'note',
      'fill column articles.title with the values of slug: the service writes the rows in which it is null (about 10 rows, 1 kB; the statistics are 60 s old)',
    ]);
    const lower: Backfill = { expression: 'lower', field: 'slug' };
    const added = filled(add('short', 'text', { is_nullable: false }), lower);
    expect(added.find((each) => each.code === code)?.message).to.contain(
      'with lower(slug): the service writes all rows',
    );
    expect(added.find((each) => each.code === 'REQUIRED_FIELD')?.message).to.contain('an INSERT must contain it');
    const codesOf = (backfill: Backfill) => filled(required, backfill).map((each) => each.code);
    expect(codesOf({ value: 'x' })).not.to.include('MAY_FAIL');
    expect(codesOf({ field: 'slug' })).to.include('MAY_FAIL');
    expect(JSON.stringify(filled(required, { value: 'x' }).map(({ message }) => message))).not.to.contain('with null');
  });

  it('all have a test here, among the unsafe changes or among the types', () => {
    const units = ['other-rules', 'known-unsafe', 'levels', 'by-policy'].map((name) => `${name}.unit.test.ts`);
    const texts = [...units, '../../http/type-objects.e2e.test.ts']
      .map((path) => readFileSync(new URL(path, import.meta.url), 'utf8'))
      .join('\n');
    const checked = RULES.filter(({ statement, field, relation: of, event }) => statement ?? field ?? of ?? event);
    const isTried = (code: string): boolean => texts.includes(`'${code}'`);
    expect(checked.map(({ code }) => code).filter((code) => !isTried(code))).to.deep.equal([]);
  });
});
