import { expect } from 'chai';
import pg from 'pg';
import { dps } from '../support/dps.js';
import { createDatabase } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const KEY = plain('id', 'integer', { is_primary_key: true, has_auto_increment: true });
const SCHEMAS = { DB_SCHEMAS: 'public,billing,archive' };
const TO_BILLING = { to: 'billing.invoices', schema: { schema: 'billing' } };

interface Snapshot {
  collections: { collection: string; schema: object }[];
  objects: Listed[];
}

interface Listed {
  kind: string;
  id: string;
  definition: unknown;
  comment: string | null;
  enabled?: string;
}

describe('moving a table with managed objects', () => {
  const { api, service } = withService({ each: true, consistent: true, settings: { ...SCHEMAS, OBJECTS: 'on' } });

  const object = (kind: string, definition: unknown) => api.ok('POST', '/objects', { kind, definition });

  beforeEach(async () => {
    for (const collection of ['invoices', 'others'])
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [KEY, plain('total', 'integer')] });
  });

  it('rejects a function whose argument has the row type of the table', async () => {
    await object('function', 'CREATE FUNCTION value(i invoices) RETURNS int LANGUAGE sql AS $$ SELECT i.total $$');
    await object('function', 'CREATE FUNCTION first() RETURNS invoices LANGUAGE sql AS $$ SELECT NULL::invoices $$');
    const error = await api.refused(
      { status: 409, code: 'IN_USE' },
      'POST',
      '/collections/invoices/rename',
      TO_BILLING,
    );
    expect(error.message).to.match(/table "invoices" cannot move, because .* argument of function "value\(invoices\)"/);
    const sent = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const collections = sent.collections.map((each) =>
      each.collection === 'invoices' ? { ...each, schema: { ...each.schema, schema: 'billing' } } : each,
    );
    const at = sent.objects.findIndex(({ id }) => id === 'value(invoices)');
    await api.refused({ status: 409, code: 'IN_USE', at: `objects[${at}]` }, 'POST', '/schema/diff', {
      ...sent,
      collections,
    });
    // Without this function, the snapshot moves the table.
    const objects = sent.objects.filter(({ id }) => id !== 'value(invoices)');
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', { ...sent, collections, objects }));
    const { data } = await api.ok<{ data: { definition: string } }>('GET', '/objects/function/first()');
    expect(data.definition).to.contain('RETURNS billing.invoices');
    // A table outside the default schema has the same rule.
    await object(
      'function',
      'CREATE FUNCTION value(i billing.invoices) RETURNS int LANGUAGE sql AS $$ SELECT i.total $$',
    );
    const back = { to: 'invoices', schema: {} };
    await api.refused({ status: 409, code: 'IN_USE' }, 'POST', '/collections/invoices/rename', back);
  });

  /** Creates an object of each kind that can depend on the table. */
  const createAll = async () => {
    await object('function', 'CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$');
    for (const [kind, definition] of [
      ['trigger', 'CREATE TRIGGER mark BEFORE INSERT ON invoices FOR EACH ROW EXECUTE FUNCTION mark()'],
      ['policy', 'CREATE POLICY own ON invoices USING (invoices.total > 0)'],
      ['policy', 'CREATE POLICY most ON invoices USING (total = (SELECT max(i.total) FROM invoices i))'],
      ['row_security', 'ALTER TABLE invoices ENABLE ROW LEVEL SECURITY'],
      ['rule', 'CREATE RULE keep AS ON DELETE TO invoices WHERE old.total > 9 DO INSTEAD NOTHING'],
      ['rule', 'CREATE RULE log AS ON DELETE TO others DO ALSO DELETE FROM invoices WHERE invoices.id = old.id'],
      ['statistics', 'CREATE STATISTICS amounts ON id, total FROM invoices'],
      ['table_options', 'ALTER TABLE invoices SET (fillfactor = 70)'],
      ['privileges', 'GRANT SELECT, UPDATE (total) ON invoices TO pg_monitor'],
      ['view', 'CREATE VIEW totals AS SELECT total FROM invoices'],
      ['materialized_view', 'CREATE MATERIALIZED VIEW sums AS SELECT sum(total) AS total FROM invoices'],
      [
        'function',
        'CREATE FUNCTION total() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT max(total) FROM invoices; END',
      ],
    ] as const)
      await object(kind, definition);
    await api.ok('PATCH', '/objects/trigger/mark%20on%20invoices', { enabled: 'always', comment: 'Mark' });
    await api.ok('PATCH', '/objects/statistics/amounts', { comment: 'Amounts' });
  };

  const listed = async () => (await api.ok<{ data: Listed[] }>('GET', '/objects')).data;
  const ids = async () => (await listed()).map(({ kind, id }) => `${kind} ${id}`);
  const move = (body: object, from = 'invoices') => api.ok('POST', `/collections/${from}/rename`, body);
  const isClean = async () => {
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
    const { diff } = await api.ok<{ diff: object }>('POST', '/schema/diff', await api.ok('GET', '/schema/snapshot'));
    expect(Object.values(diff).flat()).to.deep.equal([]);
  };
  const OWN = [
    'policy most on billing.invoices',
    'policy own on billing.invoices',
    'privileges pg_monitor on billing.invoices',
    'row_security billing.invoices',
    'rule keep on billing.invoices',
    'statistics billing.amounts',
    'table_options billing.invoices',
    'trigger mark on billing.invoices',
  ];
  const isOwn = (label: string): boolean => /(?: on |^row_security |^table_options )billing\.|amounts/.test(label);

  it('renames the objects of the table with it, and rewrites those that use it', async () => {
    await createAll();
    const before = await api.head();
    const past = await listed();
    await move(TO_BILLING);
    expect((await ids()).filter(isOwn).sort()).to.deep.equal(OWN);
    const moved = await listed();
    for (const { id, definition } of moved.filter(
      (each) => typeof each.definition === 'string' && each.id !== 'mark()',
    ))
      expect(definition, id).to.contain('billing.invoices');
    expect(moved.find(({ kind }) => kind === 'trigger')).to.deep.include({ enabled: 'always', comment: 'Mark' });
    expect(moved.find(({ kind }) => kind === 'statistics')).to.deep.include({
      definition: 'CREATE STATISTICS billing.amounts ON id, total FROM billing.invoices',
      comment: 'Amounts',
    });
    await isClean();
    const after = await api.head();
    // The table gets another name too.
    await move({ to: 'bills', schema: { schema: 'archive', name: 'bills' } }, 'billing.invoices');
    expect((await ids()).filter((id) => id.includes('archive.'))).to.have.length(OWN.length);
    const own = (await listed()).find(({ id }) => id === 'own on archive.bills');
    expect(own?.definition).to.equal('CREATE POLICY own ON archive.bills USING ((total > 0))');
    await isClean();
    const { text: sql } = await api.client('/history/snapshot?export=sql');
    const database = await createDatabase('empty');
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
      await database.drop();
    }
    await api.goTo(before);
    expect(await listed()).to.deep.equal(past);
    await isClean();
    await api.goTo(after);
    expect(await listed()).to.deep.equal(moved);
    await isClean();
    const { objects } = await api.ok<Snapshot>('GET', `/history/snapshot?at=${before}`);
    expect(objects).to.deep.equal(past);
  });

  it('moves tables with objects where others were, and proves it', async () => {
    await createAll();
    await api.ok('POST', '/collections', {
      collection: 'old',
      schema: { schema: 'billing', name: 'invoices' },
      fields: [KEY, plain('total', 'integer')],
    });
    for (const [kind, definition] of [
      ['policy', 'CREATE POLICY own ON billing.invoices USING (total > 1)'],
      ['statistics', 'CREATE STATISTICS billing.others ON id, total FROM billing.invoices'],
    ] as const)
      await object(kind, definition);
    const sent = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const places: Record<string, string> = { invoices: 'billing', old: 'archive' };
    const collections = sent.collections.map((each) => {
      const schema = places[each.collection];
      return schema === undefined ? each : { ...each, schema: { ...each.schema, name: 'invoices', schema } };
    });
    const text = (id: string): string =>
      id.replace(/\bbilling\./g, 'archive.').replace(/(?<!archive\.)\binvoices$/, 'billing.invoices');
    const own = sent.objects.map((each) => ({
      ...each,
      id: each.id === 'amounts' ? 'billing.amounts' : text(each.id),
      definition:
        typeof each.definition === 'string'
          ? each.definition
              .replaceAll('billing.', 'archive.')
              .replaceAll(/(?<!archive\.)\binvoices\b(?!\.)/g, 'billing.invoices')
              .replace('STATISTICS amounts', 'STATISTICS billing.amounts')
          : each.definition,
    }));
    const diff = await api.ok<object>('POST', '/schema/diff', { ...sent, collections, objects: own });
    const { proof } = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', diff);
    expect(proof).to.deep.include({ differences: [], properties: [] });
    await api.ok('POST', '/schema/apply', diff);
    const policies = (await listed()).filter(({ id }) => id.startsWith('own on '));
    expect(policies.map(({ id, definition }) => [id, /> \d/.exec(String(definition))?.[0]])).to.deep.equal([
      ['own on archive.invoices', '> 1'],
      ['own on billing.invoices', '> 0'],
    ]);
    expect(await ids()).to.include.members(['statistics archive.others', 'statistics billing.amounts']);
    await isClean();
  });

  it('merges a move with changes of the other side to objects of the table', async () => {
    await createAll();
    const base = await api.head();
    const theirs = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const edited = {
      ...theirs,
      objects: theirs.objects.map((each) => (each.kind === 'trigger' ? { ...each, comment: 'theirs' } : each)),
    };
    await move(TO_BILLING);
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/merge', { base, theirs: edited }));
    expect((await listed()).find(({ id }) => id === 'mark on billing.invoices')?.comment).to.equal('theirs');
    expect((await ids()).filter(isOwn).sort()).to.deep.equal(OWN);
    await isClean();
    // The other side moves, and this side edits.
    await api.goTo(base);
    await move({ ...TO_BILLING, to: 'invoices' });
    const moving = await api.ok<Snapshot>('GET', '/schema/snapshot');
    await api.goTo(base);
    await api.ok('PATCH', '/objects/statistics/amounts', { comment: 'ours' });
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/merge', { base, theirs: moving }));
    expect((await ids()).filter(isOwn).sort()).to.deep.equal(OWN);
    expect((await listed()).find(({ id }) => id === 'billing.amounts')?.comment).to.equal('ours');
    await isClean();
  });

  it('accepts and repairs a move by hand', async () => {
    await createAll();
    await api.sql('ALTER TABLE invoices SET SCHEMA billing; ALTER STATISTICS amounts SET SCHEMA billing');
    await api.ok('POST', '/schema/drift/accept', {});
    expect((await ids()).filter(isOwn).sort()).to.deep.equal(OWN);
    await isClean();
    await api.sql('ALTER TABLE billing.invoices SET SCHEMA public');
    const settings = { ...SCHEMAS, OBJECTS: 'on', DATABASE_URL: service.databaseUrl };
    const { code, out } = await dps(['drift', '--repair'], settings);
    expect(code, out).to.equal(0);
    expect((await ids()).filter(isOwn).sort()).to.deep.equal(OWN);
    await isClean();
  });

  it('restores a table with its objects that was deleted after the move', async () => {
    await createAll();
    for (const { kind, id } of await listed())
      if (/^(?:view|materialized_view)$/.test(kind) || id === 'total()' || id === 'log on others')
        await api.ok('DELETE', `/objects/${kind}/${encodeURIComponent(id)}`);
    const before = await api.head();
    const past = await listed();
    await move(TO_BILLING);
    await api.ok('DELETE', '/collections/billing.invoices');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`);
    expect((await ids()).filter(isOwn).sort()).to.deep.equal(OWN);
    await api.ok('DELETE', '/collections/billing.invoices');
    await api.goTo(before);
    expect(await listed()).to.deep.equal(past);
    await isClean();
  });

  it('carries views, functions and policies of other tables that read it', async () => {
    await object('view', 'CREATE VIEW totals AS SELECT total FROM invoices');
    await object(
      'function',
      'CREATE FUNCTION sum_of() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT sum(total) FROM invoices; END',
    );
    await object('policy', 'CREATE POLICY known ON others USING (id IN (SELECT invoices.id FROM invoices))');
    await api.ok('POST', '/collections/invoices/rename', { to: 'billing.invoices', schema: { schema: 'billing' } });
    const { data } = await api.ok<{ data: { id: string; definition: string }[] }>('GET', '/objects');
    for (const { id, definition } of data) expect(definition, id).to.contain('billing.invoices');
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true });
    await api.ok('POST', '/collections/billing.invoices/rename', { to: 'invoices', schema: {} });
    const { data: after } = await api.ok<{ data: { id: string; definition: string }[] }>('GET', '/objects');
    for (const { id, definition } of after) expect(definition, id).not.to.contain('billing');
  });
});
