import { expect } from 'chai';
import { unsupportedChanges } from '../../../src/schema/invariants/index.js';
import type { TableExtras } from '../../../src/schema/model/extras.js';
import type { Collection } from '../../../src/schema/model/model.js';
import { type StateInput, KEY, column, stateOf } from './states.js';

const withExtras = (extras: TableExtras, more: StateInput = {}): StateInput => ({
  ...more,
  change: (collection: Collection) => ({ ...collection, schema: { comment: null, extras } }),
});
const DIVIDED: TableExtras = { partition_by: 'LIST (id)' };
const PART: TableExtras = { partition_of: { table: 'table', bound: 'DEFAULT' } };
const PARTITIONING = 'the partitioning of a table can only be changed in the database';
const COLUMNS =
  'the service cannot change columns of a partitioned table or a partition: change them in the database, then adopt the tables again (POST /schema/drift/accept says how)';

/** `collection.field member: message` of each problem, for the collections of `before`. */
function messagesOf(
  before: Record<string, StateInput>,
  after: Record<string, StateInput>,
  isRecreated = () => false,
): string[] {
  const [from, to] = [stateOf(before), stateOf(after)];
  return [...from.collections.keys()]
    .flatMap((name) => unsupportedChanges({ from, to }, name, isRecreated))
    .map(({ subject, message, code }) => {
      if (subject === undefined || !('collection' in subject)) return message;
      const field = 'field' in subject ? `.${subject.field}` : '';
      const member = subject.member === undefined ? '' : ` ${subject.member.join('.')}`;
      return `${subject.collection}${field}${member}: ${message}${code === 'INVALID_PAYLOAD' ? '' : ` (${code})`}`;
    });
}

describe('unsupported changes', () => {
  it('include partitioning, and keys of partitioned tables', () => {
    const others: [TableExtras, TableExtras, string[]][] = [
      [{}, DIVIDED, ['partition_by']],
      [DIVIDED, {}, ['partition_by']],
      [DIVIDED, { partition_by: 'LIST (a)' }, ['partition_by']],
      [{}, PART, ['partition_of']],
      [PART, { partition_of: { table: 'table', bound: 'FOR VALUES IN (1)' } }, ['partition_of']],
      [DIVIDED, PART, ['partition_by', 'partition_of']],
      [DIVIDED, { ...DIVIDED, primary_key: { name: 'k', columns: ['id'] } }, ['primary_key']],
      [PART, { ...PART, primary_key: { name: 'k', columns: ['id'] } }, ['primary_key']],
      [{}, { primary_key: { name: 'k', columns: ['id'] } }, []],
      [DIVIDED, { ...DIVIDED, indexes: [{ name: 'i', definition: 'USING btree (id)' }] }, []],
    ];
    for (const [before, after, members] of others)
      expect(
        messagesOf({ a: withExtras(before) }, { a: withExtras(after) }),
        JSON.stringify([before, after]),
      ).to.deep.equal(members.map((member) => `a schema.extras.${member}: ${PARTITIONING}`));
  });

  it('include columns of a partition key', () => {
    const [few, more] = [[KEY], [KEY, column('n')]];
    for (const extras of [DIVIDED, PART]) {
      expect(
        messagesOf({ a: withExtras(extras, { fields: few }) }, { a: withExtras(extras, { fields: more }) }),
      ).to.deep.equal([`a.n schema: ${COLUMNS}`]);
      expect(
        messagesOf({ a: withExtras(extras, { fields: more }) }, { a: withExtras(extras, { fields: few }) }),
      ).to.deep.equal([`a.n schema: ${COLUMNS}`]);
      const wider = [KEY, column('n', 'bigInteger')];
      expect(
        messagesOf({ a: withExtras(extras, { fields: more }) }, { a: withExtras(extras, { fields: wider }) }),
      ).to.deep.equal([`a.n schema: ${COLUMNS}`]);
      const noted = [KEY, { ...column('n'), meta: { note: 'x' } }];
      expect(
        messagesOf({ a: withExtras(extras, { fields: more }) }, { a: withExtras(extras, { fields: noted }) }),
      ).to.deep.equal([]);
    }
    expect(messagesOf({ a: { fields: few } }, { a: { fields: more } })).to.deep.equal([]);
  });

  it('include unnamed types, unless the column is recreated', () => {
    const point = (schema: object = {}) => column('p', 'unknown', { data_type: 'point', ...schema });
    const of = (...fields: object[]) => ({ a: { fields: [KEY, ...fields] } });
    const fixed =
      'a.p schema: the service cannot change the type of this column, point. It can change its default, nullability, keys, indexes, comment and metadata';
    expect(messagesOf(of(point()), of(point({ comment: 'x' })))).to.deep.equal([]);
    expect(messagesOf(of(point()), of({ ...point(), meta: { note: 'x' } }))).to.deep.equal([]);
    const other = { is_nullable: false, is_indexed: true, default_value: '(0,0)' };
    expect(messagesOf(of(point()), of(point(other)))).to.deep.equal([]);
    expect(messagesOf(of(point()), of(point({ data_type: 'inet' })))).to.deep.equal([fixed]);
    expect(messagesOf(of(point()), of(column('p', 'text')))).to.deep.equal([fixed]);
    expect(messagesOf(of(column('p', 'text')), of(point()))).to.deep.equal([
      'a.p schema: the service cannot change the type of this column to point, which it neither supports nor manages',
    ]);
    expect(messagesOf(of(column('p', 'text')), of(column('p', 'integer')))).to.deep.equal([]);
    expect(messagesOf(of(point()), of())).to.deep.equal([]);
    expect(messagesOf(of(), of(point()))).to.deep.equal([]);
    expect(messagesOf(of(point()), of(column('p', 'text')), () => true)).to.deep.equal([]);
  });

  it('include deleting a partitioned table before its partitions', () => {
    const divided = withExtras(DIVIDED);
    const parts = { z: withExtras(PART), b: withExtras(PART), other: {} };
    expect(messagesOf({ table: divided, ...parts }, parts)).to.deep.equal([
      'table: "table" has the partitions "b", "z": delete them first (IN_USE)',
    ]);
    expect(messagesOf({ table: divided, ...parts }, { other: {} })).to.deep.equal([]);
    expect(messagesOf({ table: {}, other: {} }, { other: {} })).to.deep.equal([]);
  });
});
