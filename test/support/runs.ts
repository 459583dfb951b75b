/**
 * How many examples a costly property draws: as many as given where PROPERTY_SEED asks for other draws than last time, a
 * quarter of them where they are the same ones in every run.
 */
export function explored(runs: number): { numRuns: number } {
  return { numRuns: process.env['PROPERTY_SEED'] === undefined ? Math.ceil(runs / 4) : runs };
}
