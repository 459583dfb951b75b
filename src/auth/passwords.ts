/** Hashes passwords with argon2id and the defaults of @node-rs/argon2 (19 MiB, 2 passes: OWASP's recommendation). */
import { hash, verify } from '@node-rs/argon2';
import { randomSecret } from './secrets.js';

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Checks `password` against `stored`. Takes the same time if nothing is stored (unknown user, no password), so that
   * the time reveals nothing.
   */
  matches(password: string, stored: string | null): Promise<boolean>;
}

/** Passwords are hashed in NFKC, so that equal characters are equal in any composition. */
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
