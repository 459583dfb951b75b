import { expect } from 'chai';
import { UsageError } from '../../src/cli/command.js';
import { parseObjectName } from '../../src/cli/input.js';

describe('an argument that names an object', () => {
  it('is a collection or a field, even if their names contain dots', () => {
    for (const [text, place] of [
      ['posts', { collection: 'posts' }],
      ['posts.title', { collection: 'posts', field: 'title' }],
      ['a%2Eb', { collection: 'a.b' }],
      ['a%2Eb.c%2Ed', { collection: 'a.b', field: 'c.d' }],
      ['50%25', { collection: '50%' }],
    ] as const)
      expect(parseObjectName(text), text).to.deep.equal(place);
    for (const wrong of ['', 'a.b.c', '.', '50%'])
      expect(() => parseObjectName(wrong), wrong).to.throw(
        UsageError,
        `${JSON.stringify(wrong)} is not a valid place: a place is a collection or a field (articles.title); in a name, write %2E for a dot, %2C for a comma and %25 for a percent sign.`,
      );
  });
});
