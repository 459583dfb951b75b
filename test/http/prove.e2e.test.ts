import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { startEmbedded } from '../../src/postgres/embedded/index.js';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { asSuperuser, query, superuserUrl, temporaryDirectory, testServer } from '../support/postgres.js';
import { createApi } from '../support/api.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const MEMBERS = {
  collection: 'members',
  schema: { comment: 'People' },
  fields: [
    { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true, has_auto_increment: true } },
    { field: 'name', type: 'string', interface: 'input', schema: { comment: 'Full name' } },
    { field: 'age', type: 'integer', interface: 'input' },
    { field: 'town', type: 'string', interface: 'input', schema: { is_indexed: true } },
  ],
};

/** Objects that a new type of `age` creates again, and others that it leaves alone. */
const OBJECTS = [
  ['function', 'CREATE FUNCTION is_adult(age bigint) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN age > 17'],
  ['function', 'CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$'],
  [
    'view',
    'CREATE VIEW adults WITH (security_barrier = true) AS SELECT id, name, age FROM members WHERE is_adult(age)',
  ],
  [
    'materialized_view',
    'CREATE MATERIALIZED VIEW ages AS SELECT age, count(*) AS n, min(town) AS towns FROM members GROUP BY age',
  ],
  ['trigger', 'CREATE TRIGGER keep BEFORE UPDATE OF age ON members FOR EACH ROW EXECUTE FUNCTION keep()'],
  ['policy', 'CREATE POLICY adults ON members USING (age > 17)'],
  ['row_security', 'ALTER TABLE members ENABLE ROW LEVEL SECURITY'],
  ['statistics', 'CREATE STATISTICS towns ON age, town FROM members'],
  ['type', 'CREATE TYPE address AS (street text)'],
] as const;

/** Statements for properties that no event describes. */
const PROPERTIES = [
  'GRANT SELECT ON adults TO PUBLIC',
  'GRANT UPDATE (name) ON adults TO PUBLIC',
  'GRANT SELECT ON ages TO PUBLIC',
  'GRANT SELECT ON members TO PUBLIC',
  'GRANT USAGE ON SEQUENCE members_id_seq TO PUBLIC',
  'REVOKE EXECUTE ON FUNCTION is_adult(bigint) FROM PUBLIC',
  `COMMENT ON COLUMN adults.name IS 'First name'`,
  `COMMENT ON CONSTRAINT members_pkey ON members IS 'The key'`,
  `COMMENT ON INDEX members_town_index IS 'For the search'`,
  `COMMENT ON COLUMN ages.n IS 'Number of members'`,
  `COMMENT ON INDEX ages_n IS 'For the sorting'`,
  'ALTER MATERIALIZED VIEW ages CLUSTER ON ages_n',
  'ALTER MATERIALIZED VIEW ages ALTER COLUMN towns SET STORAGE EXTERNAL',
  'ALTER MATERIALIZED VIEW ages ALTER COLUMN towns SET COMPRESSION pglz',
  'ALTER MATERIALIZED VIEW ages ALTER COLUMN n SET (n_distinct = 5, n_distinct_inherited = 6)',
  `ALTER VIEW adults ALTER COLUMN name SET DEFAULT 'nobody'`,
  'ALTER MATERIALIZED VIEW ages ALTER COLUMN age SET STATISTICS 500',
  'ALTER STATISTICS towns SET STATISTICS 700',
  'ALTER TABLE members CLUSTER ON members_town_index',
  'ALTER TABLE members SET (fillfactor = 70)',
  'ALTER TABLE members REPLICA IDENTITY FULL',
  'ALTER TABLE members ALTER COLUMN name SET STORAGE EXTERNAL',
  'ALTER TABLE members ALTER COLUMN age SET STATISTICS 900',
  'ALTER TABLE members ALTER COLUMN town SET (n_distinct = 5)',
];

const OTHER_ROLE = 'dps_prove_other';

type Effect = { properties: string[] } | { differences: string[] };

/** Statements of an event trigger, and the entries that they cause. */
const LOSSES: readonly (readonly [loss: string, effect: Effect])[] = [
  ['REVOKE SELECT ON adults FROM PUBLIC', { properties: ['view public.adults: SELECT for PUBLIC'] }],
  ['REVOKE UPDATE (name) ON adults FROM PUBLIC', { properties: ['view column public.adults.name: UPDATE for PUBLIC'] }],
  ['GRANT INSERT ON adults TO PUBLIC', { properties: ['view public.adults: INSERT for PUBLIC'] }],
  ['REVOKE SELECT ON ages FROM PUBLIC', { properties: ['materialized view public.ages: SELECT for PUBLIC'] }],
  ['REVOKE SELECT ON members FROM PUBLIC', { properties: ['table public.members: SELECT for PUBLIC'] }],
  ['GRANT SELECT (name) ON members TO PUBLIC', { properties: ['table column public.members.name: SELECT for PUBLIC'] }],
  [
    'REVOKE USAGE ON SEQUENCE members_id_seq FROM PUBLIC',
    { properties: ['sequence public.members_id_seq: USAGE for PUBLIC'] },
  ],
  [
    'GRANT EXECUTE ON FUNCTION is_adult(bigint) TO PUBLIC',
    { properties: ['function public.is_adult(bigint): EXECUTE for PUBLIC'] },
  ],
  ['GRANT CREATE ON SCHEMA public TO pg_monitor', { properties: ['schema public: CREATE for pg_monitor'] }],
  ['REVOKE USAGE ON TYPE address FROM PUBLIC', { properties: ['type public.address: USAGE for PUBLIC'] }],
  [`ALTER FUNCTION keep() OWNER TO ${OTHER_ROLE}`, { properties: ['function public.keep(): owner'] }],
  [`ALTER STATISTICS towns OWNER TO ${OTHER_ROLE}`, { properties: ['statistics object public.towns: owner'] }],
  ['COMMENT ON COLUMN adults.name IS NULL', { properties: ['view column public.adults.name: comment'] }],
  [
    'COMMENT ON CONSTRAINT members_pkey ON members IS NULL',
    { properties: ['table constraint members_pkey on public.members: comment'] },
  ],
  ['COMMENT ON INDEX members_town_index IS NULL', { properties: ['index public.members_town_index: comment'] }],
  [`COMMENT ON COLUMN ages.n IS 'Other'`, { properties: ['materialized view column public.ages.n: comment'] }],
  ['ALTER VIEW adults ALTER COLUMN name DROP DEFAULT', { properties: ['view column public.adults.name: default'] }],
  [
    'ALTER MATERIALIZED VIEW ages ALTER COLUMN age SET STATISTICS -1',
    { properties: ['materialized view column public.ages.age: statistics target'] },
  ],
  ['REFRESH MATERIALIZED VIEW ages WITH NO DATA', { properties: ['materialized view public.ages: rows'] }],
  ['ALTER STATISTICS towns SET STATISTICS -1', { properties: ['statistics object public.towns: statistics target'] }],
  ['ALTER TABLE members SET WITHOUT CLUSTER', { properties: ['index public.members_town_index: clustered'] }],
  ['ALTER VIEW adults RESET (security_barrier)', { properties: ['view adults: definition'] }],
  [`COMMENT ON VIEW adults IS 'Other'`, { differences: ['adults comment'] }],
  [`COMMENT ON FUNCTION keep() IS 'Other'`, { differences: ['keep() comment'] }],
  ['ALTER FUNCTION keep() SECURITY DEFINER', { properties: ['function keep(): definition'] }],
  ['ALTER TABLE members DISABLE TRIGGER keep', { differences: ['keep on members enabled'] }],
  ['DROP TRIGGER keep ON members', { differences: ['keep on members trigger'] }],
  ['DROP POLICY adults ON members', { differences: ['adults on members policy'] }],
  ['ALTER TABLE members DISABLE ROW LEVEL SECURITY', { differences: ['members row_security'] }],
  ['ALTER TABLE members RESET (fillfactor)', { properties: ['table public.members: options'] }],
  ['ALTER TABLE members REPLICA IDENTITY DEFAULT', { properties: ['table public.members: replica identity'] }],
  [
    'ALTER TABLE members ALTER COLUMN name SET STORAGE EXTENDED',
    { properties: ['table column public.members.name: storage'] },
  ],
  [
    'ALTER TABLE members ALTER COLUMN age SET STATISTICS -1',
    { properties: ['table column public.members.age: statistics target'] },
  ],
  [
    'ALTER TABLE members ALTER COLUMN town RESET (n_distinct)',
    { properties: ['table column public.members.town: options'] },
  ],
  [`COMMENT ON TABLE members IS NULL`, { differences: ['members schema.comment'] }],
  [`COMMENT ON COLUMN members.name IS NULL`, { differences: ['members schema.comment'] }],
  ['DROP INDEX members_town_index', { differences: ['members index members_town_index'] }],
  ['ALTER TABLE members ALTER COLUMN town SET NOT NULL', { differences: ['members schema.is_nullable'] }],
];

interface Proof {
  differences: { collection: string; field?: string; member: string }[];
  properties: { object: string; property: string; before: string | null; after: string | null }[];
}

interface Plan {
  accepted: boolean;
  errors?: unknown;
  proof?: Proof;
}

/** Runs `work` while an event trigger executes the statement after each command, as long as the view `adults` exists. */
async function withEventTrigger(
  asRoot: (...texts: string[]) => Promise<void>,
  loss: string,
  work: () => Promise<void>,
): Promise<void> {
  await asRoot(
    `CREATE FUNCTION lose() RETURNS event_trigger SECURITY DEFINER LANGUAGE plpgsql AS $lose$
       BEGIN
         IF current_setting('lose.runs', true) = 'yes' OR to_regclass('public.adults') IS NULL THEN RETURN; END IF;
         PERFORM set_config('lose.runs', 'yes', true);
         BEGIN
           SET LOCAL search_path = public;
           ${loss};
         EXCEPTION WHEN undefined_table OR undefined_object OR undefined_function OR undefined_column THEN NULL;
         END;
         PERFORM set_config('lose.runs', 'no', true);
       END $lose$`,
    'CREATE EVENT TRIGGER lose ON ddl_command_end EXECUTE FUNCTION lose()',
  );
  try {
    await work();
  } finally {
    await asRoot('DROP EVENT TRIGGER lose', 'DROP FUNCTION lose()');
  }
}

describe('the proof of a change', function () {
  this.timeout(300_000);
  const { service, api, client } = withService({
    settings: { OBJECTS: 'on' },
    consistent: true,
    atEnd: () => asRoot(`DROP OWNED BY ${OTHER_ROLE}`, `DROP ROLE ${OTHER_ROLE}`),
  });
  let diff: object;

  const asRoot = (...texts: string[]): Promise<void> => asSuperuser(service.databaseUrl, ...texts);
  const prove = (query = 'prove'): Promise<Plan> => api.ok<Plan>('POST', `/schema/apply?${query}`, diff);

  before(async () => {
    await api.ok('POST', '/collections', MEMBERS);
    for (const [kind, definition] of OBJECTS)
      await api.ok('POST', '/objects', {
        kind,
        definition,
        ...(kind === 'materialized_view' && { indexes: [{ name: 'ages_n', definition: 'USING btree (n)' }] }),
      });
    for (const text of PROPERTIES) await api.sql(text);
    await asRoot(`CREATE ROLE ${OTHER_ROLE}`);
    const snapshot = await api.ok<{ fields: { field: string; type: string; schema: object }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const age = snapshot.fields.find(({ field }) => field === 'age');
    Object.assign(age ?? {}, { type: 'bigInteger', schema: { ...age?.schema, data_type: 'bigint' } });
    diff = await api.ok('POST', '/schema/diff', snapshot);
  });

  it('is empty if recreated objects keep their properties, and leaves the schema unchanged', async () => {
    const before = await api.ok('GET', '/schema/snapshot');
    const { accepted, proof, errors } = await prove();
    expect(accepted, JSON.stringify(errors)).to.equal(true);
    expect(proof).to.deep.equal({ differences: [], properties: [] });
    expect(await prove('dry_run')).not.to.have.property('proof');
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(before);
  });

  const withLoss = (loss: string, work: () => Promise<void>) => withEventTrigger(asRoot, loss, work);

  for (const [loss, effect] of LOSSES)
    it(`finds the effect of ${loss}`, () =>
      withLoss(loss, async () => {
        const { accepted, proof, errors } = await prove();
        expect(accepted, JSON.stringify(errors)).to.equal(true);
        const properties = proof?.properties.map(({ object, property }) => `${object}: ${property}`);
        const differences = proof?.differences.map(({ collection, member }) => `${collection} ${member}`);
        if ('properties' in effect) expect(properties).to.deep.equal(effect.properties);
        else expect(differences).to.deep.equal(effect.differences);
      }));

  it('is printed by dps prove, with exit code 1', async () => {
    await withLoss(
      'REVOKE SELECT ON adults FROM PUBLIC; COMMENT ON VIEW adults IS NULL; DROP POLICY IF EXISTS adults ON members',
      async () => {
        const { code, out } = await dps(
          ['prove', '-'],
          { DPS_URL: service.url, DPS_TOKEN: service.adminToken },
          { stdin: JSON.stringify(diff) },
        );
        expect(code, out).to.equal(1);
        expect(out.split('\n').slice(-3)).to.deep.equal([
          'The change has other effects:',
          '  catalog adults on members policy: expected "policy", found nothing',
          '  view public.adults SELECT for PUBLIC: "granted" became nothing',
        ]);
      },
    );
  });

  it('is empty for a planned change to privileges', async () => {
    const snapshot = await api.ok<{ objects: object[] }>('GET', '/schema/snapshot');
    const privileges = { kind: 'privileges', id: `${OTHER_ROLE} on members`, definition: [{ name: 'SELECT' }] };
    const objects = [...snapshot.objects, { comment: null, ...privileges }];
    const granted = await api.ok('POST', '/schema/diff?mode=merge', { ...snapshot, objects });
    const { accepted, proof, errors } = await api.ok<Plan>('POST', '/schema/apply?prove', granted);
    expect(accepted, JSON.stringify(errors)).to.equal(true);
    expect(proof).to.deep.equal({ differences: [], properties: [] });
  });

  it('rejects explain and online', async () => {
    for (const other of ['explain', 'online']) {
      const answer = await client(`/schema/apply?prove&${other}`, json(diff, 'POST'));
      expect(answer.status).to.equal(400);
      expect(answer.text).to.include(`prove cannot be combined with ${other}.`).and.include('"path":"prove"');
    }
  });
});

/** Losses while everything is renamed. The names are those after the renames. */
const LOSSES_WITH_RENAMES: readonly (readonly [loss: string, effect: Effect])[] = [
  ['REVOKE SELECT ON adults FROM PUBLIC', { properties: ['view public.grown: SELECT for PUBLIC'] }],
  ['REVOKE SELECT ON members FROM PUBLIC', { properties: ['table public.people: SELECT for PUBLIC'] }],
  [
    'REVOKE UPDATE (age) ON members FROM PUBLIC',
    { properties: ['table column public.people.years: UPDATE for PUBLIC'] },
  ],
  [
    'REVOKE SELECT (age) ON members FROM pg_monitor',
    { properties: ['table column public.people.years: SELECT for pg_monitor'] },
  ],
  ['COMMENT ON COLUMN adults.age IS NULL', { properties: ['view column public.grown.age: comment'] }],
  [
    'COMMENT ON CONSTRAINT members_pkey ON members IS NULL',
    { properties: ['table constraint people_pkey on public.people: comment'] },
  ],
  ['ALTER STATISTICS towns SET STATISTICS -1', { properties: ['statistics object public.towns: statistics target'] }],
  ['ALTER VIEW adults RESET (security_barrier)', { properties: ['view adults: definition'] }],
  [
    'CREATE OR REPLACE VIEW adults WITH (security_barrier = true) AS SELECT id, name, age FROM members',
    { properties: ['view adults: definition'] },
  ],
  ['ALTER FUNCTION keep() SECURITY DEFINER', { properties: ['function keep(): definition'] }],
  ['ALTER POLICY adults ON members USING (true)', { properties: ['policy adults on members: definition'] }],
  ['ALTER POLICY adults ON members TO pg_monitor', { properties: ['policy adults on members: definition'] }],
  ['ALTER TABLE members DISABLE TRIGGER keep', { differences: ['keep on members enabled'] }],
  ['DROP TRIGGER keep ON members', { differences: ['keep on members trigger'] }],
  ['ALTER TABLE members DISABLE ROW LEVEL SECURITY', { differences: ['members row_security'] }],
  ['COMMENT ON COLUMN members.name IS NULL', { differences: ['members schema.comment'] }],
  ['ALTER TABLE members ALTER COLUMN town SET NOT NULL', { differences: ['members schema.is_nullable'] }],
  ['ALTER FUNCTION billing.tax() SECURITY DEFINER', { properties: ['function billing.tax(): definition'] }],
  ['COMMENT ON COLUMN bills.name IS NULL', { differences: ['bills schema.comment'] }],
  ['CREATE OR REPLACE VIEW towns AS SELECT name AS town FROM bills', { properties: ['view towns: definition'] }],
  ['ALTER SEQUENCE numbers INCREMENT BY 5', { properties: ['sequence numbers: definition'] }],
  [`ALTER TYPE mood ADD VALUE IF NOT EXISTS 'so so'`, { properties: ['type mood: definition'] }],
  ['ALTER DOMAIN code SET NOT NULL', { properties: ['type code: definition'] }],
];

interface Diff {
  hash: string;
  diff: { objects: { diff: { path: string[] }[] }[] };
}

/** Removes changed definitions, so that PostgreSQL rewrites the objects as renames do. */
function withoutDefinitions({ hash, diff }: Diff): object {
  const objects = diff.objects
    .map((object) => ({ ...object, diff: object.diff.filter(({ path }) => path[0] !== 'definition') }))
    .filter((object) => object.diff.length > 0);
  return { hash, diff: { ...diff, objects } };
}

describe('the proof of a change with renames', function () {
  this.timeout(300_000);
  const { service, api } = withService({ settings: { OBJECTS: 'on', DB_SCHEMAS: 'public,billing' } });
  const asRoot = (...texts: string[]): Promise<void> => asSuperuser(service.databaseUrl, ...texts);
  let diff: object;

  const prove = (): Promise<Plan> => api.ok<Plan>('POST', '/schema/apply?prove', diff);

  before(async () => {
    await api.ok('POST', '/collections', MEMBERS);
    await api.ok('POST', '/collections', { ...MEMBERS, collection: 'bills' });
    for (const [kind, definition] of [
      ...OBJECTS,
      ['function', 'CREATE FUNCTION billing.tax() RETURNS integer LANGUAGE sql RETURN 19'],
      ['view', 'CREATE VIEW towns AS SELECT town FROM bills'],
      ['sequence', 'CREATE SEQUENCE numbers'],
      ['type', "CREATE TYPE mood AS ENUM ('happy', 'sad')"],
      ['type', 'CREATE DOMAIN code AS text CHECK (length(VALUE) < 9)'],
      ['type', 'CREATE TYPE place AS (street text, feel mood)'],
      ['rule', 'CREATE RULE keep AS ON DELETE TO members WHERE old.age > 100 DO INSTEAD NOTHING'],
      ['privileges', 'GRANT SELECT (age) ON members TO pg_monitor'],
      ['table_options', 'ALTER TABLE members SET (fillfactor = 70)'],
    ])
      await api.ok('POST', '/objects', { kind, definition });
    for (const text of [
      'GRANT SELECT ON adults TO PUBLIC',
      'GRANT SELECT ON members TO PUBLIC',
      'GRANT UPDATE (age) ON members TO PUBLIC',
      `COMMENT ON COLUMN adults.age IS 'In years'`,
      `COMMENT ON CONSTRAINT members_pkey ON members IS 'The key'`,
      'ALTER STATISTICS towns SET STATISTICS 700',
    ])
      await api.sql(text);
    const head = await api.head();
    await api.ok('POST', '/collections/members/rename', { to: 'people' });
    await api.ok('POST', '/fields/people/age/rename', { to: 'years' });
    await api.ok('POST', '/collections/bills/rename', { to: 'billing.bills', schema: { schema: 'billing' } });
    await api.ok('POST', '/objects/view/adults/rename', { to: 'grown' });
    await api.ok('POST', '/objects/sequence/numbers/rename', { to: 'figures' });
    await api.ok('POST', '/objects/type/mood/rename', { to: 'feeling' });
    await api.ok('POST', '/objects/policy/adults%20on%20people/rename', { to: 'grown' });
    // The change also describes, adds and deletes something.
    await api.ok('POST', '/fields/people', { field: 'note', type: 'text', interface: 'input' });
    await api.ok('PATCH', '/fields/people/name', { schema: { comment: 'Other' } });
    diff = withoutDefinitions(await api.ok<Diff>('GET', `/history/diff?to=${head}`));
  });

  it('is empty, even if something already differed from the log', async () => {
    expect(JSON.stringify(diff)).to.contain('"path":["collection"]').and.to.contain('"path":["id"]');
    for (const drift of [undefined, `COMMENT ON TABLE people IS 'By hand'`, `COMMENT ON VIEW grown IS 'By hand'`]) {
      if (drift !== undefined) await api.sql(drift);
      const { accepted, proof, errors } = await prove();
      expect(accepted, JSON.stringify(errors)).to.equal(true);
      expect(proof, drift).to.deep.equal({ differences: [], properties: [] });
    }
    await api.sql(`COMMENT ON TABLE people IS 'People'; COMMENT ON VIEW grown IS NULL`);
  });

  for (const [loss, effect] of LOSSES_WITH_RENAMES)
    it(`finds the effect of ${loss}`, () =>
      withEventTrigger(asRoot, loss, async () => {
        const { accepted, proof, errors } = await prove();
        expect(accepted, JSON.stringify(errors)).to.equal(true);
        const properties = proof?.properties.map(({ object, property }) => `${object}: ${property}`);
        const differences = proof?.differences.map(({ collection, member }) => `${collection} ${member}`);
        if ('properties' in effect) expect(properties).to.deep.equal(effect.properties);
        else expect(differences).to.deep.equal(effect.differences);
      }));
});

describe('the proof of a change in a scratch database', function () {
  this.timeout(300_000);

  const leftovers = [`dps_scratch_${'0'.repeat(24)}`, `dps_scratch_${'1'.repeat(24)}`] as const;
  const scratch = async (databaseUrl: string) =>
    (await query(databaseUrl, `SELECT datname FROM pg_database WHERE datname LIKE 'dps\\_scratch\\_%' ORDER BY 1`)).map(
      ({ datname }) => datname,
    );

  describe('with an account that can create databases', () => {
    const { service, api } = withService({
      settings: async () => ({ OBJECTS: 'on', PROVE_DATABASE_URL: await superuserUrl('postgresql://h/postgres') }),
      consistent: true,
    });
    const asRoot = (...texts: string[]): Promise<void> => asSuperuser(service.databaseUrl, ...texts);
    let diff: object;

    before(async () => {
      const note = { field: 'note', type: 'text', interface: 'input' };
      await api.ok('POST', '/collections', { ...MEMBERS, fields: [...MEMBERS.fields, note] });
      for (const [kind, definition] of [...OBJECTS, ['type', "CREATE TYPE mood AS ENUM ('happy', 'sad')"]])
        await api.ok('POST', '/objects', { kind, definition });
      await api.sql(`INSERT INTO members (name, age) VALUES ('Ada', 36)`);
      const head = await api.head();
      await api.ok('POST', '/collections/members/rename', { to: 'people' });
      await api.ok('DELETE', '/fields/people/note');
      await api.ok('PATCH', '/objects/type/mood', { definition: "CREATE TYPE mood AS ENUM ('happy', 'so so', 'sad')" });
      diff = await api.ok('GET', `/history/diff?to=${head}`);
    });

    it('needs no lock on the tables, restores a field, and leaves nothing behind', async () => {
      const before = await api.ok('GET', '/schema/snapshot');
      const locked = api.sql(`BEGIN; LOCK TABLE people; SELECT pg_sleep(3); COMMIT`);
      const plan = await api.ok<Plan>('POST', '/schema/apply?prove', diff);
      expect(plan.accepted, JSON.stringify(plan.errors)).to.equal(true);
      expect(plan.proof).to.deep.equal({ differences: [], properties: [] });
      await locked;
      expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(before);
      expect(await scratch(service.databaseUrl)).to.deep.equal([]);
    });

    it('reports a statement that PostgreSQL rejects', async () => {
      const snapshot = await api.ok<{ objects: object[] }>('GET', '/schema/snapshot');
      const definition = 'CREATE VIEW wrong AS SELECT nothing FROM people';
      const objects = [...snapshot.objects, { kind: 'view', id: 'wrong', definition, comment: null }];
      const wrong = await api.ok('POST', '/schema/diff', { ...snapshot, objects });
      const { accepted, errors, proof } = await api.ok<Plan>('POST', '/schema/apply?prove', wrong);
      expect(accepted).to.equal(false);
      expect(JSON.stringify(errors)).to.contain('column \\"nothing\\" does not exist');
      expect(proof).to.equal(undefined);
    });

    it('removes the database of an interrupted proof, but not that of a running one', async () => {
      for (const name of leftovers) await asRoot(`CREATE DATABASE ${name}`);
      const running = new pg.Client({ connectionString: service.databaseUrl, application_name: leftovers[1] });
      await running.connect();
      try {
        await api.ok('POST', '/schema/apply?prove', diff);
        expect(await scratch(service.databaseUrl)).to.deep.equal([leftovers[1]]);
      } finally {
        await running.end();
        for (const name of leftovers) await asRoot(`DROP DATABASE IF EXISTS ${name}`);
      }
    });
  });

  describe('on a server that lacks a role or an extension', () => {
    let other: Awaited<ReturnType<typeof startEmbedded>>;
    const { service, api } = withService({
      settings: async () => {
        other = await startEmbedded({ dataDir: await temporaryDirectory(), connections: 20, throwaway: true });
        return { OBJECTS: 'on', PROVE_DATABASE_URL: other.superuserConnectionString };
      },
      atEnd: () => other.stop(),
    });

    /** Proves a change of all collections. On another major version, the error is the version. @param wrong null if it can be proved */
    const expectError = async (wrong: RegExp | null): Promise<void> => {
      const snapshot = await api.ok<{ collections: object[] }>('GET', '/schema/snapshot');
      const collections = snapshot.collections.map((each) => ({ ...each, meta: { note: 'Changed' } }));
      const diff = await api.ok<object>('POST', '/schema/diff', { ...snapshot, collections });
      const { majorVersion } = await testServer();
      const error =
        majorVersion === 18 ? wrong : /The server of PROVE_DATABASE_URL runs PostgreSQL 18, but the database/;
      if (error === null) {
        const { accepted, proof } = await api.ok<Plan>('POST', '/schema/apply?prove', diff);
        expect([accepted, proof]).to.deep.equal([true, { differences: [], properties: [] }]);
      } else {
        const rejected = { status: 503, code: 'UNAVAILABLE' };
        expect((await api.refused(rejected, 'POST', '/schema/apply?prove', diff)).message).to.match(error);
      }
      expect(await scratch(other.superuserConnectionString)).to.deep.equal([]);
    };

    before(() => api.ok('POST', '/collections', MEMBERS));

    it('names the missing role and drops the database', async () => {
      const role = `dps_prove_${randomBytes(4).toString('hex')}`;
      await asSuperuser(service.databaseUrl, `CREATE ROLE ${role}`);
      try {
        const definition = `GRANT SELECT ON members TO ${role}`;
        await api.ok('POST', '/objects', { kind: 'privileges', definition });
        await expectError(new RegExp(`cannot create the current schema: .*role "${role}" does not exist`));
        await api.ok('DELETE', `/objects/privileges/${role}%20on%20members`);
      } finally {
        await asSuperuser(service.databaseUrl, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
      }
    });

    it('creates the extensions that the schema needs', async () => {
      await asSuperuser(service.databaseUrl, 'CREATE EXTENSION citext');
      await api.sql('CREATE TABLE cities (id integer PRIMARY KEY, name citext)');
      await api.ok('POST', '/schema/adopt', { tables: ['cities'] });
      await expectError(null);
    });
  });

  it('names neither the address nor the role of a server that it cannot use', async () => {
    for (const [url, message] of [
      [
        'postgresql://someone:hunter2@127.0.0.1:1/postgres',
        'The database of PROVE_DATABASE_URL cannot be used: no server listens at its address.',
      ],
      [undefined, 'The role of PROVE_DATABASE_URL cannot create databases. Run ALTER ROLE … CREATEDB for it.'],
    ] as const) {
      const service = await startService({ OBJECTS: 'on', ...(url !== undefined && { PROVE_DATABASE_URL: url }) });
      const own = url === undefined ? await startService({ PROVE_DATABASE_URL: service.databaseUrl }) : service;
      const api = createApi(own);
      try {
        await api.ok('POST', '/collections', MEMBERS);
        const snapshot = await api.ok<object>('GET', '/schema/snapshot');
        const nothing = { ...snapshot, collections: [], fields: [], relations: [] };
        const diff = await api.ok('POST', '/schema/diff', nothing);
        const error = await api.refused({ status: 503, code: 'UNAVAILABLE' }, 'POST', '/schema/apply?prove', diff);
        expect(error.message).to.contain(message);
        expect(JSON.stringify(error)).not.to.match(/hunter2|someone|127\.0\.0\.1/);
      } finally {
        await api.stop();
        for (const each of new Set([own, service])) await each.stop();
      }
    }
  });
});
