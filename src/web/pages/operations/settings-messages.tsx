/** The texts of the tabs that admins change: trash, policy, environments, webhooks and trust rules. */
import type { ReactNode } from 'react';
import type { TrashEntry, Webhook } from '../../service/types.js';
import { inLanguage, locale } from '../../shared/language.js';
import { named } from '../../shared/name.js';
import { counted } from '../../shared/text.js';

const digits = (value: number): string => value.toLocaleString(locale);

interface Deletion {
  size: readonly string[];
  /** Null for the service. */
  by: string | null;
  since: ReactNode;
  day: ReactNode;
  until: ReactNode;
}

interface Differences {
  ahead: number;
  behind: number;
  conflicts: number;
}

export const messages = inLanguage(
  {
    common: {
      edit: 'Edit',
      editOf: (name: string) => named`Edit ${name}`,
      save: 'Save',
      delete: 'Delete',
      remove: 'Remove',
      clear: 'Clear',
      done: 'Done',
      name: 'Name',
      address: 'Address',
      collections: 'Collections',
    },
    trash: {
      loading: 'Loading the trash',
      newest: (shown: number, total: number, command: ReactNode): ReactNode => (
        <>
          Showing the newest {shown} of {digits(total)}. Run {command} to list all.
        </>
      ),
      empty: 'The trash is empty',
      aboutEmpty:
        'Deleted collections and fields are kept here with their rows. You can restore them for the time that KEEP_DELETED sets.',
      kinds: { collection: 'collection', field: 'field' } satisfies Record<TrashEntry['kind'], string>,
      rows: (count: number) => counted(count, 'row'),
      deletion: ({ size, by, since, day, until }: Deletion): ReactNode => (
        <>
          {size.length > 0 && `${size.join(', ')}; `}deleted by {by ?? 'the service'} {since}, restorable until {day} (
          {until})
        </>
      ),
      restore: 'Restore',
      restoreOf: (name: string) => named`Restore ${name}`,
      purge: 'Purge',
      purgeOf: (name: string) => named`Purge ${name}`,
    },
    restore: {
      newName: 'New name (optional)',
      skippedKeys: 'Skip these foreign keys',
      aboutSkippedKeys: 'Foreign keys that are no longer valid can be skipped. Choose them, or type their names.',
      trying: 'Dry run',
      rejected: 'PostgreSQL would reject the restore.',
      impossible: 'It cannot be restored with these options',
      notRestored: 'Not restored',
      complete: 'The dry run succeeded. Everything is restored, including the rows.',
      restored: (link: ReactNode): ReactNode => <>{link} is restored.</>,
    },
    purge: {
      warning: (rows: number | null) =>
        `${rows === null ? 'Its rows' : counted(rows, 'row')} will be permanently deleted. Only a backup can restore the data. The event log records who purged it and when.`,
      confirm: (name: ReactNode): ReactNode => <>Type {name} to confirm</>,
      cancel: 'Cancel',
      submit: 'Delete permanently',
    },
    presets: {
      label: 'Presets',
      about:
        'Start with a preset, change it if necessary, and save it. A preset replaces all settings except the rules for collections.',
      cautious: 'Cautious',
      aboutCautious:
        'Users must acknowledge changes that lose data, block a table for long, rewrite it, or break clients. They must also acknowledge changes that loosen this policy.',
      production: 'Production',
      aboutProduction:
        'Another admin must approve changes that lose data, block a table for long or rewrite it, and changes to this policy. Users must acknowledge changes that break clients. Every change needs a reason. Tables above 100,000 rows are changed online. This needs at least two active admins.',
      use: 'Use',
      useOf: (name: string) => named`Use ${name}`,
    },
    policy: {
      loading: 'Loading the policy',
      about: 'The policy applies to every schema change.',
      unset: 'No policy is set. The service rejects nothing.',
      setAt: (time: ReactNode): ReactNode => <>Set {time}.</>,
      general: 'General',
      aboutApprovals: 'For change requests that require approval',
      aboutOnline: 'Leave empty for no rule.',
      aboutChanges: 'Required for a policy change',
      findings: 'Findings',
      finding: 'Finding',
      defaultLevel: 'Default level',
      levels: { note: 'note', warn: 'warning', danger: 'danger' },
      action: 'Action',
      actionFor: (code: string) => `Action for ${code}`,
      patternRules: 'Rules for collections',
      aboutPatternRules: (star: ReactNode): ReactNode => (
        <>
          Rules for some collections. In a pattern, {star} matches any characters. The first rule that matches the
          collection and the finding applies.
        </>
      ),
      patterns: 'Patterns',
      pattern: 'Pattern',
      removeFrom: (code: string, pattern: string) => named`Remove ${code} from ${pattern}`,
      add: 'Add',
      savePolicy: 'Save policy',
      discard: 'Discard',
      openRequest: 'Open a change request',
      replaced: 'Another user saved a new policy. Discard your changes and start from the new policy.',
      requestTitle: 'Title',
      aboutRequest: 'Changes to this policy require approval. They are proposed as a change request.',
      acknowledgeLoosening: (loosened: readonly string[]) =>
        `I know that this loosens the policy: ${loosened.join(', ')}`,
    },
    environments: {
      about: 'An environment is another instance of the service. Compare the schemas, and bring its changes here.',
      connectNew: 'Connect environment',
      loading: 'Loading the environments',
      none: 'No environments',
      aboutNone: 'Connect another instance, for example staging, to promote its changes to this one.',
      bringChanges: 'Bring changes here',
      bringChangesFrom: (name: string) => named`Bring changes here from ${name}`,
      openThere: (name: string) => named`Open this comparison on ${name}`,
      notConnected: (from: string) => `This service does not know ${from}. Connect it to review its changes here.`,
      test: 'Test connection',
      testOf: (name: string) => named`Test connection to ${name}`,
      comparing: 'Comparing …',
      equal: 'Both schemas are equal',
      conflicts: (count: number) => counted(count, 'conflict'),
      differences: ({ ahead, behind, conflicts }: Differences) =>
        `This instance is ${counted(ahead, 'change')} ahead, ${digits(behind)} behind${conflicts === 0 ? '' : `, ${counted(conflicts, 'conflict')}`}`,
      unknownBase:
        'The last common schema is not known. Until both are equal, or you enter it, everything counts as new.',
      ownBase: (position: number) => `Last common schema: event ${digits(position)} of this service.`,
      otherBase: (position: number, name: string) => `Last common schema: event ${digits(position)} of ${name}.`,
      new: 'New environment',
      token: 'Token',
      aboutStoredToken: 'Leave it empty to keep the stored token. A new address needs it again.',
      aboutToken: 'Create it there under Accounts: author or admin, actions read and history, all collections.',
      base: 'Both schemas were equal at event',
      aboutBase: 'A position of this service. The service updates it when one schema contains the other.',
      connect: 'Connect',
      confirmDelete: 'Yes, delete environment',
    },
    webhooks: {
      about: 'A webhook sends each event that passes its filter to an address.',
      new: 'New webhook',
      loading: 'Loading the webhooks',
      none: 'No webhooks',
      aboutNone: 'Create one to send events to another program, to Slack or to Microsoft Teams.',
      states: { enabled: 'enabled', failing: 'failing', disabled: 'disabled' } satisfies Record<
        Webhook['state'],
        string
      >,
      deliveries: 'Deliveries',
      deliveriesOf: (name: string) => named`Deliveries of ${name}`,
      test: 'Send a test',
      testOf: (name: string) => named`Send a test to ${name}`,
      enable: 'Enable',
      enableOf: (name: string) => named`Enable ${name}`,
      disable: 'Disable',
      disableOf: (name: string) => named`Disable ${name}`,
      filter: (types: readonly string[] | null, collections: readonly string[] | null) =>
        `${types === null ? 'All events' : `Events ${types.join(', ')}`}${collections === null ? '' : ` of ${collections.join(', ')}`}.`,
      disabledBecause: {
        requested: 'An admin disabled it.',
        gone: 'The service disabled it, because the receiver responded with status 410.',
        failing: 'The service disabled it after three days of failed attempts.',
        restored: 'It was restored from a backup. Replace its secret before you enable it.',
        copied: 'The service disabled it, because its database is a copy of another one.',
      },
      noneDelivered: 'It has delivered no event.',
      upToDate: (position: number) => `Up to date, at event ${digits(position)}.`,
      behind: (events: number, position: number) => `${counted(events, 'event')} behind, at event ${digits(position)}.`,
      failingSince: (since: ReactNode): ReactNode => <>Failing since {since}.</>,
      nextAttempt: (time: ReactNode): ReactNode => <>Next attempt at {time}.</>,
      testAccepted: (status: number | null, duration: string) =>
        `The receiver accepted the test with status ${status} after ${duration}.`,
      loadingDeliveries: 'Loading the deliveries',
      noDeliveries: 'No deliveries.',
      lastDeliveries: (name: string) => named`Last deliveries of ${name}`,
      noResponse: 'no response',
      status: (status: number) => `status ${status}`,
      replayOf: (name: string) => named`Replay of ${name}`,
      replayFrom: 'Deliver again from event',
      aboutReplay: 'The events have the same ids as before.',
      replay: 'Replay',
      continues: (position: number) => `Delivery continues at event ${digits(position)}.`,
    },
    webhook: {
      aboutSecret: 'The receiver verifies the signature of each request with this secret.',
      create: 'Create webhook',
      format: 'Format',
      types: 'Event types',
      aboutTypes: 'Types, or patterns with *. Choose them, or type them and press Enter.',
      aboutCollections: 'Names, or patterns with *. Empty: all events, including those without a collection.',
      aboutReplacing: 'A new secret replaces the current one. For 24 hours, each request has a signature with both.',
      replaceSecret: 'Replace secret',
      confirmReplace: 'Yes, replace secret',
      confirmDelete: 'Yes, delete webhook',
    },
    trust: {
      loading: 'Loading the trust rules',
      about:
        'A pipeline exchanges the ID token of its platform for a short-lived API token. The first rule that accepts the ID token determines what the API token may do.',
      new: 'New rule',
      none: 'No trust rules',
      aboutNone:
        'Create one to let GitHub Actions, GitLab or another OpenID issuer use the service without a stored secret.',
      rules: 'Trust rules',
      moveUp: 'Move up',
      moveUpOf: (name: string) => named`Move up ${name}`,
      confirmDelete: 'Yes, delete',
      issuer: (issuer: string, audience: string) => `${issuer}, audience ${audience}`,
      scope: (scope: string, minutes: number) => `${scope}; for ${counted(minutes, 'minute')}`,
      setBy: (name: string, time: ReactNode): ReactNode => (
        <>
          Set by {name} {time}
        </>
      ),
    },
    trustRule: {
      new: 'New trust rule',
      create: 'Create rule',
      issuer: 'Issuer',
      aboutIssuer: 'The address in the claim iss, exactly as the platform writes it.',
      audience: 'Audience',
      aboutAudience: 'The claim aud. Use the address of this service.',
      claims: 'Claims',
      aboutClaims:
        'All of them must match. A pattern can contain *. Always include the owner and the repository in sub: everyone can get ID tokens of GitHub.',
      repeatedClaim: (name: string) => `The claim "${name}" is listed twice.`,
      nameOfClaim: (index: number) => named`Name of claim ${index}`,
      patternOfClaim: (index: number) => named`Pattern of claim ${index}`,
      removeClaim: (index: number) => named`Remove claim ${index}`,
      addClaim: 'Add claim',
      role: 'Role',
      actions: 'Actions',
      aboutCollections: 'Names, or patterns with *. Empty: all.',
      networks: 'Networks',
      aboutNetworks: 'Addresses and networks that may use the API tokens. Empty: all.',
      minutes: 'Minutes',
      aboutMinutes: 'How long the API tokens are valid.',
      user: 'User',
      you: 'You',
      aboutUser: "The API tokens belong to this user and never exceed the user's role.",
    },
  },
  {
    common: {
      edit: 'Bearbeiten',
      editOf: (name) => named`${name} bearbeiten`,
      save: 'Speichern',
      delete: 'Löschen',
      remove: 'Entfernen',
      clear: 'Leeren',
      done: 'Fertig',
      name: 'Name',
      address: 'Adresse',
      collections: 'Collections',
    },
    trash: {
      loading: 'Papierkorb wird geladen',
      newest: (shown, total, command) => (
        <>
          Die neuesten {shown} von {digits(total)}. {command} listet alle auf.
        </>
      ),
      empty: 'Der Papierkorb ist leer',
      aboutEmpty:
        'Gelöschte Collections und Felder bleiben hier mit ihren Zeilen erhalten. Sie lassen sich so lange wiederherstellen, wie KEEP_DELETED vorgibt.',
      kinds: { collection: 'Collection', field: 'Feld' },
      rows: (count) => counted(count, 'Zeile', 'Zeilen'),
      deletion: ({ size, by, since, day, until }) => (
        <>
          {size.length > 0 && `${size.join(', ')}; `}gelöscht von {by ?? 'dem Dienst'} {since}, wiederherstellbar bis{' '}
          {day} ({until})
        </>
      ),
      restore: 'Wiederherstellen',
      restoreOf: (name) => named`${name} wiederherstellen`,
      purge: 'Endgültig löschen',
      purgeOf: (name) => named`${name} endgültig löschen`,
    },
    restore: {
      newName: 'Neuer Name (optional)',
      skippedKeys: 'Diese Fremdschlüssel auslassen',
      aboutSkippedKeys:
        'Fremdschlüssel, die nicht mehr gültig sind, lassen sich auslassen. Auswählen oder Namen eingeben.',
      trying: 'Probelauf',
      rejected: 'PostgreSQL würde die Wiederherstellung ablehnen.',
      impossible: 'Mit diesen Optionen ist keine Wiederherstellung möglich',
      notRestored: 'Nicht wiederhergestellt',
      complete: 'Der Probelauf war erfolgreich. Alles wird wiederhergestellt, einschließlich der Zeilen.',
      restored: (link) => <>{link} ist wiederhergestellt.</>,
    },
    purge: {
      warning: (rows) =>
        `${rows === null ? 'Alle Zeilen werden' : counted(rows, 'Zeile wird', 'Zeilen werden')} endgültig gelöscht. Nur eine Sicherung kann die Daten wiederherstellen. Das Ereignisprotokoll hält fest, wer wann gelöscht hat.`,
      confirm: (name) => <>Zur Bestätigung {name} eingeben</>,
      cancel: 'Abbrechen',
      submit: 'Endgültig löschen',
    },
    presets: {
      label: 'Vorlagen',
      about:
        'Mit einer Vorlage beginnen, sie bei Bedarf ändern und speichern. Eine Vorlage ersetzt alle Einstellungen außer den Regeln für Collections.',
      cautious: 'Vorsichtig',
      aboutCautious:
        'Benutzer müssen Änderungen bestätigen, die Daten verlieren, eine Tabelle lange sperren, sie neu schreiben oder Clients stören. Sie müssen auch bestätigen, dass sie diese Richtlinie lockern.',
      production: 'Produktion',
      aboutProduction:
        'Ein anderer Admin muss Änderungen genehmigen, die Daten verlieren, eine Tabelle lange sperren oder neu schreiben, ebenso Änderungen an dieser Richtlinie. Benutzer müssen Änderungen bestätigen, die Clients stören. Jede Änderung braucht eine Begründung. Tabellen mit mehr als 100.000 Zeilen werden online geändert. Dafür sind mindestens zwei aktive Admins nötig.',
      use: 'Verwenden',
      useOf: (name) => named`${name} verwenden`,
    },
    policy: {
      loading: 'Richtlinie wird geladen',
      about: 'Die Richtlinie gilt für jede Schemaänderung.',
      unset: 'Es ist keine Richtlinie festgelegt. Der Dienst lehnt nichts ab.',
      setAt: (time) => <>Festgelegt {time}.</>,
      general: 'Allgemein',
      aboutApprovals: 'Für genehmigungspflichtige Änderungsanträge',
      aboutOnline: 'Leer lassen für keine Regel.',
      aboutChanges: 'Voraussetzung für Änderungen der Richtlinie',
      findings: 'Befunde',
      finding: 'Befund',
      defaultLevel: 'Standardstufe',
      levels: { note: 'Hinweis', warn: 'Warnung', danger: 'Gefahr' },
      action: 'Aktion',
      actionFor: (code) => `Aktion für ${code}`,
      patternRules: 'Regeln für Collections',
      aboutPatternRules: (star) => (
        <>
          Regeln für einzelne Collections. In einem Muster steht {star} für beliebige Zeichen. Es gilt die erste Regel,
          die zur Collection und zum Befund passt.
        </>
      ),
      patterns: 'Muster',
      pattern: 'Muster',
      removeFrom: (code, pattern) => named`${code} aus ${pattern} entfernen`,
      add: 'Hinzufügen',
      savePolicy: 'Richtlinie speichern',
      discard: 'Verwerfen',
      openRequest: 'Änderungsantrag stellen',
      replaced:
        'Ein anderer Benutzer hat eine neue Richtlinie gespeichert. Verwerfen Sie Ihre Änderungen und beginnen Sie mit der neuen Richtlinie.',
      requestTitle: 'Titel',
      aboutRequest: 'Änderungen an dieser Richtlinie müssen genehmigt werden. Dafür entsteht ein Änderungsantrag.',
      acknowledgeLoosening: (loosened) => `Mir ist bekannt, dass dies die Richtlinie lockert: ${loosened.join(', ')}`,
    },
    environments: {
      about: 'Eine andere Instanz des Dienstes. Ihr Schema wird verglichen, ihre Änderungen sind hierher übertragbar.',
      connectNew: 'Umgebung verbinden',
      loading: 'Umgebungen werden geladen',
      none: 'Keine Umgebungen',
      aboutNone: 'Eine andere Instanz verbinden, zum Beispiel Staging, um ihre Änderungen hierher zu übertragen.',
      bringChanges: 'Änderungen übertragen',
      bringChangesFrom: (name) => named`Änderungen aus ${name} übertragen`,
      openThere: (name) => named`Diesen Vergleich auf ${name} öffnen`,
      notConnected: (from) => `Dieser Dienst kennt ${from} nicht. Verbinden, um die Änderungen hier zu prüfen.`,
      test: 'Verbindung testen',
      testOf: (name) => named`Verbindung zu ${name} testen`,
      comparing: 'Wird verglichen …',
      equal: 'Beide Schemas sind gleich',
      conflicts: (count) => counted(count, 'Konflikt', 'Konflikte'),
      differences: ({ ahead, behind, conflicts }) =>
        `Diese Instanz ist ${counted(ahead, 'Änderung', 'Änderungen')} voraus, ${digits(behind)} zurück${conflicts === 0 ? '' : `, ${counted(conflicts, 'Konflikt', 'Konflikte')}`}`,
      unknownBase:
        'Das letzte gemeinsame Schema ist nicht bekannt. Bis beide gleich sind oder es eingetragen wird, gilt alles als neu.',
      ownBase: (position) => `Letztes gemeinsames Schema: Ereignis ${digits(position)} dieses Dienstes.`,
      otherBase: (position, name) => `Letztes gemeinsames Schema: Ereignis ${digits(position)} von ${name}.`,
      new: 'Neue Umgebung',
      token: 'Token',
      aboutStoredToken: 'Leer lassen, um das Token zu behalten. Eine neue Adresse erfordert es erneut.',
      aboutToken: 'Dort unter Konten anlegen: Autor oder Admin, Aktionen read und history, alle Collections.',
      base: 'Beide Schemas waren gleich bei Ereignis',
      aboutBase: 'Eine Position dieses Dienstes. Der Dienst aktualisiert sie, sobald ein Schema das andere enthält.',
      connect: 'Verbinden',
      confirmDelete: 'Ja, Umgebung löschen',
    },
    webhooks: {
      about: 'Ein Webhook sendet jedes Ereignis, das seinem Filter entspricht, an eine Adresse.',
      new: 'Neuer Webhook',
      loading: 'Webhooks werden geladen',
      none: 'Keine Webhooks',
      aboutNone:
        'Einen Webhook erstellen, um Ereignisse an ein anderes Programm, an Slack oder an Microsoft Teams zu senden.',
      states: { enabled: 'aktiv', failing: 'gestört', disabled: 'deaktiviert' },
      deliveries: 'Zustellungen',
      deliveriesOf: (name) => named`Zustellungen von ${name}`,
      test: 'Test senden',
      testOf: (name) => named`Test an ${name} senden`,
      enable: 'Aktivieren',
      enableOf: (name) => named`${name} aktivieren`,
      disable: 'Deaktivieren',
      disableOf: (name) => named`${name} deaktivieren`,
      filter: (types, collections) =>
        `${types === null ? 'Alle Ereignisse' : `Ereignisse ${types.join(', ')}`}${collections === null ? '' : ` von ${collections.join(', ')}`}.`,
      disabledBecause: {
        requested: 'Ein Admin hat ihn deaktiviert.',
        gone: 'Der Dienst hat ihn deaktiviert, weil der Empfänger mit Status 410 geantwortet hat.',
        failing: 'Der Dienst hat ihn nach drei Tagen mit fehlgeschlagenen Versuchen deaktiviert.',
        restored:
          'Er wurde aus einer Sicherung wiederhergestellt. Vor dem Aktivieren muss sein Geheimnis ersetzt werden.',
        copied: 'Der Dienst hat ihn deaktiviert, weil seine Datenbank die Kopie einer anderen ist.',
      },
      noneDelivered: 'Er hat noch kein Ereignis zugestellt.',
      upToDate: (position) => `Aktuell, bei Ereignis ${digits(position)}.`,
      behind: (events, position) =>
        `${counted(events, 'Ereignis', 'Ereignisse')} im Rückstand, bei Ereignis ${digits(position)}.`,
      failingSince: (since) => <>Erster Fehlschlag {since}.</>,
      nextAttempt: (time) => <>Nächster Versuch um {time}.</>,
      testAccepted: (status, duration) =>
        `Der Empfänger hat den Test mit Status ${status} nach ${duration} angenommen.`,
      loadingDeliveries: 'Zustellungen werden geladen',
      noDeliveries: 'Keine Zustellungen.',
      lastDeliveries: (name) => named`Letzte Zustellungen von ${name}`,
      noResponse: 'keine Antwort',
      status: (status) => `Status ${status}`,
      replayOf: (name) => named`Erneute Zustellung von ${name}`,
      replayFrom: 'Erneut zustellen ab Ereignis',
      aboutReplay: 'Die Ereignisse haben dieselben IDs wie zuvor.',
      replay: 'Zustellen',
      continues: (position) => `Die Zustellung wird bei Ereignis ${digits(position)} fortgesetzt.`,
    },
    webhook: {
      aboutSecret: 'Mit diesem Geheimnis prüft der Empfänger die Signatur jeder Anfrage.',
      create: 'Webhook erstellen',
      format: 'Format',
      types: 'Ereignistypen',
      aboutTypes: 'Typen oder Muster mit *. Auswählen oder eingeben und mit der Eingabetaste bestätigen.',
      aboutCollections: 'Namen oder Muster mit *. Leer: alle Ereignisse, auch solche ohne Collection.',
      aboutReplacing:
        'Ein neues Geheimnis ersetzt das aktuelle. 24 Stunden lang trägt jede Anfrage eine Signatur mit beiden.',
      replaceSecret: 'Geheimnis ersetzen',
      confirmReplace: 'Ja, Geheimnis ersetzen',
      confirmDelete: 'Ja, Webhook löschen',
    },
    trust: {
      loading: 'Vertrauensregeln werden geladen',
      about:
        'Eine Pipeline tauscht das ID-Token ihrer Plattform gegen ein kurzlebiges API-Token. Die erste Regel, die das ID-Token akzeptiert, bestimmt, was das API-Token darf.',
      new: 'Neue Regel',
      none: 'Keine Vertrauensregeln',
      aboutNone:
        'Mit einer Regel können GitHub Actions, GitLab oder ein anderer OpenID-Aussteller den Dienst ohne gespeichertes Geheimnis nutzen.',
      rules: 'Vertrauensregeln',
      moveUp: 'Nach oben',
      moveUpOf: (name) => named`${name} nach oben verschieben`,
      confirmDelete: 'Ja, löschen',
      issuer: (issuer, audience) => `${issuer}, Audience ${audience}`,
      scope: (scope, minutes) => `${scope}; für ${counted(minutes, 'Minute', 'Minuten')}`,
      setBy: (name, time) => (
        <>
          Festgelegt von {name} {time}
        </>
      ),
    },
    trustRule: {
      new: 'Neue Vertrauensregel',
      create: 'Regel erstellen',
      issuer: 'Aussteller',
      aboutIssuer: 'Die Adresse im Claim iss, genau wie die Plattform sie schreibt.',
      audience: 'Audience',
      aboutAudience: 'Der Claim aud. Hier gehört die Adresse dieses Dienstes hin.',
      claims: 'Claims',
      aboutClaims:
        'Alle müssen übereinstimmen. Ein Muster darf * enthalten. sub muss immer Eigentümer und Repository enthalten: ID-Token von GitHub kann jeder bekommen.',
      repeatedClaim: (name) => `Der Claim "${name}" ist doppelt aufgeführt.`,
      nameOfClaim: (index) => named`Name von Claim ${index}`,
      patternOfClaim: (index) => named`Muster von Claim ${index}`,
      removeClaim: (index) => named`Claim ${index} entfernen`,
      addClaim: 'Claim hinzufügen',
      role: 'Rolle',
      actions: 'Aktionen',
      aboutCollections: 'Namen oder Muster mit *. Leer: alle.',
      networks: 'Netze',
      aboutNetworks: 'Adressen und Netze, die die API-Token verwenden dürfen. Leer: alle.',
      minutes: 'Minuten',
      aboutMinutes: 'Gültigkeitsdauer der API-Token.',
      user: 'Benutzer',
      you: 'Sie',
      aboutUser: 'Die API-Token gehören diesem Benutzer und haben nie mehr Rechte als seine Rolle.',
    },
  },
);
