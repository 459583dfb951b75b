import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import type { Operations } from '../../client/api.js';
import { ConnectionError, ServiceError } from '../../client/errors.js';
import { type OperationName, type RequestContent, sendOperation } from '../../client/request.js';
import type { Errors } from '../../http/openapi/answers/envelopes.js';
import { OperatorError } from '../../kernel/problem.js';
import { readRelease } from '../../release.js';
import { type Invocation, PolicyRefusedError, UsageError, text } from '../command.js';
import type { DocumentBody } from '../input.js';
import { toOneLine } from '../output.js';
import { readStoredToken } from './sessions.js';
import { acknowledgeHeader, withOptionNames } from '../planned-changes.js';

export interface ServiceRequest extends Omit<RequestContent, 'file'> {
  /** A document that is sent unchanged, instead of `body`. */
  file?: DocumentBody;
}

export interface ServiceResponse {
  status: number;
  text: string;
  headers: Headers;
}

/** The type of `data` in the response of an operation. */
type DataOf<K extends OperationName> = Operations[K]['answer'] extends { body: { data: infer D } } ? D : never;

/**
 * Returns the headers of a change, which are the reason and the acknowledgements.
 * @throws UsageError
 */
export const changeHeaders = (invocation: Invocation): Record<string, string> => ({
  ...reasonHeader(invocation),
  ...acknowledgeHeader(invocation.values),
});

/**
 * Returns the X-Reason header for --reason.
 * @throws UsageError if the reason has several lines
 */
export function reasonHeader({ values }: Invocation): Record<string, string> {
  const reason = text(values, 'reason');
  if (reason === undefined) return {};
  if (/\p{Cc}/u.test(reason)) throw new UsageError('--reason must be a single line.');
  return { 'X-Reason': reason };
}

/**
 * Sends one request and returns the text of the response.
 * @throws OperatorError if the request fails
 */
export async function requestText(
  invocation: Invocation,
  operation: OperationName,
  request: ServiceRequest = {},
): Promise<string> {
  return (await requestChecked(invocation, operation, request)).text;
}

/** Returns the `data` of a JSON response. Its type is not verified, because the service may have another release. */
export async function requestData<K extends OperationName>(
  invocation: Invocation,
  operation: K,
  request: ServiceRequest = {},
): Promise<DataOf<K>> {
  return (JSON.parse(await requestText(invocation, operation, request)) as { data: DataOf<K> }).data;
}

/** Reads the version of the service and the state of its schema. */
export const readInfo = (invocation: Invocation): Promise<DataOf<'getInfo'>> => requestData(invocation, 'getInfo');

/** Number of items per page. */
const PAGE = 1_000;

/**
 * Returns all items of a paginated list, or as many as `limit` allows. Concurrent changes shift pages, so items may be
 * repeated or missing.
 */
export async function requestAll<K extends 'listChanges' | 'listObjects' | 'listTrash'>(
  invocation: Invocation,
  operation: K,
  { limit = Infinity, query = {} }: { limit?: number } & Pick<ServiceRequest, 'query'> = {},
): Promise<DataOf<K>> {
  const all: unknown[] = [];
  while (all.length < limit) {
    const size = Math.min(PAGE, limit - all.length);
    const page = { ...query, offset: all.length, limit: size };
    const items = (await requestData(invocation, operation, { query: page })) as readonly unknown[];
    for (const item of items) all.push(item);
    if (items.length < size) break;
  }
  return all as DataOf<K>;
}

/** Sends one request and returns the response with its headers. Throws an OperatorError if the request fails. */
export async function requestChecked(
  invocation: Invocation,
  operation: OperationName,
  request: ServiceRequest = {},
): Promise<ServiceResponse> {
  const answer = await requestAnyStatus(invocation, operation, request);
  if (answer.status < 200 || answer.status > 299) throw toRefusalError(answer);
  for (const code of warningsIn(answer)) invocation.terminal.note(`! ${code}: ${WARNINGS[code] ?? 'see docs/http.md'}`);
  return answer;
}

/** Messages about side effects of a change, by their code in `X-Warnings`. */
const WARNINGS: Readonly<Record<string, string>> = {
  DATA_NOT_KEPT: 'the trash did not keep everything that was deleted',
  DATA_NOT_RESTORED: 'values in the trash had no matching row and were permanently deleted',
};

function warningsIn({ headers }: ServiceResponse): string[] {
  const warnings = headers.get('x-warnings');
  return warnings === null ? [] : warnings.split(',').map((code) => toOneLine(code.trim()));
}

function toRefusalError({ status, text: content }: ServiceResponse): OperatorError {
  const message = describeRejection(status, content);
  return isByPolicy(status, content) ? new PolicyRefusedError(message) : new OperatorError(message);
}

function isByPolicy(status: number, content: string): boolean {
  if (status !== 422) return false;
  return (JSON.parse(content) as Errors).errors[0]?.extensions.code === 'POLICY_REFUSED';
}

/**
 * Sends one request and returns the response, whatever its status is.
 * @throws OperatorError if there is no response
 */
export async function requestAnyStatus(
  invocation: Invocation,
  operation: OperationName,
  request: ServiceRequest = {},
): Promise<ServiceResponse> {
  try {
    const answer = await send(invocation, operation, request);
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  } catch (error) {
    if (error instanceof ServiceError) return error;
    if (error instanceof ConnectionError && error.cause instanceof OperatorError) throw error.cause;
    if (error instanceof OperatorError) throw error;
    const cause = error instanceof ConnectionError ? error.cause : error;
    throw new OperatorError(`The response of the service was interrupted (${(cause as Error).message}).`, {
      cause: error,
    });
  }
}

/**
 * Sends one request and returns its response, without a time limit.
 * @throws ServiceError, ConnectionError
 */
export function send(
  invocation: Invocation,
  operation: OperationName,
  { file, ...request }: ServiceRequest = {},
): Promise<Response> {
  const token = () => authorization(invocation);
  const options = { url: baseOf(invocation), token, retries: 0, fetch: fetchWithoutTimeLimit };
  const document = file && { type: file.type, content: new Blob([new Uint8Array(file.content)]) };
  return sendOperation(options, operation, { ...request, ...(document && { file: document }) });
}

/** The list of sessions and the events show this user agent. */
const USER_AGENT = `dps/${readRelease()}`;

/**
 * Sends a request without a time limit. The global fetch gives up after five minutes, which is too short for changes to
 * large tables.
 */
const fetchWithoutTimeLimit: typeof fetch = async (input, { method = 'GET', headers: given, body } = {}) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const headers: Record<string, string | number> = {
    'user-agent': USER_AGENT,
    ...Object.fromEntries(new Headers(given)),
  };
  const content = body === null || body === undefined ? undefined : Buffer.from(await new Response(body).arrayBuffer());
  if (content !== undefined) headers['content-length'] = content.length;
  const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { method, headers });
  sent.end(content);
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return responseOf(answer);
  } catch (cause) {
    throw noResponse(url, cause);
  }
};

/** Statuses of responses without a body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = answer;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  if (WITHOUT_BODY.has(status)) answer.resume();
  const body = WITHOUT_BODY.has(status) ? null : (Readable.toWeb(answer) as ReadableStream);
  return new Response(body, { status, headers });
}

/** Errors that occur before anything is sent. After any other error, the service may have made the change. */
const NEVER_REACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** Creates the error for a request without a response. */
export function noResponse(url: URL, cause: unknown): OperatorError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const what = NEVER_REACHED.has(code)
    ? `No service responds at ${url.origin}. Start it, or set another address with --url.`
    : `${url.origin} did not respond (${message}). If the request was a change, "dps history" shows whether it was applied.`;
  return new OperatorError(what, { cause });
}

/** Returns the token of --token, of DPS_TOKEN, or of "dps login". */
async function authorization(invocation: Invocation): Promise<string | undefined> {
  const { values, environment } = invocation;
  const apiToken = text(values, 'token') ?? environment['DPS_TOKEN'];
  const token = apiToken || (await readStoredToken(invocation, baseOf(invocation)));
  if (token && !/^[\x21-\x7E]+$/.test(token)) throw new OperatorError('The token contains invalid characters.');
  return token;
}

/**
 * Returns the address of the service with a slash at its end.
 * @throws OperatorError if it is invalid. The message does not contain the value, because it may contain a password
 */
export function baseOf({ values, environment }: Invocation): string {
  const address = text(values, 'url') ?? (environment['DPS_URL'] || 'http://127.0.0.1:8055');
  if (!URL.canParse(address) || !['http:', 'https:'].includes(new URL(address).protocol)) {
    throw new OperatorError('The address of the service is not valid. Write it like http://127.0.0.1:8055.');
  }
  const { username, password } = new URL(address);
  if (username !== '' || password !== '') {
    throw new OperatorError('The address of the service must not contain a user or password. Use a token (DPS_TOKEN).');
  }
  return address.endsWith('/') ? address : `${address}/`;
}

type Problem = Errors['errors'][number];

/** Returns the error messages of the service, if the response comes from a service. */
export function describeRejection(status: number, content: string): string {
  try {
    const { errors } = JSON.parse(content) as { errors: (Pick<Problem, 'message'> & Partial<Problem>)[] };
    return errors.map(({ message, extensions }) => withOptionNames(message, extensions?.path)).join('\n');
  } catch {
    return `The response has status ${status} and does not come from this service.`;
  }
}
