import { expect } from 'chai';
import {
  orderCollectionMembers,
  orderFieldMembers,
  orderRelationMembers,
} from '../../../src/schema/snapshot/documents.js';

const splitWords = (text: string): string[] => text.trim().split(/\s+/);
/** A document with its members in reverse order. */
const backwards = (members: readonly string[], more: object = {}): Record<string, unknown> =>
  Object.assign(Object.fromEntries(members.toReversed().map((member) => [member, null])), more);

const COLLECTION = splitWords('collection meta schema');
const COLLECTION_META = splitWords(`
  collection icon note display_template hidden singleton translations archive_field archive_app_filter archive_value
  unarchive_value sort_field accountability color item_duplication_fields sort group collapse preview_url versioning`);
const FIELD = splitWords('collection field type meta schema');
const FIELD_META = splitWords(`
  collection field special interface options display display_options readonly hidden sort width translations note
  conditions group required validation validation_message`);
const COLUMN = splitWords(`
  name table data_type default_value max_length numeric_precision numeric_scale is_nullable is_unique is_indexed
  is_primary_key is_generated generation_expression has_auto_increment comment foreign_key_table foreign_key_column`);
const RELATION = splitWords(`
  id many_collection many_field one_collection one_field one_collection_field one_allowed_collections junction_field
  sort_field one_deselect_action schema`);
const FOREIGN_KEY = splitWords('constraint_name on_update on_delete');

interface Ordered {
  [member: string]: Ordered;
}
const order = (document: unknown): string[] => Object.keys(document as object);

describe('the member order of a document', () => {
  it('is fixed for a collection', () => {
    const parts = { schema: backwards(['name', 'comment']), meta: backwards(COLLECTION_META) };
    const ordered = orderCollectionMembers(backwards(COLLECTION, parts)) as unknown as Ordered;
    expect(order(ordered)).to.deep.equal(COLLECTION);
    expect(order(ordered['meta'])).to.deep.equal(COLLECTION_META);
    expect(order(ordered['schema'])).to.deep.equal(['name', 'comment']);
  });

  it('is fixed for a field', () => {
    const parts = { schema: backwards(COLUMN), meta: backwards(FIELD_META) };
    const ordered = orderFieldMembers(backwards(FIELD, parts)) as unknown as Ordered;
    expect(order(ordered)).to.deep.equal(FIELD);
    expect(order(ordered['meta'])).to.deep.equal(FIELD_META);
    expect(order(ordered['schema'])).to.deep.equal(COLUMN);
  });

  it('is fixed for a relation', () => {
    const ordered = orderRelationMembers(backwards(RELATION, { schema: backwards(FOREIGN_KEY) })) as unknown as Ordered;
    expect(order(ordered)).to.deep.equal(RELATION);
    expect(order(ordered['schema'])).to.deep.equal(FOREIGN_KEY);
  });

  it('puts unknown members last by name, at any depth and in lists', () => {
    const more = { z: null, b: { d: 1, c: [{ y: 1, x: 2 }] } };
    const document = JSON.parse(
      '{"z":1,"__proto__":{"q":1,"p":2},"schema":null,"a":[[{"n":1,"m":2}]],"collection":"c"}',
    );
    expect(JSON.stringify(orderCollectionMembers(document))).to.equal(
      '{"collection":"c","schema":null,"__proto__":{"p":2,"q":1},"a":[[{"m":2,"n":1}]],"z":1}',
    );
    expect(JSON.stringify(orderFieldMembers({ meta: { options: more, field: 'f' } }))).to.equal(
      '{"meta":{"field":"f","options":{"b":{"c":[{"x":2,"y":1}],"d":1},"z":null}}}',
    );
    expect([null, 1, 'text'].map((each) => orderRelationMembers(each))).to.deep.equal([null, 1, 'text']);
  });
});
