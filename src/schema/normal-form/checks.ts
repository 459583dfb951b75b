/* Checks of single members. A check returns the value in normal form, or a `Wrong` with the expected form. */
import { z } from 'zod';
import { invalid, MAX_PROBLEMS, type Path, type Problem } from '../../kernel/problem.js';
import { type Json, jsonEqual } from '../../kernel/json.js';

/** @param message follows the member's name: "must be a boolean" */
export class Wrong {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export interface Check<T> {
  (value: unknown, imported: boolean): T | Wrong;
  /** The accepted shape in our documents, which the API description shows. */
  readonly shape: z.ZodType;
  /** The expected form. */
  readonly message: string;
}

interface CheckOptions<T> {
  /** Converts values of other vendors. */
  imported?: (value: unknown) => unknown;
  /** Converts a value of the right shape to normal form. */
  normal?: (value: unknown) => T | Wrong;
}

/** Creates a check of `shape`. `message` describes the expected form. */
export function checkOf<T>(shape: z.ZodType, message: string, { imported, normal }: CheckOptions<T> = {}): Check<T> {
  const wrong = new Wrong(message);
  const check = (given: unknown, isImported: boolean): T | Wrong => {
    const value = isImported && imported !== undefined ? imported(given) : given;
    if (!shape.safeParse(value).success) return wrong;
    return normal === undefined ? (value as T) : normal(value);
  };
  return Object.assign(check, { shape, message });
}

/** One check per member of a document. */
type Checks<D> = { readonly [M in keyof D]-?: Check<D[M]> };

/** The state of reading a document: its location, strictness and problems so far. */
export interface Reading {
  readonly at: Path;
  readonly imported: boolean;
  readonly problems: Problem[];
  /** Maps locations to the submitted body, if it has another shape. */
  readonly stepsTo?: ((steps: Path) => Path) | undefined;
}

/** `message` follows the member's name: `must be true or false`. */
export function complain(reading: Reading, steps: Path, message: string): void {
  if (reading.problems.length >= MAX_PROBLEMS) return;
  const sent = reading.stepsTo?.(steps) ?? steps;
  reading.problems.push(invalid([...reading.at, ...sent], `${steps.at(-1)} ${message}`));
}

/** A problem of a member: the steps to it, and a message that follows its name. */
export type Fault = readonly [steps: Path, message: string];

/** Reports a fault at some steps. Null means no fault. */
export type Report = (steps: Path, fault: string | null) => void;

/** Reports faults below `steps`. */
export function reporter(steps: Path, reading: Reading): Report {
  return (more, fault) => {
    if (fault !== null) complain(reading, [...steps, ...more], fault);
  };
}

/** Collects faults below `steps` in `faults`. */
export function collector(steps: Path, faults: Fault[]): Report {
  return (more, fault) => {
    if (fault !== null) faults.push([[...steps, ...more], fault]);
  };
}

/** Converts a name that may be invalid to text. Its problem is reported separately, and reading continues. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Counts code points like PostgreSQL, not the code units of JavaScript. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** A boolean. Other vendors may send 0 and 1. */
export const flag = checkOf<boolean>(z.boolean(), 'must be true or false', {
  imported: (value) => (value === 0 || value === 1 ? value === 1 : value),
});

export const nullableText = checkOf<string | null>(z.string().nullable(), 'must be a string or null', {
  imported: (value) => (typeof value === 'number' ? String(value) : value),
});

/** The name of another object. Its existence is checked later with the whole schema. */
export const nullableName = checkOf<string | null>(
  z.string().min(1).nullable(),
  'must be a non-empty string (a name) or null',
);

export const MAX_SORT = 2_147_483_647;

export const nullableSort = checkOf<number | null>(
  z.int32().nullable(),
  `must be an integer from -2147483648 to ${MAX_SORT}, or null`,
  // -0 and 0 are the same number, also in JSON text.
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
  'must be an object (one name per language), an array of objects, or null',
);

/** A list of strings. Other vendors may send it comma-separated. */
export const nullableStrings = checkOf<string[] | null>(
  z.array(z.string()).nullable(),
  'must be an array of strings, or null',
  {
    imported: (value) => (typeof value === 'string' ? value.split(',').flatMap((item) => item.trim() || []) : value),
  },
);

/** One of several values, with exact spelling. */
export function oneOf<const T extends string | null>(
  allowed: readonly T[],
  imported?: (value: unknown) => unknown,
): Check<T> {
  const texts = allowed.filter((item) => item !== null);
  const shape = z.enum(texts as string[]);
  const message = `must be ${allowed.map((item) => JSON.stringify(item)).join(', ')}`.replace(/, ([^,]*)$/, ' or $1');
  return checkOf<T>(texts.length < allowed.length ? shape.nullable() : shape, message, imported && { imported });
}

export type CheckTable = ReadonlyMap<string, Check<unknown>>;

/** Checks by member name. This is a Map, because members may be named `constructor` or `__proto__`. */
export function checkTable<D>(checks: Checks<D>): CheckTable {
  return new Map(Object.entries<Check<unknown>>(checks));
}

/** Handles a member that is not in the table. True if it is known otherwise. */
export type Others = (name: string, value: unknown) => boolean | Wrong;

interface OverlayInput {
  input: Record<string, unknown>;
  table: CheckTable;
  others: Others;
  /** The location of `input` below the location of the reading. */
  part: readonly string[];
}

/**
 * Returns `base` with the members of `input` that differ, or `base` itself if none does, so that unchanged documents
 * keep their identity. Absent and undefined members are unchanged.
 */
export function overlay<D extends object>(base: D, { input, table, others, part }: OverlayInput, reading: Reading): D {
  let result = base;
  for (const name of Object.keys(input)) {
    const value = input[name];
    if (value === undefined) continue;
    const check = table.get(name);
    if (check === undefined) {
      checkOther(others(name, value), [...part, name], reading);
      continue;
    }
    const before = base[name as keyof D];
    if (value === before) continue;
    const checked = check(value, reading.imported);
    if (checked instanceof Wrong) complain(reading, [...part, name], checked.message);
    else if (!jsonEqual(checked, before)) {
      if (result === base) result = { ...base };
      result[name as keyof D] = checked as D[keyof D];
    }
  }
  return result;
}

function checkOther(answer: boolean | Wrong, steps: readonly string[], reading: Reading): void {
  if (answer instanceof Wrong) complain(reading, steps, answer.message);
  else if (!answer && !reading.imported) complain(reading, steps, 'is not a known member');
}

/** A derived member that must equal a name. */
export function mustEqual(value: unknown, expected: string): true | Wrong {
  return value === expected ? true : new Wrong(`must be ${JSON.stringify(expected)} or omitted`);
}
