import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Tests of the whole program, and shared helpers. */
const OF_THE_WHOLE = ['corpus', 'faults', 'fixtures', 'fuzz', 'support'];

const listFolders = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(ROOT, folder).length + 1))
    .filter((file) => file.endsWith('.ts'));

describe('the folders of test/', () => {
  const tests = listFolders('test').filter((file) => !OF_THE_WHOLE.includes(file.split('/')[0] as string));

  it('match the folders or modules of src', () => {
    const subjects = (folder: string) => [folder, `${folder}.ts`].map((path) => join(ROOT, 'src', path));
    const unknown = tests.map(dirname).filter((folder) => !subjects(folder).some(existsSync));
    expect([...new Set(unknown)]).to.deep.equal([]);
  });
});
