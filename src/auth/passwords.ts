/** Passwords: argon2id, with the parameters of @node-rs/argon2 (19 MiB, 2 passes: OWASP's recommendation). */
import { hash, verify } from '@node-rs/argon2';
import { randomSecret } from './secrets.js';

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Whether `password` is the one behind `stored`. Takes as long when there is nothing stored (unknown user, user
   * without a password), so that the time tells nothing.
   */
  matches(password: string, stored: string | null): Promise<boolean>;
}

/** A password is hashed in normal form (NFKC): however its characters are composed, it is the same one. */
export function createPasswords(): Passwords {
  let decoy: Promise<string> | undefined;
  // The same characters can be typed as different code points; NFKC makes them one password.
  const normal = (password: string): string => password.normalize('NFKC');

  return {
    hash: (password) => hash(normal(password)),

    async matches(password, stored) {
      const against = stored ?? (await (decoy ??= hash(randomSecret())));
      const same = await verify(against, normal(password));
      return same && stored !== null;
    },
  };
}
