/** Extras must be consistent with the fields and other tables. */
import { quoted } from '../../kernel/quoted.js';
import { SYSTEM_COLUMNS } from '../normal-form/names.js';
import { constraintColumns, indexColumns, keyDefinition } from '../sql-text/columns.js';
import type { TableExtras } from '../model/extras.js';
import { type CollectionNode, type State, primaryKeyOf } from '../model/state.js';
import { type Problem, type Subject, about } from '../../kernel/problem.js';

type Key = NonNullable<TableExtras['primary_key']>;

/** `name`: the index or constraint. */
type Fault = [member: keyof TableExtras, message: string, name?: string];

/** Checks that referenced objects exist and match. The SQL is checked when extras are read. */
export function extrasProblems(state: State, node: CollectionNode): Problem[] {
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
