import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { json } from '../../support/client.js';
import { type Ran, dps } from '../../support/dps.js';
import { startService, type TestService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';

describe('the schema as files', () => {
  const { service, client } = withService({ each: true, consistent: true });
  let directory: string;
  let file: (name: string) => string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-files-'));
    file = (name) => join(directory, 'collections', name);
    for (const collection of ['posts', 'Posts', 'a/b'])
      await call('/collections', 'POST', {
        collection,
        schema: {},
        fields: [{ field: 'title', type: 'string', interface: 'input', schema: { max_length: 100 } }],
      });
    expect((await run(['pull', directory])).code).to.equal(0);
  });

  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  const run = (args: string[], at: TestService = service): Promise<Ran> =>
    dps(args, { DPS_URL: at.url, DPS_TOKEN: at.adminToken });

  async function call(path: string, method: string, body?: object): Promise<void> {
    const reply = await client(path, body ? json(body, method) : { method });
    expect(reply.status, reply.text).to.be.within(200, 204);
  }

  async function edit(name: string, from: string | RegExp, to: string): Promise<void> {
    const before = await readFile(file(name), 'utf8');
    expect(before).to.match(from instanceof RegExp ? from : new RegExp(from));
    await writeFile(file(name), before.replace(from, to));
  }

  async function contents(folder: string): Promise<Record<string, string>> {
    const names = (await readdir(join(folder, 'collections'))).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(folder, 'collections', name), 'utf8')));
    return Object.fromEntries(names.map((name, index) => [name, texts[index] as string]));
  }

  it('writes one file per collection, the same for the same schema, and ignores other files', async () => {
    expect(Object.keys(await contents(directory))).to.deep.equal(['%50osts.yaml', 'a%2fb.yaml', 'posts.yaml']);
    expect(await readFile(join(directory, 'dps.lock'), 'utf8')).to.match(
      /^hash: [0-9a-f]{64}\nposition: \d+-[0-9a-f]{64}\nrelease: \S+\n$/m,
    );
    await writeFile(file('docker-compose.yaml'), 'services: {}\n');
    await writeFile(join(directory, 'README.md'), 'mine');
    await call('/collections/a%2Fb', 'DELETE');
    const checked = await run(['pull', directory, '--check']);
    expect([checked.code, checked.out]).to.deep.equal([1, 'differs: collections/a%2fb.yaml']);
    const { code, err } = await run(['pull', directory]);
    expect([code, err]).to.deep.equal([0, 'Not managed by dps: README.md, collections/docker-compose.yaml.']);
    expect(await readdir(join(directory, 'collections'))).to.have.members([
      '%50osts.yaml',
      'docker-compose.yaml',
      'posts.yaml',
    ]);
    expect((await run(['pull', directory, '--check'])).code).to.equal(0);
  });

  it('plans with exit code 0 or 1, and push applies the changes and updates the files', async () => {
    expect(await run(['plan', directory])).to.deep.include({ code: 0, out: 'No differences.' });
    await edit('posts.yaml', 'max_length: 100', 'max_length: 200');
    await call('/fields/posts', 'POST', { field: 'slug', type: 'string', interface: 'input' });
    const planned = await run(['plan', directory]);
    expect(planned.code, planned.err).to.equal(1);
    expect(planned.out).to.equal('~ field posts.title: schema.max_length');
    const markdown = await run(['plan', directory, '--format', 'markdown']);
    expect(markdown.out).to.contain(
      '| changed | field | <code>posts.title</code> | <code>schema.max&#95;length</code> |',
    );
    expect(JSON.parse((await run(['plan', directory, '--json'])).out)).to.have.nested.property('diff.fields.length', 1);

    expect((await run(['push', directory, '--dry-run'])).code).to.equal(0);
    expect((await run(['plan', directory])).code).to.equal(1);
    const pushed = await run(['push', directory, '--reason', 'longer titles']);
    expect(pushed.out, pushed.err).to.match(/Applied: 1 event, 1 statement/);
    expect(await readFile(file('posts.yaml'), 'utf8'))
      .to.contain('field: slug')
      .and.contain('max_length: 200');
    expect((await run(['pull', directory, '--check'])).code).to.equal(0);
    expect(await run(['push', directory])).to.deep.include({
      code: 0,
      out: 'Nothing to do: the schema already has this state.',
    });
  });

  it('never confirms data loss with --yes, only with --allow-drop', async () => {
    await rm(file('posts.yaml'));
    const refused = await run(['push', directory, '--yes']);
    expect([refused.code, refused.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 2 && err.includes('--allow-drop posts'),
    );
    expect((await run(['push', directory, '--yes', '--allow-drop', 'posts'])).code).to.equal(0);
    expect((await client('/collections/posts')).status).to.equal(404);
  });

  it('renames a file with its collection and records the old name', async () => {
    const text = (await readFile(file('posts.yaml'), 'utf8')).replace(
      'collection: posts',
      'collection: articles\nrenamed_from: posts',
    );
    await rm(file('posts.yaml'));
    await writeFile(file('articles.yaml'), text);
    expect((await run(['plan', directory])).out).to.match(/^~ collection articles: collection$/m);
    expect((await run(['push', directory])).code).to.equal(0);
    expect(await readFile(file('articles.yaml'), 'utf8')).not.to.contain('renamed_from');
  });

  it('reports conflicts with file, line and three values, and --take resolves them', async () => {
    await edit('posts.yaml', 'note: null', 'note: files');
    await call('/collections/posts', 'PATCH', { meta: { note: 'others' } });
    const { code, err } = await run(['push', directory]);
    expect(code).to.equal(2);
    expect(err).to.match(
      /^collections\/posts\.yaml:4: collection posts, meta\.note: both changed it differently\n {2}base null, ours "others", theirs "files"\nNothing was changed: 1 conflict /,
    );
    expect((await run(['plan', directory, '--take', 'ours'])).code).to.equal(0);
    expect((await run(['push', directory, '--take', 'theirs'])).code).to.equal(0);
    expect((await client('/collections/posts')).text).to.contain('"note":"files"');
  });

  it('reports errors with file and line, and changes nothing', async () => {
    const original = await readFile(file('posts.yaml'), 'utf8');
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${Array.from('bcdefgh')
      .map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]},`.repeat(9)}]`)
      .join('\n')}\n`;
    const wrong: [string, RegExp][] = [
      [original.replace('type: string', 'type: strong'), /^collections\/posts\.yaml:\d+: type must/],
      [original.replace('max_length: 100', 'max_length: many'), /^collections\/posts\.yaml:\d+: /],
      [original.replace('note: null', 'not: null'), /^collections\/posts\.yaml:4: /],
      ['collection: posts\nfields: []\n', /^collections\/posts\.yaml:1: relations is required/],
      [
        'collection: post\nfields: []\nrelations: []\n',
        /^collections\/posts\.yaml:1: the file of "post" must be named collections\/post\.yaml/,
      ],
      ['collection: posts\nmore: 1\nfields: []\nrelations: []\n', /^collections\/posts\.yaml:2: unknown member "more"/],
      ['collection: posts\nfields: &a []\nrelations: *a\n', /^collections\/posts\.yaml:3: YAML aliases/],
      ['collection: [posts\n', /^collections\/posts\.yaml:\d+: /],
      [bomb, /^collections\/posts\.yaml:\d+: /],
      [`collection: posts\n# ${'x'.repeat(17 * 1024 * 1024)}`, /^collections\/posts\.yaml:1: the file has \d+ bytes/],
      ['7', /^collections\/posts\.yaml:1: the file must/],
    ];
    for (const [text, message] of wrong) {
      await writeFile(file('posts.yaml'), text);
      const { code, err } = await run(['plan', directory]);
      expect(code, text.slice(0, 100)).to.equal(2);
      expect(err, text.slice(0, 100)).to.match(message);
    }
    await writeFile(file('posts.yaml'), original.replace('type: string', 'type: strong'));
    const lines = original.split('\n');
    expect((await run(['plan', directory])).err).to.contain(
      `:${lines.findIndex((line) => line.includes('type: string')) + 1}: `,
    );
  });

  it('follows no link out of the folder, writes whole files, and prints no secret', async () => {
    const secret = join(await mkdtemp(join(tmpdir(), 'dps-secret-')), 'secret.yaml');
    await writeFile(secret, 'password: hunter2\n');
    await rm(file('posts.yaml'));
    await symlink(secret, file('posts.yaml'));
    for (const command of ['plan', 'push', 'pull']) {
      const { code, err, out } = await run([command, directory]);
      expect(code, command).to.equal(2);
      expect(err + out)
        .to.contain('collections/posts.yaml is a link')
        .and.not.contain('hunter2');
    }
    await rm(file('posts.yaml'));
    await mkdir(file('posts.yaml'));
    expect((await run(['plan', directory])).err).to.contain('collections/posts.yaml is not a regular file');
    await rm(file('posts.yaml'), { recursive: true });

    const withPassword = service.url.replace('http://', 'http://admin:hunter2@');
    const named = await dps(['plan', directory], { DPS_URL: withPassword, DPS_TOKEN: service.adminToken });
    expect(named.code).to.equal(2);
    expect(named.err).not.to.contain('hunter2').and.not.contain(service.adminToken);
    if (process.getuid?.() !== 0) {
      await chmod(join(directory, 'collections'), 0o555);
      expect((await run(['pull', directory])).code).to.equal(2);
      await chmod(join(directory, 'collections'), 0o755);
    }
    expect((await run(['pull', directory])).code).to.equal(0);
    expect((await readdir(join(directory, 'collections'))).filter((name) => name.startsWith('.'))).to.deep.equal([]);
  });

  it('pushes files of one service to another only with a named base', async () => {
    const second = await startService();
    const before = await mkdtemp(join(tmpdir(), 'dps-before-'));
    try {
      const refused = await run(['plan', directory], second);
      expect([refused.code, refused.err]).to.satisfy(
        ([code, err]: [number, string]) => code === 2 && err.includes('--base'),
      );
      expect((await run(['push', directory, '--base', 'now'], second)).code).to.equal(0);
      expect((await run(['pull', directory, '--check'], second)).code).to.equal(0);
      await run(['pull', before]);
      await call('/fields/posts', 'POST', { field: 'slug', type: 'string', interface: 'input' });
      const others = await dps(['push', before, '--base', before], {
        DPS_URL: second.url,
        DPS_TOKEN: second.adminToken,
      });
      expect(others.out).to.contain('Nothing to do');
      await run(['pull', directory]);
      const pushed = await run(['push', directory, '--base', before], second);
      expect(pushed.code, pushed.err).to.equal(0);
      expect((await run(['pull', directory, '--check'], second)).code).to.equal(0);
      // Edited by hand: its lock is older than its content.
      await run(['pull', before], second);
      const text = await readFile(file('posts.yaml'), 'utf8');
      await writeFile(file('posts.yaml'), text.replace('note: null', 'note: by hand'));
      expect((await run(['push', directory, '--base', before], second)).out).to.contain('Applied: 1 event');
      expect((await run(['pull', directory, '--check'], second)).out).to.equal('The files match the service.');
      expect((await run(['plan', join(directory, 'nowhere')])).code).to.equal(2);
    } finally {
      await rm(before, { recursive: true, force: true });
      await second.stop();
    }
  });
});
