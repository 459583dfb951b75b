import type { ReactNode } from 'react';
import { inLanguage } from '../../shared/language.js';
import { named, sentence } from '../../shared/name.js';

export const messages = inLanguage(
  {
    title: 'Compare two points in time',
    tabTitle: (from: string, to: string) => `${from} to ${to}`,
    format: 'Format',
    views: { entries: 'Entries', sql: 'SQL', files: 'Files' },
    from: 'From',
    to: 'To',
    compare: 'Compare',
    swap: 'Swap',
    comparing: 'Comparing',
    point: {
      group: (label: string) => named`${label}: point in time`,
      clear: (label: string) => named`Clear: ${label}`,
      dateAndTime: (label: string) => `${label}: date and time`,
      help: 'Search for a change, or enter an event number, a date or “now”',
      unknown: 'Choose a change from the list, or type an event number, a date or “now”.',
      currentSchema: 'Current schema',
      event: (position: string, time: ReactNode) => sentence`event ${position}, ${time}`,
      schemaAtTime: 'The schema at that time',
    },
    sql: {
      label: 'Difference as SQL',
      tooDifferent: 'The scripts differ too much for a line-by-line comparison. Download both as files instead.',
      identical: 'The scripts are identical.',
    },
    files: {
      difference: 'Difference',
      differenceAsJson: 'Difference as JSON',
      schemaAt: (point: string) => `Schema at ${point}`,
    },
  },
  {
    title: 'Zwei Zeitpunkte vergleichen',
    tabTitle: (from, to) => `${from} bis ${to}`,
    format: 'Format',
    views: { entries: 'Einträge', sql: 'SQL', files: 'Dateien' },
    from: 'Von',
    to: 'Bis',
    compare: 'Vergleichen',
    swap: 'Tauschen',
    comparing: 'Vergleichen',
    point: {
      group: (label) => named`${label}: Zeitpunkt`,
      clear: (label) => named`Leeren: ${label}`,
      dateAndTime: (label) => `${label}: Datum und Uhrzeit`,
      help: 'Änderung suchen oder Ereignisnummer, Datum oder „now“ eingeben',
      unknown: 'Eine Änderung aus der Liste wählen oder eine Ereignisnummer, ein Datum oder „now“ eingeben.',
      currentSchema: 'Aktuelles Schema',
      event: (position, time) => sentence`Ereignis ${position}, ${time}`,
      schemaAtTime: 'Das Schema zu dieser Zeit',
    },
    sql: {
      label: 'Unterschied als SQL',
      tooDifferent:
        'Die Skripte unterscheiden sich zu stark für einen Vergleich Zeile für Zeile. Stattdessen beide als Dateien herunterladen.',
      identical: 'Die Skripte sind gleich.',
    },
    files: {
      difference: 'Unterschied',
      differenceAsJson: 'Unterschied als JSON',
      schemaAt: (point) => `Schema bei ${point}`,
    },
  },
);
