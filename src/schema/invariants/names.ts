/* Problems of names: new names, renames, indexes, and names that PostgreSQL derives. */
import { SEARCHED, objectNameParts, qualifiedId, splitArgumentTypes } from '../model/object-ids.js';
import {
  type State,
  isFolder,
  type CollectionNode,
  byName,
  extrasOf,
  primaryKeyOf,
  NEW_IDENTITY,
  getObject,
  tableNameOf,
  collectionsAt,
  hasTableAt,
  locateTable,
  locationKey,
} from '../model/state.js';
import { type Problem, problemAbout, type Subject, problemsOfEach, type Path } from '../../kernel/problem.js';
import type { Renames } from '../transition/renames.js';
import type { UnwrittenText } from '../transition/rename-texts.js';
import { quoteName, invisibleFault } from '../../kernel/text.js';
import {
  NOT_NULL_SUFFIX,
  notNullName,
  identitySequenceName,
  indexNameOf,
  primaryKeyNameOf,
  uniqueNameOf,
} from '../model/constraint-names.js';
import { isIdentity } from '../model/extras.js';
import type { Field } from '../model/model.js';
import { composedFault } from '../normal-form/names.js';
import { partitionRenameProblems } from './partitions.js';
import { parseConstraint } from '../sql-text/definitions.js';
import { parseTypeText } from '../sql-text/expression.js';
import { type ObjectName, objectKey, objectLabel } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';

import { invertMap } from '../../kernel/lists-and-maps.js';

/* Check names that PostgreSQL chooses itself, for sequences of identity columns and for NOT NULL constraints. If
   such a name exists, PostgreSQL chooses another one. The result would then depend on the order of creation. */

/**
 * Reports a sequence named like a table of the schema, and a foreign key named like a NOT NULL constraint of its table.
 */
export function implicitNameProblems(state: State, node: CollectionNode): Problem[] {
  return [...sequenceProblems(state, node), ...notNullProblems(node)];
}

interface TakenName {
  name: string;
  kind: string;
  /** The object that owns the name. */
  of: string;
}

function problem({ name, kind, of }: TakenName, subject: Subject): Problem {
  const message = `${quoteName(name)} is already the name of ${kind} ${of}: choose another name`;
  const taken = [{ name, kind: kind.replace(/^the /, '') }];
  return problemAbout(subject, message, { code: 'ALREADY_EXISTS', details: { taken } });
}

/** Returns the default name of the sequence. Null if the field has no sequence, or one with a custom name. */
function sequenceOf(table: string, { field, schema }: Field): string | null {
  if (schema === null || !isIdentity(schema) || schema.extras?.sequence?.name !== undefined) return null;
  return identitySequenceName(table, field);
}

function holderOfName(state: State, schema: string | undefined, name: string): string | null {
  if (hasTableAt(state, schema, name)) return 'the table';
  const isSequence = getObject(state, { kind: 'sequence', id: qualifiedId({ schema, name }) }) !== undefined;
  return isSequence ? 'the sequence' : null;
}

/**
 * Reports an identity column whose sequence would get the name of an existing table or sequence. PostgreSQL itself
 * rejects a new table with the name of a sequence.
 */
function sequenceProblems(state: State, node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  return problemsOfEach(node.fields.values(), (field) => {
    const name = sequenceOf(tableNameOf(node), field);
    const kind = name === null ? null : holderOfName(state, node.collection.schema?.schema, name);
    if (name === null || kind === null) return [];
    const taken = { name, kind, of: 'that would conflict with the sequence of this column' };
    const member = ['schema', 'has_auto_increment'];
    return [problem(taken, { kind: 'field', collection, field: field.field, member })];
  });
}

function notNullProblems(node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  const suspects = [...node.relations.values()].filter(({ schema }) =>
    schema?.constraint_name?.endsWith(NOT_NULL_SUFFIX),
  );
  if (suspects.length === 0) return [];
  const names = new Map([...node.fields.values()].flatMap((field) => notNullOf(tableNameOf(node), field)));
  return suspects.flatMap(({ many_field: field, schema }) => {
    const name = schema?.constraint_name ?? '';
    const column = names.get(name);
    if (column === undefined) return [];
    const of = `constraint of ${quoteName(column)}`;
    const member = ['schema', 'constraint_name'];
    return [problem({ name, kind: 'the NOT NULL', of }, { kind: 'relation', collection, field, member })];
  });
}

function notNullOf(table: string, { field, schema }: Field): [string, string][] {
  if (schema === null || schema.is_nullable || schema.extras?.not_null_name !== undefined) return [];
  return [[notNullName(table, field), field]];
}

/* Tables of collections. */

/** Reports ALREADY_EXISTS if another collection has the same table. */
export function locationProblems(state: State, node: CollectionNode, from: State): Problem[] {
  const { collection, schema } = node.collection;
  if (schema?.schema === undefined) return [];
  const others = collectionsAt(state, locationKey(schema.schema, tableNameOf(node))).delete(collection);
  // If both collections are new, the second one by name is reported.
  const other = others.find((each) => from.collections.has(each) || each < collection);
  if (other === undefined) return [];
  const table = `${quoteName(schema.schema)}.${quoteName(tableNameOf(node))}`;
  const subject = { kind: 'collection', collection, member: ['schema', 'name'] } as const;
  return [
    problemAbout(subject, `table ${table} already belongs to collection ${quoteName(other)}`, {
      code: 'ALREADY_EXISTS',
    }),
  ];
}

/**
 * Checks a foreign key that is not a relation. It names its table in SQL and also stores the collection, and both must
 * agree.
 */
export function referenceProblems(state: State, node: CollectionNode): Problem[] {
  const { collection } = node.collection;
  return (extrasOf(node).constraints ?? []).flatMap(({ name, definition, references }, index) => {
    if (references === undefined || namesTable(state, definition, references)) return [];
    const member = ['schema', 'extras', 'constraints', index, 'references'];
    const message = `the definition of ${quoteName(name)} references a different table than collection ${quoteName(references)}`;
    return [problemAbout({ kind: 'constraint', collection, name, member }, message)];
  });
}

/** True if the definition references the table of the collection, or is not a valid constraint. */
function namesTable(state: State, definition: string, collection: string): boolean {
  const parsed = parseConstraint(definition);
  if (typeof parsed === 'string') return true;
  const { schema = '', table } = parsed.references ?? {};
  const target = locateTable(state, collection, '');
  if (table !== target.name) return false;
  return schema === target.schema || (schema === '' && target.schema === SEARCHED);
}

/* Check the names of objects with an index. A name must be unique in its table, and among the tables and indexes of
   the schema. */

type Kind = 'index' | 'constraint';

interface Part {
  field: string;
  member: 'is_unique' | 'is_indexed';
  name: string;
  kind: Kind;
}

/**
 * Reports ALREADY_EXISTS with the conflicting object in `details.taken`. Names are compared within the table, and with
 * all tables and indexes of the schema, including indexes that are not built yet.
 */
export function indexNameProblems(state: State, node: CollectionNode): Problem[] {
  const parts: Part[] = [];
  for (const field of node.fields.values()) {
    parts.push(...partsOf(tableNameOf(node), field));
  }
  const problems = parts.length === 0 ? [] : problemsWithin(node, parts);
  // Without field indexes, PostgreSQL detects all conflicts itself.
  return state.indexNames.size === 0 ? problems : [...problems, ...problemsBeyond(state, node, parts)];
}

function problemsWithin(node: CollectionNode, parts: readonly Part[]): Problem[] {
  const { collection } = node.collection;
  const taken = otherNames(node);
  return parts.flatMap(({ field, member, name, kind }) => {
    const other = taken.get(name);
    if (other === undefined) {
      taken.set(name, kind);
      return [];
    }
    const message = `${quoteName(name)} is already the name of another ${other} of ${quoteName(collection)}; give one of them another name in extras`;
    const details = { taken: [{ name, kind: `${other} of the table` }] };
    const subject = { kind: 'field', collection, field, member: ['schema', member] } as const;
    return [problemAbout(subject, message, { code: 'ALREADY_EXISTS', details })];
  });
}

interface Claim {
  name: string;
  subject: Subject;
  /** The collection whose own index may have the name. Null if no index may have it. */
  own: string | null;
}

/** Finds conflicts with indexes that are not built yet, which PostgreSQL cannot detect. */
function problemsBeyond(state: State, node: CollectionNode, parts: readonly Part[]): Problem[] {
  if (isFolder(node)) return [];
  return claimsOf(node, parts).flatMap(({ name, own, subject }) => {
    const other = findConflictingName(state, { schema: node.collection.schema?.schema, name }, own);
    if (other === null) return [];
    const { kind, description } = other;
    const message = `${quoteName(name)} is already the name of ${description}: choose another name`;
    return [problemAbout(subject, message, { code: 'ALREADY_EXISTS', details: { taken: [{ name, kind }] } })];
  });
}

function claimsOf(node: CollectionNode, parts: readonly Part[]): Claim[] {
  const collection = node.collection.collection;
  const claim = (name: string, subject: Subject): Claim => ({ name, own: collection, subject });
  return [
    { name: tableNameOf(node), own: null, subject: { kind: 'collection', collection, member: ['collection'] } },
    ...parts.map(({ field, member, name }) =>
      claim(name, { kind: 'field', collection, field, member: ['schema', member] }),
    ),
    ...[...otherNames(node)].map(([name, kind]) => claim(name, { kind, collection, name })),
  ];
}

/**
 * Returns the conflicting object: an index of a collection other than `own`, or a table with the name of an index of
 * `own`.
 */
function findConflictingName(
  state: State,
  { schema, name }: { schema: string | undefined; name: string },
  own: string | null,
): { kind: string; description: string } | null {
  const holder = state.indexNames.get(locationKey(schema, name));
  if (holder !== undefined && holder !== own) return { kind: 'index', description: `an index of ${quoteName(holder)}` };
  const hidden = own !== null && holder === own && hasTableAt(state, schema, name);
  return hidden ? { kind: 'table', description: 'a table' } : null;
}

/** Constraints whose index has the same name. */
const WITH_INDEX = /^(?:UNIQUE|PRIMARY KEY|EXCLUDE)\b/i;

/** Returns the names that do not come from fields. */
function otherNames(node: CollectionNode): Map<string, Kind> {
  const { indexes = [], constraints = [] } = extrasOf(node);
  const indexing = constraints.filter(({ definition }) => WITH_INDEX.test(definition));
  return new Map<string, Kind>([
    ...(primaryKeyOf(node).length === 0 ? [] : [[primaryKeyNameOf(node), 'constraint'] as const]),
    ...indexes.map(({ name }) => [name, 'index'] as const),
    ...indexing.map(({ name }) => [name, 'constraint'] as const),
  ]);
}

function partsOf(table: string, { field, schema }: Field): Part[] {
  if (schema === null) return [];
  const column = { field, schema };
  const parts: Part[] = [];
  if (schema.is_unique && !schema.is_primary_key)
    parts.push({ field, member: 'is_unique', name: uniqueNameOf(table, column), kind: 'constraint' });
  if (schema.is_indexed) parts.push({ field, member: 'is_indexed', name: indexNameOf(table, column), kind: 'index' });
  return parts;
}

/* Check names that a change introduces. Adopted and restored objects keep their names. */

/** Returns why a new collection or field cannot have the name, or null. */
const nameFault = (name: string): string | null => invisibleFault(name) ?? composedFault(name);

/** Returns the problems of new names in one collection: those in `to` that `from` does not contain. */
export function newNameProblems({ from, to }: { from: State; to: State }, collection: string): Problem[] {
  const node = to.collections.get(collection);
  const before = from.collections.get(collection);
  if (node === undefined || node === before) return [];
  const isRestored = before === undefined && node.identities.collection !== NEW_IDENTITY;
  return isRestored ? [] : namesOf(node, before);
}

function namesOf(node: CollectionNode, before: CollectionNode | undefined): Problem[] {
  const { collection } = node.collection;
  const isNew = (field: string) =>
    before?.fields.has(field) !== true && node.identities.fields.get(field) === NEW_IDENTITY;
  return [
    ...(before === undefined ? collectionName(collection) : []),
    ...[...node.fields.keys()].filter(isNew).flatMap((field) => fieldName(collection, field)),
    ...objectNames(node, before),
  ];
}

/** Returns the problems of new names in renames. */
function renamedToProblems({ collections, fields, locations }: Renames): Problem[] {
  return [
    ...[...collections.values()].flatMap(collectionName),
    ...[...locations].flatMap(([collection, { name }]) => {
      const fault = name === undefined ? null : invisibleFault(name);
      const member = ['schema', 'name'];
      return fault === null
        ? []
        : [problemAbout({ kind: 'collection', collection, member }, `the name of a table ${fault}`)];
    }),
    ...[...fields].flatMap(([collection, names]) => [...names.values()].flatMap((to) => fieldName(collection, to))),
  ];
}

function collectionName(collection: string): Problem[] {
  const fault = nameFault(collection);
  if (fault === null) return [];
  return [
    problemAbout({ kind: 'collection', collection, member: ['collection'] }, `the name of a collection ${fault}`),
  ];
}

function fieldName(collection: string, field: string): Problem[] {
  const fault = nameFault(field);
  if (fault === null) return [];
  return [problemAbout({ kind: 'field', collection, field, member: ['field'] }, `the name of a field ${fault}`)];
}

/** Returns the problems of new names of constraints, indexes and other objects of the table. */
function objectNames(node: CollectionNode, before: CollectionNode | undefined): Problem[] {
  const { collection } = node.collection;
  const old = new Set(before === undefined ? [] : namedObjects(before).map(({ name }) => name));
  return namedObjects(node).flatMap(({ name, kind, member }) => {
    const fault = old.has(name) ? null : invisibleFault(name);
    return fault === null
      ? []
      : [problemAbout({ kind: 'collection', collection, member }, `the name of ${kind} ${fault}`)];
  });
}

interface NamedObject {
  name: string;
  kind: string;
  member: Path;
}

function namedObjects(node: CollectionNode): NamedObject[] {
  const { primary_key: key, constraints = [], indexes = [] } = extrasOf(node);
  const at = (...steps: (string | number)[]): Path => ['schema', 'extras', ...steps, 'name'];
  return [
    ...(key === undefined ? [] : [{ name: key.name, kind: 'a primary key', member: at('primary_key') }]),
    ...constraints.map(({ name }, index) => ({ name, kind: 'a constraint', member: at('constraints', index) })),
    ...indexes.map(({ name }, index) => ({ name, kind: 'an index', member: at('indexes', index) })),
    ...[...node.relations.values()].flatMap(({ schema }) =>
      schema?.constraint_name == null ? [] : [{ name: schema.constraint_name, kind: 'a foreign key', member: [] }],
    ),
  ];
}

/* Find the problems of a rename itself. */

/** @param to the state with the new names @param unwritten SQL that still contains old names */
export const renameProblems = (to: State, renames: Renames, unwritten: readonly UnwrittenText[]): Problem[] => [
  ...renamedToProblems(renames),
  ...partitionRenameProblems(to, renames),
  ...unwritten.map(cannotRewriteProblem),
];

/**
 * Reports the routines with which a table cannot move, because their ids contain its row type. Objects of the table follow
 * it, and PostgreSQL rewrites other objects that use it.
 * @param isKept true for an object that the change does not delete
 */
export function movedObjectProblems(
  from: State,
  { collections, locations }: Pick<Renames, 'collections' | 'locations'>,
  isKept: (object: ObjectName) => boolean,
): Problem[] {
  if (from.objects.isEmpty()) return [];
  const former = invertMap(collections);
  return [...locations.keys()].flatMap((name) => {
    const node = from.collections.get(former.get(name) ?? name);
    if (node === undefined || isFolder(node)) return [];
    const table = qualifiedId({ schema: node.collection.schema?.schema, name: tableNameOf(node) });
    return [...from.objects.values()]
      .map(({ object }) => object)
      .filter((object) => hasArgumentOf(object, table) && isKept(object))
      .sort((a, b) => byName(objectKey(a), objectKey(b)))
      .map(({ kind, id }): Problem => {
        const label = objectLabel({ kind, id });
        const message = `table ${quoteName(table)} cannot move, because its row type is the type of an argument of ${label}: delete it first, and create it again afterwards`;
        return { code: 'IN_USE', message, object: { kind, id }, collection: name };
      });
  });
}

const hasArgumentOf = (object: SchemaObject, table: string): boolean =>
  splitArgumentTypes(objectNameParts(object).argumentTypes ?? '').some(
    (type) => type === table || parseTypeText(type)?.name === table,
  );

export function cannotRewriteProblem({ collection, field, path }: UnwrittenText): Problem {
  const message = 'this SQL may contain a renamed name, and the service cannot rewrite it: change or remove it first';
  return field === undefined
    ? problemAbout({ kind: 'collection', collection, member: path }, message, { code: 'IN_USE' })
    : problemAbout({ kind: 'field', collection, field, member: path }, message, { code: 'IN_USE' });
}
