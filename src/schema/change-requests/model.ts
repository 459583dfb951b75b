/** A change request: a change that waits. Folded from its events; what it asks for stands in a document beside the log. */
import type { Warning } from '../../kernel/warning.js';
import type { ApprovedView, Cause, ChangeStep, OtherEvent, StoredEvent } from '../model/events.js';

/** Of the subjects of its events. */
export const CHANGE = 'change';

/**
 * `open`, `approved`, `rejected`: people talk about it. `scheduled`: it is applied at its time. `queued`: opened, and another request has its tables. The last three
 * are ends, but a proposal that failed can be tried again.
 */
export const CHANGE_STATES = [
  'open',
  'approved',
  'rejected',
  'scheduled',
  'queued',
  'preparing',
  'prepared',
  'applied',
  'failed',
  'withdrawn',
] as const;
export type ChangeState = (typeof CHANGE_STATES)[number];

export interface ChangeRequest {
  /** uuid */
  id: string;
  state: ChangeState;
  /** What it wants: the operation, and the hash of the document that says what with. */
  operation: string;
  document: string;
  online: boolean;
  /** Who opened it. */
  author: Cause['actor'];
  /** The author, and everyone who has changed what it asks for since; each once, in their order. */
  authors: Cause['actor'][];
  reason: string | null;
  /** Names of the collections that it changes, as it was decided when it was opened or updated. */
  collections: string[];
  /** ISO 8601 */
  opened_at: string;
  /** Of the event that opened it: the schema that it was decided for is the one before. */
  opened_position: number;
  /** Of its newest event. */
  changed_at: string;
  position: number;
  /** What people have said about it; null: nobody is asked, it is applied once it is prepared. */
  proposal: Proposal | null;
  /** Who wants it applied once it is prepared, or at its time; null: nobody yet. */
  applicant: Cause['actor'] | null;
  /** Of one that is `scheduled`, and null of all others. */
  schedule: Schedule | null;
  /** The change request whose change it takes back; null: it isn't about another one. */
  reverts: string | null;
  /** What is done before it is applied; null: that is not known yet, or nothing is. */
  preparation: Preparing | null;
  /** The batch that it became, and where that ends. */
  result: { batch: string; position: number } | null;
  /** Why it failed: the code of the first problem, and the hash of the document that says all. */
  failure: { code: string; document: string } | null;
}

export interface Proposal {
  title: string;
  /** The hash of its plan (`plan-hash.ts`): what approvals are for. */
  plan: string;
  /** Position of the schema that its diff starts from. */
  base: number;
  /** The newest of each person, in their order. One for another plan doesn't count. */
  approvals: Approval[];
  rejection: Said | null;
  /** In their order. */
  comments: Said[];
  /** When its title or reason was last changed; null: never. ISO 8601 */
  described_at: string | null;
}

export interface Schedule {
  /** ISO 8601, by the database's clock. */
  at: string;
  /** Of the event that said so: which schedule it is. */
  position: number;
  /** It had been approved as often as the policy asks for. */
  approved: boolean;
}

/** What somebody said; the text is a document beside the log. */
export interface Said {
  by: Cause['actor'];
  /** ISO 8601 */
  at: string;
  position: number;
  /** The hash of the document; null: nothing was said. */
  comment: string | null;
}

export interface Approval extends Said, ApprovedView {
  plan: string;
}

export interface Preparing {
  /** Collections whose tables change in no other way meanwhile. */
  collections: string[];
  /** In their order; `milliseconds`: what they took together with all that they waited for, once all are done. */
  steps: (ChangeStep & { milliseconds?: number })[];
  /** What people should know of it. */
  warnings?: Warning[];
}

/** An event about a change request. */
export type ChangeEvent = Extract<OtherEvent, { type: `change.${string}` }>;

/** In the log. */
export type StoredChangeEvent = ChangeEvent &
  Pick<StoredEvent, 'position' | 'batch' | 'occurred_at' | 'actor' | 'reason'>;

export type ChangeEventOf<T extends ChangeEvent['type']> = Extract<StoredChangeEvent, { type: T }>;

/** Nobody works on it, and nothing of it may be left in the database. */
const AT_REST: ReadonlySet<ChangeState> = new Set(['open', 'approved', 'rejected', 'applied', 'failed', 'withdrawn']);

/** Whether nobody works on it now; one that waits for its time, unprepared, is at rest too. */
export const isAtRest = ({ state, preparation }: Pick<ChangeRequest, 'state' | 'preparation'>): boolean =>
  AT_REST.has(state) || (state === 'scheduled' && preparation === null);

const ENDED: ReadonlySet<ChangeState> = new Set(['applied', 'failed', 'withdrawn']);

/** Whether no work on it is left. One that failed may be taken up again by people. */
export const isEnded = ({ state }: Pick<ChangeRequest, 'state'>): boolean => ENDED.has(state);

/** Collections whose tables it keeps others from changing. */
export const heldBy = (request: ChangeRequest): readonly string[] =>
  isAtRest(request) ? [] : (request.preparation?.collections ?? []);
