import { expect } from 'chai';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';
import { type Person, dataOf, diffOf, newPerson, open, refusal, show, without } from './people.js';

const FIELDS = ['title', 'body', 'subtitle'].map((field) => ({
  field,
  type: 'string',
  interface: 'input',
  schema: {},
}));

describe('change requests under a policy', () => {
  const { client: admin } = withService({ consistent: true });
  let second: Person;

  before(async () => {
    expect((await admin('/collections', json({ collection: 'pages', schema: {}, fields: FIELDS }))).status).to.equal(
      200,
    );
    second = await newPerson(admin, 'second', 'admin');
  });

  const policy = (wanted: object) => admin('/policy', json(wanted, 'PUT'));

  it('need approvals of eligible others if the policy requires them', async () => {
    const set = await policy({ findings: { LOSES_DATA: 'approve' }, approvals: 2, author_may_approve: false });
    expect(set.status, set.text).to.equal(200);
    try {
      const diff = await diffOf(admin, without('pages', 'subtitle'));
      expect(refusal(await admin('/schema/apply', json(diff)))).to.equal('422 POLICY_REFUSED');
      const third = await newPerson(admin, 'third', 'admin');
      const { id, plan } = await open(second.send, { title: 'No subtitles', diff });
      const apply = () => admin(`/changes/${id}/apply`, { method: 'POST' });
      expect(refusal(await apply())).to.equal('422 POLICY_REFUSED');
      expect(refusal(await second.send(`/changes/${id}/approve`, json({ plan })))).to.equal('403 FORBIDDEN');
      for (const _ of [1, 2])
        expect(dataOf(await admin(`/changes/${id}/approve`, json({ plan }))).state, 'one person twice').to.equal(
          'open',
        );
      expect(refusal(await apply())).to.equal('422 POLICY_REFUSED');
      expect(dataOf(await third.send(`/changes/${id}/approve`, json({ plan }))).state).to.equal('approved');
      expect((await admin(`/users/${third.id}`, json({ role: 'auditor' }, 'PATCH'))).status).to.equal(200);
      expect((await show(admin, id)).proposal).to.deep.include({ approvals_needed: 2, approvals_counted: 1 });
      expect(refusal(await apply()), 'an approver was demoted').to.equal('422 POLICY_REFUSED');
      expect((await admin(`/users/${third.id}`, json({ role: 'admin' }, 'PATCH'))).status).to.equal(200);
      const applied = await apply();
      expect(applied.status, applied.text).to.equal(200);
    } finally {
      expect((await policy({})).status).to.equal(200);
    }
  });

  it('reject acknowledgements of another plan at their location', async () => {
    const diff = await diffOf(admin, without('pages', 'body'));
    const [real, other] = ['pages.body', 'pages.nothing'].map((place) => [{ code: 'LOSES_DATA', place }]);
    const header = { ...json({}).headers, 'x-acknowledge': 'LOSES_DATA:pages.nothing' };
    const asked = { title: 'No body', diff };
    const refusals = [
      await admin('/changes', json({ ...asked, acknowledge: other })),
      await admin('/changes', { ...json(asked), headers: header }),
    ];
    const { id } = await open(admin, { ...asked, acknowledge: real });
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
    expect(losing).to.deep.equal(['drop column pages.body: data is lost for good']);
    expect(planned?.loses).to.deep.equal([{ collection: 'pages', field: 'body', kept: false }]);
    expect(refusal(await admin(`/changes/${id}/apply`, { method: 'POST' }))).to.equal('422 POLICY_REFUSED');
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
});
