import { useSyncExternalStore } from 'react';
import { type Session, currentSession, subscribeSession } from './session.js';
import { type Ability, may } from './abilities.js';
import type { Role } from './types.js';

/** Renders again on every change. */
export const useSession = (): Session => useSyncExternalStore(subscribeSession, currentSession);

/** The user's role; the lowest without a user. */
export function useRole(): Role {
  const session = useSession();
  return 'user' in session ? session.user.role : 'reader';
}

/** For the signed-in user, also with an expired session. */
export const useMay = (ability: Ability): boolean => may(useRole(), ability);

/** True if the user may update, rebase and withdraw a request. Authors may only do so with their own. */
export function useMayRevise({ author }: { author: { id: string } }): boolean {
  const session = useSession();
  if (!('user' in session)) return false;
  const { id, role } = session.user;
  return may(role, 'carryOut') || (may(role, 'propose') && author.id === id);
}
