import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { WRITING, runExclusively } from '../../../src/cli/schema-files/write-folder.js';

/** A process id larger than any system assigns. */
const NOBODY = '999999999\n';

describe('a folder with an exclusive writer', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-writing-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const left = async (text: string, seconds = 0): Promise<void> => {
    await writeFile(join(directory, WRITING), text);
    const at = new Date(Date.now() - 1_000 * seconds);
    await utimes(join(directory, WRITING), at, at);
  };
  const written = (): Promise<string> => runExclusively(directory, () => readFile(join(directory, WRITING), 'utf8'));
  const refusal = () => written().catch(({ message }: Error) => message);

  it("contains the writer's id during the work, and is free afterwards", async () => {
    expect(await written()).to.equal(`${process.pid}\n`);
    const failing = runExclusively(directory, () => Promise.reject(new Error('no')));
    expect(await failing.catch(({ message }: Error) => message)).to.equal('no');
    expect(await written()).to.equal(`${process.pid}\n`);
  });

  it('is taken over from dead writers, old writers and this process', async () => {
    const parent = `${process.ppid}\n`;
    for (const [text, seconds] of [
      [NOBODY, 0],
      [`${process.pid}\n`, 0],
      [parent, 601],
      ['', 6],
      ['who?', 6],
    ] as const) {
      await left(text, seconds);
      expect(await written(), JSON.stringify(text)).to.equal(`${process.pid}\n`);
    }
  });

  it('fails while another process writes, and the error names that process', async () => {
    const parent = String(process.ppid);
    for (const [text, seconds, name] of [
      [`${parent}\n`, 590, parent],
      ['', 0, 'of no name yet'],
      ['who?', 0, 'who?'],
    ] as const) {
      await left(text, seconds);
      const file = join(directory, WRITING);
      expect(await refusal()).to.equal(
        `Another dps (process ${name}) is writing to ${directory}. Run this again when it has finished. If none is running, remove ${file}.`,
      );
      expect(await readFile(file, 'utf8')).to.equal(text);
    }
  });

  it('is rejected if it does not exist', async () => {
    await rm(directory, { recursive: true });
    expect(await refusal()).to.match(/^The files cannot be written \(ENOENT: /);
    await writeFile(directory, '');
    expect(await refusal()).to.match(/^The files cannot be written \(ENOTDIR: /);
  });
});
