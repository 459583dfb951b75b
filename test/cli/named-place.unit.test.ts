import { expect } from 'chai';
import { namedPlace } from '../../src/cli/named-place.js';

describe('what an argument names', () => {
  it('is a collection, or a field of one, whatever dots are in their names', () => {
    const managed = new Set(['posts', 'a.b', 'a.b.c']);
    for (const [text, place] of [
      ['posts', { collection: 'posts' }],
      ['other', { collection: 'other' }],
      ['posts.title', { collection: 'posts', field: 'title' }],
      ['posts.a.b', { collection: 'posts', field: 'a.b' }],
      ['a.b', { collection: 'a.b' }],
      ['a.b.c', { collection: 'a.b.c' }],
      ['a.b.d', { collection: 'a.b', field: 'd' }],
      ['other.a.b', { collection: 'other', field: 'a.b' }],
    ] as const) {
      expect(namedPlace(text, managed), text).to.deep.equal(place);
    }
  });
});
