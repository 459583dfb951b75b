import { expect } from 'chai';
import { expectConsistent } from '../../support/consistent.js';
import { withService } from '../../support/with-service.js';
import { catalogColumn } from './columns.js';

describe('a column of an adopted table', () => {
  const { service, api } = withService();
  before(async () => {
    await api.sql(`CREATE TABLE old (
      id int PRIMARY KEY, v varchar(10) CHECK (v <> 'x'), n int CHECK (n > 0), s serial, arr int[],
      d date DEFAULT now() + interval '1 day', g int GENERATED ALWAYS AS (n * 2) STORED, UNIQUE (n, v))`);
    await api.sql('CREATE INDEX lowered ON old (lower(v)) WHERE n > 1');
    await api.sql(`INSERT INTO old (id, v, n) VALUES (1, 'a', 1)`);
    await api.ok('POST', '/schema/adopt', { tables: ['old'] });
  });
  afterEach(() => expectConsistent(service.databaseUrl));

  it('changes its type while constraints, indexes and generated columns name it', async () => {
    await api.ok('PATCH', '/fields/old/v', { type: 'text' });
    await api.ok('PATCH', '/fields/old/n', { type: 'bigInteger' });
    expect(await catalogColumn(api, 'old', 'v')).to.include({ type: 'text' });
    expect(await api.sql('SELECT n::int, g FROM old')).to.deep.equal([{ n: 1, g: 2 }]);
  });

  it('is reported as drift when a constraint really changes', async () => {
    await api.sql(`ALTER TABLE old DROP CONSTRAINT old_v_check, ADD CONSTRAINT old_v_check CHECK (v <> 'y')`);
    const { data } = await api.ok<{ data: { ok: boolean; differences: { member: string }[] } }>(
      'GET',
      '/projections/verify',
    );
    expect(data.differences.map(({ member }) => member)).to.deep.equal(['constraint old_v_check']);
    await api.sql(`ALTER TABLE old DROP CONSTRAINT old_v_check, ADD CONSTRAINT old_v_check CHECK (v <> 'x')`);
  });

  it('changes an SQL default, and a serial to none and back', async () => {
    await api.ok('PATCH', '/fields/old/d', { schema: { default_value: 'CURRENT_DATE' } });
    await api.ok('PATCH', '/fields/old/s', { schema: { has_auto_increment: false } });
    expect(await catalogColumn(api, 'old', 's')).to.include({ default: null, identity: '' });
    await api.ok('PATCH', '/fields/old/s', { schema: { has_auto_increment: true } });
    expect(await catalogColumn(api, 'old', 's')).to.include({ identity: 'd' });
  });

  it('keeps its unnamed type, and rejects a type change with the reason', async () => {
    await api.ok('PATCH', '/fields/old/arr', { meta: { note: 'x' }, schema: { comment: 'y' } });
    expect(await catalogColumn(api, 'old', 'arr')).to.include({ type: 'integer[]', comment: 'y' });
    const refused = { status: 400, code: 'INVALID_PAYLOAD' };
    const { message } = await api.refused(refused, 'PATCH', '/fields/old/arr', { type: 'text' });
    expect(message).to.include('integer[]');
    await api.ok('PATCH', '/fields/old/arr', { schema: { is_indexed: true } });
    await api.ok('DELETE', '/fields/old/arr');
  });
});
