const OUTCOMES: Readonly<Record<string, string>> = {
  denied: 'You cancelled the sign-in.',
  unavailable: 'The OpenID provider does not respond. Try again later.',
  'no-access': 'Your account at the provider has no role in this service. Ask an admin for access.',
  suspended: 'Your account is suspended. Ask an admin to activate it.',
  link: 'An account with your e-mail address exists. Sign in once in the app to link your identity to it.',
};

/** Explains to the user of a command line why a sign-in did not succeed. */
export const explainOutcome = (outcome: string): string =>
  OUTCOMES[outcome] ?? 'The sign-in failed. The service log contains the reason.';
