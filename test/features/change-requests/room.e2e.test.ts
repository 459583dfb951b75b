import { expect } from 'chai';
import pg from 'pg';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';
import { type Person, type Shown, dataOf, diffOf, newPerson, open, rejectionOf, show, without } from './people.js';

const FIELDS = ['title', 'body', 'note'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));

describe('storage of change requests', () => {
  const { client: admin, service } = withService({ consistent: true, settings: { CHANGES_PER_USER: '2' } });
  let ann: Person;
  let ben: Person;

  before(async () => {
    await admin('/collections', json({ collection: 'articles', schema: {}, fields: FIELDS }));
    ann = await newPerson(admin, 'ann', 'author');
    ben = await newPerson(admin, 'ben', 'author');
  });

  async function documents(): Promise<{ kept: number; erased: number }> {
    const client = new pg.Client(service.databaseUrl);
    await client.connect();
    try {
      const { rows } = await client.query<{ kept: number; erased: number }>(
        `SELECT count(content)::int AS kept, count(erased_at)::int AS erased FROM service.service_documents`,
      );
      return rows[0] ?? { kept: 0, erased: 0 };
    } finally {
      await client.end();
    }
  }

  const withdraw = (send: Person['send'], id: string) => send(`/changes/${id}/withdraw`, { method: 'POST' });
  interface Asking extends Shown {
    document: { content: unknown };
  }
  const documentOf = async (id: string): Promise<unknown> =>
    dataOf<Asking>(await admin(`/changes/${id}`)).document.content;

  it('is limited per user, and freed by withdrawing', async () => {
    const diff = await diffOf(admin, without('articles', 'body'));
    const first = await open(ann.send, { title: 'change', diff });
    const second = await open(ann.send, { title: 'change', diff });
    const third = await ann.send('/changes', json({ title: 'third', diff }));
    expect(rejectionOf(third)).to.equal('429 TOO_MANY_REQUESTS');
    expect(third.text).to.contain('CHANGES_PER_USER');
    const other = await open(ben.send, { title: 'change', diff });
    expect((await withdraw(ann.send, first.id)).status).to.equal(200);
    const again = await open(ann.send, { title: 'change', diff });
    for (const [user, { id }] of [
      [ann, second],
      [ann, again],
      [ben, other],
    ] as const)
      expect((await withdraw(user.send, id)).status).to.equal(200);
  });

  it('is freed when a request is withdrawn, unless another one uses the document', async () => {
    const before = await documents();
    const diff = await diffOf(admin, without('articles', 'note'));
    const [first, second] = [
      await open(ann.send, { title: 'change', diff }),
      await open(ben.send, { title: 'change', diff }),
    ];
    expect((await documents()).kept).to.equal(before.kept + 1);
    await withdraw(ann.send, first.id);
    expect(await documentOf(second.id)).to.not.equal(null);
    await withdraw(ben.send, second.id);
    expect(await documents()).to.deep.equal({ kept: before.kept, erased: before.erased + 1 });
    for (const { id } of [first, second]) expect(await documentOf(id)).to.equal(null);
    const { json: verified } = await admin('/history/verify');
    expect(verified).to.have.nested.property('data.ok', true);
    expect((await admin('/history/export')).status).to.equal(200);
  });

  it('is used again when a withdrawn or updated document is requested again', async () => {
    const [one, other] = [
      await diffOf(admin, without('articles', 'note')),
      await diffOf(admin, without('articles', 'body')),
    ];
    const { id } = await open(ann.send, { title: 'change', diff: one });
    expect(await documentOf(id)).to.not.equal(null);
    const before = await documents();
    const updated = await ann.send(`/changes/${id}`, json({ diff: other }, 'PATCH'));
    expect(updated.status, updated.text).to.equal(200);
    await withdraw(ann.send, id);
    const after = await documents();
    expect(after.kept).to.be.below(before.kept + 1);
    expect(await documentOf(id)).to.equal(null);
  });

  it('caches a plan for 10 seconds for any number of reads, until the log grows', async () => {
    const { id } = await open(ann.send, { title: 'change', diff: await diffOf(admin, without('articles', 'note')) });
    const rendered = async (): Promise<number> => {
      const { text } = await admin('/metrics');
      return Number(/^dps_renderings_total (\d+)$/m.exec(text)?.[1]);
    };
    /** A plan is rendered again once every 10 seconds, because its findings depend on tables. */
    let began = Math.floor(Date.now() / 10_000);
    const first = await show(admin, id);
    let before = await rendered();
    const expectRendered = async (atLeast: 0 | 1): Promise<void> => {
      const now = await rendered();
      const renewals = Math.floor(Date.now() / 10_000) - began;
      expect(now - before).to.be.within(atLeast, atLeast + renewals);
      [before, began] = [now, began + renewals];
    };
    const all = await Promise.all(Array.from({ length: 20 }, (_, index) => show(index % 2 ? ann.send : ben.send, id)));
    for (const each of all) expect(each).to.deep.equal(first);
    await expectRendered(0);
    await admin(`/changes/${id}/comment`, json({ comment: 'later' }));
    expect((await show(admin, id)).planned).to.deep.equal(first.planned);
    await expectRendered(1);
    await admin('/fields/articles/note', { method: 'DELETE' });
    expect((await show(admin, id)).planned?.fresh).to.equal(false);
    await withdraw(ann.send, id);
  });
});
