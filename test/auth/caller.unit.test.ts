import { expect } from 'chai';
import { type Access, ROLES, allows } from '../../src/auth/caller.js';
import { isUuid } from '../../src/auth/user.js';

/** Who may what, as docs/security.md has it. */
const ALLOWED: Readonly<Record<Access, readonly string[]>> = {
  anyone: ['admin', 'auditor', 'author', 'reader'],
  reader: ['admin', 'auditor', 'author', 'reader'],
  author: ['admin', 'author'],
  'author or auditor': ['admin', 'auditor', 'author'],
  auditor: ['admin', 'auditor'],
  admin: ['admin'],
};

describe('roles', () => {
  for (const [access, roles] of Object.entries(ALLOWED)) {
    it(`${access}: ${roles.join(', ')}`, () => {
      expect(ROLES.filter((role) => allows(role, access as Access))).to.deep.equal(roles);
    });
  }
});

describe('ids of users', () => {
  it('are UUIDs, and nothing else gets to the database', () => {
    const id = '0123abcd-0000-4000-8000-00000000ffff';
    for (const given of [id, id.toUpperCase()]) expect(isUuid(given)).to.equal(true);
    for (const given of ['', `${id} `, ` ${id}`, id.slice(1), id.replace('-', ''), id.replace('a', 'g'), `${id}0`]) {
      expect(isUuid(given), given).to.equal(false);
    }
  });
});
