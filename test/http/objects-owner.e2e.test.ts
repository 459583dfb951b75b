import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createApi } from '../support/api.js';
import { dps as runDps } from '../support/dps.js';
import { type TestDatabase, asSuperuser, createDatabase, query, temporaryDirectory } from '../support/postgres.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const OWNER = `dps owner ${randomBytes(4).toString('hex')}`;
const OTHER = `${OWNER} other`;
const READER = `${OWNER} reader`;
const quoted = (role: string): string => `"${role}"`;

const key = {
  field: 'id',
  type: 'integer',
  interface: 'input',
  schema: { is_primary_key: true, has_auto_increment: true },
};
const MEMBERS = {
  collection: 'members',
  schema: {
    extras: {
      needs: [
        { kind: 'enum', name: 'level', labels: ['low', 'high'] },
        { kind: 'sequence', name: 'members_number_seq', type: 'integer', owned_by: 'number' },
      ],
    },
  },
  fields: [
    key,
    { field: 'name', type: 'string', interface: 'input' },
    { field: 'age', type: 'integer', interface: 'input' },
    { field: 'level', type: 'unknown', interface: 'input', schema: { data_type: 'level' } },
    {
      field: 'number',
      type: 'integer',
      interface: 'input',
      schema: { has_auto_increment: true, extras: { default: "nextval('members_number_seq'::regclass)" } },
    },
  ],
};
const POSTS = {
  collection: 'posts',
  schema: {},
  fields: [key, { field: 'author', type: 'integer', interface: 'input' }],
};
const RELATION = {
  collection: 'posts',
  field: 'author',
  related_collection: 'members',
  schema: { on_delete: 'CASCADE' },
};

const OBJECTS = [
  ['sequence', 'CREATE SEQUENCE numbers'],
  ['function', 'CREATE FUNCTION is_adult(age bigint) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN age > 17'],
  ['function', 'CREATE FUNCTION half(value integer) RETURNS integer LANGUAGE sql AS $$ SELECT value / 2 $$'],
  ['procedure', 'CREATE PROCEDURE nothing() LANGUAGE sql AS $$ SELECT 1 $$'],
  ['aggregate', 'CREATE AGGREGATE longest(integer) (SFUNC = int4larger, STYPE = integer)'],
  ['view', 'CREATE VIEW adults AS SELECT id, name, age FROM members WHERE is_adult(age)'],
  ['materialized_view', 'CREATE MATERIALIZED VIEW ages AS SELECT age, count(*) AS members FROM members GROUP BY age'],
  ['statistics', 'CREATE STATISTICS towns ON age, name FROM members'],
  ['policy', 'CREATE POLICY adults ON members USING (age > 17)'],
] as const;

/** All objects of the managed schema, and their owners. */
const OWNERS = `
  SELECT c.relname::text AS name, pg_get_userbyid(c.relowner)::text AS owner FROM pg_class c
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
  UNION ALL SELECT p.proname, pg_get_userbyid(p.proowner) FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
  UNION ALL SELECT t.typname, pg_get_userbyid(t.typowner) FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('e', 'd')
  UNION ALL SELECT s.stxname, pg_get_userbyid(s.stxowner) FROM pg_statistic_ext s WHERE s.stxnamespace = 'public'::regnamespace
  ORDER BY 1`;

interface Difference {
  member: string;
  found: unknown;
}

interface Drift {
  tables: { table: string; differences: Difference[] }[];
  objects: { object: { id: string }; differences: Difference[] }[];
}

interface Snapshot {
  collections: { schema: object }[];
  fields: { field: string; type: string; schema: object }[];
  objects: { id: string; definition: string }[];
}

interface Plan {
  accepted: boolean;
  errors?: unknown;
  statements: { summary: string }[];
  proof?: { differences: (Difference & { collection: string })[]; properties: { object: string; property: string }[] };
}

async function expectDenied(work: () => Promise<unknown>): Promise<void> {
  const error = await work().then(
    () => null,
    (thrown: Error) => thrown,
  );
  expect(error?.message).to.include('permission denied');
}

const accountOf = ({ connectionString }: TestDatabase): string => new URL(connectionString).username;

/** A database whose role may create objects for the role of OBJECTS_OWNER. */
async function createOwnedDatabase(): Promise<TestDatabase> {
  const database = await createDatabase('migrated');
  await asSuperuser(database.connectionString, `GRANT USAGE, CREATE ON SCHEMA public TO ${quoted(OWNER)}`);
  return database;
}

describe('OBJECTS_OWNER', function () {
  this.timeout(240_000);
  let database: TestDatabase;

  before(async () => {
    const first = await createDatabase();
    const account = accountOf(first);
    await asSuperuser(
      first.connectionString,
      ...[OWNER, OTHER].flatMap((role) => [`CREATE ROLE ${quoted(role)}`, `GRANT ${quoted(role)} TO ${account}`]),
    );
    await first.drop();
  });
  after(async () => {
    const last = await createDatabase();
    await asSuperuser(last.connectionString, ...[OWNER, OTHER].map((role) => `DROP ROLE ${quoted(role)}`));
    await last.drop();
  });

  describe('with objects', () => {
    const { api } = withService({
      settings: async () => {
        database = await createOwnedDatabase();
        return { DATABASE_URL: database.connectionString, OBJECTS: 'on', OBJECTS_OWNER: OWNER };
      },
      each: true,
      consistent: true,
    });
    afterEach(() => database.drop());

    const admin = (...texts: string[]) => asSuperuser(database.connectionString, ...texts);
    const create = (kind: string, definition: string) => api.ok('POST', '/objects', { kind, definition });
    const createAll = async () => {
      await api.ok('POST', '/collections', MEMBERS);
      await api.ok('POST', '/collections', POSTS);
      await api.ok('POST', '/relations', RELATION);
      for (const [kind, definition] of OBJECTS) await create(kind, definition);
    };
    const owners = async () => {
      const rows = await api.sql<{ name: string; owner: string }>(OWNERS);
      return new Map(rows.map(({ name, owner }) => [name, owner]));
    };
    const foreign = async () => [...(await owners())].filter(([, owner]) => owner !== OWNER);
    const dps = (...args: string[]) =>
      runDps(args, { DATABASE_URL: database.connectionString, OBJECTS: 'on', OBJECTS_OWNER: OWNER });
    const verified = async () =>
      (
        await api.ok<{ data: { ok: boolean; differences: { collection: string; member: string; found: string }[] } }>(
          'GET',
          '/projections/verify',
        )
      ).data.differences.map(({ collection, member, found }) => [collection, member, found]);

    const restore = async () => {
      const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash?limit=1');
      await api.ok('POST', `/trash/${data[0]?.position}/restore`);
    };
    const drift = async () => {
      const { tables, objects } = await api.ok<Drift>('GET', '/schema/drift');
      return [
        ...tables.map(({ table, differences }) => [table, differences]),
        ...objects.map(({ object, differences }) => [object.id, differences]),
      ].map(([name, differences]) => [name, (differences as Difference[]).map(({ member, found }) => [member, found])]);
    };

    it('gives new tables, types, sequences and objects to the role', async () => {
      await createAll();
      await api.ok('POST', '/fields/posts', { field: 'likes', type: 'integer', interface: 'input' });
      const names = ['ages', 'half', 'level', 'members', 'members_id_seq', 'members_number_seq', 'numbers', 'towns'];
      expect([...(await owners()).keys()]).to.include.members(names);
      expect(await foreign()).to.deep.equal([]);
      expect(await verified()).to.deep.equal([]);
      await api.sql("INSERT INTO members (name, age, level) VALUES ('Ada', 36, 'high')");
      await api.sql('INSERT INTO posts (author) VALUES (1)');
      await api.sql('DELETE FROM members');
      expect(await api.sql('SELECT * FROM posts')).to.deep.equal([]);
      const kept = await api.sql(
        "SELECT relname FROM pg_class WHERE relnamespace = 'service'::regnamespace AND pg_get_userbyid(relowner) <> current_user",
      );
      expect(kept).to.deep.equal([]);
    });

    it('shows the statements in a plan, and keeps one batch for each change', async () => {
      await createAll();
      const { statements } = await api.ok<Plan>('POST', '/objects?dry_run', {
        kind: 'view',
        definition: 'CREATE VIEW names AS SELECT name FROM members',
      });
      expect(statements.map(({ summary }) => summary)).to.deep.equal([
        'create view names',
        `set the owner of view names to ${OWNER}`,
      ]);
    });

    it('gets objects with exactly the default privileges of the log, and none of its own', async () => {
      const grant = (id: string, definition: object[]) =>
        api.ok('POST', '/objects', { kind: 'privileges', id, definition });
      await grant('pg_monitor on new tables', [{ name: 'SELECT' }]);
      await grant('pg_monitor on new functions', [{ name: 'EXECUTE' }]);
      await grant('public on new functions', []);
      await createAll();
      const { objects } = await api.ok<Snapshot>('GET', '/schema/snapshot');
      const ids = objects.map(({ id }) => id);
      expect(ids).to.include.members([
        'pg_monitor on members',
        'pg_monitor on adults',
        'pg_monitor on ages',
        'public on half(integer)',
        'pg_monitor on longest(integer)',
      ]);
      expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
      for (const role of [OWNER, accountOf(database)]) {
        const id = `${/^[a-z_][a-z0-9_]*$/.test(role) ? role : quoted(role)} on new tables`;
        await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', {
          kind: 'privileges',
          id,
          definition: [{ name: 'SELECT' }],
        });
      }
    });

    it('lets a column own a sequence that is new', async () => {
      await api.ok('POST', '/collections', POSTS);
      const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
      const [posts] = snapshot.collections;
      const id = snapshot.fields.find(({ field }) => field === 'id');
      const sequence = { kind: 'sequence', name: 'numbered', type: 'integer', owned_by: 'id' };
      Object.assign(posts?.schema ?? {}, { extras: { needs: [sequence] } });
      Object.assign(id?.schema ?? {}, { extras: { default: "nextval('numbered'::regclass)" } });
      await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));
      expect(await foreign()).to.deep.equal([]);
    });

    it('confines functions, views and materialized views to the privileges of the role', async () => {
      const secret = 'SELECT email FROM service.service_users';
      await create(
        'function',
        `CREATE FUNCTION emails() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS $$ ${secret} $$`,
      );
      await create('view', `CREATE VIEW emails AS ${secret}`);
      await admin(
        `CREATE ROLE ${quoted(READER)}`,
        `GRANT SELECT ON emails TO ${quoted(READER)}`,
        `GRANT ${quoted(READER)} TO ${accountOf(database)}`,
      );
      try {
        for (const text of ['SELECT * FROM emails()', 'SELECT * FROM emails'])
          await expectDenied(() => api.sql(`SET ROLE ${quoted(READER)}; ${text}`));
      } finally {
        await admin(`DROP OWNED BY ${quoted(READER)}`, `DROP ROLE ${quoted(READER)}`);
      }
      await create(
        'function',
        'CREATE FUNCTION become() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RESET ROLE; RETURN current_user; END $$',
      );
      for (const query of [secret, 'SELECT become() AS role']) {
        const { message } = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', {
          kind: 'materialized_view',
          definition: `CREATE MATERIALIZED VIEW stolen AS ${query}`,
        });
        expect(message).to.match(/permission denied|security-restricted/);
      }
    });

    it('keeps the owner of objects that a change creates again', async () => {
      await createAll();
      await admin(
        `GRANT CREATE ON SCHEMA public TO ${quoted(OTHER)}`,
        `ALTER VIEW adults OWNER TO ${quoted(OTHER)}`,
        `GRANT SELECT ON members TO ${quoted(OTHER)}`,
        `ALTER MATERIALIZED VIEW ages OWNER TO ${accountOf(database)}`,
      );
      const diff = await diffWith((snapshot) => {
        const age = snapshot.fields.find(({ field }) => field === 'age');
        Object.assign(age ?? {}, { type: 'bigInteger', schema: { ...age?.schema, data_type: 'bigint' } });
      });
      const { accepted, errors, proof } = await api.ok<Plan>('POST', '/schema/apply?prove', diff);
      expect(accepted, JSON.stringify(errors)).to.equal(true);
      expect(proof).to.deep.equal({ differences: [], properties: [] });
      await api.ok('POST', '/schema/apply', diff);
      expect(await foreign()).to.deep.equal([['adults', OTHER]]);
      expect(await api.sql('SELECT * FROM ages')).to.deep.equal([]);
      await repaired();
    });

    it('reports a new owner in a proof', async () => {
      await createAll();
      const diff = await diffWith((snapshot) => {
        for (const each of snapshot.objects)
          if (each.id === 'adults') each.definition = 'CREATE VIEW adults AS SELECT id FROM members';
      });
      await admin(
        `CREATE FUNCTION public.steal() RETURNS event_trigger SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN
           IF current_setting('steal.runs', true) = 'yes' OR tg_tag <> 'ALTER VIEW' THEN RETURN; END IF;
           PERFORM set_config('steal.runs', 'yes', true);
           ALTER VIEW public.adults OWNER TO ${quoted(OTHER)};
         END $$`,
        'CREATE EVENT TRIGGER steal ON ddl_command_end EXECUTE FUNCTION public.steal()',
      );
      const { proof } = await api.ok<Plan>('POST', '/schema/apply?prove', diff);
      await admin('DROP EVENT TRIGGER steal', 'DROP FUNCTION public.steal()');
      expect(proof?.differences.map(({ collection, member, found }) => [collection, member, found])).to.deep.equal([
        ['adults', 'owner', OTHER],
      ]);
      expect(proof?.properties.map(({ object, property }) => [object, property])).to.deep.equal([
        ['view public.adults', 'owner'],
      ]);
    });

    it('restores a table with its owner, and changes the owner of a table of the service', async () => {
      for (const collection of ['mine', 'theirs', 'given'])
        await api.ok('POST', '/collections', { ...POSTS, collection });
      await admin(`ALTER TABLE theirs OWNER TO ${quoted(OTHER)}`, `ALTER TABLE given OWNER TO ${accountOf(database)}`);
      for (const collection of ['mine', 'theirs', 'given']) {
        await api.ok('DELETE', `/collections/${collection}`);
        await restore();
      }
      expect(await foreign()).to.deep.equal([
        ['theirs', OTHER],
        ['theirs_id_seq', OTHER],
      ]);
      await backedUp();
      await repaired();
    });

    it('reports other owners as drift, and repairs them', async () => {
      await createAll();
      const account = accountOf(database);
      await admin(
        `ALTER TABLE posts OWNER TO ${account}`,
        `ALTER FUNCTION half(integer) OWNER TO ${account}`,
        `ALTER STATISTICS towns OWNER TO ${account}`,
        `ALTER SEQUENCE numbers OWNER TO ${quoted(OTHER)}`,
        'COMMENT ON SEQUENCE numbers IS $$changed$$',
      );
      const found = [
        ['posts', [['owner', account]]],
        ['half(integer)', [['owner', account]]],
        [
          'numbers',
          [
            ['comment', 'changed'],
            ['owner', OTHER],
          ],
        ],
        ['towns', [['owner', account]]],
      ];
      expect(await drift()).to.deep.equal(found);
      expect((await verified()).filter(([, member]) => member === 'owner')).to.have.deep.members([
        ['posts', 'owner', account],
        ['half(integer)', 'owner', account],
        ['numbers', 'owner', OTHER],
        ['towns', 'owner', account],
      ]);
      await api.ok('POST', '/schema/drift/accept', { collections: ['posts'] });
      expect(await drift()).to.deep.equal(found);
      await repaired();
    });

    it('repairs what is missing for the role', async () => {
      await createAll();
      await api.sql('DROP TABLE posts; DROP SEQUENCE numbers; DROP FUNCTION half; DROP MATERIALIZED VIEW ages');
      await repaired();
    });

    /** Other owners do not prevent a backup, whose restore gives everything to the role. */
    async function backedUp(): Promise<void> {
      const directory = await temporaryDirectory();
      const file = join(directory, 'owners.dps');
      const { code, err } = await dps('backup', file);
      await rm(directory, { recursive: true });
      expect(code, err).to.equal(0);
    }

    /** Repairs all drift. Everything then belongs to the role. */
    async function repaired(): Promise<void> {
      const { code, out } = await dps('drift', '--repair');
      expect(code, out).to.equal(0);
      expect(await drift()).to.deep.equal([]);
      expect(await verified()).to.deep.equal([]);
      expect(await foreign()).to.deep.equal([]);
    }

    async function diffWith(edit: (snapshot: Snapshot) => void): Promise<object> {
      const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
      edit(snapshot);
      return api.ok<object>('POST', '/schema/diff', snapshot);
    }

    it('owns what a replay of the log creates', async () => {
      await createAll();
      const other = await createDatabase();
      try {
        await admin();
        await asSuperuser(other.connectionString, `GRANT USAGE, CREATE ON SCHEMA public TO ${quoted(OWNER)}`);
        const { code, out, err } = await dps('rebuild', 'tables', '--into', other.connectionString);
        expect(code, out + err).to.equal(0);
        const rows = await query(other.connectionString, OWNERS);
        expect(rows.filter(({ owner }) => owner !== OWNER)).to.deep.equal([]);
        expect(rows).to.have.length((await owners()).size);
      } finally {
        await other.drop();
      }
    });
  });

  describe('at the start', () => {
    beforeEach(async () => {
      database = await createDatabase('migrated');
    });
    afterEach(() => database.drop());

    const admin = (...texts: string[]) => asSuperuser(database.connectionString, ...texts);
    const start = (role = OWNER) => startService({ DATABASE_URL: database.connectionString, OBJECTS_OWNER: role });
    const CREATES = `GRANT USAGE, CREATE ON SCHEMA public TO ${quoted(OWNER)}`;

    async function expectFault(message: string, role = OWNER): Promise<void> {
      const error = await start(role).then(
        async (service) => {
          await service.stop();
          return null;
        },
        (thrown: Error) => thrown,
      );
      expect(error?.message).to.include(message);
      const settings = { DATABASE_URL: database.connectionString, OBJECTS_OWNER: role };
      expect((await runDps(['doctor'], settings)).out).to.include(`OBJECTS_OWNER_UNUSABLE: ${error?.message}`);
    }

    it('rejects a role that does not exist, is the role of the service, or is of no use', async () => {
      await expectFault('"nobody" of OBJECTS_OWNER does not exist. Run as a superuser: CREATE ROLE "nobody"', 'nobody');
      await expectFault('is the role of the service', accountOf(database));
      await admin(`CREATE ROLE ${quoted(READER)}`);
      try {
        await expectFault(`GRANT ${quoted(READER)} TO "${accountOf(database)}"`, READER);
      } finally {
        await admin(`DROP ROLE ${quoted(READER)}`);
      }
    });

    it('rejects a role that can use the tables of the service', async () => {
      await admin(CREATES, `GRANT USAGE, CREATE ON SCHEMA public TO ${accountOf(database)}`);
      await (await start()).stop();
      const role = quoted(OWNER);
      for (const [given, taken, message] of [
        [
          `GRANT USAGE ON SCHEMA service TO ${role}`,
          `REVOKE USAGE ON SCHEMA service FROM ${role}`,
          'the schema service,',
        ],
        [
          'GRANT USAGE ON SCHEMA service TO PUBLIC',
          'REVOKE USAGE ON SCHEMA service FROM PUBLIC',
          'the schema service,',
        ],
        [
          `GRANT SELECT (email) ON service.service_users TO ${role}`,
          `REVOKE SELECT (email) ON service.service_users FROM ${role}`,
          'the table service.service_users,',
        ],
        [`GRANT pg_read_all_data TO ${role}`, `REVOKE pg_read_all_data FROM ${role}`, 'the schema service,'],
        [`ALTER ROLE ${role} CREATEROLE`, `ALTER ROLE ${role} NOCREATEROLE`, 'can create roles'],
        [
          `REVOKE CREATE ON SCHEMA public FROM ${role}, PUBLIC`,
          CREATES,
          `GRANT USAGE, CREATE ON SCHEMA "public" TO ${role}`,
        ],
      ] as const) {
        await admin(given);
        await expectFault(message);
        await admin(taken);
      }
      await (await start()).stop();
    });

    it('applies to databases that have tables already, which are drift until they are repaired', async () => {
      await admin(CREATES);
      const without = await startService({ DATABASE_URL: database.connectionString });
      const first = createApi(without);
      await first.ok('POST', '/collections', POSTS);
      await first.stop();
      await without.stop();
      const service = await start();
      const api = createApi(service);
      try {
        const found = async () => (await api.ok<Drift>('GET', '/schema/drift')).tables.map(({ table }) => table);
        expect(await found()).to.deep.equal(['posts']);
        await api.ok('PATCH', '/fields/posts/author', { type: 'bigInteger' });
        await api.ok('POST', '/projections/tables/rebuild');
        expect(await found()).to.deep.equal([]);
      } finally {
        await api.stop();
        await service.stop();
      }
    });
  });
});
