import { expect } from 'chai';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';
import {
  type Person,
  type Snapshot,
  dataOf,
  diffOf,
  newPerson,
  noted,
  open,
  rejectionOf,
  show,
  without,
} from './people.js';

const FIELDS = ['title', 'body', 'subtitle'].map((field) => ({
  field,
  type: 'string',
  interface: 'input',
  schema: {},
}));

describe('change requests of people', () => {
  const { client: admin } = withService({ consistent: true });
  let author: Person;
  let other: Person;
  let auditor: Person;
  let reader: Person;

  before(async () => {
    for (const collection of ['articles', 'pages'])
      expect((await admin('/collections', json({ collection, schema: {}, fields: FIELDS }))).status).to.equal(200);
    author = await newPerson(admin, 'author', 'author');
    other = await newPerson(admin, 'other', 'author');
    auditor = await newPerson(admin, 'auditor', 'auditor');
    reader = await newPerson(admin, 'reader', 'reader');
  });

  const events = async (
    id: string,
  ): Promise<{ type: string; actor: { id: string }; position: number; batch: string }[]> =>
    dataOf(await admin(`/history/events?subject=change:${id}`));

  it('are opened with a diff, shown with their plan, approved and applied', async () => {
    const diff = await diffOf(admin, without('articles', 'subtitle'));
    const opened = await open(author.send, { title: 'No subtitles', reason: 'nobody reads them', diff });
    expect(opened).to.deep.include({ state: 'open', title: 'No subtitles', reason: 'nobody reads them' });
    expect(opened.author).to.deep.equal({ id: author.id, name: 'author' });
    expect((await admin('/fields/articles/subtitle')).status, 'it was changed already').to.equal(200);

    const shown = await show(auditor.send, opened.id);
    expect(shown.planned).to.deep.include({ fresh: true, hash: opened.plan });
    expect(shown.planned?.statements.map(({ sql }) => sql).join()).to.include('DROP COLUMN');
    expect(shown.planned?.loses).to.deep.equal([
      { collection: 'articles', field: 'subtitle', kept: true, why_not: null },
    ]);

    const output = await other.send(`/changes/${opened.id}/comment`, json({ comment: 'Are\nyou sure?' }));
    expect(output.status, output.text).to.equal(200);
    const approved = await admin(`/changes/${opened.id}/approve`, json({ plan: opened.plan, comment: 'yes' }));
    expect(approved.status, approved.text).to.equal(200);
    expect(dataOf(approved).state).to.equal('approved');
    const { proposal } = await show(author.send, opened.id);
    expect(proposal.comments.map(({ by, text }) => [by.id, text])).to.deep.equal([[other.id, 'Are\nyou sure?']]);
    expect(proposal.approvals).to.have.length(1);
    expect(proposal.approvals[0]).to.deep.include({ plan: opened.plan, counts: true, text: 'yes' });

    const applied = await admin(`/changes/${opened.id}/apply`, { method: 'POST' });
    expect(applied.status, applied.text).to.equal(200);
    expect(dataOf(applied)).to.deep.include({ state: 'applied', allowed: ['comment', 'revert'] });
    expect((await admin('/fields/articles/subtitle')).status).to.equal(404);
    const all = await events(opened.id);
    expect(all.map(({ type }) => type)).to.deep.equal([
      'change.opened',
      'change.commented',
      'change.approved',
      'change.applied',
    ]);
    const batch = dataOf<{ type: string }[]>(await admin(`/history/events?batch=${applied.headers.get('x-batch-id')}`));
    expect(batch.map(({ type }) => type)).to.deep.equal(['field.deleted', 'change.applied']);
  });

  it('are opened with a snapshot, including those of an earlier state', async () => {
    const base = Number((await admin('/schema/snapshot')).headers.get('x-log-position'));
    const older = (await admin('/schema/snapshot')).json as Snapshot;
    expect((await admin('/collections/pages', json({ meta: { note: 'by somebody else' } }, 'PATCH'))).status).to.equal(
      200,
    );
    noted('articles', 'from a snapshot')(older);
    const opened = await open(author.send, { title: 'A note', snapshot: older, base });
    expect((await admin(`/changes/${opened.id}/apply`, { method: 'POST' })).status).to.equal(200);
    const note = async (name: string): Promise<unknown> =>
      dataOf<{ meta: { note: string } }>(await admin(`/collections/${name}`)).meta.note;
    expect(await note('articles')).to.equal('from a snapshot');
    expect(await note('pages')).to.equal('by somebody else');
  });

  it('cannot be approved or applied with an outdated plan', async () => {
    const diff = await diffOf(admin, without('articles', 'body'));
    const { id, plan } = await open(author.send, { title: 'No body', diff });
    expect(rejectionOf(await admin(`/changes/${id}/approve`, json({ plan: 'f'.repeat(64) })))).to.equal(
      '409 PLAN_CHANGED',
    );

    // Unrelated changes have no effect.
    expect((await admin('/collections/pages', json({ meta: { note: 'other' } }, 'PATCH'))).status).to.equal(200);
    expect((await admin('/fields/articles', json({ field: 'more', type: 'integer', schema: {} }))).status).to.equal(
      200,
    );
    expect((await admin(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    expect((await show(admin, id)).planned).to.deep.include({ fresh: true, hash: plan });

    // The removed object is different now.
    expect((await admin('/fields/articles/body', json({ meta: { note: 'still used' } }, 'PATCH'))).status).to.equal(
      200,
    );
    const stale = await show(admin, id);
    expect(stale.planned).to.deep.include({ fresh: false, hash: null });
    expect(rejectionOf(await admin(`/changes/${id}/apply`, { method: 'POST' }))).to.equal('409 SCHEMA_CHANGED');
    expect(rejectionOf(await admin(`/changes/${id}/approve`, json({ plan })))).to.equal('409 SCHEMA_CHANGED');
    expect((await show(admin, id)).state).to.equal('approved');

    const renewed = await diffOf(admin, without('articles', 'body'));
    const updated = dataOf(await author.send(`/changes/${id}`, json({ diff: renewed }, 'PATCH')));
    expect(updated).to.deep.include({ state: 'open', id });
    expect(updated.plan).to.not.equal(plan);
    const [old] = (await show(admin, id)).proposal.approvals;
    expect(old).to.deep.include({ counts: false, why_not: 'another plan' });
    expect(rejectionOf(await admin(`/changes/${id}/approve`, json({ plan })))).to.equal('409 PLAN_CHANGED');
    expect((await author.send(`/changes/${id}/withdraw`, { method: 'POST' })).status).to.equal(200);
  });

  it('become stale when a collection to remove changes its content', async () => {
    const created = { collection: 'temporary', schema: {}, fields: FIELDS };
    expect((await admin('/collections', json(created))).status).to.equal(200);
    const diff = await diffOf(admin, (snapshot) => {
      for (const part of ['collections', 'fields', 'relations'] as const)
        snapshot[part] = snapshot[part].filter(({ collection }) => collection !== 'temporary') as never;
    });
    const { id, plan } = await open(author.send, { title: 'Not needed', diff });
    expect((await admin(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    expect((await admin('/fields/temporary', json({ field: 'more', type: 'integer', schema: {} }))).status).to.equal(
      200,
    );
    const stale = await show(admin, id);
    expect(stale.planned?.fresh).to.equal(false);
    expect(stale.planned?.hash)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(plan);
    expect(rejectionOf(await admin(`/changes/${id}/apply`, { method: 'POST' }))).to.equal('409 PLAN_CHANGED');
    expect(rejectionOf(await admin(`/changes/${id}/approve`, json({ plan })))).to.equal('409 PLAN_CHANGED');
    expect((await admin('/collections/temporary')).status).to.equal(200);
    expect((await admin(`/changes/${id}/withdraw`, { method: 'POST' })).status).to.equal(200);
  });

  it('reject actions that do not fit their state, with the state and allowed actions', async () => {
    const diff = await diffOf(admin, noted('articles', 'never'));
    const { id, plan } = await open(author.send, { title: 'Never', diff });
    const rejected = await admin(`/changes/${id}/reject`, json({ comment: 'no' }));
    expect(dataOf(rejected)).to.deep.include({
      state: 'rejected',
      allowed: ['update', 'rebase', 'comment', 'withdraw'],
    });
    for (const [path, body] of [
      ['apply', undefined],
      ['prepare', undefined],
      ['approve', { plan }],
      ['reject', {}],
    ] as const) {
      const answer = await admin(`/changes/${id}/${path}`, body === undefined ? { method: 'POST' } : json(body));
      expect(rejectionOf(answer), path).to.equal('409 INVALID_STATE');
      const [error] = (answer.json as { errors: { extensions: Record<string, unknown> }[] }).errors;
      expect(error?.extensions).to.deep.include({
        state: 'rejected',
        allowed: ['update', 'rebase', 'comment', 'withdraw'],
      });
    }
    const again = await author.send(`/changes/${id}`, json({ title: 'Please', reason: 'really' }, 'PATCH'));
    expect(dataOf(again)).to.deep.include({ state: 'open', title: 'Please', reason: 'really', plan });
    const withdrawn = await author.send(`/changes/${id}/withdraw`, { method: 'POST' });
    expect(dataOf(withdrawn)).to.deep.include({ state: 'withdrawn', allowed: ['comment'], cleaning: false });
    expect((await other.send(`/changes/${id}/comment`, json({ comment: 'a pity' }))).status).to.equal(200);
    expect(rejectionOf(await author.send(`/changes/${id}`, json({ title: 'x' }, 'PATCH')))).to.equal(
      '409 INVALID_STATE',
    );
  });

  it('are listed by state, author and collection, and hidden from readers', async () => {
    const diff = await diffOf(admin, noted('pages', 'listed'));
    const { id } = await open(other.send, { title: 'Listed', diff });
    const list = async (query: string): Promise<string[]> =>
      dataOf<{ id: string }[]>(await author.send(`/changes?${query}`)).map((each) => each.id);
    expect(await list('state=open')).to.deep.equal([id]);
    expect(await list(`author=${other.id}&collection=pages`)).to.deep.equal([id]);
    expect(await list(`author=${author.id}&state=open`)).to.deep.equal([]);
    expect(rejectionOf(await reader.send('/changes'))).to.equal('403 FORBIDDEN');
    expect((await admin(`/changes/${id}/withdraw`, { method: 'POST' })).status).to.equal(200);
  });

  it('allow each role its own actions', async () => {
    const diff = await diffOf(admin, noted('pages', 'roles'));
    const { id, plan } = await open(author.send, { title: 'Roles', diff });
    const entries: [string, string, unknown, string][] = [
      ['GET', '/changes', undefined, 'author or auditor'],
      ['GET', `/changes/${id}`, undefined, 'author or auditor'],
      ['POST', '/changes', { title: 'x' }, 'author'],
      ['PATCH', `/changes/${id}`, {}, 'author'],
      ['POST', `/changes/${id}/comment`, {}, 'author'],
      ['POST', `/changes/${id}/approve`, { plan }, 'admin'],
      ['POST', `/changes/${id}/reject`, {}, 'admin'],
      ['POST', `/changes/${id}/prepare`, undefined, 'admin'],
      ['POST', `/changes/${id}/apply`, undefined, 'admin'],
      ['POST', `/changes/${id}/withdraw`, undefined, 'author'],
    ];
    const people = { author: other, auditor, reader };
    for (const [method, path, body, needs] of entries)
      for (const [role, { send }] of Object.entries(people)) {
        const answer = await send(path, body === undefined ? { method } : json(body, method));
        const lacks = `This request requires the role ${needs}, and your role is ${role}.`;
        if (needs.split(' or ').includes(role)) expect(answer.text, `${role} ${method} ${path}`).to.not.include(lacks);
        else
          expect([answer.status, answer.text.includes(lacks)], `${role} ${method} ${path}`).to.deep.equal([403, true]);
      }
    for (const path of ['', '/withdraw'])
      expect(
        rejectionOf(await other.send(`/changes/${id}${path}`, json({ title: 'mine' }, path === '' ? 'PATCH' : 'POST'))),
        'of someone else',
      ).to.equal('403 FORBIDDEN');
    expect((await show(admin, id)).state).to.equal('open');
    // Authors read what readers read, and change nothing.
    expect((await author.send('/collections')).status).to.equal(200);
    for (const path of ['/users', '/history/events', '/trash'])
      expect(rejectionOf(await author.send(path)), path).to.equal('403 FORBIDDEN');
    const direct = await author.send('/collections/pages', json({ meta: { note: 'direct' } }, 'PATCH'));
    expect(rejectionOf(direct)).to.equal('403 FORBIDDEN');
    expect((await admin(`/changes/${id}/withdraw`, { method: 'POST' })).status).to.equal(200);
  });
});
