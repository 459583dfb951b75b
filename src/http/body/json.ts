/** Builds a JSON body in time slices as a value that is safe to traverse. */
import { checkJson } from '../../schema/normal-form/json.js';
import { renderPath } from '../../kernel/problem.js';
import { runYielding } from '../../kernel/event-loop.js';
import { refused, Refused } from '../errors.js';
import { lineAndColumn } from './json-bytes.js';
import { JsonFault, type JsonLimits, type ScanOptions, scanJson, type Cut, type JsonScan } from './json-scan.js';
import type { Resumable } from '../../kernel/resumable.js';

/* Builds the value of a scanned JSON text in chunks with JSON.parse. */

type Container = unknown[] | Record<string, unknown>;

/** @throws TypeError if the text is not UTF-8 */
export function* buildJson(bytes: Uint8Array, { cuts }: JsonScan): Resumable<unknown> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const textOf = (from: number, to: number): string => decoder.decode(bytes.subarray(from, to));
  if (cuts.length === 0) return JSON.parse(textOf(0, bytes.length));

  const open: Container[] = [];
  let whole: Container | undefined;
  for (const cut of cuts) {
    const parent = open.at(-1);
    if (parent !== undefined) addChunk(parent, textOf(cut.from, cut.to));
    if (cut.kind === 'close') open.pop();
    if (cut.kind === 'open') {
      const container: Container = cut.isArray ? [] : {};
      whole ??= container;
      if (parent !== undefined) addOne(parent, container, nameOf(cut, textOf));
      open.push(container);
    }
    yield;
  }
  return whole;
}

function nameOf({ name }: Cut, textOf: (from: number, to: number) => string): string | null {
  return name === null ? null : (JSON.parse(textOf(...name)) as string);
}

function addChunk(container: Container, text: string): void {
  if (Array.isArray(container)) for (const element of JSON.parse(`[${text}]`) as unknown[]) container.push(element);
  else for (const [name, value] of Object.entries(JSON.parse(`{${text}}`) as object)) addOne(container, value, name);
}

/** Assigning to `__proto__` would replace the prototype instead of adding a member. */
function addOne(container: Container, value: unknown, name: string | null): void {
  if (Array.isArray(container)) container.push(value);
  else if (name !== '__proto__') container[name as string] = value;
  else Object.defineProperty(container, name, { value, enumerable: true, writable: true, configurable: true });
}

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
