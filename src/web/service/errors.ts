import type { Problem } from './types.js';

/** The service rejected the request. The message is the service's. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;
  readonly problems: readonly Problem[];
  /** Identifies the request in the service's log. */
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

  /** The message for a member of the body or its descendants. */
  at(path: string): string | undefined {
    return this.problems.find(({ extensions }) => extensions.path === path)?.message;
  }
}

/** There was no response. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(cause: unknown) {
    super('The service does not respond. Check that it is running and that you are online.', { cause });
  }
}

/** True if a retry may help. */
export function isPassing(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof RefusedError && error.status === 503);
}
