/** The history of one service, created through its API. It contains every event type with every version and member. */
import { type Api } from '../../test/support/api.js';
import { clientOf, json } from '../../test/support/client.js';
import { Browser, type OpenIdProvider } from '../../test/support/openid-provider.js';
import { startService } from '../../test/support/service.js';
import { until } from '../../test/support/until.js';
import { cutOff } from '../../test/support/tamper.js';
import { writeRequests } from './agreed.js';
import { writeEnvironments, writeWebhooks } from './settings.js';
import { BY_HAND, NEWER, NOT_REPRESENTED, TABLES } from './tables.js';
import { COLLECTIONS, FIELDS, RELATIONS } from './documents.js';

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** HTTP requests and their reasons. */
interface Living {
  api: Api;
  /** The admin's access token. */
  session: string;
  /** The address of the service. */
  url: string;
  databaseUrl: string;
  provider: OpenIdProvider;
}

/** @throws if a request is rejected */
export async function writeHistory(living: Living): Promise<void> {
  await create(living);
  await adopt(living);
  await change(living);
  await apply(living);
  await objects(living);
  await acceptDrift(living);
  await comparisons(living);
  await rename(living);
  await remove(living);
  await trash(living);
  await lostTrash(living);
  await online(living);
  await writeRequests(living.api, [living.session, await signInWithProvider(living)]);
  await accounts(living);
  await exchanges(living);
  await writeWebhooks(living);
  await writeEnvironments(living);
  await loseTheEnd(living);
}

/** Every event about users, API tokens and identities, with every member and choice. */
async function accounts({ api, url, provider }: Living): Promise<void> {
  interface Made {
    data: { id: string };
  }
  const password = 'correct horse battery';
  const body = { email: 'ada@example.com', role: 'reader', password };
  const { id } = (await api.ok<Made>('POST', '/users', body)).data;
  const path = `/users/${id}`;
  await api.ok('PATCH', path, { email: 'lovelace@example.com', name: 'Ada', role: 'author', status: 'suspended' });
  await api.ok('PATCH', path, { password: null });
  await api.ok('PATCH', path, { password: `${password} 2`, status: 'active' });
  const scope = { actions: ['read', 'propose'], collections: ['shop_*'], networks: ['10.0.0.0/8', '::1'] };
  const token = (await api.ok<Made>('POST', `${path}/tokens`, { expires_at: '2030-01-01T00:00:00Z', scope })).data;
  await api.ok('DELETE', `${path}/tokens/${token.id}`);
  await linkIdentity(url, provider, { email: 'lovelace@example.com', password: `${password} 2` });
  const [identity] = (await api.ok<{ data: { id: string }[] }>('GET', `${path}/identities`)).data;
  await api.ok('DELETE', `${path}/identities/${identity?.id}`);
  await api.ok('DELETE', path);
  await erased(api);
}

/** Trust rules with every member, and an API token that was exchanged under one. */
async function exchanges({ api, provider }: Living): Promise<void> {
  const rule = {
    name: 'deploy',
    issuer: provider.issuer,
    audience: 'https://dps.example.com',
    claims: { sub: 'repo:shop/schema:*', protected: 'true' },
    scope: { role: 'author', actions: ['read', 'propose'], collections: ['shop_*'], networks: ['127.0.0.0/8', '::1'] },
  };
  const put = (...rules: object[]) => api.ok('PUT', '/auth/trust', { rules });
  await put(rule);
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: rule.issuer, aud: rule.audience, sub: 'repo:shop/schema:main', protected: true };
  await api.ok('POST', '/auth/exchange', { token: await provider.signed({ ...claims, iat, exp: iat + 300 }) });
  await put();
}

/** An event whose personal data is erased, and the event that names it. */
async function erased(api: Living['api']): Promise<void> {
  const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', {
    email: 'eve@example.com',
    role: 'admin',
  });
  const path = `/users/${data.id}`;
  const { data: created } = await api.ok<{ data: { token: string } }>('POST', `${path}/tokens`, {});
  const request = { ...json({ name: 'Eve' }, 'PATCH'), token: created.token };
  const { status, text } = await api.client(path, request);
  if (status !== 200) throw new Error(text);
  await api.ok('DELETE', `${path}?erase`);
}

/** @returns the access token of an admin whom the provider names */
async function signInWithProvider({ url, provider }: Living): Promise<string> {
  provider.person = { sub: 'grace', email: 'grace@example.com', groups: ['admins'] };
  const browser = new Browser();
  await browser.follow(`${url}/auth/oidc/login`, ({ pathname }) => pathname === '/app');
  const refreshed = await browser.request(`${url}/auth/refresh`, { method: 'POST', ...json({ mode: 'cookie' }) });
  return ((await refreshed.json()) as { data: { access_token: string } }).data.access_token;
}

async function linkIdentity(
  url: string,
  provider: OpenIdProvider,
  login: { email: string; password: string },
): Promise<void> {
  provider.person = { sub: 'ada', email: login.email, groups: ['authors'] };
  const browser = new Browser();
  await browser.follow(`${url}/auth/oidc/login`, ({ pathname }) => pathname === '/app');
  const linked = await browser.request(`${url}/auth/oidc/link`, { method: 'POST', ...json(login) });
  if (linked.status !== 200) throw new Error(await linked.text());
}

/** Every event about objects. The rename of a field rewrites a view. */
async function objects({ api }: Living): Promise<void> {
  const fields = ['name', 'city'].map((field) => ({ field, type: 'string', interface: 'input' }));
  await api.ok('POST', '/collections', { collection: 'guests', schema: {}, fields });
  const definition = 'CREATE VIEW guest_names AS SELECT id, name FROM guests';
  await api.ok('POST', '/objects', { kind: 'view', definition, comment: 'Names alone' });
  await api.ok('POST', '/objects', {
    kind: 'materialized_view',
    definition: 'CREATE MATERIALIZED VIEW cities AS SELECT city, count(*) AS guests FROM guests GROUP BY city',
    indexes: [
      { name: 'cities_city', unique: true, definition: 'USING btree (city)' },
      { name: 'cities_guests', definition: 'USING btree (guests)' },
    ],
  });
  await api.ok('PATCH', '/objects/materialized_view/cities', {
    indexes: [{ name: 'cities_city', definition: 'USING btree (city)' }],
  });
  await api.ok('PATCH', '/objects/materialized_view/cities', {
    comment: 'Where guests live',
    indexes: [{ name: 'cities_city', unique: true, definition: 'USING btree (city)' }],
  });
  await api.ok('POST', '/fields/guests/name/rename', { to: 'full_name' });
  await api.ok('POST', '/objects/view/guest_names/rename', { to: 'names_of_guests' });
  await api.ok('DELETE', '/objects/view/names_of_guests');
  const total = 'CREATE FUNCTION total(price numeric, count integer) RETURNS numeric RETURN price * count';
  await api.ok('POST', '/objects', { kind: 'function', definition: total, comment: 'Before taxes' });
  await api.ok('POST', '/objects', {
    kind: 'procedure',
    definition: 'CREATE PROCEDURE tidy() BEGIN ATOMIC SELECT 1; END',
  });
  await api.ok('POST', '/objects', {
    kind: 'aggregate',
    definition: `CREATE AGGREGATE longest(text ORDER BY text) (SFUNC = array_append, STYPE = text[], INITCOND = '{}')`,
    comment: 'All texts',
  });
  await api.ok('POST', '/objects/aggregate/longest(text,%20text)/rename', { to: 'texts' });
  await api.ok('PATCH', '/objects/aggregate/texts(text,%20text)', {
    definition: `CREATE AGGREGATE texts(text ORDER BY text) (SFUNC = array_append, STYPE = text[], INITCOND = '{"none"}')`,
  });
  await api.ok('POST', '/objects', {
    kind: 'function',
    definition: 'CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
  });
  for (const enabled of ['origin', 'disabled', 'replica', 'always'])
    await api.ok('POST', '/objects', {
      kind: 'trigger',
      definition: `CREATE TRIGGER stamp_${enabled} BEFORE UPDATE OF city ON guests FOR EACH ROW EXECUTE FUNCTION stamp()`,
      enabled,
    });
  await api.ok('PATCH', '/objects/trigger/stamp_always%20on%20guests', { enabled: 'disabled' });
  await api.ok('POST', '/objects', {
    kind: 'policy',
    definition: `CREATE POLICY own ON guests AS RESTRICTIVE FOR SELECT TO pg_monitor USING (city <> '')`,
    comment: 'Guests with a city',
  });
  await api.ok('POST', '/objects', {
    kind: 'row_security',
    definition: 'ALTER TABLE guests ENABLE ROW LEVEL SECURITY',
  });
  await api.ok('PATCH', '/objects/row_security/guests', {
    definition: 'ALTER TABLE guests ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
  });
  await api.ok('POST', '/objects', {
    kind: 'statistics',
    definition: 'CREATE STATISTICS guest_city (mcv) ON city, id FROM guests',
    comment: 'Cities of guests',
  });
  await api.ok('PATCH', '/objects/statistics/guest_city', {
    definition: 'CREATE STATISTICS guest_city ON (lower(city)) FROM guests',
  });
  await api.ok('POST', '/objects', {
    kind: 'rule',
    definition: `CREATE RULE keep AS ON DELETE TO guests WHERE old.city <> '' DO INSTEAD NOTHING`,
    comment: 'Guests with a city',
    enabled: 'replica',
  });
  await api.ok('PATCH', '/objects/rule/keep%20on%20guests', {
    definition: `CREATE RULE keep AS ON DELETE TO guests DO ALSO UPDATE guests SET city = old.city WHERE false`,
    enabled: 'disabled',
  });
  await api.ok('POST', '/objects', {
    kind: 'privileges',
    id: 'pg_monitor on guests',
    definition: [
      { name: 'SELECT', columns: ['city', 'id'] },
      { name: 'DELETE', grantable: true },
    ],
  });
  await api.ok('PATCH', '/objects/privileges/pg_monitor%20on%20guests', {
    definition: [{ name: 'SELECT', columns: ['city'], grantable: true }],
  });
  await api.ok('POST', '/objects', {
    kind: 'table_options',
    definition: 'ALTER TABLE guests SET (fillfactor = 70), REPLICA IDENTITY FULL',
  });
  await api.ok('POST', '/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE bookings START WITH 1000' });
  await api.ok('POST', '/objects', { kind: 'type', definition: "CREATE TYPE meal AS ENUM ('breakfast', 'dinner')" });
  await api.sql(`COMMENT ON MATERIALIZED VIEW cities IS 'By hand'; CREATE VIEW by_hand AS SELECT city FROM guests`);
  await api.ok('POST', '/schema/drift/accept', { objects: [{ kind: 'materialized_view', id: 'cities' }] });
  await api.ok('POST', '/schema/adopt', { objects: [{ kind: 'view', id: 'by_hand' }] });
  await api.sql('DROP VIEW by_hand');
  await api.ok('POST', '/schema/drift/accept', {});
}

/** A change with a reason and a trace. */
async function explained({ api }: Living, path: string, body: unknown, reason: string): Promise<void> {
  const reply = await api.client(path, {
    method: 'PATCH',
    headers: {
      'content-type': 'application/json',
      // The bytes of a header in UTF-8.
      'x-reason': Buffer.from(reason).toString('latin1'),
      'user-agent': 'a "client" of 0.1.0',
      traceparent: TRACEPARENT,
    },
    body: JSON.stringify(body),
  });
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.text}`);
}

async function create({ api }: Living): Promise<void> {
  for (const collection of COLLECTIONS) await api.ok('POST', '/collections', collection);
  await api.ok('POST', '/collections?concurrentIndexCreation', {
    collection: 'searched',
    schema: {},
    fields: [{ field: 'term', type: 'string', interface: 'input', schema: { is_indexed: true } }],
  });
  for (const [collection, field] of FIELDS) await api.ok('POST', `/fields/${collection}`, field);
  await api.ok('POST', '/fields/articles?concurrentIndexCreation', {
    field: 'slug',
    type: 'string',
    interface: 'input',
    schema: { is_unique: true, is_indexed: true },
    backfill: { expression: 'upper', field: 'title' },
  });
  for (const relation of RELATIONS) await api.ok('POST', '/relations', relation);
}

async function adopt({ api }: Living): Promise<void> {
  await api.sql(TABLES);
  await api.ok('POST', '/schema/adopt', { tables: ['lines'] });
  // Types that are not adopted are needs of the tables. The next adoption makes them objects.
  const { adopted } = await api.ok<{ adopted: string[] }>('POST', '/schema/adopt?dry_run', { all: true });
  await api.ok('POST', '/schema/adopt', { tables: adopted });
  await api.sql(NOT_REPRESENTED);
  await api.sql(NEWER);
  await api.ok('POST', '/schema/adopt', { all: true });
}

async function change(living: Living): Promise<void> {
  const { api } = living;
  const reason = 'because “it” said so; -- \'quoted\', "twice", 理由 🎉';
  await explained(living, '/collections/articles', { meta: { note: 'a note', icon: 'article' } }, reason);
  await explained(living, '/fields/articles/words', { meta: { note: 'x'.repeat(4_000) } }, 'a large value');
  await api.ok('PATCH', '/collections', [
    { collection: 'articles', meta: { sort: 2, color: '#fff', archive_field: 'status', archive_value: 'a"b' } },
    { collection: 'comments', meta: { sort: 1, group: 'ordner' } },
  ]);
  await api.ok('PATCH', '/collections/articles', { meta: { archive_field: null } });
  await api.ok('PATCH', '/fields/articles/words?concurrentIndexCreation', {
    schema: { is_indexed: true },
    backfill: { value: 0 },
  });
  await api.ok('PATCH', '/fields/articles/words', {
    type: 'bigInteger',
    schema: { default_value: '9007199254740993' },
  });
  await api.ok('PATCH', '/fields/articles', [
    { field: 'title', meta: { sort: 1, width: 'half-right' }, schema: { max_length: 300, is_nullable: false } },
    {
      field: 'body',
      meta: { sort: 2, conditions: [{ name: 'c', rule: { title: { _null: true } }, hidden: true }] },
      backfill: { expression: 'trim', field: 'status' },
    },
  ]);
  await api.ok('PATCH', '/fields/articles/title', {
    meta: { conditions: null, options: { deep: [[[{ a: [1.5, -0, 1e21] }]]] } },
  });
  await api.ok('PATCH', `/fields/${encodeURIComponent('Bücher "1"')}`, [
    { field: 'when', meta: { sort: 30 }, backfill: { expression: 'now' } },
    { field: 'status', meta: { sort: 31 }, backfill: { field: 'titel' } },
    { field: 'key', meta: { sort: 32 }, backfill: { expression: 'gen_random_uuid' } },
  ]);
  await api.ok('PATCH', '/relations/comments/article', { schema: { on_delete: 'SET DEFAULT', on_update: 'CASCADE' } });
  await api.ok('PATCH', '/relations/articles/parent', { schema: null });
  await api.ok('PATCH', '/relations/anything/item', { meta: { one_allowed_collections: ['articles', 'Bücher "1"'] } });
}

interface Snapshot {
  collections: { collection: string; schema: { extras?: object } | null }[];
  fields: { collection: string; field: string; schema: { extras?: object } | null }[];
}

/** Adopts extras through a snapshot that adoption skipped. */
async function apply({ api }: Living): Promise<void> {
  const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
  const key = snapshot.fields.find((field) => field.collection === 'counters' && field.field === 'third');
  const pairs = snapshot.collections.find(({ collection }) => collection === 'pairs');
  if (!key?.schema || !pairs?.schema) throw new Error('the snapshot lacks what was adopted');
  key.schema.extras = { ...key.schema.extras, sequence: { type: 'bigint', increment: '3', cache: '7' } };
  const indexes = [{ name: 'either "or"', definition: 'USING btree (a) WHERE (b > 1)' }];
  pairs.schema.extras = { ...pairs.schema.extras, indexes };
  snapshot.collections.push({
    collection: 'promoted',
    schema: { extras: { constraints: [{ name: 'c', definition: 'CHECK ((n > 1))' }] } },
  });
  snapshot.fields.push({ collection: 'promoted', field: 'n', type: 'integer', schema: {} } as never);
  await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));
}

async function acceptDrift({ api }: Living): Promise<void> {
  await api.sql(BY_HAND);
  await api.ok('POST', '/schema/drift/accept', { collections: ['doomed'] });
  await api.ok('POST', '/schema/drift/accept', {});
}

/** Every event of scheduled comparisons, with every member. Only a second service compares. */
async function comparisons({ api, databaseUrl }: Living): Promise<void> {
  const second = await startService({
    DATABASE_URL: databaseUrl,
    DB_SCHEMAS: 'public,billing',
    OBJECTS: 'on',
    VERIFY_EVERY: '1s',
  });
  const recorded = (type: string): Promise<void> =>
    until(`${type} was recorded`, async () => {
      const { data } = await api.ok<{ data: { type: string }[] }>('GET', '/history/events?order=desc&limit=1');
      return data[0]?.type === type;
    });
  try {
    await api.sql(
      `BEGIN; ALTER TABLE guests ALTER city SET NOT NULL; COMMENT ON MATERIALIZED VIEW cities IS 'Changed'; COMMIT`,
    );
    await recorded('drift.found');
    await api.sql(
      `BEGIN; ALTER TABLE guests ALTER city DROP NOT NULL; COMMENT ON MATERIALIZED VIEW cities IS 'By hand'; COMMIT`,
    );
    await recorded('drift.resolved');
    await api.sql(`DELETE FROM service.service_fields WHERE collection = 'guests'`);
    await recorded('verification.failed');
    await api.ok('POST', '/projections/metadata/rebuild');
    await recorded('verification.passed');
  } finally {
    await second.stop();
  }
}

/** Restores the original names, because later steps use them. */
async function rename({ api }: Living): Promise<void> {
  const rename = async (path: string, to: string) => api.ok('POST', `${path}/rename`, { to });
  await rename('/collections/articles', 'Artikel "幸せ"');
  await rename(`/collections/${encodeURIComponent('Artikel "幸せ"')}`, 'articles');
  await rename('/collections/comments', 'remarks');
  await rename('/fields/remarks/article', 'on');
  await rename('/fields/articles/title', 'headline');
  await rename('/fields/articles/headline', 'title');
  await rename(`/fields/${encodeURIComponent('Bücher "1"')}/preis`, 'Preis');
  await rename('/fields/articles/comments', 'remarks');
  await rename('/fields/articles/remarks', 'comments');
  await api.sql('CREATE TABLE headings (level integer, words text); CREATE TABLE subheadings () INHERITS (headings)');
  await api.ok('POST', '/schema/adopt', { tables: ['headings', 'subheadings'] });
  await api.ok('POST', '/fields/headings/words/rename', { to: 'phrase' });
}

async function remove({ api }: Living): Promise<void> {
  // Defaults of objects in the trash still use their functions.
  for (const collection of ['newest_lines', 'newer_lines', 'newer', 'noisy?purge']) {
    await api.ok('DELETE', `/collections/${collection}`);
  }
  await api.ok('DELETE', '/objects/function/shout%28text%29');
  await api.ok('DELETE', '/relations/articles/parent');
  await api.ok('DELETE', '/fields/articles/body');
  await api.ok('DELETE', '/collections/promoted');
}

/** Deleted, restored and purged, both manually and by expiry. */
async function trash(living: Living): Promise<void> {
  const { api } = living;
  const position = async (): Promise<number> => {
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    return data[0]?.position ?? 0;
  };
  const column = (field: string, type: string) => ({ field, type, interface: 'input' });
  await api.ok('POST', '/collections', { collection: 'boxes', schema: {} });
  const fields = [column('box', 'integer'), column('other', 'integer')];
  await api.ok('POST', '/collections', { collection: 'things', schema: {}, fields });
  const alias = { field: 'things', type: 'alias', interface: 'list', schema: null, meta: { special: ['o2m'] } };
  await api.ok('POST', '/fields/boxes', alias);
  const relation = { many_collection: 'things', many_field: 'box', one_collection: 'boxes', one_field: 'things' };
  await api.ok('POST', '/relations', relation);
  await api.sql('CREATE PUBLICATION everything FOR TABLE things');
  await api.sql('ALTER TABLE things ADD CONSTRAINT "by hand" FOREIGN KEY (other) REFERENCES boxes');
  await api.ok('DELETE', '/collections/things');
  await api.ok('POST', `/trash/${await position()}/restore`, { as: 'Dinge', without: [] });
  await api.ok('DELETE', '/collections/Dinge');
  await api.ok('DELETE', `/trash/${await position()}`);
  await expiring(living, '/collections/boxes');
}

/** Deletes an object on a process with a short retention, and waits until it is purged. */
async function expiring({ api, databaseUrl }: Living, path: string): Promise<void> {
  const other = await startService({ DATABASE_URL: databaseUrl, DB_SCHEMAS: 'public,billing', KEEP_DELETED: '1s' });
  try {
    const { status, headers, text } = await clientOf(other)(path, { method: 'DELETE' });
    if (status !== 204) throw new Error(text);
    const position = Number(headers.get('x-log-position'));
    await until('it is purged', async () => (await api.client(`/trash/${position}`)).status === 404);
  } finally {
    await other.stop();
  }
}

/** Restores objects without data, as in a database that was recreated from its log. */
async function lostTrash({ api }: Living): Promise<void> {
  const fields = [{ field: 'size', type: 'integer', interface: 'input' }];
  await api.ok('POST', '/collections', { collection: 'crates', schema: {}, fields });
  for (const path of ['/fields/crates/size', '/collections/crates']) {
    await api.ok('DELETE', path);
    const { data } = await api.ok<{ data: { position: number; kept_in: number | null }[] }>('GET', '/trash');
    const { position, kept_in } = data[0] ?? {};
    await api.sql(
      kept_in == null ? `DROP SCHEMA service_trash_${position} CASCADE` : `DROP TABLE service_trash_s${kept_in}.crates`,
    );
    await api.sql('DELETE FROM service.service_trash WHERE position = $1', [position]);
    await api.ok('POST', `/trash/${position}/restore`);
  }
}

/** Changes to a large table: applied, failed, and withdrawn while waiting. */
async function online({ api }: Living): Promise<void> {
  const column = (field: string, type: string) => ({ field, type, interface: 'input' });
  await api.ok('POST', '/collections', {
    collection: 'Große',
    schema: {},
    fields: [column('text', 'string'), column('number', 'integer')],
  });
  await api.sql(`INSERT INTO "Große" (text, number) SELECT repeat('x', 220), i / 2 FROM generate_series(1, 50000) i`);
  await api.sql('ANALYZE "Große"');
  const path = (field: string): string => `/fields/${encodeURIComponent('Große')}/${field}?online`;
  const ask = async (to: string, body: object, method = 'PATCH'): Promise<string> =>
    (await api.ok<{ data: { id: string } }>(method, to, body)).data.id;
  const end = (id: string): Promise<void> =>
    until('it has ended', async () => {
      const { data } = await api.ok<{ data: { state: string; cleaning: boolean } }>('GET', `/changes/${id}`);
      return ['applied', 'failed', 'withdrawn'].includes(data.state) && !data.cleaning;
    });
  const applied = await ask(path('text'), { schema: { is_nullable: false } });
  await api.ok('POST', `/changes/${await ask(path('number'), { schema: { is_nullable: false } })}/withdraw`);
  await end(applied);
  await end(await ask(path('number'), { schema: { is_unique: true } }));
  const indexes = [{ name: 'both', definition: 'USING btree (text, number)' }];
  const snapshot = await api.ok<{ collections: { collection: string; schema: object }[] }>('GET', '/schema/snapshot');
  const document = snapshot.collections.find(({ collection }) => collection === 'Große');
  Object.assign(document?.schema ?? {}, { extras: { indexes } });
  const diff = await api.ok<object>('POST', '/schema/diff', snapshot);
  await end(await ask('/schema/apply?online', diff, 'POST'));
  await api.ok('DELETE', `/collections/${encodeURIComponent('Große')}?purge`);
}

/** Simulates a failover that lost the last event. That event changed only metadata, so the tables still match. */
async function loseTheEnd({ api, databaseUrl }: Living): Promise<void> {
  await api.ok('PATCH', '/collections/articles', { meta: { note: 'lost' } });
  await cutOff(databaseUrl, 1);
  // A divergence whose position is unknown.
  await api.sql(`INSERT INTO service.service_divergences (seen_position, seen_hash, found_position, found_hash)
    SELECT 900, repeat('9', 64), position, hash FROM service.service_events ORDER BY position DESC LIMIT 1`);
  await api.client('/history/acknowledge', { method: 'POST', headers: { 'x-reason': 'a failover' } });
  await api.ok('POST', '/projections/metadata/rebuild');
  await api.ok('PATCH', '/collections/articles', { meta: { note: 'after the failover' } });
}
