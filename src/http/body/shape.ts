import type { z } from 'zod';
import { type Path, renderPath } from '../../kernel/problem.js';
import { UNUSABLE_NAME, findDroppedMembers } from '../../kernel/json.js';
import { type EdgeProblem, RejectedError } from '../errors.js';
import { shapeMessage } from '../../kernel/shape-messages.js';

/** Parses the body with `shape`. Throws `RejectedError` with one INVALID_PAYLOAD per problem. */
export function readShape<T>(shape: z.ZodType<T>, body: unknown): T {
  const result = shape.safeParse(body, { error: shapeMessage });
  if (!result.success) throw new RejectedError(result.error.issues.flatMap(toProblems));
  const dropped = findDroppedMembers(body, result.data);
  if (dropped.length > 0) throw new RejectedError(dropped.map((path) => problem(path, UNUSABLE_NAME)));
  return result.data;
}

function toProblems(issue: z.core.$ZodIssue): EdgeProblem[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code !== 'unrecognized_keys') return [problem(path, issue.message)];
  return issue.keys.map((member) =>
    problem([...path, member], `unknown member ${JSON.stringify(member)}; ${issue.message}`),
  );
}

function problem(path: Path, message: string): EdgeProblem {
  return { code: 'INVALID_PAYLOAD', message, path: renderPath(path) };
}
