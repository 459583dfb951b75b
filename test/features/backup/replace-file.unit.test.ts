import { mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { resolveTarget, replaceFile } from '../../../src/features/backup/file.js';

describe('replacing a file', () => {
  let directory: string;
  const at = (name: string): string => join(directory, name);
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-replace-'));
  });
  after(() => rm(directory, { recursive: true }));

  const put = async (name: string): Promise<string> => {
    const place = await resolveTarget(at(name));
    if (place === null) throw new Error(`${name} is not a file`);
    await replaceFile(place, (partial) => writeFile(partial, 'new'));
    return place.target;
  };

  it('follows a link, even if its target does not exist yet', async () => {
    await symlink('second', at('first'));
    await symlink('third', at('second'));
    expect(await put('first')).to.equal(at('third'));
    expect([await readlink(at('first')), await readlink(at('second'))]).to.deep.equal(['second', 'third']);
    expect(await readFile(at('third'), 'utf8')).to.equal('new');
    expect(await put('first')).to.equal(at('third'));
  });

  it('rejects a directory and a link that leads back to itself', async () => {
    await symlink('round', at('about'));
    await symlink('about', at('round'));
    expect(await resolveTarget(at('round'))).to.equal(null);
    expect(await resolveTarget(directory)).to.equal(null);
  });
});
