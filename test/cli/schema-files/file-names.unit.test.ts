import { expect } from 'chai';
import fc from 'fast-check';
import { collectionOf, fileNameOf } from '../../../src/cli/schema-files/read-folder.js';
import { character } from '../../support/characters.js';

const name = fc.oneof(
  fc.string({ unit: character, minLength: 1, maxLength: 16 }),
  fc.constantFrom(
    'CON',
    'con',
    'com1',
    'aux.txt',
    '.git',
    '..',
    'a.',
    'a ',
    '-rf',
    'a/b',
    'a\\b',
    '%41',
    '__proto__',
    'é',
    'é',
    'Posts',
    'posts',
    '🎉',
  ),
);

describe('file names of collections', () => {
  it('map back to the collection and are valid on every file system', () => {
    fc.assert(
      fc.property(name, (collection) => {
        const file = fileNameOf(collection);
        expect(collectionOf(file)).to.equal(collection);
        expect(file).to.match(/^[a-z0-9_%][a-z0-9_%-]*\.yaml$/);
        expect(file).not.to.match(/^(?:con|prn|aux|nul|com\d|lpt\d)\./);
      }),
    );
  });

  it('never collide, even without case sensitivity', () => {
    fc.assert(
      fc.property(name, name, (one, other) => {
        if (one !== other) expect(fileNameOf(one).toLowerCase()).not.to.equal(fileNameOf(other).toLowerCase());
      }),
    );
    expect(fileNameOf('Posts')).to.equal('%50osts.yaml');
    expect(fileNameOf('con')).to.equal('%63on.yaml');
  });

  it('fit the longest name', () => {
    expect(fileNameOf('É'.repeat(31)).length).to.be.at.most(255);
  });

  it('are the only accepted file names', () => {
    for (const file of [
      'Posts.yaml',
      'posts.yml',
      '%41',
      '%zz.yaml',
      '%ff.yaml',
      '%61.yaml',
      'con.yaml',
      '-a.yaml',
      '.yaml',
      'a b.yaml',
    ])
      expect(collectionOf(file), file).to.equal(null);
  });
});
