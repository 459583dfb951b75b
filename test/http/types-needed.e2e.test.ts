import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Snapshot {
  collections: object[];
  fields: object[];
  [member: string]: unknown;
}

interface Diff {
  hash: string;
  diff: { fields: object[] };
  warnings?: { code: string; level: string; collection: string; field?: string; message: string }[];
}

describe('types of columns', () => {
  const { api, client } = withService({ each: true });

  const key = (collection: string) => ({
    collection,
    field: 'id',
    type: 'integer',
    schema: { is_primary_key: true, is_nullable: false },
  });
  const column = (collection: string, field: string, data_type: string, schema: object = {}) => ({
    collection,
    field,
    type: 'unknown',
    schema: { data_type, ...schema },
  });
  const withTable = async (fields: object[], schema: object = {}): Promise<Diff> => {
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    snapshot.collections.push({ collection: 'ut', schema });
    snapshot.fields.push(key('ut'), ...fields);
    return api.ok<Diff>('POST', '/schema/diff', snapshot);
  };
  const needed = ({ warnings = [] }: Diff) =>
    warnings.filter(({ code }) => code === 'TYPE_NEEDED').map(({ field, message }) => `${field}: ${message}`);

  it('are findings of the diff and errors of the apply if they are missing', async () => {
    const diff = await withTable([
      column('ut', 'c', 'comp'),
      column('ut', 'r', 'ranged[]'),
      column('ut', 'v', 'vector(3)'),
      { collection: 'ut', field: 's', type: 'string', schema: { extras: { collation: 'other."de-x"' } } },
    ]);
    const neededTypes = needed(diff).join('\n');
    for (const name of ['comp', 'ranged[]', 'vector(3)', 'de-x']) expect(neededTypes).to.contain(name);
    const { hash } = diff;
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/schema/apply', {
      hash,
      diff: diff.diff,
    });
    expect(error.message).to.contain('TYPE_NEEDED').and.to.contain('Create the type');
    await api.sql(`CREATE TYPE comp AS (a int, b text)`);
    expect(needed(await withTable([column('ut', 'c', 'comp'), column('ut', 'd', 'comp[]')]))).to.deep.equal([]);
    const carried = await withTable([column('ut', 'c', 'comp')]);
    await api.ok('POST', '/schema/apply', { hash: carried.hash, diff: carried.diff });
  });

  it('are not findings if the change creates them', async () => {
    const needs = [
      { kind: 'extension', name: 'citext' },
      { kind: 'enum', name: 'mood', labels: ['sad', 'happy'] },
      { kind: 'domain', name: 'short', type: 'text' },
    ];
    const fields = [
      column('ut', 'm', 'mood'),
      column('ut', 's', 'short'),
      { collection: 'ut', field: 'c', type: 'text', schema: { data_type: 'citext' } },
    ];
    const diff = await withTable(fields, { extras: { needs } });
    expect(needed(diff)).to.deep.equal([]);
    await api.ok('POST', '/schema/apply', { hash: diff.hash, diff: diff.diff });
  });

  it('must not contain row types of relations in other schemas', async () => {
    await api.ok('POST', '/collections', { collection: 'ut', schema: {}, fields: [] });
    await api.sql(`CREATE SCHEMA other; CREATE TABLE other.secret (a int); CREATE VIEW other.seen AS SELECT 1 AS a;
      CREATE TYPE wrapped AS (u service.service_users); CREATE DOMAIN guarded AS service.service_users;
      CREATE TYPE other.fine AS (a int); CREATE TABLE own (a int)`);
    const types = [
      'service.service_users',
      'service.service_users[]',
      'other.secret',
      'other.seen',
      'wrapped',
      'guarded',
      'guarded[]',
    ];
    for (const data_type of types) {
      const field = { field: 'x', type: 'unknown', interface: 'input', schema: { data_type } };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/fields/ut', field);
      expect(error.message, data_type).to.contain('"x"').and.to.contain('row type');
      const dry = await client('/fields/ut?dry_run', json(field));
      expect(dry.status, dry.text).to.equal(200);
      expect(dry.json, dry.text).to.deep.include({ accepted: false });
    }
    const domain = [{ kind: 'domain', name: 'mine', type: 'service.service_users' }];
    const created = { collection: 'wide', schema: { extras: { needs: domain } }, fields: [] };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/collections', created);
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    snapshot.fields.push(column('ut', 'x', 'service.service_users'));
    expect(needed(await api.ok<Diff>('POST', '/schema/diff', snapshot)).join()).to.contain('row type');
    for (const data_type of ['other.fine', 'own']) {
      const field = { field: data_type.replace('.', '_'), type: 'unknown', interface: 'input', schema: { data_type } };
      await api.ok('POST', '/fields/ut', field);
    }
  });
});
