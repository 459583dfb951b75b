/** apply accepts every diff that the service returns, and both reject unsupported changes, including in a revert. */
import { expect } from 'chai';
import fc from 'fast-check';
import { withService } from '../../support/with-service.js';
import { json } from '../../support/client.js';

interface Snapshot {
  fields: { collection: string; field: string; type: string; schema: Record<string, unknown> }[];
  [member: string]: unknown;
}

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };
const OTHER = { field: 'x', type: 'integer', schema: {}, meta: { interface: 'input' } };
const DIVIDED = `CREATE TABLE p (a int, b text) PARTITION BY RANGE (a);
  CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (10); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)`;

describe('an offered diff', () => {
  const { api } = withService({ each: true });

  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const adopt = async (text: string) => {
    await api.sql(text);
    await api.ok('POST', '/schema/adopt', { all: true });
  };
  const clean = async () =>
    expect((await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify')).data).to.include({ ok: true });

  it('restores the values of a field of unknown type whose name was reused', async () => {
    await adopt(`CREATE TABLE u (id int PRIMARY KEY, x inet); INSERT INTO u VALUES (1, '10.0.0.1')`);
    const before = await api.head();
    await api.ok('DELETE', '/fields/u/x');
    await api.ok('POST', '/fields/u', OTHER);
    const diff = await api.ok<{ warnings: { code: string }[] }>('GET', `/history/diff?to=${before}`);
    const codes = diff.warnings.map(({ code }) => code);
    expect(codes).to.include('DATA_RESTORED').and.not.to.include('DATA_NOT_RESTORED');
    await api.appends(['field.deleted u.x', 'field.created u.x'], 'POST', '/schema/apply', diff);
    const [column] = await api.sql<{ type: string }>(
      `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'u'::regclass AND attname = 'x'`,
    );
    expect(column?.type).to.equal('inet');
    expect(await api.sql('SELECT host(x) AS x FROM u')).to.deep.equal([{ x: '10.0.0.1' }]);
    await clean();
    const forth = await api.ok('GET', `/history/diff?to=${before + 2}`);
    await api.ok('POST', '/schema/apply', forth);
    await clean();
  });

  it('is rejected with the location if an apply would reject it', async () => {
    await adopt(DIVIDED);
    const refused = async (collection: string, field: string, change: (found: Snapshot['fields'][0]) => void) => {
      const desired = await snapshot();
      const index = desired.fields.findIndex((each) => each.collection === collection && each.field === field);
      change(desired.fields[index]!);
      await api.refused({ ...INVALID, at: `fields[${index}].schema` }, 'POST', '/schema/diff', desired);
    };
    await refused('p1', 'b', (field) => Object.assign(field.schema, { default_value: 'x' }));
    const { collections, ...rest } = await snapshot();
    const diffed = collections as { collection: string; schema: { extras: object } }[];
    const index = diffed.findIndex(({ collection }) => collection === 'p');
    diffed[index]!.schema.extras = { ...diffed[index]!.schema.extras, partition_by: 'RANGE (b)' };
    const at = `collections[${index}].schema.extras.partition_by`;
    await api.refused({ ...INVALID, at }, 'POST', '/schema/diff', { ...rest, collections: diffed });
    const without = diffed.filter(({ collection }) => collection !== 'p');
    const fields = rest.fields.filter(({ collection }) => collection !== 'p');
    const gone = { ...rest, collections: without, fields };
    const reply = await api.client('/schema/diff', json(gone));
    expect(reply.status, reply.text).to.be.within(400, 409);
  });

  it('is rejected with the reason if the past cannot be restored', async () => {
    await adopt(DIVIDED);
    const before = await api.head();
    for (const name of ['p1', 'p2', 'p']) await api.ok('DELETE', `/collections/${name}`);
    await adopt(DIVIDED.replace('b text', 'b text, c int').replace('PARTITION BY RANGE (a)', 'PARTITION BY RANGE (a)'));
    const reply = await api.client(`/history/diff?to=${before}`);
    expect([reply.status, reply.codes[0]], reply.text).to.deep.equal([400, 'INVALID_QUERY']);
    expect(reply.text).to.include('is another table now');
    // Shown, although it cannot be applied.
    await api.ok('GET', `/history/diff?from=${before}&to=${before - 1}`);
  });

  it('can be applied for every earlier state of random histories, unless it is rejected', async () => {
    await adopt(`CREATE TABLE u (id int PRIMARY KEY, x inet, y int4range DEFAULT '[1,2)'); ${DIVIDED}`);
    await api.sql('CREATE TABLE w (id int PRIMARY KEY, r point)');
    const steps: [string, string, unknown?][] = [
      ['DELETE', '/fields/u/x'],
      ['DELETE', '/fields/u/y'],
      ['POST', '/fields/u', OTHER],
      ['POST', '/fields/u', { ...OTHER, field: 'y', type: 'string' }],
      ['POST', '/fields/u', { ...OTHER, field: 'y', type: 'alias', schema: null }],
      ['PATCH', '/fields/u/x', { meta: { note: 'n' } }],
      ['DELETE', '/collections/p1'],
      ['DELETE', '/collections/u'],
      ['POST', '/schema/adopt', { tables: ['w'] }],
      ['DELETE', '/fields/w/r'],
      ['POST', '/fields/w', { ...OTHER, field: 'r' }],
      ['POST', '/collections', { collection: 'u', schema: {}, fields: [{ ...OTHER, interface: 'input' }] }],
      ['PATCH', '/collections/p', { meta: { note: 'n' } }],
    ];
    const step = fc.oneof(
      fc.record({ back: fc.constant(null), call: fc.constantFrom(...steps) }),
      fc.record({ back: fc.nat({ max: 30 }), call: fc.constant(null) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (path) => {
        for (const { back, call } of path) {
          if (call !== null)
            await api.client(call[1], call[2] === undefined ? { method: call[0] } : json(call[2], call[0]));
          else await goBack(back % ((await api.head()) + 1));
        }
        await clean();
      }),
      { numRuns: 12, seed: 20_261_121, endOnFailure: true },
    );

    async function goBack(to: number): Promise<void> {
      const diff = await api.client(`/history/diff?to=${to}`);
      if (diff.status !== 200) {
        expect([diff.status, diff.codes[0]], diff.text).to.deep.equal([400, 'INVALID_QUERY']);
        return;
      }
      await api.ok('POST', '/schema/apply', diff.json);
      const then = await api.ok('GET', `/history/snapshot?at=${to}`);
      const rest = await api.ok<{ diff: unknown }>('POST', '/schema/diff', then);
      expect(rest.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    }
  });
});
