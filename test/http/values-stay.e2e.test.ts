import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClient } from '../../src/postgres/pool.js';
import { dps } from '../support/dps.js';
import { column, onlineOf } from '../support/online.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const VALUE_OF_ROWS = 'zq-marker-value';

describe('row values', () => {
  const { service, api, client } = withService();
  const online = onlineOf(api);
  const seen: string[] = [];

  const patch = async (field: string, body: object): Promise<void> => {
    const reply = await client(`/fields/secrets/${field}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(reply.status, reply.text).to.be.within(400, 499);
    seen.push(reply.text);
  };

  before(async () => {
    await api.ok('POST', '/collections', {
      collection: 'others',
      schema: {},
      fields: [column('id', 'string', { is_primary_key: true, is_nullable: false })],
    });
    await online.large(
      'secrets',
      [column('name'), column('day'), column('owner'), column('short', 'string', { max_length: 3 })],
      `name = '${VALUE_OF_ROWS}'; day = '${VALUE_OF_ROWS}'; owner = '${VALUE_OF_ROWS}'`,
    );
  });

  it('are in no response to a change that PostgreSQL rejects because of them', async () => {
    await patch('name', { type: 'integer' });
    await patch('name', { type: 'uuid' });
    await patch('name', { type: 'json' });
    await patch('name', { schema: { max_length: 3 } });
    await patch('name', { schema: { is_unique: true } });
    await patch('day', { type: 'timestamp' });
    for (const backfill of [{ field: 'name' }, { expression: 'upper', field: 'name' }])
      await patch('short', { schema: { is_nullable: false }, backfill });
    const relation = await client('/relations', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ many_collection: 'secrets', many_field: 'owner', one_collection: 'others' }),
    });
    expect(relation.status, relation.text).to.equal(422);
    seen.push(relation.text);
    const checked = await online.diff(({ collections }) => {
      const schema = collections.find(({ collection }) => collection === 'secrets')?.schema;
      if (schema) schema.extras = { constraints: [{ name: 'short', definition: 'CHECK (length(name) < 3)' }] };
    });
    const refused = await client('/schema/apply', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(checked),
    });
    expect(refused.text).to.contain('check constraint');
    seen.push(refused.text);
  });

  it('are in no syntax error that PostgreSQL finds in them', async () => {
    await api.sql(`CREATE TABLE queries (text text); INSERT INTO queries VALUES ('${VALUE_OF_ROWS} '' ("')`);
    await api.ok('POST', '/schema/adopt', { tables: ['queries'] });
    for (const type of ['tsvector', 'tsquery', 'jsonpath']) {
      const checked = await online.diff(({ collections }) => {
        const schema = collections.find(({ collection }) => collection === 'queries')?.schema;
        const definition = `CHECK (((text::text)::${type}) IS NOT NULL)`;
        if (schema) schema.extras = { constraints: [{ name: 'readable', definition }] };
      });
      const refused = await client('/schema/apply', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(checked),
      });
      expect(refused.text).to.contain('SQLSTATE 42601').and.to.contain('add constraint readable to queries');
      seen.push(refused.text);
    }
  });

  it('are in no failed change request, online or scheduled', async () => {
    const unique = await online.open('PATCH', '/fields/secrets/name', { schema: { is_unique: true } });
    seen.push(JSON.stringify(await online.ended(unique.id, 'failed')));
    const filled = { schema: { is_nullable: false }, backfill: { field: 'name' } };
    const short = await online.open('PATCH', '/fields/secrets/short', filled);
    seen.push(JSON.stringify(await online.ended(short.id, 'failed')));
    const key = await online.open('POST', '/relations', {
      many_collection: 'secrets',
      many_field: 'owner',
      one_collection: 'others',
    });
    seen.push(JSON.stringify(await online.ended(key.id, 'failed')));
    const diff = await online.diff(({ fields }) => {
      const document = fields.find(({ collection, field }) => collection === 'secrets' && field === 'name');
      Object.assign(document ?? {}, { type: 'integer', schema: { is_nullable: true } });
    });
    const { data } = await api.ok<{ data: { id: string; plan: string } }>('POST', '/changes', { title: 'later', diff });
    await api.ok('POST', `/changes/${data.id}/apply`, { at: new Date(Date.now() + 500).toISOString() });
    await until('the scheduled change ends', async () => {
      const text = JSON.stringify(await api.ok('GET', `/changes/${data.id}`));
      if (!text.includes('"failed"')) return false;
      seen.push(text);
      return true;
    });
  });

  it('are in no drift repair', async () => {
    await api.ok('POST', '/collections', {
      collection: 'counted',
      schema: {},
      fields: [column('n', 'integer'), column('u', 'string', { is_unique: true })],
    });
    await api.sql(`ALTER TABLE counted ALTER n TYPE text; ALTER TABLE counted DROP CONSTRAINT counted_u_unique;
      INSERT INTO counted (n, u) VALUES ('${VALUE_OF_ROWS}', '${VALUE_OF_ROWS}'), ('${VALUE_OF_ROWS}', '${VALUE_OF_ROWS}')`);
    const ran = await dps(['drift', '--repair'], { DATABASE_URL: service.databaseUrl });
    expect(ran.out + ran.err).to.contain('counted');
    seen.push(ran.out, ran.err);
  });

  it('are in no dps output', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'dps-values-'));
    try {
      const diff = await online.diff(({ fields }) => {
        const day = fields.find(({ collection, field }) => collection === 'secrets' && field === 'day');
        Object.assign(day ?? {}, { type: 'date', schema: { is_nullable: true } });
      });
      await writeFile(join(directory, 'diff.json'), JSON.stringify(diff));
      const environment = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
      const applied = await dps(['apply', join(directory, 'diff.json'), '--yes'], environment);
      expect(applied.code, applied.err).not.to.equal(0);
      seen.push(applied.out, applied.err);
      for (const args of [['doctor'], ['status'], ['verify']]) {
        const ran = await dps(args, { DATABASE_URL: service.databaseUrl });
        seen.push(ran.out, ran.err);
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('are in no message of a function or trigger that raises them', async () => {
    await api.sql(`CREATE FUNCTION told(t text) RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no: %', t USING DETAIL = t, HINT = t, ERRCODE = '45000'; END $$`);
    const connectionString = service.databaseUrl;
    const pg = createClient({ connectionString, schema: 'public', serviceSchema: 'service' });
    await pg.connect();
    try {
      const error = await pg
        .query(`SELECT public.told('${VALUE_OF_ROWS}')`)
        .catch((reason: unknown) => reason as Error);
      expect(String((error as Error).message))
        .to.contain('told(text)')
        .and.to.contain('45000');
      seen.push(JSON.stringify(error), String((error as Error).stack));
      await api.sql(`CREATE FUNCTION ran(t text) RETURNS int LANGUAGE plpgsql AS 'BEGIN EXECUTE t; RETURN 1; END'`);
      for (const text of [VALUE_OF_ROWS, `SELECT "${VALUE_OF_ROWS}"`, `DROP TABLE "${VALUE_OF_ROWS}"`]) {
        const wrong = await pg.query('SELECT public.ran($1)', [text]).catch((reason: unknown) => reason as Error);
        expect(String((wrong as Error).message)).to.contain('ran(text)');
        seen.push(JSON.stringify(wrong), String((wrong as Error).stack));
      }
    } finally {
      await pg.end();
    }
  });

  it('are in no log line, metric or table of the service', async () => {
    const stored: string[] = [service.log(), (await client('/metrics')).text];
    const tables = await api.sql<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = 'service'::regnamespace AND relkind = 'r'`,
    );
    for (const { name } of tables) {
      for (const row of await api.sql<{ row: string }>(`SELECT t::text AS row FROM service.${name} t`))
        stored.push(row.row);
    }
    for (const text of [...seen, ...stored]) expect(text).not.to.contain(VALUE_OF_ROWS);
    expect(seen.length).to.be.greaterThan(15);
  });
});

describe('row values in materialized views', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' } });
  const create = (name: string, query: string) => {
    const definition = `CREATE MATERIALIZED VIEW ${name} AS ${query}`;
    const expected = { status: 422, code: 'DATABASE_REFUSED' };
    return api.refused(expected, 'POST', '/objects', { kind: 'materialized_view', definition });
  };

  before(async () => {
    await api.sql(`CREATE TABLE named (name text); INSERT INTO named VALUES ('${VALUE_OF_ROWS}')`);
    await api.sql(`CREATE FUNCTION executed(t text) RETURNS text LANGUAGE plpgsql AS
      $$ BEGIN PERFORM query_to_xml('SELECT "' || t || '"', true, true, ''); RETURN t; END $$`);
    await api.sql(`CREATE FUNCTION returned(t text) RETURNS text LANGUAGE plpgsql AS
      $$ BEGIN RETURN query_to_xml('SELECT "' || t || '"', true, true, ''); END $$`);
    await api.sql(`CREATE FUNCTION assigned(t text) RETURNS text LANGUAGE plpgsql AS
      $$ DECLARE x text := query_to_xml('SELECT "' || t || '"', true, true, ''); BEGIN RETURN x; END $$`);
  });

  for (const type of ['regclass', 'regproc', 'regtype', 'regrole', 'regnamespace', 'regconfig'])
    it(`are in no error about a missing ${type}`, async () => {
      const error = await create('found', `SELECT name::${type}::text AS name FROM public.named`);
      expect(JSON.stringify(error)).to.contain('SQLSTATE').and.not.contain(VALUE_OF_ROWS);
    });

  for (const [what, expression] of [
    ['operator', 'name::regoper::text'],
    ['table with too many qualifiers', "(name || '.b.c.d')::regclass::text"],
    ['setting', 'pg_catalog.current_setting(name)'],
    ['language', "pg_catalog.has_language_privilege(name, 'usage')"],
    ['sequence', "pg_catalog.pg_get_serial_sequence('public.named', name)"],
    ['extension', '(SELECT count(*) FROM pg_catalog.pg_extension_update_paths(name::name))'],
    ['cursor', "pg_catalog.cursor_to_xml(name::refcursor, 1, true, true, '')"],
    ['column', "pg_catalog.pg_get_object_address('table column', ARRAY['public', 'named', name], '{}')::text"],
    ['function', "pg_catalog.pg_get_object_address('function', ARRAY['public', name], '{}')::text"],
    ['type', "pg_catalog.pg_get_object_address('type', ARRAY[pg_catalog.replace(name, '-', '')], '{}')::text"],
    ['operator class', "pg_catalog.pg_get_object_address('operator class', ARRAY['btree', name], '{}')::text"],
    ['option', "pg_catalog.ts_headline('a', 'a'::tsquery, name)"],
    ['statement in a function', 'public.executed(name)'],
    ['statement that a function returns', 'public.returned(name)'],
    ['statement that a function assigns', 'public.assigned(name)'],
    ['statement', `pg_catalog.query_to_xml('SELECT "' || name || '"', true, true, '')`],
  ] as const)
    it(`are in no error about a missing ${what}`, async () => {
      const error = await create('found', `SELECT ${expression} AS name FROM public.named`);
      expect(JSON.stringify(error))
        .to.contain('SQLSTATE')
        .and.not.match(/zq.?marker/);
    });

  for (const [expression, message] of [
    [`'missing.table'::text::regclass::text`, 'schema "missing" does not exist'],
    [`pg_get_serial_sequence('public.named', 'lost')`, 'column "lost" of relation "named" does not exist'],
  ] as const)
    it(`are not suspected in the error: ${message}`, async () => {
      const error = await create('found', `SELECT ${expression} AS name FROM public.named`);
      expect(error.message).to.contain(message);
    });
});
