import { expect } from 'chai';
import { testServer } from '../support/postgres.js';
import { withService } from '../support/with-service.js';
import { json } from '../support/client.js';
import { key, plain } from './routes/columns.js';

const TAKEN = { status: 409, code: 'ALREADY_EXISTS' };

describe('a name in use in the database', () => {
  const { api } = withService({ each: true, consistent: true });

  const others: [kind: string, sql: string][] = [
    ['an enum type', `CREATE TYPE x AS ENUM ('a')`],
    ['a domain', 'CREATE DOMAIN x AS text'],
    ['a range type', 'CREATE TYPE x AS RANGE (subtype = int4)'],
    ['a composite type', 'CREATE TYPE x AS (a int)'],
    ['a sequence', 'CREATE SEQUENCE x'],
    ['a view', 'CREATE VIEW x AS SELECT 1 AS a'],
    ['a materialized view', 'CREATE MATERIALIZED VIEW x AS SELECT 1 AS a'],
    ['an index', 'CREATE TABLE y (a int); CREATE INDEX x ON y (a)'],
  ];
  for (const [kind, text] of others) {
    it(`the name of ${kind} is rejected for a table and available for a folder`, async () => {
      await api.sql(text);
      const { message, extensions } = await api.refused(TAKEN, 'POST', '/collections', { collection: 'x', schema: {} });
      expect(message).to.equal(`"x" is already the name of ${kind} in the database. Choose another name.`);
      const taken = [{ name: 'x', kind: kind.replace(/^an? /, '') }];
      expect(extensions).to.deep.include({ collection: 'x', taken });
      await api.refused(TAKEN, 'POST', '/collections', [
        { collection: 'free', schema: {} },
        { collection: 'x', schema: {} },
      ]);
      await api.ok('POST', '/collections', { collection: 'x', schema: null });
    });
  }

  it('is found by an apply and its dry run', async () => {
    await api.ok('POST', '/collections', { collection: 'x', schema: {} });
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    await api.ok('DELETE', '/collections/x');
    const diff = await api.ok<object>('POST', '/schema/diff', snapshot);
    await api.sql(`CREATE TYPE x AS ENUM ('a')`);
    const plan = await api.ok<{ accepted: boolean }>('POST', '/schema/apply?dry_run', diff);
    expect(plan.accepted).to.equal(false);
    expect(JSON.stringify(plan)).to.include('is already the name of an enum type');
    await api.refused(TAKEN, 'POST', '/schema/apply', diff);
  });

  it('does not block a folder with the name of a view', async () => {
    await api.sql('CREATE VIEW folder AS SELECT 1 AS a; CREATE TABLE t_pkey (a int)');
    const { message } = await api.refused(TAKEN, 'POST', '/collections', [
      { collection: 'folder', schema: null },
      { collection: 't', schema: {} },
    ]);
    expect(message).to.include('"t_pkey" is already the name of a table').and.not.to.include('folder');
  });

  it('a field or relation cannot have the name of an index, a constraint, a foreign key or a column', async () => {
    const fields = [key('id'), plain('a', 'integer'), plain('b', 'integer', { is_unique: true })];
    await api.ok('POST', '/collections', { collection: 't', schema: {}, fields });
    await api.sql(`CREATE TABLE t_a_index (a int); CREATE VIEW t_a_unique AS SELECT 1 AS a`);
    await api.sql(`ALTER TABLE t ADD CONSTRAINT "by hand" CHECK (a > 0), ADD COLUMN there int`);
    const at = '/fields/t/a';
    const indexed = await api.refused(TAKEN, 'PATCH', at, { schema: { is_indexed: true } });
    expect(indexed.message).to.match(/\("t_a_index" is already the name of a table\)$/);
    expect(indexed.extensions).to.deep.include({ collection: 't', field: 'a', sqlstate: '42P07' });
    const unique = await api.refused(TAKEN, 'PATCH', at, { schema: { is_unique: true } });
    expect(unique.message).to.match(/\("t_a_unique" is already the name of a view\)$/);
    for (const constraint_name of ['by hand', 't_pkey', 't_b_unique']) {
      const body = { collection: 't', field: 'a', related_collection: 't', schema: { constraint_name } };
      const { message } = await api.refused(TAKEN, 'POST', '/relations', body);
      expect(message).to.include(`("${constraint_name}" is already the name of a constraint of the table)`);
    }
    const column = await api.refused(TAKEN, 'POST', '/fields/t', plain('there', 'integer'));
    expect(column.message).to.match(/\("there" is already the name of a column of the table\)$/);
    expect(column.extensions).to.deep.include({ taken: [{ name: 'there', kind: 'column of the table' }] });
    if ((await testServer()).majorVersion >= 18) {
      const named = { is_nullable: false, extras: { not_null_name: 'by hand' } };
      const notNull = await api.refused(TAKEN, 'POST', '/fields/t', plain('c', 'integer', named));
      expect(notNull.message).to.include('("by hand" is already the name of a constraint of the table)');
    }
    await api.sql('DROP TABLE t_a_index; DROP VIEW t_a_unique');
    await api.sql('ALTER TABLE t DROP CONSTRAINT "by hand", DROP COLUMN there');
  });

  it('is rejected the same way again with an Idempotency-Key', async () => {
    await api.sql('CREATE TABLE t_pkey (a int)');
    const send = { method: 'POST', body: JSON.stringify({ collection: 't', schema: {} }) };
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'taken' };
    const first = await api.client('/collections', { ...send, headers });
    expect(first.text).to.include('is already the name of a table');
    await api.sql('DROP TABLE t_pkey');
    expect((await api.client('/collections', { ...send, headers })).text).to.equal(first.text);
    await api.ok('POST', '/collections', { collection: 't', schema: {} });
  });

  it('the name of another foreign key yields one problem, for the sent relation', async () => {
    const fields = [key('id'), plain('a', 'integer'), plain('b', 'integer')];
    await api.ok('POST', '/collections', { collection: 't', schema: {}, fields });
    const relation = (field: string, constraint_name: string) => ({
      collection: 't',
      field,
      related_collection: 't',
      schema: { constraint_name },
    });
    await api.ok('POST', '/relations', relation('a', 'fk'));
    const at = { ...TAKEN, at: 'schema.constraint_name' };
    const { extensions } = await api.refused(at, 'POST', '/relations', relation('b', 'fk'));
    expect(extensions).to.deep.include({ field: 'b', taken: [{ name: 'fk', kind: 'constraint of the table' }] });
    await api.ok('POST', '/relations', relation('b', 'other'));
    // Now this older relation changes.
    const reply = await api.client('/relations/t/a', json({ schema: { constraint_name: 'other' } }, 'PATCH'));
    const { errors } = reply.json as { errors: { extensions: object }[] };
    expect(errors.map(({ extensions: { field } }: { extensions: { field?: string } }) => field)).to.deep.equal(['a']);
  });
});
