import { expect } from 'chai';
import { parsePoint } from '../../../../src/web/pages/compare/search.js';

describe('a point in time that somebody types', () => {
  it('is a position, the current schema, or a time with its zone', () => {
    expect(parsePoint(' 42 ')).to.equal(42);
    expect(parsePoint('Now')).to.equal('now');
    for (const time of ['2026-11-21T08:05:03Z', '2026-11-21T08:05+01:00']) expect(parsePoint(time)).to.equal(time);
  });

  it('is a day that begins, or a minute that ends, in the viewer’s zone', () => {
    expect(parsePoint('2020-11-21')).to.equal(new Date(2020, 10, 21).toISOString());
    expect(parsePoint('2020-11-21 08:05')).to.equal(new Date(2020, 10, 21, 8, 5, 59, 999).toISOString());
    expect(parsePoint('9020-11-21 08:05')).to.equal('now');
  });

  it('is not a part of a name, and not a day that does not exist', () => {
    for (const text of ['', 'people', '4 2', '2026-13-01', '2026-11-21 25:00', '1234567890123456'])
      expect(parsePoint(text), text).to.equal(null);
  });
});
