/** Names that a change introduces. Adopted and restored objects keep their names. */
import { invisibleFault } from '../../kernel/text.js';
import { type Path, type Problem, about } from '../../kernel/problem.js';
import { type Resumable } from '../../kernel/resumable.js';
import { composedFault } from '../normal-form/names.js';
import { type CollectionNode, type State, UNMADE, extrasOf } from '../model/state.js';
import type { Renames } from '../transition/renames.js';

/** Returns why a new collection or field cannot have the name, or null. */
const nameFault = (name: string): string | null => invisibleFault(name) ?? composedFault(name);

/** Returns the problems of names in `to` that `from` lacks. */
export function* newNameProblems(from: State, to: State, touched: Iterable<string>): Resumable<Problem[]> {
  const problems: Problem[] = [];
  for (const collection of touched) {
    yield;
    const node = to.collections.get(collection);
    const before = from.collections.get(collection);
    if (node === undefined || node === before) continue;
    const isRestored = before === undefined && node.identities.collection !== UNMADE;
    if (!isRestored) problems.push(...namesOf(node, before));
  }
  return problems;
}

function namesOf(node: CollectionNode, before: CollectionNode | undefined): Problem[] {
  const { collection } = node.collection;
  const isNew = (field: string) => before?.fields.has(field) !== true && node.identities.fields.get(field) === UNMADE;
  return [
    ...(before === undefined ? collectionName(collection) : []),
    ...[...node.fields.keys()].filter(isNew).flatMap((field) => fieldName(collection, field)),
    ...objectNames(node, before),
  ];
}

/** Returns the problems of new names in renames. */
export function renamedToProblems({ collections, fields }: Renames): Problem[] {
  return [
    ...[...collections.values()].flatMap(collectionName),
    ...[...fields].flatMap(([collection, names]) => [...names.values()].flatMap((to) => fieldName(collection, to))),
  ];
}

function collectionName(collection: string): Problem[] {
  const fault = nameFault(collection);
  if (fault === null) return [];
  return [about({ kind: 'collection', collection, member: ['collection'] }, `the name of a collection ${fault}`)];
}

function fieldName(collection: string, field: string): Problem[] {
  const fault = nameFault(field);
  if (fault === null) return [];
  return [about({ kind: 'field', collection, field, member: ['field'] }, `the name of a field ${fault}`)];
}

/** Constraints, indexes and other objects of the table. */
function objectNames(node: CollectionNode, before: CollectionNode | undefined): Problem[] {
  const { collection } = node.collection;
  const old = new Set(before === undefined ? [] : namedObjects(before).map(({ name }) => name));
  return namedObjects(node).flatMap(({ name, kind, member }) => {
    const fault = old.has(name) ? null : invisibleFault(name);
    return fault === null ? [] : [about({ kind: 'collection', collection, member }, `the name of ${kind} ${fault}`)];
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
