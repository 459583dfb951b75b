import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { json } from '../support/client.js';
import { createCliSession } from '../support/cli-session.js';
import { createDatabase } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

const ID = '00000000-0000-4000-8000-000000000001';

describe('a session of rejected dps commands', () => {
  const { service, client, api } = withService({ settings: { KEEP_DELETED: '7d' } });
  let folder: string;
  const session = createCliSession('dps-refusals.txt', {
    environment: () => ({ DATABASE_URL: service.databaseUrl, DPS_URL: service.url, DPS_TOKEN: service.adminToken }),
    folder: () => folder,
  });
  const { run } = session;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-refused-'));
    const field = { field: 'title', type: 'string', meta: { interface: 'input' }, schema: {} };
    for (const collection of ['articles', 'authors']) {
      const { status, text } = await client('/collections', json({ collection, schema: {}, fields: [field] }));
      expect(status, text).to.equal(200);
    }
    await writeFile(join(folder, 'broken.json'), '{"version": 1,');
    await writeFile(join(folder, 'broken.yaml'), 'a: [1\nb: }');
    await writeFile(join(folder, 'list.json'), '[]');
    await writeFile(join(folder, 'empty.json'), '');
    await mkdir(join(folder, 'files'));
    await mkdir(join(folder, 'files', 'collections'));
    await writeFile(join(folder, 'files', 'collections', 'notes.yaml'), 'collection: other\nfields: []\n');
  });
  after(() => rm(folder, { recursive: true }));

  it('prints the usage of a command', async () => {
    for (const line of [
      'nothing',
      `pull ''`,
      'status more',
      'history show 0',
      'history show x',
      'history list --limit 0',
      'history list --field title',
      'changes list --limit x',
      'trash restore x',
      'trash purge 0',
      'rebuild nothing',
      'rebuild metadata --into postgres://nowhere/x',
      'restore',
      'restore --file a --backup b',
      'drift --allow-drop',
      'drift --repair --accept articles',
      'drift --dry-run',
      'adopt',
      'adopt articles --all',
      'verify --against http://127.0.0.1:1',
      'verify --file - --against http://127.0.0.1:1',
      'lint FOLDER/files --mode merge',
      `lint ${ID} --force`,
      'lint FOLDER/list.json --level loud',
      'lint FOLDER/list.json --format loud',
      'push FOLDER/files --title x',
      'push FOLDER/files --propose',
      'push FOLDER/files --propose --title x --yes',
      'push FOLDER/files --propose --title x --dry-run',
      'changes open FOLDER/list.json',
      `changes open FOLDER/list.json --title ' '`,
      `changes approve ${ID}`,
      `apply FOLDER/list.json --acknowledge x`,
      `apply FOLDER/list.json --acknowledge LOSES_DATA`,
      'completion tcsh',
    ])
      await run(line);
    await run(`rename articles posts --reason 'a\nb'`);
  });

  it('reports errors in files', async () => {
    for (const line of [
      'diff FOLDER/nowhere.json',
      'diff FOLDER',
      'diff FOLDER/broken.json',
      'diff FOLDER/broken.yaml',
      'diff FOLDER/list.json',
      'diff FOLDER/empty.json',
      'apply FOLDER/list.json',
      'apply FOLDER/empty.json --mode merge',
      'policy set FOLDER/list.json',
      'policy set FOLDER/nowhere.json',
      'policy test FOLDER/list.json --policy FOLDER/broken.json',
      'plan FOLDER/nowhere',
      'plan FOLDER/files',
      'pull FOLDER/list.json',
      'pull FOLDER/nowhere --check',
      'verify --file FOLDER/nowhere.ndjson',
      'verify --file FOLDER/empty.json',
      'verify --file FOLDER/list.json',
      'verify --file -',
      'verify --checkpoint FOLDER/nowhere --file FOLDER/list.json',
      'verify --checkpoint FOLDER/list.json --file FOLDER/list.json',
      'verify --checkpoint FOLDER/list.json --key nothing --file FOLDER/list.json',
      'restore --file FOLDER/nowhere.ndjson',
      'restore --file FOLDER',
      'restore --backup FOLDER/list.json',
      'keys new FOLDER/list.json',
      'keys new FOLDER/nowhere/key.pem',
      'snapshot --output FOLDER/nowhere/x.json',
      'backup FOLDER/nowhere/x.backup',
      'backup FOLDER',
    ])
      await run(line, line.endsWith('-') ? { stdin: 'x\n' } : {});
  });

  it('reports missing objects', async () => {
    for (const line of [
      'rename nothing other',
      'rename articles authors',
      'rename articles.nothing other',
      'rename articles.title id',
      'adopt nothing',
      'adopt articles',
      'drift --accept nothing',
      'drift --accept articles.nothing',
      'history show 4711',
      'history sql 4711',
      'history diff 1 4711',
      'history list --collection nothing',
      'trash restore 4711',
      `changes show ${ID}`,
      'changes show nothing',
      `changes comment ${ID} said`,
      `changes withdraw ${ID}`,
      `changes rebase ${ID}`,
      `changes apply ${ID} --at soon`,
      `lint ${ID}`,
      'users set nobody@example.com --name x',
      'tokens list nobody@example.com',
      'acknowledge-log',
      'changes list --state nothing',
      'changes list --author nobody',
      'types --format cobol',
    ])
      await run(line);
  });

  it('reports policy violations and superfluous acknowledgements', async () => {
    await api.sql('CREATE TABLE legacy (id int PRIMARY KEY)');
    await run('adopt legacy --acknowledge LOSES_DATA:nothing');
    await run('adopt legacy --acknowledge NOTHING:nothing');
    await run(`rename articles posts --acknowledge LOSES_DATA:nothing`);
    await writeFile(join(folder, 'policy.json'), JSON.stringify({ findings: { BREAKS_CLIENTS: 'acknowledge' } }));
    await run('policy set FOLDER/policy.json');
    await run('rename articles posts');
    await run('rename articles posts --acknowledge BREAKS_CLIENTS:articles');
    await run('rename posts articles --acknowledge BREAKS_CLIENTS:posts');
    const snapshot = (await client('/schema/snapshot')).json as { collections: { collection: string }[] };
    const renamed = snapshot.collections.map((each) => ({ ...each, meta: { note: 'x' } }));
    const diff = (await client('/schema/diff', json({ ...snapshot, collections: renamed }))).json;
    await writeFile(join(folder, 'diff.json'), JSON.stringify(diff));
    await run('policy test FOLDER/diff.json');
    await run('policy test FOLDER/diff.json --policy FOLDER/policy.json --json');
    await writeFile(join(folder, 'policy.json'), '{"findings": {}}');
    await run('policy set FOLDER/policy.json');
  });

  it('reports an unreachable service and database', async () => {
    await run('snapshot', { settings: { DPS_URL: 'http://127.0.0.1:1' } });
    await run('snapshot', { settings: { DPS_URL: 'no address' } });
    await run('snapshot', { settings: { DPS_URL: 'ftp://example.com' } });
    await run('snapshot', { settings: { DPS_URL: 'http://user:secret@127.0.0.1:1' } });
    await run('snapshot', { settings: { DPS_TOKEN: 'wrong' } });
    await run('snapshot', { settings: { DPS_TOKEN: '' } });
    await run('status', { settings: { DATABASE_URL: '' } });
    await run('status', { settings: { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x' } });
    await run('status', { settings: { DB_SCHEMA: 'nowhere' } });
    await run('status', { settings: { DB_POOL: 'many' } });
    await run('status', {
      settings: { DATA_DIR: join(folder, 'nowhere'), DATABASE_URL: undefined as unknown as string },
    });
    const empty = await createDatabase();
    try {
      await run('status', { settings: { DATABASE_URL: empty.connectionString } });
      await run('doctor', { settings: { DATABASE_URL: empty.connectionString } });
      await run('verify', { settings: { DATABASE_URL: empty.connectionString } });
    } finally {
      await empty.drop();
    }
  });

  it('rejects contradictory options, and changes nothing', async () => {
    await run('snapshot --output FOLDER/now.json');
    await api.sql(`INSERT INTO articles (title) VALUES ('a')`);
    const snapshot = (await client('/schema/snapshot')).json as { fields: { field: string }[] };
    const without = { ...snapshot, fields: snapshot.fields.filter(({ field }) => field !== 'title') };
    await writeFile(join(folder, 'without.json'), JSON.stringify(without));
    for (const format of ['github', 'json', 'sarif'])
      await run(`lint - --level danger --format ${format}`, { stdin: JSON.stringify(without) });
    await run('apply FOLDER/without.json');
    await run('apply FOLDER/without.json --yes');
    await run('apply FOLDER/without.json --allow-drop articles.title');
    for (const answer of ['', 'n', 'yes', 'lose it?']) await run('apply FOLDER/without.json', { answer });
    await run('apply FOLDER/without.json --allow-drop articles.title --allow-drop authors.title', { answer: 'no' });
    await run('apply FOLDER/now.json');
    await run('apply FOLDER/now.json --json');
    await api.ok('DELETE', '/fields/authors/title');
    const [{ position }] = (await api.ok<{ data: [{ position: number }] }>('GET', '/trash')).data;
    for (const answer of ['', 'yes', 'lose it ']) await run(`trash purge ${position}`, { answer });
  });

  it('matches the recorded transcript', () =>
    session.expectAsBefore([
      [/dps-refused-\w+/g, 'FOLDER'],
      [/(?<="version": ")\d+\.\d+\.\d+/g, '<release>'],
      [/(?<=\.backup\.)[0-9a-f]{8}/g, '<random>'],
    ]));
});
