/** Steps of random sequences on tables with relations of all kinds. */
import fc from 'fast-check';

const TABLES = ['a', 'b', 'c', 'd'];
const FIELDS = ['x', 'y', 'z'];

const some = fc.nat(9);

const of = <D extends string, S extends object>(
  weight: number,
  what: D,
  more: { [M in keyof S]: fc.Arbitrary<S[M]> },
) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(what), ...more }) as unknown as fc.Arbitrary<{ do: D } & S>,
});

export const step = fc.oneof(
  of(2, 'create', { name: fc.constantFrom(...TABLES) }),
  of(3, 'relate', {
    many: some,
    one: some,
    alias: fc.boolean(),
    onDelete: fc.constantFrom('SET NULL', 'CASCADE', 'NO ACTION'),
  }),
  of(1, 'join', { many: some, one: some }),
  of(2, 'relate to any', { many: some, allowed: fc.nat(15) }),
  of(1, 'group', { child: some, parent: some }),
  of(1, 'sort by', { on: some, field: some }),
  of(4, 'insert', { on: some, to: some }),
  of(1, 'delete row', { on: some }),
  of(2, 'rename', { on: some, name: fc.constantFrom(...TABLES) }),
  of(2, 'rename field', { on: some, field: some, name: fc.constantFrom(...FIELDS) }),
  of(3, 'delete', { on: some }),
  of(3, 'delete field', { on: some, field: some }),
  of(4, 'restore', { on: some, as: fc.option(fc.constantFrom('a', 'x', 'q'), { nil: undefined }) }),
  of(2, 'there and back', { on: some, field: fc.option(some, { nil: undefined }) }),
  of(1, 'purge', { on: some }),
  of(3, 'back', { to: fc.nat(30) }),
);

export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
