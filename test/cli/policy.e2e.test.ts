/** dps policy, and the exit code 3 of other commands when the policy blocks something. */
import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dps as run } from '../support/dps.js';
import { withService } from '../support/with-service.js';

const TITLE = { field: 'title', type: 'string', interface: 'input', schema: {} };
const BODY = { field: 'body', type: 'text', interface: 'input', schema: {} };

describe('dps and the policy', () => {
  const { api, service } = withService({ consistent: true });
  let directory: string;

  const dps = (...args: string[]) =>
    run(args, { DPS_URL: service.url, DPS_TOKEN: service.adminToken, DATABASE_URL: service.databaseUrl });
  const file = async (name: string, value: object): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, JSON.stringify(value));
    return path;
  };
  /** A diff that removes a field of a collection. */
  const without = async (collection: string, field: string): Promise<string> => {
    const snapshot = await api.ok<{ fields: { collection: string; field: string }[] }>('GET', '/schema/snapshot');
    const fields = snapshot.fields.filter((each) => each.collection !== collection || each.field !== field);
    return file(`${collection}.json`, { ...snapshot, fields });
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'policy-'));
    for (const collection of ['a', 'b', 'c', 'd', 'e'])
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [TITLE, BODY] });
  });
  beforeEach(() => api.ok('PUT', '/policy', {}));
  after(() => rm(directory, { recursive: true }));

  it('shows and sets the policy', async () => {
    expect((await dps('policy')).out).to.contain('nothing is rejected');
    const policy = {
      findings: { LOSES_DATA: 'refuse' },
      collections: [{ pattern: 'tmp_*', findings: { MAY_FAIL: 'off' } }],
    };
    const set = await dps('policy', 'set', await file('policy.json', policy), '--reason', 'agreed on');
    expect([set.code, set.err]).to.deep.equal([0, '']);
    const shown = await dps('policy', '--json');
    expect(JSON.parse(shown.out)).to.deep.include(policy);
    // `set` accepts the output of `show`.
    const again = await dps('policy', 'set', await file('again.json', JSON.parse(shown.out) as object));
    expect(again.out).to.contain('LOSES_DATA: refuse').and.to.contain('MAY_FAIL for tmp_*: off');
    const wrong = await dps('policy', 'set', await file('wrong.json', { findings: { LOSES_DATA: 'never' } }));
    expect(wrong.code).to.equal(2);
    expect(wrong.err).to.contain('findings.LOSES_DATA');
  });

  it('tests a change, with exit code 0 if it is allowed and 3 if it is blocked', async () => {
    const change = await without('a', 'body');
    expect((await dps('policy', 'test', change)).code).to.equal(0);
    const policy = await file('policy.json', { findings: { LOSES_DATA: 'acknowledge' } });
    const stopped = await dps('policy', 'test', change, '--policy', policy);
    expect(stopped.code).to.equal(3);
    expect(stopped.out).to.contain('--acknowledge LOSES_DATA:a.body');
    expect(
      (await dps('policy', 'test', change, '--policy', policy, '--acknowledge', 'LOSES_DATA:a.body')).code,
    ).to.equal(0);
  });

  it('acknowledges a looser policy, and proposes one where the policy requires approval', async () => {
    await api.ok('PUT', '/policy', { policy_changes: 'acknowledge', approvals: 2 });
    const approve = await file('approve.json', { policy_changes: 'approve' });
    const rejected = await dps('policy', 'set', approve);
    expect([rejected.code, rejected.err.includes('--acknowledge LOOSENS_POLICY:')]).to.deep.equal([3, true]);
    const set = await dps('policy', 'set', approve, '--acknowledge', 'LOOSENS_POLICY:');
    expect([set.code, set.err]).to.deep.equal([0, '']);
    expect(set.out).to.contain('A policy change requires an approved change request.');
    const free = await file('free.json', {});
    const stopped = await dps('policy', 'set', free);
    expect([stopped.code, stopped.err.includes('dps policy propose')]).to.deep.equal([3, true]);
    const proposed = await dps('policy', 'propose', free, '--title', 'Free again', '--json');
    const { id, plan } = JSON.parse(proposed.out) as { id: string; plan: string };
    const shown = await dps('changes', 'show', id);
    expect(shown.out).to.contain('Free again (policy)').and.to.contain('  - A policy change requires an approved');
    expect((await dps('changes', 'apply', id)).code, 'nobody approved it').not.to.equal(0);
    expect((await dps('changes', 'approve', id, '--plan', plan)).code).to.equal(0);
    expect((await dps('changes', 'apply', id)).code).to.equal(0);
    expect((await dps('policy')).out).to.contain('nothing is rejected');
  });

  it('exits with 3 from apply and lint when a change is blocked, and changes nothing', async () => {
    const change = await without('a', 'body');
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse' } });
    const head = await api.head();
    for (const args of [['lint'], ['apply', '--dry-run'], ['apply', '--yes', '--allow-drop', 'a.body']]) {
      const ran = await dps(...args, change);
      expect(ran.code, `${args.join(' ')}: ${ran.err}`).to.equal(3);
      expect(ran.out).to.contain('the policy rejects it');
    }
    for (const format of ['github', 'sarif', 'markdown']) {
      const ran = await dps('lint', change, '--format', format);
      expect(ran.out, format).to.contain('the policy rejects it');
    }
    expect(await api.head()).to.equal(head);
  });

  it('applies with the right acknowledgements only', async () => {
    const change = await without('a', 'body');
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    const mode = ['apply', change, '--allow-drop', 'a.body'];
    expect((await dps(...mode)).code).to.equal(3);
    expect((await dps(...mode, '--acknowledge', 'LOSES_DATA:a.title')).code).to.equal(3);
    expect((await dps(...mode, '--acknowledge', 'nonsense')).code).to.equal(2);
    const forged = await dps(...mode, '--acknowledge', 'LOSES_DATA:a.body', '--acknowledge', 'MAY_FAIL:a');
    expect(forged.code).to.equal(2);
    expect(forged.err).to.contain('MAY_FAIL:a');
    const done = await dps(...mode, '--acknowledge', 'LOSES_DATA:a.body');
    expect(done.code, done.err).to.equal(0);
  });

  it('names --reason if the policy requires a reason, and applies a change that has one', async () => {
    const change = await without('e', 'body');
    await api.ok('PUT', '/policy', { requires_reason: true });
    try {
      expect((await dps('policy')).out).to.contain('Every change requires a reason.');
      const mode = ['apply', change, '--yes', '--allow-drop', 'e.body'];
      const rejected = await dps(...mode);
      expect([rejected.code, rejected.err]).to.deep.equal([
        3,
        'The policy requires a reason (--reason). Send one, or add one to the change request.',
      ]);
      const applied = await dps(...mode, '--reason', 'nobody reads it');
      expect(applied.code, applied.err).to.equal(0);
      await api.sql('CREATE TABLE by_hand (id bigint PRIMARY KEY)');
      const unnamed = await dps('adopt', 'by_hand');
      expect([unnamed.code, unnamed.err.includes('(--reason)')], unnamed.err).to.deep.equal([3, true]);
      const adopted = await dps('adopt', 'by_hand', '--reason', 'it was here before');
      expect(adopted.code, adopted.err).to.equal(0);
    } finally {
      const free = await dps('policy', 'set', await file('free.json', {}), '--reason', 'for the next test');
      expect(free.code, free.err).to.equal(0);
    }
  });

  it('exits with 3 from plan and push of a folder', async () => {
    const folder = join(directory, 'schema');
    expect((await dps('pull', folder)).code).to.equal(0);
    const path = join(folder, 'collections', 'b.yaml');
    const text = await readFile(path, 'utf8');
    const less = text.replace(/^ {2}- field: body\n(?: {4}.*\n)*/m, '');
    expect(less).not.to.equal(text);
    await writeFile(path, less);
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    expect((await dps('plan', folder)).code).to.equal(3);
    expect((await dps('plan', folder, '--acknowledge', 'LOSES_DATA:b.body')).code).to.equal(1);
    expect((await dps('push', folder, '--allow-drop', 'b.body')).code).to.equal(3);
    const pushed = await dps('push', folder, '--allow-drop', 'b.body', '--acknowledge', 'LOSES_DATA:b.body');
    expect(pushed.code, pushed.err).to.equal(0);
    expect((await dps('plan', folder)).code).to.equal(0);
  });

  it('applies the policy to commands on the database', async () => {
    await api.sql('CREATE TABLE "user" (id bigint PRIMARY KEY)');
    await api.ok('PUT', '/policy', { findings: { RESERVED_NAME: 'acknowledge' } });
    const adopted = await dps('adopt', 'user');
    expect([adopted.code, adopted.out]).to.deep.equal([3, '']);
    expect((await dps('adopt', 'user', '--acknowledge', 'RESERVED_NAME:user')).code).to.equal(0);
    await api.sql('ALTER TABLE c ADD COLUMN "order" text');
    expect((await dps('drift', '--accept', 'c')).code).to.equal(3);
    const accepted = await dps('drift', '--accept', 'c', '--acknowledge', 'RESERVED_NAME:c.order');
    expect(accepted.code, accepted.err).to.equal(0);
  });

  it("reports the policy's findings in a dry run on the database, and stores nothing", async () => {
    await api.sql('CREATE TABLE "group" (id bigint PRIMARY KEY)');
    await api.sql('ALTER TABLE d ADD COLUMN "order" text');
    const adopt = ['adopt', 'group', '--dry-run'];
    const accept = ['drift', '--accept', 'd', '--dry-run'];
    const head = await api.head();
    for (const [mode, place] of [
      [adopt, 'group'],
      [accept, 'd.order'],
    ] as const) {
      expect((await dps(...mode)).code, 'not a policy').to.equal(0);
      const known = ['--acknowledge', `RESERVED_NAME:${place}`];
      for (const [action, says, code] of [
        ['refuse', 'the policy rejects it', 3],
        ['acknowledge', `--acknowledge RESERVED_NAME:${place}`, 0],
      ] as const) {
        await api.ok('PUT', '/policy', { findings: { RESERVED_NAME: action } });
        const ran = await dps(...mode);
        expect([action, ran.code], ran.err).to.deep.equal([action, 3]);
        expect(ran.out).to.contain(`! RESERVED_NAME ${place}: `).and.to.contain(says);
        expect((await dps(...mode, ...known)).code, `${action}, acknowledged`).to.equal(code);
      }
      const { warnings } = JSON.parse((await dps(...mode, '--json')).out) as { warnings: { action: string }[] };
      expect(warnings.map((each) => each.action)).to.deep.equal(['acknowledge']);
      await api.ok('PUT', '/policy', {});
    }
    expect((await api.events(head)).filter((event) => !event.startsWith('policy.updated'))).to.deep.equal([]);
    expect((await dps(...accept.slice(0, -1))).code).to.equal(0);
    expect((await dps('adopt', 'group')).code).to.equal(0);
  });

  it('applies the policy to renames and restores', async () => {
    await api.ok('PUT', '/policy', { findings: { BREAKS_CLIENTS: 'acknowledge' } });
    const refused = await dps('rename', 'd.body', 'text');
    expect(refused.code).to.equal(3);
    expect(refused.err).to.contain('--acknowledge BREAKS_CLIENTS:d.text');
    expect((await dps('rename', 'd.body', 'text', '--acknowledge', 'BREAKS_CLIENTS:d.text')).code).to.equal(0);
  });
});
