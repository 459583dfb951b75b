/** Comments on individual changes in a request. */
import { expect } from 'chai';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';
import { dataOf, diffOf, noted, open, rejectionOf, show, without } from './people.js';

const FIELDS = ['title', 'note'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));

describe('comments on a change in a request', () => {
  const { client: admin, api } = withService({ consistent: true });
  const note = { part: 'fields', collection: 'orders', field: 'note' };
  const about = { part: 'collections', collection: 'orders' };

  before(async () => {
    for (const collection of ['orders', 'wages'])
      expect((await admin('/collections', json({ collection, schema: {}, fields: FIELDS }))).status).to.equal(200);
  });

  const comment = (id: string, body: object) => admin(`/changes/${id}/comment`, json(body));
  const placesOf = async (id: string) =>
    (await show(admin, id)).proposal.comments.map(({ text, place }) => [text, place]);

  it('name the change, even after an update removed it, until the text is erased', async () => {
    const diff = await diffOf(admin, (snapshot) => {
      without('orders', 'note')(snapshot);
      noted('orders', 'Paid')(snapshot);
    });
    const { id } = await open(admin, { title: 'Orders without notes', diff });
    const sent = [
      { comment: 'Who exports it?', place: note },
      { comment: 'Why?', place: about },
      { comment: 'Otherwise fine' },
    ];
    for (const body of sent) {
      const { status, text } = await comment(id, body);
      expect(status, text).to.equal(200);
    }
    const expected = [
      ['Who exports it?', note],
      ['Why?', about],
      ['Otherwise fine', null],
    ];
    expect(await placesOf(id)).to.deep.equal(expected);
    const changed = await admin(
      `/changes/${id}`,
      json({ diff: await diffOf(admin, noted('wages', 'Monthly')) }, 'PATCH'),
    );
    expect(changed.status, changed.text).to.equal(200);
    expect(await placesOf(id)).to.deep.equal(expected);
    expect(rejectionOf(await comment(id, sent[0] as object))).to.equal('400 INVALID_PAYLOAD');

    const { id: user } = dataOf(await admin('/users/me'));
    const issued = await admin(`/users/${user}/tokens`, json({ scope: { collections: ['wages'] } }));
    const { token } = dataOf<{ token: string }>(issued);
    const limited = await admin(`/changes/${id}`, { token });
    expect(limited.status, limited.text).to.equal(200);
    const { comments } = dataOf(limited).proposal;
    expect(comments.map(({ place }) => place)).to.deep.equal([null, null, null]);

    await api.sql(
      `UPDATE service.service_documents SET content = NULL, erased_at = now() WHERE content LIKE '%Who exports it%'`,
    );
    expect((await placesOf(id))[0]).to.deep.equal([null, null]);
  });

  it('are rejected with INVALID_PAYLOAD if the diff does not contain the place', async () => {
    const { id } = await open(admin, { title: 'Paid', diff: await diffOf(admin, noted('orders', 'Paid')) });
    const reply = await comment(id, { comment: 'x', place: note });
    expect(rejectionOf(reply)).to.equal('400 INVALID_PAYLOAD');
    expect(reply.json).to.have.nested.property('errors[0].extensions.path', 'place');
    expect(reply.json).to.have.nested.property(
      'errors[0].message',
      'The diff of the change request does not contain field orders.note.',
    );
    const wrong: [place: unknown, path: string][] = [
      [{ part: 'collections', collection: 'wages' }, 'place'],
      [{ part: 'relations', collection: 'orders', field: 'note' }, 'place'],
      [{ part: 'objects', kind: 'view', id: 'orders' }, 'place'],
      [{ part: 'collections', collection: '__proto__' }, 'place'],
      [{ part: 'diff', collection: 'orders' }, 'place.part'],
      [{ part: 'fields', collection: 'orders' }, 'place.field'],
      [{ ...about, field: 'note' }, 'place.field'],
      ['orders', 'place'],
    ];
    for (const [place, path] of wrong) {
      const rejected = await comment(id, { comment: 'x', place });
      expect(rejectionOf(rejected), JSON.stringify(place)).to.equal('400 INVALID_PAYLOAD');
      expect(rejected.json, JSON.stringify(place)).to.have.nested.property('errors[0].extensions.path', path);
    }
    expect(await placesOf(id)).to.deep.equal([]);

    const { id: policy } = await open(admin, { title: 'Two people', policy: { approvals: 2 } });
    expect(rejectionOf(await comment(policy, { comment: 'x', place: about }))).to.equal('400 INVALID_PAYLOAD');
    const withdrawn = await admin(`/changes/${id}/withdraw`, { method: 'POST' });
    expect(withdrawn.status, withdrawn.text).to.equal(200);
    expect(rejectionOf(await comment(id, { comment: 'x', place: about })), 'its content is erased').to.equal(
      '400 INVALID_PAYLOAD',
    );
    expect((await comment(id, { comment: 'A pity' })).status).to.equal(200);
  });
});
