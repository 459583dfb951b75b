/** A request to try: sent with the session, or shown as a command. */
import type { OutlinedOperation } from '../../../http/openapi/outline.js';
import { RefusedError } from '../../service/errors.js';
import { shellQuoted } from '../../../kernel/shell.js';
import { requestAnswer } from '../../service/request.js';

export interface Tried {
  status: number;
  headers: [name: string, value: string][];
  body: string;
  milliseconds: number;
}

/** Input by location and name of a parameter: `query limit`. */
export type Typed = Readonly<Record<string, string>>;

/** Maximum shown characters, because streams never end. */
const MOST = 100_000;
const LONGEST_MS = 4_000;

const SHOWN = ['content-type', 'etag', 'x-log-position', 'x-batch-id', 'x-request-id', 'location', 'retry-after'];

/** Fills in the encoded input. Empty values are omitted from the query and stay empty in the path. */
export function pathOf({ path, parameters }: OutlinedOperation, typed: Typed): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(typed[`path ${name}`] ?? ''),
  );
  const query = parameters
    .filter(({ in: place, name }) => place === 'query' && (typed[`query ${name}`] ?? '') !== '')
    .map(({ name }) => `${encodeURIComponent(name)}=${encodeURIComponent(typed[`query ${name}`] ?? '')}`);
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

const headersOf = ({ parameters }: OutlinedOperation, typed: Typed): Record<string, string> =>
  Object.fromEntries(
    parameters
      .filter(({ in: place, name }) => place === 'header' && (typed[`header ${name}`] ?? '') !== '')
      .map(({ name }) => [name, typed[`header ${name}`] ?? '']),
  );

/**
 * @param body JSON text; undefined for none
 * @throws SyntaxError if it is invalid
 */
export async function tryOut(operation: OutlinedOperation, typed: Typed, body: string | undefined): Promise<Tried> {
  const started = performance.now();
  const ended = new AbortController();
  const timer = setTimeout(() => ended.abort(), LONGEST_MS);
  try {
    const answer = await requestAnswer(pathOf(operation, typed), {
      method: operation.method as 'GET',
      headers: headersOf(operation, typed),
      ...(body !== undefined && body.trim() !== '' && { json: JSON.parse(body) as unknown }),
      signal: ended.signal,
    });
    const text = await readSome(answer);
    const headers = SHOWN.flatMap((name): [string, string][] => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value]];
    });
    return { status: answer.status, headers, body: indented(text), milliseconds: performance.now() - started };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const headers: [string, string][] = error.requestId === null ? [] : [['x-request-id', error.requestId]];
    const shown = JSON.stringify({ errors: error.problems }, null, 2);
    return { status: error.status, headers, body: shown, milliseconds: performance.now() - started };
  } finally {
    clearTimeout(timer);
  }
}

/** Reads until the limit or a timeout. */
async function readSome(answer: Response): Promise<string> {
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader !== undefined && text.length < MOST) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true as const }));
    if (done) return text;
    text += value;
  }
  await reader?.cancel();
  return `${text.slice(0, MOST)}\n…`;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The same as a shell command. The token is left to the reader. */
export function curlOf(operation: OutlinedOperation, typed: Typed, body: string | undefined): string {
  const parts = [
    `curl ${shellQuoted(location.origin + pathOf(operation, typed))}`,
    '-H "Authorization: Bearer $TOKEN"',
  ];
  if (operation.method !== 'GET') parts.splice(1, 0, `-X ${operation.method}`);
  for (const [name, value] of Object.entries(headersOf(operation, typed)))
    parts.push(`-H ${shellQuoted(`${name}: ${value}`)}`);
  if (body !== undefined && body.trim() !== '') {
    parts.push('-H "Content-Type: application/json"', `-d ${shellQuoted(body)}`);
  }
  return parts.join(' \\\n  ');
}
