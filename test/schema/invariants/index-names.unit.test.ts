import { expect } from 'chai';
import { indexName, primaryKeyName, uniqueName } from '../../../src/schema/model/constraint-names.js';
import { initialState } from '../../../src/schema/model/state.js';
import { accept, given, table } from '../../support/given.js';

const KEY = { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } };
const indexed = (field: string, index_name?: string) => ({
  field,
  type: 'integer',
  interface: 'input',
  schema: { is_indexed: true, ...(index_name !== undefined && { extras: { index_name } }) },
});
const unique = (field: string, unique_name?: string) => ({
  field,
  type: 'integer',
  interface: 'input',
  schema: { is_unique: true, ...(unique_name !== undefined && { extras: { unique_name } }) },
});

const create = (fields: object[], extras?: object) =>
  given().when('create-collection', table('a', [KEY, ...fields], { schema: extras === undefined ? {} : { extras } }));

/** Existing names and kinds in an error, with its location. */
function refusals(fields: object[], extras?: object): unknown[] {
  return create(fields, extras)
    .thenRefused('ALREADY_EXISTS')
    .map(({ path, details }) => [path, details?.['taken']]);
}

describe('index names', () => {
  it('are rejected at every field except the first if several fields have them', () => {
    expect(refusals([indexed('b', 'x'), indexed('c', 'x'), unique('d', 'x')])).to.deep.equal([
      ['fields[2].schema.is_indexed', [{ name: 'x', kind: 'index of the table' }]],
      ['fields[3].schema.is_unique', [{ name: 'x', kind: 'index of the table' }]],
    ]);
    expect(refusals([unique('b', 'x'), indexed('c', 'x')])).to.deep.equal([
      ['fields[2].schema.is_indexed', [{ name: 'x', kind: 'constraint of the table' }]],
    ]);
  });

  it('are rejected at the field if another part of its table has them', () => {
    const indexes = [{ name: 'x', definition: 'USING btree (id)' }];
    expect(refusals([indexed('b', 'x')], { indexes })).to.deep.equal([
      ['fields[1].schema.is_indexed', [{ name: 'x', kind: 'index of the table' }]],
    ]);
    const constraints = [{ name: 'x', definition: 'UNIQUE (id, b)' }];
    expect(refusals([indexed('b', 'x')], { constraints })).to.deep.equal([
      ['fields[1].schema.is_indexed', [{ name: 'x', kind: 'constraint of the table' }]],
    ]);
    expect(refusals([unique('b', primaryKeyName('a'))])).to.deep.equal([
      ['fields[1].schema.is_unique', [{ name: primaryKeyName('a'), kind: 'constraint of the table' }]],
    ]);
  });

  it('may equal constraints without an index, and unused ones are free', () => {
    create([indexed('b', 'x')], { constraints: [{ name: 'x', definition: 'CHECK (id > 0)' }] }).then(
      'collection.created a',
    );
    create([indexed('b', uniqueName('a', 'c')), { field: 'c', type: 'integer', interface: 'input', schema: {} }]).then(
      'collection.created a',
    );
    create([indexed('b', uniqueName('a', 'id'))]).then('collection.created a');
  });

  it('share one namespace with tables and indexes of other tables', () => {
    const one = accept(initialState(), 'create-collection', table('one', [KEY, indexed('b')]));
    const name = indexName('one', 'b');
    const taken = (input: ReturnType<typeof table>) =>
      given(one)
        .when('create-collection', input)
        .thenRefused('ALREADY_EXISTS')
        .map(({ path, details }) => [path, details?.['taken']]);
    const kind = 'index';
    expect(taken(table(name, [KEY]))).to.deep.equal([['collection', [{ name, kind }]]]);
    expect(taken(table('two', [KEY, indexed('b', name), unique('c', name)]))).to.deep.include.members([
      ['fields[1].schema.is_indexed', [{ name, kind }]],
      ['fields[2].schema.is_unique', [{ name, kind }]],
    ]);
    // Folders do not exist in PostgreSQL.
    given(one)
      .when('create-collection', { body: { collection: name, schema: null }, concurrentIndexes: false })
      .then(`collection.created ${name}`);
  });
});
