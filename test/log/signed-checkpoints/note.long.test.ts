import { expect } from 'chai';
import { NoteError, parseNoteKeys } from '../../../src/log/signed-checkpoints/checkpoint.js';

it('finds keys in a large file quickly', () => {
  const started = performance.now();
  expect(() => parseNoteKeys('a'.repeat(200_000))).to.throw(NoteError, 'contains no public key');
  expect(performance.now() - started).to.be.lessThan(5_000);
});
