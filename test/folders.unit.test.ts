import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Tests of the whole program, and shared helpers. */
const OF_THE_WHOLE = ['corpus', 'faults', 'fixtures', 'fuzz', 'support'];

const below = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(ROOT, folder).length + 1))
    .filter((file) => file.endsWith('.ts'));

describe('the folders of test/', () => {
  const tests = below('test').filter((file) => !OF_THE_WHOLE.includes(file.split('/')[0] as string));

  it('match those of src', () => {
    const unknown = tests.map(dirname).filter((folder) => !existsSync(join(ROOT, 'src', folder)));
    expect([...new Set(unknown)]).to.deep.equal([]);
  });

  it("contain each module's test at the path of the module", () => {
    const modules = below('src');
    const elsewhere = tests.filter((file) => {
      if (!file.endsWith('.unit.test.ts')) return false;
      const name = `${basename(file, '.unit.test.ts')}.ts`;
      const places = modules.filter((module) => basename(module) === name).map(dirname);
      return dirname(file) !== '.' && places.length > 0 && !places.includes(dirname(file));
    });
    expect(elsewhere).to.deep.equal([]);
  });
});
