import { expect } from 'chai';
import { json } from '../../support/client.js';
import { column } from '../../support/online.js';
import { withService } from '../../support/with-service.js';
import {
  type Person,
  type Shown,
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

interface Reverting extends Shown {
  returns: { collection: string; field: string | null; position: number; kept_until: string | null }[];
}

describe('change requests', () => {
  const { client: admin, api } = withService({ consistent: true });
  let author: Person;
  let other: Person;
  let table: string;
  let tables = 0;

  before(async () => {
    author = await newPerson(admin, 'author', 'author');
    other = await newPerson(admin, 'other', 'author');
  });
  beforeEach(async () => {
    table = `articles${++tables}`;
    await api.ok('POST', '/collections', { collection: table, schema: {}, fields: [column('title'), column('body')] });
  });

  const rebase = (id: string, body: object = {}, send = author.send) => send(`/changes/${id}/rebase`, json(body));
  const revert = (id: string, body: object = {}) => author.send(`/changes/${id}/revert`, json(body));
  const reverted = async (id: string): Promise<Reverting> => {
    const answer = await revert(id);
    expect(answer.status, answer.text).to.equal(201);
    return dataOf<Reverting>(answer);
  };
  const approve = async (id: string, plan: string): Promise<void> => {
    const answer = await admin(`/changes/${id}/approve`, json({ plan }));
    expect(answer.status, answer.text).to.equal(200);
  };
  const apply = async (id: string): Promise<Shown> => {
    const answer = await admin(`/changes/${id}/apply`, { method: 'POST' });
    expect(answer.status, answer.text).to.equal(200);
    return dataOf(answer);
  };
  const proposed = async (title: string, edit: (snapshot: Snapshot) => void): Promise<Shown> =>
    open(author.send, { title, diff: await diffOf(admin, edit) });
  const fieldNoted = (field: string, note: string) => (snapshot: Snapshot) => {
    const document = snapshot.fields.find((each) => each.collection === table && each.field === field);
    if (document !== undefined) document.meta = { ...document.meta, note };
  };
  const patch = (path: string, note: string) => api.ok('PATCH', path, { meta: { note } });
  const noteOf = async (path: string): Promise<unknown> =>
    dataOf<{ meta: { note: unknown } }>(await admin(path)).meta.note;
  const titles = async (): Promise<unknown[]> => {
    const rows = (await api.sql(`SELECT * FROM ${table} ORDER BY id`)) as { title?: string }[];
    return rows.map(({ title }) => title);
  };

  describe('with a backfill', () => {
    it('fill the rows after a rebase, even if the fields have other names', async () => {
      await api.sql(`INSERT INTO ${table} (title) VALUES ('One')`);
      const diff = await diffOf(admin, (snapshot) => {
        const body = snapshot.fields.find((each) => each.collection === table && each.field === 'body');
        Object.assign(body?.schema ?? {}, { is_nullable: false });
      });
      const [item] = (diff as { diff: { fields: object[] } }).diff.fields;
      Object.assign(item as object, { backfill: { expression: 'upper', field: 'title' } });
      const { id } = await open(author.send, { title: 'Bodies', diff });
      await api.ok('POST', `/fields/${table}/title/rename`, { to: 'headline' });
      await api.ok('POST', `/fields/${table}/body/rename`, { to: 'content' });
      const rebased = dataOf(await rebase(id));
      await approve(id, rebased.plan);
      expect((await apply(id)).state).to.equal('applied');
      const rows = await api.sql(`SELECT headline, content FROM ${table}`);
      expect(rows).to.deep.equal([{ headline: 'One', content: 'ONE' }]);
    });

    it('need a new approval for a different value', async () => {
      const diff = await diffOf(admin, (snapshot) => {
        const body = snapshot.fields.find((each) => each.collection === table && each.field === 'body');
        Object.assign(body?.schema ?? {}, { is_nullable: false });
      });
      const [item] = (diff as { diff: { fields: object[] } }).diff.fields;
      Object.assign(item as object, { backfill: { value: 'a' } });
      const { id, plan } = await open(author.send, { title: 'Bodies', diff });
      await approve(id, plan);
      Object.assign(item as object, { backfill: { value: 'b' } });
      const updated = dataOf<Shown>(await author.send(`/changes/${id}`, json({ diff }, 'PATCH')));
      expect([updated.state, updated.plan === plan]).to.deep.equal(['open', false]);
    });
  });

  describe('after a rebase', () => {
    it('keep approvals for the same plan, and return immediately without changes', async () => {
      const { id, plan } = await proposed('A note', noted(table, 'mine'));
      await approve(id, plan);
      const count = async () => dataOf<unknown[]>(await admin(`/history/events?subject=change:${id}`)).length;
      const before = await count();
      expect(dataOf(await rebase(id))).to.deep.include({ state: 'approved', plan });
      expect(await count(), 'an event that says nothing').to.equal(before);
      await patch(`/fields/${table}/body`, 'elsewhere');
      expect(dataOf(await rebase(id))).to.deep.include({ state: 'approved', plan });
      expect(await count()).to.equal(before + 1);
      const { proposal, planned } = await show(admin, id);
      expect(planned).to.deep.include({ fresh: true, errors: null });
      expect(proposal).to.deep.include({ approvals_counted: 1 });
      await apply(id);
      expect([await noteOf(`/collections/${table}`), await noteOf(`/fields/${table}/body`)]).to.deep.equal([
        'mine',
        'elsewhere',
      ]);
    });

    it('lose approvals for another plan, but still show them', async () => {
      const { id, plan } = await proposed('No body', without(table, 'body'));
      await approve(id, plan);
      await api.ok('PATCH', `/fields/${table}/title`, { meta: { note: 'other' } });
      await api.ok('PATCH', `/collections/${table}`, { meta: { note: 'other' } });
      expect(dataOf(await rebase(id)).state, 'not about what goes').to.equal('approved');
      const edited = fieldNoted('title', 'both');
      const second = await proposed('Two things', (snapshot) => {
        edited(snapshot);
        noted(table, 'mine')(snapshot);
      });
      await approve(second.id, second.plan);
      await patch(`/fields/${table}/title`, 'both');
      const rebased = dataOf(await rebase(second.id));
      expect(rebased.state).to.equal('open');
      expect(rebased.plan).to.not.equal(second.plan);
      const { proposal } = await show(admin, second.id);
      expect(proposal.approvals[0]).to.deep.include({ plan: second.plan, counts: false, why_not: 'another plan' });
      expect(rejectionOf(await admin(`/changes/${second.id}/approve`, json({ plan: second.plan })))).to.equal(
        '409 PLAN_CHANGED',
      );
      await approve(second.id, rebased.plan);
      await apply(second.id);
    });

    it('report conflicts with three values, and change nothing until resolved', async () => {
      await patch(`/collections/${table}`, 'base');
      const { id } = await proposed('A note', noted(table, 'mine'));
      await patch(`/collections/${table}`, 'yours');
      const before = await show(admin, id);
      const answer = await rebase(id);
      expect(rejectionOf(answer)).to.equal('409 MERGE_CONFLICT');
      const [error] = (answer.json as { errors: { extensions: { place: object } }[] }).errors;
      expect(error?.extensions).to.deep.include({
        place: { part: 'collections', collection: table, path: ['meta', 'note'] },
        base: 'base',
        ours: 'yours',
        theirs: 'mine',
      });
      expect((await show(admin, id)).changed_at).to.equal(before.changed_at);
      const place = error?.extensions.place;
      const wrong = await rebase(id, { resolve: [{ place: { part: 'collections', collection: 'x' }, take: 'ours' }] });
      expect(rejectionOf(wrong)).to.equal('400 INVALID_PAYLOAD');
      expect(rejectionOf(await rebase(id, { resolve: [{ place, take: 'ours' }] })), 'nothing is left then').to.equal(
        '409 INVALID_STATE',
      );
      expect((await rebase(id, { resolve: [{ place, take: 'theirs' }] })).status).to.equal(200);
      await apply(id);
      expect(await noteOf(`/collections/${table}`)).to.equal('mine');
    });

    it('follow renames, and report when nothing is left to do', async () => {
      const { id, plan } = await proposed('A note', fieldNoted('title', 'mine'));
      await api.ok('POST', `/collections/${table}/rename`, { to: `${table}_renamed` });
      await api.ok('POST', `/fields/${table}_renamed/title/rename`, { to: 'heading' });
      const rebased = dataOf(await rebase(id));
      expect(rebased).to.deep.include({ collections: [`${table}_renamed`] });
      expect(rebased.plan).to.not.equal(plan);
      await patch(`/fields/${table}_renamed/heading`, 'mine');
      const answer = await rebase(id);
      expect(rejectionOf(answer)).to.equal('409 INVALID_STATE');
      expect(answer.text).to.include('Nothing remains to revert');
    });

    it('must belong to the caller and be open', async () => {
      const { id } = await proposed('A note', noted(table, 'mine'));
      expect(rejectionOf(await rebase(id, {}, other.send))).to.equal('403 FORBIDDEN');
      expect((await rebase(id, {}, admin)).status).to.equal(200);
      expect(rejectionOf(await rebase(id, { resolve: 'ours' }))).to.equal('400 INVALID_PAYLOAD');
      await admin(`/changes/${id}/withdraw`, { method: 'POST' });
      expect(rejectionOf(await rebase(id))).to.equal('409 INVALID_STATE');
    });

    it('serialize with concurrent approvals', async () => {
      for (let turn = 0; turn < 4; turn++) {
        const { id, plan } = await proposed('A note', (snapshot) => {
          fieldNoted('title', `both ${turn}`)(snapshot);
          noted(table, `mine ${turn}`)(snapshot);
        });
        await patch(`/fields/${table}/title`, `both ${turn}`);
        const [approval, rebased] = await Promise.all([admin(`/changes/${id}/approve`, json({ plan })), rebase(id)]);
        expect(rebased.status, rebased.text).to.equal(200);
        // The reviewed plan is outdated, whichever request is first.
        expect(rejectionOf(approval)).to.match(/^409 (PLAN_CHANGED|SCHEMA_CHANGED)$/);
        const now = await show(admin, id);
        expect(now).to.deep.include({ state: 'open' });
        const same = await Promise.all([approve(id, now.plan), rebase(id)]);
        expect(same[1].status).to.equal(200);
        expect((await show(admin, id)).state).to.equal('approved');
        await apply(id);
      }
    });
  });

  describe('after a revert', () => {
    it('restore rows from the trash, and show how long that is possible', async () => {
      await api.sql(`INSERT INTO ${table} (title) VALUES ('one'), ('two')`);
      const { id } = await proposed('No titles', without(table, 'title'));
      await apply(id);
      const back = await reverted(id);
      expect(back).to.deep.include({ state: 'open', reverts: id, title: 'Revert: No titles', collections: [table] });
      expect(back.returns).to.have.length(1);
      expect(back.returns[0]).to.deep.include({ collection: table, field: 'title' });
      expect(Date.parse(back.returns[0]?.kept_until ?? '')).to.be.greaterThan(Date.now());
      const shown = await show(admin, back.id);
      expect(shown.planned).to.deep.include({ returns: back.returns });

      const again = await revert(id);
      expect(rejectionOf(again)).to.equal('409 INVALID_STATE');
      expect(again.text).to.include(back.id);
      await apply(back.id);
      expect(await titles()).to.deep.equal(['one', 'two']);
      expect(rejectionOf(await revert(id)), 'the schema already has this state').to.equal('409 INVALID_STATE');

      // A revert of the revert, and of that.
      const forth = await reverted(back.id);
      expect(forth).to.deep.include({ title: 'Revert: Revert: No titles', returns: [] });
      await apply(forth.id);
      expect((await admin(`/fields/${table}/title`)).status).to.equal(404);
      const last = await reverted(forth.id);
      await apply(last.id);
      expect(await titles()).to.deep.equal(['one', 'two']);
    });

    it('restore whole tables, and remove created ones', async () => {
      await api.sql(`INSERT INTO ${table} (title) VALUES ('kept')`);
      const { id } = await proposed('No table', (snapshot) => {
        for (const part of ['collections', 'fields', 'relations'] as const)
          snapshot[part] = snapshot[part].filter(({ collection }) => collection !== table) as never;
      });
      await apply(id);
      const back = await reverted(id);
      expect(back.returns.map(({ collection, field }) => [collection, field])).to.deep.equal([[table, null]]);
      await apply(back.id);
      expect(await titles()).to.deep.equal(['kept']);
    });

    it('have a title derived from the reverted request, truncated if needed', async () => {
      const { id } = await proposed('é'.repeat(200), noted(table, 'mine'));
      await apply(id);
      expect((await reverted(id)).title).to.equal(`Revert: ${'é'.repeat(192)}`);
    });

    it('keep later changes by others, and report conflicts', async () => {
      const { id } = await proposed('A note', noted(table, 'mine'));
      await apply(id);
      await patch(`/fields/${table}/body`, 'since');
      const back = await reverted(id);
      await apply(back.id);
      expect([await noteOf(`/collections/${table}`), await noteOf(`/fields/${table}/body`)]).to.deep.equal([
        null,
        'since',
      ]);

      const second = await proposed('A note', noted(table, 'second'));
      await apply(second.id);
      await patch(`/collections/${table}`, 'later');
      const answer = await revert(second.id);
      expect(rejectionOf(answer)).to.equal('409 MERGE_CONFLICT');
      const place = { part: 'collections', collection: table, path: ['meta', 'note'] };
      expect((answer.json as { errors: { extensions: object }[] }).errors[0]?.extensions).to.deep.include({
        place,
        base: 'second',
        ours: 'later',
        theirs: null,
      });
      const decided = await revert(second.id, {
        resolve: [{ place, take: 'theirs' }],
        title: 'Away',
        reason: 'a wish',
      });
      expect(dataOf(decided)).to.deep.include({ title: 'Away', reason: 'a wish', state: 'open' });
      await apply(dataOf(decided).id);
      expect(await noteOf(`/collections/${table}`)).to.equal(null);
    });

    it('restore empty objects after a purge, and a rebase updates earlier requests', async () => {
      await api.sql(`INSERT INTO ${table} (title) VALUES ('gone')`);
      const { id } = await proposed('No titles', without(table, 'title'));
      await apply(id);
      const back = await reverted(id);
      await approve(back.id, back.plan);
      await api.ok('DELETE', `/trash/${back.returns[0]?.position}`);
      expect(rejectionOf(await admin(`/changes/${back.id}/apply`, { method: 'POST' }))).to.match(/^409 /);
      const rebased = dataOf(await rebase(back.id));
      expect(rebased.state).to.equal('open');
      expect(rebased.plan).to.not.equal(back.plan);
      await apply(back.id);
      expect(await titles()).to.deep.equal([null]);
    });

    it('can only follow an applied request', async () => {
      const { id } = await proposed('A note', noted(table, 'mine'));
      expect(rejectionOf(await revert(id))).to.equal('409 INVALID_STATE');
      expect(rejectionOf(await revert('7b0b6c6e-0000-4000-8000-000000000000'))).to.equal('404 NOT_FOUND');
      expect(rejectionOf(await revert(id, { title: '' }))).to.equal('400 INVALID_PAYLOAD');
    });
  });
});
