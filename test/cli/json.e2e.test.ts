/**
 * "Every command but completion takes --json, to print JSON": each one does, and prints one JSON document.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/command-line.js';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { withService } from '../support/with-service.js';

/**
 * Commands that keep running, print a shell script or answer an agent, or need another database or service, a broken log or an OpenID provider. They have their own
 * tests.
 */
const ELSEWHERE = [
  'start',
  'completion',
  'restore',
  'acknowledge-log',
  'login',
  'logout',
  'exchange',
  'mcp',
  'environments compare',
];

/** The names of all commands with an action. */
function commandsOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((each) => commandsOf(each, [...path, each.name()]));
}

describe('dps --json prints valid JSON when it', () => {
  const { service, client, api } = withService({ settings: { OBJECTS: 'on' }, consistent: true });
  const seen = new Set<string>();
  const all = commandsOf(createProgram({ print: () => undefined, note: () => undefined }, () => undefined));
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-json-'));
    const fields = ['title', 'note'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));
    expect((await client('/collections', json({ collection: 'articles', schema: {}, fields }))).status).to.equal(200);
    await api.sql('CREATE TABLE found (id int PRIMARY KEY)');
  });
  after(() => rm(folder, { recursive: true }));

  const at = (name: string): string => join(folder, name);

  /** Runs a command with `--json`. It must exit with 0 or 1 (differences) and print a JSON document. */
  async function run(...line: string[]): Promise<Record<string, unknown>> {
    const environment = { DATABASE_URL: service.databaseUrl, DPS_URL: service.url, DPS_TOKEN: service.adminToken };
    const { code, out, err } = await dps([...line, '--json'], environment);
    expect(code, `${line.join(' ')}: ${err}`).to.be.oneOf([0, 1]);
    const name = all.find((each) => `${line.join(' ')} `.startsWith(`${each} `));
    seen.add(name ?? line.join(' '));
    return JSON.parse(out) as Record<string, unknown>;
  }

  /** A schema file in which a field is required. */
  async function required(field: string): Promise<string> {
    const snapshot = await run('snapshot');
    for (const each of snapshot['fields'] as { field: string; schema: object }[])
      if (each.field === field) Object.assign(each.schema, { is_nullable: false });
    await writeFile(at('required.json'), JSON.stringify(snapshot));
    return at('required.json');
  }

  /** A schema file without a field. */
  async function without(field: string): Promise<string> {
    const snapshot = await run('snapshot');
    const fields = (snapshot['fields'] as { field: string }[]).filter((each) => each.field !== field);
    await writeFile(at('wanted.json'), JSON.stringify({ ...snapshot, fields }));
    return at('wanted.json');
  }

  it('runs the commands of an operator: status, doctor, verify, drift, adopt and rebuild', async () => {
    expect(await run('status')).to.include.keys('log', 'projections');
    expect(await run('doctor')).to.include.keys('ok', 'checks');
    expect(await run('verify')).to.include({ ok: true });
    expect(await run('drift')).to.include.keys('ok', 'tables', 'unmanaged');
    expect(await run('adopt', 'found')).to.include.keys('adopted');
    expect(await run('rebuild', 'metadata')).to.be.an('object');
    expect(await run('backup', at('backup'))).to.include.keys('head', 'not_included');
  });

  it('manages accounts and keys', async () => {
    const added = await run('users', 'add', 'one@example.com', '--role', 'reader');
    expect(added).to.include.keys('email', 'password');
    expect(await run('users', 'list'))
      .to.be.an('array')
      .with.length(2);
    expect(await run('users', 'set', 'one@example.com', '--role', 'auditor')).to.include({ role: 'auditor' });
    const token = await run('tokens', 'add', 'one@example.com', '--name', 'ci');
    expect(token).to.include.keys('id', 'token');
    expect(await run('tokens', 'list', 'one@example.com'))
      .to.be.an('array')
      .with.length(1);
    expect(await run('tokens', 'revoke', 'one@example.com', String(token['id']))).to.be.an('object');
    expect(await run('users', 'remove', 'one@example.com')).to.be.an('object');
    expect(await run('users', 'erase', 'one@example.com')).to.be.an('array');
    await run('keys', 'new', at('key'));
    for (const mode of ['list', 'public', 'rotate']) await run('keys', mode);
  });

  it('lists, creates, changes and deletes webhooks', async () => {
    const added = await run('webhooks', 'add', 'one', 'https://receiver.invalid/');
    const id = String(added['id']);
    expect(added).to.include.keys('id', 'secret');
    expect(await run('webhooks', 'list'))
      .to.be.an('array')
      .with.length(1);
    await run('webhooks', 'set', id, '--name', 'two');
    expect(await run('webhooks', 'rotate-secret', id)).to.include.keys('secret');
    for (const verb of ['disable', 'enable', 'test', 'deliveries']) await run('webhooks', verb, id);
    await run('webhooks', 'replay', id, '1');
    await run('webhooks', 'remove', id);
  });

  it('compares, plans and applies', async () => {
    const file = await without('note');
    expect(await run('diff', file)).to.include.keys('hash', 'diff');
    expect(await run('lint', file, '--level', 'danger')).to.be.an('object');
    expect(await run('prove', file)).to.deep.include({ accepted: true, proof: { differences: [], properties: [] } });
    expect(await run('apply', file, '--yes', '--allow-drop', 'articles.note')).to.include.keys('batch', 'position');
    expect(await run('apply', file, '--yes')).to.include({ applied: false });
    const filled = await required('title');
    const fill = ['--backfill', 'articles.title={"value": "none"}'];
    expect(await run('apply', filled, '--yes', ...fill)).to.include.keys('batch', 'position');
    await run('pull', at('schema'));
    expect(await run('pull', at('schema'), '--check')).to.deep.include({ differ: [] });
    await run('plan', at('schema'));
    await run('push', at('schema'), '--yes');
    expect(await run('types', '--lang', 'json-schema')).to.be.an('object');
    expect(await run('rename', 'articles.title', 'headline')).to.be.an('object');
  });

  it('lists, shows, creates, updates, renames and deletes objects', async () => {
    await writeFile(at('one.sql'), 'CREATE VIEW one AS SELECT 1 AS one');
    expect(await run('objects', 'create', at('one.sql'), '--dry-run')).to.include({ accepted: true });
    const created = await run('objects', 'create', at('one.sql'));
    expect(created).to.include({ kind: 'view', id: 'one' });
    expect(await run('objects', 'show', 'view:one')).to.deep.equal(created);
    expect(await run('objects', 'list')).to.deep.equal([created]);
    expect(await run('objects', 'update', 'view:one', at('one.sql'))).to.deep.equal(created);
    expect(await run('objects', 'rename', 'view:one', 'two')).to.include({ id: 'two' });
    expect(await run('objects', 'delete', 'view:two')).to.deep.equal({ deleted: { kind: 'view', id: 'two' } });
  });

  it('shows and sets trust rules', async () => {
    await writeFile(at('trust.json'), JSON.stringify(await run('trust', 'show')));
    expect(await run('trust', 'set', at('trust.json'))).to.deep.equal({ rules: [] });
  });

  it('shows and tests the policy', async () => {
    const policy = await run('policy', 'show');
    await writeFile(at('policy.json'), JSON.stringify(policy));
    await run('policy', 'test', at('wanted.json'));
    await run('policy', 'set', at('policy.json'));
  });

  it('lists the trash, and restores and purges its entries', async () => {
    const remove = async () => {
      expect((await client('/collections/found', { method: 'DELETE' })).status).to.equal(204);
      const [item] = (await run('trash', 'list')) as unknown as { position: number }[];
      return String(item?.position);
    };
    expect(await run('trash', 'restore', await remove())).to.be.an('object');
    expect(await run('trash', 'purge', await remove())).to.be.an('object');
  });

  it('opens, reviews, applies, reverts and withdraws change requests', async () => {
    const open = async (field: string) => {
      const { id } = await run('changes', 'open', await without(field), '--title', `No ${field}`);
      expect(id).to.be.a('string');
      return String(id);
    };
    const id = await open('headline');
    await run('changes', 'comment', id, 'Sure?');
    expect(await run('changes', 'update', id, '--title', 'Without headline')).to.include({ title: 'Without headline' });
    const { plan } = await run('changes', 'show', id);
    expect(await run('changes', 'approve', id, '--plan', String(plan))).to.include({ state: 'approved' });
    expect(await run('changes', 'apply', id)).to.include({ state: 'applied' });
    const reverting = await run('changes', 'revert', id, '--title', 'Back');
    expect(await run('changes', 'rebase', String(reverting['id']))).to.include({ id: reverting['id'] });
    expect(await run('changes', 'reject', String(reverting['id']), '--comment', 'No.')).to.include({
      state: 'rejected',
    });
    expect(await run('changes', 'withdraw', String(reverting['id']))).to.include({ state: 'withdrawn' });
    expect(await run('changes', 'list'))
      .to.be.an('array')
      .with.length(2);
  });

  it('opens a change request for a policy', async () => {
    await writeFile(at('approvals.json'), JSON.stringify({ ...(await run('policy', 'show')), approvals: 2 }));
    const { id } = await run('policy', 'propose', at('approvals.json'), '--title', 'Two approvals');
    expect(await run('changes', 'withdraw', String(id))).to.include({ state: 'withdrawn' });
  });

  it('writes a file as JSON, regardless of its name', async () => {
    const environment = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
    const { code, out } = await dps(['snapshot', '--json', '--output', at('snapshot.yaml')], environment);
    expect([code, out]).to.deep.equal([0, '']);
    expect(JSON.parse(await readFile(at('snapshot.yaml'), 'utf8'))).to.have.property('fields');
  });

  it('reads the history and the differences between two points in time', async () => {
    expect(await run('history', 'list')).to.be.an('array');
    expect(await run('history', 'show', '1')).to.include({ position: 1 });
    expect(await run('history', 'diff', '0', '1')).to.be.an('object');
    expect((await run('history', 'sql', '1'))['sql']).to.contain('CREATE TABLE');
  });

  it('lists environments', async () => {
    expect(await run('environments', 'list'))
      .to.be.an('array')
      .with.length(0);
  });

  it('runs each of the remaining commands', () => {
    expect([...seen, ...ELSEWHERE].toSorted()).to.deep.equal(all.toSorted());
  });
});
