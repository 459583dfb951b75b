import { expect } from 'chai';
import pg from 'pg';
import { json } from '../support/client.js';
import { endedRequest } from '../support/online.js';
import { until, untilAwaited } from '../support/until.js';
import { withService } from '../support/with-service.js';

interface Change {
  id: string;
  state: string;
  operation: string;
  collections: string[];
  steps: {
    key: string;
    kind: string;
    state: string;
    summary: string;
    milliseconds: number | null;
    done: number | null;
  }[];
  holds: string[];
  queued_behind: string[];
  waiting_for: { pid: number; application_name: string }[];
  cleaning: boolean;
  warnings: { code: string }[];
  result: { batch: string; position: number } | null;
  errors: { message: string; extensions: { code: string; [more: string]: unknown } }[] | null;
  error: string | null;
  allowed: string[];
  document: { hash: string; content: { operation: string; input: unknown } | null };
}

const FIELDS = [
  { field: 'title', type: 'string', interface: 'input', schema: {} },
  { field: 'code', type: 'integer', interface: 'input', schema: {} },
  { field: 'parent', type: 'integer', interface: 'input', schema: {} },
];

describe('online changes over HTTP', () => {
  const { service, client: send } = withService({ atEnd: () => db.end() });
  let db: pg.Client;

  before(async () => {
    db = new pg.Client(service.databaseUrl);
    await db.connect();
    for (const collection of ['small', 'large', 'other']) {
      const created = await send('/collections', json({ collection, schema: {}, fields: FIELDS }));
      expect(created.status, created.text).to.equal(200);
    }
    for (const table of ['large', 'other'])
      await db.query(
        `INSERT INTO ${table} (title, code, parent) SELECT repeat('x', 200) || i, i, i FROM generate_series(1, 60000) i`,
      );
    await db.query('ANALYZE');
  });

  const retrieve = async (id: string): Promise<Change> =>
    ((await send(`/changes/${id}`)).json as { data: Change }).data;
  const ended = (id: string, state: string): Promise<Change> => endedRequest(retrieve, id, state);
  const online = async (path: string, body: object, method = 'PATCH'): Promise<Change> => {
    const answer = await send(path, json(body, method));
    expect(answer.status, answer.text).to.equal(202);
    const { data } = answer.json as { data: Change };
    expect(answer.headers.get('location')).to.equal(`/changes/${data.id}`);
    return data;
  };
  /** The number and total duration (in milliseconds) of steps by kind, from the metrics. */
  const steps = async (): Promise<Record<string, number[]>> => {
    const { text } = await send('/metrics');
    const positions: Record<string, number[]> = {};
    for (const [, what, kind = '', value] of text.matchAll(
      /^dps_change_step_duration_seconds_(sum|count)\{kind="(\w+)"\} (\S+)$/gm,
    ))
      (positions[kind] ??= []).push(Math.round(Number(value) * (what === 'sum' ? 1_000 : 1)));
    return Object.fromEntries(Object.entries(positions).filter(([, [, count]]) => count !== 0));
  };
  const timesOf = (change: Change): Record<string, number[]> => {
    const times: Record<string, number[]> = {};
    for (const { kind, milliseconds } of change.steps) {
      const [sum = 0, count = 0] = times[kind] ?? [];
      times[kind] = [sum + (milliseconds ?? 0), count + 1];
    }
    return times;
  };
  const events = async (query: string): Promise<{ type: string; batch: string; data: object }[]> =>
    ((await send(`/history/events?${query}`)).json as { data: never[] }).data;
  const leftovers = async (): Promise<unknown[]> =>
    (
      await db.query(
        `SELECT conname FROM pg_constraint WHERE NOT convalidated
         UNION SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid
         UNION SELECT id::text FROM (SELECT request AS id FROM service.service_preparations) p`,
      )
    ).rows;

  it('are applied immediately with the same response if preparation has no benefit', async () => {
    const plain = await send('/fields/small/title', json({ schema: { is_nullable: false } }, 'PATCH'));
    const body = json({ schema: { is_nullable: false } }, 'PATCH');
    const answer = await send('/fields/small/code?online', body);
    expect(answer.status).to.equal(200);
    expect(Object.keys((answer.json as { data: object }).data)).to.deep.equal(
      Object.keys((plain.json as { data: object }).data),
    );
    expect(await events('subject=change')).to.have.length(0);
  });

  it('return 202 with the request, are prepared and applied', async () => {
    const tag = (await send('/relations')).headers.get('etag');
    const opened = await online('/fields/large/title?online', { schema: { is_nullable: false } });
    expect(opened).to.deep.include({ state: 'preparing', operation: 'update-fields', collections: ['large'] });
    expect(opened.steps.length).to.be.greaterThan(0);
    expect(opened.document.content?.operation).to.equal('update-fields');
    const done = await ended(opened.id, 'applied');
    expect(done.steps.every(({ state, milliseconds }) => state === 'done' && milliseconds !== null)).to.equal(true);
    expect(done).to.deep.include({ holds: [], allowed: ['revert'], errors: null });
    expect(await steps()).to.deep.equal(timesOf(done));
    const batch = await events(`batch=${done.result?.batch}`);
    expect(batch.map(({ type }) => type)).to.deep.equal(['field.updated', 'change.applied']);
    const all = await events(`subject=change:${opened.id}`);
    expect(all.map(({ type }) => type)).to.deep.equal([
      'change.opened',
      'change.preparing',
      'change.prepared',
      'change.applied',
    ]);
    const { rows } = await db.query(
      `SELECT is_nullable FROM information_schema.columns WHERE table_name = 'large' AND column_name = 'title'`,
    );
    expect(rows[0]).to.deep.equal({ is_nullable: 'NO' });
    expect(await leftovers()).to.deep.equal([]);
    expect((await send('/projections/verify')).json).to.have.nested.property('data.ok', true);
    expect((await send('/relations')).headers.get('etag')).to.equal(tag);
  });

  it('fail with the violating rows, and leave nothing behind', async () => {
    await db.query('UPDATE other SET code = 7 WHERE id <= 3');
    const { id } = await online('/fields/other/code?online', { schema: { is_unique: true } });
    const failed = await ended(id, 'failed');
    expect(failed.errors?.[0]?.extensions.code).to.equal('DATABASE_REFUSED');
    expect(failed.error).to.equal('DATABASE_REFUSED');
    expect(failed.errors?.[0]?.message).to.match(/code/);
    expect(await leftovers()).to.deep.equal([]);
    expect((await send('/projections/verify')).json).to.have.nested.property('data.ok', true);
  });

  it('block other changes to the table only, and queue a second online change', async () => {
    await db.query('UPDATE other SET code = id');
    const blocker = new pg.Client(service.databaseUrl);
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE other IN ROW EXCLUSIVE MODE');
    const first = await online('/fields/other/code?online', { schema: { is_nullable: false } });
    const second = await online('/fields/other/title?online', { schema: { is_nullable: false } });
    expect([first.state, second.state]).to.deep.equal(['preparing', 'queued']);
    expect((await retrieve(second.id)).queued_behind).to.deep.equal([first.id]);
    const refused = await send('/fields/other/parent', json({ schema: { is_nullable: false } }, 'PATCH'));
    expect(refused.status).to.equal(409);
    expect(refused.json).to.have.nested.property('errors[0].extensions.code', 'IN_USE');
    expect(refused.json).to.have.nested.property('errors[0].extensions.change', first.id);
    expect((await send('/collections/other', { method: 'DELETE' })).status).to.equal(409);
    expect((await send('/collections/other/rename', json({ to: 'another' }))).status).to.equal(409);
    expect((await send('/fields/other/parent', json({ meta: { note: 'n' } }, 'PATCH'))).status).to.equal(200);
    await until('it says who is in the way', async () => (await retrieve(first.id)).waiting_for.length > 0);
    await blocker.query('ROLLBACK');
    await blocker.end();
    await ended(first.id, 'applied');
    await ended(second.id, 'applied');
    expect(await leftovers()).to.deep.equal([]);
  });

  it('are withdrawn during preparation, and leave nothing behind', async () => {
    const blocker = new pg.Client(service.databaseUrl);
    await blocker.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK TABLE other IN ROW EXCLUSIVE MODE');
    const { id } = await online('/fields/other/parent?online', { schema: { is_unique: true } });
    const queued = await online('/fields/other/parent?online', { schema: { is_nullable: false } });
    for (const each of [queued.id, id]) {
      const withdrawn = await send(`/changes/${each}/withdraw`, { method: 'POST' });
      expect(withdrawn.status, withdrawn.text).to.equal(200);
      expect((await send(`/changes/${each}/withdraw`, { method: 'POST' })).status).to.equal(409);
    }
    await blocker.query('ROLLBACK');
    await blocker.end();
    await ended(id, 'withdrawn');
    expect(await leftovers()).to.deep.equal([]);
    expect((await send('/projections/verify')).json).to.have.nested.property('data.ok', true);
  });

  it('are cleaned up after the schema got its name back', async () => {
    const [holder, next] = [new pg.Client(service.databaseUrl), new pg.Client(service.databaseUrl)];
    await holder.connect();
    await next.connect();
    await holder.query('BEGIN; UPDATE other SET title = title WHERE id = 1');
    const { id } = await online('/fields/other/title?online', { schema: { is_indexed: true } });
    await until('the index is begun', async () => {
      const invalid = `SELECT FROM pg_index WHERE indrelid = 'public.other'::regclass AND NOT indisvalid`;
      return (await db.query(invalid)).rowCount === 1;
    });
    // It gets its lock when the index build is interrupted, and the cleanup waits for it, so the rename comes first.
    // PostgreSQL looks the name up again when it grants the lock, so the rename must come later than that.
    const locked = next.query('BEGIN; LOCK TABLE other IN SHARE UPDATE EXCLUSIVE MODE');
    await untilAwaited('public.other', async (text) => (await db.query(text)).rows);
    expect((await send(`/changes/${id}/withdraw`, { method: 'POST' })).status).to.equal(200);
    await locked;
    await db.query('ALTER SCHEMA public RENAME TO elsewhere');
    try {
      await holder.end();
      await next.end();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect((await retrieve(id)).cleaning).to.equal(true);
    } finally {
      await db.query('ALTER SCHEMA elsewhere RENAME TO public');
    }
    await ended(id, 'withdrawn');
    expect(await leftovers()).to.deep.equal([]);
  });

  it('prepare a diff with one large and several small entries as one request', async () => {
    const snapshot = (await send('/schema/snapshot')).json as {
      fields: { collection: string; field: string; schema: { is_nullable: boolean } }[];
    };
    for (const field of snapshot.fields) {
      if (field.collection === 'large' && field.field === 'code') field.schema.is_nullable = false;
      if (field.collection === 'small' && field.field === 'parent') field.schema.is_nullable = false;
    }
    const diff = await send('/schema/diff', json(snapshot));
    const answer = await send('/schema/apply?online', json(diff.json));
    expect(answer.status, answer.text).to.equal(202);
    const { id, collections } = (answer.json as { data: Change }).data;
    expect(collections).to.deep.equal(['large', 'small']);
    // A concurrent change to another table.
    expect((await send('/collections/small', json({ meta: { note: 'meanwhile' } }, 'PATCH'))).status).to.equal(200);
    await ended(id, 'applied');
    expect((await send('/schema/diff', json(snapshot))).status).to.equal(200);
  });

  it('are listed by state and collection, with counts and pages', async () => {
    const list = async (query: string) => (await send(`/changes?${query}`)).json as { data: Change[]; meta?: object };
    const all = await list('meta=*');
    expect(all.meta).to.deep.equal({ total_count: all.data.length, filter_count: all.data.length });
    const applied = await list('state=applied&meta=*&limit=1');
    expect(applied.data).to.have.length(1);
    expect(applied.data[0]?.state).to.equal('applied');
    expect((await list('collection=small')).data.every(({ collections }) => collections.includes('small'))).to.equal(
      true,
    );
    expect((await list('offset=1')).data[0]?.id).to.equal(all.data[1]?.id);
    expect((await send('/changes?state=nothing')).status).to.equal(400);
    expect((await send('/changes/nothing')).status).to.equal(404);
    expect((await send('/changes/7b0b6c6e-0000-4000-8000-000000000000')).status).to.equal(404);
    expect((await send('/changes/7b0b6c6e-0000-4000-8000-000000000000/withdraw', { method: 'POST' })).status).to.equal(
      404,
    );
  });

  it('are rebuilt from the log as the same rows', async () => {
    const rows = async () => (await db.query('SELECT * FROM service.service_changes ORDER BY id')).rows;
    const before = await rows();
    const [failed, gone] = ['failed', 'applied'].map((state) => before.find((row) => row.state === state));
    const unknown = '7b0b6c6e-0000-4000-8000-000000000000';
    await db.query(
      `UPDATE service.service_changes SET state = 'queued', request = request || '{"state":"queued"}' WHERE id = $1`,
      [failed.id],
    );
    await db.query(
      `INSERT INTO service.service_changes SELECT $2::uuid, state, collections, held, opened_position, request || jsonb_build_object('id', $2::text)
         FROM service.service_changes WHERE id = $1`,
      [gone.id, unknown],
    );
    await db.query('DELETE FROM service.service_changes WHERE id = $1', [gone.id]);
    const verified = (await send('/projections/verify')).json as { data: { ok: boolean; differences: object[] } };
    expect(verified.data.ok).to.equal(false);
    const difference = (
      id: string,
      row: { collections: string[] },
      expected: string | null,
      actual: string | null,
    ) => ({
      where: 'changes',
      collection: row.collections[0],
      member: `change request ${id}`,
      expected,
      found: actual,
    });
    expect(verified.data.differences).to.have.deep.members([
      difference(failed.id, failed, 'failed', 'queued'),
      difference(gone.id, gone, 'applied', null),
      difference(unknown, gone, null, 'applied'),
    ]);
    expect((await send('/projections/change-requests/rebuild', { method: 'POST' })).status).to.equal(200);
    expect(await rows()).to.deep.equal(before);
    expect((await send('/projections/verify')).json).to.have.nested.property('data.ok', true);
  });

  it('are rejected if the request is too large to be parsed at once, and leave nothing', async () => {
    const snapshot = (await send('/schema/snapshot')).json as {
      fields: { collection: string; field: string; meta: { note: string | null }; schema: { is_unique: boolean } }[];
    };
    const code = snapshot.fields.find(({ collection, field }) => collection === 'other' && field === 'code');
    if (code === undefined) throw new Error('there is no other.code');
    [code.schema.is_unique, code.meta.note] = [!code.schema.is_unique, 'n'.repeat(1_100_000)];
    const diff = await send('/schema/diff', json(snapshot));
    const before = (await send('/collections')).headers.get('x-log-position');
    const answer = await send('/schema/apply?online', json(diff.json));
    expect(answer.status, answer.text.slice(0, 200)).to.equal(422);
    expect(answer.text).to.contain('ONLINE_NOT_POSSIBLE').and.to.contain('1,048,576');
    expect((await send('/collections')).headers.get('x-log-position')).to.equal(before);
  });
});
