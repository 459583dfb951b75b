import { inLanguage } from '../shared/language.js';
import { named } from '../shared/name.js';

export const messages = inLanguage(
  {
    accountMenu: (name: string) => named`Account menu of ${name}`,
    theme: 'Theme',
    light: 'Light',
    dark: 'Dark',
    system: 'System',
    language: 'Language',
    changePassword: 'Change password',
    signOut: 'Sign out',
    signOutAndForget: 'Sign out and delete drafts',
  },
  {
    accountMenu: (name) => named`Kontomenü von ${name}`,
    theme: 'Farbschema',
    light: 'Hell',
    dark: 'Dunkel',
    system: 'Wie das System',
    language: 'Sprache',
    changePassword: 'Passwort ändern',
    signOut: 'Abmelden',
    signOutAndForget: 'Abmelden und Entwürfe löschen',
  },
);
