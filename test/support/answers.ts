/**
 * The result of each kind of value at each location of a body: rejected with code, location and message, or accepted
 * with its changes. For complete transcripts.
 */
import patch from 'fast-json-patch';
import type { Problem, Result } from '../../src/kernel/problem.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { accept } from './given.js';

const GONE = Symbol('left out');
const VALUES: readonly unknown[] = [
  GONE,
  null,
  true,
  false,
  0,
  7,
  -1,
  1.5,
  '',
  'x',
  'a b',
  '7',
  'ß\t',
  'users',
  'title',
  'service_users',
  'directus_users',
  [],
  ['x'],
  [7, null],
  {},
  { x: 1 },
];

const shownValue = (value: unknown): string => (value === GONE ? 'left out' : JSON.stringify(value));

type Answer = Result<unknown>;

/** The request and an accepted body. */
export interface AnsweredRequest {
  title: string;
  body: unknown;
  /** A value that is not a list selects another operation. */
  isList?: boolean;
  ask(body: unknown): Answer;
}

type Step = string | number;

/** Every location of a value, the whole first; objects also have an unknown member. */
function* placesIn(value: unknown, path: readonly Step[] = []): Generator<readonly Step[]> {
  yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value))
    yield* placesIn(child, [...path, Array.isArray(value) ? Number(key) : key]);
  yield [...path, Array.isArray(value) ? value.length : 'surprise'];
}

/** The body with a different value there. */
function changed(body: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value === GONE ? undefined : value;
  if (Array.isArray(body)) {
    const copy = [...(body as unknown[])];
    if (rest.length === 0 && value === GONE) copy.splice(Number(step), 1);
    else copy[Number(step)] = changed(copy[Number(step)], rest, value);
    return copy;
  }
  const { [step]: child, ...others } = body as Record<string, unknown>;
  if (rest.length === 0 && value === GONE) return others;
  // At its position, as a client would write it.
  return Object.hasOwn(body as object, step)
    ? Object.fromEntries(
        Object.entries(body as object).map(([key, each]) => [key, key === step ? changed(each, rest, value) : each]),
      )
    : { ...others, [step]: changed(child, rest, value) };
}

export const shownProblem = ({ code, path, message, collection, field, details }: Problem): string =>
  [
    code,
    path,
    [collection, field].filter((name) => name !== undefined).join('.'),
    message,
    details && JSON.stringify(details),
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' | ');

/** One line per response with the values that produce it. */
function answersAt({ body, ask }: AnsweredRequest, path: readonly Step[], taken: unknown): string[] {
  const groups = new Map<string, string[]>();
  for (const value of VALUES) {
    const answer = ask(changed(body, path, value));
    const shown = answer.ok
      ? ['taken', ...patch.compare({ it: taken }, { it: toPlainJson(answer.value) }).map(shownChange)]
      : answer.problems.map(shownProblem);
    const key = shown.map((line) => `\n      ${line}`).join('');
    groups.set(key, [...(groups.get(key) ?? []), shownValue(value)]);
  }
  return [...groups].map(([answer, values]) => `    ${values.join('  ')}${answer}`);
}

export const toPlainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

const shownChange = (change: patch.Operation): string =>
  `${change.op} ${change.path.slice('/it'.length)}${'value' in change ? ` ${JSON.stringify(change.value)}` : ''}`;

/**
 * A section of the transcript.
 * @throws if the body is not accepted
 */
export function sectionOf(request: AnsweredRequest): string {
  const base = request.ask(request.body);
  if (!base.ok) throw new Error(`${request.title}: ${base.problems.map(shownProblem).join('; ')}`);
  const taken = toPlainJson(base.value);
  const all = [...placesIn(request.body)].slice(request.isList === true ? 1 : 0);
  const places = all.map((path) =>
    [`  ${path.join('.') || '(the body)'}`, ...answersAt(request, path, taken)].join('\n'),
  );
  return [`${request.title}: ${JSON.stringify(request.body)}`, ...places].join('\n');
}

/** A schema with an object of every kind. */
export function exampleSchema(): State {
  const flow = { concurrentIndexes: false };
  let state = initialState();
  const create = (body: object) => (state = accept(state, 'create-collection', { body, ...flow }));
  create({ collection: 'users', schema: {}, fields: [{ field: 'name', type: 'string', interface: 'input' }] });
  create({ collection: 'group', schema: null, meta: {} });
  create({
    collection: 'posts',
    schema: {},
    meta: { group: 'group' },
    fields: [
      { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true, has_auto_increment: true } },
      { field: 'title', type: 'string', interface: 'input', schema: { max_length: 100, default_value: 'new' } },
      {
        field: 'price',
        type: 'decimal',
        interface: 'input',
        schema: { numeric_precision: 8, numeric_scale: 2, is_nullable: false },
      },
      { field: 'author', type: 'integer', interface: 'input' },
      { field: 'fans', type: 'alias', interface: 'list-o2m', schema: null },
      {
        field: 'twice',
        type: 'integer',
        interface: 'input',
        schema: { is_generated: true, generation_expression: 'author * 2' },
      },
    ],
  });
  for (const [field, type] of [
    ['favourite', 'integer'],
    ['item', 'string'],
    ['kind', 'string'],
  ]) {
    const body = { field, type, interface: 'input' };
    state = accept(state, 'create-field', { collection: 'users', body, ...flow });
  }
  state = accept(state, 'create-relation', {
    body: { collection: 'posts', field: 'author', related_collection: 'users', schema: { on_delete: 'SET NULL' } },
  });
  return state;
}
