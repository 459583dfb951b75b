/** The policy in the admin app: admins set it, auditors read it, and a review that it blocks. */
import { expect } from 'chai';
import { expectAccessible, expectFits, expectValue, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

describe('the policy in the admin app', () => {
  const app = withApp();
  let then = 0;

  const policy = async () => ((await app.client('/policy')).json as { data: Record<string, unknown> }).data;
  const set = async (body: object) => expect((await app.client('/policy', json(body, 'PUT'))).status).to.equal(200);

  before(async () => {
    then = ((await app.client('/server/info')).json as { data: { position: number } }).data.position;
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    const { status, text } = await app.client('/collections', json({ collection: 'articles', schema: {}, fields }));
    expect(status, text).to.equal(200);
  });

  it('shows the action for each finding, and is changed with a reason', async () => {
    const page = await app.visit({ path: '/operations/policy' });
    await page.getByText('No policy is set. The service rejects nothing.').waitFor();
    await page.getByLabel('Action for LOSES_DATA').selectOption('acknowledge');
    await page.getByRole('textbox', { name: 'Pattern' }).fill('tmp_*');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Remove LOSES_DATA from tmp_*' }).waitFor();
    await page.getByLabel('Online above this row count').fill('50000');
    await expectAccessible(page);
    await page.getByLabel('Reason', { exact: true }).fill('agreed on');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText(/^The policy applies to every schema change\. Set /).waitFor();
    expect(await policy()).to.deep.equal({
      findings: { LOSES_DATA: 'acknowledge' },
      collections: [{ pattern: 'tmp_*', findings: { LOSES_DATA: 'warn' } }],
      online_above_rows: 50_000,
      approvals: 1,
      author_may_approve: true,
      requires_reason: false,
      policy_changes: 'free',
    });
  });

  it('starts from a preset that keeps the rules for collections', async () => {
    const collections = [{ pattern: 'tmp_*', findings: { LOSES_DATA: 'note' } }];
    await set({ findings: { MAY_FAIL: 'refuse' }, collections });
    const page = await app.visit({ path: '/operations/policy' });
    await page.getByRole('button', { name: 'Use Production' }).click();
    await expectValue(page.getByLabel('Online above this row count'), '100,000');
    expect((await policy())['author_may_approve'], 'nothing is saved yet').to.equal(true);
    await page.getByRole('button', { name: 'Use Cautious' }).click();
    await expectValue(page.getByLabel('Online above this row count'), '');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save policy' }).click();
    await until('the policy is saved', async () => (await policy())['policy_changes'] === 'acknowledge');
    expect(await policy()).to.deep.equal({
      findings: {
        BREAKS_CLIENTS: 'acknowledge',
        DATA_NOT_KEPT: 'acknowledge',
        LONG_LOCK: 'acknowledge',
        LOSES_DATA: 'acknowledge',
        REWRITES_TABLE: 'acknowledge',
      },
      collections,
      online_above_rows: null,
      approvals: 1,
      author_may_approve: true,
      requires_reason: false,
      policy_changes: 'acknowledge',
    });
    const loosened = json({}, 'PUT');
    const headers = { ...loosened.headers, 'x-acknowledge': 'LOOSENS_POLICY:' };
    expect((await app.client('/policy', { ...loosened, headers })).status).to.equal(200);
  });

  it('does not overwrite the policy that another user has set in the meantime', async () => {
    app.mayComplain(/status of 412/);
    await set({ findings: { LOSES_DATA: 'warn' } });
    const page = await app.visit({ path: '/operations/policy' });
    await page.getByLabel('Action for MAY_FAIL').selectOption('refuse');
    await set({ findings: { LOSES_DATA: 'refuse' } });
    await page.getByText('Another user saved a new policy').waitFor();
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('has changed since you read it').waitFor();
    expect((await policy())['findings']).to.deep.equal({ LOSES_DATA: 'refuse' });
  });

  it('requires a reason where the policy does, and marks the input', async () => {
    await set({});
    const page = await app.visit({ path: '/operations/policy' });
    const required = page.getByRole('switch', { name: 'Every change needs a reason' });
    await required.check();
    await page.getByRole('button', { name: 'Save policy' }).click();
    try {
      await until('the policy is saved', async () => (await policy())['requires_reason'] === true);
      await page.getByPlaceholder('Required by the policy').waitFor();
      await required.uncheck();
      await page.getByRole('button', { name: 'Save policy', disabled: true }).waitFor();

      const review = await app.visit({ path: `/review?to=${then}` });
      const missing = review.getByText('The policy requires a reason before you apply.');
      const reason = review.getByRole('textbox', { name: 'Reason' });
      await missing.waitFor();
      expect(await review.getByRole('button', { name: /^Apply(: delete .*)?$/ }).isDisabled()).to.equal(true);
      await expectAccessible(review);
      await reason.fill('  ');
      await missing.waitFor();
      await reason.fill('tried out');
      await missing.waitFor({ state: 'hidden' });
      await review.getByRole('button', { name: /^Apply(: delete .*)?$/, disabled: false }).waitFor();

      await page.getByPlaceholder('Required by the policy').fill('it was only a trial');
      await page.getByRole('button', { name: 'Save policy', disabled: false }).click();
      await until('the policy is saved', async () => (await policy())['requires_reason'] === false);
    } finally {
      const free = json({}, 'PUT');
      await app.client('/policy', { ...free, headers: { ...free.headers, 'x-reason': 'for the next test' } });
    }
  });

  it('is visible to auditors, and fits a phone', async () => {
    await set({ findings: { LOSES_DATA: 'refuse' } });
    const page = await app.visit({ path: '/operations/policy', as: await app.user('auditor'), narrow: true });
    await page.getByText('rejected', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Save policy' }).count()).to.equal(0);
    expect(await page.getByLabel('Action for LOSES_DATA').count()).to.equal(0);
    await expectFits(page);
  });

  it('blocks a review: rejected changes are marked and cannot be applied', async () => {
    await set({ findings: { LOSES_DATA: 'refuse' } });
    const page = await app.visit({ path: `/review?to=${then}` });
    const known = page.getByRole('complementary', { name: 'Risks' });
    await known.getByRole('heading', { name: 'Blocked by the policy' }).waitFor();
    await known.getByText('The policy rejects it.').waitFor();
    await page.getByText(/The policy blocks this change because of 1 finding/).waitFor();
    expect(await page.getByRole('button', { name: /^Apply(: delete .*)?$/ }).isDisabled()).to.equal(true);
    await expectAccessible(page);
  });

  it('admits acknowledged findings, and records the acknowledgement in the events', async () => {
    await set({ findings: { LOSES_DATA: 'acknowledge' } });
    const page = await app.visit({ path: `/review?to=${then}` });
    const apply = page.getByRole('button', { name: /^Apply(: delete .*)?$/ });
    await page.getByText(/Acknowledge 1 finding/).waitFor();
    expect(await apply.isDisabled()).to.equal(true);
    await page.getByRole('checkbox', { name: 'Acknowledge LOSES_DATA:articles' }).check();
    await page.getByText(/Acknowledge 1 finding/).waitFor({ state: 'hidden' });
    await apply.click();
    await page.waitForURL(/done=/);
    const { json: events } = await app.client('/history/events?type=collection.deleted');
    expect((events as { data: { context: object }[] }).data[0]?.context).to.deep.include({
      acknowledged: [{ code: 'LOSES_DATA', place: 'articles' }],
    });
  });

  it('asks for an acknowledgement of a looser policy if its changes must be acknowledged', async () => {
    await set({ findings: { LOSES_DATA: 'refuse' }, approvals: 2 });
    const page = await app.visit({ path: '/operations/policy' });
    const save = page.getByRole('button', { name: 'Save policy' });
    const loosens = page.getByRole('checkbox', { name: /^I know that this loosens the policy/ });
    await page.getByLabel('Changes to this policy').selectOption('acknowledge');
    await save.click();
    await page.getByRole('button', { name: 'Discard', disabled: true }).waitFor();
    expect((await policy())['policy_changes']).to.equal('acknowledge');
    await page.getByLabel('Required approvals').fill('3');
    expect(await loosens.count()).to.equal(0);
    await page.getByLabel('Required approvals').fill('1');
    await page.getByText('I know that this loosens the policy: approvals').waitFor();
    expect(await save.isDisabled()).to.equal(true);
    await loosens.check();
    await page.getByLabel('Action for LOSES_DATA').selectOption('warn');
    await page.getByText('I know that this loosens the policy: approvals, findings.LOSES_DATA').waitFor();
    expect(await save.isDisabled(), 'another policy must be acknowledged again').to.equal(true);
    await loosens.check();
    await expectAccessible(page);
    await save.click();
    await page.getByRole('button', { name: 'Discard', disabled: true }).waitFor();
    expect((await policy())['approvals']).to.equal(1);
    const { json: policyEvents } = await app.client('/history/events?type=policy.updated&order=desc&limit=1');
    expect((policyEvents as { data: { context: object }[] }).data[0]?.context).to.deep.include({
      acknowledged: [{ code: 'LOOSENS_POLICY', place: '' }],
    });
  });

  it('opens a change request if its changes require approval, which shows what would change', async () => {
    const known = { ...json({}).headers, 'x-acknowledge': 'LOOSENS_POLICY:' };
    await app.client('/policy', { ...json({ findings: { LOSES_DATA: 'refuse' } }, 'PUT'), headers: known });
    await set({ findings: { LOSES_DATA: 'refuse' }, policy_changes: 'approve' });
    const page = await app.visit({ path: '/operations/policy' });
    const open = page.getByRole('button', { name: 'Open a change request' });
    await page.getByLabel('Required approvals').fill('2');
    await page.getByLabel('Action for LOSES_DATA').selectOption('');
    await page.getByRole('textbox', { name: 'Pattern' }).fill('tmp_*');
    await page.getByRole('button', { name: 'Add' }).click();
    expect(await open.isDisabled()).to.equal(true);
    await page.getByLabel('Title', { exact: true }).fill('Two approvals');
    await expectAccessible(page);
    await open.click();
    await page.getByRole('heading', { name: 'Two approvals' }).waitFor();
    const rows = async () =>
      Promise.all(
        (await page.getByRole('table', { name: 'Changes to the policy' }).getByRole('row').all()).map((row) =>
          row.getByRole('cell').allInnerTexts(),
        ),
      );
    await page.getByRole('columnheader', { name: 'In force' }).waitFor();
    expect((await rows()).slice(1)).to.deep.equal([
      ['Required approvals', '1', '2'],
      ['LOSES_DATA', 'rejected', 'default for its level'],
      ['LOSES_DATA in tmp_*', 'no rule', 'shown as a warning'],
    ]);
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectFits(page);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect((await policy())['approvals']).to.equal(1);

    const created = await app.client('/collections', json({ collection: 'others', schema: {}, fields: [] }));
    const review = await app.visit({ path: `/review?to=${Number(created.headers.get('x-log-position')) - 1}` });
    await review.getByRole('button', { name: 'Propose' }).click();
    await review.getByText('Nothing changes until the request is approved and applied.').waitFor();
    expect(await review.getByLabel('Propose as').count(), 'a review replaces no policy').to.equal(0);

    await page.getByRole('button', { name: 'Approve' }).click();
    await page
      .getByRole('button')
      .filter({ hasText: /^Apply$/ })
      .click();
    await page.getByText('This request is applied.').waitFor();
    expect((await policy())['approvals']).to.equal(2);
  });
});
