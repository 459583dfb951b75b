/** apply-diff: applies a diff, checked as strictly as any other command. */
import type { SchemaDiff } from '../diff/diff.js';
import { identifyFromTrash, lostSince } from '../diff/origins.js';
import { Draft } from '../transition/draft.js';
import { diffLocations, applyItems, byNewNames } from '../diff/apply-entries.js';
import { applyObjects } from '../diff/apply-objects.js';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { snapshotHash } from '../snapshot/snapshot.js';
import type { State } from '../model/state.js';
import type { InTrash } from '../transition/restoring-transition.js';
import { type Resumable } from '../../kernel/resumable.js';
import { readDiffDocument } from '../diff/diff-document.js';
import type { EntryFindings } from '../diff/entries.js';
import { type Operation, decideDraft } from './operation.js';

export interface ApplyDiff {
  /** The release of this service, which is part of the hash. */
  release: string;
  /** The hash of the schema that the diff was created for. Absent if the diff may be applied to any schema. */
  hash?: string;
  diff: SchemaDiff;
  /** Trash entries of objects that the diff recreates. None by default. */
  kept?: readonly InTrash[];
}

export interface ApplyDiffInput {
  release: string;
  body: unknown;
  /** True if the diff may contain views and materialized views. */
  objects?: boolean;
}

export const applyDiff: Operation<'apply-diff', ApplyDiffInput, ApplyDiff> = {
  name: 'apply-diff',

  *parse({ release, body, objects }) {
    const document = yield* readDiffDocument(body, objects);
    return document.ok ? ok({ release, ...document.value }) : document;
  },

  *decide(state, { release, hash, diff, kept = [] }) {
    const current = yield* snapshotHash(state, release);
    const findings: EntryFindings = { problems: [], conflicts: [] };
    const draft = yield* drafted(state, diff, findings);
    const stale = hash !== undefined && hash !== current;
    if (stale || findings.conflicts.length > 0) return changed(stale, current, findings);
    if (findings.problems.length > 0) return refuse(...findings.problems);
    const identified = yield* identifyFromTrash(state, draft, { diff, kept });
    const lost = lostSince(diff, identified);
    if (lost.length > 0) return refuse(...lost);
    return yield* decideDraft(state, draft, { found: identified }, diffLocations(diff));
  },
};

/** Applies the diff to a draft without checking its hash. */
export function* drafted(state: State, diff: SchemaDiff, findings: EntryFindings): Resumable<Draft> {
  const named = yield* byNewNames(state, diff, findings);
  const draft = new Draft(named.state, named.touched);
  yield* applyItems({ draft, findings }, named.items);
  applyObjects({ draft, findings }, diff.objects ?? []);
  return draft;
}

function changed(stale: boolean, current: string, { conflicts, problems }: EntryFindings): Result<never> {
  const paths = conflicts.map((conflict) => conflict.path);
  const first: Problem = {
    code: 'SCHEMA_CHANGED',
    message: stale
      ? 'the schema has changed since this diff was created; create a new diff and apply that'
      : 'entries of this diff do not fit the current schema; create a new diff and apply that',
    details: { current_hash: current, conflicts: paths },
  };
  // Entries that can never apply are errors of the client, not a sign that the schema has changed.
  if (!stale && problems.length > 0) return refuse(...problems, ...conflicts);
  return refuse(first, ...conflicts);
}
