import { expect } from 'chai';
import pg from 'pg';
import { json } from '../support/client.js';
import { untilAwaited } from '../support/until.js';
import { withService } from '../support/with-service.js';

const key = {
  field: 'id',
  type: 'integer',
  interface: 'input',
  schema: { is_primary_key: true, has_auto_increment: true },
};
const note = { field: 'note', type: 'string', interface: 'input', schema: {} };

interface Plan {
  tables: { table: string; empty?: true }[];
}

describe('changes that must not lose data', () => {
  const { api, client, service } = withService({ consistent: true });
  const make = (collection: string) => api.ok('POST', '/collections', { collection, schema: {}, fields: [key, note] });
  const send = (path: string, body: object) => client(path, json(body));
  /** The diff that deletes collections and the fields `collection.field`. */
  const without = async (...names: string[]) => {
    const now = await api.ok<Record<'collections' | 'fields' | 'relations', object[]>>('GET', '/schema/snapshot');
    const stays = (each: { collection?: string; field?: string }) =>
      !names.includes(each.collection ?? '') && !names.includes(`${each.collection}.${each.field}`);
    const [collections, fields] = [now.collections.filter(stays), now.fields.filter(stays)];
    return api.ok<object>('POST', '/schema/diff?mode=mirror', { ...now, collections, fields });
  };
  const emptyIn = async (diff: object) =>
    (await api.ok<Plan>('POST', '/schema/apply?explain', diff)).tables
      .filter(({ empty }) => empty === true)
      .map(({ table }) => table);

  it('deletes tables and fields of tables that have no rows, and names these tables in the plan', async () => {
    for (const name of ['empty', 'shorter']) await make(name);
    const diff = await without('empty', 'shorter.note');
    expect(await emptyIn(diff)).to.deep.equal(['empty', 'shorter']);
    await api.ok('POST', '/schema/apply?lossless', diff);
    expect((await client('/collections/empty')).status).to.equal(404);
    expect((await client('/fields/shorter/note')).status).to.equal(404);
  });

  for (const [what, names] of [
    ['a table', ['filled']],
    ['a column', ['filled.note']],
    ['a table beside an empty one', ['filled', 'beside']],
  ] as const) {
    it(`rejects with 409 a change that deletes ${what} with rows, and changes nothing`, async () => {
      for (const name of ['filled', 'beside']) await make(name);
      await api.sql('insert into filled default values');
      const diff = await without(...names);
      expect(await emptyIn(diff)).not.to.include('filled');
      for (const query of ['lossless', 'lossless&dry_run', 'lossless&purge']) {
        const { status, text } = await send(`/schema/apply?${query}`, diff);
        if (query.includes('dry_run')) expect(text).to.include('"accepted":false');
        else expect(status, text).to.equal(409);
        expect(text)
          .to.include('is not empty, and the request allows no loss of data')
          .and.not.include('Table "beside"');
      }
      expect(await api.sql('select count(*)::int from filled')).to.deep.equal([{ count: 1 }]);
      await api.ok('POST', '/schema/apply', await without('filled', 'beside'));
    });
  }

  it('waits for a transaction that inserts a row, and then rejects the change', async () => {
    await make('awaited');
    const diff = await without('awaited');
    const other = new pg.Client({ connectionString: service.databaseUrl });
    await other.connect();
    try {
      await other.query('begin; insert into awaited default values');
      const applying = send('/schema/apply?lossless', diff);
      await untilAwaited('awaited', api.sql);
      await other.query('commit');
      const { status, text } = await applying;
      expect(status, text).to.equal(409);
    } finally {
      await other.end();
    }
    await api.ok('POST', '/schema/apply', await without('awaited'));
  });

  it('counts rows in a child table of an empty table', async () => {
    await make('parents');
    await api.sql('create table unmanaged_child () inherits (parents); insert into unmanaged_child values (1)');
    expect(await emptyIn(await without('parents.note'))).to.deep.equal([]);
    await api.sql('truncate unmanaged_child');
    expect(await emptyIn(await without('parents.note'))).to.deep.equal(['parents']);
    await api.sql('drop table unmanaged_child');
  });

  it('rejects the option together with "online"', async () => {
    const { status, text } = await send('/schema/apply?lossless&online', { hash: '', diff: {} });
    expect(status, text).to.equal(400);
    expect(text).to.include('lossless cannot be combined with online.');
  });
});
