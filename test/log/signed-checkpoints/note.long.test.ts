import { expect } from 'chai';
import { NoteError, parseNoteKeys } from '../../../src/log/signed-checkpoints/checkpoint.js';

// Backtracking over the file would exceed the time limit of the runner.
it('reports a large file without keys', () => {
  expect(() => parseNoteKeys('a'.repeat(200_000))).to.throw(NoteError, 'contains no public key');
});
