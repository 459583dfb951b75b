/**
 * A typed client of the service for Node.js 20 and browsers. It uses `fetch`, and has no dependencies.
 *
 * The types are generated from the routes of the service; `src/client` imports nothing else of it.
 */
import { OPERATIONS, type Operations } from './api.js';
import { type ClientOptions, type OperationName, type RequestContent, sendOperation } from './request.js';
import { bodyOf } from './streams.js';

export type { ErrorCode, Operations, Schemas, StreamMessage } from './api.js';
export { ConnectionError, ServiceError, type ServiceProblem } from './errors.js';
export type { ClientOptions, OperationName } from './request.js';

/** Makes the member optional if its type has no required member. */
type Part<Name extends string, T> = [T] extends [never]
  ? { [name in Name]?: never }
  : undefined extends T
    ? { [name in Name]?: T }
    : object extends T
      ? { [name in Name]?: T }
      : { [name in Name]: T };

type Content<O extends Operations[OperationName]> = Part<'body', O['body']> &
  ([O['body']] extends [never] ? object : { file?: never });

/** The arguments of an operation: the parameters in its path, its query, its headers and its body. */
export type Arguments<K extends OperationName> = Part<'params', Operations[K]['params']> &
  Part<'query', Operations[K]['query']> &
  Part<'headers', Operations[K]['headers']> & {
    /** Aborts the request, or ends its stream. */
    signal?: AbortSignal | undefined;
  } & (Content<Operations[K]> | ([Operations[K]['body']] extends [never] ? never : { body?: never; file: SentFile }));

/** A document that is sent unchanged: JSON, or YAML (`application/yaml`) if the operation accepts it. */
export interface SentFile {
  content: string | Blob | ArrayBuffer;
  type: string;
}

type OperationQuery<A> = A extends { query: infer Q } ? Q : object;
/** `always` for a literal `true`, `maybe` for a boolean, otherwise `never`. */
type RequestedFlag<Q, Name extends string> = Name extends keyof Q
  ? [Q[Name]] extends [true]
    ? 'always'
    : true extends Q[Name]
      ? 'maybe'
      : 'never'
  : 'never';
type PlanMode<Q> = RequestedFlag<Q, 'dry_run'> | RequestedFlag<Q, 'explain'>;

/** The response: a plan if the arguments request a dry run, a change request if they request an online change. */
export type Answer<K extends OperationName, A = object> =
  | ('always' extends PlanMode<OperationQuery<A>> ? never : Operations[K]['answer'])
  | (PlanMode<OperationQuery<A>> extends 'never' ? never : Operations[K]['planned'])
  | (RequestedFlag<OperationQuery<A>, 'online'> extends 'never' ? never : Operations[K]['online']);

type Method<K extends OperationName> =
  object extends Arguments<K>
    ? <const A extends Arguments<K>>(args?: A) => Promise<Answer<K, A>>
    : <const A extends Arguments<K>>(args: A) => Promise<Answer<K, A>>;

/** A method for each operation of the OpenAPI document. */
export type Client = { readonly [K in OperationName]: Method<K> } & {
  /** The response of an operation as `fetch` returns it, for bodies that must not be parsed. Errors are thrown. */
  readonly raw: <K extends OperationName>(operation: K, ...args: OperationArguments<K>) => Promise<Response>;
};

type OperationArguments<K extends OperationName> =
  object extends Arguments<K> ? [args?: Arguments<K>] : [args: Arguments<K>];

/**
 * A client of one service. Its methods throw `ServiceError` and `ConnectionError`.
 *
 * It repeats requests after a lost connection, and after 502, 503, 504 and 429 where the service tells when to. Reads
 * are repeated as they are, and changes with an `Idempotency-Key`, so that they take effect once. Other requests are
 * not repeated.
 */
export function createClient(options: ClientOptions): Client {
  const call = async (operation: OperationName, sent: RequestContent = {}): Promise<unknown> => {
    const response = await sendOperation(options, operation, sent);
    const body = await bodyOf(response, { options, operation, sent });
    return { status: response.status, headers: response.headers, body };
  };
  const methods = (Object.keys(OPERATIONS) as OperationName[]).map((operation) => [
    operation,
    (sent?: RequestContent) => call(operation, sent),
  ]);
  const raw = (operation: OperationName, sent: RequestContent = {}) => sendOperation(options, operation, sent);
  return { ...(Object.fromEntries(methods) as Client), raw: raw as Client['raw'] };
}
