/** A service with realistic data: a schema, rows, several users, a history, a trash, drift. */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { Service } from '../../bench/servers.js';

export const SCHEMA_FILE = 'student-association-11.1.2.yaml';

export interface Furnished {
  databaseUrl: string;
  /** Credentials of the admin. */
  email: string;
  password: string;
  /** The change request with comments. */
  proposal: string;
  /** Sends a request as the admin. */
  call: Call;
}

interface FurnishTarget {
  service: Service;
  databaseUrl: string;
  schema: string;
}

type Call = (method: string, path: string, body?: unknown, reason?: string) => Promise<unknown>;

const PASSWORD = 'correct horse battery';

const PEOPLE = [
  { name: 'Mara Lindqvist', email: 'mara@example.com', role: 'admin' },
  { name: 'Jonas Keller', email: 'jonas@example.com', role: 'admin' },
  { name: 'Aïcha Benali', email: 'aicha@example.com', role: 'auditor' },
  { name: 'website', email: 'website@example.com', role: 'reader' },
];

export async function furnish({ service, databaseUrl, schema }: FurnishTarget): Promise<Furnished> {
  const text = readFileSync(schema, 'utf8');
  const [mara, jonas] = (await people(service)) as [Call, Call];
  await applyFile(service, text);
  await rows(databaseUrl);
  await history(mara, jonas);
  await policy(mara);
  const proposal = await openProposal(jonas, mara);
  await byHand(databaseUrl);
  return { databaseUrl, email: 'mara@example.com', password: PASSWORD, proposal, call: mara };
}

/** Sends requests as the other users. */
async function people(service: Service): Promise<Call[]> {
  const calls: Call[] = [];
  for (const person of PEOPLE) {
    const { data: user } = await service.call<{ data: { id: string } }>('POST', '/users', {
      ...person,
      password: PASSWORD,
    });
    const created = await service.call<{ data: { token: string } }>('POST', `/users/${user.id}/tokens`, {
      name: person.role === 'reader' ? 'build of the site' : 'laptop',
    });
    calls.push(callAs(service.url, created.data.token));
  }
  return calls;
}

function callAs(url: string, token: string): Call {
  return async (method, path, body, reason) => {
    const answer = await fetch(url + path, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        ...(reason !== undefined && { 'X-Reason': reason }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 400)}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
}

async function applyFile({ url, headers }: Service, text: string): Promise<void> {
  const yaml = { ...headers, 'Content-Type': 'application/yaml' };
  const diff = await fetch(`${url}/schema/diff?force`, { method: 'POST', headers: yaml, body: text });
  const result = (await diff.json()) as { hash: string; diff: unknown };
  const answer = await fetch(`${url}/schema/apply`, {
    method: 'POST',
    headers: { ...headers, 'X-Reason': 'The schema of the association, from its old instance' },
    body: JSON.stringify({ hash: result.hash, diff: result.diff }),
  });
  if (!answer.ok) throw new Error(`apply: ${answer.status} ${(await answer.text()).slice(0, 400)}`);
}

/** So that PostgreSQL has statistics on the tables' sizes. */
async function rows(databaseUrl: string): Promise<void> {
  await sql(
    databaseUrl,
    `INSERT INTO partner_category DEFAULT VALUES`,
    `INSERT INTO partners (name, link) SELECT 'Partner ' || i, 'https://example.com/' || i FROM generate_series(1, 180) i`,
    `INSERT INTO news (slug, status, date_created) SELECT 'news-' || i, 'published', now() - i * interval '9 hours' FROM generate_series(1, 2400) i`,
    `ANALYZE`,
  );
}

async function history(mara: Call, jonas: Call): Promise<void> {
  await mara('PATCH', '/fields/news/slug', { schema: { is_indexed: true } }, 'Pages are looked up by it');
  await jonas(
    'POST',
    '/fields/news',
    { field: 'reading_minutes', type: 'integer', interface: 'input', schema: {} },
    'Shown under the title',
  );
  await jonas(
    'PATCH',
    '/collections/news',
    { meta: { note: 'What is new, in both languages' } },
    'Editors asked what it is for',
  );
  await mara(
    'PATCH',
    '/fields/partners/name',
    { schema: { is_nullable: false } },
    'A partner without a name is a mistake',
  );
  await mara(
    'POST',
    '/collections',
    {
      collection: 'sponsors',
      schema: {},
      meta: { icon: 'handshake', color: '#0CA678', group: 'partners' },
      fields: [
        { field: 'name', type: 'string', interface: 'input', schema: {} },
        { field: 'since', type: 'date', interface: 'datetime', schema: {} },
      ],
    },
    'Sponsors pay, partners do not',
  );
  await jonas('POST', '/fields/news/reading_minutes/rename', { to: 'minutes' }, 'Shorter');
  await jonas('DELETE', '/fields/partners/link', undefined, 'Moved to the social links');
  await mara('DELETE', '/collections/sponsors', undefined, 'Not before the general assembly');
}

interface Snapshot {
  fields: {
    collection: string;
    field: string;
    schema: { is_nullable: boolean } | null;
    meta: { note: string | null };
  }[];
}

/**
 * Opens a change request with comments.
 * @returns its id
 */
async function openProposal(jonas: Call, mara: Call): Promise<string> {
  const snapshot = (await jonas('GET', '/schema/snapshot')) as Snapshot;
  const own = (collection: string, field: string) =>
    snapshot.fields.find((each) => each.collection === collection && each.field === field);
  const slug = own('news', 'slug');
  if (slug?.schema) slug.schema.is_nullable = false;
  const title = own('news_translations', 'title');
  if (title !== undefined) title.meta.note = 'Short: it is also the title of the page';
  snapshot.fields = snapshot.fields.filter((each) => each !== own('news', 'video_link'));
  const opened = await jonas(
    'POST',
    '/changes',
    { title: 'News without videos, found by their slug', snapshot },
    'The videos have moved to the channel',
  );
  const { id } = (opened as { data: { id: string } }).data;
  await mara('POST', `/changes/${id}/comment`, { comment: 'Are all of the old links on the channel by now?' });
  await jonas('POST', `/changes/${id}/comment`, { comment: 'All but two of 2021, which nobody misses.' });
  return id;
}

/** A policy with direct changes for some findings. */
async function policy(mara: Call): Promise<void> {
  await mara(
    'PUT',
    '/policy',
    {
      findings: { REWRITES_TABLE: 'acknowledge', NO_PRIMARY_KEY: 'refuse' },
      collections: [{ pattern: 'members*', findings: { LOSES_DATA: 'approve' } }],
      online_above_rows: 100_000,
    },
    'After the lost registrations of last year',
  );
}

/** Changes the database directly, so that Operations shows drift. */
async function byHand(databaseUrl: string): Promise<void> {
  await sql(
    databaseUrl,
    `CREATE VIEW published_news AS SELECT id, slug, date_created FROM news WHERE status = 'published'`,
    `ALTER TABLE news ALTER COLUMN video_link TYPE text`,
    `CREATE TABLE newsletter (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, email text NOT NULL UNIQUE)`,
    `CREATE TABLE newsletter_issues (id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, newsletter integer REFERENCES newsletter (id), sent_at timestamptz)`,
    `CREATE TABLE legacy_payments (id bigint PRIMARY KEY, amount numeric(10, 2) NOT NULL CHECK (amount > 0))`,
  );
}

async function sql(databaseUrl: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
