/** Random choices that a seed determines. */
import fc from 'fast-check';
import { generator } from '../../test/support/random-commands.js';

export interface Random {
  /** 0 ≤ n < bound */
  below(bound: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  some<T>(list: readonly T[]): T | undefined;
  sample<T>(arbitrary: fc.Arbitrary<T>): T;
}

const FINE = 1_000_000;

export function createRandom(seed: number): Random {
  const below = generator(seed);
  return {
    below,
    chance: (probability) => below(FINE) < probability * FINE,
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T,
    some: (list) => list[below(list.length)],
    sample: <T>(arbitrary: fc.Arbitrary<T>) => fc.sample(arbitrary, { seed: below(2 ** 31), numRuns: 1 })[0] as T,
  };
}
