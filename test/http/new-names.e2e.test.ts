import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Refusal {
  errors: { message: string; extensions: { code: string; path?: string; collection?: string; field?: string } }[];
}

const NFC = 'caf\u00e9';
const NFD = 'cafe\u0301';
const HIDDEN = 'a\u200bb';
const id = (collection: string) => ({
  collection,
  field: 'id',
  type: 'integer',
  schema: { is_primary_key: true, has_auto_increment: true },
});

describe('names of new collections and fields', () => {
  const { api } = withService({ each: true });

  const create = (collection: string, fields: object[] = []) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields });
  const rejected = async (path: string, method: string, body: unknown) => {
    const { status, json } = await api.client(path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(status, JSON.stringify(json)).to.equal(400);
    return (json as Refusal).errors.map(({ message, extensions }) => `${extensions.path}: ${message}`).join('\n');
  };

  it('are rejected with format characters in every request that introduces a name', async () => {
    await create('articles');
    const field = { field: HIDDEN, type: 'string', interface: 'input' };
    const output = [
      await rejected('/collections', 'POST', { collection: HIDDEN, schema: {} }),
      await rejected('/collections', 'POST', { collection: 'b', schema: {}, fields: [field] }),
      await rejected('/fields/articles', 'POST', field),
      await rejected('/collections/articles/rename', 'POST', { to: HIDDEN }),
      await rejected('/fields/articles/id/rename', 'POST', { to: HIDDEN }),
      await rejected('/schema/diff?force&mode=merge', 'POST', {
        version: 1,
        collections: [{ collection: HIDDEN, schema: {} }],
        fields: [id(HIDDEN)],
        relations: [],
      }),
    ];
    for (const each of output) expect(each).to.match(/(collection|field|to|rhs): .*U\+200B/);
    const { data } = await api.ok<{ data: { collection: string; meta: { system: boolean } }[] }>('GET', '/collections');
    expect(data.filter(({ meta }) => !meta.system).map(({ collection }) => collection)).to.deep.equal(['articles']);
  });

  it('stores new names and everything that mentions them in Unicode NFC', async () => {
    const input = { type: 'string', interface: 'input' };
    await create('menu', [
      { ...id('menu'), interface: 'input' },
      { ...input, field: NFD, schema: { default_value: NFD } },
    ]);
    await api.ok('POST', '/collections', {
      collection: NFD,
      schema: {},
      display_template: `{{${NFD}}}`,
      sort_field: NFD,
      fields: [{ field: NFD, type: 'integer', interface: 'input' }],
    });
    const { data } = await api.ok<{ data: { collection: string; meta: Record<string, unknown> } }>(
      'GET',
      `/collections/${encodeURIComponent(NFC)}`,
    );
    expect(data.meta).to.include({ display_template: `{{${NFC}}}`, sort_field: NFC });
    const field = await api.ok<{ data: { schema: { default_value: string } } }>(
      'GET',
      `/fields/menu/${encodeURIComponent(NFC)}`,
    );
    expect(field.data.schema.default_value).to.equal(NFD);
  });

  it('reports which name exists if a path spells it in another normalization', async () => {
    await create(NFC, [{ field: NFC, type: 'string', interface: 'input' }]);
    const [there, other] = [encodeURIComponent(NFC), encodeURIComponent(NFD)];
    for (const [method, path] of [
      ['GET', `/collections/${other}`],
      ['DELETE', `/collections/${other}`],
      ['GET', `/fields/${other}`],
      ['GET', `/fields/${there}/${other}`],
      ['DELETE', `/fields/${there}/${other}`],
    ] as const) {
      const { status, text } = await api.client(path, { method });
      expect(status, `${method} ${path}: ${text}`).to.equal(404);
      expect(text).to.contain(`, but \\"${NFC}\\" exists: send the name in Unicode normalization form NFC`);
    }
    const unknown = await api.client(`/collections/${other}x`);
    expect([unknown.status, unknown.text.includes('exists')]).to.deep.equal([404, false]);
  });

  it('matches names of a snapshot in a different normalization, and creates new ones in NFC', async () => {
    const snapshot = {
      version: 1,
      collections: [
        { collection: NFD, schema: {}, meta: {} },
        { collection: 'z', schema: {}, meta: { group: null } },
      ],
      fields: [id(NFD), id('z'), { collection: 'z', field: NFD, type: 'integer', schema: {} }],
      relations: [{ many_collection: 'z', many_field: NFD, one_collection: NFD, schema: { on_delete: 'CASCADE' } }],
    };
    const path = '/schema/diff?force&mode=merge';
    const created = await api.ok<{ hash: string; diff: object }>('POST', path, snapshot);
    await api.ok('POST', '/schema/apply', { hash: created.hash, diff: created.diff });
    await api.ok('GET', `/relations/z/${encodeURIComponent(NFC)}`);
    const again = await api.ok<{ diff: object }>('POST', path, snapshot);
    expect(again.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('warns with NAME_LOOKS_ALIKE if a name differs only in case or normalization', async () => {
    await api.sql(`CREATE TABLE "${NFD}" (id int PRIMARY KEY, "${HIDDEN}" int, note text)`);
    await api.ok('POST', '/schema/adopt', { tables: [NFD] });
    const snapshot = {
      version: 1,
      collections: [{ collection: NFC, schema: {}, meta: {} }],
      fields: [id(NFC), { collection: NFD, field: 'Note', type: 'string', schema: {} }],
      relations: [],
    };
    const { warnings } = await api.ok<{ warnings: { code: string; message: string }[] }>(
      'POST',
      '/schema/diff?force&mode=merge',
      snapshot,
    );
    const alike = warnings.filter(({ code }) => code === 'NAME_LOOKS_ALIKE');
    expect(alike.map(({ message }) => message).join('\n'))
      .to.contain(JSON.stringify(NFD))
      .and.to.contain('"note"');
  });

  it('keeps, deletes and restores adopted names unchanged', async () => {
    await api.sql(`CREATE TABLE "${HIDDEN}" (id int PRIMARY KEY, "${NFD}" int)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    const before = await api.ok<object>('GET', '/schema/snapshot');
    const refused = await api.client(`/fields/${encodeURIComponent(HIDDEN)}/nothing`, { method: 'DELETE' });
    expect((refused.json as Refusal).errors[0]?.message)
      .to.contain('a\\u{200b}b')
      .and.not.to.contain(HIDDEN);
    await api.client(`/collections/${encodeURIComponent(HIDDEN)}`, { method: 'DELETE' });
    const back = await api.ok<{ hash: string; diff: object }>('GET', '/history/diff?to=1');
    await api.ok('POST', '/schema/apply', { hash: back.hash, diff: back.diff });
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(before);
  });
});
