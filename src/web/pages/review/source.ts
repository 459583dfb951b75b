/** Where what is reviewed comes from. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Reviewed } from '../../service/review-queries.js';
import type { Conflict } from './model/conflicts.js';
import type { LeftOutItems } from './model/items.js';

export interface Source {
  /** Names it, for what is typed beside it. */
  key: string;
  title: string;
  about: ReactNode;
  reviewed: Reviewed;
  /**
   * It says of the whole schema what it is to be: what others change meanwhile would be taken back by it. A draft says
   * only what it changes.
   */
  isWhole: boolean;
  /** Asks again, of the schema as it is now. Nothing that was typed is lost. */
  renewal: Renewal;
  /** What the source itself knows to be in conflict, with the way to settle it. */
  conflicts?: readonly (Conflict & { settle: (choice: 'mine' | 'theirs') => void })[];
  /** Called when the chosen part was applied or has become a change request. */
  onApplied: (leftOut: LeftOutItems) => void;
}

export interface Renewal {
  renew: () => Promise<unknown>;
  isRenewing: boolean;
  /** Why what is shown is of the schema before. */
  error: Error | null;
}

/** Its error is null while it is asked again. */
export const renewalOf = ({ refetch, isFetching, error }: UseQueryResult): Renewal => ({
  renew: refetch,
  isRenewing: isFetching,
  error: isFetching ? null : error,
});
