import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { createOverloadLog, createProxyLog, createRequestLog } from '../../src/http/request-log.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

describe('the log line of a request', () => {
  const lines: [Level, string, Record<string, unknown> | undefined][] = [];
  const write = (level: Level) => (message: string, fields?: Record<string, unknown>) =>
    void lines.push([level, message, fields]);
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  beforeEach(() => (lines.length = 0));

  const handled = (method: string, status = 200) => ({
    method,
    route: '/fields/:collection',
    status,
    started: performance.now() - 20_000,
    requestId: 'r1',
    position: undefined,
    caller: null,
  });

  it('contains route, caller, result and duration', () => {
    const log = createRequestLog(logger, false);
    log({
      ...handled('PATCH'),
      position: 7,
      caller: { id: 'u1', name: 'Ada', role: 'admin', credential: { kind: 'token', issuedBy: null } },
    });
    log(handled('POST', 400));
    const [[level, message, fields] = [], [, , second] = []] = lines;
    const milliseconds = fields?.['milliseconds'] as number;
    expect(milliseconds).to.be.at.least(20_000);
    expect(Math.round(milliseconds * 10) / 10, 'to a tenth').to.equal(milliseconds);
    const request = { route: '/fields/:collection', request_id: 'r1' };
    expect([level, message, fields]).to.deep.equal([
      'info',
      'request',
      { ...request, method: 'PATCH', status: 200, milliseconds, position: 7, actor: 'u1' },
    ]);
    expect(second).to.deep.equal({ ...request, method: 'POST', status: 400, milliseconds: second?.['milliseconds'] });
  });

  it('reports overload at intervals with the load, however many requests are affected', () => {
    let clock = 0;
    const now = mock.method(performance, 'now', () => clock);
    try {
      const overloaded = createOverloadLog(logger, () => ({ waiting: 7 }));
      for (let count = 0; count < 100; count += 1) overloaded();
      clock = 10_001;
      overloaded();
    } finally {
      now.mock.restore();
    }
    const line = ['warn', 'the service is overloaded and rejects requests', { waiting: 7 }];
    expect(lines).to.deep.equal([line, line]);
  });

  it('warns once when a proxy that TRUST_PROXY does not cover names its clients', () => {
    const logged: string[] = [];
    const logProxy = createProxyLog(logger, {
      isTrusted: (address) => address === '10.0.0.1',
      onFound: (address) => logged.push(address),
    });
    const request = (peer: string, headers: Record<string, string>) => {
      const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer });
      return Object.assign(new IncomingMessage(socket), { headers });
    };
    logProxy(request('10.0.0.2', {}));
    logProxy(request('10.0.0.1', { 'x-forwarded-for': '192.0.2.1' }));
    expect(lines).to.deep.equal([]);
    logProxy(request('10.0.0.2', { forwarded: 'for=192.0.2.1' }));
    logProxy(request('10.0.0.2', { 'x-forwarded-for': '192.0.2.1' }));
    expect(lines.map(([level, , fields]) => [level, fields])).to.deep.equal([['warn', { peer: '10.0.0.2' }]]);
    expect(lines[0]?.[1]).to.include('set TRUST_PROXY');
    expect(logged).to.deep.equal(['10.0.0.2']);
  });

  it('includes successful reads if enabled, at another level', () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      createRequestLog(logger, false)(handled(method, 399));
      expect(lines.splice(0), method).to.deep.equal([]);
      createRequestLog(logger, true)(handled(method, 399));
      expect(lines.splice(0).map(([level]) => level)).to.deep.equal(['debug']);
      createRequestLog(logger, false)(handled(method, 400));
      expect(lines.splice(0).map(([level]) => level)).to.deep.equal(['info']);
    }
  });
});
