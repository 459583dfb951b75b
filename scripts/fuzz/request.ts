/** A request in parts that can be mutated and removed. It can be rendered as bytes and as a curl command. */
import { dump } from 'js-yaml';

export type Caller = 'admin' | 'auditor' | 'author' | 'reader' | 'nobody' | 'unknown';

export type Body =
  | { kind: 'json' | 'yaml' | 'json file' | 'yaml file'; value: unknown }
  | { kind: 'text'; text: string | Buffer; type: string };

export interface FuzzRequest {
  /** Its route in the OpenAPI document: `PATCH /fields/{collection}/{field}`. */
  route: string;
  method: string;
  /** Percent-encoded, without query. */
  path: string;
  /** Encoded names and values. */
  query: [string, string][];
  headers: Record<string, string>;
  body?: Body;
  caller: Caller;
  /** A check that is specific to this request. Mutations remove it. */
  expects?: Expectation;
  /** The next request if this one is accepted. */
  after?: FuzzRequest[];
}

export interface Reply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  /** Undefined if the body is not JSON. */
  json: unknown;
  /** Milliseconds. */
  took: number;
  /** Events that the request appended. */
  appended: number;
}

/** The fault of the response, or null. */
type Expectation = (reply: Reply) => string | null;

export interface Encoded {
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

const BOUNDARY = 'fuzz-boundary-7f3a';

/** @param tokens by caller; a caller without one sends no credentials */
export function encode(request: FuzzRequest, tokens: Readonly<Partial<Record<Caller, string>>>): Encoded {
  const headers: Record<string, string> = {};
  const token = tokens[request.caller];
  if (token !== undefined) headers['Authorization'] = `Bearer ${token}`;
  const body = request.body === undefined ? null : encodeBody(request.body);
  if (body !== null) headers['Content-Type'] = body.type;
  for (const [name, value] of Object.entries(request.headers)) {
    for (const header of Object.keys(headers)) if (header.toLowerCase() === name.toLowerCase()) delete headers[header];
    headers[name] = value;
  }
  return { path: pathOf(request), headers, body: body?.bytes ?? null };
}

export function pathOf({ path, query }: Pick<FuzzRequest, 'path' | 'query'>): string {
  if (query.length === 0) return path;
  return `${path}?${query.map(([name, value]) => (value === '' ? name : `${name}=${value}`)).join('&')}`;
}

function encodeBody(body: Body): { bytes: Buffer; type: string } {
  switch (body.kind) {
    case 'text':
      return { bytes: Buffer.from(body.text as string), type: body.type };
    case 'json':
      return { bytes: Buffer.from(jsonOf(body.value)), type: 'application/json' };
    case 'yaml':
      return { bytes: Buffer.from(yamlOf(body.value)), type: 'application/yaml' };
    case 'json file':
      return file('schema.json', 'application/json', jsonOf(body.value));
    case 'yaml file':
      return file('schema.yaml', 'application/yaml', yamlOf(body.value));
  }
}

export const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

const yamlOf = (value: unknown): string => dump(value, { noRefs: true });

function file(name: string, type: string, text: string): { bytes: Buffer; type: string } {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
  return {
    bytes: Buffer.from(`${head}${text}\r\n--${BOUNDARY}--\r\n`),
    type: `multipart/form-data; boundary=${BOUNDARY}`,
  };
}

const SHOWN = 20_000;

/** A shell command with `$URL` and `$TOKEN`. */
export function curlOf(request: FuzzRequest): string {
  const { path, headers, body } = encode(request, {
    admin: '$TOKEN',
    auditor: '$AUDITOR',
    author: '$AUTHOR',
    reader: '$READER',
    unknown: 'wrong',
  });
  const parts = [
    'curl -sS -i',
    request.method === 'GET' ? '' : `-X ${request.method}`,
    `"$URL${path.replaceAll(/["$`\\]/g, '\\$&')}"`,
  ];
  for (const [name, value] of Object.entries(headers)) {
    parts.push(name === 'Authorization' ? `-H "Authorization: ${value}"` : `-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body !== null) parts.push(dataOf(body));
  return parts.filter((part) => part !== '').join(' ');
}

/** base64 for bytes that a shell word cannot contain. */
function dataOf(body: Buffer): string {
  const text = body.toString('utf8');
  if (body.length > SHOWN) return `--data-binary @… # ${body.length} bytes, ${JSON.stringify(text.slice(0, 200))} …`;
  if (Buffer.from(text).equals(body) && !text.includes('\0') && !text.includes('\r'))
    return `--data-binary ${quoted(text)}`;
  return `--data-binary @<(base64 -d <<< ${body.toString('base64')})`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
