/** Carrying out the entries of a diff on a draft: `lhs` must be what is there, `rhs` is read like any other input. */
import { relationBody } from '../transition/context.js';
import type { CollectionDiff, FieldDiff, RelationDiff } from './diff.js';
import type { Draft } from '../transition/draft.js';
import {
  type Entry,
  type EntryFindings,
  type Misfit,
  type NameMember,
  applyEntry,
  hasGap,
  isRemovalOf,
  isRenameEntry,
  isWhole,
} from './entries.js';
import { copyJson, jsonEqual, type Json } from '../../kernel/json.js';
import { readNewCollection, readNewField, readNewRelation } from '../normal-form/index.js';
import { stepsInEntries } from './places.js';
import {
  MAX_PROBLEMS,
  type Path,
  type Problem,
  type Result,
  invalid,
  refuse,
  renderPath,
} from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';

export interface ApplyContext {
  draft: Draft;
  findings: EntryFindings;
  /** Items that are carried out already. */
  done: ReadonlySet<unknown>;
}

/** A place in the diff and what stands there. */
interface Target<T> {
  at: Path;
  /** The current normal form; undefined: there is none. */
  current: T | undefined;
  /** `stepsTo`: where members of the input stand below `at`, where that isn't the input itself. */
  read: (input: unknown, at: Path, stepsTo?: (steps: Path) => Path) => Result<T>;
  put: (value: T) => void;
  remove: () => void;
  /** Whose entry is no change of the document any more: its new name. */
  renamedBy?: NameMember;
}

export function* applyCollectionEntries(context: ApplyContext, items: CollectionDiff[]): Resumable<void> {
  for (const [index, item] of items.entries()) {
    if (isFull(context.findings)) return;
    yield;
    if (context.done.has(item)) continue;
    applyEntries(context, item.diff, {
      renamedBy: 'collection',
      at: ['diff', 'collections', index],
      current: context.draft.get(item.collection)?.collection,
      read: (input, at, stepsTo) =>
        named(
          readNewCollection(input, at, { imported: false, stepsTo }),
          at,
          (read) => read.collection === item.collection,
        ),
      put: (collection) => context.draft.putCollection(collection),
      remove: () => context.draft.removeCollection(item.collection),
    });
  }
}

export function* applyFieldEntries(
  context: ApplyContext,
  items: FieldDiff[],
  phase: 'removals' | 'rest',
): Resumable<void> {
  for (const [index, item] of items.entries()) {
    const { collection, field, diff } = item;
    if (isFull(context.findings)) return;
    yield;
    if (context.done.has(item) || isRemovalOf(diff) !== (phase === 'removals')) continue;
    const at = ['diff', 'fields', index];
    if (context.draft.get(collection) === undefined) {
      missingHolder(context, at, collection, diff);
      continue;
    }
    applyEntries(context, diff, {
      renamedBy: 'field',
      at,
      current: context.draft.get(collection)?.fields.get(field),
      read: (input, path, stepsTo) =>
        named(
          readNewField(input, path, { imported: false, stepsTo }),
          path,
          (read) => read.collection === collection && read.field === field,
        ),
      put: (value) => context.draft.putField(value),
      remove: () => context.draft.removeField(collection, field),
    });
  }
}

export function* applyRelationEntries(
  context: ApplyContext,
  items: RelationDiff[],
  phase: 'removals' | 'rest',
): Resumable<void> {
  for (const [index, { collection, field, diff }] of items.entries()) {
    if (isFull(context.findings)) return;
    yield;
    if (isRemovalOf(diff) !== (phase === 'removals')) continue;
    const at = ['diff', 'relations', index];
    const node = context.draft.get(collection);
    if (node === undefined) {
      missingHolder(context, at, collection, diff);
      continue;
    }
    const relation = node.relations.get(field);
    applyEntries(context, diff, {
      at,
      current: relation === undefined ? undefined : relationBody(relation),
      read: (input, path, stepsTo) =>
        named(
          readNewRelation(input, path, { imported: false, stepsTo }),
          path,
          (read) => read.many_collection === collection && read.many_field === field,
        ),
      put: (value) => context.draft.putRelation(value),
      remove: () => context.draft.removeRelation(collection, field),
    });
  }
}

/** Nothing of the draft is used then, and more faults would be no help. */
const isFull = ({ problems, conflicts }: EntryFindings): boolean => problems.length + conflicts.length >= MAX_PROBLEMS;

/** The document at the end of an entry names what the entry stands for. */
function named<T>(read: Result<T>, at: Path, matches: (value: T) => boolean): Result<T> {
  if (!read.ok || matches(read.value)) return read;
  return refuse(invalid(at, 'the document names something else than the entry it stands in'));
}

function missingHolder(
  { findings }: ApplyContext,
  at: Path,
  collection: string,
  diff: readonly Entry<unknown>[],
): void {
  const message = `there is no collection ${JSON.stringify(collection)}`;
  // Something new in a collection that isn't there is a diff that can't be right; a change means that it has gone.
  if (diff[0]?.kind === 'N' && isWhole(diff[0]))
    findings.problems.push({ ...invalid([...at, 'collection'], message), collection });
  else findings.conflicts.push(conflict([...at, 'collection'], message));
}

function conflict(at: Path, message: string): Problem {
  return { code: 'SCHEMA_CHANGED', message, path: renderPath(at) };
}

function applyEntries<T extends object>(
  context: ApplyContext,
  diff: readonly Entry<unknown>[],
  target: Target<T>,
): void {
  const [first] = diff as [Entry<unknown>];
  if (!isWhole(first)) changeMembers(context, diff, target);
  else if (first.kind === 'N') putWhole(context, first.rhs, target);
  else if (first.kind === 'D') removeWhole(context, first.lhs, target);
}

function putWhole<T>({ findings }: ApplyContext, rhs: unknown, { at, current, read, put }: Target<T>): void {
  if (current !== undefined) {
    findings.conflicts.push(conflict(at, 'it exists already'));
    return;
  }
  const value = read(rhs, [...at, 'diff', 0, 'rhs']);
  if (value.ok) put(value.value);
  else findings.problems.push(...value.problems);
}

function removeWhole<T>({ findings }: ApplyContext, lhs: unknown, { at, current, read, remove }: Target<T>): void {
  if (current === undefined) {
    findings.conflicts.push(conflict(at, 'it is gone already'));
    return;
  }
  const value = read(lhs, [...at, 'diff', 0, 'lhs']);
  if (!value.ok) findings.problems.push(...value.problems);
  else if (jsonEqual(value.value, current)) remove();
  else findings.conflicts.push(conflict([...at, 'diff', 0, 'lhs'], 'what is to be removed is not the lhs any more'));
}

function changeMembers<T extends object>(
  context: ApplyContext,
  diff: readonly Entry<unknown>[],
  target: Target<T>,
): void {
  const { at, current, read, put, renamedBy } = target;
  const { problems, conflicts } = context.findings;
  if (current === undefined) {
    conflicts.push(conflict(at, 'there is nothing of that name to change'));
    return;
  }
  const document = copyJson(current) as unknown as Json;
  const misfits = applyAll(document, diff, renamedBy);
  for (const [index, misfit] of misfits) {
    const path = [...at, 'diff', index];
    if (misfit.conflict) conflicts.push(conflict(path, misfit.message));
    else problems.push(invalid(path, misfit.message));
  }
  if (misfits.length > 0) return;
  if (hasGap(document)) {
    problems.push(invalid(at, 'an array has a gap: elements are missing between those added'));
    return;
  }
  const value = read(document, at, (steps) => stepsInEntries(diff, steps));
  if (value.ok) put(value.value);
  else problems.push(...value.problems);
}

/** Changes the document in place; what doesn't fit, by the index of its entry. */
function applyAll(
  document: Json,
  diff: readonly Entry<unknown>[],
  renamedBy: NameMember | undefined,
): [number, Misfit][] {
  const misfits: [number, Misfit][] = [];
  for (const [index, entry] of diff.entries()) {
    if (isRenameEntry(entry, renamedBy)) continue;
    const misfit = applyEntry(document, entry as Entry & { path: Path }, diff.length);
    if (misfit !== undefined) misfits.push([index, misfit]);
    if (misfits.length >= MAX_PROBLEMS) break;
  }
  return misfits;
}
