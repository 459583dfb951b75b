/* Problems of partitions, which have the columns of their partitioned table, and bounds without common values. */
import { type Problem, problemAbout } from '../../kernel/problem.js';
import { quoteName } from '../../kernel/text.js';
import { indexNameOf } from '../model/constraint-names.js';
import type { TableExtras } from '../model/extras.js';
import { parentOf } from '../model/order.js';
import {
  type CollectionNode,
  type ColumnField,
  type State,
  byName,
  extrasOf,
  hasColumn,
  partitionsOf,
  tableNameOf,
} from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { columnType } from '../sql-text/data-types.js';
import { parseConstraint } from '../sql-text/definitions.js';
import { isSameText } from '../sql-text/compare-and-rename.js';
import {
  type PartitionBound,
  type PartitionKey,
  partitionBoundConflict,
  partitionBoundFault,
  readPartitionBound,
  readPartitionKey,
} from '../sql-text/partition-bounds.js';
import type { Renames } from '../transition/renames.js';

/**
 * Reports a column that is not renamed in a partitioned table and in all of its partitions alike. PostgreSQL renames all
 * of them together.
 */
export function partitionRenameProblems(to: State, { fields }: Renames): Problem[] {
  const isColumn = (collection: string, field: string): boolean =>
    to.collections.get(collection)?.fields.get(field)?.schema != null;
  const fault = (collection: string, field: string, message: string): Problem =>
    problemAbout({ kind: 'field', collection, field }, message, { code: 'IN_USE' });
  return [...fields].flatMap(([collection, names]) =>
    [...names].flatMap(([field, name]) => {
      if (!isColumn(collection, name)) return [];
      const parent = parentOf(to, collection);
      const isAlone = parent !== undefined && fields.get(parent)?.get(field) !== name;
      const left = [...partitionsOf(to, collection)].filter((partition) => isColumn(partition, field));
      return [
        ...(isAlone ? [fault(collection, name, renameThere(parent))] : []),
        ...left.map((partition) => fault(partition, field, renameHere(collection, name))),
      ];
    }),
  );
}

const renameThere = (parent: string): string =>
  `a partition must have the columns of ${quoteName(parent)}: rename the column there too`;

const renameHere = (parent: string, name: string): string =>
  `a partition must have the columns of ${quoteName(parent)}: rename this column to ${quoteName(name)} too`;

/**
 * Reports columns and CHECK constraints of a new partition that are not those of its partitioned table. PostgreSQL would
 * not attach it.
 */
export function newPartitionProblems({ from, to }: { from: State; to: State }, name: string): Problem[] {
  const node = from.collections.has(name) ? undefined : to.collections.get(name);
  const parent = parentOf(to, name) ?? '';
  const table = to.collections.get(parent);
  if (node === undefined || table === undefined) return [];
  const ofColumns = [...new Set([...table.fields.keys(), ...node.fields.keys()])].flatMap((field) => {
    const [needed, own] = [table, node].map(({ fields }) => fields.get(field));
    const fault =
      columnFault(hasColumn(needed) ? needed : null, hasColumn(own) ? own : null) ??
      (hasForeignKey(table, field) && !hasForeignKey(node, field) ? 'the column must have its foreign key' : null);
    const message = `a partition must have the columns of ${quoteName(parent)}: ${fault}`;
    return fault === null ? [] : [problemAbout({ kind: 'field', collection: name, field }, message)];
  });
  return [...ofColumns, ...missingIndexes(table, node), ...missingChecks(table, node)];
}

/** Definitions are not compared, because they can be spelled differently. PostgreSQL compares them. */
function missingChecks(table: CollectionNode, node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  const own = new Map((extrasOf(node).constraints ?? []).map((each, index) => [each.name, { ...each, index }]));
  return (extrasOf(table).constraints ?? []).flatMap(({ name, definition }) => {
    const needed = parseConstraint(definition);
    if (typeof needed !== 'object' || needed.isInherited !== true) return [];
    const same = own.get(name);
    const fault = same === undefined ? `${quoteName(name)} is missing: ${definition}` : checkFault(same, needed);
    if (fault === null) return [];
    const member = ['schema', 'extras', 'constraints', ...(same === undefined ? [] : [same.index, 'definition'])];
    const message = `a partition must have the CHECK constraints of ${quoteName(table.collection.collection)}: ${fault}`;
    return [problemAbout({ kind: 'collection', collection, member }, message)];
  });
}

function checkFault(
  { name, definition }: { name: string; definition: string },
  needed: { skipsRows: boolean },
): string | null {
  const parsed = parseConstraint(definition);
  if (typeof parsed !== 'object') return null;
  if (parsed.kind !== 'check') return `${quoteName(name)} must be a CHECK constraint`;
  if (parsed.isInherited !== true) return `${quoteName(name)} must not be NO INHERIT`;
  return parsed.skipsRows && !needed.skipsRows ? `${quoteName(name)} must not be NOT VALID or NOT ENFORCED` : null;
}

/** Reports indexes that PostgreSQL would add. They are counted, because their definitions can be spelled differently. */
function missingIndexes(table: CollectionNode, node: CollectionNode): Problem[] {
  const [needed = [], own = []] = [table, node].map((each) => extrasOf(each).indexes ?? []);
  if (own.length >= needed.length) return [];
  const { collection } = node.collection;
  const names = needed.map(({ name }) => quoteName(name)).join(', ');
  const message = `a partition must have the indexes of ${quoteName(table.collection.collection)}: add one for each of ${names}`;
  return [problemAbout({ kind: 'collection', collection, member: ['schema', 'extras', 'indexes'] }, message)];
}

/* Compare the indexes of existing partitions with those of their tables. */

type Index = NonNullable<TableExtras['indexes']>[number];

/**
 * Reports indexes of a partitioned table and of its partitions that do not change together. PostgreSQL creates an index
 * on all partitions that have no equal one, drops it from all of them, and drops it from no partition alone.
 */
export function partitionIndexProblems(change: { from: State; to: State }, name: string): Problem[] {
  const [before, after] = [change.from, change.to].map(({ collections }) => collections.get(name));
  if (before === undefined || after === undefined || extrasOf(before).indexes === extrasOf(after).indexes) return [];
  const partitions = [...partitionsOf(change.to, name)].sort(byName);
  const added = withoutSame(extrasOf(after).indexes, extrasOf(before).indexes);
  const removed = withoutSame(extrasOf(before).indexes, extrasOf(after).indexes);
  return [
    ...partitions.flatMap((partition) => [
      ...missingInPartition(change.to, partition, { name, added }),
      ...remainingInPartition(change, partition, { name, removed }),
    ]),
    ...missingInParent(change, { before, after }),
  ];
}

const isEqualIndex = (one: Omit<Index, 'name'>, other: Omit<Index, 'name'>): boolean =>
  one.unique === other.unique && isSameText('index', one.definition, other.definition);

/** A rename drops the index and creates it again. */
const withoutSame = (indexes: readonly Index[] = [], others: readonly Index[] = []): Index[] =>
  indexes.filter((index) => !others.some((other) => other.name === index.name && isEqualIndex(index, other)));

/** Returns the indexes of a table, including those of fields. */
const indexesOf = (node: CollectionNode | undefined): Index[] => [
  ...(extrasOf(node).indexes ?? []),
  ...[...(node?.fields.values() ?? [])].filter(hasColumn).flatMap((field) =>
    field.schema.is_indexed
      ? [
          {
            name: indexNameOf(node === undefined ? '' : tableNameOf(node), field),
            definition: `USING btree (${identifier(field.field)})`,
          },
        ]
      : [],
  ),
];

const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const indexProblem = (collection: string, message: string): Problem =>
  problemAbout({ kind: 'collection', collection, member: ['schema', 'extras', 'indexes'] }, message);

function missingInPartition(
  { collections }: State,
  partition: string,
  { name, added }: { name: string; added: readonly Index[] },
): Problem[] {
  const own = indexesOf(collections.get(partition));
  return added
    .filter((index) => !own.some((each) => isEqualIndex(index, each)))
    .map((index) =>
      indexProblem(
        partition,
        `a partition must have the indexes of ${quoteName(name)}: add one with the definition of ${quoteName(index.name)}, ${index.definition}`,
      ),
    );
}

/** If a partition has several equal indexes, only the database knows which of them belongs to that of the table. */
function remainingInPartition(
  { from, to }: { from: State; to: State },
  partition: string,
  { name, removed }: { name: string; removed: readonly Index[] },
): Problem[] {
  const [before, after] = [from, to].map(({ collections }) => indexesOf(collections.get(partition)));
  return removed.flatMap((index) => {
    const [own, ...others] = (before ?? []).filter((each) => isEqualIndex(index, each));
    const isKept = own !== undefined && withoutSame([own], after).length === 0;
    if (!isKept || others.length > 0) return [];
    const message = `PostgreSQL drops index ${quoteName(own.name)} with index ${quoteName(index.name)} of ${quoteName(name)}: remove it too`;
    return [indexProblem(partition, message)];
  });
}

function missingInParent(
  { from, to }: { from: State; to: State },
  { before, after }: { before: CollectionNode; after: CollectionNode },
): Problem[] {
  const { collection } = after.collection;
  const parent = parentOf(to, collection) ?? '';
  const [above, own] = [from, to].map(({ collections }) => indexesOf(collections.get(parent)));
  const dropped = withoutSame(above, own);
  const kept = (above ?? []).filter((index) => !dropped.includes(index));
  return withoutSame(indexesOf(before), indexesOf(after)).flatMap((index) => {
    const isAlone = indexesOf(before).filter((each) => isEqualIndex(index, each)).length === 1;
    const holder = kept.find((each) => isEqualIndex(index, each));
    if (!isAlone || holder === undefined) return [];
    const message = `index ${quoteName(index.name)} belongs to index ${quoteName(holder.name)} of ${quoteName(parent)}, and PostgreSQL drops it only with that`;
    return [indexProblem(collection, message)];
  });
}

const hasForeignKey = ({ relations }: CollectionNode, field: string): boolean => relations.get(field)?.schema != null;

function columnFault(needed: ColumnField | null, own: ColumnField | null): string | null {
  if (needed === null) return own && 'the table has no column with this name';
  if (own === null) return `column ${quoteName(needed.field)} is missing`;
  const [type, ownType] = [needed, own].map(({ schema }) => typeAndCollation(schema));
  if (withoutSpelling(type) !== withoutSpelling(ownType)) return `the type must be ${type}, not ${ownType}`;
  const lacks = (flag: 'is_primary_key' | 'is_unique' | 'is_indexed'): boolean =>
    needed.schema[flag] && !own.schema[flag];
  if (own.schema.is_nullable && !needed.schema.is_nullable) return 'the column must be NOT NULL';
  if (lacks('is_primary_key')) return 'the column must be part of the primary key';
  if (lacks('is_unique')) return 'the column must be unique';
  return lacks('is_indexed') ? 'the column must be indexed' : null;
}

const typeAndCollation = (schema: ColumnField['schema']): string =>
  [columnType(schema), schema.extras?.collation && `COLLATE ${schema.extras.collation}`].filter(Boolean).join(' ');

/** PostgreSQL compares the types. This only has to recognize different ones, however their names are written. */
const withoutSpelling = (type = ''): string => type.replace(/ COLLATE "?default"?$/, '').replaceAll(/"|\b\w+\./g, '');

/* Compare the bounds of new partitions with those of the other partitions of their tables. */

interface BoundedPartition {
  name: string;
  bound: PartitionBound | undefined;
}

/** Reports bounds that PostgreSQL would reject. It compares values of other types and collations itself. */
export function* newBoundProblems(
  { from, to }: { from: State; to: State },
  touched: Iterable<string>,
): Resumable<Problem[]> {
  const newPartitions = new Map<string, Set<string>>();
  for (const name of touched) {
    const parent = from.collections.has(name) ? undefined : parentOf(to, name);
    if (parent !== undefined) newPartitions.set(parent, (newPartitions.get(parent) ?? new Set()).add(name));
  }
  const problems: Problem[] = [];
  for (const [parent, names] of newPartitions) problems.push(...(yield* boundProblems(to, parent, names)));
  return problems;
}

function* boundProblems(state: State, parent: string, names: ReadonlySet<string>): Resumable<Problem[]> {
  const table = state.collections.get(parent);
  const key = table && readPartitionKey(table);
  if (key === undefined) return [];
  const accepted: BoundedPartition[] = [];
  const rest: BoundedPartition[] = [];
  for (const name of partitionsOf(state, parent)) {
    const text = extrasOf(state.collections.get(name)).partition_of?.bound ?? '';
    (names.has(name) ? rest : accepted).push({ name, bound: readPartitionBound(text, key) });
    yield;
  }
  const problems: Problem[] = [];
  for (const partition of rest.sort((a, b) => byName(a.name, b.name))) {
    const message = boundFault(partition, accepted, { parent, key });
    const member = ['schema', 'extras', 'partition_of', 'bound'];
    if (message === null) accepted.push(partition);
    else problems.push(problemAbout({ kind: 'collection', collection: partition.name, member }, message));
    yield;
  }
  return problems;
}

function boundFault(
  { bound }: BoundedPartition,
  others: readonly BoundedPartition[],
  { parent, key }: { parent: string; key: PartitionKey },
): string | null {
  if (bound === undefined) return null;
  const fault = partitionBoundFault(bound, key);
  if (fault !== null) return fault;
  for (const other of others) {
    const conflict = other.bound && partitionBoundConflict(bound, other.bound, key);
    if (conflict) return conflictMessage(conflict, other.name, parent);
  }
  return null;
}

function conflictMessage(
  conflict: NonNullable<ReturnType<typeof partitionBoundConflict>>,
  other: string,
  parent: string,
): string {
  if (conflict === 'is default') return `${quoteName(parent)} already has the default partition ${quoteName(other)}`;
  if (conflict === 'overlaps')
    return `the bound overlaps that of ${quoteName(other)}: partitions of ${quoteName(parent)} must not have common values`;
  return `the modulus must be a factor or a multiple of that of ${quoteName(other)}`;
}
