import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Reviewed } from '../../service/review-queries.js';
import type { Conflict } from './model/conflicts.js';
import type { LeftOutItems } from './model/items.js';

export interface Source {
  /** Identifies it, for the stored input. */
  key: string;
  title: string;
  about: ReactNode;
  reviewed: Reviewed;
  /** It describes the whole schema, so it would undo concurrent changes. A draft describes only its changes. */
  isWhole: boolean;
  /** Refetches for the current schema. Keeps the input. */
  renewal: Renewal;
  /** Conflicts that the source knows, with a way to resolve them. */
  conflicts?: readonly (Conflict & { settle: (choice: 'mine' | 'theirs') => void })[];
  /** Called when the chosen part was applied or has become a change request. */
  onApplied: (leftOut: LeftOutItems) => void;
}

export interface Renewal {
  renew: () => Promise<unknown>;
  isRenewing: boolean;
  /** Why the shown state is outdated. */
  error: Error | null;
}

/** Its error is null during a refetch. */
export const renewalOf = ({ refetch, isFetching, error }: UseQueryResult): Renewal => ({
  renew: refetch,
  isRenewing: isFetching,
  error: isFetching ? null : error,
});
