import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { expectConsistent } from '../support/consistent.js';
import { sendRaw } from '../support/client.js';

interface Collection {
  collection: string;
  schema: object | null;
}
interface Field {
  collection: string;
  field: string;
}
interface Snapshot {
  version: number;
  collections: Collection[];
  fields: Field[];
  relations: object[];
}
interface Diff {
  hash: string;
  diff: { collections: object[]; fields: object[]; relations: object[] };
}

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };
const NOTHING = { collections: [], fields: [], relations: [] };
const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'x', schema });

describe('hostile clients', () => {
  const { service, api } = withService();
  afterEach(async () => {
    await expectConsistent(service.databaseUrl);
  });

  const create = (collection: string, fields: object[] = [], more: object = {}) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields, ...more });
  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const hashNow = async () => (await api.ok<Diff>('POST', '/schema/diff', await snapshot())).hash;
  const text = (path: string, body: string) =>
    api.client(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

  describe('a JSON text inside a string', () => {
    for (const [what, inner] of [
      ['NUL', '{"a":"\\u0000"}'],
      ['half a surrogate pair', '{"\\ud800":"x"}'],
      ['a number beyond all bounds', '{"a":1e400}'],
      ['deep nesting', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
    ] as const) {
      it(`is validated like the body: ${what}`, async () => {
        const body = { collection: 'translated', schema: {}, translation: inner };
        await api.refused({ ...INVALID, at: 'translation' }, 'POST', '/collections', body);
      });
    }
  });

  describe('more errors than are reported', () => {
    const many = (item: string, count: number) => Array.from({ length: count }, () => item).join(',');
    for (const [path, body] of [
      ['/collections', () => `{"collection":"x","schema":{},"fields":[${many('1', 300_000)}]}`],
      ['/collections', () => `[${many('1', 300_000)}]`],
      ['/schema/adopt', () => `{"tables":[${many('"a"', 200_000)}]}`],
      ['/schema/adopt', () => `{"tables":[${many('1', 300_000)}]}`],
      ['/collections', () => `{${Array.from({ length: 70_000 }, (_, index) => `"k${index}":1`).join(',')}}`],
      ['/schema/diff', (head: string) => `${head},"collections":[${many('{}', 300_000)}]}`],
      ['/schema/diff?force', (head: string) => `${head},"vendor":"mysql","fields":[${many('1', 300_000)}]}`],
      ['/schema/apply', () => `{"hash":"x","diff":{"collections":[${many('1', 300_000)}]}}`],
      [
        '/schema/apply',
        () => {
          const entry = '{"collection":"nn","diff":[{"kind":"E","path":["meta","icon"],"lhs":1,"rhs":2}]}';
          const items = Array.from({ length: 150_000 }, (_, index) => entry.replace('nn', `n${index}`));
          return `{"hash":"x","diff":{"collections":[${items.join(',')}]}}`;
        },
      ],
    ] as const) {
      it(`get a short response: ${path}, ${body('{"version":1').slice(0, 40)}…`, async () => {
        const { service: release } = (await snapshot()) as unknown as { service: string };
        const head = `{"version":1,"service":"${release}"${path.includes('force') ? '' : ',"vendor":"postgres"'}`;
        const reply = await text(path, body(head));
        expect(reply.status, reply.text.slice(0, 300)).to.be.oneOf([400, 409, 413]);
        expect(reply.codes.length).to.be.within(1, 110);
        expect(reply.text.length).to.be.below(100_000);
      });
    }
  });

  it('a long chain of groups and a long cycle are checked in linear time', async () => {
    const now = await snapshot();
    const chain = Array.from({ length: 20_000 }, (_, index) => ({
      collection: `ch${index}`,
      schema: null,
      meta: { group: index === 0 ? null : `ch${index - 1}` },
    }));
    const flat = chain.map((each) => ({ ...each, meta: { group: null } }));
    await api.ok('POST', '/schema/diff?mode=merge', { ...now, collections: flat });
    // Walking from each collection up to its root would take thousands of times as long, more than a test may take.
    await api.ok('POST', '/schema/diff?mode=merge', { ...now, collections: chain });
    const cycle = chain.map((each, index) => (index === 0 ? { ...each, meta: { group: 'ch19999' } } : each));
    const at = 'collections[0].meta.group';
    // The maximum number of reported errors.
    const also = Array.from({ length: 99 }, (_, index) => `collections[${index + 1}].meta.group`);
    await api.refused({ ...INVALID, at, also }, 'POST', '/schema/diff?mode=merge', { ...now, collections: cycle });
  });

  describe('a manipulated diff', () => {
    const body = async (diff: object) => ({ hash: await hashNow(), diff: { ...NOTHING, ...diff } });
    const itemsOf = <T extends Collection | Field>(items: T[], collection: string): T[] =>
      items.filter((each) => each.collection === collection);

    it('turns a table into a folder only together with its table, and back', async () => {
      await create('kind', [plain('x', 'string')]);
      const { collections, fields } = await snapshot();
      const [lhs] = itemsOf(collections, 'kind');
      const gone = { collection: 'kind', diff: [{ kind: 'D', lhs }] };
      const come = { collection: 'kind', diff: [{ kind: 'N', rhs: { collection: 'kind', schema: null } }] };
      await api.ok('POST', '/schema/apply', await body({ collections: [gone, come] }));
      expect(await api.sql(`SELECT 1 WHERE to_regclass('public.kind') IS NOT NULL`)).to.deep.equal([]);
      const schema = { kind: 'E', path: ['schema'], lhs: null, rhs: { comment: null } };
      const columns = itemsOf(fields, 'kind').map((rhs) => ({ ...rhs, diff: [{ kind: 'N', rhs }] }));
      const entries = columns.map(({ collection, field, diff }) => ({ collection, field, diff }));
      const back = { collections: [{ collection: 'kind', diff: [schema] }], fields: entries };
      await api.ok('POST', '/schema/apply', await body(back));
      expect(await api.sql('SELECT * FROM kind')).to.deep.equal([]);
      await api.ok('DELETE', '/collections/kind');
    });

    it('returns to a point in time when the name belonged to a folder', async () => {
      await api.ok('POST', '/collections', { collection: 'moment', schema: null });
      const then = await api.head();
      await api.ok('DELETE', '/collections/moment');
      await create('moment');
      const diff = await api.ok<Diff>('GET', `/history/diff?from=now&to=${then}`);
      await api.ok('POST', '/schema/apply', diff);
      const { data } = await api.ok<{ data: Collection }>('GET', '/collections/moment');
      expect(data.schema).to.equal(null);
      await expectConsistent(service.databaseUrl);
      await api.ok('DELETE', '/collections/moment');
    });

    it('may contain each object once', async () => {
      const icon = { kind: 'E', path: ['meta', 'icon'], lhs: null, rhs: 'a' };
      await create('once', [plain('x', 'string')]);
      const { collections, fields } = await snapshot();
      const removed = { collection: 'once', diff: [{ kind: 'D', lhs: itemsOf(collections, 'once')[0] }] };
      const rhs = { collection: 'twin', schema: null };
      const twin = { collection: 'twin', diff: [{ kind: 'N', rhs }] };
      const changed = { collection: 'once', diff: [icon] };
      for (const pair of [
        [changed, changed],
        [removed, removed],
        [twin, twin],
        [removed, changed],
      ]) {
        const at = 'diff.collections[1]';
        await api.refused({ ...INVALID, at }, 'POST', '/schema/apply', await body({ collections: pair }));
      }
      const field = itemsOf(fields, 'once').find((each) => each.field === 'x');
      const gone = { collection: 'once', field: 'x', diff: [{ kind: 'D', lhs: field }] };
      await api.refused(INVALID, 'POST', '/schema/apply', await body({ fields: [gone, gone] }));
      const related = { collection: 'once', field: 'x', related_collection: 5, diff: [{ kind: 'D', lhs: {} }] };
      const at = 'diff.relations[0].related_collection';
      await api.refused({ ...INVALID, at }, 'POST', '/schema/apply', await body({ relations: [related] }));
      await api.ok('DELETE', '/collections/once');
    });
  });

  describe('names', () => {
    it('are rejected if a path cannot contain them', async () => {
      for (const name of ['.', '..']) {
        await api.refused({ ...INVALID, at: 'collection' }, 'POST', '/collections', { collection: name, schema: {} });
        const fields = [plain(name, 'string')];
        const body = { collection: 'dots', schema: {}, fields };
        await api.refused({ ...INVALID, at: 'fields[0].field' }, 'POST', '/collections', body);
      }
    });

    it('the name of an unmanaged table cannot be used for a folder either', async () => {
      await api.sql('CREATE TABLE unmanaged (id integer)');
      try {
        for (const schema of [{}, null]) {
          const body = { collection: 'unmanaged', schema };
          await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/collections', body);
        }
      } finally {
        await api.sql('DROP TABLE unmanaged');
      }
    });

    it('the name of a collection is not confused with a type', async () => {
      for (const [type, schema] of [
        ['text', { data_type: 'citext' }],
        ['geometry', {}],
      ] as const) {
        const name = type === 'text' ? 'citext' : 'geometry';
        await create(name);
        const body = { collection: 'typed', schema: {}, fields: [plain('x', type, schema)] };
        const at = 'fields[0].schema.data_type';
        await api.refused({ ...INVALID, at }, 'POST', '/collections', body);
        await api.ok('DELETE', `/collections/${name}`);
      }
    });
  });

  it('the service reports unmanaged objects that block a change', async () => {
    await create('needed', [plain('x', 'string')]);
    await api.sql('CREATE VIEW looks AS SELECT x FROM needed');
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/needed');
    expect(error.extensions['dependents']).to.deep.equal(['view looks depends on table needed']);
    await api.sql('DROP VIEW looks');
    await api.ok('DELETE', '/collections/needed');
  });

  it('an unterminated quote is reported as such', async () => {
    const fields = [plain('x', 'text', { generation_expression: '"""' })];
    const body = { collection: 'quoted', schema: {}, fields };
    const { message } = await api.refused(INVALID, 'POST', '/collections', body);
    expect(message).not.to.match(/JSON|token/i);
  });

  it('a client that disconnects while sending a body changes nothing', async () => {
    const before = await api.head();
    const lines = [
      'POST /collections HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${service.adminToken}`,
      'Content-Type: application/json',
      'Content-Length: 1000',
      '',
      '{"collection":"half"',
    ];
    for (let count = 0; count < 20; count++) await sendRaw(service.url, lines.join('\r\n'), { hangUp: true });
    await api.ok('GET', '/server/health');
    expect(await api.head()).to.equal(before);
  });
});
