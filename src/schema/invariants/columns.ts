import { quoteName } from '../../kernel/text.js';
import { type Problem, problemAbout, type Subject, problemsOfEach } from '../../kernel/problem.js';
import { type CollectionNode, type State, primaryKeyOf, extrasOf } from '../model/state.js';
import { SYSTEM_COLUMNS } from '../normal-form/names.js';
import { constraintColumns, expressionColumns, indexColumns, keyDefinition } from '../sql-text/definitions.js';
import type { TableExtras } from '../model/extras.js';
import type { ColumnSchema } from '../model/model.js';
import { isExtensionType } from '../sql-text/data-types.js';

/* Checks groups of collections and of fields. A chain of groups must end and not form a cycle. It may contain only
   objects that can group others. */

/** The groups of one namespace. */
interface GroupNamespace {
  /** Returns an object with the group of `name`. Returns a sentence if `name` cannot group others. */
  parentOf: (name: string) => { group: string | null } | string;
  /** Groups whose chain was already checked, so that shared chains are checked once. */
  sound: Set<string>;
}

/** Returns why `name` cannot be in `group`. Undefined if it can. */
function groupFault(name: string, group: string | null, { parentOf, sound }: GroupNamespace): string | undefined {
  const seen = new Set([name]);
  for (let at = group; at !== null && !sound.has(at);) {
    if (seen.has(at)) return `group ${quoteName(group)} creates a cycle: ${quoteName(at)} would contain itself`;
    seen.add(at);
    const parent = parentOf(at);
    if (typeof parent === 'string') return parent;
    at = parent.group;
  }
  // `name` must not be marked as checked, because only its groups were checked.
  seen.delete(name);
  for (const each of seen) sound.add(each);
  return undefined;
}

/** Finds columns that are invalid regardless of the table's content. */

type Fault = [member: keyof ColumnSchema, message: string];

/** PostgreSQL cannot compare values of these types. */
export const INCOMPARABLE = new Map([
  ['json', 'json values cannot be compared, so a json field cannot be unique or indexed. Use data_type "jsonb"'],
]);

/** The message for a virtual generated column in a key or index. PostgreSQL does not store its values. */
const VIRTUAL =
  'a virtual generated column cannot be unique or indexed, because it is computed on read. Omit extras.virtual to store it';

/** Returns at most one fault: the first invalid member among key, uniqueness and index. */
export function columnFaults(schema: ColumnSchema): Fault[] {
  const message = INCOMPARABLE.get(schema.data_type) ?? (schema.extras?.virtual === true ? VIRTUAL : undefined);
  if (message === undefined) return [];
  const members = (['is_primary_key', 'is_unique', 'is_indexed'] as const).filter((member) => schema[member]);
  return members.slice(0, 1).map((member) => [member, message]);
}

/** Returns the problems of all fields of a collection, up to about `MAX_PROBLEMS`. */
export function fieldProblems(state: State, node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  const groups = groupsIn(node);
  return problemsOfEach(node.fields.values(), ({ field, meta, schema }) => {
    const problem = (member: string[], message: string): Problem =>
      problemAbout({ kind: 'field', collection, field, member }, message);
    const group = groupFault(field, meta.group, groups);
    const grouping = group === undefined ? [] : [problem(['meta', 'group'], group)];
    if (schema === null) return grouping;
    const faults = [...columnFaults(schema), ...shadowFaults(state, schema), ...expressionFaults(node, schema)];
    return [...grouping, ...faults.map(([member, message]) => problem(['schema', member], message))];
  });
}

/** The group of a field is an alias field of the same collection. */
function groupsIn({ collection: { collection }, fields }: CollectionNode): GroupNamespace {
  const parentOf = (name: string) => {
    const parent = fields.get(name);
    if (parent === undefined)
      return `field ${quoteName(name)} does not exist in ${quoteName(collection)}, so it cannot be the group`;
    return parent.schema === null
      ? parent.meta
      : `${quoteName(name)} is a column, and only an alias field can be a group`;
  };
  return { parentOf, sound: new Set() };
}

/**
 * Reports a column whose extension type has the name of a table. Every table defines a type with its own name, so
 * without the extension the column would contain rows of that table.
 */
function shadowFaults({ collections }: State, { data_type: type }: ColumnSchema): Fault[] {
  if (!isExtensionType(type) || !collections.get(type)?.collection.schema) return [];
  return [['data_type', `collection ${quoteName(type)} exists, and its table uses the name of that type`]];
}

/**
 * Reports columns that an expression cannot use: a default uses no columns, and a generation expression only existing
 * columns that are not generated.
 */
function* expressionFaults(
  node: CollectionNode,
  { generation_expression: text, extras }: ColumnSchema,
): Generator<Fault> {
  const read = text === null ? [] : [...expressionColumns(text)];
  const missing = listMissing(node, read);
  if (missing.length > 0) yield ['generation_expression', `generation_expression ${usesMissing(missing)}`];
  const generated = read.filter((column) => (node.fields.get(column)?.schema?.generation_expression ?? null) !== null);
  if (generated.length > 0)
    yield ['generation_expression', `generation_expression must not use generated columns (${listNames(generated)})`];
  const inDefault = extras?.default === undefined ? [] : [...expressionColumns(extras.default)];
  if (inDefault.length > 0) yield ['extras', `default must not use columns (${listNames(inDefault)})`];
}

const listNames = (names: readonly string[]): string => names.map(quoteName).join(', ');

const listMissing = ({ fields }: CollectionNode, columns: Iterable<string>): string[] =>
  [...columns].filter((column) => !SYSTEM_COLUMNS.has(column) && !fields.get(column)?.schema);

const usesMissing = (columns: readonly string[]): string => `uses ${listNames(columns)}, and no such column exists`;

/* The maximum number of columns. */

/** MaxHeapAttributeNumber of PostgreSQL. PostgreSQL itself also counts dropped columns and checks the total. */
const MAX_COLUMNS = 1_600;

/** Reports the first column beyond the limit. */
export function columnCountProblems(node: CollectionNode): Problem[] {
  if (node.fields.size <= MAX_COLUMNS) return [];
  const { collection } = node.collection;
  let columns = 0;
  for (const { field, schema } of node.fields.values()) {
    if (schema !== null) columns += 1;
    if (columns <= MAX_COLUMNS) continue;
    const message = `field ${quoteName(field)} exceeds the limit: a table in PostgreSQL has at most ${MAX_COLUMNS.toLocaleString('en')} columns. A field of type "alias" has no column`;
    return [problemAbout({ kind: 'field', collection, field, member: ['field'] }, message)];
  }
  return [];
}

/* Extras must agree with the fields of the table and with other tables. */

type Key = NonNullable<TableExtras['primary_key']>;

/** `name` is the name of the index or constraint. */
type CollectionFault = [member: keyof TableExtras, message: string, name?: string];

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
  return faults.map((fault) => problemAbout(subjectOf(node.collection.collection, extras, fault), fault[1]));
}

function subjectOf(collection: string, extras: TableExtras, [list, , name]: CollectionFault): Subject {
  const member = ['schema', 'extras', list];
  if (name === undefined || (list !== 'indexes' && list !== 'constraints')) {
    return { kind: 'collection', collection, member };
  }
  const index = (extras[list] ?? []).findIndex((each) => each.name === name);
  return { kind: list === 'indexes' ? 'index' : 'constraint', collection, name, member: [...member, index] };
}

/** Checks that exactly the fields of the key have `is_primary_key`, because both must change together. */
function keyFaults(node: CollectionNode, { primary_key: key }: TableExtras): CollectionFault[] {
  if (key === undefined) return [];
  const marked = primaryKeyOf(node).map(({ field }) => field);
  const same = marked.length === key.columns.length && key.columns.every((column) => marked.includes(column));
  if (same) return includedFaults(node, key);
  const columns = key.columns.map(quoteName).join(', ');
  return [
    [
      'primary_key',
      `the primary key ${quoteName(key.name)} contains ${columns}. Exactly these fields must have is_primary_key`,
    ],
  ];
}

/** Checks that included columns exist. PostgreSQL drops the whole key when an included column is dropped. */
function includedFaults({ fields }: CollectionNode, { name, definition }: Key): CollectionFault[] {
  const included = definition === undefined ? [] : keyDefinition(definition).including;
  const missing = included.filter((column) => !fields.get(column)?.schema);
  if (missing.length === 0) return [];
  return [
    [
      'primary_key',
      `the primary key ${quoteName(name)} contains ${missing.map(quoteName).join(', ')}, which does not exist`,
    ],
  ];
}

/** Checks that constraints and indexes use only existing columns. PostgreSQL drops them together with a column. */
function nameFaults(node: CollectionNode, { constraints = [], indexes = [] }: TableExtras): CollectionFault[] {
  const faults = (member: 'constraints' | 'indexes', name: string, columns: ReadonlySet<string>): CollectionFault[] => {
    const missing = listMissing(node, columns);
    return missing.length === 0 ? [] : [[member, `${quoteName(name)} ${usesMissing(missing)}`, name]];
  };
  return [
    ...constraints.flatMap(({ name, definition }) => faults('constraints', name, constraintColumns(definition))),
    ...indexes.flatMap(({ name, definition }) => faults('indexes', name, indexColumns(definition))),
  ];
}

/** Checks that the partitioned parent table exists. */
function partitionFaults({ collections }: State, { partition_of: partition }: TableExtras): CollectionFault[] {
  if (partition === undefined) return [];
  const parent = collections.get(partition.table)?.collection.schema;
  if (parent?.extras?.partition_by !== undefined) return [];
  return [['partition_of', `partitioned collection ${quoteName(partition.table)} does not exist`]];
}

function referenceFaults({ collections }: State, { constraints = [] }: TableExtras): CollectionFault[] {
  return constraints.flatMap(({ name, references }): CollectionFault[] => {
    if (references === undefined || collections.get(references)?.collection.schema) return [];
    return [
      [
        'constraints',
        `${quoteName(name)} references ${quoteName(references)}, which is not a collection with a table`,
        name,
      ],
    ];
  });
}

/**
 * Checks the collection as a whole: its group, the fields that meta names, keys and extras. Fields and relations are
 * checked separately.
 */
export function collectionProblems(state: State, node: CollectionNode, groups: GroupNamespace): Problem[] {
  const { collection, meta, schema } = node.collection;
  const problem = (member: string[], message: string): Problem =>
    problemAbout({ kind: 'collection', collection, member }, message);
  const problems: Problem[] = [];
  const group = groupFault(collection, meta.group, groups);
  if (group !== undefined) problems.push(problem(['meta', 'group'], group));
  for (const member of ['archive_field', 'sort_field'] as const) {
    const field = meta[member];
    if (field !== null && !node.fields.has(field)) {
      const message = `${quoteName(field)} is not a field of ${quoteName(collection)}; name one of its fields, or null`;
      problems.push(problem(['meta', member], message));
    }
  }
  if (schema === null && node.fields.size > 0) {
    problems.push(problem(['fields'], `${quoteName(collection)} is a folder (schema null) and cannot have fields`));
  }
  return [...problems, ...keysProblems(node), ...extrasProblems(state, node)];
}

/** Keys with several columns are only allowed in adopted tables. */
function keysProblems(node: CollectionNode): Problem[] {
  const [first, ...others] = primaryKeyOf(node);
  const { collection } = node.collection;
  if (first === undefined || others.length === 0 || extrasOf(node).primary_key !== undefined) return [];
  return others.map(({ field }) => secondKey(collection, first.field, field));
}

/** Creates the problem of a second primary key `field` in addition to `first`. */
export function secondKey(collection: string, first: string, field: string): Problem {
  const message = `field ${quoteName(field)} cannot be the primary key of collection ${quoteName(collection)}: field ${quoteName(first)} is its primary key, and a collection has one. Send is_primary_key false for ${quoteName(field)}, or move the key from ${quoteName(first)} in the same request`;
  return problemAbout({ kind: 'field', collection, field, member: ['schema', 'is_primary_key'] }, message);
}

/** Creates the grouping that all checks of one state share, so that valid group chains are checked only once. */
export function groupsOf(state: State): GroupNamespace {
  const parentOf = (name: string) =>
    state.collections.get(name)?.collection.meta ??
    `collection ${quoteName(name)} does not exist, so it cannot be the group`;
  return { parentOf, sound: new Set() };
}
