import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { mock } from 'node:test';
import { expect } from 'chai';
import { drain } from '../../../src/http/body/limited-bytes.js';

const MEBIBYTE = 1024 * 1024;

/** A request whose body is still arriving. */
function request(complete = false): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { complete }) as unknown as PassThrough & IncomingMessage;
}

describe('the body after an early response', () => {
  const sent = async (req: PassThrough, bytes: number): Promise<void> => {
    const chunk = Buffer.alloc(MEBIBYTE);
    for (let left = bytes; left > 0; left -= MEBIBYTE) {
      if (!req.write(chunk.subarray(0, Math.min(left, MEBIBYTE)))) {
        await new Promise((resolve) => req.once('drain', resolve).once('close', resolve));
      }
    }
    await new Promise(setImmediate);
  };

  it('is discarded up to 64 MiB, and one more byte closes the connection', async () => {
    const req = request();
    drain(req);
    await sent(req, 64 * MEBIBYTE);
    expect(req.destroyed).to.equal(false);
    await sent(req, 1);
    expect(req.destroyed).to.equal(true);
  });

  it('is discarded for up to 10 seconds', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const req = request();
      drain(req);
      mock.timers.tick(9_999);
      expect(req.destroyed).to.equal(false);
      mock.timers.tick(1);
      expect(req.destroyed).to.equal(true);
    } finally {
      mock.timers.reset();
    }
  });

  it('causes no error if the client disconnects, and is ignored if complete', async () => {
    const broken = request();
    drain(broken);
    broken.destroy(new Error('ECONNRESET'));
    await new Promise((resolve) => broken.once('close', resolve));

    const full = request(true);
    drain(full);
    expect(full.listenerCount('data')).to.equal(0);
  });
});
