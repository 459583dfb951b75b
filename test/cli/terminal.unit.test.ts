import { PassThrough, Writable } from 'node:stream';
import { expect } from 'chai';
import { createTerminal } from '../../src/cli/output.js';

/** Accepts all writes, or fails each with a code. */
function output(fails?: string): Writable & { text: string } {
  const taken = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        if (fails !== undefined) return done(Object.assign(new Error(`${fails}: no`), { code: fails }));
        taken.text += chunk.toString();
        done();
      },
    }),
    { text: '' },
  );
  return taken;
}

function terminal({ stdout = output(), isTTY = false, env = {}, stdin = new PassThrough() } = {}) {
  const stderr = output();
  const streams = [stdin, stdout, stderr].map((stream) => Object.assign(stream, { isTTY }));
  const [input, out, err] = streams;
  return { stdin, stdout, stderr, ...createTerminal({ stdin: input, stdout: out, stderr: err, env } as never) };
}

describe('the terminal', () => {
  it('prints results to stdout and notes to stderr', async () => {
    const { terminal: shown, finish, stdout, stderr } = terminal();
    shown.print('a');
    shown.print('b');
    shown.note('c');
    expect(await finish(0)).to.equal(0);
    expect([stdout.text, stderr.text]).to.deep.equal(['a\nb\n', 'c\n']);
    expect(await finish(1)).to.equal(1);
  });

  it('asks, rewrites lines and uses colours only on a terminal', async () => {
    const piped = terminal().terminal;
    expect(piped).not.to.have.any.keys('ask', 'rewrite');
    expect(piped.colours).to.equal(false);
    const seen = terminal({ isTTY: true });
    expect(seen.terminal.colours).to.equal(true);
    expect(terminal({ isTTY: true, env: { NO_COLOR: '1' } }).terminal.colours).to.equal(false);
    seen.terminal.rewrite?.('12 %');
    expect(seen.stderr.text).to.equal('\r\u001B[2K12 %');
    const answer = seen.terminal.ask?.('Sure? ');
    seen.stdin.write('yes\n');
    expect(await answer).to.equal('yes');
    expect(seen.stderr.text).to.contain('Sure? ');
    expect(seen.stdout.text).to.equal('');
  });

  it('escapes control sequences in names and messages, except in documents written to a file', async () => {
    const hostile = 'a\u001b[2J\u001b[8m\r\u009b2J\u007f\n\t\u001b[31mred\u001b[0m';
    const safe = '\\u001b[2J\\u001b[8m\\r\\u009b2J\\u007f\n\t\u001b[31mred\u001b[0m';
    const seen = terminal({ isTTY: true });
    seen.terminal.print(hostile);
    seen.terminal.note(hostile);
    seen.terminal.rewrite?.('\u001b[3A');
    expect(seen.stdout.text).to.equal(`a${safe}\n`);
    expect(seen.stderr.text).to.equal(`a${safe}\n\r\u001B[2K\\u001b[3A`);
    const requested = seen.terminal.ask?.('lose \u001b[2J? ');
    seen.stdin.write('no\n');
    await requested;
    expect(seen.stderr.text).to.contain(String.raw`lose \u001b[2J? `);
    const piped = terminal();
    piped.terminal.print(hostile);
    piped.terminal.note(hostile);
    expect([piped.stdout.text, piped.stderr.text]).to.deep.equal([`a${safe}\n`, `a${safe}\n`]);
    const document = terminal();
    document.terminal.print(hostile, { isExact: true });
    expect(document.stdout.text).to.equal(`${hostile}\n`);
    const shown = terminal({ isTTY: true });
    shown.terminal.print(hostile, { isExact: true });
    expect(shown.stdout.text).to.equal(`a${safe}\n`);
  });

  it('reads stdin to the end', async () => {
    const { terminal: shown, stdin } = terminal();
    stdin.write('one ');
    stdin.end('two');
    expect(await shown.read()).to.equal('one two');
  });

  it('reports output that cannot be written as a failure', async () => {
    const { terminal: shown, finish, stderr } = terminal({ stdout: output('ENOSPC') });
    shown.print('a');
    expect(await finish(0)).to.equal(2);
    expect(stderr.text).to.equal('The results cannot be written (ENOSPC: no).\n');
    expect(() => shown.print('b')).to.throw('The results cannot be written (ENOSPC: no).');
    expect(await finish(2), 'said already').to.equal(2);
    expect(stderr.text.split('\n')).to.have.lengthOf(2);
  });

  it('prints nothing after the reader closed the pipe', async () => {
    const { terminal: shown, finish, stderr } = terminal({ stdout: output('EPIPE') });
    shown.print('a');
    expect(await finish(1)).to.equal(2);
    expect(stderr.text).to.equal('');
  });

  it('succeeds without output on a full device', async () => {
    expect(await terminal({ stdout: output('ENOSPC') }).finish(0)).to.equal(0);
  });
});
