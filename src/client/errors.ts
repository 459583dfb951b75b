import type { ErrorCode, Schemas } from './api.js';

export type ServiceProblem = Schemas['Errors']['errors'][number];

/** Thrown if the service, or a proxy in front of it, rejected a request. The message is that of the service. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  /** The problems in the response. Empty if the response does not come from the service. */
  readonly problems: readonly ServiceProblem[];
  readonly headers: Headers;
  /** The body of the response. */
  readonly text: string;

  constructor({ status, headers }: Pick<Response, 'status' | 'headers'>, text: string) {
    const problems = problemsIn(text);
    super(
      problems.length > 0
        ? problems.map(({ message }) => message).join('\n')
        : `The response has status ${status} and does not come from this service.`,
    );
    this.status = status;
    this.problems = problems;
    this.headers = headers;
    this.text = text;
  }

  /** The code of the first problem. */
  get code(): ErrorCode | undefined {
    return this.problems[0]?.extensions.code;
  }

  /** The id of the request in the service log. */
  get requestId(): string | null {
    return this.headers.get('x-request-id');
  }

  /** Returns the message for a location in the body: `fields[0].type`. */
  at(path: string): string | undefined {
    return this.problems.find(({ extensions }) => extensions.path === path)?.message;
  }
}

function problemsIn(text: string): ServiceProblem[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    return Array.isArray(errors) ? (errors as ServiceProblem[]) : [];
  } catch {
    return [];
  }
}

/**
 * Thrown if there was no response, or if it ended early. If the request was a change, the service may have carried it
 * out. The `cause` is the error of `fetch`.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}
