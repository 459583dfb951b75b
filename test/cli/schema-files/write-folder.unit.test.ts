import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { changeOf } from '../../../src/cli/schema-files/write-folder.js';
import { temporaryDirectory } from '../../support/postgres.js';

describe('unexpected files in a folder', () => {
  it('are removed if they belong to a collection, and kept otherwise', async () => {
    const directory = await temporaryDirectory();
    try {
      await mkdir(join(directory, 'collections'));
      await writeFile(join(directory, 'collections/old.yaml'), 'collection: old\nfields: []\nrelations: []\n');
      await writeFile(join(directory, 'collections/notes.yaml'), 'remember: this\n');
      await symlink('nowhere.yaml', join(directory, 'collections/gone.yaml'));
      expect(await changeOf(directory, new Map([['collections/new.yaml', 'collection: new\n']]))).to.deep.equal({
        written: new Map([['collections/new.yaml', 'collection: new\n']]),
        removed: ['collections/old.yaml'],
        foreign: ['collections/notes.yaml'],
      });
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('do not include a checkout with CRLF line ends', async () => {
    const directory = await temporaryDirectory();
    try {
      await mkdir(join(directory, 'collections'));
      await writeFile(join(directory, 'collections/new.yaml'), 'collection: new\r\nfields: []\r\n');
      const files = new Map([['collections/new.yaml', 'collection: new\nfields: []\n']]);
      expect((await changeOf(directory, files)).written.size).to.equal(0);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
