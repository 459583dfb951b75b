/** Turns a valid request into one that a client might send by mistake or on purpose. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { segment } from './grammar/context.js';
import { HOSTILE_TEXTS, IMPOSSIBLE_NAMES } from './grammar/values.js';
import { HEADERS } from './mutate-headers.js';
import { mutateJson } from './mutate-json.js';
import type { Random } from './random.js';
import { encode, type FuzzRequest, jsonOf } from './request.js';
import type { World } from './world.js';

type Mutation = (request: FuzzRequest, random: Random, world: World) => FuzzRequest;

/** Half of all requests stay unchanged. */
export function mutate(request: FuzzRequest, random: Random, world: World): FuzzRequest {
  let mutated = request;
  while (random.chance(0.45)) {
    const { expects: _, ...free } = random.pick(MUTATIONS)(mutated, random, world);
    mutated = free;
  }
  return mutated;
}

const changeValue: Mutation = (request, random) => {
  const { body } = request;
  if (body === undefined || body.kind === 'text') return request;
  return { ...request, body: { ...body, value: mutateJson(body.value, random) } };
};

const changeText: Mutation = (request, random) => {
  const text = request.body === undefined || request.body.kind === 'text' ? '{}' : jsonOf(request.body.value);
  const place = random.below(text.length + 1);
  const torn = random.pick<() => string | Buffer>([
    () => text.slice(0, place),
    () =>
      `${text.slice(0, place)}${random.pick(['\u0000', ',', '"', '{', '\\', '\ufeff', 'NaN', '/**/'])}${text.slice(place)}`,
    () =>
      text.replace(
        /:\s*(true|false|null|\d+)/,
        random.pick([': 1e999', ': -0', ': 00', ': .5', ': 123456789012345678901234567890']),
      ),
    () => text.replace('{', '{"__proto__": {"a": 1}, '),
    () => text.replace(/\{("[^"]+":)/, '{$1 1, $1'),
    () => `\ufeff${text}`,
    () => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe])]),
    () => '',
    () => '[[[[',
    () => 'a: &a [*a, *a]\nb: !!js/function "x"\n',
  ])();
  return { ...request, body: { kind: 'text', text: torn, type: random.pick(TYPES) } };
};

const TYPES = [
  'application/json',
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/yaml',
  'text/plain',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '',
  'x',
];

const changeType: Mutation = (request, random) => ({
  ...request,
  headers: { ...request.headers, 'Content-Type': random.pick(TYPES) },
});

const otherKind: Mutation = (request, random) => {
  const { body } = request;
  if (body === undefined || body.kind === 'text') return request;
  return {
    ...request,
    body: { ...body, kind: random.pick(['json', 'yaml', 'json file', 'yaml file'] as const) },
  };
};

const CODINGS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  identity: (bytes) => bytes,
  zstd: (bytes) => bytes,
  'gzip, gzip': (bytes) => gzipSync(bytes),
};

/** Compressed as declared, compressed differently, or truncated. */
const compress: Mutation = (request, random) => {
  const { body, headers } = encode(request, {});
  if (body === null || Object.keys(request.headers).some((name) => /^content-encoding$/i.test(name))) return request;
  const coding = random.pick(Object.keys(CODINGS));
  const really = random.chance(0.8) ? coding : random.pick(Object.keys(CODINGS));
  const bytes = (CODINGS[really] as (bytes: Buffer) => Buffer)(body);
  const text = random.chance(0.85) ? bytes : bytes.subarray(0, random.below(bytes.length + 1));
  return {
    ...request,
    body: { kind: 'text', text, type: headers['Content-Type'] ?? '' },
    headers: { ...request.headers, 'Content-Encoding': coding },
  };
};

const addHeader: Mutation = (request, random, world) => {
  const name = random.pick(Object.keys(HEADERS));
  return {
    ...request,
    headers: { ...request.headers, [name]: (HEADERS[name] as (typeof HEADERS)[string])(random, world) },
  };
};

const ODD_PATHS: readonly ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replace(/[^/]+$/, '%00'),
  (path) => path.replace(/[^/]+$/, '%ff'),
  (path) => path.replace(/[^/]+$/, '%'),
  (path) => path.replace(/[^/]+$/, '..%2F..%2Fetc%2Fpasswd'),
  (path) => path.replace(/[^/]+$/, '..'),
  (path) => path.replace(/[^/]+$/, '__proto__'),
  (path) => path.replace(/[^/]+$/, 'x'.repeat(15_000)),
  (path) => path.replace(/[^/]+$/, 'x'.repeat(17_000)),
  (path) => `${path}/more`,
  (path) => `${path};a=b`,
];

const changePath: Mutation = (request, random) => {
  if (random.chance(0.6)) return { ...request, path: random.pick(ODD_PATHS)(request.path) };
  const name = segment(random.pick([...IMPOSSIBLE_NAMES, ...HOSTILE_TEXTS]).slice(0, 3_000));
  return { ...request, path: request.path.replace(/[^/]+$/, name) };
};

const QUERY_NAMES = [
  'limit',
  'offset',
  'meta',
  'fields',
  'export',
  'at',
  'from',
  'to',
  'after',
  'since',
  'dry_run',
  'mode',
  'force',
  '__proto__',
  'x',
  '%00',
];
const QUERY_VALUES = [
  '',
  '0',
  '-1',
  '1',
  '1e3',
  'true',
  'yes',
  '%00',
  '%ff',
  '%ED%A0%80',
  '*',
  ',',
  '%22',
  'a,,b',
  '999999999999999999999',
  'now',
  '[]',
  'x',
];

const changeQuery: Mutation = (request, random) => {
  if (request.query.length > 0 && random.chance(0.5)) {
    const at = random.below(request.query.length);
    const query = request.query.map(([name, value], index): [string, string] => [
      name,
      index === at ? random.pick(QUERY_VALUES) : value,
    ]);
    return { ...request, query };
  }
  return { ...request, query: [...request.query, [random.pick(QUERY_NAMES), random.pick(QUERY_VALUES)]] };
};

const changeMethod: Mutation = (request, random) => ({
  ...request,
  method: random.pick(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']),
});

const changeCaller: Mutation = (request, random) => ({
  ...request,
  caller: random.pick(['auditor', 'author', 'reader', 'nobody', 'unknown'] as const),
});

/** A used Idempotency-Key, with its original request or with this one. */
const repeatKey: Mutation = (request, random, { keyed }) => {
  const earlier = random.some(keyed);
  if (earlier === undefined) return request;
  return random.chance(0.5) ? { ...earlier } : { ...request, headers: { ...request.headers, ...earlier.headers } };
};

const MUTATIONS: readonly Mutation[] = [
  ...Array<Mutation>(10).fill(changeValue),
  ...Array<Mutation>(4).fill(addHeader),
  changeText,
  changeType,
  otherKind,
  compress,
  changePath,
  changeQuery,
  changeQuery,
  changeMethod,
  changeCaller,
  repeatKey,
];
