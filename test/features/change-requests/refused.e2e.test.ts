import { expect } from 'chai';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';
import { type Person, diffOf, newPerson, noted, open, show } from './people.js';

const NOBODYS = '00000000-0000-4000-8000-000000000001';
const AT = new Date(Date.now() + 86_400_000).toISOString();

interface Refused {
  errors: { message: string; extensions: { code: string; path?: string } }[];
}

describe('a rejected change request', () => {
  const { client: admin } = withService();
  let author: Person;

  before(async () => {
    const created = await admin('/collections', json({ collection: 'articles', schema: {}, fields: [] }));
    expect(created.status, created.text).to.equal(200);
    author = await newPerson(admin, 'author', 'author');
  });

  const note = (text: string) => diffOf(admin, noted('articles', text));

  /** `status code path: message` */
  const messagesOf = async (path: string, body: object = {}, method = 'POST'): Promise<string> => {
    const answer = await admin(path, json(body, method));
    const [error] = (answer.json as Refused).errors;
    const { code, path: place } = error?.extensions ?? { code: 'none' };
    return `${answer.status} ${code}${place === undefined ? '' : ` ${place}`}: ${error?.message}`;
  };

  const WAYS = (id: string, plan: string, diff: object): [string, string, object, string?][] => [
    ['comment', `/changes/${id}/comment`, { comment: 'x' }],
    ['approve', `/changes/${id}/approve`, { plan }],
    ['reject', `/changes/${id}/reject`, {}],
    ['prepare', `/changes/${id}/prepare`, {}],
    ['apply', `/changes/${id}/apply`, {}],
    ['schedule', `/changes/${id}/apply`, { at: AT }],
    ['rebase', `/changes/${id}/rebase`, {}],
    ['update', `/changes/${id}`, { title: 'Other' }, 'PATCH'],
    ['update', `/changes/${id}`, { diff }, 'PATCH'],
  ];

  it('is rejected with NOT_FOUND by every action if it does not exist', async () => {
    for (const [what, path, body, method] of WAYS(NOBODYS, 'f'.repeat(64), await note('x')))
      expect(await messagesOf(path, body, method), what).to.equal(
        `404 NOT_FOUND: Change request "${NOBODYS}" does not exist.`,
      );
  });

  it('reports an invalid body before a request that does not exist', async () => {
    for (const act of ['comment', 'approve'])
      expect(await messagesOf(`/changes/${NOBODYS}/${act}`, {}), act).to.match(/^400 INVALID_PAYLOAD /);
  });

  it('has ended and accepts only comments', async () => {
    const diff = await note('other');
    const { id, plan } = await open(author.send, { title: 'Over', diff: await note('first') });
    expect((await admin(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    expect((await admin(`/changes/${id}/apply`, json({}))).status).to.equal(200);
    const { result } = await show(admin, id);
    for (const [what, path, body, method] of WAYS(id, plan, diff)) {
      if (what === 'comment') continue;
      expect(await messagesOf(path, body, method), what).to.match(/^409 INVALID_STATE: /);
    }
    expect(await show(admin, id)).to.deep.include({ state: 'applied', result });
  });

  it('is rejected if it would change nothing', async () => {
    const { id } = await open(author.send, { title: 'Something', diff: await note('second') });
    const before = await show(admin, id);
    const nothing = { ...(await note('third')), diff: { collections: [], fields: [], relations: [] } };
    const refused = '400 INVALID_PAYLOAD diff: This changes nothing: the schema already has this state.';
    expect(await messagesOf('/changes', { title: 'Nothing', diff: nothing })).to.equal(refused);
    expect(await messagesOf(`/changes/${id}`, { diff: nothing }, 'PATCH')).to.equal(refused);
    expect(await show(admin, id)).to.deep.equal(before);
  });

  it('is applied without a preparation if it needs none', async () => {
    const { id, plan } = await open(author.send, { title: 'Quick', diff: await note('fourth'), online: true });
    expect((await admin(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    expect(await messagesOf(`/changes/${id}/prepare`)).to.equal(
      `409 INVALID_STATE: Change request ${id} has no slow steps to prepare. Apply it directly.`,
    );
    expect((await admin(`/changes/${id}/apply`, json({}))).status).to.equal(200);
    expect((await show(admin, id)).state).to.equal('applied');
  });
});
