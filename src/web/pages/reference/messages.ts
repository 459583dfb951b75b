import type { ReactNode } from 'react';
import { inLanguage } from '../../shared/language.js';
import { sentence } from '../../shared/name.js';

/** The texts around the API reference. The service sends the reference itself, in English. */
export const messages = inLanguage(
  {
    title: 'API',
    intro: (page: (label: string) => ReactNode, file: ReactNode) =>
      sentence`Every action in this app is available through the API. Other formats: ${page('this reference as a plain page')}, and ${file} (OpenAPI 3.1).`,
    loading: 'Loading the API reference',
    filter: 'Filter operations',
    filterHelp: 'Filter by path, method or word',
    schemas: 'Schemas',
    tableOf: (table: string, name: string) => `${table} of ${name}`,
    tryIt: 'Try it',
    body: 'Body',
    send: 'Send',
    sendChange: 'Send (changes data)',
    copyCurl: 'Copy as curl',
    response: 'Response',
    /** The guides themselves are in English. */
    guides: {
      list: 'Guides',
      titleOf: (guide: string) => `${guide} · Guides`,
      guide: 'Guide',
      table: 'Table',
      loading: (guide: string) => `Loading ${guide}`,
    },
  },
  {
    title: 'API',
    intro: (page, file) =>
      sentence`Jede Aktion dieser App ist auch über die API möglich. Andere Formate: ${page('diese Referenz als einfache Seite')} und ${file} (OpenAPI 3.1).`,
    loading: 'API-Referenz laden',
    filter: 'Operationen filtern',
    filterHelp: 'Nach Pfad, Methode oder Wort filtern',
    schemas: 'Schemas',
    tableOf: (table, name) => `${table}: ${name}`,
    tryIt: 'Ausprobieren',
    body: 'Inhalt',
    send: 'Senden',
    sendChange: 'Senden (ändert Daten)',
    copyCurl: 'Als curl kopieren',
    response: 'Antwort',
    guides: {
      list: 'Anleitungen',
      titleOf: (guide) => `${guide} · Anleitungen`,
      guide: 'Anleitung',
      table: 'Tabelle',
      loading: (guide) => `${guide} wird geladen`,
    },
  },
);
