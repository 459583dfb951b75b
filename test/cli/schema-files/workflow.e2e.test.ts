/** Runs the steps of the GitHub action and the GitLab template, unchanged, in a real repository. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import { parseYaml } from '../../../src/http/formats.js';
import { ensureBuilt } from '../../support/built.js';
import { json } from '../../support/client.js';
import { ROOT, blocksOf } from '../../support/documents.js';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/openid-provider.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { withService } from '../../support/with-service.js';

interface Step {
  id?: string;
  name?: string;
  if?: string;
  uses?: string;
  run?: string;
  env?: Record<string, string>;
  with?: Record<string, string>;
}

const yamlOf = <T>(text: string): T => parseYaml(text) as T;
const deployed = (file: string): string => readFileSync(join(ROOT, 'deploy', file), 'utf8');

/** The steps of the workflow in docs/git.md. */
function workflowSteps(): Step[] {
  const block = blocksOf('docs/git.md').find(({ content }) => content.startsWith('name: schema'));
  return yamlOf<{ jobs: { schema: { steps: Step[] } } }>(block?.content ?? '').jobs.schema.steps;
}

/** The inputs that the workflow of docs/git.md passes to the action. */
const passedInputs = (): Record<string, string> =>
  workflowSteps().find(({ uses }) => uses === './.github/actions/dps')?.with ?? {};

interface TrustRule {
  name: string;
  issuer: string;
  audience: string;
  claims: Record<string, string>;
  scope: object;
}

/** The trust rules in docs/git.md. */
function documentedRules(): TrustRule[] {
  const block = blocksOf('docs/git.md').find(({ content }) => content.includes('"rules"'));
  return (JSON.parse(block?.content ?? '') as { rules: TrustRule[] }).rules;
}

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  runs: { using: string; steps: Step[] };
}

interface Job {
  extends?: string;
  before_script?: string[];
  script?: string[];
  variables?: Record<string, string>;
  id_tokens?: Record<string, { aud: string }>;
}

type GitHubEvent = 'pull_request' | 'push' | 'schedule';

describe('the GitHub action and the GitLab template', () => {
  const { service, client, api } = withService({ consistent: true });
  let work: string;
  let github: Receiver | undefined;
  let gitlab: Receiver | undefined;
  /** Issues the ID tokens of both platforms. */
  let issuer: OpenIdProvider | undefined;
  /** The API token that the steps of the action use. */
  let actionToken: string;
  /** The comments of the pull request. */
  const comments: { id: number; body: string }[] = [{ id: 1, body: 'Looks good' }];

  const answerAsGitHub: Receiver['respond'] = (response, { path, method, body }) => {
    const content = body === '' ? {} : (JSON.parse(body) as { body?: string });
    const [, id] = /^\/repos\/me\/mine\/issues\/comments\/(\d+)$/.exec(path) ?? [];
    if (method === 'POST') comments.push({ id: comments.length + 1, body: content.body ?? '' });
    if (method === 'PATCH') comments.splice(Number(id) - 1, 1, { id: Number(id), body: content.body ?? '' });
    const known = id !== undefined || path.startsWith('/repos/me/mine/issues/7/comments');
    response.writeHead(known ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(comments));
  };

  before('a repository, and the program on the path', async function () {
    if (spawnSync('git', ['--version']).status !== 0 || spawnSync('bash', ['--version']).status !== 0) this.skip();
    this.timeout(300_000);
    ensureBuilt();
    work = mkdtempSync(join(tmpdir(), 'dps-workflow-'));
    mkdirSync(join(work, 'repository'));
    await git('init', '--quiet', '--initial-branch', 'main');
    github = await startReceiver();
    github.respond = answerAsGitHub;
    gitlab = await startReceiver();
    gitlab.respond = (response) => void response.writeHead(201, { 'Content-Type': 'application/json' }).end('{}');
    issuer = await startOpenIdProvider();
    await issuer.register(service.url);
  });
  beforeEach(() => (actionToken = service.adminToken));

  after(async () => {
    await github?.stop();
    await gitlab?.stop();
    await issuer?.stop();
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

  /** The values of `${{ … }}`: every expression of the action must be listed. */
  function evaluated(text: string, before: string): string {
    const inputs: Record<string, string> = {};
    const evaluate = (expression: string): string => {
      const values: Record<string, string> = {
        'vars.DPS_PACKAGE': ROOT,
        'vars.DPS_URL': service.url,
        'steps.dps.outputs.token': actionToken,
        'github.token': 'token of the workflow',
        'github.event.pull_request.number': '7',
        'github.event.pull_request.base.sha || github.event.before': before,
        ...inputs,
      };
      return values[expression] ?? expect.fail(`unknown expression ${expression}`);
    };
    const resolve = (each: string): string =>
      each.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, found: string) => evaluate(found));
    const passed = passedInputs();
    for (const [name, input] of Object.entries(action().inputs))
      inputs[`inputs.${name}`] = resolve(passed[name] ?? input.default ?? expect.fail(`no input ${name}`));
    return resolve(text);
  }

  const action = (): Action => yamlOf<Action>(deployed('github/action.yml'));

  /** The log and the summary of a run of the action. */
  async function runAction(event: GitHubEvent, before = ''): Promise<{ log: string; summary: string }> {
    const temporary = mkdtempSync(join(work, 'runner-'));
    const summary = join(temporary, 'summary.md');
    writeFileSync(summary, '');
    const variables = {
      RUNNER_TEMP: temporary,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_API_URL: github?.url.replace('/hook', '') ?? '',
      GITHUB_REPOSITORY: 'me/mine',
    };
    let log = '';
    for (const { run, if: condition, env = {} } of action().runs.steps) {
      const events = condition?.split(' || ').map((each) => /^github\.event_name == '(\w+)'$/.exec(each)?.[1]);
      if (run === undefined || events?.includes(event) === false) continue;
      const input = Object.entries(env).map(([name, value]) => [name, evaluated(value, before)] as const);
      const { status, output } = await sh(run, { ...variables, ...Object.fromEntries(input) });
      expect(status, `${run}\n${output}`).to.equal(0);
      log += output;
    }
    return { log, summary: readFileSync(summary, 'utf8') };
  }

  /** The log of a job of the GitLab template, with the scripts of the job that it extends. */
  async function runJob(name: string, more: Record<string, string> = {}): Promise<string> {
    const template = yamlOf<Record<string, Job>>(deployed('gitlab/dps.yml'));
    const job = template[name] ?? expect.fail(`no job ${name}`);
    const before = job.before_script ?? template[job.extends ?? '']?.before_script ?? [];
    const lines = [...before, ...(job.script ?? [])];
    const variables = {
      ...(template['variables'] as Record<string, string>),
      DPS_PACKAGE: ROOT,
      DPS_URL: service.url,
      DPS_TOKEN: service.adminToken,
      CI_COMMIT_SHORT_SHA: await git('rev-parse', '--short', 'HEAD'),
      CI_API_V4_URL: gitlab?.url.replace('/hook', '/api/v4') ?? '',
      CI_PROJECT_ID: '5',
      CI_MERGE_REQUEST_IID: '6',
      ...more,
    };
    const { status, output } = await sh(`set -eo pipefail\n${lines.join('\n')}`, variables);
    expect(status, output).to.equal(0);
    return output;
  }

  async function commit(message: string): Promise<string> {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', message);
    return git('rev-parse', 'HEAD');
  }

  it('plans a pull request, pushes main, and keeps changes by others', async function () {
    this.timeout(300_000);
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: { max_length: 100 } }];
    const install = action().runs.steps.find(({ name }) => name === 'install dps');
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
    expect((await runAction('push', '0'.repeat(40))).log).to.contain('Nothing to do');

    await git('checkout', '--quiet', '-b', 'longer');
    const file = join(work, 'repository/schema/collections/books.yaml');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/(max_length: 100[^]*?)is_unique: false/, '$1is_unique: true'),
    );
    const second = await commit('unique titles');
    await client('/collections/books', json({ meta: { note: 'by others' } }, 'PATCH'));
    const planned = await runAction('pull_request', first);
    expect(planned.summary).to.contain('### Schema plan: 1 change').and.contain('<code>books.title</code>');
    expect(planned.log).to.match(/^::\w+ file=schema\/collections\/books\.yaml,line=\d+,title=/m);
    expect(planned.log + planned.summary + JSON.stringify(comments)).not.to.contain(service.adminToken);
    await runAction('pull_request', first);
    expect(comments.map(({ body }) => body.split('\n').slice(0, 2).join(' '))).to.deep.equal([
      'Looks good',
      '<!-- dps plan --> ### Schema plan: 1 change',
    ]);
    expect(github?.received.every(({ headers }) => headers.authorization === 'Bearer token of the workflow')).equal(
      true,
    );
    expect((await client('/fields/books/title')).text).to.contain('"is_unique":false');

    await git('checkout', '--quiet', 'main');
    await git('merge', '--quiet', 'longer');
    expect((await runAction('push', first)).log).to.contain('Applied: 1 event');
    expect((await client('/fields/books/title')).text).to.contain('"is_unique":true');
    expect((await client('/collections/books')).text).to.contain('by others');
    expect((await client('/history/batches')).text).to.contain(`commit ${second.slice(0, 7)}`);
  });

  it('stops the push on data loss, and the plan on an invalid file', async function () {
    this.timeout(300_000);
    const failure = async (event: GitHubEvent): Promise<string> =>
      runAction(event, before).then(
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

  it('plans, applies and checks in GitLab', async function () {
    this.timeout(300_000);
    await resetTo('gitlab');
    const before = await git('rev-parse', 'HEAD');
    replaceIn('books.yaml', /^  note: .*$/m, '  note: from GitLab');
    const after = await commit('note');
    const plan = await runJob('dps-plan', {
      CI_MERGE_REQUEST_DIFF_BASE_SHA: before,
      DPS_COMMENT_TOKEN: 'a comment token',
    });
    expect(plan).to.contain('### Schema plan: 1 change').and.not.to.contain('a comment token');
    const [note] = gitlab?.received ?? [];
    expect([note?.path, note?.headers['private-token']]).to.deep.equal([
      '/api/v4/projects/5/merge_requests/6/notes',
      'a comment token',
    ]);
    expect(new URLSearchParams(note?.body).get('body')).to.contain('### Schema plan: 1 change');
    expect(await runJob('dps-push', { CI_COMMIT_BEFORE_SHA: before })).to.contain('Applied: 1 event');
    expect((await client('/history/batches')).text).to.contain(`commit ${after.slice(0, 7)}`);
    expect(await runJob('dps-drift'))
      .to.contain('The files match the service.')
      .and.contain('The database matches the log.');
  });

  it('fails on a schedule if the service differs from the files, or the database from the log', async function () {
    this.timeout(300_000);
    await resetTo('scheduled');
    const failureOf = (run: Promise<unknown>): Promise<string> => run.then(() => '', String);
    // One after the other, because both install dps.
    const failures = async (): Promise<string[]> => [
      await failureOf(runAction('schedule')),
      await failureOf(runJob('dps-drift')),
    ];
    expect(await failures()).to.deep.equal(['', '']);
    await client('/collections/books', json({ meta: { note: 'by hand' } }, 'PATCH'));
    for (const failure of await failures()) expect(failure).to.contain('differs: collections/books.yaml');
    await sh('dps pull schema');
    await api.sql('ALTER TABLE books ADD COLUMN beside integer');
    for (const failure of await failures()) expect(failure).to.contain('"beside"');
    await api.sql('ALTER TABLE books DROP COLUMN beside');
    expect(await failures()).to.deep.equal(['', '']);
  });

  let idTokens = 0;
  const idToken = (audience: string, claims: JWTPayload): Promise<string> => {
    const iat = Math.floor(Date.now() / 1000);
    const jti = String((idTokens += 1));
    const token = { iss: issuer?.issuer ?? '', aud: audience, iat, exp: iat + 300, jti, ...claims };
    return issuer?.signed(token) ?? expect.fail('no issuer');
  };

  /** Runs the step of docs/git.md that exchanges the ID token of the job, and returns its output. */
  async function exchangedToken(claims: JWTPayload): Promise<string> {
    const platform = await startReceiver();
    platform.respond = async (response, { path, headers }) => {
      const audience = new URL(path, platform.url).searchParams.get('audience') ?? '';
      const isJob = headers.authorization === 'Bearer token of the job';
      response.writeHead(isJob ? 200 : 401, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ value: await idToken(audience, claims) }));
    };
    const output = join(mkdtempSync(join(work, 'output-')), 'output');
    writeFileSync(output, '');
    try {
      const { run = '', env = {} } = workflowSteps().find(({ id }) => id === 'dps') ?? {};
      const input = Object.entries(env).map(([name, value]) => [name, evaluated(value, '')] as const);
      const { status, output: log } = await sh(run, {
        ...Object.fromEntries(input),
        DPS_TOKEN: '',
        GITHUB_OUTPUT: output,
        ACTIONS_ID_TOKEN_REQUEST_URL: `${platform.url}?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'token of the job',
      });
      expect(status, log).to.equal(0);
      const [, token = ''] = /^token=(dps_.+)$/m.exec(readFileSync(output, 'utf8')) ?? [];
      // GitHub removes this line, and replaces the token in all others.
      expect(log).to.contain(`::add-mask::${token}\n`);
      expect(log.replace(`::add-mask::${token}\n`, '')).not.to.contain(token);
      return token;
    } finally {
      await platform.stop();
    }
  }

  it('exchanges the ID token of each job on GitHub, and lets each job do only its own work', async function () {
    this.timeout(300_000);
    const { origin } = new URL(service.url);
    const rules = documentedRules().map((rule) => ({ ...rule, issuer: issuer?.issuer, audience: origin }));
    await api.ok('PUT', '/auth/trust', { rules });
    await resetTo('exchanged');
    const before = await git('rev-parse', 'HEAD');
    replaceIn('books.yaml', /^  note: .*$/m, '  note: with an exchanged token');
    await commit('an exchanged token');

    const main = { sub: 'repo:example/schema:ref:refs/heads/main', ref_protected: 'true' };
    actionToken = await exchangedToken({ sub: 'repo:example/schema:pull_request', event_name: 'pull_request' });
    expect((await runAction('pull_request', before)).summary).to.contain('### Schema plan: 1 change');
    const push = await runAction('push', before).then(() => '', String);
    expect(push).to.match(/requires the (action|role)/);
    actionToken = await exchangedToken({ ...main, event_name: 'push' });
    expect((await runAction('push', before)).log).to.contain('Applied: 1 event');
    actionToken = await exchangedToken({ ...main, event_name: 'schedule' });
    expect((await runAction('schedule')).log).to.contain('The database matches the log.');
    const request = { ...json({ meta: { note: 'on a schedule' } }, 'PATCH'), token: actionToken };
    expect((await client('/collections/books', request)).codes).to.deep.equal(['FORBIDDEN']);
    await api.ok('PUT', '/auth/trust', { rules: [] });
  });

  it('exchanges the ID token of each job on GitLab', async function () {
    this.timeout(300_000);
    const template = yamlOf<Record<string, Job>>(deployed('gitlab/dps.yml'));
    expect(template['.dps']?.id_tokens).to.deep.equal({ DPS_ID_TOKEN: { aud: '$DPS_URL' } });
    const sub = 'project_path:example/schema:ref_type:branch:ref:main';
    const scope = { role: 'admin', actions: ['read', 'propose', 'apply', 'operate'] };
    const rule = { name: 'gitlab', issuer: issuer?.issuer, audience: service.url, claims: { sub }, scope };
    await api.ok('PUT', '/auth/trust', { rules: [rule] });
    await resetTo('exchanged-gitlab');
    const before = await git('rev-parse', 'HEAD');
    replaceIn('books.yaml', /^  note: .*$/m, '  note: with a token of GitLab');
    await commit('a token of GitLab');
    const run = async (job: string, more: Record<string, string> = {}): Promise<string> =>
      runJob(job, { ...more, DPS_TOKEN: '', DPS_ID_TOKEN: await idToken(service.url, { sub }) });
    expect(await run('dps-plan', { CI_MERGE_REQUEST_DIFF_BASE_SHA: before })).to.contain('### Schema plan: 1 change');
    expect(await run('dps-push', { CI_COMMIT_BEFORE_SHA: before })).to.contain('Applied: 1 event');
    expect(await run('dps-drift')).to.contain('The database matches the log.');
    const denied = runJob('dps-drift', { DPS_TOKEN: '', DPS_ID_TOKEN: await idToken(service.url, { sub: 'other' }) });
    expect(await denied.then(() => '', String)).to.contain('No trust rule accepts the claims');
    await api.ok('PUT', '/auth/trust', { rules: [] });
  });

  /** A branch whose files match the service. */
  async function resetTo(branch: string): Promise<void> {
    await git('checkout', '--quiet', '-B', branch);
    expect((await sh('dps pull schema')).status).to.equal(0);
    await git('add', '--all');
    await git('commit', '--quiet', '--allow-empty', '--message', branch);
  }

  function replaceIn(name: string, from: RegExp, to: string): void {
    const file = join(work, 'repository/schema/collections', name);
    const text = readFileSync(file, 'utf8');
    expect(text).to.match(from);
    writeFileSync(file, text.replace(from, to));
  }
});
