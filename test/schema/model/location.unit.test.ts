import { expect } from 'chai';
import fc from 'fast-check';
import { locationText, parseLocation, canonicalLocation } from '../../../src/schema/model/location.js';

describe('locations as text', () => {
  it('escape the special characters of names', () => {
    for (const [place, text] of [
      [{}, ''],
      [{ collection: null, field: null }, ''],
      [{ collection: 'articles' }, 'articles'],
      [{ collection: 'articles', field: null }, 'articles'],
      [{ collection: 'articles', field: 'title' }, 'articles.title'],
      [{ collection: 'a.b' }, 'a%2Eb'],
      [{ collection: 'a', field: 'b' }, 'a.b'],
      [{ collection: 'a.b', field: 'c,d 50%' }, 'a%2Eb.c%2Cd 50%25'],
    ] as const)
      expect(locationText(place)).to.equal(text);
  });

  it('read back for any names, and are unique', () => {
    const name = fc.string({ minLength: 1, unit: fc.constantFrom('a', 'B', '.', ',', '%', '2', 'E', 'ü', ' ', ':') });
    const place = fc.oneof(fc.record({ collection: name }), fc.record({ collection: name, field: name }));
    fc.assert(
      fc.property(place, place, (one, other) => {
        expect(parseLocation(locationText(one))).to.deep.equal(one);
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect(locationText(one) === locationText(other)).to.equal(isSame);
        expect(locationText(one)).to.not.include(',');
      }),
    );
  });

  it('accept extra escapes, and reject texts with two or no locations', () => {
    expect(parseLocation('')).to.deep.equal({});
    expect(canonicalLocation('%61.b%2c')).to.equal('a.b%2C');
    expect(canonicalLocation('a,b c')).to.equal('a%2Cb c');
    for (const wrong of ['a.b.c', 'a.', '.b', '.', '50%', 'a%2', '%zz', '%ff'])
      expect(canonicalLocation(wrong), wrong).to.equal(undefined);
  });
});
