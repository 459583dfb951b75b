/** Responses of the service, with values for the members that a test does not examine. */
import type { z } from 'zod';
import type { changeRequest } from '../../src/features/change-requests/routes-answers.js';
import type { plan } from '../../src/http/openapi/answers/operating.js';
import type { finding } from '../../src/http/openapi/answers/schema.js';

type Finding = z.output<typeof finding>;
type ChangeRequest = z.output<typeof changeRequest>;
type Proposal = NonNullable<ChangeRequest['proposal']>;
type Planned = NonNullable<ChangeRequest['planned']>;
type Step = ChangeRequest['steps'][number];
type Problem = NonNullable<ChangeRequest['errors']>[number];
type Statement = Planned['statements'][number];

export const answeredFinding = (more: Pick<Finding, 'code' | 'message'> & Partial<Finding>): Finding => ({
  level: 'warn',
  why: '',
  aliases: [],
  ...more,
});

export const answeredProblem = (message: string): Problem => ({ message, extensions: { code: 'INVALID_PAYLOAD' } });

export const answeredStep = (summary: string, more: Partial<Step> = {}): Step => ({
  key: summary,
  kind: 'copy',
  collection: 'a',
  field: null,
  summary,
  state: 'waiting',
  done: null,
  phase: null,
  rows: null,
  bytes: null,
  started_at: null,
  milliseconds: null,
  ...more,
});

export const answeredStatement = (more: Partial<Statement>): Statement => ({
  sql: '',
  summary: '',
  lock: '',
  loses_data: false,
  rewrites_table: false,
  may_fail: false,
  event: 0,
  collection: 'a',
  field: null,
  ...more,
});

export const answeredPlan = (more: Partial<z.output<typeof plan>>): z.output<typeof plan> => ({
  accepted: true,
  events: [],
  statements: [],
  warnings: [],
  ...more,
});

export const answeredProposal = (more: Partial<Proposal>): Proposal => ({
  base: 0,
  approvals_needed: 1,
  approvals_counted: 0,
  author_may_approve: false,
  authors: [],
  described_at: null,
  approvals: [],
  rejection: null,
  comments: [],
  ...more,
});

export const answeredPlanned = (more: Partial<Planned>): Planned => ({
  fresh: true,
  hash: null,
  errors: null,
  diff: null,
  policy: null,
  statements: [],
  tables: [],
  findings: [],
  loses: [],
  view: null,
  returns: [],
  ...more,
});

/** A change request of "ann" for the collection "a". */
export const answeredChange = (more: Partial<ChangeRequest>): ChangeRequest => ({
  id: '5d3f',
  state: 'applied',
  title: null,
  operation: 'apply-diff',
  online: false,
  collections: ['a'],
  plan: null,
  author: { id: 'u1', name: 'ann' },
  reason: null,
  opened_at: '2026-01-02T03:04:05.678Z',
  opened_position: 1,
  changed_at: '2026-01-02T03:04:05.678Z',
  scheduled_at: null,
  reverts: null,
  result: null,
  error: null,
  document: { hash: '', content: null },
  steps: [],
  holds: [],
  queued_behind: [],
  waiting_for: [],
  cleaning: false,
  warnings: [],
  errors: null,
  allowed: [],
  proposal: null,
  ...more,
});
