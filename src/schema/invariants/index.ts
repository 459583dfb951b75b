/** Rules that hold in every state. They are checked on the result of a command before it becomes events. */
import {
  memberKey,
  type State,
  relationsTo,
  extrasOf,
  hasColumn,
  type CollectionNode,
  byName,
} from '../model/state.js';
import { MAX_PROBLEMS, type Problem, problemAbout, problemsOfEach } from '../../kernel/problem.js';
import { hasKnownType } from '../sql-text/object-table.js';
import { sqlTextProblems } from '../sql-text/texts.js';
import type { Resumable } from '../../kernel/resumable.js';
import { collectionProblems, groupsOf, columnCountProblems, fieldProblems } from './columns.js';
import {
  cannotRewriteProblem,
  indexNameProblems,
  implicitNameProblems,
  locationProblems,
  movedObjectProblems,
  newNameProblems,
  referenceProblems,
  renameProblems,
} from './names.js';
import { findFormerTypes, renamedTypes, withRenamedTypes } from '../transition/objects.js';
import { type Renames, findNamesInTheWay, isNone, renamesBetween, withRenames } from '../transition/renames.js';
import { needProblems, objectProblems } from './objects.js';
import { newBoundProblems, newPartitionProblems, partitionIndexProblems } from './partitions.js';
import { relationProblems, shownOnceProblems } from './relation.js';
import type { Relation, ColumnSchema, Field } from '../model/model.js';
import { invertMap } from '../../kernel/lists-and-maps.js';
import { jsonEqual } from '../../kernel/json.js';
import { quoteName } from '../../kernel/text.js';
import { objectKey } from '../model/objects.js';

/** The states before and after a change, and the collections that it touches. */
export interface ProposedChange {
  from: State;
  to: State;
  touched: ReadonlySet<string>;
  /** Fields that are explicitly deleted and recreated under the same name. None by default. */
  isRecreated?: IsRecreated;
}

/** Decides by names, or by the field before the change and after it. */
type IsRecreated = (collection: string, field: string, before: Field | undefined, after: Field | undefined) => boolean;

/**
 * Returns all problems of a change, for diff, which proposes it, and for apply. The states are compared by new names, so
 * that a rename alone is not a problem.
 */
export function* changeProblems(change: ProposedChange): Resumable<Problem[]> {
  const { to, touched } = change;
  const types = renamedTypes(change.from, to);
  const unwritten =
    types.length === 0 ? [] : [...to.collections.values()].flatMap((node) => findFormerTypes(types, node));
  if (unwritten.length > 0) return unwritten.map(cannotRewriteProblem);
  const from = withRenamedTypes(change.from, types);
  const renames = renamesBetween(from, to, touched);
  if (isNone(renames)) return yield* problemsByName({ ...change, from });
  const moved = movedObjectProblems(from, renames, (object) => to.objects.has(objectKey(object)));
  if (moved.length > 0) return moved;
  const named = yield* withRenames(from, renames);
  const all = new Set([...touched, ...named.touched]);
  return [
    ...renameProblems(to, renames, named.unwritten),
    ...replacedColumnProblems(from, renames),
    ...(yield* problemsByName({ ...change, from: named.state, touched: all })),
  ];
}

function* problemsByName({ from, to, touched, isRecreated = () => false }: ProposedChange): Resumable<Problem[]> {
  const unsupported: Problem[] = [];
  const named: Problem[] = [];
  for (const name of touched) {
    unsupported.push(...unsupportedChanges({ from, to }, name, isRecreated));
    named.push(...newNameProblems({ from, to }, name), ...newPartitionProblems({ from, to }, name));
    yield;
  }
  named.push(...(yield* newBoundProblems({ from, to }, touched)));
  const broken = yield* invariantProblems(to, touched, from);
  broken.push(...objectProblems(from, to));
  return [...unsupported, ...named, ...broken, ...(yield* sqlTextProblems(from, to, touched))];
}

/**
 * Returns all problems of the `touched` collections and of relations that reference them. The problems name collection
 * and field, and the caller adds the path.
 * @param from the state before the change. If two objects conflict, the changed one is reported.
 */
export function* invariantProblems(state: State, touched: Iterable<string>, from: State = state): Resumable<Problem[]> {
  const problems: Problem[] = [];
  const relations = new Map<string, Relation>();
  const groups = groupsOf(state);
  const names = new Set(touched);
  for (const name of names) {
    if (problems.length >= MAX_PROBLEMS) break;
    const node = state.collections.get(name);
    if (node !== undefined) {
      const wide = columnCountProblems(node);
      problems.push(...wide);
      if (wide.length > 0) continue;
      problems.push(...collectionProblems(state, node, groups), ...fieldProblems(state, node));
      problems.push(...indexNameProblems(state, node), ...implicitNameProblems(state, node));
      problems.push(...locationProblems(state, node, from), ...referenceProblems(state, node));
    }
    // Yields each relation once, regardless of which end is visited first.
    for (const relation of [...(node?.relations.values() ?? []), ...relationsTo(state, name)]) {
      const key = memberKey(relation.many_collection, relation.many_field);
      if (!relations.has(key)) problems.push(...relationProblems(state, relation, from));
      relations.set(key, relation);
    }
    yield;
  }
  problems.push(...needProblems(state, names, from), ...shownOnceProblems(state, [...relations.values()], from));
  return problems;
}

/* Find changes that the service does not support: of columns with unsupported types, and of columns and foreign keys
   of partitioned tables. */

/**
 * Returns unsupported changes to a collection between the states.
 * @param isRecreated true if a field is explicitly deleted and recreated, which is always supported
 */
export function unsupportedChanges(
  { from, to }: { from: State; to: State },
  name: string,
  isRecreated: IsRecreated,
): Problem[] {
  const before = from.collections.get(name);
  const after = to.collections.get(name);
  if (before === undefined || before === after) return [];
  if (after === undefined) return orphanProblems(before, to);
  const problems = [
    ...columnProblems({ from, to }, name, isRecreated),
    ...partitioningProblems(before, after),
    ...foreignKeyProblems(before, after, (table) => isTable(from, table) && !isTable(to, table)),
    ...partitionIndexProblems({ from, to }, name),
  ];
  if (problems.length === 0 || !isReplaced(before, after)) return problems;
  return [before, after].some(isPartitioned) ? [replacedProblem(after)] : problems;
}

const isReplaced = (before: CollectionNode, after: CollectionNode): boolean =>
  before.identities.collection !== after.identities.collection;

/** Reports a partitioned table or a partition that a diff would have to convert into an earlier table, or the reverse. */
function replacedProblem({ collection: { collection } }: CollectionNode): Problem {
  const name = quoteName(collection);
  const message = `${name} is another table now, and partitioned tables and partitions cannot be converted: delete the current ${name} first`;
  return problemAbout({ kind: 'collection', collection }, message);
}

/** Reports partitions that remain although their parent is removed. PostgreSQL drops them with the parent. */
function orphanProblems(orphan: CollectionNode, { collections }: State): Problem[] {
  if (extrasOf(orphan).partition_by === undefined) return [];
  const { collection } = orphan.collection;
  const partitions = [...collections.values()].filter((node) => extrasOf(node).partition_of?.table === collection);
  if (partitions.length === 0) return [];
  const names = partitions.map((node) => quoteName(node.collection.collection)).sort(byName);
  const message = `${quoteName(collection)} has the partitions ${names.join(', ')}: delete them first`;
  return [
    problemAbout({ kind: 'collection', collection }, message, {
      code: 'IN_USE',
      details: { partitions: names.length },
    }),
  ];
}

function columnProblems(states: Record<'from' | 'to', State>, collection: string, isRecreated: IsRecreated): Problem[] {
  const [before, after] = [states.from, states.to].map(
    (state) => state.collections.get(collection) as CollectionNode,
  ) as [CollectionNode, CollectionNode];
  const isDivided = [before, after].some(isPartitioned);
  return problemsOfEach(new Set([...before.fields.keys(), ...after.fields.keys()]), (name) => {
    const [old, now] = [before.fields.get(name), after.fields.get(name)];
    if (old === now) return [];
    const isChanged = !isRecreated(collection, name, old, now);
    const message = isDivided && columnDiffers(old, now) ? DIVIDED : isChanged ? unknownFault(states, old, now) : null;
    return message === null
      ? []
      : [problemAbout({ kind: 'field', collection, field: name, member: ['schema'] }, message)];
  });
}

/** Reports columns of partitioned tables and partitions whose names other columns take. They would be dropped. */
function replacedColumnProblems({ collections }: State, renames: Renames): Problem[] {
  const former = invertMap(renames.collections);
  return [...renames.fields].flatMap(([collection, names]) => {
    const node = collections.get(former.get(collection) ?? collection);
    if (node === undefined || !isPartitioned(node)) return [];
    const replaced = findNamesInTheWay(names, (field) => hasColumn(node.fields.get(field)));
    return replaced.map((field) => problemAbout({ kind: 'field', collection, field, member: ['schema'] }, DIVIDED));
  });
}

const DIVIDED =
  'the service cannot change columns of a partitioned table or a partition: change them in the database, then adopt the tables again (POST /schema/drift/accept says how)';

const isPartitioned = (node: CollectionNode): boolean => {
  const extras = extrasOf(node);
  return extras.partition_by !== undefined || extras.partition_of !== undefined;
};

const columnDiffers = (old: Field | undefined, now: Field | undefined): boolean =>
  !jsonEqual(alterable(old?.schema), alterable(now?.schema));

/**
 * Returns the column without its comment and the name of its NOT NULL constraint, which can always change. Snapshots of
 * earlier releases contain the names that partitions inherit.
 */
function alterable(column: ColumnSchema | null | undefined): object | null {
  if (!column) return null;
  const { comment: _, extras: { not_null_name: __, ...extras } = {}, ...rest } = column;
  return { ...rest, extras };
}

/**
 * Reports changes to the foreign keys of a partitioned table. Dropping the referenced table is supported. All other
 * changes affect all partitions at once and must be made in the database.
 */
function foreignKeyProblems(
  before: CollectionNode,
  after: CollectionNode,
  isDropped: (table: string) => boolean,
): Problem[] {
  if (before.relations === after.relations || ![before, after].some(isPartitioned)) return [];
  const problems: Problem[] = [];
  for (const name of new Set([...before.relations.keys(), ...after.relations.keys()])) {
    const [old, now] = [foreignKey(before.relations.get(name)), foreignKey(after.relations.get(name))];
    if (jsonEqual(old, now) || (now === null && isDropped(old?.one_collection ?? ''))) continue;
    const { collection } = before.collection;
    problems.push(problemAbout({ kind: 'relation', collection, field: name, member: ['schema'] }, DIVIDED_KEY));
  }
  return problems;
}

const DIVIDED_KEY =
  'the service cannot change foreign keys of a partitioned table or a partition: change them in the database, then adopt the tables again (POST /schema/drift/accept says how)';

const foreignKey = (relation: Relation | undefined) =>
  relation?.schema ? { one_collection: relation.one_collection, ...relation.schema } : null;

const isTable = ({ collections }: State, name: string): boolean => !!collections.get(name)?.collection.schema;

function unknownFault(
  { from, to }: Record<'from' | 'to', State>,
  old: Field | undefined,
  now: Field | undefined,
): string | null {
  if (!old?.schema || !now?.schema) return null;
  if (![old.type, now.type].includes('unknown')) return null;
  // A user-defined type that was renamed in the meantime is still the same type.
  if (jsonEqual(typeOf(old.schema), typeOf(now.schema))) return null;
  // A renamed type has its new name in the column.
  const isKnown = [from, to].some((state) => hasKnownType(state, old));
  if (isKnown && hasKnownType(to, now)) return null;
  return isKnown
    ? `the service cannot change the type of this column to ${now.schema.data_type}, which it neither supports nor manages`
    : `the service cannot change the type of this column, ${old.schema.data_type}. It can change its default, nullability, keys, indexes, comment and metadata`;
}

/** Returns the properties that define type and values of a column. The others can change for any type. */
function typeOf(column: ColumnSchema): object {
  const {
    default_value: _,
    is_nullable: __,
    is_unique: ___,
    is_indexed: ____,
    is_primary_key: _____,
    comment: ______,
    // A column of an unsupported type cannot be an identity. If it is auto-increment, its default calls nextval.
    has_auto_increment: _______,
    ...type
  } = column;
  const { collation, precision, virtual } = column.extras ?? {};
  return { ...type, extras: { collation, precision, virtual } };
}

function partitioningProblems(before: CollectionNode, after: CollectionNode): Problem[] {
  const [old, now] = [extrasOf(before), extrasOf(after)];
  const { collection } = before.collection;
  const fixed = [before, after].some(isPartitioned) ? (['primary_key'] as const) : [];
  return (['partition_by', 'partition_of', ...fixed] as const)
    .filter((member) => !jsonEqual(old[member], now[member]))
    .map((member) =>
      problemAbout({ kind: 'collection', collection, member: ['schema', 'extras', member] }, PARTITIONING),
    );
}

const PARTITIONING = 'the partitioning of a table can only be changed in the database';
