import { expect } from 'chai';
import pg from 'pg';
import { createProgress } from '../../src/cli/output.js';
import { clientOf, json } from '../support/client.js';
import { until } from '../support/until.js';
import { type Ran, dps } from '../support/dps.js';
import { type TestService, startService } from '../support/service.js';

describe('dps status, verify and rebuild', () => {
  let service: TestService;
  let pool: pg.Pool;

  before(async () => {
    service = await startService();
    pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
    for (const collection of ['articles', 'authors']) {
      const reply = await clientOf(service)('/collections', json({ collection, schema: {} }));
      expect(reply.status, reply.text).to.equal(200);
    }
  });

  after(async () => {
    await pool.end();
    await service.stop();
  });

  const run = (...args: string[]): Promise<Ran> => dps(args, { DATABASE_URL: service.databaseUrl });

  it('status lists the position of every projection', async () => {
    const { code, out } = await run('status');
    expect(code).to.equal(0);
    expect(out).to.contain('log       position 2, last change').and.contain('by Admin');
    expect(out).to.contain('rows      2 collections, 2 fields, 0 relations');
    expect(out).to.match(/^metadata +transactional +2 +0 +running/m);
    const status = JSON.parse((await run('status', '--json')).out) as { log: object; projections: object[] };
    expect(status.log).to.include({ position: 2, actor: 'Admin' });
    expect(status.projections).to.have.length(5);
  });

  it('verify finds no differences, then names them after tampering, and a rebuild fixes the rows', async () => {
    const clean = await run('verify');
    expect(clean).to.include({ code: 0 });
    expect(clean.out).to.match(/^The hash chain is valid: 2 events, head [0-9a-f]{64}\.$/m);
    await pool.query(
      `update service.service_collections set meta = meta || '{"note": "forged"}' where collection = 'articles'`,
    );
    const result = await run('verify');
    expect(result.code).to.equal(1);
    expect(result.out)
      .to.contain('1 difference at position 2')
      .and.contain('metadata articles meta.note: expected nothing, found "forged"');
    const answer = JSON.parse((await run('verify', '--json')).out) as {
      ok: boolean;
      projections: { differences: object[] };
    };
    expect(answer).to.include({ ok: false });
    expect(answer.projections.differences).to.have.length(1);
    const rebuilt = await run('rebuild', 'metadata');
    expect(rebuilt.code, rebuilt.err).to.equal(0);
    expect(rebuilt.out).to.contain('metadata: at position 2').and.contain('1 replaced');
    expect((await run('verify')).code).to.equal(0);
  });

  it('verify names the changed event', async () => {
    const change = (name: string): Promise<unknown> =>
      pool.query(
        `alter table service.service_events disable trigger service_events_append_only;
         update service.service_events set data = jsonb_set(data, '{collection,meta,note}', '${name}') where position = 2;
         alter table service.service_events enable always trigger service_events_append_only`,
      );
    await change('"forged"');
    const { code, out } = await run('verify');
    await change('null');
    expect(code).to.equal(1);
    expect(out)
      .to.contain('The hash chain is broken at position 2: its hash does not match')
      .and.contain('1 events before it are valid');
    expect((await run('verify')).code).to.equal(0);
  });

  it('rebuild creates and alters tables to match the log, and drops nothing', async () => {
    await pool.query('alter table authors add column secret text');
    await pool.query('drop table articles');
    const { code, out } = await run('rebuild', 'tables');
    expect(code).to.equal(1);
    expect(out)
      .to.contain('done: create table articles')
      .and.match(/skipped: .*secret.*it drops an object or may lose values/);
    expect(out).to.contain('authors.secret column: expected nothing, found "text"');
    await pool.query('alter table authors drop column secret');
    expect((await run('rebuild', 'tables')).code).to.equal(0);
    expect((await run('rebuild', 'indexes')).code).to.equal(0);
    for (const name of ['trash', 'change-requests']) expect((await run('rebuild', name)).code, name).to.equal(0);
  });

  it('rebuild resumes the index builder, and the service follows', async () => {
    const client = clientOf(service);
    const text = (name: string) => ({ field: name, type: 'text', schema: {}, meta: { interface: 'input' } });
    await client('/collections', json({ collection: 'pages', schema: {}, fields: [text('body'), text('title')] }));
    const index = (name: string) =>
      client(`/fields/pages/${name}?concurrentIndexCreation`, json({ schema: { is_indexed: true } }, 'PATCH'));
    const stopped = async () => (await run('status')).code === 1;
    await pool.query(
      `insert into pages (body) select string_agg(md5(random()::text), '') from generate_series(1, 1000)`,
    );
    expect((await index('body')).status).to.equal(200);
    await until('the builder stops', stopped);
    const refused = await run('rebuild', 'indexes');
    expect(refused.code).to.equal(2);
    expect(refused.err).to.contain('PostgreSQL rejected the index').and.contain('Next: A value is too large');
    await pool.query('truncate pages');
    expect((await run('rebuild', 'indexes')).code).to.equal(0);
    expect(await stopped()).to.equal(false);
    await index('title');
    const built = `select from pg_index i join pg_class c on c.oid = i.indexrelid where c.relname = 'pages_title_index'`;
    await until('the service has built the next one', async () => (await pool.query(built)).rowCount === 1);
  });

  it('rejects invalid usage with exit code 2', async () => {
    for (const args of [
      ['rebuild'],
      ['rebuild', 'all'],
      ['status', 'now'],
      ['verify', '--into', 'x'],
      ['doctor', 'please'],
    ]) {
      const { code, out } = await run(...args);
      expect(code, args.join(' ')).to.equal(2);
      expect(out).to.equal('');
    }
  });
});

describe('progress', () => {
  const messagesOf = (terminal: { rewrite?: boolean }) => {
    const lines: string[] = [];
    let time = 0;
    const say = (line: string): void => void lines.push(line);
    const progress = createProgress(
      { print: say, note: say, read: () => Promise.resolve(''), ...(terminal.rewrite && { rewrite: say }) },
      'work',
      () => time,
    );
    for (let done = 0; done <= 100; done += 1) {
      time += 200;
      progress.at(done, 100);
    }
    progress.end();
    return lines;
  };

  it('is a bar on a terminal that disappears at the end', () => {
    const lines = messagesOf({ rewrite: true });
    expect(lines).to.have.length(102);
    expect(lines[50]).to.equal(`work [${'#'.repeat(15)}${'.'.repeat(15)}] 50 % (50 of 100), about 11 s left`);
    expect(lines.at(-1)).to.equal('');
  });

  it('is an occasional line elsewhere', () => {
    const lines = messagesOf({});
    expect(lines.length).to.be.within(4, 6);
    expect(lines.at(-1)).to.equal('work: 100 % (100 of 100)');
  });
});
