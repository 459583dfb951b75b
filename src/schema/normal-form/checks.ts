/** Checks of single members. A check answers the value in normal form, or a `Wrong` that says what would be right. */
import { isObject } from '../json.js';
import type { Json } from '../model.js';
import { invalid, MAX_PROBLEMS, type Path, type Problem } from '../problem.js';

export class Wrong {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export type Check<T> = (value: unknown, foreign: boolean) => T | Wrong;

/** One check for every member of a document. */
export type Checks<D> = { readonly [M in keyof D]-?: Check<D[M]> };

/** A document being read: where it stands, how strictly it is read, and what was wrong with it so far. */
export interface Reading {
  readonly at: Path;
  readonly foreign: boolean;
  readonly problems: Problem[];
  /** Where the steps of a complaint lead in the body as it was sent, where that has another shape. */
  readonly stepsTo?: ((steps: Path) => Path) | undefined;
}

/** `message` goes on from the member's name: `must be true or false`. */
export function complain(reading: Reading, steps: Path, message: string): void {
  if (reading.problems.length >= MAX_PROBLEMS) return;
  const sent = reading.stepsTo?.(steps) ?? steps;
  reading.problems.push(invalid([...reading.at, ...sent], `${steps.at(-1)} ${message}`));
}

/** A name that may not be one yet: its problem is reported apart, and reading goes on. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The characters (code points) PostgreSQL counts, which are not JavaScript's units. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

const NOT_A_BOOLEAN = new Wrong('must be true or false');

/** A boolean; 0 and 1 are understood from other vendors. */
export function flag(value: unknown, foreign: boolean): boolean | Wrong {
  if (typeof value === 'boolean') return value;
  if (foreign && (value === 0 || value === 1)) return value === 1;
  return NOT_A_BOOLEAN;
}

const NOT_A_TEXT = new Wrong('must be a string or null');

export function nullableText(value: unknown, foreign: boolean): string | null | Wrong {
  if (typeof value === 'string' || value === null) return value;
  return foreign && typeof value === 'number' ? String(value) : NOT_A_TEXT;
}

const NOT_A_NAME = new Wrong('must be a name (a string that is not empty) or null');

/** The name of something else. That it exists is checked where the whole schema is known. */
export function nullableName(value: unknown): string | null | Wrong {
  return value === null || (typeof value === 'string' && value !== '') ? value : NOT_A_NAME;
}

export const MAX_SORT = 2_147_483_647;

const NOT_A_SORT = new Wrong(`must be an integer from -2147483648 to ${MAX_SORT}, or null`);

export function nullableSort(value: unknown): number | null | Wrong {
  return value === null || (typeof value === 'number' && (value | 0) === value) ? plainZero(value) : NOT_A_SORT;
}

/** -0 and 0 are one number, in JSON text too. */
function plainZero(value: number | null): number | null {
  return value === 0 ? 0 : value;
}

const NOT_AN_OBJECT = new Wrong('must be an object or null');

export function nullableObject(value: unknown): Json | Wrong {
  return value === null || isObject(value) ? value : NOT_AN_OBJECT;
}

const NOT_A_LIST = new Wrong('must be an array or null');

export function nullableList(value: unknown): Json | Wrong {
  return value === null || Array.isArray(value) ? (value as Json) : NOT_A_LIST;
}

const NOT_STRUCTURED = new Wrong('must be an array, an object or null');

export function nullableStructure(value: unknown): Json | Wrong {
  return typeof value === 'object' ? (value as Json) : NOT_STRUCTURED;
}

const NOT_TRANSLATIONS = new Wrong('must be an object (a name per language), an array of objects, or null');

export function translations(value: unknown): Json | Wrong {
  if (typeof value !== 'object') return NOT_TRANSLATIONS;
  return Array.isArray(value) && !value.every(isObject) ? NOT_TRANSLATIONS : (value as Json);
}

const NOT_STRINGS = new Wrong('must be an array of strings, or null');

/** A list of strings; other vendors also write it with commas. */
export function nullableStrings(value: unknown, foreign: boolean): string[] | null | Wrong {
  if (value === null) return null;
  if (foreign && typeof value === 'string') return value.split(',').flatMap((item) => item.trim() || []);
  if (!Array.isArray(value)) return NOT_STRINGS;
  return value.every((item) => typeof item === 'string') ? value : NOT_STRINGS;
}

/** One of a closed list, exactly as spelled. */
export function oneOf<T extends string | null>(allowed: readonly T[]): Check<T> {
  const wrong = new Wrong(
    `must be ${allowed.map((item) => JSON.stringify(item)).join(', ')}`.replace(/, ([^,]*)$/, ' or $1'),
  );
  return (value) => (allowed.includes(value as T) ? (value as T) : wrong);
}
