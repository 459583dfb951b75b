import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { json } from '../support/client.js';
import { createCliSession } from '../support/cli-session.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

describe('a session with dps', () => {
  const { service, client, api } = withService({ settings: { KEEP_DELETED: '7d' } });
  let folder: string;
  const session = createCliSession('dps-session.txt', {
    environment: () => ({ DATABASE_URL: service.databaseUrl, DPS_URL: service.url, DPS_TOKEN: service.adminToken }),
    folder: () => folder,
  });
  const { run } = session;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-session-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Waits until deferred work has completed. */
  const followed = () =>
    until('the projections have followed', async () => {
      const { data } = (await client('/projections')).json as { data: { lag: number }[] };
      return data.every(({ lag }) => lag === 0);
    });

  const idIn = (text: string): string => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(text)?.[0] ?? '';

  const field = (name: string, type = 'string', more: object = {}): object => ({
    field: name,
    type,
    meta: { interface: 'input' },
    schema: more,
  });

  it('manages accounts as in its transcript', async () => {
    await run('users list');
    await run(`users add one@example.com --role author --name 'One of us' --no-password`);
    await run('users add one@example.com --role reader');
    await run('users add nobody --role reader');
    await run('users add two@example.com --role reader --password-stdin', { stdin: 'short\n' });
    await run('users add two@example.com --role reader --password-stdin --no-password', {
      stdin: 'long enough to be one\n',
    });
    await run('users add two@example.com --role reader --password-stdin', { stdin: 'twelve chars\r\n' });
    await run('users add three@example.com --role auditor');
    await run('users set one@example.com');
    await run('users set one@example.com --email nobody');
    await run('users set one@example.com --role reader --new-password');
    await run('users set two@example.com --status suspended --name Two');
    await run('users set four@example.com --name Four');
    await run('users list');
    await run('tokens add one@example.com --name ci --expires 2999-01-01');
    await run('tokens add one@example.com --name ci');
    await run('tokens add one@example.com --name late --expires 2001-01-01');
    await run('tokens add one@example.com --name late --expires 300000-01-01');
    await run('tokens add one@example.com --name late --expires soon');
    await run('tokens list one@example.com');
    await run('tokens revoke one@example.com ci');
    await run('tokens revoke one@example.com other');
    await run('users remove two@example.com');
    await run('users remove two@example.com');
  });

  it('prints each command that changes the schema as recorded in the transcript', async () => {
    const fields = [field('title'), field('body', 'text'), field('size', 'integer', { default_value: 3 })];
    const sent = json({ collection: 'articles', schema: {}, fields });
    expect((await client('/collections', sent)).status).to.equal(200);
    const authors = json({ collection: 'authors', schema: {}, meta: { note: 'who writes' } });
    expect((await client('/collections', authors)).status).to.equal(200);
    await api.sql(`INSERT INTO articles (title) VALUES ('a'), ('b')`);
    await followed();
    await run('status');
    await run('rename articles.title headline');
    await run('rename articles.nothing other');
    await run(`rename authors writers --reason 'as everybody says'`);
    await run('snapshot --output FOLDER/now.json');
    await run('snapshot --format csv --include writers');
    await run('diff FOLDER/now.json');
    const snapshot = JSON.parse(await readFile(join(folder, 'now.json'), 'utf8')) as {
      collections: { collection: string; meta: Record<string, unknown> }[];
      fields: { collection: string; field: string; schema: Record<string, unknown> | null }[];
    };
    const expected = {
      ...snapshot,
      collections: snapshot.collections.filter(({ collection }) => collection !== 'writers'),
      fields: snapshot.fields
        .filter(({ collection, field: name }) => collection !== 'writers' && name !== 'body')
        .map((each) =>
          each.field === 'size' ? { ...each, schema: { ...each.schema, is_nullable: false, default_value: 4 } } : each,
        ),
    };
    await writeFile(join(folder, 'wanted.json'), JSON.stringify(expected));
    await run('diff FOLDER/wanted.json');
    await run('diff FOLDER/wanted.json --mode merge');
    await run('diff FOLDER/wanted.json --mode merge --output FOLDER/diff.json');
    await run('lint FOLDER/wanted.json');
    await run('lint FOLDER/wanted.json --level danger --format markdown');
    await run('lint FOLDER/now.json --format github');
    await run('apply FOLDER/wanted.json --dry-run');
    await run('apply FOLDER/wanted.json');
    await run('apply FOLDER/wanted.json', { answer: 'n' });
    await run('apply FOLDER/diff.json --yes --reason tidying');
    await api.sql('UPDATE articles SET size = 5');
    await run('apply FOLDER/wanted.json --allow-drop articles.body --allow-drop writers --allow-drop ghosts');
    await run('apply FOLDER/wanted.json');
    await run('diff FOLDER/nothing.json');
    await writeFile(join(folder, 'broken.json'), '{"collections": [');
    await run('diff FOLDER/broken.json');
  });

  it('prints each command that uses the trash as recorded in the transcript', async () => {
    const list = JSON.parse(await run('trash list --json')) as { position: number; field: string | null }[];
    session.drop();
    const [body, writers] = [list.find((each) => each.field === 'body'), list.find((each) => each.field === null)];
    await run('trash');
    await run(`trash restore ${body?.position} --dry-run`);
    await run(`trash restore ${body?.position} --as text --reason regretted`);
    await run(`trash restore ${body?.position}`);
    await run('trash restore body');
    await run(`trash purge ${writers?.position}`);
    await run(`trash purge ${writers?.position}`);
    await run('trash');
  });

  it('prints each command that reads the history as recorded in the transcript', async () => {
    await run('history');
    await run('history --limit 2 --collection articles');
    await run('history --limit none');
    await run('history show 1');
    await run('history show 5');
    await run('history show 99');
    await run('history diff 4 6');
    await run('history diff now now');
    await run('history sql 3');
  });

  it('shows and accepts drift', async () => {
    await run('drift');
    await api.sql(`
      ALTER TABLE articles ADD COLUMN found integer, ALTER COLUMN size TYPE bigint, DROP COLUMN headline;
      CREATE TABLE stray (id integer PRIMARY KEY, note text);
      CREATE VIEW seen AS SELECT id FROM stray;
      COMMENT ON TABLE articles IS 'by hand'`);
    await run('drift');
    await run('drift --allow-drop');
    await run('drift --dry-run');
    await run('drift --repair --accept');
    await run('drift --accept articles.size --dry-run');
    await run(`drift --accept articles.size --reason 'it holds more'`);
    await run('drift --accept nothing');
    await run('drift --repair');
    await run('drift --repair --allow-drop');
    await run('adopt stray --dry-run');
    await run('adopt nothing');
    await run('adopt');
    await run('adopt --all');
    await run('adopt --all');
    await run('drift');
  });

  it('shows the policy and pending change requests', async () => {
    await run('policy');
    const policy = {
      findings: { LOSES_DATA: 'approve', NOT_NULL_OVER_ROWS: 'acknowledge' },
      collections: [{ pattern: 'art*', findings: { REWRITES_TABLE: 'refuse' } }],
      approvals: 2,
      author_may_approve: true,
      online_above_rows: 10_000,
    };
    await writeFile(join(folder, 'policy.json'), JSON.stringify(policy));
    const older = JSON.parse(await readFile(join(folder, 'now.json'), 'utf8')) as object;
    await writeFile(join(folder, 'older.json'), JSON.stringify({ ...older, service: '0.0.1' }));
    await run('policy set FOLDER/policy.json --reason careful');
    await run('policy set FOLDER/broken.json');
    await run('policy test FOLDER/older.json');
    await run('policy test FOLDER/older.json --force');
    await run('policy test FOLDER/now.json --force');
    await run('policy test FOLDER/wanted.json --force');
    const opened = await run(
      `changes open FOLDER/now.json --force --title 'Back as it was' --reason 'people ask for it'`,
    );
    const id = idIn(opened);
    expect(id, opened).not.to.equal('');
    await run('changes');
    await run(`changes comment ${id} 'what about the rows?'`);
    await run(`changes approve ${id}`);
    await run(`changes show ${id}`);
    await run(`changes apply ${id}`);
    await run(`changes reject ${id} --reason 'not like this'`);
    await run(`changes withdraw ${id} --reason 'another time'`);
    await run(`changes withdraw ${id}`);
    await run(`changes show ${id}`);
    await run('changes list --state proposed');
    await run('changes show 1');
  });

  it('approves, applies and reverts change requests', async () => {
    const lenient = { approvals: 1, author_may_approve: true };
    await writeFile(join(folder, 'policy.json'), JSON.stringify(lenient));
    await run('policy set FOLDER/policy.json');
    const document = {
      version: 1,
      collections: [{ collection: 'notes', schema: {} }],
      fields: [{ collection: 'notes', field: 'text', type: 'text', meta: { interface: 'input' }, schema: {} }],
      relations: [],
    };
    await writeFile(join(folder, 'notes.json'), JSON.stringify(document));
    await run(`changes open FOLDER/notes.json --force --mode merge --title ' '`);
    const id = idIn(await run(`changes open FOLDER/notes.json --force --mode merge --title 'Notes for all'`));
    await run(`changes approve ${id}`, { answer: 'n' });
    await run(`changes approve ${id} --comment 'a good idea'`, { answer: 'y' });
    await run(`changes rebase ${id}`);
    await run(`changes apply ${id} --at 2001-01-01T00:00:00Z`);
    await run(`changes apply ${id}`);
    await run(`changes apply ${id}`);
    await run(`changes show ${id}`);
    const back = idIn(await run(`changes revert ${id} --title 'No notes'`));
    await run(`changes reject ${back} --comment 'they are needed'`);
    await run('changes list --state applied');
    await run('changes list --limit none');
    await run('changes open FOLDER/notes.json --force --mode merge --title again');
  });

  it('pulls and pushes schema files', async () => {
    const file = join(folder, 'schema/collections/notes.yaml');
    await run('pull FOLDER/schema');
    await run('pull FOLDER/schema');
    await run('pull FOLDER/schema --check');
    await writeFile(join(folder, 'schema/collections/mine.yaml'), 'mine: true\n');
    await run('plan FOLDER/schema');
    await rm(join(folder, 'schema/collections/mine.yaml'));
    const pulled = await readFile(file, 'utf8');
    await writeFile(file, pulled.replace('type: text', 'type: tex'));
    await run('plan FOLDER/schema');
    await writeFile(file, pulled.replace(/^( +)interface: input$/m, '$1interface: input-multiline'));
    await run('pull FOLDER/schema --check');
    await run('plan FOLDER/schema');
    await run('plan FOLDER/schema --format markdown');
    await run('push FOLDER/schema --propose');
    await run('push FOLDER/schema --title x');
    await run('push FOLDER/schema --propose --title x --dry-run');
    await run(`push FOLDER/schema --propose --title 'Longer notes'`);
    await run('push FOLDER/schema --dry-run');
    const patched = json({ meta: { interface: 'input-rich-text-md' } }, 'PATCH');
    expect((await client('/fields/notes/text', patched)).status).to.equal(200);
    await run('plan FOLDER/schema');
    await run('push FOLDER/schema --take theirs');
    await rm(file);
    await run('push FOLDER/schema');
    await run('push FOLDER/schema --allow-drop notes --reason tidying');
    await run('plan FOLDER/schema');
    await run('plan FOLDER/nothing');
    await run('types --lang ts');
    await run('types --output FOLDER/types.ts');
    await run('types --check');
    await run('types --output FOLDER/types.ts --check');
    await run('types --output FOLDER/none.ts --check');
    await run('types --output FOLDER/types.ts --lang zod --check');
  });

  it('verifies the log and its projections', async () => {
    await run('verify');
    await run('rebuild metadata');
    await run('rebuild tables');
    await run('rebuild trash');
    await run('rebuild change-requests');
    await followed();
    await run('rebuild indexes');
    await run('rebuild nothing');
    await run('keys new FOLDER/key.pem');
    await run('keys new FOLDER/key.pem');
    await run('keys list');
    await run('keys public');
    await run('keys rotate');
    await run('backup FOLDER/backup');
    await run('restore --file FOLDER/now.json');
    await run('verify --file FOLDER/now.json');
    await followed();
    await run('status');
    await run('stat');
    await run('users --role reader');
  });

  it('matches the recorded transcript', () => session.expectAsBefore([[folder, '<folder>']]));
});
