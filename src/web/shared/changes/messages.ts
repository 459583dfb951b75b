import { inLanguage } from '../language.js';
import { counted } from '../text.js';

export const messages = inLanguage(
  {
    atLeast: (total: string) => `At least ${total}`,
    none: 'The schema did not change.',
    marks: { made: 'new', restored: 'restored', changed: 'changed', removed: 'deleted' },
    moreMembers: (count: string) => `and ${count} more members`,
    showMore: (page: string, left: string) => `Show ${page} of ${left} more`,
    moreEvents: (count: string) => `${count} more events`,
    before: 'before',
    after: 'after',
    definitionByLine: 'definition by line',
    parts: { collections: 'collection', fields: 'field', relations: 'relation' },
    noValue: 'none',
    history: {
      loading: 'Loading the history',
      none: 'The event log contains no changes.',
      showWhole: 'Show the whole change',
    },
    total: (changes: number, places: string) => `${counted(changes, 'change')} in ${places}`,
    inCollections: (count: number) => counted(count, 'collection'),
    inViews: (count: number) => counted(count, 'view'),
    inObjects: (count: number) => counted(count, 'object'),
  },
  {
    atLeast: (total) => `Mindestens ${total}`,
    none: 'Das Schema hat sich nicht geändert.',
    marks: { made: 'neu', restored: 'wiederhergestellt', changed: 'geändert', removed: 'gelöscht' },
    moreMembers: (count) => `und ${count} weitere Eigenschaften`,
    showMore: (page, left) => `${page} von ${left} weiteren anzeigen`,
    moreEvents: (count) => `${count} weitere Ereignisse`,
    before: 'vorher',
    after: 'nachher',
    definitionByLine: 'Definition Zeile für Zeile',
    parts: { collections: 'Collection', fields: 'Feld', relations: 'Relation' },
    noValue: 'kein Wert',
    history: {
      loading: 'Verlauf wird geladen',
      none: 'Das Ereignisprotokoll enthält keine Änderungen.',
      showWhole: 'Ganze Änderung anzeigen',
    },
    total: (changes, places) => `${counted(changes, 'Änderung', 'Änderungen')} in ${places}`,
    inCollections: (count) => counted(count, 'Collection', 'Collections'),
    inViews: (count) => counted(count, 'View', 'Views'),
    inObjects: (count) => counted(count, 'Objekt', 'Objekten'),
  },
);

/** The names of kinds of objects. A kind without a name here is shown in the words of PostgreSQL. */
export const KIND_NAMES = inLanguage<Readonly<Record<string, string>>>(
  {},
  {
    view: 'View',
    materialized_view: 'Materialisierte View',
    function: 'Funktion',
    procedure: 'Prozedur',
    aggregate: 'Aggregatfunktion',
    trigger: 'Trigger',
    policy: 'Row-Security-Policy',
    row_security: 'Row-Level-Security',
    statistics: 'Statistikobjekt',
    rule: 'Regel',
    privileges: 'Berechtigungen',
    table_options: 'Tabellenoptionen',
    sequence: 'Sequenz',
  },
);
