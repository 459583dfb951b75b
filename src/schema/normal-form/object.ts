/* Reads new objects and changes to existing ones. */
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
import { addArticle, textFault } from '../../kernel/text.js';
import { byName } from '../model/state.js';
import {
  COLUMN_PRIVILEGES,
  KINDS,
  OBJECT_KINDS,
  type ObjectName,
  ENABLED,
  PUBLIC,
  type PrivilegesTarget,
  TABLE_PRIVILEGES,
  TARGETS,
  isObjectKind,
  objectKey,
  objectLabel,
} from '../model/objects.js';
import {
  type Definition,
  type ObjectIndex,
  type SchemaObject,
  type Privilege,
  newObject,
  objectDocument,
} from '../model/object-document.js';
import {
  areInitial,
  idOnTable,
  idOnTarget,
  isRevokedFromPublic,
  revokedFromPublic,
  objectNameParts,
  routineId,
  splitQualifiedId,
} from '../model/object-ids.js';
import { checkIndexDefinition } from '../sql-text/definitions.js';
import { isSameDefinition, parseDefinition } from '../sql-text/object-definition.js';
import { parseGrants } from '../sql-text/privileges.js';
import { nameChecks } from '../sql-text/types-and-sequences.js';
import { sortPrivileges } from '../model/privileges.js';
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
  const { kind } = input;
  const definition = completeDefinition(kind, input['definition']);
  if (!isObjectKind(kind)) return refuse(invalidProblem([...at, 'kind'], `kind must be ${OBJECT_KINDS.join(' or ')}`));
  if (kind === 'privileges') return readNewPrivileges(input, at);
  if (typeof definition !== 'string')
    return refuse(invalidProblem([...at, 'definition'], 'definition is required and must be one SQL statement'));
  const parsed = parseDefinition(definition);
  const id = input['id'] ?? (typeof parsed === 'string' ? undefined : parsed.id);
  if (typeof parsed === 'string') return refuse(invalidProblem([...at, 'definition'], `definition ${parsed}`));
  if (typeof id !== 'string')
    return refuse(invalidProblem([...at, 'id'], 'id must be the name of the object, as a string'));
  return mergeObject(newObject({ kind, id }, definition), { ...input, id, definition }, at);
}

/** Returns the definition with names of the constraints of a domain, as PostgreSQL names them. */
const completeDefinition = (kind: unknown, sent: unknown): unknown =>
  kind === 'type' && typeof sent === 'string' ? nameChecks(sent) : sent;

/** Reads new privileges. A list needs an id. That of GRANT statements follows from them. */
function readNewPrivileges(input: { readonly [member: string]: unknown }, at: Path): Result<SchemaObject> {
  const { definition } = input;
  const grants = typeof definition === 'string' ? parseGrants(definition) : undefined;
  if (typeof grants === 'string') return refuse(invalidProblem([...at, 'definition'], `definition ${grants}`));
  const id = input['id'] ?? grants?.id;
  const fault = typeof id === 'string' ? idFault(id) : ID_OF_PRIVILEGES;
  if (fault !== null) return refuse(invalidProblem([...at, 'id'], fault));
  return mergeObject(newObject({ kind: 'privileges', id: id as string }, []), { ...input, id }, at);
}

function idFault(id: string): string | null {
  const { name, table, target } = objectNameParts({ kind: 'privileges', id });
  if (target !== null) return idOnTarget(name, spelledTarget(target)) === id ? null : ID_OF_PRIVILEGES;
  if (table === null || idOnTable('privileges', name, table) !== id) return ID_OF_PRIVILEGES;
  const fault = identifierFault(splitQualifiedId(table).name);
  return fault === null ? null : `the name of the table ${fault}`;
}

/** Returns the target with quotes around the name of a function only where `routineId` writes them. */
function spelledTarget({ type, id }: PrivilegesTarget): PrivilegesTarget {
  if (type !== 'routine') return { type, id };
  const { schema, name, argumentTypes } = objectNameParts({ kind: 'function', id });
  return { type, id: routineId(name, argumentTypes ?? '', schema) };
}

const ID_OF_PRIVILEGES =
  'id must be the role and its table, function, sequence, type, schema or new objects, such as "editors on members", "editors on total(integer)", "editors on sequence numbers", "editors on type status", "editors on schema billing", "editors on new tables" or "editors on new tables in schema billing", with double quotes around names with characters other than a-z, 0-9 and _. The role public stands for PUBLIC';

/** Reads a change. Absent members are unchanged, and so is a definition that differs only in spelling. */
export function mergeObject(existing: SchemaObject, input: unknown, at: Path): Result<SchemaObject> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'must be an object with the members to change'));
  const definition = completeDefinition(
    existing.kind,
    'definition' in input ? input['definition'] : existing.definition,
  );
  const merged: Record<string, unknown> = { ...existing, ...input, definition };
  const problems = [
    ...unknownMembers(input, MEMBERS, at),
    ...nameProblems(existing, merged, at),
    ...definitionProblems(existing, merged['definition'], [...at, 'definition']),
    ...commentProblems(existing, merged['comment'], [...at, 'comment']),
    ...indexProblems(existing, merged['indexes'], [...at, 'indexes']),
    ...enabledProblems(existing, merged['enabled'], [...at, 'enabled']),
  ];
  if (problems.length > 0) return refuse(...problems);
  const { comment, indexes, enabled } = merged as unknown as SchemaObject;
  const read: SchemaObject = {
    kind: existing.kind,
    id: existing.id,
    definition: mergeDefinition(existing.definition, definition as Definition),
    comment: comment === '' ? null : comment,
    ...(indexes !== undefined && { indexes: sortedIndexes(indexes) }),
    ...(enabled !== undefined && { enabled }),
  };
  return ok(jsonEqual(read, existing) ? existing : read);
}

function mergeDefinition(existing: Definition, definition: Definition): Definition {
  const read = Array.isArray(existing) ? sortPrivileges(readPrivileges(definition)) : definition;
  return isSameDefinition(existing, read) ? existing : read;
}

/** Returns the privileges of a definition without faults. */
function readPrivileges(definition: Definition): Privilege[] {
  if (typeof definition !== 'string') return definition;
  const grants = parseGrants(definition);
  return typeof grants === 'string' ? [] : grants.privileges;
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
  if (existing.kind === 'privileges') return privilegesProblems(existing, definition, at);
  if (typeof definition !== 'string') return [invalidProblem(at, 'definition must be one SQL statement, as a string')];
  const fault = definitionFault(definition, existing);
  return fault === null ? [] : [invalidProblem(at, `definition ${fault}`)];
}

/** Returns why a definition is not one of this object, as a sentence that follows "definition". Null if it is. */
function definitionFault(text: string, named: ObjectName): string | null {
  const definition = parseDefinition(text);
  if (typeof definition === 'string') return definition;
  if (definition.kind !== named.kind)
    return `must create ${addArticle(KINDS[named.kind].label)}, but creates ${addArticle(KINDS[definition.kind].label)}`;
  if (definition.id !== named.id)
    return `must create ${objectLabel(named)}, but creates ${JSON.stringify(definition.id)}`;
  return null;
}

function privilegesProblems({ kind, id }: SchemaObject, definition: unknown, at: Path): Problem[] {
  if (typeof definition === 'string') return problemsOfGrants(id, definition, at);
  if (!Array.isArray(definition)) return [invalidProblem(at, LIST_OF_PRIVILEGES)];
  if (isRevokedFromPublic({ kind, id })) return publicProblems(id, definition, at);
  if (definition.length === 0 && !areInitial({ kind, id }))
    return [invalidProblem(at, `definition must not be empty. Delete ${objectLabel({ kind, id })} instead`)];
  const { target } = objectNameParts({ kind, id });
  const names: readonly Privilege['name'][] = target === null ? TABLE_PRIVILEGES : TARGETS[target.type].privileges;
  const problems = problemsOfEach(definition, (each: unknown, index) => privilegeProblems(each, names, [...at, index]));
  return problems.length > 0 ? problems : optionProblems(id, definition as Privilege[], at);
}

/** PUBLIC has EXECUTE on every new function and USAGE on every new type, so only the opposite is an object. */
function publicProblems(id: string, privileges: readonly unknown[], at: Path): Problem[] {
  if (privileges.length === 0) return [];
  const label = objectLabel({ kind: 'privileges', id });
  const name = revokedFromPublic({ kind: 'privileges', id }) ?? '';
  return [
    invalidProblem(
      at,
      `definition must be an empty list, or REVOKE ${name}. PUBLIC has ${name} while ${label} does not exist. Delete it to grant ${name} again`,
    ),
  ];
}

/** PostgreSQL allows grant options only for roles. */
function optionProblems(id: string, privileges: readonly Privilege[], at: Path): Problem[] {
  const isForAll = objectNameParts({ kind: 'privileges', id }).name === PUBLIC;
  if (!isForAll || privileges.every(({ grantable }) => grantable === undefined)) return [];
  return [invalidProblem(at, 'definition must not make privileges of PUBLIC grantable')];
}

function problemsOfGrants(id: string, definition: string, at: Path): Problem[] {
  const grants = parseGrants(definition);
  if (typeof grants === 'string') return [invalidProblem(at, `definition ${grants}`)];
  if (grants.id === id)
    return isRevokedFromPublic({ kind: 'privileges', id })
      ? publicProblems(id, grants.privileges, at)
      : optionProblems(id, grants.privileges, at);
  return [invalidProblem(at, `definition must be about ${JSON.stringify(id)}, not ${JSON.stringify(grants.id)}`)];
}

const LIST_OF_PRIVILEGES =
  'definition must be an array of { name } with columns and grantable as optional members, or GRANT statements';

/** @param names the privileges on the table, function, sequence, type, schema or new objects */
function privilegeProblems(input: unknown, names: readonly Privilege['name'][], at: Path): Problem[] {
  const { data } = objectDocument.shape.definition.options[1].element.safeParse(input);
  if (data === undefined || !names.includes(data.name))
    return [
      invalidProblem(
        at,
        `must be { name } with the name ${names.join(', ')}, and may have columns, an array of names, and grantable: true`,
      ),
    ];
  const { name, columns } = data;
  if (columns === undefined) return [];
  if (names !== TABLE_PRIVILEGES || !COLUMN_PRIVILEGES.has(name))
    return [invalidProblem([...at, 'columns'], `${name} does not apply to columns. Remove columns`)];
  if (columns.length === 0) return [invalidProblem([...at, 'columns'], 'columns must contain at least one name')];
  return problemsOfEach(columns, (column, index): Problem[] => {
    const fault = identifierFault(column);
    return fault === null ? [] : [invalidProblem([...at, 'columns', index], `the name of a column ${fault}`)];
  });
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
