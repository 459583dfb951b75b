/* Reads new objects and changes of existing ones. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import {
  type Path,
  type Problem,
  type Result,
  invalidProblem,
  ok,
  problemsOfEach,
  refuse,
  findRepeated,
  unknownMembers,
} from '../../kernel/problem.js';
import { textFault } from '../../kernel/text.js';
import { byName } from '../model/state.js';
import {
  KINDS,
  OBJECT_KINDS,
  type ObjectIndex,
  type ObjectName,
  type SchemaObject,
  ENABLED,
  isObjectKind,
  newObject,
  objectDocument,
  objectKey,
  objectLabel,
  objectNameParts,
} from '../model/objects.js';
import { checkIndexDefinition } from '../sql-text/definitions.js';
import { definitionFault, isSameDefinition, parseDefinition } from '../sql-text/object-definition.js';
import { identifierFault } from './names.js';

const MEMBERS: ReadonlySet<string> = new Set(Object.keys(objectDocument.shape));

/** Reads a list of names: `[{ kind: 'view', id: 'active_posts' }]`. Undefined if the list is absent. */
export function readObjectNames(input: unknown, at: Path): Result<ObjectName[] | undefined> {
  if (input === undefined) return ok(undefined);
  if (!Array.isArray(input) || input.length === 0)
    return refuse(invalidProblem(at, 'must be an array with at least one object: { kind, id }'));
  const names: ObjectName[] = [];
  const problems = problemsOfEach(input, (each: unknown, index): Problem[] => {
    const { kind, id } = isObject(each) ? each : {};
    if (!isObject(each) || !isObjectKind(kind) || typeof id !== 'string')
      return [invalidProblem([...at, index], `must be { kind, id } with the kind ${OBJECT_KINDS.join(' or ')}`)];
    names.push({ kind, id });
    return unknownMembers(each, new Set(['kind', 'id']), [...at, index]);
  });
  if (problems.length > 0) return refuse(...problems);
  const twice = findRepeated(names.map(objectKey));
  if (twice.length === 0) return ok(names);
  return refuse(
    ...twice.map((index) =>
      invalidProblem([...at, index], `${objectLabel(names[index] as ObjectName)} occurs more than once in the array`),
    ),
  );
}

/** Reads a new object. `kind` and `definition` are required. Without `id`, the id follows from the definition. */
export function readNewObject(input: unknown, at: Path): Result<SchemaObject> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'an object must have kind and definition'));
  const { kind, definition } = input;
  if (!isObjectKind(kind)) return refuse(invalidProblem([...at, 'kind'], `kind must be ${OBJECT_KINDS.join(' or ')}`));
  if (typeof definition !== 'string')
    return refuse(invalidProblem([...at, 'definition'], 'definition is required and must be one SQL statement'));
  const parsed = parseDefinition(definition);
  const id = input['id'] ?? (typeof parsed === 'string' ? undefined : parsed.id);
  if (typeof parsed === 'string') return refuse(invalidProblem([...at, 'definition'], `definition ${parsed}`));
  if (typeof id !== 'string')
    return refuse(invalidProblem([...at, 'id'], 'id must be the name of the object, as a string'));
  return mergeObject(newObject({ kind, id }, definition), { ...input, id }, at);
}

/** Reads a change. Absent members are unchanged, and so is a definition that differs only in spelling. */
export function mergeObject(existing: SchemaObject, input: unknown, at: Path): Result<SchemaObject> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'must be an object with the members to change'));
  const merged: Record<string, unknown> = { ...existing, ...input };
  const problems = [
    ...unknownMembers(input, MEMBERS, at),
    ...nameProblems(existing, merged, at),
    ...definitionProblems(existing, merged['definition'], [...at, 'definition']),
    ...commentProblems(existing, merged['comment'], [...at, 'comment']),
    ...indexProblems(existing, merged['indexes'], [...at, 'indexes']),
    ...enabledProblems(existing, merged['enabled'], [...at, 'enabled']),
  ];
  if (problems.length > 0) return refuse(...problems);
  const { definition, comment, indexes, enabled } = merged as unknown as SchemaObject;
  const read: SchemaObject = {
    kind: existing.kind,
    id: existing.id,
    definition: isSameDefinition(existing.definition, definition) ? existing.definition : definition,
    comment: comment === '' ? null : comment,
    ...(indexes !== undefined && { indexes: sortedIndexes(indexes) }),
    ...(enabled !== undefined && { enabled }),
  };
  return ok(jsonEqual(read, existing) ? existing : read);
}

function nameProblems(existing: SchemaObject, { kind, id }: Record<string, unknown>, at: Path): Problem[] {
  const problems: Problem[] = [];
  if (kind !== existing.kind)
    problems.push(invalidProblem([...at, 'kind'], `kind cannot change. It is ${existing.kind}`));
  if (id !== existing.id)
    problems.push(
      invalidProblem([...at, 'id'], `id cannot change here. It is ${JSON.stringify(existing.id)}; rename the object`),
    );
  const fault = identifierFault(objectNameParts(existing).name);
  if (fault !== null) problems.push(invalidProblem([...at, 'definition'], `the name of the object ${fault}`));
  return problems;
}

/** Returns the problems of a definition that differs from the existing one. */
function definitionProblems(existing: SchemaObject, definition: unknown, at: Path): Problem[] {
  if (typeof definition !== 'string') return [invalidProblem(at, 'definition must be one SQL statement, as a string')];
  const fault = definitionFault(definition, existing);
  return fault === null ? [] : [invalidProblem(at, `definition ${fault}`)];
}

function commentProblems({ kind }: SchemaObject, comment: unknown, at: Path): Problem[] {
  if (comment === null || comment === '') return [];
  if (KINDS[kind].commentTarget === null) return [invalidProblem(at, `${KINDS[kind].label} has no comment`)];
  if (typeof comment !== 'string') return [invalidProblem(at, 'comment must be a string or null')];
  const fault = textFault(comment);
  return fault === null ? [] : [invalidProblem(at, `comment ${fault}`)];
}

function indexProblems({ kind }: SchemaObject, indexes: unknown, at: Path): Problem[] {
  if (indexes === undefined) return [];
  if (!KINDS[kind].hasIndexes) return [invalidProblem(at, 'only a materialized view can have indexes')];
  if (!Array.isArray(indexes)) return [invalidProblem(at, 'indexes must be an array of { name, definition }')];
  const parsed = indexes.map((each) => objectDocument.shape.indexes.unwrap().element.safeParse(each));
  const problems = parsed.flatMap(({ data }, index): Problem[] => {
    if (data === undefined)
      return [invalidProblem([...at, index], 'must be { name, definition } and may have unique: true')];
    const [name, definition] = [identifierFault(data.name), checkIndexDefinition(data.definition)];
    return [
      ...(name === null ? [] : [invalidProblem([...at, index, 'name'], `the name of an index ${name}`)]),
      ...(definition === null ? [] : [invalidProblem([...at, index, 'definition'], `definition ${definition}`)]),
    ];
  });
  if (problems.length > 0) return problems;
  const twice = findRepeated(parsed.flatMap(({ data }) => data?.name ?? []));
  return twice.map((index) =>
    invalidProblem([...at, index, 'name'], 'another index of this object already has this name'),
  );
}

function enabledProblems({ kind }: SchemaObject, enabled: unknown, at: Path): Problem[] {
  if (enabled === undefined) return [];
  if (!KINDS[kind].canBeDisabled) return [invalidProblem(at, 'only a trigger or a rule can have enabled')];
  if (objectDocument.shape.enabled.safeParse(enabled).success) return [];
  return [invalidProblem(at, `enabled must be ${ENABLED.join(', ')}`)];
}

const sortedIndexes = (indexes: readonly ObjectIndex[]): ObjectIndex[] =>
  [...indexes].sort((a, b) => byName(a.name, b.name));
