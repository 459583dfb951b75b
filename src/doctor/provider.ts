import { checkProvider } from '../features/accounts/oidc.js';
import { quoteName } from '../kernel/text.js';
import { type Check, finding } from './check.js';

/** A provider that does not respond prevents sign-ins only, so the finding is a warning. */
export const provider: Check = {
  name: 'OpenID provider',
  async run({ config: { oidc } }) {
    if (oidc === null) return [];
    return checkProvider(oidc).then(
      () => [],
      (error: unknown) => [
        finding(
          'PROVIDER_UNUSABLE',
          `The OpenID provider ${quoteName(oidc.issuer)} cannot be used: ${(error as Error).message}.`,
        ),
      ],
    );
  },
};
