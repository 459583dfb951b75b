import { expect } from 'chai';
import { withService } from '../../support/with-service.js';
import { expectConsistent } from '../../support/consistent.js';

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };

type Snapshot = { [member: string]: unknown };

interface Diff {
  hash: string;
  diff: object;
}

/** Its own sequence shows whether it ran, regardless of what happens to the transaction. */
const COUNT = `nextval('seen')`;

const column = (type: string, schema: object = {}) => ({ type, schema });

/** A snapshot of one table `x` with column `t`. */
const withExtras = (extras: object, t: { type: string; schema: object } = column('text')) => ({
  version: 1,
  collections: [{ collection: 'x', schema: { extras } }],
  fields: [
    { collection: 'x', field: 'id', type: 'integer', schema: { is_primary_key: true, is_nullable: false } },
    { collection: 'x', field: 't', ...t },
  ],
  relations: [],
});

const partitioned = (bound: string) => ({
  version: 1,
  collections: [
    { collection: 'p', schema: { extras: { partition_by: 'LIST (t)' } } },
    { collection: 'x', schema: { extras: { partition_of: { table: 'p', bound } } } },
  ],
  fields: [
    { collection: 'p', field: 't', ...column('text') },
    { collection: 'x', field: 't', ...column('text') },
  ],
  relations: [],
});

const domain = (rules: object) =>
  withExtras({ needs: [{ kind: 'domain', name: 'd', type: 'text', ...rules }] }, column('unknown', { data_type: 'd' }));

/** Keyed by expected location: a snapshot that contains a call at that location. */
const PLACES: [at: string, snapshot: (call: string) => Snapshot][] = [
  ['collections[1].schema.extras.partition_of.bound', (call) => partitioned(`FOR VALUES IN (${call})`)],
  ['collections[0].schema.extras.partition_by', (call) => withExtras({ partition_by: `LIST ((${call}))` })],
  [
    'collections[0].schema.extras.constraints[0].definition',
    (call) => withExtras({ constraints: [{ name: 'c', definition: `CHECK ((${call}) IS NOT NULL)` }] }),
  ],
  [
    'collections[0].schema.extras.constraints[0].definition',
    (call) => withExtras({ constraints: [{ name: 'c', definition: `EXCLUDE USING btree ((${call}) WITH =)` }] }),
  ],
  [
    'collections[0].schema.extras.indexes[0].definition',
    (call) => withExtras({ indexes: [{ name: 'i', definition: `USING btree ((${call}))` }] }),
  ],
  [
    'collections[0].schema.extras.indexes[0].definition',
    (call) => withExtras({ indexes: [{ name: 'i', definition: `USING btree (t) WHERE (${call}) IS NOT NULL` }] }),
  ],
  ['collections[0].schema.extras.needs[0].default', (call) => domain({ default: call })],
  [
    'collections[0].schema.extras.needs[0].checks[0].definition',
    (call) => domain({ checks: [{ name: 'c', definition: `CHECK ((${call}) IS NOT NULL)` }] }),
  ],
  ['fields[1].schema.extras.default', (call) => withExtras({}, column('text', { extras: { default: call } }))],
  ['fields[1].schema.generation_expression', (call) => withExtras({}, column('text', { generation_expression: call }))],
];

describe('SQL in a request', () => {
  const { service, api } = withService();
  before(async () => {
    await api.sql('CREATE SEQUENCE seen');
  });
  afterEach(async () => {
    const [seen] = await api.sql<{ is_called: boolean }>('SELECT is_called FROM seen');
    expect(seen?.is_called, 'the call ran').to.equal(false);
    await expectConsistent(service.databaseUrl);
  });

  let own: Snapshot;
  before(async () => {
    const { version, service: release, vendor } = await api.ok<Snapshot>('GET', '/schema/snapshot');
    own = { version, service: release, vendor };
  });

  const calls = [
    COUNT,
    `pg_catalog."nextval"('seen')`,
    `U&"next\\0076al"(E'se\\x65n')`,
    `('seen'::regclass).nextval`,
    `pg_read_file('/etc/hostname')`,
    `set_config('search_path', 'x', false)`,
  ];
  for (const [at, snapshot] of PLACES) {
    for (const call of calls) {
      it(`rejects ${call} at ${at}`, async () => {
        const error = await api.refused({ ...INVALID, at }, 'POST', '/schema/diff?mode=merge', {
          ...snapshot(call),
          ...own,
        });
        expect(error.message).to.match(/must (not|be|consist)/);
      });
    }
  }

  /** The diff for a harmless snapshot, with the call inserted afterwards. */
  for (const [at, snapshot] of PLACES) {
    for (const dry of ['', '?dry_run']) {
      it(`rejects a diff with a call at ${at}${dry}`, async () => {
        const harmless = `'HARMLESS'`;
        const diff = await api.ok<Diff>('POST', '/schema/diff?mode=merge', { ...snapshot(harmless), ...own });
        expect(JSON.stringify(diff)).to.include(harmless);
        const hostile = JSON.parse(JSON.stringify(diff).replaceAll(harmless, COUNT)) as Diff;
        const error = await api.refused(INVALID, 'POST', `/schema/apply${dry}`, hostile);
        expect(error.extensions.path)
          .to.match(/^diff\.(collections|fields)\[/)
          .and.include(at.replace(/^\w+\[\d\]\./, ''));
      });
    }
  }

  it('rejects a call in a new field, a new collection, and a change', async () => {
    const generated = { field: 'g', type: 'text', interface: 'x', schema: { generation_expression: COUNT } };
    await api.refused({ ...INVALID, at: 'fields[0].schema.generation_expression' }, 'POST', '/collections', {
      collection: 'made',
      schema: {},
      fields: [generated],
    });
    await api.ok('POST', '/collections', { collection: 'made', schema: {}, fields: [{ ...generated, schema: {} }] });
    const place = { ...INVALID, at: 'schema.extras.default' };
    const withDefault = { schema: { extras: { default: COUNT } } };
    await api.refused(place, 'PATCH', '/fields/made/g', withDefault);
    await api.refused(place, 'POST', '/fields/made', { ...generated, field: 'h', ...withDefault });
  });

  it('may call every function that docs/functions.md lists', async () => {
    const snapshot = {
      version: 1,
      collections: [
        {
          collection: 'fine',
          schema: {
            extras: {
              constraints: [{ name: 'fine_c', definition: "CHECK ((t ~ '^[a-z]+$'::text))" }],
              indexes: [{ name: 'fine_i', definition: 'USING btree (lower(t) text_pattern_ops)' }],
              needs: [{ kind: 'sequence', name: 'fine_seq' }],
            },
          },
        },
      ],
      fields: [
        { collection: 'fine', field: 'id', type: 'integer', schema: { is_primary_key: true, is_nullable: false } },
        { collection: 'fine', field: 't', ...column('text') },
        {
          collection: 'fine',
          field: 'n',
          ...column('bigInteger', { has_auto_increment: true, extras: { default: "nextval('fine_seq'::regclass)" } }),
        },
        {
          collection: 'fine',
          field: 'd',
          ...column('timestamp', { extras: { default: "(now() + '1 day'::interval)" } }),
        },
        {
          collection: 'fine',
          field: 's',
          ...column('text', { extras: { default: "current_setting('app.x'::text, true)" } }),
        },
        { collection: 'fine', field: 'g', ...column('text', { generation_expression: 'upper(t)' }) },
      ],
      relations: [],
    };
    const diff = await api.ok<Diff>('POST', '/schema/diff?mode=merge', { ...snapshot, ...own });
    await api.ok('POST', '/schema/apply', diff);
    await api.sql("INSERT INTO fine (id, t) VALUES (1, 'abc')");
    expect(await api.sql('SELECT n::int, g FROM fine')).to.deep.equal([{ n: 1, g: 'ABC' }]);
  });
});
