/**
 * JSON.parse of a large text in steps, because a schema of a thousand tables would hold up everybody else for a tenth of
 * a second. The first arrays on the way down (`diff.collections`, `fields`) are cut between elements and parsed group by
 * group; the rest is parsed with a mark in place of each. All parsing is JSON.parse's, and a text that doesn't come out
 * is given to it whole: what is accepted, and what is said of a fault, is the same.
 */
import { randomUUID } from 'node:crypto';
import type { Steps } from '../../schema/steps.js';

export interface CutLimits {
  /** Characters of a text that is worth it. */
  worth: number;
  /** Characters of elements that are parsed at once. */
  group: number;
  /** Characters beside the arrays; where there are more, cutting gains nothing. */
  rest: number;
}

const LIMITS: CutLimits = { worth: 500_000, group: 30_000, rest: 500_000 };

/** Containers around an array that is cut, itself counted: `{ "data": { "diff": { "fields": [ … ] } } }`. */
const DEPTH = 4;

/** @throws SyntaxError as JSON.parse */
export function* parseJsonInSteps(text: string, limits: CutLimits = LIMITS): Steps<unknown> {
  if (text.length < limits.worth) return JSON.parse(text);
  const cut = yield* cutArrays(text, limits);
  if (cut === null || cut.rest.length > limits.rest) return JSON.parse(text);
  try {
    return joined(cut);
  } catch {
    return JSON.parse(text);
  }
}

interface Cut {
  /** The text with a mark for each array. */
  rest: string;
  arrays: ReadonlyMap<string, unknown[]>;
}

function joined({ rest, arrays }: Cut): unknown {
  return JSON.parse(rest, (_name, value: unknown) =>
    typeof value === 'string' ? (arrays.get(value) ?? value) : value,
  );
}

const codeOf = (character: string): number => character.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA] = [codeOf('"'), codeOf('\\'), codeOf(',')];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [codeOf('{'), codeOf('}'), codeOf('['), codeOf(']')];

/** null: the text isn't JSON. */
function* cutArrays(text: string, { group }: CutLimits): Steps<Cut | null> {
  const cutter = new Cutter(text, group);
  let looked = 0;
  for (let at = 0; at < text.length && !cutter.failed; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN || code === OPEN_LIST) cutter.opens(at, code);
    else if (code === COMMA || code === CLOSE || code === CLOSE_LIST) cutter.ends(at, code);
    if (at - looked <= group) continue;
    looked = at;
    yield;
  }
  return cutter.done();
}

/** The array that is being cut, and where its next group begins. */
interface Open {
  depth: number;
  from: number;
  elements: unknown[];
}

/** Told the marks of the text outside of strings, in order. */
class Cutter {
  failed = false;
  readonly #text: string;
  readonly #group: number;
  readonly #mark = randomUUID();
  readonly #arrays = new Map<string, unknown[]>();
  readonly #rest: string[] = [];
  /** Where the next piece of the rest begins. */
  #kept = 0;
  #depth = 0;
  #open: Open | undefined;

  constructor(text: string, group: number) {
    this.#text = text;
    this.#group = group;
  }

  opens(at: number, code: number): void {
    this.#depth += 1;
    if (this.#open !== undefined || code === OPEN || this.#depth > DEPTH) return;
    this.#rest.push(this.#text.slice(this.#kept, at));
    this.#open = { depth: this.#depth, from: at + 1, elements: [] };
  }

  ends(at: number, code: number): void {
    const open = this.#open;
    if (open?.depth === this.#depth) {
      if (code === CLOSE) this.failed = true;
      else if (code === CLOSE_LIST || at - open.from >= this.#group) this.#take(at, code === CLOSE_LIST);
    }
    if (code !== COMMA) this.#depth -= 1;
  }

  done(): Cut | null {
    if (this.failed || this.#open !== undefined) return null;
    return { rest: [...this.#rest, this.#text.slice(this.#kept)].join(''), arrays: this.#arrays };
  }

  /** Parses the elements before `at`. A group without any is a list that is empty, or a comma too many. */
  #take(at: number, last: boolean): void {
    const open = this.#open as Open;
    const parsed = parsedList(`[${this.#text.slice(open.from, at)}]`);
    const isComma = parsed?.length === 0 && (!last || open.elements.length > 0);
    if (parsed === null || isComma) {
      this.failed = true;
      return;
    }
    for (const element of parsed) open.elements.push(element);
    open.from = at + 1;
    if (!last) return;
    const name = `${this.#mark} ${this.#arrays.size}`;
    this.#arrays.set(name, open.elements);
    this.#rest.push(JSON.stringify(name));
    this.#kept = at + 1;
    this.#open = undefined;
  }
}

function parsedList(text: string): unknown[] | null {
  try {
    return JSON.parse(text) as unknown[];
  } catch {
    return null;
  }
}

/** The quote that ends the string that begins at `from`; the end of the text where none does. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
