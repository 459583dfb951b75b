/** What can come instead of an answer. */
import type { Problem } from './types.js';

/** The service refused. Its message is the service's own. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;
  readonly problems: readonly Problem[];
  /** By which the service's log names the request. */
  readonly requestId: string | null;

  constructor(status: number, problems: readonly Problem[], requestId: string | null) {
    super(problems.map(({ message }) => message).join(' '));
    this.status = status;
    this.problems = problems;
    this.requestId = requestId;
  }

  /** The code of the first problem: `NOT_FOUND`. */
  get code(): string | undefined {
    return this.problems[0]?.extensions.code;
  }

  /** What is said of one member of the body, or of what is below it. */
  at(path: string): string | undefined {
    return this.problems.find(({ extensions }) => extensions.path === path)?.message;
  }
}

/** No answer came. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(cause: unknown) {
    super('The service does not answer. Is it running, and is this machine online?', { cause });
  }
}

/** Whether trying again may help. */
export function isPassing(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof RefusedError && error.status === 503);
}
