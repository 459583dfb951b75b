import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import { expect } from 'chai';
import { crossOrigin } from '../../../src/http/request/headers.js';

describe('CORS headers', () => {
  let server: Server;

  before((done) => {
    const handle = crossOrigin(['https://one.example', 'https://two.example']);
    server = createServer((req, res) => handle(req as Request, res as unknown as Response, () => res.end('asked')));
    server.listen(0, '127.0.0.1', done);
  });
  after((done) => {
    server.close(done);
    server.closeAllConnections();
  });

  async function messagesOf(method: string, origin?: string): Promise<object> {
    const { port } = server.address() as AddressInfo;
    const { status, headers } = await fetch(`http://127.0.0.1:${port}/`, { method, headers: origin ? { origin } : {} });
    return { status, ...Object.fromEntries([...headers].filter(([name]) => /^(access-control-|vary)/.test(name))) };
  }

  const VARY = { vary: 'Origin' };
  const EXPOSED = 'ETag,Location,Retry-After,X-Batch-Id,X-Log-Lag,X-Log-Position,X-Request-Id,X-Warnings';

  it('list allowed origins, methods and visible headers', async () => {
    for (const origin of ['https://one.example', 'https://two.example']) {
      const own = {
        ...VARY,
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': EXPOSED,
      };
      expect(await messagesOf('GET', origin)).to.deep.equal({ status: 200, ...own });
      expect(await messagesOf('OPTIONS', origin)).to.deep.equal({
        status: 204,
        ...own,
        vary: 'Origin, Access-Control-Request-Headers',
        'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE',
        'access-control-max-age': '600',
      });
    }
  });

  it('never expose a response to other origins', async () => {
    for (const origin of ['https://three.example', 'http://one.example', 'null', undefined]) {
      expect(await messagesOf('GET', origin)).to.not.have.property('access-control-allow-origin');
    }
  });
});
