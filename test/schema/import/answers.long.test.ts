/**
 * The result of each kind of value at each location of another product's snapshot: rejected, or accepted with its
 * changes and warnings. Compared with `test/fixtures/imports.txt`.
 */
import { compareSnapshot } from '../../../src/schema/compare/compare-snapshot.js';
import { ok } from '../../../src/kernel/problem.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { type AnsweredRequest, exampleSchema, sectionOf } from '../../support/answers.js';
import { createTranscript } from '../../support/transcript.js';

const HEAD = { version: 1, directus: '11.5.1' };

/** A column in the other product's format. */
const column = (table: string, name: string, more: object = {}) => ({
  name,
  table,
  data_type: 'integer',
  default_value: null,
  max_length: null,
  numeric_precision: 32,
  numeric_scale: 0,
  is_nullable: true,
  is_unique: false,
  is_indexed: false,
  is_primary_key: false,
  is_generated: false,
  generation_expression: null,
  has_auto_increment: false,
  foreign_key_table: null,
  foreign_key_column: null,
  ...more,
});

const BOOKS = {
  collection: 'books',
  meta: { collection: 'books', icon: 'book', note: null, hidden: false, sort: 1, accountability: 'all', group: null },
  schema: { name: 'books' },
};
const KEY = {
  collection: 'books',
  field: 'id',
  type: 'integer',
  meta: { collection: 'books', field: 'id', interface: 'input', hidden: true, special: null, sort: 1 },
  schema: column('books', 'id', {
    default_value: "nextval('books_id_seq'::regclass)",
    is_nullable: false,
    is_unique: true,
    is_primary_key: true,
    has_auto_increment: true,
  }),
};
const WRITER = {
  collection: 'books',
  field: 'writer',
  type: 'integer',
  meta: { collection: 'books', field: 'writer', interface: 'select-dropdown-m2o', special: ['m2o'], sort: 2 },
  schema: column('books', 'writer', { foreign_key_table: 'writers', foreign_key_column: 'id' }),
};
const TITLE = {
  collection: 'books',
  field: 'title',
  type: 'string',
  meta: { collection: 'books', field: 'title', interface: 'input', width: 'full', sort: 3 },
  schema: column('books', 'title', {
    data_type: 'character varying',
    default_value: "'new'::character varying",
    max_length: 255,
    numeric_precision: null,
    numeric_scale: null,
  }),
};
const RELATION = {
  collection: 'books',
  field: 'writer',
  related_collection: 'writers',
  meta: {
    many_collection: 'books',
    many_field: 'writer',
    one_collection: 'writers',
    one_field: null,
    one_collection_field: null,
    one_allowed_collections: null,
    junction_field: null,
    sort_field: null,
    one_deselect_action: 'nullify',
  },
  schema: {
    table: 'books',
    column: 'writer',
    foreign_key_table: 'writers',
    foreign_key_column: 'id',
    constraint_name: 'books_writer_foreign',
    on_update: 'NO ACTION',
    on_delete: 'SET NULL',
  },
};
const WRITERS = { collection: 'writers', meta: { collection: 'writers' }, schema: { name: 'writers' } };
const WRITERS_KEY = { ...KEY, collection: 'writers', schema: { ...KEY.schema, table: 'writers' } };

interface Entry extends Names {
  diff: unknown[];
}
interface Names {
  collection?: string;
  field?: string;
}

/** Identifies entries and warnings by name, independent of earlier ones. */
const nameOf = (what: string, { collection, field }: Names): string =>
  [what, collection, field].filter((part) => part !== undefined).join(' ');

describe("the import of each value from another product's snapshot", () => {
  const state = exampleSchema();
  const ask = (title: string, body: object): AnsweredRequest => ({
    title,
    body,
    ask: (input) => {
      const compared = runToEnd(compareSnapshot(state, input, { force: true, mode: 'merge', release: '0.1.0' }));
      if (!compared.ok) return compared;
      const { diff, warnings } = compared.value;
      const entries = Object.entries(diff).flatMap(([part, all]) =>
        (all as Entry[]).map((entry) => ({ part, ...entry })),
      );
      return ok({
        ...Object.fromEntries(entries.map(({ part, diff: changes, ...names }) => [nameOf(part, names), changes[0]])),
        ...Object.fromEntries(warnings.map(({ code, message, ...names }) => [nameOf(code, names), message])),
      });
    },
  });

  it('matches the recorded result', async () => {
    const sections = [
      ask('of PostgreSQL', {
        ...HEAD,
        vendor: 'postgres',
        collections: [BOOKS, WRITERS],
        fields: [KEY, WRITER, TITLE, WRITERS_KEY],
        relations: [RELATION],
      }),
      ask('of MySQL', {
        ...HEAD,
        vendor: 'mysql',
        collections: [WRITERS],
        fields: [
          {
            ...KEY,
            collection: 'writers',
            schema: { ...KEY.schema, table: 'writers', data_type: 'int', default_value: null },
          },
          {
            ...TITLE,
            collection: 'writers',
            schema: { ...TITLE.schema, table: 'writers', data_type: 'varchar', default_value: 'new' },
          },
        ],
        relations: [],
      }),
    ];
    const transcript = createTranscript('imports.txt');
    for (const section of sections) transcript.add(sectionOf(section));
    await transcript.expectAsBefore();
  });
});
