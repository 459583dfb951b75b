/** The session as components see it. */
import { useSyncExternalStore } from 'react';
import { type Session, currentSession, subscribeSession } from './session.js';
import type { Role } from './types.js';

export const useSession = (): Session => useSyncExternalStore(subscribeSession, currentSession);

/** Of the user who is signed in; the least of all where nobody is. */
export function useRole(): Role {
  const session = useSession();
  return 'user' in session ? session.user.role : 'reader';
}
