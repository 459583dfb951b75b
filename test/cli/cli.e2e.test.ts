import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCli } from '../../src/cli/command-line.js';
import { withService } from '../support/with-service.js';

interface Ran {
  code: number;
  out: string;
  err: string;
}

describe('dps', () => {
  const { service } = withService();
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-cli-'));
  });

  after(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  async function dps(
    args: string[],
    input: { stdin?: string; environment?: Record<string, string> } = {},
  ): Promise<Ran> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCli(args, {
      environment: {
        DATABASE_URL: service.databaseUrl,
        DPS_URL: service.url,
        DPS_TOKEN: service.adminToken,
        ...input.environment,
      },
      terminal: {
        print: (text) => out.push(text),
        note: (text) => err.push(text),
        read: () => Promise.resolve(input.stdin ?? ''),
      },
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  function status(token: string, path: string): Promise<number> {
    return fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } }).then((answer) => answer.status);
  }

  describe('users and tokens', () => {
    it('adds a user with a generated password that can log in', async () => {
      const { code, out } = await dps(['users', 'add', 'one@example.com', '--role', 'reader', '--json']);
      expect(code).to.equal(0);
      const { password, role } = JSON.parse(out) as { password: string; role: string };
      expect(role).to.equal('reader');
      expect(await login('one@example.com', password)).to.equal(200);
    });

    it('reads a password from stdin, updates a user and removes it', async () => {
      await dps(['users', 'add', 'two@example.com', '--role', 'reader', '--password-stdin'], {
        stdin: 'first password\n',
      });
      expect(await login('two@example.com', 'first password')).to.equal(200);
      await dps(['users', 'set', 'TWO@example.com', '--password-stdin'], { stdin: 'second password' });
      expect(await login('two@example.com', 'first password')).to.equal(401);
      expect(await login('two@example.com', 'second password')).to.equal(200);
      await dps(['users', 'set', 'two@example.com', '--no-password']);
      expect(await login('two@example.com', 'second password')).to.equal(401);
    });

    it('adds, lists and revokes tokens, which a running service notices immediately', async () => {
      await dps(['users', 'add', 'three@example.com', '--role', 'reader', '--no-password']);
      const added = await dps(['tokens', 'add', 'three@example.com', '--name', 'ci', '--expires', '90d', '--json']);
      const { token, id } = JSON.parse(added.out) as { token: string; id: string };
      expect(await status(token, '/collections')).to.equal(200);
      expect(await status(token, '/schema/snapshot')).to.equal(403);
      const listed = await dps(['tokens', 'list', 'three@example.com']);
      expect(listed.out).to.contain(id).and.contain('ci').and.not.contain(token);
      expect((await dps(['users', 'set', 'three@example.com', '--role', 'admin'])).code).to.equal(0);
      expect(await status(token, '/schema/snapshot')).to.equal(200);
      expect((await dps(['tokens', 'revoke', 'three@example.com', 'ci'])).code).to.equal(0);
      expect(await status(token, '/collections')).to.equal(401);
      expect((await dps(['users', 'remove', 'three@example.com'])).code).to.equal(0);
      expect((await dps(['users', 'list'])).out)
        .to.contain('one@example.com')
        .and.not.contain('three@example.com');
    });

    for (const [args, message] of [
      [['users', 'add', 'admin@example.com', '--role', 'reader'], 'admin@example.com'],
      [['users', 'remove', 'admin@example.com'], 'last active admin'],
      [['users', 'remove', 'nobody@example.com'], 'User "nobody@example.com" does not exist'],
      [['users', 'add', 'nobody', '--role', 'reader'], '"nobody" is not an e-mail address'],
      [['users', 'add', 'nobody@example.com'], "required option '--role <role>' not specified"],
      [['users', 'add', 'nobody@example.com', '--role', 'king'], 'Allowed choices are admin, auditor, author, reader'],
      [['users', 'add', 'nobody@example.com', '--role', 'reader', '--password-stdin'], '12 to 256 characters'],
      [['users', 'set', 'admin@example.com', '--new-password', '--no-password'], 'exclude each other'],
      [['users', 'set', 'admin@example.com', '--password-stdin', '--no-password'], 'exclude each other'],
      [['users', 'set', 'admin@example.com', '--password-stdin', '--new-password'], 'exclude each other'],
      [['users', 'set', 'admin@example.com'], 'Name at least one change'],
      [['users', 'list', 'all'], "too many arguments for 'list'"],
      [['users', 'list', '--frob'], "unknown option '--frob'"],
      [['users', 'constructor'], "unknown command 'constructor'"],
      [['tokens', 'revoke', 'admin@example.com', 'none'], 'no token "none"'],
      [['tokens', 'add', 'admin@example.com', '--expires', 'soon'], '--expires must be a time'],
      [['tokens', 'add', 'admin@example.com', '--expires', '2001-01-01'], 'in the future'],
      [['frobnicate'], "unknown command 'frobnicate'"],
      [['snapshto'], 'Did you mean snapshot?'],
      [['users', 'list', '--data-dir', 'x', '--database-url', 'y'], 'cannot be used with option'],
      [[], 'Usage: dps [options] [command]'],
    ] as const) {
      it(`rejects "${args.join(' ')}"`, async () => {
        const { code, out, err } = await dps([...args]);
        expect(code).to.equal(2);
        expect(out).to.equal('');
        expect(err).to.contain(message);
      });
    }

    it('reports that no service was ever started', async () => {
      const { code, err } = await dps(['users', 'list', '--data-dir', join(directory, 'none')]);
      expect(code).to.equal(2);
      expect(err).to.match(/^The data directory .* does not contain a service\./);
      const other = await dps(['users', 'list'], { environment: { DB_SCHEMA: 'elsewhere' } });
      expect(other.err).to.match(/^The schema "service_elsewhere" of the database does not contain a service\./);
    });
  });

  describe('snapshot, diff, apply', () => {
    it('apply a change from a file to the service', async () => {
      const [snapshot, diff] = [join(directory, 'schema.yaml'), join(directory, 'diff.json')];
      await createCollection('promoted');
      expect((await dps(['snapshot', '--output', snapshot])).code).to.equal(0);
      expect(await dps(['diff', snapshot])).to.deep.include({ code: 0, out: 'No differences.' });

      await writeFile(snapshot, (await readFile(snapshot, 'utf8')).replace('note: null', 'note: from a file'));
      const result = await dps(['diff', snapshot, '--output', diff]);
      expect(result).to.deep.include({ code: 1, out: '~ collection promoted: meta.note' });
      expect((await dps(['apply', diff, '--dry-run'])).code).to.equal(0);
      expect((await dps(['diff', snapshot])).code).to.equal(1);
      const applied = await dps(['apply', diff, '--reason', 'größer']);
      expect(applied.code, applied.err).to.equal(0);
      expect(applied.out).to.match(/Applied: 1 event, 0 statements; position \d+, batch [0-9a-f-]{36}\.$/);
      expect((await dps(['history'])).out).to.contain('why: größer');
      expect((await dps(['diff', snapshot])).code).to.equal(0);

      const stale = await dps(['apply', diff]);
      expect(stale.code).to.equal(2);
      expect(stale.err).to.contain('changed');
    });

    it('list created and deleted objects', async () => {
      await createCollection('doomed');
      const document = JSON.parse((await dps(['snapshot', '--json'])).out) as Record<
        'collections' | 'fields',
        { collection: string }[]
      >;
      const renamed = JSON.stringify(document).replaceAll('doomed', 'reborn');
      const { code, out } = await dps(['diff', '-'], { stdin: renamed });
      expect(code).to.equal(1);
      expect(out).to.contain('- collection doomed').and.contain('+ collection reborn').and.contain('+ field reborn.id');
      expect((await dps(['diff', '-', '--mode', 'merge'], { stdin: renamed })).out).not.to.contain('doomed');
    });

    it('exit with 2 and report the reason when the service rejects the request or is unavailable', async () => {
      const wrong = await dps(['snapshot'], { environment: { DPS_TOKEN: 'wrong' } });
      expect(wrong.code).to.equal(2);
      expect(wrong.err).to.contain('token');
      const away = await dps(['snapshot', '--url', 'http://127.0.0.1:9']);
      expect(away.err).to.equal(
        'No service responds at http://127.0.0.1:9. Start it, or set another address with --url.',
      );
      const missing = await dps(['diff', join(directory, 'missing.json')]);
      expect(missing.err).to.contain('missing.json cannot be read');
      const other = await dps(['diff', '-'], { stdin: '{"version": 1, "service": "0.0.0"}' });
      expect(other.code).to.equal(2);
      expect(other.err).not.to.equal('');
    });
  });

  it('prints its help', async () => {
    for (const args of [['help'], ['--help'], ['help', 'users'], ['users', '--help'], ['apply', '-h']]) {
      const { code, out, err } = await dps(args);
      expect([code, err], args.join(' ')).to.deep.equal([0, '']);
      expect(out).to.contain('dps');
    }
  });

  async function createCollection(collection: string): Promise<void> {
    const answer = await fetch(`${service.url}/collections`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ collection, schema: {} }),
    });
    expect(answer.status).to.equal(200);
  }

  async function login(email: string, password: string): Promise<number> {
    const answer = await fetch(`${service.url}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    return answer.status;
  }
});
