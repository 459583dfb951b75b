import { expect } from 'chai';
import { UsageError } from '../../src/cli/command.js';
import { explain } from '../../src/cli/command-line.js';
import { OperatorError } from '../../src/kernel/problem.js';

const messagesOf = (
  error: unknown,
  environment: Record<string, string> = {},
  values: Record<string, unknown> = {},
): string => explain(error, environment, values);
const namedError = (name: string, message: string): Error => Object.assign(new Error(message), { name });
const ofServer = (code: string, message = 'no'): Error =>
  Object.assign(new Error(message), { severity: 'ERROR', code });

describe('the error message of a command', () => {
  it('is one sentence unless the program has a bug', () => {
    expect(messagesOf(new UsageError('Not so.'))).to.equal('Not so. See "dps COMMAND --help".');
    expect(messagesOf(new OperatorError('Start it.'))).to.equal('Start it.');
    expect(messagesOf(namedError('ProblemError', 'Refused.'))).to.equal('Refused.');
    expect(messagesOf(namedError('UnreadableEventError', 'event 3'))).to.equal(
      `The log cannot be read: event 3. Run "dps verify" for details.`,
    );
    expect(messagesOf(Object.assign(new Error('ENOENT: no file'), { code: 'ENOENT', syscall: 'open' }))).to.equal(
      'dps failed: ENOENT: no file.',
    );
    for (const message of [
      'Connection terminated unexpectedly',
      'timeout exceeded when trying to connect',
      'Client has encountered a connection error',
    ]) {
      expect(messagesOf(new Error(message))).to.equal(`The connection to the database was lost: ${message}.`);
    }
    expect(messagesOf('text')).to.equal('dps failed: text');
  });

  it("shows PostgreSQL's message from anywhere in the chain of causes", () => {
    expect(messagesOf(ofServer('42P01'))).to.equal('PostgreSQL rejected the statement: no (SQLSTATE 42P01).');
    const wrapped = (depth: number): Error =>
      depth === 0 ? ofServer('42P01') : new Error(`level ${depth}`, { cause: wrapped(depth - 1) });
    expect(messagesOf(wrapped(4))).to.equal('PostgreSQL rejected the statement: level 4 (SQLSTATE 42P01).');
    expect(messagesOf(wrapped(5)), 'no further than that').to.contain('this is a bug');
    expect(messagesOf(ofServer('25006'))).to.match(/^The database is read-only: /);
  });

  it('includes the stack of a bug', () => {
    const bug = new Error('broken');
    expect(messagesOf(bug)).to.equal(`dps failed, and this is a bug: ${bug.stack}`);
    const half = Object.assign(new Error('broken'), { code: 'X' });
    expect(messagesOf(half), 'no error of the system').to.contain('this is a bug');
    const bare = Object.assign(new Error('broken'), { stack: undefined });
    expect(messagesOf(bare)).to.equal('dps failed, and this is a bug: broken');
  });

  it('never contains a secret', () => {
    const shown = (text: string, environment: Record<string, string> = {}, values: Record<string, unknown> = {}) =>
      messagesOf(new OperatorError(text), environment, values);
    expect(shown('at postgres://me:word@host/d and http://:word@x')).to.equal(
      'at postgres://me:…@host/d and http://:…@x',
    );
    expect(shown('a tok1 b tok1', { DPS_TOKEN: 'tok1' })).to.equal('a … b …');
    expect(shown('a tok2', {}, { token: 'tok2' })).to.equal('a …');
    expect(shown('an abc', { DPS_TOKEN: 'abc' }), 'three characters would be found anywhere').to.equal('an abc');
    for (const name of ['DATABASE_URL', 'DIRECT_DATABASE_URL', 'LISTEN_DATABASE_URL', 'PROVE_DATABASE_URL']) {
      expect(shown('it is p%40ss or p@ss', { [name]: 'postgres://me:p%40ss@host/d' }), name).to.equal('it is … or …');
    }
    for (const name of ['databaseUrl', 'into', 'url']) {
      expect(shown('it is word', {}, { [name]: 'http://me:word@host' }), name).to.equal('it is …');
    }
    expect(shown('it is word', {}, { url: 'postgres://me:word@one:1,two:2/d' }), 'several hosts').to.equal('it is …');
    expect(shown('it is %zz', {}, { url: 'postgres://me:%zzz@host/d' }), 'no text of a URL').to.equal('it is %zz');
    expect(shown('it is %zzz', {}, { url: 'postgres://me:%zzz@host/d' })).to.equal('it is …');
    expect(shown('it is word', {}, { url: 'postgres://word@host/d' }), 'a user').to.equal('it is word');
  });
});
