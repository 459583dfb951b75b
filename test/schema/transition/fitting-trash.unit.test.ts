import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { type CollectionNode, type State, initialState, memberKey } from '../../../src/schema/model/state.js';
import {
  recreatedObjects,
  restorableEntries,
  keyChange,
  type TrashNode,
} from '../../../src/schema/transition/restoring-transition.js';
import { accept } from '../../support/given.js';
import { column, fieldIn } from '../findings/diffs.js';
import { type Edit, LIBRARY, edited, without } from './trashed.js';

const node = (state: State, name: string) => state.collections.get(name) as CollectionNode;

const inTrash = (collection: string, field?: string, more: Partial<TrashNode> = {}): TrashNode => {
  const { identities } = node(LIBRARY, collection);
  const identity = field === undefined ? identities.collection : (identities.fields.get(field) ?? '');
  return {
    kind: field === undefined ? 'collection' : 'field',
    identity,
    node: node(LIBRARY, collection),
    position: 9,
    name: collection,
    ...more,
  };
};

const namesOf = (...states: State[]) => new Set(states.flatMap(({ collections }) => [...collections.keys()]));

/** Checks whether it fits between two states. */
const fitsBetween = (from: State, to: State, each: TrashNode): boolean =>
  runToEnd(restorableEntries({ from, to, touched: namesOf(from, to) }, [each])).length === 1;

/** The library with another column of articles. */
const withColumn = (name: string, type: string, schema: object): State =>
  edited(LIBRARY, (snapshot) => {
    const document = fieldIn(snapshot, name);
    Object.assign(document, column('articles', name, type, { ...schema }));
  });

describe('matching trash entries', () => {
  const noTable = without(LIBRARY, 'notes');
  const noField = without(LIBRARY, 'articles', 'rank');

  it('are requested tables, and fields whose values have the type', () => {
    expect(fitsBetween(noTable, LIBRARY, inTrash('notes'))).to.equal(true);
    expect(fitsBetween(noTable, noTable, inTrash('notes'))).to.equal(false);
    expect(fitsBetween(noField, LIBRARY, inTrash('articles', 'rank'))).to.equal(true);
    expect(fitsBetween(noField, noField, inTrash('articles', 'rank'))).to.equal(false);
    const renamed = accept(LIBRARY, 'rename-field', {
      collection: 'articles',
      field: 'review',
      body: { to: 'judged' },
    });
    expect(fitsBetween(without(LIBRARY, 'articles', 'review'), renamed, inTrash('articles', 'review'))).to.equal(true);
  });

  it('exclude fields of a different type or computed ones, unless restored empty', () => {
    const others: [string, object][] = [
      ['bigInteger', {}],
      ['integer', { data_type: 'smallint' }],
    ];
    for (const [type, schema] of others) {
      const to = withColumn('rank', type, schema);
      expect(fitsBetween(noField, to, inTrash('articles', 'rank')), type).to.equal(false);
      expect(fitsBetween(noField, to, inTrash('articles', 'rank', { empty: true })), type).to.equal(true);
    }
    const longer = withColumn('status', 'string', { max_length: 300 });
    expect(fitsBetween(without(LIBRARY, 'articles', 'status'), longer, inTrash('articles', 'status'))).to.equal(false);
    const nullable = withColumn('rank', 'integer', { default_value: 5, comment: 'c' });
    expect(fitsBetween(noField, nullable, inTrash('articles', 'rank'))).to.equal(true);
  });

  it('include fields of a table that is restored with them', () => {
    const entries = [inTrash('articles', 'rank'), inTrash('notes')];
    const from = without(noField, 'notes');
    const kept = runToEnd(restorableEntries({ from, to: LIBRARY, touched: namesOf(LIBRARY) }, entries));
    expect(kept.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(['collection notes', 'field articles']);
  });
});

describe('objects that a revert restores', () => {
  const again = (from: State, to: State) =>
    Object.fromEntries(recreatedObjects({ from, to, touched: namesOf(from, to) }));

  it('are tables and columns that exist only in the target', () => {
    const { identities } = node(LIBRARY, 'articles');
    expect(again(LIBRARY, LIBRARY)).to.deep.equal({});
    expect(again(without(LIBRARY, 'articles', 'rank'), LIBRARY)).to.deep.equal({
      [memberKey('articles', 'rank')]: identities.fields.get('rank'),
    });
    const notes = node(LIBRARY, 'notes').identities;
    expect(again(without(LIBRARY, 'notes'), LIBRARY)).to.deep.equal({
      notes: notes.collection,
      [memberKey('notes', 'id')]: notes.fields.get('id'),
    });
    expect(again(LIBRARY, without(LIBRARY, 'notes'))).to.deep.equal({});
  });

  it('exclude folders, alias fields and computed fields', () => {
    expect(again(without(LIBRARY, 'all'), LIBRARY)).to.deep.equal({});
    expect(again(without(LIBRARY, 'articles', 'outer'), LIBRARY)).to.deep.equal({});
    const computed = edited(LIBRARY, ({ fields }) =>
      fields.push(column('articles', 'twice', 'integer', { generation_expression: '(rank * 2)' })),
    );
    expect(again(LIBRARY, computed)).to.deep.equal({});
  });
});

describe('the key of kept values', () => {
  const build = (...keys: [name: string, type: string, schema?: object][]): State =>
    edited(initialState(), ({ collections, fields }) => {
      collections.push({ collection: 'a', schema: {} });
      for (const [name, type, schema = {}] of keys)
        fields.push(column('a', name, type, { is_primary_key: true, is_nullable: false, ...schema }));
      fields.push(column('a', 'plain', 'integer'));
    });
  const change = (from: State, edit: Edit): string | null =>
    keyChange(node(from, 'a'), edited(from, edit).collections.get('a'));
  const retyped =
    (type: string, schema: object = {}): Edit =>
    ({ fields }) => {
      for (const each of fields)
        if (each.field === 'id')
          Object.assign(each, column('a', 'id', type, { is_primary_key: true, is_nullable: false, ...schema }));
    };
  const other = 'the type of the primary key "id" has changed';

  it('is the same with an equal type', () => {
    const number = build(['id', 'integer']);
    for (const [type, schema] of [
      ['integer', { data_type: 'smallint' }],
      ['bigInteger', {}],
      ['integer', {}],
    ] as const)
      expect(change(number, retyped(type, schema)), type).to.equal(null);
    for (const type of ['string', 'uuid', 'decimal']) expect(change(number, retyped(type)), type).to.equal(other);
    const text = build(['id', 'string', { max_length: 20 }]);
    for (const type of ['string', 'text']) expect(change(text, retyped(type)), type).to.equal(null);
    expect(change(text, retyped('string', { data_type: 'character', max_length: 20 }))).to.equal(other);
    expect(change(build(['id', 'timestamp']), retyped('timestamp', { extras: { precision: 3 } }))).to.equal(other);
  });

  it('differs if the key has other fields, and does not exist without the table', () => {
    const one = build(['id', 'integer']);
    expect(keyChange(node(one, 'a'), undefined)).to.equal('its table no longer exists');
    expect(
      change(one, ({ fields }) =>
        fields.forEach((each) => each.field === 'plain' && Object.assign(each.schema ?? {}, { comment: 'c' })),
      ),
    ).to.equal(null);
    const moved: Edit = ({ fields }) => {
      for (const each of fields)
        Object.assign(
          each,
          column('a', each.field, 'integer', { is_primary_key: each.field === 'plain', is_nullable: false }),
        );
    };
    expect(change(one, moved)).to.equal('its primary key has changed');
  });
});
