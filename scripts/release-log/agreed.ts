/** The reviewed part of the service's history: policies, and change requests with comments and schedules. */
import { type Api } from '../../test/support/api.js';
import { json } from '../../test/support/client.js';
import { until } from '../../test/support/until.js';

interface Request {
  id: string;
  state: string;
  plan: string;
  cleaning?: boolean;
}

interface Snapshot {
  fields: {
    collection: string;
    field: string;
    meta: { note: string | null };
    schema: { is_nullable: boolean } | null;
  }[];
}

const COLLECTION = 'Verträge';

/** @throws if a request is rejected */
export async function writeRequests(api: Api, sessions: readonly string[]): Promise<void> {
  const fields = ['text', 'number'].map((field) => ({ field, type: 'string', interface: 'input' }));
  await api.ok('POST', '/collections', { collection: COLLECTION, schema: {}, fields });
  await policies(api);
  await discussRequests(api);
  await scheduled(api, sessions);
  await proposed(api, sessions);
  await prepared(api);
  await purged(api);
  await ownChanges(api);
  await api.ok('DELETE', `/collections/${encodeURIComponent(COLLECTION)}?purge`);
}

/** The policy becomes strict, and at the end it blocks nothing. */
async function policies(api: Api): Promise<void> {
  await api.ok('PUT', '/policy', {
    findings: { LOSES_DATA: 'approve' },
    collections: [{ pattern: 'Ver*', findings: { LOSES_DATA: 'acknowledge', LONG_LOCK: 'refuse' } }],
    online_above_rows: 1_000_000,
    approvals: 2,
    author_may_approve: true,
  });
}

async function snapshotWith(api: Api, change: (field: Snapshot['fields'][number]) => void): Promise<Snapshot> {
  const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
  for (const each of snapshot.fields) if (each.collection === COLLECTION && each.field === 'text') change(each);
  return snapshot;
}

const snapshotWithNote = async (api: Api, note: string): Promise<Snapshot> =>
  snapshotWith(api, ({ meta }) => {
    meta.note = note;
  });

async function openRequest(api: Api, body: object): Promise<Request> {
  return (await api.ok<{ data: Request }>('POST', '/changes', body)).data;
}

const retrieve = async (api: Api, id: string): Promise<Request> =>
  (await api.ok<{ data: Request }>('GET', `/changes/${id}`)).data;

/** Updated, discussed, approved once and then as often as required, and applied; reverted; rejected. */
async function discussRequests(api: Api): Promise<void> {
  const { id } = await openRequest(api, {
    title: 'A note “?”',
    reason: 'asked for',
    snapshot: await snapshotWithNote(api, 'first'),
  });
  await api.ok('POST', `/changes/${id}/comment`, { comment: 'Really?\n理由 🎉' });
  const more = { title: 'A note', reason: null, snapshot: await snapshotWithNote(api, 'second'), online: true };
  await api.ok('PATCH', `/changes/${id}`, more);
  const { plan } = await retrieve(api, id);
  await api.ok('POST', `/changes/${id}/approve`, { plan, comment: 'as it is now' });
  await api.ok('PUT', '/policy', { findings: {}, online_above_rows: null, approvals: 1, author_may_approve: true });
  await api.ok('POST', `/changes/${id}/approve`, { plan });
  await api.ok('POST', `/changes/${id}/apply`, {});
  await until('it is applied', async () => (await retrieve(api, id)).state === 'applied');
  const revert = await api.ok<{ data: Request }>('POST', `/changes/${id}/revert`, {});
  await api.ok('POST', `/changes/${revert.data.id}/reject`, { comment: 'it stays' });
}

/** @param sessions of admins with a password and with an identity, which their approvals record */
async function scheduled(api: Api, sessions: readonly string[]): Promise<void> {
  const { id, plan } = await openRequest(api, { title: 'At night', snapshot: await snapshotWithNote(api, 'third') });
  for (const token of sessions) await api.client(`/changes/${id}/approve`, { ...json({ plan }), token });
  await api.ok('POST', `/changes/${id}/apply`, { at: new Date(Date.now() + 3_600_000).toISOString() });
  await api.ok('POST', `/changes/${id}/withdraw`);
}

/** Requests are opened and updated with every kind of credential, and with a token that an admin issued. */
async function proposed(api: Api, sessions: readonly string[]): Promise<void> {
  const email = 'proposer@example.com';
  const { data: user } = await api.ok<{ data: { id: string } }>('POST', '/users', { email, role: 'author' });
  const { data: issued } = await api.ok<{ data: { token: string } }>('POST', `/users/${user.id}/tokens`, {});
  for (const token of [...sessions, issued.token]) {
    const send = async (path: string, body: object, method?: string): Promise<Request> =>
      ((await api.client(path, { ...json(body, method), token })).json as { data: Request }).data;
    const { id } = await send('/changes', { title: 'Proposed', snapshot: await snapshotWithNote(api, 'fourth') });
    await send(`/changes/${id}`, { snapshot: await snapshotWithNote(api, 'fifth') }, 'PATCH');
    await api.ok('POST', `/changes/${id}/withdraw`);
  }
}

/** Long work is prepared online. */
async function prepared(api: Api): Promise<void> {
  await api.sql(`INSERT INTO "${COLLECTION}" (text) SELECT repeat('x', 220) FROM generate_series(1, 50000)`);
  await api.sql(`ANALYZE "${COLLECTION}"`);
  const snapshot = await snapshotWith(api, ({ schema }) => {
    if (schema) schema.is_nullable = false;
  });
  const { id } = await openRequest(api, { title: 'Required', snapshot, online: true });
  await api.ok('POST', `/changes/${id}/apply`, {});
  await until('it is applied', async () => (await retrieve(api, id)).state === 'applied');
}

/** The author acknowledges the permanent deletion of a field. */
async function purged(api: Api): Promise<void> {
  const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
  const fields = snapshot.fields.filter(({ collection, field }) => collection !== COLLECTION || field !== 'number');
  const acknowledge = [{ code: 'LOSES_DATA', place: `${COLLECTION}.number` }];
  const { id } = await openRequest(api, {
    title: 'No number',
    snapshot: { ...snapshot, fields },
    purge: true,
    acknowledge,
  });
  await api.ok('POST', `/changes/${id}/apply`, {});
}

/** The policy for policy changes becomes stricter, and a change request loosens it again. */
async function ownChanges(api: Api): Promise<void> {
  await api.ok('PUT', '/policy', { policy_changes: 'acknowledge' });
  await api.ok('PUT', '/policy', { policy_changes: 'approve', requires_reason: true });
  const { id, plan } = await openRequest(api, { title: 'Free again', reason: 'asked for', policy: {} });
  await api.ok('POST', `/changes/${id}/approve`, { plan });
  await api.ok('POST', `/changes/${id}/apply`, {});
}
