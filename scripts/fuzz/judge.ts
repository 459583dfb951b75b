/** Invariants of every response. */
import { STATUS } from '../../src/http/errors.js';
import { expectPlaces } from '../../test/http/places.js';
import { expectContract } from '../../test/support/contract.js';
import { insideOf } from './leaks.js';
import { type FuzzRequest, jsonOf, pathOf, type Reply } from './request.js';

export interface Fault {
  /** The violated guarantee: `places`, `contract`, … */
  rule: string;
  message: string;
}

/** Time limit for a response, in milliseconds. */
const LIMIT = 5_000;
/** These read the whole log, which grows with the run, and compare it with every table. */
const READS_LOG = new Set(['GET /server/doctor', 'GET /history/verify', 'GET /projections/verify']);
/** Milliseconds for a response that reads the whole log. */
const LOG_LIMIT = 30_000;

type Check = (request: FuzzRequest, reply: Reply, sent: ReadonlySet<string>) => string | null;

const isRefused = ({ status }: Reply): boolean => status >= 400;

/** 503 is valid with a reason and Retry-After. */
const serverErrors: Check = ({ method }, { status, json, headers, text }) => {
  if (status < 500) return null;
  const [first] = (json as { errors?: { extensions?: { code?: string } }[] } | undefined)?.errors ?? [];
  // The response to HEAD has no body.
  const hasCode = method === 'HEAD' || first?.extensions?.code !== undefined;
  const isSaid = status === 503 && hasCode && headers['retry-after'] !== undefined;
  return isSaid ? null : `${status}: ${text.slice(0, 500)}`;
};

interface ErrorDocument {
  errors?: { message?: unknown; extensions?: { code?: string } }[];
}

const errorFormat: Check = ({ method }, reply) => {
  if (!isRefused(reply) || method === 'HEAD') return null;
  const { errors = [] } = (reply.json ?? {}) as ErrorDocument;
  const code = errors[0]?.extensions?.code;
  if (code === undefined) return `${reply.status} without an error document: ${reply.text.slice(0, 300)}`;
  if (STATUS[code as keyof typeof STATUS] !== reply.status) return `${reply.status} with the code ${code}`;
  const wordless = errors.find(({ message }) => typeof message !== 'string' || message.length < 5);
  if (wordless !== undefined) return `an error says nothing: ${JSON.stringify(wordless)}`;
  return null;
};

const leaks: Check = (_, reply, sent) => {
  if (!isRefused(reply)) return null;
  const leak = insideOf(reply.text).find((each) => !sent.has(each));
  return leak === undefined ? null : `something internal is shown: ${leak} in ${reply.text.slice(0, 300)}`;
};

const nothingLeft: Check = ({ method }, reply) => {
  if (reply.appended === 0) return null;
  if (isRefused(reply)) return `it was refused with ${reply.status}, and appended ${reply.appended} events`;
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) ? `a ${method} appended ${reply.appended} events` : null;
};

const inTime: Check = ({ route }, { took }) =>
  took <= (READS_LOG.has(route) ? LOG_LIMIT : LIMIT) ? null : `it took ${Math.round(took)} ms`;

/** An assertion of the test support, as a sentence. */
function assertion(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if ((error as Error).name === 'AssertionError') return (error as Error).message;
    return null;
  }
}

const bodyText = ({ body }: FuzzRequest): unknown => {
  if (body === undefined) return undefined;
  return body.kind === 'text' ? String(body.text) : jsonOf(body.value);
};

const isEncoded = ({ headers }: FuzzRequest): boolean =>
  Object.keys(headers).some((name) => /^content-(encoding|type)$/i.test(name));

/** Used for bodies that were not decoded. */
const places: Check = (request, { status, json }) => {
  if (isEncoded(request) || request.body?.kind === 'text') return null;
  const sent = { path: pathOf(request), headers: request.headers, body: bodyText(request) };
  return assertion(() => expectPlaces(sent, status, json));
};

const contract: Check = (request, { status, json, headers, text }) => {
  const { method, body } = request;
  if (method === 'HEAD') return null;
  const contentType = headers['content-type'] ?? null;
  const isJson = String(contentType).startsWith('application/json');
  const sent = body?.kind === 'json' && !isEncoded(request) ? body.value : undefined;
  const received = isJson && text !== '' ? json : undefined;
  return assertion(() =>
    expectContract({
      method,
      path: pathOf(request),
      sent,
      status,
      contentType: contentType as string | null,
      received,
    }),
  );
};

const CHECKS: Record<string, Check> = { serverErrors, errorFormat, leaks, nothingLeft, inTime, places, contract };

/**
 * The first guarantee that this response violates, or null.
 * @param sent request texts so far, from leaks.ts
 */
export function judge(request: FuzzRequest, reply: Reply, sent: ReadonlySet<string>): Fault | null {
  for (const [rule, check] of Object.entries(CHECKS)) {
    const message = check(request, reply, sent);
    if (message !== null) return { rule, message };
  }
  const unexpected = request.expects?.(reply) ?? null;
  return unexpected === null ? null : { rule: 'expected', message: unexpected };
}
