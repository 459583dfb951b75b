import { expect } from 'chai';
import { failingCollections, withoutCollections } from '../../../../../src/web/pages/review/model/file-document.js';

const SNAPSHOT = {
  version: 1,
  collections: [{ collection: 'a' }, { collection: 'b' }],
  fields: [{ collection: 'a', field: 'x' }, { collection: 'b', field: 'y' }, null],
  relations: [{ many_collection: 'b', many_field: 'y', one_collection: 'a' }],
};
const at = (path: string, collection?: string) => ({ extensions: { path, ...(collection && { collection }) } });

describe('a snapshot file with errors', () => {
  it('names the collections that the errors concern, each once', () => {
    const problems = [at('collections[0].schema'), at('theirs.fields[1].type'), at('relations[0]'), at('', 'c')];
    expect(failingCollections(problems, SNAPSHOT)).deep.equal(['a', 'b', 'c']);
    expect(failingCollections(problems, { data: SNAPSHOT })).deep.equal(['a', 'b', 'c']);
  });

  it('names no collection when an error concerns the whole file', () => {
    for (const path of ['version', 'fields', 'fields[2]', 'fields[7].type', ''])
      expect(failingCollections([at('collections[0]'), at(path)], SNAPSHOT)).equal(null);
    expect(failingCollections([at('fields[0]')], null)).equal(null);
  });

  it('leaves out the collections with their fields and relations', () => {
    expect(withoutCollections({ data: SNAPSHOT }, new Set(['b']))).deep.equal({
      version: 1,
      collections: [{ collection: 'a' }],
      fields: [{ collection: 'a', field: 'x' }, null],
      relations: [],
    });
  });
});
