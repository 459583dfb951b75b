/** Builds a JSON body in time slices as a value that is safe to traverse. */
import { checkJson } from '../../schema/normal-form/json.js';
import { renderPath } from '../../kernel/problem.js';
import { runYielding } from '../../kernel/event-loop.js';
import { refused, Refused } from '../errors.js';
import { buildJson } from './json-build.js';
import { lineAndColumn } from './json-bytes.js';
import { JsonFault, type JsonLimits } from './json-fault.js';
import { type ScanOptions, scanJson } from './json-scan.js';

const MIB = 1024 * 1024;

/** A schema of a thousand tables with thirty columns each contains two million values. */
export const JSON_LIMITS: JsonLimits = {
  values: 5_000_000,
  depth: 64,
  members: 10_000,
  elements: 1_000_000,
  scalar: 4 * MIB,
};

/** Maximum bytes that are parsed at once. */
const GROUP = 30_000;

/**
 * Parses `bytes`, which must be UTF-8. Throws `Refused` with the location. `admit` is awaited before the value is
 * built.
 */
export async function parseJson(
  bytes: Buffer,
  limits = JSON_LIMITS,
  admit: (values: number) => Promise<void> = async () => undefined,
): Promise<unknown> {
  try {
    return await parse(bytes, { limits, group: GROUP }, admit);
  } catch (error) {
    throw error instanceof JsonFault ? await refusal(error, bytes, limits) : error;
  }
}

async function parse(bytes: Buffer, options: ScanOptions, admit: (values: number) => Promise<void>): Promise<unknown> {
  const scan = await runYielding(scanJson(bytes, options));
  await admit(scan.values);
  const value = await runYielding(buildJson(bytes, scan));
  const { problems, values } = await runYielding(checkJson(value, { maxDepth: options.limits.depth }));
  if (problems.length > 0) throw new Refused(problems);
  // JSON.parse keeps the last of two members with the same name, so fewer values were built than scanned.
  if (values !== scan.values) await runYielding(scanJson(bytes, { ...options, names: true }));
  return value;
}

async function refusal({ kind, message, path, at }: JsonFault, bytes: Buffer, limits: JsonLimits): Promise<Refused> {
  const place = path.length === 0 ? {} : { path: renderPath(path) };
  if (kind === 'syntax') {
    const { line, column } = await runYielding(lineAndColumn(bytes, at ?? 0));
    const where = `line ${line}, column ${column}`;
    return refused('INVALID_PAYLOAD', `The body is not valid JSON: ${message} (${where}).`, {
      ...place,
      details: { line, column },
    });
  }
  const sentence = `The body is not taken: ${message}.`;
  if (kind === 'duplicate' || kind === 'depth') return refused('INVALID_PAYLOAD', sentence, place);
  return refused('CONTENT_TOO_LARGE', sentence, { ...place, details: { limit: limits[kind], limited: kind } });
}
