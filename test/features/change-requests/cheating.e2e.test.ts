import { expect } from 'chai';
import { clientOf, json, signIn } from '../../support/client.js';
import { startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';
import { type Person, dataOf, diffOf, newPerson, noted, open, rejectionOf, show, without } from './people.js';

interface Entry {
  collection: string;
  identity?: string;
  restores?: number;
  diff: { kind: string; rhs?: object }[];
}
interface Diff {
  hash: string;
  diff: { collections: Entry[]; fields: Entry[]; relations: Entry[] };
}

const POLICY = { findings: { LOSES_DATA: 'approve', REWRITES_TABLE: 'approve' }, author_may_approve: false };

describe('cheating with approvals', () => {
  const { service, client: admin } = withService();
  let author: Person;
  let ada: Person;
  let grace: Person;

  const send = async (path: string, body: unknown, method = 'POST') => {
    const reply = await admin(path, json(body, method));
    expect(reply.status, reply.text).below(300);
    return reply;
  };
  const approve = async (person: Person, id: string, plan: string) =>
    person.send(`/changes/${id}/approve`, json({ plan }));

  before(async () => {
    author = await newPerson(admin, 'author', 'author');
    ada = await newPerson(admin, 'ada', 'admin');
    grace = await newPerson(admin, 'grace', 'admin');
    await send('/policy', POLICY, 'PUT');
  });

  it('approvals do not transfer from one restore to another', async () => {
    const fields = [{ field: 'text', type: 'string', interface: 'input' }];
    for (const collection of ['faq', 'salaries']) await send('/collections', { collection, schema: {}, fields });
    const then = Number((await admin('/server/info')).headers.get('x-log-position'));
    await send('/policy', { findings: {} }, 'PUT');
    for (const name of ['faq', 'salaries'])
      expect((await admin(`/collections/${name}`, { method: 'DELETE' })).status).equal(204);
    await send('/policy', POLICY, 'PUT');

    const back = (await admin(`/history/diff?to=${then}`)).json as Diff;
    const only = (diff: Diff, name: string): Diff['diff'] => ({
      collections: diff.diff.collections.filter(({ collection }) => collection === name),
      fields: diff.diff.fields.filter(({ collection }) => collection === name),
      relations: [],
    });
    const faq = only(back, 'faq');
    const [salaries] = only(back, 'salaries').collections;
    expect(faq.collections[0]).include.keys('restores', 'identity');
    const opened = await open(author.send, { title: 'FAQ', diff: { hash: back.hash, diff: faq } });
    expect((await approve(ada, opened.id, opened.plan)).status).equal(200);
    const swapped = {
      ...faq,
      collections: faq.collections.map((entry) => ({
        ...entry,
        identity: salaries?.identity,
        restores: salaries?.restores,
      })),
    };
    const patched = await author.send(
      `/changes/${opened.id}`,
      json({ diff: { hash: back.hash, diff: swapped } }, 'PATCH'),
    );
    if (patched.status === 200) {
      const shown = await show(admin, opened.id);
      expect(shown.plan).not.equal(opened.plan);
      expect([shown.state, shown.proposal.approvals_counted]).deep.equal(['open', 0]);
    } else expect(patched.status).within(400, 499);
  });

  it('approvals of everyone who changed the requested plan do not count', async () => {
    await send('/collections', { collection: 'notes', schema: {}, fields: [] });
    const { id, plan } = await open(author.send, { title: 'note', diff: await diffOf(admin, noted('notes', 'one')) });
    const updated = await ada.send(
      `/changes/${id}`,
      json({ diff: await diffOf(admin, noted('notes', 'other')) }, 'PATCH'),
    );
    expect(updated.status, updated.text).equal(200);
    const shown = await show(admin, id);
    expect(shown.plan).not.equal(plan);
    expect(shown.proposal.authors.map((each) => each.id)).deep.equal([author.id, ada.id]);
    expect(rejectionOf(await approve(ada, id, shown.plan))).equal('403 FORBIDDEN');
    expect((await approve(grace, id, shown.plan)).status).equal(200);
    const waits = async (person: Person) =>
      dataOf<{ id: string }[]>(await person.send('/changes?to_approve=true')).some((each) => each.id === id);
    expect(await waits(ada)).equal(false);
  });

  it('approvals with tokens or passwords that the admin issued to another admin do not count', async () => {
    const { id, plan } = await open(author.send, { title: 'note', diff: await diffOf(admin, noted('notes', 'two')) });
    const minted = await ada.send(`/users/${grace.id}/tokens`, json({ name: 'minted' }));
    const { token } = dataOf<{ token: string }>(minted);
    const asGrace = (own: string) => admin(`/changes/${id}/approve`, { ...json({ plan }), token: own });
    expect(rejectionOf(await asGrace(token))).equal('403 FORBIDDEN');
    // A token that was created with an issued token has the same issuer.
    const second = await admin(`/users/${grace.id}/tokens`, { ...json({ name: 'second' }), token });
    expect(rejectionOf(await asGrace(dataOf<{ token: string }>(second).token))).equal('403 FORBIDDEN');
    // The same applies to a password that was set with it.
    const login = { email: 'grace@example.com', password: 'another battery staple' };
    const reset = await admin(`/users/${grace.id}`, { ...json({ password: login.password }, 'PATCH'), token });
    expect(reset.status).equal(200);
    expect(rejectionOf(await asGrace(await signIn(admin, login)))).equal('403 FORBIDDEN');
    // Grace signs in and chooses her own password.
    const own = { ...login, password: 'my own battery staple' };
    await admin(`/users/${grace.id}`, {
      ...json({ password: own.password }, 'PATCH'),
      token: await signIn(admin, login),
    });
    const approved = await asGrace(await signIn(admin, own));
    expect(approved.status, approved.text).equal(200);
    const [approval] = (await show(admin, id)).proposal.approvals;
    expect(approval).include({ counts: true, credential: 'password' });
  });

  it('approvals by users who issued the credential of an author do not count', async () => {
    const propose = async (note: string, token: string) =>
      open((path, sent = {}) => admin(path, { token, ...sent }), {
        title: note,
        diff: await diffOf(admin, noted('notes', note)),
      });
    const tokenBy = async (token: string, user: Person) =>
      dataOf<{ id: string; token: string }>(
        await admin(`/users/${user.id}/tokens`, { ...json({ name: 'issued' }), token }),
      );
    const login = { email: 'author@example.com', password: 'reset battery staple' };
    const issued = await tokenBy(ada.token, author);
    const minted = await tokenBy(ada.token, grace);
    expect((await ada.send(`/users/${author.id}`, json({ password: login.password }, 'PATCH'))).status).equal(200);
    const tokens = {
      issued: issued.token,
      // A token that was created with an issued token has the same issuer.
      chained: (await tokenBy(minted.token, author)).token,
      password: await signIn(admin, login),
    };
    for (const [note, token] of Object.entries(tokens)) {
      const { id, plan } = await propose(note, token);
      const { authors } = (await show(admin, id)).proposal;
      expect(authors, note).deep.equal([
        { id: author.id, name: 'author' },
        { id: ada.id, name: 'ada' },
      ]);
      const refused = await approve(ada, id, plan);
      expect(rejectionOf(refused), note).equal('403 FORBIDDEN');
      expect(refused.text).include('Users who issued the credential of an author are authors too.');
      expect(dataOf<{ id: string }[]>(await ada.send('/changes?to_approve')).map((each) => each.id)).not.include(id);
      expect((await approve(grace, id, plan)).status, note).equal(200);
    }
    const { id } = await propose('recorded', issued.token);
    const [opened] = dataOf<{ data: object }[]>(await admin(`/history/events?subject=change:${id}`));
    const used = { credential: 'token', token: issued.id, issued_by: ada.id };
    expect(opened?.data).deep.include({ proposed_with: used });
    // Grace changes the plan with a token that she issued to the author.
    const { token } = await tokenBy(grace.token, author);
    const diff = await diffOf(admin, noted('notes', 'changed'));
    const changed = await admin(`/changes/${id}`, { ...json({ diff }, 'PATCH'), token });
    expect(changed.status, changed.text).equal(200);
    const { plan, proposal } = await show(admin, id);
    expect(proposal.authors.map((each) => each.name)).deep.equal(['author', 'ada', 'grace']);
    for (const each of [ada, grace]) expect(rejectionOf(await approve(each, id, plan))).equal('403 FORBIDDEN');
    expect((await admin(`/changes/${id}/approve`, json({ plan }))).status).equal(200);
  });

  it('approvals of an online change do not cover the plain change', async () => {
    await send('/collections', {
      collection: 'large',
      schema: {},
      fields: [{ field: 'a', type: 'string', interface: 'input' }],
    });
    const lengthen = await diffOf(admin, (snapshot) => {
      const field = snapshot.fields.find((each) => each.collection === 'large' && each.field === 'a');
      if (field) Object.assign(field, { type: 'integer', schema: { data_type: 'integer', max_length: null } });
    });
    const { id, plan } = await open(author.send, { title: 'number', diff: lengthen, online: true });
    expect((await approve(ada, id, plan)).status).equal(200);
    expect((await show(admin, id)).proposal.approvals_counted).equal(1);
    const offline = await author.send(`/changes/${id}`, json({ diff: lengthen, online: false }, 'PATCH'));
    expect(offline.status, offline.text).equal(200);
    const shown = await show(admin, id);
    expect([shown.state, shown.proposal.approvals_counted]).deep.equal(['open', 0]);
    expect(shown.proposal.approvals[0]?.why_not).equal('another way');
    expect(rejectionOf(await grace.send(`/changes/${id}/apply`, { method: 'POST' }))).equal('422 POLICY_REFUSED');
  });

  it('approvals cover the visible findings and no later ones', async () => {
    const fields = [{ field: 'body', type: 'string', interface: 'input' }];
    await send('/collections', { collection: 'pages', schema: {}, fields });
    const drop = await diffOf(admin, (snapshot) => {
      snapshot.fields = snapshot.fields.filter((each) => each.collection !== 'pages' || each.field !== 'body');
    });
    const { id, plan } = await open(author.send, { title: 'no body', diff: drop });
    const view = (await show(admin, id)).planned?.view;
    expect((await ada.send(`/changes/${id}/approve`, json({ plan, view }))).status).equal(200);
    const event = dataOf<{ type: string; data: { findings: Record<string, string[]>; kept: string[] } }[]>(
      await admin(`/history/events?subject=change:${id}&type=change.approved`),
    )[0];
    expect(event?.data.findings['LOSES_DATA']).deep.equal(['pages.body']);
    expect(event?.data.kept).deep.equal(['pages.body']);
    // The same plan, but the trash no longer keeps anything.
    const second = await startService({
      DATABASE_URL: service.databaseUrl,
      KEEP_DELETED: '0',
      ADMIN_TOKEN: service.adminToken,
    });
    try {
      const other = clientOf(second);
      const applied = await other(`/changes/${id}/apply`, { method: 'POST' });
      expect(rejectionOf(applied), applied.text).equal('422 POLICY_REFUSED');
      // Approves on this instance what was read on the other one.
      const approval = { ...json({ plan, view }), token: grace.token };
      const approved = await other(`/changes/${id}/approve`, approval);
      expect(rejectionOf(approved), approved.text).equal('409 PLAN_CHANGED');
      expect(approved.text).include('"path":"view"');
      expect((await show(other, id)).planned?.view).not.equal(view);
    } finally {
      await second.stop();
    }
    expect((await admin(`/changes/${id}/apply`, { method: 'POST' })).status).equal(200);
  });

  it('approvals do not cover findings that the policy hid from the approver', async () => {
    const fields = [{ field: 'body', type: 'string', interface: 'input' }];
    await send('/collections', { collection: 'drafts', schema: {}, fields });
    await send('/policy', { ...POLICY, findings: { LOSES_DATA: 'off' } }, 'PUT');
    const { id, plan } = await open(author.send, {
      title: 'no body',
      diff: await diffOf(admin, without('drafts', 'body')),
    });
    expect((await show(admin, id)).planned?.findings.map(({ code }) => code)).not.include('LOSES_DATA');
    expect((await approve(ada, id, plan)).status).equal(200);
    await send('/policy', POLICY, 'PUT');
    expect(rejectionOf(await admin(`/changes/${id}/apply`, { method: 'POST' }))).equal('422 POLICY_REFUSED');
    expect((await approve(ada, id, plan)).status).equal(200);
    expect((await admin(`/changes/${id}/apply`, { method: 'POST' })).status).equal(200);
  });
});
