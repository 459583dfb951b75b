import { hash as ofNode } from 'node:crypto';
import { expect } from 'chai';
import { hash } from '../../../src/web/shared/node-crypto.js';

describe('the hash in the browser', () => {
  it('returns the same SHA-256 hash as the service', () => {
    for (const text of ['', 'articles\0author', 'é🎉\0ü', 'x'.repeat(200)])
      expect(hash('sha256', text)).to.equal(ofNode('sha256', text));
  });
});
