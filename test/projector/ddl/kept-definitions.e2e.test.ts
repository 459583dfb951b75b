import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Constraint {
  name: string;
  definition: string;
}

interface Drift {
  ok: boolean;
  tables: object[];
}

describe('definitions that use a column whose type changes', () => {
  const { api } = withService({ settings: { DB_SCHEMAS: 'public,billing' }, each: true, consistent: true });

  const retype = (type: string, table = 'prices') =>
    api.ok('PATCH', `/fields/${encodeURIComponent(table)}/amount`, { type });
  const expectNoDrift = async () =>
    expect(await api.ok<Drift>('GET', '/schema/drift')).to.deep.include({ ok: true, tables: [] });
  const definitions = async (table = 'prices') => {
    const rows = await api.sql<Constraint>(
      `SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
        WHERE conrelid = $1::regclass AND contype IN ('c', 'x') ORDER BY 1`,
      [table],
    );
    return rows.map(({ name, definition }) => `${name} ${definition}`);
  };
  const indexes = async (table = 'prices') => {
    const rows = await api.sql<{ indexdef: string }>(
      `SELECT pg_get_indexdef(indexrelid) AS indexdef FROM pg_index WHERE indrelid = $1::regclass AND NOT indisprimary ORDER BY 1`,
      [table],
    );
    return rows.map(({ indexdef }) => indexdef);
  };
  const adopt = async (statements: string) => {
    await api.sql(statements);
    await api.ok('POST', '/schema/adopt', { all: true });
  };

  it('have the meaning of their text after several changes', async () => {
    await adopt(`CREATE TABLE prices (id integer PRIMARY KEY, amount numeric(8,2) CHECK (amount > 0));
      CREATE INDEX doubled ON prices ((amount * 2.5)) WHERE amount < 100;
      COMMENT ON CONSTRAINT prices_amount_check ON prices IS 'positive';
      COMMENT ON INDEX doubled IS 'for reports'`);
    await retype('integer');
    expect(await definitions()).to.deep.equal(['prices_amount_check CHECK (((amount)::numeric > (0)::numeric))']);
    await expectNoDrift();
    await retype('float');
    expect(await definitions()).to.deep.equal([
      'prices_amount_check CHECK ((amount > ((0)::numeric)::double precision))',
    ]);
    expect(await indexes()).to.deep.equal([
      'CREATE INDEX doubled ON public.prices USING btree (((amount * (2.5)::double precision))) WHERE (amount < ((100)::numeric)::double precision)',
    ]);
    await expectNoDrift();
    const comments = await api.sql(
      `SELECT obj_description(c.oid, 'pg_constraint') AS on_constraint, obj_description('doubled'::regclass, 'pg_class') AS on_index
         FROM pg_constraint c WHERE conname = 'prices_amount_check'`,
    );
    expect(comments).to.deep.equal([{ on_constraint: 'positive', on_index: 'for reports' }]);
  });

  it('are kept in another schema, even if they name their table', async () => {
    await adopt(`CREATE TABLE billing.prices (id integer PRIMARY KEY, amount numeric(8,2),
      CONSTRAINT positive CHECK (prices.amount > 0), CONSTRAINT once EXCLUDE USING btree ((amount + 1.5) WITH =))`);
    await retype('integer', 'billing.prices');
    await retype('float', 'billing.prices');
    expect(await definitions('billing.prices')).to.deep.equal([
      'once EXCLUDE USING btree (((amount + (1.5)::double precision)) WITH =)',
      'positive CHECK ((amount > ((0)::numeric)::double precision))',
    ]);
    await expectNoDrift();
  });

  it('are kept in tables that inherit the column', async () => {
    await adopt(`CREATE TABLE prices (id integer PRIMARY KEY, amount numeric(8,2), CONSTRAINT positive CHECK (amount > 0));
      CREATE TABLE few (PRIMARY KEY (id), CONSTRAINT small CHECK (amount < 9.5)) INHERITS (prices)`);
    await retype('integer');
    await expectNoDrift();
    await retype('float');
    await expectNoDrift();
    expect(await definitions('few')).to.deep.equal([
      'positive CHECK ((amount > ((0)::numeric)::double precision))',
      'small CHECK ((amount < (9.5)::double precision))',
    ]);
  });

  it('are kept if columns have the names of variables of the statement', async () => {
    await adopt(`CREATE TABLE prices (id integer PRIMARY KEY, amount numeric(8,2), found integer, note integer, expected integer,
      CONSTRAINT most CHECK (amount > found AND note < expected AND amount < 9.5))`);
    await retype('integer');
    await retype('float');
    await expectNoDrift();
    expect((await definitions())[0]).to.contain('(amount < (9.5)::double precision)');
  });

  it('must fit the new type, and nothing changes otherwise', async () => {
    await adopt('CREATE TABLE prices (id integer PRIMARY KEY, amount numeric(8,2) CHECK (amount > 0))');
    await retype('integer');
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', '/fields/prices/amount', {
      type: 'string',
    });
    expect(error.message).to.contain('operator does not exist: character varying > numeric');
    const { schema } = (await api.ok<{ data: { schema: { data_type: string } } }>('GET', '/fields/prices/amount')).data;
    expect(schema.data_type).to.equal('integer');
  });

  it('can change together with the type', async () => {
    await adopt('CREATE TABLE prices (id integer PRIMARY KEY, amount numeric(8,2) CHECK (amount > 0))');
    await retype('integer');
    const snapshot = await api.ok<{ fields: { field: string; type: string; schema: object }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const fields = snapshot.fields.map((each) =>
      each.field === 'amount' ? { ...each, type: 'text', schema: { ...each.schema, data_type: 'text' } } : each,
    );
    const text = JSON.stringify({ ...snapshot, fields }).replace('amount > (0)::numeric', "amount <> ''::text");
    const changes = await api.ok<{ diff: { collections: object[]; fields: object[] } }>(
      'POST',
      '/schema/diff',
      JSON.parse(text) as object,
    );
    expect([changes.diff.collections.length, changes.diff.fields.length]).to.deep.equal([1, 1]);
    await api.ok('POST', '/schema/apply', changes);
    await expectNoDrift();
  });
});
