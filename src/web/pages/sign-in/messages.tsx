import type { ReactNode } from 'react';
import { inLanguage } from '../../shared/language.js';

export const messages = inLanguage(
  {
    product: 'Data Platform',
    claim: 'Manage your PostgreSQL schema and its history',
    titleOf: (title: string) => `${title} · Data Platform`,
    title: 'Sign in',
    loading: 'Loading',
    starting: 'Starting',
    or: 'or',
    signInWith: (provider: string) => `Sign in with ${provider}`,
    link: (email: string, provider: string) =>
      `An account with the e-mail address ${email} already exists. Enter its password once to link it to ${provider}.`,
    outcomes: {
      failed: 'The sign-in failed. Try again. The service log contains the reason.',
      unavailable: 'The provider does not respond. Try again later.',
      denied: 'You cancelled the sign-in.',
      'no-access': 'Your account at the provider has no role in this service. Ask an admin for access.',
      suspended: 'Your account is suspended. Ask an admin to activate it.',
      'no-email': 'The provider did not send a verified e-mail address.',
      'last-admin': 'The provider no longer makes you an admin, but you are the last active admin here.',
    },
    form: {
      ways: 'Sign in with',
      email: 'E-mail',
      password: 'Password',
      token: 'Token',
      tokenHelp: 'The token is not stored. You must enter it again after you reload the page.',
      signIn: 'Sign in',
      linkAndSignIn: 'Link and sign in',
    },
    invitation: {
      title: 'Invitation',
      invited: (user: ReactNode): ReactNode => <>You are invited as {user}. Choose a password to sign in.</>,
      password: 'New password',
      passwordHelp: 'At least 12 characters.',
      invalid: 'This invitation is no longer valid. Sign in with your password, or ask an admin for a new link.',
      accept: 'Choose password and sign in',
      decline: 'Sign in without the invitation',
    },
    expired: {
      title: 'Your session has ended',
      signOut: 'Sign out',
      signInAgain: (email: string) => `Sign in again as ${email}. Your work on this page is kept.`,
    },
  },
  {
    product: 'Data Platform',
    claim: 'Das PostgreSQL-Schema und seine Geschichte verwalten',
    titleOf: (title) => `${title} · Data Platform`,
    title: 'Anmelden',
    loading: 'Wird geladen',
    starting: 'Wird gestartet',
    or: 'oder',
    signInWith: (provider) => `Mit ${provider} anmelden`,
    link: (email, provider) =>
      `Ein Konto mit der E-Mail-Adresse ${email} besteht bereits. Geben Sie einmal sein Passwort ein, um es mit ${provider} zu verknüpfen.`,
    outcomes: {
      failed: 'Die Anmeldung ist fehlgeschlagen. Versuchen Sie es erneut. Der Grund steht im Protokoll des Dienstes.',
      unavailable: 'Der Anbieter antwortet nicht. Versuchen Sie es später erneut.',
      denied: 'Sie haben die Anmeldung abgebrochen.',
      'no-access': 'Ihr Konto beim Anbieter hat keine Rolle in diesem Dienst. Bitten Sie einen Admin um Zugang.',
      suspended: 'Ihr Konto ist gesperrt. Bitten Sie einen Admin, es zu aktivieren.',
      'no-email': 'Der Anbieter hat keine bestätigte E-Mail-Adresse gesendet.',
      'last-admin': 'Der Anbieter macht Sie nicht mehr zum Admin, aber Sie sind hier der letzte aktive Admin.',
    },
    form: {
      ways: 'Anmelden mit',
      email: 'E-Mail',
      password: 'Passwort',
      token: 'Token',
      tokenHelp: 'Das Token wird nicht gespeichert. Nach dem Neuladen der Seite muss es erneut eingegeben werden.',
      signIn: 'Anmelden',
      linkAndSignIn: 'Verknüpfen und anmelden',
    },
    invitation: {
      title: 'Einladung',
      invited: (user) => <>Sie sind als {user} eingeladen. Wählen Sie ein Passwort, um sich anzumelden.</>,
      password: 'Neues Passwort',
      passwordHelp: 'Mindestens 12 Zeichen.',
      invalid:
        'Diese Einladung ist nicht mehr gültig. Melden Sie sich mit Ihrem Passwort an, oder bitten Sie einen Admin um einen neuen Link.',
      accept: 'Passwort wählen und anmelden',
      decline: 'Ohne die Einladung anmelden',
    },
    expired: {
      title: 'Ihre Sitzung ist beendet',
      signOut: 'Abmelden',
      signInAgain: (email) => `Melden Sie sich erneut als ${email} an. Ihre Arbeit auf dieser Seite bleibt erhalten.`,
    },
  },
);
