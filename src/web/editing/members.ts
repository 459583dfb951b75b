/* Derives the inputs of collections, fields and relations from the description of their documents. */
import type { z } from 'zod';
import { inLanguage } from '../shared/language.js';
import {
  type FormInput,
  collectionMeta,
  columnSchema,
  fieldMeta,
  foreignKey,
  memberOf,
  relationMembers,
  tableSchema,
} from '../../schema/model/model.js';

/** The German texts of members, their sections and options, and of interfaces. The keys are the English texts. */
export const GERMAN: Readonly<Record<string, string>> = {
  Appearance: 'Darstellung',
  'Position in the tree': 'Position im Baum',
  'Position in the form': 'Position im Formular',
  Items: 'Zeilen',
  Archive: 'Archiv',
  Table: 'Tabelle',
  Rules: 'Regeln',
  Icon: 'Icon',
  Color: 'Farbe',
  Note: 'Notiz',
  'Describes the purpose. Visible to all users.': 'Beschreibt den Zweck. Für alle Benutzer sichtbar.',
  'Display template': 'Anzeigevorlage',
  'How an item is displayed, for example {{ title }} by {{ author.name }}':
    'So wird eine Zeile angezeigt, zum Beispiel {{ title }} von {{ author.name }}',
  'Translated names': 'Übersetzte Namen',
  'Parent group': 'Übergeordnete Gruppe',
  'Sort order': 'Reihenfolge',
  'Position within its group, smallest first': 'Position in der Gruppe, kleinste zuerst',
  'Smallest first': 'Kleinste zuerst',
  'Nested collections': 'Enthaltene Collections',
  'Open by default': 'Anfangs aufgeklappt',
  'Closed by default': 'Anfangs zugeklappt',
  'Always open': 'Immer aufgeklappt',
  Hidden: 'Verborgen',
  'Shown only when hidden collections are displayed': 'Nur sichtbar, wenn verborgene Collections angezeigt werden',
  'Singleton (one item only)': 'Singleton (nur eine Zeile)',
  'Content versioning': 'Inhaltsversionen',
  'Sort field': 'Sortierfeld',
  Accountability: 'Protokollierung',
  'Activity and revisions': 'Aktivität und Revisionen',
  Activity: 'Aktivität',
  Nothing: 'Nichts',
  'Preview URL': 'Vorschau-URL',
  'https://example.com/{{ slug }}': 'https://example.com/{{ slug }}',
  'Duplicated fields': 'Kopierte Felder',
  'Fields that are copied with an item. Leave empty for all.':
    'Felder, die mit einer Zeile kopiert werden. Leer lassen für alle.',
  'Archive field': 'Archivfeld',
  'Archive value': 'Wert für archiviert',
  'Unarchive value': 'Wert für nicht archiviert',
  'Hide archived items by default': 'Archivierte Zeilen anfangs ausblenden',
  'Comment in the database': 'Kommentar in der Datenbank',
  Interface: 'Eingabe',
  'How users enter a value': 'So wird ein Wert eingegeben',
  'Interface options': 'Optionen der Eingabe',
  Display: 'Anzeige',
  'How lists show a value': 'So zeigen Listen einen Wert',
  'Display options': 'Optionen der Anzeige',
  Width: 'Breite',
  'An alias field that groups others': 'Ein Alias-Feld, das andere gruppiert',
  'Read only': 'Schreibgeschützt',
  'Required in forms': 'Pflichtfeld in Formularen',
  Validation: 'Validierung',
  'A filter that values must match': 'Ein Filter, den Werte erfüllen müssen',
  'Validation message': 'Meldung der Validierung',
  Conditions: 'Bedingungen',
  'Options that depend on other fields': 'Optionen, die von anderen Feldern abhängen',
  Special: 'Special',
  'How values are processed: uuid, date-created, cast-json …':
    'Verarbeitung der Werte: uuid, date-created, cast-json …',
  'Max length': 'Maximale Länge',
  Characters: 'Zeichen',
  Precision: 'Genauigkeit',
  'Total number of digits': 'Anzahl aller Stellen',
  Scale: 'Nachkommastellen',
  'Digits after the decimal point': 'Stellen nach dem Komma',
  'PostgreSQL type': 'PostgreSQL-Typ',
  Nullable: 'Null erlaubt',
  'Off: the field is required in every row': 'Aus: Das Feld ist in jeder Zeile erforderlich',
  Unique: 'Eindeutig',
  Indexed: 'Indiziert',
  'Primary key': 'Primärschlüssel',
  'Auto-increment': 'Auto-Increment',
  'Generated from': 'Berechnet aus',
  'An SQL expression that uses other columns of the row': 'Ein SQL-Ausdruck mit anderen Spalten der Zeile',
  'When an item is deselected': 'Wenn eine Zeile abgewählt wird',
  'Set the field to null': 'Feld auf null setzen',
  'Delete the item': 'Zeile löschen',
  'Related collections': 'Andere Collections',
  'On delete': 'Beim Löschen',
  'On update': 'Beim Ändern',
  'Constraint check': 'Prüfung des Constraints',
  'no action': 'no action',
  'set null': 'set null',
  'set default': 'set default',
  cascade: 'cascade',
  restrict: 'restrict',
  'immediate, not deferrable': 'sofort, nicht aufschiebbar',
  'deferrable, initially immediate': 'aufschiebbar, anfangs sofort',
  'deferrable, initially deferred': 'aufschiebbar, anfangs aufgeschoben',
  'Foreign key name': 'Name des Fremdschlüssels',
  Placeholder: 'Platzhalter',
  'Icon on the left': 'Icon links',
  'Icon on the right': 'Icon rechts',
  Font: 'Schriftart',
  'Suggested maximum length': 'Empfohlene maximale Länge',
  'Trim spaces at both ends': 'Leerzeichen am Rand entfernen',
  'Store an empty value as empty text instead of null': 'Leere Werte als leeren Text statt null speichern',
  'Hide the value': 'Wert verbergen',
  Choices: 'Auswahl',
  'Allow other values': 'Andere Werte erlauben',
  'Allow no value': 'Kein Wert erlaubt',
  'Item template': 'Vorlage der Zeile',
  'Upload folder': 'Ordner für Uploads',
  'Allow new items': 'Neue Zeilen erlauben',
  'Allow existing items': 'Vorhandene Zeilen erlauben',
  'Show a link to the item': 'Link zur Zeile anzeigen',
  'Items per page': 'Zeilen je Seite',
  Layout: 'Layout',
  'Table columns': 'Spalten der Tabelle',
  Filter: 'Filter',
  'Show seconds': 'Sekunden anzeigen',
  '24 hours': '24 Stunden',
  'Show as a circle': 'Als Kreis anzeigen',
  'Language name field': 'Feld mit dem Namen der Sprache',
  'Start with the language of the user': 'Mit der Sprache des Benutzers beginnen',
  'Default language': 'Standardsprache',
  'Icon if on': 'Icon für ein',
  'Icon if off': 'Icon für aus',
  'Color if on': 'Farbe für ein',
  'Color if off': 'Farbe für aus',
  'Text or number': 'Text oder Zahl',
  'Make it suitable for URLs': 'Für URLs umwandeln',
  Minimum: 'Minimum',
  Maximum: 'Maximum',
  Step: 'Schrittweite',
  'Multi-line text': 'Mehrzeiliger Text',
  'Rich text (HTML)': 'Formatierter Text (HTML)',
  Toolbar: 'Symbolleiste',
  Markdown: 'Markdown',
  'First view': 'Erste Ansicht',
  'Editor font': 'Schriftart im Editor',
  'Preview font': 'Schriftart der Vorschau',
  Code: 'Code',
  Language: 'Sprache',
  'Show line numbers': 'Zeilennummern anzeigen',
  'Wrap long lines': 'Lange Zeilen umbrechen',
  'First content': 'Anfangsinhalt',
  Hash: 'Hash',
  'Suggestions from another server': 'Vorschläge von einem anderen Server',
  Address: 'Adresse',
  'Path to the list': 'Pfad zur Liste',
  'Path to the text': 'Pfad zum Text',
  'Path to the value': 'Pfad zum Wert',
  Trigger: 'Auslöser',
  'Milliseconds between requests': 'Millisekunden zwischen Anfragen',
  Checkbox: 'Kontrollkästchen',
  Label: 'Beschriftung',
  'Date and time': 'Datum und Uhrzeit',
  Number: 'Zahl',
  Slider: 'Schieberegler',
  'Always show the value': 'Wert immer anzeigen',
  Tags: 'Schlagwörter',
  Suggestions: 'Vorschläge',
  'Allow other tags': 'Andere Schlagwörter erlauben',
  'Sort by name': 'Nach Namen sortieren',
  Capitalization: 'Groß- und Kleinschreibung',
  'Replace spaces with': 'Leerzeichen ersetzen durch',
  'List of objects': 'Liste von Objekten',
  'Button label': 'Beschriftung der Schaltfläche',
  Fields: 'Felder',
  Map: 'Karte',
  'Allow transparency': 'Transparenz erlauben',
  Presets: 'Vorgaben',
  Dropdown: 'Auswahlliste',
  Checkboxes: 'Kontrollkästchen',
  'Choices shown initially': 'Anfangs gezeigte Auswahl',
  'Dropdown with several values': 'Auswahlliste mit mehreren Werten',
  'Radio buttons': 'Optionsfelder',
  File: 'Datei',
  Image: 'Bild',
  'Crop to fit': 'Passend zuschneiden',
  'Fit inside': 'Vollständig einpassen',
  Files: 'Dateien',
  'One item': 'Eine Zeile',
  'Items that reference this one': 'Zeilen, die auf diese verweisen',
  'Items through a junction': 'Zeilen über eine Verbindung',
  'Allow duplicates': 'Duplikate erlauben',
  'Items from any collection': 'Zeilen beliebiger Collections',
  Prefix: 'Präfix',
  Translations: 'Übersetzungen',
  Divider: 'Trennlinie',
  Title: 'Titel',
  'Title on the line': 'Titel auf der Linie',
  'More space above': 'Mehr Abstand oben',
  'Buttons with links': 'Schaltflächen mit Links',
  Links: 'Links',
  Notice: 'Hinweis',
  Text: 'Text',
  Kind: 'Art',
  'Accordion group': 'Akkordeon-Gruppe',
  'Open only one section at a time': 'Nur einen Abschnitt zugleich öffnen',
  'At first': 'Anfangs',
  'Collapsible group': 'Aufklappbare Gruppe',
  'Group without a border': 'Gruppe ohne Rahmen',
  'As stored': 'Wie gespeichert',
  'Formatted value': 'Formatierter Wert',
  'Format automatically': 'Automatisch formatieren',
  Suffix: 'Suffix',
  Bold: 'Fett',
  Italic: 'Kursiv',
  Background: 'Hintergrund',
  Border: 'Rahmen',
  'Formatted JSON': 'Formatiertes JSON',
  Template: 'Vorlage',
  'Yes or no': 'Ja oder Nein',
  'Label if on': 'Beschriftung für ein',
  'Label if off': 'Beschriftung für aus',
  'Default color': 'Standardfarbe',
  'Collection name': 'Name der Collection',
  'Show the icon': 'Icon anzeigen',
  'Relative to now': 'Relativ zu jetzt',
  Format: 'Format',
  'Words such as "ago"': 'Wörter wie „vor“',
  'File size': 'Dateigröße',
  Filled: 'Gefüllt',
  Labels: 'Etiketten',
  Dots: 'Punkte',
  'Media type': 'Medientyp',
  'Show the file extension': 'Dateiendung anzeigen',
  Stars: 'Sterne',
  'Show a number': 'Zahl anzeigen',
  'Values of related items': 'Werte verbundener Zeilen',
  User: 'Benutzer',
  Show: 'Anzeigen',
};

const memberTexts = inLanguage<Readonly<Record<string, string>>>({}, GERMAN);

/** Returns the text of a member, section or interface in the language of the app. */
export const memberText = (english: string): string => memberTexts[english] ?? english;

/** Explains the types whose names do not. */
const typeHints: Readonly<Record<string, string>> = inLanguage(
  {
    string: 'text of limited length',
    text: 'text of any length',
    bigInteger: 'integers above 2 billion',
    float: 'rounded numbers',
    decimal: 'exact numbers, such as prices',
    dateTime: 'without a time zone',
    timestamp: 'with a time zone',
    csv: 'a list of words',
    hash: 'a value that Directus hashes',
    alias: 'no column',
  },
  {
    string: 'Text begrenzter Länge',
    text: 'Text beliebiger Länge',
    bigInteger: 'ganze Zahlen über 2 Milliarden',
    float: 'gerundete Zahlen',
    decimal: 'exakte Zahlen, etwa Preise',
    dateTime: 'ohne Zeitzone',
    timestamp: 'mit Zeitzone',
    csv: 'eine Liste von Wörtern',
    hash: 'ein Wert, den Directus hasht',
    alias: 'keine Spalte',
  },
);

/** Returns options with the types and short explanations. */
export const typeOptions = (types: readonly string[]): { value: string; label: string }[] =>
  types.map((value) => ({ value, label: value in typeHints ? `${value} – ${typeHints[value]}` : value }));

type Option = NonNullable<FormInput['options']>[number];

/** Values without a label of their own are not translated. */
const optionText = (option: Option): Option =>
  typeof option === 'string' ? option : { ...option, label: memberText(option.label) };

/** The input of a member. */
export interface Member extends Omit<FormInput, 'section' | 'position'> {
  /** The path in the document: `meta.note`. */
  path: string;
}

export interface Section {
  title: string;
  members: readonly Member[];
}

/**
 * Returns the inputs of a section in order.
 * @param part the prefix of their paths: `meta.`, `schema.` or nothing
 */
function membersIn(section: string, part: string, { shape }: z.ZodObject): Member[] {
  return Object.entries(shape)
    .map(([name, member]) => ({ path: part + name, ...memberOf(member).input }))
    .filter((input): input is { path: string } & FormInput => input.section === section)
    .sort((a, b) => a.position - b.position)
    .map(({ label, help, options, ...input }) => ({
      ...input,
      label: memberText(label),
      ...(help !== undefined && { help: memberText(help) }),
      ...(options && { options: options.map(optionText) }),
    }));
}

/** The input of one member. */
export function memberAt(path: string, members: readonly Member[]): Member {
  const member = members.find((each) => each.path === path);
  if (member === undefined) throw new Error(`${path} has no input`);
  return member;
}

const sectionsOf = (document: z.ZodObject, titles: readonly string[]): Section[] =>
  titles.map((title) => ({ title, members: membersIn(title, 'meta.', document) }));

export const FOLDER_SECTIONS: readonly Section[] = sectionsOf(collectionMeta, ['Appearance', 'Position in the tree']);

export const COLLECTION_SECTIONS: readonly Section[] = [
  ...FOLDER_SECTIONS,
  ...sectionsOf(collectionMeta, ['Items', 'Archive']),
  { title: 'Table', members: membersIn('Table', 'schema.', tableSchema) },
];

export const FIELD_SECTIONS: readonly Section[] = sectionsOf(fieldMeta, [
  'Appearance',
  'Position in the form',
  'Rules',
]);

const columnMembers = (section: string): readonly Member[] => membersIn(section, 'schema.', columnSchema);

/** Members that depend on the data type. */
export const COLUMN_TYPE = columnMembers('Type');
export const COLUMN_FLAGS = columnMembers('Flags');
export const COLUMN_TEXTS = columnMembers('Texts');

export const RELATION_MEMBERS = membersIn('Relation', '', relationMembers);
export const FOREIGN_KEY_MEMBERS = membersIn('Foreign key', 'schema.', foreignKey);
