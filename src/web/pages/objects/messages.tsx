import type { ReactNode } from 'react';
import { KINDS, type ObjectKind } from '../../../schema/model/objects.js';
import { inLanguage } from '../../shared/language.js';
import { named } from '../../shared/name.js';
import { counted } from '../../shared/text.js';

/** The plural of the label of a kind. */
function pluralOf(kind: ObjectKind): string {
  const { label, plural }: { label: string; plural?: string } = KINDS[kind];
  return plural ?? `${label}s`;
}

/** Definitions in SQL, which no language changes. */
export const EXAMPLES: Partial<Record<ObjectKind, string>> = {
  view: 'CREATE VIEW recent AS SELECT id FROM articles',
  function: "CREATE FUNCTION half(value integer) RETURNS integer LANGUAGE sql AS 'SELECT value / 2'",
  aggregate: `CREATE AGGREGATE total(integer) (SFUNC = int4pl, STYPE = integer, INITCOND = '0')`,
  policy: 'CREATE POLICY own ON articles USING (author = current_user)',
  row_security: 'ALTER TABLE articles ENABLE ROW LEVEL SECURITY',
  statistics: 'CREATE STATISTICS regions ON country, city FROM articles',
  rule: 'CREATE RULE keep AS ON DELETE TO articles DO INSTEAD NOTHING',
  privileges: 'GRANT SELECT, UPDATE (title) ON articles TO editors',
  table_options: 'ALTER TABLE articles SET (fillfactor = 80)',
  sequence: 'CREATE SEQUENCE invoice_numbers START WITH 1000',
  type: "CREATE TYPE mood AS ENUM ('happy', 'sad')",
};

const GERMAN_KINDS: Readonly<Record<ObjectKind, readonly [one: string, many: string]>> = {
  view: ['View', 'Views'],
  materialized_view: ['Materialisierte View', 'Materialisierte Views'],
  function: ['Funktion', 'Funktionen'],
  procedure: ['Prozedur', 'Prozeduren'],
  aggregate: ['Aggregatfunktion', 'Aggregatfunktionen'],
  trigger: ['Trigger', 'Trigger'],
  policy: ['Row-Security-Policy', 'Row-Security-Policies'],
  row_security: ['Row-Level-Security', 'Tabellen mit Row-Level-Security'],
  statistics: ['Statistikobjekt', 'Statistikobjekte'],
  rule: ['Regel', 'Regeln'],
  privileges: ['Berechtigungen', 'Berechtigungen'],
  table_options: ['Tabellenoptionen', 'Tabellen mit Optionen'],
  sequence: ['Sequenz', 'Sequenzen'],
  type: ['Typ', 'Typen'],
};

export const messages = inLanguage(
  {
    title: 'Objects',
    loading: 'Loading the objects',
    off: (setting: ReactNode): ReactNode => (
      <>
        This service manages tables only. With the setting {setting}, it also manages views, functions and other
        objects.
      </>
    ),
    create: 'New object',
    list: {
      all: '← All objects',
      choose: 'Choose an object to see its definition.',
      missing: (id: string) => named`${id} does not exist.`,
      none: 'No objects yet. Create a view, a function, a trigger or another object.',
      filterObjects: 'Filter objects',
      filter: 'Filter',
    },
    kind: (kind: ObjectKind): string => KINDS[kind].label,
    count: (kind: ObjectKind, count: number) => counted(count, KINDS[kind].label, pluralOf(kind)),
    /** When a trigger or a rule fires. */
    enabled: {
      origin: 'enabled',
      disabled: 'disabled',
      replica: 'enabled during replication only',
      always: 'enabled, including during replication',
    },
    details: {
      editing: (id: string) => named`Edit ${id}`,
      edit: 'Edit',
      rename: 'Rename',
      renaming: (id: string) => named`Rename ${id}`,
      copy: 'Copy definition',
      definitionOf: (id: string) => named`Definition of ${id}`,
      dependents: 'Dependent objects',
      history: 'History',
      index: 'Index',
      uniqueIndex: 'Unique index',
      delete: 'Delete',
      discard: 'Discard changes',
      undoDeletion: 'Undo deletion',
    },
    form: {
      kind: 'Kind',
      enterName: 'Enter a name.',
      enterDefinition: 'Enter a definition.',
      taken: (id: string) => named`${id} already exists.`,
      exists: 'An object with this definition already exists.',
      newName: 'New name',
      newNameHelp: 'Without the schema, the argument types and the table',
      definition: 'Definition',
      statement: 'One statement in SQL, which creates the object',
      privileges:
        'GRANT statements for one role on one table, view, function, sequence, type or schema, REVOKE … FROM PUBLIC, or ALTER DEFAULT PRIVILEGES',
      comment: 'Comment',
      asSql: 'Edit as SQL',
      usedType:
        'Columns use this type. A change can add values, rename values, or move and remove values. To move or remove values, PostgreSQL rewrites the tables.',
      unusedType: 'No column uses this type. You can change its values in any way.',
    },
  },
  {
    title: 'Objekte',
    loading: 'Objekte werden geladen',
    off: (setting) => (
      <>
        Dieser Dienst verwaltet nur Tabellen. Mit der Einstellung {setting} verwaltet er auch Views, Funktionen und
        andere Objekte.
      </>
    ),
    create: 'Neues Objekt',
    list: {
      all: '← Alle Objekte',
      choose: 'Wählen Sie ein Objekt, um seine Definition zu sehen.',
      missing: (id) => named`${id} existiert nicht.`,
      none: 'Noch keine Objekte. Erstellen Sie eine View, eine Funktion, einen Trigger oder ein anderes Objekt.',
      filterObjects: 'Objekte filtern',
      filter: 'Filtern',
    },
    kind: (kind) => GERMAN_KINDS[kind][0],
    count: (kind, count) => counted(count, ...GERMAN_KINDS[kind]),
    enabled: {
      origin: 'aktiv',
      disabled: 'inaktiv',
      replica: 'nur bei Replikation aktiv',
      always: 'aktiv, auch bei Replikation',
    },
    details: {
      editing: (id) => named`${id} bearbeiten`,
      edit: 'Bearbeiten',
      rename: 'Umbenennen',
      renaming: (id) => named`${id} umbenennen`,
      copy: 'Definition kopieren',
      definitionOf: (id) => named`Definition von ${id}`,
      dependents: 'Abhängige Objekte',
      history: 'Verlauf',
      index: 'Index',
      uniqueIndex: 'Eindeutiger Index',
      delete: 'Löschen',
      discard: 'Änderungen verwerfen',
      undoDeletion: 'Löschung rückgängig machen',
    },
    form: {
      kind: 'Art',
      enterName: 'Geben Sie einen Namen ein.',
      enterDefinition: 'Geben Sie eine Definition ein.',
      taken: (id) => named`${id} existiert bereits.`,
      exists: 'Ein Objekt mit dieser Definition existiert bereits.',
      newName: 'Neuer Name',
      newNameHelp: 'Ohne Schema, Argumenttypen und Tabelle',
      definition: 'Definition',
      statement: 'Eine SQL-Anweisung, die das Objekt anlegt',
      privileges:
        'GRANT-Anweisungen für eine Rolle auf einer Tabelle, View, Funktion, Sequenz, einem Typ oder einem Schema, REVOKE … FROM PUBLIC, oder ALTER DEFAULT PRIVILEGES',
      comment: 'Kommentar',
      asSql: 'Als SQL bearbeiten',
      usedType:
        'Spalten verwenden diesen Typ. Eine Änderung kann Werte hinzufügen, umbenennen oder verschieben und entfernen. Zum Verschieben und Entfernen schreibt PostgreSQL die Tabellen neu.',
      unusedType: 'Keine Spalte verwendet diesen Typ. Die Werte lassen sich beliebig ändern.',
    },
  },
);
