import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { sarifSchema } from '../support/sarif.js';
import { withService } from '../support/with-service.js';

interface Shown {
  code: string;
  level: string;
  field?: string;
  statistics?: object | null;
  event?: number;
}

interface Named {
  collection: string;
  field: string;
  schema: { is_nullable: boolean };
}

describe('dps lint', () => {
  const { service, client: send, api } = withService();
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-lint-'));
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    const { status, text } = await send('/collections', json({ collection: 'articles', schema: {}, fields }));
    expect(status, text).to.equal(200);
  });
  after(() => rm(folder, { recursive: true }));

  const lint = (...args: string[]) => dps(['lint', ...args], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });

  const fileOf = async (name: string, content: unknown): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
    return file;
  };

  /** The schema as YAML, with one field that becomes required. */
  const required = async (): Promise<string> => {
    const yaml = (await send('/schema/snapshot?export=yaml')).text;
    return fileOf('schema.yaml', yaml.replace(/(field: title[\s\S]*?)is_nullable: true/, '$1is_nullable: false'));
  };

  it('prints the findings of a snapshot, and its exit code depends on --level', async () => {
    const file = await required();
    const { code, out, err } = await lint(file);
    expect([code, err]).to.deep.equal([1, '']);
    expect(out).to.match(/^warn {3}LONG_LOCK articles\.title\n {2}alter column/m);
    expect(out).to.contain('PATCH /fields/articles/title?online {"schema":{"is_nullable":false}}');
    expect(out).to.match(/\d findings: .*warn.*\.$/);
    expect((await lint(file, '--level', 'danger')).code).to.equal(0);
    const same = await fileOf('same.json', (await send('/schema/snapshot')).text);
    expect(await lint(same, '--level', 'note')).to.deep.equal({ code: 0, out: 'No findings.', err: '' });
  });

  it('prints the findings of a diff from stdin with levels from statistics, and runs nothing', async () => {
    const before = (await send('/schema/snapshot')).text;
    const file = await required();
    const diff = await dps(['diff', '--json', file], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
    const codes = async (...args: string[]): Promise<string[]> => {
      const { out } = await dps(
        ['lint', ...args],
        { DPS_URL: service.url, DPS_TOKEN: service.adminToken },
        {
          stdin: diff.out,
        },
      );
      return (JSON.parse(out) as { findings: Shown[] }).findings.map(({ code }) => code);
    };
    const ofSnapshot = await codes('--json', file);
    expect(ofSnapshot).to.include.members(['LONG_LOCK', 'MAY_FAIL', 'NOT_NULL_OVER_ROWS']);
    expect(await codes('--format', 'json', '-')).to.deep.equal(ofSnapshot);
    expect((await send('/schema/snapshot')).text).to.equal(before);
  });

  it('annotates lines for GitHub and writes Markdown', async () => {
    const file = await required();
    const text = await readFile(file, 'utf8');
    const { out } = await lint('--format', 'github', file);
    const line = text.split('\n').findIndex((each) => /^\s+field: title/.test(each)) + 1;
    expect(out).to.contain(
      `file=${file.replaceAll(':', '%3A')},line=${line},title=NOT_NULL_OVER_ROWS articles.title::`,
    );
    for (const each of out.split('\n')) expect(each).to.match(/^::(notice|warning|error) [^\n]+::[^\n]+$/);
    const output = join(folder, 'comment.md');
    expect((await lint('--format', 'markdown', '--output', output, file)).code).to.equal(1);
    expect(await readFile(output, 'utf8'))
      .to.match(/^\*\*\d findings: .*\n\n\| level/)
      .and.contain('`LONG_LOCK`');
  });

  it('writes SARIF 2.1.0 that matches its schema', async () => {
    const { out } = await lint('--format', 'sarif', await required());
    const log = JSON.parse(out) as { runs: { results: { ruleId: string; ruleIndex: number; level: string }[] }[] };
    const validate = sarifSchema();
    expect(validate(log), JSON.stringify(validate.errors)).to.equal(true);
    expect(log.runs[0]?.results.map(({ ruleId }) => ruleId)).to.include('NOT_NULL_OVER_ROWS');
    expect(validate({ ...log, version: '2.0.0' })).to.equal(false);
  });

  it('accepts the id of a change request', async () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const { code, err } = await lint(id);
    expect([code, err.includes('does not exist')], err).to.deep.equal([2, true]);
  });

  it('shows what an open change request would do to the current schema', async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    await send('/collections', json({ collection: 'large', schema: {}, fields }));
    await api.sql(`INSERT INTO large (title) SELECT repeat('x', 200) FROM generate_series(1, 60000)`);
    await api.sql('ANALYZE large');
    const snapshot = (await send('/schema/snapshot')).json as { fields: Named[] };
    const desired = structuredClone(snapshot);
    const large = desired.fields.find(({ collection, field }) => collection === 'large' && field === 'title') as Named;
    large.schema.is_nullable = false;
    desired.fields = desired.fields.filter(({ collection, field }) => collection !== 'articles' || field !== 'title');
    const diff = (await send('/schema/diff', json(desired))).json as { hash: string; diff: object };
    // This change cannot be applied while an application writes.
    const application = new pg.Client(service.databaseUrl);
    await application.connect();
    try {
      await application.query('BEGIN; UPDATE large SET title = title WHERE id = 1');
      const opened = await send('/schema/apply?online&purge', json({ hash: diff.hash, diff: diff.diff }));
      expect(opened.status, opened.text).to.equal(202);
      const { id } = (opened.json as { data: { id: string } }).data;
      // Its hash differs from that of the current schema.
      expect((await send('/collections', json({ collection: 'meanwhile', schema: null }))).status).to.equal(200);
      const { code, out, err } = await lint('--json', id, '--level', 'danger');
      expect([code, err], out).to.deep.equal([1, '']);
      const { findings } = JSON.parse(out) as { findings: (Shown & { collection: string })[] };
      const reported = findings.map((each) => `${each.level} ${each.code} ${each.collection}.${each.field}`);
      expect(reported).to.include('danger LOSES_DATA articles.title');
      expect(reported).to.include('warn MAY_FAIL large.title');
      for (const option of [['--force'], ['--mode', 'merge'], ['--base', 'now'], ['--take', 'ours']]) {
        const refused = await lint(id, ...option);
        expect([
          refused.code,
          refused.err.includes(`${option[0]} cannot be used with a change request.`),
        ]).to.deep.equal([2, true]);
      }
      await send(`/changes/${id}/withdraw`, { method: 'POST' });
      expect(await lint(id, '--level', 'danger')).to.deep.include({ code: 0 });
    } finally {
      await application.end();
    }
  });

  it('accepts only options that fit its input', async () => {
    const directory = join(folder, 'pulled');
    const fields = [{ field: 'name', type: 'string', interface: 'input', schema: { max_length: 255 } }];
    await send('/collections', json({ collection: 'people', schema: {}, fields }));
    const environment = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
    expect((await dps(['pull', directory], environment)).code).to.equal(0);
    const file = await fileOf('now.json', (await send('/schema/snapshot')).text);
    const diff = await fileOf('diff.json', { hash: 'x', diff: {} });
    const wrong: [what: string, option: string[], said: string][] = [
      [directory, ['--mode', 'merge'], '--mode cannot be used with a folder.'],
      [file, ['--base', 'now'], '--base cannot be used with a snapshot.'],
      [file, ['--take', 'ours'], '--take cannot be used with a snapshot.'],
      [diff, ['--force'], '--force cannot be used with a diff.'],
      [diff, ['--mode', 'merge'], '--mode cannot be used with a diff.'],
      [diff, ['--base', 'now'], '--base cannot be used with a diff.'],
    ];
    for (const [what, option, expected] of wrong) {
      const { code, err } = await lint(what, ...option);
      expect([code, err.includes(expected)], err).to.deep.equal([2, true]);
    }
    // Both sides changed it, so one must be chosen. Only theirs has findings.
    const people = join(directory, 'collections', 'people.yaml');
    const text = await readFile(people, 'utf8');
    await writeFile(people, text.replace(/(field: name[\s\S]*?)max_length: 255/, '$1max_length: 100'));
    const changed = await send('/fields/people/name', json({ schema: { max_length: 200 } }, 'PATCH'));
    expect(changed.status, changed.text).to.equal(200);
    expect((await lint(directory)).code).to.equal(2);
    const [ours, theirs] = await Promise.all(
      ['ours', 'theirs'].map((side) => lint(directory, '--take', side, '--force')),
    );
    expect([ours?.code, ours?.err]).to.deep.equal([0, '']);
    expect([theirs?.code, theirs?.err], theirs?.out).to.deep.equal([1, '']);
    expect((await lint(directory, '--base', 'now')).code).to.equal(1);
    expect((await lint(file, '--mode', 'merge', '--force')).code).to.equal(0);
  });

  it('rejects unknown input with exit code 2', async () => {
    expect((await lint('--format', 'html', 'x')).code).to.equal(2);
    expect((await lint('--level', 'bad', 'x')).code).to.equal(2);
    expect((await lint(join(folder, 'nothing.yaml'))).code).to.equal(2);
    expect((await lint(await fileOf('list.json', '[]'))).code).to.equal(2);
  });
});
