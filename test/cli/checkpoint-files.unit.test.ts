import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeCheckpoints, readCheckpoints } from '../../src/cli/checkpoint-files.js';

const held = { file: 'a.checkpoint', position: 3, time: '2026-01-01T00:00:00Z', ok: true, signed_by: null };

describe('checkpoints for dps verify', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-checkpoints-'));
  });
  after(() => rm(directory, { recursive: true }));

  const refusal = async (checkpoint: string[], key: string[] = []): Promise<string> => {
    try {
      await readCheckpoints({ values: { checkpoint, key } });
    } catch (error) {
      return (error as Error).message.replaceAll(directory, 'FOLDER');
    }
    throw new Error('they were read');
  };

  it('are reported one by one, with a note if no signature was verified', () => {
    type Held = Parameters<typeof describeCheckpoints>[0][number];
    const signed = { ...held, file: 'b.checkpoint', signed_by: 'dps+1' } as Held;
    const differs = { ...held, file: 'c.checkpoint', ok: false, reason: 'the log ends at 2' } as Held;
    const place = (name: string) => `Checkpoint ${name}.checkpoint (position 3, 2026-01-01T00:00:00Z)`;
    const good = `${place('b')} matches the log: no event up to it has changed; signed by dps+1.`;
    const bad = `${place('c')} does not match the log: the log ends at 2.`;
    expect(describeCheckpoints([signed, differs])).to.deep.equal([good, bad]);
    expect(describeCheckpoints([held as Held, signed])).to.deep.equal([
      `${place('a')} matches the log: no event up to it has changed.`,
      good,
      'No signature was verified. Pass the public key, which you must obtain separately, with --key.',
    ]);
    expect(describeCheckpoints([])).to.deep.equal([]);
  });

  it('are read from files and folders, and an invalid file is named', async () => {
    expect(await readCheckpoints({ values: {} })).to.deep.equal({ files: [], keys: [] });
    expect(await refusal([], ['k'])).to.equal('--key requires --checkpoint, whose signature it verifies.');
    expect(await refusal([join(directory, 'none')])).to.match(/^FOLDER\/none cannot be read \(ENOENT.*\)\.$/);
    expect(await refusal([directory])).to.equal('FOLDER contains no checkpoint (*.checkpoint).');
    await writeFile(join(directory, 'b.checkpoint'), 'nothing');
    await writeFile(join(directory, 'a.checkpoint'), 'nothing');
    expect(await refusal([directory])).to.match(/^FOLDER\/a\.checkpoint is truncated: .*\.$/);
    expect(await refusal([join(directory, 'b.checkpoint')])).to.match(/^FOLDER\/b\.checkpoint is truncated: .*\.$/);
  });
});
