/**
 * Directus clients send the database schema of a table: `schema.schema`, `schema.foreign_key_schema`. Only the HTTP
 * layer knows the managed schema; the domain ignores these members.
 */
import { isObject } from '../kernel/json.js';
import { MAX_PROBLEMS, type Path, type Problem, invalid } from '../kernel/problem.js';
import type { Resumable } from '../kernel/resumable.js';
import { runYielding } from '../kernel/event-loop.js';
import { Refused } from './errors.js';

const MEMBERS = ['schema', 'foreign_key_schema'] as const;

/** Returns `body`. Throws `Refused` with one problem per location that names another schema than `managed`. */
export async function inManagedSchema<T>(body: T, managed: string): Promise<T> {
  const problems = await runYielding(otherSchemas(body, managed));
  if (problems.length > 0) throw new Refused(problems);
  return body;
}

function* otherSchemas(body: unknown, managed: string): Resumable<Problem[]> {
  const problems: Problem[] = [];
  for (const [document, at] of documentsIn(body, [])) {
    if (isObject(document['schema'])) problems.push(...otherNames(document['schema'], [...at, 'schema'], managed));
    if (problems.length >= MAX_PROBLEMS) break;
    yield;
  }
  return problems;
}

function otherNames(schema: object, at: Path, managed: string): Problem[] {
  return MEMBERS.flatMap((member) => {
    const name = (schema as Record<string, unknown>)[member];
    if (typeof name !== 'string' || name === managed) return [];
    const message = `${member} must be ${JSON.stringify(managed)}, the schema that is managed here, or left out`;
    return [invalid([...at, member], message)];
  });
}

type Place = [document: Record<string, unknown>, at: Path];

/**
 * Covers a collection with its fields, a field, a relation, lists of them, and the documents of a snapshot or a diff.
 */
function* documentsIn(body: unknown, at: Path): Generator<Place> {
  if (Array.isArray(body)) {
    for (const [index, item] of body.entries()) if (isObject(item)) yield* documentsIn(item, [...at, index]);
  } else if (isObject(body)) {
    yield [body, at];
    for (const part of ['collections', 'fields', 'relations', 'diff', 'rhs']) {
      if (Object.hasOwn(body, part)) yield* documentsIn(body[part], [...at, part]);
    }
  }
}
