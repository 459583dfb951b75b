/** What a list has more than is shown: a page of it at a time, and what stood in the way of the last one. */
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemAlert } from './problem-alert.js';
import { SteadyButton } from './steady-button.js';

interface Props {
  of: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error' | 'fetchNextPage'
  >;
  /** What the button says. */
  children: ReactNode;
}

/** Nothing where there is no further page. What failed can be tried again. */
export function More({ of, children }: Props) {
  const { hasNextPage, isFetchingNextPage: isLoading, isFetchNextPageError: isRefused, error, fetchNextPage } = of;
  if (!hasNextPage) return null;
  const load = () => void fetchNextPage();
  return (
    <>
      <SteadyButton variant="default" mt="md" fullWidth loading={isLoading} onClick={load}>
        {children}
      </SteadyButton>
      {isRefused && error !== null && <ProblemAlert error={error} retry={load} />}
    </>
  );
}
