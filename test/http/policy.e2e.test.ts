import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

const DEFAULTS = {
  findings: {},
  collections: [],
  online_above_rows: null,
  approvals: 1,
  author_may_approve: true,
  requires_reason: false,
  policy_changes: 'free',
};

const field = (name: string, schema: object = {}) => ({
  field: name,
  type: 'string',
  meta: { interface: 'input' },
  schema,
});
const table = (collection: string) => ({ collection, schema: {}, fields: [field('title'), field('body')] });

describe('the policy over HTTP', () => {
  const { api, service, client } = withService({ each: true, consistent: true });

  const token = async (role: string): Promise<string> => {
    const email = `${role}@example.com`;
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', { email, role });
    const created = await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, {});
    return created.data.token;
  };

  it('has its defaults until it is set, and its event contains all of it', async () => {
    const before = await client('/policy');
    const { data: none, meta } = before.json as { data: object; meta: { codes: object[] } };
    expect(none).to.deep.equal(DEFAULTS);
    expect(meta).to.deep.include({ position: 0, updated_at: null });
    const loses = { code: 'LOSES_DATA', title: 'Data is lost', level: 'danger', shown_only: false };
    expect(meta.codes).to.deep.include(loses);
    const put = await client('/policy', {
      ...json({ findings: { LOSES_DATA: 'refuse' } }, 'PUT'),
      headers: { 'content-type': 'application/json', 'x-reason': 'after the accident' },
    });
    expect(put.status).to.equal(200);
    const policy = { ...DEFAULTS, findings: { LOSES_DATA: 'refuse' } };
    expect(put.json).to.deep.equal({ data: policy });
    const after = await client('/policy');
    expect(after.json).to.deep.include({ data: policy });
    const policyOf = ({ headers }: { headers: Headers }) => headers.get('etag')?.slice(1).split(/["-]/)[0];
    expect(policyOf(after)).to.equal(policyOf(put)).and.not.to.equal(policyOf(before));
    const { data } = await api.ok<{ data: object[] }>('GET', '/history/events?type=policy.updated');
    expect(data).to.have.length(1);
    expect(data[0]).to.deep.include({
      command: 'update-policy',
      reason: 'after the accident',
      data: { policy },
      subject: { kind: 'policy', id: 'schema' },
    });
    const then = await client('/policy?at=0');
    expect(then.json).to.deep.include({ data: DEFAULTS });
  });

  it('applies to a collection under its new name in the renaming batch', async () => {
    await api.ok('POST', '/collections', table('prod_orders'));
    const snapshot = await api.ok<{ fields: { field: string }[] }>('GET', '/schema/snapshot');
    const text = JSON.stringify({ ...snapshot, fields: snapshot.fields.filter((each) => each.field !== 'body') });
    const expected = JSON.parse(text.replaceAll('prod_orders', 'tmp_orders')) as { collections: object[] };
    Object.assign(expected.collections[0] ?? {}, { renamed_from: 'prod_orders' });
    const diff = await api.ok<object>('POST', '/schema/diff', expected);
    const setFor = (code: string) =>
      api.ok('PUT', '/policy', { collections: [{ pattern: 'prod_*', findings: { [code]: 'refuse' } }] });
    const refused = { status: 422, code: 'POLICY_REFUSED' };

    await setFor('LOSES_DATA');
    const lost = await api.refused(refused, 'POST', '/schema/apply', diff);
    expect(lost.extensions).to.include({ finding: 'LOSES_DATA', place: 'tmp_orders.body' });
    const { warnings } = await api.ok<{ warnings: object[] }>('POST', '/schema/apply?explain', diff);
    expect(warnings.map((each) => JSON.stringify(each)).join()).to.contain('"action":"refuse"');
    await setFor('BREAKS_CLIENTS');
    const broken = await api.refused(refused, 'POST', '/collections/prod_orders/rename', { to: 'tmp_orders' });
    expect(broken.extensions).to.include({ finding: 'BREAKS_CLIENTS' });
    await api.ok('PUT', '/policy', {});
    await api.ok('POST', '/collections/prod_orders/rename', { to: 'tmp_orders' });
  });

  it('applies to a renamed collection, and to no other with its former name', async () => {
    await api.ok('POST', '/collections', table('prod_a'));
    await api.ok('PUT', '/policy', { collections: [{ pattern: 'prod_*', findings: { LOSES_DATA: 'refuse' } }] });
    const refused = { status: 422, code: 'POLICY_REFUSED' };
    await api.ok('POST', '/collections/prod_a/rename', { to: 'between' });
    await api.ok('POST', '/collections/between/rename', { to: 'tmp_a' });
    for (const path of ['/collections/tmp_a?purge', '/fields/tmp_a/body?purge'])
      await api.refused(refused, 'DELETE', path);

    await api.ok('PUT', '/policy', {});
    await api.ok('DELETE', '/collections/tmp_a?purge');
    await api.ok('POST', '/collections', table('tmp_a'));
    await api.ok('PUT', '/policy', { collections: [{ pattern: 'prod_*', findings: { LOSES_DATA: 'refuse' } }] });
    await api.ok('DELETE', '/collections/tmp_a?purge');
    await api.ok('PUT', '/policy', {});
  });

  it('rejects an acknowledgement that a new policy does not need', async () => {
    const headers = { 'X-Acknowledge': 'LOSES_DATA:nothing' };
    const refused = await api.client('/policy', {
      ...json({ approvals: 7 }, 'PUT'),
      headers: { ...json({}).headers, ...headers },
    });
    expect(refused.status, refused.text).to.equal(400);
    expect(refused.text).to.contain('LOSES_DATA:nothing');
    expect((await api.client('/policy')).text).not.to.contain('"approvals":7');
  });

  it('rejects superfluous acknowledgements in dry runs, and blocks nothing there', async () => {
    await api.ok('POST', '/collections', table('notes'));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    const snapshot = await api.ok<{ fields: { collection: string; field: string }[] }>('GET', '/schema/snapshot');
    const less = { ...snapshot, fields: snapshot.fields.filter(({ field }) => field !== 'body') };
    const diff = await api.ok<object>('POST', '/schema/diff', less);
    const known = (place: string) => ({ ...diff, acknowledge: [{ code: 'LOSES_DATA', place }] });
    for (const mode of ['dry_run', 'explain', 'dry_run&online']) {
      const path = `/schema/apply?${mode}`;
      const place = { status: 400, code: 'INVALID_PAYLOAD', at: 'acknowledge[0]' };
      await api.refused(place, 'POST', path, known('notes.nothing'));
      await api.ok('POST', path, known('notes.body'));
      await api.ok('POST', path, diff);
    }
    const kept = { ...diff, acknowledge: [{ code: 'DATA_NOT_KEPT', place: 'notes.body' }] };
    await api.ok('POST', '/schema/apply?explain', kept);
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'acknowledge[0]' },
      'POST',
      '/schema/apply?dry_run',
      kept,
    );
    await api.ok('POST', '/schema/apply', known('notes.body'));
  });

  it('appends no event if it is unchanged, and is replaced as a whole', async () => {
    const findings = { LOSES_DATA: 'warn', MAY_FAIL: 'note' };
    await api.ok('PUT', '/policy', { findings, approvals: 2 });
    const head = await api.head();
    await api.ok('PUT', '/policy', { approvals: 2, findings: { MAY_FAIL: 'note', LOSES_DATA: 'warn' } });
    expect(await api.head()).to.equal(head);
    const { data } = await api.ok<{ data: object }>('PUT', '/policy', { author_may_approve: false });
    expect(data).to.deep.equal({ ...DEFAULTS, author_may_approve: false });
  });

  it('is not set over a concurrent change', async () => {
    const etag = (await client('/policy')).headers.get('etag') ?? '';
    const setting = (tag: string, body: object) =>
      client('/policy', { ...json(body, 'PUT'), headers: { 'content-type': 'application/json', 'if-match': tag } });
    expect((await setting(etag, { approvals: 2 })).status).to.equal(200);
    const stale = await setting(etag, { approvals: 3 });
    expect([stale.status, ...stale.codes]).to.deep.equal([412, 'PRECONDITION_FAILED']);
  });

  it('rejects invalid policies with locations, and stores nothing', async () => {
    const wrong: [string, object, string][] = [
      ['an unknown code', { findings: { LOSES_MONEY: 'refuse' } }, 'findings.LOSES_MONEY'],
      ['an unknown action', { findings: { LOSES_DATA: 'forbid' } }, 'findings.LOSES_DATA'],
      ['what can only be shown', { findings: { LOOKS_RENAMED: 'refuse' } }, 'findings.LOOKS_RENAMED'],
      ['an unknown member', { finding: {} }, 'finding'],
      ['no approvals', { approvals: 0 }, 'approvals'],
      ['half a row', { online_above_rows: 0.5 }, 'online_above_rows'],
      ['an empty pattern', { collections: [{ pattern: '', findings: {} }] }, 'collections[0].pattern'],
      ['a code of a pattern', { collections: [{ pattern: 'a', findings: { X: 'off' } }] }, 'collections[0].findings.X'],
      ['a hidden member', JSON.parse('{"findings": {"__proto__": "refuse"}}') as object, 'findings.__proto__'],
    ];
    for (const [what, body, at] of wrong) {
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at }, 'PUT', '/policy', body);
      expect(error.message, what).to.be.a('string');
    }
    await api.ok('PUT', '/policy', { findings: { LOOKS_RENAMED: 'off' } });
  });

  it('is readable and testable for auditors, writable for admins, and hidden from readers', async () => {
    const roles = { auditor: await token('auditor'), reader: await token('reader') };
    const snapshot = { snapshot: await api.ok('GET', '/schema/snapshot') };
    const statuses = async (as: string | null) => [
      (await client('/policy', { token: as })).status,
      (await client('/policy/test', { ...json(snapshot), token: as })).status,
      (await client('/policy', { ...json({}, 'PUT'), token: as })).status,
    ];
    expect(await statuses(roles.auditor)).to.deep.equal([200, 200, 403]);
    expect(await statuses(roles.reader)).to.deep.equal([403, 403, 403]);
    expect(await statuses(null)).to.deep.equal([401, 401, 401]);
    expect(await statuses(service.adminToken)).to.deep.equal([200, 200, 200]);
  });

  it('rejects with every finding, its location and the safer request, and leaves nothing behind', async () => {
    await api.ok('POST', '/collections', table('articles'));
    await api.ok('POST', '/collections', table('drafts'));
    await api.ok('PUT', '/policy', {
      findings: { LOSES_DATA: 'refuse' },
      collections: [{ pattern: 'draft*', findings: { LOSES_DATA: 'warn' } }],
    });
    const error = await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', '/fields/articles/body');
    expect(error.extensions).to.deep.include({
      code: 'POLICY_REFUSED',
      finding: 'LOSES_DATA',
      level: 'warn',
      action: 'refuse',
      place: 'articles.body',
      collection: 'articles',
      field: 'body',
    });
    expect(error.extensions['safer']).to.have.property('text');
    const { safer } = error.extensions as unknown as { safer: { text: string } };
    expect(error.message).to.match(/^The policy rejects this change \(LOSES_DATA:articles\.body\): \w.*body/);
    expect(error.message.endsWith(`. ${safer.text}`)).to.equal(true);
    await api.ok('DELETE', '/fields/drafts/body');
    await api.ok('PUT', '/policy', {});
    await api.ok('DELETE', '/fields/articles/body');
  });

  it('requires an approved change request', async () => {
    await api.ok('POST', '/collections', table('articles'));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'approve' }, approvals: 2 });
    const error = await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', '/collections/articles');
    expect(error.extensions).to.deep.include({ action: 'approve', approvals: 2, approved: 0 });
    const expected = 'The policy requires a change request with';
    expect(error.message).to.match(new RegExp(`^${expected} 2 approvals \\(LOSES_DATA:articles\\): `));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'approve' }, approvals: 1 });
    const one = await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', '/collections/articles');
    expect(one.message).to.match(new RegExp(`^${expected} an approval \\(LOSES_DATA:articles\\): `));
  });

  it('allows acknowledged findings, and records them in the events', async () => {
    await api.ok('POST', '/collections', table('articles'));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    const refused = await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', '/fields/articles/body');
    expect(refused.message).to.match(
      /^The policy requires an acknowledgement \(X-Acknowledge: LOSES_DATA:articles\.body\): /,
    );
    const acknowledging = (header: string) =>
      client('/fields/articles/body', { method: 'DELETE', headers: { 'x-acknowledge': header } });
    const forged: [string, string][] = [
      ['another place', 'LOSES_DATA:articles.title'],
      ['another code', 'MAY_FAIL:articles.body'],
      ['one that is right and one that is not', 'LOSES_DATA:articles.body, LOSES_DATA:articles'],
      ['no place', 'LOSES_DATA:'],
      ['no list', 'yes'],
      ['a stray percent sign', 'LOSES_DATA:articles.body%'],
    ];
    for (const [what, header] of forged) {
      const reply = await acknowledging(header);
      expect([reply.status, ...reply.codes.slice(0, 1)], what).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
    expect((await acknowledging('LOSES_DATA:articles.body')).status).to.equal(204);
    const { data } = await api.ok<{ data: { context: object }[] }>('GET', '/history/events?type=field.deleted');
    const set = await api.ok<{ data: { hash: string }[] }>('GET', '/history/events?type=policy.updated&order=desc');
    const policy = set.data[0]?.hash;
    expect(data[0]?.context).to.deep.equal({ policy, acknowledged: [{ code: 'LOSES_DATA', place: 'articles.body' }] });
    expect(await api.ok('GET', '/history/verify')).to.have.nested.property('data.ok', true);
  });

  it('accepts acknowledgements in a body, for any names', async () => {
    const name = 'a, b % c';
    await api.ok('POST', '/collections', { ...table(name), fields: [field('title'), field('x,y')] });
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    const snapshot = await api.ok<{ fields: { field: string }[] }>('GET', '/schema/snapshot');
    const less = { ...snapshot, fields: snapshot.fields.filter((each) => each.field !== 'x,y') };
    const diff = await api.ok<{ warnings: { code: string; action: string }[] }>('POST', '/schema/diff', less);
    expect(diff.warnings.find(({ code }) => code === 'LOSES_DATA')?.action).to.equal('acknowledge');
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'POST', '/schema/apply', diff);
    const place = 'a%2C b %25 c.x%2Cy';
    const wrong = { ...diff, acknowledge: [{ code: 'LOSES_DATA', place: 'a%2C b %25 c' }] };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'acknowledge[0]' }, 'POST', '/schema/apply', wrong);
    const malformed = { ...diff, acknowledge: [{ code: 'LOSES_DATA' }] };
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'acknowledge[0].place' },
      'POST',
      '/schema/apply',
      malformed,
    );
    await api.ok('POST', '/schema/apply', { ...diff, acknowledge: [{ code: 'LOSES_DATA', place }] });
    const path = `/fields/${encodeURIComponent(name)}/title`;
    const header = 'LOSES_DATA:a%2C b %25 c.title';
    const reply = await client(path, { method: 'DELETE', headers: { 'x-acknowledge': header } });
    expect(reply.status).to.equal(204);
  });

  it('applies an acknowledgement only to its field, even if names contain dots', async () => {
    await api.ok('POST', '/collections', { ...table('a'), fields: [field('b'), field('c')] });
    await api.ok('POST', '/collections', table('a.b'));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    const known = (place: string) => ({ method: 'DELETE', headers: { 'x-acknowledge': `LOSES_DATA:${place}` } });
    const refused = await client('/collections/a.b?purge', { method: 'DELETE' });
    expect(refused.text).to.contain('(X-Acknowledge: LOSES_DATA:a%2Eb)').and.contain('"place":"a%2Eb"');
    expect((await client('/collections/a.b?purge', known('a.b'))).codes).to.deep.equal(['INVALID_PAYLOAD']);
    expect((await client('/fields/a/b', known('a%2Eb'))).codes).to.deep.equal(['INVALID_PAYLOAD']);
    expect((await client('/fields/a/b', known('a.b'))).status).to.equal(204);
    expect((await client('/collections/a.b?purge', known('a%2Eb'))).status).to.equal(204);
    const snapshot = await api.ok<{ fields: { field: string }[] }>('GET', '/schema/snapshot');
    const less = { ...snapshot, fields: snapshot.fields.filter((each) => each.field !== 'c') };
    const twice = {
      ...(await api.ok<object>('POST', '/schema/diff', less)),
      acknowledge: [{ code: 'X', place: 'a.b.c' }],
    };
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'acknowledge[0].place' },
      'POST',
      '/schema/apply',
      twice,
    );
  });

  it('treats a repeated key with an acknowledgement as a different request', async () => {
    await api.ok('POST', '/collections', table('articles'));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    const send = (headers: Record<string, string>) => client('/fields/articles/body', { method: 'DELETE', headers });
    expect((await send({ 'idempotency-key': 'one' })).status).to.equal(422);
    expect((await send({ 'idempotency-key': 'one', 'x-acknowledge': 'LOSES_DATA:articles.body' })).status).to.equal(
      409,
    );
    expect((await send({ 'idempotency-key': 'two', 'x-acknowledge': 'LOSES_DATA:articles.body' })).status).to.equal(
      204,
    );
  });

  it('is shown in dry runs and diffs, and can be tested with another policy', async () => {
    await api.ok('POST', '/collections', table('articles'));
    const snapshot = await api.ok<{ fields: { field: string }[] }>('GET', '/schema/snapshot');
    const less = { ...snapshot, fields: snapshot.fields.filter((each) => each.field !== 'body') };
    const diff = await api.ok<{ warnings: { code: string; action?: string }[] }>('POST', '/schema/diff', less);
    const action = ({ warnings }: { warnings: { code: string; action?: string }[] }) =>
      warnings.find(({ code }) => code === 'LOSES_DATA')?.action;
    expect(action(diff)).to.equal('warn');
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse', BREAKS_CLIENTS: 'off' } });
    for (const mode of ['dry_run', 'explain'])
      expect(action(await api.ok('POST', `/schema/apply?${mode}`, diff)), mode).to.equal('refuse');
    expect(action(await api.ok('POST', '/schema/merge', { base: snapshot, theirs: less }))).to.equal('refuse');
    type Tested = { data: { outcome: string; approvals: number | null; findings: { code: string; action: string }[] } };
    const test = async (body: object) => (await api.ok<Tested>('POST', '/policy/test', body)).data;
    expect(await test({ diff })).to.deep.include({ outcome: 'refuse', approvals: null });
    expect(await test({ snapshot: less })).to.deep.include({ outcome: 'refuse' });
    expect(await test({ snapshot: less, policy: {} })).to.deep.include({ outcome: 'allowed' });
    const policy = { findings: { LOSES_DATA: 'approve' }, approvals: 3 };
    expect(await test({ diff, policy })).to.deep.include({ outcome: 'approve', approvals: 3 });
    const acknowledge = [{ code: 'LOSES_DATA', place: 'articles.body' }];
    const asking = { findings: { LOSES_DATA: 'acknowledge' } };
    expect(await test({ diff, policy: asking })).to.deep.include({ outcome: 'acknowledge' });
    expect(await test({ diff, policy: asking, acknowledge })).to.deep.include({ outcome: 'allowed' });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/policy/test', { policy: {} });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'policy.approvals' }, 'POST', '/policy/test', {
      diff,
      policy: { approvals: -1 },
    });
  });
});
