/** The answers at hand, and when a question is asked again. */
import { QueryClient } from '@tanstack/react-query';
import { isPassing } from './errors.js';
import { whenUserChanges } from './session.js';

const TRIES = 3;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => failures < TRIES && isPassing(error),
    },
    mutations: { networkMode: 'always' },
  },
});

/** Of nobody in particular. */
const KEPT: readonly unknown[] = ['icon', 'resume'];

// Nothing of one user is shown to the next.
whenUserChanges(() => queryClient.removeQueries({ predicate: ({ queryKey }) => !KEPT.includes(queryKey[0]) }));
