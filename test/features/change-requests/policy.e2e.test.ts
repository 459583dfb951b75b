import { expect } from 'chai';
import pg from 'pg';
import { json } from '../../support/client.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';
import { type Person, dataOf, diffOf, newPerson, noted, open, rejectionOf, show, without } from './people.js';

const FIELDS = ['title', 'body', 'subtitle'].map((field) => ({
  field,
  type: 'string',
  interface: 'input',
  schema: {},
}));

describe('change requests under a policy', () => {
  const { client: admin, service } = withService({ consistent: true });
  let second: Person;

  before(async () => {
    expect((await admin('/collections', json({ collection: 'pages', schema: {}, fields: FIELDS }))).status).to.equal(
      200,
    );
    second = await newPerson(admin, 'second', 'admin');
  });

  const policy = (expected: object) => admin('/policy', json(expected, 'PUT'));

  it('need approvals of eligible others if the policy requires them', async () => {
    const set = await policy({ findings: { LOSES_DATA: 'approve' }, approvals: 2, author_may_approve: false });
    expect(set.status, set.text).to.equal(200);
    try {
      const diff = await diffOf(admin, without('pages', 'subtitle'));
      expect(rejectionOf(await admin('/schema/apply', json(diff)))).to.equal('422 POLICY_REFUSED');
      const third = await newPerson(admin, 'third', 'admin');
      const { id, plan } = await open(second.send, { title: 'No subtitles', diff });
      const apply = () => admin(`/changes/${id}/apply`, { method: 'POST' });
      expect(rejectionOf(await apply())).to.equal('422 POLICY_REFUSED');
      expect(rejectionOf(await second.send(`/changes/${id}/approve`, json({ plan })))).to.equal('403 FORBIDDEN');
      for (const _ of [1, 2])
        expect(dataOf(await admin(`/changes/${id}/approve`, json({ plan }))).state, 'one person twice').to.equal(
          'open',
        );
      expect(rejectionOf(await apply())).to.equal('422 POLICY_REFUSED');
      expect(dataOf(await third.send(`/changes/${id}/approve`, json({ plan }))).state).to.equal('approved');
      expect((await admin(`/users/${third.id}`, json({ role: 'auditor' }, 'PATCH'))).status).to.equal(200);
      expect((await show(admin, id)).proposal).to.deep.include({ approvals_needed: 2, approvals_counted: 1 });
      expect(rejectionOf(await apply()), 'an approver was demoted').to.equal('422 POLICY_REFUSED');
      expect((await admin(`/users/${third.id}`, json({ role: 'admin' }, 'PATCH'))).status).to.equal(200);
      const applied = await apply();
      expect(applied.status, applied.text).to.equal(200);
    } finally {
      expect((await policy({})).status).to.equal(200);
    }
  });

  it('need a reason of their own or of the request to apply them, if the policy requires one', async () => {
    const because = (reason: string, body: object = {}) => {
      const sent = json(body);
      return { ...sent, headers: { ...sent.headers, 'x-reason': reason } };
    };
    const free = () => admin('/policy', { ...because('it is over', {}), method: 'PUT' });
    const reasonOf = async (id: string) => {
      const { batch } = (await show(admin, id)).result ?? {};
      const { json: answer } = await admin(`/history/events?batch=${batch}`);
      return (answer as { data: { reason: string | null }[] }).data[0]?.reason;
    };
    expect((await policy({ requires_reason: true })).status).to.equal(200);
    try {
      const described = async (text: string) => diffOf(admin, noted('pages', text));
      const mute = await open(admin, { title: 'A note', diff: await described('one') });
      const apply = `/changes/${mute.id}/apply`;
      const refused = await admin(apply, { method: 'POST' });
      expect(rejectionOf(refused)).to.equal('422 POLICY_REFUSED');
      expect(refused.text).to.contain('add one to the change request');
      expect((await admin(`/changes/${mute.id}`, json({ reason: 'they asked' }, 'PATCH'))).status).to.equal(200);
      expect((await admin(apply, { method: 'POST' })).status).to.equal(200);
      expect(await reasonOf(mute.id)).to.equal('they asked');

      const named = await open(admin, { title: 'Again', diff: await described('two') });
      expect((await admin(`/changes/${named.id}/apply`, because('now'))).status).to.equal(200);
      expect(await reasonOf(named.id)).to.equal('now');

      const later = await open(admin, { title: 'Later', diff: await described('three') });
      const at = { at: new Date().toISOString() };
      expect(rejectionOf(await admin(`/changes/${later.id}/apply`, json(at)))).to.equal('422 POLICY_REFUSED');
      const scheduled = await admin(`/changes/${later.id}/apply`, because('in time', at));
      expect(scheduled.status, scheduled.text).to.equal(202);
      await until('it is applied', async () => (await show(admin, later.id)).state === 'applied');
      expect(await reasonOf(later.id)).to.equal('in time');
    } finally {
      expect((await free()).status).to.equal(200);
    }
  });

  it('reject acknowledgements of another plan at their location', async () => {
    const diff = await diffOf(admin, without('pages', 'body'));
    const [real, other] = ['pages.body', 'pages.nothing'].map((place) => [{ code: 'LOSES_DATA', place }]);
    const header = { ...json({}).headers, 'x-acknowledge': 'LOSES_DATA:pages.nothing' };
    const request = { title: 'No body', diff };
    const refusals = [
      await admin('/changes', json({ ...request, acknowledge: other })),
      await admin('/changes', { ...json(request), headers: header }),
    ];
    const { id } = await open(admin, { ...request, acknowledge: real });
    refusals.push(await admin(`/changes/${id}`, json({ diff, acknowledge: other }, 'PATCH')));
    const places = refusals.map(({ status, json: body }) => [
      status,
      (body as { errors: { extensions: { path: string } }[] }).errors[0]?.extensions.path,
    ]);
    expect(places).to.deep.equal([
      [400, 'acknowledge[0]'],
      [400, 'X-Acknowledge'],
      [400, 'acknowledge[0]'],
    ]);
    expect((await admin(`/changes/${id}`, json({ diff, acknowledge: real }, 'PATCH'))).status).to.equal(200);
    expect((await admin(`/changes/${id}/withdraw`, { method: 'POST' })).status).to.equal(200);
  });

  it('include acknowledged findings in their plan', async () => {
    const set = await policy({ findings: { LOSES_DATA: 'acknowledge' } });
    expect(set.status, set.text).to.equal(200);
    const diff = await diffOf(admin, without('pages', 'body'));
    const { id, plan } = await open(admin, { title: 'No body', diff, purge: true });
    const { planned } = await show(admin, id);
    const losing = planned?.findings.filter(({ code }) => code === 'LOSES_DATA').map(({ message }) => message);
    expect(losing).to.deep.equal(['drop column pages.body: data is permanently lost']);
    const why = 'the change has the option purge';
    expect(planned?.loses).to.deep.equal([{ collection: 'pages', field: 'body', kept: false, why_not: why }]);
    expect(rejectionOf(await admin(`/changes/${id}/apply`, { method: 'POST' }))).to.equal('422 POLICY_REFUSED');
    const known = { acknowledge: [{ code: 'LOSES_DATA', place: 'pages.body' }] };
    const late = await admin(`/changes/${id}/apply`, {
      method: 'POST',
      headers: { 'x-acknowledge': 'LOSES_DATA:pages.body' },
    });
    expect(late.status, late.text).to.equal(400);
    const updated = await admin(`/changes/${id}`, json({ diff, purge: true, ...known }, 'PATCH'));
    expect(updated.status, updated.text).to.equal(200);
    expect(dataOf(updated).plan).to.not.equal(plan);
    const applied = await admin(`/changes/${id}/apply`, { method: 'POST' });
    expect(applied.status, applied.text).to.equal(200);
    const batch = await admin(`/history/events?batch=${applied.headers.get('x-batch-id')}`);
    expect(batch.text).to.include('"LOSES_DATA"');
  });

  it('can permit a permanent deletion later, which earlier approvals do not cover', async () => {
    const fields = ['extra', 'text'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));
    expect((await admin('/collections', json({ collection: 'base', schema: {}, fields }))).status).to.equal(200);
    await policy({ findings: { LOSES_DATA: 'approve' }, author_may_approve: false });
    const author = await newPerson(admin, 'base-author', 'author');
    const other = await newPerson(admin, 'other-author', 'author');
    const diff = await diffOf(admin, without('base', 'extra'));
    const { id, plan } = await open(author.send, { title: 'Without extra', diff });
    const approve = (hash: string) => second.send(`/changes/${id}/approve`, json({ plan: hash }));
    const update = (body: object, { send } = author) => send(`/changes/${id}`, json(body, 'PATCH'));
    expect((await approve(plan)).status).to.equal(200);
    const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
    try {
      await pool.query('CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.heir () INHERITS (base)');
      const extensions = {
        code: 'DATABASE_REFUSED',
        option: 'purge',
        collection: 'base',
        field: 'extra',
        inherited_by: ['elsewhere.heir'],
      };
      for (const [path, body] of [
        ['apply', undefined],
        ['apply?dry_run', undefined],
        ['apply', { at: new Date(Date.now() + 86_400_000).toISOString() }],
        ['approve', { plan }],
      ] as const) {
        const refused = await second.send(`/changes/${id}/${path}`, body ? json(body) : { method: 'POST' });
        expect(refused.status, refused.text).to.equal(422);
        const [error] = (refused.json as { errors: { message: string; extensions: object }[] }).errors;
        expect(error?.extensions).to.deep.equal(extensions);
        expect(error?.message).to.match(/repeat the change with "purge"\. In a change request, set it with an update/);
      }
      expect(rejectionOf(await update({ purge: true }, other))).to.equal('403 FORBIDDEN');
      expect(rejectionOf(await update({ purge: true, online: true }))).to.equal('400 INVALID_PAYLOAD');
      const acknowledging = json({ purge: true }, 'PATCH');
      const headers = { ...acknowledging.headers, 'x-acknowledge': 'LOSES_DATA:base.extra' };
      expect(rejectionOf(await author.send(`/changes/${id}`, { ...acknowledging, headers }))).to.equal(
        '400 INVALID_PAYLOAD',
      );

      const updated = await update({ purge: true });
      expect(updated.status, updated.text).to.equal(200);
      const now = await show(author.send, id);
      expect(now).to.include({ state: 'open', title: 'Without extra' });
      expect(now.plan).to.not.equal(plan);
      expect(now.planned?.loses).to.deep.equal([
        { collection: 'base', field: 'extra', kept: false, why_not: 'the change has the option purge' },
      ]);
      expect(now.proposal.approvals.map(({ counts, why_not: why }) => [counts, why])).to.deep.equal([
        [false, 'another plan'],
      ]);
      expect(rejectionOf(await second.send(`/changes/${id}/apply`, { method: 'POST' }))).to.equal('422 POLICY_REFUSED');

      await pool.query('DROP TABLE elsewhere.heir');
      expect(dataOf(await update({ purge: false })).plan).to.equal(plan);
      expect((await show(author.send, id)).proposal.approvals_counted).to.equal(1);
      await pool.query('CREATE TABLE elsewhere.heir () INHERITS (base)');
      expect(dataOf(await update({ purge: true })).plan).to.equal(now.plan);

      expect((await approve(now.plan)).status).to.equal(200);
      const applied = await second.send(`/changes/${id}/apply`, { method: 'POST' });
      expect(applied.status, applied.text).to.equal(200);
      expect((await pool.query('SELECT * FROM elsewhere.heir')).fields.map(({ name }) => name)).to.deep.equal([
        'id',
        'text',
      ]);
    } finally {
      await pool.query('DROP SCHEMA IF EXISTS elsewhere CASCADE');
      await pool.end();
      await policy({});
    }
    const asPolicy = await open(admin, { title: 'Approve losses', policy: { findings: { LOSES_DATA: 'approve' } } });
    const refused = await admin(`/changes/${asPolicy.id}`, json({ purge: true }, 'PATCH'));
    expect(refused.status).to.equal(400);
    expect(refused.text).to.include('"path":"purge"').and.include('changes the policy and deletes nothing');
  });
});

describe('changes to the policy itself', () => {
  const { client: admin, api } = withService({ consistent: true });
  let ada: Person;
  let author: Person;

  before(async () => {
    ada = await newPerson(admin, 'ada', 'admin');
    author = await newPerson(admin, 'author', 'author');
  });

  const put = (policy: object, headers: Record<string, string> = {}) => {
    const sent = json(policy, 'PUT');
    return admin('/policy', { ...sent, headers: { ...sent.headers, ...headers } });
  };
  const current = async () => dataOf<object>(await admin('/policy'));
  const apply = (id: string) => admin(`/changes/${id}/apply`, { method: 'POST' });
  const approve = (person: Person, { id, plan }: { id: string; plan: string }) =>
    person.send(`/changes/${id}/approve`, json({ plan }));
  it('loosening a policy with "acknowledge" needs an acknowledgement, and other changes do not', async () => {
    expect((await put({ policy_changes: 'acknowledge' })).status, 'the policy was free').to.equal(200);
    expect((await put({ policy_changes: 'acknowledge', approvals: 3 })).status, 'stricter').to.equal(200);
    const looser = { policy_changes: 'acknowledge', approvals: 2 };
    const rejected = await put(looser);
    expect(rejectionOf(rejected)).to.equal('422 POLICY_REFUSED');
    expect(rejected.text).to.contain('X-Acknowledge: LOOSENS_POLICY:').and.to.contain('loosen the policy: approvals');
    expect(await current()).to.deep.include({ approvals: 3 });
    const known = { 'x-acknowledge': 'LOOSENS_POLICY:' };
    const other = await put(looser, { 'x-acknowledge': 'LOSES_DATA:pages' });
    expect([rejectionOf(other), other.text.includes('X-Acknowledge')]).to.deep.equal(['400 INVALID_PAYLOAD', true]);
    expect((await put(looser, known)).status).to.equal(200);
    const { data } = await api.ok<{ data: { context?: { policy: string; acknowledged?: object }; hash: string }[] }>(
      'GET',
      '/history/events?type=policy.updated',
    );
    expect(data.flatMap(({ context }) => context ?? [])).to.deep.equal([
      { policy: data[0]?.hash },
      { policy: data[1]?.hash, acknowledged: [{ code: 'LOOSENS_POLICY', place: '' }] },
    ]);
    const stricter = await put({ ...looser, approvals: 4 }, known);
    expect(rejectionOf(stricter), 'nothing is loosened').to.equal('400 INVALID_PAYLOAD');
    const { id } = await open(admin, { title: 'Free', policy: {} });
    expect(rejectionOf(await apply(id)), 'a change request is judged in the same way').to.equal('422 POLICY_REFUSED');
    const acknowledge = [{ code: 'LOOSENS_POLICY', place: '' }];
    expect((await admin(`/changes/${id}`, json({ policy: {}, acknowledge }, 'PATCH'))).status).to.equal(200);
    expect((await apply(id)).status).to.equal(200);
    expect(await current()).to.deep.include({ approvals: 1, policy_changes: 'free' });
  });

  it('a policy with "approve" can only be replaced by an approved change request', async () => {
    const strict = { policy_changes: 'approve', approvals: 1, author_may_approve: false };
    expect((await put(strict)).status).to.equal(200);
    for (const other of [{}, { ...strict, approvals: 2 }]) {
      const rejected = await put(other, { 'x-acknowledge': 'X:' });
      expect(rejectionOf(rejected)).to.equal('400 INVALID_PAYLOAD');
      const stopped = await put(other);
      expect(rejectionOf(stopped)).to.equal('422 POLICY_REFUSED');
      expect(stopped.text).to.contain('Open a change request for the new policy (`POST /changes` with `policy`');
    }
    expect((await put(strict)).status, 'the same policy changes nothing').to.equal(200);
    const request = await open(admin, { title: 'Looser', policy: { author_may_approve: true } });
    const shown = await show(admin, request.id);
    expect([shown.collections, shown.planned?.fresh]).to.deep.equal([[], true]);
    expect(shown.planned?.findings.map(({ code }) => code)).to.deep.equal(['LOOSENS_POLICY']);
    expect((shown.planned as unknown as { policy: { from: object; to: object } }).policy).to.deep.include({
      from: await current(),
    });
    expect(shown.allowed)
      .to.include.members(['update', 'approve', 'apply'])
      .and.not.include.members(['rebase', 'revert']);
    expect(rejectionOf(await apply(request.id)), 'nobody approved').to.equal('422 POLICY_REFUSED');
    expect(rejectionOf(await admin(`/changes/${request.id}/approve`, json({ plan: request.plan })))).to.equal(
      '403 FORBIDDEN',
    );
    expect(rejectionOf(await apply(request.id)), 'its author may not').to.equal('422 POLICY_REFUSED');
    expect((await approve(ada, request)).status).to.equal(200);
    const applied = await apply(request.id);
    expect(applied.status, applied.text).to.equal(200);
    expect(await current()).to.deep.include({ policy_changes: 'free', author_may_approve: true });
    expect(dataOf(applied).allowed).to.deep.equal(['comment']);
    const { data } = await api.ok<{ data: { type: string; command: string }[] }>(
      'GET',
      `/history/events?batch=${applied.headers.get('x-batch-id')}`,
    );
    expect(data.map(({ type }) => type).sort()).to.deep.equal(['change.applied', 'policy.updated']);
  });

  it('an approved policy is stale once another one was set', async () => {
    expect((await put({ policy_changes: 'approve' })).status).to.equal(200);
    const first = await open(admin, { title: 'Two', policy: { policy_changes: 'approve', approvals: 2 } });
    const second = await open(admin, {
      title: 'Loses',
      policy: { policy_changes: 'approve', findings: { LOSES_DATA: 'warn' } },
    });
    for (const request of [first, second]) expect((await approve(ada, request)).status).to.equal(200);
    expect((await apply(second.id)).status).to.equal(200);
    const stale = await apply(first.id);
    expect([rejectionOf(stale), stale.text.includes('the policy has changed')]).to.deep.equal([
      '409 PLAN_CHANGED',
      true,
    ]);
    const updated = await admin(`/changes/${first.id}`, json({ policy: { approvals: 2 } }, 'PATCH'));
    expect(updated.status, updated.text).to.equal(200);
    expect(rejectionOf(await apply(first.id)), 'the approval was for another plan').to.equal('422 POLICY_REFUSED');
    expect((await approve(ada, dataOf(updated))).status).to.equal(200);
    expect((await apply(first.id)).status).to.equal(200);
    expect(await current()).to.deep.include({ approvals: 2, policy_changes: 'free' });
    expect((await put({})).status).to.equal(200);
  });

  it('can be scheduled, and are evaluated when they are scheduled and at their time', async () => {
    expect((await put({ policy_changes: 'approve' })).status).to.equal(200);
    const request = await open(admin, { title: 'Later', policy: { approvals: 2 } });
    const at = () => admin(`/changes/${request.id}/apply`, json({ at: new Date(Date.now() + 200).toISOString() }));
    expect(rejectionOf(await at())).to.equal('422 POLICY_REFUSED');
    expect((await approve(ada, request)).status).to.equal(200);
    expect((await at()).status).to.equal(202);
    await until('it is applied', async () => (await show(admin, request.id)).state === 'applied');
    expect(await current()).to.deep.include({ approvals: 2, policy_changes: 'free' });
    expect((await put({})).status).to.equal(200);
  });

  it('are proposed by admins, as a policy alone, and remain requests for a policy', async () => {
    const request = { title: 'Policy', policy: { approvals: 2 } };
    expect(rejectionOf(await author.send('/changes', json(request)))).to.equal('403 FORBIDDEN');
    const places = async (body: object, method = 'POST', path = '/changes') => {
      const { status, json: answer } = await admin(path, json(body, method));
      return [
        status,
        ...(answer as { errors: { extensions: { path: string } }[] }).errors.map((each) => each.extensions.path),
      ];
    };
    expect(await places({ ...request, diff: {}, online: true })).to.deep.equal([400, 'diff', 'online']);
    expect(await places({ ...request, policy: { approvals: 0 } })).to.deep.equal([400, 'policy.approvals']);
    expect(await places({ ...request, policy: { findings: { LOOSENS_POLICY: 'off' } } })).to.deep.equal([
      400,
      'policy.findings.LOOSENS_POLICY',
    ]);
    expect(await places({ ...request, policy: {} })).to.deep.equal([400, 'policy']);
    const { id } = await open(admin, request);
    expect((await admin('/collections', json({ collection: 'pages', schema: {}, fields: FIELDS }))).status).to.equal(
      200,
    );
    const diff = await diffOf(admin, without('pages', 'body'));
    expect(await places({ diff }, 'PATCH', `/changes/${id}`)).to.deep.equal([400, 'diff']);
    const other = await open(admin, { title: 'No body', diff });
    expect(await places({ policy: request.policy }, 'PATCH', `/changes/${other.id}`)).to.deep.equal([400, 'policy']);
    for (const action of ['rebase', 'revert', 'prepare'])
      expect(rejectionOf(await admin(`/changes/${id}/${action}`, json({}))), action).to.equal('409 INVALID_STATE');
    expect((await apply(id)).status).to.equal(200);
    await put({});
  });
});
