/** A change request: a change that waits. Folded from its events; what it asks for stands in a document beside the log. */
import type { Warning } from '../../kernel/warning.js';
import type { Cause, ChangeStep, OtherEvent } from '../model/events.js';

/** Of the subjects of its events. */
export const CHANGE = 'change';

/** `queued`: opened, and another request has its tables. The last three are ends. */
export const CHANGE_STATES = ['queued', 'preparing', 'prepared', 'applied', 'failed', 'withdrawn'] as const;
export type ChangeState = (typeof CHANGE_STATES)[number];

export interface ChangeRequest {
  /** uuid */
  id: string;
  state: ChangeState;
  /** What it wants: the operation, and the hash of the document that says what with. */
  operation: string;
  document: string;
  online: boolean;
  author: Cause['actor'];
  reason: string | null;
  /** Names of the collections that it changes, as it was decided when it was opened. */
  collections: string[];
  /** ISO 8601 */
  opened_at: string;
  /** Of the event that opened it: the schema that it was decided for is the one before. */
  opened_position: number;
  /** Of its newest event. */
  changed_at: string;
  position: number;
  /** What is done before it is applied; null: that is not known yet, or nothing is. */
  preparation: Preparing | null;
  /** The batch that it became, and where that ends. */
  result: { batch: string; position: number } | null;
  /** Why it failed: the code of the first problem, and the hash of the document that says all. */
  failure: { code: string; document: string } | null;
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

const ENDED: ReadonlySet<ChangeState> = new Set(['applied', 'failed', 'withdrawn']);

export const isEnded = ({ state }: Pick<ChangeRequest, 'state'>): boolean => ENDED.has(state);

/** Collections whose tables it keeps others from changing. */
export const heldBy = (request: ChangeRequest): readonly string[] =>
  isEnded(request) ? [] : (request.preparation?.collections ?? []);
