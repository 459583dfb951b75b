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
  it('hides secret members by name, at any depth', () => {
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

  it('recognizes secret names in any case, and shows similar harmless ones', () => {
    for (const name of [
      'access_token',
      'passwd',
      'clientSecret',
      'AUTHORIZATION',
      'set-cookie',
      'connectionString',
      'connection_url',
      'database_url',
      'databaseUrl',
      'credentials',
    ]) {
      expect(redact({ [name]: 'x' }), name).to.deep.equal({ [name]: '[hidden]' });
      expect(redact({ [name]: { deep: 'x' } }), name).to.deep.equal({ [name]: '[hidden]' });
      expect(redact({ [name]: null, other: true }), name).to.deep.equal({ [name]: null, other: true });
    }
    expect(redact({ tokens: 3, passwords: false, connection: 'c', url: 'http://h/', database: 'd' })).to.deep.equal({
      tokens: 3,
      passwords: false,
      connection: 'c',
      url: 'http://h/',
      database: 'd',
    });
    expect(redact('Basic dXNlcjpw, dps_short, http://h:80/a@b')).to.equal('Basic [hidden], dps_short, http://h:80/a@b');
  });

  it('shows times and large numbers as JSON, up to eight levels', () => {
    expect(redact([new Date(0), 12n, undefined, null])).to.deep.equal([
      '1970-01-01T00:00:00.000Z',
      '12',
      undefined,
      null,
    ]);
    const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [nested(depth - 1, inner)]);
    expect(redact(nested(7, { at: 'the eighth' }))).to.deep.equal(nested(7, { at: 'the eighth' }));
    expect(redact(nested(8, { at: 'the ninth' }))).to.deep.equal(nested(8, '[…]'));
  });

  it('shows counts, and stops at cycles', () => {
    const cycle: Record<string, unknown> = { tokens: 3 };
    cycle['self'] = cycle;
    expect(JSON.stringify(redact(cycle))).to.match(/^\{"tokens":3,"self":\{"tokens":3/);
  });

  it('shows message, code, stack and cause of an error, but not its rows', () => {
    const error = Object.assign(new Error('refused', { cause: new Error(`with ${TOKEN}`) }), {
      code: '23505',
      detail: 'Key (email)=(someone@example.com) already exists.',
    });
    const cause = error.cause as Error;
    expect(redact({ error })).to.deep.equal({
      error: {
        name: 'Error',
        message: 'refused',
        code: '23505',
        stack: error.stack,
        cause: { name: 'Error', message: 'with [hidden]', stack: cause.stack?.replace(TOKEN, '[hidden]') },
      },
    });
    const bare = Object.assign(new Error('bare'), { code: 7 });
    expect(redact(bare)).to.deep.equal({ name: 'Error', message: 'bare', stack: bare.stack });
  });
});

describe('logger', () => {
  it('writes one JSON object per line without known secrets', () => {
    const { lines, logger } = capture({ secrets: ['correct horse', 'sixsix', 'never'] });
    const nested = { text: 'correct horse! sixsix never' };
    logger.child({ request_id: 'r1' }).info('says correct horse', { ms: 3, nested });
    expect(lines).to.have.length(1);
    const { timestamp, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>;
    expect(timestamp).to.be.a('string');
    expect(line).to.deep.equal({
      level: 'info',
      message: 'says [hidden]',
      request_id: 'r1',
      ms: 3,
      nested: { text: '[hidden]! [hidden] never' },
    });
    expect(Object.keys(JSON.parse(lines[0]!) as object).slice(0, 3)).to.deep.equal(['timestamp', 'level', 'message']);
  });

  it('writes readable lines for people', () => {
    const { lines, logger } = capture({ format: 'pretty' });
    logger.warn('slow', { ms: 1200, token: TOKEN, path: '/a b' });
    logger.error('', { stack: 'Error: failed\n  at there', empty: '', quoted: 'a"b', assigned: 'a=b', plain: '/a' });
    expect(lines.map((line) => line.replace(/^\S+Z /, ''))).to.deep.equal([
      'warn  slow ms=1200 token=[hidden] path="/a b"\n',
      'error  empty="" quoted="a\\"b" assigned="a=b" plain=/a\nError: failed\n  at there\n',
    ]);
  });

  it('writes nothing below its level', () => {
    const { lines, logger } = capture({ level: 'warn' });
    logger.info('nothing');
    expect(lines).to.deep.equal([]);
  });
});
