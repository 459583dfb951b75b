import { expect } from 'chai';
import { listen } from '../../src/http/server.js';

describe('a server that is starting', () => {
  it('is alive but not ready', async () => {
    const server = await listen('127.0.0.1', 0);
    try {
      server.say('The service waits for its primary.');
      const live = await fetch(`${server.url}/server/live`);
      expect([live.status, await live.json()]).to.deep.equal([200, { status: 'ok' }]);
      const ready = await fetch(`${server.url}/server/ready`);
      expect([ready.status, ready.headers.get('retry-after')]).to.deep.equal([503, '1']);
      expect(await ready.text()).to.contain('waits for its primary');
    } finally {
      await server.close(0);
    }
  });
});
