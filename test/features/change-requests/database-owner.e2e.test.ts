import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pg from 'pg';
import { secretHash } from '../../../src/features/accounts/secrets.js';
import { checkExportedLog } from '../../../src/log/exported-log.js';
import { sha256 } from '../../../src/kernel/sha256.js';
import { createPlanReplay } from '../../../src/schema/change-requests/replay-plans.js';
import { policyUpdated } from '../../../src/schema/policy.js';
import { DEFAULT_POLICY } from '../../../src/schema/model/policy.js';
import { append } from '../../support/append.js';
import { json } from '../../support/client.js';
import { eventHash } from '../../support/event-hash.js';
import { projectionsPass, rewrite, tamper } from '../../support/tamper.js';
import { withService } from '../../support/with-service.js';
import { type Person, dataOf, diffOf, newPerson, open, rejectionOf, show, without } from './people.js';

interface Verified {
  ok: boolean;
  broken: { position: number; reason: string } | null;
  disallowed: { position: number; reason: string }[];
}

/** Someone with the privileges of the service's own database role, who removes the traces afterwards. */
describe('a database owner', () => {
  const { service, client: admin } = withService({ each: true, atEnd: () => db.end() });
  let db: pg.Client;
  let author: Person;
  let ada: Person;

  beforeEach(async () => {
    db = new pg.Client(service.databaseUrl);
    await db.connect();
    ada = await newPerson(admin, 'ada', 'admin');
    author = await newPerson(admin, 'author', 'author');
    const fields = ['title', 'body'].map((field) => ({ field, type: 'string', interface: 'input' }));
    expect((await admin('/collections', json({ collection: 'articles', schema: {}, fields }))).status).equal(200);
    const policy = { findings: { LOSES_DATA: 'approve' }, author_may_approve: false, policy_changes: 'approve' };
    expect((await admin('/policy', json(policy, 'PUT'))).status).equal(200);
  });

  const alter = (sql: string, values: unknown[] = []) =>
    tamper(service.databaseUrl, async (client) => void (await client.query(sql, values)));
  const verified = async (): Promise<Verified> => dataOf<Verified>(await admin('/history/verify'));
  const positionOf = async (type: string): Promise<number> => {
    const { rows } = await db.query<{ position: string }>(
      'SELECT position FROM service.service_events WHERE type = $1 ORDER BY position DESC LIMIT 1',
      [type],
    );
    return Number(rows[0]?.position);
  };
  const opened = async () =>
    open(author.send, { title: 'no body', diff: await diffOf(admin, without('articles', 'body')) });
  const apply = (id: string) => admin(`/changes/${id}/apply`, { method: 'POST' });

  it('cannot add approvals to the row of a request', async () => {
    const { id, plan } = await opened();
    const approval = {
      by: { id: ada.id, name: 'ada' },
      at: new Date().toISOString(),
      position: 1,
      comment: null,
      plan,
      online: false,
      credential: 'password',
      findings: { LOSES_DATA: ['articles.body'] },
      kept: ['articles.body'],
    };
    await db.query(
      `UPDATE service.service_changes SET state = 'approved', request = jsonb_set(jsonb_set(request, '{state}', '"approved"'),
         '{proposal,approvals}', $2) WHERE id = $1`,
      [id, JSON.stringify([approval])],
    );
    const shown = await show(admin, id);
    expect([shown.state, shown.proposal.approvals_counted]).deep.equal(['open', 0]);
    expect(rejectionOf(await apply(id))).equal('422 POLICY_REFUSED');
    // The next event writes the row from the log.
    expect((await ada.send(`/changes/${id}/approve`, json({ plan }))).status).equal(200);
    expect((await show(admin, id)).proposal.approvals.map(({ by }) => by.id)).deep.equal([ada.id]);
    expect((await apply(id)).status).equal(200);
    expect(await verified()).include({ ok: true });
  });

  it('cannot approve with an account or an API token that was inserted by hand', async () => {
    const { id, plan } = await opened();
    const mallory = randomUUID();
    await db.query(
      `INSERT INTO service.service_users (id, email, name, role, status) VALUES ($1, 'mallory@example.com', 'Mallory', 'admin', 'active')`,
      [mallory],
    );
    for (const [token, user] of [
      ['m'.repeat(40), mallory],
      ['a'.repeat(40), ada.id],
    ] as const) {
      await db.query(`INSERT INTO service.service_tokens (id, user_id, name, token_hash) VALUES ($1, $2, 'x', $3)`, [
        randomUUID(),
        user,
        secretHash(token),
      ]);
      expect((await admin(`/changes/${id}/approve`, { ...json({ plan }), token })).status).equal(200);
    }
    const { state, proposal } = await show(admin, id);
    expect([state, proposal.approvals_counted]).deep.equal(['open', 0]);
    expect(proposal.approvals.map((each) => each.why_not)).deep.equal(['no longer an admin', 'an issued credential']);
    expect(rejectionOf(await apply(id))).equal('422 POLICY_REFUSED');
  });

  it('cannot make a user an admin by hand', async () => {
    const { id, plan } = await opened();
    const bob = await newPerson(admin, 'bob', 'admin');
    expect((await admin(`/users/${bob.id}`, json({ role: 'auditor' }, 'PATCH'))).status).equal(200);
    await db.query(`UPDATE service.service_users SET role = 'admin' WHERE id = $1`, [bob.id]);
    expect((await bob.send(`/changes/${id}/approve`, json({ plan }))).status).below(300);
    expect((await show(admin, id)).proposal.approvals.map((each) => each.why_not)).include('no longer an admin');
    expect(rejectionOf(await apply(id))).equal('422 POLICY_REFUSED');
  });

  it('gains nothing from a policy or an approval that was altered in the log', async () => {
    const { id, plan } = await opened();
    const at = await positionOf('policy.updated');
    const { rows } = await db.query<{ data: object; hash: string }>(
      'SELECT data, hash FROM service.service_events WHERE position = $1',
      [at],
    );
    const [{ data, hash } = { data: {}, hash: '' }] = rows;
    await projectionsPass(service.databaseUrl, at);
    const weak = { policy: DEFAULT_POLICY };
    const remove = () => admin('/fields/articles/body', { method: 'DELETE' });
    const weakHash = eventHash({ ...dataOf<object>(await admin(`/history/events/${at}`)), data: weak } as never);
    for (const forged of [hash, weakHash]) {
      await alter('UPDATE service.service_events SET data = $2, hash = $3 WHERE position = $1', [at, weak, forged]);
      for (const reply of [await remove(), await apply(id), await admin('/policy')])
        expect(rejectionOf(reply), reply.text).equal('503 LOG_UNREADABLE');
      expect((await verified()).broken?.position).within(at, at + 1);
    }
    await alter('UPDATE service.service_events SET data = $2, hash = $3 WHERE position = $1', [at, data, hash]);
    expect(rejectionOf(await remove())).equal('422 POLICY_REFUSED');

    expect((await ada.send(`/changes/${id}/approve`, json({ plan }))).status).equal(200);
    const approved = await positionOf('change.approved');
    await projectionsPass(service.databaseUrl, approved - 1);
    const change = `UPDATE service.service_events SET data = jsonb_set(data, '{plan}', $2) WHERE position = $1`;
    await alter(change, [approved, JSON.stringify('0'.repeat(64))]);
    expect(rejectionOf(await apply(id))).equal('503 LOG_UNREADABLE');
    await alter(change, [approved, JSON.stringify(plan)]);
    expect((await apply(id)).status).equal(200);
    expect(await verified()).deep.include({ ok: true, broken: null, disallowed: [] });
  });

  it('is reported by verification for a change while the policy was out of the log', async () => {
    const at = await positionOf('policy.updated');
    expect((await admin('/collections', json({ collection: 'later', schema: {}, fields: [] }))).status).equal(200);
    await projectionsPass(service.databaseUrl, at);
    await db.query('CREATE TABLE public.hidden AS SELECT * FROM service.service_events WHERE position = $1', [at]);
    await alter('DELETE FROM service.service_events WHERE position = $1', [at]);
    const removed = await admin('/fields/articles/body', { method: 'DELETE' });
    expect(removed.status, removed.text).equal(204);
    await alter('INSERT INTO service.service_events SELECT * FROM public.hidden');
    await db.query('DROP TABLE public.hidden');

    const disallowed = [
      { position: await positionOf('field.deleted'), reason: 'it was not evaluated against the policy in force' },
    ];
    expect(await verified()).deep.include({ ok: false, broken: null, disallowed });
    const exported = await admin('/history/export');
    expect(await checked(exported.text)).deep.include({ ok: false, disallowed });
    const doctor = await admin('/server/doctor');
    expect(doctor.text).include('CHANGE_NOT_ALLOWED');
  });

  it('is reported by verification for an applied batch that was altered after its approval, with correct hashes', async () => {
    const { id, plan } = await opened();
    expect((await ada.send(`/changes/${id}/approve`, json({ plan }))).status).equal(200);
    expect((await apply(id)).status).equal(200);
    expect(await verified()).include({ ok: true });
    const position = await positionOf('change.applied');
    const exported = async () => (await admin('/history/export')).text;
    const intact = await exported();
    expect(await checked(intact)).include({ ok: true });

    await rewrite(service.databaseUrl, (events) =>
      events.map((event) => (event.type === 'field.deleted' ? { ...event, field: 'title' } : event)),
    );
    const altered = await checked(await exported());
    expect(altered.broken).equal(undefined);
    expect(altered.disallowed.map((each) => each.position)).deep.equal([position]);
    expect((await verified()).disallowed).deep.equal(altered.disallowed);

    // Without a policy, only the plan differs.
    await rewrite(service.databaseUrl, (events) => events.filter(({ type }) => type !== 'policy.updated'));
    const differs = [{ position: position - 1, reason: `it differs from the plan of change request ${id}` }];
    expect((await verified()).disallowed).deep.equal(differs);
  });

  it('is reported by verification for a policy that was appended by hand with correct hashes', async () => {
    const [event] = await append(service.databaseUrl, [policyUpdated(DEFAULT_POLICY)]);
    const { ok, disallowed } = await verified();
    expect([ok, disallowed.map(({ position }) => position)]).deep.equal([false, [event?.position]]);
  });
});

const checked = (text: string) => checkExportedLog(linesOf(text), { sha256, planOf: createPlanReplay() });

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.replace(/\n$/, '').split('\n');
}
