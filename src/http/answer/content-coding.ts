/** Negotiates content codings from `Accept-Encoding` (RFC 9110, 12.5.3). */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** In order of preference. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Minimum body size in bytes. Smaller bodies fit into one packet anyway. */
export const WORTH_CODING = 1_400;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** At its default level, brotli takes far longer than the transfer time it saves. */
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 5 };

/** Encodes `body` outside the event loop. */
export function encode(body: Buffer | string, coding: Coding): Promise<Buffer> {
  return coding === 'gzip' ? zip(body, { level: 6 }) : brotli(body, { params: QUALITY });
}

/** The codings that the client accepts. */
export interface Accepted {
  /** True if unencoded bodies are acceptable and at least as preferred as any coding. */
  identity: boolean;
  /** Null if the client accepts none of ours or prefers unencoded bodies. */
  coding: Coding | null;
}

const known = new Map<string, Accepted>();
const KNOWN_AT_MOST = 200;

/** Clients send few different headers, so each is parsed once and cached. */
export function readAcceptEncoding(header: string): Accepted {
  const found = known.get(header);
  if (found !== undefined) return found;
  if (known.size >= KNOWN_AT_MOST) known.clear();
  const accepted = read(header);
  known.set(header, accepted);
  return accepted;
}

function read(header: string): Accepted {
  const weights = weightsOf(header);
  const weightOf = (coding: string): number | undefined =>
    weights.get(coding) ?? (coding === 'gzip' ? weights.get('x-gzip') : undefined) ?? weights.get('*');
  const identity = weightOf('identity');
  // An unnamed identity coding is acceptable, but every named coding is preferred.
  const atLeast = weights.has('identity') ? (identity ?? 0) : 0;
  let coding: Coding | null = null;
  let best = 0;
  for (const each of CODINGS) {
    const weight = weightOf(each) ?? 0;
    if (weight <= best || weight < atLeast) continue;
    coding = each;
    best = weight;
  }
  return { identity: identity !== 0, coding };
}

/** Parses `gzip;q=0.5, *;q=0`. An invalid weight counts as 0. */
function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2);
    const read = weight === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
    if (coding !== '') weights.set(coding, read);
  }
  return weights;
}
