import { expect } from 'chai';
import pg from 'pg';
import { catalogText } from '../support/catalog-text.js';
import { type Gates, makeGates } from '../support/gates.js';
import { type Online, ROWS, type Snapshot, column, fill, onlineOf } from '../support/online.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const FIELDS = [column('code', 'integer'), column('owner', 'integer'), column('email'), column('note')];
const VALUES = `code = i; owner = i % 10 + 1; email = 'E' || i; note = 'note ' || i`;

interface RequestedChange {
  method: string;
  path: string;
  body?: unknown;
}

/** Keyed by object: the request for a table or the edit of a snapshot, and the kinds of its steps. */
const CHANGES: readonly [
  what: string,
  (table: string) => RequestedChange | ((snapshot: Snapshot) => void),
  kinds: string[],
][] = [
  ['NOT NULL', (table) => patch(table, 'code', { is_nullable: false }), ['add', 'validate']],
  ['unique', (table) => patch(table, 'code', { is_unique: true }), ['index']],
  ['an index', (table) => patch(table, 'code', { is_indexed: true }), ['index']],
  [
    'a foreign key',
    (table) => ({
      method: 'POST',
      path: '/relations',
      body: { collection: table, field: 'owner', related_collection: 'owners', schema: { on_delete: 'CASCADE' } },
    }),
    ['add', 'validate'],
  ],
  [
    'a check',
    (table) =>
      withExtras(table, { constraints: [{ name: `${table} is small`, definition: 'CHECK ((code < 1000000))' }] }),
    ['add', 'validate'],
  ],
  [
    'a unique constraint of two columns',
    (table) => withExtras(table, { constraints: [{ name: `${table}_both`, definition: 'UNIQUE (owner, code)' }] }),
    ['index'],
  ],
  [
    'an index of an expression, of some rows',
    (table) =>
      withExtras(table, {
        indexes: [{ name: `${table} lower`, definition: 'USING btree (lower((email)::text)) WHERE (code > 5)' }],
      }),
    ['index'],
  ],
  [
    'a unique index of an expression',
    (table) =>
      withExtras(table, {
        indexes: [{ name: `${table}_lower`, unique: true, definition: 'USING btree (lower((email)::text))' }],
      }),
    ['index'],
  ],
];

const patch = (table: string, field: string, schema: object): RequestedChange => ({
  method: 'PATCH',
  path: `/fields/${table}/${field}`,
  body: { schema },
});

const withExtras =
  (table: string, extras: Record<string, unknown>) =>
  (snapshot: Snapshot): void => {
    const document = snapshot.collections.find(({ collection }) => collection === table);
    if (document?.schema == null) throw new Error(`there is no ${table}`);
    document.schema.extras = { ...document.schema.extras, ...extras };
  };

describe('an applied online change', () => {
  const { api, service } = withService({
    consistent: true,
    settings: { KEEP_COPY_ROWS: '5' },
    atEnd: () => gates.end(),
  });
  let online: Online;
  let gates: Gates;

  before(async () => {
    online = onlineOf(api);
    gates = await makeGates(service.databaseUrl);
    await api.ok('POST', '/collections', { collection: 'owners', schema: {}, fields: [] });
    await api.sql('INSERT INTO owners SELECT FROM generate_series(1, 10)');
  });

  /** The catalog of a table without its name. */
  const shapeOf = async (table: string): Promise<string[]> => {
    const db = new pg.Client(service.databaseUrl);
    await db.connect();
    try {
      const lines = await catalogText(db, 'public');
      return lines
        .filter((line) => line.includes(table))
        .map((line) => line.replaceAll(table, 'TABLE'))
        .sort();
    } finally {
      await db.end();
    }
  };

  for (const [index, [what, change, kinds]] of CHANGES.entries())
    it(`${what}: has the same result as without online`, async () => {
      const [one, other] = [`on${index}`, `off${index}`];
      await online.large(one, FIELDS, VALUES);
      await online.large(other, FIELDS, VALUES);
      const ask = async (table: string): Promise<RequestedChange> => {
        const requested = change(table);
        return typeof requested === 'function'
          ? { method: 'POST', path: '/schema/apply', body: await online.diff(requested) }
          : requested;
      };
      const plainly = await ask(other);
      await api.ok(plainly.method, plainly.path, plainly.body);
      const { method, path, body } = await ask(one);
      const { id, steps, warnings } = await online.open(method, path, body);
      expect(steps.map(({ kind }) => kind)).to.deep.equal(kinds);
      expect(warnings.map(({ code }) => code)).to.deep.equal(['ACTS_WHILE_PREPARED']);
      await online.ended(id, 'applied');
      expect(await shapeOf(one)).to.deep.equal(await shapeOf(other));
      expect(await online.leftBehind()).to.deep.equal([]);
    });

  it('a new primary key gets NOT NULL first, then its index', async () => {
    for (const name of ['keyless', 'keyless_too']) {
      await api.sql(`CREATE TABLE ${name} (code integer, wide text)`);
      await fill(api, name, 'code = i');
    }
    await api.ok('POST', '/schema/adopt', { tables: ['keyless', 'keyless_too'] });
    const schema = { is_primary_key: true, is_nullable: false };
    await api.ok('PATCH', '/fields/keyless_too/code', { schema });
    const { id, steps } = await online.open('PATCH', '/fields/keyless/code', { schema });
    expect(steps.map(({ kind }) => kind)).to.deep.equal(['add', 'validate', 'index']);
    await online.ended(id, 'applied');
    const keys = await api.sql(
      `SELECT conrelid::regclass::text AS "table", pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE contype = 'p' AND conrelid::regclass::text LIKE 'keyless%' ORDER BY 1`,
    );
    const nullable = await api.sql(
      `SELECT FROM pg_attribute WHERE attrelid = 'keyless'::regclass AND attname = 'code' AND attnotnull`,
    );
    expect(nullable).to.have.length(1);
    expect(keys).to.deep.equal([
      { table: 'keyless', definition: 'PRIMARY KEY (code)' },
      { table: 'keyless_too', definition: 'PRIMARY KEY (code)' },
    ]);
    expect(await online.leftBehind()).to.deep.equal([]);
  });

  it('a deleted field keeps its values, including later rows, for a restore', async () => {
    await online.large('kept', FIELDS, VALUES);
    await gates.close('end 2');
    const { id, steps } = await online.open('DELETE', '/fields/kept/note');
    expect(steps.map(({ kind }) => kind)).to.deep.equal(['note', 'copy']);
    await gates.reached('end 2');
    await api.sql(`UPDATE kept SET note = 'changed' WHERE id IN (1, ${ROWS})`);
    await api.sql('DELETE FROM kept WHERE id = 2');
    await api.sql('UPDATE kept SET id = -3 WHERE id = 3');
    await api.sql(`INSERT INTO kept (note, wide) VALUES ('new', 'x')`);
    const before = await api.sql('SELECT id, note FROM kept ORDER BY id');
    await gates.open('end 2');
    await online.ended(id, 'applied');
    expect(
      await api.sql(`SELECT FROM information_schema.columns WHERE table_name = 'kept' AND column_name = 'note'`),
    ).to.have.length(0);
    const { data } = await api.ok<{ data: { position: number; field: string; rows: number }[] }>('GET', '/trash');
    expect(data[0]).to.include({ field: 'note', rows: ROWS });
    await api.ok('POST', `/trash/${data[0]?.position}/restore`, {});
    expect(await api.sql('SELECT id, note FROM kept ORDER BY id')).to.deep.equal(before);
    expect(await online.leftBehind()).to.deep.equal([]);
  });

  it('names the owner of an endless transaction, blocks no other session, and can be withdrawn', async () => {
    await online.large('waited', FIELDS, VALUES);
    const shop = new pg.Client({ connectionString: service.databaseUrl, application_name: 'shop' });
    await shop.connect();
    for (const [what, schema, statement] of [
      ['lock of a reader', { is_nullable: false }, 'SELECT FROM waited LIMIT 1'],
      ['lock of a writer', { is_unique: true }, `UPDATE waited SET note = 'never' WHERE id = 2`],
    ] as const) {
      await shop.query(`BEGIN; ${statement}`);
      const { id } = await online.open('PATCH', '/fields/waited/code', { schema });
      await until(`it says who has the ${what}`, async () =>
        (await online.retrieve(id)).waiting_for.some(({ application_name }) => application_name === 'shop'),
      );
      // It is written while the other session still has its lock.
      await api.sql(`UPDATE waited SET note = 'written' WHERE id = 1`);
      await api.ok('POST', `/changes/${id}/withdraw`);
      expect((await online.retrieve(id)).state).to.equal('withdrawn');
      await shop.query('ROLLBACK');
      await online.ended(id, 'withdrawn');
      expect(await online.leftBehind()).to.deep.equal([]);
    }
    await shop.end();
  });

  it('one large and a hundred small entries are one request and one batch', async () => {
    await online.large('wide_one', FIELDS, VALUES);
    const fields = Array.from({ length: 10 }, (_, index) => column(`f${index}`));
    for (let index = 0; index < 10; index += 1) {
      await api.ok('POST', '/collections', { collection: `narrow${index}`, schema: {}, fields });
      await api.sql(`INSERT INTO narrow${index} (f0) VALUES ('x')`);
      await api.sql(`UPDATE narrow${index} SET ${fields.map(({ field }) => `${field} = 'x'`).join(', ')}`);
    }
    const diff = await online.diff((snapshot) => {
      for (const { collection, field, schema } of snapshot.fields) {
        if (collection === 'wide_one' && field === 'code') schema.is_unique = true;
        if (collection.startsWith('narrow') && /^f\d$/.test(field)) schema.is_nullable = false;
      }
    });
    const { id, collections, steps, holds } = await online.open('POST', '/schema/apply', diff);
    expect([collections.length, steps.length, holds]).to.deep.equal([11, 1, ['wide_one']]);
    const { result } = await online.ended(id, 'applied');
    const events = await api.sql<{ type: string }>(
      `SELECT type FROM service.service_events WHERE batch = $1 ORDER BY position`,
      [result?.batch],
    );
    expect(events).to.have.length(102);
    expect(events.at(-1)?.type).to.equal('change.applied');
    const [nullable] = await api.sql<{ count: number }>(
      `SELECT count(*)::int FROM information_schema.columns WHERE table_name LIKE 'narrow%' AND column_name ~ '^f' AND is_nullable = 'YES'`,
    );
    expect(nullable?.count).to.equal(0);
  });
});
