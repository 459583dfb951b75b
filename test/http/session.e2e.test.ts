/** One session over HTTP, each response with its headers (`test/support/session.ts`). */
import { createSession } from '../support/session.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

describe('a session over HTTP', () => {
  const { client } = withService({ settings: { KEEP_DELETED: '7d' } });
  const session = createSession('http-session.txt', client);
  const { ask } = session;

  it('responds to logins and to invalid credentials as recorded in the transcript', async () => {
    await ask('/server/ping', { token: null });
    await ask('/server/info');
    await ask('/collections', { token: null });
    await ask('/collections', { token: 'none' });
    await ask('/auth/login', { body: { email: 'admin@example.com', password: 'wrong' }, token: null });
    await ask('/auth/login', { body: { email: 'admin@example.com' }, token: null });
    await ask('/auth/refresh', { body: { refresh_token: 'none' }, token: null });
    await ask('/users/me');
    await ask('/users');
    await ask('/users/none');
    await ask('/sessions');
    await ask('/nothing');
    await ask('/collections', { method: 'PUT' });
    await ask('/collections', { text: '{', headers: { 'content-type': 'application/json' } });
    await ask('/collections', { text: 'a', headers: { 'content-type': 'text/plain' } });
    await ask('/collections', { text: 'a', headers: { 'content-type': 'application/json', 'content-encoding': 'x' } });
  });

  it('manages collections and fields', async () => {
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
    await ask('/fields/articles/size?preview', { method: 'PATCH', body: { type: 'bigInteger' } });
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

  it('responds to changes to the schema as recorded in the transcript', async () => {
    await ask('/schema/snapshot');
    await ask('/schema/snapshot?export=yaml&include=authors');
    await ask('/schema/snapshot?export=xml&include=folder');
    await ask('/schema/snapshot?export=csv&include=folder');
    await ask('/schema/snapshot?export=pdf');
    const snapshot = (await client('/schema/snapshot')).json as { fields: { field: string }[] };
    const desired = { ...snapshot, fields: snapshot.fields.filter(({ field }) => field !== 'size') };
    const { json: diff } = await ask('/schema/diff', { body: desired, called: '(the snapshot without articles.size)' });
    await ask('/schema/diff', { body: snapshot, called: '(the snapshot)' });
    await ask('/schema/diff', { body: { version: 2 } });
    await ask('/schema/apply?explain', { body: diff, called: '(the diff)' });
    await ask('/schema/apply?dry_run', { body: diff, called: '(the diff)' });
    await ask('/schema/apply', { body: diff, called: '(the diff)', headers: { 'x-change-reason': 'tidying' } });
    await ask('/schema/apply', { body: diff, called: '(the diff)' });
    await ask('/schema/merge', {
      body: { snapshot: desired, base: 'none' },
      called: '(the snapshot without articles.size, and a base that is none)',
    });
    await ask('/schema/drift');
    await ask('/schema/adopt?dry_run', { body: { tables: ['none'] } });
    await ask('/schema/types?lang=zod');
    await ask('/schema/types?lang=cobol');
  });

  it('responds to requests about the history as recorded in the transcript', async () => {
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
    // Deferred work completes at any time.
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
    await ask('/users', { body: { email: 'one@example.com', role: 'reader', name: 'One' } });
    await ask('/users', { body: { email: 'one@example.com', role: 'king', other: 1 } });
    await ask('/users?limit=1&offset=1');
  });

  it('matches the recorded transcript', () => session.expectAsBefore());
});
