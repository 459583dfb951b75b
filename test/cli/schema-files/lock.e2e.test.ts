/** dps.lock after manual edits and from another release must never yield a wrong base. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { json } from '../../support/client.js';
import { type Ran, dps } from '../../support/dps.js';
import { withService } from '../../support/with-service.js';

describe('dps.lock', () => {
  const { service, client } = withService();
  let directory: string;
  let written: string;

  const run = (...args: string[]): Promise<Ran> =>
    dps([...args, directory], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
  const lockIs = (text: string): Promise<void> => writeFile(join(directory, 'dps.lock'), text);

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-lock-'));
    const created = await client('/collections', json({ collection: 'posts', schema: {} }));
    expect(created.status, created.text).to.equal(200);
    expect((await run('pull')).code).to.equal(0);
    written = await readFile(join(directory, 'dps.lock'), 'utf8');
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('is rejected if its position is not in this log', async () => {
    const wrong: [string | RegExp, string, RegExp][] = [
      [/^position: .*$/m, `position: 1-${'0'.repeat(64)}`, /^dps\.lock belongs to another service/],
      [/^position: .*$/m, 'position: 999999', /base/],
      [/^position: .*$/m, 'position: -1', /^dps\.lock was not written by "dps pull"/],
      [/^position: .*$/m, 'position: now', /^dps\.lock was not written by "dps pull"/],
      [/^position: .*$/m, 'position: [1]', /^dps\.lock was not written by "dps pull"/],
      [/^release: .*$/m, 'release: 9.9.9', /^dps\.lock: /],
      [/[^]*/, '<<<<<<< ours\n', /^dps\.lock (is|was) not /],
      [/[^]*/, '', /^dps\.lock (is|was) not /],
      [/^hash: .*$/m, 'hash: &a x\nmore: [*a, *a]', /^$/],
    ];
    for (const [from, to, message] of wrong) {
      await lockIs(written.replace(from, to));
      const { code, err } = await run('plan');
      expect([code, message.test(err)], `${to}: ${code} ${err}`).to.deep.equal([message.source === '^$' ? 0 : 2, true]);
    }
  });

  it('may refer to the beginning of the log, and --check compares files and requires a lock', async () => {
    await lockIs(written.replace(/^position: .*$/m, 'position: 0'));
    expect((await run('plan')).out).to.equal('No differences.');
    await lockIs(written.replace(/^hash: .*$/m, `hash: ${'f'.repeat(64)}`));
    expect((await run('plan')).code).to.equal(0);
    expect(await run('pull', '--check')).to.deep.include({ code: 0, out: 'The files match the service.' });
    await rm(join(directory, 'dps.lock'));
    expect(await run('pull', '--check')).to.deep.include({ code: 1, out: 'differs: dps.lock' });
    expect((await run('pull')).code).to.equal(0);
    expect(await readFile(join(directory, 'dps.lock'), 'utf8')).to.equal(written);
  });

  it('is accepted with --force if another release wrote it', async () => {
    await lockIs(written.replace(/^release: .*$/m, 'release: 9.9.9'));
    expect((await run('plan')).code).to.equal(2);
    expect((await run('plan', '--force')).code).to.equal(0);
  });
});
