import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { type DataLock, isLock, takeLock } from '../../../src/postgres/embedded/lock.js';
import { temporaryDirectory } from '../../support/postgres.js';

/** Milliseconds, less than one waits who can't tell whether another has the lock or only wants it. */
const AT_ONCE = 8_000;

describe('the lock of a data directory', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await temporaryDirectory();
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('is refused at once while it is had, whoever comes first by name, and free again afterwards', async () => {
    const held = (await takeLock(directory)) as DataLock;
    expect(isLock(held)).to.equal(true);
    const started = performance.now();
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const refused = await takeLock(directory);
      expect(isLock(refused) || refused.pid, `attempt ${attempt}`).to.equal(process.pid);
    }
    expect(performance.now() - started).to.be.below(AT_ONCE);
    await held.release();
    const next = (await takeLock(directory)) as DataLock;
    expect(isLock(next)).to.equal(true);
    await next.release();
  });
});
