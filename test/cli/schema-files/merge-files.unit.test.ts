import { expect } from 'chai';
import { type ConflictAnswer, describeConflicts } from '../../../src/cli/schema-files/merge-files.js';
import type { SchemaFiles } from '../../../src/cli/schema-files/read-folder.js';

const FILES = {
  parts: {
    collections: [{ collection: 'other' }, { collection: 'posts' }],
    fields: [
      { collection: 'other', field: 'title' },
      { collection: 'posts', field: 'body' },
      { collection: 'posts', field: 'title' },
    ],
    relations: [
      { many_collection: 'posts', many_field: 'other' },
      { many_collection: 'posts', many_field: 'author' },
    ],
  },
  placeOf: (path: readonly (string | number)[]) => `at ${path.join('/')}`,
} as unknown as SchemaFiles;

const conflict = (place: ConflictAnswer['extensions']['place'], more: object = {}): ConflictAnswer => ({
  message: 'both changed it',
  extensions: { kind: 'removed', place, ...more },
});

const END =
  'between the files and changes that others have made since. Edit the files to match the service, or resolve all conflicts with --take ours (the service) or --take theirs (the files).';

describe('conflicts of a merge in files', () => {
  it('show their location and the differing values', () => {
    const text = describeConflicts(
      [
        conflict({ part: 'collections', collection: 'posts' }),
        conflict(
          { part: 'fields', collection: 'posts', field: 'title', path: ['meta', 'note'] },
          {
            kind: 'changed',
            base: undefined,
            ours: 'a',
            theirs: null,
          },
        ),
        conflict({ part: 'relations', collection: 'posts', field: 'author' }),
        conflict({ part: 'fields', collection: 'posts', field: 'gone' }),
      ],
      FILES,
    );
    expect(text.split('\n')).to.deep.equal([
      'at collections/1: both changed it',
      'at fields/2/meta/note: both changed it',
      '  base nothing, ours "a", theirs null',
      'at relations/1: both changed it',
      'both changed it',
      `Nothing was changed: 4 conflicts ${END}`,
    ]);
  });

  it('truncate long values', () => {
    const values = { kind: 'changed', base: 'x'.repeat(118), ours: 'x'.repeat(119), theirs: 0 };
    const text = describeConflicts([conflict({ part: 'collections', collection: 'gone' }, values)], FILES);
    expect(text.split('\n')).to.deep.equal([
      'both changed it',
      `  base "${'x'.repeat(118)}", ours "${'x'.repeat(119)}…, theirs 0`,
      `Nothing was changed: 1 conflict ${END}`,
    ]);
  });
});
