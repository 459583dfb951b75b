/** The reasons why a command is rejected. The codes belong to the HTTP contract. `http/` maps them to statuses. */
import { type Resumable, runToEnd, stepsTo } from './resumable.js';

export type ProblemCode =
  | 'INVALID_PAYLOAD'
  | 'INVALID_QUERY'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'SCHEMA_CHANGED'
  | 'IN_USE'
  | 'INVALID_STATE'
  | 'PLAN_CHANGED'
  | 'MERGE_CONFLICT'
  | 'PRECONDITION_FAILED'
  | 'IDEMPOTENCY_MISMATCH'
  | 'DATABASE_REFUSED'
  | 'ONLINE_NOT_POSSIBLE'
  | 'POLICY_REFUSED'
  | 'LOCK_TIMEOUT'
  | 'LOG_DIVERGED'
  | 'LOG_UNREADABLE'
  | 'DIVERGED'
  | 'READ_ONLY'
  | 'OVERLOADED'
  | 'TOO_MANY_REQUESTS'
  | 'UNAVAILABLE';

/** A location in a document: `['fields', 2, 'type']`, shown as `fields[2].type`. */
export type Path = readonly (string | number)[];

/** The object that a problem is about, by name. `member` is the location within its document in a snapshot. */
export type Subject = { member?: Path } & (
  | { kind: 'collection'; collection: string }
  | { kind: 'field' | 'relation'; collection: string; field: string }
  | { kind: 'index' | 'constraint' | 'need'; collection: string; name: string }
);

export interface Problem {
  code: ProblemCode;
  /** One sentence for the client that names the problem and the fix. */
  message: string;
  /** The object of the schema that the problem concerns. `locate` derives the path from it. */
  subject?: Subject;
  /** Location in the request body, rendered with `renderPath`. Absent if the body does not contain it. */
  path?: string;
  collection?: string;
  field?: string;
  /** The view or materialized view that the problem is about. */
  object?: { kind: string; id: string };
  /** Further members of the error's `extensions`. */
  details?: Record<string, unknown>;
}

export type Result<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

/** Rejects a command. A rejection that is sent to a client contains at least one problem. */
export const refuse = (...problems: Problem[]): { ok: false; problems: Problem[] } => ({ ok: false, problems });

/** Reading stops after this many problems, so that a body with millions of errors gets a quick response. */
export const MAX_PROBLEMS = 100;

/** Collects the problems of each item, with a step for each, and stops at `MAX_PROBLEMS`. */
export function* problemsInSteps<T>(
  items: Iterable<T>,
  problemsOf: (item: T, index: number) => readonly Problem[],
): Resumable<Problem[]> {
  const problems: Problem[] = [];
  let index = 0;
  for (const item of items) {
    problems.push(...problemsOf(item, index++));
    if (problems.length >= MAX_PROBLEMS) break;
    yield;
  }
  return problems;
}

/** Collects the problems of each item and stops at `MAX_PROBLEMS`. */
export const problemsOfEach = <T>(
  items: Iterable<T>,
  problemsOf: (item: T, index: number) => readonly Problem[],
): Problem[] => runToEnd(problemsInSteps(items, problemsOf));

/** Reads all items, or returns their problems. It stops reading at `MAX_PROBLEMS`. */
export function* allOf<I, T>(
  items: readonly I[],
  read: (item: I, index: number) => Result<T> | Resumable<Result<T>>,
): Resumable<Result<T[]>> {
  const values: T[] = [];
  const problems: Problem[] = [];
  for (const [index, item] of items.entries()) {
    const result = yield* stepsTo(read(item, index));
    if (result.ok) values.push(result.value);
    else problems.push(...result.problems);
    if (problems.length >= MAX_PROBLEMS) break;
    yield;
  }
  return problems.length > 0 ? { ok: false, problems } : ok(values);
}

const PLAIN_MEMBER = /^[A-Za-z_$][\w$-]*$/;

/** `['fields', 2, 'a b']` → `fields[2]["a b"]`. */
export function renderPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN_MEMBER.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** Returns a problem for each member of `object` whose name is not in `knownNames`. */
export function unknownMembers(object: object, knownNames: ReadonlySet<string>, at: Path): Problem[] {
  const unknown = Object.keys(object).filter((member) => !knownNames.has(member));
  return problemsOfEach(unknown, (member) => [
    invalidProblem(
      [...at, member],
      `unknown member ${JSON.stringify(member)}; known members: ${[...knownNames].join(', ')}`,
    ),
  ]);
}

/** Creates a problem for the member of a body at `path`. */
export function invalidProblem(path: Path, message: string, details?: Record<string, unknown>): Problem {
  return { code: 'INVALID_PAYLOAD', message, path: renderPath(path), ...(details ? { details } : {}) };
}

/** Creates a problem for the schema that a command would produce. `locate` adds its location in the body. */
export function problemAbout(
  subject: Subject,
  message: string,
  { code = 'INVALID_PAYLOAD', details }: { code?: ProblemCode; details?: Record<string, unknown> } = {},
): Problem {
  const { collection } = subject;
  const named = 'field' in subject ? { collection, field: subject.field } : { collection };
  return { code, message, subject, ...named, ...(details && { details }) };
}

/** Returns the indexes of names that occur earlier in the list. */
export function findRepeated(names: readonly string[]): number[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    if (seen.has(name)) return [index];
    seen.add(name);
    return [];
  });
}

/**
 * Carries problems to a caller that expects no problems as a result, such as a read while the database is unavailable.
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}

/** An error for the operator of the service. Its message is one sentence and is shown without a stack. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/**
 * Warns that a change would lose, rewrite or lock something, or that an import skipped something. A warning never
 * rejects a request.
 */
export interface Warning {
  /** A stable identifier for programs: `SYSTEM_COLLECTION_LEFT_OUT`. */
  code: string;
  collection?: string;
  field?: string;
  /** One sentence for people. */
  message: string;
}
