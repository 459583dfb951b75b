import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { createLoginLimit } from '../../../src/features/accounts/login-limit.js';

/** Bytes, after garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('the login limit under many attempts', () => {
  it('stores nothing for rejected attempts: a million users from one address take no memory', async () => {
    const limit = createLoginLimit({ pair: 3, address: 5, email: 7 });
    const begin = (email: string) => limit.begin({ address: '192.0.2.1', email }, () => Promise.resolve(false));
    for (const name of ['ann', 'ann', 'ann', 'bob', 'bob']) expect(await begin(`${name}@example.com`)).equal(null);
    const before = heapUsed();
    for (let tries = 0; tries < 20_000; tries++) {
      expect(await begin(`${tries}${'x'.repeat(300)}@example.com`)).not.equal(null);
    }
    expect(heapUsed() - before).below(5_000_000);
    limit.stop();
  });
});
