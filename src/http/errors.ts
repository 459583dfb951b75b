/* API errors: codes, statuses and their response format. */
import { isObjectKind } from '../schema/model/objects.js';
import { inSchema, namedSchema, objectNameParts, splitArgumentTypes } from '../schema/model/object-ids.js';
import { definitionInSchema, parseDefinition } from '../schema/sql-text/object-definition.js';
import { parseGrants } from '../schema/sql-text/privileges.js';
import { nameChecks } from '../schema/sql-text/types-and-sequences.js';
import { quotedName } from '../schema/sql-text/quoted-name.js';
import { VENDOR } from '../schema/snapshot/snapshot.js';
import { visibleText } from '../kernel/text.js';
import {
  type Problem,
  type ProblemCode,
  type Subject,
  MAX_PROBLEMS,
  type Path,
  invalidProblem,
} from '../kernel/problem.js';
import { isObject } from '../kernel/json.js';
import type { Resumable } from '../kernel/resumable.js';
import { runYielding } from '../kernel/event-loop.js';

/** Codes of the domain, and codes that only the HTTP layer uses. */
export type ErrorCode =
  | ProblemCode
  | 'UNAUTHENTICATED'
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'REQUEST_TIMEOUT'
  | 'EXPECTATION_FAILED'
  | 'HEADERS_TOO_LARGE'
  | 'INVALID_REQUEST'
  | 'CONTENT_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'INTERNAL';

export const STATUS: Record<ErrorCode, number> = {
  INVALID_PAYLOAD: 400,
  INVALID_QUERY: 400,
  INVALID_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  ROUTE_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  ALREADY_EXISTS: 409,
  SCHEMA_CHANGED: 409,
  IN_USE: 409,
  INVALID_STATE: 409,
  PLAN_CHANGED: 409,
  IDEMPOTENCY_MISMATCH: 409,
  MERGE_CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  CONTENT_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  EXPECTATION_FAILED: 417,
  DATABASE_REFUSED: 422,
  ONLINE_NOT_POSSIBLE: 422,
  POLICY_REFUSED: 422,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  DIVERGED: 409,
  LOCK_TIMEOUT: 503,
  LOG_DIVERGED: 503,
  LOG_UNREADABLE: 503,
  OVERLOADED: 503,
  READ_ONLY: 503,
  UNAVAILABLE: 503,
};

/** Default Retry-After in seconds. */
const RETRY_AFTER: Partial<Record<ErrorCode, number>> = {
  LOCK_TIMEOUT: 1,
  UNAVAILABLE: 2,
  OVERLOADED: 2,
  READ_ONLY: 5,
};

export interface EdgeProblem extends Omit<Problem, 'code'> {
  code: ErrorCode;
}

/** Ends a request with problems. The HTTP layer deliberately throws no other errors. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError';
  readonly problems: readonly EdgeProblem[];
  /** Header names and values, alternating. */
  readonly headers: readonly string[];

  constructor(problems: readonly EdgeProblem[], headers: readonly string[] = []) {
    super(problems[0]?.message ?? 'rejected');
    this.problems = problems;
    this.headers = headers;
  }
}

/** A `RejectedError` with one problem. */
export function refused(
  code: ErrorCode,
  message: string,
  more: Omit<EdgeProblem, 'code' | 'message'> = {},
): RejectedError {
  return new RejectedError([{ code, message, ...more }]);
}

/**
 * Creates an INVALID_QUERY error, which the caller throws.
 * @param message a text without the name of the parameter, which is in `path`
 */
export function invalidQuery(parameter: string, message: string): RejectedError {
  return refused('INVALID_QUERY', message, { path: parameter });
}

export interface ErrorBody {
  errors: { message: string; extensions: { code: ErrorCode } & Record<string, unknown> }[];
}

/** Returns one entry per problem, in order. Empty members are omitted. */
export function errorBody(problems: readonly EdgeProblem[]): ErrorBody {
  return {
    errors: problems.map(({ code, message, subject, path, collection, field, object, details }) => ({
      message: visibleText(message),
      extensions: {
        code,
        ...(path !== undefined && path !== '' && { path }),
        ...(collection !== undefined && { collection }),
        ...(field !== undefined && { field }),
        ...(object && { object }),
        ...(subject && { subject: namesOf(subject) }),
        ...details,
      },
    })),
  };
}

/** Returns the names in a subject. `member` is not a name, and the location in the body already contains it. */
function namesOf(subject: Subject): Omit<Subject, 'member'> {
  const { member: _, ...names } = subject;
  return names;
}

/** The status of the first problem. */
export function statusOf(problems: readonly EdgeProblem[]): number {
  return STATUS[problems[0]?.code ?? 'INTERNAL'];
}

/** Returns the headers that belong to the codes of the problems, as alternating names and values. */
export function headersOf(problems: readonly EdgeProblem[]): string[] {
  const code = problems[0]?.code ?? 'INTERNAL';
  const seconds = RETRY_AFTER[code];
  if (seconds !== undefined) return ['Retry-After', String(seconds)];
  return code === 'UNAUTHENTICATED' ? ['WWW-Authenticate', 'Bearer realm="data-platform-service"'] : [];
}

/* Handle the names of database schemas, which Directus clients send: `schema.schema`, `schema.foreign_key_schema`.
   Only the HTTP layer knows the managed schemas. */

const MEMBERS = ['schema', 'foreign_key_schema'] as const;

/**
 * Returns `body` without the name of the default schema. Throws `RejectedError` with one problem per location that names a
 * schema that is not managed. Snapshots of Directus may name any schema, which is then ignored.
 * @param schemas the managed schemas, the default first
 * @param options.members for a relation, which has no schema of its own, `foreign_key_schema` alone
 */
export async function inManagedSchemas<T>(
  body: T,
  schemas: readonly string[],
  { force = false, members = MEMBERS }: { force?: boolean; members?: OtherSchemas['members'] } = {},
): Promise<T> {
  const ignores = force && isObject(body) && isForeign(body);
  const problems = await runYielding(otherSchemas(body, { schemas, members, ignores }));
  if (problems.length > 0) throw new RejectedError(problems);
  return body;
}

/** True for a snapshot from another product or vendor. */
const isForeign = ({ vendor, service, directus }: Record<string, unknown>): boolean =>
  directus !== undefined || service === undefined || (vendor !== undefined && vendor !== VENDOR);

function* otherSchemas(body: unknown, options: Omit<OtherSchemas, 'problems'>): Resumable<Problem[]> {
  const problems: Problem[] = [];
  yield* collectOtherSchemas(body, [], { ...options, problems });
  return problems;
}

interface OtherSchemas {
  schemas: readonly string[];
  /** The members that name a schema. */
  members: readonly (typeof MEMBERS)[number][];
  /** True to remove names of schemas that are not managed instead of reporting them. */
  ignores: boolean;
  problems: Problem[];
}

/** The members that contain further documents. */
const PARTS = ['collections', 'fields', 'relations', 'objects', 'diff', 'rhs'] as const;

/**
 * Handles a collection with its fields, a field, a relation, lists of these, and the documents of a snapshot or a diff.
 */
function* collectOtherSchemas(body: unknown, at: Path, schemas: OtherSchemas): Resumable<void> {
  if (Array.isArray(body)) {
    for (const [index, item] of body.entries()) {
      if (schemas.problems.length >= MAX_PROBLEMS) return;
      if (!isObject(item)) continue;
      // Most documents do not contain further documents.
      if (PARTS.some((part) => part in item)) yield* collectOtherSchemas(item, [...at, index], schemas);
      else addOtherSchemas(item, () => [...at, index], schemas);
      yield;
    }
  } else if (isObject(body)) {
    addOtherSchemas(body, () => at, schemas);
    for (const part of PARTS) {
      if (Object.hasOwn(body, part)) yield* collectOtherSchemas(body[part], [...at, part], schemas);
    }
  }
}

const definitionMember = ({ path }: Record<string, unknown>): 'rhs' | 'definition' =>
  Array.isArray(path) && path[0] === 'definition' ? 'rhs' : 'definition';

/**
 * Checks the schema in the definition of an object, in its document or in an entry of a diff, and removes the name of the
 * default schema. PostgreSQL omits that schema in argument types.
 */
function addOtherSchemaOfDefinition(
  document: Record<string, unknown>,
  at: () => Path,
  { schemas, problems }: { schemas: readonly string[]; problems: Problem[] },
): void {
  removeDefaultSchema(document, schemas[0]);
  addOtherSchemaOfPrivileges(document, () => [...at(), 'id'], { schemas, problems });
  const member = definitionMember(document);
  const definition = document[member];
  const parsed = typeof definition === 'string' ? parseDefinition(nameChecks(definition)) : '';
  if (typeof parsed === 'string') {
    addOtherSchemaOfGrants(definition, () => [...at(), member], { schemas, problems });
    return;
  }
  const path = () => [...at(), member];
  if (parsed.schema === schemas[0]) document[member] = definitionInSchema(parsed, undefined);
  else if (parsed.schema !== undefined && !schemas.includes(parsed.schema)) {
    const message = `definition must create the object in ${namesOfSchemas(schemas)}, and names ${JSON.stringify(parsed.schema)}`;
    problems.push(invalidProblem(path(), message));
  }
  const types = splitArgumentTypes(parsed.routine?.argumentTypes ?? '');
  if (types.some((type) => type.startsWith(`${quotedName(schemas[0] ?? '')}.`))) {
    const message = `definition must not write the default schema ${JSON.stringify(schemas[0])} in an argument type, because PostgreSQL omits it`;
    problems.push(invalidProblem(path(), message));
  }
}

/**
 * Checks the schema in the id of privileges on a schema or on the new objects in it. The log contains no schemas, so only
 * this layer knows them.
 */
function addOtherSchemaOfPrivileges(
  { kind, id }: Record<string, unknown>,
  path: () => Path,
  { schemas, problems }: { schemas: readonly string[]; problems: Problem[] },
): void {
  if (kind !== 'privileges' || typeof id !== 'string') return;
  const schema = namedSchema(objectNameParts({ kind, id }).target);
  if (schema === undefined || schemas.includes(schema)) return;
  problems.push(invalidProblem(path(), `id must name ${namesOfSchemas(schemas)}, not ${JSON.stringify(schema)}`));
}

/** Removes the name of the default schema from the id of an object. */
function removeDefaultSchema(document: Record<string, unknown>, usual: string | undefined): void {
  const { kind, id } = document;
  if (!isObjectKind(kind) || typeof id !== 'string') return;
  if (objectNameParts({ kind, id }).schema === usual) document['id'] = inSchema({ kind, id }, undefined).id;
}

/** Checks the schema in GRANT statements. */
function addOtherSchemaOfGrants(
  definition: unknown,
  path: () => Path,
  { schemas, problems }: { schemas: readonly string[]; problems: Problem[] },
): void {
  const grants = typeof definition === 'string' ? parseGrants(definition) : '';
  if (typeof grants === 'string') return;
  const { schema, target } = objectNameParts({ kind: 'privileges', id: grants.id });
  const accepted = namedSchema(target) === undefined ? schemas.slice(1) : schemas;
  if (schema === undefined || accepted.includes(schema)) return;
  const message =
    schema === schemas[0]
      ? 'definition must write the table, function, sequence or type of the default schema without a schema'
      : `definition must name an object in ${namesOfSchemas(schemas)}, and names ${JSON.stringify(schema)}`;
  problems.push(invalidProblem(path(), message));
}

function addOtherSchemas(
  document: Record<string, unknown>,
  at: () => Path,
  { schemas, members, ignores, problems }: OtherSchemas,
): void {
  const { schema } = document;
  addOtherSchemaOfDefinition(document, at, { schemas, problems });
  addOtherSchemaOfEntry(document, at, { schemas, problems });
  if (!isObject(schema)) return;
  for (const member of members) {
    const name = schema[member];
    if (typeof name !== 'string' || problems.length >= MAX_PROBLEMS) continue;
    if (name === schemas[0] || (ignores && !schemas.includes(name))) delete schema[member];
    else if (!schemas.includes(name))
      problems.push(invalidProblem([...at(), 'schema', member], notManaged(member, schemas)));
  }
}

/** Checks the schema in an entry of a diff that moves a table. Such an entry never names the default schema. */
function addOtherSchemaOfEntry(
  { path, rhs }: Record<string, unknown>,
  at: () => Path,
  { schemas, problems }: Pick<OtherSchemas, 'schemas' | 'problems'>,
): void {
  if (!Array.isArray(path) || path.length !== 2 || path[0] !== 'schema' || path[1] !== 'schema') return;
  if (typeof rhs !== 'string' || schemas.slice(1).includes(rhs)) return;
  const message =
    rhs === schemas[0]
      ? `rhs must not be ${JSON.stringify(rhs)}, the default schema: an entry of kind D moves a table there`
      : notManaged('rhs', schemas.slice(1));
  problems.push(invalidProblem([...at(), 'rhs'], message));
}

const notManaged = (member: string, schemas: readonly string[]): string =>
  `${member} must be ${namesOfSchemas(schemas)}, or omitted`;

function namesOfSchemas(schemas: readonly string[]): string {
  const names = schemas.map((name) => JSON.stringify(name)).join(' or ');
  return `${names}, ${schemas.length === 1 ? 'the managed schema' : 'a managed schema (DB_SCHEMAS)'}`;
}
