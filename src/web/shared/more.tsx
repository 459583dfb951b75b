/** Loads further pages of a list, and shows the error of the last one. */
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemAlert } from './problem-alert.js';
import { SteadyButton } from './steady-button.js';

interface Props {
  of: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'error' | 'fetchNextPage'
  >;
  /** The label of the button. */
  children: ReactNode;
}

/** Renders nothing after the last page. An error can be retried. */
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
