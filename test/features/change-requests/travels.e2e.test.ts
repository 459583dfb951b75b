import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApi } from '../../support/api.js';
import { json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { column } from '../../support/online.js';
import { type TestDatabase, createDatabase, temporaryDirectory } from '../../support/postgres.js';
import { startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';
import { type Person, type Shown, diffOf, newPerson, noted, open, show, without } from './people.js';

describe('comments on change requests', () => {
  const { client: admin, service, api } = withService({ consistent: true });
  const databases: TestDatabase[] = [];
  let directory: string;
  let author: Person;
  let ids: string[];
  let received: Shown[];

  /** The comments and approvals, without computed members. */
  const saidOf = ({ proposal, state, title, reason, plan, author: by, changed_at: at, error }: Shown) => ({
    state,
    title,
    reason,
    plan,
    by,
    at,
    error,
    rejection: proposal.rejection,
    comments: proposal.comments,
    approvals: proposal.approvals.map(({ by: who, plan: of, text }) => ({ who, of, text })),
  });

  before(async () => {
    directory = await temporaryDirectory();
    await api.ok('POST', '/collections', {
      collection: 'pages',
      schema: {},
      fields: [column('title'), column('body')],
    });
    author = await newPerson(admin, 'author', 'author');
    const one = await open(author.send, {
      title: 'No bodies',
      reason: 'nobody\nreads them',
      diff: await diffOf(admin, without('pages', 'body')),
    });
    await admin(`/changes/${one.id}/comment`, json({ comment: 'Really? “yes” 🙂\n\tand why' }));
    await author.send(`/changes/${one.id}/comment`, json({ comment: 'Support agrees' }));
    await admin(`/changes/${one.id}/approve`, json({ plan: one.plan, comment: 'fine' }));
    expect((await admin(`/changes/${one.id}/apply`, json({}))).status).to.equal(200);
    const two = await open(author.send, { title: 'Notes', diff: await diffOf(admin, noted('pages', 'x')) });
    await admin(`/changes/${two.id}/comment`, json({ comment: 'My name is Ada, of 1 Main Street' }));
    await admin(`/changes/${two.id}/reject`, json({ comment: 'not now' }));
    // Erased content leaves its hash.
    await api.sql(
      `UPDATE service.service_documents SET content = NULL, erased_at = now() WHERE content LIKE '%Main Street%'`,
    );
    ids = [one.id, two.id];
    received = await Promise.all(ids.map((id) => show(admin, id)));
    expect(received.map(({ proposal }) => proposal.comments.map(({ text }) => text))).to.deep.equal([
      ['Really? “yes” 🙂\n\tand why', 'Support agrees'],
      [null],
    ]);
  });
  after(async () => {
    for (const database of databases) await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  async function emptyDatabase(): Promise<string> {
    const database = await createDatabase();
    databases.push(database);
    return database.connectionString;
  }

  async function expectThere(databaseUrl: string): Promise<void> {
    const there = await startService({ DATABASE_URL: databaseUrl });
    const restored = createApi(there);
    try {
      const shown = await Promise.all(ids.map((id) => show((path, send) => restored.client(path, send), id)));
      expect(shown.map(saidOf)).to.deep.equal(received.map(saidOf));
      for (const path of ['/history/verify', '/projections/verify'])
        expect((await restored.ok<{ data: { ok: boolean } }>('GET', path)).data.ok, path).to.equal(true);
      // The restored request can continue.
      await restored.ok('POST', `/changes/${ids[1]}/comment`, { comment: 'still here' });
      const { data: list } = await restored.ok<{ data: object[] }>('GET', '/changes');
      expect(list).to.have.length(2);
    } finally {
      await restored.stop();
      await there.stop();
    }
  }

  it('are exported, verified and restored', async () => {
    const file = join(directory, 'log.ndjson');
    await writeFile(file, (await admin('/history/export')).text);
    const verified = await dps(['verify', '--file', file], {});
    expect(verified.code, verified.out + verified.err).to.equal(0);
    const target = await emptyDatabase();
    const { code, out, err } = await dps(['restore', '--file', file], { DATABASE_URL: target });
    expect(code, out + err).to.equal(0);
    await expectThere(target);
  });

  it('are checked in an exported log, and tampered ones are not restored', async () => {
    const file = join(directory, 'changed.ndjson');
    const log = (await admin('/history/export')).text;
    const lines = log.split('\n');
    const output = lines.findIndex((line) => line.startsWith('{"document"') && line.includes('Support agrees'));
    expect(output).to.be.greaterThan(0);
    for (const [what, text] of [
      ['changed', log.replace('Support agrees', 'Support is against it')],
      ['left out', lines.toSpliced(output, 1).join('\n')],
    ] as const) {
      await writeFile(file, text);
      const verified = await dps(['verify', '--file', file], {});
      expect([verified.code, verified.out], what).to.satisfy(([code]: [number]) => code === 1);
      const restored = await dps(['restore', '--file', file], { DATABASE_URL: await emptyDatabase() });
      // Changed content is not restored; missing content is reported, so that the rest can be restored.
      expect(restored.code, what + restored.out).to.equal(what === 'changed' ? 2 : 1);
      expect(restored.out + restored.err, what).to.match(/damaged.*(changed|missing)/);
    }
    expect(await readFile(file, 'utf8')).to.not.include('Support agrees');
  });

  it('are copied to a database created from the log of another one', async () => {
    const target = await emptyDatabase();
    const { code, out, err } = await dps(['rebuild', 'tables', '--into', target], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(code, out + err).to.equal(0);
    await expectThere(target);
  });

  it('are part of a backup with their authors', async () => {
    const file = join(directory, 'backup.dps');
    const created = await dps(['backup', file], { DATABASE_URL: service.databaseUrl });
    expect(created.code, created.err).to.equal(0);
    const target = await emptyDatabase();
    const { code, out, err } = await dps(['restore', '--backup', file], { DATABASE_URL: target });
    expect(code, out + err).to.equal(0);
    await expectThere(target);
  });
});
