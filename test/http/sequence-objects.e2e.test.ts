import { expect } from 'chai';
import { withService } from '../support/with-service.js';

const KEY = { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } };

interface Document {
  kind: string;
  id: string;
  definition: string;
  comment: string | null;
}

interface Plan {
  accepted: boolean;
  statements: { sql: string; summary: string; lock: string }[];
  warnings: { code: string; level: string; message: string }[];
}

interface Snapshot {
  collections: object[];
  fields: object[];
  relations: object[];
  objects: Document[];
}

interface Difference {
  diff: { objects?: { id: string; diff: { path?: string[] }[] }[] };
}

interface Adoption {
  objects: { kind: string; id: string }[];
  not_represented: { table: string | null; kind: string; name: string; code: string }[];
}

const NOTHING = { collections: [], fields: [], relations: [] };
const NUMBERS = 'CREATE SEQUENCE numbers START WITH 1000 INCREMENT BY 5';

describe('sequences', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const path = (id = 'numbers'): string => `/objects/sequence/${encodeURIComponent(id)}`;
  const create = (definition = NUMBERS, more: object = {}) =>
    api.ok('POST', '/objects', { kind: 'sequence', definition, ...more });
  const change = (definition: string) => api.ok('PATCH', path(), { definition });
  const shown = async (id = 'numbers') => (await api.ok<{ data: Document }>('GET', path(id))).data;
  const listed = async () => (await api.ok<{ data: Document[] }>('GET', '/objects')).data.map(({ id }) => id);
  const snapshotNow = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const diffTo = async (snapshot: object) => (await api.ok<Difference>('POST', '/schema/diff', snapshot)).diff;
  const apply = async (snapshot: object) =>
    api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));
  const next = async (name = 'numbers') =>
    Number((await api.sql<{ value: string }>(`SELECT nextval('${name}') AS value`))[0]?.value);

  /** The options in the catalog. */
  const existing = async () =>
    (
      await api.sql<{ text: string }>(
        `SELECT concat_ws(' ', sequencename, data_type, start_value, increment_by, min_value, max_value, cache_size, cycle) AS text
           FROM pg_sequences WHERE schemaname = 'public' ORDER BY 1`,
      )
    ).map(({ text }) => text);

  it('are created, changed without a new value, renamed and deleted', async () => {
    await create(NUMBERS, { comment: 'Invoices' });
    expect(await existing()).to.deep.equal(['numbers bigint 1000 5 1 9223372036854775807 1 f']);
    expect(await shown()).to.deep.equal({ kind: 'sequence', id: 'numbers', definition: NUMBERS, comment: 'Invoices' });
    expect([await next(), await next()]).to.deep.equal([1000, 1005]);
    const definition = 'CREATE SEQUENCE numbers AS integer START 2000 INCREMENT 10 MAXVALUE 3000 CACHE 2 CYCLE';
    const plan = await api.ok<Plan>('PATCH', `${path()}?dry_run`, { definition });
    expect(plan.statements.map(({ summary }) => summary)).to.deep.equal(['change sequence numbers']);
    await change(definition);
    expect(await existing()).to.deep.equal(['numbers integer 2000 10 1 3000 2 t']);
    expect(await next(), 'a used sequence continues').to.equal(1015);
    await api.ok('POST', `${path()}/rename`, { to: 'Invoice numbers' });
    expect(await shown('Invoice numbers')).to.deep.include({
      definition: definition.replace('numbers', '"Invoice numbers"'),
      comment: 'Invoices',
    });
    await api.ok('DELETE', path('Invoice numbers'));
    expect(await existing()).to.deep.equal([]);
  });

  it('are equal regardless of the order and spelling of their options', async () => {
    await create();
    const head = await api.head();
    await change(
      'CREATE SEQUENCE public."numbers" AS int8 NO CYCLE INCREMENT 5 MINVALUE 1 NO MAXVALUE CACHE 1 START 01000 OWNED BY NONE',
    );
    expect(await api.head()).to.equal(head);
  });

  for (const [name, definition, message] of [
    ['a column that owns it', 'CREATE SEQUENCE a OWNED BY members.id', 'must not contain OWNED BY'],
    ['a temporary sequence', 'CREATE TEMP SEQUENCE a', 'must not create a temporary sequence'],
    ['an unlogged sequence', 'CREATE UNLOGGED SEQUENCE a', 'must not contain UNLOGGED'],
    ['IF NOT EXISTS', 'CREATE SEQUENCE IF NOT EXISTS a', 'must not contain IF NOT EXISTS'],
    ['another type', 'CREATE SEQUENCE a AS numeric', 'must have the type smallint, integer or bigint'],
    ['an option that is set twice', 'CREATE SEQUENCE a START 1 START 2', 'must contain each option only once'],
    ['a number that is no integer', 'CREATE SEQUENCE a MAXVALUE 1e3', 'must have a 64-bit integer as MAXVALUE'],
    [
      'a start outside its range',
      'CREATE SEQUENCE a MAXVALUE 5 START 6',
      'contains an invalid START: it must be from min',
    ],
    ['an increment of zero', 'CREATE SEQUENCE a INCREMENT 0', 'contains an invalid INCREMENT: it must not be zero'],
    ['RESTART', 'CREATE SEQUENCE a RESTART 5', 'must contain only AS, START, INCREMENT'],
    ['two statements', 'CREATE SEQUENCE a; DROP TABLE b', 'exactly one statement'],
    ['another schema', 'CREATE SEQUENCE service.a', 'must create the object in'],
  ] as const)
    it(`reject ${name}`, async () => {
      const body = { kind: 'sequence', definition };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', body);
      expect(error.message).to.contain(message);
      expect(await listed()).to.deep.equal([]);
    });

  it('share their namespace with tables and views', async () => {
    await create('CREATE SEQUENCE orders_id_seq');
    await create('CREATE SEQUENCE taken');
    const taken = { status: 409, code: 'ALREADY_EXISTS' };
    const counted = {
      field: 'id',
      type: 'integer',
      interface: 'input',
      schema: { is_primary_key: true, has_auto_increment: true },
    };
    const orders = { collection: 'orders', schema: {}, fields: [counted] };
    expect((await api.refused(taken, 'POST', '/collections', orders)).message).to.contain('"orders_id_seq"');
    await api.refused(taken, 'POST', '/collections', { collection: 'taken', schema: {}, fields: [KEY] });
    const view = { kind: 'view', definition: 'CREATE VIEW taken AS SELECT 1 AS one' };
    await api.refused({ ...taken, also: ['definition'] }, 'POST', '/objects', view);
    await api.refused(taken, 'POST', '/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE taken' });
  });

  it('are applied from snapshots without a difference afterwards, even to an empty schema', async () => {
    await create(NUMBERS, { comment: 'Invoices' });
    await create('CREATE SEQUENCE "Down" AS smallint INCREMENT BY -1 MINVALUE -9 CACHE 3 CYCLE');
    const snapshot = await snapshotNow();
    const other = {
      ...snapshot,
      objects: snapshot.objects.map((each) => ({ ...each, definition: each.definition.replace('5', '7') })),
    };
    expect((await diffTo(other)).objects?.map(({ id, diff }) => [id, diff[0]?.path])).to.deep.equal([
      ['numbers', ['definition']],
    ]);
    await apply(other);
    expect(await diffTo(other)).to.deep.equal(NOTHING);
    await apply({ ...snapshot, objects: [] });
    expect(await existing()).to.deep.equal([]);
    await apply(snapshot);
    expect(await existing()).to.deep.equal([
      'Down smallint -1 -1 -9 -1 3 t',
      'numbers bigint 1000 5 1 9223372036854775807 1 f',
    ]);
    expect(await snapshotNow()).to.deep.equal(snapshot);
  });

  it('change back and forth between points in time, are proved, and are in the SQL export', async () => {
    const start = await api.head();
    const past = await snapshotNow();
    const changes = await api.ok<object>('POST', '/schema/diff', {
      ...past,
      objects: [{ kind: 'sequence', id: 'numbers', definition: NUMBERS, comment: null }],
    });
    const proof = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', changes);
    expect(proof.proof).to.deep.include({ differences: [], properties: [] });
    await api.ok('POST', '/schema/apply', changes);
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain('CREATE SEQUENCE "public"."numbers" START WITH 1000 INCREMENT BY 5');
    await change('CREATE SEQUENCE numbers');
    await api.goTo(start);
    expect(await existing()).to.deep.equal([]);
    expect(await snapshotNow()).to.deep.equal(past);
  });

  it('are dropped with a finding about their value', async () => {
    await create();
    const { warnings } = await api.ok<Plan>('DELETE', `${path()}?dry_run`);
    expect(warnings).to.have.lengthOf(1);
    expect(warnings[0]).to.deep.include({
      code: 'DROPS_SEQUENCE',
      message: 'drop sequence "numbers": its current value is lost',
    });
  });

  it('are repaired and accepted when someone changed them by hand', async () => {
    await create();
    expect(await next()).to.equal(1000);
    await api.sql('ALTER SEQUENCE numbers INCREMENT BY 7 MAXVALUE 5000');
    interface Drift {
      objects: { object: { id: string }; kind: string; repair: { database: { sql: string }[] } }[];
      unmanaged_objects: { id: string }[];
    }
    const { objects } = await api.ok<Drift>('GET', '/schema/drift');
    expect(objects.map(({ object, kind }) => [object.id, kind])).to.deep.equal([['numbers', 'different']]);
    for (const { sql } of objects.flatMap(({ repair }) => repair.database)) await api.sql(sql);
    expect(await existing()).to.deep.equal(['numbers bigint 1000 5 1 9223372036854775807 1 f']);
    expect(await next()).to.equal(1005);
    await api.sql('ALTER SEQUENCE numbers INCREMENT BY 7; CREATE SEQUENCE others');
    expect((await api.ok<Drift>('GET', '/schema/drift')).unmanaged_objects).to.deep.equal([
      { kind: 'sequence', id: 'others' },
    ]);
    await api.ok('POST', '/schema/drift/accept', { objects: [{ kind: 'sequence', id: 'numbers' }] });
    expect((await shown()).definition).to.equal('CREATE SEQUENCE numbers START WITH 1000 INCREMENT BY 7');
    await api.sql('DROP SEQUENCE numbers');
    await api.ok('POST', '/schema/drift/accept', {});
    expect(await listed()).to.deep.equal([]);
  });

  describe('that other objects use', () => {
    const USERS = [
      ['view', `CREATE VIEW state AS SELECT last_value, is_called FROM numbers`],
      ['view', `CREATE VIEW upcoming AS SELECT nextval('numbers') AS value`],
      ['function', `CREATE FUNCTION take() RETURNS bigint BEGIN ATOMIC SELECT nextval('numbers'); END`],
    ] as const;

    beforeEach(async () => {
      await create();
      for (const [kind, definition] of USERS) await api.ok('POST', '/objects', { kind, definition });
    });

    it('are renamed in their definitions', async () => {
      await api.ok('POST', `${path()}/rename`, { to: 'counter' });
      const { objects } = await snapshotNow();
      for (const { kind, definition } of objects)
        expect(definition, kind).to.contain('counter').and.not.contain('numbers');
      expect(await api.sql('SELECT take() AS value')).to.deep.equal([{ value: '1000' }]);
    });

    it('are not dropped before them, and are created before them', async () => {
      const inUse = { status: 409, code: 'IN_USE', also: [undefined, undefined] };
      const error = await api.refused(inUse, 'DELETE', path());
      expect(error.message).to.contain('uses "numbers", which this change deletes');
      const snapshot = await snapshotNow();
      await apply({ ...snapshot, objects: [] });
      expect(await existing()).to.deep.equal([]);
      await apply(snapshot);
      expect(await snapshotNow()).to.deep.equal(snapshot);
    });
  });

  it('are adopted with the views that use them, and with their privileges', async () => {
    await api.sql(`CREATE SEQUENCE numbers AS smallint MAXVALUE 99; COMMENT ON SEQUENCE numbers IS 'By hand';
      GRANT USAGE ON SEQUENCE numbers TO PUBLIC; CREATE VIEW upcoming AS SELECT nextval('numbers') AS value;
      CREATE UNLOGGED TABLE serials (id serial PRIMARY KEY, other int GENERATED ALWAYS AS IDENTITY)`);
    const alone = { objects: [{ kind: 'view', id: 'upcoming' }] };
    const invalid = { status: 400, code: 'INVALID_PAYLOAD' };
    expect((await api.refused(invalid, 'POST', '/schema/adopt', alone)).message).to.contain(
      'it uses "numbers", which is not managed',
    );
    const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
    expect(adopted.objects.map(({ kind, id }) => `${kind} ${id}`)).to.have.members([
      'sequence numbers',
      'privileges public on sequence numbers',
      'view upcoming',
      'table_options serials',
    ]);
    expect(await shown()).to.deep.include({
      definition: 'CREATE SEQUENCE numbers AS smallint MAXVALUE 99',
      comment: 'By hand',
    });
    expect(adopted.not_represented).to.deep.equal([]);
    expect(await diffTo(await snapshotNow())).to.deep.equal(NOTHING);
  });

  describe('that tables need', () => {
    const orders = (needs: object[], value = `nextval('numbers'::regclass)`) => ({
      collection: 'orders',
      schema: { extras: { needs } },
      fields: [
        KEY,
        {
          field: 'number',
          type: 'bigInteger',
          interface: 'input',
          schema: { has_auto_increment: true, extras: { default: value } },
        },
      ],
    });
    const NEED = { kind: 'sequence', name: 'numbers', start: '1000', increment: '5' };
    it('stay with their table when everything is adopted, and become objects on request', async () => {
      await api.ok('POST', '/collections', orders([NEED]));
      const { unmanaged_objects: beside } = await api.ok<{ unmanaged_objects: object[] }>('GET', '/schema/drift');
      expect(beside).to.deep.equal([]);
      expect((await api.ok<Adoption>('POST', '/schema/adopt', { all: true })).objects).to.deep.equal([]);
      await api.ok('POST', '/schema/adopt', { objects: [{ kind: 'sequence', id: 'numbers' }] });
      expect((await shown()).definition).to.equal(NUMBERS);
      const snapshot = await snapshotNow();
      await apply({ ...snapshot, ...NOTHING, objects: [] });
      await apply(snapshot);
      expect(await snapshotNow()).to.deep.equal(snapshot);
    });

    it('can be objects before and after the table, which they outlive with their value', async () => {
      await create(NUMBERS, { comment: 'Invoices' });
      expect(await next()).to.equal(1000);
      await api.ok('POST', '/collections', orders([NEED]));
      await api.sql('INSERT INTO orders (id) VALUES (1)');
      expect(await api.sql('SELECT number FROM orders')).to.deep.equal([{ number: '1005' }]);
      const plan = await api.ok<Plan>('DELETE', `${path()}?dry_run`);
      expect(plan.statements.map(({ summary }) => summary)).to.deep.equal(['comment on sequence numbers']);
      expect(plan.warnings).to.deep.equal([]);
      await api.ok('DELETE', path());
      expect(await next(), 'the table still needs it').to.equal(1010);
      await create(NUMBERS, { comment: 'Again' });
      expect(await next()).to.equal(1015);
      expect((await shown()).comment).to.equal('Again');
      await api.ok('DELETE', '/collections/orders?purge');
      expect(await next()).to.equal(1020);
      const snapshot = await snapshotNow();
      await api.ok('POST', '/collections', orders([NEED]));
      await apply({ ...snapshot, objects: [] });
      expect(await existing(), 'dropped after the table').to.deep.equal([]);
    });

    it('must have the same options in both, and change in both together', async () => {
      await api.ok('POST', '/collections', orders([NEED]));
      const other = NUMBERS.replace('5', '7');
      const invalid = { status: 400, code: 'INVALID_PAYLOAD' };
      const body = { kind: 'sequence', definition: other };
      expect((await api.refused(invalid, 'POST', '/objects', body)).message).to.contain(
        'collection "orders" needs sequence "numbers" with other options',
      );
      await create();
      await api.refused(invalid, 'PATCH', path(), { definition: other });
      await api.refused({ status: 409, code: 'IN_USE' }, 'POST', `${path()}/rename`, { to: 'others' });
      const snapshot = JSON.parse(
        JSON.stringify(await snapshotNow())
          .replaceAll('"increment":"5"', '"increment":"7"')
          .replaceAll('INCREMENT BY 5', 'INCREMENT BY 7'),
      ) as Snapshot;
      await apply(snapshot);
      expect(await existing()).to.deep.equal(['numbers bigint 1000 7 1 9223372036854775807 1 f']);
      expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    });

    it('cannot be objects while a column owns them', async () => {
      await api.ok('POST', '/collections', orders([{ ...NEED, owned_by: 'number' }]));
      const body = { kind: 'sequence', definition: NUMBERS };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', body);
      expect(error.message).to.contain('for its column "number", which owns it');
    });
  });
});
