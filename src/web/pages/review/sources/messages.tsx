/** The texts of the sources of a review: the draft, a past schema, an environment, and a file. */
import type { ReactNode } from 'react';
import { inLanguage, locale } from '../../../shared/language.js';
import { named } from '../../../shared/name.js';
import { counted } from '../../../shared/text.js';

const digits = (value: number): string => value.toLocaleString(locale);

export const messages = inLanguage(
  {
    compare: 'Compare',
    draft: {
      title: 'Your draft',
      loading: 'Loading the current schema',
      about: 'Your pending changes. Other users do not see them until you apply or propose them.',
    },
    past: {
      title: (time: string) => `Go back to ${time}`,
      about: 'The service reverts later changes with new events. It deletes nothing from the event log.',
      loading: 'Comparing the schemas',
      beginning: 'the beginning',
      event: (position: number) => `event ${digits(position)}`,
    },
    environment: {
      unnamed: 'Changes in an environment',
      title: (name: string) => `Changes from ${name}`,
      about:
        'The changes in the environment since the last schema that both had in common. Changes in this service are kept.',
      loading: 'Comparing with the environment',
    },
    base: {
      label: 'Created from',
      current: 'Current schema',
      fromName: (time: string) => `${time} (from the file name)`,
      change: (position: number, time: string, summary: string) => `Event ${digits(position)}, ${time}: ${summary}`,
      other: 'Other date and time …',
      time: 'Created at',
      unknown:
        'Where the file and the current schema differ, the file wins. If others have changed the schema since the file was created, choose the schema that it was created from to keep their changes.',
      unchanged: 'The schema has not changed since then.',
      kept: (objects: number) =>
        `${objects === 1 ? 'One object has' : `${digits(objects)} objects have`} changed since then. These changes are kept unless the file changes the same values.`,
      hide: 'Hide changes',
      show: 'Show changes',
      revertToo: 'Revert these too',
    },
    collections: {
      choose: 'Choose or rename collections',
      title: 'Collections of the file',
      close: 'Close',
      about: 'Excluded collections stay unchanged. A new name also changes the relations in the file, but no SQL text.',
      find: 'Find a collection',
      findOne: (count: number) => `Find one of ${counted(count, 'collection')}`,
      includeAll: 'Include all',
      includeThese: 'Include these',
      excludeAll: 'Exclude all',
      excludeThese: 'Exclude these',
      import: (name: string) => named`Import ${name}`,
      importAs: (name: string) => named`Import ${name} as`,
      taken: 'Another collection of the file has this name.',
      more: (count: number) => `and ${digits(count)} more`,
      renamed: (from: string, to: string) => `${from} as ${to}`,
      notImported: (names: string) => `Not imported: ${names}.`,
      otherNames: (names: string) => `Imported under another name: ${names}.`,
      importAll: 'Import all collections',
    },
    file: {
      loading: 'Loading the file',
      comparing: 'Comparing the file with the schema',
      lookingForBase: 'Looking for the schema of the file',
      loadingLater: 'Loading later changes',
      askBase: (time: string, objects: number) =>
        `The file name is dated ${time}. ${objects === 1 ? 'One object has changed' : `${digits(objects)} objects have changed`} since then. Which schema was the file created from?`,
      ownSchema: 'This schema, at that time',
      aboutOwnSchema: 'Later changes are kept. If the file changes the same values, you choose.',
      otherSchema: 'The schema of another environment',
      aboutOtherSchema:
        'The whole file is compared with the current schema. Later changes that differ from the file are reverted. Also choose this to restore an old state.',
      laterChanges: 'Later changes',
      missing: (link: (label: string) => ReactNode): ReactNode => (
        <>This browser no longer has that file. {link('Import it again.')}</>
      ),
      directus: (release: string) =>
        `Directus ${release} snapshot. Unsupported parts are skipped, and the findings name them.`,
      foreign: 'Another release or product wrote this file. Unsupported parts are skipped, and the findings name them.',
      importAnyway: 'Import anyway',
      importAnother: 'Import another file',
      importWithoutOne: (name: string) => `Import without “${name}”`,
      importWithout: (count: number) => `Import without ${counted(count, 'collection')}`,
      othersCompared: (failing: number) =>
        `The other collections of the file are compared. ${failing === 1 ? 'It stays' : 'They stay'} unchanged.`,
      mirror: 'Delete what is missing from the file',
      accept: 'Accept another release or product',
      complete: 'The file contains every collection of the current schema.',
      lacks: (count: number) => `The file lacks ${counted(count, 'collection')} of the current schema.`,
    },
    upload: {
      drop: 'Drop a snapshot here',
      about:
        'A JSON or YAML snapshot from this service, another environment or Directus. You review the changes before anything is applied.',
      file: 'Snapshot file',
      choose: 'Choose file',
      paste: 'Paste text',
      text: 'Snapshot text',
      pasted: 'Pasted snapshot',
      empty: (name: string) => `${name} is empty.`,
      tooLarge: (name: string) => `${name} is larger than the service accepts.`,
      unreadable: (name: string) => `${name} cannot be read.`,
      noFile: 'Drop a file, not text or a link.',
    },
  },
  {
    compare: 'Vergleichen',
    draft: {
      title: 'Ihr Entwurf',
      loading: 'Aktuelles Schema wird geladen',
      about: 'Ihre ausstehenden Änderungen. Andere Benutzer sehen sie erst, wenn sie angewendet oder beantragt sind.',
    },
    past: {
      title: (time) => `Zurück zu: ${time}`,
      about:
        'Der Dienst macht spätere Änderungen mit neuen Ereignissen rückgängig. Aus dem Ereignisprotokoll löscht er nichts.',
      loading: 'Schemas werden verglichen',
      beginning: 'Anfang',
      event: (position) => `Ereignis ${digits(position)}`,
    },
    environment: {
      unnamed: 'Änderungen in einer Umgebung',
      title: (name) => `Änderungen aus ${name}`,
      about:
        'Die Änderungen in der Umgebung seit dem letzten gemeinsamen Schema. Änderungen in diesem Dienst bleiben erhalten.',
      loading: 'Vergleich mit der Umgebung läuft',
    },
    base: {
      label: 'Erstellt aus',
      current: 'Aktuelles Schema',
      fromName: (time) => `${time} (aus dem Dateinamen)`,
      change: (position, time, summary) => `Ereignis ${digits(position)}, ${time}: ${summary}`,
      other: 'Anderes Datum …',
      time: 'Erstellt am',
      unknown:
        'Die Datei wird mit dem aktuellen Schema verglichen, und abweichende Änderungen werden rückgängig gemacht. Um spätere Änderungen zu behalten, das Schema wählen, aus dem die Datei erstellt wurde.',
      unchanged: 'Das Schema hat sich seitdem nicht geändert.',
      kept: (objects) =>
        `${objects === 1 ? 'Ein Objekt hat' : `${digits(objects)} Objekte haben`} sich seitdem geändert. Diese Änderungen bleiben erhalten, sofern die Datei nicht dieselben Werte ändert.`,
      hide: 'Änderungen ausblenden',
      show: 'Änderungen anzeigen',
      revertToo: 'Auch zurücksetzen',
    },
    collections: {
      choose: 'Collections auswählen oder umbenennen',
      title: 'Collections der Datei',
      close: 'Schließen',
      about:
        'Ausgeschlossene Collections bleiben unverändert. Ein neuer Name ändert auch die Relationen in der Datei, aber keinen SQL-Text.',
      find: 'Collection suchen',
      findOne: (count) => `${counted(count, 'Collection', 'Collections')} durchsuchen`,
      includeAll: 'Alle einschließen',
      includeThese: 'Diese einschließen',
      excludeAll: 'Alle ausschließen',
      excludeThese: 'Diese ausschließen',
      import: (name) => named`${name} importieren`,
      importAs: (name) => named`${name} importieren als`,
      taken: 'Eine andere Collection der Datei hat diesen Namen.',
      more: (count) => `und ${digits(count)} weitere`,
      renamed: (from, to) => `${from} als ${to}`,
      notImported: (names) => `Nicht importiert: ${names}.`,
      otherNames: (names) => `Unter anderem Namen importiert: ${names}.`,
      importAll: 'Alle Collections importieren',
    },
    file: {
      loading: 'Datei wird geladen',
      comparing: 'Datei wird mit dem Schema verglichen',
      lookingForBase: 'Schema der Datei wird gesucht',
      loadingLater: 'Spätere Änderungen werden geladen',
      askBase: (time, objects) =>
        `Der Dateiname trägt die Zeit ${time}. ${objects === 1 ? 'Seitdem hat sich ein Objekt' : `Seitdem haben sich ${digits(objects)} Objekte`} geändert. Aus welchem Schema wurde die Datei erstellt?`,
      ownSchema: 'Dieses Schema, zu jener Zeit',
      aboutOwnSchema:
        'Spätere Änderungen bleiben erhalten. Ändert die Datei dieselben Werte, lässt sich der gewünschte Wert auswählen.',
      otherSchema: 'Schema einer anderen Umgebung',
      aboutOtherSchema:
        'Die ganze Datei wird mit dem aktuellen Schema verglichen. Spätere Änderungen, die von der Datei abweichen, werden rückgängig gemacht. Auch zum Wiederherstellen eines alten Stands geeignet.',
      laterChanges: 'Spätere Änderungen',
      missing: (link) => <>Dieser Browser hat die Datei nicht mehr. {link('Erneut importieren.')}</>,
      directus: (release) =>
        `Snapshot von Directus ${release}. Nicht unterstützte Teile werden ausgelassen und in den Befunden genannt.`,
      foreign:
        'Eine andere Version oder ein anderes Produkt hat diese Datei geschrieben. Nicht unterstützte Teile werden ausgelassen und in den Befunden genannt.',
      importAnyway: 'Trotzdem importieren',
      importAnother: 'Andere Datei importieren',
      importWithoutOne: (name) => `Ohne „${name}“ importieren`,
      importWithout: (count) => `Ohne ${counted(count, 'Collection', 'Collections')} importieren`,
      othersCompared: (failing) =>
        `Die übrigen Collections der Datei werden verglichen. ${failing === 1 ? 'Diese bleibt' : 'Diese bleiben'} unverändert.`,
      mirror: 'Löschen, was in der Datei fehlt',
      accept: 'Andere Version oder anderes Produkt akzeptieren',
      complete: 'Die Datei enthält alle Collections des aktuellen Schemas.',
      lacks: (count) =>
        `In der Datei ${count === 1 ? 'fehlt 1 Collection' : `fehlen ${digits(count)} Collections`} des aktuellen Schemas.`,
    },
    upload: {
      drop: 'Snapshot hier ablegen',
      about:
        'Ein Snapshot in JSON oder YAML aus diesem Dienst, einer anderen Umgebung oder Directus. Die Änderungen werden vor dem Anwenden geprüft.',
      file: 'Snapshot-Datei',
      choose: 'Datei auswählen',
      paste: 'Text einfügen',
      text: 'Text des Snapshots',
      pasted: 'Eingefügter Snapshot',
      empty: (name) => `${name} ist leer.`,
      tooLarge: (name) => `${name} ist größer, als der Dienst annimmt.`,
      unreadable: (name) => `${name} lässt sich nicht lesen.`,
      noFile: 'Bitte eine Datei ablegen, keinen Text oder Link.',
    },
  },
);
