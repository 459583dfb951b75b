import { jsonEqual } from '../../kernel/json.js';
import { type Check, type Checks, complain, type Reading, Wrong } from './checks.js';

export type CheckTable = ReadonlyMap<string, Check<unknown>>;

/** Checks by member name. This is a Map, because members may be named `constructor` or `__proto__`. */
export function checkTable<D>(checks: Checks<D>): CheckTable {
  return new Map(Object.entries<Check<unknown>>(checks));
}

/** Handles a member that is not in the table. True if it is known otherwise. */
export type Others = (name: string, value: unknown) => boolean | Wrong;

export interface OverlayInput {
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
  return value === expected ? true : new Wrong(`must be ${JSON.stringify(expected)}, or left out`);
}
