/* Checks single members and reads documents with these checks. */
import type { z } from 'zod';
import { invalidProblem, MAX_PROBLEMS, type Path, type Problem } from '../../kernel/problem.js';
import { jsonEqual } from '../../kernel/json.js';
import { memberOf } from '../model/model.js';

/** @param message follows the member's name: "must be a boolean" */
export class InvalidValue {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/**
 * Returns the value in normal form, or an InvalidValue that describes the fault. `imported` accepts spellings of other
 * vendors.
 */
type Check = (value: unknown, imported: boolean) => unknown;

/** Checks by member name. This is a Map, because members may be named `constructor` or `__proto__`. */
export type Checks = ReadonlyMap<string, Check>;

/** Converts an accepted value to normal form. */
type Normal = (value: unknown) => unknown;

/**
 * Returns the checks of document members that do not depend on other members. `normal` contains conversions to normal
 * form for members that define none themselves.
 */
export function checksOf({ shape }: z.ZodObject, normal: Readonly<Record<string, Normal>> = {}): Checks {
  const checks = Object.entries(shape).map(
    ([name, inner]) => [name, checkOf(inner as z.ZodType, normal[name])] as const,
  );
  return new Map(checks.flatMap(([name, check]) => (check === null ? [] : [[name, check]])));
}

/** Null for a member whose check depends on other members. */
function checkOf(shape: z.ZodType, override: Normal | undefined): Check | null {
  const { message, accepts = shape, imported, normal = override } = memberOf(shape);
  if (message === undefined) return null;
  const wrong = new InvalidValue(message);
  return (input, isImported) => {
    const value = isImported && imported !== undefined ? imported(input) : input;
    if (!accepts.safeParse(value).success) return wrong;
    return normal === undefined ? value : normal(value);
  };
}

/** The state of reading a document: its location, strictness and problems so far. */
export interface Reading {
  readonly at: Path;
  readonly imported: boolean;
  readonly problems: Problem[];
  /** Maps locations in the document to locations in the submitted body, if the two have different shapes. */
  readonly stepsTo?: ((steps: Path) => Path) | undefined;
}

/** @param message follows the member's name: `must be true or false` */
export function addFault(reading: Reading, steps: Path, message: string): void {
  if (reading.problems.length >= MAX_PROBLEMS) return;
  const sent = reading.stepsTo?.(steps) ?? steps;
  reading.problems.push(invalidProblem([...reading.at, ...sent], `${steps.at(-1)} ${message}`));
}

/** A problem of a member: the steps to it, and a message that follows its name. */
export type Fault = readonly [steps: Path, message: string];

/** Reports a fault at a path. Null means no fault. */
export type Report = (steps: Path, fault: string | null) => void;

/** Creates a Report that adds faults below `steps` to the reading. */
export function createReporter(steps: Path, reading: Reading): Report {
  return (more, fault) => {
    if (fault !== null) addFault(reading, [...steps, ...more], fault);
  };
}

/** Creates a Report that collects faults below `steps` in `faults`. */
export function createCollector(steps: Path, faults: Fault[]): Report {
  return (more, fault) => {
    if (fault !== null) faults.push([[...steps, ...more], fault]);
  };
}

/** Returns a name that may be invalid as text. Its problem is reported separately, so that reading can continue. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Counts code points like PostgreSQL. The length of a JavaScript string counts code units instead. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Handles a member that has no check. Returns true if the member is allowed anyway. */
export type CheckUnknownMember = (name: string, value: unknown) => boolean | InvalidValue;

interface OverlayInput {
  input: Record<string, unknown>;
  checks: Checks;
  others: CheckUnknownMember;
  /** The path of `input` below the location of the reading. */
  part: readonly string[];
}

/**
 * Returns `base` with the members of `input` that differ, or `base` itself if none does, so that unchanged documents
 * keep their identity. Absent and undefined members are unchanged.
 */
export function overlayMembers<D extends object>(
  base: D,
  { input, checks, others, part }: OverlayInput,
  reading: Reading,
): D {
  let result = base;
  for (const name of Object.keys(input)) {
    const value = input[name];
    if (value === undefined) continue;
    const check = checks.get(name);
    if (check === undefined) {
      checkOther(others(name, value), [...part, name], reading);
      continue;
    }
    const before = base[name as keyof D];
    if (value === before) continue;
    const checked = check(value, reading.imported);
    if (checked instanceof InvalidValue) addFault(reading, [...part, name], checked.message);
    else if (!jsonEqual(checked, before)) {
      if (result === base) result = { ...base };
      result[name as keyof D] = checked as D[keyof D];
    }
  }
  return result;
}

function checkOther(answer: boolean | InvalidValue, steps: readonly string[], reading: Reading): void {
  if (answer instanceof InvalidValue) addFault(reading, steps, answer.message);
  else if (!answer && !reading.imported) addFault(reading, steps, 'is not a known member');
}

/** Checks a derived member, which must equal a name. */
export function mustEqual(value: unknown, expected: string): true | InvalidValue {
  return value === expected ? true : new InvalidValue(`must be ${JSON.stringify(expected)} or omitted`);
}
