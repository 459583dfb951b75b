/** Users with roles and their actions on change requests, for the tests of this folder. */
import { expect } from 'chai';
import { type Client, type Reply, choosePassword, json, signIn } from '../../support/client.js';

export interface Person {
  id: string;
  token: string;
  send: Client;
}

/**
 * Creates a user with a token that they created themselves, so that no other user is the issuer of what they propose.
 * Only admins create tokens, so the user gets the role afterwards.
 */
export async function newPerson(admin: Client, name: string, role: string): Promise<Person> {
  const login = { email: `${name}@example.com`, password: 'correct horse battery' };
  const created = await admin('/users', json({ ...login, name, role: 'admin' }));
  expect(created.status, created.text).to.equal(200);
  const { id } = (created.json as { data: { id: string } }).data;
  await choosePassword(admin, { id, ...login });
  const session = await signIn(admin, login);
  const token = await admin(`/users/${id}/tokens`, { ...json({ name: 'test' }), token: session });
  expect(token.status, token.text).to.equal(200);
  if (role !== 'admin') {
    const changed = await admin(`/users/${id}`, json({ role }, 'PATCH'));
    expect(changed.status, changed.text).to.equal(200);
  }
  const own = (token.json as { data: { token: string } }).data.token;
  return { id, token: own, send: (path, send = {}) => admin(path, { token: own, ...send }) };
}

export interface Shown {
  id: string;
  state: string;
  title: string;
  reason: string | null;
  plan: string;
  author: { id: string; name: string };
  allowed: string[];
  changed_at: string;
  collections: string[];
  scheduled_at: string | null;
  reverts: string | null;
  result: { batch: string; position: number } | null;
  error: string | null;
  errors: { message: string; extensions: { code: string } }[] | null;
  proposal: {
    base: number;
    approvals_needed: number;
    approvals_counted: number;
    authors: { id: string; name: string | null }[];
    approvals: { by: { id: string }; plan: string; counts: boolean; why_not: string | null; text: string | null }[];
    rejection: { text: string | null } | null;
    comments: { by: { id: string }; text: string | null; place: object | null }[];
  };
  planned: {
    fresh: boolean;
    hash: string | null;
    view: string | null;
    errors: { extensions: { code: string } }[] | null;
    statements: { sql: string }[];
    findings: { code: string; message: string }[];
    loses: { collection: string; field: string | null; kept: boolean; why_not: string | null }[];
  } | null;
}

export const dataOf = <T = Shown>({ json: body }: Reply): T => (body as { data: T }).data;

/** The status and code of the first error: `409 INVALID_STATE`. */
export const rejectionOf = ({ status, json: body }: Reply): string =>
  `${status} ${(body as { errors?: { extensions: { code: string } }[] } | undefined)?.errors?.[0]?.extensions.code}`;

export const show = async (send: Client, id: string): Promise<Shown> => {
  const response = await send(`/changes/${id}`);
  expect(response.status, response.text).to.equal(200);
  return dataOf(response);
};

/** The diff of the whole schema after `edit` of its snapshot. */
export async function diffOf(admin: Client, edit: (snapshot: Snapshot) => void): Promise<object> {
  const current = await admin('/schema/snapshot');
  const snapshot = current.json as Snapshot;
  edit(snapshot);
  const diff = await admin('/schema/diff', json(snapshot));
  expect(diff.status, diff.text).to.equal(200);
  return diff.json as object;
}

export interface Snapshot {
  collections: { collection: string; meta: Record<string, unknown> }[];
  fields: {
    collection: string;
    field: string;
    meta: Record<string, unknown>;
    schema: Record<string, unknown> | null;
  }[];
  relations: { collection: string; field: string }[];
  /** Only with `OBJECTS=on`. */
  objects?: { kind: string; id: string; definition: string }[];
}

export const without =
  (collection: string, field: string) =>
  (snapshot: Snapshot): void => {
    snapshot.fields = snapshot.fields.filter((each) => each.collection !== collection || each.field !== field);
  };

export const noted =
  (collection: string, note: string) =>
  (snapshot: Snapshot): void => {
    const document = snapshot.collections.find((each) => each.collection === collection);
    if (document !== undefined) document.meta = { ...document.meta, note };
  };

/** Opens a request. */
export async function open(send: Client, body: object): Promise<Shown> {
  const opened = await send('/changes', json(body));
  expect(opened.status, opened.text).to.equal(201);
  const data = dataOf(opened);
  expect(opened.headers.get('location')).to.equal(`/changes/${data.id}`);
  return data;
}
