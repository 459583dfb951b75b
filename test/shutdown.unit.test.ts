import { Writable } from 'node:stream';
import { expect } from 'chai';
import { createLogger } from '../src/logger.js';
import { createShutdown } from '../src/shutdown.js';

describe('a shutdown', () => {
  it('closes resources in reverse order, one at a time, and continues after failures', async () => {
    const messages: string[] = [];
    const stream = new Writable({
      write(line: Buffer, _encoding, done) {
        const { level, message, part } = JSON.parse(line.toString()) as Record<string, string>;
        messages.push(`${level}: ${message}: ${part}`);
        done();
      },
    });
    const shutdown = createShutdown(createLogger({ level: 'debug', format: 'json', stream }));
    shutdown.add('pool', () => void messages.push('the pool ends'));
    shutdown.add('listener', () => Promise.reject(new Error('gone')));
    shutdown.add('server', async () => {
      await Promise.resolve();
      messages.push('the server ends');
    });
    expect(shutdown.begun()).to.equal(false);
    const first = shutdown.run();
    expect(shutdown.begun()).to.equal(true);
    await Promise.all([first, shutdown.run()]);
    await shutdown.run();
    expect(messages).to.deep.equal([
      'the server ends',
      'debug: closed: server',
      'error: could not be closed: listener',
      'the pool ends',
      'debug: closed: pool',
    ]);
  });
});
