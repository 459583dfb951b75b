import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface OpenApi {
  paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
}

const HEADERS = { 'Idempotency-Key': 'a key', 'If-Match': '"0"', 'X-Acknowledge': 'LOSES_DATA:a', 'X-Reason': 'why' };

const INSTEAD: Readonly<Record<string, string>> = {
  'X-Acknowledge': 'send acknowledgements with a change, or when you open a change request',
};

/** These requests only return information and write nothing. */
const READS = new Set([
  'post /schema/diff',
  'post /schema/merge',
  'post /policy/test',
  'post /environments/{id}/merge',
]);

describe('write headers', () => {
  const { client } = withService();

  it('are rejected if unsupported, with an error that names them, and nothing is written', async () => {
    const { paths } = (await client('/server/openapi.json')).json as OpenApi;
    const writes = Object.entries(paths)
      .flatMap(([path, operations]) => Object.entries(operations).map(([method, doc]) => ({ method, path, ...doc })))
      .filter(({ method, path }) => method !== 'get' && !READS.has(`${method} ${path}`));
    const refused = writes.flatMap(({ method, path, parameters = [] }) => {
      const taken = new Set(parameters.map(({ name }) => name));
      return Object.entries(HEADERS).flatMap(([name, value]) =>
        taken.has(name) ? [] : [{ method, path, name, value }],
      );
    });
    for (const { method, path, name, value } of refused) {
      const url = path.replaceAll(/\{[^}]+\}/g, 'x');
      const reply = await client(url, { method: method.toUpperCase(), headers: { [name]: value } });
      const { errors } = reply.json as { errors: { message: string; extensions: { path?: string } }[] };
      const message = `${name} has no effect here: ${INSTEAD[name] ?? 'send the request without it'}.`;
      expect([reply.status, errors[0]?.extensions.path, errors[0]?.message], `${method} ${path}`).to.deep.equal([
        400,
        name,
        message,
      ]);
    }
    const refusing = refused.map(({ method, path, name }) => `${method} ${path} ${name}`);
    expect(refusing).to.include.members(['post /users Idempotency-Key', 'post /users/{id}/tokens If-Match']);
    expect(refusing).to.not.include('put /policy Idempotency-Key').and.not.include('post /collections X-Reason');
  });

  it('are supported for the policy: key, condition, reason', async () => {
    const set = (body: object, headers: Record<string, string>) =>
      client('/policy', { ...json(body, 'PUT'), headers: { 'content-type': 'application/json', ...headers } });
    const head = async () => Number((await client('/collections')).headers.get('x-log-position'));
    const first = await set({ approvals: 2 }, { 'idempotency-key': 'k', 'x-reason': 'two see more' });
    const after = await head();
    expect((await set({ approvals: 3 }, {})).status).to.equal(200);
    const again = await set({ approvals: 2 }, { 'idempotency-key': 'k', 'x-reason': 'two see more' });
    expect([again.status, again.text, await head()]).to.deep.equal([200, first.text, after + 1]);
    expect((await set({ approvals: 4 }, { 'idempotency-key': 'k' })).codes).to.deep.equal(['IDEMPOTENCY_MISMATCH']);
    expect((await client(`/history/events/${after}`)).text).to.contain('"reason":"two see more"');
    expect((await set({ approvals: 4 }, { 'if-match': '"0"' })).status).to.equal(412);
  });
});

describe('the tag of the policy', () => {
  const { client } = withService();
  const set = (body: object) => client('/policy', json(body, 'PUT'));

  it('covers the whole response and saves transfers', async () => {
    const tagged = async (headers: Record<string, string> = {}) => {
      const reply = await client('/policy', { headers });
      return { status: reply.status, tag: reply.headers.get('etag') ?? '', text: reply.text };
    };
    await set({ approvals: 2 });
    const { tag } = await tagged();
    expect(await tagged({ 'if-none-match': tag })).to.deep.equal({ status: 304, tag, text: '' });
    const packed = await tagged({ 'accept-encoding': 'gzip' });
    expect(packed.tag).to.equal(`${tag.slice(0, -1)}-gzip"`);
    expect((await tagged({ 'if-none-match': packed.tag })).status).to.equal(304);
    await set({ approvals: 3 });
    expect((await tagged({ 'if-none-match': tag })).status).to.equal(200);
    await set({ approvals: 2 });
    const back = await tagged({ 'if-none-match': tag });
    expect([back.status, back.tag === tag], 'set again, at another position').to.deep.equal([200, false]);
    const headers = { 'content-type': 'application/json', 'if-match': packed.tag };
    expect((await client('/policy', { ...json({ approvals: 5 }, 'PUT'), headers })).status).to.equal(200);
    expect((await client('/policy', { ...json({ approvals: 6 }, 'PUT'), headers })).status).to.equal(412);
  });
});
