/** Random steps through the real pipeline: every operation with valid, nearly valid and invalid input. */
import fc from 'fast-check';
import {
  collectionMeta,
  collectionName,
  column,
  columnFlags,
  field,
  fieldMeta,
  fieldName,
} from '../support/arbitraries.js';

/** Names are picked by index among existing objects, so that a shortened sequence stays valid. */
export interface Picks {
  one: number;
  other: number;
  field: number;
  second: number;
}

const picks = fc.record<Picks>({ one: fc.nat(9), other: fc.nat(9), field: fc.nat(9), second: fc.nat(9) });
const concurrentIndexes = fc.boolean();
const key = fc.constantFrom(
  {},
  { has_auto_increment: true },
  { has_auto_increment: true, default_value: null },
  { default_value: 3 },
);

const expression = fc.constantFrom('@ * 2', 'coalesce(@, 0)', `'x'`, 'nope', 'now()', null);

const patch = fc.oneof(
  column.map(({ type, schema }) => ({ type, schema })),
  column.map(({ type }) => ({ type })),
  columnFlags.map((schema) => ({ schema })),
  fieldMeta.map((meta) => ({ meta })),
  key.map((schema) => ({ schema })),
  expression.map((generation_expression) => ({ schema: { generation_expression } })),
  fc.constantFrom<object>(
    { schema: { is_primary_key: true } },
    { schema: { is_primary_key: false } },
    { schema: { default_value: null } },
    { schema: { max_length: 3 } },
    { schema: { data_type: 'jsonb' } },
    { type: 'alias', schema: null },
    { type: 'unknown' },
    { meta: { group: '@' } },
  ),
);

const rule = fc.constantFrom('NO ACTION', 'SET NULL', 'CASCADE', 'RESTRICT', 'SET DEFAULT');

const create = fc.record({
  do: fc.constant('create' as const),
  name: collectionName,
  fields: fc.array(field, { maxLength: 4 }),
  concurrentIndexes,
});

const other = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('compute' as const),
      picks,
      name: fieldName,
      expression,
      concurrentIndexes,
    }),
  },
  { weight: 1, arbitrary: create },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('folder' as const), name: collectionName, meta: collectionMeta }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('describe' as const), picks, meta: collectionMeta, weak: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('drop' as const), picks }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), picks, field, concurrentIndexes }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('change' as const), picks, patch, concurrentIndexes }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('change two' as const), picks, patch, other: patch, concurrentIndexes }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('remove' as const), picks }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('relate' as const),
      picks,
      any: fc.boolean(),
      key: fc.boolean(),
      rule,
      alias: fc.boolean(),
      fits: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const), picks, how: fc.nat(6), rule }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unrelate' as const), picks }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rename' as const), picks, field: fieldName }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('fill' as const), picks }) },
);

/** Tables first, then anything. */
export const steps = fc
  .tuple(fc.array(create, { minLength: 2, maxLength: 4 }), fc.array(other, { minLength: 4, maxLength: 20 }))
  .map(([tables, others]): Step[] => [...tables, ...others]);

export type Step = typeof other extends fc.Arbitrary<infer T> ? T : never;
