/** What was asked for, once it is there; until then that it is on its way, or why it isn't. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemAlert } from './problem-alert.js';
import { Waiting } from './waiting.js';

interface Props<T> {
  query: Pick<UseQueryResult<unknown>, 'error'> & { data: T | undefined; refetch: () => unknown };
  /** What is on its way, for those who don't see the wheel. */
  label: string;
  children: (data: T) => ReactNode;
}

/** An answer that is at hand stays while it is asked for again, even where that fails. */
export function Answered<T>({ query: { data, error, refetch }, label, children }: Props<T>) {
  if (data !== undefined) return children(data);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  return <Waiting label={label} height="160px" />;
}
