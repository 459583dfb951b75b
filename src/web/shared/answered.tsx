/** Shows a query result, a loading indicator, or the error. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemAlert } from './problem-alert.js';
import { Waiting } from './waiting.js';

interface Props<T> {
  query: Pick<UseQueryResult<unknown>, 'error'> & { data: T | undefined; refetch: () => unknown };
  /** The loading content, for screen readers. */
  label: string;
  children: (data: T) => ReactNode;
}

/** Data stays during a refetch, even if it fails. */
export function Answered<T>({ query: { data, error, refetch }, label, children }: Props<T>) {
  if (data !== undefined) return children(data);
  if (error !== null) return <ProblemAlert error={error} retry={() => void refetch()} />;
  return <Waiting label={label} height="160px" />;
}
