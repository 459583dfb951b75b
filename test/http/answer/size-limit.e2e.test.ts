import { expect } from 'chai';
import { withService } from '../../support/with-service.js';
import { json } from '../../support/client.js';

const KIB = 1024;

describe('MAX_BODY, the limit of request bodies', () => {
  const LIMIT = 96 * KIB;

  const { api } = withService({ settings: { MAX_BODY: `${LIMIT}` } });

  const trimmed = (count: number, start = 0) => {
    const names = Array.from({ length: count }, (_, index) => `c${start + index}`);
    const fields = names.flatMap((collection) =>
      ['id', 'a', 'b', 'd'].map((field) => ({
        collection,
        field,
        type: 'integer',
        schema: field === 'id' ? { is_primary_key: true } : {},
      })),
    );
    const collections = names.map((collection) => ({ collection, schema: {} }));
    return { version: 1, vendor: 'postgres', collections, fields };
  };
  const diff = (count: number, start = 0) => api.client('/schema/diff?force&mode=merge', json(trimmed(count, start)));

  it('limits diffs too, because clients send them back, and the advice to send parts works', async () => {
    const large = await diff(60);
    expect([large.status, large.codes], large.text.slice(0, 500)).to.deep.equal([413, ['CONTENT_TOO_LARGE']]);
    expect(large.text).to.include('mode=merge');
    for (const start of [0, 20, 40]) {
      const part = await diff(20, start);
      expect(part.status, part.text.slice(0, 500)).to.equal(200);
      expect(part.text.length).to.be.at.most(LIMIT);
      expect((await api.client('/schema/apply', json(part.json))).status).to.equal(204);
    }
  });

  it('does not limit snapshots, and their collections can be sent back in parts', async () => {
    for (const query of ['', '?export=json', '?export=yaml', '?export=csv', '?export=csv_utf8', '?export=xml']) {
      const reply = await api.client(`/schema/snapshot${query}`);
      expect(reply.status, query).to.equal(200);
      expect(reply.text.length, query).to.be.greaterThan(LIMIT);
    }
    const some = await api.client('/schema/snapshot?includeCollections=c1,c2');
    expect((await api.client('/schema/diff?mode=merge', json(some.json))).status).to.equal(200);
  });

  it('limits diffs to earlier points in time too', async () => {
    const middle = Math.floor((await api.head()) / 3);
    const far = await api.client('/history/diff?from=0');
    expect([far.status, far.codes]).to.deep.equal([413, ['CONTENT_TOO_LARGE']]);
    expect((await api.client(`/history/diff?to=${middle}`)).status).to.equal(200);
  });
});
