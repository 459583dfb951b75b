/**
 * Objects that the service does not change: columns of unsupported types, and columns and foreign keys of partitioned
 * tables.
 */
import { extrasOf, type CollectionNode, type State, byName } from '../model/state.js';
import { jsonEqual } from '../../kernel/json.js';
import type { ColumnSchema, Field, Relation } from '../model/model.js';
import { type Problem, about, problemsOfEach } from '../../kernel/problem.js';
import { quoted } from '../../kernel/text.js';

/**
 * Returns unsupported changes of a collection between the states.
 * @param isRecreated true if a field is explicitly deleted and recreated, which is always supported
 */
export function unsupportedChanges(
  { from, to }: { from: State; to: State },
  name: string,
  isRecreated: (collection: string, field: string) => boolean,
): Problem[] {
  const before = from.collections.get(name);
  const after = to.collections.get(name);
  if (before === undefined || before === after) return [];
  if (after === undefined) return orphanProblems(before, to);
  return [
    ...locationProblems(before, after),
    ...columnProblems(before, after, isRecreated),
    ...partitioningProblems(before, after),
    ...foreignKeyProblems(before, after, (table) => isTable(from, table) && !isTable(to, table)),
  ];
}

/** Only a rename moves a table. */
function locationProblems(before: CollectionNode, after: CollectionNode): Problem[] {
  const [from, to] = [before.collection.schema, after.collection.schema];
  if (!from || !to || (from.schema === to.schema && from.name === to.name)) return [];
  if (before.identities.collection !== after.identities.collection) return [];
  const { collection } = after.collection;
  const message = `${quoted(collection)} has its table in another schema: move the table by renaming the collection`;
  return [about({ kind: 'collection', collection, member: ['schema', 'schema'] }, message)];
}

/** PostgreSQL drops the partitions together with a partitioned table. */
function orphanProblems(gone: CollectionNode, { collections }: State): Problem[] {
  if (extrasOf(gone).partition_by === undefined) return [];
  const { collection } = gone.collection;
  const partitions = [...collections.values()].filter((node) => extrasOf(node).partition_of?.table === collection);
  if (partitions.length === 0) return [];
  const names = partitions.map((node) => quoted(node.collection.collection)).sort(byName);
  const message = `${quoted(collection)} has the partitions ${names.join(', ')}: delete them first`;
  return [
    about({ kind: 'collection', collection }, message, { code: 'IN_USE', details: { partitions: names.length } }),
  ];
}

function columnProblems(
  before: CollectionNode,
  after: CollectionNode,
  isRecreated: (collection: string, field: string) => boolean,
): Problem[] {
  const { collection } = before.collection;
  const isDivided = [before, after].some(isPartitioned);
  return problemsOfEach(new Set([...before.fields.keys(), ...after.fields.keys()]), (name) => {
    const [old, now] = [before.fields.get(name), after.fields.get(name)];
    if (old === now) return [];
    const isChanged = !isRecreated(collection, name);
    const message = isDivided && columnDiffers(old, now) ? DIVIDED : isChanged ? unknownFault(old, now) : null;
    return message === null ? [] : [about({ kind: 'field', collection, field: name, member: ['schema'] }, message)];
  });
}

const DIVIDED =
  'a partitioned table and its partitions have the same columns: change them in the database, then accept the drift';

const isPartitioned = (node: CollectionNode): boolean => {
  const extras = extrasOf(node);
  return extras.partition_by !== undefined || extras.partition_of !== undefined;
};

const columnDiffers = (old: Field | undefined, now: Field | undefined): boolean =>
  !jsonEqual(alterable(old?.schema), alterable(now?.schema));

/** Returns the column without its comment, which can always change. */
function alterable(column: ColumnSchema | null | undefined): object | null {
  if (!column) return null;
  const { comment: _, ...rest } = column;
  return rest;
}

/**
 * A foreign key is dropped with its referenced table. Other changes, in all partitions at once, must be made in the
 * database.
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
    problems.push(about({ kind: 'relation', collection, field: name, member: ['schema'] }, DIVIDED_KEY));
  }
  return problems;
}

const DIVIDED_KEY =
  'a partitioned table and its partitions have the same foreign keys: change them in the database, then accept the drift';

const foreignKey = (relation: Relation | undefined) =>
  relation?.schema ? { one_collection: relation.one_collection, ...relation.schema } : null;

const isTable = ({ collections }: State, name: string): boolean => !!collections.get(name)?.collection.schema;

function unknownFault(old: Field | undefined, now: Field | undefined): string | null {
  if (!old?.schema || !now?.schema) return null;
  if (![old.type, now.type].includes('unknown')) return null;
  // A user-defined type that was renamed in the meantime is still the same type.
  if (jsonEqual(typeOf(old.schema), typeOf(now.schema))) return null;
  return old.type !== 'unknown'
    ? 'must not be changed to "unknown": only adopted columns have that type'
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
    // A column of such a type cannot be an identity. If it is auto-increment, its default calls nextval.
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
    .map((member) => about({ kind: 'collection', collection, member: ['schema', 'extras', member] }, PARTITIONING));
}

const PARTITIONING = 'the partitioning of a table can only be changed in the database';
