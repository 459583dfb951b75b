/** What the service keeps as it found it: columns of types it has no name for, and the columns of partitioned tables. */
import { jsonEqual } from './json.js';
import type { ColumnSchema, Field } from './model.js';
import type { Problem } from './problem.js';
import { type CollectionNode, type State, byName } from './state.js';

/** Changes between the two states that nobody may make. */
export function frozenProblems(from: State, to: State, touched: Iterable<string>): Problem[] {
  const problems: Problem[] = [];
  for (const name of touched) {
    const before = from.collections.get(name);
    const after = to.collections.get(name);
    if (before === undefined || before === after) continue;
    if (after === undefined) problems.push(...orphanProblems(before, to));
    else problems.push(...columnProblems(before, after), ...partitioningProblems(before, after));
  }
  return problems;
}

const extrasOf = ({ collection }: CollectionNode) => collection.schema?.extras;

const quoted = (name: string): string => JSON.stringify(name);

/** Dropping a partitioned table drops its partitions. */
function orphanProblems(gone: CollectionNode, { collections }: State): Problem[] {
  if (extrasOf(gone)?.partition_by === undefined) return [];
  const { collection } = gone.collection;
  const partitions = [...collections.values()].filter((node) => extrasOf(node)?.partition_of?.table === collection);
  if (partitions.length === 0) return [];
  const names = partitions.map((node) => quoted(node.collection.collection)).sort(byName);
  const message = `${quoted(collection)} is divided into ${names.join(', ')}: delete these first`;
  return [{ code: 'IN_USE', message, collection, details: { partitions: names.length } }];
}

function columnProblems(before: CollectionNode, after: CollectionNode): Problem[] {
  const isDivided = [before, after].some(isPartitioned);
  const problems: Problem[] = [];
  for (const name of new Set([...before.fields.keys(), ...after.fields.keys()])) {
    const [old, now] = [before.fields.get(name), after.fields.get(name)];
    if (old === now) continue;
    const message = isDivided && columnDiffers(old, now) ? DIVIDED : unknownFault(old, now);
    if (message === null) continue;
    const { collection } = before.collection;
    problems.push({ code: 'INVALID_PAYLOAD', message, path: 'schema', collection, field: name });
  }
  return problems;
}

const DIVIDED =
  'the columns of a partitioned table and its partitions are one: change them in the database, then see what drift says';

const isPartitioned = (node: CollectionNode): boolean => {
  const extras = extrasOf(node);
  return extras?.partition_by !== undefined || extras?.partition_of !== undefined;
};

const columnDiffers = (old: Field | undefined, now: Field | undefined): boolean =>
  !jsonEqual(alterable(old?.schema), alterable(now?.schema));

/** Comments are free to change. */
function alterable(column: ColumnSchema | null | undefined): object | null {
  if (!column) return null;
  const { comment: _, ...rest } = column;
  return rest;
}

function unknownFault(old: Field | undefined, now: Field | undefined): string | null {
  if (!old?.schema || !now?.schema || (old.type !== 'unknown' && now.type !== 'unknown')) return null;
  if (!columnDiffers(old, now) && old.type === now.type) return null;
  return old.type === 'unknown'
    ? `the type of this column, ${old.schema.data_type}, is none that the service can change: only comment and meta may`
    : 'must not become "unknown": that is for columns that were adopted';
}

function partitioningProblems(before: CollectionNode, after: CollectionNode): Problem[] {
  const [old, now] = [extrasOf(before), extrasOf(after)];
  return (['partition_by', 'partition_of'] as const)
    .filter((member) => !jsonEqual(old?.[member], now?.[member]))
    .map((member) => ({
      code: 'INVALID_PAYLOAD',
      message: 'how a table is partitioned can only be changed in the database',
      path: `schema.extras.${member}`,
      collection: before.collection.collection,
    }));
}
