import { expect } from 'chai';
import type { CollectionMeta, Collection } from '../../../src/schema/model/model.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import { KEY, alias, column, stateOf, toldOf } from './states.js';

const withMeta = (meta: Partial<CollectionMeta>) => (collection: Collection) => ({
  ...collection,
  meta: { ...collection.meta, ...meta },
});
const withExtras = (extras: TableExtras) => (collection: Collection) => ({
  ...collection,
  schema: { comment: null, extras },
});
const withGroup = (group: string | null) => ({ change: withMeta({ group }) });

describe('a valid collection', () => {
  it('has an existing group and is never inside itself', () => {
    expect(toldOf(stateOf({ a: withGroup('b'), b: withGroup('c'), c: {} }))).to.deep.equal([]);
    expect(toldOf(stateOf({ a: withGroup('gone') }))).to.deep.equal([
      'collection a meta.group: collection "gone" does not exist, so it cannot be the group',
    ]);
    const cycle = (name: string, group: string, at: string) =>
      `collection ${name} meta.group: group "${group}" creates a cycle: "${at}" would contain itself`;
    expect(toldOf(stateOf({ a: withGroup('a') }))).to.deep.equal([cycle('a', 'a', 'a')]);
    expect(toldOf(stateOf({ a: withGroup('b'), b: withGroup('a') }))).to.deep.equal([
      cycle('a', 'b', 'a'),
      cycle('b', 'a', 'b'),
    ]);
    expect(toldOf(stateOf({ x: withGroup('a'), a: withGroup('b'), b: withGroup('a') }), ['x'])).to.deep.equal([
      cycle('x', 'a', 'a'),
    ]);
  });

  it('names only its own fields for their purposes', () => {
    const change = withMeta({ archive_field: 'gone', sort_field: 'nowhere' });
    const no = (name: string) => `"${name}" is not a field of "a"; name one of its fields, or null`;
    expect(toldOf(stateOf({ a: { change } }))).to.deep.equal([
      `collection a meta.archive_field: ${no('gone')}`,
      `collection a meta.sort_field: ${no('nowhere')}`,
    ]);
    expect(toldOf(stateOf({ a: { change: withMeta({ archive_field: 'id', sort_field: 'id' }) } }))).to.deep.equal([]);
  });

  it('has no fields if it is a folder, and one primary key if it is a table', () => {
    const folder = { collection: { schema: null } };
    expect(toldOf(stateOf({ a: { ...folder, fields: [] } }))).to.deep.equal([]);
    expect(toldOf(stateOf({ a: { ...folder, fields: [alias('b')] } }))).to.deep.equal([
      'collection a fields: "a" is a folder (schema null) and cannot have fields',
    ]);
    const key = (field: string) => column(field, 'integer', { is_primary_key: true });
    const second = (field: string) =>
      `field a.${field} schema.is_primary_key: field "${field}" cannot be the primary key of collection "a": field "id" is its primary key, and a collection has one. Send is_primary_key false for "${field}", or move the key from "id" in the same request`;
    expect(toldOf(stateOf({ a: { fields: [KEY, key('b'), column('c'), key('d')] } }))).to.deep.equal([
      second('b'),
      second('d'),
    ]);
  });

  it('has no more columns than PostgreSQL allows, not counting aliases', () => {
    const columns = (count: number) => Array.from({ length: count }, (_, index) => column(`c${index}`));
    const aliases = [alias('x'), alias('y')];
    expect(toldOf(stateOf({ a: { fields: [...columns(1_600), ...aliases] } }))).to.deep.equal([]);
    expect(toldOf(stateOf({ a: { fields: [...aliases, ...columns(1_602)] } }))).to.deep.equal([
      'field a.c1600 field: field "c1600" exceeds the limit: a table in PostgreSQL has at most 1,600 columns. A field of type "alias" has no column',
    ]);
  });

  describe('with extras', () => {
    const messagesOf = (extras: TableExtras, fields: object[] = [KEY, column('b'), alias('c')]) =>
      toldOf(
        stateOf({
          a: { fields, change: withExtras(extras) },
          table: {},
          folder: { fields: [], collection: { schema: null } },
        }),
      );

    it('contains every column that its extras name', () => {
      const fine = { name: 'i', definition: 'USING btree (b)' };
      expect(messagesOf({ indexes: [fine], constraints: [{ name: 'u', definition: 'UNIQUE (id, b)' }] })).to.deep.equal(
        [],
      );
      expect(messagesOf({ indexes: [fine, { name: 'j', definition: 'USING btree (c, gone)' }] })).to.deep.equal([
        'index a.j schema.extras.indexes.1: "j" uses "gone", "c", and no such column exists',
      ]);
      expect(messagesOf({ constraints: [{ name: 'u', definition: 'UNIQUE (gone)' }] })).to.deep.equal([
        'constraint a.u schema.extras.constraints.0: "u" uses "gone", and no such column exists',
      ]);
    });

    it('contains every column that a generation expression names', () => {
      const generated = (text: string) =>
        messagesOf({}, [KEY, column('b'), alias('c'), column('g', 'integer', { generation_expression: text })]);
      expect(generated('b + id + (tableoid IS NULL)::int')).to.deep.equal([]);
      expect(generated('b + gone + c')).to.deep.equal([
        'field a.g schema.generation_expression: generation_expression uses "c", "gone", and no such column exists',
      ]);
      expect(generated('g + 1')).to.deep.equal([
        'field a.g schema.generation_expression: generation_expression must not use generated columns ("g")',
      ]);
    });

    it('has no defaults that use columns', () => {
      const withDefault = (text: string) =>
        messagesOf({}, [KEY, column('b'), column('d', 'integer', { extras: { default: text } })]);
      expect(withDefault('1 + 1')).to.deep.equal([]);
      expect(withDefault('b + 1')).to.deep.equal(['field a.d schema.extras: default must not use columns ("b")']);
    });

    it('references only collections that are tables', () => {
      const references = (table: string) => ({
        constraints: [{ name: 'f', definition: `FOREIGN KEY (b) REFERENCES ${table}(id)`, references: table }],
      });
      expect(messagesOf(references('table'))).to.deep.equal([]);
      for (const table of ['gone', 'folder']) {
        expect(messagesOf(references(table))).to.deep.equal([
          `constraint a.f schema.extras.constraints.0: "f" references "${table}", which is not a collection with a table`,
        ]);
      }
    });

    it('has exactly the stated primary key with its included columns', () => {
      const key = (columns: string[], definition?: string) => ({
        primary_key: { name: 'k', columns, ...(definition !== undefined && { definition }) },
      });
      const both = [KEY, column('b', 'integer', { is_primary_key: true })];
      expect(messagesOf(key(['id']))).to.deep.equal([]);
      expect(messagesOf(key(['id', 'b']), both)).to.deep.equal([]);
      expect(messagesOf(key(['b', 'id']), both)).to.deep.equal([]);
      const exactly = (columns: string) =>
        `collection a schema.extras.primary_key: the primary key "k" contains ${columns}. Exactly these fields must have is_primary_key`;
      expect(messagesOf(key(['id', 'b']))).to.deep.equal([exactly('"id", "b"')]);
      expect(messagesOf(key(['id']), both)).to.deep.equal([exactly('"id"')]);
      expect(messagesOf(key(['b']))).to.deep.equal([exactly('"b"')]);
      expect(messagesOf(key(['id'], 'PRIMARY KEY (id) INCLUDE (b)'))).to.deep.equal([]);
      expect(messagesOf(key(['id'], 'PRIMARY KEY (id) INCLUDE (c)'))).to.deep.equal([
        'collection a schema.extras.primary_key: the primary key "k" contains "c", which does not exist',
      ]);
    });

    it('can be a partition only of a partitioned table', () => {
      const partition_of = { table: 'table', bound: 'DEFAULT' };
      expect(messagesOf({ partition_of })).to.deep.equal([
        'collection a schema.extras.partition_of: partitioned collection "table" does not exist',
      ]);
      const divided = { change: withExtras({ partition_by: 'RANGE (id)' }) };
      expect(toldOf(stateOf({ table: divided, a: { change: withExtras({ partition_of }) } }))).to.deep.equal([]);
    });
  });
});

describe('a valid field', () => {
  const grouped = (field: string, group: string) => alias(field, { meta: { group } });

  it('has a group that is an alias of its collection, and is never inside itself', () => {
    expect(toldOf(stateOf({ a: { fields: [KEY, alias('g'), grouped('h', 'g')] } }))).to.deep.equal([]);
    expect(toldOf(stateOf({ a: { fields: [KEY, grouped('h', 'gone'), grouped('i', 'id')] } }))).to.deep.equal([
      'field a.h meta.group: field "gone" does not exist in "a", so it cannot be the group',
      'field a.i meta.group: "id" is a column, and only an alias field can be a group',
    ]);
    expect(toldOf(stateOf({ a: { fields: [KEY, grouped('h', 'h')] } }))).to.deep.equal([
      'field a.h meta.group: group "h" creates a cycle: "h" would contain itself',
    ]);
  });

  it('has no extension type if a table has the name of the type', () => {
    const fields = [KEY, column('b', 'text', { data_type: 'citext' })];
    expect(toldOf(stateOf({ a: { fields } }))).to.deep.equal([]);
    expect(toldOf(stateOf({ a: { fields }, citext: {} }), ['a'])).to.deep.equal([
      'field a.b schema.data_type: collection "citext" exists, and its table uses the name of that type',
    ]);
    const folder = { fields: [], collection: { schema: null } };
    expect(toldOf(stateOf({ a: { fields }, citext: folder }), ['a'])).to.deep.equal([]);
  });
});
