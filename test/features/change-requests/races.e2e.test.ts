import { expect } from 'chai';
import { type Reply, json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';
import { type Person, type Shown, dataOf, diffOf, newPerson, noted, open, rejectionOf, show } from './people.js';

const ROUNDS = 5;

/** A body and its Idempotency-Key. */
type Sent = { key?: string; [member: string]: unknown };

describe('concurrent actions on change requests', () => {
  const { client: admin } = withService({ consistent: true });
  let author: Person;
  let second: Person;
  let notes = 0;

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    expect((await admin('/collections', json({ collection: 'articles', schema: {}, fields }))).status).to.equal(200);
    author = await newPerson(admin, 'author', 'author');
    second = await newPerson(admin, 'second', 'admin');
  });

  const opened = async (): Promise<Shown> =>
    open(author.send, { title: 'A note', diff: await diffOf(admin, noted('articles', `note ${++notes}`)) });
  const post = (send: Person['send'], id: string, action: string, { key, ...body }: Sent = {}): Promise<Reply> =>
    send(`/changes/${id}/${action}`, {
      ...(Object.keys(body).length === 0 ? { method: 'POST' } : json(body)),
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    });
  const typesOf = async (id: string): Promise<string[]> =>
    dataOf<{ type: string }[]>(await admin(`/history/events?subject=change:${id}`)).map(({ type }) => type);

  it('two approvers succeed with concurrent approvals', async () => {
    const { id, plan } = await opened();
    const replies = await Promise.all([
      post(admin, id, 'approve', { plan }),
      post(second.send, id, 'approve', { plan }),
    ]);
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200]);
    const { proposal, state } = await show(admin, id);
    expect(state).to.equal('approved');
    expect(new Set(proposal.approvals.map(({ by }) => by.id)).size).to.equal(2);
    expect(await typesOf(id)).to.deep.equal(['change.opened', 'change.approved', 'change.approved']);
    expect((await post(author.send, id, 'withdraw')).status).to.equal(200);
  });

  it('two concurrent approvals of one approver count once', async () => {
    const { id, plan } = await opened();
    const [first, again] = [
      await post(admin, id, 'approve', { plan, key: 'key' }),
      await post(admin, id, 'approve', { plan, key: 'key' }),
    ];
    expect([first.status, again.status, again.text]).to.deep.equal([200, 200, first.text]);
    expect(await typesOf(id), 'replayed').to.deep.equal(['change.opened', 'change.approved']);
    expect(rejectionOf(await post(admin, id, 'approve', { plan, comment: 'other', key: 'key' }))).to.equal(
      '409 IDEMPOTENCY_MISMATCH',
    );
    await Promise.all([post(admin, id, 'approve', { plan }), post(admin, id, 'approve', { plan })]);
    expect((await show(admin, id)).proposal.approvals).to.have.length(1);
    // Another user's key is another key.
    expect((await post(second.send, id, 'approve', { plan, key: 'key' })).status).to.equal(200);
    expect((await show(admin, id)).proposal.approvals).to.have.length(2);
    expect((await post(author.send, id, 'withdraw')).status).to.equal(200);
  });

  it('one of two concurrent applies succeeds', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await opened();
      const replies = await Promise.all([post(admin, id, 'apply'), post(second.send, id, 'apply')]);
      expect(replies.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 409]);
      expect(replies.map(rejectionOf)).to.include('409 INVALID_STATE');
      expect(await typesOf(id)).to.deep.equal(['change.opened', 'change.applied']);
    }
  });

  it('either a concurrent apply or a concurrent withdrawal succeeds', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await opened();
      const note = `note ${notes}`;
      const order = round % 2 === 0 ? (['apply', 'withdraw'] as const) : (['withdraw', 'apply'] as const);
      const replies = await Promise.all(order.map((action) => post(admin, id, action)));
      expect(replies.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 409]);
      const winner = order[replies.findIndex(({ status }) => status === 200)];
      const { state } = await show(admin, id);
      expect(state).to.equal(winner === 'apply' ? 'applied' : 'withdrawn');
      expect(await typesOf(id)).to.deep.equal(['change.opened', `change.${state}`]);
      const { meta } = dataOf<{ meta: { note: string | null } }>(await admin('/collections/articles'));
      expect(meta.note === note).to.equal(state === 'applied');
    }
  });

  it('an action after a withdrawal names the state, although the requested change is erased', async () => {
    const { id, plan } = await opened();
    expect((await post(author.send, id, 'withdraw')).status).to.equal(200);
    expect(rejectionOf(await post(admin, id, 'approve', { plan }))).to.equal('409 INVALID_STATE');
    for (const action of ['apply', 'apply?dry_run', 'rebase', 'prepare'])
      expect(rejectionOf(await post(admin, id, action)), action).to.equal('409 INVALID_STATE');
  });

  it('an approval during a withdrawal or an apply succeeds or names the state', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, plan } = await opened();
      const view = (await show(admin, id)).planned?.view;
      const [end, approval] = await Promise.all([
        round % 2 === 0 ? post(author.send, id, 'withdraw') : post(admin, id, 'apply'),
        post(second.send, id, 'approve', { plan, view }),
      ]);
      expect(end.status, end.text).to.equal(200);
      if (approval.status !== 200) expect(rejectionOf(approval), approval.text).to.equal('409 INVALID_STATE');
    }
  });

  it('an approval during an update approves the old plan or fails', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, plan } = await opened();
      const diff = await diffOf(admin, noted('articles', `updated ${++notes}`));
      const [update, approval] = await Promise.all([
        author.send(`/changes/${id}`, json({ diff }, 'PATCH')),
        post(admin, id, 'approve', { plan }),
      ]);
      expect(update.status, update.text).to.equal(200);
      if (approval.status !== 200) expect(rejectionOf(approval)).to.equal('409 PLAN_CHANGED');
      const { state, proposal, plan: now } = await show(admin, id);
      expect([state, proposal.approvals_counted]).to.deep.equal(['open', 0]);
      expect(now).to.not.equal(plan);
      expect((await post(author.send, id, 'withdraw')).status).to.equal(200);
    }
  });
});
