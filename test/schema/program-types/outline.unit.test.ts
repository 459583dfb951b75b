import { expect } from 'chai';
import { typeNames } from '../../../src/schema/program-types.js';

describe('type names', () => {
  it('are numbered if equal, ordered by collection name', () => {
    const names = typeNames(['a b', 'schema', 'a_b', 'aB', '2', 'array', 'ä', 'a_b_2', 'A-b']);
    expect([...names]).to.deep.equal([
      ['2', 'Collection2'],
      ['A-b', 'AB'],
      ['a b', 'AB_2'],
      ['aB', 'AB_3'],
      ['a_b', 'AB_4'],
      ['a_b_2', 'AB2'],
      ['array', 'Array_2'],
      ['schema', 'Schema_2'],
      ['ä', 'Collection'],
    ]);
  });

  it('avoid names that the program already has', () => {
    const names = typeNames(['schema', 'record', 'array', 'object', 'json', 'schemas', '_schema_hash_']);
    expect(Object.fromEntries(names)).to.deep.equal({
      schema: 'Schema_2',
      record: 'Record_2',
      array: 'Array_2',
      object: 'Object_2',
      json: 'Json_2',
      schemas: 'Schemas',
      _schema_hash_: 'SchemaHash',
    });
  });

  it('are found in linear time, even if all are equal', function () {
    this.timeout(5_000);
    const COUNT = 50_000;
    const collections = Array.from({ length: COUNT }, (_, index) => String.fromCodePoint(0x4e00 + index, 0x4e00));
    const names = [...typeNames(collections).values()];
    expect(new Set(names)).to.have.property('size', COUNT);
    expect(names.at(-1)).to.equal(`Collection_${COUNT}`);
  });
});
