const VIEWS = ['entries', 'sql', 'files'] as const;
export type View = (typeof VIEWS)[number];

export interface CompareSearch {
  /** Points in time: positions, times, `now`. */
  from?: string | number;
  to?: string | number;
  /** The view. `entries` by default. */
  as?: View;
}

const MOMENT = /^[0-9A-Za-z:.+-]{1,64}$/;

/** Reads the query of the address. Invalid values are ignored. The service checks if a point in time exists. */
export function readCompareSearch({ from, to, as }: Record<string, unknown>): CompareSearch {
  const search: CompareSearch = {};
  if (isMoment(from)) search.from = from;
  if (isMoment(to)) search.to = to;
  if (VIEWS.some((view) => view === as)) search.as = as as View;
  return search;
}

const isMoment = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && MOMENT.test(value));
