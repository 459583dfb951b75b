import { expect } from 'chai';
import {
  collectionNames,
  directusRelease,
  failingCollections,
  renameCollections,
  withoutCollections,
} from '../../../../../src/web/pages/review/model/file-document.js';

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

describe('a snapshot file with other names of collections', () => {
  const names = new Map([
    ['a', 'b'],
    ['b', 'c'],
  ]);

  it('has them in its collections, fields and relations, even if two names are exchanged', () => {
    const schema = { table: 'b', foreign_key_table: 'a', constraint_name: 'b_y_foreign' };
    const meta = { many_collection: 'b', one_collection: 'a', one_allowed_collections: ['a', 'd'] };
    const file = {
      version: 1,
      collections: [
        { collection: 'a', meta: { collection: 'a', group: 'b' }, schema: { name: 'a', comment: 'a' } },
        {
          collection: 'b',
          schema: { extras: { constraints: [{ name: 'a', references: 'a' }], partition_of: { table: 'a' } } },
        },
      ],
      fields: [
        { collection: 'a', field: 'a', meta: { collection: 'a', group: 'b' }, schema: { name: 'a', table: 'a' } },
      ],
      relations: [{ collection: 'b', field: 'y', related_collection: 'a', meta, schema }],
    };
    expect(renameCollections({ data: file }, names)).deep.equal({
      version: 1,
      collections: [
        { collection: 'b', meta: { collection: 'b', group: 'c' }, schema: { name: 'b', comment: 'a' } },
        {
          collection: 'c',
          schema: { extras: { constraints: [{ name: 'a', references: 'b' }], partition_of: { table: 'b' } } },
        },
      ],
      fields: [
        { collection: 'b', field: 'a', meta: { collection: 'b', group: 'b' }, schema: { name: 'a', table: 'b' } },
      ],
      relations: [
        {
          collection: 'c',
          field: 'y',
          related_collection: 'b',
          meta: { many_collection: 'c', one_collection: 'b', one_allowed_collections: ['b', 'd'] },
          schema: { table: 'c', foreign_key_table: 'b', constraint_name: 'c_y_foreign' },
        },
      ],
    });
  });

  it('has flat relations with the new names, and keeps names of foreign keys that a user chose', () => {
    const schema = { constraint_name: 'b_y_foreign' };
    const relation = { many_collection: 'b', many_field: 'y', one_collection: 'a', schema };
    const chosen = { ...relation, schema: { constraint_name: 'mine' } };
    expect(renameCollections({ relations: [relation, chosen, null] }, names)).deep.equal({
      relations: [
        { many_collection: 'c', many_field: 'y', one_collection: 'b', schema: { constraint_name: 'c_y_foreign' } },
        { many_collection: 'c', many_field: 'y', one_collection: 'b', schema: { constraint_name: 'mine' } },
        null,
      ],
    });
  });
});

describe('the origin and content of a snapshot file', () => {
  it('reads the release of Directus from JSON and YAML, even inside data', () => {
    expect(directusRelease('version: 1\ndirectus: 11.1.0\nvendor: mysql\n')).equal('11.1.0');
    expect(directusRelease("version: 1\ndirectus: '12.1.0-rc.1'\n")).equal('12.1.0-rc.1');
    expect(directusRelease('{"data":{"version":1,"directus":"11.1.0","vendor":"postgres"')).equal('11.1.0');
  });

  it('finds no release of Directus in a snapshot of this service that mentions Directus', () => {
    expect(directusRelease('version: 1\nservice: 0.1.0\ncollections: [{ meta: { note: "directus: 9" } }]')).equal(null);
    expect(directusRelease('version: 1\nvendor: postgres\n')).equal(null);
  });

  it('names the collections of the file', () => {
    expect([...collectionNames({ data: SNAPSHOT })]).deep.equal(['a', 'b']);
    expect([...collectionNames({ version: 1 })]).deep.equal([]);
  });
});
