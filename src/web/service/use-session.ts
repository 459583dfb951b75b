/** The session as components see it. */
import { useSyncExternalStore } from 'react';
import { type Session, currentSession, subscribeSession } from './session.js';
import { type Ability, may } from './abilities.js';
import type { Role } from './types.js';

/** Draws the component again whenever it changes. */
export const useSession = (): Session => useSyncExternalStore(subscribeSession, currentSession);

/** Of the user who is signed in; the least of all where nobody is. */
export function useRole(): Role {
  const session = useSession();
  return 'user' in session ? session.user.role : 'reader';
}

/** Of the user who is signed in, also while the session has expired. */
export const useMay = (ability: Ability): boolean => may(useRole(), ability);

/** Whether a change request is for the one who is signed in to update, rebase and withdraw: authors do so with their own. */
export function useMayRevise({ author }: { author: { id: string } }): boolean {
  const session = useSession();
  if (!('user' in session)) return false;
  const { id, role } = session.user;
  return may(role, 'carryOut') || (may(role, 'propose') && author.id === id);
}
