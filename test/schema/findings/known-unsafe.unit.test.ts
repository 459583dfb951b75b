/**
 * Changes that Squawk, strong_migrations and Atlas call unsafe, as diffs. Each is found by the rule with their name;
 * their recommended alternatives are not.
 */
import { expect } from 'chai';
import { RULES } from '../../../src/schema/findings/rules/index.js';
import type { State } from '../../../src/schema/model/state.js';
import { type Edited, type DiffOptions, LIBRARY, column, edit, fieldIn, key, table } from './diffs.js';
import { KNOWN, NOT_FOLLOWED } from './known-checks.js';

type Edit = (snapshot: Edited) => void;

interface Case {
  /** The tools' names for it. */
  names: string[];
  code: string;
  /** The state before, in the library. */
  given?: Edit;
  unsafe: Edit;
  safe: (Edit | [Edit, DiffOptions])[];
}

const set =
  (field: string, schema: object): Edit =>
  (snapshot) =>
    Object.assign(fieldIn(snapshot, field).schema, schema);
const add =
  (...args: [field: string, type: string, schema?: object]): Edit =>
  ({ fields }) =>
    fields.push(column('articles', args[0], args[1], args[2] as Edited['collections'][number]));
const extras =
  (more: object): Edit =>
  ({ collections }) => {
    const articles = collections.find(({ collection }) => collection === 'articles');
    if (articles !== undefined) articles['schema'] = { ...(articles['schema'] as object), extras: more };
  };
const relation: Edit = ({ relations }) =>
  relations.push({
    many_collection: 'articles',
    many_field: 'author',
    one_collection: 'authors',
    schema: { constraint_name: 'articles_author_foreign', on_update: 'NO ACTION', on_delete: 'NO ACTION' },
  });
const all =
  (...edits: Edit[]): Edit =>
  (snapshot) =>
    edits.forEach((each) => each(snapshot));
const without =
  (field: string): Edit =>
  (snapshot) => {
    snapshot.fields = snapshot.fields.filter((each) => each.collection !== 'articles' || each.field !== field);
  };
const fresh =
  (...fields: Edited['fields']): Edit =>
  (snapshot) => {
    snapshot.collections.push(table('notes'));
    snapshot.fields.push(...fields);
  };
/** Omitted members keep the old name. */
const setName = (document: object, name: object): void => {
  Object.assign(document, { meta: undefined, schema: undefined }, name);
};
const online = (change: Edit): [Edit, DiffOptions] => [change, { online: true }];

const CASES: Case[] = [
  {
    names: ['squawk:adding-field-with-default', 'strong_migrations:add_column_default', 'atlas:PG302'],
    code: 'VOLATILE_DEFAULT',
    unsafe: add('token', 'uuid', { default_value: 'gen_random_uuid()' }),
    safe: [add('token', 'uuid'), add('foo', 'integer', { default_value: 10 })],
  },
  {
    names: [
      'squawk:adding-foreign-key-constraint',
      'strong_migrations:add_foreign_key',
      'strong_migrations:add_reference',
      'atlas:PG306',
    ],
    code: 'FOREIGN_KEY_UNDER_LOCK',
    unsafe: relation,
    safe: [online(relation)],
  },
  {
    names: ['squawk:adding-not-nullable-field', 'strong_migrations:change_column_null', 'atlas:MF104', 'atlas:PG303'],
    code: 'NOT_NULL_OVER_ROWS',
    unsafe: set('title', { is_nullable: false }),
    safe: [online(set('title', { is_nullable: false }))],
  },
  {
    names: ['squawk:adding-required-field', 'atlas:MF103'],
    code: 'REQUIRED_FIELD',
    unsafe: add('foo', 'string', { is_nullable: false }),
    safe: [add('foo', 'string'), add('foo', 'string', { is_nullable: false, default_value: 'x' })],
  },
  {
    names: ['squawk:adding-serial-primary-key-field', 'strong_migrations:add_column_auto_incrementing', 'atlas:PG310'],
    code: 'COUNTER_OVER_ROWS',
    unsafe: add('number', 'integer', { has_auto_increment: true, is_nullable: false }),
    safe: [add('number', 'integer')],
  },
  {
    names: ['squawk:ban-char-field'],
    code: 'CHAR_TYPE',
    unsafe: add('country', 'string', { data_type: 'character', max_length: 2 }),
    safe: [add('country', 'string', { max_length: 2 }), add('country', 'text')],
  },
  {
    names: ['squawk:ban-drop-column', 'strong_migrations:remove_column', 'atlas:DS103'],
    code: 'LOSES_DATA',
    unsafe: without('title'),
    safe: [(snapshot) => Object.assign(fieldIn(snapshot, 'title'), { meta: { interface: 'input', hidden: true } })],
  },
  {
    names: ['squawk:ban-drop-table', 'atlas:DS102'],
    code: 'LOSES_DATA',
    unsafe: (snapshot) => {
      snapshot.collections = snapshot.collections.filter(({ collection }) => collection !== 'authors');
      snapshot.fields = snapshot.fields.filter(({ collection }) => collection !== 'authors');
    },
    safe: [],
  },
  {
    names: ['squawk:ban-drop-not-null'],
    code: 'ALLOWS_NULL',
    unsafe: set('views', { is_nullable: true }),
    safe: [set('views', { default_value: 1 })],
  },
  {
    names: ['squawk:changing-column-type', 'strong_migrations:change_column', 'atlas:PG301'],
    code: 'REWRITES_TABLE',
    unsafe: (snapshot) => {
      const views = fieldIn(snapshot, 'views');
      Object.assign(views, { type: 'bigInteger', schema: { ...views.schema, data_type: 'bigint' } });
    },
    safe: [
      set('title', { max_length: 200 }),
      (snapshot) => Object.assign(fieldIn(snapshot, 'title'), { type: 'text', schema: {} }),
      add('views_64', 'bigInteger'),
    ],
  },
  {
    names: ['squawk:changing-column-type', 'strong_migrations:change_column'],
    code: 'NARROWS_TYPE',
    unsafe: set('title', { max_length: 50 }),
    safe: [set('title', { max_length: 150 })],
  },
  {
    names: ['squawk:changing-column-type', 'atlas:PG301'],
    code: 'INDEXED_TYPE_CHANGE',
    unsafe: (snapshot) => Object.assign(fieldIn(snapshot, 'slug'), { type: 'uuid', schema: { is_indexed: true } }),
    safe: [set('slug', { max_length: 300 })],
  },
  {
    names: ['squawk:constraint-missing-not-valid', 'strong_migrations:add_check_constraint', 'atlas:PG305'],
    code: 'CHECK_UNDER_LOCK',
    unsafe: extras({ constraints: [{ name: 'positive', definition: 'CHECK ((views >= 0))' }] }),
    safe: [online(extras({ constraints: [{ name: 'positive', definition: 'CHECK ((views >= 0))' }] }))],
  },
  {
    names: ['strong_migrations:add_exclusion_constraint'],
    code: 'EXCLUSION_UNDER_LOCK',
    unsafe: extras({ constraints: [{ name: 'once', definition: 'EXCLUDE USING btree (views WITH =)' }] }),
    safe: [],
  },
  {
    names: [
      'squawk:disallowed-unique-constraint',
      'strong_migrations:add_unique_constraint',
      'atlas:MF101',
      'atlas:MF102',
      'atlas:PG105',
    ],
    code: 'UNIQUE_OVER_ROWS',
    unsafe: set('slug', { is_unique: true }),
    safe: [online(set('slug', { is_unique: true }))],
  },
  {
    names: ['squawk:identifier-too-long'],
    code: 'NAME_SHORTENED',
    unsafe: add('a_field_with_a_name_that_says_all_that_there_is_to_say_of_it', 'string', { is_indexed: true }),
    safe: [add('short', 'string', { is_indexed: true })],
  },
  {
    names: ['squawk:prefer-bigint-over-int'],
    code: 'KEY_MAY_OVERFLOW',
    unsafe: fresh(key('notes', 'integer')),
    safe: [fresh(key('notes'))],
  },
  {
    names: ['squawk:prefer-bigint-over-smallint'],
    code: 'KEY_MAY_OVERFLOW',
    unsafe: fresh(key('notes', 'integer', { data_type: 'smallint' })),
    safe: [fresh(key('notes'))],
  },
  {
    names: ['squawk:prefer-timestamptz'],
    code: 'TIME_WITHOUT_ZONE',
    unsafe: add('created', 'dateTime'),
    safe: [add('created', 'timestamp')],
  },
  {
    names: ['squawk:renaming-column', 'strong_migrations:rename_column', 'atlas:BC102'],
    code: 'BREAKS_CLIENTS',
    unsafe: (snapshot) => setName(fieldIn(snapshot, 'title'), { field: 'headline', renamed_from: 'title' }),
    safe: [add('headline', 'string')],
  },
  {
    names: ['squawk:renaming-table', 'strong_migrations:rename_table', 'atlas:BC101'],
    code: 'BREAKS_CLIENTS',
    unsafe: (snapshot) => {
      for (const each of snapshot.fields) if (each.collection === 'authors') setName(each, { collection: 'people' });
      for (const each of snapshot.collections)
        if (each.collection === 'authors') setName(each, { collection: 'people', renamed_from: 'authors' });
    },
    safe: [fresh(key('notes'))],
  },
  {
    names: ['squawk:require-concurrent-index-creation', 'strong_migrations:add_index', 'atlas:PG101'],
    code: 'INDEX_UNDER_LOCK',
    unsafe: set('title', { is_indexed: true }),
    safe: [
      [set('title', { is_indexed: true }), { concurrently: true }],
      online(set('title', { is_indexed: true })),
      fresh(key('notes'), column('notes', 'text', 'string', { is_indexed: true })),
    ],
  },
  {
    names: [
      'squawk:require-concurrent-index-deletion',
      'squawk:ban-drop-index',
      'strong_migrations:remove_index',
      'atlas:PG102',
    ],
    code: 'DROPS_INDEX',
    unsafe: set('slug', { is_indexed: false }),
    safe: [],
  },
  {
    names: ['strong_migrations:add_index_columns'],
    code: 'INDEX_OF_MANY_COLUMNS',
    unsafe: extras({ indexes: [{ name: 'many', definition: 'USING btree (title, slug, views, author)' }] }),
    safe: [extras({ indexes: [{ name: 'few', definition: 'USING btree (slug, author) WHERE (views > 0)' }] })],
  },
  {
    names: ['strong_migrations:add_column_json'],
    code: 'JSON_NOT_JSONB',
    unsafe: add('properties', 'json'),
    safe: [add('properties', 'json', { data_type: 'jsonb' })],
  },
  {
    names: ['strong_migrations:change_column_default', 'squawk:ban-set-default'],
    code: 'DEFAULT_FOR_NEW_ROWS',
    unsafe: set('title', { default_value: 'untitled' }),
    safe: [set('views', { default_value: null })],
  },
  {
    names: ['squawk:ban-drop-default'],
    code: 'DROPS_DEFAULT',
    unsafe: set('views', { default_value: null }),
    safe: [set('views', { default_value: 1 }), set('title', { max_length: 200 })],
  },
  {
    names: ['squawk:ban-new-write-restriction'],
    code: 'MAY_FAIL',
    unsafe: set('title', { is_nullable: false }),
    safe: [set('views', { is_nullable: true })],
  },
  {
    names: ['squawk:ban-drop-constraint'],
    code: 'DROPS_CONSTRAINT',
    given: set('slug', { is_unique: true }),
    unsafe: set('slug', { is_unique: false }),
    safe: [set('slug', { max_length: 300 })],
  },
  {
    names: ['strong_migrations:add_column_generated_stored', 'atlas:PG309'],
    code: 'GENERATED_OVER_ROWS',
    unsafe: add('twice', 'integer', { generation_expression: '(views * 2)' }),
    safe: [add('twice', 'integer')],
  },
  {
    names: ['squawk:prefer-identity'],
    code: 'SERIAL_COLUMN',
    unsafe: ({ collections, fields }) => {
      collections.push(table('notes', { needs: [{ kind: 'sequence', name: 'notes_id_seq', owned_by: 'id' }] }));
      fields.push(
        column('notes', 'id', 'bigInteger', {
          is_primary_key: true,
          is_nullable: false,
          has_auto_increment: true,
          extras: { default: "nextval('notes_id_seq'::regclass)" },
        }),
      );
    },
    safe: [fresh(key('notes'))],
  },
  {
    names: ['squawk:ban-create-domain-with-constraint', 'squawk:ban-alter-domain-with-add-constraint'],
    code: 'CREATES_TYPE',
    unsafe: all(
      extras({
        needs: [
          {
            kind: 'domain',
            name: 'positive',
            type: 'integer',
            checks: [{ name: 'ok', definition: 'CHECK ((VALUE > 0))' }],
          },
        ],
      }),
      add('rank', 'unknown', { data_type: 'positive' }),
    ),
    safe: [add('rank', 'integer')],
  },
];

const codesIn = (before: State, change: Edit, options?: DiffOptions): string[] =>
  edit(before, change, options).findings.map(({ code }) => code);

describe('changes that other tools call unsafe', () => {
  for (const { names, code, given: input, unsafe, safe } of CASES) {
    it(`${names.join(', ')} is found as ${code}`, () => {
      const before = input === undefined ? LIBRARY : edit(LIBRARY, input).after;
      expect(codesIn(before, unsafe)).to.include(code);
      for (const each of safe) {
        const codes = Array.isArray(each) ? codesIn(before, each[0], each[1]) : codesIn(before, each);
        expect(codes).not.to.include(code);
      }
    });

    it(`lists the names of the other tools for ${code}`, () => {
      const { aliases = {} } = RULES.find((rule) => rule.code === code) ?? {};
      const known = Object.entries(aliases).flatMap(([tool, theirs]: [string, readonly string[]]) =>
        theirs.map((name) => `${tool}:${name}`),
      );
      expect(known).to.include.members(names);
    });
  }

  it('are all covered, or excluded with a reason', () => {
    const met = new Set(CASES.flatMap(({ names }) => names));
    expect([...NOT_FOLLOWED.keys()].filter((name) => met.has(name))).to.deep.equal([]);
    for (const name of KNOWN) expect(met.has(name) || NOT_FOLLOWED.has(name), name).to.equal(true);
    // Every reason belongs to a known check, and every name is known.
    const known = new Set<string>(KNOWN);
    expect([...NOT_FOLLOWED.keys()].filter((name) => !known.has(name))).to.deep.equal([]);
    const theirs = (name: string): boolean => /^(squawk|strong_migrations):/.test(name);
    expect([...met].filter((name) => theirs(name) && !known.has(name))).to.deep.equal([]);
  });
});
