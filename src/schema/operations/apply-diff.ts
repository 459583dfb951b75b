/** apply-diff: carries out the entries of a diff, checked against the schema as strictly as any other command. */
import type { SchemaDiff } from '../diff/diff.js';
import { Draft } from '../transition/draft.js';
import { diffPlaces } from '../diff/places.js';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { snapshotHash } from '../snapshot/snapshot.js';
import type { State } from '../model/state.js';
import { type Resumable } from '../../kernel/resumable.js';
import {
  type EntryFindings,
  applyCollectionEntries,
  applyFieldEntries,
  applyRelationEntries,
} from '../diff/apply-entries.js';
import { readDiffDocument } from '../diff/diff-document.js';
import { type Operation, decideDraft } from './operation.js';

export interface ApplyDiff {
  /** The release of this service: part of what the hash is over. */
  release: string;
  hash: string;
  diff: SchemaDiff;
}

export interface ApplyDiffInput {
  release: string;
  body: unknown;
}

export const applyDiff: Operation<'apply-diff', ApplyDiffInput, ApplyDiff> = {
  name: 'apply-diff',

  *parse({ release, body }) {
    const document = yield* readDiffDocument(body);
    return document.ok ? ok({ release, ...document.value }) : document;
  },

  *decide(state, { release, hash, diff }) {
    const current = yield* snapshotHash(state, release);
    const findings: EntryFindings = { problems: [], conflicts: [] };
    const draft = yield* drafted(state, diff, findings);
    if (hash !== current || findings.conflicts.length > 0) return changed(hash !== current, current, findings);
    if (findings.problems.length > 0) return refuse(...findings.problems);
    return yield* decideDraft(state, draft, {}, diffPlaces(diff));
  },
};

/** The diff carried out on a draft, whatever its hash says. */
export function* drafted(state: State, diff: SchemaDiff, findings: EntryFindings): Resumable<Draft> {
  const draft = new Draft(state);
  const context = { state, draft, findings };
  // What goes goes first, so that what comes can take its name and place.
  yield* applyRelationEntries(context, diff.relations, 'removals');
  yield* applyFieldEntries(context, diff.fields, 'removals');
  yield* applyCollectionEntries(context, diff.collections);
  yield* applyFieldEntries(context, diff.fields, 'rest');
  yield* applyRelationEntries(context, diff.relations, 'rest');
  return draft;
}

function changed(stale: boolean, current: string, { conflicts, problems }: EntryFindings): Result<never> {
  const paths = conflicts.map((conflict) => conflict.path);
  const first: Problem = {
    code: 'SCHEMA_CHANGED',
    message: stale
      ? 'the schema has changed since this diff was made; make a new diff and apply that'
      : 'entries of this diff do not fit the current schema; make a new diff and apply that',
    details: { current_hash: current, conflicts: paths },
  };
  // Entries that could never apply are the caller's mistake, not the schema's change.
  if (!stale && problems.length > 0) return refuse(...problems, ...conflicts);
  return refuse(first, ...conflicts);
}
