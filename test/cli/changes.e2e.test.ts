import { mkdtemp, rm, writeFile, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { runCli } from '../../src/cli/command-line.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';
import { type Person, type Snapshot, newPerson, without } from '../features/change-requests/people.js';

describe('dps changes, dps push --propose', () => {
  const { service, client: admin } = withService({ consistent: true });
  let folder: string;
  let file: string;
  let author: Person;

  interface Ran {
    code: number;
    out: string;
    err: string;
  }

  async function dps(args: readonly string[], { token = service.adminToken, answers = '' } = {}): Promise<Ran> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCli([...args], {
      environment: { DPS_URL: service.url, DPS_TOKEN: token },
      terminal: {
        print: (text) => out.push(text),
        note: (text) => err.push(text),
        read: () => Promise.resolve(''),
        ...(answers !== '' && { ask: () => Promise.resolve(answers) }),
      },
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  const desiredBy = async (edit: (snapshot: Snapshot) => void): Promise<void> => {
    const snapshot = (await admin('/schema/snapshot')).json as Snapshot;
    edit(snapshot);
    await writeFile(file, JSON.stringify(snapshot));
  };
  const idIn = ({ out }: Ran): string => /[-\da-f]{36}/.exec(out)?.[0] ?? '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-changes-'));
    file = join(folder, 'wanted.json');
    const fields = ['title', 'note'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));
    expect((await admin('/collections', json({ collection: 'articles', schema: {}, fields }))).status).to.equal(200);
    author = await newPerson(admin, 'author', 'author');
  });
  after(() => rm(folder, { recursive: true }));

  it('opens, shows, comments on, approves and applies a request', async () => {
    await desiredBy(without('articles', 'note'));
    const opened = await dps(['changes', 'open', file, '--title', 'No notes', '--reason', 'nobody reads them'], {
      token: author.token,
    });
    expect(opened, opened.err).to.include({ code: 0 });
    const id = idIn(opened);
    const comment = await dps(['changes', 'comment', id, 'sure\u001b[2J?'], { token: author.token });
    expect(comment.code, 'control characters are refused').to.equal(2);
    expect((await dps(['changes', 'comment', id, 'Are you sure?'])).code).to.equal(0);
    const about = (place: string) => dps(['changes', 'comment', id, 'Who exports it?', '--place', place]);
    expect(await about('articles.note')).to.include({ code: 0, out: 'Commented. The change request is open.' });
    const missing: [place: string, reason: string][] = [
      ['articles', 'does not contain collection articles'],
      ['relation:articles.note', 'does not contain relation articles.note'],
      ['view:note', 'does not contain view "note"'],
      ['relation:articles', 'relation:articles.author'],
      ['a.b.c', 'is not a valid place'],
    ];
    for (const [place, reason] of missing) {
      const refused = await about(place);
      expect(refused.code, place).to.equal(2);
      expect(refused.err, place).to.include(reason);
    }

    const shown = await dps(['changes', 'show', id], { token: author.token });
    for (const part of [
      'No notes (articles)',
      'why: nobody reads them',
      'admin: Are you sure?',
      'admin on field articles.note: Who exports it?',
      'deletes articles.note',
    ])
      expect(shown.out.toLowerCase()).to.include(part.toLowerCase());

    const losses = async (request: string): Promise<unknown> =>
      (JSON.parse((await dps(['changes', 'show', request, '--json'])).out) as { planned: { loses: object[] } }).planned
        .loses;
    expect(await losses(id)).to.deep.equal([{ collection: 'articles', field: 'note', kept: true, why_not: null }]);
    const purging = idIn(await dps(['changes', 'open', file, '--title', 'For good', '--purge']));
    const why = 'the change has the option purge';
    expect(await losses(purging)).to.deep.equal([{ collection: 'articles', field: 'note', kept: false, why_not: why }]);
    expect((await dps(['changes', 'withdraw', purging])).code).to.equal(0);

    expect((await dps(['changes', 'approve', id])).code, 'nobody is asked').to.equal(2);
    expect((await dps(['changes', 'approve', id], { answers: 'n' })).err).to.include('Nothing was approved.');
    expect((await dps(['changes', 'approve', id, '--plan', 'f'.repeat(64)])).err).to.include(
      'not the one that you reviewed',
    );
    const approved = await dps(['changes', 'approve', id, '--comment', 'yes'], { answers: 'y' });
    expect(approved.out).to.match(/Approved\. The change request is approved\.$/);
    expect((await dps(['changes', 'apply', id], { token: author.token })).err).to.include('requires the role admin');
    const applied = await dps(['changes', 'apply', id]);
    expect(applied.out, applied.err).to.match(/^Applied: position \d+, batch /);
    expect((await dps(['changes', 'list', '--state', 'applied', '--author', author.id])).out).to.include(id);
    expect((await dps(['changes', 'apply', id])).err).to.include('is applied');
  });

  it('reverts, schedules and rebases requests', async () => {
    await desiredBy(without('articles', 'title'));
    const id = idIn(await dps(['changes', 'open', file, '--title', 'No titles']));
    expect((await dps(['changes', 'apply', id])).code).to.equal(0);
    const reverted = await dps(['changes', 'revert', id, '--title', 'Titles']);
    expect(reverted.out, reverted.err).to.match(
      /^Opened change request .*\narticles\.title is restored from the trash, which keeps it until \d{4}-/,
    );
    const back = idIn(reverted);
    expect((await dps(['changes', 'apply', back, '--at', 'soon'])).err).to.include('must be a time with its time zone');
    const at = new Date(Date.now() + 3_600_000).toISOString();
    expect((await dps(['changes', 'apply', back, '--at', at])).out).to.equal(
      `It will be applied at ${at}. The change request is scheduled.`,
    );
    expect((await dps(['changes', 'rebase', back])).out).to.include('The change request is scheduled.');
    const rebased = JSON.parse((await dps(['changes', 'rebase', back, '--json'])).out) as object;
    expect(rebased).to.include({ id: back, state: 'scheduled' });
    expect((await dps(['changes', 'apply', back])).code).to.equal(0);
    expect((await admin('/fields/articles/title')).status).to.equal(200);
  });

  it('updates the title of a request, and permits its deletions to be permanent if the service asks for it', async () => {
    const fields = [{ field: 'extra', type: 'string', interface: 'input', schema: {} }];
    expect((await admin('/collections', json({ collection: 'base', schema: {}, fields }))).status).to.equal(200);
    await desiredBy(without('base', 'extra'));
    const id = idIn(await dps(['changes', 'open', file, '--title', 'No extras'], { token: author.token }));
    const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
    try {
      await pool.query('CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.heir () INHERITS (base)');
      const refused = await dps(['changes', 'apply', id]);
      expect(refused.code).to.equal(2);
      expect(refused.err).to.include('("dps changes update --purge"), which existing approvals do not cover.');
      expect((await dps(['changes', 'update', id])).err).to.include('Nothing to update: use --title or --purge.');
      const updated = await dps(['changes', 'update', id, '--title', 'No extras at all', '--purge'], {
        token: author.token,
      });
      expect(updated.out, updated.err).to.equal('Updated. The change request is open.');
      const shown = (await dps(['changes', 'show', id])).out;
      expect(shown).to.include('No extras at all').and.include('deletes base.extra permanently');
      expect((await dps(['changes', 'apply', id])).out).to.match(/^Applied: position/);
    } finally {
      await pool.query('DROP SCHEMA elsewhere CASCADE');
      await pool.end();
    }
  });

  it('pushes files as a request, rejects it and withdraws it', async () => {
    const files = join(folder, 'files');
    expect((await dps(['pull', files])).code).to.equal(0);
    const [name = ''] = await readdir(join(files, 'collections'));
    const path = join(files, 'collections', name);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(/note: null/, 'note: from a file'));
    expect((await dps(['push', files, '--propose'])).err).to.include('--title');
    expect((await dps(['push', files, '--title', 'x'])).err).to.include('--propose');
    const pushed = await dps(['push', files, '--propose', '--title', 'A note'], { token: author.token });
    expect(pushed, pushed.err).to.include({ code: 0 });
    const id = idIn(pushed);
    expect((await admin('/collections/articles')).text).to.not.include('from a file');
    expect((await dps(['changes', 'reject', id, '--comment', 'no'])).out).to.include('is rejected');
    expect((await dps(['changes', 'show', id])).out).to.match(/rejected: .*: no$/m);
    const withdrawn = await dps(['changes', 'withdraw', id], { token: author.token });
    expect(withdrawn.out, withdrawn.err).to.equal(`Change request ${id} is withdrawn.`);
  });
});
