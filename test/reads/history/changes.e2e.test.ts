import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Change {
  before: Named | null;
  after: Named | null;
}
interface Named {
  collection: string;
  field?: string;
}
type Part = 'collections' | 'fields' | 'relations';
interface Batch {
  first_position: number;
  last_position: number;
  types: Record<string, number>;
  reason: string | null;
  changes: Record<Part, Change[]> | null;
}
interface Page {
  data: Batch[];
  meta: { next: number | null };
}
type Documents = Record<Part, Named[]>;

const PARTS = ['collections', 'fields', 'relations'] as const;
const keyOf = ({ collection, field }: Named): string => JSON.stringify([collection, field]);

/** Like a client: removes the old documents and adds the new ones. */
function folded(held: Documents, { changes }: Batch, to: 'after' | 'before'): Documents {
  const from = to === 'after' ? 'before' : 'after';
  const part = (name: Part): Named[] => {
    const map = new Map(held[name].map((each) => [keyOf(each), each]));
    const changed = changes?.[name] ?? [];
    for (const { [from]: gone } of changed) if (gone !== null) map.delete(keyOf(gone));
    for (const { [to]: come } of changed) if (come !== null) map.set(keyOf(come), come);
    return [...map.values()];
  };
  return { collections: part('collections'), fields: part('fields'), relations: part('relations') };
}

const sorted = (held: Documents): object =>
  Object.fromEntries(PARTS.map((name) => [name, [...held[name]].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))]));

describe('changes of batches', () => {
  const { api, client } = withService({ consistent: true });
  const field = (name: string, type = 'string', schema: object = {}) => ({
    field: name,
    type,
    interface: 'input',
    schema,
  });

  before(async () => {
    await api.ok('POST', '/collections', { collection: 'authors', schema: {}, fields: [field('name')] });
    await api.ok('POST', '/collections', {
      collection: 'books',
      schema: {},
      fields: [field('title'), field('author', 'integer'), field('thing', 'string')],
    });
    await api.ok('POST', '/relations', { collection: 'books', field: 'author', related_collection: 'authors' });
    await api.ok('PATCH', '/fields/books/title', { schema: { is_nullable: false }, meta: { note: '100%_sure' } });
    await api.ok('POST', '/collections/authors/rename', { to: 'writers' });
    await api.ok('POST', '/fields/writers/id/rename', { to: 'key' });
    await api.ok('DELETE', '/fields/books/thing');
    await api.ok('POST', '/fields/books', field('thing', 'integer'));
    await api.ok('DELETE', '/relations/books/author');
    await api.ok('DELETE', '/collections/writers');
    await api.ok('POST', '/collections', [
      { collection: 'shelf', schema: null },
      { collection: 'maps', schema: {}, meta: { group: 'shelf' } },
    ]);
  });

  const page = async (query: string): Promise<Page> => api.ok<Page>('GET', `/history/changes?${query}`);
  const at = async (position: number): Promise<Documents> =>
    (await api.ok<{ data: Documents }>('GET', `/history/schema?at=${position}`)).data;

  const all = async (order: string, limit: number): Promise<Batch[]> => {
    const batches: Batch[] = [];
    for (let after: number | null = order === 'asc' ? 0 : (await api.head()) + 1; after !== null;) {
      const result: Page = await page(`order=${order}&limit=${limit}&after=${after}`);
      batches.push(...result.data);
      after = result.meta.next;
    }
    return batches;
  };

  it('lead forward from the empty schema, and backward from the present, to every past state', async () => {
    const batches = await all('asc', 3);
    expect(batches).to.have.length(11);
    let held: Documents = { collections: [], fields: [], relations: [] };
    for (const batch of batches) {
      held = folded(held, batch, 'after');
      expect(sorted(held), `at ${batch.last_position}`).to.deep.equal(sorted(await at(batch.last_position)));
    }
    for (const batch of await all('desc', 4)) {
      expect(sorted(held), `at ${batch.last_position}`).to.deep.equal(sorted(await at(batch.last_position)));
      held = folded(held, batch, 'before');
    }
    expect(held).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('cover the same batches in both directions, with event counts by type', async () => {
    const forward = await all('asc', 100);
    expect((await all('desc', 1)).reverse()).to.deep.equal(forward);
    expect(forward.map(({ types }) => types)[1]).to.deep.equal({ 'collection.created': 1 });
    expect(forward.at(-1)?.types).to.deep.equal({ 'collection.created': 2 });
  });

  it('have the format of lists', async () => {
    const now = await at(await api.head());
    const relations = await api.ok<{ data: object[] }>('GET', '/relations');
    const fields = await api.ok<{ data: object[] }>('GET', '/fields');
    expect(now.relations).to.deep.equal(relations.data);
    expect(now.fields).to.deep.equal(fields.data);
    const some = await client('/history/schema?at=4&parts=fields&collections=books,nothing');
    const { data, meta } = some.json as { data: Documents; meta: { position: number } };
    expect([Object.keys(data), meta.position, some.headers.get('x-log-position')]).to.deep.equal([['fields'], 4, '4']);
    expect(data.fields.map((each) => each.field)).to.deep.equal(['id', 'title', 'author', 'thing']);
    expect((await at(0)).collections).to.deep.equal([]);
  });

  it('are null for a batch with too many changes only', async () => {
    const after = await api.head();
    const tables = Array.from({ length: 90 }, (_, index) => ({
      collection: `wide_${index}`,
      schema: {},
      fields: Array.from({ length: 24 }, (_each, number) => field(`f${number}`)),
    }));
    await api.ok('POST', '/collections', tables);
    await api.ok('PATCH', '/collections/wide_1', { meta: { note: 'a' } });
    const { data } = await page(`after=${after}`);
    expect(data.map(({ changes }) => changes && changes.collections.length)).to.deep.equal([null, 1]);
    const back = await page(`after=${(await api.head()) + 1}&order=desc&limit=2`);
    expect(back.data.map(({ changes }) => changes === null)).to.deep.equal([false, true]);
  });

  it('are found by part of a reason or name, literally, in both directions', async () => {
    await client('/collections/maps', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-reason': 'Because 100% of Users wanted it' },
      body: JSON.stringify({ meta: { note: 'b' } }),
    });
    const countOf = async (query: string): Promise<number> =>
      (await api.ok<{ data: object[] }>('GET', `/history/batches?${query}`)).data.length;
    expect(await countOf('q=of+users')).to.equal(1);
    expect(await countOf('q=100%25%20OF&order=asc')).to.equal(1);
    expect(await countOf('q=%25')).to.equal(1);
    expect(await countOf('q=_se')).to.equal(0);
    expect(await countOf('q=books.auth')).to.equal(2);
    expect(await countOf('q=WRITERS')).to.equal(3);
    expect(await countOf('type=field.updated')).to.equal(1);
    expect(await countOf('field=title&collection=books&order=asc')).to.equal(2);
    const reason = await api.ok<{ data: Batch[] }>('GET', '/history/batches?q=users');
    expect(reason.data[0]?.reason).to.equal('Because 100% of Users wanted it');
  });

  for (const [query, place] of [
    ['changes?limit=101', 'limit'],
    ['changes?limit=0', 'limit'],
    ['changes?order=up', 'order'],
    ['changes?after=x', 'after'],
    ['schema?parts=tables', 'parts'],
    ['schema?parts=', 'parts'],
    ['schema?at=2999-01-01', 'at'],
    ['schema?collections="a', 'collections'],
    [`batches?q=${'x'.repeat(201)}`, 'q'],
    ['batches?order=x', 'order'],
  ] as const) {
    it(`reject ${query.slice(0, 30)}`, async () => {
      await api.refused({ status: 400, code: 'INVALID_QUERY', at: place }, 'GET', `/history/${query}`);
    });
  }

  it('reject positions beyond the log', async () => {
    await api.refused({ status: 404, code: 'NOT_FOUND', at: 'at' }, 'GET', '/history/schema?at=99999');
    expect((await page('after=99999')).data).to.deep.equal([]);
  });
});
