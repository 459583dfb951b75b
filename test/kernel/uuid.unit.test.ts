import { expect } from 'chai';
import { isUuid } from '../../src/kernel/text.js';

describe('ids', () => {
  it('must be UUIDs before they reach the database', () => {
    const id = '0123abcd-0000-4000-8000-00000000ffff';
    for (const given of [id, id.toUpperCase()]) expect(isUuid(given)).to.equal(true);
    for (const given of ['', `${id} `, ` ${id}`, id.slice(1), id.replace('-', ''), id.replace('a', 'g'), `${id}0`]) {
      expect(isUuid(given), given).to.equal(false);
    }
  });
});
