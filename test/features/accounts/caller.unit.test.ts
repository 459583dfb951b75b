import { expect } from 'chai';
import { type Access, ROLES, allows } from '../../../src/features/accounts/caller.js';

/** Permissions by role, as in docs/security.md. */
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
