/** Checks that the locations in an error exist in the rejected request. */
import { expect } from 'chai';
import { load } from 'js-yaml';

interface Sent {
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

interface ErrorBody {
  errors?: { extensions?: { code?: string; path?: string } }[];
}

const REFUSED: ReadonlySet<number> = new Set([400, 409, 422]);

/** Fails if an error names a location that the request does not have. */
export function expectPlaces(sent: Sent, status: number, answer: unknown): void {
  if (!REFUSED.has(status) || sent.body instanceof FormData) return;
  const paths = pathsOf(answer as ErrorBody);
  if (paths.length === 0) return;
  const body = isForm(sent) ? Object.fromEntries(new URLSearchParams(String(sent.body))) : parsed(String(sent.body));
  const document = documentOf(body);
  for (const path of paths) {
    const exists = isPlace(path, document) || isPlace(path, body);
    expect(exists, `${path} is not in the body that was sent: ${shorten(sent.body)}`).equal(true);
  }
}

const isForm = ({ headers }: Sent): boolean => headers['content-type'] === 'application/x-www-form-urlencoded';

const pathsOf = ({ errors = [] }: ErrorBody): string[] =>
  errors.flatMap(({ extensions: { code, path } = {} }) =>
    path === undefined || code === 'INVALID_QUERY' || isHeader(path) ? [] : [path],
  );

/** Headers whose values are validated with a location. */
const isHeader = (path: string): boolean =>
  ['X-Reason', 'X-Acknowledge', 'Idempotency-Key', 'If-Match', 'X-Log-Position-At-Least'].includes(path);

const shorten = (body: unknown): string => String(body).slice(0, 2000);

/**
 * In `{ "data": … }`, locations are relative to the document; errors outside any document are relative to the body.
 */
function documentOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [first, ...others] = Object.entries(value);
  return others.length === 0 && first?.[0] === 'data' ? first[1] : value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return load(text);
  }
}

/** The location exists, or is a missing member of an existing object. */
function isPlace(path: string, document: unknown): boolean {
  const steps = stepsOf(path);
  const last = steps.pop();
  let value = document;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as Record<string | number, unknown>)[step];
  }
  if (last === undefined || typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, last) || (typeof last === 'string' && !Array.isArray(value));
}

const STEP = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|(?:^|\.)([A-Za-z_$][\w$-]*)/gy;

/** `fields[2]["a b"].type` → `['fields', 2, 'a b', 'type']`; anything else is not a path. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  let end = 0;
  for (const [text, index, quoted, name] of path.matchAll(STEP)) {
    end += text.length;
    if (index !== undefined) steps.push(Number(index));
    else steps.push(quoted === undefined ? (name as string) : (JSON.parse(quoted) as string));
  }
  expect(end, `${path} is not a path`).to.equal(path.length);
  return steps;
}
