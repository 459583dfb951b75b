/**
 * Scans JSON text before building it: checks the syntax, counts values and finds positions where it can be cut into
 * chunks. JSON.parse of 32 MiB blocks the event loop for 0.2 s; ten million empty objects block it for 6 s.
 */
import type { Resumable } from '../../kernel/resumable.js';
import { BYTE, endOfLiteral, endOfString, skipSpace } from './json-bytes.js';
import type { Path } from '../../kernel/problem.js';

export interface JsonLimits {
  /** Maximum number of values, counting members, elements and the document itself. */
  values: number;
  /** Maximum nesting of arrays and objects. */
  depth: number;
  /** Maximum members of one object. Beyond about ten thousand, even listing the names is slow. */
  members: number;
  /** Maximum elements of one array. */
  elements: number;
  /** Maximum bytes of one string or number. */
  scalar: number;
}

/** The exceeded limit, or `syntax` for text that is not JSON. */
type FaultKind = 'syntax' | 'duplicate' | keyof JsonLimits;

/** The reason and the location of a rejection. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly kind: FaultKind;
  readonly path: Path;
  /** The position of the invalid byte; null for other faults. */
  readonly at: number | null;

  constructor(kind: FaultKind, message: string, { path, at }: { path: Path; at: number | null }) {
    super(message);
    this.kind = kind;
    this.path = path;
    this.at = at;
  }
}

/**
 * A cut. The text between `from` and `to` belongs to the open container: members or elements with commas between
 * them. `open` then begins a nested container, `close` ends the current one.
 */
export interface Cut {
  kind: 'open' | 'cut' | 'close';
  from: number;
  to: number;
  /** Describes the opened container. */
  isArray: boolean;
  /** The quoted name of the opened container; null in an array. */
  name: readonly [from: number, to: number] | null;
}

export interface JsonScan {
  values: number;
  /** Empty if the text is small enough to be parsed at once, or cannot be cut. */
  cuts: Cut[];
}

interface Level {
  isArray: boolean;
  start: number;
  /** The start of the current uncut group. */
  group: number;
  /** The last comma. */
  comma: number;
  /** The number of members or elements so far. */
  count: number;
  /** The name of the current member. */
  name: [from: number, to: number] | null;
  opened: boolean;
  /** The names so far, if they are checked. */
  names: Set<string> | null;
}

export interface ScanOptions {
  limits: JsonLimits;
  /** Maximum bytes that are parsed at once. */
  group: number;
  /** Also checks for duplicate names, which takes three times as long. */
  names?: boolean;
}

/** Bytes scanned per step. */
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
    if (this.values > limits.values) this.#refuse('values', `it holds more than ${limits.values} values`);
    if (top === null) return;
    if (top.isArray ? top.count > limits.elements : top.count > limits.members) this.#tooMany(top);
  }

  #tooMany({ isArray }: Level): never {
    const { elements, members } = this.#options.limits;
    // The fault concerns the container, not its content.
    this.#levels.pop();
    if (isArray) this.#refuse('elements', `one array holds more than ${elements} elements`);
    this.#refuse('members', `one object holds more than ${members} members`);
  }

  #scalar(at: number, byte: number | undefined): number {
    const { scalar } = this.#options.limits;
    const end = byte === BYTE.quote ? endOfString(this.#bytes, at, scalar) : endOfLiteral(this.#bytes, at);
    if (Math.abs(end) - at >= scalar) this.#refuse('scalar', `one string or number takes ${scalar} bytes or more`);
    if (end <= 0) this.#unexpected(-end);
    return end;
  }

  /** Returns whether the container closes at once. */
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
    // An opened container has its own chunk, so the comma after it belongs to none.
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

  /** Cuts the preceding part of the parent, so that the container gets its own chunks. */
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
    if (names.has(name)) this.#refuse('duplicate', `the member ${JSON.stringify(name)} stands twice in one object`);
    names.add(name);
  }

  #textOf([from, to]: readonly [number, number]): string {
    return JSON.parse(Buffer.from(this.#bytes.subarray(from, to)).toString()) as string;
  }

  #unexpected(at: number): never {
    // A UTF-8 character has at most four bytes.
    const [found] = Buffer.from(this.#bytes.subarray(at, at + 4)).toString();
    const what = found === undefined ? 'it ends too early' : `${JSON.stringify(found)} is not expected here`;
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
