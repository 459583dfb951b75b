import { readFile, readdir } from 'node:fs/promises';
import { expect } from 'chai';

it('only sql.ts casts to Sql', async () => {
  const root = new URL('../../../src/', import.meta.url);
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const casting: string[] = [];
  for (const file of files) {
    if (/\bas (unknown as )?Sql\b|<Sql>\s*[`'"]/.test(await readFile(new URL(file, root), 'utf8'))) casting.push(file);
  }
  expect(casting).to.deep.equal(['projector/ddl/sql.ts']);
});
