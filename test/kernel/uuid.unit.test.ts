import { expect } from 'chai';
import { isUuid } from '../../src/kernel/text.js';

describe('ids', () => {
  it('must be UUIDs before they reach the database', () => {
    const id = '0123abcd-0000-4000-8000-00000000ffff';
    for (const input of [id, id.toUpperCase()]) expect(isUuid(input)).to.equal(true);
    for (const input of ['', `${id} `, ` ${id}`, id.slice(1), id.replace('-', ''), id.replace('a', 'g'), `${id}0`]) {
      expect(isUuid(input), input).to.equal(false);
    }
  });
});
