import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toOneLine, table, writeOutput } from '../../src/cli/output.js';

describe('printed output', () => {
  it('has columns as wide as their widest cell without trailing blanks', () => {
    expect(
      table(
        ['a', 'long head', 'c'],
        [
          ['longer', 'x', ''],
          ['', 'y', 'z'],
        ],
      ).split('\n'),
    ).to.deep.equal(['a       long head  c', 'longer  x', '        y          z']);
  });

  it('contains no terminal control sequences from names', () => {
    expect(toOneLine('a\u001b[2J\n\u007f\u009b2Jb ü')).to.equal(String.raw`a\u001b[2J\n\u007f\u009b2Jb ü`);
    expect(toOneLine('a\u202eb\u200b\u2028\u{e0001}')).to.equal(String.raw`a\u202eb\u200b\u2028\udb40\udc01`);
    expect(toOneLine('a\u3164b ⚠\ufe0f')).to.equal('a\\u3164b ⚠\ufe0f');
  });
});

describe('an output file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-output-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is created, or replaces the target of a link with the same mode', async () => {
    const [file, link] = [join(folder, 'real.yaml'), join(folder, 'link.yaml')];
    await writeOutput(file, 'first');
    await chmod(file, 0o640);
    await symlink('real.yaml', link);
    await writeOutput(link, 'second');
    expect(await readFile(file, 'utf8')).to.equal('second');
    expect((await stat(file)).mode & 0o777).to.equal(0o640);
    expect(await readlink(link)).to.equal('real.yaml');
    expect(await readdir(folder)).to.have.members(['real.yaml', 'link.yaml']);
  });

  it('stays unchanged if the disk is full', async () => {
    const file = join(folder, 'schema.yaml');
    await writeFile(file, 'old');
    const output = new URL('../../src/cli/output.js', import.meta.url).href;
    const script = `const { writeOutput } = await import(${JSON.stringify(output)});
      await writeOutput(${JSON.stringify(file)}, 'x'.repeat(1e6)).catch(({ message }) => console.log(message));`;
    const limited = ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, '--import', 'tsx', '--input-type=module'];
    const { stdout } = spawnSync('sh', [...limited, '-e', script], { encoding: 'utf8' });
    expect(stdout).to.contain('schema.yaml cannot be written (EFBIG');
    expect(await readFile(file, 'utf8')).to.equal('old');
    expect(await readdir(folder)).to.deep.equal(['schema.yaml']);
  });
});
