import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import type { z } from 'zod';
import type { info } from '../../http/openapi/answers/operating.js';
import type { Errors } from '../../http/openapi/answers/envelopes.js';
import { OperatorError } from '../../kernel/operator-error.js';
import { type Invocation, PolicyRefusedError, UsageError, text } from '../command.js';
import { oneLine } from '../output.js';
import { storedToken } from './sessions.js';
import { acknowledgeHeader, asOption } from '../planned-changes.js';

/** Query parameters by name; a flag is sent if it is true. */
type Query = Readonly<Record<string, string | boolean | undefined>>;

export interface ServiceRequest {
  method?: 'GET' | 'PATCH' | 'POST' | 'PUT' | 'DELETE';
  query?: Query;
  /** Includes its content type. */
  body?: { type: string; content: Buffer };
  headers?: Readonly<Record<string, string>>;
}

export interface ServiceResponse {
  status: number;
  text: string;
  headers: IncomingMessage['headers'];
}

/**
 * The headers of a change: the reason and acknowledgements.
 * @throws UsageError
 */
export const changeHeaders = (invocation: Invocation): Record<string, string> => ({
  ...reasonHeader(invocation),
  ...acknowledgeHeader(invocation.values),
});

/**
 * The X-Reason header for --reason.
 * @throws UsageError if it has several lines
 */
export function reasonHeader({ values }: Invocation): Record<string, string> {
  const reason = text(values, 'reason');
  if (reason === undefined) return {};
  if (/\p{Cc}/u.test(reason)) throw new UsageError('--reason must be a single line.');
  // Headers are bytes, so UTF-8 is passed as latin1.
  return { 'x-reason': Buffer.from(reason).toString('latin1') };
}

/**
 * Sends one request and returns the text of the response.
 * @throws OperatorError unless it succeeds
 */
export async function requestText(invocation: Invocation, path: string, request: ServiceRequest = {}): Promise<string> {
  return (await requestChecked(invocation, path, request)).text;
}

/**
 * The `data` of a JSON response. Its type comes from the OpenAPI document and is not verified, because the service may
 * have another release.
 */
export async function requestData<T>(invocation: Invocation, path: string, request: ServiceRequest = {}): Promise<T> {
  return (JSON.parse(await requestText(invocation, path, request)) as { data: T }).data;
}

/** Reads the version of the service and the state of its schema. */
export const readInfo = (invocation: Invocation): Promise<z.output<typeof info>> =>
  requestData(invocation, '/server/info');

/** Items per page. */
const PAGE = 1_000;

/**
 * All items of a paginated list, or as many as `limit` says. Concurrent changes shift pages, so items may be repeated
 * or missing.
 */
export async function requestAll<T>(
  invocation: Invocation,
  path: string,
  { limit = Infinity, query = {} }: { limit?: number } & Pick<ServiceRequest, 'query'> = {},
): Promise<T[]> {
  const all: T[] = [];
  while (all.length < limit) {
    const size = Math.min(PAGE, limit - all.length);
    const page = { ...query, offset: String(all.length), limit: String(size) };
    const items = await requestData<T[]>(invocation, path, { query: page });
    for (const item of items) all.push(item);
    if (items.length < size) break;
  }
  return all;
}

/** The same with the response headers. */
export async function requestChecked(
  invocation: Invocation,
  path: string,
  request: ServiceRequest = {},
): Promise<ServiceResponse> {
  const answer = await requestAnyStatus(invocation, path, request);
  if (answer.status < 200 || answer.status > 299) throw refusedBy(answer);
  for (const code of warningsIn(answer)) invocation.terminal.note(`! ${code}: ${WARNINGS[code] ?? 'see docs/http.md'}`);
  return answer;
}

/** Side effects of a change, by the code in `X-Warnings`. */
const WARNINGS: Readonly<Record<string, string>> = {
  DATA_NOT_KEPT: 'the trash did not keep everything that was deleted',
};

function warningsIn({ headers }: ServiceResponse): string[] {
  const warnings = headers['x-warnings'];
  return typeof warnings === 'string' ? warnings.split(',').map((code) => oneLine(code.trim())) : [];
}

function refusedBy({ status, text: content }: ServiceResponse): OperatorError {
  const message = refusal(status, content);
  return isByPolicy(status, content) ? new PolicyRefusedError(message) : new OperatorError(message);
}

function isByPolicy(status: number, content: string): boolean {
  if (status !== 422) return false;
  return (JSON.parse(content) as Errors).errors[0]?.extensions.code === 'POLICY_REFUSED';
}

/**
 * The same for any status.
 * @throws OperatorError without a response
 */
export async function requestAnyStatus(
  invocation: Invocation,
  path: string,
  request: ServiceRequest = {},
): Promise<ServiceResponse> {
  const answer = await send(invocation, path, request);
  const status = answer.statusCode ?? 0;
  const content = await readText(answer).catch((cause: Error) => {
    throw new OperatorError(`The response of the service was interrupted (${cause.message}).`, { cause });
  });
  return { status, text: content, headers: answer.headers };
}

/**
 * Sends one request and returns any response, without a time limit.
 * @throws OperatorError without a response
 */
export async function send(
  invocation: Invocation,
  path: string,
  request: ServiceRequest = {},
): Promise<IncomingMessage> {
  const url = address(invocation, path, request.query ?? {});
  const { body, method } = request;
  const headers: Record<string, string | number> = { ...request.headers, ...(await authorization(invocation)) };
  if (body) Object.assign(headers, { 'content-type': body.type, 'content-length': body.content.length });
  // fetch gives up after five minutes, which is too short for changes of large tables.
  const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { method, headers });
  sent.end(body?.content);
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer;
  } catch (cause) {
    throw noResponse(url, cause);
  }
}

/** Errors before anything was sent. After any other error, the change may have been made. */
const NEVER_REACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** The error for a request without a response. */
export function noResponse(url: URL, cause: unknown): OperatorError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const what = NEVER_REACHED.has(code)
    ? `No service responds at ${url.origin}. Start it, or set another address with --url.`
    : `${url.origin} did not respond (${message}). If the request was a change, "dps history" shows whether it was applied.`;
  return new OperatorError(what, { cause });
}

/** The token of --token or DPS_TOKEN, or of "dps login". */
async function authorization(invocation: Invocation): Promise<Record<string, string>> {
  const { values, environment } = invocation;
  const apiToken = text(values, 'token') ?? environment['DPS_TOKEN'];
  const token = apiToken || (await storedToken(invocation, baseOf(invocation)));
  if (!token) return {};
  if (!/^[\x21-\x7E]+$/.test(token)) throw new OperatorError('The token contains invalid characters.');
  return { authorization: `Bearer ${token}` };
}

function address(invocation: Invocation, path: string, query: Query): URL {
  const url = new URL(path.replace(/^\//, ''), baseOf(invocation));
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== false) url.searchParams.set(name, String(value));
  }
  return url;
}

/**
 * The address of the service, with a slash at its end.
 * @throws OperatorError, which never repeats an invalid value, because it may contain a password
 */
export function baseOf({ values, environment }: Invocation): string {
  const address = text(values, 'url') ?? (environment['DPS_URL'] || 'http://127.0.0.1:8055');
  if (!URL.canParse(address) || !['http:', 'https:'].includes(new URL(address).protocol)) {
    throw new OperatorError('The address of the service is not valid. Write it like http://127.0.0.1:8055.');
  }
  const { username, password } = new URL(address);
  if (username !== '' || password !== '') {
    throw new OperatorError(
      'The address of the service must not contain a user and password. Use a token (DPS_TOKEN).',
    );
  }
  return address.endsWith('/') ? address : `${address}/`;
}

type Problem = Errors['errors'][number];

/** The service's own error messages, if the response is from a service. */
export function refusal(status: number, content: string): string {
  try {
    const { errors } = JSON.parse(content) as { errors: (Pick<Problem, 'message'> & Partial<Problem>)[] };
    return errors.map(({ message, extensions }) => asOption(message, extensions?.path)).join('\n');
  } catch {
    return `The response has status ${status} and does not come from this service.`;
  }
}
