import { expect } from 'chai';
import { CAUSE, expectDone, field, table } from '../../support/instance.js';
import { type Gates, makeGates } from '../../support/gates.js';
import { type Requests, listLeftovers, startRequests } from './requests.js';

const TRIES = 3;

/** The catalog names of what is prepared for the first matching request. */
const NAMES = {
  index: `SELECT relname AS name FROM pg_class WHERE relname ~ '^dps_online' AND relkind = 'i' AND relnamespace = 'public'::regnamespace`,
  constraint: `SELECT conname AS name FROM pg_constraint WHERE conname ~ '^dps_online' AND connamespace = 'public'::regnamespace`,
  table: `SELECT relname AS name FROM pg_class WHERE relname ~ '^dps_online_[0-9a-f]{32}_[0-9a-f]{8}$' AND relkind = 'r'`,
  trigger: `SELECT tgname AS name FROM pg_trigger WHERE tgname ~ '^dps_online.*_u$'`,
  function: `SELECT proname AS name FROM pg_proc WHERE proname ~ '^dps_online'`,
} as const;

type Kind = keyof typeof NAMES;
type Harm = (name: string, items: string) => string;

const trashed = (name: string): string => `service_trash_0."${name}"`;

/** Keyed by preparation: manual changes by an operator. */
const HARMS: readonly [what: string, schema: object | 'deleted' | 'related', harms: [string, Kind, Harm][]][] = [
  [
    'NOT NULL',
    { is_nullable: false },
    [['its constraint is dropped', 'constraint', (name, items) => `ALTER TABLE ${items} DROP CONSTRAINT "${name}"`]],
  ],
  ['unique', { is_unique: true }, [['its index is dropped', 'index', (name) => `DROP INDEX "${name}"`]]],
  [
    'a foreign key',
    'related',
    [['it is dropped', 'constraint', (name, items) => `ALTER TABLE ${items} DROP CONSTRAINT "${name}"`]],
  ],
  [
    'a copy',
    'deleted',
    [
      ['it is dropped', 'table', (name) => `DROP TABLE ${trashed(name)}`],
      ['its notes are dropped', 'table', (name) => `DROP TABLE ${trashed(`${name}_noted`)}`],
      ['what could not be noted is dropped', 'table', (name) => `DROP TABLE ${trashed(`${name}_lost`)}`],
      ['a trigger is dropped', 'trigger', (name, items) => `DROP TRIGGER "${name}" ON ${items}`],
      ['a trigger is disabled', 'trigger', (name, items) => `ALTER TABLE ${items} DISABLE TRIGGER "${name}"`],
      [
        'its function is dropped with all that needs it',
        'function',
        (name) => `DROP FUNCTION ${trashed(name)} CASCADE`,
      ],
      ['everything is dropped', 'function', () => 'DROP SCHEMA service_trash_0 CASCADE'],
    ],
  ],
];

describe('a lost preparation', () => {
  let requests: Requests;
  let gates: Gates;
  let items: string;
  let number = 0;

  before(async () => {
    requests = await startRequests({ tries: TRIES });
    gates = await makeGates(requests.database.connectionString);
    await build('owners', []);
    await requests.db.query('INSERT INTO owners SELECT FROM generate_series(1, 10)');
  });
  beforeEach(async () => {
    items = `items${++number}`;
    await build(items, [field('code', 'integer'), field('note')]);
    await requests.db.query(
      `INSERT INTO ${items} (code, note) SELECT 1 + i % 10, 'note ' || i FROM generate_series(1, 300) i`,
    );
    await requests.db.query(`UPDATE ${items} SET code = id WHERE code > 9`);
  });
  after(async () => {
    await gates?.end();
    await requests?.stop();
  });

  const build = async (name: string, fields: object[]): Promise<void> => {
    const { pipeline } = requests.instance;
    expectDone(await pipeline.apply('create-collection', table(name, fields), { cause: CAUSE }));
  };
  const opened = async (what: object | 'deleted' | 'related'): Promise<string> => {
    if (what === 'deleted') return requests.open('delete-field', { collection: items, field: 'note' });
    if (what === 'related') {
      const body = { collection: items, field: 'code', related_collection: 'owners', schema: {} };
      return requests.open('create-relation', { body });
    }
    return requests.open('update-fields', {
      collection: items,
      field: 'code',
      body: { schema: what },
      concurrentIndexes: false,
    });
  };
  const nameOf = async (kind: Kind): Promise<string> => {
    const { rows } = await requests.db.query<{ name: string }>(NAMES[kind]);
    expect(rows, kind).to.have.length(1);
    return rows[0]?.name ?? '';
  };
  const setUp = async (what: object | 'deleted' | 'related'): Promise<void> => {
    if (what === 'related') await requests.db.query(`UPDATE ${items} SET code = 1 + id % 10`);
    else await requests.db.query(`UPDATE ${items} SET code = id`);
  };

  for (const [what, schema, harms] of HARMS)
    for (const [mode, kind, harm] of harms)
      it(`is repeated for ${what} when ${mode}`, async () => {
        await setUp(schema);
        await gates.close('prepared');
        const id = await opened(schema);
        await gates.reached('prepared');
        await requests.db.query(harm(await nameOf(kind), items));
        await requests.db.query(`UPDATE ${items} SET note = 'changed' WHERE id = 7; DELETE FROM ${items} WHERE id = 8`);
        await gates.open('prepared');
        await requests.ended(id, 'applied');
        expect(await listLeftovers(requests.db)).to.deep.equal([]);
        if (schema !== 'deleted') return;
        const { rows } = await requests.db.query<{ schema: string }>(
          `SELECT nspname AS schema FROM pg_namespace WHERE nspname ~ '^service_trash_[1-9]' ORDER BY oid DESC LIMIT 1`,
        );
        const kept = await requests.db.query(
          `SELECT count(*)::int AS count, count(*) FILTER (WHERE v.* ::text LIKE '(7,changed)')::int AS changed FROM ${rows[0]?.schema}.values v`,
        );
        expect(kept.rows).to.deep.equal([{ count: 299, changed: 1 }]);
      });

  for (const [what, schema] of HARMS)
    for (const [mode, harm] of [
      ['deleted', () => `DROP TABLE ${items} CASCADE`],
      ['renamed', () => `ALTER TABLE ${items} RENAME TO other_${items}`],
    ] as const)
      it(`is removed for ${what}, and the request has ${schema === 'deleted' ? 'ended' : 'failed'}, when its table is ${mode} by hand`, async () => {
        await setUp(schema);
        await gates.close('prepared');
        const id = await opened(schema);
        await gates.reached('prepared');
        await requests.db.query(harm());
        await gates.open('prepared');
        // A field is deleted as without online if nothing can be kept, because its column is missing or no longer
        // ours.
        const { problems } = await requests.ended(id, schema === 'deleted' ? 'applied' : 'failed');
        if (schema !== 'deleted') expect(problems?.[0]?.message).to.include(items);
        expect(await listLeftovers(requests.db)).to.deep.equal([]);
      });

  it('is given up after repeated overtaking writes, with their origin', async () => {
    const { db } = requests;
    await db.query(`INSERT INTO ${items} (code, note) SELECT i, 'more' FROM generate_series(1, 20100) i`);
    // A complete copy has received every row again.
    await db.query(`CREATE FUNCTION overtake() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.milliseconds IS NOT NULL AND NEW.number = 2 THEN UPDATE ${items} SET note = note || '.'; END IF; RETURN NEW; END $$`);
    await db.query(
      `CREATE TRIGGER overtake AFTER UPDATE ON service.service_preparations FOR EACH ROW EXECUTE FUNCTION overtake()`,
    );
    requests.writing = `UPDATE ${items} SET code = 1 WHERE id = 1`;
    const { problems } = await requests.ended(await opened('deleted'), 'failed');
    expect(problems?.[0]?.details).to.include({ tries: TRIES });
    expect(problems?.[0]?.details).to.have.nested.property('blocked_by[0].application_name', 'shop');
    expect(problems?.[0]?.message).to.match(
      new RegExp(
        `^The prepared change could not be completed in ${TRIES} attempts. Last reason: more than 20,000 rows of ${items} were written`,
      ),
    );
    const { rows: failed } = await db.query(
      `SELECT command, actor ->> 'name' AS actor FROM service.service_events WHERE type = 'change.failed' ORDER BY position DESC LIMIT 1`,
    );
    expect(failed).to.deep.equal([{ command: 'prepare-change', actor: 'Data Platform Service' }]);
    await db.query('DROP TRIGGER overtake ON service.service_preparations');
    expect(await listLeftovers(db)).to.deep.equal([]);
    expect((await db.query(`SELECT note FROM ${items} WHERE id = 1`)).rows[0]).to.have.property('note');
  });
});
