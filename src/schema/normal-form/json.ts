/** Checks the size, depth and text of a JSON document from outside, once per body. */
import { textFault } from '../../kernel/text.js';
import { MAX_PROBLEMS, invalidProblem, type Path, type Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';

export interface JsonLimits {
  /** Maximum depth of nested arrays and objects. */
  maxDepth?: number;
  /** Maximum number of values. YAML aliases can expand a small file into billions. */
  maxValues?: number;
}

const MAX_DEPTH = 64;
const MAX_VALUES = 20_000_000;

/** A container to be visited, and its path. */
interface Visit {
  value: object;
  step: string | number | undefined;
  depth: number;
  parent: Visit | undefined;
}

export interface JsonCheck {
  problems: Problem[];
  /** The number of visited values: members and elements at all levels, and the document itself. */
  values: number;
}

/** Number of values that are visited before the check pauses. */
const STEP = 2_000;

/**
 * Returns the problems of a parsed document. Works without recursion, so that the depth of the document does not
 * matter.
 */
export function* checkJson(value: unknown, limits: JsonLimits = {}): Resumable<JsonCheck> {
  if (isContainer(value)) return yield* checkContainers(value, limits);
  const fault = leafFault(value);
  return { problems: fault === null ? [] : [invalidProblem([], `the value ${fault}`)], values: 1 };
}

function* checkContainers(
  value: object,
  { maxDepth = MAX_DEPTH, maxValues = MAX_VALUES }: JsonLimits,
): Resumable<JsonCheck> {
  const problems: Problem[] = [];
  const open: Visit[] = [{ value, step: undefined, depth: 1, parent: undefined }];
  let [values, visited, stepped] = [1, 0, 0];
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    if (visit.depth <= maxDepth) values += yield* checkChildren(visit, open, problems);
    else problems.push(invalidProblem(pathOf(visit), `the document must not be nested deeper than ${maxDepth} levels`));
    if (values > maxValues)
      problems.push(invalidProblem([], `the document must not contain more than ${maxValues} values`));
    if (values > maxValues || problems.length >= MAX_PROBLEMS) break;
    // An empty container counts as a value as well.
    visited += 1;
    if (values + visited - stepped <= STEP) continue;
    stepped = values + visited;
    yield;
  }
  return { problems, values };
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Checks and counts the direct children of a container. Adds nested containers to `open`. */
function* checkChildren(visit: Visit, open: Visit[], problems: Problem[]): Resumable<number> {
  if (Array.isArray(visit.value)) {
    const items: unknown[] = visit.value;
    for (let index = 0; index < items.length; index++) {
      checkChild(visit, index, items[index], { open, problems });
      if (index % STEP === STEP - 1) yield;
    }
    return items.length;
  }
  const members = visit.value as Record<string, unknown>;
  const names = Object.keys(members);
  for (const name of names) {
    const fault = textFault(name);
    if (fault !== null) problems.push(invalidProblem(pathOf(visit), `the name of a member ${fault}`));
    else checkChild(visit, name, members[name], { open, problems });
  }
  return names.length;
}

type Findings = { open: Visit[]; problems: Problem[] };

function checkChild(parent: Visit, step: string | number, value: unknown, { open, problems }: Findings): void {
  if (isContainer(value)) {
    open.push({ value, step, depth: parent.depth + 1, parent });
    return;
  }
  const fault = leafFault(value);
  if (fault !== null) problems.push(invalidProblem([...pathOf(parent), step], `the value ${fault}`));
}

function leafFault(value: unknown): string | null {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a finite number';
  const isJson = value === null || typeof value === 'boolean' || typeof value === 'object';
  return isJson ? null : 'is not a JSON value';
}

function pathOf(visit: Visit): Path {
  const steps: (string | number)[] = [];
  for (let at: Visit | undefined = visit; at !== undefined; at = at.parent) {
    if (at.step !== undefined) steps.push(at.step);
  }
  return steps.reverse();
}
