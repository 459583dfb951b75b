/** Runs the steps of the workflow in docs/git.md, unchanged, in a real repository. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { parseYaml } from '../../../src/http/formats.js';
import { ensureBuilt } from '../../support/built.js';
import { json } from '../../support/client.js';
import { ROOT, blocksOf } from '../../support/documents.js';
import { withService } from '../../support/with-service.js';

interface Step {
  name?: string;
  if?: string;
  run?: string;
}

const workflow = (): { jobs: { schema: { steps: Step[] } } } => {
  const block = blocksOf('docs/git.md').find(({ language }) => language === 'yaml');
  return parseYaml(block?.content ?? '') as ReturnType<typeof workflow>;
};

describe('the GitHub workflow', () => {
  const { service, client } = withService({ consistent: true });
  let work: string;

  before('a repository, and the program on the path', async function () {
    if (spawnSync('git', ['--version']).status !== 0 || spawnSync('bash', ['--version']).status !== 0) this.skip();
    this.timeout(120_000);
    ensureBuilt();
    work = mkdtempSync(join(tmpdir(), 'dps-workflow-'));
    mkdirSync(join(work, 'repository'));
    await git('init', '--quiet', '--initial-branch', 'main');
  });

  after(() => {
    if (work !== undefined) rmSync(work, { recursive: true, force: true });
  });

  const environment = (more: Record<string, string> = {}) => ({
    PATH: `${join(work, 'global/bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    HOME: work,
    // npm links a folder instead of downloading its dependencies, so the step needs no network.
    DPS_PACKAGE: ROOT,
    npm_config_prefix: join(work, 'global'),
    npm_config_ignore_scripts: 'true',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
    DPS_URL: service.url,
    DPS_TOKEN: service.adminToken,
    ...more,
  });

  /** Like a GitHub step without a shell. Asynchronous, because the service runs in this process. */
  async function sh(script: string, more: Record<string, string> = {}): Promise<{ status: unknown; output: string }> {
    const child = spawn('bash', ['-e', '-c', script], { cwd: join(work, 'repository'), env: environment(more) });
    child.stdin.end();
    const ended = once(child, 'close') as Promise<[number | null]>;
    const [stdout, stderr, [status]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), ended]);
    return { status, output: stdout + stderr };
  }

  async function git(...args: string[]): Promise<string> {
    const { status, output } = await sh(['git', ...args].map((each) => `'${each}'`).join(' '));
    expect(status, output).to.equal(0);
    return output.trim();
  }

  /** The log and the summary of a workflow run. */
  async function runWorkflow(
    event: 'pull_request' | 'push',
    before: string,
  ): Promise<{ log: string; summary: string }> {
    const temporary = mkdtempSync(join(work, 'runner-'));
    const summary = join(temporary, 'summary.md');
    writeFileSync(summary, '');
    const variables = { BEFORE: before, RUNNER_TEMP: temporary, GITHUB_STEP_SUMMARY: summary };
    let log = '';
    for (const { run, if: condition } of workflow().jobs.schema.steps) {
      if (run === undefined || (condition !== undefined && condition !== `github.event_name == '${event}'`)) continue;
      const { status, output } = await sh(run, variables);
      expect(status, `${run}\n${output}`).to.equal(0);
      log += output;
    }
    return { log, summary: readFileSync(summary, 'utf8') };
  }

  async function commit(message: string): Promise<string> {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', message);
    return git('rev-parse', 'HEAD');
  }

  it('plans a pull request, pushes main, and keeps the changes of others', async function () {
    this.timeout(120_000);
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: { max_length: 100 } }];
    const [install] = workflow().jobs.schema.steps.filter(({ name }) => name === 'install dps');
    expect((await sh(install?.run ?? 'exit 1')).status).to.equal(0);
    await client(
      '/collections',
      json([
        { collection: 'books', schema: {}, fields },
        { collection: 'drafts', schema: {}, fields },
      ]),
    );
    expect((await sh('dps pull schema')).status).to.equal(0);
    const first = await commit('as it is');
    expect((await runWorkflow('push', '0'.repeat(40))).log).to.contain('Nothing to do');

    await git('checkout', '--quiet', '-b', 'longer');
    const file = join(work, 'repository/schema/collections/books.yaml');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/(max_length: 100[^]*?)is_unique: false/, '$1is_unique: true'),
    );
    const second = await commit('unique titles');
    await client('/collections/books', json({ meta: { note: 'by others' } }, 'PATCH'));
    const planned = await runWorkflow('pull_request', first);
    expect(planned.summary).to.contain('### Schema plan: 1 change').and.contain('<code>books.title</code>');
    expect(planned.log).to.match(/^::\w+ file=schema\/collections\/books\.yaml,line=\d+,title=/m);
    expect(planned.log + planned.summary).not.to.contain(service.adminToken);
    expect((await client('/fields/books/title')).text).to.contain('"is_unique":false');

    await git('checkout', '--quiet', 'main');
    await git('merge', '--quiet', 'longer');
    expect((await runWorkflow('push', first)).log).to.contain('Applied: 1 event');
    expect((await client('/fields/books/title')).text).to.contain('"is_unique":true');
    expect((await client('/collections/books')).text).to.contain('by others');
    expect((await client('/history/batches')).text).to.contain(`commit ${second.slice(0, 7)}`);
  });

  it('stops the push on data loss, and the plan on an invalid file', async function () {
    this.timeout(120_000);
    const failure = async (event: 'pull_request' | 'push'): Promise<string> =>
      runWorkflow(event, before).then(
        () => '',
        (error: unknown) => String(error),
      );
    const before = await git('rev-parse', 'HEAD');
    const file = join(work, 'repository/schema/collections/books.yaml');
    const text = readFileSync(file, 'utf8');
    rmSync(join(work, 'repository/schema/collections/drafts.yaml'));
    await commit('no drafts');
    expect(await failure('push')).to.contain('--allow-drop drafts');
    writeFileSync(file, text.replace('type: string', 'type: strong'));
    await commit('wrong');
    expect(await failure('pull_request')).to.match(/collections\/books\.yaml:\d+: type must/);
  });
});
