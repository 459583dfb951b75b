import { expect } from 'chai';
import { EMPTY_INSTANCE } from '../../../src/schema/import/reading.js';
import { importSnapshot } from '../../../src/schema/import/import-snapshot.js';
import { faultsOf, valueOf } from '../normal-form/read.js';
import { SYSTEM, alias, column, file, key, relation, table } from './read.js';

const FILE = file({
  collections: [
    table('a', {
      foo: 1,
      accountability: 'bogus',
      sort: 1.5,
      sort_field: 'nope',
      group: 'gone',
      archive_field: 'gone',
    }),
    table('a'),
    { collection: 'directus_users', schema: {} },
    { ...table('b'), bar: 1 },
    table('c'),
  ],
  fields: [
    key('a'),
    key('b'),
    column('c.id', 'uuid', { data_type: 'uuid' }),
    column('a.x', 'integer', { default_value: 'abc', more: 1 }, { width: 'bogus', group: 'nope', conditions: 5 }),
    column('a.x', 'integer'),
    column('a.e', 'string', { is_generated: true, generation_expression: '(SELECT 1)' }),
    column('a.e2', 'string', { is_generated: true, generation_expression: 5 }),
    column('a.d', 'integer', { default_value: 'x'.repeat(100) }),
    column('gone.x', 'integer'),
    alias('a.y'),
    column('directus_users.x', 'string'),
    column('a.t', 'mystery', { data_type: 'mystery' }),
    column('a.n', 'string'),
  ],
  systemFields: [{ collection: 'directus_users', field: 'x', schema: {} }],
  relations: [
    relation('a.x', 'b'),
    relation('a.x', 'b'),
    relation('a.gone', 'b'),
    relation('gone.x', 'b'),
    relation('a.e', 'gone'),
    relation('a.t', 'directus_users', { one_field: 'nope' }),
    { ...relation('a.n', 'c', { junction_field: 'nope' }), more: 1 },
  ],
});

function messagesOf(input: object): string[] {
  const { warnings } = valueOf(importSnapshot(input, SYSTEM, EMPTY_INSTANCE));
  return warnings.map(({ code, collection, field, message }) => {
    const place = [collection, field].filter((name) => name !== undefined).join('.');
    return `${code} ${place}: ${message}`;
  });
}

describe('the warnings of an import', () => {
  it('name each skipped part once, in file order', () => {
    expect(messagesOf(FILE)).to.deep.equal([
      'SYSTEM_FIELDS_LEFT_OUT : systemFields (1) were skipped: the service manages the indexes of its own tables.',
      'MEMBER_LEFT_OUT : The member meta.foo of collections was skipped: the service does not know it.',
      'VALUE_LEFT_OUT a: The value of meta.accountability of "a" was skipped: it must be "all", "activity" or null.',
      'VALUE_LEFT_OUT a: The value of meta.sort of "a" was skipped: it must be an integer from -2147483648 to 2147483647, or null.',
      'DUPLICATE_LEFT_OUT a: The file contains the collection "a" twice. The first was imported.',
      `SYSTEM_COLLECTION_LEFT_OUT directus_users: The system collection "directus_users" was skipped: system collections belong to the service.`,
      'MEMBER_LEFT_OUT : The member bar of collections was skipped: the service does not know it.',
      'VALUE_LEFT_OUT a.x: The value of meta.width of "a"."x" was skipped: it must be "half", "half-left", "half-right", "half-space", "full" or "fill".',
      'VALUE_LEFT_OUT a.x: The value of meta.conditions of "a"."x" was skipped: it must be an array, an object or null.',
      'MEMBER_LEFT_OUT : The member schema.more of fields was skipped: the service does not know it.',
      'DEFAULT_LEFT_OUT a.x: The default of "a"."x", "abc", was skipped: it must be an integer.',
      'DUPLICATE_LEFT_OUT a.x: The field "a"."x" is in the file twice. The first was imported.',
      'EXPRESSION_LEFT_OUT a.e: "a"."e" becomes an ordinary column: its generation expression must not contain a subquery.',
      'EXPRESSION_LEFT_OUT a.e2: "a"."e2" becomes an ordinary column: its generation expression must be a string.',
      `DEFAULT_LEFT_OUT a.d: The default of "a"."d", "${'x'.repeat(59)}…, was skipped: it must be an integer.`,
      'FIELD_LEFT_OUT gone.x: The field "gone"."x" was skipped: its collection is not in the file.',
      'SYSTEM_FIELD_LEFT_OUT directus_users.x: The field "directus_users"."x" was skipped: it belongs to a system collection.',
      'TYPE_CHANGED a.t: The type of "a"."t", mystery, is not supported. The field gets the type unknown.',
      'DUPLICATE_LEFT_OUT a.x: The relation of "a"."x" to "b" was skipped: the file contains it twice, and the first was imported.',
      'RELATION_LEFT_OUT a.gone: The relation of "a"."gone" to "b" was skipped: field "gone" is not in the file.',
      'RELATION_LEFT_OUT gone.x: The relation of "gone"."x" to "b" was skipped: "gone" is not in the file.',
      'RELATION_LEFT_OUT a.e: The relation of "a"."e" to "gone" was skipped: "gone" is not in the file. The column is imported without a foreign key.',
      'REFERENCE_LEFT_OUT a.t: one_field of the relation of "a"."t" names "nope", which is not a suitable field of the file. It is set to null.',
      'MEMBER_LEFT_OUT : The member more of relations was skipped: the service does not know it.',
      'REFERENCE_LEFT_OUT a.n: junction_field of the relation of "a"."n" names "nope", which is not a suitable field of the file. It is set to null.',
      'REFERENCE_LEFT_OUT a: meta.group of "a" names "gone", which was not imported. It is set to null.',
      'REFERENCE_LEFT_OUT a: meta.archive_field of "a" names "gone", which was not imported. It is set to null.',
      'REFERENCE_LEFT_OUT a: meta.sort_field of "a" names "nope", which was not imported. It is set to null.',
      'REFERENCE_LEFT_OUT a.x: meta.group of "a"."x" names "nope", which was not imported. It is set to null.',
      'TYPE_CHANGED a.t: "a"."t" gets the type uuid, the type of the primary key of "service_users" that it references.',
      'FOREIGN_KEY_LEFT_OUT a.n: The relation of "a"."n" has no foreign key: "c" has no single-column primary key.',
    ]);
  });

  it('depend on the vendor, and include members outside the parts', () => {
    const [usual, other] = [messagesOf(FILE), messagesOf({ ...FILE, vendor: 'mysql', more: 1 })];
    expect(other.filter((each) => !usual.includes(each))).to.deep.equal([
      'MEMBER_LEFT_OUT : The member more of the snapshot was skipped: the service does not know it.',
      'EXPRESSION_LEFT_OUT a.e: "a"."e" becomes an ordinary column: its generation expression uses another dialect of SQL.',
      'EXPRESSION_LEFT_OUT a.e2: "a"."e2" becomes an ordinary column: its generation expression uses another dialect of SQL.',
      'TYPE_CHANGED a.t: The type of "a"."t", mystery, is not supported. The field gets the type text.',
    ]);
    expect(usual.filter((each) => !other.includes(each))).to.have.length(3);
  });

  it('become errors if a part or document has no name', () => {
    const faults = (input: object): string[] => faultsOf(importSnapshot(input, SYSTEM, EMPTY_INSTANCE));
    expect(faults({ collections: 5 })).to.deep.equal(['collections: collections must be an array']);
    const long = 'x'.repeat(64);
    const required = (member: string): string => `${member} is required and must be a name, as a string`;
    const tooLong = (kind: string): string =>
      `the name of a ${kind} must be at most 63 bytes in UTF-8: PostgreSQL would truncate it`;
    expect(faults({ collections: [{}, { collection: 5 }, { collection: long }] })).to.deep.equal([
      `collections[0].collection: ${required('collection')}`,
      `collections[1].collection: ${required('collection')}`,
      `collections[2].collection: ${tooLong('collection')}`,
    ]);
    const fields = [{ collection: 'a' }, { field: 'x' }, { collection: 'a', field: long, type: 'integer', schema: {} }];
    expect(faults({ collections: [table('a')], fields })).to.deep.equal([
      `fields[0].field: ${required('field')}`,
      `fields[1].collection: ${required('collection')}`,
      `fields[2].field: ${tooLong('field')}`,
    ]);
  });
});
