/* Builds a JSON body in time slices as a value that is safe to traverse. */
import { checkJson } from '../../schema/normal-form/json.js';
import { renderPath, type Path } from '../../kernel/problem.js';
import { runYielding } from '../../kernel/event-loop.js';
import { refused, RejectedError } from '../errors.js';
import type { Resumable } from '../../kernel/resumable.js';

export const BYTE = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openObject: 0x7b,
  closeObject: 0x7d,
  openArray: 0x5b,
  closeArray: 0x5d,
} as const;

const SPACE = 0x20;

/** Maximum number of consecutive white space characters, because skipping more would take too long. */
const MAX_SPACE = 4 * 1024 * 1024;

/** Returns the end of the white space at `from`, or the position at which it exceeds the maximum. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  const end = from + MAX_SPACE;
  let at = from;
  for (let byte = bytes[at]; isSpace(byte) && at < end; byte = bytes[at]) at++;
  return at;
}

const isSpace = (byte: number | undefined): boolean =>
  byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Returns the position after the closing quote of the string at `from`, or the negative position of a fault. Reads at
 * most `limit` bytes.
 */
export function endOfString(bytes: Uint8Array, from: number, limit: number): number {
  const end = Math.min(bytes.length, from + limit);
  for (let at = from + 1; ; at++) {
    const byte = bytes[at];
    if (byte === BYTE.quote) return at + 1;
    if (at >= end || byte === undefined || byte < SPACE) return -at;
    if (byte !== BYTE.backslash) continue;
    at = endOfEscape(bytes, at + 1);
    if (at < 0) return at;
  }
}

const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const HEX = /^[0-9a-fA-F]{4}$/;

/** Returns the last byte of the escape whose letter is at `at`, or the negative position of a fault. */
function endOfEscape(bytes: Uint8Array, at: number): number {
  const letter = bytes[at];
  if (letter !== undefined && ESCAPED.has(letter)) return at;
  const isCode = letter === 0x75 && HEX.test(String.fromCharCode(...bytes.subarray(at + 1, at + 5)));
  return isCode ? at + 4 : -at;
}

/** Returns the position after the object or array at `from`. Undefined if it does not end within `limit` bytes. */
export function endOfContainer(bytes: Uint8Array, from: number, limit: number): number | undefined {
  let depth = 0;
  for (let at = from; at < from + limit; at++) {
    const byte = bytes[at];
    if (byte === BYTE.quote) {
      const end = endOfString(bytes, at, limit);
      if (end < 0) return undefined;
      at = end - 1;
    } else if (byte === BYTE.openObject || byte === BYTE.openArray) depth += 1;
    else if (byte === BYTE.closeObject || byte === BYTE.closeArray) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

const LITERALS: readonly Uint8Array[] = ['true', 'false', 'null'].map((text) => Buffer.from(text));

/** Returns the end of the number or literal at `from`, or the negative position of a fault. */
export function endOfLiteral(bytes: Uint8Array, from: number): number {
  const expected = LITERALS.find((literal) => literal[0] === bytes[from]);
  if (expected === undefined) return endOfNumber(bytes, from);
  for (let index = 1; index < expected.length; index++)
    if (bytes[from + index] !== expected[index]) return -(from + index);
  return from + expected.length;
}

const MINUS = 0x2d;
const ZERO = 0x30;

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === MINUS ? from + 1 : from;
  at = bytes[at] === ZERO ? at + 1 : digits(bytes, at);
  if (at > 0 && bytes[at] === 0x2e) at = digits(bytes, at + 1);
  if (at > 0 && (bytes[at] === 0x65 || bytes[at] === 0x45)) {
    const sign = bytes[at + 1];
    at = digits(bytes, sign === MINUS || sign === 0x2b ? at + 2 : at + 1);
  }
  return at;
}

/** Returns the end of the digits at `from`, of which there must be at least one. */
function digits(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte !== undefined && byte >= ZERO && byte <= 0x39; byte = bytes[at]) at++;
  return at > from ? at : -from;
}

/** Returns the line and column of a position, starting at 1. Columns count characters. */
export function* lineAndColumn(bytes: Uint8Array, at: number): Resumable<{ line: number; column: number }> {
  let [line, column] = [1, 1];
  for (let index = 0; index < at; index++) {
    const byte = bytes[index] as number;
    if (byte === 0x0a) {
      line += 1;
      column = 1;
    } else if ((byte & 0xc0) !== 0x80) column += 1;
    if (index % 100_000 === 0) yield;
  }
  return { line, column };
}

/*
 * Scans JSON text before building it: checks the syntax, counts values and finds positions where it can be cut into
 * chunks. JSON.parse of 32 MiB blocks the event loop for 0.2 s; ten million empty objects block it for 6 s.
 */

interface JsonLimits {
  /** Maximum number of values, counting members, elements and the document itself. */
  values: number;
  /** Maximum nesting of arrays and objects. */
  depth: number;
  /** Maximum number of members of one object. With more than about ten thousand, even listing the names is slow. */
  members: number;
  /** Maximum elements of one array. */
  elements: number;
  /** Maximum bytes of one string or number. */
  scalar: number;
}

/** The limit that was exceeded, or `syntax` for text that is not JSON. */
type FaultKind = 'syntax' | 'duplicate' | keyof JsonLimits;

/** The reason and the location of a rejection. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly kind: FaultKind;
  readonly path: Path;
  /** The position of the invalid byte. Null for other faults. */
  readonly at: number | null;

  constructor(kind: FaultKind, message: string, { path, at }: { path: Path; at: number | null }) {
    super(message);
    this.kind = kind;
    this.path = path;
    this.at = at;
  }
}

/**
 * A place where the text is cut. The text between `from` and `to` belongs to the open container: members or elements
 * with commas between them. Then `open` begins a nested container, or `close` ends the current one.
 */
interface Cut {
  kind: 'open' | 'cut' | 'close';
  from: number;
  to: number;
  /** Describes the opened container. */
  isArray: boolean;
  /** The quoted name of the opened container. Null in an array. */
  name: readonly [from: number, to: number] | null;
}

interface JsonScan {
  values: number;
  /** The cuts. Empty if the text is small enough to be parsed at once, or cannot be cut. */
  cuts: Cut[];
}

interface Level {
  isArray: boolean;
  start: number;
  /** The start of the current group, which is not cut yet. */
  group: number;
  /** The position of the last comma. */
  comma: number;
  /** The number of members or elements so far. */
  count: number;
  /** The name of the current member. */
  name: [from: number, to: number] | null;
  opened: boolean;
  /** The names so far. Null if names are not checked. */
  names: Set<string> | null;
}

interface ScanOptions {
  limits: JsonLimits;
  /** Maximum number of bytes that are parsed at once. */
  group: number;
  /** True to check for duplicate names as well, which takes three times as long. */
  names?: boolean;
}

/** Number of bytes per step. */
const STEP = 32_768;

/** @throws JsonFault */
export function* scanJson(bytes: Uint8Array, options: ScanOptions): Resumable<JsonScan> {
  const scanner = new Scanner(bytes, options);
  while (!scanner.step()) yield;
  return { values: scanner.values, cuts: scanner.cuts };
}

class Scanner {
  values = 0;
  readonly cuts: Cut[] = [];
  readonly #bytes: Uint8Array;
  readonly #options: ScanOptions;
  readonly #levels: Level[] = [];
  #top: Level | null = null;
  #at = 0;

  constructor(bytes: Uint8Array, options: ScanOptions) {
    this.#bytes = bytes;
    this.#options = options;
  }

  /** Scans one step. Returns true at the end of the text. */
  step(): boolean {
    for (const end = this.#at + STEP; this.#at < end;) {
      const at = skipSpace(this.#bytes, this.#at);
      const byte = this.#bytes[at];
      this.#count();
      const isContainer = byte === BYTE.openObject || byte === BYTE.openArray;
      if (!isContainer) this.#at = this.#scalar(at, byte);
      else if (!this.#open(at, byte === BYTE.openArray)) continue;
      if (this.#after()) return true;
    }
    return false;
  }

  #count(): void {
    const { limits } = this.#options;
    const top = this.#top;
    this.values += 1;
    if (top !== null) top.count += 1;
    if (this.values > limits.values) this.#refuse('values', `it contains more than ${limits.values} values`);
    if (top === null) return;
    if (top.isArray ? top.count > limits.elements : top.count > limits.members) this.#tooMany(top);
  }

  #tooMany({ isArray }: Level): never {
    const { elements, members } = this.#options.limits;
    // The fault concerns the container, not its content.
    this.#levels.pop();
    if (isArray) this.#refuse('elements', `an array contains more than ${elements} elements`);
    this.#refuse('members', `an object contains more than ${members} members`);
  }

  #scalar(at: number, byte: number | undefined): number {
    const { scalar } = this.#options.limits;
    const end = byte === BYTE.quote ? endOfString(this.#bytes, at, scalar) : endOfLiteral(this.#bytes, at);
    if (Math.abs(end) - at >= scalar) this.#refuse('scalar', `a string or number has ${scalar} bytes or more`);
    if (end <= 0) this.#unexpected(-end);
    return end;
  }

  /** Begins a container. Returns true if it ends at once, because it is empty. */
  #open(at: number, isArray: boolean): boolean {
    const { limits, names } = this.#options;
    if (this.#levels.length >= limits.depth)
      this.#refuse('depth', `it must not be nested deeper than ${limits.depth} levels`);
    const group = at + 1;
    this.#top = {
      isArray,
      start: at,
      group,
      comma: at,
      count: 0,
      name: null,
      opened: false,
      names: names === true && !isArray ? new Set() : null,
    };
    this.#levels.push(this.#top);
    this.#at = skipSpace(this.#bytes, group);
    const isEmpty = this.#bytes[this.#at] === (isArray ? BYTE.closeArray : BYTE.closeObject);
    if (!isArray && !isEmpty) this.#name(this.#top);
    return isEmpty;
  }

  /** Scans what follows a value: a comma, or the ends of containers. Returns true at the end of the text. */
  #after(): boolean {
    for (;;) {
      const at = skipSpace(this.#bytes, this.#at);
      const byte = this.#bytes[at];
      const top = this.#top;
      if (top === null) {
        if (byte !== undefined) this.#unexpected(at);
        return true;
      }
      this.#at = at + 1;
      if (byte === BYTE.comma) {
        this.#comma(top, at);
        return false;
      }
      if (byte !== (top.isArray ? BYTE.closeArray : BYTE.closeObject)) this.#unexpected(at);
      this.#close(top, at);
    }
  }

  #comma(top: Level, at: number): void {
    top.comma = at;
    if (at - top.group >= this.#options.group) this.#cut(top, at);
    // An opened container has its own chunk, so the comma after it belongs to no chunk.
    else if (top.opened && this.#isBlank(top.group, at)) top.group = at + 1;
    if (!top.isArray) this.#name(top);
  }

  #isBlank(from: number, to: number): boolean {
    return skipSpace(this.#bytes, from) === to;
  }

  #close(top: Level, at: number): void {
    this.#levels.pop();
    this.#top = this.#levels.at(-1) ?? null;
    if (!top.opened) return;
    this.cuts.push({ kind: 'close', from: top.group, to: at, isArray: false, name: null });
    if (this.#top !== null) this.#top.group = at + 1;
  }

  #cut(top: Level, at: number): void {
    for (const [index, level] of this.#levels.entries()) {
      if (!level.opened) this.#openUp(level, this.#levels[index - 1]);
    }
    this.cuts.push({ kind: 'cut', from: top.group, to: at, isArray: false, name: null });
    top.group = at + 1;
  }

  /** Cuts the preceding part of the parent, so that the container gets chunks of its own. */
  #openUp(level: Level, parent: Level | undefined): void {
    const from = parent?.group ?? 0;
    const to = parent === undefined ? 0 : Math.max(from, parent.comma);
    this.cuts.push({ kind: 'open', from, to, isArray: level.isArray, name: parent?.name ?? null });
    level.opened = true;
  }

  #name(top: Level): void {
    const at = skipSpace(this.#bytes, this.#at);
    if (this.#bytes[at] !== BYTE.quote) this.#unexpected(at);
    const end = this.#scalar(at, BYTE.quote);
    top.name = [at, end];
    const colon = skipSpace(this.#bytes, end);
    if (this.#bytes[colon] !== BYTE.colon) this.#unexpected(colon);
    this.#at = colon + 1;
    if (top.names !== null) this.#remember(top.names, this.#textOf(top.name));
  }

  #remember(names: Set<string>, name: string): void {
    if (names.has(name)) this.#refuse('duplicate', `an object contains the member ${JSON.stringify(name)} twice`);
    names.add(name);
  }

  #textOf([from, to]: readonly [number, number]): string {
    return JSON.parse(Buffer.from(this.#bytes.subarray(from, to)).toString()) as string;
  }

  #unexpected(at: number): never {
    // A UTF-8 character has at most four bytes.
    const [character] = Buffer.from(this.#bytes.subarray(at, at + 4)).toString();
    const what = character === undefined ? 'unexpected end of input' : `unexpected ${JSON.stringify(character)}`;
    this.#refuse('syntax', what, at);
  }

  #refuse(kind: FaultKind, message: string, at: number | null = null): never {
    const path = this.#levels.flatMap(({ isArray, count, name }): (string | number)[] => {
      if (isArray) return [Math.max(count - 1, 0)];
      return name === null ? [] : [this.#textOf(name)];
    });
    throw new JsonFault(kind, message, { path, at });
  }
}

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

/** Adds a member or element. An assignment to `__proto__` would replace the prototype instead of adding a member. */
function addOne(container: Container, value: unknown, name: string | null): void {
  if (Array.isArray(container)) container.push(value);
  else if (name !== '__proto__') container[name as string] = value;
  else Object.defineProperty(container, name, { value, enumerable: true, writable: true, configurable: true });
}

const MIB = 1024 * 1024;

/** The limits of a body. A schema of a thousand tables with thirty columns each contains two million values. */
export const JSON_LIMITS: JsonLimits = {
  values: 5_000_000,
  depth: 64,
  members: 10_000,
  elements: 1_000_000,
  scalar: 4 * MIB,
};

/** Maximum number of bytes that are parsed at once. */
const GROUP = 30_000;

/** Parses `bytes`, which must be UTF-8, and awaits `admit` before it builds the value. @throws RejectedError */
export async function parseJson(
  bytes: Buffer,
  limits = JSON_LIMITS,
  admit: (values: number) => Promise<void> = async () => undefined,
): Promise<unknown> {
  try {
    return await parse(bytes, { limits, group: GROUP }, admit);
  } catch (error) {
    throw error instanceof JsonFault ? await toRefused(error, bytes, limits) : error;
  }
}

async function parse(bytes: Buffer, options: ScanOptions, admit: (values: number) => Promise<void>): Promise<unknown> {
  const scan = await runYielding(scanJson(bytes, options));
  await admit(scan.values);
  const value = await runYielding(buildJson(bytes, scan));
  const { problems, values } = await runYielding(checkJson(value, { maxDepth: options.limits.depth }));
  if (problems.length > 0) throw new RejectedError(problems);
  // JSON.parse keeps the last of two members with the same name, so that fewer values were built than scanned.
  if (values !== scan.values) await runYielding(scanJson(bytes, { ...options, names: true }));
  return value;
}

/** Depth of the containers around the documents of a body: an object, an array, and possibly a wrapper. */
const OUTER_DEPTH = 3;

/** Parses a part of a body. Undefined if the part has an error, which `parseJson` of the whole body then reports. */
export function* parseFragment(bytes: Uint8Array): Resumable<unknown> {
  try {
    const scan = yield* scanJson(bytes, { limits: JSON_LIMITS, group: GROUP });
    const value = yield* buildJson(bytes, scan);
    const { problems, values } = yield* checkJson(value, { maxDepth: JSON_LIMITS.depth - OUTER_DEPTH });
    return problems.length === 0 && values === scan.values ? value : undefined;
  } catch (error) {
    if (error instanceof JsonFault || error instanceof TypeError) return undefined;
    throw error;
  }
}

async function toRefused(
  { kind, message, path, at }: JsonFault,
  bytes: Buffer,
  limits: JsonLimits,
): Promise<RejectedError> {
  const location = path.length === 0 ? {} : { path: renderPath(path) };
  if (kind === 'syntax') {
    const { line, column } = await runYielding(lineAndColumn(bytes, at ?? 0));
    const where = `line ${line}, column ${column}`;
    return refused('INVALID_PAYLOAD', `The body is not valid JSON: ${message} (${where}).`, {
      ...location,
      details: { line, column },
    });
  }
  const sentence = `The body exceeds a limit: ${message}.`;
  if (kind === 'duplicate' || kind === 'depth') return refused('INVALID_PAYLOAD', sentence, location);
  return refused('CONTENT_TOO_LARGE', sentence, { ...location, details: { limit: limits[kind], limited: kind } });
}
