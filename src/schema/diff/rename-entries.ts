/** The entries of a diff that give something another name: read and checked before all others, which use the new names. */
import { type Problem, invalid, renderPath, type Path } from '../../kernel/problem.js';
import type { Names } from '../fold/renaming.js';
import type { State } from '../model/state.js';
import { checkName } from '../normal-form/names.js';
import type { CollectionDiff, FieldDiff, SchemaDiff } from './diff.js';
import { type EntryFindings, type NameMember, isRemovalOf, isRenameEntry } from './entries.js';

/** The new names of collections, by the ones that they have in the state. */
export function collectionRenames(state: State, { collections }: SchemaDiff, findings: EntryFindings): Names {
  const gone = new Set(collections.filter(({ diff }) => isRemovalOf(diff)).map(({ collection }) => collection));
  const isThere = (name: string) => state.collections.has(name);
  return namesOf(
    new Map(collections.entries()),
    { member: 'collection', part: 'collections', isThere, gone },
    findings,
  );
}

/** By collection, the new names of its fields. @param state by the new names of collections */
export function fieldRenames(
  state: State,
  { fields }: SchemaDiff,
  findings: EntryFindings,
): ReadonlyMap<string, Names> {
  const found = new Map<string, Names>();
  for (const [collection, items] of byCollection(fields)) {
    const node = state.collections.get(collection);
    const gone = new Set([...items.values()].flatMap((item) => (isRemovalOf(item.diff) ? [item.field] : [])));
    const isThere = (name: string) => node?.fields.has(name) === true;
    const names = namesOf(items, { member: 'field', part: 'fields', isThere, gone }, findings);
    if (names.size > 0) found.set(collection, names);
  }
  return found;
}

/** By their places in the diff; only of collections in which a field gets another name. */
function byCollection(fields: readonly FieldDiff[]): ReadonlyMap<string, ReadonlyMap<number, FieldDiff>> {
  const renaming = fields.filter(({ diff }) => diff.some((entry) => isRenameEntry(entry, 'field')));
  const found = new Map(renaming.map(({ collection }) => [collection, new Map<number, FieldDiff>()]));
  for (const [index, item] of fields.entries()) found.get(item.collection)?.set(index, item);
  return found;
}

interface Reading {
  member: NameMember;
  part: 'collections' | 'fields';
  isThere: (name: string) => boolean;
  /** What the diff removes. */
  gone: ReadonlySet<string>;
}

interface Found {
  from: string;
  to: string;
  at: Path;
}

function namesOf(
  items: ReadonlyMap<number, CollectionDiff | FieldDiff>,
  reading: Reading,
  findings: EntryFindings,
): Names {
  const all = [...items].flatMap(([index, item]) => renameIn({ item, index }, reading, findings));
  const names = new Map<string, string>();
  for (const { from, to, at } of all) {
    if (names.has(from)) {
      const message = `${JSON.stringify(from)} can become one ${reading.member} only, and it is ${JSON.stringify(names.get(from))} already`;
      findings.problems.push(invalid([...at, 'lhs'], message));
    } else names.set(from, to);
  }
  for (const { to, at } of all) {
    if (!reading.isThere(to) || names.has(to) || reading.gone.has(to)) continue;
    findings.conflicts.push(conflict(at, `there is a ${reading.member} ${JSON.stringify(to)} already`));
  }
  return names;
}

function renameIn(
  { item, index }: { item: CollectionDiff | FieldDiff; index: number },
  { member, part, isThere }: Reading,
  { problems, conflicts }: EntryFindings,
): Found[] {
  const to = member === 'field' && 'field' in item ? item.field : item.collection;
  const place = item.diff.findIndex((entry) => isRenameEntry(entry, member));
  if (place < 0) return [];
  const at = ['diff', part, index, 'diff', place];
  const { lhs: from, rhs } = item.diff[place] as { lhs: unknown; rhs: unknown };
  const wrong: Problem[] = [];
  if (typeof from !== 'string') wrong.push(invalid([...at, 'lhs'], `lhs must be the name that the ${member} has`));
  if (rhs !== to)
    wrong.push(invalid([...at, 'rhs'], `rhs must be ${JSON.stringify(to)}, the name that the item stands under`));
  else wrong.push(...checkName(member, rhs, [...at, 'rhs']));
  if (from === to) wrong.push(invalid([...at, 'rhs'], 'rhs must be another name than lhs'));
  problems.push(...wrong);
  if (wrong.length > 0 || typeof from !== 'string') return [];
  if (isThere(from)) return [{ from, to, at }];
  conflicts.push(conflict([...at, 'lhs'], `there is no ${member} ${JSON.stringify(from)} to rename`));
  return [];
}

const conflict = (at: Path, message: string): Problem => ({ code: 'SCHEMA_CHANGED', message, path: renderPath(at) });
