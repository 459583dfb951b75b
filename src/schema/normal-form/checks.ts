/** Checks of single members. A check answers the value in normal form, or a `Wrong` that says what would be right. */
import { z } from 'zod';
import { invalid, MAX_PROBLEMS, type Path, type Problem } from '../../kernel/problem.js';
import type { Json } from '../../kernel/json.js';

/** @param message goes on after the member's name: "must be a boolean" */
export class Wrong {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export interface Check<T> {
  (value: unknown, imported: boolean): T | Wrong;
  /** What it takes in documents of ours. It decides, and the interface's description shows it. */
  readonly shape: z.ZodType;
  /** What would be right. */
  readonly message: string;
}

interface CheckOptions<T> {
  /** What other vendors write, in our terms. */
  imported?: (value: unknown) => unknown;
  /** The value in normal form, of one that fits the shape. */
  normal?: (value: unknown) => T | Wrong;
}

/** A check of `shape`. `message` says what would be right. */
export function checkOf<T>(shape: z.ZodType, message: string, { imported, normal }: CheckOptions<T> = {}): Check<T> {
  const wrong = new Wrong(message);
  const check = (given: unknown, isImported: boolean): T | Wrong => {
    const value = isImported && imported !== undefined ? imported(given) : given;
    if (!shape.safeParse(value).success) return wrong;
    return normal === undefined ? (value as T) : normal(value);
  };
  return Object.assign(check, { shape, message });
}

/** One check for every member of a document. */
export type Checks<D> = { readonly [M in keyof D]-?: Check<D[M]> };

/** A document being read: where it stands, how strictly it is read, and what was wrong with it so far. */
export interface Reading {
  readonly at: Path;
  readonly imported: boolean;
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

/** What is wrong with a member, by the steps to it, as it goes on from the member's name. */
export type Fault = readonly [steps: Path, message: string];

/** Reports what is wrong at a step of the path; a fault of null is none. */
export type Report = (steps: Path, fault: string | null) => void;

/** For what stands at `steps`. */
export function reporter(steps: Path, reading: Reading): Report {
  return (more, fault) => {
    if (fault !== null) complain(reading, [...steps, ...more], fault);
  };
}

/** Among `faults`, of what stands at `steps`. */
export function collector(steps: Path, faults: Fault[]): Report {
  return (more, fault) => {
    if (fault !== null) faults.push([[...steps, ...more], fault]);
  };
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

/** A boolean; 0 and 1 are understood from other vendors. */
export const flag = checkOf<boolean>(z.boolean(), 'must be true or false', {
  imported: (value) => (value === 0 || value === 1 ? value === 1 : value),
});

export const nullableText = checkOf<string | null>(z.string().nullable(), 'must be a string or null', {
  imported: (value) => (typeof value === 'number' ? String(value) : value),
});

/** The name of something else. That it exists is checked where the whole schema is known. */
export const nullableName = checkOf<string | null>(
  z.string().min(1).nullable(),
  'must be a name (a string that is not empty) or null',
);

export const MAX_SORT = 2_147_483_647;

export const nullableSort = checkOf<number | null>(
  z.int32().nullable(),
  `must be an integer from -2147483648 to ${MAX_SORT}, or null`,
  // -0 and 0 are one number, in JSON text too.
  { normal: (value) => (value === 0 ? 0 : (value as number | null)) },
);

const object = z.looseObject({});

export const nullableObject = checkOf<Json>(object.nullable(), 'must be an object or null');

export const nullableList = checkOf<Json>(z.array(z.unknown()).nullable(), 'must be an array or null');

export const nullableStructure = checkOf<Json>(
  z.union([z.array(z.unknown()), object]).nullable(),
  'must be an array, an object or null',
);

export const translations = checkOf<Json>(
  z.union([z.array(object), object]).nullable(),
  'must be an object (a name per language), an array of objects, or null',
);

/** A list of strings; other vendors also write it with commas. */
export const nullableStrings = checkOf<string[] | null>(
  z.array(z.string()).nullable(),
  'must be an array of strings, or null',
  {
    imported: (value) => (typeof value === 'string' ? value.split(',').flatMap((item) => item.trim() || []) : value),
  },
);

/** One of a closed list, exactly as spelled. */
export function oneOf<const T extends string | null>(
  allowed: readonly T[],
  imported?: (value: unknown) => unknown,
): Check<T> {
  const texts = allowed.filter((item) => item !== null);
  const shape = z.enum(texts as string[]);
  const message = `must be ${allowed.map((item) => JSON.stringify(item)).join(', ')}`.replace(/, ([^,]*)$/, ' or $1');
  return checkOf<T>(texts.length < allowed.length ? shape.nullable() : shape, message, imported && { imported });
}
