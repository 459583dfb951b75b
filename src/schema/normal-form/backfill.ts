/* Reads the member `backfill` of a request. What depends on the field is checked when the change is decided. */
import { isObject, type Json } from '../../kernel/json.js';
import { invalidProblem, ok, type Path, refuse, type Result, unknownMembers } from '../../kernel/problem.js';
import { BACKFILL_EXPRESSIONS, type Backfill, TEXT_EXPRESSIONS, type TextExpression } from '../model/backfill.js';

const MEMBERS: ReadonlySet<string> = new Set(['value', 'field', 'expression']);

const SHAPE = 'backfill must be an object with one of value, field and expression';

export function readBackfill(input: unknown, at: Path): Result<Backfill> {
  if (!isObject(input)) return refuse(invalidProblem(at, SHAPE));
  const unknown = unknownMembers(input, MEMBERS, at);
  if (unknown.length > 0) return refuse(...unknown);
  const { value, field, expression } = input;
  if (expression !== undefined && value === undefined) return readExpression(expression, field, at);
  if ((value === undefined) === (field === undefined) || expression !== undefined)
    return refuse(invalidProblem(at, SHAPE));
  if (field !== undefined) return readSource(field, at);
  return value === null
    ? refuse(invalidProblem([...at, 'value'], 'value must not be null: a backfill replaces null'))
    : ok({ value: value as Json });
}

function readSource(field: unknown, at: Path): Result<{ field: string }> {
  return typeof field === 'string'
    ? ok({ field })
    : refuse(invalidProblem([...at, 'field'], 'field must be the name of a field, as a string'));
}

function readExpression(name: unknown, field: unknown, at: Path): Result<Backfill> {
  const expression = BACKFILL_EXPRESSIONS.find((each) => each === name);
  if (expression === undefined) {
    const message = `expression must be one of ${BACKFILL_EXPRESSIONS.join(', ')}`;
    return refuse(invalidProblem([...at, 'expression'], message));
  }
  if (isTextExpression(expression)) {
    const source = readSource(field, at);
    return source.ok ? ok({ expression, field: source.value.field }) : source;
  }
  return field === undefined
    ? ok({ expression })
    : refuse(invalidProblem([...at, 'field'], `the expression ${expression} takes no field`));
}

const isTextExpression = (name: string): name is TextExpression =>
  (TEXT_EXPRESSIONS as readonly string[]).includes(name);
