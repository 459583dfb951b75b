/**
 * Invitations by link. The link contains a password that the invited user must replace. It is in the fragment of the
 * address, which browsers do not send to the service.
 */
import { send } from './send.js';
import { setOwnPassword } from './account-queries.js';
import { currentSession, signIn } from './session.js';

export interface Invitation {
  email: string;
  password: string;
}

const MEMBER = '#invitation=';

export const invitationLink = ({ email, password }: Invitation): string =>
  `${location.origin}/app/${MEMBER}${encodeURIComponent(JSON.stringify([email, password]))}`;

/** Reads the invitation and removes it from the address. Null without a complete invitation. */
export function takeInvitation(): Invitation | null {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(MEMBER)) return null;
  history.replaceState(history.state, '', pathname + search);
  try {
    const [email, password] = JSON.parse(decodeURIComponent(hash.slice(MEMBER.length))) as unknown[];
    return typeof email === 'string' && typeof password === 'string' ? { email, password } : null;
  } catch {
    return null;
  }
}

/**
 * Signs the invited user in and replaces the password of the link. Afterwards the link is invalid.
 * @throws ServiceError with status 401 if the link is invalid, or at `password`
 */
export async function acceptInvitation({ email, password: current }: Invitation, password: string): Promise<void> {
  await signIn(email, current);
  const session = currentSession();
  if ('user' in session) await setOwnPassword(session.user, { password, current_password: current });
}

/** How users can sign in. */
export const readProviders = async () => (await send('listProviders', {})).data;
