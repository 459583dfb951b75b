import { expect } from 'chai';
import {
  isDue,
  readWaitUntilNextDue,
  readWaitUntil,
  type ChangeFilter,
  HELD,
  countChanges,
  findOpenRevert,
  hasRowOf,
  storeWaitingReason,
  countMatchingChanges,
  listChanges,
  readChange,
  readWaiting,
  unfinishedChanges,
  writeChanges,
} from '../../../src/features/change-requests/rows.js';
import type { Approval, ChangeRequest, ChangeState, Proposal } from '../../../src/schema/change-requests/model.js';
import type { ApprovedView } from '../../../src/schema/model/events.js';
import { withPool } from '../../support/with-pool.js';

const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const ADA = { id: 'a', name: 'Ada' };
const BOB = { id: 'b', name: 'Bob' };
const VIEW: ApprovedView = { online: false, credential: 'token', findings: {}, kept: [] };

function request(number: number, state: ChangeState, more: Partial<ChangeRequest> = {}): ChangeRequest {
  return {
    id: idOf(number),
    state,
    operation: 'apply-diff',
    document: 'd',
    online: false,
    author: ADA,
    authors: [ADA],
    reason: null,
    collections: ['posts'],
    opened_at: '2026-01-02T03:04:05.678Z',
    opened_position: number,
    changed_at: '2026-01-02T03:04:05.678Z',
    position: number,
    proposal: null,
    applicant: null,
    schedule: null,
    reverts: null,
    preparation: null,
    result: null,
    failure: null,
    ...more,
  };
}
const proposal = (plan: string, ...approvals: [by: typeof ADA, plan: string][]): Proposal => ({
  title: 't',
  plan,
  base: 1,
  approvals: approvals.map(([by, source]): Approval => ({
    ...VIEW,
    by,
    plan: source,
    at: '',
    position: 1,
    comment: null,
  })),
  rejection: null,
  comments: [],
  described_at: null,
});
const preparing = (...collections: string[]) => ({ preparation: { collections, steps: [] } });
const schedule = (at: string, position = 7) => ({ schedule: { at, position, approved: false } });
const PAST = '2020-01-01T00:00:00Z';
const FUTURE = '2120-01-01T00:00:00Z';

describe('change requests as rows', () => {
  const { pool } = withPool({ each: true });

  const write = async (...requests: ChangeRequest[]): Promise<void> => {
    for (const { text, values } of writeChanges(requests)) await pool().query(text, values as unknown[]);
  };
  const numbers = (ids: readonly string[]): number[] => ids.map((id) => Number(id.slice(-12)));
  const listed = async (filter: ChangeFilter, page = { offset: 0, limit: 10 }): Promise<unknown[]> => {
    const requests = await listChanges(pool(), filter, page);
    const counts = [await countMatchingChanges(pool(), {}), await countMatchingChanges(pool(), filter)];
    return [numbers(requests.map(({ id }) => id)), ...counts];
  };
  const unfinished = async (): Promise<number[]> => numbers((await unfinishedChanges(pool())).map(({ id }) => id));
  const prepared = (number: number): Promise<unknown> =>
    pool().query(`INSERT INTO service.service_preparations (request, number, step) VALUES ($1, 1, '{}')`, [
      idOf(number),
    ]);

  it('are read as written, and can be updated', async () => {
    expect(writeChanges([])).to.deep.equal([]);
    await write(request(1, 'open'), request(2, 'queued', { collections: ['a', 'b'] }));
    const stored = async () => {
      const { rows } = await pool().query<{ request: unknown }>(
        'SELECT request FROM service.service_changes ORDER BY id',
      );
      return rows.map((row) => row.request);
    };
    expect((await stored())[0]).to.deep.equal(request(1, 'open'));
    expect(await readChange(pool(), idOf(1)), 'rows without events are not requests').to.equal(undefined);
    expect(await hasRowOf(pool(), idOf(1), undefined)).to.equal(false);
    expect(await hasRowOf(pool(), idOf(1), request(1, 'open'))).to.equal(true);
    const changed = request(2, 'preparing', { collections: ['b'], ...preparing('b') });
    await write(changed);
    expect((await stored())[1]).to.deep.equal(changed);
    const { rows } = await pool().query('SELECT state, collections, held FROM service.service_changes ORDER BY id');
    expect(rows).to.deep.equal([
      { state: 'open', collections: ['posts'], held: [] },
      { state: 'preparing', collections: ['b'], held: ['b'] },
    ]);
  });

  it('lock the tables they prepare, oldest first', async () => {
    await write(
      request(3, 'preparing', preparing('c')),
      request(2, 'prepared', preparing('a', 'b')),
      request(1, 'open', preparing('d')),
      request(4, 'applied', preparing('e')),
    );
    const { rows } = await pool().query<{ id: string; collections: string[] }>(HELD);
    expect(rows.map(({ id, collections }) => [...numbers([id]), ...collections])).to.deep.equal([
      [2, 'a', 'b'],
      [3, 'c'],
    ]);
  });

  it('store the reason for waiting until their state or time changes', async () => {
    const waiting = { phase: 'x', waiting_for: [] } as unknown as Parameters<typeof storeWaitingReason>[2];
    const waits = async (next: ChangeRequest): Promise<boolean> => {
      await write(request(1, 'scheduled', schedule(FUTURE)));
      await storeWaitingReason(pool(), idOf(1), waiting);
      expect(await readWaiting(pool(), idOf(1))).to.deep.equal(waiting);
      await write(next);
      return (await readWaiting(pool(), idOf(1))) !== null;
    };
    expect(await readWaiting(pool(), idOf(1))).to.equal(null);
    expect(await waits(request(1, 'scheduled', { ...schedule(FUTURE), reason: 'other' }))).to.equal(true);
    expect(await waits(request(1, 'scheduled', schedule(FUTURE, 8)))).to.equal(false);
    expect(await waits(request(1, 'applied'))).to.equal(false);
  });

  it('are listed newest first, filtered and in pages', async () => {
    await write(
      request(1, 'open'),
      request(2, 'applied', { author: BOB }),
      request(3, 'open', { collections: ['posts', 'users'] }),
      request(4, 'failed', { collections: [] }),
    );
    expect(await listed({})).to.deep.equal([[4, 3, 2, 1], 4, 4]);
    expect(await listed({}, { offset: 1, limit: 2 })).to.deep.equal([[3, 2], 4, 4]);
    expect(await listed({ state: 'open' })).to.deep.equal([[3, 1], 4, 2]);
    expect(await listed({ collection: 'users' })).to.deep.equal([[3], 4, 1]);
    expect(await listed({ author: 'b' })).to.deep.equal([[2], 4, 1]);
    expect(await listed({ state: 'open', collection: 'posts', author: 'a' }, { offset: 1, limit: 5 })).to.deep.equal([
      [1],
      4,
      2,
    ]);
    expect(await listed({ author: 'c' })).to.deep.equal([[], 4, 0]);
    expect(Object.fromEntries(await countChanges(pool()))).to.deep.equal({ open: 2, applied: 1, failed: 1 });
  });

  it('wait for eligible approvers who have not approved the current plan', async () => {
    await write(
      request(1, 'open', { proposal: proposal('p') }),
      request(2, 'open', { author: BOB, authors: [BOB], proposal: proposal('p') }),
      request(3, 'open', { proposal: proposal('p', [BOB, 'p']) }),
      request(4, 'open', { proposal: proposal('q', [BOB, 'p']) }),
      request(5, 'open'),
      request(6, 'approved', { proposal: proposal('p') }),
    );
    const waitingFor = async (may: 'none' | 'others' | 'all') => (await listed({ approver: { id: BOB.id, may } }))[0];
    expect(await waitingFor('all')).to.deep.equal([4, 2, 1]);
    expect(await waitingFor('others')).to.deep.equal([4, 1]);
    expect(await waitingFor('none')).to.deep.equal([]);
    expect((await listed({ approver: { id: ADA.id, may: 'others' } }))[0]).to.deep.equal([2]);
  });

  it('include the open reverts of another request', async () => {
    await write(
      ...(['applied', 'withdrawn', 'rejected', 'failed'] as const).map((state, index) =>
        request(index + 2, state, { reverts: idOf(1) }),
      ),
      request(7, 'open', { reverts: idOf(9) }),
    );
    expect(await findOpenRevert(pool(), idOf(1))).to.equal(undefined);
    await write(
      request(6, 'scheduled', { reverts: idOf(1), ...schedule(FUTURE) }),
      request(8, 'open', { reverts: idOf(1) }),
    );
    expect(await findOpenRevert(pool(), idOf(1))).to.equal(idOf(6));
  });

  it('are due for work if they need not wait for anyone', async () => {
    await write(
      request(1, 'open'),
      request(2, 'preparing', preparing('a')),
      request(3, 'prepared', preparing('b')),
      request(4, 'prepared', { ...preparing('c'), applicant: ADA }),
      request(5, 'queued', { collections: ['a'] }),
      request(6, 'queued', { collections: ['z'] }),
      request(7, 'scheduled', schedule(PAST)),
      request(8, 'scheduled', schedule(FUTURE)),
      request(9, 'applied'),
    );
    expect(await unfinished()).to.deep.equal([2, 4, 6, 7]);
  });

  it('are due for work if objects are left in the database', async () => {
    await write(
      request(1, 'withdrawn'),
      request(2, 'prepared', preparing('b')),
      request(3, 'scheduled', { ...schedule(FUTURE), ...preparing('c') }),
      request(4, 'scheduled', schedule(FUTURE)),
    );
    for (const number of [1, 2, 3, 4, 5]) await prepared(number);
    expect(await unfinished()).to.deep.equal([5, 1, 4]);
  });

  it("are due by the database's clock", async () => {
    expect(await isDue(pool(), request(1, 'open'))).to.equal(false);
    expect(await isDue(pool(), request(1, 'scheduled', schedule(PAST)))).to.equal(true);
    expect(await isDue(pool(), request(1, 'scheduled', schedule(FUTURE)))).to.equal(false);
    expect(await readWaitUntil(pool(), PAST)).to.be.below(-1e9);
    const soon = new Date(Date.now() + 60_000).toISOString();
    expect(await readWaitUntil(pool(), soon)).to.be.within(1, 60_500);
    expect(await readWaitUntilNextDue(pool())).to.equal(null);
    await write(request(1, 'scheduled', schedule(PAST)), request(2, 'approved', schedule(soon)));
    expect(await readWaitUntilNextDue(pool())).to.equal(null);
    await write(request(3, 'scheduled', schedule(FUTURE)), request(4, 'scheduled', schedule(soon)));
    expect(await readWaitUntilNextDue(pool())).to.be.within(1, 60_500);
  });
});
