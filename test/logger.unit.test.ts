import { Writable } from 'node:stream';
import { expect } from 'chai';
import { type LoggerOptions, createLogger, redact } from '../src/logger.js';

function capture(options: Partial<LoggerOptions>) {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { lines, logger: createLogger({ level: 'debug', format: 'json', stream, ...options }) };
}

const TOKEN = 'dps_QmFzZTY0dXJsIHRleHQgb2YgYSB0b2tlbg';

describe('redact', () => {
  it('hides members that are secret by name, at any depth', () => {
    expect(redact({ a: [{ password: 'x', refresh_token: 'y', headers: { Authorization: 'z', host: 'h' } }] })).to.eql({
      a: [{ password: '[hidden]', refresh_token: '[hidden]', headers: { Authorization: '[hidden]', host: 'h' } }],
    });
  });

  it('hides secrets inside texts', () => {
    const text = `got Bearer abc.def, ${TOKEN}, eyJhbGciOi.eyJzdWIi.sig-x and postgresql://u:pa@ss@h:1/d from http://u:p@proxy/`;
    const shown = redact(text);
    expect(shown).to.equal(
      'got Bearer [hidden], [hidden], [hidden] and postgresql://[hidden] from http://[hidden]@proxy/',
    );
  });

  it('keeps counts, and ends on cycles', () => {
    const cycle: Record<string, unknown> = { tokens: 3 };
    cycle['self'] = cycle;
    expect(JSON.stringify(redact(cycle))).to.match(/^\{"tokens":3,"self":\{"tokens":3/);
  });

  it('shows of an error its message, code, stack and cause, not the rows it met', () => {
    const error = Object.assign(new Error('refused', { cause: new Error(`with ${TOKEN}`) }), {
      code: '23505',
      detail: 'Key (email)=(someone@example.com) already exists.',
    });
    const text = JSON.stringify(redact({ error }));
    expect(text).to.contain('refused').and.contain('23505').and.contain('with [hidden]');
    expect(text).not.to.contain('someone');
  });
});

describe('logger', () => {
  it('writes one JSON object a line, without the secrets it was told', () => {
    const { lines, logger } = capture({ secrets: ['correct horse', 'a'] });
    logger.child({ request_id: 'r1' }).info('says correct horse', { ms: 3, nested: { text: 'correct horse!' } });
    expect(lines).to.have.length(1);
    const { timestamp, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>;
    expect(timestamp).to.be.a('string');
    expect(line).to.deep.equal({
      level: 'info',
      message: 'says [hidden]',
      request_id: 'r1',
      ms: 3,
      nested: { text: '[hidden]!' },
    });
  });

  it('writes lines for people', () => {
    const { lines, logger } = capture({ format: 'pretty' });
    logger.warn('slow', { ms: 1200, token: TOKEN, path: '/a b' });
    expect(lines[0]).to.match(/^\S+Z warn {2}slow ms=1200 token=\[hidden\] path="\/a b"\n$/);
  });

  it('keeps quiet below its level', () => {
    const { lines, logger } = capture({ level: 'warn' });
    logger.info('nothing');
    expect(lines).to.deep.equal([]);
  });
});
