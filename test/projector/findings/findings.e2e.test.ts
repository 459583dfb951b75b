import { expect } from 'chai';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

interface Shown {
  code: string;
  level: string;
  collection?: string;
  field?: string;
  message: string;
  event?: number;
  statement?: number;
  statistics?: { rows: number | null; bytes: number | null; age: number | null; uses: number | null } | null;
}

interface Plan {
  events: object[];
  statements: { summary: string; event: number }[];
  warnings: Shown[];
}

describe('findings of a plan', () => {
  const { api, client: send } = withService();
  const sql = (text: string) => api.sql(text);

  before(async () => {
    const fields = ['title', 'slug', 'body'].map((field) => ({ field, type: 'string', interface: 'input' }));
    for (const collection of ['articles', 'quiet']) {
      const { status, text } = await send('/collections', json({ collection, schema: {}, fields }));
      expect(status, text).to.equal(200);
    }
    await sql(`INSERT INTO articles (title) SELECT 'a' || n FROM generate_series(1, 20000) n`);
    await sql('ANALYZE articles');
    await sql('CREATE VIEW headlines AS SELECT title FROM articles');
    await sql(`CREATE FUNCTION newest() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT max(slug) FROM articles; END`);
  });

  const snapshot = async () =>
    JSON.parse((await send('/schema/snapshot')).text) as {
      fields: { collection: string; field: string; type: string; schema: Record<string, unknown> }[];
    };

  const diffOf = async (change: (field: { field: string; type: string; schema: object }) => boolean) => {
    const desired = await snapshot();
    desired.fields = desired.fields.filter((each) => each.collection !== 'articles' || change(each));
    const { status, json: answer, text } = await send('/schema/diff', json(desired));
    expect(status, text).to.equal(200);
    return answer as { hash: string; diff: object; warnings: Shown[] };
  };

  it('show sizes and the age of the statistics', async () => {
    const { warnings } = await diffOf((each) => {
      if (each.field === 'body') Object.assign(each.schema, { is_nullable: false });
      return true;
    });
    const lock = warnings.find(({ code }) => code === 'LONG_LOCK');
    expect(lock).to.include({ level: 'warn', collection: 'articles', field: 'body' });
    expect(lock?.statistics?.rows).to.be.within(19_000, 21_000);
    expect(lock?.statistics?.age).to.be.within(0, 600);
    expect(lock?.message).to.match(/about 2\d,\d{3} rows, \d+ (kB|MB); the statistics are \d+ s old/);
    expect(lock).not.to.have.any.keys('event', 'statement');
  });

  it('name dependent views and functions of dropped objects only', async () => {
    const goes = async (name: string) =>
      (await diffOf(({ field }) => field !== name)).warnings.filter(({ code }) => code === 'NEEDED_ELSEWHERE');
    expect(
      (await goes('title')).map(({ level, field, message }) => [level, field, message.includes('view headlines')]),
    ).to.deep.equal([['danger', 'title', true]]);
    expect((await goes('slug')).map(({ message }) => /function newest\(\)/.test(message))).to.deep.equal([true]);
    expect(await goes('body')).to.deep.equal([]);
  });

  it('refer to the plan of a dry run and an explanation', async () => {
    const { hash, diff } = await diffOf((each) => {
      if (each.field === 'slug') Object.assign(each.schema, { is_indexed: true });
      return true;
    });
    for (const query of ['dry_run', 'explain']) {
      const { status, json: answer } = await send(`/schema/apply?${query}`, json({ hash, diff }));
      const plan = answer as Plan;
      expect(status).to.equal(200);
      const finding = plan.warnings.find(({ code }) => code === 'INDEX_UNDER_LOCK');
      expect(finding?.event, query).to.equal(0);
      expect(plan.statements[finding?.statement ?? -1]?.summary, query).to.contain('create index on articles.slug');
    }
  });

  it('report permanent data loss of a purging change', async () => {
    const expected = await diffOf(({ field }) => field !== 'body');
    const levels = async (query: string) => {
      const { json: answer } = await send(`/schema/apply?${query}`, json({ hash: expected.hash, diff: expected.diff }));
      return (answer as Plan).warnings.filter(({ code }) => code === 'LOSES_DATA').map(({ level }) => level);
    };
    expect(await levels('explain')).to.deep.equal(['warn']);
    expect(await levels('explain&purge')).to.deep.equal(['danger']);
    expect(await levels('dry_run&purge')).to.deep.equal(['danger']);
  });

  it('work before PostgreSQL has statistics', async () => {
    const desired = await snapshot();
    for (const each of desired.fields)
      if (each.collection === 'quiet' && each.field === 'body') Object.assign(each.schema, { is_nullable: false });
    const { json: answer } = await send('/schema/diff', json(desired));
    const lock = (answer as { warnings: Shown[] }).warnings.find(({ code }) => code === 'LONG_LOCK');
    expect(lock?.level).to.equal('warn');
    expect(lock?.statistics?.rows ?? null).to.equal(null);
  });
});
