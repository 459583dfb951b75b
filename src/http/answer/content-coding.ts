/** Codings that answers are sent in, as `Accept-Encoding` asks for them (RFC 9110, 12.5.3). */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** The best first. */
export const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Bytes of a body that is worth it: less fits into one packet anyway. */
export const WORTH_CODING = 1_400;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** At the usual levels brotli takes a hundred times as long as it saves. */
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 5 };

/** `body` in a coding; the work is done beside the event loop. */
export function encode(body: Buffer | string, coding: Coding): Promise<Buffer> {
  return coding === 'gzip' ? zip(body, { level: 6 }) : brotli(body, { params: QUALITY });
}

/** What a client takes: whether as it is, and which coding it likes best. */
export interface Accepted {
  /** It takes bodies as they are, and likes no coding less than that. */
  identity: boolean;
  /** Null: none of ours, or it would rather have bodies as they are. */
  coding: Coding | null;
}

const known = new Map<string, Accepted>();
const KNOWN_AT_MOST = 200;

/** Clients send few different headers: each is read once. */
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
  // What is not named at all is taken, but any coding that is named is liked better.
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

/** `gzip;q=0.5, *;q=0`. What can't be read as a weight is 0. */
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
