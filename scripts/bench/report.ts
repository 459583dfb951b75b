/** One table: what was measured, the limit in the same run, the ratio, the budget. */
export interface Row {
  work: string;
  measured: string;
  limit: string;
  ratio: number;
  /** The budget of the ratio: at most (`<=`) or at least (`>=`), or `NO_BUDGET`. */
  budget: string;
}

/** Of what depends on the machine more than on us. */
export const NO_BUDGET = 'none';

export const show = (value: number, unit: string): string =>
  `${value >= 100 ? Math.round(value) : value.toFixed(2)} ${unit}`;

function kept({ ratio, budget }: Row): boolean {
  if (budget === NO_BUDGET) return true;
  const [direction, value] = budget.split(' ');
  return direction === '>=' ? ratio >= Number(value) : ratio <= Number(value);
}

export function printTable(title: string, rows: readonly Row[]): void {
  const lines = [
    `\n${title}\n`,
    '| work | measured | limit | ratio | budget | |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => {
      const verdict = row.budget === NO_BUDGET ? '' : kept(row) ? 'kept' : '**missed**';
      return `| ${row.work} | ${row.measured} | ${row.limit} | ${row.ratio.toFixed(2)} | ${row.budget} | ${verdict} |`;
    }),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
