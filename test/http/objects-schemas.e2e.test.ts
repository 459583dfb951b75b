import { expect } from 'chai';
import { withService } from '../support/with-service.js';

const column = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const KEY = column('id', 'integer', { is_primary_key: true, has_auto_increment: true });
const INVOICES = {
  collection: 'billing.invoices',
  schema: { schema: 'billing' },
  fields: [KEY, column('number', 'string'), column('total', 'integer'), column('members_id', 'integer')],
};
const MEMBERS = { collection: 'members', schema: {}, fields: [KEY, column('name', 'string')] };

interface Document {
  kind: string;
  id: string;
  definition: string | object[];
  comment: string | null;
}

const SCHEMAS = { OBJECTS: 'on', DB_SCHEMAS: 'public,billing' };

/** One object of each kind, in an order in which they can be created. */
const OBJECTS: readonly [kind: string, definition: string, id: string][] = [
  ['type', "CREATE TYPE billing.state AS ENUM ('open', 'paid')", 'billing.state'],
  ['sequence', 'CREATE SEQUENCE billing.numbers START WITH 1000', 'billing.numbers'],
  [
    'function',
    'CREATE FUNCTION billing.net(total integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT total / 2 $$',
    'billing.net(integer)',
  ],
  [
    'function',
    'CREATE FUNCTION billing.trim_number() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.number := trim(NEW.number); RETURN NEW; END $$',
    'billing.trim_number()',
  ],
  ['procedure', 'CREATE PROCEDURE billing.close() LANGUAGE sql AS $$ SELECT 1 $$', 'billing.close()'],
  ['aggregate', 'CREATE AGGREGATE billing.sum_of(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = 0)', 'billing.sum_of(integer)'],
  [
    'view',
    'CREATE VIEW billing.large AS SELECT i.id, i.total, billing.net(i.total) AS net, m.name FROM billing.invoices i JOIN members m ON m.id = i.members_id WHERE i.total > 100',
    'billing.large',
  ],
  ['view', 'CREATE VIEW debtors AS SELECT name, total FROM billing.large', 'debtors'],
  [
    'materialized_view',
    'CREATE MATERIALIZED VIEW billing.sums AS SELECT members_id, billing.sum_of(total) AS total FROM billing.invoices GROUP BY members_id',
    'billing.sums',
  ],
  [
    'trigger',
    'CREATE TRIGGER trim_number BEFORE INSERT ON billing.invoices FOR EACH ROW EXECUTE FUNCTION billing.trim_number()',
    'trim_number on billing.invoices',
  ],
  ['policy', 'CREATE POLICY positive ON billing.invoices USING (total > 0)', 'positive on billing.invoices'],
  ['row_security', 'ALTER TABLE billing.invoices ENABLE ROW LEVEL SECURITY', 'billing.invoices'],
  ['rule', 'CREATE RULE keep AS ON DELETE TO billing.invoices WHERE old.total > 9000 DO INSTEAD UPDATE billing.invoices SET total = 0 WHERE billing.invoices.id = old.id', 'keep on billing.invoices'],
  ['statistics', 'CREATE STATISTICS billing.amounts ON number, total FROM billing.invoices', 'billing.amounts'],
  ['table_options', 'ALTER TABLE billing.invoices SET (fillfactor = 70)', 'billing.invoices'],
  ['privileges', 'GRANT SELECT, UPDATE (number) ON billing.invoices TO pg_monitor', 'pg_monitor on billing.invoices'],
  ['privileges', 'GRANT EXECUTE ON FUNCTION billing.net(integer) TO pg_monitor', 'pg_monitor on billing.net(integer)'],
  ['privileges', 'REVOKE EXECUTE ON FUNCTION billing.trim_number() FROM PUBLIC', 'public on billing.trim_number()'],
  ['privileges', 'GRANT USAGE ON SEQUENCE billing.numbers TO pg_monitor', 'pg_monitor on sequence billing.numbers'],
  ['privileges', 'GRANT SELECT ON billing.large TO pg_monitor', 'pg_monitor on billing.large'],
];

const keysOf = (objects: readonly { kind: string; id: string }[]): string[] =>
  objects.map(({ kind, id }) => `${kind} ${id}`).sort();

const ALL = keysOf(OBJECTS.map(([kind, , id]) => ({ kind, id })));

describe('objects outside the default schema', () => {
  const { api } = withService({ settings: SCHEMAS, each: true, consistent: true });

  const pathOf = (kind: string, id: string): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const listed = async () => (await api.ok<{ data: Document[] }>('GET', '/objects')).data;

  async function createAll(): Promise<void> {
    await api.ok('POST', '/collections', MEMBERS);
    await api.ok('POST', '/collections', INVOICES);
    for (const [kind, definition] of OBJECTS) await api.ok('POST', '/objects', { kind, definition });
  }

  it('are created with their schema in the id', async () => {
    await createAll();
    expect(keysOf(await listed())).to.deep.equal(ALL);
  });
});
