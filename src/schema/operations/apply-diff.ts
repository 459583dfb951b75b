/** apply-diff: carries out the entries of a diff, checked against the schema as strictly as any other command. */
import type { SchemaDiff } from '../diff/diff.js';
import { identified, lostSince } from '../diff/identified.js';
import { Draft } from '../transition/draft.js';
import { diffPlaces } from '../diff/places.js';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { snapshotHash } from '../snapshot/snapshot.js';
import type { State } from '../model/state.js';
import type { InTrash } from '../transition/restoring-transition.js';
import { type Resumable } from '../../kernel/resumable.js';
import { applyCollectionEntries, applyFieldEntries, applyRelationEntries } from '../diff/apply-entries.js';
import { readDiffDocument } from '../diff/diff-document.js';
import { type EntryFindings, isRemovalOf, isRenameEntry } from '../diff/entries.js';
import { collectionRenames, fieldRenames } from '../diff/rename-entries.js';
import { NO_RENAMES, withRenames } from '../transition/renames.js';
import { type Operation, decideDraft } from './operation.js';

export interface ApplyDiff {
  /** The release of this service: part of what the hash is over. */
  release: string;
  hash: string;
  diff: SchemaDiff;
  /** What the trash holds of the things that the diff makes again; none by default. */
  kept?: readonly InTrash[];
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

  *decide(state, { release, hash, diff, kept = [] }) {
    const current = yield* snapshotHash(state, release);
    const findings: EntryFindings = { problems: [], conflicts: [] };
    const draft = yield* drafted(state, diff, findings);
    if (hash !== current || findings.conflicts.length > 0) return changed(hash !== current, current, findings);
    if (findings.problems.length > 0) return refuse(...findings.problems);
    const found = yield* identified(state, draft, { diff, kept });
    const lost = lostSince(diff, found);
    if (lost.length > 0) return refuse(...lost);
    return yield* decideDraft(state, draft, { found }, diffPlaces(diff));
  },
};

/** The diff carried out on a draft, whatever its hash says. */
export function* drafted(state: State, diff: SchemaDiff, findings: EntryFindings): Resumable<Draft> {
  const named = yield* byNewNames(state, diff, findings);
  const context = { draft: new Draft(named.state, named.touched), findings, done: named.done };
  // What goes goes first, so that what comes can take its name and place.
  yield* applyRelationEntries(context, diff.relations, 'removals');
  yield* applyFieldEntries(context, diff.fields, 'removals');
  yield* applyCollectionEntries(context, diff.collections);
  yield* applyFieldEntries(context, diff.fields, 'rest');
  yield* applyRelationEntries(context, diff.relations, 'rest');
  return context.draft;
}

interface Named {
  /** By the names that all other entries use. */
  state: State;
  touched: ReadonlySet<string>;
  /** Removals that had to come before: of what has a name that something else gets. */
  done: ReadonlySet<unknown>;
}

function* byNewNames(state: State, diff: SchemaDiff, findings: EntryFindings): Resumable<Named> {
  const done = new Set<unknown>();
  if (!hasRenames(diff)) return { state, touched: new Set(), done };
  const collections = collectionRenames(state, diff, findings);
  const taken = new Set(collections.values());
  const tables = new Set<unknown>(
    diff.collections.filter(
      (item) => isRemovalOf(item.diff) && taken.has(item.collection) && !collections.has(item.collection),
    ),
  );
  const gone = { draft: new Draft(state), findings, done };
  yield* applyCollectionEntries({ ...gone, done: allBut(diff.collections, tables) }, diff.collections);
  if (findings.problems.length + findings.conflicts.length > 0) return { state, touched: new Set(), done };
  const renamed = yield* withRenames(yield* gone.draft.toStateInSteps(), { ...NO_RENAMES, collections });
  const fields = fieldRenames(renamed.state, diff, findings);
  const takenIn = new Map([...fields].map(([collection, names]) => [collection, new Set(names.values())]));
  const columns = new Set<unknown>(
    diff.fields.filter((item) => isRemovalOf(item.diff) && takenIn.get(item.collection)?.has(item.field) === true),
  );
  const without = { draft: new Draft(renamed.state), findings, done: allBut(diff.fields, columns) };
  yield* applyFieldEntries(without, diff.fields, 'removals');
  if (findings.problems.length + findings.conflicts.length > 0) return { state, touched: new Set(), done };
  const all = yield* withRenames(yield* without.draft.toStateInSteps(), { ...NO_RENAMES, fields });
  for (const item of [...tables, ...columns]) done.add(item);
  const touched = [gone.draft.touched, renamed.touched, without.draft.touched, all.touched];
  return { state: all.state, touched: new Set(touched.flatMap((names) => [...names])), done };
}

const hasRenames = ({ collections, fields }: SchemaDiff): boolean =>
  collections.some(({ diff }) => diff.some((entry) => isRenameEntry(entry, 'collection'))) ||
  fields.some(({ diff }) => diff.some((entry) => isRenameEntry(entry, 'field')));

const allBut = (items: readonly unknown[], kept: ReadonlySet<unknown>): ReadonlySet<unknown> =>
  new Set(items.filter((item) => !kept.has(item)));

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
