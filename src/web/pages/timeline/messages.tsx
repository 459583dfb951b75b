import type { ReactNode } from 'react';
import { inLanguage, locale } from '../../shared/language.js';

const digits = (value: number): string => value.toLocaleString(locale);

const words = (type: string): string => type.replace('.', ' ').replace('_', ' ');

const SUBJECTS: Readonly<Record<string, string>> = { collection: 'Collection', field: 'Feld', relation: 'Relation' };

const VERBS: Readonly<Record<string, string>> = {
  created: 'erstellt',
  updated: 'geändert',
  renamed: 'umbenannt',
  deleted: 'gelöscht',
  adopted: 'übernommen',
};

interface Author {
  name: string;
  time: ReactNode;
  events: number;
  /** The position of the last event. */
  position: number;
}

export const messages = inLanguage(
  {
    title: 'Timeline',
    comparePoints: 'Compare points in time',
    verification: 'Verification',
    loading: 'Loading the history',
    older: 'Show older changes',
    noMatches: 'No changes match the filters.',
    noChanges: 'No changes yet.',
    newChanges: (count: number) => (count === 1 ? '1 new change' : `${digits(count)} new changes`),
    unknown: 'The event log has no such change.',
    linked: 'Linked change',
    change: {
      author: ({ name, time, events, position }: Author): ReactNode => (
        <>
          {name}, {time}, {events === 1 ? `event ${position}` : `${events} events to ${position}`}
        </>
      ),
      request: (id: string) => `request ${id}`,
      loading: 'Loading the changes',
      showSchema: 'Show schema',
      compare: 'Compare',
      chooseAnother: 'Choose another change',
      compareWith: (position: number) => `Compare with event ${position}`,
      goBack: 'Go back to this point',
    },
    comparing: {
      label: 'Comparing',
      hint: (position: number) => `Comparing event ${position}. Open another change, or`,
      withCurrent: 'Compare with the current schema',
      cancel: 'Cancel',
    },
    filters: {
      label: 'Filter the timeline',
      fewer: 'Fewer filters',
      more: 'More filters',
      clear: 'Clear filters',
      text: 'Reason or name',
      from: 'From',
      to: 'To',
      collection: 'Collection',
      field: 'Field',
      type: 'Event type',
      typeName: words,
      user: 'User',
      any: 'any',
    },
  },
  {
    title: 'Zeitleiste',
    comparePoints: 'Zeitpunkte vergleichen',
    verification: 'Verifizierung',
    loading: 'Verlauf wird geladen',
    older: 'Ältere Änderungen anzeigen',
    noMatches: 'Keine Änderungen entsprechen den Filtern.',
    noChanges: 'Noch keine Änderungen.',
    newChanges: (count) => (count === 1 ? '1 neue Änderung' : `${digits(count)} neue Änderungen`),
    unknown: 'Das Ereignisprotokoll enthält diese Änderung nicht.',
    linked: 'Verlinkte Änderung',
    change: {
      author: ({ name, time, events, position }) => (
        <>
          {name}, {time}, {events === 1 ? `Ereignis ${position}` : `${events} Ereignisse bis ${position}`}
        </>
      ),
      request: (id) => `Anfrage ${id}`,
      loading: 'Änderungen werden geladen',
      showSchema: 'Schema anzeigen',
      compare: 'Vergleichen',
      chooseAnother: 'Andere Änderung wählen',
      compareWith: (position) => `Mit Ereignis ${position} vergleichen`,
      goBack: 'Hierher zurückkehren',
    },
    comparing: {
      label: 'Vergleich',
      hint: (position) => `Ereignis ${position} wird verglichen. Andere Änderung öffnen oder`,
      withCurrent: 'Mit aktuellem Schema vergleichen',
      cancel: 'Abbrechen',
    },
    filters: {
      label: 'Zeitleiste filtern',
      fewer: 'Weniger Filter',
      more: 'Mehr Filter',
      clear: 'Filter zurücksetzen',
      text: 'Begründung oder Name',
      from: 'Von',
      to: 'Bis',
      collection: 'Collection',
      field: 'Feld',
      type: 'Ereignistyp',
      typeName: (type) => {
        const [subject = '', verb = ''] = type.split('.');
        const [noun, participle] = [SUBJECTS[subject], VERBS[verb]];
        return noun === undefined || participle === undefined ? words(type) : `${noun} ${participle}`;
      },
      user: 'Benutzer',
      any: 'alle',
    },
  },
);
