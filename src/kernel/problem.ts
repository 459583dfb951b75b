/** Why a command is refused. Codes are the interface's; `http/` maps them to statuses. */
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

/** A place in a document: `['fields', 2, 'type']`, shown as `fields[2].type`. */
export type Path = readonly (string | number)[];

/** What a problem is about, by name. `member`: the place in its own document, as a snapshot shows it. */
export type Subject = { member?: Path } & (
  | { kind: 'collection'; collection: string }
  | { kind: 'field' | 'relation'; collection: string; field: string }
  | { kind: 'index' | 'constraint' | 'need'; collection: string; name: string }
);

export interface Problem {
  code: ProblemCode;
  /** What is wrong and what would be right, as one sentence for the caller. */
  message: string;
  /** Of a problem of the schema that a command leads to. `locate` turns it into the path. */
  subject?: Subject;
  /** Where in the body that was sent, already rendered with `renderPath`; absent where the body doesn't name it. */
  path?: string;
  collection?: string;
  field?: string;
  /** Further members for the error's `extensions`. */
  details?: Record<string, unknown>;
}

export type Result<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

/** The outcome of what was not refused. */
export const ok = <T>(value: T): Result<T> => ({ ok: true, value });

/** The outcome of what was refused, with at least one problem where it is answered to somebody. */
export const refuse = (...problems: Problem[]): { ok: false; problems: Problem[] } => ({ ok: false, problems });

/** Enough to read. Beyond it looking for more ends, so that a body of millions of faults is soon answered. */
export const MAX_PROBLEMS = 100;

/** The problems of each item in turn, until there are enough. */
export function* problemsOfEach<T>(
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

/** What is read of each item, or the problems. Nothing more is read once there are enough of them. */
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

/** A problem for each member of `object` that isn't `known`. */
export function unknownMembers(object: object, known: ReadonlySet<string>, at: Path): Problem[] {
  const unknown = Object.keys(object).filter((member) => !known.has(member));
  return runToEnd(
    problemsOfEach(unknown, (member) => [
      invalid([...at, member], `unknown member ${JSON.stringify(member)}; known are ${[...known].join(', ')}`),
    ]),
  );
}

/** A wrong member of a body, at `path`. */
export function invalid(path: Path, message: string, details?: Record<string, unknown>): Problem {
  return { code: 'INVALID_PAYLOAD', message, path: renderPath(path), ...(details ? { details } : {}) };
}

/** Something wrong with the schema that a command leads to; its place in the body is found later, by `locate`. */
export function about(
  subject: Subject,
  message: string,
  { code = 'INVALID_PAYLOAD', details }: { code?: ProblemCode; details?: Record<string, unknown> } = {},
): Problem {
  const { collection } = subject;
  const named = 'field' in subject ? { collection, field: subject.field } : { collection };
  return { code, message, subject, ...named, ...(details && { details }) };
}

/** The indexes of names that stood in the list before. */
export function repeated(names: readonly string[]): number[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    if (seen.has(name)) return [index];
    seen.add(name);
    return [];
  });
}

/** A refusal that is thrown where no result can be returned: a read while the database is away, for one. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}
