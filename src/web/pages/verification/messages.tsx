import type { ReactNode } from 'react';
import { inLanguage, locale } from '../../shared/language.js';
import { named } from '../../shared/name.js';
import { counted } from '../../shared/text.js';

const digits = (value: number): string => value.toLocaleString(locale);

const secondsText = (seconds: number): string =>
  seconds.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const messages = inLanguage(
  {
    title: 'Verification',
    about:
      'Every event contains the hash of the previous event. This page reads the whole event log and recomputes the hash chain in your browser, without trusting the service. A log that was rewritten completely also has a valid chain. Compare it with a hash or checkpoint that you stored elsewhere.',
    files: 'Checkpoint files',
    aboutFiles: 'Optional. Files that end in .checkpoint.',
    none: 'None',
    clear: 'Clear',
    expected: 'Expected hash of the last event',
    aboutExpected: 'Optional. 64 hexadecimal digits.',
    verify: 'Verify the event log',
    verifyEvents: (count: number) => `Verify ${digits(count)} events`,
    stop: 'Stop',
    progress: (checked: number, total: number) => `${digits(checked)} of ${digits(total)}`,
    progressLabel: (checked: number, total: number) => named`${digits(checked)} of ${digits(total)} events verified`,
    errors: {
      stopped: 'The verification was stopped.',
      failed: (cause: string) => `The verification failed to run. ${cause}`,
      noLog: 'The service sent no event log.',
      noCheckpoint: (file: string) => `${file} is not a checkpoint.`,
    },
    result: {
      valid: (events: number, seconds: number) =>
        named`The hash chain is valid: ${digits(events)} events in ${secondsText(seconds)} s`,
      head: (time: ReactNode): ReactNode => (
        <>
          Hash of the last event, {time}. Store it, or a checkpoint, where the operator of the service cannot change it:
        </>
      ),
      copyHash: 'Copy hash',
      erased: (events: number) =>
        `Personal data was erased from ${counted(events, 'event')}. A log.erased event names each of them.`,
      broken: (position: number) => named`The hash chain is broken at event ${digits(position)}`,
      aboutBroken: (position: number, reason: string, valid: number) =>
        `Event ${position}: ${reason}. Events up to ${digits(valid)} are valid.`,
      showSchema: 'Show the schema at that event',
      disallowed: 'Some changes were not allowed or not reviewed',
      disallowedEvent: (position: number, reason: string) => `Event ${position}: ${reason}`,
      hashMatches: 'The hash of the last event matches',
      hashDiffers: 'The hash of the last event differs',
      aboutDifference:
        'Either new events were added or the event log was rewritten. A checkpoint for that position shows which.',
    },
    checkpoint: {
      matches: (file: string) => named`${file}: matches`,
      differs: (file: string) => named`${file}: differs`,
      unchanged: (position: number) =>
        `The events up to position ${digits(position)} have not changed since the checkpoint was signed.`,
      ends: (position: number) =>
        `The event log ends at position ${position}. Later events were deleted or not exported.`,
      broken: (position: number) => `The hash chain is already broken at position ${position}.`,
      rewritten: (position: number) =>
        `The hash at position ${position} differs. The event log was rewritten at or before this position.`,
      otherLog: (origin: string) => `The checkpoint belongs to another event log (${origin}).`,
      signature: 'Run dps verify with your stored keys to verify the signature.',
    },
  },
  {
    title: 'Verifizierung',
    about:
      'Jedes Ereignis enthält den Hash des vorherigen. Diese Seite liest das ganze Ereignisprotokoll und berechnet die Hash-Kette im Browser neu, ohne dem Dienst zu vertrauen. Auch ein vollständig umgeschriebenes Protokoll hat eine gültige Kette. Deshalb sollte es mit einem Hash oder Prüfpunkt verglichen werden, der an anderer Stelle gespeichert ist.',
    files: 'Prüfpunktdateien',
    aboutFiles: 'Optional. Dateien mit der Endung .checkpoint.',
    none: 'Keine',
    clear: 'Leeren',
    expected: 'Erwarteter Hash des letzten Ereignisses',
    aboutExpected: 'Optional. 64 hexadezimale Ziffern.',
    verify: 'Ereignisprotokoll verifizieren',
    verifyEvents: (count) => `${counted(count, 'Ereignis', 'Ereignisse')} verifizieren`,
    stop: 'Abbrechen',
    progress: (checked, total) => `${digits(checked)} von ${digits(total)}`,
    progressLabel: (checked, total) => named`${digits(checked)} von ${digits(total)} Ereignissen verifiziert`,
    errors: {
      stopped: 'Die Verifizierung wurde abgebrochen.',
      failed: (cause) => `Die Verifizierung konnte nicht ausgeführt werden. ${cause}`,
      noLog: 'Der Dienst hat kein Ereignisprotokoll gesendet.',
      noCheckpoint: (file) => `${file} ist kein Prüfpunkt.`,
    },
    result: {
      valid: (events, seconds) =>
        named`Die Hash-Kette ist gültig: ${counted(events, 'Ereignis', 'Ereignisse')} in ${secondsText(seconds)} s`,
      head: (time) => (
        <>
          Hash des letzten Ereignisses, {time}. Den Hash oder einen Prüfpunkt dort speichern, wo der Betreiber des
          Dienstes ihn nicht ändern kann:
        </>
      ),
      copyHash: 'Hash kopieren',
      erased: (events) =>
        `Aus ${counted(events, 'Ereignis', 'Ereignissen')} wurden personenbezogene Daten gelöscht. Ein Ereignis log.erased nennt jedes davon.`,
      broken: (position) => named`Die Hash-Kette ist bei Ereignis ${digits(position)} unterbrochen`,
      aboutBroken: (position, reason, valid) =>
        `Ereignis ${position}: ${reason}. Die Ereignisse bis ${digits(valid)} sind gültig.`,
      showSchema: 'Schema bei diesem Ereignis anzeigen',
      disallowed: 'Einige Änderungen waren nicht erlaubt oder nicht geprüft',
      disallowedEvent: (position, reason) => `Ereignis ${position}: ${reason}`,
      hashMatches: 'Der Hash des letzten Ereignisses stimmt überein',
      hashDiffers: 'Der Hash des letzten Ereignisses weicht ab',
      aboutDifference:
        'Entweder sind neue Ereignisse hinzugekommen, oder das Ereignisprotokoll wurde umgeschrieben. Ein Prüfpunkt für diese Position zeigt, was zutrifft.',
    },
    checkpoint: {
      matches: (file) => named`${file}: stimmt überein`,
      differs: (file) => named`${file}: weicht ab`,
      unchanged: (position) =>
        `Die Ereignisse bis Position ${digits(position)} sind seit der Signatur des Prüfpunkts unverändert.`,
      ends: (position) =>
        `Das Ereignisprotokoll endet bei Position ${position}. Spätere Ereignisse wurden gelöscht oder nicht exportiert.`,
      broken: (position) => `Die Hash-Kette ist schon bei Position ${position} unterbrochen.`,
      rewritten: (position) =>
        `Der Hash bei Position ${position} weicht ab. Das Ereignisprotokoll wurde an oder vor dieser Position umgeschrieben.`,
      otherLog: (origin) => `Der Prüfpunkt gehört zu einem anderen Ereignisprotokoll (${origin}).`,
      signature: 'Die Signatur prüft dps verify mit den gespeicherten Schlüsseln.',
    },
  },
);
