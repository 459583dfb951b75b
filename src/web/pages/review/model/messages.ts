/** The texts that describe changes. Modules that run without a browser use them. */
import { addArticle } from '../../../../kernel/text.js';
import { inLanguage } from '../../../shared/language.js';
import { counted } from '../../../shared/text.js';

export interface Name {
  name: string;
}

/** A sentence with names. Names are highlighted and always rendered as text. */
export type Phrase = readonly (string | Name)[];

/** Creates a phrase: `say\`Hide ${{ name: 'title' }}\``. */
function say(texts: TemplateStringsArray, ...parts: readonly (string | Name | Phrase)[]): Phrase {
  return texts.flatMap((text, index) => {
    const part = parts[index] ?? '';
    return [text, ...(typeof part === 'string' || 'name' in part ? [part] : part)].filter((each) => each !== '');
  });
}

interface Setting {
  after: string;
  /** Null for none. */
  before: string | null;
}

interface Replacement {
  before: string;
  after: string;
}

const was = (value: string | null): string => (value === null ? '' : ` (was ${value})`);

const formerly = (value: string | null): string => (value === null ? '' : ` (bisher ${value})`);

/** The members whose German names differ from the names in documents. */
const GERMAN_MEMBERS: Readonly<Record<string, string>> = {
  collection: 'Collection',
  color: 'Farbe',
  comment: 'Kommentar',
  conditions: 'Bedingungen',
  constraints: 'Constraints',
  definition: 'Definition',
  display: 'Anzeige',
  display_options: 'Anzeigeoptionen',
  display_template: 'Anzeigevorlage',
  icon: 'Symbol',
  indexes: 'Indizes',
  interface: 'Interface',
  note: 'Notiz',
  options: 'Optionen',
  one_field: 'Rückfeld',
  preview_url: 'Vorschau-URL',
  sort: 'Sortierung',
  sort_field: 'Sortierfeld',
  translations: 'Übersetzungen',
  validation: 'Validierung',
  validation_message: 'Validierungsmeldung',
  width: 'Breite',
};

export const messages = inLanguage(
  {
    quote: (text: string) => `“${text}”`,
    /** The first text is for true. The star stands for the name. */
    switches: {
      nullable: ['Make * nullable', 'Make * not null'],
      unique: ['Make * unique', 'Allow duplicate values in *'],
      indexed: ['Create an index on *', 'Drop the index on *'],
      primaryKey: ['Make * the primary key', 'Remove * from the primary key'],
      autoIncrement: ['Add auto-increment to *', 'Remove auto-increment from *'],
      hidden: ['Hide *', 'Show *'],
      required: ['Make * required in forms', 'Make * optional in forms'],
      readOnly: ['Make * read-only in forms', 'Make * editable in forms'],
    } satisfies Record<string, string[]>,
    backfill: {
      newField: (name: Name, source: Phrase) => say`Fill ${name} in existing rows with ${source}`,
      field: (name: Name, source: Phrase) => say`Fill ${name} in rows without a value with ${source}`,
      expressions: {
        now: 'the current time',
        gen_random_uuid: 'new UUIDs',
        lower: 'in lower case',
        upper: 'in upper case',
        trim: 'without surrounding spaces',
      },
    },
    create: {
      relation: (from: Name, to: Name) => say`Add the relation from ${from} to ${to}`,
      relationWithoutKey: (from: Name, to: Name) => say`Add the relation from ${from} to ${to}, without a foreign key`,
      relationToSeveral: (from: Name) => say`Add the relation from ${from} to one of several collections`,
      object: (name: Name, kind: string) => say`Add ${name}, ${addArticle(kind)}`,
      add: (name: Name, description: string) => say`Add ${name}, ${description}`,
      restore: (name: Name, description: string) => say`Restore ${name} from the trash, ${description}`,
      folder: 'a folder',
      table: (fields: number) => `a table with ${counted(fields, 'field')}`,
      alias: 'an alias field',
      primaryKey: (type: string) => `${type}, the primary key`,
      notNull: (type: string) => `${type}, not null`,
    },
    delete: {
      relation: (from: Name, to: Name) => say`Delete the relation from ${from} to ${to}`,
      relationToSeveral: (from: Name) => say`Delete the relation from ${from} to one of several collections`,
      object: (name: Name, kind: string) => say`Delete ${name}, ${addArticle(kind)}`,
      withoutData: (name: Name) => say`Delete ${name}, which has no data`,
      field: (name: Name) => say`Delete ${name} and its values`,
      collection: (name: Name) => say`Delete ${name} with its fields and rows`,
    },
    change: {
      rename: (before: Name, name: Name) => say`Rename ${before} to ${name}`,
      moveOut: (name: Name) => say`Move ${name} out of its group`,
      moveInto: (name: Name, group: Name) => say`Move ${name} into the group ${group}`,
      removeDefault: (name: Name, before: string | null) => say`Remove the default of ${name}${was(before)}`,
      setDefault: (name: Name, after: string, before: string | null) =>
        say`Set the default of ${name} to ${after}${was(before)}`,
      type: (name: Name, before: string, after: string) => say`Change the type of ${name} from ${before} to ${after}`,
      columnType: (name: Name, before: string, after: string) =>
        say`Change the column type of ${name} from ${before} to ${after}`,
      /** @param clause `ON DELETE` */
      action: (name: Name, clause: string, { after, before }: Setting) =>
        say`Set ${clause} of ${name} to ${after}${was(before)}`,
      unlimitCharacters: (name: Name, before: string) => say`Remove the limit of ${before} characters from ${name}`,
      limitCharacters: (name: Name, { after, before }: Setting) =>
        say`Limit ${name} to ${after} characters${was(before)}`,
      unlimitDigits: (name: Name, before: string) => say`Remove the limit of ${before} digits from ${name}`,
      limitDigits: (name: Name, { after, before }: Setting) => say`Limit ${name} to ${after} digits${was(before)}`,
      /** @param member `display_template` */
      label: (member: string) => (member === 'one_field' ? 'reverse field' : member.replaceAll('_', ' ')),
      remove: (label: string, name: Name) => say`Remove the ${label} of ${name}`,
      set: (label: string, name: Name) => say`Set the ${label} of ${name}`,
      change: (label: string, name: Name) => say`Change the ${label} of ${name}`,
      setTo: (label: string, name: Name, after: string) => say`Set the ${label} of ${name} to ${after}`,
      changeTo: (label: string, name: Name, { before, after }: Replacement) =>
        say`Change the ${label} of ${name} from ${before} to ${after}`,
    },
    title: {
      more: (count: number) => counted(count, 'more change'),
      andMore: (sentence: string, count: number) => `${sentence} (and ${count} more)`,
    },
    values: {
      absent: 'absent',
      present: 'present',
      made: 'new',
      removed: 'deleted',
      changed: (members: string) => `changed: ${members}`,
    },
    losses: {
      kept: 'The trash keeps it for a limited time.',
      notKept: 'The trash does not keep it.',
      notKeptBecause: (reason: string) => `The trash does not keep it, because ${reason}.`,
    },
    policy: {
      noRule: 'no rule',
      yes: 'yes',
      no: 'no',
      codeIn: (code: string, pattern: string) => `${code} in ${pattern}`,
      order: 'Order of the patterns',
    },
  },
  {
    quote: (text) => `„${text}“`,
    switches: {
      nullable: ['NULL in * erlauben', 'NULL in * verbieten'],
      unique: ['* eindeutig machen', 'Doppelte Werte in * erlauben'],
      indexed: ['Index auf * erstellen', 'Index auf * löschen'],
      primaryKey: ['* zum Primärschlüssel machen', '* aus dem Primärschlüssel entfernen'],
      autoIncrement: ['Auto-Inkrement von * einschalten', 'Auto-Inkrement von * ausschalten'],
      hidden: ['* ausblenden', '* einblenden'],
      required: ['* in Formularen zum Pflichtfeld machen', '* in Formularen optional machen'],
      readOnly: ['* in Formularen schreibschützen', '* in Formularen bearbeitbar machen'],
    },
    backfill: {
      newField: (name, source) => say`${name} in bestehenden Zeilen füllen: ${source}`,
      field: (name, source) => say`${name} in Zeilen ohne Wert füllen: ${source}`,
      expressions: {
        now: 'aktuelle Zeit',
        gen_random_uuid: 'neue UUIDs',
        lower: 'in Kleinbuchstaben',
        upper: 'in Großbuchstaben',
        trim: 'ohne Leerzeichen am Rand',
      },
    },
    create: {
      relation: (from, to) => say`Relation von ${from} zu ${to} hinzufügen`,
      relationWithoutKey: (from, to) => say`Relation von ${from} zu ${to} hinzufügen, ohne Fremdschlüssel`,
      relationToSeveral: (from) => say`Relation von ${from} zu einer von mehreren Collections hinzufügen`,
      object: (name, kind) => say`${name} hinzufügen (${kind})`,
      add: (name, description) => say`${name} hinzufügen (${description})`,
      restore: (name, description) => say`${name} aus dem Papierkorb wiederherstellen (${description})`,
      folder: 'Ordner',
      table: (fields) => `Tabelle mit ${counted(fields, 'Feld', 'Feldern')}`,
      alias: 'ein Alias-Feld',
      primaryKey: (type) => `${type}, Primärschlüssel`,
      notNull: (type) => `${type}, NOT NULL`,
    },
    delete: {
      relation: (from, to) => say`Relation von ${from} zu ${to} löschen`,
      relationToSeveral: (from) => say`Relation von ${from} zu einer von mehreren Collections löschen`,
      object: (name, kind) => say`${name} löschen (${kind})`,
      withoutData: (name) => say`${name} löschen (enthält keine Daten)`,
      field: (name) => say`${name} mit allen Werten löschen`,
      collection: (name) => say`${name} mit allen Feldern und Zeilen löschen`,
    },
    change: {
      rename: (before, name) => say`${before} in ${name} umbenennen`,
      moveOut: (name) => say`${name} aus der Gruppe nehmen`,
      moveInto: (name, group) => say`${name} in die Gruppe ${group} verschieben`,
      removeDefault: (name, before) => say`Standardwert von ${name} entfernen${formerly(before)}`,
      setDefault: (name, after, before) => say`Standardwert von ${name} auf ${after} setzen${formerly(before)}`,
      type: (name, before, after) => say`Typ von ${name} von ${before} in ${after} ändern`,
      columnType: (name, before, after) => say`Spaltentyp von ${name} von ${before} in ${after} ändern`,
      action: (name, clause, { after, before }) => say`${clause} von ${name} auf ${after} setzen${formerly(before)}`,
      unlimitCharacters: (name, before) => say`Begrenzung von ${name} auf ${before} Zeichen aufheben`,
      limitCharacters: (name, { after, before }) => say`${name} auf ${after} Zeichen begrenzen${formerly(before)}`,
      unlimitDigits: (name, before) => say`Begrenzung von ${name} auf ${before} Ziffern aufheben`,
      limitDigits: (name, { after, before }) => say`${name} auf ${after} Ziffern begrenzen${formerly(before)}`,
      label: (member) => GERMAN_MEMBERS[member] ?? `„${member}“`,
      remove: (label, name) => say`${label} von ${name} entfernen`,
      set: (label, name) => say`${label} von ${name} festlegen`,
      change: (label, name) => say`${label} von ${name} ändern`,
      setTo: (label, name, after) => say`${label} von ${name} auf ${after} setzen`,
      changeTo: (label, name, { before, after }) => say`${label} von ${name} von ${before} in ${after} ändern`,
    },
    title: {
      more: (count) => counted(count, 'weitere Änderung', 'weitere Änderungen'),
      andMore: (sentence, count) => `${sentence} (und ${count} weitere)`,
    },
    values: {
      absent: 'nicht vorhanden',
      present: 'vorhanden',
      made: 'neu',
      removed: 'gelöscht',
      changed: (members) => `geändert: ${members}`,
    },
    losses: {
      kept: 'Der Papierkorb bewahrt die Daten für begrenzte Zeit auf.',
      notKept: 'Der Papierkorb bewahrt die Daten nicht auf.',
      notKeptBecause: (reason) => `Der Papierkorb bewahrt die Daten nicht auf (${reason}).`,
    },
    policy: {
      noRule: 'keine Regel',
      yes: 'ja',
      no: 'nein',
      codeIn: (code, pattern) => `${code} in ${pattern}`,
      order: 'Reihenfolge der Muster',
    },
  },
);
