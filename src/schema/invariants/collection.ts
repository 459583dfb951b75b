import { quoted } from '../../kernel/quoted.js';
import { type Problem, about, type Subject } from '../../kernel/problem.js';
import { type Grouping, groupFault } from './group.js';
import { type CollectionNode, type State, primaryKeyOf, extrasOf } from '../model/state.js';
import { SYSTEM_COLUMNS } from '../normal-form/names.js';
import { constraintColumns, indexColumns, keyDefinition } from '../sql-text/columns.js';
import type { TableExtras } from '../model/extras.js';

/* Extras must be consistent with the fields and other tables. */

type Key = NonNullable<TableExtras['primary_key']>;

/** `name`: the index or constraint. */
type Fault = [member: keyof TableExtras, message: string, name?: string];

/** Checks that referenced objects exist and match. The SQL is checked when extras are read. */
function extrasProblems(state: State, node: CollectionNode): Problem[] {
  const extras = node.collection.schema?.extras;
  if (extras === undefined) return [];
  const faults = [
    ...keyFaults(node, extras),
    ...nameFaults(node, extras),
    ...partitionFaults(state, extras),
    ...referenceFaults(state, extras),
  ];
  return faults.map((fault) => about(subjectOf(node.collection.collection, extras, fault), fault[1]));
}

function subjectOf(collection: string, extras: TableExtras, [list, , name]: Fault): Subject {
  const member = ['schema', 'extras', list];
  if (name === undefined || (list !== 'indexes' && list !== 'constraints')) {
    return { kind: 'collection', collection, member };
  }
  const index = (extras[list] ?? []).findIndex((each) => each.name === name);
  return { kind: list === 'indexes' ? 'index' : 'constraint', collection, name, member: [...member, index] };
}

/** The marked fields must be those of the key, and one cannot change without the other. */
function keyFaults(node: CollectionNode, { primary_key: key }: TableExtras): Fault[] {
  if (key === undefined) return [];
  const marked = primaryKeyOf(node).map(({ field }) => field);
  const same = marked.length === key.columns.length && key.columns.every((column) => marked.includes(column));
  if (same) return includedFaults(node, key);
  const columns = key.columns.map(quoted).join(', ');
  return [['primary_key', `the primary key ${quoted(key.name)} is of ${columns}: exactly these have is_primary_key`]];
}

/** PostgreSQL would drop the whole key with an included column. */
function includedFaults({ fields }: CollectionNode, { name, definition }: Key): Fault[] {
  const included = definition === undefined ? [] : keyDefinition(definition).including;
  const gone = included.filter((column) => !fields.get(column)?.schema);
  if (gone.length === 0) return [];
  return [
    ['primary_key', `the primary key ${quoted(name)} includes ${gone.map(quoted).join(', ')}, which must be there`],
  ];
}

/** PostgreSQL drops such objects with the column, so each must name existing columns. */
function nameFaults({ fields }: CollectionNode, { constraints = [], indexes = [] }: TableExtras): Fault[] {
  const isGone = (column: string): boolean => !SYSTEM_COLUMNS.has(column) && !fields.get(column)?.schema;
  const faults = (member: 'constraints' | 'indexes', name: string, columns: ReadonlySet<string>): Fault[] => {
    const gone = [...columns].filter(isGone);
    if (gone.length === 0) return [];
    return [[member, `${quoted(name)} names ${gone.map(quoted).join(', ')}, and there is no such column`, name]];
  };
  return [
    ...constraints.flatMap(({ name, definition }) => faults('constraints', name, constraintColumns(definition))),
    ...indexes.flatMap(({ name, definition }) => faults('indexes', name, indexColumns(definition))),
  ];
}

/** Extras that every table may have. */
function partitionFaults({ collections }: State, { partition_of: partition }: TableExtras): Fault[] {
  if (partition === undefined) return [];
  const parent = collections.get(partition.table)?.collection.schema;
  if (parent?.extras?.partition_by !== undefined) return [];
  return [['partition_of', `there is no partitioned collection ${quoted(partition.table)}`]];
}

function referenceFaults({ collections }: State, { constraints = [] }: TableExtras): Fault[] {
  return constraints.flatMap(({ name, references }): Fault[] => {
    if (references === undefined || collections.get(references)?.collection.schema) return [];
    return [
      ['constraints', `${quoted(name)} points at ${quoted(references)}, which is no collection with a table`, name],
    ];
  });
}

/**
 * Checks the collection as a whole: its group, the fields that meta names, keys and extras. Fields and relations are
 * checked elsewhere.
 */
export function collectionProblems(state: State, node: CollectionNode, groups: Grouping): Problem[] {
  const { collection, meta, schema } = node.collection;
  const problem = (member: string[], message: string): Problem =>
    about({ kind: 'collection', collection, member }, message);
  const problems: Problem[] = [];
  const group = groupFault(collection, meta.group, groups);
  if (group !== undefined) problems.push(problem(['meta', 'group'], group));
  for (const member of ['archive_field', 'sort_field'] as const) {
    const field = meta[member];
    if (field !== null && !node.fields.has(field)) {
      const message = `${quoted(field)} is not a field of ${quoted(collection)}; name one of its fields, or null`;
      problems.push(problem(['meta', member], message));
    }
  }
  if (schema === null && node.fields.size > 0) {
    problems.push(problem(['fields'], `${quoted(collection)} is a folder (schema null) and can't have fields`));
  }
  return [...problems, ...keysProblems(node), ...extrasProblems(state, node)];
}

/** Keys of several columns are only allowed if adopted. */
function keysProblems(node: CollectionNode): Problem[] {
  const [first, ...others] = primaryKeyOf(node);
  const { collection } = node.collection;
  if (first === undefined || others.length === 0 || extrasOf(node).primary_key !== undefined) return [];
  return others.map(({ field }) => secondKey(collection, first.field, field));
}

/** The problem of a second primary key `field` beside `first`. */
export function secondKey(collection: string, first: string, field: string): Problem {
  const message = `field ${quoted(field)} cannot be the primary key of collection ${quoted(collection)}: field ${quoted(first)} is its primary key, and a collection has one. Send is_primary_key false for ${quoted(field)}, or move the key from ${quoted(first)} in the same request`;
  return about({ kind: 'field', collection, field, member: ['schema', 'is_primary_key'] }, message);
}

/** Shared by the checks of one state: valid group chains are checked once. */
export function groupsOf(state: State): Grouping {
  const parentOf = (name: string) =>
    state.collections.get(name)?.collection.meta ?? `there is no collection ${quoted(name)} to group under`;
  return { parentOf, sound: new Set() };
}
