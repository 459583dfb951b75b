/** What a client reads, whole: one session over HTTP, each answer with its headers (`test/support/transcript.ts`). */
import { type Reply, json } from '../support/client.js';
import { createTranscript } from '../support/transcript.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

/** Of the transport, of the security policy (its own test) and of the moment. */
const NOT_SHOWN =
  /^(date|connection|keep-alive|content-length|transfer-encoding|x-request-id|etag|vary|access-control-.*|content-security-policy|cross-origin-.*|origin-agent-cluster|referrer-policy|strict-transport-security|x-(content-type|dns|download|frame|permitted|xss).*)$/;

/** JSON as people read it: what fits into a line stands in one. */
function shown(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= 120) return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Object.entries(value).map(([name, each]) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `;
    return key + shown(each, inner);
  });
  return `${open}\n${inLines(members, inner).join('\n')}\n${indent}${close}`;
}

/** Members one after the other, as many in a line as there is room for. */
function inLines(members: readonly string[], indent: string): string[] {
  const lines: string[] = [];
  members.forEach((member, index) => {
    const text = member + (index < members.length - 1 ? ',' : '');
    const last = lines.at(-1);
    const joins = last !== undefined && !`${last}${text}`.includes('\n') && last.length + text.length < 120;
    if (joins) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(indent + text);
  });
  return lines;
}

interface Asked {
  method?: string;
  body?: unknown;
  /** What stands for the body, where it was read before. */
  called?: string;
  text?: string;
  headers?: Record<string, string>;
  token?: string | null;
}

function sentLines({ headers = {}, body, called, text }: Asked): string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  if (body !== undefined) lines.push(called ?? shown(body));
  if (text !== undefined) lines.push(text);
  return lines;
}

function answerLines({ status, headers, json: document, text }: Reply): string[] {
  const told = [...headers].filter(([name]) => !NOT_SHOWN.test(name)).map((header) => header.join(': '));
  const lines = [
    `=> ${status}`,
    ...told.filter((header) => header !== 'content-type: application/json; charset=utf-8'),
  ];
  if (document !== undefined) lines.push(shown(document));
  else if (text !== '') lines.push(text.trimEnd());
  return lines;
}

describe('a session over HTTP', () => {
  const { client } = withService({ settings: { KEEP_DELETED: '7d' } });
  const session = createTranscript('http-session.txt');

  /** `GET /collections`, or with a body POST; written down with its answer. */
  async function ask(path: string, more: Asked = {}): Promise<Reply> {
    const { body, text, token } = more;
    const method = more.method ?? (body === undefined && text === undefined ? 'GET' : 'POST');
    const sent = body === undefined ? { body: text, headers: {} } : json(body);
    const headers = { ...sent.headers, ...more.headers };
    const reply = await client(path, {
      method,
      headers,
      ...(sent.body !== undefined && { body: sent.body }),
      ...(token !== undefined && { token }),
    });
    session.add([`${method} ${path}`, ...sentLines(more), ...answerLines(reply)].join('\n'));
    return reply;
  }

  it('tells who asks', async () => {
    await ask('/server/ping', { token: null });
    await ask('/server/info');
    await ask('/collections', { token: null });
    await ask('/collections', { token: 'none' });
    await ask('/auth/login', { body: { email: 'admin@example.com', password: 'wrong' }, token: null });
    await ask('/auth/login', { body: { email: 'admin@example.com' }, token: null });
    await ask('/auth/refresh', { body: { refresh_token: 'none' }, token: null });
    await ask('/users/me');
    await ask('/users');
    await ask('/users', { body: { email: 'one@example.com', role: 'reader', name: 'One' } });
    await ask('/users', { body: { email: 'one@example.com', role: 'king', other: 1 } });
    await ask('/users?limit=1&offset=1');
    await ask('/users/none');
    await ask('/sessions');
    await ask('/nothing');
    await ask('/collections', { method: 'PUT' });
    await ask('/collections', { text: '{', headers: { 'content-type': 'application/json' } });
    await ask('/collections', { text: 'a', headers: { 'content-type': 'text/plain' } });
    await ask('/collections', { text: 'a', headers: { 'content-type': 'application/json', 'content-encoding': 'x' } });
  });

  it('tells of collections and fields', async () => {
    const field = (name: string, type: string, more: object = {}) => ({
      field: name,
      type,
      meta: { interface: 'input' },
      schema: {},
      ...more,
    });
    await ask('/collections', { body: { collection: 'articles', schema: {}, fields: [field('title', 'string')] } });
    await ask('/collections', { body: { collection: 'articles', schema: {} } });
    await ask('/collections', { body: { collection: 'a'.repeat(64), schema: {}, other: true } });
    await ask('/collections', { body: { collection: 'authors', schema: {}, meta: { note: 'who writes', sort: 2 } } });
    await ask('/collections', { body: { collection: 'folder', schema: null } });
    await ask('/collections/articles');
    await ask('/collections/none');
    await ask('/collections/articles', { method: 'PATCH', body: { meta: { group: 'folder', icon: 'article' } } });
    await ask('/collections/articles', { method: 'PATCH', body: { meta: { group: 'none' } } });
    await ask('/fields/articles', { body: field('size', 'integer', { schema: { default_value: 3 } }) });
    await ask('/fields/articles', { body: field('author', 'integer') });
    await ask('/fields/articles', { body: field('size', 'number') });
    await ask('/fields/articles/size');
    await ask('/fields/articles/none');
    await ask('/fields/articles/size', { method: 'PATCH', body: { schema: { is_nullable: false, max_length: 'x' } } });
    await ask('/fields/articles/size', { method: 'PATCH', body: { schema: { is_nullable: false } } });
    await ask('/fields/articles/size?dry_run', { method: 'PATCH', body: { type: 'bigInteger' } });
    await ask('/relations', {
      body: {
        collection: 'articles',
        field: 'author',
        related_collection: 'authors',
        schema: { on_delete: 'CASCADE' },
      },
    });
    await ask('/relations', { body: { collection: 'articles', field: 'author', related_collection: 'none' } });
    await ask('/relations/articles/author');
    await ask('/relations');
    await ask('/fields/articles/title/rename', { body: { name: 'headline' } });
    await ask('/fields/articles/title/rename', { body: { to: 'headline' } });
    await ask('/collections/articles/table');
    await ask('/collections/authors', { method: 'DELETE' });
    await ask('/fields/articles/headline', { method: 'DELETE' });
    await ask('/trash');
    await ask('/fields/articles');
  });

  it('tells of the schema', async () => {
    await ask('/schema/snapshot');
    await ask('/schema/snapshot?export=yaml&include=authors');
    await ask('/schema/snapshot?export=xml&include=folder');
    await ask('/schema/snapshot?export=csv&include=folder');
    await ask('/schema/snapshot?export=pdf');
    const snapshot = (await client('/schema/snapshot')).json as { fields: { field: string }[] };
    const wanted = { ...snapshot, fields: snapshot.fields.filter(({ field }) => field !== 'size') };
    const { json: diff } = await ask('/schema/diff', { body: wanted, called: '(the snapshot without articles.size)' });
    await ask('/schema/diff', { body: snapshot, called: '(the snapshot)' });
    await ask('/schema/diff', { body: { version: 2 } });
    await ask('/schema/apply?explain', { body: diff, called: '(the diff)' });
    await ask('/schema/apply?dry_run', { body: diff, called: '(the diff)' });
    await ask('/schema/apply', { body: diff, called: '(the diff)', headers: { 'x-change-reason': 'tidying' } });
    await ask('/schema/apply', { body: diff, called: '(the diff)' });
    await ask('/schema/merge', {
      body: { snapshot: wanted, base: 'none' },
      called: '(the snapshot without articles.size, and a base that is none)',
    });
    await ask('/schema/drift');
    await ask('/schema/adopt?dry_run', { body: { tables: ['none'] } });
    await ask('/schema/types?lang=zod');
    await ask('/schema/types?lang=cobol');
  });

  it('tells of the history', async () => {
    await ask('/history/events?limit=2');
    await ask('/history/events?after=2&limit=1&type=collection.created');
    await ask('/history/events?limit=0');
    await ask('/history/events/1');
    await ask('/history/events/99');
    await ask('/history/batches?limit=2');
    await ask('/history/batches?q=tidy');
    await ask('/history/changes?limit=1');
    await ask('/history/collections/authors');
    await ask('/history/diff?from=3&to=4');
    await ask('/history/diff?from=4&to=none');
    await ask('/history/snapshot?at=1');
    await ask('/history/verify');
    await ask('/history/checkpoint');
    // What is built after its commit follows when it comes to it.
    await until('the projections have followed', async () => {
      const { data } = (await client('/projections')).json as { data: { lag: number }[] };
      return data.every(({ lag }) => lag === 0);
    });
    await ask('/projections');
    await ask('/projections/verify');
    await ask('/projections/none/rebuild', { method: 'POST' });
    await ask('/policy');
    await ask('/policy', { method: 'PUT', body: { approvals: -1 } });
    await ask('/policy', { method: 'PUT', body: { findings: { LOSES_DATA: 'approve' }, approvals: 2 } });
    await ask('/collections/articles', { method: 'DELETE' });
    await ask('/changes');
    await ask('/changes/none');
    await ask('/server/doctor');
    await ask('/server/live', { token: null });
    await ask('/server/ready', { token: null });
  });

  it('has said what it always says', () => session.expectAsBefore());
});
