import { join } from 'node:path';
import { expect } from 'chai';
import type { SchemaObject } from '../../src/schema/model/object-document.js';
import { readObjectFile, writeObjectFile } from '../../src/schema/sql-text/object-file.js';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { temporaryDirectory } from '../support/postgres.js';
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

interface Snapshot {
  collections: object[];
  fields: object[];
  relations: object[];
  objects: Document[];
}

interface Adoption {
  objects: { kind: string; id: string }[];
  not_represented: { kind: string; name: string }[];
}

interface Drift {
  objects: { object: { kind: string; id: string }; repair: { database: { sql: string }[] } }[];
  unmanaged_objects: object[];
}

const NOTHING = { collections: [], fields: [], relations: [] };
const EMPTY = (snapshot: Snapshot): Snapshot => ({ ...snapshot, ...NOTHING, objects: [] });

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
  [
    'aggregate',
    'CREATE AGGREGATE billing.sum_of(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = 0)',
    'billing.sum_of(integer)',
  ],
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
  [
    'rule',
    'CREATE RULE keep AS ON DELETE TO billing.invoices WHERE old.total > 9000 DO INSTEAD UPDATE billing.invoices SET total = 0 WHERE billing.invoices.id = old.id',
    'keep on billing.invoices',
  ],
  ['statistics', 'CREATE STATISTICS billing.amounts ON number, total FROM billing.invoices', 'billing.amounts'],
  ['table_options', 'ALTER TABLE billing.invoices SET (fillfactor = 70)', 'billing.invoices'],
  ['privileges', 'GRANT SELECT, UPDATE (number) ON billing.invoices TO pg_monitor', 'pg_monitor on billing.invoices'],
  ['privileges', 'GRANT EXECUTE ON FUNCTION billing.net(integer) TO pg_monitor', 'pg_monitor on billing.net(integer)'],
  ['privileges', 'REVOKE EXECUTE ON FUNCTION billing.trim_number() FROM PUBLIC', 'public on billing.trim_number()'],
  ['privileges', 'GRANT USAGE ON SEQUENCE billing.numbers TO pg_monitor', 'pg_monitor on sequence billing.numbers'],
  ['privileges', 'GRANT SELECT ON billing.large TO pg_monitor', 'pg_monitor on billing.large'],
  ['privileges', 'GRANT USAGE ON TYPE billing.state TO pg_monitor', 'pg_monitor on type billing.state'],
  ['privileges', 'REVOKE USAGE ON TYPE billing.state FROM PUBLIC', 'public on type billing.state'],
  ['privileges', 'GRANT USAGE ON SCHEMA billing TO pg_monitor', 'pg_monitor on schema billing'],
];

const keysOf = (objects: readonly { kind: string; id: string }[]): string[] =>
  objects.map(({ kind, id }) => `${kind} ${id}`).sort();

const ALL = keysOf(OBJECTS.map(([kind, , id]) => ({ kind, id })));

describe('objects outside the default schema', () => {
  const { api, service } = withService({ settings: SCHEMAS, each: true, consistent: true });

  const pathOf = (kind: string, id: string): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const listed = async () => (await api.ok<{ data: Document[] }>('GET', '/objects')).data;

  const diffTo = async (snapshot: object) => (await api.ok<{ diff: object }>('POST', '/schema/diff', snapshot)).diff;

  async function createAll(): Promise<void> {
    await api.ok('POST', '/collections', MEMBERS);
    await api.ok('POST', '/collections', INVOICES);
    for (const [kind, definition] of OBJECTS) await api.ok('POST', '/objects', { kind, definition });
  }

  it('are created with their schema in the id', async () => {
    await createAll();
    expect(keysOf(await listed())).to.deep.equal(ALL);
    const [policy] = (await listed()).filter(({ kind }) => kind === 'policy');
    expect(policy).to.deep.include({ id: 'positive on billing.invoices', definition: OBJECTS[10]?.[1] });
    const used = await api.ok<{ data: Document[] }>('GET', '/objects?collection=billing.invoices&kind=privileges');
    expect(used.data.map(({ id }) => id)).to.deep.equal(['pg_monitor on billing.invoices']);
  });

  it('are written to files and read back, and are part of verified backups', async () => {
    await createAll();
    await api.ok('PATCH', pathOf('materialized_view', 'billing.sums'), {
      comment: 'Per member',
      indexes: [{ name: 'sums_key', unique: true, definition: 'USING btree (members_id)' }],
    });
    await api.ok('PATCH', pathOf('aggregate', 'billing.sum_of(integer)'), { comment: 'Sum' });
    await api.ok('PATCH', pathOf('type', 'billing.state'), { comment: 'State' });
    await api.ok('PATCH', pathOf('trigger', 'trim_number on billing.invoices'), { comment: 'Trim', enabled: 'always' });
    for (const object of await listed())
      expect(readObjectFile(writeObjectFile(object as SchemaObject))).to.deep.include({ object });
    const directory = await temporaryDirectory();
    const settings = { ...SCHEMAS, DATABASE_URL: service.databaseUrl };
    const { code, err } = await dps(['backup', join(directory, 'backup'), '--verify'], settings);
    expect(code, err).to.equal(0);
  });

  it('are renamed, changed and deleted with what depends on them', async () => {
    await createAll();
    await api.ok('POST', `${pathOf('view', 'billing.large')}/rename`, { to: 'larger' });
    await api.ok('POST', `${pathOf('function', 'billing.net(integer)')}/rename`, { to: 'net_of' });
    await api.ok('POST', `${pathOf('trigger', 'trim_number on billing.invoices')}/rename`, { to: 'trim_it' });
    await api.ok('POST', `${pathOf('sequence', 'billing.numbers')}/rename`, { to: 'counter' });
    await api.ok('POST', `${pathOf('type', 'billing.state')}/rename`, { to: 'status' });
    const ids = (await listed()).map(({ id }) => id);
    expect(ids).to.include.members([
      'billing.larger',
      'billing.net_of(integer)',
      'trim_it on billing.invoices',
      'billing.counter',
      'pg_monitor on billing.larger',
      'pg_monitor on billing.net_of(integer)',
      'pg_monitor on sequence billing.counter',
      'public on type billing.status',
    ]);
    const debtors = await api.ok<{ data: Document }>('GET', pathOf('view', 'debtors'));
    expect(debtors.data.definition).to.include('FROM billing.larger');
    const definition =
      'CREATE VIEW billing.larger AS SELECT id, total, name FROM billing.invoices JOIN members USING (id)';
    await api.ok('PATCH', pathOf('view', 'billing.larger'), { definition, comment: 'Large invoices' });
    await api.ok('PATCH', pathOf('rule', 'keep on billing.invoices'), { enabled: 'disabled' });
    await api.ok('PATCH', pathOf('table_options', 'billing.invoices'), {
      definition: 'ALTER TABLE billing.invoices SET (fillfactor = 80)',
    });
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', pathOf('view', 'billing.larger'));
    await api.ok('DELETE', pathOf('view', 'debtors'));
    await api.ok('DELETE', pathOf('view', 'billing.larger'));
    expect((await listed()).map(({ id }) => id)).not.to.include('pg_monitor on billing.larger');
  });

  it('name what they use with its schema when it cannot be deleted', async () => {
    await createAll();
    await api.ok('POST', '/objects', {
      kind: 'view',
      definition: "CREATE VIEW states AS SELECT 'paid'::billing.state AS a",
    });
    for (const [kind, id, user] of [
      ['view', 'billing.large', 'debtors'],
      ['type', 'billing.state', 'states'],
      ['function', 'billing.net(integer)', 'billing.large'],
    ] as const) {
      const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', pathOf(kind, id));
      expect(error.message).to.contain(`view "${user}" uses`).and.contain(`"${id}", which this change deletes`);
    }
  });

  it('keep the text of equal definitions when a table of the same name in another schema changes', async () => {
    await api.ok('POST', '/collections', INVOICES);
    await api.ok('POST', '/collections', { ...INVOICES, collection: 'invoices', schema: {} });
    for (const [name, from] of [
      ['named', 'public.invoices'],
      ['other', 'billing.invoices'],
      ['own', 'invoices'],
    ] as const)
      await api.ok('POST', '/objects', {
        kind: 'view',
        definition: `CREATE VIEW ${name} AS SELECT total % 2 AS odd FROM ${from}`,
      });
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const objects: unknown = JSON.parse(JSON.stringify(snapshot.objects).replaceAll(' total', ' invoices.total'));
    const changedWith = async (collection: string): Promise<string[]> => {
      const fields = (snapshot.fields as { collection: string; field: string; schema: object }[]).map((each) =>
        each.collection === collection && each.field === 'total'
          ? { ...each, type: 'bigInteger', schema: { ...each.schema, data_type: 'bigint' } }
          : each,
      );
      const diff = (await diffTo({ ...snapshot, fields, objects })) as { objects?: { id: string }[] };
      return (diff.objects ?? []).map(({ id }) => id);
    };
    expect(await changedWith('billing.invoices')).to.deep.equal(['other']);
    expect(await changedWith('invoices')).to.deep.equal(['named', 'own']);
  });

  it('follow changes to columns, and are deleted and restored with their table', async () => {
    await createAll();
    await api.ok('PATCH', '/fields/billing.invoices/members_id', { type: 'bigInteger' });
    await api.ok('POST', '/fields/billing.invoices/number/rename', { to: 'code' });
    const statistics = await api.ok<{ data: Document }>('GET', pathOf('statistics', 'billing.amounts'));
    expect(statistics.data.definition).to.include('code');
    await api.ok('DELETE', pathOf('materialized_view', 'billing.sums'));
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/billing.invoices');
    await api.ok('DELETE', pathOf('view', 'debtors'));
    await api.ok('DELETE', pathOf('view', 'billing.large'));
    await api.ok('DELETE', '/collections/billing.invoices');
    const kept = ['type', 'sequence', 'function', 'procedure', 'aggregate'];
    expect([...new Set((await listed()).map(({ kind }) => kind))].sort()).to.deep.equal([...kept, 'privileges'].sort());
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`, {});
    expect(keysOf(await listed())).to.include.members([
      'policy positive on billing.invoices',
      'privileges pg_monitor on billing.invoices',
      'row_security billing.invoices',
      'rule keep on billing.invoices',
      'statistics billing.amounts',
      'table_options billing.invoices',
      'trigger trim_number on billing.invoices',
    ]);
  });

  it('are applied from snapshots in both directions, proved, and part of time travel and the SQL export', async () => {
    const start = await api.head();
    await createAll();
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    await api.goTo(start);
    expect(await listed()).to.deep.equal([]);
    const changes = await api.ok<object>('POST', '/schema/diff', snapshot);
    const { proof } = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', changes);
    expect(proof).to.deep.include({ differences: [], properties: [] });
    await api.ok('POST', '/schema/apply', changes);
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    expect(keysOf(await listed())).to.deep.equal(ALL);
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.include('CREATE VIEW "billing"."large"').and.to.include('CREATE SCHEMA IF NOT EXISTS "billing"');
  });

  it('are adopted with everything that they use', async () => {
    await api.sql(`CREATE TABLE members (id integer PRIMARY KEY, name text);
      CREATE TABLE billing.invoices (id integer PRIMARY KEY, number text, total integer, members_id integer)`);
    for (const [, definition] of OBJECTS) await api.sql(definition);
    const alone = { objects: [{ kind: 'view', id: 'billing.large' }] };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/adopt', alone);
    const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
    expect(keysOf(adopted.objects)).to.deep.equal(ALL);
    expect([...new Set(adopted.not_represented.map(({ kind, name }) => `${kind} ${name}`))]).to.deep.equal([
      'role pg_monitor',
    ]);
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', EMPTY(snapshot)));
    await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
  });

  it('are repaired and accepted when someone changed them by hand', async () => {
    await createAll();
    await api.sql(`CREATE OR REPLACE FUNCTION billing.net(total integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 1 $$;
      REVOKE SELECT ON billing.invoices FROM pg_monitor; ALTER TABLE billing.invoices DISABLE TRIGGER trim_number;
      DROP STATISTICS billing.amounts; CREATE VIEW billing.others AS SELECT 1 AS one`);
    const drift = await api.ok<Drift>('GET', '/schema/drift');
    expect(keysOf(drift.objects.map(({ object }) => object))).to.deep.equal([
      'function billing.net(integer)',
      'privileges pg_monitor on billing.invoices',
      'statistics billing.amounts',
      'trigger trim_number on billing.invoices',
    ]);
    expect(drift.unmanaged_objects).to.deep.equal([{ kind: 'view', id: 'billing.others' }]);
    for (const { sql } of drift.objects.flatMap(({ repair }) => repair.database)) await api.sql(sql);
    expect((await api.ok<Drift>('GET', '/schema/drift')).objects).to.deep.equal([]);
    await api.sql('ALTER VIEW billing.large SET (security_barrier = true)');
    await api.ok('POST', '/schema/drift/accept', {});
    const { data } = await api.ok<{ data: Document }>('GET', pathOf('view', 'billing.large'));
    expect(data.definition).to.include('CREATE VIEW billing.large WITH (security_barrier=true)');
  });

  it('reject schemas that are not managed, and names that are taken', async () => {
    await api.ok('POST', '/collections', INVOICES);
    const invalid = { status: 400, code: 'INVALID_PAYLOAD' };
    const create = (definition: string, more: object = { kind: 'view' }) =>
      ['POST', '/objects', { definition, ...more }] as const;
    await api.refused({ ...invalid, at: 'definition' }, ...create('CREATE VIEW other.one AS SELECT 1 AS one'));
    const grant = { kind: 'privileges' };
    const { hash } = await api.ok<{ hash: string }>('POST', '/schema/diff', await api.ok('GET', '/schema/snapshot'));
    const rhs = {
      kind: 'view',
      id: 'other.one',
      definition: 'CREATE VIEW other.one AS SELECT 1 AS one',
      comment: null,
    };
    const entry = { kind: rhs.kind, id: rhs.id, diff: [{ kind: 'N', rhs }] };
    await api.refused(invalid, 'POST', '/policy/test', { diff: { hash, diff: { ...NOTHING, objects: [entry] } } });
    await api.refused({ ...invalid, at: 'definition' }, ...create('GRANT SELECT ON other.t TO pg_monitor', grant));
    await api.refused(invalid, ...create('GRANT SELECT ON billing.unknown TO pg_monitor', grant));
    const rule = 'CREATE RULE r AS ON DELETE TO billing.invoices DO ALSO DELETE FROM service.service_events';
    await api.refused(invalid, ...create(rule, { kind: 'rule' }));
    const taken = { status: 409, code: 'ALREADY_EXISTS' };
    await api.refused(taken, ...create('CREATE VIEW billing.invoices AS SELECT 1 AS one'));
    await api.ok(...create('CREATE VIEW invoices AS SELECT 1 AS one'));
    await api.ok(...create('CREATE VIEW public.named AS SELECT 1 AS one'));
    const { data } = await api.ok<{ data: Document }>('GET', pathOf('view', 'named'));
    expect(data.definition).to.equal('CREATE VIEW named AS SELECT 1 AS one');
  });

  it('keep unmanaged privileges, so a new name and a new definition need two changes', async () => {
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW billing.one AS SELECT 1 AS a' });
    await api.sql('GRANT SELECT ON billing.one TO pg_monitor');
    const object = (name: string, column: string) => ({
      kind: 'view',
      id: `billing.${name}`,
      definition: `CREATE VIEW billing.${name} AS SELECT 1 AS ${column}`,
      comment: null,
    });
    const diff = (name: string, column: string) => ({
      kind: 'view',
      id: `billing.${name}`,
      diff: [
        ...(name === 'one' ? [] : [{ kind: 'E', path: ['id'], lhs: 'billing.one', rhs: `billing.${name}` }]),
        { kind: 'E', path: ['definition'], lhs: object(name, 'a').definition, rhs: object(name, column).definition },
      ],
    });
    const { hash } = await api.ok<{ hash: string }>(
      'POST',
      '/schema/diff',
      await api.ok<object>('GET', '/schema/snapshot'),
    );
    const apply = (item: object) => ({ hash, diff: { ...NOTHING, objects: [item] } });
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'POST', '/schema/apply', apply(diff('two', 'b')));
    expect(error.message).to.include('Apply the renames first');
    await api.ok('POST', '/schema/apply', apply(diff('one', 'b')));
    expect(await api.sql('SELECT b FROM billing.one')).to.deep.equal([{ b: 1 }]);
  });

  it('follow a table that a limited token renames to a name with a dot', async () => {
    await api.ok('POST', '/collections', MEMBERS);
    const definition = "CREATE POLICY named ON members USING (name <> '')";
    await api.ok('POST', '/objects', { kind: 'policy', definition });
    const { data: admin } = await api.ok<{ data: { id: string } }>('GET', '/users/me');
    const scope = { collections: ['members', 'billing.*'] };
    const tokens = `/users/${admin.id}/tokens`;
    const { data } = await api.ok<{ data: { token: string } }>('POST', tokens, { scope });
    const rename = { ...json({ to: 'billing.members' }), token: data.token };
    const { status, text } = await api.client('/collections/members/rename', rename);
    expect(status, text).to.equal(200);
    expect((await listed()).map(({ id }) => id)).to.deep.equal(['named on "billing.members"']);
  });

  it('are distinguished from names with a dot in the default schema', async () => {
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW "billing.totals" AS SELECT 1 AS one' });
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW billing.totals AS SELECT 2 AS two' });
    expect((await listed()).map(({ id }) => id).sort()).to.deep.equal(['"billing.totals"', 'billing.totals']);
    await api.ok('DELETE', pathOf('view', '"billing.totals"'));
    expect(await api.sql('SELECT * FROM billing.totals')).to.deep.equal([{ two: 2 }]);
  });
});

describe('objects in the schema public while another schema is the default', () => {
  const settings = { OBJECTS: 'on', DB_SCHEMAS: 'app,public', SERVICE_SCHEMA: 'service' };
  const { api } = withService({ settings, each: true });

  const NOTES = { collection: 'public.notes', schema: { schema: 'public' }, fields: [KEY, column('total', 'integer')] };
  const LOGGED = { collection: 'logged', schema: {}, fields: [KEY, column('total', 'integer')] };
  const DEFINITIONS: readonly [kind: string, definition: string][] = [
    ['type', 'CREATE DOMAIN public.positive AS integer CONSTRAINT positive_check CHECK (VALUE > 0)'],
    ['type', 'CREATE TYPE amount AS (value positive)'],
    ['function', 'CREATE FUNCTION half(value positive) RETURNS integer LANGUAGE sql AS $$ SELECT value / 2 $$'],
    ['view', 'CREATE VIEW public.totals AS SELECT id, total FROM public.notes'],
    ['view', 'CREATE VIEW all_totals AS SELECT id, total FROM totals'],
    ['rule', 'CREATE RULE keep AS ON DELETE TO logged DO ALSO DELETE FROM notes WHERE notes.id = old.id'],
  ];

  it('are found by definitions that name them without a schema', async () => {
    await api.ok('POST', '/collections', NOTES);
    await api.ok('POST', '/collections', LOGGED);
    for (const [kind, definition] of DEFINITIONS) await api.ok('POST', '/objects', { kind, definition });
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const diffTo = async (desired: object) => api.ok<{ diff: object }>('POST', '/schema/diff', desired);
    expect((await diffTo(snapshot)).diff).to.deep.equal(NOTHING);
    await api.ok('POST', '/schema/apply', await diffTo(EMPTY(snapshot)));
    await api.ok('POST', '/schema/apply', await diffTo(snapshot));
    const { objects } = await api.ok<Snapshot>('GET', '/schema/snapshot');
    expect(objects).to.have.length(DEFINITIONS.length);
    const renamed = '/objects/type/public.positive/rename';
    await api.refused({ status: 409, code: 'IN_USE' }, 'POST', renamed, { to: 'natural' });
  });
});
