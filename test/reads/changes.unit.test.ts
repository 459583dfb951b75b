import type { ApprovedView } from '../../src/schema/model/events.js';
import { expect } from 'chai';
import type { KeptStep } from '../../src/features/change-requests/rows.js';
import type { StepProgress } from '../../src/projector/online/types.js';
import { showChange, summaryOf } from '../../src/features/change-requests/read.js';
import { DEFAULT_POLICY } from '../../src/schema/policy.js';
import type { ChangeRequest, ChangeState, CommentEntry } from '../../src/schema/change-requests/model.js';
import type { Document } from '../../src/log/document-lines.js';

const ADA = { id: 'a', name: 'Ada' };
const BOB = { id: 'b', name: 'Bob' };
const AT = '2026-01-01T00:00:00.000Z';

const STEPS = ['index', 'validate', 'switch'].map((kind) => ({
  key: `${kind} orders.title`,
  kind,
  collection: 'orders',
  field: 'title',
  summary: kind,
}));

const REQUEST: ChangeRequest = {
  id: '7b0b6c6e-0000-4000-8000-000000000001',
  state: 'preparing',
  operation: 'update-fields',
  document: 'asked',
  online: true,
  author: ADA,
  authors: [ADA],
  reason: 'because',
  collections: ['orders'],
  opened_at: AT,
  opened_position: 4,
  changed_at: AT,
  position: 5,
  proposal: null,
  applicant: ADA,
  schedule: null,
  reverts: null,
  preparation: { collections: ['orders', 'customers'], steps: STEPS },
  result: null,
  failure: null,
};

const messagesOf = (position: number, comment: string | null): CommentEntry => ({ by: BOB, at: AT, position, comment });

const VIEW: ApprovedView = { online: true, credential: 'token', findings: {}, kept: [] };

const SEEN = { online: true, credential: 'token' };

const PROPOSAL: NonNullable<ChangeRequest['proposal']> = {
  title: 'Shorter titles',
  plan: 'plan',
  base: 3,
  approvals: [
    { ...messagesOf(6, 'yes'), by: BOB, plan: 'plan', ...VIEW },
    { ...messagesOf(7, null), by: ADA, plan: 'another plan', ...VIEW },
  ],
  rejection: messagesOf(8, 'no'),
  comments: [messagesOf(9, 'erased'), messagesOf(10, 'lost')],
  described_at: null,
};

const documents = new Map<string, Document>(
  Object.entries({
    asked: '{"fields":[]}',
    why: '{"problems":[{"code":"DATABASE_REFUSED","message":"no"}]}',
    yes: '{"comment":"yes, do"}',
    no: '{"comment":"no, do not"}',
    erased: null,
  }).map(([hash, content]) => [hash, { hash, content }]),
);

const NOTHING = { documents, kept: [], ahead: [] };

describe('a change request in a list', () => {
  it('shows its content, author and result', () => {
    const { id, operation, online, collections, author, reason, opened_at, opened_position, changed_at } = REQUEST;
    const same = { id, operation, online, collections, author, reason, opened_at, opened_position, changed_at };
    const absent = { title: null, plan: null, scheduled_at: null, reverts: null, result: null, error: null };
    expect(summaryOf(REQUEST)).to.deep.equal({ ...same, ...absent, state: 'preparing' });
    const result = { batch: 'b', position: 9 };
    const more = {
      schedule: { at: AT, position: 9, approved: true },
      proposal: PROPOSAL,
      failure: { code: 'DATABASE_REFUSED', document: 'why' },
      reverts: 'another',
      result,
    };
    expect(summaryOf({ ...REQUEST, ...more })).to.deep.equal({
      ...same,
      state: 'preparing',
      title: 'Shorter titles',
      plan: 'plan',
      scheduled_at: AT,
      reverts: 'another',
      result,
      error: 'DATABASE_REFUSED',
    });
  });
});

describe('a single change request', () => {
  it('shows its content without missing members', () => {
    expect(showChange({ ...REQUEST, state: 'queued', preparation: null }, { ...NOTHING, ahead: ['x'] })).to.deep.equal({
      ...summaryOf({ ...REQUEST, state: 'queued' }),
      document: { hash: 'asked', content: { fields: [] } },
      steps: [],
      holds: [],
      queued_behind: ['x'],
      waiting_for: [],
      cleaning: false,
      warnings: [],
      problems: null,
      allowed: ['withdraw'],
      proposal: null,
    });
  });

  it('shows an erased document as null', () => {
    const erased = { ...REQUEST, document: 'erased', failure: { code: 'IN_USE', document: 'erased' } };
    expect(showChange(erased, NOTHING)).to.deep.include({
      document: { hash: 'erased', content: null },
      problems: null,
    });
  });

  it('shows why it failed', () => {
    const failed = { ...REQUEST, state: 'failed' as const, failure: { code: 'DATABASE_REFUSED', document: 'why' } };
    expect(showChange(failed, NOTHING)).to.deep.include({
      problems: [{ code: 'DATABASE_REFUSED', message: 'no' }],
      holds: [],
    });
    expect(showChange(REQUEST, NOTHING).holds).to.deep.equal(['orders', 'customers']);
  });

  const holder = { pid: 41, transaction: '3/7', application: 'shop', age: 12.4, table: 'orders', maintenance: false };
  const progress: StepProgress = { done: 0.25, phase: 'scanning', waiting_for: [holder] };

  const kept = (index: number, more: Partial<KeptStep>): KeptStep => ({
    number: index + 1,
    step: { ...(STEPS[index] as (typeof STEPS)[number]), rows: 1_000, bytes: 8_192 },
    checkpoint: null,
    progress: null,
    started_at: new Date(AT),
    milliseconds: null,
    ...more,
  });
  const working = [
    kept(0, { milliseconds: 700, progress }),
    kept(1, { progress }),
    kept(2, { started_at: null, progress: null }),
  ];

  it('shows its steps as done, running and waiting', () => {
    const sizes = { rows: 1_000, bytes: 8_192 };
    expect(showChange(REQUEST, { ...NOTHING, kept: working }).steps).to.deep.equal([
      { ...STEPS[0], ...sizes, state: 'done', done: 1, phase: null, started_at: AT, milliseconds: 700 },
      { ...STEPS[1], ...sizes, state: 'running', done: 0.25, phase: 'scanning', started_at: AT, milliseconds: null },
      { ...STEPS[2], ...sizes, state: 'waiting', done: null, phase: null, started_at: null, milliseconds: null },
    ]);
  });

  it('shows its steps from its events after cleanup', () => {
    const unknown = { rows: null, bytes: null, phase: null, started_at: null };
    const [first, second] = STEPS;
    const steps = [{ ...first, milliseconds: 700 }, second] as NonNullable<ChangeRequest['preparation']>['steps'];
    const applied = { ...REQUEST, state: 'applied' as const, preparation: { collections: ['orders'], steps } };
    expect(showChange(applied, NOTHING).steps).to.deep.equal([
      { ...first, ...unknown, state: 'done', done: 1, milliseconds: 700 },
      { ...second, ...unknown, state: 'waiting', done: null, milliseconds: null },
    ]);
  });

  it('shows nothing as running after its end, and a pending cleanup', () => {
    const withdrawn = showChange({ ...REQUEST, state: 'withdrawn' }, { ...NOTHING, kept: working });
    expect(withdrawn.steps.map(({ state, done }) => [state, done])).to.deep.equal([
      ['done', 1],
      ['waiting', null],
      ['waiting', null],
    ]);
    expect(withdrawn).to.deep.include({ cleaning: true, waiting_for: [], holds: [] });
    expect(showChange({ ...REQUEST, state: 'withdrawn' }, NOTHING).cleaning).to.equal(false);
    expect(showChange({ ...REQUEST, state: 'withdrawn' }, { ...NOTHING, kept: [kept(0, {})] }).cleaning).to.equal(true);
    expect(showChange(REQUEST, { ...NOTHING, kept: working }).cleaning).to.equal(false);
  });

  it('shows blocking transactions, even without steps', () => {
    const shown = { pid: 41, application_name: 'shop', age_seconds: 12, collection: 'orders' };
    const waitingFor = (state: ChangeState, about: object) =>
      showChange({ ...REQUEST, state, preparation: null }, { ...NOTHING, ...about }).waiting_for;
    expect(waitingFor('preparing', { kept: [kept(1, { progress })] })).to.deep.equal([shown]);
    const nameless = { ...holder, age: null, pid: null, application: '' };
    const waiting: StepProgress = { ...progress, waiting_for: [{ ...holder, age: -1 }, nameless] };
    expect(waitingFor('prepared', { waiting })).to.deep.equal([
      { ...shown, age_seconds: 0 },
      { ...shown, pid: null, application_name: '', age_seconds: null },
    ]);
    expect(waitingFor('prepared', { waiting: null })).to.deep.equal([]);
    expect(waitingFor('scheduled', { waiting: progress })).to.deep.equal([shown]);
    for (const state of ['open', 'approved', 'rejected', 'applied', 'failed', 'withdrawn'] as const)
      expect(waitingFor(state, { waiting: progress }), state).to.deep.equal([]);
  });

  it('shows comments, and which approvals count', () => {
    const policy = { ...DEFAULT_POLICY, approvals: 2, author_may_approve: false };
    const judging = { policy, approvers: { admins: new Set(['a', 'b']), issued: new Set<number>() } };
    const open = { ...REQUEST, state: 'open' as const, proposal: PROPOSAL };
    expect(showChange(open, { ...NOTHING, judging }).proposal).to.deep.equal({
      base: 3,
      approvals_needed: 2,
      approvals_counted: 1,
      author_may_approve: false,
      authors: [ADA],
      described_at: null,
      approvals: [
        { by: BOB, at: AT, position: 6, text: 'yes, do', plan: 'plan', ...SEEN, counts: true, why_not: null },
        {
          by: ADA,
          at: AT,
          position: 7,
          text: null,
          plan: 'another plan',
          ...SEEN,
          counts: false,
          why_not: 'another plan',
        },
      ],
      rejection: { by: BOB, at: AT, position: 8, text: 'no, do not' },
      comments: [
        { by: BOB, at: AT, position: 9, text: null, place: null },
        { by: BOB, at: AT, position: 10, text: null, place: null },
      ],
    });
    const quiet = { ...open, proposal: { ...PROPOSAL, rejection: null, approvals: [], comments: [] } };
    expect(showChange(quiet, NOTHING).proposal).to.deep.equal({
      base: 3,
      approvals_needed: DEFAULT_POLICY.approvals,
      approvals_counted: 0,
      author_may_approve: DEFAULT_POLICY.author_may_approve,
      authors: [ADA],
      described_at: null,
      approvals: [],
      rejection: null,
      comments: [],
    });
  });
});
