/** A change request is folded from its events. Its requested change is a document outside the log. */
import { z } from 'zod';
import type { Warning } from '../../kernel/problem.js';
import type { ApprovedView, Cause, ChangeStep, OtherEvent, StoredEvent } from '../model/events.js';
import { objectDocument } from '../model/object-document.js';

/** The subject kind of the events about change requests. */
export const CHANGE = 'change';

/**
 * `open`, `approved` and `rejected` are review states. A `scheduled` request is applied at its time. A `queued` one
 * waits because another request holds its tables. The last three states are final, except that a failed proposal can be
 * retried.
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
  /** A UUID. */
  id: string;
  state: ChangeState;
  /** The name of the operation, and the hash of the document with its input. */
  operation: string;
  document: string;
  online: boolean;
  /** The user who opened the request. */
  author: Cause['actor'];
  /**
   * The author, all users who changed its content, and the users who issued their credentials, each once, in order. The
   * log does not contain the name of an issuer.
   */
  authors: Cause['actor'][];
  reason: string | null;
  /** Names of the collections that the request changed when it was opened or updated. */
  collections: string[];
  /** ISO 8601. */
  opened_at: string;
  /** Position of the event that opened the request. The change was decided for the schema before that event. */
  opened_position: number;
  /** Time of the newest event about the request. */
  changed_at: string;
  position: number;
  /** The review. Null if the request needs none and is applied as soon as it is prepared. */
  proposal: Proposal | null;
  /**
   * The user who wants the request applied once it is prepared, or at its scheduled time. Null if there is none yet.
   */
  applicant: Cause['actor'] | null;
  /** Null unless the state is `scheduled`. */
  schedule: Schedule | null;
  /** The id of the change request that this one reverts, or null. */
  reverts: string | null;
  /** The work that must be done before the request is applied. Null if unknown or not needed. */
  preparation: PreparationData | null;
  /** The batch that applied the request, and the last position of that batch. */
  result: { batch: string; position: number } | null;
  /** The code of the first problem, and the hash of the document with all problems. */
  failure: { code: string; document: string } | null;
}

export interface Proposal {
  title: string;
  /** The hash of the plan (`plan-hash.ts`), which approvals refer to. */
  plan: string;
  /** Position of the schema that the diff of the proposal starts from. */
  base: number;
  /** The newest approval of each person, in order. Approvals of other plans do not count. */
  approvals: Approval[];
  rejection: CommentEntry | null;
  /** Listed in the order in which they were made. */
  comments: CommentEntry[];
  /** Time of the last change to title or reason. Null if never changed. ISO 8601 */
  described_at: string | null;
}

interface Schedule {
  /** ISO 8601, by the database's clock. */
  at: string;
  /** Position of the event, which identifies the schedule. */
  position: number;
  /** True if the proposal had the number of approvals that the policy requires. */
  approved: boolean;
}

/** The text of a comment is a document outside the log. */
export interface CommentEntry {
  by: Cause['actor'];
  /** ISO 8601. */
  at: string;
  position: number;
  /** The hash of the document. Null if there is no text. */
  comment: string | null;
}

const name = z.string().max(200);

/** A change in the diff of a request, by its names. */
export const changePlace = z.discriminatedUnion('part', [
  z.strictObject({ part: z.literal('collections'), collection: name }),
  z.strictObject({ part: z.enum(['fields', 'relations']), collection: name, field: name }),
  z.strictObject({ part: z.literal('objects'), kind: objectDocument.shape.kind, id: z.string().max(10_000) }),
]);
export type ChangePlace = z.output<typeof changePlace>;

export interface Approval extends CommentEntry, ApprovedView {
  plan: string;
}

interface PreparationData {
  /** Collections whose tables no other change may touch until the request has ended. */
  collections: string[];
  /** Listed in the order of execution. `milliseconds` is the total duration including waits, set when all steps are done. */
  steps: (ChangeStep & { milliseconds?: number })[];
  /** Warnings for reviewers. */
  warnings?: Warning[];
}

export type ChangeEvent = Extract<OtherEvent, { type: `change.${string}` }>;

export type StoredChangeEvent = ChangeEvent &
  Pick<StoredEvent, 'position' | 'batch' | 'occurred_at' | 'actor' | 'reason'>;

export type ChangeEventOf<T extends ChangeEvent['type']> = Extract<StoredChangeEvent, { type: T }>;

/** States in which no process works on the request and the database should contain no prepared objects. */
const AT_REST: ReadonlySet<ChangeState> = new Set(['open', 'approved', 'rejected', 'applied', 'failed', 'withdrawn']);

/** True if no process works on the request. This includes a scheduled request without preparation. */
export const isAtRest = ({ state, preparation }: Pick<ChangeRequest, 'state' | 'preparation'>): boolean =>
  AT_REST.has(state) || (state === 'scheduled' && preparation === null);

const ENDED: ReadonlySet<ChangeState> = new Set(['applied', 'failed', 'withdrawn']);

/** True if no work is left. Users may still retry a failed request. */
export const isEnded = ({ state }: Pick<ChangeRequest, 'state'>): boolean => ENDED.has(state);

/** Returns the collections whose tables the request protects from other changes. */
export const protectedCollections = (request: ChangeRequest): readonly string[] =>
  isAtRest(request) ? [] : (request.preparation?.collections ?? []);

/* Lists the documents that events name. Their content is stored outside the log. */

/** Payload members that contain hashes of documents. */
export const DOCUMENT_MEMBERS = ['document', 'comment'] as const;

/** Returns the hashes of the documents that an event names. */
export function documentsOf({ type, data }: { type: string; data: unknown }): string[] {
  if (!type.startsWith('change.') || typeof data !== 'object' || data === null) return [];
  const named = data as Readonly<Record<string, unknown>>;
  return DOCUMENT_MEMBERS.flatMap((member) => {
    const hash = Object.hasOwn(named, member) ? named[member] : undefined;
    return typeof hash === 'string' ? [hash] : [];
  });
}
