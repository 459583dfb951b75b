import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { runCli } from '../../src/cli/command-line.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

interface Snapshot {
  collections: object[];
  fields: { collection: string; field: string; schema: { is_nullable: boolean; is_unique: boolean } }[];
}

describe('dps apply --online, dps changes', () => {
  const { service, client: send, api } = withService({ settings: { LOCK_WAIT: '100ms' } });
  let folder: string;
  let file: string;

  async function dps(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCli(args, {
      environment: { DPS_URL: service.url, DPS_TOKEN: service.adminToken },
      terminal: {
        print: (text) => out.push(text),
        note: (text) => err.push(text),
        read: () => Promise.resolve(''),
      },
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  /** The current snapshot with a change, in a file. */
  const wish = async (change: (field: (name: string) => Snapshot['fields'][number], all: Snapshot) => void) => {
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    change((name) => snapshot.fields.find(({ field }) => field === name) as Snapshot['fields'][number], snapshot);
    await writeFile(file, JSON.stringify(snapshot));
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dps-online-'));
    file = join(folder, 'wish.json');
    const field = (name: string, type: string) => ({ field: name, type, interface: 'input', schema: {} });
    const fields = [field('title', 'string'), field('code', 'integer')];
    await send('/collections', json({ collection: 'large', schema: {}, fields }));
    await api.sql(`INSERT INTO large (title, code) SELECT repeat('x', 200), i / 2 FROM generate_series(1, 60000) i`);
    await api.sql('ANALYZE large');
  });
  after(() => rm(folder, { recursive: true }));

  it('prepares slow steps, waits, and reports the result', async () => {
    await wish((field, all) => {
      field('title').schema.is_nullable = false;
      all.collections.push({ collection: 'small', meta: {}, schema: null });
    });
    const plan = await dps('apply', file, '--online', '--dry-run');
    expect(plan.code, plan.err).to.equal(0);
    expect(plan.out).to.contain('Prepared first, while the tables stay in use:');
    expect(plan.out).to.contain('validate that large.title is never null');
    expect((await dps('changes', 'list')).out).not.to.contain('large');
    const { code, out, err } = await dps('apply', file, '--online', '--yes', '--reason', 'titles for all');
    expect(code, err).to.equal(0);
    expect(out).to.match(/^Applied: position \d+, batch /m);
    expect(err).to.match(/Change request [-\da-f]{36} continues without this command/);
    const { out: list } = await dps('changes', 'list');
    expect(list).to.match(/^[-\da-f]{36} +applied .* apply-diff \(.*large.*\)/m);
    expect((await send('/collections/small')).status).to.equal(200);
    const nulls = `SELECT is_nullable FROM information_schema.columns WHERE table_name = 'large' AND column_name = 'title'`;
    expect(await api.sql(nulls)).to.deep.equal([{ is_nullable: 'NO' }]);
  });

  it('reports violating rows and that nothing is left', async () => {
    await wish((field) => (field('code').schema.is_unique = true));
    const { code, out, err } = await dps('apply', file, '--online', '--yes');
    expect(code).to.equal(2);
    expect(out + err).to.match(/code/);
    expect(out).not.to.contain('Applied');
    const [id = ''] = /[-\da-f]{36}/.exec((await dps('changes', 'list')).out) ?? [];
    const shown = await dps('changes', 'show', id);
    expect(shown.out)
      .to.match(/failed/)
      .and.to.match(/duplicat|more than once|same/i);
    expect(await api.sql(`SELECT FROM pg_class WHERE relname LIKE 'dps_online_%'`)).to.deep.equal([]);
  });

  it('withdraws a request during preparation', async () => {
    const application = new pg.Client(service.databaseUrl);
    await application.connect();
    try {
      await application.query('BEGIN; UPDATE large SET code = code WHERE id = 1');
      await send('/fields/large/code?online', json({ schema: { is_indexed: true } }, 'PATCH'));
      const [id = ''] = /[-\da-f]{36}/.exec((await dps('changes', 'list')).out) ?? [];
      await until('it says whom it waits for', async () => /waiting for/i.test((await dps('changes', 'show', id)).out));
      expect((await dps('changes', 'withdraw', id)).code).to.equal(0);
      expect((await dps('changes', 'show', id)).out).to.contain('withdrawn');
      expect((await dps('changes', 'withdraw', id)).code).to.equal(2);
    } finally {
      await application.end();
    }
    await until('nothing is left of it', async () => {
      return (await api.sql(`SELECT FROM pg_class WHERE relname LIKE 'dps_online_%'`)).length === 0;
    });
    expect((await dps('changes', 'show', 'x')).code).to.equal(2);
  });
});
