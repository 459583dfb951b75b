import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { RefusedError, UnreachableError } from '../../service/send.js';
import { SCHEMA } from '../../service/queries.js';
import {
  type ApplyResult,
  type ApplyInput,
  apply,
  explain,
  rehearse,
  type Reviewed,
} from '../../service/review-queries.js';
import { noteApplied } from '../../shared/applied.js';
import { useHere } from '../../shared/focus.js';
import { currentUserId, useMay } from '../../service/session.js';
import type { Finding, Plan, Problem } from '../../service/types.js';
import { type LeftOutItems, byCollection, selectChosen, itemsOf, keysSince, type Conflict } from './model/items.js';
import { acknowledgementsOf, stopsOf } from './model/policy.js';
import { locateProblems } from './model/plan.js';
import { suggestTitle } from './model/sentences.js';
import { newId } from '../../shared/use-attempt.js';

export interface Source {
  /** Identifies it, for the stored input. */
  key: string;
  title: string;
  about: ReactNode;
  reviewed: Reviewed;
  /** It describes the whole schema, so it would undo concurrent changes. A draft describes only its changes. */
  isWhole: boolean;
  /** Refetches for the current schema. Keeps the input. */
  renewal: RefreshState;
  /** Known conflicts of the source, with a way to resolve them. */
  conflicts?: readonly (Conflict & { settle: (choice: 'mine' | 'theirs') => void })[];
  /** Called when the chosen part was applied or has become a change request. */
  onApplied: (leftOut: LeftOutItems) => void;
}

export interface RefreshState {
  renew: () => Promise<unknown>;
  isRenewing: boolean;
  /** Why the shown state is outdated. */
  error: Error | null;
}

/** Its error is null during a refetch. */
export const renewalOf = ({ refetch, isFetching, error }: UseQueryResult): RefreshState => ({
  renew: refetch,
  isRenewing: isFetching,
  error: isFetching ? null : error,
});

interface ReviewInput {
  reason: string;
  leftOut: readonly string[];
}

const NOTHING: ReviewInput = { reason: '', leftOut: [] };

const nameOf = (source: string): string => `dps.review ${currentUserId()} ${source}`;

/**
 * Without valid stored input, the reason is empty and everything is selected.
 * @param source its `key`
 */
function readTyped(source: string): ReviewInput {
  try {
    const stored = JSON.parse(sessionStorage.getItem(nameOf(source)) ?? 'null') as Partial<ReviewInput> | null;
    if (stored === null) return NOTHING;
    const { reason, leftOut } = stored;
    return {
      reason: typeof reason === 'string' ? reason : '',
      leftOut: Array.isArray(leftOut) ? leftOut.filter((each) => typeof each === 'string') : [],
    };
  } catch {
    return NOTHING;
  }
}

/** Replaces the stored input for this source. Ignores a full browser storage. */
function storeTyped(source: string, typed: ReviewInput): void {
  try {
    sessionStorage.setItem(nameOf(source), JSON.stringify(typed));
  } catch {
    // Without storage space it is kept in memory only.
  }
}

/** Called after an apply, so that the next review of this source starts fresh. */
const deleteTyped = (source: string): void => sessionStorage.removeItem(nameOf(source));

interface Options {
  source: Source;
  /** The schema has changed since then, so a plan for the previous one is rejected. */
  isBehind: boolean;
  /** Called while the review is still open. */
  onDone: (applied: ApplyResult) => Promise<void>;
}

/**
 * Sends only plan requests until `rehearsal` or `carryOut` is called. `plan` is undefined until the first response,
 * without selected items, and for users who may not propose. `problems` belong to the last attempt, by item.
 */
export function useReview({ source, isBehind, onDone }: Options) {
  const { reviewed } = source;
  const items = useMemo(() => itemsOf(reviewed.diff), [reviewed.diff]);
  const { leftOut, why, setReason, leave, kept } = useTyped(source, items);
  const [online, setOnline] = useState(false);
  const [purge, setPurge] = useState(false);
  const groups = useMemo(() => byCollection(items), [items]);
  // Computed when it is sent or an error is located.
  const chosen = useMemo(
    () => memoize(() => selectChosen(reviewed.diff, items, leftOut)),
    [reviewed.diff, items, leftOut],
  );
  const carriedOut = useMemo(() => chosenItems(items, leftOut), [items, leftOut]);
  const suggestedTitle = useMemo(() => suggestTitle(carriedOut), [carriedOut]);
  const applying: ApplyInput = { hash: reviewed.hash, diff: () => chosen().diff, online, purge };
  const about = useMemo(() => ({}), [chosen, online, purge]);
  const { plan, isStale, refusal } = usePlan(applying, {
    key: ['explained', source.key, reviewed.hash, [...leftOut], online, purge],
    isWanted: carriedOut.length > 0 && !isBehind,
  });
  const { stops, acknowledge } = useStops(plan.data, carriedOut);
  const sent = { ...applying, acknowledge: acknowledgementsOf(stops) };
  const left = useMemo(() => ({ items, keys: leftOut }), [items, leftOut]);
  const { rehearsal, carryOut } = useSending({ applying: sent, why, about, source, left, onDone });
  const shown = rehearsal.data?.about === about ? rehearsal.data.plan : plan.data;
  const problems = problemsOf(carryOut.error ?? rehearsal.error ?? refusal, shown?.errors);
  return {
    original: reviewed.diff,
    items,
    groups,
    carriedOut,
    leftOut,
    leave,
    kept,
    why,
    suggestedTitle,
    setReason,
    options: { online, setOnline, purge, setPurge },
    applying: sent,
    stops,
    acknowledge,
    plan: carriedOut.length === 0 ? undefined : shown,
    isPlanning: plan.isFetching,
    planError: plan.error,
    isStale,
    rehearsal,
    isRehearsed: rehearsal.data?.about === about,
    carryOut,
    /** Changes with the content to send. */
    about,
    /** The review is a change request now. */
    onProposed: () => {
      deleteTyped(source.key);
      source.onApplied(left);
    },
    problems: useMemo(() => locateProblems(problems, chosen, items), [problems, chosen, items]),
  };
}

export type Review = ReturnType<typeof useReview>;

const NO_FINDINGS: readonly Finding[] = [];

/** Findings that the policy blocks, and those that the reader acknowledged. */
function useStops(plan: Plan | undefined, { length: count }: readonly unknown[]) {
  const findings = count === 0 || plan === undefined ? NO_FINDINGS : plan.warnings;
  const [acknowledged, setAcknowledged] = useState<ReadonlySet<string>>(() => new Set());
  const stops = useMemo(() => stopsOf(findings, acknowledged), [findings, acknowledged]);
  return {
    stops,
    acknowledge: (key: string, isAcknowledged: boolean) => setAcknowledged(withKey(acknowledged, key, isAcknowledged)),
  };
}

function withKey(keys: ReadonlySet<string>, key: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(keys);
  if (isIn) next.add(key);
  else next.delete(key);
  return next;
}

const chosenItems = (items: ReturnType<typeof itemsOf>, leftOut: ReadonlySet<string>) =>
  items.filter(
    ({ key, members }) =>
      !leftOut.has(key) && (members.length === 0 || members.some((member) => !leftOut.has(member.key))),
  );

/** The plan, refetched when the content changes. */
function usePlan(applying: ApplyInput, { key, isWanted }: { key: readonly unknown[]; isWanted: boolean }) {
  const client = useQueryClient();
  const mayPropose = useMay('propose');
  const plan = useQuery({
    queryKey: key,
    enabled: mayPropose && isWanted,
    staleTime: Infinity,
    gcTime: 0,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => explain(applying, signal),
  });
  const isStale = codeOf(plan.error) === 'SCHEMA_CHANGED';
  // Shows concurrent changes as soon as the position of the schema is known.
  useEffect(() => {
    if (isStale) void client.invalidateQueries({ queryKey: ['info'] });
  }, [isStale, client]);
  return { plan, isStale, refusal: isStale ? null : plan.error };
}

/** Computed lazily once. */
function memoize<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const codeOf = (error: Error | null): string | undefined => (error instanceof RefusedError ? error.code : undefined);

const NO_PROBLEMS: readonly Problem[] = [];

function problemsOf(error: Error | null, planned: readonly Problem[] | undefined): readonly Problem[] {
  if (error instanceof RefusedError) return error.problems;
  return planned ?? NO_PROBLEMS;
}

/** Concurrent changes are kept unless the user wants to undo them. */
function useTyped(source: Source, items: ReturnType<typeof itemsOf>) {
  const [typed, setTyped] = useState(() => readTyped(source.key));
  const [kept, setKept] = useState<readonly string[]>([]);
  const [seen, setSeen] = useState({ hash: source.reviewed.hash, items });
  if (seen.hash !== source.reviewed.hash) {
    const since = source.isWhole ? keysSince(seen.items, items) : [];
    setSeen({ hash: source.reviewed.hash, items });
    setKept(since);
    if (since.length > 0) setTyped({ ...typed, leftOut: [...new Set([...typed.leftOut, ...since])] });
  }
  const change = useCallback(
    (next: Partial<typeof typed>) => {
      setTyped((before) => {
        const after = { ...before, ...next };
        storeTyped(source.key, after);
        return after;
      });
    },
    [source.key],
  );
  const leftOut = useMemo(() => new Set(typed.leftOut), [typed.leftOut]);
  const leave = useCallback(
    (keys: readonly string[], isOut: boolean) => {
      const next = new Set(leftOut);
      for (const key of keys) {
        if (isOut) next.add(key);
        else next.delete(key);
      }
      change({ leftOut: [...next] });
    },
    [leftOut, change],
  );
  return { leftOut, why: typed.reason, setReason: (reason: string) => change({ reason }), leave, kept };
}

interface ApplyRequest {
  applying: ApplyInput;
  why: string;
  /** Changes with the content to send. */
  about: object;
  source: Source;
  left: LeftOutItems;
  onDone: (applied: ApplyResult) => Promise<void>;
}

function useSending({ applying, why, about, source, left, onDone }: ApplyRequest) {
  const client = useQueryClient();
  const isHere = useHere();
  const attempt = useRef<{ key: string; about: object; of: string } | null>(null);
  const rehearsal = useMutation({
    mutationFn: async () => ({ about, plan: await rehearse(applying) }),
  });
  const carryOut = useMutation({
    mutationFn: async () => {
      const user = currentUserId();
      const of = JSON.stringify([applying.acknowledge, why]);
      const isSame = attempt.current?.about === about && attempt.current.of === of;
      // Without a response, a retry with the same key takes effect once.
      if (attempt.current === null || !isSame) attempt.current = { key: newId(), about, of };
      // With the sent content, because the shown one may have changed.
      return { applied: await apply(applying, { reason: why, key: attempt.current.key }), sent: source, left, user };
    },
    onSuccess: async ({ applied, sent, left: leftThen, user }) => {
      attempt.current = null;
      deleteTyped(sent.key);
      if (applied.kind === 'done' && applied.batch !== null)
        noteApplied({ batch: applied.batch, before: sent.reviewed.position, isDataLost: applied.isDataLost }, user);
      if (isHere()) await onDone(applied);
      sent.onApplied(leftThen);
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      await client.invalidateQueries({ queryKey: ['info'] });
    },
    onError: (error) => {
      if (!(error instanceof UnreachableError)) attempt.current = null;
      void client.invalidateQueries({ queryKey: ['info'] });
    },
  });
  return { rehearsal, carryOut };
}
