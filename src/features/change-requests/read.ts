/** Shows change requests: the content of their events and the progress of their work. */
import type { Document } from '../../log/document-lines.js';
import { readDocuments } from '../../log/documents.js';
import type { Json } from '../../kernel/json.js';
import type { Problem } from '../../kernel/problem.js';
import { isUuid } from '../../kernel/text.js';
import { runYielding } from '../../kernel/event-loop.js';
import { requireClient } from '../../kernel/scheduler.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { type KeptStep, readSteps } from './rows.js';
import {
  type ChangeFilter,
  type HeldCollections,
  HELD,
  countMatchingChanges,
  listChanges,
  readChange,
  readWaiting,
  readApprovers,
} from './rows.js';
import type { StepProgress } from '../../projector/online/types.js';
import type { Holder } from '../../projector/ddl/table-locks.js';
import { findingOf } from '../../schema/findings/finding.js';
import type { Finding } from '../../schema/findings/model.js';
import { type ChangeAction, allowedActions } from '../../schema/change-requests/fold.js';
import {
  type ChangePlace,
  type ChangeRequest,
  protectedCollections,
  isAtRest,
  type Approval,
  type CommentEntry,
} from '../../schema/change-requests/model.js';
import { type CollectionScope, findNameOutside, isInScope } from '../../schema/collection-scope.js';
import type { Actor, ChangeStep, Cause } from '../../schema/model/events.js';
import type { ObjectName } from '../../schema/model/objects.js';
import { readPolicy } from '../../log/decisive-events.js';
import {
  type Approvers,
  type ExclusionReason,
  filterCounted,
  judgeApprovals,
} from '../../schema/change-requests/approvals.js';
import { DEFAULT_POLICY, type Policy } from '../../schema/policy.js';

/* Shows the reviews of a change request, with the comments stored outside the log. */

interface ShownProposal {
  /** Position of the schema for which the proposal was written. */
  base: number;
  /** Number of approvals that the policy requires, and number of approvals that count now. */
  approvals_needed: number;
  approvals_counted: number;
  author_may_approve: boolean;
  /** All users who changed the content of the request, and the users who issued their credentials. */
  authors: Cause['actor'][];
  /**
   * Time of the last change to title or reason (ISO 8601). Earlier approvals refer to the former text. Null if never
   * changed.
   */
  described_at: string | null;
  approvals: (ShownComment &
    Pick<Approval, 'plan' | 'online' | 'credential'> & { counts: boolean; why_not: ExclusionReason | null })[];
  rejection: ShownComment | null;
  comments: (ShownComment & { place: ChangePlace | null })[];
}

interface ShownComment {
  by: Cause['actor'];
  /** ISO 8601. */
  at: string;
  position: number;
  /** Null if there was no text or it was erased. */
  text: string | null;
}

/** Hashes of the documents that contain the texts. */
const textsOf = ({ proposal }: Pick<ChangeRequest, 'proposal'>): string[] =>
  proposal === null
    ? []
    : [...proposal.comments, ...proposal.approvals, ...(proposal.rejection ? [proposal.rejection] : [])].flatMap(
        ({ comment }) => comment ?? [],
      );

/** The facts that decide which approvals count. */
interface Judging {
  policy: Policy;
  approvers: Approvers;
}

const NOBODY: Judging = { policy: DEFAULT_POLICY, approvers: { admins: new Set(), issued: new Set() } };

/**
 * Reads the current policy, and which approvers are active admins now. Returns `NOBODY` for a request that is not a
 * proposal.
 */
async function readJudging(db: Queryable, { proposal }: ChangeRequest): Promise<Judging> {
  if (proposal === null) return NOBODY;
  const [{ policy }, approvers] = await Promise.all([readPolicy(db), readApprovers(db, proposal.approvals)]);
  return { policy, approvers };
}

/**
 * Null for a request that is not a proposal.
 * @param documents the documents of `textsOf`. Missing ones are shown as erased.
 */
function showProposal(
  request: ChangeRequest,
  documents: ReadonlyMap<string, Document>,
  { policy, approvers }: Judging,
): ShownProposal | null {
  const { proposal } = request;
  if (proposal === null) return null;
  const shown = ({ by, at, position, comment }: CommentEntry): ShownComment => ({
    by,
    at,
    position,
    text: comment === null ? null : (contentsOf(documents.get(comment))?.comment ?? null),
  });
  const placeOf = ({ comment }: CommentEntry) => contentsOf(documents.get(comment ?? ''))?.place ?? null;
  const judged = judgeApprovals(request, policy, approvers);
  return {
    base: proposal.base,
    approvals_needed: policy.approvals,
    approvals_counted: filterCounted(judged).length,
    author_may_approve: policy.author_may_approve,
    authors: request.authors,
    described_at: proposal.described_at,
    approvals: judged.map(({ approval, whyNot }) => ({
      ...shown(approval),
      plan: approval.plan,
      online: approval.online,
      credential: approval.credential,
      counts: whyNot === null,
      why_not: whyNot,
    })),
    rejection: proposal.rejection && shown(proposal.rejection),
    comments: proposal.comments.map((entry) => ({ ...shown(entry), place: placeOf(entry) })),
  };
}

/** Null if the text was erased. Such a comment no longer names the change that it was about. */
const contentsOf = (document: Document | undefined): { comment: string; place?: ChangePlace } | null =>
  document?.content == null ? null : (JSON.parse(document.content) as { comment: string; place?: ChangePlace });

/** A change request in a list. */
export interface ChangeSummary extends Pick<
  ChangeRequest,
  | 'id'
  | 'state'
  | 'operation'
  | 'collections'
  | 'author'
  | 'reason'
  | 'opened_at'
  | 'opened_position'
  | 'changed_at'
  | 'result'
  | 'online'
  | 'reverts'
> {
  /**
   * Null if the change needs no review and is applied once it is prepared. In that case, the following members are null
   * as well.
   */
  title: string | null;
  /** The hash of the plan. Approvals refer to it. */
  plan: string | null;

  /** ISO 8601. Null if it is not scheduled. */
  scheduled_at: string | null;
  /** The code of the first problem. Null if the request did not fail. */
  error: string | null;
}

export interface ChangeView extends ChangeSummary {
  /** The requested change. The content is null if it was erased. */
  document: { hash: string; content: Json };
  steps: ShownStep[];
  /** Collections whose tables no other change may touch now. */
  holds: readonly string[];
  /** Requests that hold tables which this request needs, oldest first. */
  queued_behind: string[];
  /** Sessions with locks for which the request waits now. */
  waiting_for: ShownHolder[];
  /** True if the request has ended, but prepared objects may still exist. */
  cleaning: boolean;
  warnings: readonly Finding[];
  /** The problems of a failed request. Null if it did not fail, or if the document with the problems was erased. */
  problems: Problem[] | null;
  /** Actions that the current state of the request allows. */
  allowed: ChangeAction[];
  /** Reviews and comments. */
  proposal: ShownProposal | null;
}

interface ShownStep extends ChangeStep {
  state: 'waiting' | 'running' | 'done';
  /** The completed share of the work, from 0 to 1. Null if unknown. */
  done: number | null;
  /** The current phase. */
  phase: string | null;
  /** Estimated number of rows to process. */
  rows: number | null;
  bytes: number | null;
  /** ISO 8601 */
  started_at: string | null;
  /** Duration including all waits. Null if the step is not done. */
  milliseconds: number | null;
}

interface ShownHolder {
  pid: number | null;
  application_name: string;
  age_seconds: number | null;
  /** Absent with `object`. */
  collection?: string;
  object?: ObjectName;
}

export interface Changes {
  /** Returns requests, newest first. */
  list(filter: ChangeFilter, page: { offset: number; limit: number }): Promise<ChangeSummary[]>;
  /** @param filter empty for all requests */
  count(filter: ChangeFilter): Promise<number>;
  retrieve(id: string): Promise<ChangeView | undefined>;
  /** Returns the request as folded from its events. */
  find(id: string): Promise<ChangeRequest | undefined>;
  /** True if everything that the request concerns is within the scope. */
  isWithin(request: ChangeRequest, scope: CollectionScope): Promise<boolean>;
}

/** Reads the database on each call. Ids must be uuids, because PostgreSQL rejects others. */
export function createChanges(pool: Queryable): Changes {
  return {
    async list(filter, page) {
      const { within } = filter;
      const requests =
        within === undefined ? await listChanges(pool, filter, page) : await listWithin(pool, { filter, within }, page);
      return requests.map(summaryOf);
    },
    async count(filter) {
      const { within } = filter;
      if (within === undefined) return countMatchingChanges(pool, filter);
      return (await listWithin(pool, { filter, within }, ALL)).length;
    },
    async retrieve(id) {
      const request = await readChange(pool, id);
      return request && view(pool, request);
    },
    find: (id) => readChange(pool, id),
    isWithin: async (request, scope) => (await filterWithin(pool, [request], scope)).length > 0,
  };
}

/* Limits requests to a scope of collections. */

const ALL = { offset: 0, limit: Infinity } as const;

/** Number of requests that are read at once. */
const CANDIDATES = 100;

/** Also reads the documents of newer requests, to count those within the scope that precede the page. */
async function listWithin(
  pool: Queryable,
  { filter, within }: { filter: ChangeFilter; within: CollectionScope },
  { offset, limit }: { offset: number; limit: number },
): Promise<ChangeRequest[]> {
  const found: ChangeRequest[] = [];
  let before: number | undefined;
  while (found.length < offset + limit) {
    const candidates = await listChanges(pool, { ...filter, before }, { offset: 0, limit: CANDIDATES });
    found.push(...(await filterWithin(pool, candidates, within)));
    if (candidates.length < CANDIDATES) break;
    before = candidates.at(-1)?.opened_position;
  }
  return found.slice(offset, offset + limit);
}

/**
 * Returns the requests that concern only collections of the scope. The collections of a request contain neither the
 * other ends of relations nor functions and views, so its document must be within the scope too. A request whose
 * document was erased is outside every scope, because its title can still describe what it contained.
 */
async function filterWithin(
  pool: Queryable,
  requests: readonly ChangeRequest[],
  scope: CollectionScope,
): Promise<ChangeRequest[]> {
  const within: ChangeRequest[] = [];
  for (const request of requests) {
    requireClient();
    const { collections, document } = request;
    if (collections.length === 0 || !collections.every((name) => isInScope(scope, name))) continue;
    const content = contentOf((await readDocuments(pool, [document])).get(document));
    if (content !== null && (await runYielding(findNameOutside(content, scope))) === undefined) within.push(request);
  }
  return within;
}

/** Returns a summary from the events alone, without the progress of the work. */
export function summaryOf(request: ChangeRequest): ChangeSummary {
  const { id, state, operation, collections, author, reason, opened_at, opened_position, changed_at, result, online } =
    request;
  const { reverts, schedule, proposal } = request;
  const { title = null, plan = null } = proposal ?? {};
  const waits = { scheduled_at: schedule?.at ?? null, reverts };
  const requested = { id, state, title, operation, online, collections, plan, author, reason };
  const error = request.failure?.code ?? null;
  return { ...requested, ...waits, opened_at, opened_position, changed_at, result, error };
}

async function view(pool: Queryable, request: ChangeRequest): Promise<ChangeView> {
  const { id, document, failure } = request;
  const named = [document, ...(failure === null ? [] : [failure.document]), ...textsOf(request)];
  const documents = await readDocuments(pool, named);
  const judging = await readJudging(pool, request);
  const kept = await readSteps(pool, id);
  const waiting = kept.length === 0 ? await readWaiting(pool, id) : null;
  const ahead = request.state === 'queued' ? await aheadOf(pool, request) : [];
  const authors = await readNames(pool, request.authors);
  return showChange({ ...request, authors }, { documents, kept, waiting, ahead, judging });
}

/** Adds the names of users who became authors as issuers of a credential. The name of a deleted user stays null. */
async function readNames(db: Queryable, authors: readonly Actor[]): Promise<Actor[]> {
  const unnamed = authors.filter(({ id, name }) => name === null && isUuid(id)).map(({ id }) => id);
  if (unnamed.length === 0) return [...authors];
  const { rows } = await db.query<{ id: string; name: string }>(
    `SELECT id, name FROM ${own.users} WHERE id = ANY ($1::uuid[])`,
    [unnamed],
  );
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return authors.map(({ id, name }) => ({ id, name: name ?? names.get(id) ?? null }));
}

interface RequestContents {
  /** The documents of the request, by hash. */
  documents: ReadonlyMap<string, Document>;
  /** The stored state of the steps. */
  kept: readonly KeptStep[];
  /** The obstacle of a request without steps. */
  waiting?: StepProgress | null;
  /** Other requests that hold tables which this request needs. */
  ahead: string[];
  /** Absent if the request has no review. */
  judging?: Judging;
}

export function showChange(request: ChangeRequest, about: RequestContents): ChangeView {
  const { documents, kept, ahead, judging = NOBODY } = about;
  const { preparation, document, failure } = request;
  const ended = isAtRest(request);
  return {
    ...summaryOf(request),
    document: { hash: document, content: contentOf(documents.get(document)) },
    steps: stepsOf(preparation?.steps ?? [], kept, ended),
    holds: protectedCollections(request),
    queued_behind: ahead,
    waiting_for: holdersOf(request, about).map(toHolder),
    cleaning: ended && kept.length > 0,
    warnings: (preparation?.warnings ?? []).map(findingOf),
    problems: failure === null ? null : problemsIn(contentOf(documents.get(failure.document))),
    allowed: allowedActions(request),
    proposal: showProposal(request, documents, judging),
  };
}

/** Returns the recorded holders of locks. They are outdated if the request has ended or waits for people. */
function holdersOf(request: ChangeRequest, { kept, waiting }: RequestContents): Holder[] {
  if (isAtRest(request) && request.state !== 'scheduled') return [];
  return [...kept.map(({ progress }) => progress), waiting].flatMap((progress) => progress?.waiting_for ?? []);
}

const contentOf = (document: Document | undefined): Json =>
  document?.content == null ? null : (JSON.parse(document.content) as Json);

const problemsIn = (content: Json): Problem[] | null =>
  content === null ? null : (content as unknown as { problems: Problem[] }).problems;

/** Returns the steps of the event with the progress that was recorded so far. */
function stepsOf(
  planned: readonly (ChangeStep & { milliseconds?: number })[],
  kept: readonly KeptStep[],
  ended: boolean,
): ShownStep[] {
  const keptByKey = new Map(kept.map((each) => [each.step.key, each]));
  return planned.map(({ milliseconds: total = null, ...step }) => {
    const {
      milliseconds,
      started_at,
      progress,
      step: own,
    } = keptByKey.get(step.key) ?? { ...UNKNOWN, milliseconds: total };
    const state = stateOf(milliseconds, started_at, ended);
    return {
      ...step,
      ...progressOf(state === 'running' ? progress : null),
      ...(state === 'done' && { done: 1 }),
      state,
      ...sizeOf(own),
      started_at: started_at?.toISOString() ?? null,
      milliseconds,
    };
  });
}

function stateOf(milliseconds: number | null, started_at: Date | null, ended: boolean): ShownStep['state'] {
  if (milliseconds !== null) return 'done';
  return started_at === null || ended ? 'waiting' : 'running';
}

const UNKNOWN = { started_at: null, progress: null, step: null };

const sizeOf = (own: KeptStep['step'] | null): Pick<ShownStep, 'rows' | 'bytes'> => ({
  rows: own?.rows ?? null,
  bytes: own?.bytes ?? null,
});

const progressOf = (progress: KeptStep['progress']): Pick<ShownStep, 'done' | 'phase'> => ({
  done: progress?.done ?? null,
  phase: progress?.phase ?? null,
});

const toHolder = ({ pid, application, age, table, object }: Holder): ShownHolder => ({
  pid,
  application_name: application,
  age_seconds: age === null ? null : Math.max(0, Math.round(age)),
  ...(object === undefined ? { collection: table } : { object }),
});

/** Returns the requests that hold collections of this one. This request may turn out not to need all of them. */
async function aheadOf(pool: Queryable, request: ChangeRequest): Promise<string[]> {
  const { rows } = await pool.query<HeldCollections>(HELD);
  return rows
    .filter(({ collections }) => collections.some((name) => request.collections.includes(name)))
    .map(({ id }) => id);
}
