/** The number of examples for a costly property: all with another PROPERTY_SEED, a quarter with the fixed one. */
export function limitRuns(runs: number): { numRuns: number } {
  return { numRuns: process.env['PROPERTY_SEED'] === undefined ? Math.ceil(runs / 4) : runs };
}
