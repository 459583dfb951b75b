import { expect } from 'chai';
import pg from 'pg';
import { json } from '../../support/client.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';
import { type Shown, type Snapshot, dataOf, diffOf, open, rejectionOf, show } from './people.js';

describe('online change requests of people', () => {
  const { service, client: admin } = withService({ consistent: true, atEnd: () => db.end() });
  let db: pg.Client;

  before(async () => {
    db = new pg.Client(service.databaseUrl);
    await db.connect();
    const fields = ['title', 'note'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));
    expect((await admin('/collections', json({ collection: 'large', schema: {}, fields }))).status).to.equal(200);
    await db.query(
      `INSERT INTO large (title, note) SELECT repeat('x', 200) || i, 'n' FROM generate_series(1, 60000) i`,
    );
    await db.query('ANALYZE large');
  });

  const required =
    (name: string) =>
    (snapshot: Snapshot): void => {
      const document = snapshot.fields.find(({ field }) => field === name);
      if (document?.schema) document.schema['is_nullable'] = false;
    };
  const reaches = async (id: string, state: string): Promise<Shown> => {
    let shown = await show(admin, id);
    await until(`the request is ${state}`, async () => {
      shown = await show(admin, id);
      return shown.state === state;
    });
    return shown;
  };
  const types = async (id: string): Promise<string[]> =>
    dataOf<{ type: string }[]>(await admin(`/history/events?subject=change:${id}`)).map(({ type }) => type);

  it('wait after preparation until someone applies them', async () => {
    const { id, plan } = await open(admin, {
      title: 'Titles',
      diff: await diffOf(admin, required('title')),
      online: true,
    });
    const prepared = await admin(`/changes/${id}/prepare`, { method: 'POST' });
    expect([prepared.status, prepared.headers.get('location')]).to.deep.equal([202, `/changes/${id}`]);
    expect((await reaches(id, 'prepared')).allowed).to.include.members(['apply', 'approve', 'withdraw']);
    expect(await types(id)).to.deep.equal(['change.opened', 'change.preparing', 'change.prepared']);
    const held = await admin('/fields/large/title', json({ schema: { max_length: 300 } }, 'PATCH'));
    expect(rejectionOf(held)).to.equal('409 IN_USE');
    expect((await admin(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    const applied = await admin(`/changes/${id}/apply`, { method: 'POST' });
    expect(applied.status, applied.text).to.equal(202);
    await reaches(id, 'applied');
    const field = dataOf<{ schema: { is_nullable: boolean } }>(await admin('/fields/large/title'));
    expect(field.schema.is_nullable).to.equal(false);
  });

  it('are prepared and applied in one go, and a listener receives each event', async () => {
    const from = (await admin('/schema/snapshot')).headers.get('x-log-position') ?? '';
    const stop = new AbortController();
    const stream = await fetch(`${service.url}/history/stream?after=${from}`, {
      headers: { authorization: `Bearer ${service.adminToken}` },
      signal: stop.signal,
    });
    const heard: string[] = [];
    const listening = (async () => {
      for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>)
        heard.push(Buffer.from(chunk).toString());
    })().catch(() => undefined);
    const { id } = await open(admin, { title: 'Notes', diff: await diffOf(admin, required('note')), online: true });
    expect((await admin(`/changes/${id}/comment`, json({ comment: 'now' }))).status).to.equal(200);
    expect((await admin(`/changes/${id}/apply`, { method: 'POST' })).status).to.equal(202);
    await reaches(id, 'applied');
    const all = ['change.opened', 'change.commented', 'change.preparing', 'change.prepared', 'change.applied'];
    expect(await types(id)).to.deep.equal(all);
    await until('all of it is heard', () => Promise.resolve(all.every((type) => heard.join('').includes(type))));
    stop.abort();
    await listening;
  });

  it('accept acknowledgements of the online change only', async () => {
    const diff = await diffOf(admin, ({ fields }) => {
      const title = fields.find(({ field }) => field === 'title');
      if (title?.schema) title.schema['is_unique'] = true;
    });
    const known = { title: 'Titles', diff, acknowledge: [{ code: 'LONG_LOCK', place: 'large.title' }] };
    const refused = await admin('/changes', json({ ...known, online: true }));
    expect([refused.status, refused.text.includes('acknowledge[0]')], refused.text).to.deep.equal([400, true]);
    const plainly = await admin('/changes', json(known));
    expect(plainly.status, plainly.text).to.equal(201);
    await admin(`/changes/${dataOf<Shown>(plainly).id}/withdraw`, { method: 'POST' });
  });

  it('show the findings of the online change, and of the plain one without "online"', async () => {
    const diff = await diffOf(admin, ({ fields }) => {
      const titleField = fields.find(({ field }) => field === 'title');
      if (titleField?.schema) titleField.schema['is_unique'] = true;
    });
    const codes = async (online: boolean): Promise<string[]> => {
      const { id } = await open(admin, { title: 'Unique titles', diff, online });
      const { planned } = await show(admin, id);
      await admin(`/changes/${id}/withdraw`, { method: 'POST' });
      return planned?.findings.map(({ code }) => code) ?? [];
    };
    expect(await codes(true))
      .to.include('MAY_FAIL')
      .and.not.include('LONG_LOCK');
    expect(await codes(false)).to.include('LONG_LOCK');
  });

  it('leave nothing when rejected during preparation', async () => {
    const fields = (snapshot: Snapshot): void => {
      const note = snapshot.fields.find(({ field }) => field === 'note');
      if (note?.schema) note.schema['is_unique'] = true;
    };
    await db.query(`UPDATE large SET note = 'n' || id`);
    const { id } = await open(admin, { title: 'Unique', diff: await diffOf(admin, fields), online: true });
    expect((await admin(`/changes/${id}/prepare`, { method: 'POST' })).status).to.equal(202);
    await reaches(id, 'prepared');
    expect((await admin(`/changes/${id}/reject`, { method: 'POST' })).status).to.equal(200);
    const left = async (): Promise<number> =>
      (
        await db.query(`SELECT relname AS name FROM pg_class WHERE relname LIKE 'dps_online%'
                       UNION ALL SELECT request::text FROM service.service_preparations`)
      ).rows.length;
    await until('nothing is left', async () => (await left()) === 0);
    expect((await admin(`/changes/${id}/withdraw`, { method: 'POST' })).status).to.equal(200);
  });
});
