/** The texts of the tabs that show the service: health, checks, metrics, change requests and adoption. */
import type { ReactNode } from 'react';
import type { Drift, Examination } from '../../service/types.js';
import { inLanguage, locale } from '../../shared/language.js';
import { named } from '../../shared/name.js';
import { counted } from '../../shared/text.js';

const digits = (value: number): string => value.toLocaleString(locale);

/** Returns the plural of a kind of object in PostgreSQL. */
const pluralOf = (kind: string): string =>
  /[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : /(?:x|s)$/.test(kind) ? `${kind}es` : `${kind}s`;

const listed = (parts: readonly string[]): string => parts.join(', ');

type Severity = Examination['checks'][number]['result'];

interface Adopted {
  tables: number;
  relations: number;
  events: number | undefined;
  names: string;
}

interface Rows {
  rows: number | null;
  partitions: number;
  parent: string | undefined;
}

export const messages = inLanguage(
  {
    title: 'Operations',
    /** The title of the window: `Trash · Operations`. */
    titleOf: (tab: string) => `${tab} · Operations`,
    close: 'Close',
    tabs: {
      health: 'Health',
      checks: 'Checks',
      changes: 'Change requests',
      policy: 'Policy',
      trash: 'Trash',
      adopt: 'Adopt',
      webhooks: 'Webhooks',
      environments: 'Environments',
      trust: 'Trust rules',
      metrics: 'Metrics',
    },
    health: {
      title: 'Health',
      about: 'The service reports its own health. This page updates every few seconds.',
      loading: 'Loading health',
      state: (check: string, isHealthy: boolean) => `${check}: ${isHealthy ? 'healthy' : 'unhealthy'}`,
    },
    projections: {
      title: 'Projections',
      about: 'The service derives tables, metadata rows and indexes from the event log. You can rebuild each of them.',
      loading: 'Loading the projections',
      upToDate: (position: number) => `up to date, event ${position}`,
      behind: (lag: number, position: number) => `${lag} events behind, at event ${position}`,
      rebuilt: 'Rebuilt from the event log.',
      stopped: (position: number) => named`The projection stopped before event ${position}`,
      rebuild: 'Rebuild',
      confirmRebuild: 'Yes, rebuild',
      rebuilding: (name: string) => named`Rebuilding ${name}`,
      rebuildingSince: (since: ReactNode, percent: number | null): ReactNode => (
        <>
          Rebuilding since {since}
          {percent !== null && `, ${percent} %`}
        </>
      ),
    },
    doctor: {
      title: 'Doctor',
      about:
        'Checks the server, settings, privileges, migrations, event log, notifications and projections, like “dps doctor”. It reads the whole event log.',
      run: 'Run checks',
      noFindings: (checks: number) => `${checks} checks, no findings`,
      findings: (count: number) => counted(count, 'finding'),
      severities: { ok: 'ok', warning: 'warning', error: 'error', skipped: 'skipped' } satisfies Record<
        Severity,
        string
      >,
      copyFix: (code: string) => `Copy the fix for ${code}`,
      checks: 'Checks',
    },
    drift: {
      title: 'Drift',
      about:
        'Changes that someone made in the database without the service. Repair the database, or accept the changes into the event log.',
      check: 'Check for drift',
      none: 'No drift: the database matches the event log',
      differing: (tables: number, views: number) =>
        listed([
          ...(tables === 0 ? [] : [tables === 1 ? '1 table differs' : `${tables} tables differ`]),
          ...(views === 0 ? [] : [views === 1 ? '1 view differs' : `${views} views differ`]),
        ]),
      unmanagedTables: (names: string) => `Unmanaged tables (not drift): ${names}`,
      unmanagedObjects: (names: string) => `Unmanaged tables and objects (not drift): ${names}`,
      kinds: { missing: 'missing', different: 'different', 'not wanted': 'not wanted' } satisfies Record<
        Drift['tables'][number]['kind'],
        string
      >,
      difference: (member: string, expected: string, found: string) =>
        `${member}: ${expected} in the event log, ${found} in the database`,
      toRepair: (summary: string) => `To repair: ${summary}`,
      toRepairAndLose: (summary: string) => `To repair: ${summary} (drops an object or may lose values)`,
      repairHint:
        'You can also repair the tables. The service runs the statements above in one transaction. It skips statements that drop an object.',
      repair: 'Repair tables',
      confirmRepair: 'Yes, repair tables',
      repaired: (made: number, left: number) =>
        left === 0
          ? `The service ran ${counted(made, 'statement')}.`
          : `The service ran ${counted(made, 'statement')} and skipped ${left}. Run the skipped ones yourself.`,
      reasonFor: (name: string) => `Reason for accepting ${name}`,
      accept: 'Accept',
      confirmAccept: 'Yes, accept drift',
    },
    scheduled: {
      title: 'Found by the scheduled comparison',
      drift: (since: ReactNode, names: ReactNode): ReactNode => (
        <>
          The database differs from the event log, since {since}: {names}. Check for drift below to see each difference.
        </>
      ),
      verification: (since: ReactNode, faults: string): ReactNode => (
        <>
          The verification fails, since {since}: {faults}.
        </>
      ),
    },
    verification: {
      title: 'Verification',
      about:
        'The service recomputes the hash chain of the event log and reports the first position at which it is broken, and changes that the policy did not allow or that differ from the plan of their change request.',
      verify: 'Verify the event log',
      verified: (events: number) => `${digits(events)} events verified`,
      failed: 'Verification failed',
      broken: (position: number, reason: string) => `Broken at event ${position}: ${reason}`,
      disallowed: (position: number, reason: string) => `Change at event ${position} was not allowed: ${reason}`,
      head: (position: number, hash: ReactNode): ReactNode => (
        <>
          Hash of the last event, {position}: {hash}
        </>
      ),
    },
    comparison: {
      title: 'Compare projections',
      about: 'The service compares the state of the event log with the metadata rows and the PostgreSQL catalog.',
      compare: 'Compare',
      none: (position: number) => `No differences at event ${position}`,
      differences: (count: number) => counted(count, 'difference'),
      location: (object: string, projection: string) => `${object} in the ${projection}`,
      difference: (member: string, expected: string, found: string) =>
        `${member}: ${expected} in the event log, ${found} found`,
    },
    metrics: {
      loading: 'Loading the metrics',
      about: (seconds: number): ReactNode => (
        <>
          Metrics of the process that responds, read every {seconds} seconds while this page is open. For longer periods
          and several processes, use the Grafana dashboard and the alert rules in <code>deploy/</code>.
        </>
      ),
      charts: 'The charts appear after the second reading.',
      requests: 'Requests',
      latency: 'Latency',
      commands: 'Commands',
      rejectedCommands: 'Rejected commands',
      perSecond: 'per second',
      responseTime: 'response time',
      now: 'Now',
      aboutNow: 'Values of the last reading.',
      rejections: 'Rejections by code',
      aboutRejections: 'Since the process started.',
      succeeded: 'succeeded',
      rejected: 'rejected',
      failed: 'failed',
      median: 'median',
      accepted: 'accepted',
      unchanged: 'no changes',
      byValidation: 'by validation',
      byPostgres: 'by PostgreSQL, or temporary',
      commandsAccepted: 'commands accepted',
      eventsWritten: 'events written',
      waitingRequests: 'requests waiting for a connection',
      memory: 'memory',
      cachedResponses: 'cached responses',
      eventLoopLag: 'event loop lag, 99 %',
    },
    changes: {
      loadingOne: 'Loading the change request',
      loading: 'Loading the change requests',
      older: 'Show older requests',
      none: 'No change requests',
      about: (parameter: ReactNode): ReactNode => (
        <>
          Online changes to large tables appear here while the service prepares them. Choose “Online” in the options of
          a review, or send {parameter}.
        </>
      ),
      openedBy: (operation: string, author: string, since: ReactNode): ReactNode => (
        <>
          {operation}, opened by {author} {since}
        </>
      ),
      showApplied: 'Show applied change',
      details: 'Details',
      detailsOf: (collections: string) => named`Details of ${collections}`,
    },
    adopt: {
      onlyAdmins: 'Only admins can adopt tables.',
      refused: 'No table was adopted',
      adopted: (count: number) => named`${counted(count, 'table')} adopted`,
      loading: 'Loading unmanaged tables',
      none: 'No unmanaged tables',
      aboutNone: 'Tables that someone creates directly in the database appear here. You can adopt them as collections.',
      unmanaged: 'Unmanaged tables',
      about:
        'Adopting does not change the table. Its columns become fields and its foreign keys become relations. The service records all later changes in the event log. The row counts are PostgreSQL estimates.',
      filter: 'Filter',
      partOfName: 'Part of the name',
      selectAll: (count: number) => `Select all ${count}`,
      selectThese: (count: number) => `Select these ${count}`,
      clearSelection: 'Clear selection',
      dryRun: 'Dry run',
      submit: 'Adopt',
      submitTables: (count: number) => `Adopt ${counted(count, 'table')}`,
      tables: 'Tables',
      partitionsOf: (table: string) => named`Partitions of ${table}`,
      more: (count: number) => `and ${digits(count)} more. Use the filter to find them.`,
      rows: ({ rows, partitions, parent }: Rows) =>
        listed([
          rows === null ? 'rows not counted yet' : `about ${counted(rows, 'row')}`,
          ...(partitions > 0 ? [counted(partitions, 'partition')] : []),
          ...(parent === undefined ? [] : [`partition of ${parent}`]),
        ]),
      report: ({ tables, relations, events, names }: Adopted) =>
        `${counted(tables, 'table')} with ${counted(relations, 'relation')}${events === undefined ? '' : `, ${counted(events, 'event')}`}. ${names}`,
      trialReport: (report: string) => `Dry run: ${report}`,
      unsupported: (count: number, kinds: string) => `${counted(count, 'object')} will not be managed: ${kinds}`,
      unsupportedObjects: 'Objects that will not be managed',
      noTable: 'No table',
      kindCount: (count: number, kind: string) => counted(count, kind, pluralOf(kind)),
    },
  },
  {
    title: 'Betrieb',
    titleOf: (tab) => `${tab} · Betrieb`,
    close: 'Schließen',
    tabs: {
      health: 'Zustand',
      checks: 'Diagnose',
      changes: 'Änderungsanträge',
      policy: 'Richtlinie',
      trash: 'Papierkorb',
      adopt: 'Übernehmen',
      webhooks: 'Webhooks',
      environments: 'Umgebungen',
      trust: 'Vertrauensregeln',
      metrics: 'Metriken',
    },
    health: {
      title: 'Zustand',
      about: 'Der Dienst meldet seinen eigenen Zustand. Diese Seite wird alle paar Sekunden aktualisiert.',
      loading: 'Zustand wird geladen',
      state: (check, isHealthy) => `${check}: ${isHealthy ? 'in Ordnung' : 'gestört'}`,
    },
    projections: {
      title: 'Projektionen',
      about:
        'Der Dienst leitet Tabellen, Metadatenzeilen und Indizes aus dem Ereignisprotokoll ab. Jede Projektion lässt sich neu aufbauen.',
      loading: 'Projektionen werden geladen',
      upToDate: (position) => `aktuell, Ereignis ${position}`,
      behind: (lag, position) => `${lag} Ereignisse im Rückstand, bei Ereignis ${position}`,
      rebuilt: 'Aus dem Ereignisprotokoll neu aufgebaut.',
      stopped: (position) => named`Die Projektion ist vor Ereignis ${position} stehen geblieben`,
      rebuild: 'Neu aufbauen',
      confirmRebuild: 'Ja, neu aufbauen',
      rebuilding: (name) => named`${name} wird neu aufgebaut`,
      rebuildingSince: (since, percent) => (
        <>
          Neuaufbau gestartet {since}
          {percent !== null && `, ${percent} %`}
        </>
      ),
    },
    doctor: {
      title: 'Doctor',
      about:
        'Prüft Server, Einstellungen, Rechte, Migrationen, Ereignisprotokoll, Benachrichtigungen und Projektionen wie „dps doctor“. Dabei wird das ganze Ereignisprotokoll gelesen.',
      run: 'Prüfungen starten',
      noFindings: (checks) => `${checks} Prüfungen, keine Befunde`,
      findings: (count) => counted(count, 'Befund', 'Befunde'),
      severities: { ok: 'in Ordnung', warning: 'Warnung', error: 'Fehler', skipped: 'übersprungen' },
      copyFix: (code) => `Lösung für ${code} kopieren`,
      checks: 'Prüfungen',
    },
    drift: {
      title: 'Drift',
      about:
        'Änderungen, die jemand ohne den Dienst in der Datenbank vorgenommen hat. Die Datenbank lässt sich reparieren, oder die Änderungen lassen sich in das Ereignisprotokoll aufnehmen.',
      check: 'Auf Drift prüfen',
      none: 'Keine Drift: Die Datenbank stimmt mit dem Ereignisprotokoll überein',
      differing: (tables, views) =>
        listed([
          ...(tables === 0 ? [] : [tables === 1 ? '1 Tabelle weicht ab' : `${tables} Tabellen weichen ab`]),
          ...(views === 0 ? [] : [views === 1 ? '1 View weicht ab' : `${views} Views weichen ab`]),
        ]),
      unmanagedTables: (names) => `Nicht verwaltete Tabellen (keine Drift): ${names}`,
      unmanagedObjects: (names) => `Nicht verwaltete Tabellen und Objekte (keine Drift): ${names}`,
      kinds: { missing: 'fehlt', different: 'weicht ab', 'not wanted': 'unerwünscht' },
      difference: (member, expected, found) => `${member}: ${expected} im Ereignisprotokoll, ${found} in der Datenbank`,
      toRepair: (summary) => `Reparatur: ${summary}`,
      toRepairAndLose: (summary) => `Reparatur: ${summary} (löscht ein Objekt oder möglicherweise Werte)`,
      repairHint:
        'Die Tabellen lassen sich auch reparieren. Der Dienst führt die obigen Anweisungen in einer Transaktion aus. Anweisungen, die ein Objekt löschen, überspringt er.',
      repair: 'Tabellen reparieren',
      confirmRepair: 'Ja, Tabellen reparieren',
      repaired: (made, left) =>
        left === 0
          ? `Der Dienst hat ${counted(made, 'Anweisung', 'Anweisungen')} ausgeführt.`
          : `Der Dienst hat ${counted(made, 'Anweisung', 'Anweisungen')} ausgeführt und ${left} übersprungen. Übersprungene Anweisungen müssen von Hand ausgeführt werden.`,
      reasonFor: (name) => `Begründung für das Akzeptieren von ${name}`,
      accept: 'Akzeptieren',
      confirmAccept: 'Ja, Drift akzeptieren',
    },
    scheduled: {
      title: 'Vom geplanten Vergleich gefunden',
      drift: (since, names) => (
        <>
          Die Datenbank weicht vom Ereignisprotokoll ab, festgestellt {since}: {names}. „Auf Drift prüfen“ zeigt jeden
          Unterschied.
        </>
      ),
      verification: (since, faults) => (
        <>
          Die Verifizierung schlägt fehl, festgestellt {since}: {faults}.
        </>
      ),
    },
    verification: {
      title: 'Verifizierung',
      about:
        'Der Dienst berechnet die Hash-Kette des Ereignisprotokolls neu. Er meldet die erste Position, an der sie unterbrochen ist, sowie Änderungen, die die Richtlinie nicht erlaubt hat oder die vom Plan ihres Änderungsantrags abweichen.',
      verify: 'Ereignisprotokoll verifizieren',
      verified: (events) => `${counted(events, 'Ereignis', 'Ereignisse')} verifiziert`,
      failed: 'Verifizierung fehlgeschlagen',
      broken: (position, reason) => `Unterbrochen bei Ereignis ${position}: ${reason}`,
      disallowed: (position, reason) => `Die Änderung bei Ereignis ${position} war nicht erlaubt: ${reason}`,
      head: (position, hash) => (
        <>
          Hash des letzten Ereignisses, {position}: {hash}
        </>
      ),
    },
    comparison: {
      title: 'Projektionen vergleichen',
      about:
        'Der Dienst vergleicht den Stand des Ereignisprotokolls mit den Metadatenzeilen und dem Katalog von PostgreSQL.',
      compare: 'Vergleichen',
      none: (position) => `Keine Unterschiede bei Ereignis ${position}`,
      differences: (count) => counted(count, 'Unterschied', 'Unterschiede'),
      location: (object, projection) => `${object} (${projection})`,
      difference: (member, expected, found) => `${member}: ${expected} im Ereignisprotokoll, ${found} gefunden`,
    },
    metrics: {
      loading: 'Metriken werden geladen',
      about: (seconds) => (
        <>
          Metriken des antwortenden Prozesses, alle {seconds} Sekunden gelesen, solange diese Seite geöffnet ist. Für
          längere Zeiträume und mehrere Prozesse dienen das Grafana-Dashboard und die Alarmregeln in{' '}
          <code>deploy/</code>.
        </>
      ),
      charts: 'Die Diagramme erscheinen nach der zweiten Messung.',
      requests: 'Anfragen',
      latency: 'Latenz',
      commands: 'Befehle',
      rejectedCommands: 'Abgelehnte Befehle',
      perSecond: 'pro Sekunde',
      responseTime: 'Antwortzeit',
      now: 'Jetzt',
      aboutNow: 'Werte der letzten Messung.',
      rejections: 'Ablehnungen nach Code',
      aboutRejections: 'Seit dem Start des Prozesses.',
      succeeded: 'erfolgreich',
      rejected: 'abgelehnt',
      failed: 'fehlgeschlagen',
      median: 'Median',
      accepted: 'angenommen',
      unchanged: 'ohne Änderung',
      byValidation: 'durch Validierung',
      byPostgres: 'durch PostgreSQL oder vorübergehend',
      commandsAccepted: 'Angenommene Befehle',
      eventsWritten: 'Geschriebene Ereignisse',
      waitingRequests: 'Anfragen, die auf eine Verbindung warten',
      memory: 'Arbeitsspeicher',
      cachedResponses: 'Antworten im Cache',
      eventLoopLag: 'Verzögerung der Event-Loop, 99 %',
    },
    changes: {
      loadingOne: 'Änderungsantrag wird geladen',
      loading: 'Änderungsanträge werden geladen',
      older: 'Ältere Anträge anzeigen',
      none: 'Keine Änderungsanträge',
      about: (parameter) => (
        <>
          Online-Änderungen an großen Tabellen erscheinen hier, während der Dienst sie vorbereitet. Dazu „Online“ in den
          Optionen einer Prüfung wählen oder {parameter} senden.
        </>
      ),
      openedBy: (operation, author, since) => (
        <>
          {operation}, gestellt von {author} {since}
        </>
      ),
      showApplied: 'Angewendete Änderung anzeigen',
      details: 'Details',
      detailsOf: (collections) => named`Details zu ${collections}`,
    },
    adopt: {
      onlyAdmins: 'Nur Admins können Tabellen übernehmen.',
      refused: 'Keine Tabelle wurde übernommen',
      adopted: (count) => named`${counted(count, 'Tabelle', 'Tabellen')} übernommen`,
      loading: 'Nicht verwaltete Tabellen werden geladen',
      none: 'Keine nicht verwalteten Tabellen',
      aboutNone:
        'Hier erscheinen Tabellen, die jemand direkt in der Datenbank erstellt. Sie lassen sich als Collections übernehmen.',
      unmanaged: 'Nicht verwaltete Tabellen',
      about:
        'Das Übernehmen ändert die Tabelle nicht. Ihre Spalten werden zu Feldern und ihre Fremdschlüssel zu Relationen. Der Dienst hält alle späteren Änderungen im Ereignisprotokoll fest. Die Zeilenzahlen sind Schätzungen von PostgreSQL.',
      filter: 'Filter',
      partOfName: 'Teil des Namens',
      selectAll: (count) => `Alle ${count} auswählen`,
      selectThese: (count) => `Diese ${count} auswählen`,
      clearSelection: 'Auswahl aufheben',
      dryRun: 'Probelauf',
      submit: 'Übernehmen',
      submitTables: (count) => `${counted(count, 'Tabelle', 'Tabellen')} übernehmen`,
      tables: 'Tabellen',
      partitionsOf: (table) => named`Partitionen von ${table}`,
      more: (count) => `und ${digits(count)} weitere. Sie sind mit dem Filter zu finden.`,
      rows: ({ rows, partitions, parent }) =>
        listed([
          rows === null ? 'Zeilen noch nicht gezählt' : `etwa ${counted(rows, 'Zeile', 'Zeilen')}`,
          ...(partitions > 0 ? [counted(partitions, 'Partition', 'Partitionen')] : []),
          ...(parent === undefined ? [] : [`Partition von ${parent}`]),
        ]),
      report: ({ tables, relations, events, names }) =>
        `${counted(tables, 'Tabelle', 'Tabellen')} mit ${counted(relations, 'Relation', 'Relationen')}${events === undefined ? '' : `, ${counted(events, 'Ereignis', 'Ereignisse')}`}. ${names}`,
      trialReport: (report) => `Probelauf: ${report}`,
      unsupported: (count, kinds) => `${counted(count, 'Objekt wird', 'Objekte werden')} nicht verwaltet: ${kinds}`,
      unsupportedObjects: 'Objekte, die nicht verwaltet werden',
      noTable: 'Keine Tabelle',
      kindCount: (count, kind) => `${digits(count)} × ${kind}`,
    },
  },
);
