/** Accepted defaults, types, expressions and names: one line per value, compared with `test/fixtures/values.txt`. */
import { FIELD_TYPES } from '../../../src/schema/normal-form/types/field-types.js';
import type { State } from '../../../src/schema/model/state.js';
import type { OperationName } from '../../../src/schema/operations/index.js';
import { exampleSchema, toPlainJson, shownProblem } from '../../support/answers.js';
import { attempt } from '../../support/given.js';
import { createTranscript } from '../../support/transcript.js';

describe('values of a schema', () => {
  it('are accepted and rejected as recorded', async () => {
    const state = exampleSchema();
    const transcript = createTranscript('values.txt');
    for (const part of [defaultsOf, dataTypesOf, expressionsOf, namesOf]) transcript.add(part(state));
    await transcript.expectAsBefore();
  });
});

/** Accepted defaults of a column of each type. */
const DEFAULTS: readonly unknown[] = [
  true,
  'true',
  'no',
  0,
  '0',
  1.5,
  '1.50',
  '.5',
  '.1234567890123456789',
  '-00.10',
  '1e3',
  '1e-7',
  2_147_483_648,
  '9223372036854775808',
  1e40,
  'NaN',
  'x'.repeat(300),
  '2024-02-29',
  '2023-02-29',
  '25:00:00',
  '23:59:59.5',
  '2024-01-01T10:00:00',
  '2024-01-01T10:00:00Z',
  'now()',
  { a: [1] },
  '{"a": 1}',
  '{"a"',
  ['a', 'b'],
  ['a,b'],
  '7f4cbd86-9a3f-4d0b-9f0a-3f1ff5d6b1c2',
  String.raw`\x00ff`,
  'gen_random_uuid()',
];

const defaultsOf = (state: State): string =>
  lines(state, 'create-field', {
    title: 'the default of a column of each type',
    of: { collection: 'posts' },
    show: ({ field }) => JSON.stringify(field.schema['default_value']),
    bodies: FIELD_TYPES.flatMap((type) =>
      DEFAULTS.map((default_value): [string, object] => [
        `${type} ${JSON.stringify(default_value).slice(0, 60)}`,
        { field: 'f', type, interface: 'input', schema: { default_value } },
      ]),
    ),
  });

type Data = Record<string, unknown>;

interface ValueRequest {
  title: string;
  of: object;
  /** The shown part of the first event, if accepted. */
  show?: (data: { field: { type: string; schema: Data }; patches: unknown }) => string;
  bodies: readonly (readonly [shown: string, body: unknown])[];
}

/** The result for each value, one line each. */
function lines<N extends OperationName>(
  state: State,
  name: N,
  { title, of, show = () => 'taken', bodies }: ValueRequest,
): string {
  const shownFirst = (events: readonly unknown[]): string => {
    const [event] = toPlainJson(events) as { data: Parameters<typeof show>[0] }[];
    return event === undefined ? 'as it is' : show(event.data);
  };
  const all = bodies.map(([shown, body]) => {
    const answer = attempt(state, name, { ...of, body, concurrentIndexes: false } as never);
    const output = answer.ok ? shownFirst(answer.value) : answer.problems.map(shownProblem).join('; ');
    return `  ${shown}: ${output}`;
  });
  return [title, ...all].join('\n');
}

const DATA_TYPES: readonly string[] = [
  'varchar',
  'varchar(10)',
  'character varying(0)',
  'char(3)',
  'text',
  'citext',
  'int',
  'int4',
  'smallint',
  'bigint',
  'serial',
  'numeric',
  'numeric(5,2)',
  'decimal(5)',
  'real',
  'double precision',
  'float(24)',
  'timestamp',
  'timestamp(3) with time zone',
  'timestamptz',
  'time with time zone',
  'date',
  'jsonb',
  'bytea',
  'uuid',
  'bool',
  'text[]',
  'integer ARRAY',
  'inet',
  'public.mood',
  'geometry(Point,4326)',
  'no such type',
  'int; drop table users',
];

const dataTypesOf = (state: State): string =>
  lines(state, 'create-field', {
    title: 'the data type of a column of each type',
    of: { collection: 'posts' },
    show: ({ field }) => {
      const { data_type, max_length, numeric_precision, numeric_scale } = field.schema;
      return JSON.stringify([field.type, data_type, max_length, numeric_precision, numeric_scale]);
    },
    bodies: [
      'string',
      'text',
      'integer',
      'bigInteger',
      'decimal',
      'float',
      'timestamp',
      'json',
      'boolean',
      'unknown',
    ].flatMap((type) =>
      DATA_TYPES.map((data_type): [string, object] => [
        `${type} ${data_type}`,
        { field: 'f', type, interface: 'input', schema: { data_type } },
      ]),
    ),
  });

const EXPRESSIONS: readonly string[] = [
  ' ',
  'author',
  'author +',
  'author; SELECT 1',
  'author -- x',
  '/* x */ author',
  "'x",
  '(SELECT 1)',
  'random()',
  'now()',
  'count(author)',
  'sum(author) OVER ()',
  'author, 1',
  'row(1, 2)',
  'posts.*',
  'DEFAULT',
  'missing + 1',
  'twice + 1',
  'half + 1',
  'title::integer',
  'lower(title)',
  'pg_sleep(1)',
  'pg_catalog.abs(author)',
  'other.abs(author)',
  'app.pg_catalog.abs(author)',
  '$1',
  "repeat('x', 1000000000)",
  'title COLLATE "C"',
  'author AS x',
  'CASE WHEN author > 1 THEN 2 END',
  "title ~ '('",
  'ARRAY[1, 2]',
  '(ARRAY[1, 2])[1]',
  'current_user',
  "nextval('s')",
  "'1'::nosuch",
  'ctid',
  'author OPERATOR(pg_catalog.+) 1',
  'author OPERATOR(other.+) 1',
  'GREATEST(author, 1)',
  "current_setting('x')",
  'xmlparse(content title)',
];

const expressionsOf = (state: State): string =>
  lines(state, 'create-field', {
    title: 'the expression of a generated column',
    of: { collection: 'posts' },
    show: ({ field }) => JSON.stringify(field.schema['generation_expression']),
    bodies: EXPRESSIONS.map((generation_expression): [string, object] => [
      generation_expression,
      { field: 'half', type: 'integer', interface: 'input', schema: { is_generated: true, generation_expression } },
    ]),
  });

const NAMES: readonly string[] = [
  'a',
  'A',
  ' a',
  'a ',
  '7',
  'n'.repeat(63),
  'n'.repeat(64),
  'ä'.repeat(32),
  'service_users',
  'service_mine',
  'directus_users',
  'pg_mine',
  '.',
  '..',
  'a/b',
  'a.b',
  'ctid',
  'tableoid',
  'select',
  'a"b',
  "it's",
  '\uD800',
  'users',
  'posts',
  'title',
];

const namesOf = (state: State): string =>
  [
    lines(state, 'create-collection', {
      title: 'the name of a collection',
      of: {},
      bodies: NAMES.map((collection) => [JSON.stringify(collection), { collection, schema: null }]),
    }),
    lines(state, 'rename-collection', {
      title: 'the new name of a collection',
      of: { collection: 'posts' },
      show: ({ patches }) => JSON.stringify(patches),
      bodies: NAMES.map((to) => [JSON.stringify(to), { to }]),
    }),
    lines(state, 'create-field', {
      title: 'the name of a field',
      of: { collection: 'posts' },
      bodies: NAMES.map((field) => [JSON.stringify(field), { field, type: 'alias', interface: 'x', schema: null }]),
    }),
    lines(state, 'rename-field', {
      title: 'the new name of a field',
      of: { collection: 'posts', field: 'author' },
      show: ({ patches }) => JSON.stringify(patches),
      bodies: NAMES.map((to) => [JSON.stringify(to), { to }]),
    }),
  ].join('\n\n');
