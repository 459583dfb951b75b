/** The answers at hand, and when a question is asked again. */
import { QueryClient } from '@tanstack/react-query';
import { isPassing } from './errors.js';

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
