/** The query cache and its refetch rules. */
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

/** Queries that do not depend on the user. */
const KEPT: readonly unknown[] = ['icon', 'resume'];

// Data of one user must not be shown to the next.
whenUserChanges(() => queryClient.removeQueries({ predicate: ({ queryKey }) => !KEPT.includes(queryKey[0]) }));
