import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { json } from '../support/client.js';
import { type Ran, dps } from '../support/dps.js';
import { withService } from '../support/with-service.js';

type DpsOptions = Parameters<typeof dps>[2];

describe('dps apply', () => {
  const { service, client } = withService();
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-apply-'));
  });

  after(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  beforeEach(async () => {
    for (const { collection } of (await snapshot()).collections) await call(`/collections/${collection}`, 'DELETE');
    for (const collection of ['kept', 'doomed']) {
      await call('/collections', 'POST', {
        collection,
        schema: {},
        fields: [{ field: 'title', type: 'string', interface: 'input' }],
      });
    }
  });

  const run = (args: string[], options: DpsOptions = {}): Promise<Ran> =>
    dps(args, { DPS_URL: service.url, DPS_TOKEN: service.adminToken }, options);

  async function call(path: string, method: string, body?: object): Promise<void> {
    const reply = await client(path, body ? json(body, method) : { method });
    expect(reply.status, reply.text).to.be.within(200, 204);
  }

  interface Snapshot {
    collections: { collection: string; meta: { note: string | null } }[];
    fields: { collection: string; field: string; schema: Record<string, unknown> }[];
  }

  const snapshot = async (): Promise<Snapshot> => JSON.parse((await run(['snapshot', '--json'])).out) as Snapshot;

  async function changed(change: (document: Snapshot) => void): Promise<string> {
    const document = await snapshot();
    change(document);
    const file = join(directory, 'desired.json');
    await writeFile(file, JSON.stringify(document));
    return file;
  }

  const withNote = (note: string) => (document: Snapshot) => {
    for (const { collection, meta } of document.collections) if (collection === 'kept') meta.note = note;
  };
  const without = (name: string) => (document: Snapshot) => {
    document.collections = document.collections.filter(({ collection }) => collection !== name);
    document.fields = document.fields.filter(({ collection }) => collection !== name);
  };
  const collections = async (): Promise<string[]> => (await snapshot()).collections.map(({ collection }) => collection);

  it('fills the rows of a field that becomes required', async () => {
    const db = new pg.Client(service.databaseUrl);
    await db.connect();
    try {
      await db.query('INSERT INTO kept DEFAULT VALUES');
      const file = await changed(({ fields }) => {
        const title = fields.find(({ collection, field }) => collection === 'kept' && field === 'title');
        Object.assign(title?.schema ?? {}, { is_nullable: false });
      });
      const backfill = ['--backfill', 'kept.title={"value": "Untitled"}'];
      const planned = await run(['apply', file, '--dry-run', ...backfill]);
      expect(planned.out).to.contain('fill column kept.title in rows without a value').and.to.contain('FILLS_ROWS');
      const { code, err } = await run(['apply', file, ...backfill]);
      expect(code, err).to.equal(0);
      expect((await db.query('SELECT title FROM kept')).rows).to.deep.equal([{ title: 'Untitled' }]);
    } finally {
      await db.end();
    }
  });

  it('rejects a backfill that it cannot read, or whose field does not change', async () => {
    const file = await changed(withNote('something'));
    for (const [option, message] of [
      ['kept.title', '--backfill must be FIELD=JSON'],
      ['kept={"value": 1}', 'kept is not a field'],
      ['kept.title={value}', 'is not JSON'],
      ['kept.title={"value": 1}', 'the change does not contain the field kept.title'],
    ] as const) {
      const { code, err } = await run(['apply', file, '--backfill', option]);
      expect([code, err.includes(message)], err).to.deep.equal([2, true]);
    }
  });

  it('accepts a snapshot as JSON, as YAML and from stdin, and reports the result', async () => {
    const file = await changed(withNote('from JSON'));
    const { code, out, err } = await run(['apply', file, '--reason', 'because of ünï']);
    expect([code, err]).to.deep.equal([0, '']);
    expect(out).to.match(/Applied: 1 event, 0 statements; position \d+, batch [0-9a-f-]{36}\.$/);
    expect((await run(['history'])).out).to.contain('why: because of ünï');
    expect((await run(['apply', file])).out).to.equal('Nothing to do: the schema already has this state.');

    const yaml = (await run(['snapshot', '--format', 'yaml'])).out.replace('note: from JSON', 'note: from YAML');
    const applied = await run(['apply', '-', '--json'], { stdin: yaml });
    expect(applied.code, applied.err).to.equal(0);
    expect(JSON.parse(applied.out)).to.deep.include({ applied: true, events: 1, statements: 0 });
    expect((await snapshot()).collections.map(({ meta }) => meta.note)).to.include('from YAML');
  });

  it('rejects data loss without a terminal, and names the option that allows it', async () => {
    const file = await changed(without('doomed'));
    for (const more of [[], ['--yes'], ['--allow-drop', 'kept']]) {
      const { code, err } = await run(['apply', file, ...more]);
      expect(code).to.equal(2);
      expect(err).to.contain('doomed').and.contain('--allow-drop doomed');
      expect(await collections()).to.include('doomed');
    }
    expect((await run(['apply', file, '--allow-drop', 'doomed'])).code).to.equal(0);
    expect(await collections()).to.deep.equal(['kept']);
  });

  it('names the field whose values would be lost', async () => {
    const file = await changed((document) => {
      document.fields = document.fields.filter(({ collection, field }) => collection !== 'kept' || field !== 'title');
    });
    const { code, err } = await run(['apply', file, '--yes']);
    expect(code).to.equal(2);
    expect(err).to.contain('--allow-drop kept.title');
    expect((await run(['apply', file, '--allow-drop', 'kept.title'])).code).to.equal(0);
  });

  it('does not treat permission to lose a field as permission for a collection with a dot in its name', async () => {
    await call('/collections', 'POST', { collection: 'kept.title', schema: {} });
    const loss = await changed(without('kept.title'));
    const refused = await run(['apply', loss, '--allow-drop', 'kept.title']);
    expect(refused.code).to.equal(2);
    expect(refused.err).to.contain('To allow that, use --allow-drop kept%2Etitle');
    expect((await run(['apply', loss, '--allow-drop', 'kept.title.x'])).err).to.contain('is not a valid place');
    expect((await run(['apply', loss, '--allow-drop', 'kept%2Etitle'])).code).to.equal(0);
  });

  it('asks at a terminal, and --yes never confirms data loss', async () => {
    const questions: string[] = [];
    const answering = (answer: string): DpsOptions => ({
      ask: (question) => {
        questions.push(question);
        return answer;
      },
    });
    const note = await changed(withNote('asked'));
    expect((await run(['apply', note], answering('n'))).code).to.equal(2);
    expect((await run(['apply', note], answering('y'))).code).to.equal(0);
    expect(questions).to.deep.equal(['Apply it? [y/N] ', 'Apply it? [y/N] ']);
    expect((await run(['apply', await changed(withNote('not asked')), '--yes'], answering('n'))).code).to.equal(0);
    expect(questions).to.have.length(2);

    const loss = await changed(without('doomed'));
    expect((await run(['apply', loss, '--yes'], answering('y'))).code).to.equal(2);
    expect(questions.at(-1)).to.contain('doomed');
    expect(await collections()).to.include('doomed');
    expect((await run(['apply', loss, '--yes'], answering('lose it'))).code).to.equal(0);
    expect(await collections()).to.deep.equal(['kept']);
  });

  it('prints why PostgreSQL rejects a plan, and changes nothing', async () => {
    const client = new pg.Client({ connectionString: service.databaseUrl });
    await client.connect();
    await client.query('INSERT INTO kept (title) VALUES (NULL)');
    await client.end();
    const file = await changed(({ fields }) => {
      for (const { collection, field, schema } of fields) {
        if (collection === 'kept' && field === 'title') schema['is_nullable'] = false;
      }
    });
    for (const more of [['--dry-run'], []]) {
      const { code, out } = await run(['apply', file, ...more]);
      expect(code).to.equal(2);
      expect(out).to.contain('PostgreSQL rejects it:').and.match(/null/);
    }
  });

  it('uses the database of an option, regardless of the settings', async () => {
    const file = join(directory, 'url');
    await writeFile(file, 'postgresql://127.0.0.1:9/none');
    const environment = { DATABASE_URL_FILE: file };
    expect((await dps(['status'], environment)).err).to.contain('no server listens');
    const named = await dps(['status', '--database-url', service.databaseUrl], environment);
    expect(named.code, named.err).to.equal(0);
    const other = await dps(['status', '--data-dir', join(directory, 'none')], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(other.err).to.match(/^The data directory .* does not contain a service\./);
  });

  it('reports a wrong file or option in one line', async () => {
    const broken = join(directory, 'broken');
    for (const [content, message] of [
      ['{"version": 1,', 'is neither JSON nor YAML'],
      ['a: [b\nc: }', 'is neither JSON nor YAML'],
      ['[1, 2]', 'neither a snapshot nor a diff'],
      ['', 'is neither'],
      ['{"version": 1}', ''],
      ['{"hash": 1, "diff": 2}', 'hash'],
    ] as const) {
      await writeFile(broken, content);
      const { code, err } = await run(['apply', broken]);
      expect(code, content).to.equal(2);
      expect(err, content)
        .to.contain(message)
        .and.not.match(/\n\s+at /);
    }
    for (const [args, message] of [
      [['apply', directory], 'cannot be read'],
      [['apply', broken, '--mode', 'sideways'], 'Allowed choices are mirror, merge'],
      [['apply', broken, '--reason', 'two\nlines'], 'a single line'],
      [['snapshot', '--output', '/nonexist/x'], 'cannot be written'],
      [['snapshot', '--output', '/dev/full'], 'cannot be written'],
      [['snapshot', '--token', 'wo\nrse'], 'contains invalid characters'],
      [['snapshot', '--token', 'wrong-secret-token'], 'token'],
      [['snapshot', '--url', 'ftp://x'], 'like http://'],
      [['snapshot', '--url', 'http://u:secret-word@127.0.0.1:9'], 'must not contain a user'],
      [['status', '--database-url', 'mysql://u:secret-word@h'], 'DATABASE_URL'],
      [['status', '--database-url', 'postgresql://u:secret-word@127.0.0.1:9/d'], 'no server listens'],
      [['restore', '--file', broken, '--into', 'postgresql://u:secret-word@127.0.0.1:9/d'], 'no server listens'],
      [['restore', '--file', broken, '--into', 'elsewhere'], 'DATABASE_URL'],
      [['rebuild', 'tables', '--into', 'postgresql://u:secret-word@127.0.0.1:9/d'], 'no server listens'],
    ] as const) {
      const { code, out, err } = await dps([...args], {
        DPS_URL: service.url,
        DPS_TOKEN: service.adminToken,
        DATABASE_URL: service.databaseUrl,
      });
      expect([code, out], `${args.join(' ')}: ${err}`).to.deep.equal([2, '']);
      expect(err)
        .to.contain(message)
        .and.not.match(/\n\s+at /);
      expect(err).not.to.contain('secret-word').and.not.contain('wrong-secret').and.not.contain(service.adminToken);
    }
  });
});
