/** Applies the rename entries of a diff before all others, which use the new names. */
import { inverse } from '../../kernel/inverse.js';
import { type Problem, invalid, type Path } from '../../kernel/problem.js';
import type { Names } from '../fold/replace-names.js';
import type { CollectionNode, State } from '../model/state.js';
import { NO_RENAMES, type Renames, isNone, withRenames } from '../transition/renames.js';
import { Draft } from '../transition/draft.js';
import type { Resumable } from '../../kernel/resumable.js';
import { applyItems, type DiffItem, itemsInOrder } from './apply-entries.js';
import { checkName } from '../normal-form/names.js';
import type { CollectionDiff, FieldDiff, SchemaDiff } from './diff.js';
import { type EntryFindings, type NameMember, conflict, isRemoval, isRenameEntry, isWrong } from './entries.js';

interface Named {
  /** The state by the names that all other entries use. */
  state: State;
  touched: ReadonlySet<string>;
  /** The remaining items, in order. */
  items: readonly DiffItem[];
}

/** Returns the unchanged state if nothing is renamed or something is wrong. */
export function* byNewNames(state: State, diff: SchemaDiff, findings: EntryFindings): Resumable<Named> {
  const { collections, fields } = renamesIn(state, diff, findings);
  const items = itemsInOrder(diff);
  const asItIs: Named = { state, touched: new Set(), items };
  if (isNone({ collections, fields }) || isWrong(findings)) return asItIs;
  // Objects whose names others take are removed first.
  const tables = items.filter(isTableInTheWay(collections));
  const columns = items.filter(isColumnInTheWay(fields));
  const withoutTables = new Draft(state);
  yield* applyItems({ draft: withoutTables, findings }, tables);
  if (isWrong(findings)) return asItIs;
  const byTables = yield* withRenames(yield* withoutTables.toState(), { ...NO_RENAMES, collections });
  const withoutColumns = new Draft(byTables.state);
  yield* applyItems({ draft: withoutColumns, findings }, columns);
  if (isWrong(findings)) return asItIs;
  const byAll = yield* withRenames(yield* withoutColumns.toState(), { ...NO_RENAMES, fields });
  const gone = new Set([...tables, ...columns]);
  const touched = [withoutTables, byTables, withoutColumns, byAll].flatMap((each) => [...each.touched]);
  return { state: byAll.state, touched: new Set(touched), items: items.filter((item) => !gone.has(item)) };
}

function isTableInTheWay(collections: Names): (item: DiffItem) => boolean {
  const taken = new Set(collections.values());
  return ({ part, item: { collection, diff } }) =>
    part === 'collections' && isRemoval(diff) && taken.has(collection) && !collections.has(collection);
}

function isColumnInTheWay(fields: Renames['fields']): (item: DiffItem) => boolean {
  const taken = new Map([...fields].map(([collection, names]) => [collection, new Set(names.values())]));
  return ({ part, item }) =>
    part === 'fields' && isRemoval(item.diff) && taken.get(item.collection)?.has(item.field) === true;
}

/** Returns the renames of a diff. Field renames use new collection names, if those are valid. */
function renamesIn(state: State, { collections: items, fields }: SchemaDiff, findings: EntryFindings): Renames {
  const gone = new Set(items.filter(({ diff }) => isRemoval(diff)).map(({ collection }) => collection));
  const isThere = (name: string) => state.collections.has(name);
  const reading: Reading = { member: 'collection', part: 'collections', isThere, gone };
  const collections = namesOf(new Map(items.entries()), reading, findings);
  if (isWrong(findings)) return { collections, fields: new Map() };
  return { collections, fields: fieldRenames(nodesByNewNames(state, collections), fields, findings) };
}

type NodeByName = (name: string) => CollectionNode | undefined;

/** Returns a collection by its new name. */
function nodesByNewNames(state: State, collections: Names): NodeByName {
  const former = inverse(collections);
  return (name) => {
    const old = former.get(name) ?? (collections.has(name) ? undefined : name);
    return old === undefined ? undefined : state.collections.get(old);
  };
}

/** Returns new field names by collection. */
function fieldRenames(
  nodeOf: NodeByName,
  fields: readonly FieldDiff[],
  findings: EntryFindings,
): ReadonlyMap<string, Names> {
  const found = new Map<string, Names>();
  for (const [collection, items] of byCollection(fields)) {
    const node = nodeOf(collection);
    const gone = new Set([...items.values()].flatMap((item) => (isRemoval(item.diff) ? [item.field] : [])));
    const isThere = (name: string) => node?.fields.has(name) === true;
    const names = namesOf(items, { member: 'field', part: 'fields', isThere, gone }, findings);
    if (names.size > 0) found.set(collection, names);
  }
  return found;
}

/** By location in the diff, only for collections with a renamed field. */
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
  /** Objects that the diff removes. */
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
