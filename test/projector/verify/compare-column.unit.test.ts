import type { ColumnField } from '../../../src/schema/model/state.js';
import { expect } from 'chai';
import { mayDifferInSpelling } from '../../../src/projector/verify/compare-table.js';
import type { CatalogColumn } from '../../../src/projector/catalog/model.js';
import type { Field } from '../../../src/schema/model/model.js';
import { catalogColumn, catalogSequence } from '../catalog-tables.js';
import { column } from '../columns.js';
import { type Compared, differences, text, there, withExtras } from './compared.js';
describe('a column equal to the log', () => {
  const same: [string, Compared][] = [
    ['of the same columns', { fields: [text()], columns: [there()] }],
    [
      'with a type of an extension, by its schema',
      {
        fields: [withExtras(text(), {}, { data_type: 'citext' })],
        columns: [there({ type: 'public.citext', builtIn: false })],
      },
    ],
    [
      'with a NOT NULL of another name, of which the log says none',
      {
        fields: [text({ is_nullable: false })],
        columns: [there({ nullable: false, notNull: { name: 'n', parentName: null, more: null } })],
      },
    ],
    [
      'with a NOT NULL that is named after that of the parent, of which the log says a former name',
      {
        fields: [withExtras(text({ is_nullable: false }), { not_null_name: 'm' })],
        columns: [there({ nullable: false, notNull: { name: 'n', parentName: 'n', more: null } })],
      },
    ],
    [
      'before PostgreSQL names what is NOT NULL',
      {
        fields: [withExtras(text({ is_nullable: false }), { not_null_name: 'n' })],
        columns: [there({ nullable: false })],
      },
    ],
    [
      'whose type PostgreSQL spells otherwise',
      {
        fields: [withExtras(text(), {}, { data_type: 'pg_catalog.text' })],
        columns: [there()],
        spelled: { a: { type: 'text' } },
      },
    ],
    [
      'whose default PostgreSQL spells otherwise',
      {
        fields: [withExtras(text(), { default: 'lower($$X$$)' })],
        columns: [there({ default: "lower('X'::text)" })],
        spelled: { a: { default: "lower('X'::text)" } },
      },
    ],
    [
      'with a default NULL, which PostgreSQL does not store',
      { fields: [withExtras(text(), { default: 'NULL' })], columns: [there()], spelled: { a: { default: null } } },
    ],
    [
      'whose collation PostgreSQL spells otherwise',
      {
        fields: [withExtras(text(), { collation: 'pg_catalog."C"' })],
        columns: [there({ collation: '"C"' })],
        spelled: { a: { collation: '"C"' } },
      },
    ],
    [
      'whose generation PostgreSQL spells otherwise',
      {
        fields: [text({ generation_expression: "id||''" })],
        columns: [there({ generated: { expression: "(id || ''::text)", kind: 'stored' } })],
        spelled: { a: { generated: "(id || ''::text)" } },
      },
    ],
    [
      'with a virtual column',
      {
        fields: [withExtras(text({ generation_expression: "'x'" }), { virtual: true })],
        columns: [there({ generated: { expression: "'x'", kind: 'virtual' } })],
      },
    ],
    [
      'with defaults and expressions that are not managed',
      {
        fields: [text(), column('b', 'text')],
        extras: {
          unmanaged: [
            { kind: 'default', name: 'a' },
            { kind: 'generated', name: 'b' },
          ],
        },
        columns: [
          there({ default: 'f()' }),
          catalogColumn('b', 'text', { generated: { expression: 'f()', kind: 'stored' } }),
        ],
      },
    ],
    [
      'with the sequence of an identity as the log says it',
      {
        fields: [
          withExtras(column('n', 'integer', { has_auto_increment: true, is_nullable: false }), {
            sequence: { name: 's', start: '5' },
          }),
        ],
        columns: [
          catalogColumn('n', 'integer', {
            nullable: false,
            identity: 'by default',
            sequence: { schema: 'public', name: 's' },
          }),
        ],
        objects: { sequences: [catalogSequence('s', 'integer', { start: '5' })] },
      },
    ],
  ];
  for (const [words, compared] of same) {
    it(words, () => {
      expect(differences(compared)).to.deep.equal([]);
    });
  }
});

describe('a column that differs from the log', () => {
  const other: [string, Compared, ...unknown[][]][] = [
    [
      'by a type of its own that is called alike',
      {
        fields: [withExtras(text(), {}, { data_type: 'citext' })],
        columns: [there({ type: 'mycitext', builtIn: false })],
      },
      ['a', 'schema.data_type', 'citext', 'mycitext'],
    ],
    [
      'by a type with PostgreSQL that ends alike',
      { fields: [text()], columns: [there({ type: 'x.text' })] },
      ['a', 'schema.data_type', 'text', 'x.text'],
    ],
    [
      'by a default that went',
      { fields: [text({ default_value: 'x' })], columns: [there()] },
      ['a', 'schema.default_value', 'x', null],
    ],
    [
      'by a default in words that went',
      { fields: [withExtras(text(), { default: 'f()' })], columns: [there()] },
      ['a', 'schema.default_value', { sql: 'f()' }, null],
    ],
    [
      'by a default in words that went, whatever PostgreSQL calls it',
      { fields: [withExtras(text(), { default: 'f()' })], columns: [there()], spelled: { a: { default: 'g()' } } },
      ['a', 'schema.default_value', { sql: 'f()' }, null],
    ],
    [
      'by another default in words',
      { fields: [withExtras(text(), { default: 'f()' })], columns: [there({ default: 'g()' })] },
      ['a', 'schema.default_value', { sql: 'f()' }, { sql: 'g()' }],
    ],
    [
      'by who brings the key',
      {
        fields: [
          withExtras(column('n', 'integer', { has_auto_increment: true, is_nullable: false }), { identity: 'always' }),
        ],
        columns: [catalogColumn('n', 'integer', { nullable: false, identity: 'by default' })],
      },
      ['n', 'schema.has_auto_increment', 'always', true],
    ],
    [
      'by counting no more',
      {
        fields: [column('n', 'integer', { has_auto_increment: true, is_nullable: false })],
        columns: [catalogColumn('n', 'integer', { nullable: false })],
      },
      ['n', 'schema.has_auto_increment', true, false],
    ],
    [
      'by what NOT NULL is called',
      {
        fields: [withExtras(text({ is_nullable: false }), { not_null_name: 'n' })],
        columns: [there({ nullable: false, notNull: { name: 'm', parentName: 'p', more: null } })],
      },
      ['a', 'not null name', 'n', 'm'],
    ],
    [
      'by a collation',
      { fields: [text()], columns: [there({ collation: '"C"' })], spelled: { a: { collation: '"D"' } } },
      ['a', 'collation', null, '"C"'],
    ],
    [
      'by a generated column that is kept',
      {
        fields: [withExtras(text({ generation_expression: "'x'" }), { virtual: true })],
        columns: [there({ generated: { expression: "'x'", kind: 'stored' } })],
        spelled: { a: { generated: "'x'" } },
      },
      ['a', 'schema.generation_expression', "'x'", "'x' STORED"],
    ],
    [
      'by a generated column that is not kept',
      {
        fields: [text({ generation_expression: "'x'" })],
        columns: [there({ generated: { expression: "'x'", kind: 'virtual' } })],
      },
      ['a', 'schema.generation_expression', "'x'", "'x' VIRTUAL"],
    ],
    [
      'by what may be null',
      { fields: [text()], columns: [there({ nullable: false })] },
      ['a', 'schema.is_nullable', true, false],
    ],
    [
      'by a comment',
      { fields: [text({ comment: 'x' })], columns: [there({ comment: 'y' })] },
      ['a', 'schema.comment', 'x', 'y'],
    ],
    [
      'by a default that only SQL says',
      { fields: [text({ default_value: 'x' })], columns: [there({ default: 'f()' })] },
      ['a', 'schema.default_value', 'x', { sql: 'f()' }],
    ],
    [
      'by keys that nobody may bring',
      {
        fields: [column('n', 'integer', { has_auto_increment: true, is_nullable: false })],
        columns: [catalogColumn('n', 'integer', { nullable: false, identity: 'always' })],
      },
      ['n', 'schema.has_auto_increment', true, 'always'],
    ],
    [
      'by values that nothing computes',
      { fields: [text({ generation_expression: "'x'" })], columns: [there()] },
      ['a', 'schema.generation_expression', "'x'", null],
    ],
    [
      'by columns that the log has not, and has without one',
      { fields: [column('a', 'alias', null)], columns: [there(), catalogColumn('b', 'uuid')] },
      ['a', 'column', null, 'text'],
      ['b', 'column', null, 'uuid'],
    ],
    ['by a column', { fields: [text()] }, ['a', 'column', 'a column', null]],
    [
      'by its bounds',
      {
        extras: { partition_of: { table: 'p', bound: 'DEFAULT' } },
        table: { partitionOf: { schema: 'public', table: 'p', bound: 'FOR VALUES IN (1)' } },
      },
      [null, 'partition_of', { table: 'p', bound: 'DEFAULT' }, { table: 'p', bound: 'FOR VALUES IN (1)' }],
    ],
    [
      'by the sequence of an identity',
      {
        fields: [column('n', 'integer', { has_auto_increment: true, is_nullable: false })],
        columns: [
          catalogColumn('n', 'integer', {
            nullable: false,
            identity: 'by default',
            sequence: { schema: 'public', name: 's' },
          }),
        ],
        objects: { sequences: [catalogSequence('s', 'integer', { cycle: true, isIdentity: true })] },
      },
      ['n', 'identity sequence', {}, { cycle: true }],
    ],
    [
      'by the name of that sequence',
      {
        fields: [
          withExtras(column('n', 'integer', { has_auto_increment: true, is_nullable: false }), {
            sequence: { name: 's' },
          }),
        ],
        columns: [
          catalogColumn('n', 'integer', {
            nullable: false,
            identity: 'by default',
            sequence: { schema: 'public', name: 'z' },
          }),
        ],
        objects: { sequences: [catalogSequence('z', 'integer', { isIdentity: true })] },
      },
      ['n', 'identity sequence', { name: 's' }, { name: 'z' }],
    ],
  ];
  for (const [words, compared, ...expected] of other) {
    it(words, () => {
      expect(differences(compared)).to.deep.equal(expected);
    });
  }
});

describe("PostgreSQL's spelling", () => {
  const ask = (field: Field, inCatalog: CatalogColumn): boolean => mayDifferInSpelling(field as ColumnField, inCatalog);

  it('is queried if both have differing texts', () => {
    const generated = (expression: string) => there({ generated: { expression, kind: 'stored' } });
    expect(ask(withExtras(text(), {}, { data_type: 'pg_catalog.text' }), there())).to.equal(true);
    expect(ask(withExtras(text(), { default: 'f()' }), there({ default: 'g()' }))).to.equal(true);
    expect(ask(text({ generation_expression: 'x' }), generated('y'))).to.equal(true);
    expect(ask(withExtras(text(), { default: 'NULL' }), there())).to.equal(true);
    expect(ask(withExtras(text(), { collation: '"C"' }), there())).to.equal(true);
  });

  it('is not queried if they are equal or one is missing', () => {
    const generated = there({ generated: { expression: 'x', kind: 'stored' } });
    expect(ask(text(), there())).to.equal(false);
    expect(ask(text(), there({ default: 'g()', collation: '"C"' }))).to.equal(false);
    expect(ask(text(), generated)).to.equal(false);
    expect(ask(withExtras(text(), { default: 'f()' }), there())).to.equal(false);
    expect(ask(withExtras(text(), { default: 'f()' }), there({ default: 'f()' }))).to.equal(false);
    expect(ask(text({ generation_expression: 'x' }), generated)).to.equal(false);
    expect(ask(withExtras(text(), { collation: '"C"' }), there({ collation: '"C"' }))).to.equal(false);
  });
});
