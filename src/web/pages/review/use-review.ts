import { keepPreviousData, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { ServiceError, ConnectionError } from '../../service/send.js';
import { SCHEMA } from '../../service/queries.js';
import {
  type ApplyResult,
  type ApplyInput,
  apply,
  explain,
  rehearse,
  type Reviewed,
} from '../../service/review-queries.js';
import { noteApplied } from '../../shared/last-applied.js';
import { useHere } from '../../shared/focus.js';
import { currentUserId, useMay } from '../../service/session.js';
import type { Finding, Plan, Problem } from '../../service/types.js';
import { type LeftOutItems, byCollection, selectChosen, itemsOf, keysSince, type Conflict } from './model/items.js';
import { locateProblems } from './model/plan.js';
import { acknowledgementsOf, stopsOf } from './model/requested-diff.js';
import { suggestTitle } from './model/sentences.js';
import { newId } from '../../shared/use-attempt.js';

export interface Source {
  /** Identifies the source, for the stored input. */
  key: string;
  title: string;
  about: ReactNode;
  reviewed: Reviewed;
  /**
   * True if the source describes the whole schema, so that applying it would undo concurrent changes. A draft describes
   * only its own changes.
   */
  isWhole: boolean;
  /** Refetches the source for the current schema. The input stays. */
  renewal: RefreshState;
  /** The known conflicts of the source, with a function that resolves each. */
  conflicts?: readonly (Conflict & { settle: (choice: 'mine' | 'theirs') => void })[];
  /** Called when the selected part was applied, or when a change request was opened for it. */
  onApplied: (leftOut: LeftOutItems) => void;
}

export interface RefreshState {
  renew: () => Promise<unknown>;
  isRenewing: boolean;
  /** The reason why the shown state is outdated. */
  error: Error | null;
}

/** Returns the state of the refetch. During a refetch, there is no error. */
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
 * Reads the stored input. If there is no valid one, the reason is empty and everything is selected.
 * @param source the `key` of the source
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

/** Replaces the stored input of this source. If the storage of the browser is full, nothing is stored. */
function storeTyped(source: string, typed: ReviewInput): void {
  try {
    sessionStorage.setItem(nameOf(source), JSON.stringify(typed));
  } catch {
    // Without storage, the input is only in memory.
  }
}

/** Deletes the stored input after an apply, so that the next review of this source begins without it. */
const deleteTyped = (source: string): void => sessionStorage.removeItem(nameOf(source));

interface Options {
  source: Source;
  /** True if the schema has changed since the source was read. A plan for the earlier schema is then rejected. */
  isBehind: boolean;
  /** Called after the apply if the review is still open. */
  onDone: (applied: ApplyResult) => Promise<void>;
}

/**
 * Manages a review. It sends only plan requests until `rehearsal` or `carryOut` is called. `plan` is undefined until
 * the first response, if nothing is selected, and for users who may not propose. `problems` are those of the last
 * attempt, by item.
 */
export function useReview({ source, isBehind, onDone }: Options) {
  const { reviewed } = source;
  const items = useMemo(() => itemsOf(reviewed.diff), [reviewed.diff]);
  const { leftOut, why, setReason, leave, kept } = useTyped(source, items);
  const [online, setOnline] = useState(false);
  const [purge, setPurge] = useState(false);
  const groups = useMemo(() => byCollection(items), [items]);
  // The selection is computed when it is sent, or when an error must be located in it.
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
    /** The identity of the content to send, which changes with it. */
    about,
    /** Called when the review has become a change request. */
    onProposed: () => {
      deleteTyped(source.key);
      source.onApplied(left);
    },
    problems: useMemo(() => locateProblems(problems, chosen, items), [problems, chosen, items]),
  };
}

export type Review = ReturnType<typeof useReview>;

const NO_FINDINGS: readonly Finding[] = [];

/** Returns the findings that block the change because of the policy, and those that the user acknowledged. */
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

/** Returns the plan. It is refetched when the content changes. */
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

/** Returns a function that computes the value at its first call. */
function memoize<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const codeOf = (error: Error | null): string | undefined => (error instanceof ServiceError ? error.code : undefined);

const NO_PROBLEMS: readonly Problem[] = [];

function problemsOf(error: Error | null, planned: readonly Problem[] | undefined): readonly Problem[] {
  if (error instanceof ServiceError) return error.problems;
  return planned ?? NO_PROBLEMS;
}

/** Returns the input. Concurrent changes are kept unless the user selects to undo them. */
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
  /** The identity of the content to send, which changes with it. */
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
    mutationFn: async ({ lossless }: { lossless: boolean }) => {
      const user = currentUserId();
      const of = JSON.stringify([applying.acknowledge, lossless, why]);
      const isSame = attempt.current?.about === about && attempt.current.of === of;
      // If there was no response, a retry with the same key takes effect only once.
      if (attempt.current === null || !isSame) attempt.current = { key: newId(), about, of };
      // The result refers to the content that was sent, because the shown content may have changed.
      const applied = await apply(applying, { reason: why, key: attempt.current.key, lossless });
      return { applied, sent: source, left, user };
    },
    onSuccess: async ({ applied, sent, left: leftThen, user }) => {
      attempt.current = null;
      deleteTyped(sent.key);
      if (applied.kind === 'done' && applied.batch !== null) {
        const { batch, position: after, isDataLost } = applied;
        noteApplied({ batch, before: sent.reviewed.position, after, isDataLost }, user);
      }
      if (isHere()) await onDone(applied);
      sent.onApplied(leftThen);
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      await client.invalidateQueries({ queryKey: ['info'] });
    },
    onError: (error, { lossless }) => {
      if (!(error instanceof ConnectionError)) attempt.current = null;
      void client.invalidateQueries({ queryKey: ['info'] });
      // A table that was empty may have rows now, which the user must see before confirming their loss.
      if (lossless && codeOf(error) === 'IN_USE')
        void client.invalidateQueries({ queryKey: ['explained', source.key] });
    },
  });
  return { rehearsal, carryOut };
}
